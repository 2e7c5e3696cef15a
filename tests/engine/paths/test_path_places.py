"""Counts of positions on shortest paths against enumeration of the paths."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gramlet import GraphBatch
from gramlet.engine.core.tiles import Tiling
from gramlet.engine.paths import path_places
from gramlet.engine.paths.path_places import place_and_length, place_tables
from reference.kernels.graph_hopper import places
from reference.plain import plain_graphs
from reference.strategies import graph_batches


def tables(batch, group_offsets, group_of_node, weighted=False):
    n_groups = int(group_offsets[-1])
    return place_tables(
        batch.node_offsets,
        batch.indptr,
        batch.indices,
        batch.edge_weights if weighted else None,
        group_offsets,
        group_of_node,
        np.zeros(n_groups, dtype=np.int64),
        np.zeros((0, n_groups)),
        Tiling(),
    )


@given(graph_batches(min_graphs=1, max_nodes=6, weights=True, directed=None), st.booleans())
def test_places_of_each_node(batch, weighted):
    found = tables(batch, batch.node_offsets, np.arange(batch.n_nodes_total), weighted)
    for g, graph in enumerate(plain_graphs(batch)):
        table = found.counts[found.offsets[g] : found.offsets[g + 1]].reshape(-1, max(1, graph.n))
        for v, counts in enumerate(places(graph, weighted)):
            expected = np.zeros(len(table))
            for (i, length), count in counts.items():
                expected[length * (length - 1) // 2 + i] = count
            assert np.array_equal(table[:, v], expected)


def test_lines_are_numbered_by_length_then_place():
    found = [part.tolist() for part in place_and_length(np.array([0, 1, 2, 3]))]
    assert found == [[0, 0, 1, 0], [1, 2, 2, 3]]
    lengths = np.arange(2000)
    lines = (lengths * (lengths - 1) // 2)[1:]
    assert np.array_equal(place_and_length(lines)[1], lengths[1:])
    assert np.array_equal(place_and_length(lines[1:] - 1)[1], lengths[1:-1])


def test_groups_add_up():
    batch = GraphBatch.from_edges([[(0, 1), (1, 2)]])
    single = tables(batch, np.array([0, 3]), np.arange(3)).counts.reshape(-1, 3)
    together = tables(batch, np.array([0, 2]), np.array([0, 1, 0])).counts.reshape(-1, 2)
    assert np.array_equal(together[:, 0], single[:, 0] + single[:, 2])
    assert np.array_equal(together[:, 1], single[:, 1])


def test_tables_beyond_the_memory_are_refused(monkeypatch):
    monkeypatch.setattr(path_places, "available_bytes", lambda: 100)
    batch = GraphBatch.from_edges([[], [(0, 1), (1, 2)]], n_nodes=[1, 3])
    with pytest.raises(MemoryError, match="graph 1 alone"):
        tables(batch, batch.node_offsets, np.arange(4))
