"""Shortest paths of all graphs of a batch, counted as they are found.

They are found from one source at a time (`single_source`): no matrix of distances is ever held. A
path is counted by the colours of its ends and its length, at several levels of colours at once, so
that the paths are found only once.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from gramlet.common.arrays import Floats, Int32s, Ints
from gramlet.engine.core.hash_table import (
    find_slot,
    hash_of,
    number_in,
    occupied,
    slots_for,
    slots_of,
)
from gramlet.engine.core.ragged import grown, offsets_of
from gramlet.engine.core.tiles import for_tiles
from gramlet.engine.paths.single_source import breadth_first, dijkstra

__all__ = ["count_paths"]

# The key of a kind of path: the colours of both ends; then its level and its number of edges, or
# the bits of its length if edges have weights.
_WIDTH = 2


def count_paths(
    node_offsets: Ints,
    indptr: Ints,
    indices: Ints,
    levels: Ints,
    weights: Floats | None = None,
    *,
    ordered: bool = False,
    n_jobs: int | None = None,
    verbose: int | bool = False,
    label: str = "",
) -> tuple[Ints, Int32s, Floats, Floats]:
    """Count the shortest paths between distinct nodes of each graph.

    Parameters
    ----------
    levels : array of int64, shape (n levels, nodes)
        Colours of the nodes, level by level.
    weights : array of float64, optional
        Positive lengths of the arcs, only with one level; without them every edge has length 1.
    ordered : bool
        Whether to count ordered pairs of nodes, along the arcs from the first to the second;
        otherwise paths must be as long in one direction as in the other.

    Returns
    -------
    offsets : array, shape (graphs + 1,)
        Graph i owns the kinds ``offsets[i]:offsets[i + 1]``.
    kinds : array of int32, shape (kinds, 3)
        Level, smaller and larger colour of the ends; ordered, first and last colour.
    lengths : array
    counts : array
        How many pairs of nodes there are of each kind and length.
    """
    n_graphs = len(node_offsets) - 1
    parts: dict[int, tuple[Ints, Int32s, Floats, Floats]] = {}
    given = np.zeros(0) if weights is None else np.ascontiguousarray(weights, dtype=np.float64)
    levels = np.ascontiguousarray(levels, dtype=np.int64)

    def work(begin: int, end: int) -> None:
        parts[begin] = _count_range(
            begin, end, node_offsets, indptr, indices, levels, given, ordered
        )

    sizes = np.diff(node_offsets).astype(np.float64)
    costs = sizes * (sizes + np.diff(indptr[node_offsets]))
    for_tiles(work, n_graphs, costs=costs, n_jobs=n_jobs, verbose=verbose, label=label)
    found = [parts[begin] for begin in sorted(parts)]
    per_graph = np.concatenate([np.zeros(0, np.int64), *(p[0] for p in found)])
    kinds = np.concatenate([np.zeros((0, 3), np.int32), *(p[1] for p in found)])
    lengths = np.concatenate([np.zeros(0), *(p[2] for p in found)])
    counts = np.concatenate([np.zeros(0), *(p[3] for p in found)])
    return offsets_of(per_graph), kinds, lengths, counts


@njit(nogil=True, cache=True)
def _count_range(
    begin: int, end: int, node_offsets: Ints, indptr: Ints, indices: Ints, levels: Ints,
    weights: Floats, ordered: bool,
) -> tuple[Ints, Int32s, Floats, Floats]:  # fmt: skip
    """Count the paths of graphs ``begin:end``: kinds per graph; kinds, lengths and counts.

    A hash table per graph finds the kinds; their keys lie one after the other in one array.
    """
    weighted = len(weights) > 0
    per_graph = np.zeros(end - begin, dtype=np.int64)
    keys = np.empty(1024 * _WIDTH, dtype=np.int64)
    offsets = np.arange(1025) * _WIDTH
    counts = np.empty(1024)
    filled = 0
    slots = slots_for(512)
    for graph in range(begin, end):
        first, last = node_offsets[graph], node_offsets[graph + 1]
        start = filled
        slots[:] = -1
        row = np.empty(last - first)
        bits = row.view(np.int64)
        for source in range(first, last):
            if weighted:
                dijkstra(source, indptr, indices, weights, first, row)
            else:
                breadth_first(source, indptr, indices, first, row)
            for v in range(first if ordered else source + 1, last):
                if row[v - first] < 0.0 or v == source:
                    continue
                length = bits[v - first] if weighted else np.int64(row[v - first])
                for level in range(levels.shape[0]):
                    a, b = levels[level, source], levels[level, v]
                    low, high = (a, b) if ordered or a < b else (b, a)
                    # The key goes where a new kind would have its own, and is looked up there.
                    place = filled * _WIDTH
                    keys[place] = (low << 32) | high
                    keys[place + 1] = length if weighted else (level << 32) | length
                    code = hash_of(keys, place, place + _WIDTH)
                    at = find_slot(slots, offsets, keys, code, keys, place, place + _WIDTH)
                    if slots[at] >= 0:
                        counts[number_in(slots[at])] += 1.0
                        continue
                    slots[at] = occupied(code, np.int64(filled))
                    counts[filled] = 1.0
                    filled += 1
                    if filled == len(counts):
                        counts = grown(counts, filled + 1)
                        keys = grown(keys, len(counts) * _WIDTH)
                        offsets = np.arange(len(counts) + 1) * _WIDTH
                    if 2 * (filled - start) > len(slots):
                        slots = slots_of(offsets, keys, start, filled, len(slots))
        per_graph[graph - begin] = filled - start
    kinds, lengths = _kinds_and_lengths(keys[: filled * _WIDTH], weighted)
    return per_graph, kinds, lengths, counts[:filled].copy()


@njit(nogil=True, cache=True)
def _kinds_and_lengths(keys: Ints, weighted: bool) -> tuple[Int32s, Floats]:
    """Level and colours of the ends, and the length, that each key stands for."""
    n = len(keys) // _WIDTH
    kinds, lengths = np.empty((n, 3), dtype=np.int32), np.empty(n)
    bits = lengths.view(np.int64)
    for i in range(n):
        ends, last = keys[i * _WIDTH], keys[i * _WIDTH + 1]
        kinds[i, 0] = 0 if weighted else last >> 32
        kinds[i, 1], kinds[i, 2] = ends >> 32, ends & 0xFFFFFFFF
        if weighted:
            bits[i] = last
        else:
            lengths[i] = last & 0xFFFFFFFF
    return kinds, lengths
