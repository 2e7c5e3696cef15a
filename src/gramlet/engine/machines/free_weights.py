"""Many weights of a support vector machine moved at once: those strictly between their bounds.

Steps of one pair at a time become short where the kernel takes graphs for nearly the same and C is
large. Between bounds the problem is a system of linear equations, which conjugate gradients solve;
where their way leaves the bounds, it is cut off there. What else has to move, weights that leave
their bounds among it, is left to the steps of `support_vectors`.
"""

from __future__ import annotations

import numpy as np

from gramlet.common.arrays import Array, Floats, Ints
from gramlet.engine.core.compiled import njit

__all__ = ["move_free_weights", "subtract_rows"]

_FEWEST = 3  # free weights below which pairs do as well
_MOST = 700  # above which their matrix does not fit into the cache of a core
_DIRECTIONS = 20  # conjugate directions before the bounds are looked at; doubled if none was met
_MOST_DIRECTIONS = 320
_ROUNDS = 6  # looks at the bounds in one call
_SHARES = (1.0, 0.4, 0.15)  # of the way that are tried
_ACCURACY = 0.05  # root mean square of what is left of the slack, in tolerances
_FLAT = 1e-7  # curvature that single precision cannot tell from 0
_SUMS = {"reassoc", "contract", "nsz"}


@njit(nogil=True, cache=True)
def move_free_weights(
    gram: Array, high: Floats, low: Floats, beta: Floats, slack: Floats, tol: float
) -> None:
    """Move the weights between their bounds towards their optimum, the others held fixed.

    Maximises what `support_vectors.solve` does over the weights that are free now. The sum of the
    weights and all bounds are kept, and the objective never falls.

    Parameters
    ----------
    gram : array of float32, shape (n, n or more)
    high, low, beta, slack : arrays, shape (n,)
        The bounds, a feasible point and y − Kβ for it; the last two are changed.
    tol : float
        As of `support_vectors.solve`.
    """
    free = _between(high, low, beta)
    m = len(free)
    if not _FEWEST <= m <= _MOST:
        return
    # Directions are computed in single precision, and what they are worth in double precision.
    own = np.empty((m, m), dtype=np.float32)
    point, top, bottom, left = np.empty(m), np.empty(m), np.empty(m), np.empty(m)
    for a in range(m):
        row, out = gram[free[a]], own[a]
        for b in range(m):
            out[b] = row[free[b]]
        point[a], left[a] = beta[free[a]], slack[free[a]]
        top[a], bottom[a] = high[free[a]], low[free[a]]
    start, before = point.copy(), left.copy()
    _rounds(own, point, top, bottom, left, tol)
    shifts = point - start
    subtract_rows(gram, free, shifts, slack)
    gain = 0.0
    for a in range(m):
        gain += 0.5 * shifts[a] * (before[a] + slack[free[a]])
    if gain > 0.0:
        for a in range(m):
            beta[free[a]] = point[a]
    else:
        subtract_rows(gram, free, -shifts, slack)


@njit(nogil=True, cache=True)
def _between(high: Floats, low: Floats, beta: Floats) -> Ints:
    free = np.empty(len(beta), dtype=np.int64)
    m = 0
    for k in range(len(beta)):
        if low[k] < beta[k] < high[k]:
            free[m] = k
            m += 1
    return free[:m]


@njit(nogil=True, cache=True)
def _rounds(
    own: Array, point: Floats, top: Floats, bottom: Floats, left: Floats, tol: float
) -> None:
    """Go along conjugate directions, cut the way off at the bounds, and go on from there."""
    m = len(point)
    way, trial = np.empty(m, dtype=np.float32), np.empty(m)
    shift, image = np.empty(m, dtype=np.float32), np.empty(m, dtype=np.float32)
    loose = np.ones(m, dtype=np.float32)  # 0 for weights that have met a bound
    directions = _DIRECTIONS
    for _ in range(_ROUNDS):
        settled = _along_directions(own, left, loose, directions, tol, way)
        gain = 0.0
        for share in _SHARES:
            for a in range(m):
                trial[a] = point[a] + share * way[a]
            _into_bounds(trial, point, top, bottom, loose)
            for a in range(m):
                shift[a] = trial[a] - point[a]
            _product(own, shift, image)
            gain = 0.0
            for a in range(m):
                gain += (trial[a] - point[a]) * (left[a] - 0.5 * image[a])
            if gain > 0.0:
                break
        if not gain > 0.0:
            if directions <= 2:
                return
            directions //= 4
            continue
        met = False
        for a in range(m):
            point[a] = trial[a]
            left[a] -= image[a]
            if loose[a] > 0.0 and not bottom[a] < point[a] < top[a]:
                loose[a] = 0.0
                met = True
        if not met:
            if settled:
                return
            directions = min(2 * directions, _MOST_DIRECTIONS)


@njit(nogil=True, cache=True)
def _along_directions(
    own: Array, left: Floats, loose: Array, directions: int, tol: float, way: Array
) -> bool:
    """Conjugate gradients over the loose weights, whose sum stays; whether they settled."""
    m = len(left)
    rest, direction = np.empty(m, dtype=np.float32), np.empty(m, dtype=np.float32)
    image = np.empty(m, dtype=np.float32)
    way[:] = 0.0
    count = 0.0
    for a in range(m):
        rest[a] = left[a]
        count += loose[a]
    enough = max(count, 1.0) * (_ACCURACY * tol) ** 2
    square = _centre(rest, loose)
    direction[:] = rest
    taken = 0
    while square > enough and taken < directions:
        _product(own, direction, image)
        curvature, length = _two_products(direction, image)
        if not curvature > _FLAT * length:
            break
        _advance(np.float32(square / curvature), direction, image, way, rest)
        before = square
        square = _centre(rest, loose)
        ratio = np.float32(square / before)
        for a in range(m):
            direction[a] = rest[a] + ratio * direction[a]
        taken += 1
    _centre(way, loose)
    return square <= enough


@njit(nogil=True, cache=True, fastmath=_SUMS)
def _centre(values: Array, loose: Array) -> float:
    """Take the mean of the loose entries off them, set the others to 0; the sum of squares."""
    total, count = np.float32(0.0), np.float32(0.0)
    for a in range(len(values)):
        total += values[a] * loose[a]
        count += loose[a]
    mean = total / max(count, np.float32(1.0))
    square = np.float32(0.0)
    for a in range(len(values)):
        value = (values[a] - mean) * loose[a]
        values[a] = value
        square += value * value
    return float(square)


@njit(nogil=True, cache=True, fastmath=_SUMS)
def _two_products(direction: Array, image: Array) -> tuple[float, float]:
    """Direction · image and direction · direction."""
    curvature, length = np.float32(0.0), np.float32(0.0)
    for a in range(len(direction)):
        curvature += direction[a] * image[a]
        length += direction[a] * direction[a]
    return float(curvature), float(length)


@njit(nogil=True, cache=True)
def _advance(share: float, direction: Array, image: Array, way: Array, rest: Array) -> None:
    for a in range(len(way)):
        way[a] += share * direction[a]
        rest[a] -= share * image[a]


@njit(nogil=True, cache=True, fastmath=_SUMS)
def _product(matrix: Array, vector: Array, image: Array) -> None:
    """A symmetric matrix times a vector, both in single precision."""
    m = len(vector)
    whole = m - m % 8
    image[:] = 0.0
    for a in range(0, whole, 8):
        r0, r1, r2, r3 = matrix[a], matrix[a + 1], matrix[a + 2], matrix[a + 3]
        r4, r5, r6, r7 = matrix[a + 4], matrix[a + 5], matrix[a + 6], matrix[a + 7]
        v0, v1, v2, v3 = vector[a], vector[a + 1], vector[a + 2], vector[a + 3]
        v4, v5, v6, v7 = vector[a + 4], vector[a + 5], vector[a + 6], vector[a + 7]
        for b in range(m):
            image[b] += ((v0 * r0[b] + v1 * r1[b]) + (v2 * r2[b] + v3 * r3[b])) + (
                (v4 * r4[b] + v5 * r5[b]) + (v6 * r6[b] + v7 * r7[b])
            )
    for a in range(whole, m):
        row, value = matrix[a], vector[a]
        for b in range(m):
            image[b] += value * row[b]


@njit(nogil=True, cache=True)
def _into_bounds(trial: Floats, point: Floats, top: Floats, bottom: Floats, loose: Array) -> None:
    """The nearest point within the bounds whose loose weights have the sum they had."""
    m = len(trial)
    wanted, total, outside = 0.0, 0.0, False
    for a in range(m):
        if loose[a] > 0.0:
            wanted += point[a]
            total += trial[a]
            outside = outside or not bottom[a] < trial[a] < top[a]
        else:
            trial[a] = point[a]
    if not outside:
        _put(wanted - total, trial, top, bottom, loose)
        return
    below, above = np.inf, -np.inf  # the shift is between these: all at the top, all at the bottom
    for a in range(m):
        if loose[a] > 0.0:
            below = min(below, trial[a] - top[a])
            above = max(above, trial[a] - bottom[a])
    shift = 0.0
    for _ in range(100):
        total, inside = 0.0, 0
        for a in range(m):
            if loose[a] > 0.0:
                value = trial[a] - shift
                inside += bottom[a] < value < top[a]
                total += min(max(value, bottom[a]), top[a])
        excess = total - wanted
        if excess > 0.0:
            below = shift
        elif excess < 0.0:
            above = shift
        else:
            break
        after = shift + excess / inside if inside else shift
        if not below < after < above:
            after = 0.5 * (below + above)
        if after == shift:
            break
        shift = after
    rest = wanted
    for a in range(m):
        if loose[a] > 0.0:
            trial[a] = min(max(trial[a] - shift, bottom[a]), top[a])
            rest -= trial[a]
    _put(rest, trial, top, bottom, loose)


@njit(nogil=True, cache=True)
def _put(rest: float, trial: Floats, top: Floats, bottom: Floats, loose: Array) -> None:
    """Give what rounding has left of a sum to a weight that has room for it."""
    for a in range(len(trial)):
        inside = bottom[a] < trial[a] < top[a] and bottom[a] < trial[a] + rest < top[a]
        if loose[a] > 0.0 and inside:
            trial[a] += rest
            return
    for a in range(len(trial)):
        if loose[a] > 0.0 and bottom[a] <= trial[a] + rest <= top[a]:
            trial[a] += rest
            return


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
