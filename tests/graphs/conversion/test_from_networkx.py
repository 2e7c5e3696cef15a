"""Conversion from networkx and back."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from hypothesis import given

from gramlet import GraphBatch, as_batch
from gramlet.graphs.conversion.libraries import to_networkx
from reference.strategies import graph_batches

nx = pytest.importorskip("networkx", reason="needs networkx: pip install gramlet[graphs]")

PATH = GraphBatch.from_edges([[(0, 1), (1, 2)]], node_labels=[["C", "N", "O"]])


class TestNetworkx:
    def test_every_column_comes_along(self):
        graph = nx.Graph()
        graph.add_node("x", label="C", attr=[1.0, 2.0])
        graph.add_node(("y", 2), label=6, attr=np.array([3, 4]))
        graph.add_node(0, label="6", attr=(5, 6))
        graph.add_edge(0, "x", label="double", weight=2, attr=[0.5, 1])
        graph.add_edge("x", ("y", 2), label="single", weight=0.5, attr=(2, 3))
        assert as_batch([graph]) == GraphBatch.from_edges(
            [[(0, 2), (0, 1)]],
            node_labels=[["C", 6, "6"]],
            edge_labels=[["double", "single"]],
            edge_weights=[[2, 0.5]],
            node_attributes=[[[1, 2], [3, 4], [5, 6]]],
            edge_attributes=[[[0.5, 1], [2, 3]]],
        )

    def test_names_of_attributes_can_be_changed_or_left_out(self):
        graph = nx.Graph()
        graph.add_node(0, symbol="C", pos=1.5, label="no")
        graph.add_node(1, symbol="O", pos=2.5, label="no")
        graph.add_edge(0, 1, order=2, length=1.2, weight=7, shift=[1, 2])
        batch = as_batch(
            [graph],
            label="symbol",
            edge_label="order",
            weight="length",
            attr="pos",
            edge_attr="shift",
        )
        assert batch == GraphBatch.from_edges(
            [[(0, 1)]],
            node_labels=[["C", "O"]],
            edge_labels=[[2]],
            edge_weights=[[1.2]],
            node_attributes=[[[1.5], [2.5]]],
            edge_attributes=[[[1, 2]]],
        )
        bare = as_batch([graph], label=None, edge_label=None, weight=None, attr=None)
        assert bare == GraphBatch.from_edges([[(0, 1)]])

    def test_graphs_are_what_they_say_they_are(self):
        arcs = [(0, 1), (1, 0), (2, 1)]
        batch = as_batch([nx.DiGraph(arcs)])
        assert batch == GraphBatch.from_edges([arcs], directed=True)
        assert batch.directed
        assert not as_batch([nx.Graph(arcs)]).directed
        assert as_batch([nx.MultiDiGraph([(0, 1), (0, 1), (1, 0)])]).n_edges.tolist() == [2]

    def test_opposite_arcs_keep_their_own_data(self):
        graph = nx.DiGraph()
        graph.add_edge(0, 1, weight=1.0, label="up", attr=[1])
        graph.add_edge(1, 0, weight=2.0, label="down", attr=[2])
        batch = as_batch([graph])
        assert batch.edge_weights.tolist() == [1, 2]
        assert list(batch.edge_labels) == ["up", "down"]
        assert batch.edge_attributes.tolist() == [[1], [2]]

    def test_parallel_edges_are_merged(self):
        graph = nx.MultiGraph()
        graph.add_edge(0, 1, label="a")
        graph.add_edge(0, 1, label="a")
        assert as_batch([graph]) == GraphBatch.from_edges([[(0, 1)]], edge_labels=[["a"]])
        graph.add_edge(0, 1, label="b")
        with pytest.raises(ValueError, match=r"Graph 0 lists the edge .* with different labels"):
            as_batch([graph])

    @pytest.mark.parametrize("kind", [nx.MultiGraph, nx.MultiDiGraph])
    @pytest.mark.parametrize("column", ["label", "weight", "attr"])
    def test_parallel_edges_that_differ_are_refused(self, kind, column):
        graph = kind()
        graph.add_edge(0, 1, **{column: 1})
        graph.add_edge(0, 1, **{column: 2})
        with pytest.raises(ValueError, match=rf"Graph 1 lists .* \(0, 1\) .*different {column}"):
            as_batch([kind(), graph])

    def test_self_loops_are_refused(self):
        with pytest.raises(ValueError, match="Graph 1 has a self-loop at node 2"):
            as_batch([nx.path_graph(2), nx.Graph([("a", "b"), ("c", "c")])])

    def test_a_label_missing_at_one_node_is_refused(self):
        graph = nx.Graph()
        graph.add_node("a", label="C")
        graph.add_node("b")
        with pytest.raises(ValueError, match="Graph 1: node 'b' has no label, but node 'a' has"):
            as_batch([nx.empty_graph(0), graph])

    def test_a_weight_missing_at_one_edge_is_refused(self):
        graph = nx.Graph([(0, 1)])
        graph.add_edge(1, 2, weight=1.0)
        with pytest.raises(ValueError, match=r"Graph 0: edge \(0, 1\) has no weight"):
            as_batch([graph])

    @pytest.mark.parametrize("column", ["weight", "label"])
    def test_an_edge_column_missing_in_one_graph_is_refused(self, column):
        full, bare = nx.Graph(), nx.path_graph(2)
        full.add_edge(0, 1, **{column: 1})
        with pytest.raises(ValueError, match=f"Graph 2 has edge_{column}s and graph 1 has none"):
            as_batch([nx.empty_graph(3), bare, full])

    def test_labels_missing_in_one_graph_are_refused(self):
        full = nx.Graph()
        full.add_node(0, label=1)
        with pytest.raises(ValueError, match="Graph 0 has node_labels and graph 2 has none"):
            as_batch([full, nx.empty_graph(0), nx.empty_graph(1)])

    def test_attributes_of_unequal_length_are_refused(self):
        graph = nx.Graph()
        graph.add_node(0, attr=[1.0])
        graph.add_node(1, attr=[1.0, 2.0])
        with pytest.raises(ValueError, match="Graph 0: node attributes must be numbers or vectors"):
            as_batch([graph])

    def test_edge_attributes_of_unequal_length_are_refused(self):
        graph = nx.Graph()
        graph.add_edge(0, 1, attr=[1.0])
        graph.add_edge(1, 2, attr=[1.0, 2.0])
        with pytest.raises(ValueError, match="Graph 0: edge attributes must be numbers or vectors"):
            as_batch([graph])

    def test_a_subclass_is_a_graph_too(self):
        class Molecule(nx.Graph):
            pass

        assert as_batch([Molecule([(0, 1)])]) == GraphBatch.from_edges([[(0, 1)]])

    def test_the_graph_is_left_alone(self):
        graph = nx.Graph()
        graph.add_edge("a", "b", weight=2)
        before = graph.copy()
        as_batch([graph])
        assert nx.utils.graphs_equal(graph, before)


class TestToNetworkx:
    @given(graph_batches(edge_attributes=None, directed=None))
    def test_there_and_back(self, batch):
        graphs = to_networkx(batch)
        assert all(g.is_directed() == batch.directed for g in graphs)
        assert [g.number_of_nodes() for g in graphs] == batch.sizes.tolist()
        assert [g.number_of_edges() for g in graphs] == batch.n_edges.tolist()
        assert as_batch(graphs) == batch

    def test_attributes_have_the_usual_names(self):
        batch = GraphBatch.from_edges(
            [[(0, 1)]],
            node_labels=[["C", 1]],
            edge_labels=[["s"]],
            edge_weights=[[0.5]],
            node_attributes=[[[1, 2], [3, 4]]],
            edge_attributes=[[[5, 6]]],
        )
        [graph] = batch.to_networkx()
        assert dict(graph.nodes(data=True)) == {
            0: {"label": "C", "attr": (1.0, 2.0)},
            1: {"label": 1, "attr": (3.0, 4.0)},
        }
        assert list(graph.edges(data=True)) == [
            (0, 1, {"label": "s", "weight": 0.5, "attr": (5.0, 6.0)})
        ]

    def test_without_networkx_the_error_names_the_extra(self, monkeypatch):
        monkeypatch.setitem(sys.modules, "networkx", None)
        with pytest.raises(ImportError, match=r"pip install gramlet\[graphs\]"):
            to_networkx(PATH)
