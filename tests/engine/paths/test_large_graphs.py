"""Paths of large graphs: folded trees and 64 sources at a time, against single sources."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gramlet import GraphBatch
from gramlet.engine.paths import large_graphs, path_limits, shortest_paths
from gramlet.engine.paths.shortest_paths import count_paths
from reference.strategies import graph_batches


def tables(batch, colours, **options):
    """For each graph, the number of paths of each kind and length."""
    offsets, kinds, lengths, counts = count_paths(
        batch.node_offsets, batch.indptr, batch.indices, colours[None, :], **options
    )
    found = [{} for _ in range(len(batch))]
    for graph in range(len(batch)):
        for i in range(offsets[graph], offsets[graph + 1]):
            key = (*kinds[i].tolist(), float(lengths[i]))
            found[graph][key] = found[graph].get(key, 0.0) + counts[i]
    return found


def one_by_one(batch, colours, monkeypatch, **options):
    with monkeypatch.context() as patch:
        patch.setattr(shortest_paths, "LARGE", 10**9)
        return tables(batch, colours, **options)


def caterpillar(n, rng):
    """A ring with a path attached, and trees attached to both."""
    ring = [(i, (i + 1) % (n // 4)) for i in range(n // 4)]
    return ring + [(int(rng.integers(max(0, v - 9), v)), v) for v in range(n // 4, n)]


@settings(max_examples=60, deadline=None)
@given(
    st.booleans().flatmap(
        lambda directed: st.tuples(
            st.just(directed), graph_batches(min_graphs=1, max_graphs=4, directed=directed)
        )
    ),
    st.integers(1, 3),
    st.booleans(),
    st.sampled_from([None, 3]),
    st.sampled_from([1e8, 0.0]),
    st.integers(0, 2**32 - 1),
)
def test_equal_to_one_source_at_a_time(drawn, n_colours, ordered, n_sources, uncut, seed):
    directed, batch = drawn
    colours = 3 * np.random.default_rng(seed).integers(n_colours, size=batch.n_nodes_total)
    ordered = ordered or directed
    with pytest.MonkeyPatch.context() as patch:
        options = {"ordered": ordered, "n_sources": n_sources, "seed": seed}
        expected = one_by_one(batch, colours, patch, **options)
        patch.setattr(shortest_paths, "LARGE", 2)
        patch.setattr(large_graphs, "_PER_NODE", 1000)
        patch.setattr(large_graphs, "_UNCUT", uncut)
        found = tables(batch, colours, symmetric=not directed, n_jobs=2, **options)
    assert found == expected


@pytest.mark.parametrize("n_colours", [1, 4])
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("n_sources", [None, 90])
def test_more_sources_than_bits(n_colours, directed, n_sources, monkeypatch):
    """Fronts in both directions, lists of many depths, several kinds of sources."""
    rng = np.random.default_rng(1)
    sizes = [300, 200, 40, 260]
    edges = [caterpillar(n, rng) for n in sizes[:3]]
    dense = np.unique(np.sort(rng.integers(260, size=(3000, 2)), axis=1), axis=0)
    edges.append(dense[dense[:, 0] != dense[:, 1]])
    batch = GraphBatch.from_edges(edges, n_nodes=sizes, directed=directed)
    colours = rng.integers(n_colours, size=batch.n_nodes_total)
    options = {"ordered": directed, "n_sources": n_sources}
    expected = one_by_one(batch, colours, monkeypatch, **options)
    monkeypatch.setattr(large_graphs, "_PER_NODE", 1000)
    assert tables(batch, colours, **options) == expected


def test_a_tree_is_counted_without_a_search(monkeypatch):
    """100,000 nodes; every pair has a path."""
    n = 100_000
    rng = np.random.default_rng(0)
    parents = (rng.random(n - 1) * np.arange(1, n)).astype(np.int64)
    batch = GraphBatch.from_edges([np.column_stack([parents, np.arange(1, n)])], n_nodes=[n])
    monkeypatch.setattr(large_graphs, "count_from", None)
    (found,) = tables(batch, np.zeros(n, dtype=np.int64))
    assert sum(found.values()) == n * (n - 1) / 2
    assert found[0, 0, 0, 1.0] == n - 1
    degree = np.diff(batch.indptr)
    assert found[0, 0, 0, 2.0] == (degree * (degree - 1) // 2).sum()


def test_a_long_path_is_folded_in_little_memory():
    """Lists grow at their end and are moved when the pool is full."""
    n = 3000
    along = np.column_stack([np.arange(n - 1), np.arange(1, n)])
    batch = GraphBatch.from_edges([along], n_nodes=[n])
    (found,) = tables(batch, np.zeros(n, dtype=np.int64))
    assert found == {(0, 0, 0, float(d)): float(n - d) for d in range(1, n)}


def test_tables_that_would_be_large_are_not_made(monkeypatch):
    n = 400
    ring = np.column_stack([np.arange(n), (np.arange(n) + 1) % n])
    batch = GraphBatch.from_edges([ring], n_nodes=[n])
    colours = np.arange(n)
    expected = one_by_one(batch, colours, monkeypatch)
    monkeypatch.setattr(large_graphs, "folded", None)
    assert tables(batch, colours) == expected


def test_long_searches_are_announced_by_a_measured_one(monkeypatch):
    rng = np.random.default_rng(0)
    batch = GraphBatch.from_edges([caterpillar(600, rng)], n_nodes=[600])
    monkeypatch.setattr(large_graphs, "_UNCUT", 1.0)
    monkeypatch.setattr(path_limits, "_LONG", 0.0)
    colours = np.zeros(600, dtype=np.int64)
    with pytest.warns(UserWarning, match=r"graph 0 alone has 600 nodes.*n_sources=100"):
        tables(batch, colours, label="ShortestPath")
