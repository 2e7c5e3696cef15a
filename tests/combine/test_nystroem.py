"""GraphNystroem: exact with all graphs as landmarks, equal to the definition with some."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import gramlet
from gramlet import (
    EdgeHistogram,
    EMDKernel,
    GraphNystroem,
    GraphSampling,
    VertexHistogram,
    WeisfeilerLehman,
    WLOptimalAssignment,
)
from gramlet.common.fields import check
from reference import combine, plain
from reference.kernels import weisfeiler_lehman

MUTAG = gramlet.load_dataset("MUTAG")
GRAPHS = MUTAG.graphs[:40]


@pytest.mark.parametrize("kernel", ["wl", "wl-oa", "sp", "wwl", "graphlet", "wl + vertex"])
def test_all_landmarks_give_the_kernel(kernel):
    features = GraphNystroem(kernel, n_components=500, random_state=0).fit_transform(GRAPHS)
    gram = gramlet.gram(GRAPHS, kernel)
    np.testing.assert_allclose(features @ features.T, gram, atol=1e-8 * gram.max())


def test_some_landmarks_are_the_definition():
    def oa(rows, columns):
        return plain.gram(weisfeiler_lehman.wl_optimal_assignment, rows, columns, n_iter=1)

    kernel = WLOptimalAssignment(n_iter=1, use_edge_labels=False)
    model = GraphNystroem(kernel, n_components=7, random_state=3).fit(GRAPHS)
    assert len(model.landmarks_) == len(set(model.landmarks_.tolist())) == 7
    expected = combine.nystroem_features(
        plain.plain_graphs(GRAPHS), plain.plain_graphs(GRAPHS[model.landmarks_]), kernel=oa
    )
    found = model.transform(GRAPHS)
    assert found.shape == expected.shape
    np.testing.assert_allclose(found @ found.T, expected @ expected.T, atol=1e-8)


def test_negative_parts_are_dropped():
    gram = EMDKernel(gamma=3.0).fit_transform(GRAPHS)
    values, vectors = np.linalg.eigh(gram)
    kept = values > 1e-10 * values[-1]
    positive = (vectors[:, kept] * values[kept]) @ vectors[:, kept].T
    features = GraphNystroem(EMDKernel(gamma=3.0)).fit_transform(GRAPHS)
    np.testing.assert_allclose(features @ features.T, positive, atol=1e-8)


def test_at_least_one_column():
    graphs = [([], ["C"]), ([], ["O"])]
    assert GraphNystroem(EdgeHistogram()).fit_transform(graphs).tolist() == [[0.0], [0.0]]


def test_farther_graphs_are_drawn():
    # Two kinds of graphs: after one of the first kind, only those of the second are at a distance.
    graphs = [([(0, 1)], ["C", "C"])] * 20 + [([(0, 1)], ["O", "O"])]
    for seed in range(10):
        model = GraphNystroem(
            VertexHistogram(), n_components=2, sampling="kmeans++", random_state=seed
        ).fit(graphs)
        assert 20 in model.landmarks_
    alike = GraphNystroem(VertexHistogram(), 3, sampling="kmeans++", random_state=0).fit(graphs[:9])
    assert len(set(alike.landmarks_.tolist())) == 3


def test_seeds_files_and_pipelines(tmp_path):
    model = GraphNystroem("wl", 10, sampling="kmeans++", random_state=1)
    features = model.fit_transform(GRAPHS)
    np.testing.assert_array_equal(features, model.fit_transform(GRAPHS))
    gramlet.save(model, tmp_path / "n.gramlet")
    again = gramlet.load(tmp_path / "n.gramlet")
    check(again)
    np.testing.assert_array_equal(again.transform(GRAPHS), features)
    assert model.get_feature_names_out().shape == (features.shape[1],)
    assert model.transform(GRAPHS[:0]).shape == (0, features.shape[1])
    pipeline = make_pipeline(GraphNystroem("wl-oa", 30, random_state=0), LogisticRegression())
    pipeline.fit(MUTAG.graphs[:120], MUTAG.target[:120])
    assert pipeline.score(MUTAG.graphs[120:], MUTAG.target[120:]) > 0.7
    frame = model.set_output(transform="pandas").transform(GRAPHS)
    assert frame.shape == features.shape


def test_embeddings_serve_too():
    embedding = GraphSampling(n_samples=50, random_state=0)
    features = GraphNystroem(embedding).fit_transform(GRAPHS)
    own = embedding.fit_transform(GRAPHS)
    np.testing.assert_allclose(features @ features.T, own @ own.T, atol=1e-8)


@pytest.mark.parametrize(
    "params", [{"n_components": 0}, {"sampling": "random"}, {"tol": -1.0}, {"kernel": 3}]
)
def test_bad_parameters(params):
    with pytest.raises(ValueError, match="parameter of GraphNystroem"):
        GraphNystroem(**{"kernel": WeisfeilerLehman(), **params}).fit(GRAPHS)
