"""Loss and gradient over all pairs of graphs, for weights on the features they share.

For rows M_i of masses and weights w: S_ij = Σ_f w_f min(M_if, M_jf). The loss of a pair depends
only on S_ij, so a full pass is two walks over the inverted index: one computes S, one the gradient.
Only one number per pair is stored (the upper triangle, packed row by row), never a vector of
minima. `pattern_weights` minimises the loss.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy import sparse

from gramlet.common.arrays import Array, Floats, Int32s, Ints, UInt32s
from gramlet.engine.core.compiled import njit
from gramlet.engine.core.ragged import offsets_of
from gramlet.engine.core.tiles import Tiling, for_tiles
from gramlet.engine.counts.comparison import CountIndex, row_arrays
from gramlet.engine.wasserstein.weight_constraint import WeightConstraint

_NOTHING: Floats = np.empty(0)
_TILES, _LEAST_TILE = 16, 1 << 15  # ranges of rows at most, pairs in one of them at least

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
    """The linear map from weights to S, packed, and its transpose.

    Parameters
    ----------
    masses : csr_matrix, shape (graphs, features)
    n_jobs : int or None
    """

    def __init__(self, masses: sparse.csr_matrix, n_jobs: int | None = None) -> None:
        self.n_graphs, self.n_features = masses.shape
        self.entries = _Entries.of(masses)
        lengths = np.arange(self.n_graphs, 0, -1, dtype=np.int64)
        #: Row i of the packed triangle, pairs (i, i), (i, i+1), ..., begins at ``starts[i]``.
        self.starts = offsets_of(lengths)
        self._costs = lengths.astype(np.float64)
        self._n_tiles = int(np.clip(self.starts[-1] // _LEAST_TILE, 1, _TILES))
        self._tiling = Tiling(n_jobs)

    def forward(self, weights: Floats) -> Floats:
        """S of all pairs i ≤ j, packed."""
        packed = np.empty(self.starts[-1])

        def fill(begin: int, end: int) -> Floats:
            _sum_minima(begin, end, self.entries, weights, self.starts, packed)
            return np.zeros(0)

        self.sum_over_rows(fill)
        return packed

    def adjoint(self, coefficients: Floats) -> Floats:
        """Σ over pairs i ≤ j of the coefficient times the vector of minima."""

        def part(begin: int, end: int) -> Floats:
            total = np.zeros(self.n_features)
            _sum_gradients(begin, end, self.entries, coefficients, self.starts, total)
            return total

        return self.sum_over_rows(part)

    def sum_over_rows(self, work: Callable[[int, int], Floats]) -> Floats:
        """The sum of ``work`` of ranges of rows of the triangle.

        It is added up in the order of the rows, so that the bits do not depend on the number of
        threads.
        """
        parts: dict[int, Floats] = {}

        def run(begin: int, end: int) -> None:
            parts[begin] = work(begin, end)

        for_tiles(run, self.n_graphs, costs=self._costs, n_tiles=self._n_tiles, tiling=self._tiling)
        return np.asarray(sum(parts[begin] for begin in sorted(parts)))


@dataclass
class PairProblem:
    """The learning problem: masses, classes, constants of the loss, constraint.

    Attributes
    ----------
    masses : csr_matrix, shape (graphs, features)
        Masses divided by the number of levels; columns are ordered by level.
    fixed : array, shape (graphs,)
        Mass on a symbol that graphs share, with weight 1, which is not learned.
    classes : array of int64
    constraint : WeightConstraint
    hinge : Hinge
        The constants of the loss.
    """

    masses: sparse.csr_matrix
    fixed: Floats
    classes: Ints
    constraint: WeightConstraint
    hinge: Hinge
    n_jobs: int | None = None

    def __post_init__(self) -> None:
        self.pairs = PairMinima(self.masses, self.n_jobs)
        self._fixed_common: Floats | None = None
        if self.fixed.any():
            self._fixed_common = np.concatenate(
                [np.minimum(mass, self.fixed[i:]) for i, mass in enumerate(self.fixed)]
            )

    def common(self, weights: Floats) -> tuple[Floats, float]:
        """S of all pairs, packed: the weighted mass two graphs share; and the loss there."""
        packed = np.zeros(self.pairs.starts[-1])
        return packed, self.move(weights, packed, packed)[0]

    def move(self, weights: Floats, here: Floats, out: Floats) -> tuple[float, float]:
        """S of some weights, in ``out``; the loss there, and its derivative on the way from here.

        The derivative is with respect to the share of the way, at its end.
        """
        starts = self.pairs.starts

        def part(begin: int, end: int) -> Floats:
            _sum_minima(begin, end, self.pairs.entries, weights, starts, out)
            if self._fixed_common is not None:
                rows = slice(starts[begin], starts[end])
                out[rows] += self._fixed_common[rows]
            return self._losses(begin, end, here, out, 1.0, _NOTHING)

        value, along = self.pairs.sum_over_rows(part)
        return float(value), float(along)

    def loss(self, here: Floats, there: Floats, share: float) -> tuple[float, float]:
        """The loss at a share of the way from one S to another.

        Returns the loss and its derivative with respect to the share.
        """
        value, along = self.pairs.sum_over_rows(
            lambda begin, end: self._losses(begin, end, here, there, share, _NOTHING)
        )
        return float(value), float(along)

    def gradient(
        self, here: Floats, there: Floats | None = None, share: float = 0.0
    ) -> tuple[float, Floats]:
        """The loss at S, or at a share of the way from it to another S, and its gradient.

        The gradient is with respect to the weights; it is 0 where they are fixed.
        """
        there = here if there is None else there
        slopes = np.empty(len(here))

        def part(begin: int, end: int) -> Floats:
            total = np.zeros(self.pairs.n_features + 1)
            total[-1] = self._losses(begin, end, here, there, share, slopes)[0]
            _sum_gradients(begin, end, self.pairs.entries, slopes, self.pairs.starts, total)
            return total

        total = self.pairs.sum_over_rows(part)
        return float(total[-1]), np.where(self.constraint.free, total[:-1], 0.0)

    def _losses(
        self, begin: int, end: int, here: Floats, there: Floats, share: float, slopes: Floats
    ) -> Floats:
        arrays = here, there, share, self.pairs.starts, self.classes
        return np.array(_sum_losses(begin, end, *arrays, self.hinge, slopes))

    def curvature_bound(self) -> float:
        """An upper bound of the gradient's Lipschitz constant without a walk over pairs.

        The constant is λ_max(B)/σ with B = Σ ω_ij Z Zᵀ, which is at most the trace Σ ω_ij ‖Z‖², and
        minima are at most the masses of either graph. `lipschitz` is closer and takes longer.
        """
        sizes = np.bincount(self.classes)[self.classes]
        weights = self.hinge.weight_same * sizes + self.hinge.weight_diff * (len(sizes) - sizes)
        squares = self.masses.multiply(self.masses) @ self.constraint.free
        return float(weights @ squares) / self.hinge.sigma

    def lipschitz(self, n_rounds: int = 6) -> float:
        """An upper bound of the gradient's Lipschitz constant.

        The constant is λ_max(B)/σ with B = Σ ω_ij Z Zᵀ, which has no negative entry. By Collatz and
        Wielandt, max_f (Bv)_f / v_f is an upper bound of λ_max for positive v, and it decreases
        under v ← Bv.
        """
        weight = np.empty(self.pairs.starts[-1])
        for i, start in enumerate(self.pairs.starts[:-1]):
            same = self.classes[i:] == self.classes[i]
            row = np.where(same, self.hinge.weight_same, self.hinge.weight_diff)
            row[1:] *= 2.0  # for both orders
            weight[start : start + len(row)] = row
        vector = self.constraint.free.astype(np.float64)
        bound = np.inf
        for _ in range(n_rounds):
            image = self.pairs.adjoint(weight * self.pairs.forward(vector))
            image = np.where(self.constraint.free, image, 0.0)
            support = vector > 0
            if not (image > 0).any():
                return 0.0
            bound = min(bound, float((image[support] / vector[support]).max()))
            vector = image / image.max()
        return bound / self.hinge.sigma

    def lower_bound(self, value: float, weights: Floats, gradient: Floats) -> float:
        """A lower bound of the loss, by convexity, from its value and gradient at one point."""
        least = self.constraint.least_product(gradient)
        return value + float(gradient @ (1.0 - weights)) + least


class _Entries(NamedTuple):
    """The entries of all rows, and the later rows that have their features.

    An entry's rows, itself first, are the positions ``first:last`` of ``owners`` and ``masses``. If
    ``first > last``, the feature is dense and its line is ``first - 1``; if they are equal, no
    other graph has it. Positions and owners are unsigned, as in `comparison`.
    """

    offsets: Ints
    features: Int32s
    values: Floats
    first: Array
    last: Array
    owners: UInt32s
    masses: Floats
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
def _sum_minima(
    begin: int, end: int, entries: _Entries, weights: Floats, starts: Ints, packed: Floats
) -> None:
    """Rows ``begin:end`` of S, packed."""
    offsets, features, values, first, last, owners, masses, dense = entries
    for i in range(begin, end):
        # The row from the diagonal on, and the same memory by columns from 0 on.
        row, by_owner = packed[starts[i] : starts[i + 1]], packed[starts[i] - i : starts[i + 1]]
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
                    other = masses[r]
                    by_owner[owners[r]] += weight * (value if value < other else other)
        # The pair (i, i) has features that no other graph has, too.
        row[0] = own


@njit(nogil=True, cache=True, fastmath=_REORDER)
def _dot_minima(value: float, line: Floats, coefficients: Floats) -> float:
    total = 0.0
    for j in range(len(line)):
        other = line[j]
        total += coefficients[j] * (value if value < other else other)
    return total


@njit(nogil=True, cache=True)
def _sum_gradients(
    begin: int, end: int, entries: _Entries, coefficients: Floats, starts: Ints, total: Floats
) -> None:
    """Add the coefficients of the pairs in rows ``begin:end`` times their minima to ``total``."""
    offsets, features, values, first, last, owners, masses, dense = entries
    for i in range(begin, end):
        row = coefficients[starts[i] : starts[i + 1]]
        by_owner = coefficients[starts[i] - i : starts[i + 1]]
        for p in range(offsets[i], offsets[i + 1]):
            f, value = features[p], values[p]
            if first[p] > last[p]:
                total[f] += _dot_minima(value, dense[first[p] - 1, i:], row)
            elif first[p] < last[p]:
                part = 0.0
                for r in range(first[p], last[p]):
                    other = masses[r]
                    part += by_owner[owners[r]] * (value if value < other else other)
                total[f] += part
            else:  # no other graph has the feature: only the pair (i, i)
                total[f] += row[0] * value


@njit(nogil=True, cache=True, fastmath=_REORDER)
def _pair_losses(
    here: Floats,
    there: Floats,
    share: float,
    classes: Ints,
    own: int,
    times: float,
    hinge: Hinge,
    slopes: Floats,
) -> tuple[float, float]:
    """The weighted losses of the pairs of one graph, and their derivative along the segment.

    The derivatives with respect to S are written to ``slopes``, unless that is empty. The smoothed
    hinge of x is e²/(2σ) + max(0, x − σ) with e = x limited to [0, σ], and its derivative is e/σ:
    without branches, so that pairs are computed several at a time.
    """
    total, along, sigma = 0.0, 0.0, hinge.sigma
    weight_same, weight_diff = times * hinge.weight_same, times * hinge.weight_diff
    for j in range(len(here)):
        same = classes[j] == own
        direction = there[j] - here[j]
        d = hinge.offset - (here[j] + share * direction)
        # Pairs of one class should be near, pairs of two classes far.
        excess = d - hinge.alpha_same if same else hinge.alpha_diff - d
        weight = weight_same if same else weight_diff
        limited = min(max(excess, 0.0), sigma)
        total += weight * (limited * limited / (2.0 * sigma) + max(excess - sigma, 0.0))
        slope = (-weight if same else weight) * limited / sigma
        if len(slopes) > 0:
            slopes[j] = slope
        along += slope * direction
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
    hinge: Hinge,
    slopes: Floats,
) -> tuple[float, float]:
    """The loss of rows ``begin:end`` at ``here + share (there − here)``, and its derivative.

    The pair (i, i) counts once, the others twice, for both orders.
    """
    total, along = 0.0, 0.0
    for i in range(begin, end):
        cuts = starts[i], starts[i] + 1, starts[i + 1]
        for later in range(2):
            a, b = cuts[later], cuts[later + 1]
            value, slope = _pair_losses(
                here[a:b],
                there[a:b],
                share,
                classes[i + later :],
                classes[i],
                1.0 + later,
                hinge,
                slopes[a:b],
            )
            total, along = total + value, along + slope
    return total, along
