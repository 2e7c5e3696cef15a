"""Rounds of neighbourhood hashing: rotations and exclusive ors of short codes."""

from __future__ import annotations

import numpy as np

from gramlet.common.arrays import Ints, Nodes, UInt64s
from gramlet.engine.core.compiled import njit
from gramlet.engine.core.short_sort import sort_short

__all__ = ["hash_levels"]


def hash_levels(
    indptr: Ints, indices: Nodes, codes: UInt64s, n_iter: int, n_bits: int, counting: bool
) -> UInt64s:
    """The codes of all nodes after 1, ..., ``n_iter`` rounds, shape (n_iter, nodes).

    Parameters
    ----------
    codes : array of uint64
        The codes before the first round, below 2^n_bits.
    n_bits : int
        From 1 to 64.
    counting : bool
        Whether equal codes of neighbours are counted; if not, two of them cancel.

    Examples
    --------
    >>> one_edge = np.array([0, 1, 2]), np.array([1, 0])
    >>> hash_levels(*one_edge, np.array([1, 2], np.uint64), 1, 3, False).tolist()
    [[0, 5]]
    """
    levels = np.empty((n_iter, len(codes)), dtype=np.uint64)
    for i in range(n_iter):
        codes = _round(indptr, indices, codes, n_bits, counting)
        levels[i] = codes
    return levels


@njit(nogil=True, cache=True)
def _rotated(code: np.uint64, places: int, n_bits: int, mask: np.uint64) -> np.uint64:
    left = places % n_bits
    if left == 0:
        return code
    return ((code << np.uint64(left)) | (code >> np.uint64(n_bits - left))) & mask


@njit(nogil=True, cache=True)
def _round(indptr: Ints, indices: Nodes, codes: UInt64s, n_bits: int, counting: bool) -> UInt64s:
    """One round of the simple or the counting hash."""
    mask = np.uint64(0xFFFFFFFFFFFFFFFF) >> np.uint64(64 - n_bits)
    out = np.empty(len(codes), dtype=np.uint64)
    around = np.empty(16, dtype=np.int64)
    for v in range(len(codes)):
        code = _rotated(codes[v], 1, n_bits, mask)
        begin, degree = indptr[v], indptr[v + 1] - indptr[v]
        # The simple hash: exclusive or of all neighbours.
        if not counting:
            for p in range(begin, begin + degree):
                code ^= codes[indices[p]]
            out[v] = code
            continue
        # The counting hash: sort, so that equal codes are side by side.
        if degree > len(around):
            around = np.empty(2 * degree, dtype=np.int64)
        for p in range(degree):
            around[p] = np.int64(codes[indices[begin + p]])
        sort_short(around[:degree])
        # Each code is combined with its count and rotated by it.
        p = 0
        while p < degree:
            q = p
            while q < degree and around[q] == around[p]:
                q += 1
            mixed = np.uint64(around[p]) ^ (np.uint64(q - p) & mask)
            code ^= _rotated(mixed, q - p, n_bits, mask)
            p = q
        out[v] = code
    return out
