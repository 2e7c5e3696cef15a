"""Sums of rows of a table, weighted by sparse counts: features of counted patterns.

Every sum is taken entry by entry in a fixed order, so that the bits of a row depend on that row
only, not on other rows or on the blocks of a matrix product.
"""

from __future__ import annotations

import numpy as np

from gramlet.common.arrays import Floats, Ints
from gramlet.engine.core.compiled import njit

__all__ = ["add_weighted_rows", "pair_moments"]


def add_weighted_rows(
    begins: Ints,
    ends: Ints,
    columns: Ints,
    weights: Floats,
    table: Floats,
    first_row: int,
    result: Floats,
) -> None:
    """result[i] += Σ_e weights[e] · table[columns[e] − first_row], over e in begins[i]:ends[i].

    Cost: the number of entries times the width of the table. The arrays of floats are contiguous.

    >>> result = np.zeros((2, 1))
    >>> begins, ends, columns = np.array([0, 2]), np.array([2, 3]), np.array([0, 1, 1])
    >>> table = np.array([[10.0], [20.0]])
    >>> add_weighted_rows(begins, ends, columns, np.array([1.0, 2.0, 3.0]), table, 0, result)
    >>> result.tolist()
    [[50.0], [60.0]]
    """
    _add(begins, ends, columns, weights, table, first_row, result)


def pair_moments(indptr: Ints, codes: Ints, counts: Floats, k: int) -> Floats:
    """For every graph and every pair of bits of its codes, how often both bits are set.

    Parameters
    ----------
    indptr, codes, counts : arrays
        Graph i has the code ``codes[e]`` ``counts[e]`` times, for e in indptr[i]:indptr[i + 1].
    k : int
        Nodes of the patterns: codes have k(k−1)/2 bits.

    Returns
    -------
    array, shape (number of graphs, b (b + 1) / 2), b the number of bits
        The bits p ≤ q have column q (q + 1) / 2 + p. The values are integers.

    Examples
    --------
    >>> pair_moments(np.array([0, 2]), np.array([3, 1]), np.array([5.0, 2.0]), 3).tolist()
    [[7.0, 5.0, 5.0, 0.0, 0.0, 0.0]]
    """
    n_bits = k * (k - 1) // 2
    moments = np.zeros((len(indptr) - 1, n_bits * (n_bits + 1) // 2))
    _add_moments(indptr, codes, counts, n_bits, moments)
    return moments


@njit(nogil=True, cache=True)
def _add_moments(indptr: Ints, codes: Ints, counts: Floats, n_bits: int, moments: Floats) -> None:
    bits = np.empty(n_bits, dtype=np.int64)
    for i in range(len(indptr) - 1):
        for e in range(indptr[i], indptr[i + 1]):
            n_set = 0
            for bit in range(n_bits):
                if (codes[e] >> bit) & 1:
                    bits[n_set] = bit
                    n_set += 1
            for a in range(n_set):
                begin = bits[a] * (bits[a] + 1) // 2
                for b in range(a + 1):
                    moments[i, begin + bits[b]] += counts[e]


@njit(nogil=True, cache=True)
def _add(
    begins: Ints,
    ends: Ints,
    columns: Ints,
    weights: Floats,
    table: Floats,
    first_row: int,
    result: Floats,
) -> None:
    """The sums of `add_weighted_rows`."""
    width = table.shape[1]
    for i in range(len(begins)):
        e = begins[i]
        # Four entries at a time: the result is read and written once instead of four times. The
        # order of the additions is the same.
        while e + 4 <= ends[i]:
            a, b = columns[e] - first_row, columns[e + 1] - first_row
            c, d = columns[e + 2] - first_row, columns[e + 3] - first_row
            for j in range(width):
                result[i, j] = (
                    (result[i, j] + weights[e] * table[a, j])
                    + weights[e + 1] * table[b, j]
                    + weights[e + 2] * table[c, j]
                ) + weights[e + 3] * table[d, j]
            e += 4
        # The remaining entries.
        while e < ends[i]:
            row = columns[e] - first_row
            for j in range(width):
                result[i, j] += weights[e] * table[row, j]
            e += 1
