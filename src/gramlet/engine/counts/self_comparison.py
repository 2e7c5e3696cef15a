"""The rows of one count matrix against each other: an exactly symmetric matrix.

A tile of rows is computed from the diagonal on and then mirrored: each entry of a row is compared
with the later rows that have the same feature.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from gramlet.common.arrays import Floats
from gramlet.engine.core.memory import release_free
from gramlet.engine.core.tiles import MIRROR_ROWS, QUIET, Mirror, Tiling, for_tiles
from gramlet.engine.counts.comparison import CountIndex, Measure, add_rows, norms, row_arrays


def compare_self(
    counts: sparse.csr_matrix,
    measure: Measure,
    *,
    tiling: Tiling = QUIET,
) -> Floats:
    """The exactly symmetric matrix of all rows of ``counts`` against each other.

    >>> compare_self(sparse.csr_matrix([[1.0, 2.0], [0.0, 3.0]]), "min").tolist()
    [[3.0, 2.0], [2.0, 3.0]]
    """
    n = counts.shape[0]
    index, rows = CountIndex.build(counts, measure, drop_single=True), row_arrays(counts)
    release_free(n, n)
    out = np.empty((n, n))
    mirror = Mirror(out)

    def fill(begin: int, end: int) -> None:
        add_rows(begin, rows, index.after, index, measure, out[begin:end], symmetric=True)
        mirror.add(begin, end)

    for_tiles(fill, n, n_tiles=-(-n // MIRROR_ROWS), tiling=tiling)
    np.fill_diagonal(out, norms(counts, measure))
    return out
