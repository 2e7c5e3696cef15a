"""Loss and gradient over all pairs of graphs, for weights on the features they share.

For rows M_i of masses and weights w: S_ij = Σ_f w_f min(M_if, M_jf). The loss of a pair depends
only on S_ij, so a full pass is two walks over the inverted index: one computes S, one the gradient.
Only one number per pair is stored (the upper triangle, packed row by row), never a vector of
minima.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from gramlet.common.arrays import Floats, Int32s, Ints
from gramlet.engine.core.compiled import inner, njit
from gramlet.engine.core.tiles import for_tiles
from gramlet.engine.counts.comparison import CountIndex, first_from

__all__ = ["PairMinima", "hinge_losses", "segment_losses"]


# Sums may be reordered, so that they are vectorised; NaN and infinity are still respected.
_REORDER = {"reassoc", "nsz", "contract"}


class PairMinima:
    """The linear map from weights to S, and its transpose.

    Parameters
    ----------
    masses : csr_matrix, shape (graphs, features)
    n_jobs : int or None
    """

    def __init__(self, masses: sparse.csr_matrix, n_jobs: int | None = None) -> None:
        self.n_graphs, self.n_features = masses.shape
        self._row_data = (
            masses.indptr.astype(np.int64),
            masses.indices.astype(np.int64),
            masses.data.astype(np.float64),
        )
        index = CountIndex.build(masses, "min", drop_single=True)
        self._index = (index.indptr, index.rows, index.values, index.dense, index.place)
        lengths = np.arange(self.n_graphs, 0, -1, dtype=np.int64)
        #: Row i of the packed triangle, pairs (i, i), (i, i+1), ..., begins at ``starts[i]``.
        self.starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        self._costs = lengths.astype(np.float64)
        self._n_jobs = n_jobs

    def forward(self, weights: Floats) -> Floats:
        """S of all pairs i ≤ j, packed."""
        packed = np.zeros(self.starts[-1])

        def fill(begin: int, end: int) -> None:
            _sum_minima(begin, end, *self._row_data, *self._index, weights, self.starts, packed)

        self._tiles(fill)
        return packed

    def adjoint(self, coefficients: Floats) -> Floats:
        """Σ over pairs i ≤ j of the coefficient times the vector of minima."""
        parts: dict[int, Floats] = {}

        def fill(begin: int, end: int) -> None:
            part = np.zeros(self.n_features)
            _sum_gradients(
                begin, end, *self._row_data, *self._index, coefficients, self.starts, part
            )
            parts[begin] = part

        self._tiles(fill)
        # In the order of the rows, so that the bits do not depend on the number of threads.
        total = np.zeros(self.n_features)
        for begin in sorted(parts):
            total += parts[begin]
        return total

    def _tiles(self, work: Any) -> None:
        for_tiles(work, self.n_graphs, costs=self._costs, n_tiles=16, n_jobs=self._n_jobs)


@njit(nogil=True, cache=True)
def _sum_minima(
    begin: int, end: int, indptr: Ints, columns: Ints, values: Floats,
    starts: Ints, owners: Int32s, kept: Floats, dense: Floats, place: Ints,
    weights: Floats, row_starts: Ints, packed: Floats,
) -> None:  # fmt: skip
    """Rows ``begin:end`` of S, packed."""
    for i in range(begin, end):
        row = packed[row_starts[i] : row_starts[i + 1]]
        own = 0.0
        for p in range(indptr[i], indptr[i + 1]):
            f, value = columns[p], values[p]
            weight = weights[f]
            own += weight * value
            # A frequent feature has a dense line, others a list of their graphs.
            if place[f] >= 0:
                line = dense[place[f], i:]
                for j in range(len(row)):
                    other = line[j]
                    row[j] += weight * (value if value < other else other)
            elif place[f] == -1:
                q = first_from(owners, starts[f], starts[f + 1], i)
                for r in range(q, starts[f + 1]):
                    other = kept[r]
                    row[owners[r] - i] += weight * (value if value < other else other)
        # The pair (i, i) has features that no other graph has, too.
        row[0] = own


@inner(fastmath=_REORDER)
def _dot_minima(value: float, line: Floats, coefficients: Floats) -> float:
    total = 0.0
    for j in range(len(line)):
        other = line[j]
        total += coefficients[j] * (value if value < other else other)
    return total


@njit(nogil=True, cache=True)
def _sum_gradients(
    begin: int, end: int, indptr: Ints, columns: Ints, values: Floats,
    starts: Ints, owners: Int32s, kept: Floats, dense: Floats, place: Ints,
    coefficients: Floats, row_starts: Ints, total: Floats,
) -> None:  # fmt: skip
    """Add the coefficients of the pairs in rows ``begin:end`` times their minima to ``total``."""
    for i in range(begin, end):
        row = coefficients[row_starts[i] : row_starts[i + 1]]
        for p in range(indptr[i], indptr[i + 1]):
            f, value = columns[p], values[p]
            if place[f] >= 0:
                total[f] += _dot_minima(value, dense[place[f], i:], row)
            elif place[f] == -1:
                part = 0.0
                q = first_from(owners, starts[f], starts[f + 1], i)
                for r in range(q, starts[f + 1]):
                    other = kept[r]
                    part += row[owners[r] - i] * (value if value < other else other)
                total[f] += part
            else:  # no other graph has the feature: only the pair (i, i)
                total[f] += row[0] * value


@inner
def _hinge(excess: float, sigma: float) -> tuple[float, float]:
    """The smoothed hinge max(0, x) and its derivative."""
    if excess <= 0.0:
        return 0.0, 0.0
    if excess >= sigma:
        return excess - 0.5 * sigma, 1.0
    return excess * excess / (2.0 * sigma), excess / sigma


@njit(nogil=True, cache=True)
def hinge_losses(
    packed: Floats, starts: Ints, classes: Ints, weight_same: float, weight_diff: float,
    offset: float, alpha_diff: float, alpha_same: float, sigma: float, coefficients: Floats,
) -> float:  # fmt: skip
    """The weighted sum of the smoothed hinge losses of all ordered pairs.

    The distance of a pair is d = offset − S. The derivative of the sum with respect to S is written
    to ``coefficients`` (packed; an entry i < j is for both orders of the pair).
    """
    n = len(starts) - 1
    total = 0.0
    for i in range(n):
        for j in range(i, n):
            at = starts[i] + j - i
            d = offset - packed[at]
            twice = 1.0 if i == j else 2.0
            # Pairs of one class should be near, pairs of two classes far.
            if classes[i] == classes[j]:
                value, slope = _hinge(d - alpha_same, sigma)
                weight, sign = weight_same * twice, -1.0
            else:
                value, slope = _hinge(alpha_diff - d, sigma)
                weight, sign = weight_diff * twice, 1.0
            total += weight * value
            coefficients[at] = sign * weight * slope
    return total


@njit(nogil=True, cache=True)
def segment_losses(
    here: Floats, there: Floats, share: float, starts: Ints, classes: Ints,
    weight_same: float, weight_diff: float,
    offset: float, alpha_diff: float, alpha_same: float, sigma: float,
) -> tuple[float, float]:  # fmt: skip
    """The loss at S = here + share (there − here), and its derivative along the segment."""
    n = len(starts) - 1
    total, along = 0.0, 0.0
    for i in range(n):
        for j in range(i, n):
            at = starts[i] + j - i
            # The distance on the segment, and the loss as in `hinge_losses`.
            move = there[at] - here[at]
            d = offset - here[at] - share * move
            twice = 1.0 if i == j else 2.0
            if classes[i] == classes[j]:
                value, slope = _hinge(d - alpha_same, sigma)
                total += weight_same * twice * value
                along -= weight_same * twice * slope * move
            else:
                value, slope = _hinge(alpha_diff - d, sigma)
                total += weight_diff * twice * value
                along += weight_diff * twice * slope * move
    return total, along
