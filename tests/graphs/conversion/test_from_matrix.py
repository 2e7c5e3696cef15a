"""Adjacency matrices, dense and sparse."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given

from gramlet import GraphBatch, as_batch
from reference.strategies import graph_batches

nx = pytest.importorskip("networkx", reason="needs networkx: pip install gramlet[graphs]")

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

    @pytest.mark.parametrize("form", [np.array, *SPARSE])
    def test_one_asymmetric_matrix_makes_the_list_directed(self, form):
        ring = np.roll(np.eye(3), 1, axis=1)
        both = ring + ring.T
        batch = as_batch([form(both), form(ring), form(np.zeros((2, 2)))])
        assert batch.directed
        assert batch.n_edges.tolist() == [6, 3, 0]
        assert np.array_equal(batch.adjacency(1), ring)
        assert not as_batch([form(both)]).directed
        assert as_batch([form(ring)], directed=False) == as_batch([form(both)])

    @pytest.mark.parametrize("form", [np.array, sp.csr_matrix])
    def test_entries_are_compared_exactly(self, form):
        almost = np.array([[0, 0.1 + 0.2], [0.3, 0]])
        batch = as_batch([form(almost)])
        assert batch.directed
        assert batch.edge_weights.tolist() == [0.1 + 0.2, 0.3]
        with pytest.raises(ValueError, match=r"Graph 1 lists the edge \(0, 1\).*different weights"):
            as_batch([np.zeros((1, 1)), form(almost)], directed=False)

    def test_symmetric_matrices_go_with_directed_graphs_of_other_kinds(self):
        both = np.array([[0, 1], [1, 0]])
        assert as_batch([both, nx.DiGraph([(0, 1)])]) == GraphBatch.from_edges(
            [[(0, 1), (1, 0)], [(0, 1)]], directed=True
        )
        with pytest.raises(ValueError, match="Graph 0 is directed and graph 1 is undirected"):
            as_batch([np.triu(both), nx.Graph([(0, 1)])])
        assert not as_batch([both, nx.DiGraph()]).directed

    @given(graph_batches(directed=True, labels=False, edge_labels=False, attributes=False))
    def test_directed_adjacency_matrices_come_back(self, batch):
        dense = [batch.adjacency(i, weighted=True) for i in range(len(batch))]
        if batch.edge_weights is not None and (batch.edge_weights == 1).all():
            batch = batch.with_columns(edge_weights=None)
        assert as_batch(dense, directed=True) == batch
        if any(not np.array_equal(matrix, matrix.T) for matrix in dense):
            assert as_batch(dense) == batch
            assert as_batch([sp.csc_array(matrix) for matrix in dense]) == batch
        else:
            assert as_batch(dense) == batch.to_undirected()

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
        with pytest.raises(ValueError, match="Graph 0: an adjacency matrix must contain real"):
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
