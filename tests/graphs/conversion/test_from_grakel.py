"""GraKeL's graphs: its objects in every format, and the lists it accepts."""

from __future__ import annotations

import numpy as np
import pytest

from gramlet import GraphBatch, as_batch

nx = pytest.importorskip("networkx", reason="needs networkx: pip install gramlet[graphs]")

PATH = GraphBatch.from_edges([[(0, 1), (1, 2)]], node_labels=[["C", "N", "O"]])

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

    @pytest.mark.parametrize("graph_format", ["dictionary", "adjacency"])
    def test_graph_objects_are_undirected_in_every_format(self, graph_format):
        graph = self.grakel.Graph({(0, 1): 1.0, (1, 2): 1.0}, graph_format=graph_format)
        assert as_batch([graph]) == GraphBatch.from_edges([[(0, 1), (1, 2)]])
        assert as_batch([graph], directed=True).n_edges.tolist() == [4]

    def test_edge_labels_that_are_vectors_become_edge_attributes(self):
        batch = as_batch([[{(1, 2), (2, 1)}, {1: "a", 2: "b"}, {(1, 2): [0.5, 1.0]}]])
        assert batch.edge_labels is None
        assert batch.edge_attributes.tolist() == [[0.5, 1.0]] * 2

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
