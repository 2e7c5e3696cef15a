"""Shortest paths of all graphs of a batch, counted as they are found.

Breadth-first search for unweighted graphs, Dijkstra's method with a heap for weighted ones, from
one source at a time: no matrix of distances is ever held. A path is counted by the colours of its
ends and its length, at several levels of colours at once, so that the paths are found only once.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from gramlet.common.arrays import Floats, Ints
from gramlet.engine.core.tiles import for_tiles

__all__ = ["count_paths"]


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
) -> tuple[Ints, Ints, Floats, Floats]:
    """Count the shortest paths between distinct nodes of each graph.

    Parameters
    ----------
    levels : array of int64, shape (n levels, nodes)
        Colours of the nodes, level by level.
    weights : array of float64, optional
        Positive lengths of the arcs; without them every edge has length 1.
    ordered : bool
        Whether to count ordered pairs of nodes, along the arcs from the first to the second;
        otherwise paths must be as long in one direction as in the other.

    Returns
    -------
    offsets : array, shape (graphs + 1,)
        Graph i owns the kinds ``offsets[i]:offsets[i + 1]``.
    kinds : array, shape (kinds, 3)
        Level, smaller and larger colour of the ends; ordered, first and last colour.
    lengths : array
    counts : array
        How many pairs of nodes there are of each kind and length.
    """
    n_graphs = len(node_offsets) - 1
    parts: dict[int, tuple[Ints, Ints, Floats, Floats]] = {}
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
    offsets = np.concatenate([[0], np.cumsum(per_graph)]).astype(np.int64)
    kinds = np.concatenate([np.zeros((0, 3), np.int64), *(p[1] for p in found)])
    lengths = np.concatenate([np.zeros(0), *(p[2] for p in found)])
    counts = np.concatenate([np.zeros(0), *(p[3] for p in found)])
    return offsets, kinds, lengths, counts


@njit(nogil=True, cache=True)
def _breadth_first(source: int, indptr: Ints, indices: Ints, first: int, length: Floats) -> None:
    """Lengths from a source within its graph; −1 where there is no path."""
    n = len(length)
    length[:] = -1.0
    queue = np.empty(n, dtype=np.int64)
    queue[0] = source
    length[source - first] = 0.0
    head, tail = 0, 1
    while head < tail:
        u = queue[head]
        head += 1
        ahead = length[u - first] + 1.0
        for p in range(indptr[u], indptr[u + 1]):
            v = indices[p]
            if length[v - first] < 0.0:
                length[v - first] = ahead
                queue[tail] = v
                tail += 1


@njit(nogil=True, cache=True)
def _dijkstra(
    source: int, indptr: Ints, indices: Ints, weights: Floats, first: int, length: Floats
) -> None:
    """Lengths from a source by a binary heap; −1 where there is no path."""
    n = len(length)
    length[:] = np.inf
    length[source - first] = 0.0
    room = 1
    for v in range(first, first + n):
        room += indptr[v + 1] - indptr[v]
    keys = np.empty(room)
    nodes = np.empty(room, dtype=np.int64)
    keys[0], nodes[0] = 0.0, source
    size = 1
    while size > 0:
        key, u = keys[0], nodes[0]
        size -= 1
        _sift_down(keys, nodes, size)
        if key > length[u - first]:
            continue
        for p in range(indptr[u], indptr[u + 1]):
            v = indices[p]
            reached = key + weights[p]
            if reached < length[v - first]:
                length[v - first] = reached
                _sift_up(keys, nodes, size, reached, v)
                size += 1
    for v in range(n):
        if length[v] == np.inf:
            length[v] = -1.0


@njit(nogil=True, cache=True)
def _sift_up(keys: Floats, nodes: Ints, at: int, key: float, node: int) -> None:
    while at > 0:
        parent = (at - 1) // 2
        if keys[parent] <= key:
            break
        keys[at], nodes[at] = keys[parent], nodes[parent]
        at = parent
    keys[at], nodes[at] = key, node


@njit(nogil=True, cache=True)
def _sift_down(keys: Floats, nodes: Ints, size: int) -> None:
    """Move the last entry to the top of the heap and let it sink."""
    key, node = keys[size], nodes[size]
    at = 0
    while True:
        child = 2 * at + 1
        if child >= size:
            break
        if child + 1 < size and keys[child + 1] < keys[child]:
            child += 1
        if keys[child] >= key:
            break
        keys[at], nodes[at] = keys[child], nodes[child]
        at = child
    keys[at], nodes[at] = key, node


@njit(nogil=True, cache=True)
def _mix(level: int, low: int, high: int, length: float) -> np.uint64:
    state = np.uint64(level) * np.uint64(0x9E3779B97F4A7C15)
    state = (state ^ np.uint64(low)) * np.uint64(0xBF58476D1CE4E5B9)
    state ^= state >> np.uint64(31)
    state = (state ^ np.uint64(high)) * np.uint64(0x94D049BB133111EB)
    state ^= state >> np.uint64(29)
    # Lengths differ little: their leading bits, as an integer, spread them.
    state = (state ^ np.uint64(np.int64(length * 4294967296.0))) * np.uint64(0xD6E8FEB86659FD93)
    return state ^ (state >> np.uint64(32))


@njit(nogil=True, cache=True)
def _count_range(
    begin: int, end: int, node_offsets: Ints, indptr: Ints, indices: Ints, levels: Ints,
    weights: Floats, ordered: bool,
) -> tuple[Ints, Ints, Floats, Floats]:  # fmt: skip
    """Count the paths of graphs ``begin:end``: a hash table per graph, entries in one list."""
    per_graph = np.zeros(end - begin, dtype=np.int64)
    kinds = np.empty((1024, 3), dtype=np.int64)
    lengths = np.empty(1024)
    counts = np.empty(1024)
    filled = 0
    slots = np.full(1024, -1, dtype=np.int64)
    for graph in range(begin, end):
        first, last = node_offsets[graph], node_offsets[graph + 1]
        start = filled
        slots[:] = -1
        row = np.empty(last - first)
        for source in range(first, last):
            if len(weights):
                _dijkstra(source, indptr, indices, weights, first, row)
            else:
                _breadth_first(source, indptr, indices, first, row)
            for v in range(first if ordered else source + 1, last):
                length = row[v - first]
                if length < 0.0 or v == source:
                    continue
                for level in range(levels.shape[0]):
                    a, b = levels[level, source], levels[level, v]
                    low, high = (a, b) if ordered or a < b else (b, a)
                    mask = np.int64(len(slots) - 1)
                    at = np.int64(_mix(level, low, high, length) & np.uint64(mask))
                    while slots[at] >= 0:
                        e = slots[at]
                        if (
                            kinds[e, 1] == low
                            and kinds[e, 2] == high
                            and lengths[e] == length
                            and kinds[e, 0] == level
                        ):
                            break
                        at = (at + 1) & mask
                    if slots[at] >= 0:
                        counts[slots[at]] += 1.0
                        continue
                    if filled == len(counts):
                        kinds = _grown_rows(kinds)
                        lengths, counts = _grown(lengths), _grown(counts)
                    slots[at] = filled
                    kinds[filled, 0], kinds[filled, 1], kinds[filled, 2] = level, low, high
                    lengths[filled] = length
                    counts[filled] = 1.0
                    filled += 1
                    if 2 * (filled - start) > len(slots):
                        slots = _rebuilt(2 * len(slots), kinds, lengths, start, filled)
        per_graph[graph - begin] = filled - start
    return per_graph, kinds[:filled].copy(), lengths[:filled].copy(), counts[:filled].copy()


@njit(nogil=True, cache=True)
def _grown(values: Floats) -> Floats:
    larger = np.empty(2 * len(values))
    larger[: len(values)] = values
    return larger


@njit(nogil=True, cache=True)
def _grown_rows(values: Ints) -> Ints:
    larger = np.empty((2 * len(values), values.shape[1]), dtype=np.int64)
    larger[: len(values)] = values
    return larger


@njit(nogil=True, cache=True)
def _rebuilt(size: int, kinds: Ints, lengths: Floats, start: int, filled: int) -> Ints:
    slots = np.full(size, -1, dtype=np.int64)
    mask = np.int64(size - 1)
    for e in range(start, filled):
        code = _mix(kinds[e, 0], kinds[e, 1], kinds[e, 2], lengths[e])
        at = np.int64(code & np.uint64(mask))
        while slots[at] >= 0:
            at = (at + 1) & mask
        slots[at] = e
    return slots
