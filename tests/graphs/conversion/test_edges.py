"""Edges with labels, as pairs, triples, sets and dictionaries."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from gramlet import GraphBatch, as_batch
from gramlet.graphs.conversion.edges import is_symmetric

nx = pytest.importorskip("networkx", reason="needs networkx: pip install gramlet[graphs]")

PATH = GraphBatch.from_edges([[(0, 1), (1, 2)]], node_labels=[["C", "N", "O"]])


class TestPairs:
    @pytest.mark.parametrize(
        "edges",
        [
            [(0, 1), (1, 2)],
            [[0, 1], [1, 2]],
            ((0, 1), (1, 2)),
            np.array([[0, 1], [1, 2]]),
            np.array([[0, 1], [1, 2], [1, 0]], dtype=np.int32),
            {(0, 1), (2, 1)},
        ],
    )
    @pytest.mark.parametrize("labels", [["C", "N", "O"], {2: "O", 0: "C", 1: "N"}])
    def test_edges_and_labels_in_any_form(self, edges, labels):
        assert as_batch([(edges, labels)]) == PATH
        assert as_batch([[edges, labels]]) == PATH

    def test_edges_may_come_from_a_generator(self):
        assert as_batch([(((i, i + 1) for i in range(2)), "CNO")]) == PATH

    def test_labels_add_nodes_without_edges(self):
        assert as_batch([([(0, 1)], "abc")]).sizes.tolist() == [3]
        assert as_batch([([], ["a"]), (np.zeros((0, 2), int), {7: "a"})]).sizes.tolist() == [1, 1]
        assert as_batch([([], []), ([], None)]).sizes.tolist() == [0, 0]
        assert as_batch([(np.zeros((2, 0)), {7: "a"})]).sizes.tolist() == [1]

    def test_without_labels_nodes_are_counted_from_zero(self):
        assert as_batch([([(0, 3)], None)]) == GraphBatch.from_edges([[(0, 3)]])

    def test_dictionaries_give_nodes_any_names(self):
        labels = {"u": "C", ("v", 1): "N", 9: "O"}
        assert as_batch([([("u", ("v", 1)), (9, ("v", 1))], labels)]) == PATH
        named = {"u": "C", "v": "N", "w": "O"}
        for edges in ([["u", "v"], ["v", "w"]], np.array([["u", "v"], ["v", "w"]])):
            assert as_batch([(edges, named)]) == PATH

    def test_labels_python_tells_apart_stay_apart(self):
        batch = as_batch([([], [1, "1", (1,)]), ([], np.array([1, 2, 2]))])
        assert batch.node_labels.used() == (1, "1", (1,), 2)

    @pytest.mark.parametrize(
        "edge_labels",
        [["s", "d"], np.array(["s", "d"]), {(0, 1): "s", (1, 2): "d"}, {(1, 0): "s", (2, 1): "d"}],
    )
    @pytest.mark.parametrize("array", [True, False])
    def test_triples_bring_edge_labels(self, edge_labels, array):
        edges = [(0, 1), (1, 2)]
        batch = as_batch([(np.array(edges) if array else edges, ["C", "N", "O"], edge_labels)])
        assert batch == GraphBatch.from_edges(
            [edges], node_labels=[["C", "N", "O"]], edge_labels=[["s", "d"]]
        )

    def test_edges_with_a_third_value_are_weighted(self):
        batch = as_batch([([(0, 1, 0.5), (1, 2, 2)], ["C", "N", "O"], ["s", "d"])])
        assert batch == GraphBatch.from_edges(
            [[(0, 1), (1, 2)]],
            node_labels=["CNO"],
            edge_labels=[["s", "d"]],
            edge_weights=[[0.5, 2]],
        )

    def test_matrices_may_have_labels(self):
        matrix = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
        for structure in (matrix, matrix.tolist(), sp.csr_matrix(matrix), matrix.astype(float)):
            for labels in (["C", "N", "O"], {0: "C", 1: "N", 2: "O"}):
                assert as_batch([(structure, labels)]) == PATH

    @pytest.mark.parametrize("form", [np.array, list])
    @pytest.mark.parametrize(
        ("two_by_two", "labels", "edges", "n_nodes", "weights"),
        [
            ([[0, 1], [1, 0]], "ab", [(0, 1)], 2, None),
            ([[0, 1], [1, 2]], "abc", [(0, 1), (1, 2)], 3, None),
            ([[0, 2], [2, 0]], "abc", [(0, 2)], 3, None),
            ([[0, 2], [2, 0]], "ab", [(0, 1)], 2, [[2]]),
            ([[0, 0], [0, 0]], "ab", [], 2, None),
            ([[0.0, 1.0], [1.0, 0.0]], "ab", [(0, 1)], 2, None),
        ],
    )
    def test_two_rows_of_two_are_edges_unless_they_cannot_be(
        self, form, two_by_two, labels, edges, n_nodes, weights
    ):
        assert as_batch([(form(two_by_two), labels)]) == GraphBatch.from_edges(
            [edges], n_nodes=[n_nodes], node_labels=[labels], edge_weights=weights
        )

    @pytest.mark.parametrize(
        ("item", "message"),
        [
            (([(0, 1)], ["a"]), r"Graph 1 has an edge \(0, 1\), but nodes are numbered 0 to 0"),
            (([(0, 1)], {0: "a"}), "Graph 1: node 1 has no label, but others have"),
            (([(0, 0)], ["a"]), "Graph 1 has a self-loop at node 0"),
            (([("a", "b")], None), r"Graph 1: edges must be an \(m, 2\) array of integers"),
            ((np.zeros((3, 4), int), None), r"Graph 1: edges must be an \(m, 2\).*\(3, 4\)"),
            ((np.zeros((3, 3)), "ab"), "Graph 1 has 3 nodes, but 2 node labels"),
            ((np.zeros((2, 2)), {0: 1, 1: 1, 2: 1}), "Graph 1 has 2 nodes, but 3 node labels"),
            (([(0, 1)], "ab", {(0, 2): "s"}), r"Graph 1: edge \(0, 1\) has no label"),
            (
                ([(0, 1)], "ab", {(0, 1): "s", (1, 2): "s"}),
                r"label for \(1, 2\), which is not one of its edges",
            ),
            (([(0, 1)], "ab", {(0, 1): 1, (1, 0): 2}), "Graph 1 has two labels for the edge"),
            (({(0, 1)}, "ab", ["s"]), r"Graph 1: edge labels for .* must be a dictionary"),
            ((np.zeros((3, 3)), "abc", ["s"]), r"Graph 1: edge labels for .* must be a dictionary"),
            (([(0, 1)], [float("nan"), 1]), "Graph 1, node_labels: NaN is not a label"),
        ],
    )
    def test_bad_pairs_are_value_errors_by_position(self, item, message):
        with pytest.raises(ValueError, match=message):
            as_batch([([], []), item])

    @pytest.mark.parametrize(
        ("item", "message"),
        [
            ((), "Graph 1 is a tuple of 0 parts"),
            (([], [], [], []), "Graph 1 is a tuple of 4 parts"),
            ((5, ["a"]), "Graph 1: expected edges .* got 5"),
            (("CCO", ["a"]), "Graph 1: expected edges .* got 'CCO'"),
            (([0, 1], ["a"]), r"Graph 1: expected edges .* got \[0, 1\]"),
            ((["ab", "bc"], None), "Graph 1: expected edges"),
            (([(0, 1)], {"a", "b"}), "Graph 1: labels must be a list or a dictionary"),
            (([(0, 1)], 3), "Graph 1: labels must be a list or a dictionary; got 3"),
            (([(0, 1)], [{}, {}]), "Graph 1, node_labels: Labels must be hashable"),
            ((nx.grid_2d_graph(2, 2), None), "Graph 1: expected edges"),
            (([np.array(1), 2], None), "Graph 1: expected edges"),
            (([{1, 2}, {2, 3}], None), "Graph 1: expected edges"),
            (([([1], 2)], {2: "a"}), "Graph 1: names of nodes must be hashable"),
            (([([1], 2)], None, {(1, 2): "a"}), "Graph 1: names of nodes must be hashable"),
            (([(0, 1)], np.array(3)), "Graph 1: labels must be a list or a dictionary"),
        ],
    )
    def test_what_is_no_pair_is_a_type_error_by_position(self, item, message):
        with pytest.raises(TypeError, match=message):
            as_batch([([], []), item])


class TestDirection:
    def test_edge_lists_are_undirected_or_arcs_as_they_stand(self):
        item = ([(0, 1), (1, 2), (2, 1)], "CNO")
        assert as_batch([item]) == PATH
        batch = as_batch([item], directed=True)
        assert batch == GraphBatch.from_edges([item[0]], node_labels=["CNO"], directed=True)
        assert batch.n_edges.tolist() == [3]
        assert batch.to_undirected() == PATH

    def test_arcs_have_their_own_data(self):
        batch = as_batch([([(1, 0, 0.5), (1, 2, 2)], "CNO", ["s", "d"])], directed=True)
        assert batch == GraphBatch.from_edges(
            [[(1, 0), (1, 2)]],
            node_labels=["CNO"],
            edge_labels=[["s", "d"]],
            edge_weights=[[0.5, 2]],
            directed=True,
        )

    def test_a_matrix_with_labels_does_not_say(self):
        one_way = np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]])
        batch = as_batch([(one_way, "CNO"), (one_way + one_way.T, "CNO")])
        assert batch.directed
        assert batch.n_edges.tolist() == [2, 4]
        assert as_batch([(one_way, "CNO")], directed=False) == PATH

    def test_labels_of_a_matrix_may_differ_by_direction(self):
        matrix = np.array([[0.0, 1.0], [1.0, 0.0]])
        labels = {(0, 1): "up", (1, 0): "down"}
        batch = as_batch([(matrix, "ab", labels)])
        assert batch.directed
        assert list(batch.edge_labels) == ["up", "down"]
        same = dict.fromkeys(labels, "up")
        assert not as_batch([(matrix, "ab", same)]).directed

    @pytest.mark.parametrize("form", [np.array, list])
    @pytest.mark.parametrize("two", [[[0, 1], [0, 0]], [[0, 0], [1, 0]]])
    def test_two_rows_with_a_loop_are_a_matrix(self, form, two):
        batch = as_batch([(form(two), "ab")])
        assert batch.directed
        assert batch.adjacency(0).tolist() == two


class TestThreeListsOfThree:
    """Three weighted edges given as lists, or a matrix of three rows."""

    def test_what_can_only_be_edges_is_edges(self):
        rows = [[0, 1, 0.5], [1, 2, 0.5], [0, 2, 1.0]]
        wanted = GraphBatch.from_edges(
            [[(0, 1), (1, 2), (0, 2)]], node_labels=["CNO"], edge_weights=[[0.5, 0.5, 1]]
        )
        assert as_batch([(rows, "CNO")]) == wanted
        assert as_batch([([tuple(row) for row in rows], "CNO")]) == wanted

    @pytest.mark.parametrize("bits", range(8))
    def test_symmetric_matrices_are_matrices(self, bits):
        matrix = np.zeros((3, 3), dtype=int)
        for bit, (u, v) in enumerate([(0, 1), (0, 2), (1, 2)]):
            matrix[u, v] = matrix[v, u] = (bits >> bit & 1) * (bit + 1)
        assert as_batch([(matrix.tolist(), "CNO")]) == as_batch([(matrix, "CNO")])

    def test_a_matrix_that_cannot_be_edges_is_a_matrix(self):
        matrix = [[0, 0.5, 0], [0, 0, 1], [0, 0, 0]]
        assert as_batch([(matrix, "CNO")]).adjacency(0, weighted=True).tolist() == matrix

    def test_what_can_be_both_is_refused_with_the_way_out(self):
        rows = [[0, 1, 2], [1, 0, 2], [2, 0, 0]]
        with pytest.raises(
            ValueError,
            match=r"Graph 1: \[\[0, 1, 2\].* can be an adjacency matrix or three edges with "
            r"weights. Write a matrix as a numpy array, edges as tuples",
        ):
            as_batch([([], []), (rows, "CNO")])
        assert as_batch([(np.array(rows), "CNO")]).n_edges.tolist() == [5]
        assert as_batch([([(0, 1, 2), (2, 0, 0)], "CNO")]).edge_weights.tolist() == [2, 0, 2, 0]

    def test_what_can_be_neither_names_the_loop(self):
        with pytest.raises(ValueError, match="Graph 0 has a self-loop at node 1"):
            as_batch([([[0, 0, 1], [1, 1, 1], [0, 0, 0]], "CNO")])


# Edges alone

TRIANGLE = [(0, 1), (1, 2), (0, 2)]


class TestEdgeLists:
    @pytest.mark.parametrize(
        "edges",
        [
            TRIANGLE,
            tuple(TRIANGLE),
            [[0, 1], [1, 2], [2, 0]],
            set(TRIANGLE),
            frozenset(TRIANGLE),
            np.array(TRIANGLE),
            np.array(TRIANGLE, dtype=np.uint8),
        ],
    )
    def test_edges_alone_are_a_graph(self, edges):
        assert as_batch([edges, edges]) == GraphBatch.from_edges([TRIANGLE] * 2)
        arcs = as_batch([edges], directed=True)
        assert arcs.n_edges.tolist() == [3]
        assert arcs.to_undirected() == GraphBatch.from_edges([TRIANGLE])

    def test_one_edge_no_edge_and_weights(self):
        batch = as_batch([[(0, 3)], [], np.zeros((0, 2), int)])
        assert batch == GraphBatch.from_edges([[(0, 3)], [], []])
        assert as_batch([{("a", "b"), ("b", "c")}]).n_edges.tolist() == [2]
        assert as_batch([[(0, 1, 0.5)]]).edge_weights.tolist() == [0.5, 0.5]

    def test_arcs_stand_as_they_are(self):
        batch = as_batch([[(0, 1), (1, 0), (2, 1)]], directed=True)
        assert batch == GraphBatch.from_edges([[(0, 1), (1, 0), (2, 1)]], directed=True)

    def test_a_square_array_stays_a_matrix(self):
        assert as_batch([np.array([[0, 1], [1, 0]])]).n_edges.tolist() == [1]
        with pytest.raises(ValueError, match="Graph 0 has a self-loop at node 1"):
            as_batch([np.array([[0, 1], [1, 2]])])

    @pytest.mark.parametrize(
        "rows",
        [
            np.random.default_rng(0).random((5, 3)),
            np.random.default_rng(0).random((4, 4)),
            [[0.5, 1.5], [2.5, 3.5]],
            [np.zeros(3), np.zeros(3)],
            [np.zeros((2, 3))],
        ],
    )
    def test_a_matrix_of_features_is_refused_with_the_way_out(self, rows):
        with pytest.raises(
            (TypeError, ValueError), match=r"these are not graphs\. .*scikit-learn.*from_edges\("
        ):
            as_batch(rows)


# Symmetry

ARCS = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=12)


@given(ARCS)
def test_it_agrees_with_sets(arcs):
    table = np.array(arcs, dtype=np.int64).reshape(-1, 2)
    wanted = all((v, u) in set(arcs) for u, v in arcs)
    assert is_symmetric(table) == wanted
    both = np.concatenate([table, table[:, ::-1]])
    assert is_symmetric(both)


@pytest.mark.parametrize(
    ("values", "wanted"),
    [
        ([1.0, 1.0], True),
        ([1.0, 1.0 + 2**-52], False),
        ([np.nan, np.nan], True),
        ([np.nan, 1.0], False),
        ([[1, 2], [1, 2]], True),
        ([[1, 2], [2, 1]], False),
    ],
)
def test_data_of_opposite_arcs_is_compared_exactly(values, wanted):
    assert is_symmetric(np.array([(0, 1), (1, 0)]), None, np.array(values)) is wanted


def test_repeats_count_once():
    assert is_symmetric(np.array([(0, 1), (1, 0), (0, 1)]), np.array([2, 2, 2]))
