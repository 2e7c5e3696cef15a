"""Rows of numbers that are equal, or agree up to rounding, found without comparing all pairs."""

from __future__ import annotations

import numpy as np

from gramlet.common.arrays import Floats, Ints
from gramlet.engine.core.compiled import njit

__all__ = ["distinct_rows", "equal_rows"]

# Rows are equal if all entries agree up to this share of the largest entry of all rows.
_AGREEMENT = 1e-9
_BLOCK = 4096  # rows whose temporaries stay in cache


def equal_rows(rows: Floats) -> tuple[Ints, Ints]:
    """The positions of the distinct rows, ascending, and which of them each row is equal to.

    Rows are grouped by hashes of their bits, and compared with the first row of their group. The
    position of a distinct row is the first at which it occurs. Rows that share a hash by chance
    count as distinct.

    >>> first, which = equal_rows(np.array([[1.0, 0.5], [0.0, 1.0], [1.0, 0.5]]))
    >>> first.tolist(), which.tolist()
    ([0, 1], [0, 1, 0])
    """
    n, width = rows.shape
    # Odd factors, so that no bit is lost; a number's high bits are added to its low ones, because
    # those of short fractions are all 0.
    factors = np.random.default_rng(0).integers(0, 2**63, width, dtype=np.uint64) * 2 + 1
    keys = np.empty(n, np.uint64)
    for begin in range(0, n, _BLOCK):
        bits = np.ascontiguousarray(rows[begin : begin + _BLOCK]).view(np.uint64)
        keys[begin : begin + _BLOCK] = ((bits ^ (bits >> 32)) * factors).sum(axis=1)
    _, first, which = np.unique(keys, return_index=True, return_inverse=True)
    which = which.reshape(-1)
    apart = np.concatenate(
        [
            np.zeros(0, np.int64),
            *(
                begin
                + np.flatnonzero(
                    (
                        rows[begin : begin + _BLOCK] != rows[first[which[begin : begin + _BLOCK]]]
                    ).any(axis=1)
                )
                for begin in range(0, n, _BLOCK)
            ),
        ]
    )
    which[apart] = len(first) + np.arange(len(apart))
    first = np.concatenate([first, apart])
    order = np.argsort(first)
    place = np.empty(len(first), np.int64)
    place[order] = np.arange(len(first))
    return first[order], place[which]


def distinct_rows(rows: Floats) -> Ints:
    """For each row, the first row that equals it up to rounding (possibly the row itself).

    Rows are sorted by a weighted sum of their entries, which is nearly the same for equal rows; a
    row is compared only with those near it in that order.

    >>> distinct_rows(np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1e-12]])).tolist()
    [0, 1, 0]
    """
    n, width = rows.shape
    if n == 0 or width == 0:
        return np.zeros(n, dtype=np.int64)
    tolerance = _AGREEMENT * float(np.abs(rows).max())
    # Incommensurable weights: the sums of different rows then differ as a rule.
    weights = 1.0 + np.sqrt(np.arange(2.0, width + 2.0)) % 1.0
    keys = rows @ weights
    order = np.argsort(keys, kind="stable")
    # Keys of equal rows differ by the tolerances of the entries and by the rounding of the sums.
    window = tolerance * float(weights.sum()) * (1.0 + 1e-6) + 1e-13 * float(np.abs(keys).max())
    return _first_of_kind(np.ascontiguousarray(rows), keys, order, tolerance, window)


@njit(nogil=True, cache=True)
def _first_of_kind(
    rows: Floats, keys: Floats, order: Ints, tolerance: float, window: float
) -> Ints:
    """For each row, the first row of its kind; rows are visited in ``order``, by key."""
    n, width = rows.shape
    kind = np.full(n, -1, dtype=np.int64)  # per row; kinds are numbered by their smallest key
    leaders, n_kinds, oldest = np.empty(n, dtype=np.int64), 0, 0
    for at in range(n):
        # Compare with the first row of every kind whose key is near.
        row = order[at]
        while oldest < n_kinds and keys[row] - keys[leaders[oldest]] > window:
            oldest += 1
        for k in range(oldest, n_kinds):
            agrees = True
            for e in range(width):
                if abs(rows[row, e] - rows[leaders[k], e]) > tolerance:
                    agrees = False
                    break
            if agrees:
                kind[row] = k
                break
        # None agrees: a new kind.
        if kind[row] < 0:
            leaders[n_kinds] = row
            kind[row] = n_kinds
            n_kinds += 1
    # Replace the number of a kind by its first row.
    first = np.full(n_kinds, n, dtype=np.int64)
    for row in range(n):
        first[kind[row]] = min(first[kind[row]], row)
    for row in range(n):
        kind[row] = first[kind[row]]
    return kind
