"""GraphNeighbors compared with the sorted rows of the full matrix."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.cluster import DBSCAN
from sklearn.neighbors import KNeighborsClassifier, KNeighborsTransformer
from sklearn.pipeline import make_pipeline

import gramlet
from gramlet import (
    EdgeHistogram,
    EMDKernel,
    GraphBatch,
    GraphNeighbors,
    GraphSampling,
    KernelDistance,
    WeisfeilerLehman,
    WLOptimalAssignment,
    random_labelled_graphs,
)
from gramlet.common.fields import check
from reference import combine, plain
from reference.kernels import weisfeiler_lehman
from reference.strategies import graph_batches

MUTAG = gramlet.load_dataset("MUTAG")
ORACLES = {
    "dot": (WeisfeilerLehman, weisfeiler_lehman.weisfeiler_lehman),
    "min": (WLOptimalAssignment, weisfeiler_lehman.wl_optimal_assignment),
}


@given(
    graph_batches(min_graphs=2, labels=True, edge_labels=False, max_graphs=8),
    graph_batches(min_graphs=1, labels=True, edge_labels=False),
    st.sampled_from(["dot", "min"]),
    st.booleans(),
    st.data(),
)
def test_neighbours_are_those_of_the_definition(fitted, queries, measure, alone, data):
    cls, function = ORACLES[measure]

    def kernel(rows, columns):
        return plain.gram(function, rows, columns, n_iter=1)

    k = data.draw(st.integers(1, len(fitted) - alone))
    index = GraphNeighbors(cls(n_iter=1, use_edge_labels=False), n_neighbors=k).fit(fitted)
    X = None if alone else queries
    distances, positions = index.kneighbors(X)
    expected = combine.neighbours(fitted, X, kernel=kernel, n_neighbors=k)
    np.testing.assert_array_equal(positions, expected[1])
    np.testing.assert_allclose(distances, expected[0], atol=1e-7)


def by_sorting(kernel, fitted, queries, k):
    """Nearest graphs from the fully sorted rows of the normalised matrix."""
    fitted_kernel = clone(kernel).set_params(normalize=kernel.normalize or "tanimoto").fit(fitted)
    rows = fitted_kernel.transform(fitted if queries is None else queries)
    squares = np.maximum(2 - 2 * rows, 0)
    squares[squares < 2e-12] = 0
    keys = np.round(squares, 12)
    if queries is None:
        np.fill_diagonal(keys, np.inf)
    order = np.argsort(keys, axis=1, kind="stable")[:, :k]
    return np.sqrt(np.take_along_axis(squares, order, axis=1)), order


@pytest.mark.parametrize(
    "name",
    [
        "wl",
        "wl-oa",
        "wl-edge",
        "sp",
        "vertex",
        "e-oa",
        "graphlet",
        "pyramid-match",
        "wwl",
        "rw-steps",
        "propagation",
        "wl + 0.5 * sp",
    ],
)
@pytest.mark.parametrize("how", ["cosine", "tanimoto"])
def test_every_kernel_gives_the_sorted_rows(name, how):
    kernel = gramlet.kernels.registry.make(name, normalize=how)
    index = GraphNeighbors(kernel, n_neighbors=7).fit(MUTAG.graphs[:120])
    for queries in (None, MUTAG.graphs[120:]):
        distances, positions = index.kneighbors(queries)
        expected = by_sorting(kernel, MUTAG.graphs[:120], queries, 7)
        np.testing.assert_allclose(distances, expected[0], atol=1e-7)
        np.testing.assert_array_equal(positions, expected[1])


@pytest.mark.parametrize("cls", [WeisfeilerLehman, WLOptimalAssignment])
@pytest.mark.parametrize("how", ["cosine", "tanimoto"])
def test_bounds_skip_nothing_that_counts(cls, how):
    rng = np.random.default_rng(0)
    sizes = rng.integers(4, 30, 1500)
    graphs = random_labelled_graphs(
        1500,
        sizes.tolist(),
        np.minimum(sizes + 2, sizes * (sizes - 1) // 2).tolist(),
        4,
        random_state=0,
    )
    kernel = cls(n_iter=3, normalize=how)
    index = GraphNeighbors(kernel, n_neighbors=10, n_jobs=2).fit(graphs)
    distances, positions = index.kneighbors()
    expected = by_sorting(kernel, graphs, None, 10)
    np.testing.assert_array_equal(positions, expected[1])
    np.testing.assert_allclose(distances, expected[0], atol=1e-7)


@pytest.mark.parametrize("name", ["wl", "wl-oa", "rw"])
def test_distances_never_descend(name):
    """Ties are ordered by position despite rounding: scikit-learn needs sorted rows."""
    sizes = np.random.default_rng(0).integers(1, 9, 150)
    graphs = random_labelled_graphs(150, sizes.tolist(), (sizes - 1).tolist(), 2, random_state=0)
    index = GraphNeighbors(name, n_neighbors=30).fit(graphs)
    for queries in (None, graphs):
        distances, positions = index.kneighbors(queries)
        assert (np.diff(distances, axis=1) >= 0).all()
        assert (np.diff(positions, axis=1)[np.diff(distances, axis=1) == 0] > 0).all()
    assert (np.diff(index.transform(graphs).data.reshape(150, 31), axis=1) >= 0).all()


def test_embeddings_and_names():
    graphs = MUTAG.graphs[:30]
    embedding = GraphSampling(n_samples=50, random_state=0)
    features = embedding.fit_transform(graphs)
    unit = features / np.linalg.norm(features, axis=1)[:, None]
    expected = np.argsort(np.round(2 - 2 * unit @ unit.T, 12), axis=1, kind="stable")[:, :4]
    found = GraphNeighbors(embedding, 4).fit(graphs).kneighbors(graphs, return_distance=False)
    np.testing.assert_array_equal(found, expected)
    assert isinstance(GraphNeighbors().fit(graphs).kernel_, WLOptimalAssignment)


@pytest.mark.parametrize("kernel", [WLOptimalAssignment(), EMDKernel(), EdgeHistogram()])
def test_empty_graphs_and_norms_of_zero(kernel):
    graphs = [([], []), ([(0, 1)], "CC"), ([], []), ([], "C"), ([], "O")]
    distances, positions = GraphNeighbors(kernel, 4).fit(graphs).kneighbors()
    far = 2**0.5
    if isinstance(kernel, EdgeHistogram):
        # Graphs without edges have norm 0: similarity 1 to each other and 0 to all others.
        assert positions[:, 0].tolist() == [2, 0, 0, 0, 0]
        np.testing.assert_allclose(distances[3], [0, 0, 0, far])
        np.testing.assert_allclose(distances[1], [far] * 4)
    else:
        assert positions[0].tolist() == [2, 1, 3, 4]
        np.testing.assert_allclose(distances[0], [0, far, far, far])


def test_sparse_forms_are_those_of_scikit_learn():
    graphs = MUTAG.graphs[:60]
    index = GraphNeighbors("wl", 5)
    found = index.fit_transform(graphs)
    distance = KernelDistance(WeisfeilerLehman(normalize="tanimoto")).fit_transform(graphs)
    theirs = KNeighborsTransformer(n_neighbors=5, metric="precomputed").fit_transform(distance)
    assert found.nnz == theirs.nnz == 60 * 6
    np.testing.assert_allclose(
        np.sort(found.data.reshape(60, 6)), np.sort(theirs.data.reshape(60, 6)), atol=1e-7
    )
    graph = index.kneighbors_graph()
    assert graph.shape == (60, 60)
    assert set(graph.data.tolist()) == {1.0}
    assert not graph.diagonal().any()
    assert index.kneighbors_graph(graphs[:2], 3, mode="distance").nnz == 6
    labels = DBSCAN(eps=0.5, metric="precomputed", min_samples=2).fit(found).labels_
    assert len(labels) == 60


def test_pipeline_and_file(tmp_path):
    model = make_pipeline(
        GraphNeighbors("wl-oa", 5), KNeighborsClassifier(5, metric="precomputed")
    ).fit(MUTAG.graphs[:120], MUTAG.target[:120])
    assert model.score(MUTAG.graphs[120:], MUTAG.target[120:]) > 0.6
    index = model[0]
    gramlet.save(index, tmp_path / "n.gramlet")
    again = gramlet.load(tmp_path / "n.gramlet")
    check(again)
    np.testing.assert_array_equal(
        again.kneighbors(return_distance=False), index.kneighbors(return_distance=False)
    )
    again.norms_ = again.norms_[:3]
    with pytest.raises(ValueError, match="norms_"):
        check(again)


def test_refitting_forgets_the_index():
    index = GraphNeighbors("wl", 1).fit(MUTAG.graphs[:50])
    index.kneighbors()
    index.fit(MUTAG.graphs[50:60])
    np.testing.assert_array_equal(
        index.kneighbors(MUTAG.graphs[50:60], return_distance=False)[:, 0], np.arange(10)
    )


def test_bad_input():
    index = GraphNeighbors("wl", 3).fit(MUTAG.graphs[:3])
    with pytest.raises(ValueError, match="2 other graphs were fitted"):
        index.kneighbors()
    assert index.kneighbors(MUTAG.graphs[:1])[0].shape == (1, 3)
    with pytest.raises(ValueError, match=r"3 graphs were fitted. Use at most 3\."):
        index.kneighbors(MUTAG.graphs[:1], 4)
    with pytest.raises(ValueError, match=r"only 1 other graph was fitted\. Use at most 1\."):
        GraphNeighbors("wl", 2).fit(MUTAG.graphs[:2]).kneighbors()
    with pytest.raises(ValueError, match="There is one graph, and no other to compare it with"):
        GraphNeighbors("wl", 1).fit(MUTAG.graphs[:1]).kneighbors()
    with pytest.raises(ValueError, match="n_neighbors"):
        index.kneighbors(MUTAG.graphs[:1], 0)
    with pytest.raises(ValueError, match="mode"):
        index.kneighbors_graph(MUTAG.graphs[:1], mode="heat")
    with pytest.raises(ValueError, match="as a whole"):
        GraphNeighbors(EMDKernel(psd="clip")).fit(MUTAG.graphs[:3])
    assert index.kneighbors(GraphBatch.from_edges([]))[1].shape == (0, 3)


@pytest.mark.parametrize(
    ("n", "message"),
    [
        (
            2,
            "n_neighbors=2, of which transform finds one more, but only 2 graphs were fitted. "
            "Use at most 1.",
        ),
        (1, "only 1 graph was fitted. Fit at least two graphs."),
    ],
)
def test_transform_needs_one_graph_more(n, message):
    graphs = gramlet.load_dataset("MUTAG").graphs[:n]
    with pytest.raises(ValueError, match=re.escape(message)):
        gramlet.GraphNeighbors(n_neighbors=n).fit(graphs).transform(graphs)
