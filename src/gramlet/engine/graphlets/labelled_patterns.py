"""Patterns whose nodes have labels, up to isomorphism.

A labelled pattern is a code and a word, Σ_i label_i · base^i. Its canonical form has its labels in
increasing order from node 0 and, among such orders of its nodes, the smallest code. There are few
nodes, so all orders are tried.
"""

from __future__ import annotations

from itertools import permutations

import numpy as np

from gramlet.common.arrays import Ints
from gramlet.engine.core.compiled import njit

__all__ = ["MAX_LABELLED_NODES", "canonical_labelled", "unpacked_labels"]

MAX_LABELLED_NODES = 5


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

    Cost: O(k! k²) per pattern.

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
    k = labels.shape[1]
    adjacency = np.zeros((k, k), dtype=np.int64)
    smallest = np.empty(len(codes), dtype=np.int64)
    words = np.zeros(len(codes), dtype=np.int64)
    for p in range(len(codes)):
        bit = 0
        for i in range(k):
            for j in range(i + 1, k):
                adjacency[i, j] = adjacency[j, i] = (codes[p] >> bit) & 1
                bit += 1
        smallest[p] = np.iinfo(np.int64).max
        for order in orders:
            if _increasing(labels[p], order):
                smallest[p] = min(smallest[p], _code_in_order(adjacency, order))
        sorted_labels = np.sort(labels[p])
        for i in range(k - 1, -1, -1):
            words[p] = words[p] * base + sorted_labels[i]
    return smallest, words


@njit(nogil=True, cache=True)
def _increasing(labels: Ints, order: Ints) -> bool:
    previous = labels[order[0]]
    for i in range(1, len(order)):
        label = labels[order[i]]
        if label < previous:
            return False
        previous = label
    return True


@njit(nogil=True, cache=True)
def _code_in_order(adjacency: Ints, order: Ints) -> int:
    code = bit = 0
    for i in range(len(order)):
        for j in range(i + 1, len(order)):
            code |= adjacency[order[i], order[j]] << bit
            bit += 1
    return code
