"""Sequential minimal optimisation: steps of a support vector machine, one pair of weights each.

Nearly all time goes into two passes over all weights per step. They are taken in single precision,
which halves what has to be read; after a number of steps the slack is brought up to date in double
precision, and steps go on until the tolerance holds there. The Gram matrix itself is rounded to
single precision (`single_precision`). Which weights take part, and when others come back, is left
to `support_vectors`.
"""

from __future__ import annotations

import numpy as np

from gramlet.common.arrays import Array, Floats, Ints
from gramlet.engine.core.compiled import njit
from gramlet.engine.machines.free_weights import subtract_rows
from gramlet.engine.machines.single_precision import LANES

__all__ = ["descend"]

_FLAT = 1e-12  # curvature of a pair that the kernel takes for one and the same graph
_ROUGHLY_FLAT = np.float32(1e-6)  # what single precision cannot tell from it
_DIGITS = 1e-4  # how much smaller the violation can become before single precision tells no more
_NONE, _ALL = np.float32(-np.inf), np.float32(np.inf)
_ZERO, _TWO = np.float32(0.0), np.float32(2.0)


@njit(nogil=True, cache=True)
def descend(
    gram: Array,
    high: Floats,
    low: Floats,
    beta: Floats,
    slack: Floats,
    tol: float,
    max_steps: int,
) -> tuple[int, float, float]:
    """Move pairs until no slack that may rise is ``tol`` above one that may fall.

    Parameters
    ----------
    gram : array of float32, shape (n, whole number of lanes)
        With a largest self-similarity near 1.
    high, low, beta, slack : arrays, shape (n,)
        The bounds, a feasible point and y − Kβ for it; the last two are changed.
    tol : float
    max_steps : int

    Returns
    -------
    steps : int
        Less than ``max_steps`` if the tolerance holds.
    most, least : float
        The two slacks.
    """
    n = len(beta)
    rows, shifts, before = np.empty(n, dtype=np.int64), np.empty(n), np.empty(n)
    asked, taken = tol, 0
    while True:
        most, least = _ends(high, low, beta, slack)
        if most - least < tol or taken >= max_steps:
            return taken, most, least
        before[:] = beta
        asked = max(asked, _DIGITS * (most - least))
        steps = _rough_steps(
            gram,
            high,
            low,
            beta,
            slack,
            (most + least) / 2.0,
            asked,
            max_steps - taken,
        )
        if steps == 0:  # nothing more that single precision can tell: the tolerance is missed
            return max_steps, most, least
        taken += steps
        moved = 0
        for k in range(n):
            if beta[k] != before[k]:
                rows[moved], shifts[moved] = k, beta[k] - before[k]
                moved += 1
        subtract_rows(gram, rows[:moved], shifts[:moved], slack)
        asked = 0.8 * tol  # below the tolerance, so that every further round has steps to take


@njit(nogil=True, cache=True)
def _ends(high: Floats, low: Floats, beta: Floats, slack: Floats) -> tuple[float, float]:
    """The largest slack of a weight that may rise, and the least of one that may fall."""
    most, least = -np.inf, np.inf
    for k in range(len(beta)):
        if beta[k] < high[k]:
            most = max(most, slack[k])
        if beta[k] > low[k]:
            least = min(least, slack[k])
    return most, least


@njit(nogil=True, cache=True)
def _rough_steps(
    gram: Array,
    high: Floats,
    low: Floats,
    beta: Floats,
    slack: Floats,
    middle: float,
    tol: float,
    max_steps: int,
) -> int:
    """Take steps by a slack in single precision, which is not handed back; how many they were.

    The slack is counted from ``middle``, near which it ends: differences keep their digits.
    """
    n, width = len(beta), gram.shape[1]
    # Arrays of their own, not rows of one: with these the loops below are not vectorised.
    left, own = np.zeros(width, dtype=np.float32), np.zeros(width, dtype=np.float32)
    rising, falling = np.full(width, _NONE), np.full(width, _ALL)
    for k in range(n):
        left[k], own[k] = slack[k] - middle, gram[k, k]
        rising[k] = _ZERO if beta[k] < high[k] else _NONE
        falling[k] = _ZERO if beta[k] > low[k] else _ALL
    tops, bottoms = np.empty(LANES, dtype=np.float32), np.empty(LANES, dtype=np.float32)
    places = np.empty(LANES, dtype=np.int32)
    i, j, taken = 0, 0, 0
    step = _ZERO
    while True:
        i, most = _move(gram[i], gram[j], step, rising, left, tops, places)
        j, least = _best_partner(gram[i], own, own[i], most, falling, left, tops, bottoms, places)
        if most - least < tol or j < 0 or taken >= max_steps:
            return taken
        taken += 1
        curvature = max(float(own[i]) + float(own[j]) - 2.0 * float(gram[i, j]), _FLAT)
        above, below = high[i] - beta[i], beta[j] - low[j]
        length = min((float(most) - left[j]) / curvature, above, below)
        # Exactly onto the border, so that it counts as such.
        beta[i] = high[i] if length == above else beta[i] + length
        beta[j] = low[j] if length == below else beta[j] - length
        step = np.float32(length)
        for k in (i, j):
            rising[k] = _ZERO if beta[k] < high[k] else _NONE
            falling[k] = _ZERO if beta[k] > low[k] else _ALL


# A running maximum with its place cannot be vectorised; one maximum per lane can, since lanes do
# not depend on each other.


@njit(nogil=True, cache=True)
def _move(
    row: Array, other: Array, step: float, rising: Array, left: Array, tops: Array, places: Ints
) -> tuple[int, float]:
    """Carry a step over to the slack; find the largest among the weights that may rise."""
    tops[:] = _NONE
    places[:] = 0
    for begin in range(0, len(left), LANES):
        end = begin + LANES
        own_row, other_row = row[begin:end], other[begin:end]
        part, blocked = left[begin:end], rising[begin:end]
        place = np.int32(begin)
        for lane in range(LANES):
            moved = part[lane] - step * (own_row[lane] - other_row[lane])
            part[lane] = moved
            value = moved + blocked[lane]
            larger = value > tops[lane]
            tops[lane] = value if larger else tops[lane]
            places[lane] = place if larger else places[lane]
    largest, most = _first_largest(tops, places, _NONE)
    return max(largest, 0), most


@njit(nogil=True, cache=True)
def _best_partner(
    row: Array,
    own: Array,
    mine: float,
    most: float,
    falling: Array,
    left: Array,
    tops: Array,
    bottoms: Array,
    places: Ints,
) -> tuple[int, float]:
    """Among the weights that may fall, the one whose step with i gains most; the least slack."""
    tops[:] = _ZERO
    places[:] = 0
    bottoms[:] = _ALL
    for begin in range(0, len(left), LANES):
        end = begin + LANES
        own_row, own_part = row[begin:end], own[begin:end]
        part, blocked = left[begin:end], falling[begin:end]
        place = np.int32(begin)
        for lane in range(LANES):
            value = part[lane] + blocked[lane]
            bottoms[lane] = value if value < bottoms[lane] else bottoms[lane]
            gap = most - value
            gap = gap if gap > _ZERO else _ZERO
            curvature = mine + own_part[lane] - _TWO * own_row[lane]
            curvature = curvature if curvature > _ROUGHLY_FLAT else _ROUGHLY_FLAT
            gain = gap * gap / curvature
            larger = gain > tops[lane]
            tops[lane] = gain if larger else tops[lane]
            places[lane] = place if larger else places[lane]
    j, _ = _first_largest(tops, places, _ZERO)
    return j, bottoms.min()


@njit(nogil=True, cache=True)
def _first_largest(tops: Array, places: Ints, above: float) -> tuple[int, float]:
    """The first position of the largest value over all lanes, and the value; −1 if none."""
    first = -1
    most = above
    for lane in range(LANES):
        here = places[lane] + lane
        if tops[lane] > most or (tops[lane] == most and 0 <= here < first):
            most = tops[lane]
            first = here
    return first, most
