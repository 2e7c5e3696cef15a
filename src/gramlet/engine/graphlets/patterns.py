"""Patterns on k nodes as integers, and their classes up to isomorphism.

A pattern is the adjacency of k nodes in order, one bit per pair, from the lowest bit: (0,1), (0,2),
..., (0,k−1), (1,2), ... A class is identified by the smallest code among all orders of its nodes.
The patterns of a graph are found in `spectrum` and `sampling`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from itertools import permutations

import numpy as np

from gramlet.common.arrays import Bools, Floats, Int16s, Int32s, Ints
from gramlet.engine.core.compiled import njit
from gramlet.engine.graphlets.table_cache import cached_table

__all__ = [
    "MAX_NODES",
    "Patterns",
    "adjacency_matrices",
    "classes_of_codes",
    "n_pairs",
    "pattern_code",
    "pattern_names",
    "patterns",
]

MAX_NODES = 8
# Up to this size there is one table entry per code; 8 nodes would need 2^28 of them.
_LARGEST_TABLE = 7
# Up to this size all orders of the nodes are tried; compiling a search would take longer.
_ALL_ORDERS = 6
# Checksums of the tables on disk; they change with the order of nodes, pairs or classes.
_CLASSES_CHECKSUM = 0x38C3C95B
_GROWN_CHECKSUM = 0x7C4EBEF4


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
    node i + 1 for every bit i of the mask.
    """

    smallest: Ints
    classes: Int16s
    orders: Int32s


@cache
def patterns(k: int) -> Patterns:
    """All patterns on k nodes (1 ≤ k ≤ 8) up to isomorphism.

    Cost: milliseconds up to k = 6, and 0.1 s (k = 7) or 1 s (k = 8) when first built on a machine.

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
        n_edges=_bit_counts(growth.smallest),
        orbit_sizes=sizes,
        class_of_code=_class_table(k) if k <= _LARGEST_TABLE else None,
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
    classes, orders = _forms(_LARGEST_TABLE - 1)
    seven, eight = _growth(_LARGEST_TABLE), _growth(MAX_NODES)
    return _classes_of_eight(
        codes, classes, orders, seven.classes, seven.orders, eight.classes, eight.orders
    )


@cache
def _growth(k: int) -> _Growth:
    if k == 1:
        return _Growth(
            np.zeros(1, np.int64), np.zeros((1, 1), np.int16), np.zeros((1, 1), np.int32)
        )
    previous = _growth(k - 1).smallest

    def build() -> Ints:
        return _grow_by_all_orders(previous, k) if k <= _ALL_ORDERS else _grow(previous, k)

    if k == MAX_NODES:
        forms = cached_table(f"graphlet-growth-{k}", _GROWN_CHECKSUM, build)
    else:
        forms = build()
    codes = forms >> (3 * MAX_NODES)
    smallest, classes = np.unique(codes, return_inverse=True)
    orders = (forms & ((1 << (3 * MAX_NODES)) - 1)).astype(np.int32)
    return _Growth(smallest, classes.reshape(codes.shape).astype(np.int16), orders)


def _grow_by_all_orders(smaller: Ints, k: int) -> Ints:
    """What `_grow` returns, by trying all orders of the nodes."""
    codes = ((smaller[:, None] << (k - 1)) | np.arange(1 << (k - 1))).ravel()
    # Nodes from the last place to the first. Of several orders that give the smallest code, both
    # functions return the first one.
    sequences = np.array(list(permutations(range(k))))
    places = np.empty_like(sequences)
    np.put_along_axis(places, sequences, np.arange(k)[None, ::-1], axis=1)
    # The place of each pair's bit after reordering; products of bits and powers of 2 are exact.
    ends = places[:, np.array(np.triu_indices(k, 1))]
    low, high = ends.min(axis=1), ends.max(axis=1)
    powers = 2.0 ** (low * k - low * (low + 1) // 2 + high - low - 1)
    reordered = ((codes[:, None] >> np.arange(n_pairs(k))) & 1) @ powers.T
    best = reordered.argmin(axis=1)
    smallest = reordered[np.arange(len(codes)), best].astype(np.int64)
    orders = (places << (3 * np.arange(k))).sum(axis=1)
    return ((smallest << 24) | orders[best]).reshape(len(smaller), -1)


@cache
def _forms(k: int) -> tuple[Int16s, Int32s]:
    """For every code, its class and the order of nodes that gives the smallest code.

    As `_put_before`, for every code on k−1 nodes (rows) and every mask (columns) at once.
    """
    if k == 1:
        return np.zeros(1, dtype=np.int16), np.zeros(1, dtype=np.int32)
    sub_classes, sub_orders = (values[:, None] for values in _forms(k - 1))
    masks = np.arange(1 << (k - 1), dtype=np.int32)
    places = [(sub_orders >> (3 * i)) & 7 for i in range(k - 1)]
    moved = np.zeros((len(sub_classes), len(masks)), dtype=np.int32)
    for i, place in enumerate(places):
        moved |= ((masks >> i) & 1) << place
    grown = _growth(k).orders[sub_classes, moved]
    orders = grown & 7
    for i, place in enumerate(places):
        orders |= ((grown >> (3 * (place + 1))) & 7) << (3 * (i + 1))
    return _growth(k).classes[sub_classes, moved].ravel(), orders.ravel()


def _class_table(k: int) -> Int16s:
    if k < _LARGEST_TABLE:
        return _forms(k)[0]
    return cached_table(f"graphlet-classes-{k}", _CLASSES_CHECKSUM, lambda: _forms(k)[0])


def _connected(codes: Ints, k: int) -> Bools:
    """Whether k−1 steps from node 0 reach all nodes."""
    steps = adjacency_matrices(codes, k) + np.eye(k)
    reached = np.linalg.matrix_power(steps, max(k - 1, 1))
    return np.asarray((reached[:, 0] > 0).all(axis=1))


def _bit_counts(codes: Ints) -> Ints:
    return ((codes[:, None] >> np.arange(n_pairs(MAX_NODES))) & 1).sum(axis=1)


# Compiled functions. An order is packed in three bits per node: the place of node i is at bit 3i.


@njit(nogil=True, cache=True)
def _neighbour_masks(code: int, k: int, masks: Ints) -> None:
    for i in range(k):
        masks[i] = 0
    bit = 0
    for i in range(k):
        for j in range(i + 1, k):
            if (code >> bit) & 1:
                masks[i] |= 1 << j
                masks[j] |= 1 << i
            bit += 1


@njit(nogil=True, cache=True)
def _has_earlier_twin(node: int, free: int, masks: Ints) -> bool:
    """Whether an earlier free node has the same neighbours, apart from the two nodes themselves."""
    for other in range(node):
        both = ~((1 << node) | (1 << other))
        if (free >> other) & 1 and masks[node] & both == masks[other] & both:
            return True
    return False


@njit(nogil=True, cache=True)
def _extend_sequences(
    k: int, placed: int, masks: Ints, old: Ints, n_old: int, new: Ints
) -> tuple[int, int]:
    """Extend each sequence by the nodes whose bits are the smallest number; keep all ties.

    Returns this number and how many sequences there are.
    """
    best, n_new = 1 << placed, 0
    for s in range(n_old):
        # Nodes that are not in the sequence, as bits.
        sequence = old[s]
        free = (1 << k) - 1
        for t in range(placed):
            free ^= 1 << ((sequence >> (3 * t)) & 7)
        for node in range(k):
            # Twins give the same code; without this test, n! sequences of an empty graph tie.
            if not (free >> node) & 1 or _has_earlier_twin(node, free, masks):
                continue
            bits = 0
            for t in range(placed):
                bits = (bits << 1) | ((masks[node] >> ((sequence >> (3 * t)) & 7)) & 1)
            if bits < best:
                best, n_new = bits, 0
            if bits == best:
                new[n_new] = sequence | (node << (3 * placed))
                n_new += 1
    return best, n_new


@njit(nogil=True, cache=True)
def _smallest_form(code: int, k: int, masks: Ints, sequences: Ints, spare: Ints) -> tuple[int, int]:
    """The smallest code of a pattern's class, and the order of nodes that gives it.

    The bits of the last nodes are the highest. Nodes are placed from the last place to the first;
    only the sequences that tie for the smallest code so far are kept.
    """
    _neighbour_masks(code, k, masks)
    smallest, n_ties = 0, 1
    sequences[0] = 0
    for placed in range(k):
        best, n_ties = _extend_sequences(k, placed, masks, sequences, n_ties, spare)
        smallest = (smallest << placed) | best
        for tie in range(n_ties):
            sequences[tie] = spare[tie]
    order = 0
    for t in range(k):
        order |= (k - 1 - t) << (3 * ((sequences[0] >> (3 * t)) & 7))
    return smallest, order


@njit(nogil=True, cache=True)
def _grow(smaller: Ints, k: int) -> Ints:
    """Smallest code and order (24 bits) of every class on k−1 nodes after every new first node."""
    n_masks = 1 << (k - 1)
    forms = np.empty((len(smaller), n_masks), dtype=np.int64)
    masks = np.zeros(8, dtype=np.int64)
    sequences = np.empty(40320, dtype=np.int64)
    spare = np.empty(40320, dtype=np.int64)
    for c in range(len(smaller)):
        for mask in range(n_masks):
            code = (smaller[c] << (k - 1)) | mask
            smallest, order = _smallest_form(code, k, masks, sequences, spare)
            forms[c, mask] = (smallest << 24) | order
    return forms


@njit(nogil=True, cache=True)
def _put_before(
    mask: int,
    k: int,
    sub_class: int,
    sub_order: int,
    classes: Int16s,
    orders: Int32s,
) -> tuple[int, int]:
    """Class and order of a pattern on k nodes, from those of its last k−1 nodes."""
    moved = 0
    for i in range(k - 1):
        moved |= ((mask >> i) & 1) << ((sub_order >> (3 * i)) & 7)
    grown = orders[sub_class, moved]
    order = grown & 7
    for i in range(k - 1):
        place = 1 + ((sub_order >> (3 * i)) & 7)
        order |= ((grown >> (3 * place)) & 7) << (3 * (i + 1))
    return classes[sub_class, moved], order


@njit(nogil=True, cache=True)
def _classes_of_eight(
    codes: Ints,
    classes_6: Int16s,
    orders_6: Int32s,
    grown_classes_7: Int16s,
    grown_orders_7: Int32s,
    grown_classes_8: Int16s,
    grown_orders_8: Int32s,
) -> Ints:
    """Classes of codes on eight nodes: two nodes are put before six that have a table.

    A table of eight nodes would have 2^28 entries.
    """
    found = np.empty(len(codes), dtype=np.int64)
    for i in range(len(codes)):
        # The last six nodes and one before them, then the first node.
        last_six = codes[i] >> 13
        sub_class, sub_order = _put_before(
            (codes[i] >> 7) & 63,
            7,
            classes_6[last_six],
            orders_6[last_six],
            grown_classes_7,
            grown_orders_7,
        )
        found[i] = _put_before(
            codes[i] & 127, 8, sub_class, sub_order, grown_classes_8, grown_orders_8
        )[0]
    return found
