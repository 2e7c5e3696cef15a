"""Rows of unequal length in one array: offsets, selecting rows, growing arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from gramlet.common.arrays import Array, Ints, Nodes
from gramlet.engine.core.compiled import njit
from gramlet.graphs.build import ranges
from gramlet.graphs.columns import frozen


def offsets_of(sizes: Ints) -> Ints:
    """Where each of some consecutive rows begins, and where the last one ends.

    >>> offsets_of(np.array([2, 0, 3])).tolist()
    [0, 2, 2, 5]
    """
    offsets = np.zeros(len(sizes) + 1, dtype=np.int64)
    np.cumsum(sizes, out=offsets[1:])
    return offsets


def taken(offsets: Ints, rows: Ints) -> tuple[Ints, Ints]:
    """The offsets of the rows at these positions, and the entries that they own.

    >>> new_offsets, entries = taken(np.array([0, 2, 2, 5]), np.array([2, 0]))
    >>> new_offsets.tolist(), entries.tolist()
    ([0, 3, 5], [2, 3, 4, 0, 1])
    """
    sizes = np.diff(offsets)[rows]
    return offsets_of(sizes), ranges(np.asarray(offsets)[:-1][rows], sizes)


def local_adjacency(indptr: Ints, indices: Nodes, first: int, last: int) -> tuple[Ints, Nodes]:
    """The adjacency of the nodes ``first:last``, numbered from 0; they have no other neighbours.

    For tiles of whole graphs: what compiled code keeps per node is as large as the tile, not as the
    batch.

    >>> local_adjacency(np.array([0, 1, 2, 3, 4]), np.array([1, 0, 3, 2]), 2, 4)[1].tolist()
    [1, 0]
    """
    begin, end = int(indptr[first]), int(indptr[last])  # Python's integers keep the arrays' types
    # Read-only like those of a batch: for the compiler that is a type of its own.
    return frozen(indptr[first : last + 1] - begin), frozen(indices[begin:end] - int(first))


def row_numbers(rows: Any, n_rows: int) -> Ints:
    """The positions that a slice, a list of positions or a boolean mask selects.

    >>> row_numbers(slice(1, None), 3).tolist(), row_numbers([True, False, True], 3).tolist()
    ([1, 2], [0, 2])
    """
    if isinstance(rows, slice):
        return np.arange(n_rows, dtype=np.int64)[rows]
    return np.atleast_1d(np.arange(n_rows, dtype=np.int64)[np.asarray(rows)])


@njit(nogil=True, cache=True)
def copy_into(values: Array, target: Array) -> None:
    """Copy all values to the beginning of an array, as ``target[: len(values)] = values`` does.

    That assignment takes two seconds to compile, because of its error message about shapes.
    """
    for i in range(len(values)):
        target[i] = values[i]


@njit(nogil=True, cache=True)
def grown(values: Array, needed: int) -> Array:
    """The array itself, or a copy of at least twice its length with room for ``needed`` entries."""
    if needed <= len(values):
        return values
    larger = np.empty(max(needed, 2 * len(values)), dtype=values.dtype)
    copy_into(values, larger)
    return larger
