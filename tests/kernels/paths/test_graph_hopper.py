"""GraphHopper against enumeration of all shortest paths."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

import gramlet
from gramlet import DeepGraphKernel, FeatureMap, GraphBatch, GraphHopper, as_batch, load, save
from gramlet.kernels import registry
from reference.kernels.graph_hopper import graph_hopper
from reference.strategies import graph_batches

WORKED = [
    ([(0, 1), (1, 2)], ["C", "O", "C"]),
    ([(0, 1)], ["C", "O"]),
    ([(0, 1), (1, 2)], ["C", "C", "O"]),
    ([(0, 1), (1, 2), (0, 2)], ["C", "C", "C"]),
]


@st.composite
def two_batches(draw, attributes=False):
    columns = {
        "labels": draw(st.booleans()),
        "weights": draw(st.booleans()),
        "attributes": False,
        "directed": draw(st.booleans()),
        "max_nodes": 6,
    }
    fitted = draw(graph_batches(min_graphs=1, max_graphs=4, **columns))
    new = draw(graph_batches(min_graphs=1, max_graphs=3, **columns))
    if not attributes:
        return fitted, new
    width = draw(st.integers(1, 3))
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    return tuple(
        batch.with_columns(node_attributes=rng.integers(-2, 3, (batch.n_nodes_total, width)) / 2)
        for batch in (fitted, new)
    )


def agree(kernel, fitted, new, **options):
    np.testing.assert_allclose(kernel.fit_transform(fitted), graph_hopper(fitted, **options))
    expected = graph_hopper(new, fitted, **options)
    np.testing.assert_allclose(kernel.transform(new), expected, atol=1e-12)
    own = [graph_hopper(new[i], **options)[0, 0] for i in range(len(new))]
    np.testing.assert_allclose(kernel.diagonal(new), own)


def test_worked_values():
    kernel = GraphHopper()
    expected = [[33, 11, 25, 30], [11, 6, 11, 15], [25, 11, 33, 42], [30, 15, 42, 81]]
    assert np.array_equal(kernel.fit_transform(WORKED), expected)
    assert kernel.node_kernel_ == "label"


@pytest.mark.parametrize("weighted", [False, True])
def test_a_path_of_three_equal_nodes(weighted):
    path = GraphBatch.from_edges([[(0, 1), (1, 2)]], edge_weights=[[2.0, 1.0]])
    assert GraphHopper(weighted=weighted).fit_transform(path)[0, 0] == 53


@given(two_batches(), st.booleans())
def test_labels(batches, weighted):
    agree(GraphHopper("label", weighted=weighted), *batches, node_kernel="label", weighted=weighted)


@given(
    two_batches(attributes=True),
    st.sampled_from(["linear", "gaussian", "bridge", "auto"]),
    st.sampled_from([None, 0.0, 0.7]),
    st.sampled_from([0.5, 4.0]),
    st.booleans(),
    st.sampled_from([False, True, "auto"]),
)
def test_attributes(batches, node_kernel, mu, width, weighted, use_labels):
    options = {
        "node_kernel": node_kernel,
        "mu": mu,
        "width": width,
        "weighted": weighted,
        "use_labels": use_labels,
    }
    agree(GraphHopper(**options), *batches, **options)


def test_mu_after_a_fit_on_graphs_without_nodes():
    empty = GraphBatch.from_edges([[]], n_nodes=[0])
    new = GraphBatch.from_edges([[]], n_nodes=[2], node_attributes=[[[0.0, 1.0], [1.0, 0.0]]])
    kernel = GraphHopper("gaussian").fit(empty)
    assert kernel.diagonal(new)[0] == pytest.approx(2 + 2 * np.exp(-1))  # two columns: mu = 1/2


@given(two_batches(attributes=True), st.sampled_from(["label", "linear"]), st.booleans())
def test_features_multiply_to_the_kernel(batches, node_kernel, use_labels):
    fitted, new = batches
    kernel = GraphHopper(node_kernel, use_labels=use_labels).fit(fitted)
    product = (kernel.features(new) @ kernel.features(fitted).T).toarray()
    np.testing.assert_allclose(product, kernel.transform(new), rtol=1e-12, atol=1e-12)
    names = kernel.get_feature_names_out()
    assert len(set(names)) == len(names) == kernel.features(new).shape[1]


def test_names_of_features():
    kernel = GraphHopper("label").fit([WORKED[1]])
    assert set(kernel.get_feature_names_out()) == {
        "C:1/1",
        "O:1/1",
        "C:1/2",
        "C:2/2",
        "O:1/2",
        "O:2/2",
    }
    attributed = GraphBatch.from_edges(
        [[(0, 1)]], node_labels=[["C", "O"]], node_attributes=[[[1.0, 0.0], [0.0, 2.0]]]
    )
    names = GraphHopper("linear", use_labels=False).fit(attributed).get_feature_names_out()
    assert set(names) == {f"attribute {c}:{at}" for c in (0, 1) for at in ("1/1", "1/2", "2/2")}
    names = GraphHopper("linear").fit(attributed).get_feature_names_out()
    assert "C:attribute 0:1/2" in names
    assert "C:attribute 1:1/2" not in names


def test_only_label_and_linear_have_features():
    attributed = GraphBatch.from_edges([[(0, 1)]], node_attributes=[[[1.0], [2.0]]])
    for node_kernel, there in (("label", True), ("linear", True), ("gaussian", False)):
        kernel = GraphHopper(node_kernel).fit(attributed)
        assert hasattr(kernel, "features") == kernel.__graph_tags__().features == there
    assert not hasattr(GraphHopper().fit(attributed), "features")
    assert hasattr(GraphHopper().fit(WORKED), "features")
    assert FeatureMap(GraphHopper("label")).fit_transform(WORKED).shape[0] == 4
    with pytest.raises(TypeError, match="no explicit feature map"):
        FeatureMap(GraphHopper("bridge")).fit(attributed)


def test_mu_and_width_may_change_after_the_fit():
    rng = np.random.default_rng(0)
    graphs = GraphBatch.from_edges(
        [[(0, 1), (1, 2)]] * 3, node_attributes=[rng.normal(size=(3, 2)) for _ in range(3)]
    )
    for node_kernel, change in (("gaussian", {"mu": 0.3}), ("bridge", {"width": 0.7})):
        kernel = GraphHopper(node_kernel).fit(graphs)
        changed = kernel.set_params(**change).transform(graphs)
        fresh = clone(kernel).fit(graphs).transform(graphs)
        assert np.array_equal(changed, fresh)


def test_a_tie_within_rounding_counts_twice():
    """0.1 + 0.2 is not 0.3 in floating point; both paths from 0 to 3 are shortest."""
    edges = [(0, 1), (1, 3), (0, 2), (2, 3)]
    tied, apart = (
        GraphBatch.from_edges([edges], edge_weights=[[0.1, 0.2, w, 0.15]]) for w in (0.15, 0.1501)
    )
    plain = GraphHopper("label").fit_transform(GraphBatch.from_edges([edges]))
    # Both are squares: only the pair {1, 2} differs, which has one shortest path by weight.
    assert GraphHopper("label", weighted=True).fit_transform(tied)[0, 0] != plain[0, 0]
    expected = [graph_hopper(b, node_kernel="label", weighted=True)[0, 0] for b in (tied, apart)]
    found = [GraphHopper("label", weighted=True).fit_transform(b)[0, 0] for b in (tied, apart)]
    assert found == expected
    assert found[0] != found[1]


def test_tiny_weights_do_not_lead_to_and_fro():
    graphs = GraphBatch.from_edges([[(0, 1), (1, 2), (2, 3)]], edge_weights=[[1.0, 1e-12, 1.0]])
    expected = graph_hopper(graphs, weighted=True)
    assert np.array_equal(GraphHopper(weighted=True).fit_transform(graphs), expected)


def layered(n_layers: int, width: int) -> GraphBatch:
    """Layers, each fully connected to the next: width^(l − 2) paths between two end nodes."""
    edges = [
        (width * layer + a, width * (layer + 1) + b)
        for layer in range(n_layers - 1)
        for a in range(width)
        for b in range(width)
    ]
    return GraphBatch.from_edges([[(0, 1)], edges], n_nodes=[2, width * n_layers])


def test_counts_beyond_exact_integers_warn_and_name_the_graph():
    with pytest.warns(UserWarning, match="graph 1 has .* beyond 2.53"):
        matrix = GraphHopper().fit_transform(layered(60, 2))
    assert np.isfinite(matrix).all()
    with pytest.raises(ValueError, match="graph 1 has more than"):
        GraphHopper().fit(layered(200, 6))


def test_wrong_input():
    bare = GraphBatch.from_edges([[(0, 1)]])
    with pytest.raises(ValueError, match="node attributes, but graph 0 has none"):
        GraphHopper("gaussian").fit(bare)
    one = bare.with_columns(node_attributes=np.array([[1.0], [2.0]]))
    two = bare.with_columns(node_attributes=np.array([[1.0, 1.0], [2.0, 0.0]]))
    with pytest.raises(ValueError, match="fitted on graphs with 1 attributes per node"):
        GraphHopper("linear").fit(one).transform(two)
    with pytest.raises(ValueError, match="node attributes"):
        GraphHopper().fit(one).transform(bare)
    weights = GraphBatch.from_edges([[(0, 1)]], edge_weights=[[0.0]])
    with pytest.raises(ValueError, match=r"edge \(0, 1\) of graph 0 has weight 0.0"):
        GraphHopper(weighted=True).fit(weights)
    for params in ({"node_kernel": "cosine"}, {"mu": -1.0}, {"width": 0.0}, {"use_labels": "no"}):
        with pytest.raises(ValueError, match="parameter of GraphHopper"):
            GraphHopper(**params).fit(one)
    directed = GraphBatch.from_edges([[(0, 1)]], directed=True)
    with pytest.raises(ValueError, match="to_undirected"):
        GraphHopper().fit(directed).transform(bare)


def test_graphs_without_edges_fit_either_direction_and_weights():
    def attributed(batch):
        return batch.with_columns(node_attributes=np.arange(batch.n_nodes_total)[:, None] / 4)

    alone = attributed(GraphBatch.from_edges([[]], n_nodes=[3]))
    for directed in (False, True):
        path = attributed(GraphBatch.from_edges([[(0, 1), (1, 2)]], directed=directed))
        for weighted in (False, True):
            options = {"node_kernel": "gaussian", "weighted": weighted}
            for rows, columns in ((alone, path), (path, alone)):
                found = GraphHopper(**options).fit(columns).transform(rows)
                np.testing.assert_allclose(found, graph_hopper(rows, columns, **options))


@pytest.mark.parametrize("node_kernel", ["label", "linear", "gaussian", "bridge"])
def test_save_and_load(node_kernel, tmp_path):
    rng = np.random.default_rng(1)
    graphs = GraphBatch.from_edges(
        [[(0, 1), (1, 2)]] * 3,
        node_labels=[["C", "O", "C"]] * 3,
        node_attributes=[rng.normal(size=(3, 2)) for _ in range(3)],
    )
    kernel = GraphHopper(node_kernel, use_labels=True).fit(graphs)
    gramlet.save(kernel, tmp_path / "kernel.gramlet")
    again = gramlet.load(tmp_path / "kernel.gramlet")
    assert np.array_equal(again.transform(graphs), kernel.transform(graphs))


@pytest.mark.parametrize(
    "name",
    [
        "core(graph-hopper)",
        "wl(graph-hopper, n_iter=1)",
        "graph-hopper(normalize=False) + vertex(normalize=False)",
        "core(core(graph-hopper, normalize=False) + graph-hopper(normalize=False))",
    ],
)
def test_kernels_over_it_have_features_where_it_turns_out_to_compare_labels(name, tmp_path):
    kernel = registry.make(name)
    assert not kernel.__graph_tags__().features
    assert kernel.__graph_tags__().features_by_graphs
    kernel.fit(WORKED)
    product = kernel.features(WORKED) @ kernel.features(WORKED).T
    np.testing.assert_allclose(product.toarray(), kernel.transform(WORKED))
    mapped = FeatureMap(kernel).fit_transform(WORKED)
    assert mapped.shape[1] == len(set(kernel.get_feature_names_out()))
    save(kernel, tmp_path / "kernel.gramlet")
    assert (load(tmp_path / "kernel.gramlet").features(WORKED) != kernel.features(WORKED)).nnz == 0


def test_with_attributes_there_are_no_features_over_it_either():
    plain = as_batch(WORKED)
    attributed = plain.with_columns(node_attributes=np.ones((plain.node_offsets[-1], 2)))
    for name in (
        "core(graph-hopper)",
        "wl(graph-hopper)",
        "graph-hopper(normalize=False) + vertex(normalize=False)",
    ):
        kernel = registry.make(name).fit(attributed)
        assert not hasattr(kernel, "features")
        with pytest.raises(TypeError, match="has no explicit feature map"):
            FeatureMap(kernel).fit(attributed)
    with pytest.raises(ValueError, match="no explicit feature map"):
        DeepGraphKernel("graph-hopper").fit(attributed)
    assert DeepGraphKernel("graph-hopper").fit_transform(WORKED).shape == (4, 4)
