"""Lengths of shortest paths from one node: breadth-first search, and Dijkstra's algorithm."""

from __future__ import annotations

import numpy as np

from gramlet.common.arrays import Floats, Ints, Nodes
from gramlet.engine.core.compiled import njit

__all__ = ["breadth_first", "dijkstra", "sift_down", "sift_up"]


@njit(nogil=True, cache=True)
def breadth_first(source: int, indptr: Ints, indices: Nodes, first: int, length: Floats) -> None:
    """Lengths of paths from a source within its graph; −1 if there is no path."""
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
def dijkstra(
    source: int, indptr: Ints, indices: Nodes, weights: Floats, first: int, length: Floats
) -> None:
    """Lengths of paths from a source by a binary heap; −1 if there is no path."""
    # A heap with space for one entry per arc.
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
    # Take the nearest node; entries that have been overtaken are skipped.
    while size > 0:
        key, u = keys[0], nodes[0]
        size -= 1
        sift_down(keys, nodes, size)
        if key > length[u - first]:
            continue
        for p in range(indptr[u], indptr[u + 1]):
            v = indices[p]
            reached = key + weights[p]
            if reached < length[v - first]:
                length[v - first] = reached
                sift_up(keys, nodes, size, reached, np.int64(v))  # compiled for this type alone
                size += 1
    # Nodes that were not reached.
    for v in range(n):
        if length[v] == np.inf:
            length[v] = -1.0


@njit(nogil=True, cache=True)
def sift_up(keys: Floats, nodes: Ints, at: int, key: float, node: int) -> None:
    """Add an entry to a heap of ``at`` entries."""
    while at > 0:
        parent = (at - 1) // 2
        if keys[parent] <= key:
            break
        keys[at], nodes[at] = keys[parent], nodes[parent]
        at = parent
    keys[at], nodes[at] = key, node


@njit(nogil=True, cache=True)
def sift_down(keys: Floats, nodes: Ints, size: int) -> None:
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
