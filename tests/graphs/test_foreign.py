"""Graphs of networkx, igraph and PyTorch Geometric, read with the real libraries."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from hypothesis import given

from gramlet import GraphBatch, as_batch
from gramlet.graphs.foreign import to_networkx
from reference.strategies import graph_batches

nx = pytest.importorskip("networkx", reason="needs networkx: pip install gramlet[graphs]")

PATH = GraphBatch.from_edges([[(0, 1), (1, 2)]], node_labels=[["C", "N", "O"]])


class TestNetworkx:
    def test_every_column_comes_along(self):
        graph = nx.Graph()
        graph.add_node("x", label="C", attr=[1.0, 2.0])
        graph.add_node(("y", 2), label=6, attr=np.array([3, 4]))
        graph.add_node(0, label="6", attr=(5, 6))
        graph.add_edge(0, "x", label="double", weight=2)
        graph.add_edge("x", ("y", 2), label="single", weight=0.5)
        assert as_batch([graph]) == GraphBatch.from_edges(
            [[(0, 2), (0, 1)]],
            node_labels=[["C", 6, "6"]],
            edge_labels=[["double", "single"]],
            edge_weights=[[2, 0.5]],
            node_attributes=[[[1, 2], [3, 4], [5, 6]]],
        )

    def test_names_of_attributes_can_be_changed_or_left_out(self):
        graph = nx.Graph()
        graph.add_node(0, symbol="C", pos=1.5, label="no")
        graph.add_node(1, symbol="O", pos=2.5, label="no")
        graph.add_edge(0, 1, order=2, length=1.2, weight=7)
        batch = as_batch([graph], label="symbol", edge_label="order", weight="length", attr="pos")
        assert batch == GraphBatch.from_edges(
            [[(0, 1)]],
            node_labels=[["C", "O"]],
            edge_labels=[[2]],
            edge_weights=[[1.2]],
            node_attributes=[[[1.5], [2.5]]],
        )
        bare = as_batch([graph], label=None, edge_label=None, weight=None, attr=None)
        assert bare == GraphBatch.from_edges([[(0, 1)]])

    def test_directed_graphs_are_symmetrised(self):
        graph = nx.DiGraph([(0, 1), (1, 0), (2, 1)])
        assert as_batch([graph]) == GraphBatch.from_edges([[(0, 1), (1, 2)]])

    def test_directions_that_disagree_are_refused(self):
        graph = nx.DiGraph()
        graph.add_weighted_edges_from([(0, 1, 1.0), (1, 0, 2.0)])
        with pytest.raises(ValueError, match=r"Graph 1 lists the edge \(0, 1\).*different weights"):
            as_batch([nx.empty_graph(1), graph])

    def test_parallel_edges_are_merged(self):
        graph = nx.MultiGraph()
        graph.add_edge(0, 1, label="a")
        graph.add_edge(0, 1, label="a")
        assert as_batch([graph]) == GraphBatch.from_edges([[(0, 1)]], edge_labels=[["a"]])
        graph.add_edge(0, 1, label="b")
        with pytest.raises(ValueError, match=r"Graph 0 lists the edge .* with different labels"):
            as_batch([graph])
        assert as_batch([nx.MultiDiGraph([(0, 1), (0, 1), (1, 0)])]).n_edges.tolist() == [1]

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
    @given(graph_batches())
    def test_there_and_back(self, batch):
        graphs = to_networkx(batch)
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
        )
        [graph] = batch.to_networkx()
        assert dict(graph.nodes(data=True)) == {
            0: {"label": "C", "attr": (1.0, 2.0)},
            1: {"label": 1, "attr": (3.0, 4.0)},
        }
        assert list(graph.edges(data=True)) == [(0, 1, {"label": "s", "weight": 0.5})]

    def test_without_networkx_the_error_names_the_extra(self, monkeypatch):
        monkeypatch.setitem(sys.modules, "networkx", None)
        with pytest.raises(ImportError, match=r"pip install gramlet\[graphs\]"):
            to_networkx(PATH)


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
        assert as_batch([graph]) == GraphBatch.from_edges(
            [[(0, 1), (1, 2)]],
            node_labels=[["C", "C", "O", "N"]],
            edge_labels=[[1, 2]],
            edge_weights=[[1, 0.25]],
            node_attributes=[np.arange(8).reshape(4, 2)],
        )

    def test_names_can_be_changed(self):
        graph = self.igraph.Graph(n=2, edges=[(0, 1)])
        graph.vs["name"] = ["u", "v"]
        assert as_batch([graph], label="name") == GraphBatch.from_edges(
            [[(0, 1)]], node_labels=[["u", "v"]]
        )
        assert as_batch([graph], label=None) == GraphBatch.from_edges([[(0, 1)]])

    def test_directed_and_parallel_edges_are_merged(self):
        graph = self.igraph.Graph(n=3, edges=[(0, 1), (1, 0), (0, 1)], directed=True)
        assert as_batch([graph]) == GraphBatch.from_edges([[(0, 1)]], n_nodes=[3])

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

    @given(graph_batches(labels=True))
    def test_it_agrees_with_networkx(self, batch):
        graphs = to_networkx(batch)
        assert as_batch([self.igraph.Graph.from_networkx(g) for g in graphs]) == batch


class TestPyTorchGeometric:
    @pytest.fixture(autouse=True)
    def libraries(self):
        reason = "needs PyTorch Geometric: pip install gramlet[pyg]"
        self.torch = pytest.importorskip("torch", reason=reason)
        self.data = pytest.importorskip("torch_geometric.data", reason=reason)

    def make(self, **columns):
        """A path of three nodes, as PyTorch Geometric writes it: both directions of each edge."""
        edge_index = self.torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
        return self.data.Data(**{"edge_index": edge_index, "num_nodes": 3, **columns})

    EDGES = ((0, 1), (1, 2))

    def test_edges_and_isolated_nodes(self):
        bare = [self.make(), self.make(num_nodes=5), self.data.Data(num_nodes=2)]
        assert as_batch(bare) == GraphBatch.from_edges(
            [self.EDGES, self.EDGES, []], n_nodes=[3, 5, 2]
        )

    @pytest.mark.parametrize("kind", ["float32", "float64", "int64"])
    def test_wide_x_gives_attributes(self, kind):
        x = self.torch.eye(3, dtype=getattr(self.torch, kind))
        batch = as_batch([self.make(x=x, num_nodes=None)])
        assert batch == GraphBatch.from_edges([self.EDGES], node_attributes=[np.eye(3)])

    @pytest.mark.parametrize("shape", [(3,), (3, 1)])
    def test_one_column_of_integers_gives_labels_and_of_floats_attributes(self, shape):
        whole = self.torch.tensor([7, 8, 7]).reshape(shape)
        assert as_batch([self.make(x=whole)]) == GraphBatch.from_edges(
            [self.EDGES], node_labels=[[7, 8, 7]]
        )
        real = self.torch.tensor([0.5, 1.0, 2.0], requires_grad=True).reshape(shape)
        assert as_batch([self.make(x=real)]) == GraphBatch.from_edges(
            [self.EDGES], node_attributes=[[[0.5], [1.0], [2.0]]]
        )

    def test_edge_weight_gives_weights(self):
        weights = self.torch.tensor([0.5, 0.5, 2.0, 2.0])
        wanted = GraphBatch.from_edges([self.EDGES], edge_weights=[[0.5, 2]])
        assert as_batch([self.make(edge_weight=weights)]) == wanted
        assert as_batch([self.make(edge_attr=weights)]) == wanted
        assert as_batch([self.make(edge_attr=weights[:, None])]) == wanted

    def test_edge_attr_gives_labels(self):
        codes = self.torch.tensor([4, 4, 9, 9])
        wanted = GraphBatch.from_edges([self.EDGES], edge_labels=[[4, 9]])
        assert as_batch([self.make(edge_attr=codes)]) == wanted
        assert as_batch([self.make(edge_attr=codes[:, None])]) == wanted
        one_hot = self.torch.nn.functional.one_hot(codes, 10)
        assert as_batch([self.make(edge_attr=one_hot.float())]) == wanted
        assert as_batch([self.make(edge_attr=one_hot)]) == wanted

    def test_labels_and_weights_together(self):
        batch = as_batch(
            [
                self.make(
                    edge_attr=self.torch.tensor([1, 1, 2, 2]),
                    edge_weight=self.torch.tensor([3.0, 3.0, 4.0, 4.0]),
                )
            ]
        )
        assert batch == GraphBatch.from_edges(
            [self.EDGES], edge_labels=[[1, 2]], edge_weights=[[3, 4]]
        )

    def test_a_batch_of_graphs_is_taken_apart(self):
        together = self.data.Batch.from_data_list([self.make(), self.make(num_nodes=4)])
        wanted = GraphBatch.from_edges([self.EDGES, self.EDGES], n_nodes=[3, 4])
        assert as_batch(together) == wanted
        assert as_batch([together, self.make()]) == GraphBatch.concatenate([wanted, wanted[0]])

    def test_what_edges_cannot_carry_is_refused(self):
        wide = self.torch.tensor([[0.5, 1.0]] * 4)
        with pytest.raises(
            ValueError, match=r"Graph 1 has an edge_attr of shape \(4, 2\).*one-hot"
        ):
            as_batch([self.make(), self.make(edge_attr=wide)])
        twice = self.torch.ones(4)
        with pytest.raises(ValueError, match="Graph 0 has weights in edge_weight and in edge_attr"):
            as_batch([self.make(edge_attr=twice, edge_weight=twice)])

    def test_self_loops_and_other_forms_are_refused(self):
        loop = self.make(edge_index=self.torch.tensor([[0], [0]]))
        with pytest.raises(ValueError, match="Graph 1 has a self-loop at node 0"):
            as_batch([self.make(), loop])
        with pytest.raises(ValueError, match=r"Graph 0: .*adj_t.*edge_index"):
            as_batch([self.data.Data(adj_t=self.torch.eye(2).to_sparse(), num_nodes=2)])
        with pytest.raises(TypeError, match="single torch_geometric Data"):
            as_batch(self.make())
        with pytest.raises(TypeError, match="Graph 0 is of type torch_geometric HeteroData"):
            as_batch([self.data.HeteroData()])

    def test_directions_that_disagree_are_refused(self):
        with pytest.raises(ValueError, match=r"Graph 0 lists the edge \(0, 1\).*different weights"):
            as_batch([self.make(edge_weight=self.torch.tensor([1.0, 2.0, 1.0, 1.0]))])
