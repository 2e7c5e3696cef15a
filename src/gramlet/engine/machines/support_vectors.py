"""Support vector machines on precomputed Gram matrices, for many values of C at once.

Choosing C and a kernel's options by nested cross-validation takes tens of thousands of small
problems, for which a general estimator spends most of its time checking the input. Here one
compiled call solves a whole grid of C, starting each solution from the previous one. It only gives
decision values for model selection: the final classifiers are scikit-learn's.
"""

from __future__ import annotations

import numpy as np

from gramlet.common.arrays import Array, Floats, Ints
from gramlet.engine.core.compiled import njit
from gramlet.engine.core.workspace import Workspace
from gramlet.engine.machines.free_weights import move_free_weights, subtract_rows
from gramlet.engine.machines.pair_steps import descend
from gramlet.engine.machines.single_precision import (
    fill_block,
    require_padded,
    rounded_blocks,
    take_part,
)

__all__ = ["decide_by_cost", "solve"]


_LEAST_CHUNK = 400  # steps between two looks at which weights are still in play
_PATIENCE = 4  # steps per weight before weights are laid aside
_MOSTLY_AT_BOUNDS = 10.0  # C times graphs up to which nearly all weights are at their bounds
_BALANCE = 8.0  # steps times weights before the free weights move at once, per square of these


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
    n_iter, since = 0, 0
    while True:
        chunk = min(max(_LEAST_CHUNK, len(index)), max_iter - n_iter)
        steps, most, least = descend(part, part_high, part_low, part_beta, part_slack, tol, chunk)
        n_iter += steps
        since += steps
        for k in range(len(index)):
            beta[index[k]] = part_beta[k]
        if steps < chunk or n_iter >= max_iter:
            if len(index) == n:
                return _bias(high, low, beta, slack, (most + least) / 2.0), n_iter
            # What was laid aside comes back: it may have come into play again.
            _refresh(gram, signs, beta, slack)
            index, part, part_high, part_low = everything, gram, high, low
            part_beta, part_slack = beta, slack
            continue
        if n_iter >= _PATIENCE * len(index):
            kept = _in_play(part_high, part_low, part_beta, part_slack, most, least)
            # Not sooner: laid aside more eagerly, weights come back again and again.
            if 2 * len(kept) < len(index):
                part = take_part(part, kept)
                part_high, part_low = part_high[kept], part_low[kept]
                part_beta, part_slack = part_beta[kept], part_slack[kept]
                index = index[kept]
        free = np.count_nonzero((part_beta > part_low) & (part_beta < part_high))
        if since * len(index) >= _BALANCE * free * free:
            move_free_weights(part, part_high, part_low, part_beta, part_slack, tol)
            since = 0


@njit(nogil=True, cache=True)
def _in_play(
    high: Floats, low: Floats, beta: Floats, slack: Floats, most: float, least: float
) -> Ints:
    """The weights that may still change: all except those that are optimal at a bound."""
    kept = np.empty(len(beta), dtype=np.int64)
    n = 0
    for k in range(len(beta)):
        content_high = beta[k] >= high[k] and slack[k] > most
        content_low = beta[k] <= low[k] and slack[k] < least
        if not (content_high or content_low):
            kept[n] = k
            n += 1
    return kept[:n]


@njit(nogil=True, cache=True)
def _refresh(gram: Array, signs: Floats, beta: Floats, slack: Floats) -> None:
    """Compute y − Kβ anew."""
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
def _fill_to_bounds(gram: Array, signs: Floats, bound: float, beta: Floats, slack: Floats) -> None:
    """A start for a small C: as many weights of either class at the bound as the smaller one has.

    It takes one pass over the matrix instead of a step for every two of these weights.
    """
    n_rising = np.count_nonzero(signs > 0.0)
    least = min(n_rising, len(signs) - n_rising)
    left = np.full(2, least)
    for k in range(len(signs)):
        side = int(signs[k] > 0.0)
        if left[side] > 0:
            beta[k] = signs[k] * bound
            left[side] -= 1
    _refresh(gram, signs, beta, slack)


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
    """Fill in the decision values of one pair of classes; return the runs cut short."""
    beta = np.zeros(len(signs))
    slack = signs.copy()
    # Classes of different weights have bounds that do not add up to the same without a rest.
    if costs[0] * len(signs) <= _MOSTLY_AT_BOUNDS and (weights == 1.0).all():
        _fill_to_bounds(gram, signs, costs[0], beta, slack)
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
    # The decision values, of all C while a row is in the cache.
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


def decide_by_cost(
    gram: Array,
    classes: Ints,
    weights: Floats,
    cross: Array,
    costs: Floats,
    tol: float,
    max_iter: int,
    space: Workspace | None = None,
) -> tuple[Floats, int]:
    """Decision values of support vector machines, one per pair of classes, for each C.

    Parameters
    ----------
    gram : array of float64, shape (n, n), or of float32, shape (n, whole number of lanes)
        Of the training graphs, C-contiguous. In double precision it is scaled and rounded first; in
        single precision its largest self-similarity is near 1, and rows end with zeros.
    classes : array of int64
        Their classes, from 0.
    weights : array, one number per class
        C is multiplied by it for the graphs of a class.
    cross : array, shape (m, n) or (m, whole number of lanes)
        The kernel between the graphs to classify (rows) and the training graphs, likewise.
    costs : array
        The values of C, ascending.
    tol : float
        Not far below 1e-7 times the largest C: what rounding the matrix changes.
    max_iter : int
        The largest number of steps per machine.
    space : Workspace, optional
        Memory that the next call can use again.

    Returns
    -------
    decisions : array, shape (pairs, costs, m)
        Positive for the first class of a pair; pairs are (0, 1), (0, 2), ..., (1, 2), ...
    unfinished : int
        How many machines stopped at ``max_iter``.
    """
    if gram.dtype != np.float32:
        space = Workspace() if space is None else space
        gram, cross, factor = rounded_blocks(gram, cross, space)
        costs = costs / factor
    require_padded(gram, cross)
    found: tuple[Floats, int] = _decide_by_cost(gram, classes, weights, cross, costs, tol, max_iter)
    return found


@njit(nogil=True, cache=True)
def _decide_by_cost(
    gram: Array,
    classes: Ints,
    weights: Floats,
    cross: Array,
    costs: Floats,
    tol: float,
    max_iter: int,
) -> tuple[Floats, int]:
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
            own = take_part(gram, mine)
            new = np.empty((len(cross), len(mine)), dtype=np.float32)
            fill_block(cross, everything, mine, new)
            unfinished += _decide(
                own, signs, weights[classes[mine]], new, costs, tol, max_iter, decisions[pair]
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
