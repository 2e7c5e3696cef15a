"""Euclidean distances from the points of one set to a stretch of many other points.

Long stretches keep the loops in vectors. In many dimensions the squared distances come from a
matrix product, and those that cancellation would spoil are computed again, plainly. Who the points
belong to, and what the distances are for, is left to `earth_mover`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

__all__ = ["Places", "fill_distances", "places"]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

# From this many dimensions on, a matrix product is faster than the differences.
_MANY_DIMENSIONS = 16
# A squared distance below this share of the squared norms has lost too many digits.
_CANCELLED = 1e-3


class Places(NamedTuple):
    """Labelled points: coordinates by columns and, if there are many, by rows, with squared norms.

    Attributes
    ----------
    columns : array, shape (dimensions, points)
    labels : array of int64, shape (points,)
    rows : array, shape (points, dimensions), or (0, 0) in few dimensions
    squares : array, shape (points,), or (0,)
    """

    columns: Floats
    labels: Ints
    rows: Floats
    squares: Floats


def places(columns: Floats, labels: Ints, centre: Floats) -> Places:
    """Points to measure distances of; a centre near them all leaves fewer digits to cancel."""
    if len(columns) < _MANY_DIMENSIONS:
        return Places(columns, labels, np.zeros((0, 0)), np.zeros(0))
    rows = np.ascontiguousarray(columns.T - centre)
    return Places(columns, labels, rows, np.einsum("ij,ij->i", rows, rows))


@njit(nogil=True, cache=True)
def fill_distances(
    first: int, n: int, left: Places, begin: int, end: int, right: Places, penalty: float,
    block: Floats,
) -> None:  # fmt: skip
    """Distances of points ``first:first + n`` to points ``begin:end``, row by row.

    Points of different labels are ``penalty`` further apart, in squares. ``block`` is flat, with
    room for all.
    """
    width = end - begin
    table = block[: n * width].reshape((n, width))
    if left.rows.shape[0] > 0:
        _by_product(first, n, left, begin, end, right, table)
    else:
        _by_differences(first, n, left.columns, begin, end, right.columns, table)
    for a in range(n):
        label = left.labels[first + a]
        line = table[a]
        if penalty > 0.0:
            labels = right.labels[begin:end]
            for k in range(width):
                line[k] += penalty if labels[k] != label else 0.0
        for k in range(width):
            line[k] = np.sqrt(line[k])


@njit(nogil=True, cache=True)
def _by_differences(
    first: int, n: int, columns: Floats, begin: int, end: int, others: Floats, table: Floats
) -> None:
    """Σ_c (x_c − y_c)², two dimensions at a time."""
    n_dimensions = columns.shape[0]
    for a in range(n):
        line = table[a]
        line[:] = 0.0
        for c in range(0, n_dimensions - 1, 2):
            x, x2 = columns[c, first + a], columns[c + 1, first + a]
            y, y2 = others[c, begin:end], others[c + 1, begin:end]
            for k in range(end - begin):
                gap, gap2 = y[k] - x, y2[k] - x2
                line[k] += gap * gap + gap2 * gap2
        if n_dimensions % 2:
            x, y = columns[-1, first + a], others[-1, begin:end]
            for k in range(end - begin):
                gap = y[k] - x
                line[k] += gap * gap


@njit(nogil=True, cache=True)
def _by_product(
    first: int, n: int, left: Places, begin: int, end: int, right: Places, table: Floats
) -> None:
    """‖x‖² + ‖y‖² − 2 x·y, and plainly where that has cancelled."""
    np.dot(left.rows[first : first + n], right.rows[begin:end].T, table)
    for a in range(n):
        line = table[a]
        square, squares = left.squares[first + a], right.squares[begin:end]
        n_cancelled = 0
        for k in range(end - begin):
            both = square + squares[k]
            rest = both - 2.0 * line[k]
            line[k] = rest
            n_cancelled += int(rest < _CANCELLED * both)
        if n_cancelled > 0:
            _repair(first + a, left.columns, square, begin, right.columns, squares, line)


@njit(nogil=True, cache=True)
def _repair(
    x: int, columns: Floats, square: float, begin: int, others: Floats, squares: Floats,
    line: Floats,
) -> None:  # fmt: skip
    for k in range(len(line)):
        if line[k] < _CANCELLED * (square + squares[k]):
            total = 0.0
            for c in range(columns.shape[0]):
                gap = columns[c, x] - others[c, begin + k]
                total += gap * gap
            line[k] = total
