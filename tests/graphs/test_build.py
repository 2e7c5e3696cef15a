"""Lists given graph by graph: sizes, columns, and invalid values; every error names the graph."""

from __future__ import annotations

import pickle
import tracemalloc

import numpy as np
import pytest

from gramlet import GraphBatch, as_batch
from gramlet.graphs import build


class TestLists:
    @pytest.mark.parametrize(
        ("edges", "n_nodes", "message"),
        [
            ([[], [(0, 3)]], [0, 3], r"Graph 1 has an edge \(0, 3\).*0 to 2"),
            ([[(0, -1)]], None, r"Graph 0 has an edge \(0, -1\)"),
            ([[(0, 1)]], [0], r"Graph 0 has an edge \(0, 1\), but the graph has no nodes"),
            ([[]], [-1], r"Graph 0: the number of nodes must not be negative; got -1"),
            ([[(0, 1)], [(0, 1, 2)]], None, r"Graph 1: edges must be an \(m, 2\) array"),
            ([[(0.0, 1.0)]], None, r"Graph 0: edges must be .* of integers.*float64"),
            ([[("a", "b")]], None, r"Graph 0: edges must be .* of integers"),
            ([[(0, 1), (2,)]], None, r"Graph 0: edges must be"),
            ([None], None, r"Graph 0: edges must be .*None"),
            ([[(0, 1)], []], [2], r"n_nodes has 1 entries for 2 graphs"),
        ],
    )
    def test_bad_edges_are_refused(self, edges, n_nodes, message):
        with pytest.raises(ValueError, match=message):
            GraphBatch.from_edges(edges, n_nodes=n_nodes)

    @pytest.mark.parametrize("n_nodes", [[2.5], ["2"], [True], [np.float64(2)]])
    def test_a_number_of_nodes_is_an_integer(self, n_nodes):
        with pytest.raises(TypeError, match="Graph 0: n_nodes must be an integer"):
            GraphBatch.from_edges([[(0, 1)]], n_nodes=n_nodes)

    def test_n_nodes_is_one_number_a_graph(self):
        with pytest.raises(
            TypeError, match="n_nodes must be a list with one entry per graph; got 2"
        ):
            GraphBatch.from_edges([[(0, 1)]], n_nodes=2)

    def test_sizes_come_from_n_nodes_labels_attributes_or_edges(self):
        edges = [[(0, 1)], []]
        assert GraphBatch.from_edges(edges).sizes.tolist() == [2, 0]
        assert GraphBatch.from_edges(edges, n_nodes=np.array([4, 1])).sizes.tolist() == [4, 1]
        assert GraphBatch.from_edges(edges, node_labels=["CCO", "N"]).sizes.tolist() == [3, 1]
        rows = [np.zeros((5, 2)), np.zeros((2, 2))]
        assert GraphBatch.from_edges(edges, node_attributes=rows).sizes.tolist() == [5, 2]

    def test_sizes_that_disagree_are_refused(self):
        with pytest.raises(ValueError, match="Graph 1 has 3 nodes, but 2 node_labels"):
            GraphBatch.from_edges([[], []], n_nodes=[1, 3], node_labels=["a", "ab"])
        with pytest.raises(ValueError, match="Graph 0 has 1 nodes, but 2 node_attributes"):
            GraphBatch.from_edges([[]], node_labels=["a"], node_attributes=[np.zeros((2, 1))])

    @pytest.mark.parametrize(
        "name", ["node_labels", "edge_labels", "edge_weights", "edge_attributes"]
    )
    def test_a_column_of_the_wrong_length_is_refused(self, name):
        with pytest.raises(ValueError, match=rf"Graph 1 has . \w+, but 3 {name}"):
            GraphBatch.from_edges([[], [(0, 1)]], n_nodes=[0, 2], **{name: [[], [1, 2, 3]]})

    @pytest.mark.parametrize(
        ("name", "entry"),
        [
            ("node_labels", ["a", "b"]),
            ("edge_labels", ["a"]),
            ("edge_weights", [1.0]),
            ("node_attributes", [[1.0], [2.0]]),
            ("edge_attributes", [[1.0, 2.0]]),
        ],
    )
    def test_a_column_half_there_is_refused(self, name, entry):
        edges = [[], [(0, 1)], [(0, 1)]]
        with pytest.raises(ValueError, match=f"Graph 2 has {name} and graph 1 has none"):
            GraphBatch.from_edges(edges, n_nodes=[0, 2, 2], **{name: [None, None, entry]})

    @pytest.mark.parametrize(
        "name",
        ["node_labels", "edge_labels", "edge_weights", "node_attributes", "edge_attributes"],
    )
    def test_a_column_of_none_is_no_column(self, name):
        plain = GraphBatch.from_edges([[(0, 1)], []], n_nodes=[2, 1])
        assert GraphBatch.from_edges([[(0, 1)], []], n_nodes=[2, 1], **{name: [None] * 2}) == plain

    def test_empty_and_edgeless_graphs_fit_either_way(self):
        batch = GraphBatch.from_edges(
            [[], [(0, 1)], []],
            n_nodes=[0, 2, 1],
            node_labels=[None, ["a", "b"], ["c"]],
            edge_labels=[None, ["x"], None],
            edge_weights=[None, [2.0], None],
            node_attributes=[None, np.ones((2, 2)), np.zeros((1, 2))],
        )
        assert list(batch.node_labels) == ["a", "b", "c"]
        assert list(batch.edge_labels) == ["x", "x"]
        assert batch.edge_weights.tolist() == [2.0, 2.0]
        assert batch.node_attributes.shape == (3, 2)

    def test_labels_python_tells_apart_stay_apart(self):
        batch = GraphBatch.from_edges([[], []], node_labels=[[1, "1", (1,)], [(1,), 1, 2]])
        assert len(batch.node_labels.categories) == 4
        assert [type(v) for v in batch.node_labels] == [int, str, tuple, tuple, int, int]

    def test_bad_labels_are_refused_by_graph(self):
        with pytest.raises(ValueError, match="Graph 1, node_labels: NaN is not a label"):
            GraphBatch.from_edges([[], []], node_labels=[[1.0], [float("nan")]])
        with pytest.raises(TypeError, match="Graph 1, edge_labels: Labels must be hashable"):
            GraphBatch.from_edges([[(0, 1)], [(0, 1)]], edge_labels=[["a"], [{}]])
        with pytest.raises(TypeError, match="Graph 0: node_labels must be a list in the order"):
            GraphBatch.from_edges([[(0, 1)]], node_labels=[{1: "a", 0: "b"}])

    @pytest.mark.parametrize("odd", [np.nan, np.inf])
    def test_numbers_that_are_not_finite_are_kept_for_those_who_do_not_use_them(self, odd):
        edges = [[(0, 1)], [(0, 1), (1, 2)]]
        rows = [np.zeros((2, 1)), [[0], [odd], [0]]]
        batch = GraphBatch.from_edges(edges, edge_weights=[[1], [1, odd]], node_attributes=rows)
        assert not np.isfinite(batch.edge_weights).all()
        assert not np.isfinite(batch.node_attributes).all()
        assert batch[0] == batch[[0]]
        assert pickle.loads(pickle.dumps(batch)) == batch

    def test_numbers_must_be_numbers(self):
        with pytest.raises(ValueError, match="Graph 1: edge_weights must be numbers"):
            GraphBatch.from_edges([[(0, 1)], [(0, 1)]], edge_weights=[[1], ["heavy"]])
        with pytest.raises(ValueError, match="Graph 0: node_attributes must be numbers"):
            GraphBatch.from_edges([[]], node_attributes=[["a", "b"]])

    def test_attributes_need_one_width(self):
        with pytest.raises(ValueError, match=r"Graph 1 .*shape \(1, 2\); graph 0 has 1 attributes"):
            GraphBatch.from_edges([[], []], node_attributes=[[1.0], [[1.0, 2.0]]])


class TestAbsurdNumbers:
    @pytest.mark.parametrize("node", [10**18, 3 * 10**8, np.int64(2**62), 2**63 - 1])
    @pytest.mark.parametrize("directed", [True, False])
    def test_a_huge_node_number_costs_nothing(self, node, directed):
        tracemalloc.start()
        try:
            with pytest.raises(
                ValueError,
                match=rf"Graph 1 has an edge to node {node}, .*1 edges. Number .* give n_nodes",
            ):
                GraphBatch.from_edges([[(0, 1)], [(0, node)]], directed=directed)
            with pytest.raises(ValueError, match=f"Graph 0 has an edge to node {node}"):
                as_batch([([(node, 0)], None)], directed=directed)
            assert tracemalloc.get_traced_memory()[1] < 10**6
        finally:
            tracemalloc.stop()

    @pytest.mark.parametrize("node", [2**63, 2**64 - 1, 2**64, 10**30])
    def test_node_numbers_beyond_64_bits(self, node):
        with pytest.raises(ValueError, match=f"Graph 0 has an edge to node {node}; nodes are"):
            GraphBatch.from_edges([[(0, node)]])
        with pytest.raises(ValueError, match=f"Graph 0 has an edge to node {node}"):
            as_batch([([(0, node)], ["a", "b"])])

    def test_with_labels_the_number_is_out_of_range(self):
        with pytest.raises(ValueError, match=r"Graph 0 has an edge \(0, 300000000\), but .*0 to 1"):
            GraphBatch.from_edges([[(0, 3 * 10**8)]], node_labels=["ab"])

    def test_large_graphs_are_taken_when_they_are_meant(self):
        wide = GraphBatch.from_edges([[(0, 2_000_000)]], n_nodes=[2_000_001])
        assert wide.sizes.tolist() == [2_000_001]
        assert GraphBatch.from_edges([[(0, 999_999)]]).sizes.tolist() == [1_000_000]
        path = np.column_stack([np.arange(1_200_000), np.arange(1, 1_200_001)])
        assert GraphBatch.from_edges([path]).sizes.tolist() == [1_200_001]

    @pytest.mark.parametrize("size", [10**18, 10**30])
    def test_more_nodes_than_the_machine_holds(self, size):
        with pytest.raises(
            ValueError, match=rf"graph 1 alone {size}\): their rows need .*GiB.*Check n_nodes"
        ):
            GraphBatch.from_edges([[], []], n_nodes=[1, size])

    def test_the_limit_is_the_machine(self, monkeypatch):
        monkeypatch.setattr(build, "_machine_memory", lambda: 80)
        assert GraphBatch.from_edges([[]], n_nodes=[10]).sizes.tolist() == [10]
        with pytest.raises(ValueError, match="The graphs have 11 nodes together"):
            GraphBatch.from_edges([[], []], n_nodes=[10, 1])

    @pytest.mark.parametrize(
        "weights",
        [["1"], [1j], [None], [[1, 2]], [10**400], [b"1"], np.array(["1"]), 3, [object()]],
    )
    def test_weights_are_real_numbers(self, weights):
        with pytest.raises((ValueError, TypeError), match="Graph 1: edge_weights must be"):
            GraphBatch.from_edges([[(0, 1)], [(0, 1)]], edge_weights=[[1.0], weights])

    @pytest.mark.parametrize("name", ["node_attributes", "edge_attributes"])
    @pytest.mark.parametrize("rows", [[["1"], ["2"]], [[1j], [1]], 3, [[1], [1, 2]], "ab"])
    def test_attributes_are_real_numbers(self, name, rows):
        edges = [[(0, 1), (1, 2)], [(0, 1), (1, 2)]]
        with pytest.raises((ValueError, TypeError), match=f"Graph 1: {name} must"):
            GraphBatch.from_edges(edges, **{name: [None, rows]})

    @pytest.mark.parametrize("name", ["node_labels", "edge_labels", "edge_weights"])
    @pytest.mark.parametrize("part", [3, np.array(3), {0: 1}, {1}])
    def test_columns_are_lists(self, name, part):
        with pytest.raises(TypeError, match=f"Graph 0: {name} must be a list"):
            GraphBatch.from_edges([[(0, 1)]], **{name: [part]})
        with pytest.raises(TypeError, match=f"{name} must be a list with one entry per graph"):
            GraphBatch.from_edges([[(0, 1)]], **{name: part})
