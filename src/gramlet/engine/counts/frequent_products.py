"""Dot products of counts with thousands of frequent features.

`comparison` stores only a few frequent features as dense columns. Here all of them are multiplied
by BLAS, one block of columns at a time, so that only one block is dense; `comparison` handles the
other features.
"""

from __future__ import annotations

import numpy as np
from joblib import effective_n_jobs
from scipy import sparse

from gramlet.common.arrays import Floats
from gramlet.engine.core.tiles import Tiling, for_tiles, mirror
from gramlet.engine.counts.comparison import compare
from gramlet.engine.counts.self_comparison import compare_self

__all__ = ["products", "products_self"]

# A feature of more than this share of the rows is cheaper in BLAS.
_SHARE = 0.15
# The number of columns that are dense at a time.
_BLOCK = 256
# The number of rows that are multiplied at a time; their products stay in the cache of one core.
_STRIP = 64


def products(left: sparse.csr_matrix, right: sparse.csr_matrix, tiling: Tiling) -> Floats:
    """Every row of ``left`` against every row of ``right``.

    >>> counts = sparse.csr_matrix([[1.0, 2.0], [0.0, 3.0]])
    >>> products(counts, counts, Tiling()).tolist()
    [[5.0, 6.0], [6.0, 9.0]]
    """
    frequency = np.bincount(right.indices, minlength=right.shape[1])
    frequent = np.flatnonzero(frequency > _SHARE * right.shape[0])
    rare = np.flatnonzero((frequency > 0) & (frequency <= _SHARE * right.shape[0]))
    out = compare(left[:, rare], right[:, rare], "dot", tiling=tiling)
    _add_frequent(out, left[:, frequent].tocsc(), right[:, frequent].tocsc(), False, tiling)
    return out


def products_self(counts: sparse.csr_matrix, tiling: Tiling) -> Floats:
    """The exactly symmetric matrix of all rows of ``counts`` against each other.

    >>> products_self(sparse.csr_matrix([[1.0, 2.0], [0.0, 3.0]]), Tiling()).tolist()
    [[5.0, 6.0], [6.0, 9.0]]
    """
    frequency = np.bincount(counts.indices, minlength=counts.shape[1])
    dense = frequency > max(1.0, _SHARE * counts.shape[0])
    out = compare_self(counts[:, np.flatnonzero(~dense)], "dot", tiling=tiling)
    chosen = counts[:, np.flatnonzero(dense)].tocsc()
    _add_frequent(out, chosen, chosen, True, tiling)
    mirror(out)
    return out


def _add_frequent(
    out: Floats, left: sparse.csc_matrix, right: sparse.csc_matrix, symmetric: bool, tiling: Tiling
) -> None:
    """Add the dot products of all columns, block by block; if symmetric, from the diagonal on."""
    n_rows, n_columns = out.shape
    costs = np.arange(n_columns, 0, -1, dtype=np.float64) if symmetric else None
    spare = [np.empty(_STRIP * n_columns) for _ in range(effective_n_jobs(tiling.n_jobs))]
    for at in range(0, left.shape[1], _BLOCK):
        ours = left[:, at : at + _BLOCK].toarray()
        theirs = ours.T if symmetric else right[:, at : at + _BLOCK].toarray().T

        def add(begin: int, end: int, ours: Floats = ours, theirs: Floats = theirs) -> None:
            memory = spare.pop()
            for row in range(begin, end, _STRIP):
                last, first = min(row + _STRIP, end), row if symmetric else 0
                shape = last - row, n_columns - first
                products = memory[: shape[0] * shape[1]].reshape(shape)
                out[row:last, first:] += np.matmul(ours[row:last], theirs[:, first:], out=products)
            spare.append(memory)

        for_tiles(add, n_rows, costs=costs, n_tiles=64, tiling=Tiling(tiling.n_jobs))
