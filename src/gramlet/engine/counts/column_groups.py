"""Count matrices split into groups of columns, of which only those that can match are kept."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse

from gramlet.common.arrays import Array, Floats, Int32s, Ints
from gramlet.engine.core.compiled import njit
from gramlet.engine.counts.comparison import frequencies

__all__ = ["ColumnGroups", "group_columns", "squares_by_group"]


class ColumnGroups(NamedTuple):
    """The groups that have columns to compare, and per group its part of each matrix."""

    groups: Ints
    parts: list[tuple[sparse.csr_matrix, ...]]


def group_columns(place: Array, *matrices: sparse.csr_matrix) -> ColumnGroups:
    """Split one matrix, whose rows are compared with each other, or two, compared with each other.

    Parameters
    ----------
    place : array of unsigned integers
        The group of each column; further columns of the matrices are left out.
    matrices : csr_matrix
    """
    counted = [_frequencies(matrix, len(place)) for matrix in matrices]
    kept = counted[0] > 1 if len(counted) == 1 else (counted[0] > 0) & (counted[1] > 0)
    columns = np.flatnonzero(kept)
    columns = columns[np.argsort(place[columns], kind="stable")]
    groups, starts = np.unique(place[columns], return_index=True)
    widths = np.diff(starts, append=len(columns))
    # The number of a column in its group, and the number of its group among those that are left.
    number = np.full(len(kept), -1, dtype=np.int32)
    number[columns] = np.arange(len(columns)) - np.repeat(starts, widths)
    which = np.zeros(len(kept), dtype=np.int32)
    which[columns] = np.repeat(np.arange(len(groups)), widths)
    split = [_split(matrix, number, which, widths) for matrix in matrices]
    return ColumnGroups(groups.astype(np.int64), list(zip(*split, strict=True)))


def squares_by_group(counts: sparse.csr_matrix, place: Array, n_groups: int) -> Floats:
    """The sum of the squares of each row in each group of columns, shape (rows, groups).

    >>> counts = sparse.csr_matrix([[1.0, 2.0, 3.0]])
    >>> squares_by_group(counts, np.array([0, 1, 0]), 2).tolist()
    [[10.0, 4.0]]
    """
    n_rows = counts.shape[0]
    rows = np.repeat(np.arange(n_rows) * n_groups, np.diff(counts.indptr))
    cells = rows + place[counts.indices]
    found = np.bincount(cells, counts.data**2, minlength=n_rows * n_groups)
    return found.astype(np.float64, copy=False).reshape(n_rows, n_groups)


def _frequencies(matrix: sparse.csr_matrix, n_columns: int) -> Int32s:
    return frequencies(matrix.indices, matrix.shape[1])[:n_columns]


def _split(
    counts: sparse.csr_matrix, number: Int32s, which: Int32s, widths: Ints
) -> list[sparse.csr_matrix]:
    """The parts of a matrix."""
    n_rows = counts.shape[0]
    indptr, indices = counts.indptr.astype(np.int64, copy=False), counts.indices
    ends = np.zeros((len(widths), n_rows + 1), dtype=np.int64)
    _count_entries(indptr, indices, number, which, ends)
    np.cumsum(ends, axis=1, out=ends)
    starts = np.concatenate([[0], np.cumsum(ends[:, -1])])
    columns = np.empty(starts[-1], dtype=np.int32)
    values = np.empty(starts[-1])
    _copy_entries(indices, counts.data, number, which, starts[:-1].copy(), columns, values)
    return [
        sparse.csr_matrix((values[a:b], columns[a:b], pointers), shape=(n_rows, width))
        for a, b, pointers, width in zip(starts[:-1], starts[1:], ends, widths, strict=True)
    ]


@njit(nogil=True, cache=True)
def _count_entries(
    indptr: Ints, indices: Int32s, number: Int32s, which: Int32s, counts: Ints
) -> None:
    for row in range(len(indptr) - 1):
        for p in range(indptr[row], indptr[row + 1]):
            f = indices[p]
            if f < len(number) and number[f] >= 0:
                counts[which[f], row + 1] += 1


@njit(nogil=True, cache=True)
def _copy_entries(
    indices: Int32s,
    data: Floats,
    number: Int32s,
    which: Int32s,
    cursor: Ints,
    columns: Int32s,
    values: Floats,
) -> None:
    for p in range(len(indices)):
        f = indices[p]
        if f < len(number) and number[f] >= 0:
            part = which[f]
            columns[cursor[part]], values[cursor[part]] = number[f], data[p]
            cursor[part] += 1
