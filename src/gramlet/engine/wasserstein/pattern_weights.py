"""Learning weights of features from pairs of graphs: three solvers of one convex problem.

They minimise the weighted mean of smoothed hinge losses (`pair_loss`) over the weights that a
`WeightConstraint` allows. Input and output are arrays; kernels give them names and meaning.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gramlet.common.arrays import Bools, Floats, Ints
from gramlet.engine.core.compiled import njit
from gramlet.engine.wasserstein.pair_loss import Hinge, PairProblem

Report = Callable[[int, float], None]

# Longer steps would end at the same boundary of the constraint, and their squares overflow.
_LONGEST_STEP = 1e100
# The search along a segment stops when no more than this share of the loss can be gained.
_LITTLE, _MOST_SECANTS = 1e-8, 24
_FEW_PASSES = 3
_FOLLOWED = 512  # graphs up to which the accelerated solver is compared with the plain one


def _ignore(step: int, loss: float) -> None:
    pass


def batch(
    problem: PairProblem, step: float, max_iter: int, report: Report = _ignore
) -> tuple[Floats, list[float]]:
    """Projected gradient descent on the full loss with a fixed step, starting from w = 1."""
    step = min(step, _LONGEST_STEP)
    weights = np.ones(problem.masses.shape[1])
    common, loss = problem.common(weights)
    history = [loss]
    for done in range(1, max_iter + 1):
        weights = problem.constraint.project(weights - step * problem.gradient(common)[1])
        loss = problem.move(weights, common, common)[0]
        history.append(loss)
        report(done, loss)
    return weights, history


def accelerated(
    problem: PairProblem,
    max_iter: int,
    tol: float,
    step: float | None = None,
    report: Report = _ignore,
) -> tuple[Floats, list[float], float]:
    """Monotone projected gradient descent with momentum and a bound on the distance to the optimum.

    S is linear in w, so its value at the momentum point is free: one iteration is one pass. Unless
    it is given, the first step leads to the boundary of the balls; if that is too far, the
    curvature on the way gives a shorter one. For boxes it is 1/L. Steps grow while the quadratic
    model holds and shrink when it fails, but not below 1/L. The new point is the best one on the
    segment to the projected point, so the loss never increases. The iteration stops when the loss
    is within ``tol`` (relative) of a lower bound of the optimum. If it ends before that, or after
    few passes, the weights of `batch` after as many passes are computed as well and taken if they
    are ahead; only with few graphs, where a pass takes milliseconds.

    Returns the weights, the loss after each pass, and the certified gap.
    """
    smallest = _step_of(problem.curvature_bound())
    current = previous = np.ones(problem.masses.shape[1])
    common, loss = problem.common(current)
    previous_common, spare = np.empty_like(common), np.empty_like(common)
    history, bound, momentum = [loss], -np.inf, 1.0
    given, finished = step, False
    for done in range(1, max_iter + 1):
        following = (1.0 + np.sqrt(1.0 + 4.0 * momentum**2)) / 2.0
        lead = (momentum - 1.0) / following
        ahead = current + lead * (current - previous) if lead > 0.0 else current
        ahead_loss, gradient = (
            problem.gradient(common, previous_common, -lead)
            if lead > 0.0
            else problem.gradient(common)
        )
        if ahead_loss > loss:  # the momentum overshot: restart it from here
            following, ahead = 1.0, current
            ahead_loss, gradient = problem.gradient(common)
        bound = max(bound, problem.lower_bound(ahead_loss, ahead, gradient))
        finished = loss - bound <= tol * max(loss, np.finfo(float).tiny)
        if finished:
            break
        # The first step may be far too long: a second one follows its curvature.
        for first in (True, False) if step is None else (False,):
            step = _first_step(problem, gradient) if step is None else step
            step = min(max(step, smallest), _LONGEST_STEP)
            target = problem.constraint.project(ahead - step * gradient)
            target_common = spare
            target_loss, slope = problem.move(target, common, target_common)
            growth = _growth(step, target - ahead, gradient, target_loss - ahead_loss, first)
            step *= growth
            if growth >= 1.0:
                break
        share, reached = 1.0, target_loss
        if slope > 0.0:  # beyond the lowest point of the segment
            # The derivative at the other end, if the gradient there was needed anyway.
            known = float(gradient @ (target - current)) if ahead is current else None
            share, reached = _best_share(problem, common, target_common, loss, slope, known)
        if share < 1.0:
            target = current + share * (target - current)
            target_common -= common
            target_common *= share
            target_common += common
        previous, current = current, target
        previous_common, common, spare = common, target_common, previous_common
        momentum = following if share == 1.0 else 1.0
        loss = reached
        history.append(loss)
        report(done, loss)
    n_passes = len(history) - 1
    if len(problem.classes) <= _FOLLOWED and (n_passes <= _FEW_PASSES or not finished):
        plain_step = _step_of(problem.lipschitz()) if given is None else given
        plain, losses = batch(problem, plain_step, n_passes)
        if losses[-1] < loss:
            current, loss = plain, losses[-1]
            history[-1] = loss
    return current, history, max(0.0, loss - bound)


def _step_of(curvature: float) -> float:
    return 1.0 / curvature if curvature > 0 else 1.0


def _first_step(problem: PairProblem, gradient: Floats) -> float:
    """To the boundary of the balls, or 1/L."""
    reach = problem.constraint.reach(gradient)
    if reach is not None:
        return reach
    return _step_of(problem.lipschitz())


def _growth(step: float, move: Floats, gradient: Floats, gain: float, first: bool) -> float:
    """The factor by which the next step is longer or shorter.

    It is 2 if the loss changes by no more than the quadratic model with curvature 1/step says, 4 if
    by far less, and otherwise the factor that makes the model exact, within limits after the first
    step: the curvature differs from place to place.
    """
    model = float(move @ move) / (2.0 * step)
    excess = gain - float(gradient @ move)
    if excess <= model:
        return 4.0 if 8.0 * excess <= model else 2.0
    exact = model / excess
    return exact if first else min(max(exact, 0.25), 0.7)


def _best_share(
    problem: PairProblem,
    here: Floats,
    there: Floats,
    loss_here: float,
    slope_there: float,
    slope_here: float | None = None,
) -> tuple[float, float]:
    """How far to go from ``here`` to ``there``, where the loss increases, and the loss there.

    The derivative of the loss increases along the segment. Its zero is enclosed by secants; an end
    that stays counts half in the next one (the Illinois rule), so that both ends approach it. The
    search stops when convexity shows that little can be gained.
    """
    low, high = 0.0, 1.0
    low_loss, low_slope = loss_here, slope_here
    if low_slope is None:
        low_loss, low_slope = problem.loss(here, there, 0.0)
    if low_slope >= 0.0:
        return 0.0, loss_here
    left, right = low_slope, slope_there  # as secants count them
    moved = ""
    for _ in range(_MOST_SECANTS):
        if -low_slope * (high - low) <= _LITTLE * low_loss:
            break
        share = low - left * (high - low) / (right - left)
        value, slope = problem.loss(here, there, share)
        if slope > 0.0:
            high, right = share, slope
            left *= 0.5 if moved == "high" else 1.0
            moved = "high"
        else:
            low, low_loss, low_slope, left = share, value, slope, slope
            right *= 0.5 if moved == "low" else 1.0
            moved = "low"
    return (low, low_loss) if low_loss <= loss_here else (0.0, loss_here)


def stochastic(
    problem: PairProblem, step: float, max_iter: int, rng: np.random.RandomState
) -> tuple[Floats, list[float]]:
    """Stochastic gradient descent: one random ordered pair per step, fixed step size, from w = 1.

    The loss is computed only at the start and at the end.
    """
    step = min(step, _LONGEST_STEP)
    masses, n = problem.masses, problem.masses.shape[0]
    indptr, columns = masses.indptr.astype(np.int64), masses.indices.astype(np.int64)
    pairs = rng.randint(0, n, size=(max_iter, 2)).astype(np.int64)
    weights = np.ones(masses.shape[1])
    first = problem.common(weights)[1]
    hinge = problem.hinge
    # A pair counts as the mean over all pairs.
    hinge = hinge._replace(
        weight_same=hinge.weight_same * n * n, weight_diff=hinge.weight_diff * n * n
    )
    allowed = problem.constraint
    radii, starts = allowed.radii, allowed.level_starts
    levels = np.searchsorted(starts, np.arange(masses.shape[1]), side="right") - 1
    distances = np.zeros(len(radii))
    # For a ball with radius up to 1, only the distance from 1 shows that weights left the
    # constraint; otherwise they are projected after every step.
    one_by_one = allowed.kind == "box" or bool((radii > 1.0).any())
    for i, j in pairs:
        touched = _pair_step(
            i,
            j,
            indptr,
            columns,
            masses.data,
            problem.fixed,
            problem.classes[i] == problem.classes[j],
            hinge,
            step,
            weights,
            levels,
            allowed.free,
            distances,
        )
        if touched and (one_by_one or (distances > radii**2).any()):
            weights = allowed.project(weights)
            distances[:] = np.bincount(levels, weights=(weights - 1.0) ** 2, minlength=len(radii))
    return weights, [first, problem.common(weights)[1]]


@njit(nogil=True, cache=True)
def _pair_step(
    i: int,
    j: int,
    indptr: Ints,
    columns: Ints,
    values: Floats,
    fixed: Floats,
    same_class: bool,
    hinge: Hinge,
    step: float,
    weights: Floats,
    levels: Ints,
    free: Bools,
    distances: Floats,
) -> bool:
    """One gradient step for one pair, in place; False if its loss is 0."""
    # The distance, by a walk over both sorted rows.
    d = hinge.offset - min(fixed[i], fixed[j])
    p, q = indptr[i], indptr[j]
    while p < indptr[i + 1] and q < indptr[j + 1]:
        if columns[p] < columns[q]:
            p += 1
        elif columns[p] > columns[q]:
            q += 1
        else:
            d -= weights[columns[p]] * min(values[p], values[q])
            p += 1
            q += 1
    # The derivative of the smoothed hinge.
    excess = d - hinge.alpha_same if same_class else hinge.alpha_diff - d
    if excess <= 0.0:
        return False
    slope = min(1.0, excess / hinge.sigma)
    slope *= -hinge.weight_same if same_class else hinge.weight_diff
    # Change the weights of shared features, and the levels' squared distances from 1.
    p, q = indptr[i], indptr[j]
    while p < indptr[i + 1] and q < indptr[j + 1]:
        if columns[p] < columns[q]:
            p += 1
        elif columns[p] > columns[q]:
            q += 1
        else:
            f = columns[p]
            if free[f]:
                before = weights[f] - 1.0
                weights[f] -= step * slope * min(values[p], values[q])
                after = weights[f] - 1.0
                distances[levels[f]] += after * after - before * before
            p += 1
            q += 1
    return True
