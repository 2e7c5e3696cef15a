"""The exact nearest rows of a count matrix by normalised dot products or sums of minima.

Rare features are walked through their inverted index. Frequent features are dense columns; the few
with the largest counts in the query are added for all rows, and what the others can add to a row is
bounded by the remaining counts of both. Rows whose bound is below the k-th best value so far are
skipped; only the others are computed in full.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from gramlet.common.arrays import Array, Floats, Ints, UInt32s
from gramlet.engine.core.compiled import njit
from gramlet.engine.core.ragged import copy_into
from gramlet.engine.core.tiles import QUIET, Tiling, for_tiles
from gramlet.engine.counts.comparison import CountIndex, Measure, frequent_features

# A feature of more than this share of the rows is a dense column; the largest number of these.
_DENSE_SHARE, _MOST_DENSE = 0.02, 96
# How many of a query's dense features are added for all rows.
_LEADING = 10
# Rows are processed in ranges whose totals fit into the cache.
_RANGE = 4096
# Bounds are rounded; rows this close to the k-th best are computed in full.
_MARGIN = 1e-9


@dataclass(frozen=True)
class NearestIndex:
    """The rows among which neighbours are searched.

    Attributes
    ----------
    starts, owners, values :
        The inverted index of rare features: the rows that have one, and their counts.
    dense : array, shape (frequent features, rows)
        The counts of frequent features; in 8 bits if possible, as all are read for every query.
    place : array of int64
        For each feature, its line in ``dense``, or -1.
    left : array
        Per row, the sum of its frequent counts (of their squares for dot products).
    scale : array
        1/sqrt(k(y, y)); 0 for rows with k(y, y) = 0, whose squared distance is 2.
    """

    measure: Measure
    starts: Ints
    owners: UInt32s
    values: Floats
    dense: Array
    place: Ints
    left: Floats
    scale: Floats

    @classmethod
    def build(cls, counts: sparse.csr_matrix, measure: Measure, norms: Floats) -> NearestIndex:
        """Index the rows of ``counts``; ``norms`` are their self-similarities."""
        n_rows, n_features = counts.shape
        frequency = np.bincount(counts.indices, minlength=n_features)
        frequent = frequent_features(frequency, _DENSE_SHARE * n_rows, _MOST_DENSE)
        place = np.full(n_features, -1, dtype=np.int64)
        place[frequent] = np.arange(len(frequent))
        split = CountIndex.split(counts, frequency, place, len(frequent))
        dense = split.dense
        left = np.einsum("fr,fr->r", dense, dense) if measure == "dot" else dense.sum(axis=0)
        if dense.max(initial=0.0) <= 255 and (dense == np.floor(dense)).all():
            dense = dense.astype(np.uint8)
        ordinary = norms > 0
        scale = np.where(ordinary, 1.0 / np.sqrt(np.where(ordinary, norms, 1.0)), 0.0)
        return cls(measure, split.indptr, split.rows, split.values, dense, place, left, scale)


def nearest_rows(
    queries: sparse.csr_matrix,
    norms: Floats,
    index: NearestIndex,
    n_neighbors: int,
    own: Ints,
    tiling: Tiling | None = None,
) -> tuple[Floats, Ints]:
    """Squared distances and positions of the nearest rows of every query.

    Parameters
    ----------
    queries : csr_matrix
        Counts of the features of the index.
    norms : array
        Self-similarities of the queries, all above 0.
    own : array of int64
        Per query, the position of the row that is excluded from its neighbours, or -1.

    Returns
    -------
    squares, positions : arrays of shape (queries, n_neighbors)
        Ascending by 2 − 2s rounded to 12 decimals, then by position.
    """
    n = queries.shape[0]
    squares = np.empty((n, n_neighbors))
    positions = np.empty((n, n_neighbors), dtype=np.int64)
    indptr = queries.indptr.astype(np.int64, copy=False)
    columns = queries.indices.astype(np.int64, copy=False)
    values = queries.data.astype(np.float64, copy=False)
    scales = 1.0 / np.sqrt(norms)

    def fill(begin: int, end: int) -> None:
        _nearest(
            begin,
            end,
            indptr,
            columns,
            values,
            scales,
            own,
            index.measure == "dot",
            index.starts,
            index.owners,
            index.values,
            index.dense,
            index.place,
            index.left,
            index.scale,
            squares,
            positions,
        )

    for_tiles(fill, n, tiling=tiling or QUIET)
    return squares, positions


@njit(nogil=True, cache=True)
def _insert(keys: Floats, squares: Floats, places: Ints, key: float, square: float, j: int) -> None:
    """Insert an entry into a sorted list, after entries of equal key; the last one is dropped."""
    p = len(keys) - 1
    while p > 0 and keys[p - 1] > key:
        keys[p] = keys[p - 1]
        squares[p] = squares[p - 1]
        places[p] = places[p - 1]
        p -= 1
    keys[p], squares[p], places[p] = key, square, j


@njit(nogil=True, cache=True)
def _add_leading(dot: bool, x: float, line: Array, total: Floats, rest: Floats) -> None:
    """Add one dense feature for all rows, and subtract it from their remaining counts."""
    if dot:
        for j in range(len(total)):
            y = line[j]
            total[j] += x * y
            rest[j] -= y * y
    else:
        for j in range(len(total)):
            y = line[j]
            total[j] += min(x, y)
            rest[j] -= y


@njit(nogil=True, cache=True)
def _set_bounds(
    dot: bool,
    x_rest: float,
    total: Floats,
    rest: Floats,
    left: Floats,
    scale: Floats,
    bound: Floats,
) -> None:
    """Upper bounds on the values of rows, given the remaining counts of the query and the rows."""
    if dot:
        # Differences of squares are rounded; a margin keeps the bound valid.
        for j in range(len(bound)):
            y_rest = max(rest[j], 0.0) + 1e-14 * left[j]
            bound[j] = (total[j] + np.sqrt(x_rest * y_rest)) * scale[j]
    else:
        for j in range(len(bound)):
            bound[j] = (total[j] + min(x_rest, rest[j])) * scale[j]


@njit(nogil=True, cache=True)
def _completed(
    dot: bool, j: int, total: Floats, xs: Floats, lines: Ints, begin: int, dense: Array
) -> float:
    """The value of row j, with the dense features that were not added for all rows."""
    value = total[j]
    for p in range(begin, len(lines)):
        y = dense[lines[p], j]
        value += xs[p] * y if dot else min(xs[p], y)
    return value


@njit(nogil=True, cache=True)
def _nearest(
    begin: int,
    end: int,
    indptr: Ints,
    columns: Ints,
    values: Floats,
    scales: Floats,
    own: Ints,
    dot: bool,
    starts: Ints,
    owners: UInt32s,
    kept: Floats,
    dense: Array,
    place: Ints,
    left: Floats,
    scale: Floats,
    squares: Floats,
    positions: Ints,
) -> None:
    """The nearest rows of queries ``begin:end``; see `nearest_rows`."""
    n, k = len(scale), squares.shape[1]
    total, rest, bound = np.empty(n), np.empty(n), np.empty(n)
    keys, seeds = np.empty(k), np.empty(k, dtype=np.int64)
    for i in range(begin, end):
        total[:] = 0.0
        copy_into(left, rest)
        # Rare features by the inverted index; dense ones are sorted by decreasing count.
        n_dense = 0
        for p in range(indptr[i], indptr[i + 1]):
            n_dense += place[columns[p]] >= 0
        xs, lines = np.empty(n_dense), np.empty(n_dense, dtype=np.int64)
        at = 0
        for p in range(indptr[i], indptr[i + 1]):
            f, x = columns[p], values[p]
            if place[f] >= 0:
                q = at
                while q > 0 and xs[q - 1] < x:
                    xs[q], lines[q] = xs[q - 1], lines[q - 1]
                    q -= 1
                xs[q], lines[q] = x, place[f]
                at += 1
            elif dot:
                for r in range(starts[f], starts[f + 1]):
                    total[owners[r]] += x * kept[r]
            else:
                for r in range(starts[f], starts[f + 1]):
                    total[owners[r]] += min(x, kept[r])
        # The leading dense features for all rows, and bounds on the others.
        leading = min(_LEADING, n_dense)
        x_rest = 0.0
        for p in range(leading, n_dense):
            x_rest += xs[p] * xs[p] if dot else xs[p]
        for a in range(0, n, _RANGE):
            b = min(n, a + _RANGE)
            for p in range(leading):
                _add_leading(dot, xs[p], dense[lines[p], a:b], total[a:b], rest[a:b])
            _set_bounds(dot, x_rest, total[a:b], rest[a:b], left[a:b], scale[a:b], bound[a:b])
        # The rows of the k largest lower bounds; the smallest of their values is the threshold.
        keys[:] = np.inf
        squares[i] = 0.0
        seeds[:] = -1
        for j in range(n):
            low = -total[j] * scale[j]
            if low < keys[k - 1] and scale[j] > 0 and j != own[i]:
                _insert(keys, squares[i], seeds, low, 0.0, j)
        threshold = np.inf
        for p in range(k):
            if seeds[p] < 0:
                threshold = -np.inf
                break
            value = _completed(dot, seeds[p], total, xs, lines, leading, dense)
            threshold = min(threshold, value * scale[seeds[p]])
        threshold -= _MARGIN / scales[i]
        # All rows whose bound reaches it, in order of position.
        keys[:] = np.inf
        for j in range(n):
            if scale[j] > 0:
                if bound[j] < threshold or j == own[i]:
                    continue
                value = _completed(dot, j, total, xs, lines, leading, dense)
                square = 2.0 - 2.0 * (value * scale[j] * scales[i])
                square = 0.0 if square < 2e-12 else square
            elif j == own[i]:
                continue
            else:
                square = 2.0
            key = np.rint(square * 1e12)
            if key < keys[k - 1]:
                _insert(keys, squares[i], positions[i], key, square, j)
                if keys[k - 1] < np.inf:
                    known = (1.0 - squares[i, k - 1] / 2.0 - _MARGIN) / scales[i]
                    threshold = max(threshold, known)
