"""Several count matrices of the same graphs, compared one after the other and combined.

Each entry of the result is a sum over the matrices of a function of their dot products or minima:
`quotients`, for example. A tile is completed for all matrices in turn, in memory that stays in the
cache, so that no second matrix as large as the result is needed and all of it runs on threads.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from joblib import effective_n_jobs
from scipy import sparse

from gramlet.common.arrays import Array, Floats
from gramlet.engine.core.compiled import njit
from gramlet.engine.core.memory import release_free
from gramlet.engine.core.tiles import MIRROR_ROWS, QUIET, Mirror, Tiling, for_tiles
from gramlet.engine.counts.comparison import IndexedRows, Measure
from gramlet.engine.counts.self_comparison import index_later

__all__ = ["Combine", "compare_several", "compare_several_self", "jaccard", "quotients", "weighted"]

# Called with the number of a matrix, some rows, the first column, the products or minima of these
# rows, and their part of the result, to which it adds from the first column on.
Combine = Callable[[int, slice, int, Array, Floats], None]

_ROWS = 64  # few enough that these rows against some thousand others stay in the cache


def compare_several(
    pairs: Sequence[tuple[sparse.csr_matrix, sparse.csr_matrix]],
    shape: tuple[int, int],
    measure: Measure,
    combine: Combine,
    tiling: Tiling = QUIET,
) -> Floats:
    """The rows of the first matrix of each pair against those of the second."""
    out = np.zeros(shape)
    parts = [IndexedRows(a, b, measure) for a, b in pairs]

    def fill(begin: int, end: int) -> None:
        memory = np.empty((end - begin) * shape[1])
        for number, part in enumerate(parts):
            products = memory.view(part.number)[: memory.size].reshape(end - begin, shape[1])
            part.set(begin, products)
            combine(number, slice(begin, end), 0, products, out[begin:end])

    for_tiles(fill, shape[0], n_tiles=-(-shape[0] // _ROWS), tiling=tiling)
    return out


def compare_several_self(
    matrices: Sequence[sparse.csr_matrix],
    diagonal: Floats,
    measure: Measure,
    combine: Combine,
    tiling: Tiling = QUIET,
) -> Floats:
    """The rows of each matrix against each other: exactly symmetric, with this diagonal."""
    n = len(diagonal)
    parts = [index_later(matrix, measure) for matrix in matrices]
    release_free(n, n)
    out = np.empty((n, n))
    mirror = Mirror(out)
    spare = [np.empty(_ROWS * n) for _ in range(effective_n_jobs(tiling.n_jobs))]

    def fill(begin: int, end: int) -> None:
        memory = spare.pop()
        for at in range(begin, end, _ROWS):
            rows = slice(at, min(at + _ROWS, end))
            out[rows, at:] = 0.0
            for number, part in enumerate(parts):
                height = rows.stop - at
                products = memory.view(part.kept.dtype)[: height * n].reshape(height, n)
                part.add(at, products, measure)
                combine(number, rows, at, products, out[rows])
        spare.append(memory)
        mirror.add(begin, end)

    for_tiles(fill, n, n_tiles=-(-n // MIRROR_ROWS), tiling=tiling)
    np.fill_diagonal(out, diagonal)
    return out


def quotients(rows: Floats, columns: Floats) -> Combine:
    """Add s / sqrt(r c) for products s and the values r and c of both graphs, or 0 for s = 0.

    ``rows`` and ``columns`` contain these values, one line per matrix. The root of a product of
    integers is taken, so that a graph with itself gives exactly 1.
    """

    def combine(number: int, at: slice, first: int, products: Array, out: Floats) -> None:
        _add_quotients(products, rows[number, at], columns[number], first, out)

    return combine


def jaccard(rows: Floats, columns: Floats, n_matrices: int) -> Combine:
    """Add c / (n + n' − c) for minima c and the sizes of both graphs; the mean of all matrices.

    The sum is divided after the last matrix. Two empty graphs add 0.
    """

    def combine(number: int, at: slice, first: int, minima: Array, out: Floats) -> None:
        _add_jaccard(minima, rows[at], columns, first, out)
        if number == n_matrices - 1:
            out[:, first:] /= n_matrices

    return combine


def weighted(weights: Floats) -> Combine:
    """Add products times the weight of their matrix."""

    def combine(number: int, at: slice, first: int, products: Array, out: Floats) -> None:
        _add_weighted(products, weights[number], first, out)

    return combine


@njit(nogil=True, cache=True)
def _add_quotients(products: Array, rows: Floats, columns: Floats, first: int, out: Floats) -> None:
    for i in range(len(rows)):
        own, row, total = rows[i], products[i], out[i]
        for j in range(first, len(columns)):
            total[j] += row[j] / np.sqrt(own * columns[j]) if row[j] > 0.0 else 0.0


@njit(nogil=True, cache=True)
def _add_jaccard(minima: Array, rows: Floats, columns: Floats, first: int, out: Floats) -> None:
    for i in range(len(rows)):
        size, row, total = rows[i], minima[i], out[i]
        for j in range(first, len(columns)):
            common = np.float64(row[j])
            total[j] += common / max(size + columns[j] - common, 1.0)


@njit(nogil=True, cache=True)
def _add_weighted(products: Array, weight: float, first: int, out: Floats) -> None:
    for i in range(len(out)):
        row, total = products[i], out[i]
        for j in range(first, len(row)):
            total[j] += weight * row[j]
