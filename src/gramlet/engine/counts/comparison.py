"""Sparse counts, and two measures that compare them: dot products and sums of minima.

Frequent features are stored as dense columns (BLAS for the dot product, plain loops for minima),
rare ones as an inverted index; `row_sums` adds them up. Sums are in single precision if all of them
are exact there, which halves the time of BLAS and of memory. `self_comparison` compares the rows of
one matrix with each other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy import sparse

from gramlet.common.arrays import Array, Floats, Int32s, Ints
from gramlet.engine.core.compiled import njit, read_only
from gramlet.engine.core.tiles import QUIET, Tiling, for_tiles
from gramlet.engine.counts.row_sums import add_minima, add_products, position_type

__all__ = [
    "DENSE_PART",
    "LARGE",
    "CountIndex",
    "IndexedRows",
    "Measure",
    "compare",
    "count_codes",
    "frequencies",
    "frequent_features",
    "norms",
    "number_type",
    "row_arrays",
]

Measure = Literal["dot", "min"]

# A feature of more than this share of the graphs is cheaper as a dense column.
_DENSE_SHARE = {"dot": 0.15, "min": 0.25}
# Dense columns take at most this much memory, relative to a large square result.
DENSE_PART = 0.05
# A result of this many bytes is large.
LARGE = 1 << 26

# Whole numbers up to this one, and thus their sums, are exact in single precision.
_EXACT = 1 << 24
_FINEST = 2.0**-20  # the smallest unit of numbers that are tried
# Rows that are added up and then converted to double precision: they stay in the cache of one core.
_STRIP = 32


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
    offsets: Ints,
    lines: Ints,
    last_row: Ints,
    place: Ints,
    indptr: Ints,
    columns: Ints,
    counts: Floats,
) -> None:
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
        cls,
        counts: sparse.csr_matrix,
        measure: Measure,
        drop_single: bool = False,
        number: Any = np.float64,
    ) -> CountIndex:
        """Index the columns of ``counts``; ``drop_single`` leaves out features of one graph.

        ``number`` is the type of the values.
        """
        n_rows, n_features = counts.shape
        frequency = frequencies(counts.indices, n_features)
        place = np.full(n_features, -1, dtype=np.int64)
        if drop_single:
            place[frequency <= 1] = -2
        frequent = frequent_features(frequency, n_rows, measure)
        place[frequent] = np.arange(len(frequent))
        split = split_columns(*row_arrays(counts), place, frequency, len(frequent), number)
        return cls(n_rows, *split, place)


def frequent_features(
    frequency: Int32s, n_rows: int, measure: Measure, most_part: float = DENSE_PART
) -> Ints:
    """The features that are dense columns, in ascending order.

    Of a large square result, they take at most the part ``most_part``.
    """
    most = max(n_rows, 64)
    if 8 * n_rows**2 >= LARGE:
        most = max(64, int(most_part * n_rows))
    frequent = np.flatnonzero(frequency > max(1.0, _DENSE_SHARE[measure] * n_rows))
    if len(frequent) > most:
        frequent = frequent[np.argsort(-frequency[frequent], kind="stable")][:most]
        frequent.sort()
    return frequent


def frequencies(columns: Int32s, n_features: int) -> Int32s:
    """How many entries each column has; numpy's own count would first copy all columns."""
    frequency = np.zeros(n_features, dtype=np.int32)
    _add_ones(columns, frequency)
    return frequency


@njit(nogil=True, cache=True)
def _add_ones(places: Int32s, out: Int32s) -> None:
    for place in places:
        out[place] += 1


def split_columns(
    indptr: Ints,
    columns: Int32s,
    values: Floats,
    place: Ints,
    frequency: Int32s,
    n_dense: int,
    number: Any = np.float64,
) -> tuple[Ints, Int32s, Array, Array]:
    """The inverted index of rare features, and the lines of dense ones; see `CountIndex`."""
    starts = np.zeros(len(place) + 1, dtype=np.int64)
    np.cumsum(np.where(place == -1, frequency, 0), out=starts[1:])
    owners = np.empty(starts[-1], dtype=np.int32)
    kept = np.empty(starts[-1], dtype=number)
    dense = np.zeros((n_dense, len(indptr) - 1), dtype=number)
    _split(indptr, columns, values, place, starts[:-1].copy(), owners, kept, dense)
    return starts, owners, kept, dense


@njit(nogil=True, cache=True)
def _split(
    indptr: Ints,
    columns: Int32s,
    values: Floats,
    place: Ints,
    cursor: Ints,
    owners: Int32s,
    kept: Array,
    dense: Array,
) -> None:
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
    others: sparse.csr_matrix,
    measure: Measure,
    *,
    tiling: Tiling = QUIET,
) -> Floats:
    """Every row of ``counts`` against every row of ``others``: dot products or sums of minima.

    >>> compare(sparse.csr_matrix([[1.0, 2.0]]), sparse.csr_matrix([[0.0, 3.0]]), "min")
    array([[2.]])
    """
    out = np.empty((counts.shape[0], others.shape[0]))
    rows = IndexedRows(counts, others, measure)

    def fill_rows(begin: int, end: int) -> None:
        if rows.number == out.dtype:
            rows.set(begin, out[begin:end])
            return
        for at in range(begin, end, _STRIP):
            part = out[at : min(at + _STRIP, end)]
            sums = np.empty(part.shape, rows.number)
            rows.set(at, sums)
            part[...] = sums

    # Calling a tile of a few short rows takes longer than computing it.
    n_tiles = min(64, 1 + len(out) // 8)
    for_tiles(fill_rows, len(out), n_tiles=n_tiles, tiling=tiling)
    return out


class IndexedRows:
    """Rows of counts that are compared with the rows of another matrix, some at a time.

    Attributes
    ----------
    number : type
        That of the sums.
    """

    def __init__(
        self, counts: sparse.csr_matrix, others: sparse.csr_matrix, measure: Measure
    ) -> None:
        sides = ((each.data, norms(each, measure)) for each in (counts, others))
        self.number = number_type(measure, *sides)
        index = CountIndex.build(others, measure, number=self.number)
        self._rows, self._index, self._measure = row_arrays(counts), index, measure
        self._owners = index.rows.view(np.uint32)

    def set(self, begin: int, out: Array) -> None:
        """Compare the rows from ``begin`` on; ``out`` is their part of the result."""
        (indptr, columns, values), index = self._rows, self._index
        end = begin + len(out)
        entries = slice(indptr[begin], indptr[end])
        offsets = indptr[begin : end + 1] - indptr[begin]
        value = values[entries].astype(self.number, copy=False)
        first, last = _lists(index, columns[entries])
        if self._measure == "dot" and len(index.dense):
            part = np.zeros((end - begin, len(index.dense)), dtype=self.number)
            _write_dense(indptr, columns, values, index.place, begin, end, part)
            np.matmul(part, index.dense, out=out)
        else:
            out[...] = 0.0
        if self._measure == "dot":
            add_products(0, offsets, first, last, value, self._owners, index.values, out)
        else:
            add_minima(
                0, offsets, first, last, value, self._owners, index.values, index.dense, False, out
            )


def _lists(index: CountIndex, columns: Int32s) -> tuple[Array, Array]:
    """Where the list of each feature begins and ends, as `row_sums` takes it."""
    position, place = position_type(len(index.rows)), index.place[columns]
    first = np.where(place >= 0, place + 1, index.indptr[columns])
    last = np.where(place >= 0, 0, index.indptr[columns + 1])
    return first.astype(position), last.astype(position)


def number_type(measure: Measure, *sides: tuple[Floats, Floats]) -> Any:
    """Single precision if every sum of products, or of minima, is exact there; else double.

    So it is if all counts are multiples of one power of two and no sum is 2²⁴ units or more; a sum
    is not larger than the largest that a row has with itself. A side is given by its counts and by
    the `norms` of its rows.

    >>> number_type("min", (np.array([0.25, 3.0]), np.array([3.25]))) is np.float32
    True
    >>> number_type("min", (np.array([0.1, 3.0]), np.array([3.1]))) is np.float32
    False
    """
    largest = max(float(own.max(initial=0.0)) for _, own in sides)
    if not largest < _EXACT:
        return np.float64
    unit = min(_unit(values) for values, _ in sides)
    if measure == "dot":
        unit *= unit
    return np.float32 if largest < _EXACT * unit else np.float64


def _unit(values: Floats) -> float:
    """The largest power of two up to 1 that all values are multiples of; 0 if it is too small."""
    if np.array_equal(values, np.rint(values)):
        return 1.0
    scaled = values / _FINEST
    whole = scaled.astype(np.int64)
    if not np.array_equal(whole, scaled):
        return 0.0
    bits = int(np.bitwise_or.reduce(whole))
    return (bits & -bits) * _FINEST


def norms(counts: sparse.csr_matrix, measure: Measure) -> Floats:
    """Each row compared with itself.

    >>> norms(sparse.csr_matrix([[1.0, 2.0], [0.0, 3.0]]), "dot")
    array([5., 9.])
    """
    values = counts.data * counts.data if measure == "dot" else counts.data
    ones = np.ones(counts.shape[1])
    # A product with ones sums the entries of a row in their order.
    return sparse.csr_matrix((values, counts.indices, counts.indptr), shape=counts.shape) @ ones


def row_arrays(counts: sparse.csr_matrix) -> tuple[Ints, Int32s, Floats]:
    """Offsets, columns and values of the rows, with the types that compiled code takes."""
    return (
        counts.indptr.astype(np.int64, copy=False),
        counts.indices.astype(np.int32, copy=False),
        counts.data.astype(np.float64, copy=False),
    )


@njit(nogil=True, cache=True)
def _write_dense(
    indptr: Ints, columns: Int32s, values: Floats, place: Ints, begin: int, end: int, part: Array
) -> None:
    for i in range(begin, end):
        for p in range(indptr[i], indptr[i + 1]):
            line = place[columns[p]]
            if line >= 0:
                part[i - begin, line] = values[p]
