"""The exact test of isomorphism of two connected graphs, by individualisation and refinement.

Both graphs are refined together; where a colour class has several nodes, one node of the first
graph is paired with each candidate of the second in turn and the colours are refined again, until
every node has a colour of its own and the pairing can be checked arc by arc. Colours are 64-bit
hashes: equal hashes of different colours only cost time, since the final check decides.
"""

from __future__ import annotations

import numpy as np

from gramlet.common.arrays import Ints
from gramlet.engine.core.compiled import njit
from gramlet.engine.core.ragged import copy_into

_A = np.int64(-7046029254386353131)
_B = np.int64(-4658895280553007687)
_C = np.int64(-7723592293110705685)
_MASK = np.int64(0x7FFFFFFF)


@njit(nogil=True, cache=True)
def _stir(value: np.int64) -> np.int64:
    value = (value ^ ((value >> 31) & _MASK)) * _B
    value = (value ^ ((value >> 30) & _MASK)) * _C
    return value ^ ((value >> 32) & _MASK)


@njit(nogil=True, cache=True)
def _order(values: Ints) -> Ints:
    """The positions in ascending order of their values; compiled once for all callers."""
    return np.argsort(values)


@njit(nogil=True, cache=True)
def _refine(
    colours: Ints,
    n: int,
    indptr: Ints,
    indices: Ints,
    labels: Ints,
    in_indptr: Ints,
    in_indices: Ints,
    in_labels: Ints,
) -> int:
    """Refine both graphs until no class splits; return the number of classes, or -1 if they differ.

    Nodes 0 to n − 1 belong to the first graph, n to 2n − 1 to the second.
    """
    n_classes = 0
    fresh = np.empty(2 * n, dtype=np.int64)
    while True:
        # Compare the sorted colours of both graphs, and count the classes.
        order, other = _order(colours[:n]), _order(colours[n:])
        found = 1
        for i in range(n):
            if colours[order[i]] != colours[n + other[i]]:
                return -1
            if i > 0 and colours[order[i]] != colours[order[i - 1]]:
                found += 1
        if found <= n_classes or found == n:
            return max(found, n_classes)
        n_classes = found
        # One round: own colour, then the multisets of colours over out-arcs and over in-arcs.
        for v in range(2 * n):
            total = np.int64(0)
            for p in range(indptr[v], indptr[v + 1]):
                total += _stir(colours[indices[p]] + labels[p] * _A)
            key = _stir(colours[v] * _B + total)
            total = np.int64(0)
            for p in range(in_indptr[v], in_indptr[v + 1]):
                total += _stir(colours[in_indices[p]] + in_labels[p] * _A)
            fresh[v] = _stir(key * _C + total)
        copy_into(fresh, colours)


@njit(nogil=True, cache=True)
def _is_pairing(
    colours: Ints, n: int, indptr: Ints, indices: Ints, labels: Ints, own: Ints
) -> bool:
    """Whether equal colours pair the nodes so that node labels, arcs and arc labels agree."""
    # The node of the second graph that each node of the first is paired with.
    first, second = _order(colours[:n]), _order(colours[n:])
    image = np.empty(n, dtype=np.int64)
    for i in range(n):
        image[first[i]] = second[i] + n
    mark = np.full(2 * n, -1, dtype=np.int64)
    label = np.zeros(2 * n, dtype=np.int64)
    for v in range(n):
        w = image[v]
        if own[v] != own[w] or indptr[v + 1] - indptr[v] != indptr[w + 1] - indptr[w]:
            return False
        # Mark the arcs of the image, then look for each arc of v among them.
        for p in range(indptr[w], indptr[w + 1]):
            mark[indices[p]] = v
            label[indices[p]] = labels[p]
        for p in range(indptr[v], indptr[v + 1]):
            u = image[indices[p]]
            if mark[u] != v or label[u] != labels[p]:
                return False
    return True


@njit(nogil=True, cache=True)
def _smallest_class(colours: Ints, n: int) -> int:
    """A node of the first graph from the smallest class that has more than one node."""
    order = _order(colours[:n])
    best, size = -1, n + 1
    begin = 0
    for i in range(1, n + 1):
        if i == n or colours[order[i]] != colours[order[begin]]:
            if 1 < i - begin < size:
                best, size = order[begin], i - begin
            begin = i
    return best


@njit(nogil=True, cache=True)
def same_connected_graph(
    own: Ints,
    indptr: Ints,
    indices: Ints,
    labels: Ints,
    in_indptr: Ints,
    in_indices: Ints,
    in_labels: Ints,
) -> bool:
    """Whether the two halves of a graph of 2n nodes are isomorphic.

    ``own`` holds the codes of the node labels. The in-arcs are empty for undirected graphs. The
    graphs should be connected: the search does not use that components can be exchanged.
    """
    n = len(own) // 2
    colours = np.empty(2 * n, dtype=np.int64)
    for v in range(2 * n):
        colours[v] = _stir(own[v] + 1)
    # Per node that is individualised: the colours before it, and the last candidate tried.
    saved = np.empty((4, 2 * n), dtype=np.int64)
    chosen = np.empty(n + 1, dtype=np.int64)
    candidate = np.empty(n + 1, dtype=np.int64)
    depth = 0
    going_down = True
    while True:
        if going_down:
            classes = _refine(colours, n, indptr, indices, labels, in_indptr, in_indices, in_labels)
            if classes == n and _is_pairing(colours, n, indptr, indices, labels, own):
                return True
            if classes < 0 or classes == n:
                going_down = False
            else:
                # Individualise one more node: save the colours, with more rows if needed.
                if depth == len(saved):
                    wider = np.empty((2 * depth, 2 * n), dtype=np.int64)
                    for row in range(depth):
                        copy_into(saved[row], wider[row])
                    saved = wider
                copy_into(colours, saved[depth])
                chosen[depth] = _smallest_class(colours, n)
                candidate[depth] = n - 1
                depth += 1
        if depth == 0:
            return False
        # The next node of the second graph that the chosen node of the first may be paired with.
        copy_into(saved[depth - 1], colours)
        v, w = chosen[depth - 1], candidate[depth - 1] + 1
        while w < 2 * n and colours[w] != colours[v]:
            w += 1
        candidate[depth - 1] = w
        if w == 2 * n:
            depth -= 1
            going_down = False
        else:
            colours[v] = colours[w] = _stir(colours[v] + _A)
            going_down = True
