"""Lengths of shortest paths from one node: breadth-first search, and Dijkstra's algorithm."""

from __future__ import annotations

import numpy as np

from gramlet.common.arrays import Floats, Ints, Nodes
from gramlet.engine.core.compiled import njit


@njit(nogil=True, cache=True)
def breadth_first(
    source: int, indptr: Ints, indices: Nodes, first: int, length: Floats, order: Ints
) -> int:
    """Lengths of paths from a source within its graph; −1 if there is no path.

    Nodes are numbered from ``first``, the first node of the graph. ``order`` receives those that
    are reached, nearest first; returns how many.
    """
    length[:] = -1.0
    length[source - first] = 0.0
    order[0] = source - first
    head, tail = 0, 1
    while head < tail:
        u = order[head]
        head += 1
        for p in range(indptr[first + u], indptr[first + u + 1]):
            v = indices[p] - first
            if length[v] < 0.0:
                length[v] = length[u] + 1.0
                order[tail] = v
                tail += 1
    return tail


@njit(nogil=True, cache=True)
def dijkstra(
    source: int,
    indptr: Ints,
    indices: Nodes,
    weights: Floats,
    first: int,
    length: Floats,
    order: Ints,
) -> int:
    """As `breadth_first`, for arcs of these lengths, by a binary heap."""
    # A heap with space for one entry per arc.
    n = len(length)
    length[:] = np.inf
    length[source - first] = 0.0
    room = 1 + indptr[first + n] - indptr[first]
    keys, nodes = np.empty(room), np.empty(room, dtype=np.int64)
    keys[0], nodes[0] = 0.0, source - first
    size, reached = 1, 0
    # Take the nearest node; entries that have been overtaken are skipped.
    while size > 0:
        key, u = keys[0], nodes[0]
        size -= 1
        _sift_down(keys, nodes, size)
        if key > length[u]:
            continue
        order[reached] = u
        reached += 1
        for p in range(indptr[first + u], indptr[first + u + 1]):
            v = indices[p] - first
            distance = key + weights[p]
            if distance < length[v]:
                length[v] = distance
                _sift_up(keys, nodes, size, distance, np.int64(v))  # compiled for this type alone
                size += 1
    # Nodes that were not reached.
    for v in range(n):
        if length[v] == np.inf:
            length[v] = -1.0
    return reached


@njit(nogil=True, cache=True)
def _sift_up(keys: Floats, nodes: Ints, at: int, key: float, node: int) -> None:
    """Add an entry to a heap of ``at`` entries."""
    while at > 0:
        parent = (at - 1) // 2
        if keys[parent] <= key:
            break
        keys[at], nodes[at] = keys[parent], nodes[parent]
        at = parent
    keys[at], nodes[at] = key, node


@njit(nogil=True, cache=True)
def _sift_down(keys: Floats, nodes: Ints, size: int) -> None:
    """Remove the top of a heap of ``size + 1`` entries: the last one moves there and sinks."""
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
