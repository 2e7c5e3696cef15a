"""Optimal assignment between two sets of vectors, for many pairs of sets, compiled.

The method is that of shortest augmenting paths with dual variables (Hungarian method) on the
rectangular problem: O(n² m) for n ≤ m.
"""

from __future__ import annotations

import numpy as np

from gramlet.common.arrays import Floats, Ints
from gramlet.engine.core.compiled import inner, njit

__all__ = ["best_assignment", "match_rows"]


@inner
def best_assignment(value: Floats, n: int, m: int) -> float:
    """The largest sum of ``value[i, j]`` over assignments of n rows to distinct columns, n ≤ m."""
    # Costs are -value; rows and columns are numbered from 1, column 0 is where a path starts.
    row_dual = np.zeros(n + 1)
    column_dual = np.zeros(m + 1)
    owner = np.zeros(m + 1, dtype=np.int64)  # the row that a column is assigned to; 0: none
    previous = np.zeros(m + 1, dtype=np.int64)
    slack = np.empty(m + 1)
    done = np.empty(m + 1, dtype=np.bool_)
    # Add one row at a time along the shortest augmenting path to a free column.
    for row in range(1, n + 1):
        owner[0] = row
        slack[:] = np.inf
        done[:] = False
        column = 0
        while True:
            done[column] = True
            # The column nearest to those reached so far.
            i = owner[column]
            step, following = np.inf, 0
            for j in range(1, m + 1):
                if done[j]:
                    continue
                reduced = -value[i - 1, j - 1] - row_dual[i] - column_dual[j]
                if reduced < slack[j]:
                    slack[j] = reduced
                    previous[j] = column
                if slack[j] < step:
                    step, following = slack[j], j
            # Update the dual variables, so that no reduced cost is negative.
            for j in range(m + 1):
                if done[j]:
                    row_dual[owner[j]] += step
                    column_dual[j] -= step
                else:
                    slack[j] -= step
            column = following
            if owner[column] == 0:
                break
        while column != 0:  # shift the assignment along the path
            before = previous[column]
            owner[column] = owner[before]
            column = before
    total = 0.0
    for j in range(1, m + 1):
        if owner[j] > 0:
            total += value[owner[j] - 1, j - 1]
    return total


@njit(nogil=True, cache=True)
def match_rows(
    begin: int, end: int, offsets: Ints, points: Floats, other_offsets: Ints, others: Floats,
    symmetric: bool, out: Floats,
) -> None:  # fmt: skip
    """Fill rows ``begin:end`` of the matrix of best assignments by the dot product of vectors.

    Set i is ``points[offsets[i]:offsets[i + 1]]``. In the symmetric case only j ≥ i is filled.
    """
    n_others = len(other_offsets) - 1
    # Workspace for the largest pair.
    largest = 0
    for i in range(begin, end):
        largest = max(largest, offsets[i + 1] - offsets[i])
    for j in range(n_others):
        largest = max(largest, other_offsets[j + 1] - other_offsets[j])
    value = np.empty((largest, largest))
    d = points.shape[1]
    for i in range(begin, end):
        for j in range(i if symmetric else 0, n_others):
            # Dot products of all pairs of vectors, with the smaller set as rows.
            n = offsets[i + 1] - offsets[i]
            m = other_offsets[j + 1] - other_offsets[j]
            for a in range(n):
                for b in range(m):
                    similarity = 0.0
                    for c in range(d):
                        similarity += points[offsets[i] + a, c] * others[other_offsets[j] + b, c]
                    if n <= m:
                        value[a, b] = similarity
                    else:
                        value[b, a] = similarity
            out[i, j] = best_assignment(value, min(n, m), max(n, m)) if n and m else 0.0
