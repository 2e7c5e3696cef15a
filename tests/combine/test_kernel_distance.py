"""Kernel distances and similarities of two graphs, compared with their definitions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

import gramlet
from gramlet import (
    EMDKernel,
    GraphSampling,
    KernelDistance,
    ShortestPath,
    VertexHistogram,
    WeisfeilerLehman,
    similarity,
)
from gramlet.common.fields import check
from gramlet.kernels.expression import normalized_by_name as by_name
from reference import combine, plain
from reference.kernels import weisfeiler_lehman
from reference.strategies import graph_batches

nx = pytest.importorskip("networkx", reason="needs networkx: pip install gramlet[graphs]")

MUTAG = gramlet.load_dataset("MUTAG")


def wl(rows, columns):
    return plain.gram(weisfeiler_lehman.weisfeiler_lehman, rows, columns, n_iter=1)


@given(
    graph_batches(min_graphs=1, labels=True, edge_labels=False),
    graph_batches(min_graphs=1, labels=True, edge_labels=False),
    st.booleans(),
)
def test_distances_are_those_of_the_definition(train, test, normalize):
    kernel = WeisfeilerLehman(n_iter=1, use_edge_labels=False, normalize=normalize)
    distance = KernelDistance(kernel)
    matrix = distance.fit_transform(train)
    expected = combine.kernel_distance(train, kernel=wl, normalize=normalize)
    np.testing.assert_allclose(matrix, expected, atol=1e-7)
    assert np.array_equal(matrix, matrix.T)
    assert not np.diagonal(matrix).any()
    rows = combine.kernel_distance(test, train, kernel=wl, normalize=normalize)
    np.testing.assert_allclose(distance.transform(test), rows, atol=1e-7)


def test_rounding_is_no_distance():
    graphs = MUTAG.graphs[:30]
    distance = KernelDistance(WeisfeilerLehman(normalize=True)).fit(graphs)
    assert not np.diagonal(distance.transform(graphs)).any()


def test_names_embeddings_and_repaired_kernels():
    graphs = MUTAG.graphs[:15]
    np.testing.assert_array_equal(
        KernelDistance("sp").fit_transform(graphs),
        KernelDistance(ShortestPath()).fit_transform(graphs),
    )
    embedding = GraphSampling(n_samples=50, random_state=0)
    features = clone(embedding).fit_transform(graphs)
    expected = np.linalg.norm(features[:, None] - features[None], axis=2)
    np.testing.assert_allclose(KernelDistance(embedding).fit_transform(graphs), expected, atol=1e-6)
    repaired = KernelDistance(EMDKernel(psd="clip")).fit_transform(graphs)
    assert np.isfinite(repaired).all()


def test_precomputed_neighbours(tmp_path):
    model = make_pipeline(
        KernelDistance(WeisfeilerLehman(normalize=True)),
        KNeighborsClassifier(3, metric="precomputed"),
    )
    model.fit(MUTAG.graphs[:100], MUTAG.target[:100])
    assert model.score(MUTAG.graphs[100:], MUTAG.target[100:]) > 0.6
    distance = model[0]
    gramlet.save(distance, tmp_path / "d.gramlet")
    again = gramlet.load(tmp_path / "d.gramlet")
    check(again)
    np.testing.assert_array_equal(
        again.transform(MUTAG.graphs[:3]), distance.transform(MUTAG.graphs[:3])
    )


def test_similarity_is_one_number():
    a, b = nx.path_graph(3), nx.cycle_graph(3)
    for kernel in ("wl", "sp", "graphlet", "wwl"):
        value = similarity(a, b, kernel)
        assert isinstance(value, float)
        assert value == pytest.approx(by_name(kernel).fit_transform([a, b])[0, 1])
        assert similarity(a, b, kernel, normalize=False) == gramlet.gram([a, b], kernel)[0, 1]
    for kernel in ("wl", "sp", "rw", "graphlet", "wl + 0.5 * sp"):
        assert all(similarity(g, g, kernel) == 1.0 for g in (a, b, *MUTAG.graphs[:10]))
    assert similarity(a, b, VertexHistogram()) == 1.0
    assert similarity(a, b, "wl", n_iter=0) == 1.0
    assert similarity(a, b, VertexHistogram(normalize=True), normalize=False) == 9.0


def test_similarity_of_a_symmetric_matrix_and_one_that_is_not():
    edge, arc = np.array([[0, 1], [1, 0]]), np.array([[0, 1], [0, 0]])
    for a, b in ((edge, arc), (arc, edge), (sparse.csr_array(edge), arc)):
        assert (
            similarity(a, b, "wl", n_iter=1)
            == gramlet.gram([edge, arc], "wl", n_iter=1, normalize="tanimoto")[0, 1]
        )
    with pytest.raises(ValueError, match="directed"):
        similarity(nx.path_graph(2), nx.path_graph(2, nx.DiGraph))


def test_similarity_of_embeddings_is_the_cosine():
    a, b = MUTAG.graphs[0], MUTAG.graphs[1]
    embedding = GraphSampling(n_samples=50, random_state=0)
    x, y = embedding.fit_transform(MUTAG.graphs[:2])
    cosine = x @ y / np.linalg.norm(x) / np.linalg.norm(y)
    assert similarity(a, b, embedding) == pytest.approx(cosine)
    assert similarity(a, b, embedding, normalize=False) == pytest.approx(x @ y)


@pytest.mark.parametrize("kernel", ["wl", "emd", "gsa-gaussian", "graphlet"])
def test_an_empty_graph_is_similar_to_none(kernel):
    empty, edge = ([], []), ([(0, 1)], ["C", "C"])
    assert similarity(empty, edge, kernel) == 0.0
    assert similarity(empty, empty, kernel) == 0.0


def test_similarity_takes_one_graph_each():
    with pytest.raises(ValueError, match="single graph"):
        similarity(MUTAG.graphs[:2], MUTAG.graphs[0])


def test_similarity_by_a_kernel_that_learns_from_classes_says_the_way_out():
    edge = gramlet.GraphBatch.from_edges([[(0, 1)]])
    with pytest.raises(ValueError, match=r"WeightedWassersteinWL needs.*kernel\.fit\(graphs, y\)"):
        gramlet.similarity(edge, edge, "weighted-wwl")


def test_similarity_names_the_argument_that_is_no_graph():
    good, loop = ([(0, 1)], "CO"), ([(0, 0)], "C")
    for name in "gh":
        for bad, message in (
            (loop, f"^{name} has a self-loop at node 0"),
            (5, f"^{name} is of type int"),
            (gramlet.as_batch([good, good]), f"^{name}: Expected a single graph; got 2"),
        ):
            with pytest.raises((ValueError, TypeError), match=message):
                gramlet.similarity(**{"g": good, "h": good, name: bad})
