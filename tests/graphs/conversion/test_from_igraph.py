"""Graphs of igraph, with the real library."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from gramlet import GraphBatch, as_batch
from gramlet.graphs.conversion.libraries import to_networkx
from reference.strategies import graph_batches

pytest.importorskip("networkx", reason="needs networkx: pip install gramlet[graphs]")


class TestIgraph:
    @pytest.fixture(autouse=True)
    def library(self):
        reason = "needs igraph: pip install gramlet[graphs]"
        self.igraph = pytest.importorskip("igraph", reason=reason)

    def test_every_column_comes_along(self):
        graph = self.igraph.Graph(n=4, edges=[(0, 1), (1, 2)])
        graph.vs["label"] = ["C", "C", "O", "N"]
        graph.vs["attr"] = [[0, 1], [2, 3], [4, 5], [6, 7]]
        graph.es["label"] = [1, 2]
        graph.es["weight"] = [1.0, 0.25]
        graph.es["attr"] = [[1, 2], [3, 4]]
        assert as_batch([graph]) == GraphBatch.from_edges(
            [[(0, 1), (1, 2)]],
            node_labels=[["C", "C", "O", "N"]],
            edge_labels=[[1, 2]],
            edge_weights=[[1, 0.25]],
            node_attributes=[np.arange(8).reshape(4, 2)],
            edge_attributes=[[[1, 2], [3, 4]]],
        )

    def test_names_can_be_changed(self):
        graph = self.igraph.Graph(n=2, edges=[(0, 1)])
        graph.vs["name"] = ["u", "v"]
        assert as_batch([graph], label="name") == GraphBatch.from_edges(
            [[(0, 1)]], node_labels=[["u", "v"]]
        )
        assert as_batch([graph], label=None) == GraphBatch.from_edges([[(0, 1)]])

    @pytest.mark.parametrize("directed", [True, False])
    def test_graphs_are_what_they_say_they_are(self, directed):
        arcs = [(0, 1), (1, 0), (0, 1)]
        graph = self.igraph.Graph(n=3, edges=arcs, directed=directed)
        batch = as_batch([graph])
        assert batch == GraphBatch.from_edges([arcs], n_nodes=[3], directed=directed)
        assert batch.directed is directed

    def test_parallel_edges_that_differ_are_refused(self):
        graph = self.igraph.Graph(n=2, edges=[(0, 1), (0, 1)])
        graph.es["weight"] = [1, 2]
        with pytest.raises(ValueError, match=r"Graph 0 lists the edge .*different weights"):
            as_batch([graph])

    def test_a_label_missing_at_one_node_is_refused(self):
        graph = self.igraph.Graph(n=2)
        graph.vs[0]["label"] = "C"
        with pytest.raises(ValueError, match="Graph 0: node 1 has no label, but node 0 has"):
            as_batch([graph])

    def test_self_loops_and_bare_graphs_are_refused(self):
        loop = self.igraph.Graph(n=1, edges=[(0, 0)])
        with pytest.raises(ValueError, match="Graph 0 has a self-loop at node 0"):
            as_batch([loop])
        with pytest.raises(TypeError, match="single igraph Graph"):
            as_batch(loop)

    @given(graph_batches(labels=True, edge_attributes=None, directed=None))
    def test_it_agrees_with_networkx(self, batch):
        graphs = to_networkx(batch)
        assert as_batch([self.igraph.Graph.from_networkx(g) for g in graphs]) == batch
