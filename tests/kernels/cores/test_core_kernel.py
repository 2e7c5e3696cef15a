"""CoreKernel against its definition."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gramlet
from gramlet import (
    CoreKernel,
    EdgeHistogram,
    GraphBatch,
    GraphHopper,
    ShortestPath,
    WeisfeilerLehman,
    as_batch,
)
from gramlet.kernels.contract.tags import graph_tags
from gramlet.kernels.cores.core_kernel import core_numbers
from reference.kernels.histograms import edge_histogram, vertex_histogram
from reference.kernels.nested import as_matrix, core_kernel
from reference.kernels.paths_walks import shortest_path
from reference.kernels.weisfeiler_lehman import weisfeiler_lehman
from reference.strategies import graph_batches

nx = pytest.importorskip("networkx", reason="needs networkx: pip install gramlet[graphs]")

WORKED = [
    ([(0, 1), (1, 2)], ["C", "O", "C"]),
    ([(0, 1)], ["C", "O"]),
    ([(0, 1), (1, 2)], ["C", "C", "O"]),
    ([(0, 1), (1, 2), (0, 2)], ["C", "C", "C"]),
]
BASES = {
    "vertex": as_matrix(vertex_histogram),
    "edge": as_matrix(edge_histogram),
    "sp": as_matrix(shortest_path),
    "wl": as_matrix(weisfeiler_lehman, n_iter=5),
}


def test_worked_values():
    expected = [[10, 6, 10, 12], [6, 4, 6, 6], [10, 6, 10, 12], [12, 6, 12, 27]]
    assert CoreKernel("vertex").fit_transform(WORKED).tolist() == expected


@pytest.mark.parametrize("seed", range(5))
def test_core_numbers_are_those_of_networkx(seed):
    graphs = [
        nx.gnp_random_graph(30, 0.25, seed=seed),
        nx.barabasi_albert_graph(40, 3, seed=seed),
        nx.empty_graph(3),
    ]
    batch = as_batch(graphs)
    expected = [nx.core_number(g)[v] for g in graphs for v in g]
    assert core_numbers(batch).tolist() == expected


@st.composite
def two_batches(draw):
    columns = {"labels": draw(st.booleans()), "edge_labels": False}
    return (
        draw(graph_batches(min_graphs=1, max_graphs=4, **columns)),
        draw(graph_batches(max_graphs=3, **columns)),
    )


@given(two_batches(), st.sampled_from(sorted(BASES)), st.integers(0, 3), st.booleans())
def test_is_the_sum_over_cores(batches, name, min_core, normalize):
    batch, new = batches
    options = {"min_core": min_core, "normalize": normalize}
    kernel = CoreKernel(name, **options)
    np.testing.assert_allclose(
        kernel.fit_transform(batch), core_kernel(batch, base=BASES[name], **options), atol=1e-12
    )
    np.testing.assert_allclose(
        kernel.transform(new), core_kernel(new, batch, base=BASES[name], **options), atol=1e-12
    )
    if not normalize:
        product = kernel.features(new) @ kernel.features(batch).T
        assert np.array_equal(product.toarray(), kernel.transform(new))
        names = kernel.get_feature_names_out()
        assert len(set(names)) == len(names) == kernel.features(batch).shape[1]


def test_a_base_that_normalises_does_so_at_each_core():
    triangle = [(0, 1), (1, 2), (0, 2)]
    triangles = GraphBatch.from_edges([triangle, [*triangle, (2, 3)]])
    kernel = CoreKernel(ShortestPath(normalize=True))
    matrix = kernel.fit_transform(triangles)
    np.testing.assert_allclose(np.diagonal(matrix), 3.0)
    assert matrix[0, 1] == pytest.approx(2 * 12 / np.sqrt(9 * (16 + 4)) + 1.0)
    features = kernel.features(triangles)
    np.testing.assert_allclose((features @ features.T).toarray(), matrix)


def test_columns_stay_with_their_nodes_and_edges():
    batch = GraphBatch.from_edges(
        [[(0, 1), (1, 2), (2, 3), (1, 3)]],
        node_labels=[list("abcd")],
        edge_weights=[[1.0, 2.0, 3.0, 4.0]],
    )
    kernel = CoreKernel(ShortestPath(weighted=True), min_core=2).fit(batch)
    names = [name.removeprefix("core2:") for name in kernel.get_feature_names_out()]
    assert sorted(names) == ["b-c:2", "b-d:4", "c-d:3"]


def test_no_core_at_all():
    kernel = CoreKernel(min_core=2)
    assert kernel.fit_transform(GraphBatch.from_edges([[(0, 1)], [(0, 1), (1, 2)]])).tolist() == [
        [0, 0],
        [0, 0],
    ]
    triangle = WORKED[3:]
    assert kernel.transform(triangle).tolist() == [[0, 0]]
    assert kernel.diagonal(triangle).tolist() == [9.0]
    assert kernel.features(triangle).shape == (1, 0)


def test_without_cores_the_base_still_knows_the_columns_of_the_graphs():
    def graphs(edges, labels):
        attributes = [[float(node)] for node in range(1 + max(map(max, edges)))]
        return GraphBatch.from_edges([edges], edge_labels=[labels], node_attributes=[attributes])

    edge = graphs([(0, 1)], ["single"])
    triangle = graphs([(0, 1), (1, 2), (0, 2)], ["single", "single", "double"])
    for base in (EdgeHistogram(), GraphHopper("gaussian"), GraphHopper()):
        kernel = CoreKernel(base, min_core=2).fit(edge)
        expected = CoreKernel(base, min_core=2).fit(triangle)
        assert kernel.diagonal(triangle).tolist() == expected.diagonal(triangle).tolist()


def test_bases_that_cannot_serve():
    for base, message in (
        ("geometric-assignment", "depends on which graphs are fitted"),
        ("weighted-wwl", "uses classes"),
        ("gsa-match", "is an embedding"),
        ("spp", "Did you mean 'sp'"),
    ):
        with pytest.raises(ValueError, match=message):
            CoreKernel(base).fit(WORKED[:1], [0])
    with pytest.raises(ValueError, match="to_undirected"):
        CoreKernel("vertex").fit(GraphBatch.from_edges([[(0, 1)]], directed=True))


def test_tags_follow_the_base():
    assert graph_tags(CoreKernel("wl")).refines
    assert not graph_tags(CoreKernel("sp")).refines
    assert not graph_tags(CoreKernel("emd")).features
    assert not hasattr(CoreKernel("emd"), "features")
    with pytest.raises(ValueError, match="refines node labels itself"):
        WeisfeilerLehman(base=CoreKernel("wl")).fit(WORKED[:1])
    assert gramlet.gram(WORKED, WeisfeilerLehman(1, base="core")).shape == (4, 4)


def triangle_and_edge() -> GraphBatch:
    return GraphBatch.from_edges(
        [[(0, 1), (1, 2), (0, 2)], [(0, 1)]], node_labels=[list("CCC"), list("CO")]
    )


@pytest.mark.parametrize("deep_first", [True, False], ids=["fewer cores", "more cores"])
def test_features_of_profiles_have_the_fitted_columns(deep_first):
    graphs = triangle_and_edge()
    fitted, new = (graphs, graphs[1:]) if deep_first else (graphs[1:], graphs)
    total = (CoreKernel("vertex") + gramlet.EdgeHistogram()).fit(fitted)
    assert total.features(new).shape[1] == len(total.get_feature_names_out())
    product = (total.features(new) @ total.features(fitted).T).toarray()
    np.testing.assert_allclose(product, total.transform(new))
    alone = CoreKernel("vertex").fit(fitted)
    assert (alone.features(new) != alone.profile_of(new).features()).nnz == 0
    deep = gramlet.DeepGraphKernel(CoreKernel("vertex"), random_state=0).fit(fitted)
    assert deep.transform(new).shape == (len(new), len(fitted))
    assert (deep.diagonal(new) > 0).all()


@pytest.mark.parametrize("min_core", [0, 2])
def test_errors_of_the_base_name_the_graph_and_its_nodes(min_core):
    edges = [[(0, 1), (1, 2), (2, 3), (1, 3)]] * 2
    good = GraphBatch.from_edges(edges, edge_weights=[[1.0] * 4] * 2)
    bad = GraphBatch.from_edges(edges, edge_weights=[[1.0] * 4, [1.0, 1.0, -1.0, 1.0]])
    kernel = CoreKernel(gramlet.ShortestPath(weighted=True), min_core=min_core)
    with pytest.raises(ValueError, match=r"edge \(2, 3\) of graph 1 has weight -1"):
        kernel.fit(bad)
    with pytest.raises(ValueError, match=r"edge \(2, 3\) of graph 1 has weight -1"):
        kernel.fit(good).transform(bad)
    with pytest.raises(ValueError, match=r"edge \(2, 3\) of graph 1 has weight -1"):
        kernel.features(bad)


def test_what_is_wrong_with_cores_alone_is_said_of_cores():
    graphs = GraphBatch.from_edges([[(0, 1), (1, 2), (0, 2), (2, 3)]] * 2)  # cores of 4 and 3 nodes
    with pytest.raises(ValueError, match="Here graphs are the cores of all graphs"):
        CoreKernel(gramlet.LaplacianKernel()).fit(graphs)
