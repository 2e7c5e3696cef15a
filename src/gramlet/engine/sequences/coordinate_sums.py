"""Path sums over the coordinates of two vectors: all-subsets and ANOVA Gram matrices.

Dense rows are compared with a block of columns at a time, so that the recursion of a whole block
stays in the first-level cache and in vector registers; sparse rows are compared pair by pair over
the stored entries. Both take the same steps in the same order, so the results are bit-identical.
`gramlet.paths` checks the input, `gramlet.engine.core.tiles` runs the threads.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from gramlet.common.arrays import Floats, Ints
from gramlet.engine.core.compiled import njit
from gramlet.engine.core.tiles import Tiling, for_tiles, mirror

# Doubles that the recursion of one block of columns may use: half of a 32 KiB first-level cache.
_CACHE_DOUBLES = 2048


def anova_gram(
    X: Any, Y: Any | None, degree: int, first_degree: int, n_jobs: int | None = None
) -> Floats:
    """ANOVA Gram matrices of the degrees ``first_degree`` to ``degree``, stacked.

    X and Y are both float64 arrays or both CSR matrices; Y=None means Y=X.
    """
    n_columns = X.shape[1]
    n_stacked = degree - first_degree + 1
    out = np.zeros((n_stacked, X.shape[0], (X if Y is None else Y).shape[0]))
    reach = min(degree, n_columns)  # no subset is larger than the set
    if reach >= first_degree:
        _fill(_anova_rows, _anova_sparse_rows, X, Y, (reach, first_degree), out, n_jobs)
    return out


def all_subsets_gram(X: Any, Y: Any | None, n_jobs: int | None = None) -> Floats:
    """All-subsets Gram matrix of two float64 arrays or two CSR matrices; Y=None means Y=X."""
    out = np.empty((1, X.shape[0], (X if Y is None else Y).shape[0]))
    _fill(_all_subsets_rows, _all_subsets_sparse_rows, X, Y, (), out, n_jobs)
    return out[0]


def _fill(
    dense_rows: Callable[..., None],
    sparse_rows: Callable[..., None],
    X: Any,
    Y: Any | None,
    options: tuple[int, ...],
    out: Floats,
    n_jobs: int | None,
) -> None:
    """Fill ``out`` in tiles of rows; only the upper triangle is computed when Y is None."""
    symmetric = Y is None
    other = X if Y is None else Y
    if sparse.issparse(X):
        arguments = (*_csr_parts(X), *_csr_parts(other), X.shape[1], *options, symmetric, out)
        rows = sparse_rows
    else:
        arguments = (X, np.ascontiguousarray(other.T), *options, symmetric, out)
        rows = dense_rows
    n_rows = X.shape[0]
    if out.shape[1:] == (1, 1):  # for one pair, setting up tiles would take longer
        rows(0, 1, *arguments)
        return
    lengths = np.arange(n_rows, 0, -1, dtype=np.float64) if symmetric else None
    for_tiles(
        lambda begin, end: rows(begin, end, *arguments),
        n_rows,
        costs=lengths,
        tiling=Tiling(n_jobs),
    )
    if symmetric:
        for layer in out:
            mirror(layer)


def _csr_parts(matrix: Any) -> tuple[Ints, Ints, Floats]:
    return (
        matrix.indptr.astype(np.int64, copy=False),
        matrix.indices.astype(np.int64, copy=False),
        matrix.data,
    )


@njit(nogil=True, cache=True)
def _anova_rows(
    row_begin: int,
    row_end: int,
    X: Floats,
    Y_columns: Floats,
    degree: int,
    first_degree: int,
    symmetric: bool,
    out: Floats,
) -> None:
    """Rows ``row_begin:row_end`` of the stack; in the symmetric case only blocks with j ≥ i.

    ``Y_columns`` is the transpose of Y.
    """
    n_others = Y_columns.shape[1]
    # Blocks of columns whose sums fit into the cache.
    width = max(32, min(256, _CACHE_DOUBLES // (degree + 2)))
    sums = np.empty((degree + 1, width))
    products = np.empty(width)
    start = row_begin if symmetric else 0
    for block in range(start, n_others, width):
        size = min(width, n_others - block)
        last = min(row_end, block + size) if symmetric else row_end
        # Every row against the block; the wanted degrees are copied out.
        for i in range(row_begin, last):
            _anova_block(X[i], Y_columns, block, size, degree, sums, products)
            for s in range(first_degree, degree + 1):
                out[s - first_degree, i, block : block + size] = sums[s, :size]


@njit(nogil=True, cache=True)
def _anova_block(
    x: Floats,
    Y_columns: Floats,
    block: int,
    size: int,
    degree: int,
    sums: Floats,
    products: Floats,
) -> None:
    """T_s of one row against a block of columns, for s = 0..degree, into ``sums``."""
    sums[0, :] = 1.0
    sums[1:, :] = 0.0
    for r in range(x.shape[0]):
        y = Y_columns[r]
        for b in range(size):
            products[b] = x[r] * y[block + b]
        # From the highest degree down, so that T_{s-1} is still that of the previous column.
        for s in range(min(degree, r + 1), 0, -1):
            here = sums[s]
            below = sums[s - 1]
            for b in range(size):
                here[b] += products[b] * below[b]


@njit(nogil=True, cache=True)
def _all_subsets_rows(
    row_begin: int,
    row_end: int,
    X: Floats,
    Y_columns: Floats,
    symmetric: bool,
    out: Floats,
) -> None:
    """Rows ``row_begin:row_end`` of the matrix, as in `_anova_rows`."""
    n_others = Y_columns.shape[1]
    width = 512
    start = row_begin if symmetric else 0
    for block in range(start, n_others, width):
        size = min(width, n_others - block)
        last = min(row_end, block + size) if symmetric else row_end
        for i in range(row_begin, last):
            # The product over all coordinates, for the whole block at once.
            product = out[0, i, block : block + size]
            product[:] = 1.0
            for r in range(X.shape[1]):
                x = X[i, r]
                y = Y_columns[r]
                for b in range(size):
                    product[b] *= 1.0 + x * y[block + b]


@njit(nogil=True, cache=True)
def _anova_sparse_rows(
    row_begin: int,
    row_end: int,
    x_starts: Ints,
    x_columns: Ints,
    x_values: Floats,
    y_starts: Ints,
    y_columns: Ints,
    y_values: Floats,
    n_columns: int,
    degree: int,
    first_degree: int,
    symmetric: bool,
    out: Floats,
) -> None:
    """Rows ``row_begin:row_end`` of the stack, from the stored entries of CSR matrices."""
    x = np.zeros(n_columns)
    sums = np.empty(degree + 1)
    for i in range(row_begin, row_end):
        # Row i as a dense vector.
        stored = slice(x_starts[i], x_starts[i + 1])
        x[x_columns[stored]] = x_values[stored]
        for j in range(i if symmetric else 0, y_starts.shape[0] - 1):
            # The recursion over the stored entries of row j; products of 0 change nothing.
            sums[0] = 1.0
            sums[1:] = 0.0
            for k in range(y_starts[j], y_starts[j + 1]):
                product = x[y_columns[k]] * y_values[k]
                if product != 0.0:
                    for s in range(degree, 0, -1):
                        sums[s] += product * sums[s - 1]
            for s in range(first_degree, degree + 1):
                out[s - first_degree, i, j] = sums[s]
        x[x_columns[stored]] = 0.0


@njit(nogil=True, cache=True)
def _all_subsets_sparse_rows(
    row_begin: int,
    row_end: int,
    x_starts: Ints,
    x_columns: Ints,
    x_values: Floats,
    y_starts: Ints,
    y_columns: Ints,
    y_values: Floats,
    n_columns: int,
    symmetric: bool,
    out: Floats,
) -> None:
    """Rows ``row_begin:row_end`` of the matrix, from the stored entries of CSR matrices."""
    x = np.zeros(n_columns)
    for i in range(row_begin, row_end):
        # Row i as a dense vector, then products over the stored entries of every row j.
        stored = slice(x_starts[i], x_starts[i + 1])
        x[x_columns[stored]] = x_values[stored]
        for j in range(i if symmetric else 0, y_starts.shape[0] - 1):
            product = 1.0
            for k in range(y_starts[j], y_starts[j + 1]):
                product *= 1.0 + x[y_columns[k]] * y_values[k]
            out[0, i, j] = product
        x[x_columns[stored]] = 0.0
