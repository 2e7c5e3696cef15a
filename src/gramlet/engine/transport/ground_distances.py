"""Euclidean distances from some points to a range of many other points.

Long ranges let the compiler vectorise the loops. In many dimensions the squared distances come from
a matrix product, and those that lose digits by cancellation are recomputed from differences.
`earth_mover` uses the distances.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gramlet.common.arrays import Floats, Ints
from gramlet.engine.core.compiled import njit

__all__ = ["Places", "fill_distances", "places"]


# From this many dimensions on, a matrix product is faster than the differences.
_MANY_DIMENSIONS = 16
# Coordinates whose values are all below this share of the largest value are left out.
_FLAT = 1e-13
# If some were left out, distances below this share of the largest value are recomputed.
_SHORT = 1e-4
# A squared distance below this share of the squared norms has lost more than four of sixteen
# digits.
_CANCELLED = 1e-4


class Places(NamedTuple):
    """Labelled points: coordinates by column and, in many dimensions, by row for a matrix product.

    Attributes
    ----------
    columns : array, shape (dimensions, points)
    labels : array of int64, shape (points,)
    rows : array, shape (points, coordinates), or (0, 0) in few dimensions
        Differences from a common centre, rotated, without coordinates in which no two points
        differ.
    squares : array, shape (points,)
        The squared norms of the rows; 0 in few dimensions.
    unsure : float
        A squared length compared with which the coordinates left out are negligible.
    """

    columns: Floats
    labels: Ints
    rows: Floats
    squares: Floats
    unsure: float


def places(
    columns: Floats, labels: Ints, other_columns: Floats, other_labels: Ints
) -> tuple[Places, Places]:
    """The points that distances are measured from, and those they are measured to."""
    if len(columns) < _MANY_DIMENSIONS:
        none = np.zeros((0, 0))
        left = Places(columns, labels, none, np.zeros(len(labels)), 0.0)
        return left, Places(other_columns, other_labels, none, np.zeros(len(other_labels)), 0.0)
    # Differences from a centre near all points lose fewer digits by cancellation.
    centre = other_columns.mean(axis=1) if other_columns.size else np.zeros(len(other_columns))
    tables = [other_columns.T - centre]
    if columns is not other_columns:
        tables.append(columns.T - centre)
    tables, unsure = _without_flat(tables)
    rows, others = np.ascontiguousarray(tables[-1]), np.ascontiguousarray(tables[0])
    left = Places(columns, labels, rows, np.einsum("ij,ij->i", rows, rows), unsure)
    squares = np.einsum("ij,ij->i", others, others)
    return left, Places(other_columns, other_labels, others, squares, unsure)


def _without_flat(tables: list[Floats]) -> tuple[list[Floats], float]:
    """Rotate the points and leave out coordinates in which no two points differ.

    Also returns a squared length compared with which these coordinates are negligible.
    """
    scatter = sum(table.T @ table for table in tables)
    if not np.isfinite(scatter).all():
        return tables, 0.0
    _, axes = np.linalg.eigh(scatter)
    turned = [table @ axes for table in tables]
    extent = np.max([np.abs(table).max(axis=0, initial=0.0) for table in turned], axis=0)
    largest = extent.max()
    kept = extent > _FLAT * largest
    if kept.all():
        return tables, 0.0
    return [table[:, kept] for table in turned], (_SHORT * largest) ** 2


@njit(nogil=True, cache=True)
def fill_distances(
    first: int,
    last: int,
    left: Places,
    begin: int,
    end: int,
    right: Places,
    penalty: float,
    block: Floats,
) -> None:
    """Distances of points ``first:last`` to points ``begin:end``, row by row.

    Different labels add ``penalty`` to the squared distance. ``block`` is a flat array with space
    for all distances.
    """
    # Dot products, or squared distances without the penalty.
    n, width = last - first, end - begin
    table = block[: n * width].reshape((n, width))
    if left.rows.shape[0] > 0:
        np.dot(left.rows[first:last], right.rows[begin:end].T, table)
        factor = -2.0
    else:
        _by_differences(first, n, left.columns, begin, end, right.columns, table)
        factor = 1.0
    # Distances, line by line.
    labels, squares = right.labels[begin:end], right.squares[begin:end]
    for a in range(n):
        label, square, line = left.labels[first + a], left.squares[first + a], table[a]
        n_cancelled = 0
        # One loop: the square root dominates, so the rest is free.
        for k in range(width):
            both = square + squares[k]
            value = factor * line[k] + both
            n_cancelled += int(value < _CANCELLED * (both + left.unsure))
            line[k] = np.sqrt(value + (penalty if labels[k] != label else 0.0))
        if n_cancelled > 0:
            _repair(first + a, left, begin, right, penalty, line)


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
def _repair(x: int, left: Places, begin: int, right: Places, penalty: float, line: Floats) -> None:
    """Recompute from differences the distances of point x that lost digits by cancellation."""
    for k in range(len(line)):
        y = begin + k
        more = penalty if right.labels[y] != left.labels[x] else 0.0
        limit = 2.0 * _CANCELLED * (left.squares[x] + right.squares[y] + left.unsure)
        # The root of a negative number is NaN, which is not above the limit either.
        if not line[k] * line[k] - more > limit:
            total = 0.0
            for c in range(left.columns.shape[0]):
                gap = left.columns[c, x] - right.columns[c, y]
                total += gap * gap
            line[k] = np.sqrt(total + more)
