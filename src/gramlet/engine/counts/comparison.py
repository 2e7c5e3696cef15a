"""Sparse counts, and two measures that compare them: dot products and sums of minima.

Both walk the inverted index of a feature and add to one row of the result, which stays in the
cache. Frequent features are stored as dense columns (BLAS for the dot product, plain loops for
minima); features of only one graph are skipped in the pair loop of a symmetric matrix.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy import sparse

from gramlet.common.arrays import Floats, Int32s, Ints
from gramlet.engine.core.compiled import inner, njit, read_only
from gramlet.engine.core.memory import release_free
from gramlet.engine.core.tiles import for_tiles, mirror, row_ranges

__all__ = ["CountIndex", "compare", "compare_self", "count_codes", "first_from", "norms"]

Measure = Literal["dot", "min"]

# A feature of more than this share of the graphs is cheaper as a dense column.
_DENSE_SHARE = {"dot": 0.15, "min": 0.25}
# Dense columns take at most this much memory, relative to a large square result.
_DENSE_PART = 0.05
# A result of this many bytes is large.
_LARGE = 1 << 26
# An index larger than this share of a large result is built in parts, and their largest number.
_INDEX_PART, _MOST_PARTS = 0.015, 8
# Bytes per entry of a copy, and per feature of an index.
_ENTRY_BYTES, _FEATURE_BYTES = 12, 40
# Up to this number of entries, leaving features out takes longer than it saves.
_FEW_ENTRIES = 1 << 14


def count_codes(offsets: Ints, codes: Ints, n_codes: int) -> sparse.csr_matrix:
    """Count codes group by group.

    Parameters
    ----------
    offsets : array of int64, shape (rows + 1,)
        Group i has the positions ``offsets[i]:offsets[i + 1]`` of every line of ``codes``.
    codes : array of int64, shape (n,) or (lines, n)
        Column numbers below ``n_codes``; negative codes are not counted.

    Returns
    -------
    csr_matrix of float64, shape (rows, n_codes), with sorted columns.

    Examples
    --------
    >>> count_codes(np.array([0, 2, 3]), np.array([1, 1, 0]), 2).toarray().tolist()
    [[0.0, 2.0], [1.0, 0.0]]
    """
    lines = np.atleast_2d(np.ascontiguousarray(codes, dtype=np.int64))
    rows = read_only(np.asarray(offsets, np.int64))
    # Arrays are allocated here: compiling that takes numba longer than compiling the loops.
    indptr = np.zeros(len(rows), dtype=np.int64)
    columns = np.empty(lines.size, dtype=np.int64)
    counts = np.empty(lines.size, dtype=np.float64)
    last_row = np.full(n_codes, -1, dtype=np.int64)
    _count_runs(rows, read_only(lines), last_row, np.empty_like(last_row), indptr, columns, counts)
    columns, counts = columns[: indptr[-1]].copy(), counts[: indptr[-1]].copy()
    matrix = sparse.csr_matrix((counts, columns, indptr), shape=(len(offsets) - 1, n_codes))
    matrix.sort_indices()
    return matrix


@njit(nogil=True, cache=True)
def _count_runs(
    offsets: Ints, lines: Ints, last_row: Ints, place: Ints, indptr: Ints, columns: Ints,
    counts: Floats,
) -> None:  # fmt: skip
    filled = 0
    for row in range(len(offsets) - 1):
        for line in range(lines.shape[0]):
            for p in range(offsets[row], offsets[row + 1]):
                code = lines[line, p]
                if code < 0:
                    continue
                if last_row[code] != row:
                    last_row[code] = row
                    place[code] = filled
                    columns[filled] = code
                    counts[filled] = 1.0
                    filled += 1
                else:
                    counts[place[code]] += 1.0
        indptr[row + 1] = filled


@dataclass(frozen=True)
class CountIndex:
    """The columns of a count matrix, prepared for comparisons with rows.

    Attributes
    ----------
    indptr, rows, values :
        The inverted index of rare features: the rows that have one, and their counts.
    dense : array, shape (frequent features, rows)
        The counts of frequent features.
    place : array of int64
        For each feature, its line in ``dense``, -1 if it is rare, or -2 if it is left out.
    """

    n_rows: int
    indptr: Ints
    rows: Int32s
    values: Floats
    dense: Floats
    place: Ints

    @classmethod
    def build(
        cls, counts: sparse.csr_matrix, measure: Measure, drop_single: bool = False
    ) -> CountIndex:
        """Index the columns of ``counts``; ``drop_single`` leaves out features of one graph."""
        return next(cls.parts(counts, measure, drop_single))

    @classmethod
    def parts(
        cls,
        counts: sparse.csr_matrix,
        measure: Measure,
        drop_single: bool,
        n_bytes: int | None = None,
    ) -> Iterator[CountIndex]:
        """Indices of consecutive ranges of columns, of about ``n_bytes`` each.

        Comparing with all of them in turn adds the same numbers in the same order as comparing
        with a single index.
        """
        n_rows, n_features = counts.shape
        frequency = _frequencies(counts.indices, n_features)
        place = np.full(n_features, -1, dtype=np.int64)
        if drop_single:
            place[frequency <= 1] = -2
        frequent = np.flatnonzero(frequency > max(1.0, _DENSE_SHARE[measure] * n_rows))
        most = _most_dense(n_rows, in_parts=n_bytes is not None and measure == "min")
        frequent = frequent[np.argsort(-frequency[frequent], kind="stable")][:most]
        frequent.sort()
        place[frequent] = np.arange(len(frequent))
        arrays = _arrays(counts)
        costs = np.where(place == -1, float(_ENTRY_BYTES) * frequency, 0.0)
        if measure == "min":
            costs[frequent] = 8.0 * n_rows
        n_parts = 1 if n_bytes is None else min(_MOST_PARTS, 1 + int(costs.sum() / n_bytes))
        for begin, end in row_ranges(n_features, costs, n_parts) or [(0, 0)]:
            here = np.full(n_features, -2, dtype=np.int64)
            here[begin:end] = place[begin:end]
            if measure == "min":
                lines = frequent[(frequent >= begin) & (frequent < end)]
            else:  # dot products start with all frequent features at once
                lines = frequent if begin == 0 else frequent[:0]
            here[here >= 0] = -2
            here[lines] = np.arange(len(lines))
            starts, rows, values, dense = split_columns(*arrays, here, frequency, len(lines))
            yield cls(n_rows, starts, rows, values, dense, here)
            del starts, rows, values, dense  # free them before the next ones are allocated


def _most_dense(n_rows: int, in_parts: bool) -> int:
    """How many features may be dense, so that they are small compared with a large result."""
    if 8 * n_rows**2 < _LARGE:
        return max(n_rows, 64)
    return max(64, int((_MOST_PARTS * _INDEX_PART if in_parts else _DENSE_PART) * n_rows))


def _frequencies(columns: Int32s, n_features: int) -> Ints:
    """How many entries each column has; numpy's own count would first copy all columns."""
    frequency = np.zeros(n_features, dtype=np.int64)
    _add_ones(columns, frequency)
    return frequency


@njit(nogil=True, cache=True)
def _add_ones(places: Int32s, out: Ints) -> None:
    for place in places:
        out[place] += 1


def split_columns(
    indptr: Ints, columns: Int32s, values: Floats, place: Ints, frequency: Ints, n_dense: int
) -> tuple[Ints, Int32s, Floats, Floats]:
    """The inverted index of rare features, and the lines of dense ones; see `CountIndex`."""
    starts = np.zeros(len(place) + 1, dtype=np.int64)
    np.cumsum(np.where(place == -1, frequency, 0), out=starts[1:])
    owners = np.empty(starts[-1], dtype=np.int32)
    kept = np.empty(starts[-1], dtype=np.float64)
    dense = np.zeros((n_dense, len(indptr) - 1))
    _split(indptr, columns, values, place, starts[:-1].copy(), owners, kept, dense)
    return starts, owners, kept, dense


@njit(nogil=True, cache=True)
def _split(
    indptr: Ints, columns: Int32s, values: Floats, place: Ints, cursor: Ints,
    owners: Int32s, kept: Floats, dense: Floats,
) -> None:  # fmt: skip
    for row in range(len(indptr) - 1):
        for p in range(indptr[row], indptr[row + 1]):
            f = columns[p]
            if place[f] >= 0:
                dense[place[f], row] = values[p]
            elif place[f] == -1:
                owners[cursor[f]] = row
                kept[cursor[f]] = values[p]
                cursor[f] += 1


def compare(
    counts: sparse.csr_matrix,
    index: CountIndex,
    measure: Measure,
    *,
    n_jobs: int | None = None,
    verbose: int | bool = False,
    label: str = "",
) -> Floats:
    """Every row of ``counts`` against every indexed row: dot products or sums of minima."""
    out = np.zeros((counts.shape[0], index.n_rows))
    _fill(out, counts, index, measure, False, n_jobs, verbose, label)
    return out


def compare_self(
    counts: sparse.csr_matrix,
    measure: Measure,
    *,
    n_jobs: int | None = None,
    verbose: int | bool = False,
    label: str = "",
) -> Floats:
    """The exactly symmetric matrix of all rows of ``counts`` against each other."""
    n = counts.shape[0]
    own = norms(counts, measure)
    shared = _shared(counts) if counts.nnz > _FEW_ENTRIES else counts
    release_free(n, n)
    out = np.zeros((n, n))
    n_bytes = int(_INDEX_PART * out.nbytes) if out.nbytes >= _LARGE else None
    for index in CountIndex.parts(shared, measure, True, n_bytes):
        _fill(out, shared, index, measure, True, n_jobs, verbose, label)
        del index  # free it before the next one is built
    mirror(out)
    np.fill_diagonal(out, own)
    return out


def norms(counts: sparse.csr_matrix, measure: Measure) -> Floats:
    """Each row compared with itself.

    >>> norms(sparse.csr_matrix([[1.0, 2.0], [0.0, 3.0]]), "dot")
    array([5., 9.])
    """
    values = counts.data * counts.data if measure == "dot" else counts.data
    ones = np.ones(counts.shape[1])
    # A product with ones sums the entries of a row in their order.
    return sparse.csr_matrix((values, counts.indices, counts.indptr), shape=counts.shape) @ ones


def _shared(counts: sparse.csr_matrix) -> sparse.csr_matrix:
    """The features that more than one graph has, renumbered: only these are shared by pairs.

    If most features belong to a single graph, as those of fine patterns do, this copy takes less
    memory than the entries of an index for all features. Otherwise the counts are returned
    unchanged.
    """
    frequency = _frequencies(counts.indices, counts.shape[1])
    kept = frequency > 1
    n_single = len(kept) - int(kept.sum())
    if _ENTRY_BYTES * (counts.nnz - n_single) >= _FEATURE_BYTES * n_single:
        return counts
    entries = kept[counts.indices]
    places = np.cumsum(kept) - 1
    before = np.concatenate([[0], np.cumsum(entries)])
    indptr = before[counts.indptr]
    return sparse.csr_matrix(
        (counts.data[entries], places[counts.indices[entries]], indptr),
        shape=(counts.shape[0], int(kept.sum())),
    )


def _arrays(counts: sparse.csr_matrix) -> tuple[Ints, Int32s, Floats]:
    """Offsets, columns and values of the rows, with the types that compiled code takes."""
    return (
        counts.indptr.astype(np.int64, copy=False),
        counts.indices.astype(np.int32, copy=False),
        counts.data.astype(np.float64, copy=False),
    )


def _fill(
    out: Floats,
    counts: sparse.csr_matrix,
    index: CountIndex,
    measure: Measure,
    symmetric: bool,
    n_jobs: int | None,
    verbose: int | bool,
    label: str,
) -> None:
    n_rows, n_columns = out.shape
    indptr, columns, values = _arrays(counts)

    def fill_rows(begin: int, end: int) -> None:
        first = begin if symmetric else 0
        if measure == "dot":
            if len(index.dense):
                if symmetric:  # the rows are the indexed ones
                    part = np.ascontiguousarray(index.dense[:, begin:end].T)
                else:
                    part = np.zeros((end - begin, len(index.dense)))
                    _write_dense(indptr, columns, values, index.place, begin, end, part)
                np.matmul(part, index.dense[:, first:], out=out[begin:end, first:])
            _add_products(
                begin, end, indptr, columns, values,
                index.indptr, index.rows, index.values, index.place, symmetric, out,
            )  # fmt: skip
        else:
            _add_minima(
                begin, end, indptr, columns, values, index.indptr, index.rows, index.values,
                index.dense, index.place, symmetric, out,
            )  # fmt: skip

    costs = np.arange(n_columns, 0, -1, dtype=np.float64) if symmetric else None
    # Calling a tile of a few short rows takes longer than computing it.
    n_tiles = min(64, 1 + n_rows // 8)
    for_tiles(
        fill_rows, n_rows, costs=costs, n_tiles=n_tiles, n_jobs=n_jobs, verbose=verbose, label=label
    )


@njit(nogil=True, cache=True)
def _write_dense(
    indptr: Ints, columns: Int32s, values: Floats, place: Ints, begin: int, end: int, part: Floats
) -> None:
    for i in range(begin, end):
        for p in range(indptr[i], indptr[i + 1]):
            line = place[columns[p]]
            if line >= 0:
                part[i - begin, line] = values[p]


@inner
def first_from(rows: Int32s, begin: int, end: int, i: int) -> int:
    """The first position in the sorted ``rows[begin:end]`` with an entry of at least i."""
    while begin < end:
        middle = (begin + end) // 2
        if rows[middle] < i:
            begin = middle + 1
        else:
            end = middle
    return begin


@njit(nogil=True, cache=True)
def _add_products(
    begin: int, end: int, indptr: Ints, columns: Int32s, values: Floats,
    starts: Ints, owners: Int32s, kept: Floats, place: Ints,
    symmetric: bool, out: Floats,
) -> None:  # fmt: skip
    for i in range(begin, end):
        row = out[i]
        for p in range(indptr[i], indptr[i + 1]):
            f, value = columns[p], values[p]
            if place[f] >= 0:
                continue
            q = starts[f]
            if symmetric:
                q = first_from(owners, q, starts[f + 1], i)
            for r in range(q, starts[f + 1]):
                row[owners[r]] += value * kept[r]


@njit(nogil=True, cache=True)
def _add_minima(
    begin: int, end: int, indptr: Ints, columns: Int32s, values: Floats,
    starts: Ints, owners: Int32s, kept: Floats, dense: Floats, place: Ints,
    symmetric: bool, out: Floats,
) -> None:  # fmt: skip
    """Add the minima of all features to rows ``begin:end``; if symmetric, from the diagonal on."""
    for i in range(begin, end):
        first = i if symmetric else 0
        row = out[i, first:]
        for p in range(indptr[i], indptr[i + 1]):
            f, value = columns[p], values[p]
            # A frequent feature: all columns.
            if place[f] >= 0:
                line = dense[place[f], first:]
                for j in range(len(row)):
                    other = line[j]
                    row[j] += value if value < other else other
            # A rare feature: the columns that have it.
            else:
                q = starts[f]
                if symmetric:
                    q = first_from(owners, q, starts[f + 1], i)
                for r in range(q, starts[f + 1]):
                    other = kept[r]
                    row[owners[r] - first] += value if value < other else other
