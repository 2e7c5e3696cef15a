"""One random k-node subgraph of one graph: uniform, or by a random walk with flyback.

The graph has its own CSR (``starts``, ``targets``) with nodes numbered from 0 and, if it is small,
adjacency bits. `sampling` makes these draws for all graphs of a batch and counts the patterns.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gramlet.common.arrays import Floats, Ints, Nodes, UInt64s
from gramlet.engine.core.compiled import njit
from gramlet.engine.core.random_streams import below, uniform

__all__ = ["adjacency_bits", "code_of", "component_sizes", "draw_uniform", "draw_walk", "own_csr"]


# Arrays are copied by loops here: assignments of slices take numba seconds to compile.
# Graphs up to this size have a bit for every pair (2048² bits: 512 KB); in larger ones, rows of
# neighbours are searched.
_MOST_NODES_AS_BITS = 2048


@njit(nogil=True, cache=True)
def own_csr(g: int, k: int, node_offsets: Ints, indptr: Ints, indices: Nodes) -> tuple[Ints, Ints]:
    """Graph g of a batch as a CSR of its own, padded with isolated nodes to at least k."""
    first, last = node_offsets[g], node_offsets[g + 1]
    starts = np.empty(max(last - first, k) + 1, dtype=np.int64)
    targets = np.empty(indptr[last] - indptr[first], dtype=np.int64)
    for i in range(len(starts)):
        starts[i] = indptr[min(first + i, last)] - indptr[first]
    for i in range(len(targets)):
        targets[i] = indices[indptr[first] + i] - first
    return starts, targets


@njit(nogil=True, cache=True)
def adjacency_bits(starts: Ints, targets: Ints) -> UInt64s:
    """One row of bits per node, padded to whole words; no rows for a large graph."""
    n = len(starts) - 1
    if n > _MOST_NODES_AS_BITS:
        return np.zeros((0, 0), dtype=np.uint64)
    bits = np.zeros((n, (n + 63) // 64), dtype=np.uint64)
    for u in range(n):
        for a in range(starts[u], starts[u + 1]):
            bits[u, targets[a] >> 6] |= np.uint64(1) << np.uint64(targets[a] & 63)
    return bits


@njit(nogil=True, cache=True)
def component_sizes(starts: Ints, targets: Ints) -> Ints:
    """For every node, the number of nodes of its connected component."""
    n = len(starts) - 1
    sizes = np.zeros(n, dtype=np.int64)
    queue = np.empty(n, dtype=np.int64)
    for root in range(n):
        if sizes[root]:
            continue
        # Breadth-first search; a size of 1 marks visited nodes.
        queue[0], sizes[root] = root, 1
        head, tail = 0, 1
        while head < tail:
            u = queue[head]
            head += 1
            for a in range(starts[u], starts[u + 1]):
                if sizes[targets[a]] == 0:
                    sizes[targets[a]] = 1
                    queue[tail] = targets[a]
                    tail += 1
        for i in range(tail):
            sizes[queue[i]] = tail
    return sizes


@njit(nogil=True, cache=True)
def _found(w: int, row: Ints) -> bool:
    """Whether w is in a sorted row of neighbours."""
    low, high = 0, len(row)
    while low < high:
        middle = (low + high) >> 1
        if row[middle] < w:
            low = middle + 1
        else:
            high = middle
    return low < len(row) and row[low] == w


@njit(nogil=True, cache=True)
def code_of(nodes: Ints, starts: Ints, targets: Ints, bits: UInt64s) -> int:
    """The code of the pattern induced by the nodes in their order."""
    code: Any = 0
    k = len(nodes)
    if len(bits) == 0:
        for i in range(k - 2, -1, -1):
            row = targets[starts[nodes[i]] : starts[nodes[i] + 1]]
            for j in range(k - 1, i, -1):
                code = (code << 1) | np.int64(_found(nodes[j], row))
        return code
    for i in range(k - 2, -1, -1):
        # Unsigned: signed indices are tested for wraparound.
        u = np.uint64(nodes[i])
        for j in range(k - 1, i, -1):
            w = np.uint64(nodes[j])
            word = bits[u, w >> np.uint64(6)] >> (w & np.uint64(63))
            code = (code << 1) | np.int64(word & np.uint64(1))
    return code


@njit(nogil=True, cache=True)
def draw_uniform(nodes: Ints, permutation: Ints, state: UInt64s) -> None:
    """Draw distinct nodes uniformly, by the first steps of a shuffle.

    The permutation of all nodes is not reset between draws; the draw is uniform from any
    arrangement.
    """
    for i in range(len(nodes)):
        j = i + below(len(permutation) - i, state)
        permutation[i], permutation[j] = permutation[j], permutation[i]
        nodes[i] = permutation[i]


@njit(nogil=True, cache=True)
def draw_walk(
    nodes: Ints,
    draw: int,
    flyback: float,
    patience: int,
    starts: Ints,
    targets: Ints,
    sizes: Ints,
    seen: Ints,
    state: UInt64s,
) -> None:
    """Draw nodes by a random walk with flyback, in the order in which it first visits them.

    ``seen`` is the last draw that visited each node, and ``draw`` the number of this draw;
    ``sizes`` are the sizes of the nodes' components. A walk that has visited no new node for
    ``patience`` steps jumps to its next new node, drawn from the exact distribution of that node:
    probabilities do not change, and long walks without new nodes (in a corner of the graph, or with
    a flyback near 1) take no time.
    """
    k, met = len(nodes), 0
    while met < k:
        # Start at a node not visited yet.
        start = below(len(seen), state)
        while seen[start] == draw:
            start = below(len(seen), state)
        seen[start] = draw
        nodes[met] = start
        begin, here, idle = met, start, 0
        met += 1
        # Walk until enough nodes, or all of the component, have been visited.
        while met < k and met - begin < sizes[start]:
            if idle >= patience:
                here = _next_new(
                    nodes, begin, met, here, draw, flyback, starts, targets, seen, state
                )
            elif flyback > 0.0 and here != start and uniform(state) < flyback:
                # At the start a flyback has no effect, so it is not drawn.
                here = start
            else:
                here = _random_neighbour(here, starts, targets, state)
            idle += 1
            if seen[here] != draw:
                seen[here] = draw
                nodes[met] = here
                met += 1
                idle = 0


@njit(nogil=True, cache=True)
def _random_neighbour(node: int, starts: Ints, targets: Ints, state: UInt64s) -> int:
    begin = starts[node]
    return targets[begin + below(starts[node + 1] - begin, state)]


@njit(nogil=True, cache=True)
def _next_new(
    nodes: Ints,
    begin: int,
    end: int,
    here: int,
    draw: int,
    flyback: float,
    starts: Ints,
    targets: Ints,
    seen: Ints,
    state: UInt64s,
) -> int:
    """The next new node of a walk that started at ``nodes[begin]`` and visited those before end.

    The walk among visited nodes is an absorbing Markov chain: draw the node from which it leaves
    them, then one of this node's new neighbours.
    """
    # Eliminate all states except the present one; its row then has the leaving probabilities.
    met = nodes[begin:end]
    moves, leaving = _chain(met, flyback, starts, targets)
    at = 0
    while met[at] != here:
        at += 1
    for gone in range(len(met)):
        if gone != at:
            _eliminate(gone, moves, leaving)
    # The node that the walk leaves from, and a new neighbour of it.
    source = _picked(leaving[at], state)
    found = _random_neighbour(met[source], starts, targets, state)
    while seen[found] == draw:
        found = _random_neighbour(met[source], starts, targets, state)
    return found


@njit(nogil=True, cache=True)
def _chain(met: Ints, flyback: float, starts: Ints, targets: Ints) -> tuple[Floats, Floats]:
    """Probabilities for a walk at i: to step to j, ``moves``; to leave from j, ``leaving``."""
    n = len(met)
    moves = np.zeros((n, n))
    leaving = np.zeros((n, n))
    for i in range(n):
        row = targets[starts[met[i]] : starts[met[i] + 1]]
        share = (1.0 if i == 0 else 1.0 - flyback) / len(row)
        n_new = len(row)
        for j in range(n):
            if _found(met[j], row):
                moves[i, j] = share
                n_new -= 1
        leaving[i, i] = n_new * share
        if i > 0:
            moves[i, 0] += flyback
    return moves, leaving


@njit(nogil=True, cache=True)
def _eliminate(gone: int, moves: Floats, leaving: Floats) -> None:
    """Remove a state from the chain: walks pass through it without stopping.

    Nothing is subtracted (Grassmann, Taksar & Heyman 1985), so that no digits are lost with a
    flyback close to 1.
    """
    out = 0.0
    for j in range(len(moves)):
        out += leaving[gone, j]
        if j != gone:
            out += moves[gone, j]
    for i in range(len(moves)):
        through = moves[i, gone] / out
        moves[i, gone] = 0.0
        if i == gone or through == 0.0:
            continue
        for j in range(len(moves)):
            if j != gone:
                moves[i, j] += through * moves[gone, j]
            leaving[i, j] += through * leaving[gone, j]


@njit(nogil=True, cache=True)
def _picked(weights: Floats, state: UInt64s) -> int:
    """An index drawn with probability proportional to its weight; never one of weight 0."""
    total = 0.0
    for weight in weights:
        total += weight
    target = uniform(state) * total
    chosen = 0
    for i in range(len(weights)):
        if weights[i] > 0.0:
            chosen = i
            if target < weights[i]:
                break
            target -= weights[i]
    return chosen
