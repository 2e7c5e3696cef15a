"""Paths counted from 64 sources at a time, against scipy's matrices of distances."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.sparse.csgraph import shortest_path

from gramlet import GraphBatch
from gramlet.engine.core.tiles import Tiling
from gramlet.engine.paths import shortest_paths
from gramlet.engine.paths.shortest_paths import count_paths
from reference.strategies import graph_batches


def tables(batch, levels, **options):
    """For each graph, the number of paths of each level, kind and length."""
    offsets, kinds, lengths, counts = count_paths(
        batch.node_offsets, batch.indptr, batch.indices, np.atleast_2d(levels), **options
    )
    found = [{} for _ in range(len(batch))]
    for graph in range(len(batch)):
        for i in range(offsets[graph], offsets[graph + 1]):
            key = (*kinds[i].tolist(), float(lengths[i]))
            found[graph][key] = found[graph].get(key, 0.0) + counts[i]
    return found


def expected_tables(batch, levels, ordered):
    """The same from a matrix of distances per graph."""
    ones = np.ones(len(batch.indices))
    matrix = sparse.csr_matrix((ones, batch.indices, batch.indptr), (batch.n_nodes_total,) * 2)
    expected = []
    for first, last in zip(batch.node_offsets[:-1], batch.node_offsets[1:], strict=True):
        table = {}
        if last > first:
            distances = shortest_path(matrix[first:last, first:last], unweighted=True)
            tails, heads = np.nonzero(np.isfinite(distances) & (distances > 0))
            for level, colours in enumerate(np.atleast_2d(levels)[:, first:last]):
                for u, v in zip(tails, heads, strict=True):
                    if ordered or u < v:
                        ends = (int(colours[u]), int(colours[v]))
                        key = (level, *(ends if ordered else sorted(ends)), distances[u, v])
                        table[key] = table.get(key, 0.0) + 1.0
        expected.append(table)
    return expected


@given(
    st.booleans().flatmap(
        lambda directed: st.tuples(
            st.just(directed), graph_batches(min_graphs=1, max_graphs=4, directed=directed)
        )
    ),
    st.integers(1, 3),
    st.integers(1, 2),
    st.booleans(),
    st.integers(0, 2**32 - 1),
)
def test_small_graphs(drawn, n_colours, n_levels, ordered, seed):
    directed, batch = drawn
    shape = (n_levels, batch.n_nodes_total)
    levels = 3 * np.random.default_rng(seed).integers(n_colours, size=shape)
    ordered = ordered or directed
    found = tables(batch, levels, ordered=ordered, symmetric=not directed)
    assert found == expected_tables(batch, levels, ordered)


def with_trees(n, rng):
    """A ring with trees attached, many of them leaves of one node."""
    ring = [(i, (i + 1) % (n // 4)) for i in range(n // 4)]
    return ring + [(int(rng.integers(max(0, v - 9), v)) // 3, v) for v in range(n // 4, n)]


@pytest.mark.parametrize("n_colours", [1, 4, 1000])
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("uncut", [1e8, 1.0])
def test_more_sources_than_bits(n_colours, directed, uncut, monkeypatch):
    """Merged leaves, several searches, and graphs that are divided into tiles."""
    monkeypatch.setattr(shortest_paths, "_UNCUT", uncut)
    rng = np.random.default_rng(1)
    sizes = [300, 200, 40, 260, 90]
    edges = [with_trees(n, rng) for n in sizes[:3]]
    dense = np.unique(np.sort(rng.integers(260, size=(3000, 2)), axis=1), axis=0)
    edges += [dense[dense[:, 0] != dense[:, 1]], [(0, v) for v in range(1, 80)]]
    batch = GraphBatch.from_edges(edges, n_nodes=sizes, directed=directed)
    first = rng.integers(n_colours, size=batch.n_nodes_total)
    levels = np.stack([first, 2 * first + rng.integers(2, size=len(first))])
    for ordered in {directed, True}:
        found = tables(
            batch, levels, ordered=ordered, symmetric=not directed, tiling=Tiling(n_jobs=2)
        )
        assert found == expected_tables(batch, levels, ordered)


@pytest.mark.parametrize("directed", [False, True])
def test_samples_of_sources_add_up_to_all(directed):
    """All but one of n sources, in graphs whose nodes are all alike."""
    n = 131
    ring = np.column_stack([np.arange(n), (np.arange(n) + 1) % n])
    batch = GraphBatch.from_edges([ring], n_nodes=[n], directed=directed)
    colours = np.zeros(n, dtype=np.int64)
    for n_sources in (1, 64, 130):
        (found,) = tables(batch, colours, ordered=directed, n_sources=n_sources, seed=3)
        (expected,) = expected_tables(batch, colours, directed)
        assert found == pytest.approx(expected)


def test_a_star_is_one_search():
    n = 100_000
    batch = GraphBatch.from_edges([[(0, v) for v in range(1, n)]], n_nodes=[n])
    (found,) = tables(batch, np.zeros(n, dtype=np.int64))
    assert found == {(0, 0, 0, 1.0): n - 1, (0, 0, 0, 2.0): (n - 1) * (n - 2) / 2}


def test_a_long_path():
    n = 3000
    along = np.column_stack([np.arange(n - 1), np.arange(1, n)])
    batch = GraphBatch.from_edges([along], n_nodes=[n])
    (found,) = tables(batch, np.zeros(n, dtype=np.int64))
    assert found == {(0, 0, 0, float(d)): float(n - d) for d in range(1, n)}
