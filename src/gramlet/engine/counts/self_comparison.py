"""The rows of one count matrix against each other: an exactly symmetric matrix.

Rows are computed from the diagonal on and then mirrored: each entry of a row is compared with the
later rows that have the same feature.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from gramlet.common.arrays import Floats
from gramlet.engine.core.tiles import QUIET, Tiling, for_tiles, mirror
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
    out = np.empty((n, n))

    def fill(begin: int, end: int) -> None:
        add_rows(begin, rows, index.after, index, measure, out[begin:end], symmetric=True)

    costs = np.arange(n, 0, -1, dtype=np.float64)
    for_tiles(fill, n, costs=costs, n_tiles=min(128, 1 + n // 64), tiling=tiling)
    mirror(out)
    np.fill_diagonal(out, norms(counts, measure))
    return out
