"""Counts of positions on shortest paths against enumeration of the paths."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gramlet import GraphBatch
from gramlet.engine.core.tiles import Tiling
from gramlet.engine.paths import path_places
from gramlet.engine.paths.path_places import NodeGroups, n_places, place_and_length, place_counts
from reference.kernels.graph_hopper import places
from reference.plain import plain_graphs
from reference.strategies import graph_batches


def each_node_alone(batch):
    return NodeGroups(batch.node_offsets, np.arange(batch.n_nodes_total))


def counted(batch, groups, weighted, fold):
    return place_counts(
        batch.node_offsets,
        batch.indptr,
        batch.indices,
        groups,
        batch.edge_weights if weighted else None,
        batch.directed,
        fold,
        Tiling(),
    )


@settings(max_examples=80)
@given(
    graph_batches(min_graphs=1, max_nodes=6, weights=True, directed=None),
    st.booleans(),
    st.booleans(),
)
def test_places_of_each_node(batch, weighted, fold):
    found = counted(batch, each_node_alone(batch), weighted, fold)
    assert found.folded == (fold and not weighted and not batch.directed)
    for g, graph in enumerate(plain_graphs(batch)):
        table = found.counts[found.offsets[g] : found.offsets[g + 1]].reshape(-1, max(1, graph.n))
        for v, counts in enumerate(places(graph, weighted)):
            expected = np.zeros(len(table))
            for (i, length), count in counts.items():
                if not found.folded:
                    expected[length * (length - 1) // 2 + i] = count
                elif 2 * i < length:
                    expected[length * length // 4 + i] = count
            assert np.array_equal(table[:, v], expected)


def test_lines_are_numbered_by_length_then_place():
    found = [part.tolist() for part in place_and_length(np.array([0, 1, 2, 3]))]
    assert found == [[0, 0, 1, 0], [1, 2, 2, 3]]
    lengths = np.arange(2000)
    lines = (lengths * (lengths - 1) // 2)[1:]
    assert np.array_equal(place_and_length(lines)[1], lengths[1:])
    assert np.array_equal(place_and_length(lines[1:] - 1)[1], lengths[1:-1])
    assert n_places(np.array([4]), True).tolist() == [6]


def test_groups_add_up():
    batch = GraphBatch.from_edges([[(0, 1), (1, 2)]])
    single = counted(batch, each_node_alone(batch), False, False).counts.reshape(-1, 3)
    together = counted(
        batch, NodeGroups(np.array([0, 2]), np.array([0, 1, 0])), False, False
    ).counts.reshape(-1, 2)
    assert np.array_equal(together[:, 0], single[:, 0] + single[:, 2])
    assert np.array_equal(together[:, 1], single[:, 1])


def test_tables_beyond_the_memory_are_refused(monkeypatch):
    monkeypatch.setattr(path_places, "available_bytes", lambda: 100)
    batch = GraphBatch.from_edges([[], [(0, 1), (1, 2)]], n_nodes=[1, 3])
    with pytest.raises(MemoryError, match="graph 1 alone"):
        counted(batch, each_node_alone(batch), False, False)
