"""The rows of one count matrix against each other: an exactly symmetric matrix.

A tile of some hundred rows is computed from the diagonal on and then mirrored. Its index contains,
for each entry of a row, the later rows that have the same feature; features of one row are left
out. Sums are in single precision as in `comparison`; `row_sums` does the additions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from gramlet.common.arrays import Array, Floats, Int32s, Ints, UInt32s
from gramlet.engine.core.compiled import njit
from gramlet.engine.core.memory import release_free
from gramlet.engine.core.tiles import MIRROR_ROWS, QUIET, Mirror, Tiling, for_tiles, row_ranges
from gramlet.engine.counts.comparison import (
    DENSE_PART,
    LARGE,
    Measure,
    frequencies,
    frequent_features,
    norms,
    number_type,
    row_arrays,
)
from gramlet.engine.counts.row_sums import add_minima, add_products, position_type

__all__ = ["LaterRows", "compare_self", "index_later"]

# An index larger than this share of a large result is built in parts of a smaller share, because
# each part goes through the result again; and their largest number.
_WHOLE_INDEX, _INDEX_PART, _MOST_PARTS = 0.06, 0.04, 32
# Dense columns in parts take at most this much memory all together, relative to a large result.
_DENSE_IN_PARTS = 0.12
# Fewer rows than these are cut into tiles of half the height, so that there are several tiles.
_FEW_ROWS = 2048
# The bytes of an entry of counts, and of a feature in the tables of an index.
_ENTRY_BYTES, _FEATURE_BYTES = 12, 16
# Rows of a tile that are added up and then converted to double precision: they stay in the cache of
# one core.
_STRIP = 32
# Marks a feature without a list of rows; dense features have smaller marks.
_LEFT_OUT = -1


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
    own = norms(counts, measure)
    features = _Features.of(_shared(counts), measure, number_type(measure, (counts.data, own)))
    release_free(n, n)
    out = np.empty((n, n))
    height = MIRROR_ROWS if n >= _FEW_ROWS else MIRROR_ROWS // 2
    for begin, end in features.ranges:
        tiles = _Tiles(out, features.index(begin, end), measure, begin == 0, end == features.n)
        for_tiles(tiles.fill, n, n_tiles=-(-n // height), tiling=tiling)
        del tiles  # free its index before the next one is built
    np.fill_diagonal(out, own)
    return out


def index_later(counts: sparse.csr_matrix, measure: Measure) -> LaterRows:
    """The index for comparisons of each row with the later ones, in one piece."""
    number = number_type(measure, (counts.data, norms(counts, measure)))
    features = _Features.of(counts, measure, number)
    return features.index(0, features.n)


def _shared(counts: sparse.csr_matrix) -> sparse.csr_matrix:
    """The features of more than one row, renumbered: only these are shared by pairs.

    If the result is large and most features belong to a single row, as those of fine patterns do,
    this copy takes less memory than tables of all features. Otherwise nothing is copied.
    """
    if 8 * counts.shape[0] ** 2 < LARGE:
        return counts
    kept = frequencies(counts.indices, counts.shape[1]) > 1
    n_kept = int(np.count_nonzero(kept))
    n_single = len(kept) - n_kept
    if _ENTRY_BYTES * (counts.nnz - n_single) >= _FEATURE_BYTES * n_single:
        return counts
    entries = kept[counts.indices]
    places = np.cumsum(kept, dtype=np.int32) - 1
    before = np.concatenate([[0], np.cumsum(entries)])
    return sparse.csr_matrix(
        (counts.data[entries], places[counts.indices[entries]], before[counts.indptr]),
        shape=(counts.shape[0], n_kept),
    )


class LaterRows(NamedTuple):
    """The entries of all rows, as `row_sums` takes them; lists contain later rows only."""

    offsets: Ints
    first: Array
    last: Array
    value: Array
    owners: UInt32s
    kept: Array
    dense: Array

    def add(self, begin: int, rows: Array, measure: Measure, is_first: bool = True) -> None:
        """Add up whole rows from ``begin`` on, of which only the columns from there on are used.

        The first index sets these columns, further ones add to them.
        """
        *lists, dense = self
        if measure == "dot" and len(dense):  # only the first index has dense features
            part = np.ascontiguousarray(dense[:, begin : begin + len(rows)].T)
            np.matmul(part, dense[:, begin:], out=rows[:, begin:])
        elif is_first:
            rows[:, begin:] = 0.0
        if measure == "dot":
            add_products(begin, *lists, rows)
        else:
            add_minima(begin, *lists, dense, True, rows)


@dataclass(frozen=True)
class _Features:
    """The features of a count matrix, and ranges of them that are indexed at a time.

    If the columns of each row are sorted, adding the ranges in turn adds the same numbers in the
    same order as adding all at once.
    """

    counts: sparse.csr_matrix
    measure: Measure
    number: Any
    frequency: Int32s
    frequent: Ints
    ranges: list[tuple[int, int]]

    @property
    def n(self) -> int:
        return len(self.frequency)

    @classmethod
    def of(cls, counts: sparse.csr_matrix, measure: Measure, number: Any) -> _Features:
        """Choose dense features and ranges; ``number`` is the type of the sums."""
        n_rows, n_features = counts.shape
        frequency = frequencies(counts.indices, n_features)
        ranges = [(0, n_features)]
        most_part = _DENSE_IN_PARTS if measure == "min" else DENSE_PART
        frequent = frequent_features(frequency, n_rows, measure, most_part)
        if 8 * n_rows**2 < LARGE:
            return cls(counts, measure, number, frequency, frequent, ranges)
        n_bytes = np.dtype(number).itemsize
        # The bytes of the three positions and two numbers of an entry, and of a dense line.
        costs = (12.0 + 2 * n_bytes) * frequency
        costs[frequency <= 1] = 0.0
        costs[frequent] = 0.0
        if measure == "min":  # dense lines, and the entries that refer to them
            costs[frequent] = n_bytes * n_rows + (8.0 + n_bytes) * frequency[frequent]
        share = costs.sum() / (8 * n_rows**2)
        if share > _WHOLE_INDEX:
            n_parts = 1 + int(share / _INDEX_PART)
            ranges = row_ranges(n_features, costs, min(n_parts, _MOST_PARTS))
        return cls(counts, measure, number, frequency, frequent, ranges)

    def index(self, begin: int, end: int) -> LaterRows:
        """The index of the features ``begin:end``, for dot products with all dense ones first."""
        lengths = np.zeros(self.n, dtype=np.int32)
        lengths[begin:end] = self.frequency[begin:end]
        lengths[lengths == 1] = 0
        lengths[self.frequent] = 0
        lines = self.frequent[(self.frequent >= begin) & (self.frequent < end)]
        if self.measure == "dot":  # BLAS multiplies all at once
            lines = self.frequent[: len(self.frequent) if begin == 0 else 0]
        n_owners, n_rows = int(lengths.sum(dtype=np.int64)), self.counts.shape[0]
        n_entries = n_owners - int(np.count_nonzero(lengths))
        if self.measure == "min":
            n_entries += int(self.frequency[lines].sum())
        # Where the list of a feature begins so far (or a mark), and where it ends.
        table = np.empty((self.n, 2), dtype=np.int32 if n_owners < 1 << 31 else np.int64)
        np.cumsum(lengths, out=table[:, 1])
        table[:, 0] = table[:, 1]
        table[lengths == 0, 0] = _LEFT_OUT
        del lengths  # there may be many more features than rows
        table[lines, 0] = _LEFT_OUT - 1 - np.arange(len(lines))
        position = position_type(n_owners)
        index = LaterRows(
            np.empty(n_rows + 1, dtype=np.int64),
            np.empty(n_entries, dtype=position),
            np.empty(n_entries, dtype=position),
            np.empty(n_entries, dtype=self.number),
            np.empty(n_owners, dtype=np.uint32),
            np.empty(n_owners, dtype=self.number),
            np.zeros((len(lines), n_rows), dtype=self.number),
        )
        _fill_index(*row_arrays(self.counts), table, self.measure == "min", *index)
        return index


@njit(nogil=True, cache=True)
def _fill_index(
    indptr: Ints,
    columns: Int32s,
    values: Floats,
    table: Ints,
    list_dense: bool,
    offsets: Ints,
    first: Array,
    last: Array,
    value: Array,
    owners: UInt32s,
    kept: Array,
    dense: Array,
) -> None:
    """Go through all entries from the last to the first, so that lists contain later rows."""
    e = len(first)
    offsets[len(indptr) - 1] = e
    for row in range(len(indptr) - 2, -1, -1):
        for p in range(indptr[row + 1] - 1, indptr[row] - 1, -1):
            f = columns[p]
            q = table[f, 0]
            # A dense feature, which has a mark, or one that is left out.
            if q < 0:
                if q < _LEFT_OUT:
                    dense[_LEFT_OUT - 1 - q, row] = values[p]
                    if list_dense:
                        e -= 1
                        first[e], last[e], value[e] = _LEFT_OUT - q, 0, values[p]
                continue
            # An entry with the rows so far, if there are any; then this row joins them.
            if q < table[f, 1]:
                e -= 1
                first[e], last[e], value[e] = q, table[f, 1], values[p]
            table[f, 0] = q - 1
            owners[q - 1], kept[q - 1] = row, values[p]
        offsets[row] = e


class _Tiles:
    """Computes rows of the matrix from the diagonal on, and mirrors them.

    Parameters
    ----------
    out : array
    index : LaterRows
    measure : Measure
    is_first, is_last : bool
        Whether ``index`` is the first or the last of those that are added up.
    """

    def __init__(
        self, out: Floats, index: LaterRows, measure: Measure, is_first: bool, is_last: bool
    ) -> None:
        self._out, self._index, self._measure = out, index, measure
        self._is_first, self._is_last = is_first, is_last
        self._mirror = Mirror(out)
        self._spare: list[Array] = []  # one array per thread, used again for the next tile

    def fill(self, begin: int, end: int) -> None:
        """Add the index to rows ``begin:end``."""
        out, number = self._out, self._index.kept.dtype
        if number == out.dtype:
            self._index.add(begin, out[begin:end], self._measure, self._is_first)
        else:
            spare = self._spare.pop() if self._spare else np.empty((_STRIP, len(out)), number)
            for at in range(begin, end, _STRIP):
                target = out[at : min(at + _STRIP, end), at:]
                rows = spare[: len(target)]
                if not self._is_first:
                    rows[:, at:] = target
                self._index.add(at, rows, self._measure, self._is_first)
                target[...] = rows[:, at:]
            self._spare.append(spare)
        if self._is_last:
            self._mirror.add(begin, end)
