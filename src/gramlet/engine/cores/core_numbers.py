"""Core numbers of all nodes of a batch, by peeling in linear time (Batagelj and Zaversnik)."""

from __future__ import annotations

import numpy as np

from gramlet.common.arrays import Ints, Nodes
from gramlet.engine.core.compiled import njit

__all__ = ["core_numbers"]


@njit(nogil=True, cache=True)
def core_numbers(indptr: Ints, indices: Nodes) -> Ints:
    """Per node, the largest i such that the node is in a subgraph whose degrees are all at least i.

    The node of the smallest remaining degree is removed repeatedly; its remaining degree at that
    moment is its core number. Nodes are always kept in order of their remaining degree, so the
    cost is linear in nodes and edges. A batch is treated as one graph of many components.
    """
    n = len(indptr) - 1
    left = indptr[1:] - indptr[:-1]
    # Counting sort by degree: count, then add up.
    most = np.int64(0)
    for v in range(n):
        most = max(most, left[v])
    start = np.zeros(most + 2, dtype=np.int64)
    for v in range(n):
        start[left[v] + 1] += 1
    for d in range(most + 1):
        start[d + 1] += start[d]
    # Place the nodes; then restore `start[d]`, the place of the first node with d edges left.
    order, place = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    for v in range(n):
        place[v] = start[left[v]]
        order[place[v]] = v
        start[left[v]] += 1
    for d in range(most, 0, -1):
        start[d] = start[d - 1]
    start[0] = 0
    # Remove nodes in order: a neighbour that loses an edge swaps places with the first node of
    # its degree.
    for i in range(n):
        v = order[i]
        for p in range(indptr[v], indptr[v + 1]):
            u = indices[p]
            if left[u] > left[v]:
                first = start[left[u]]
                w = order[first]
                order[first], order[place[u]] = u, w
                place[w], place[u] = place[u], first
                start[left[u]] += 1
                left[u] -= 1
    return left
