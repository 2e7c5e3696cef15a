"""Rows of numbers that are equal, or agree up to rounding, found without comparing all pairs."""

from __future__ import annotations

import numpy as np

from gramlet.common.arrays import Floats, Ints
from gramlet.engine.core.compiled import njit

# Rows are equal if all entries agree up to this share of the largest entry of all rows.
_AGREEMENT = 1e-9


def equal_rows(rows: Floats) -> tuple[Ints, Ints]:
    """The positions of the distinct rows, ascending, and which of them each row is equal to.

    Rows are compared bit by bit. The position of a distinct row is the first at which it occurs.

    >>> first, which = equal_rows(np.array([[1.0, 0.5], [0.0, 1.0], [1.0, 0.5]]))
    >>> first.tolist(), which.tolist()
    ([0, 1], [0, 1, 0])
    """
    n, width = rows.shape
    if width == 0:
        return np.arange(min(n, 1)), np.zeros(n, dtype=np.int64)
    whole = np.ascontiguousarray(rows).view(np.dtype((np.void, 8 * width))).reshape(-1)
    _, first, which = np.unique(whole, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty(len(first), np.int64)
    rank[order] = np.arange(len(first))
    return first[order], rank[which.reshape(-1)]


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
