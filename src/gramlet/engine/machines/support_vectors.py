"""Support vector machines on precomputed Gram matrices, for many values of C at once.

Choosing C and a kernel's options by nested cross-validation takes tens of thousands of small
problems, for which a general estimator spends most of its time checking the input. Here one
compiled call solves a whole grid of C by sequential minimal optimisation, starting each solution
from the previous one. It only gives decision values for model selection: the final machines are
scikit-learn's.

Nearly all time goes into two passes over all weights per step, which wait for memory. They are made
in single precision, as in libsvm; after a number of steps the slack is computed in double
precision, and steps go on until the tolerance holds there. Rows of a matrix end with zeros up to a
whole number of lanes, because the passes keep one running maximum per lane.
"""

from __future__ import annotations

import numpy as np

from gramlet.common.arrays import Array, Floats, Ints
from gramlet.engine.core.compiled import njit

LANES = 64
_LARGEST = float(np.finfo(np.float32).max)
_FLAT = 1e-12  # the least curvature of a pair
_ROUGHLY_FLAT = np.float32(1e-6)  # the same in single precision
_DIGITS = 1e-4  # how far the violation can fall before single precision no longer resolves it
_CHUNK = 400  # the least number of steps between two looks at which weights are active
_PATIENCE = 4  # steps per weight before weights are set aside
_NONE, _ALL = np.float32(-np.inf), np.float32(np.inf)
_ZERO, _TWO = np.float32(0.0), np.float32(2.0)


def decide_by_cost(
    gram: Floats,
    classes: Ints,
    weights: Floats,
    cross: Floats,
    costs: Floats,
    tol: float,
    max_iter: int,
) -> tuple[Floats, int]:
    """Decision values of support vector machines, one per pair of classes, for each C.

    Parameters
    ----------
    gram : array of float64, shape (n, n)
        Of the training graphs; scaled and rounded to single precision.
    classes : array of int64
        Their classes, from 0.
    weights : array, one number per class
        C is multiplied by it for the graphs of a class.
    cross : array, shape (m, n)
        The kernel between the graphs to classify (rows) and the training graphs.
    costs : array
        The values of C, ascending.
    tol : float
        Not far below 1e-7 times the largest C: the effect of rounding the matrix.
    max_iter : int
        The largest number of steps per machine.

    Returns
    -------
    decisions : array, shape (pairs, costs, m)
        Positive for the first class of a pair; pairs are (0, 1), (0, 2), ..., (1, 2), ...
    unfinished : int
        How many machines stopped at ``max_iter``.
    """
    factor = scale_to_one(np.diagonal(gram))
    training, held = rounded(gram, factor), rounded(cross, factor)
    decided: tuple[Floats, int] = _decide_all(
        training, classes, weights, held, costs / factor, tol, max_iter
    )
    return decided


def scale_to_one(self_similarities: Floats) -> float:
    """The power of two that brings the largest self-similarity into [1, 2).

    Steps compare curvatures with constants, so that matrices need one scale.
    """
    largest = float(np.abs(self_similarities).max(initial=0.0))
    if not 0.0 < largest < np.inf:
        return 1.0
    return float(min(2.0 ** -np.floor(np.log2(max(largest, 2.0**-1000))), 2.0**1000))


def rounded(matrix: Floats, factor: float) -> Array:
    """A multiple of a matrix in single precision, with zeros at the end of its rows."""
    n_columns = matrix.shape[1]
    padded = np.zeros((len(matrix), -(-n_columns // LANES) * LANES), dtype=np.float32)
    with np.errstate(over="ignore"):
        np.multiply(matrix, factor, out=padded[:, :n_columns], casting="same_kind")
    return np.clip(padded, -_LARGEST, _LARGEST, out=padded) if factor != 1.0 else padded


@njit(nogil=True, cache=True)
def _decide_all(
    gram: Array,
    classes: Ints,
    weights: Floats,
    cross: Array,
    costs: Floats,
    tol: float,
    max_iter: int,
) -> tuple[Floats, int]:
    """`decide_by_cost` on rounded matrices: one machine per pair of classes."""
    n_classes = len(weights)
    decisions = np.empty((n_classes * (n_classes - 1) // 2, len(costs), len(cross)))
    if n_classes == 2:  # all graphs belong to the only pair: nothing is copied
        signs = 1.0 - 2.0 * classes
        unfinished = _decide(
            gram, signs, weights[classes], cross, costs, tol, max_iter, decisions[0]
        )
        return decisions, unfinished
    # With more classes, one machine per pair, on the graphs of its classes.
    everything = np.arange(len(cross))
    unfinished = 0
    pair = 0
    for first in range(n_classes):
        for second in range(first + 1, n_classes):
            mine, signs = _members(classes, first, second)
            part = take_part(gram, mine)
            rows = np.empty((len(cross), len(mine)), dtype=np.float32)
            fill_block(cross, everything, mine, rows)
            unfinished += _decide(
                part, signs, weights[classes[mine]], rows, costs, tol, max_iter, decisions[pair]
            )
            pair += 1
    return decisions, unfinished


@njit(nogil=True, cache=True)
def _members(classes: Ints, first: int, second: int) -> tuple[Ints, Floats]:
    """The graphs of two classes, and +1 for the first, −1 for the second."""
    mine = np.empty(len(classes), dtype=np.int64)
    signs = np.empty(len(classes))
    n = 0
    for k in range(len(classes)):
        if classes[k] == first or classes[k] == second:
            mine[n] = k
            signs[n] = 1.0 if classes[k] == first else -1.0
            n += 1
    return mine[:n], signs[:n]


@njit(nogil=True, cache=True)
def _decide(
    gram: Array,
    signs: Floats,
    weights: Floats,
    cross: Array,
    costs: Floats,
    tol: float,
    max_iter: int,
    decisions: Floats,
) -> int:
    """Compute the decision values of one pair of classes; the number of unfinished machines."""
    beta = np.zeros(len(signs))
    slack = signs.copy()
    unfinished = 0
    settled = False  # no weight is at its bound: the solution is the same for every larger C
    bias = 0.0
    bounds = costs[0] * weights
    solutions, biases = np.empty((len(costs), len(signs))), np.empty(len(costs))
    for c in range(len(costs)):
        # Solve, starting from the solution of the previous C.
        if not settled:
            if c > 0:
                smaller, bounds = bounds, costs[c] * weights
                _stretch(signs, smaller, bounds, costs[c] / costs[c - 1], beta, slack)
            bias, n_iter = solve(gram, signs, bounds, beta, slack, tol, max_iter)
            unfinished += n_iter >= max_iter
            settled = n_iter < max_iter
            for k in range(len(signs)):
                settled = settled and beta[k] * signs[k] < bounds[k]
        biases[c] = bias
        for k in range(len(signs)):
            solutions[c, k] = beta[k]
    # Decision values for all C while a row is in the cache.
    for k in range(cross.shape[0]):
        row = cross[k]
        for c in range(len(costs)):
            decisions[c, k] = biases[c] + _dot(solutions[c], row)
    return unfinished


@njit(nogil=True, cache=True, fastmath={"reassoc", "contract"})
def _dot(a: Floats, b: Array) -> float:
    total = 0.0
    for k in range(len(a)):
        total += a[k] * b[k]
    return total


@njit(nogil=True, cache=True)
def _stretch(
    signs: Floats, bounds: Floats, new_bounds: Floats, ratio: float, beta: Floats, slack: Floats
) -> None:
    """Adapt a solution to bounds that are ``ratio`` times as large.

    If most weights are at their bounds, they will be at the larger ones, too: all are multiplied,
    which saves hundreds of steps. Otherwise the solution is not changed.
    """
    at_bound = 0
    for k in range(len(beta)):
        at_bound += beta[k] * signs[k] >= bounds[k]
    if 2 * at_bound <= len(beta):
        return
    for k in range(len(beta)):
        slack[k] = signs[k] - ratio * (signs[k] - slack[k])
        if beta[k] * signs[k] >= bounds[k]:
            beta[k] = signs[k] * new_bounds[k]  # exactly the bound
        else:
            beta[k] = signs[k] * min(ratio * beta[k] * signs[k], new_bounds[k])


@njit(nogil=True, cache=True)
def solve(
    gram: Array,
    signs: Floats,
    bounds: Floats,
    beta: Floats,
    slack: Floats,
    tol: float,
    max_iter: int,
) -> tuple[float, int]:
    """Solve the dual of a two-class machine by sequential minimal optimisation.

    Maximises Σ|β_i| − ½ βᵀKβ subject to Σβ = 0 and 0 ≤ y_i β_i ≤ C_i. Each step changes one pair
    (i, j): i is the largest violator, j the one with the largest expected gain (second-order
    selection). Weights that are optimal at a bound are left out until the others have converged.

    Parameters
    ----------
    gram : array of float32, shape (n, whole number of lanes)
        With a largest self-similarity near 1.
    signs : array of ±1
    bounds : array, shape (n,)
        C of each graph: the same for all, or larger for classes whose errors cost more.
    beta, slack : arrays, shape (n,)
        A feasible start and its y − Kβ (zeros and ``signs`` for a new start); they are overwritten
        with the solution.
    tol : float
        The largest violation of the optimality conditions.
    max_iter : int

    Returns
    -------
    bias : float
        The decision for a new graph is Σ_i β_i k(·, i) + bias.
    n_iter : int
        Steps taken; ``max_iter`` if the tolerance was not reached.

    References
    ----------
    Fan, Chen, Lin (2005), Working set selection using second order information for training
    support vector machines.
    """
    n = len(signs)
    everything = np.arange(n)
    high = np.where(signs > 0.0, bounds, 0.0)
    low = high - bounds
    index, part, part_high, part_low = everything, gram, high, low
    part_beta, part_slack = beta, slack
    n_iter = 0
    while True:
        chunk = min(max(_CHUNK, len(index)), max_iter - n_iter)
        steps, most, least = descend(part, part_high, part_low, part_beta, part_slack, tol, chunk)
        n_iter += steps
        for k in range(len(index)):
            beta[index[k]] = part_beta[k]
        if steps < chunk or n_iter >= max_iter:
            if len(index) == n:
                return _bias(high, low, beta, slack, (most + least) / 2.0), n_iter
            # Weights that were set aside take part again: they may have become active.
            _refresh(gram, signs, beta, slack)
            index, part, part_high, part_low = everything, gram, high, low
            part_beta, part_slack = beta, slack
            continue
        if n_iter >= _PATIENCE * len(index):
            active = _active(part_high, part_low, part_beta, part_slack, most, least)
            # Not sooner: set aside more eagerly, weights return again and again.
            if 2 * len(active) < len(index):
                part = take_part(part, active)
                part_high, part_low = part_high[active], part_low[active]
                part_beta, part_slack = part_beta[active], part_slack[active]
                index = index[active]


@njit(nogil=True, cache=True)
def _active(
    high: Floats, low: Floats, beta: Floats, slack: Floats, most: float, least: float
) -> Ints:
    """Positions of all weights except those that are optimal at a bound."""
    active = np.empty(len(beta), dtype=np.int64)
    n = 0
    for k in range(len(beta)):
        content_high = beta[k] >= high[k] and slack[k] > most
        content_low = beta[k] <= low[k] and slack[k] < least
        if not (content_high or content_low):
            active[n] = k
            n += 1
    return active[:n]


@njit(nogil=True, cache=True)
def _refresh(gram: Array, signs: Floats, beta: Floats, slack: Floats) -> None:
    """Compute y − Kβ."""
    slack[:] = signs
    used = np.flatnonzero(beta)
    subtract_rows(gram, used, beta[used], slack)


@njit(nogil=True, cache=True)
def _bias(high: Floats, low: Floats, beta: Floats, slack: Floats, middle: float) -> float:
    """The offset: the mean over the free weights, or the middle of what is allowed."""
    total = 0.0
    free = 0
    for k in range(len(beta)):
        if low[k] < beta[k] < high[k]:
            total += slack[k]
            free += 1
    return total / free if free else middle


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
        if steps == 0:  # below the resolution of single precision: the tolerance is missed
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
    """Take steps by a slack in single precision, which is not returned; their number.

    The slack is counted from ``middle``, near which it ends: differences keep their digits.
    """
    n, width = len(beta), gram.shape[1]
    # Separate arrays: with rows of one array the loops below are not vectorised.
    left, diagonal = np.zeros(width, dtype=np.float32), np.zeros(width, dtype=np.float32)
    rising, falling = np.full(width, _NONE), np.full(width, _ALL)
    for k in range(n):
        left[k], diagonal[k] = slack[k] - middle, gram[k, k]
        rising[k] = _ZERO if beta[k] < high[k] else _NONE
        falling[k] = _ZERO if beta[k] > low[k] else _ALL
    tops, bottoms = np.empty(LANES, dtype=np.float32), np.empty(LANES, dtype=np.float32)
    places = np.empty(LANES, dtype=np.int32)
    i, j, taken = 0, 0, 0
    step = _ZERO
    while True:
        i, most = _move(gram[i], gram[j], step, rising, left, tops, places)
        j, least = _best_partner(
            gram[i], diagonal, diagonal[i], most, falling, left, tops, bottoms, places
        )
        if most - least < tol or j < 0 or taken >= max_steps:
            return taken
        taken += 1
        curvature = max(float(diagonal[i]) + float(diagonal[j]) - 2.0 * float(gram[i, j]), _FLAT)
        above, below = high[i] - beta[i], beta[j] - low[j]
        length = min((float(most) - left[j]) / curvature, above, below)
        # Exactly onto the border, so that it counts as such.
        beta[i] = high[i] if length == above else beta[i] + length
        beta[j] = low[j] if length == below else beta[j] - length
        step = np.float32(length)
        for k in (i, j):
            rising[k] = _ZERO if beta[k] < high[k] else _NONE
            falling[k] = _ZERO if beta[k] > low[k] else _ALL


# A running maximum with its position cannot be vectorised; one maximum per lane can, since lanes
# do not depend on each other.


@njit(nogil=True, cache=True)
def _move(
    row: Array, other: Array, step: float, rising: Array, left: Array, tops: Array, places: Ints
) -> tuple[int, float]:
    """Update the slack by a step; find the largest among the weights that may rise."""
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
    diagonal: Array,
    self_similarity: float,
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
        own_row, own_part = row[begin:end], diagonal[begin:end]
        part, blocked = left[begin:end], falling[begin:end]
        place = np.int32(begin)
        for lane in range(LANES):
            value = part[lane] + blocked[lane]
            bottoms[lane] = value if value < bottoms[lane] else bottoms[lane]
            gap = most - value
            gap = gap if gap > _ZERO else _ZERO
            curvature = self_similarity + own_part[lane] - _TWO * own_row[lane]
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


@njit(nogil=True, cache=True)
def subtract_rows(gram: Array, rows: Ints, shifts: Floats, slack: Floats) -> None:
    """``slack -= shifts @ gram[rows]``, four rows in one pass; in double precision."""
    n, k = len(slack), 0
    whole = len(rows) - len(rows) % 4
    while k < whole:
        r0, r1, r2, r3 = gram[rows[k]], gram[rows[k + 1]], gram[rows[k + 2]], gram[rows[k + 3]]
        s0, s1, s2, s3 = shifts[k], shifts[k + 1], shifts[k + 2], shifts[k + 3]
        for t in range(n):
            slack[t] -= (s0 * r0[t] + s1 * r1[t]) + (s2 * r2[t] + s3 * r3[t])
        k += 4
    for k in range(whole, len(rows)):
        row, value = gram[rows[k]], shifts[k]
        for t in range(n):
            slack[t] -= value * row[t]


@njit(nogil=True, cache=True)
def take_part(gram: Array, graphs: Ints) -> Array:
    """The rows and columns of some graphs of a matrix in single precision."""
    part = np.empty((len(graphs), (len(graphs) + LANES - 1) // LANES * LANES), dtype=np.float32)
    fill_block(gram, graphs, graphs, part)
    return part


@njit(nogil=True, cache=True)
def fill_block(matrix: Floats, rows: Ints, columns: Ints, block: Array) -> None:
    """``block[:, : len(columns)] = matrix[rows][:, columns]``, and zeros beyond these columns.

    It does not hold the interpreter's lock, and the block may be in single precision.
    """
    for i in range(len(rows)):
        line = matrix[rows[i]]
        out = block[i]
        for j in range(len(columns)):
            out[j] = line[columns[j]]
        for j in range(len(columns), len(out)):
            out[j] = 0.0
