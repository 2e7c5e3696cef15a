"""Averages over neighbours: one step of a random walk applied to values at the nodes."""

from __future__ import annotations

import numpy as np

from gramlet.common.arrays import Floats, Ints, Nodes
from gramlet.engine.core.compiled import njit, read_only
from gramlet.engine.core.ragged import copy_into


def neighbour_means(
    indptr: Ints, indices: Nodes, values: Floats, weights: Floats | None = None
) -> Floats:
    """Each node's (weighted) mean of its neighbours' rows; without neighbours, its own row.

    Parameters
    ----------
    indptr, indices : arrays of int64
        CSR adjacency.
    values : array, shape (nodes, d)
    weights : array, optional
        One weight per entry of ``indices``; the weights of a node must not add up to 0.
    """
    given = np.zeros(0) if weights is None else np.ascontiguousarray(weights, dtype=np.float64)
    numbers = np.ascontiguousarray(values, dtype=np.float64)
    return _means(read_only(indptr), read_only(indices), read_only(numbers), read_only(given))


@njit(nogil=True, cache=True)
def _means(indptr: Ints, indices: Nodes, values: Floats, weights: Floats) -> Floats:
    n, d = values.shape
    out = np.empty((n, d))
    for v in range(n):
        begin, end = indptr[v], indptr[v + 1]
        row = out[v]
        if begin == end:
            copy_into(values[v], row)
            continue
        row[:] = 0.0
        total = 0.0
        for p in range(begin, end):
            weight = weights[p] if len(weights) else 1.0
            total += weight
            other = values[indices[p]]
            for c in range(d):
                row[c] += weight * other[c]
        for c in range(d):
            row[c] /= total
    return out
