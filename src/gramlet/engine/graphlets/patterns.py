"""Patterns on k nodes as integers, and their classes up to isomorphism.

A pattern is the adjacency of k nodes in order, one bit per pair, from the lowest bit: (0,1), (0,2),
..., (0,k−1), (1,2), ... A class is identified by the smallest code among all orders of its nodes.
A pattern with node labels is a code and a word, Σ_i label_i · base^i. The patterns of a graph are
found in `spectrum` and `sampling`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from itertools import permutations

import numpy as np

from gramlet.common.arrays import Array, Bools, Floats, Int16s, Int32s, Ints
from gramlet.engine.core.compiled import njit

MAX_NODES = 8
MAX_LABELLED_NODES = 5  # all orders of labelled nodes are tried


def n_pairs(k: int) -> int:
    """The number of pairs of k nodes: the bits of a code.

    >>> n_pairs(5)
    10
    """
    return k * (k - 1) // 2


def pattern_code(edges: Iterable[tuple[int, int]], k: int) -> int:
    """The code of the pattern on nodes 0..k−1 with these edges.

    >>> pattern_code([(0, 1), (1, 2)], 3)
    5
    """
    code = 0
    for i, j in edges:
        low, high = min(i, j), max(i, j)
        code |= 1 << (low * k - low * (low + 1) // 2 + high - low - 1)
    return code


def adjacency_matrices(codes: Ints, k: int) -> Floats:
    """The adjacency matrices of patterns, shape (number of codes, k, k).

    >>> adjacency_matrices(np.array([5]), 3)[0].astype(int).tolist()
    [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
    """
    codes = np.asarray(codes, dtype=np.int64)
    rows, columns = np.triu_indices(k, 1)
    matrices = np.zeros((len(codes), k, k))
    matrices[:, rows, columns] = (codes[:, None] >> np.arange(n_pairs(k))) & 1
    return matrices + matrices.transpose(0, 2, 1)


def pattern_names(codes: Ints, k: int) -> list[str]:
    """Names of patterns: the number of nodes and the edges.

    >>> pattern_names(patterns(3).smallest, 3)
    ['3 nodes: no edges', '3 nodes: 0-1', '3 nodes: 0-1 0-2', '3 nodes: 0-1 0-2 1-2']
    """
    pairs = [f"{i}-{j}" for i in range(k) for j in range(i + 1, k)]
    return [
        f"{k} nodes: " + (" ".join(p for b, p in enumerate(pairs) if code >> b & 1) or "no edges")
        for code in np.asarray(codes).tolist()
    ]


@dataclass(frozen=True)
class Patterns:
    """The classes of patterns on k nodes, in the order of their smallest codes.

    Attributes
    ----------
    k : int
    smallest : array of int64, shape (N_k,)
        The smallest code of each class, increasing: class 0 has no edge, the last has them all.
    connected : array of bool
    n_edges : array of int64
    orbit_sizes : array of int64
        How many codes each class has: k! over the number of its automorphisms.
    class_of_code : array of int16, shape (2^{k(k−1)/2},), or None
        The class of every code; None for k = 8 (use :func:`classes_of_codes`).
    """

    k: int
    smallest: Ints
    connected: Bools
    n_edges: Ints
    orbit_sizes: Ints
    class_of_code: Int16s | None

    def __len__(self) -> int:
        return len(self.smallest)


@dataclass(frozen=True)
class _Growth:
    """The classes on k nodes that arise from those on k−1 nodes by a new first node.

    Entry (c, mask) is for the smallest pattern of class c after a new node 0, which is adjacent to
    node i + 1 for every bit i of the mask. An order of nodes is packed in three bits per node: the
    new position of node i is at bit 3i.
    """

    smallest: Ints
    classes: Int16s
    orders: Int32s


@cache
def patterns(k: int) -> Patterns:
    """All patterns on k nodes (1 ≤ k ≤ 8) up to isomorphism.

    Cost: milliseconds up to k = 6, 0.2 s for k = 7 and 2 s for k = 8, once per process.

    Parameters
    ----------
    k : int

    Examples
    --------
    >>> [len(patterns(k)) for k in range(3, 7)]
    [4, 11, 34, 156]
    >>> patterns(3).smallest.tolist(), patterns(3).connected.tolist()
    ([0, 1, 3, 7], [False, False, True, True])
    """
    if not 1 <= k <= MAX_NODES:
        raise ValueError(f"Patterns have 1 to {MAX_NODES} nodes; got k={k}.")
    growth = _growth(k)
    smaller = patterns(k - 1).orbit_sizes if k > 1 else np.ones(1, dtype=np.int64)
    # Every code is a mask and a code on k−1 nodes; all codes of one class extend alike.
    weights = np.repeat(smaller, growth.classes.shape[1])
    sizes = np.bincount(growth.classes.ravel(), weights=weights).astype(np.int64)
    return Patterns(
        k=k,
        smallest=growth.smallest,
        connected=_connected(growth.smallest, k),
        n_edges=adjacency_matrices(growth.smallest, k).sum(axis=(1, 2)).astype(np.int64) // 2,
        orbit_sizes=sizes,
        class_of_code=_forms(k)[0] if k < MAX_NODES else None,
    )


def classes_of_codes(codes: Ints, k: int) -> Ints:
    """The class of each code, 0..N_k − 1.

    >>> classes_of_codes(np.array([1, 2, 4, 7]), 3).tolist()
    [1, 1, 1, 3]
    """
    codes = np.ascontiguousarray(codes, dtype=np.int64)
    table = patterns(k).class_of_code
    if table is not None:
        return table[codes].astype(np.int64)
    # Eight nodes, of which a table would have 2^28 entries: one node before seven.
    sub_classes, sub_orders = _forms(7)
    classes, _ = _put_before(codes & 127, sub_classes[codes >> 7], sub_orders[codes >> 7], 8)
    return classes.astype(np.int64)


@cache
def _growth(k: int) -> _Growth:
    if k == 1:
        return _Growth(
            np.zeros(1, np.int64), np.zeros((1, 1), np.int16), np.zeros((1, 1), np.int32)
        )
    smaller = _growth(k - 1).smallest
    codes = ((smaller[:, None] << (k - 1)) | np.arange(1 << (k - 1))).ravel()
    # A thousand patterns at a time, which bounds the memory.
    blocks = np.array_split(codes, 1 + len(codes) // 1024)
    forms = np.hstack([_smallest_forms(block, k) for block in blocks])
    smallest, classes = np.unique(forms[0], return_inverse=True)
    shape = len(smaller), -1
    return _Growth(
        smallest, classes.reshape(shape).astype(np.int16), forms[1].reshape(shape).astype(np.int32)
    )


def _smallest_forms(codes: Ints, k: int) -> Ints:
    """The smallest code of each pattern's class, and the order of nodes that gives it.

    The bits of the last nodes are the highest. All patterns are treated at once: nodes are placed
    from the last position to the first, and only those sequences of nodes continue that tie for
    the smallest code so far. Of several orders the first is returned.
    """
    near = adjacency_matrices(codes, k).astype(np.uint8)
    powers = (1 << np.arange(k)).astype(np.uint8)
    # Earlier nodes with the same neighbours, apart from the two nodes themselves, as bits. Such
    # twins give the same code; without them, k! sequences of an empty graph would tie.
    rows = near @ powers
    differences = (rows[:, :, None] ^ rows[:, None, :]) & ~(powers[:, None] | powers)
    twins = np.tril(differences == 0, -1) @ powers
    # Per sequence: its pattern, the bits of each node's edges to it, the nodes that are not in it.
    pattern = first = np.arange(len(codes))
    bits: Array = np.zeros((len(codes), k), dtype=np.uint8)
    free = np.full(len(codes), powers.sum(), dtype=np.uint8)
    orders, smallest = np.zeros((2, len(codes)), dtype=np.int64)
    for placed in range(k):
        nodes = (free[:, None] & powers > 0) & (free[:, None] & twins[pattern] == 0)
        values = np.where(nodes, bits, 255)
        best = np.minimum.reduceat(values.min(axis=1), first)
        smallest = (smallest << placed) | best
        tie, node = np.nonzero(values == best[pattern, None])
        pattern, orders = pattern[tie], orders[tie] | ((k - 1 - placed) << (3 * node))
        free = free[tie] ^ powers[node]
        bits = (bits[tie] << 1) | near[pattern, node]
        first = np.searchsorted(pattern, np.arange(len(codes)))
    return np.stack([smallest, orders[first]])


@cache
def _forms(k: int) -> tuple[Int16s, Int32s]:
    """For every code, its class and the order of nodes that gives the smallest code."""
    if k == 1:
        return np.zeros(1, dtype=np.int16), np.zeros(1, dtype=np.int32)
    sub_classes, sub_orders = _forms(k - 1)
    masks = np.arange(1 << (k - 1), dtype=np.int32)
    classes, orders = _put_before(masks, sub_classes[:, None], sub_orders[:, None], k)
    return classes.ravel(), orders.ravel()


def _put_before(
    masks: Array, sub_classes: Int16s, sub_orders: Int32s, k: int
) -> tuple[Int16s, Int32s]:
    """Classes and orders of patterns on k nodes, from those of their last k−1 nodes."""
    positions = [(sub_orders >> (3 * i)) & 7 for i in range(k - 1)]
    moved = np.zeros(np.broadcast_shapes(masks.shape, sub_orders.shape), dtype=np.int32)
    for i, position in enumerate(positions):
        moved |= (((masks >> i) & 1) << position).astype(np.int32)
    grown = _growth(k).orders[sub_classes, moved]
    orders = grown & 7
    for i, position in enumerate(positions):
        orders |= ((grown >> (3 * (position + 1))) & 7) << (3 * (i + 1))
    return _growth(k).classes[sub_classes, moved], orders


def _connected(codes: Ints, k: int) -> Bools:
    """Whether k−1 steps from node 0 reach all nodes."""
    steps = adjacency_matrices(codes, k) + np.eye(k)
    reached = np.linalg.matrix_power(steps, max(k - 1, 1))
    return np.asarray((reached[:, 0] > 0).all(axis=1))


# Patterns whose nodes have labels


def unpacked_labels(words: Ints, k: int, base: int) -> Ints:
    """The labels of every pattern's nodes, shape (number of patterns, k).

    >>> unpacked_labels(np.array([7]), 3, 2).tolist()
    [[1, 1, 1]]
    """
    labels = np.empty((len(words), k), dtype=np.int64)
    rest = np.asarray(words, dtype=np.int64)
    for i in range(k):
        rest, labels[:, i] = np.divmod(rest, base)
    return labels


def canonical_labelled(codes: Ints, words: Ints, k: int, base: int) -> tuple[Ints, Ints]:
    """Codes and words of the canonical forms, equal exactly for isomorphic patterns.

    A canonical form has its labels in increasing order from node 0 and, among such orders of its
    nodes, the smallest code. Cost: O(k! k²) per pattern.

    Parameters
    ----------
    codes, words : arrays of int64
    k : int
        At most 5.
    base : int
        Larger than any label.

    Examples
    --------
    An edge between labels 1 and 0 and an isolated node of label 1, in two orders:

    >>> codes, words = canonical_labelled(np.array([1, 4]), np.array([5, 3]), 3, 2)
    >>> codes.tolist(), words.tolist()
    ([1, 1], [6, 6])
    """
    if not 1 <= k <= MAX_LABELLED_NODES:
        raise ValueError(
            f"Labelled patterns have at most {MAX_LABELLED_NODES} nodes; got k={k}. Use a smaller "
            "k, or patterns without labels."
        )
    orders = np.array(list(permutations(range(k))), dtype=np.int64)
    codes = np.ascontiguousarray(codes, dtype=np.int64)
    return _canonical(codes, unpacked_labels(words, k, base), base, orders)


@njit(nogil=True, cache=True)
def _canonical(codes: Ints, labels: Ints, base: int, orders: Ints) -> tuple[Ints, Ints]:
    """Codes and words of the canonical forms of patterns, by all orders of their nodes."""
    k = labels.shape[1]
    adjacency = np.zeros((k, k), dtype=np.int64)
    smallest = np.empty(len(codes), dtype=np.int64)
    words = np.zeros(len(codes), dtype=np.int64)
    for p in range(len(codes)):
        # The adjacency matrix.
        bit = 0
        for i in range(k):
            for j in range(i + 1, k):
                adjacency[i, j] = adjacency[j, i] = (codes[p] >> bit) & 1
                bit += 1
        # The smallest code of all orders with increasing labels.
        smallest[p] = np.iinfo(np.int64).max
        for order in orders:
            increasing = True
            for i in range(1, k):
                increasing = increasing and labels[p, order[i - 1]] <= labels[p, order[i]]
            if not increasing:
                continue
            code = bit = 0
            for i in range(k):
                for j in range(i + 1, k):
                    code |= adjacency[order[i], order[j]] << bit
                    bit += 1
            smallest[p] = min(smallest[p], code)
        # The word of the sorted labels.
        sorted_labels = np.sort(labels[p])
        for i in range(k - 1, -1, -1):
            words[p] = words[p] * base + sorted_labels[i]
    return smallest, words
