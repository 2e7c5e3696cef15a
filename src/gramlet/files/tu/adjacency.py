"""Converts arcs in the order of a file to the arrays of a batch; of repeats the first is kept.

Arcs without labels, weights or attributes are sorted by counting, in 32-bit integers where they
suffice; others are sorted by key, so that the row of each edge is known.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gramlet.common.arrays import Array, Ints

__all__ = ["first_of_parallel", "plain_csr"]


def plain_csr(n_nodes: int, tails: Array, heads: Array, directed: bool) -> tuple[Array, Array]:
    """``indptr`` and ``indices`` of simple graphs with these arcs, which have no data.

    >>> indptr, indices = plain_csr(3, np.array([2, 1, 2]), np.array([1, 2, 0]), False)
    >>> indptr.tolist(), indices.tolist()
    ([0, 1, 2, 4], [2, 2, 0, 1])
    """
    from scipy import sparse  # here: not needed for data sets with labelled edges

    there = np.ones(len(tails), dtype=bool)
    adjacency = sparse.coo_array((there, (tails, heads)), shape=(n_nodes, n_nodes)).tocsr()
    del there, tails, heads
    adjacency.sum_duplicates()
    if not directed:
        reverse = adjacency.T.tocsr()
        reverse.sort_indices()
        # Most files list both directions, so that nothing has to be added.
        if not _same_pattern(adjacency, reverse):
            adjacency = adjacency + reverse
            adjacency.sum_duplicates()
    return adjacency.indptr, adjacency.indices


def _same_pattern(one: Any, other: Any) -> bool:
    return np.array_equal(one.indptr, other.indptr) and np.array_equal(one.indices, other.indices)


def first_of_parallel(
    n_nodes: int, tails: Array, heads: Array, directed: bool, columns: list[Array]
) -> tuple[Ints, int]:
    """The rows to keep, one per edge in the order of the file, and how many others differ.

    ``columns`` are the values on the rows (labels' codes, weights, rows of attributes); a row that
    repeats an edge with the same values is merged and not counted.

    >>> tails, heads = np.array([0, 1, 0]), np.array([1, 0, 1])
    >>> kept, n_differ = first_of_parallel(2, tails, heads, False, [np.array([5, 5, 6])])
    >>> kept.tolist(), n_differ
    ([0], 1)
    """
    low, high = tails.astype(np.int64), heads.astype(np.int64)
    if not directed:
        low, high = np.minimum(low, high), np.maximum(low, high)
    key = low * n_nodes + high
    order = np.argsort(key, kind="stable")
    key = key[order]
    is_first = np.ones(len(key), dtype=bool)
    is_first[1:] = key[1:] != key[:-1]
    first = order[is_first]
    kept_instead = np.repeat(first, np.diff(np.flatnonzero(np.append(is_first, True))))
    differs = np.zeros(len(order), dtype=bool)
    for column in columns:
        unequal = column[order] != column[kept_instead]
        differs |= unequal if unequal.ndim == 1 else unequal.any(axis=1)
    return np.sort(first), int(np.count_nonzero(differs))
