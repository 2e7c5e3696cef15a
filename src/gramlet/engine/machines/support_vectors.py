"""Support vector machines on precomputed Gram matrices, for many values of C at once.

Choosing C and a kernel's options by nested cross-validation takes tens of thousands of small
problems, for which a general estimator spends most of its time checking the input. Here one
compiled call solves a whole grid of C, starting each solution from the previous one. It only gives
decision values for model selection: the final classifiers are scikit-learn's.
"""

from __future__ import annotations

import numpy as np

from gramlet.common.arrays import Floats, Ints
from gramlet.engine.core.compiled import inner, njit

__all__ = ["decide_by_cost", "fill_block", "solve", "take_block"]


_LEAST_CHUNK = 1000  # steps between two checks of which weights may still change
_LANES = 64  # number of running maxima side by side
_FLAT = 1e-12  # curvature of a pair of graphs that the kernel does not distinguish


@njit(nogil=True, cache=True)
def fill_block(matrix: Floats, rows: Ints, columns: Ints, block: Floats) -> None:
    """``block[:] = matrix[rows][:, columns]``, without holding the interpreter's lock."""
    for i in range(len(rows)):
        line = matrix[rows[i]]
        out = block[i]
        for j in range(len(columns)):
            out[j] = line[columns[j]]


@njit(nogil=True, cache=True)
def take_block(matrix: Floats, rows: Ints, columns: Ints) -> Floats:
    """``matrix[rows][:, columns]``, without holding the interpreter's lock."""
    block = np.empty((len(rows), len(columns)))
    fill_block(matrix, rows, columns, block)
    return block


@inner
def solve(
    gram: Floats,
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
    gram : array, shape (n, n)
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
    index, part, part_signs, part_bounds = everything, gram, signs, bounds
    part_beta, part_slack = beta, slack
    n_iter = 0
    while True:
        chunk = min(max(_LEAST_CHUNK, 4 * len(index)), max_iter - n_iter)
        steps, most, least = _descend(
            part, part_signs, part_bounds, part_beta, part_slack, tol, chunk
        )
        n_iter += steps
        for k in range(len(index)):
            beta[index[k]] = part_beta[k]
        if steps < chunk or n_iter >= max_iter:
            if len(index) == n:
                return _bias(signs, bounds, beta, slack, (most + least) / 2.0), n_iter
            # Include all weights again: those left out may violate the conditions by now.
            _refresh(gram, signs, beta, slack)
            index, part, part_signs, part_bounds = everything, gram, signs, bounds
            part_beta, part_slack = beta, slack
            continue
        kept = _in_play(part_signs, part_bounds, part_beta, part_slack, most, least)
        # Shrink only if more than half can be left out; otherwise weights return too often.
        if 2 * len(kept) < len(index):
            part = take_block(part, kept, kept)
            part_signs, part_bounds = part_signs[kept], part_bounds[kept]
            part_beta, part_slack = part_beta[kept], part_slack[kept]
            index = index[kept]


@inner
def _descend(
    gram: Floats,
    signs: Floats,
    bounds: Floats,
    beta: Floats,
    slack: Floats,
    tol: float,
    max_steps: int,
) -> tuple[int, float, float]:
    """Change pairs until no slack that may rise is ``tol`` above one that may fall.

    Returns the number of steps, and these two slacks.
    """
    n = len(signs)
    # Separate arrays: with rows of one array, the loops below are not vectorised.
    high, low, own = np.empty(n), np.empty(n), np.empty(n)
    rising, falling = np.empty(n), np.empty(n)
    for k in range(n):
        own[k] = gram[k, k]
        high[k] = bounds[k] if signs[k] > 0 else 0.0
        low[k] = high[k] - bounds[k]
        rising[k] = 0.0 if beta[k] < high[k] else -np.inf
        falling[k] = 0.0 if beta[k] > low[k] else np.inf
    tops, bottoms = np.empty(_LANES), np.empty(_LANES)
    places = np.empty(_LANES, dtype=np.int64)
    step, i, j, n_steps = 0.0, 0, 0, 0
    while True:
        i, most = _move(gram[i], gram[j], step, rising, slack, tops, places)
        j, least = _best_partner(gram[i], own, own[i], most, falling, slack, tops, bottoms, places)
        if most - least < tol or j < 0 or n_steps >= max_steps:
            return n_steps, most, least
        n_steps += 1
        curvature = max(own[i] + own[j] - 2.0 * gram[i, j], _FLAT)
        above = high[i] - beta[i]
        below = beta[j] - low[j]
        step = min((most - slack[j]) / curvature, above, below)
        # Set exactly to the bound, so that it is recognised as such.
        beta[i] = high[i] if step == above else beta[i] + step
        beta[j] = low[j] if step == below else beta[j] - step
        for k in (i, j):
            rising[k] = 0.0 if beta[k] < high[k] else -np.inf
            falling[k] = 0.0 if beta[k] > low[k] else np.inf


# The two passes over all weights below take most of the time. A running maximum with its position
# cannot be vectorised; one maximum per lane can, as lanes do not depend on each other.


@inner
def _move(
    row: Floats,
    other: Floats,
    step: float,
    rising: Floats,
    slack: Floats,
    tops: Floats,
    places: Ints,
) -> tuple[int, float]:
    """Update the slack by a step; find the largest among the weights that may rise."""
    # One maximum per lane.
    n = len(slack)
    whole = n - n % _LANES
    tops[:] = -np.inf
    places[:] = 0
    for begin in range(0, whole, _LANES):
        end = begin + _LANES
        own_row, other_row = row[begin:end], other[begin:end]
        part, blocked = slack[begin:end], rising[begin:end]
        for lane in range(_LANES):
            moved = part[lane] - step * (own_row[lane] - other_row[lane])
            part[lane] = moved
            value = moved + blocked[lane]
            larger = value > tops[lane]
            tops[lane] = value if larger else tops[lane]
            places[lane] = begin if larger else places[lane]
    # The maximum over all lanes, and over the remaining weights.
    largest, most = _first_largest(tops, places, -np.inf)
    for k in range(whole, n):
        slack[k] -= step * (row[k] - other[k])
        if slack[k] + rising[k] > most:
            most = slack[k]
            largest = k
    return max(largest, 0), most


@inner
def _best_partner(
    row: Floats,
    own: Floats,
    mine: float,
    most: float,
    falling: Floats,
    slack: Floats,
    tops: Floats,
    bottoms: Floats,
    places: Ints,
) -> tuple[int, float]:
    """Among the weights that may fall, the one whose step with i gains most; the least slack."""
    # One largest gain and one smallest slack per lane.
    n = len(slack)
    whole = n - n % _LANES
    tops[:] = 0.0
    places[:] = 0
    bottoms[:] = np.inf
    for begin in range(0, whole, _LANES):
        end = begin + _LANES
        own_row, own_part = row[begin:end], own[begin:end]
        part, blocked = slack[begin:end], falling[begin:end]
        for lane in range(_LANES):
            value = part[lane] + blocked[lane]
            bottoms[lane] = value if value < bottoms[lane] else bottoms[lane]
            gap = most - value
            gap = gap if gap > 0.0 else 0.0
            curvature = mine + own_part[lane] - 2.0 * own_row[lane]
            curvature = curvature if curvature > _FLAT else _FLAT
            gain = gap * gap / curvature
            larger = gain > tops[lane]
            tops[lane] = gain if larger else tops[lane]
            places[lane] = begin if larger else places[lane]
    # The best over all lanes, and over the remaining weights.
    j, best = _first_largest(tops, places, 0.0)
    least = bottoms.min()
    for k in range(whole, n):
        value = slack[k] + falling[k]
        least = min(least, value)
        gap = max(most - value, 0.0)
        gain = gap * gap / max(mine + own[k] - 2.0 * row[k], _FLAT)
        if gain > best:
            best = gain
            j = k
    return j, least


@inner
def _first_largest(tops: Floats, places: Ints, above: float) -> tuple[int, float]:
    """The first position of the largest value over all lanes, and the value; −1 if none."""
    first = -1
    most = above
    for lane in range(_LANES):
        here = places[lane] + lane
        if tops[lane] > most or (tops[lane] == most and 0 <= here < first):
            most = tops[lane]
            first = here
    return first, most


@inner
def _in_play(
    signs: Floats, bounds: Floats, beta: Floats, slack: Floats, most: float, least: float
) -> Ints:
    """The weights that may still change: all except those that are optimal at a bound."""
    kept = np.empty(len(beta), dtype=np.int64)
    n = 0
    for k in range(len(beta)):
        high = bounds[k] if signs[k] > 0 else 0.0
        content_high = beta[k] >= high and slack[k] > most
        content_low = beta[k] <= high - bounds[k] and slack[k] < least
        if not (content_high or content_low):
            kept[n] = k
            n += 1
    return kept[:n]


@inner
def _refresh(gram: Floats, signs: Floats, beta: Floats, slack: Floats) -> None:
    """Recompute y − Kβ."""
    for k in range(len(slack)):
        slack[k] = signs[k]
    for j in range(len(beta)):
        if beta[j] != 0.0:
            row = gram[j]
            for k in range(len(slack)):
                slack[k] -= beta[j] * row[k]


@inner
def _bias(signs: Floats, bounds: Floats, beta: Floats, slack: Floats, middle: float) -> float:
    """The bias: the mean slack of the free weights, or ``middle`` if there are none."""
    total = 0.0
    free = 0
    for k in range(len(beta)):
        if 0.0 < beta[k] * signs[k] < bounds[k]:
            total += slack[k]
            free += 1
    return total / free if free else middle


@inner
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


@inner
def _decide(
    gram: Floats,
    signs: Floats,
    weights: Floats,
    cross: Floats,
    costs: Floats,
    tol: float,
    max_iter: int,
    decisions: Floats,
) -> int:
    """Fill in the decision values of one pair of classes; return how many C did not converge."""
    beta = np.zeros(len(signs))
    slack = signs.copy()
    unfinished = 0
    settled = False  # no weight is at its bound: the solution is the same for every larger C
    bias = 0.0
    bounds = costs[0] * weights
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
        # The decision values.
        for k in range(cross.shape[0]):
            decision = bias
            for i in range(len(signs)):
                decision += beta[i] * cross[k, i]
            decisions[c, k] = decision
    return unfinished


@njit(nogil=True, cache=True)
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
    gram : array, shape (n, n)
        Of the training graphs, C-contiguous.
    classes : array of int64
        Their classes, from 0.
    weights : array, one number per class
        C is multiplied by it for the graphs of a class.
    cross : array, shape (m, n)
        The kernel between the graphs to classify (rows) and the training graphs.
    costs : array
        The values of C, ascending.
    tol : float
    max_iter : int
        The largest number of steps per machine.

    Returns
    -------
    decisions : array, shape (pairs, costs, m)
        Positive for the first class of a pair; pairs are (0, 1), (0, 2), ..., (1, 2), ...
    unfinished : int
        How many machines stopped at ``max_iter``.
    """
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
            own = take_block(gram, mine, mine)
            new = take_block(cross, everything, mine)
            unfinished += _decide(
                own, signs, weights[classes[mine]], new, costs, tol, max_iter, decisions[pair]
            )
            pair += 1
    return decisions, unfinished


@inner
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
