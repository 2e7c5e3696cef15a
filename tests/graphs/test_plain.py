"""Adjacency matrices, edges with labels, and GraKeL's formats."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given

from gramlet import GraphBatch, as_batch
from reference.strategies import graph_batches

nx = pytest.importorskip("networkx", reason="needs networkx: pip install gramlet[graphs]")

PATH = GraphBatch.from_edges([[(0, 1), (1, 2)]], node_labels=[["C", "N", "O"]])
SPARSE = [sp.csr_matrix, sp.csc_array, sp.coo_matrix, sp.lil_array, sp.dok_matrix, sp.bsr_array]


class TestMatrices:
    @pytest.mark.parametrize("form", [np.array, *SPARSE])
    @pytest.mark.parametrize("kind", [bool, int, np.uint8, np.float32])
    def test_zero_one_matrices_give_unweighted_graphs(self, form, kind):
        matrix = form(np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]], dtype=kind))
        assert as_batch([matrix]) == GraphBatch.from_edges([[(0, 1), (1, 2)]])

    @given(graph_batches(labels=False, edge_labels=False, attributes=False))
    def test_adjacency_matrices_come_back(self, batch):
        dense = [batch.adjacency(i, weighted=True) for i in range(len(batch))]
        if batch.edge_weights is not None and (batch.edge_weights == 1).all():
            batch = GraphBatch(batch.node_offsets, batch.indptr, batch.indices)
        assert as_batch(dense) == batch
        assert as_batch([sp.csr_array(matrix) for matrix in dense]) == batch

    def test_other_entries_are_weights_in_all_graphs_of_the_call(self):
        ones = np.array([[0, 1], [1, 0]])
        assert as_batch([ones, np.zeros((2, 2)), 2 * ones]) == GraphBatch.from_edges(
            [[(0, 1)], [], [(0, 1)]], n_nodes=[2, 2, 2], edge_weights=[[1], [], [2]]
        )
        assert as_batch([ones, ones]).edge_weights is None

    def test_zero_one_matrices_join_weighted_graphs_of_other_kinds(self):
        graph = nx.Graph()
        graph.add_edge(0, 1, weight=3)
        batch = as_batch([np.array([[0, 1], [1, 0]]), graph])
        assert batch.edge_weights.tolist() == [1, 1, 3, 3]

    def test_one_sided_matrices_are_symmetrised(self):
        upper = np.triu(np.ones((3, 3)), 1)
        assert as_batch([upper]) == as_batch([upper + upper.T])

    def test_sides_that_disagree_are_refused(self):
        with pytest.raises(ValueError, match=r"Graph 1 lists the edge \(0, 1\).*different weights"):
            as_batch([np.zeros((1, 1)), np.array([[0, 1], [2, 0]])])

    @pytest.mark.parametrize("form", [np.array, sp.csr_matrix])
    @pytest.mark.parametrize(
        ("matrix", "message"),
        [
            (np.zeros((2, 3)), r"must be square; got shape \(2, 3\)"),
            (np.array([[0, np.nan], [np.nan, 0]]), "NaN or infinite"),
            (np.array([[0, np.inf], [np.inf, 0]]), "NaN or infinite"),
            (np.diag([0, 1]), "self-loop at node 1"),
            (np.array([[0, 1j], [1j, 0]]), "real numbers or booleans; got type complex"),
        ],
    )
    def test_bad_matrices_are_refused_by_position(self, form, matrix, message):
        with pytest.raises(ValueError, match=rf"Graph 1.*{message}"):
            as_batch([np.zeros((0, 0)), form(matrix)])

    @pytest.mark.parametrize("matrix", [np.zeros(3), np.array(1.0), np.zeros((2, 2, 2))])
    def test_matrices_have_two_axes(self, matrix):
        with pytest.raises(ValueError, match="Graph 0: an adjacency matrix must be square"):
            as_batch([matrix])

    @pytest.mark.parametrize("values", [[["a", "b"], ["b", "a"]], [[0, None], [None, 0]]])
    def test_matrices_hold_numbers(self, values):
        with pytest.raises(ValueError, match="Graph 0: an adjacency matrix must hold real numbers"):
            as_batch([np.array(values)])

    def test_duplicate_entries_are_summed_and_explicit_zeros_dropped(self):
        rows, columns = np.array([0, 1, 0, 1, 0]), np.array([1, 0, 1, 0, 2])
        matrix = sp.coo_matrix((np.array([0.5, 0.5, 0.5, 0.5, 0.0]), (rows, columns)), (3, 3))
        assert as_batch([matrix]) == GraphBatch.from_edges([[(0, 1)]], n_nodes=[3])
        assert matrix.nnz == 5

    def test_numpy_matrix_class(self):
        with pytest.warns(PendingDeprecationWarning):
            matrix = np.matrix([[0, 2], [2, 0]])
        assert as_batch([matrix]).edge_weights.tolist() == [2, 2]


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
                r"label for the edge \(1, 2\), which it does not have",
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
        ],
    )
    def test_what_is_no_pair_is_a_type_error_by_position(self, item, message):
        with pytest.raises(TypeError, match=message):
            as_batch([([], []), item])


STRUCTURES = (
    {(1, 2), (2, 1), (2, 3), (3, 2)},
    {(1, 2): 1.0, (2, 3): 1.0},
    {1: [2], 2: [1, 3], 3: [2]},
    {1: {2: 1.0}, 2: {1: 1.0, 3: 1.0}, 3: {2: 1.0}},
)
LABELS = {1: "C", 2: "N", 3: "O"}
EDGE_LABELS = {(1, 2): "s", (2, 1): "s", (2, 3): "d", (3, 2): "d"}


class TestGraKeL:
    @pytest.fixture(autouse=True)
    def library(self):
        self.grakel = pytest.importorskip("grakel", reason="needs GraKeL, a test dependency")

    def wanted(self) -> GraphBatch:
        return GraphBatch.from_edges(
            [[(0, 1), (1, 2)]], node_labels=["CNO"], edge_labels=[["s", "d"]]
        )

    @pytest.mark.parametrize("structure", STRUCTURES)
    def test_lists_of_structure_and_labels(self, structure):
        assert as_batch([[structure, LABELS, EDGE_LABELS]]) == self.wanted()
        assert as_batch([[structure, LABELS]]) == PATH
        assert as_batch([[structure, LABELS, {}]]) == PATH
        for bare in ([structure], [structure, {}, {}], (structure, None, None)):
            assert as_batch([bare]) == GraphBatch.from_edges([[(0, 1), (1, 2)]])

    @pytest.mark.parametrize("structure", STRUCTURES)
    @pytest.mark.parametrize("graph_format", ["auto", "dictionary", "adjacency", "all"])
    def test_graph_objects_in_every_format(self, structure, graph_format):
        graph = self.grakel.Graph(
            structure, dict(LABELS), dict(EDGE_LABELS), graph_format=graph_format
        )
        assert as_batch([graph]) == self.wanted()
        assert graph.get_labels(purpose="any") is not None

    @pytest.mark.parametrize("graph_format", ["auto", "dictionary", "adjacency", "all"])
    def test_graph_objects_from_matrices(self, graph_format):
        matrix = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
        labels = {0: "C", 1: "N", 2: "O"}
        edge_labels = {(0, 1): "s", (1, 0): "s", (1, 2): "d", (2, 1): "d"}
        graph = self.grakel.Graph(matrix, labels, edge_labels, graph_format=graph_format)
        assert as_batch([graph]) == self.wanted()
        assert as_batch([[matrix, labels, edge_labels]]) == self.wanted()

    def test_what_grakel_makes_of_networkx_graphs(self):
        graph = nx.cycle_graph(4)
        nx.set_node_attributes(graph, {v: v % 2 for v in graph}, "label")
        nx.set_edge_attributes(graph, 2.0, "weight")
        made = list(
            self.grakel.graph_from_networkx(
                [graph], node_labels_tag="label", edge_weight_tag="weight"
            )
        )
        assert as_batch(made) == as_batch([graph])

    def test_weights_count_unless_all_are_one(self):
        light, heavy = {0: {1: 1.0}}, {0: {1: 2.5}}
        assert as_batch([[light]]).edge_weights is None
        assert as_batch([[light], [heavy]]).edge_weights.tolist() == [1, 1, 2.5, 2.5]

    def test_nodes_without_edges_are_kept(self):
        assert as_batch([[{0: {1: 1.0}, 1: {0: 1.0}, 2: {}}]]).sizes.tolist() == [3]
        assert as_batch([[{(1, 2)}, {1: "a", 2: "b", 3: "c"}]]).sizes.tolist() == [3]

    def test_labels_that_are_vectors_become_attributes(self):
        batch = as_batch([[{(1, 2)}, {1: [0.5, 1.0], 2: [1.5, 2.0]}]])
        assert batch.node_labels is None
        assert batch.node_attributes.tolist() == [[0.5, 1.0], [1.5, 2.0]]

    def test_bad_graphs_are_refused_by_position(self):
        good = [{(1, 2)}, {1: "a", 2: "b"}]
        with pytest.raises(ValueError, match="Graph 1: node 2 has no label"):
            as_batch([good, [{(1, 2)}, {1: "a"}]])
        with pytest.raises(ValueError, match="Graph 1 has a self-loop at node 0"):
            as_batch([good, [{(1, 1)}, {1: "a"}]])
        with pytest.raises(TypeError, match=r"Graph 1: expected edges .*got \{'a': 1\}"):
            as_batch([good, [{"a": 1}]])
        with pytest.raises(TypeError, match="single grakel Graph"):
            as_batch(self.grakel.Graph({(0, 1)}))
