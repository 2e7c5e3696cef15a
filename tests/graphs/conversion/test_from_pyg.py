"""PyTorch Geometric's Data: with the real library if it is installed, and with a substitute."""

from __future__ import annotations

import numpy as np
import pytest

from gramlet import GraphBatch, as_batch


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

    def test_wide_edge_attr_gives_edge_attributes(self):
        wide = self.torch.tensor([[0.5, 1.0], [0.5, 1.0], [2.0, 3.0], [2.0, 3.0]])
        assert as_batch([self.make(edge_attr=wide)]) == GraphBatch.from_edges(
            [self.EDGES], edge_attributes=[[[0.5, 1], [2, 3]]]
        )

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

    def test_one_sided_arcs_make_the_list_directed(self):
        one_way = self.make(edge_index=self.torch.tensor([[0, 1], [1, 2]]))
        batch = as_batch([self.make(), one_way])
        assert batch.directed
        assert batch.n_edges.tolist() == [4, 2]


class Tensor:
    """The part of a tensor's interface that the converter uses."""

    def __init__(self, values):
        self.values = np.array(values)

    def detach(self):
        return self

    def cpu(self):
        return self

    def numpy(self):
        return self.values


class Data:
    """A substitute for PyTorch Geometric's class, recognised by its name, without torch."""

    def __init__(self, arcs, n_nodes=3, **columns):
        self.edge_index = None if arcs is None else Tensor(np.array(arcs).reshape(-1, 2).T)
        self.num_nodes = n_nodes
        for name in ("x", "edge_attr", "edge_weight"):
            setattr(self, name, Tensor(columns[name]) if name in columns else None)


Data.__module__ = "torch_geometric.data.data"

PATH = [(0, 1), (1, 0), (1, 2), (2, 1)]


class TestDirection:
    def test_symmetric_data_is_undirected(self):
        assert as_batch([Data(PATH)]) == GraphBatch.from_edges([[(0, 1), (1, 2)]])
        assert as_batch([Data(None)]) == GraphBatch.from_edges([[]], n_nodes=[3])
        assert not as_batch([Data([*PATH, (0, 1)])]).directed

    def test_one_asymmetric_graph_makes_all_directed(self):
        batch = as_batch([Data(PATH), Data([(0, 1)]), Data(None)])
        assert batch == GraphBatch.from_edges([PATH, [(0, 1)], []], n_nodes=[3] * 3, directed=True)
        assert as_batch([Data([(0, 1)])], directed=False) == GraphBatch.from_edges(
            [[(0, 1)]], n_nodes=[3]
        )

    @pytest.mark.parametrize(
        ("columns", "name", "wanted"),
        [
            ({"edge_weight": [1.0, 2.0, 3.0, 3.0]}, "edge_weights", [1, 2, 3, 3]),
            ({"edge_attr": [1.0, 2.0, 3.0, 3.0]}, "edge_weights", [1, 2, 3, 3]),
            ({"edge_attr": [[1], [2], [3], [3]]}, "edge_labels", [1, 2, 3, 3]),
            ({"edge_attr": np.eye(4)[[0, 1, 2, 2]]}, "edge_labels", [0, 1, 2, 2]),
            (
                {"edge_attr": [[1.0, 0.5], [2, 0.5], [3, 0.5], [3, 0.5]]},
                "edge_attributes",
                [[1, 0.5], [2, 0.5], [3, 0.5], [3, 0.5]],
            ),
        ],
    )
    def test_opposite_arcs_with_other_data_are_directed(self, columns, name, wanted):
        batch = as_batch([Data(PATH, **columns)])
        assert batch.directed
        column = getattr(batch, name)
        assert (column.tolist() if isinstance(column, np.ndarray) else list(column)) == wanted
        what = name.removeprefix("edge_")
        with pytest.raises(ValueError, match=rf"Graph 0 lists the edge \(0, 1\).*different {what}"):
            as_batch([Data(PATH, **columns)], directed=False)

    def test_weights_and_a_float_column_are_kept_both(self):
        batch = as_batch(
            [Data(PATH, edge_weight=[1.0, 1, 2, 2], edge_attr=[[0.5], [0.5], [0.25], [0.25]])]
        )
        assert batch == GraphBatch.from_edges(
            [[(0, 1), (1, 2)]], edge_weights=[[1, 2]], edge_attributes=[[[0.5], [0.25]]]
        )

    def test_columns_of_the_wrong_length_are_refused(self):
        with pytest.raises(ValueError, match="Graph 1 has 4 columns in edge_index, but 2 rows"):
            as_batch([Data(PATH), Data(PATH, edge_weight=[1.0, 1.0])])


def test_rows_are_labels_only_if_they_are_one_hot_in_all_graphs():
    one_hot = [[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0]]
    others = [[1.0, 1.0], [1.0, 1.0], [0.0, 1.0], [0.0, 1.0]]
    edges = [(0, 1), (1, 2)]
    labels = as_batch([Data(PATH, edge_attr=one_hot), Data([], edge_attr=np.zeros((0, 2)))])
    assert labels == GraphBatch.from_edges([edges, []], n_nodes=[3, 3], edge_labels=[[0, 1], []])
    rows = [[[1.0, 0.0], [0.0, 1.0]], [[1.0, 1.0], [0.0, 1.0]]]
    for order in ((0, 1), (1, 0)):
        both = [(one_hot, others)[i] for i in order]
        found = as_batch([Data(PATH, edge_attr=values) for values in both])
        assert found == GraphBatch.from_edges([edges] * 2, edge_attributes=[rows[i] for i in order])
