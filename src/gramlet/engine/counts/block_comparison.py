"""Counts in blocks of columns: dot products of each block, divided by the rows' norms and added up.

The dot product of a block is a whole number, so that entries do not depend on the tiles of a
matrix; it is divided by the root of the product of both rows' own values, and the blocks are added
in their order. All blocks of a tile are computed in turn, in memory that stays in the cache.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from gramlet.common.arrays import Array, Bools, Floats, Int32s, Ints
from gramlet.engine.core.compiled import njit
from gramlet.engine.core.memory import release_free
from gramlet.engine.core.tiles import MIRROR_ROWS, Mirror, for_tiles
from gramlet.engine.counts.comparison import CountIndex, IndexedRows, frequencies
from gramlet.engine.counts.self_comparison import index_later

__all__ = ["compare_blocks", "compare_blocks_self"]

_TILE_ROWS = 64  # few enough that a tile against some thousand rows stays in the cache


def compare_blocks(
    left: sparse.csr_matrix,
    right: sparse.csr_matrix,
    place: Array,
    left_own: Floats,
    right_own: Floats,
    **tiling: Any,
) -> Floats:
    """Every row of ``left`` against every row of ``right``.

    Parameters
    ----------
    left, right : csr_matrix, with the same columns
    place : array of unsigned integers
        The block of each column.
    left_own, right_own : arrays, shape (rows, blocks)
        The value of each row and block by which products are divided; 0 where products are not
        counted.
    tiling
        Keyword arguments of `for_tiles`.
    """
    out = np.zeros((left.shape[0], right.shape[0]))
    n_columns = len(place)
    common = frequencies(left.indices, n_columns) > 0
    common &= frequencies(right.indices, n_columns) > 0
    parts = [
        (block, IndexedRows(a, CountIndex.build(b, "dot"), "dot"))
        for block, a, b in _parts(common, place, left, right)
    ]

    def fill(begin: int, end: int) -> None:
        products = np.empty((end - begin, len(right_own)))
        for block, rows in parts:
            products[:] = 0.0
            rows.add(begin, end, products)
            _add_divided(
                products, left_own[begin:end, block].copy(), right_own[:, block].copy(),
                out[begin:end],
            )  # fmt: skip

    for_tiles(fill, len(out), n_tiles=-(-len(out) // _TILE_ROWS), **tiling)
    return out


def compare_blocks_self(
    counts: sparse.csr_matrix, place: Array, own: Floats, **tiling: Any
) -> Floats:
    """The exactly symmetric matrix of all rows of ``counts`` against each other."""
    n = counts.shape[0]
    shared = frequencies(counts.indices, len(place)) > 1
    parts = [(block, index_later(part)) for block, part in _parts(shared, place, counts)]
    release_free(n, n)
    out = np.zeros((n, n))
    mirror = Mirror(out)

    def fill(begin: int, end: int) -> None:
        for block, index in parts:
            products = np.empty((end - begin, n), index.kept.dtype)
            index.add(begin, products, "dot")
            _add_divided(
                products[:, begin:], own[begin:end, block].copy(), own[begin:, block].copy(),
                out[begin:end, begin:],
            )  # fmt: skip
        mirror.add(begin, end)

    height = MIRROR_ROWS if n > 16 * MIRROR_ROWS else _TILE_ROWS
    for_tiles(fill, n, n_tiles=-(-n // height), **tiling)
    np.fill_diagonal(out, (own > 0).sum(axis=1))
    return out


def _parts(kept: Bools, place: Array, *matrices: sparse.csr_matrix) -> list[tuple[Any, ...]]:
    """Each block with a kept column, and its part of each matrix, with its kept columns only."""
    columns = np.flatnonzero(kept)
    columns = columns[np.argsort(place[columns], kind="stable")]
    blocks, starts = np.unique(place[columns], return_index=True)
    widths = np.diff(starts, append=len(columns))
    # The number of a column among those of its block, and of its block among those that are left.
    number = np.full(len(kept), -1, dtype=np.int32)
    number[columns] = np.arange(len(columns)) - np.repeat(starts, widths)
    which = np.zeros(len(kept), dtype=np.int32)
    which[columns] = np.repeat(np.arange(len(blocks)), widths)
    split = [_split(matrix, number, which, widths) for matrix in matrices]
    return [(int(block), *(found[b] for found in split)) for b, block in enumerate(blocks)]


def _split(
    counts: sparse.csr_matrix, number: Int32s, which: Int32s, widths: Ints
) -> list[sparse.csr_matrix]:
    """The parts of a matrix."""
    n_rows, n_parts = counts.shape[0], len(widths)
    indptr, indices = counts.indptr.astype(np.int64, copy=False), counts.indices
    ends = np.zeros((n_parts, n_rows + 1), dtype=np.int64)
    _count_parts(indptr, indices, number, which, ends)
    np.cumsum(ends, axis=1, out=ends)
    starts = np.concatenate([[0], np.cumsum(ends[:, -1])])
    columns = np.empty(starts[-1], dtype=np.int32)
    values = np.empty(starts[-1])
    _fill_parts(indptr, indices, counts.data, number, which, starts[:-1].copy(), columns, values)
    return [
        sparse.csr_matrix((values[a:b], columns[a:b], pointer), shape=(n_rows, width))
        for a, b, pointer, width in zip(starts[:-1], starts[1:], ends, widths, strict=True)
    ]


@njit(nogil=True, cache=True)
def _count_parts(
    indptr: Ints, indices: Int32s, number: Int32s, which: Int32s, counts: Ints
) -> None:
    for row in range(len(indptr) - 1):
        for p in range(indptr[row], indptr[row + 1]):
            if number[indices[p]] >= 0:
                counts[which[indices[p]], row + 1] += 1


@njit(nogil=True, cache=True)
def _fill_parts(
    indptr: Ints, indices: Int32s, data: Floats, number: Int32s, which: Int32s, cursor: Ints,
    columns: Int32s, values: Floats,
) -> None:  # fmt: skip
    for p in range(indptr[len(indptr) - 1]):
        f = indices[p]
        if number[f] >= 0:
            part = which[f]
            columns[cursor[part]], values[cursor[part]] = number[f], data[p]
            cursor[part] += 1


@njit(nogil=True, cache=True)
def _add_divided(products: Array, rows: Floats, columns: Floats, out: Floats) -> None:
    """Add products / sqrt(rows ⊗ columns) to ``out``, or 0 if a value is 0.

    The root of a product of integers is taken, so that a row with itself gives exactly 1.
    """
    for i in range(len(rows)):
        own, row, total = rows[i], products[i], out[i]
        if own > 0.0:
            for j in range(len(columns)):
                total[j] += row[j] / np.sqrt(own * columns[j]) if row[j] > 0.0 else 0.0
