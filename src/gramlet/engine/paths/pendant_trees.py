"""Pendant trees of a graph, folded into their roots; the rest of the graph is its core.

Nodes of degree one are removed until there are none. Each removed node belongs to the tree of one
remaining node, its root, at some depth. The distance of two nodes of one tree is that in the tree;
the distance of nodes of different trees is the sum of their depths and their roots' distance in the
core. A tree is therefore stored as the *list* of its root: colours and depths, and the number of
nodes with these. Pairs within a tree are counted here, those of different trees in `many_sources`.
The core of a tree is a single node.
"""

from __future__ import annotations

import numpy as np

from gramlet.common.arrays import Floats, Ints, Nodes
from gramlet.engine.core.compiled import njit

__all__ = ["core_of", "folded", "peeled"]


@njit(nogil=True, cache=True)
def peeled(first: int, last: int, indptr: Ints, indices: Nodes) -> tuple[Ints, Ints, Ints]:
    """Remove nodes of degree one from the graph on ``first:last`` until there are none.

    Returns the removed nodes in the order of removal; the last neighbour of each removed node, −1
    for remaining nodes; and each node's distance to its root. Nodes are numbered from 0.
    """
    # Degrees, and a queue of nodes of degree one.
    n = last - first
    degree, parent = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    queue, order = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    tail = 0
    for u in range(n):
        degree[u] = indptr[first + u + 1] - indptr[first + u]
        parent[u] = -1
        if degree[u] == 1:
            queue[tail] = u
            tail += 1
    # Remove them; a neighbour whose degree becomes one is queued.
    n_removed = 0
    for head in range(n):
        if head == tail:
            break
        u = queue[head]
        # The last node of a tree has lost its neighbours while it was in the queue.
        if degree[u] == 0:
            continue
        for p in range(indptr[first + u], indptr[first + u + 1]):
            v = indices[p] - first
            if parent[v] < 0:
                parent[u] = v
        order[n_removed] = u
        n_removed += 1
        v = parent[u]
        degree[v] -= 1
        if degree[v] == 1:
            queue[tail] = v
            tail += 1
    # Depths, from the roots down.
    depth = np.zeros(n, dtype=np.int64)
    for i in range(n_removed - 1, -1, -1):
        depth[order[i]] = depth[parent[order[i]]] + 1
    return order[:n_removed], parent, depth


@njit(nogil=True, cache=True)
def core_of(
    first: int, last: int, indptr: Ints, indices: Nodes, parent: Ints
) -> tuple[Ints, Ints, Ints, int]:
    """The remaining nodes, in an order in which neighbours are close, and their adjacency.

    Returns the nodes, CSR offsets and neighbours in the new numbering, and the largest distance
    from the first node of a component: twice that bounds the distances of an undirected core.
    """
    n = last - first
    number, reached = np.full(n, -1, dtype=np.int64), np.zeros(n, dtype=np.int64)
    nodes = np.empty(n, dtype=np.int64)
    tail, n_arcs, farthest = 0, 0, 0
    for start in range(n):
        if parent[start] >= 0 or number[start] >= 0:
            continue
        # Breadth-first search: nodes are numbered in the order in which they are reached.
        number[start] = tail
        nodes[tail] = start
        head = tail
        tail += 1
        while head < tail:
            u = nodes[head]
            head += 1
            for p in range(indptr[first + u], indptr[first + u + 1]):
                v = indices[p] - first
                if parent[v] >= 0:
                    continue
                n_arcs += 1
                if number[v] < 0:
                    number[v] = tail
                    reached[v] = reached[u] + 1
                    farthest = max(farthest, reached[v])
                    nodes[tail] = v
                    tail += 1
    # The adjacency in the new numbering.
    starts, targets = np.zeros(tail + 1, dtype=np.int64), np.empty(n_arcs, dtype=np.int64)
    filled = 0
    for i in range(tail):
        u = first + nodes[i]
        for p in range(indptr[u], indptr[u + 1]):
            if number[indices[p] - first] >= 0:
                targets[filled] = number[indices[p] - first]
                filled += 1
        starts[i + 1] = filled
    return nodes[:tail], starts, targets, farthest


@njit(nogil=True, cache=True)
def folded(
    order: Ints,
    parent: Ints,
    depth: Ints,
    colours: Ints,
    roots: Ints,
    n_colours: int,
    counts: Floats,
) -> tuple[Ints, Ints, Ints]:
    """Fold trees into their roots, and count the paths within them.

    ``counts`` has n_colours² consecutive rows of lengths; a path is counted once, in the row of its
    colours in one of the two orders. Returns the lists of the roots: offsets, keys (depth in the
    upper half, colour in the lower) and numbers of nodes. A list is sorted by decreasing key. Cost:
    at most one step per pair of nodes; nodes of equal key are handled together.
    """
    n = len(parent)
    # Lists are stored in a pool, deepest nodes first. A joined list is written to the end of the
    # pool, with space to grow. All lists together have n entries, so that compacting frees space.
    room = 8 * n
    keys, numbers = np.empty(room, dtype=np.int64), np.empty(room, dtype=np.int64)
    start, size = np.empty(n, dtype=np.int64), np.ones(n, dtype=np.int64)
    limit = np.empty(n, dtype=np.int64)
    for u in range(n):
        keys[u] = (depth[u] << 32) | colours[u]
        numbers[u], start[u], limit[u] = 1, u, u + 1
    end = n
    n_lengths = len(counts) // (n_colours * n_colours)
    for u in order:
        v = parent[u]
        _count_across(keys, numbers, start, size, u, v, 2 * depth[v], n_colours, n_lengths, counts)
        if size[v] == 1 and start[u] + size[u] < limit[u]:
            # A single node above all others is appended to their list.
            _append(keys, numbers, start, size, limit, u, v)
            continue
        if end + 2 * (size[u] + size[v]) > room:
            keys, numbers, end = _compacted(keys, numbers, start, size, limit)
        end = _join(keys, numbers, start, size, limit, u, v, end)
    # Copy the lists of the roots.
    offsets = np.zeros(len(roots) + 1, dtype=np.int64)
    for i in range(len(roots)):
        offsets[i + 1] = offsets[i] + size[roots[i]]
    list_keys = np.empty(offsets[-1], dtype=np.int64)
    list_numbers = np.empty(offsets[-1], dtype=np.int64)
    for i in range(len(roots)):
        for e in range(size[roots[i]]):
            list_keys[offsets[i] + e] = keys[start[roots[i]] + e]
            list_numbers[offsets[i] + e] = numbers[start[roots[i]] + e]
    return offsets, list_keys, list_numbers


@njit(nogil=True, cache=True)
def _count_across(
    keys: Ints,
    numbers: Ints,
    start: Ints,
    size: Ints,
    u: int,
    v: int,
    above: int,
    n_colours: int,
    n_lengths: int,
    counts: Floats,
) -> None:
    """Count the paths between two lists whose lowest common node has depth ``above`` / 2."""
    short, long = (u, v) if size[u] < size[v] else (v, u)
    for e in range(start[short], start[short] + size[short]):
        ahead = (keys[e] >> 32) - above
        row = (keys[e] & 0xFFFFFFFF) * n_colours
        number = numbers[e]
        for f in range(start[long], start[long] + size[long]):
            at = (row + (keys[f] & 0xFFFFFFFF)) * n_lengths + ahead + (keys[f] >> 32)
            counts[at] += number * numbers[f]


@njit(nogil=True, cache=True)
def _append(
    keys: Ints, numbers: Ints, start: Ints, size: Ints, limit: Ints, u: int, v: int
) -> None:
    """Give v, whose list has only itself, the list of u with v at the end."""
    at = start[u] + size[u]
    keys[at], numbers[at] = keys[start[v]], numbers[start[v]]
    start[v], size[v], limit[v] = start[u], size[u] + 1, limit[u]
    size[u] = 0


@njit(nogil=True, cache=True)
def _join(
    keys: Ints, numbers: Ints, start: Ints, size: Ints, limit: Ints, u: int, v: int, end: int
) -> int:
    """Merge the lists of u and v into one of v at the end of the pool; return its new end."""
    # Both are sorted by decreasing key; the numbers of equal keys are added.
    i, j, at = start[u], start[v], end
    last_i, last_j = i + size[u], j + size[v]
    while i < last_i or j < last_j:
        if j == last_j or (i < last_i and keys[i] > keys[j]):
            keys[at], numbers[at] = keys[i], numbers[i]
            i += 1
        else:
            keys[at], numbers[at] = keys[j], numbers[j]
            if i < last_i and keys[i] == keys[j]:
                numbers[at] += numbers[i]
                i += 1
            j += 1
        at += 1
    start[v], size[v], limit[v] = end, at - end, 2 * at - end
    size[u] = 0
    return limit[v]


@njit(nogil=True, cache=True)
def _compacted(
    keys: Ints, numbers: Ints, start: Ints, size: Ints, limit: Ints
) -> tuple[Ints, Ints, int]:
    """A new pool with all lists at its beginning, and its end."""
    new_keys, new_numbers = np.empty_like(keys), np.empty_like(numbers)
    end = 0
    for u in range(len(start)):
        for e in range(size[u]):
            new_keys[end + e] = keys[start[u] + e]
            new_numbers[end + e] = numbers[start[u] + e]
        start[u] = end
        end += size[u]
        limit[u] = end
    return new_keys, new_numbers, end
