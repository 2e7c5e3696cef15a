"""Sums of products and of minima, for rows of sparse counts against indexed rows.

An entry of a row is a value and the list of the indexed rows that have the same feature: the
positions ``first:last`` of ``owners`` and ``kept``. If ``first > last``, the feature is dense and
its line is ``first - 1``. One row of the result is added up at a time and stays in the cache.

Positions and owners are unsigned: compiled code tests every signed index for being negative. For
WL on NCI1 the products took 17 ms with signed and 10 ms with unsigned ones.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gramlet.common.arrays import Array, Floats, Ints, UInt32s
from gramlet.engine.core.compiled import njit

__all__ = ["add_minima", "add_products", "position_type"]


def position_type(n_positions: int) -> Any:
    """The type of ``first`` and ``last`` for this many positions."""
    return np.uint32 if n_positions < 1 << 32 else np.uint64


@njit(nogil=True, cache=True)
def add_products(
    begin: int,
    offsets: Ints,
    first: Array,
    last: Array,
    value: Floats,
    owners: UInt32s,
    kept: Floats,
    out: Floats,
) -> None:
    """Add the products of rare features to all rows of ``out``; the first of them is ``begin``."""
    for k in range(len(out)):
        row = out[k]
        for e in range(offsets[begin + k], offsets[begin + k + 1]):
            times = value[e]
            for r in range(first[e], last[e]):
                row[owners[r]] += times * kept[r]


@njit(nogil=True, cache=True)
def add_minima(
    begin: int,
    offsets: Ints,
    first: Array,
    last: Array,
    value: Floats,
    owners: UInt32s,
    kept: Floats,
    dense: Floats,
    symmetric: bool,
    out: Floats,
) -> None:
    """Add the minima of all features to rows from ``begin`` on; if symmetric, after the diagonal.

    The rows of ``out`` have all columns.
    """
    for k in range(len(out)):
        row = out[k]
        start = begin + k + 1 if symmetric else 0
        right = row[start:]
        for e in range(offsets[begin + k], offsets[begin + k + 1]):
            own = value[e]
            # A frequent feature: all columns.
            if first[e] > last[e]:
                line = dense[first[e] - 1, start:]
                for j in range(len(right)):
                    other = line[j]
                    right[j] += own if own < other else other
            # A rare feature: the columns that have it.
            else:
                for r in range(first[e], last[e]):
                    other = kept[r]
                    row[owners[r]] += own if own < other else other
