"""Optimal assignment between two sets of vectors, for many pairs of sets, compiled.

The method is that of shortest augmenting paths with dual variables (Hungarian method) on the
rectangular problem: O(n² m) for n ≤ m. A step looks at all columns, visited or not, so that the
loops over them have no branches and are computed several columns at a time.
"""

from __future__ import annotations

import numpy as np

from gramlet.common.arrays import Floats, Ints
from gramlet.engine.core.compiled import njit

_LANES = 4  # columns are padded to a multiple of it
_VISITED = -1e308  # below every distance; finite, so that adding infinity gives infinity


@njit(nogil=True, cache=True)
def match_rows(
    begin: int,
    end: int,
    offsets: Ints,
    points: Floats,
    columns: Floats,
    other_offsets: Ints,
    others: Floats,
    other_columns: Floats,
    symmetric: bool,
    out: Floats,
) -> None:
    """Fill rows ``begin:end`` of the matrix of best assignments by the dot product of vectors.

    Set i is ``points[offsets[i]:offsets[i + 1]]``; ``columns`` are the transposed ``points``. In
    the symmetric case only j ≥ i is filled.
    """
    n_others = len(other_offsets) - 1
    # Workspace for the largest pair.
    largest = 0
    for i in range(begin, end):
        largest = max(largest, offsets[i + 1] - offsets[i])
    for j in range(n_others):
        largest = max(largest, other_offsets[j + 1] - other_offsets[j])
    largest += -largest % _LANES
    value = np.zeros((largest, largest))
    price, gain, slack = np.empty(largest), np.empty(largest), np.empty(largest)
    far, length = np.empty(largest), np.empty(largest)
    owner, assigned = np.empty(largest, dtype=np.int64), np.empty(largest, dtype=np.int64)
    before, path = np.empty(largest, dtype=np.int64), np.empty(largest, dtype=np.int64)
    for i in range(begin, end):
        for j in range(i if symmetric else 0, n_others):
            n = offsets[i + 1] - offsets[i]
            m = other_offsets[j + 1] - other_offsets[j]
            # Dot products of all pairs of vectors, with the smaller set as rows.
            if n <= m:
                _fill_products(points, offsets[i], n, other_columns, other_offsets[j], m, value)
            else:
                _fill_products(others, other_offsets[j], m, columns, offsets[i], n, value)
            out[i, j] = _best_assignment(
                value,
                min(n, m),
                max(n, m),
                price,
                gain,
                slack,
                far,
                length,
                owner,
                assigned,
                before,
                path,
            )


@njit(nogil=True, cache=True)
def _fill_products(
    rows: Floats, first_row: int, n: int, columns: Floats, first_column: int, m: int, out: Floats
) -> None:
    """Dot products of n vectors, as rows, with m others, as columns, coordinate by coordinate."""
    for a in range(n):
        line, vector = out[a], rows[first_row + a]
        for b in range(m):
            line[b] = 0.0
        for c in range(len(vector)):
            column, factor = columns[c, first_column : first_column + m], vector[c]
            for b in range(m):
                line[b] += factor * column[b]


@njit(nogil=True, cache=True)
def _best_assignment(
    value: Floats,
    n: int,
    m: int,
    price: Floats,
    gain: Floats,
    slack: Floats,
    far: Floats,
    length: Floats,
    owner: Ints,
    assigned: Ints,
    before: Ints,
    path: Ints,
) -> float:
    """The largest sum of ``value[i, j]`` over assignments of n rows to distinct columns, n ≤ m.

    The other arrays are workspace, of a length that is a multiple of `_LANES`. They are separate:
    loops over rows of one array are twice as slow.
    """
    width = m + -m % _LANES
    for j in range(width):
        price[j], owner[j] = 0.0, -1
    # Add one row at a time along the shortest augmenting path to a free column. Lengths are of
    # reduced costs: gain[i] + price[j] − value[i, j], which is never negative.
    for start in range(n):
        for j in range(width):
            slack[j], far[j] = np.inf, 0.0 if j < m else np.inf
        gain[start] = 0.0
        row, reached, n_visited, column = start, 0.0, 0, 0
        while True:
            # Shorten the paths to all columns by those over this row.
            line, shift = value[row], gain[row] + reached
            for j in range(width):
                through, old = (shift + price[j]) - line[j], slack[j]
                shorter = through < old
                slack[j] = through if shorter else old
                before[j] = row if shorter else before[j]
            # The nearest column that was not visited.
            reached = _smallest(slack, far, width)
            if not reached < np.inf:
                return np.nan  # a value is not finite
            column = 0
            while slack[column] + far[column] != reached:
                column += 1
            if owner[column] < 0:
                break
            path[n_visited], length[n_visited] = column, reached
            n_visited += 1
            slack[column], far[column] = _VISITED, np.inf
            row = owner[column]
        # Adapt the dual variables, so that no reduced cost is negative.
        for k in range(n_visited):
            price[path[k]] += reached - length[k]
            gain[owner[path[k]]] -= reached - length[k]
        gain[start] -= reached
        # Shift the assignment along the path.
        while True:
            row = before[column]
            owner[column] = row
            following = assigned[row]
            assigned[row] = column
            if row == start:
                break
            column = following
    total = 0.0
    for i in range(n):
        total += value[i, assigned[i]]
    return total


@njit(nogil=True, cache=True)
def _smallest(slack: Floats, far: Floats, width: int) -> float:
    """The least ``slack + far``, with one running minimum per lane."""
    first, second, third, fourth = np.inf, np.inf, np.inf, np.inf
    for k in range(width // _LANES):
        j = _LANES * k
        a, b = slack[j] + far[j], slack[j + 1] + far[j + 1]
        c, d = slack[j + 2] + far[j + 2], slack[j + 3] + far[j + 3]
        first = a if a < first else first
        second = b if b < second else second
        third = c if c < third else third
        fourth = d if d < fourth else fourth
    return min(min(first, second), min(third, fourth))
