"""Loss and gradient over all pairs of graphs, for weights on the features they share.

For rows M_i of masses and weights w: S_ij = Σ_f w_f min(M_if, M_jf). The loss of a pair depends
only on S_ij, so a full pass is two walks over the inverted index: one computes S, one the gradient.
Only one number per pair is stored (the upper triangle, packed row by row), never a vector of
minima. Losses are computed while a row of S is in the cache, and their derivatives are not stored.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from joblib import effective_n_jobs
from scipy import sparse

from gramlet.common.arrays import Array, Floats, Int32s, Ints, UInt32s
from gramlet.engine.core.compiled import njit
from gramlet.engine.core.tiles import Tiling, for_tiles, row_ranges
from gramlet.engine.counts.comparison import CountIndex, row_arrays

__all__ = ["Hinge", "PairMinima"]

_TILES, _LEAST_TILE = 16, 1 << 15  # ranges of rows at most, pairs in one of them at least
_NOTHING: Floats = np.empty(0)

# Sums may be reordered, so that they are vectorised; NaN and infinity are still respected.
_REORDER = {"reassoc", "nsz", "contract"}


class Hinge(NamedTuple):
    """The loss of an ordered pair with distance d = offset − S, by its classes.

    Pairs of one class have the weight ``weight_same`` and should be nearer than ``alpha_same``,
    pairs of two classes have ``weight_diff`` and should be farther apart than ``alpha_diff``.
    """

    weight_same: float
    weight_diff: float
    offset: float
    alpha_diff: float
    alpha_same: float
    sigma: float


class PairMinima:
    """The linear map from weights to S, its transpose, and losses of S.

    Parameters
    ----------
    masses : csr_matrix, shape (graphs, features)
    n_jobs : int or None
    """

    def __init__(self, masses: sparse.csr_matrix, n_jobs: int | None = None) -> None:
        self.n_graphs, self.n_features = masses.shape
        self._entries = _Entries.of(masses)
        lengths = np.arange(self.n_graphs, 0, -1, dtype=np.int64)
        #: Row i of the packed triangle, pairs (i, i), (i, i+1), ..., begins at ``starts[i]``.
        self.starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        self._costs = lengths.astype(np.float64)
        self._n_tiles = int(np.clip(self.starts[-1] // _LEAST_TILE, 1, _TILES))
        self._ranges = row_ranges(self.n_graphs, self._costs, self._n_tiles)
        self._n_jobs = n_jobs

    def forward(self, weights: Floats) -> Floats:
        """S of all pairs i ≤ j, packed."""
        packed = np.empty(self.starts[-1])

        def fill(begin: int, end: int) -> None:
            _sum_minima(begin, end, *self._entries, weights, self.starts, packed)

        self._over_rows(fill)
        return packed

    def adjoint(self, coefficients: Floats) -> Floats:
        """Σ over pairs i ≤ j of the coefficient times the vector of minima."""

        def part(begin: int, end: int) -> Floats:
            found = np.zeros(self.n_features)
            _sum_gradients(begin, end, *self._entries, coefficients, self.starts, found)
            return found

        return np.zeros(self.n_features) + self._over_rows(part)

    def losses(
        self, here: Floats, there: Floats, share: float, hinge: Hinge, classes: Ints
    ) -> tuple[float, float]:
        """The loss at a share of the way from one S to another, and its derivative there.

        The derivative is with respect to the share.
        """

        def part(begin: int, end: int) -> Floats:
            return np.array(
                _sum_losses(begin, end, here, there, share, self.starts, classes, *hinge)
            )

        value, along = self._over_rows(part)
        return float(value), float(along)

    def losses_at(
        self,
        weights: Floats,
        here: Floats,
        hinge: Hinge,
        classes: Ints,
        out: Floats,
        fixed: Floats | None = None,
    ) -> tuple[float, float]:
        """S of new weights, in ``out``; its loss, and the derivative on the way from ``here``.

        ``fixed`` is added to S; the derivative is that at the end of the way.
        """
        added = _NOTHING if fixed is None else fixed

        def part(begin: int, end: int) -> Floats:
            found = _sum_minima_and_losses(
                begin, end, *self._entries, weights, added, here, self.starts, classes, *hinge, out
            )
            return np.array(found)

        value, along = self._over_rows(part)
        return float(value), float(along)

    def loss_and_gradient(
        self, here: Floats, there: Floats, share: float, hinge: Hinge, classes: Ints
    ) -> tuple[float, Floats]:
        """The loss at a share of the way from one S to another, and its gradient by the weights."""

        def part(begin: int, end: int) -> Floats:
            found, slopes = np.zeros(self.n_features + 1), np.empty(self.n_graphs)
            found[-1] = _sum_losses_and_gradients(
                begin,
                end,
                *self._entries,
                here,
                there,
                share,
                self.starts,
                classes,
                *hinge,
                slopes,
                found,
            )
            return found

        found = np.zeros(self.n_features + 1) + self._over_rows(part)
        return float(found[-1]), found[:-1]

    def _over_rows(self, work: Callable[[int, int], Any]) -> Any:
        """Call ``work`` for ranges of rows of the triangle; the sum of what it returns, if any.

        It is added up in the order of the rows, so that the bits do not depend on the number of
        threads.
        """
        parts: dict[int, Any] = {}

        def keep(begin: int, end: int) -> None:
            parts[begin] = work(begin, end)

        if effective_n_jobs(self._n_jobs) == 1:  # a small problem takes less than `for_tiles`
            for begin, end in self._ranges:
                keep(begin, end)
        else:
            for_tiles(
                keep,
                self.n_graphs,
                costs=self._costs,
                n_tiles=self._n_tiles,
                tiling=Tiling(self._n_jobs),
            )
        found = [parts[begin] for begin in sorted(parts) if parts[begin] is not None]
        return sum(found[1:], start=found[0]) if found else 0.0


class _Entries(NamedTuple):
    """The entries of all rows, and the later rows that have their features.

    An entry's rows, itself first, are the positions ``first:last`` of ``owners`` and ``kept``. If
    ``first > last``, the feature is dense and its line is ``first - 1``; if they are equal, no
    other graph has it. Positions and owners are unsigned, as in `comparison`.
    """

    offsets: Ints
    features: Int32s
    values: Floats
    first: Array
    last: Array
    owners: UInt32s
    kept: Floats
    dense: Floats

    @classmethod
    def of(cls, masses: sparse.csr_matrix) -> _Entries:
        index = CountIndex.build(masses, "min", drop_single=True)
        offsets, features, values = row_arrays(masses)
        place = index.place[features]
        first = np.where(place >= 0, place + 1, index.after - 1)
        last = np.where(place == -1, index.indptr[features + 1], 0)
        first[place == -2] = 0
        return cls(
            offsets,
            features,
            values,
            first.astype(np.uint64),
            last.astype(np.uint64),
            index.rows,
            index.values,
            index.dense,
        )


@njit(nogil=True, cache=True)
def _row_minima(
    i: int,
    offsets: Ints,
    features: Int32s,
    values: Floats,
    first: Array,
    last: Array,
    owners: UInt32s,
    kept: Floats,
    dense: Floats,
    weights: Floats,
    row: Floats,
    by_owner: Floats,
) -> None:
    """Row i of S from the diagonal on; ``by_owner`` is the same memory, by columns from 0 on."""
    for j in range(len(row)):
        row[j] = 0.0
    own = 0.0
    for p in range(offsets[i], offsets[i + 1]):
        value, weight = values[p], weights[features[p]]
        own += weight * value
        # A frequent feature has a dense line, others a list of their graphs.
        if first[p] > last[p]:
            line = dense[first[p] - 1, i:]
            for j in range(len(row)):
                other = line[j]
                row[j] += weight * (value if value < other else other)
        else:
            for r in range(first[p], last[p]):
                other = kept[r]
                by_owner[owners[r]] += weight * (value if value < other else other)
    # The pair (i, i) has features that no other graph has, too.
    row[0] = own


@njit(nogil=True, cache=True)
def _sum_minima(
    begin: int,
    end: int,
    offsets: Ints,
    features: Int32s,
    values: Floats,
    first: Array,
    last: Array,
    owners: UInt32s,
    kept: Floats,
    dense: Floats,
    weights: Floats,
    row_starts: Ints,
    packed: Floats,
) -> None:
    """Rows ``begin:end`` of S, packed."""
    for i in range(begin, end):
        a, b = row_starts[i], row_starts[i + 1]
        _row_minima(
            i,
            offsets,
            features,
            values,
            first,
            last,
            owners,
            kept,
            dense,
            weights,
            packed[a:b],
            packed[a - i : b],
        )


@njit(nogil=True, cache=True, fastmath=_REORDER)
def _dot_minima(value: float, line: Floats, coefficients: Floats) -> float:
    total = 0.0
    for j in range(len(line)):
        other = line[j]
        total += coefficients[j] * (value if value < other else other)
    return total


@njit(nogil=True, cache=True)
def _row_gradient(
    i: int,
    offsets: Ints,
    features: Int32s,
    values: Floats,
    first: Array,
    last: Array,
    owners: UInt32s,
    kept: Floats,
    dense: Floats,
    row: Floats,
    by_owner: Floats,
    total: Floats,
) -> None:
    """Add the coefficients of the pairs in row i times their minima to ``total``."""
    for p in range(offsets[i], offsets[i + 1]):
        f, value = features[p], values[p]
        if first[p] > last[p]:
            total[f] += _dot_minima(value, dense[first[p] - 1, i:], row)
        elif first[p] < last[p]:
            part = 0.0
            for r in range(first[p], last[p]):
                other = kept[r]
                part += by_owner[owners[r]] * (value if value < other else other)
            total[f] += part
        else:  # no other graph has the feature: only the pair (i, i)
            total[f] += row[0] * value


@njit(nogil=True, cache=True)
def _sum_gradients(
    begin: int,
    end: int,
    offsets: Ints,
    features: Int32s,
    values: Floats,
    first: Array,
    last: Array,
    owners: UInt32s,
    kept: Floats,
    dense: Floats,
    coefficients: Floats,
    row_starts: Ints,
    total: Floats,
) -> None:
    """Add the coefficients of the pairs in rows ``begin:end`` times their minima to ``total``."""
    for i in range(begin, end):
        a, b = row_starts[i], row_starts[i + 1]
        _row_gradient(
            i,
            offsets,
            features,
            values,
            first,
            last,
            owners,
            kept,
            dense,
            coefficients[a:b],
            coefficients[a - i : b],
            total,
        )


@njit(nogil=True, cache=True, fastmath=_REORDER)
def _pair_losses(
    here: Floats,
    there: Floats,
    share: float,
    classes: Ints,
    own: int,
    weight_same: float,
    weight_diff: float,
    offset: float,
    alpha_diff: float,
    alpha_same: float,
    sigma: float,
    slopes: Floats,
) -> tuple[float, float]:
    """The weighted losses of the pairs of one graph, and their derivative along the segment.

    The derivatives with respect to S are written to ``slopes``, unless that is empty. The smoothed
    hinge of x is e²/(2σ) + max(0, x − σ) with e = x limited to [0, σ], and its derivative is e/σ:
    without branches, so that pairs are computed several at a time.
    """
    total, along = 0.0, 0.0
    keep = len(slopes) > 0
    for j in range(len(here)):
        same = classes[j] == own
        direction = there[j] - here[j]
        d = offset - (here[j] + share * direction)
        # Pairs of one class should be near, pairs of two classes far.
        excess = d - alpha_same if same else alpha_diff - d
        weight = weight_same if same else weight_diff
        limited = min(max(excess, 0.0), sigma)
        total += weight * (limited * limited / (2.0 * sigma) + max(excess - sigma, 0.0))
        slope = (-weight if same else weight) * limited / sigma
        if keep:
            slopes[j] = slope
        along += slope * direction
    return total, along


@njit(nogil=True, cache=True)
def _row_losses(
    i: int,
    here: Floats,
    there: Floats,
    share: float,
    classes: Ints,
    weight_same: float,
    weight_diff: float,
    offset: float,
    alpha_diff: float,
    alpha_same: float,
    sigma: float,
    slopes: Floats,
) -> tuple[float, float]:
    """The same for row i of S: the pair (i, i) counts once, the others twice, for both orders."""
    total, along = 0.0, 0.0
    for later in range(2):
        end = len(here) if later else 1
        times = 1.0 + later
        value, slope = _pair_losses(
            here[later:end],
            there[later:end],
            share,
            classes[i + later : i + end],
            classes[i],
            times * weight_same,
            times * weight_diff,
            offset,
            alpha_diff,
            alpha_same,
            sigma,
            slopes[later:end],
        )
        total, along = total + value, along + slope
    return total, along


@njit(nogil=True, cache=True)
def _sum_losses(
    begin: int,
    end: int,
    here: Floats,
    there: Floats,
    share: float,
    starts: Ints,
    classes: Ints,
    weight_same: float,
    weight_diff: float,
    offset: float,
    alpha_diff: float,
    alpha_same: float,
    sigma: float,
) -> tuple[float, float]:
    """The loss of rows ``begin:end`` at ``here + share (there − here)``, and its derivative."""
    total, along, nothing = 0.0, 0.0, np.empty(0)
    for i in range(begin, end):
        a, b = starts[i], starts[i + 1]
        value, slope = _row_losses(
            i,
            here[a:b],
            there[a:b],
            share,
            classes,
            weight_same,
            weight_diff,
            offset,
            alpha_diff,
            alpha_same,
            sigma,
            nothing,
        )
        total, along = total + value, along + slope
    return total, along


@njit(nogil=True, cache=True)
def _sum_minima_and_losses(
    begin: int,
    end: int,
    offsets: Ints,
    features: Int32s,
    values: Floats,
    first: Array,
    last: Array,
    owners: UInt32s,
    kept: Floats,
    dense: Floats,
    weights: Floats,
    fixed: Floats,
    here: Floats,
    starts: Ints,
    classes: Ints,
    weight_same: float,
    weight_diff: float,
    offset: float,
    alpha_diff: float,
    alpha_same: float,
    sigma: float,
    packed: Floats,
) -> tuple[float, float]:
    """Rows ``begin:end`` of S, and the loss there, row by row."""
    total, along, nothing = 0.0, 0.0, np.empty(0)
    for i in range(begin, end):
        a, b = starts[i], starts[i + 1]
        row = packed[a:b]
        _row_minima(
            i,
            offsets,
            features,
            values,
            first,
            last,
            owners,
            kept,
            dense,
            weights,
            row,
            packed[a - i : b],
        )
        if len(fixed):
            for j in range(len(row)):
                row[j] += fixed[a + j]
        value, slope = _row_losses(
            i,
            here[a:b],
            row,
            1.0,
            classes,
            weight_same,
            weight_diff,
            offset,
            alpha_diff,
            alpha_same,
            sigma,
            nothing,
        )
        total, along = total + value, along + slope
    return total, along


@njit(nogil=True, cache=True)
def _sum_losses_and_gradients(
    begin: int,
    end: int,
    offsets: Ints,
    features: Int32s,
    values: Floats,
    first: Array,
    last: Array,
    owners: UInt32s,
    kept: Floats,
    dense: Floats,
    here: Floats,
    there: Floats,
    share: float,
    starts: Ints,
    classes: Ints,
    weight_same: float,
    weight_diff: float,
    offset: float,
    alpha_diff: float,
    alpha_same: float,
    sigma: float,
    slopes: Floats,
    gradient: Floats,
) -> float:
    """The loss of rows ``begin:end``; its derivatives by the weights are added to ``gradient``.

    ``slopes`` is workspace, one number per graph: the derivatives by one row of S.
    """
    total = 0.0
    for i in range(begin, end):
        a, b = starts[i], starts[i + 1]
        total += _row_losses(
            i,
            here[a:b],
            there[a:b],
            share,
            classes,
            weight_same,
            weight_diff,
            offset,
            alpha_diff,
            alpha_same,
            sigma,
            slopes[i:],
        )[0]
        _row_gradient(
            i,
            offsets,
            features,
            values,
            first,
            last,
            owners,
            kept,
            dense,
            slopes[i:],
            slopes,
            gradient,
        )
    return total
