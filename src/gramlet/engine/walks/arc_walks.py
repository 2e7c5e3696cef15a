"""Sums over common walks of directed graphs, for all pairs of many graphs.

Vectors over the product graph are laid out as in `product_walks`, and A× follows arcs. It is not
symmetric, so the methods for undirected graphs (conjugate gradients, squares of half walks) do not
apply. Without negative weights no term of a sum is negative: a short geometric series is summed
term by term; a long one is solved by GMRES, down to a residual that is checked entry by entry.
`arc_radius` checks that a decay is small enough.
"""

from __future__ import annotations

import numpy as np

from gramlet.common.arrays import Floats
from gramlet.engine.core.compiled import njit
from gramlet.engine.core.ragged import copy_into
from gramlet.engine.walks.product_walks import (
    EXPONENTIAL,
    GEOMETRIC,
    LabelledGraphs,
    Pair,
    apply_product,
    lay_out,
    room,
)

__all__ = ["LARGEST_SIGNED", "arc_walk_rows"]

# With negative weights the system of a geometric sum is solved densely, up to this size.
LARGEST_SIGNED = 2000

# The summation of a geometric series stops when no entry of a term is above this.
_ACCURACY = 1e-16
# Terms of the geometric series that are summed before GMRES is tried, and at most.
_FEW_TERMS, _MOST_TERMS = 64, 300_000
# No exponential in the range of a float64 needs this many terms or pieces.
_MANY_TERMS = 100_000
# Size of the subspace of GMRES, the numbers it may store, and the largest number of restarts.
_SUBSPACE, _ROOM, _STARTS = 30, 20_000_000, 200
# The residual of a solution, entry by entry, relative to the entry.
_RESIDUAL = 1e-14


@njit(nogil=True, cache=True)
def arc_walk_rows(
    begin: int,
    end: int,
    left: LabelledGraphs,
    right: LabelledGraphs,
    signed: bool,
    kind: int,
    decay: float,
    n_steps: int,
    which: int,
    out: Floats,
) -> None:
    """Fill rows ``begin:end`` of the matrix of sums over common walks along arcs.

    The parameters are those of `product_walks.walk_rows` without the radii. A value is NaN if the
    sum did not converge, inf if it is too large, and −inf if the product graph has negative weights
    and more than `LARGEST_SIGNED` nodes.
    """
    n_right = len(right.node_offsets) - 1
    low, high, start, row = room(left, right)
    space = np.empty((3, 0))
    for i in range(begin, end):
        for j in range(i if which > 0 else 0, i + 1 if which == 2 else n_right):
            # The layout of the product graph, with workspace for three vectors.
            pair = Pair(left, i, right, j, low, high, start, row)
            n = lay_out(pair)
            if n > space.shape[1]:
                space = np.empty((3, n + n // 2))
            # The sum, by the method of its kind.
            if n == 0:
                value = 0.0
            elif kind == GEOMETRIC:
                if signed:
                    value = _dense_geometric(pair, decay, n)
                else:
                    value = _geometric(pair, decay, n, space)
            elif kind == EXPONENTIAL:
                value = _exponential(pair, decay, signed, n, space)
            else:
                value = _steps(pair, decay, n_steps, n, space)
            out[i, 0 if which == 2 else j] = value


@njit(nogil=True, cache=True)
def _steps(pair: Pair, decay: float, n_steps: int, n: int, space: Floats) -> float:
    """Σ_{i ≤ p} λ^i 1ᵀA×^i 1."""
    here, there = space[0], space[1]
    here[:n] = 1.0
    total = float(n)
    for _ in range(n_steps):
        apply_product(pair, here, there)
        added, largest = 0.0, 0.0
        for k in range(n):
            there[k] *= decay
            added += there[k]
            largest = max(largest, abs(there[k]))
        total += added
        if largest == 0.0:
            break
        here, there = there, here
    return total


@njit(nogil=True, cache=True)
def _geometric(pair: Pair, decay: float, n: int, space: Floats) -> float:
    """1ᵀ(I − λA×)⁻¹1 for weights that are not negative; NaN if it does not converge.

    With M = I − λA× and a vector x of residual r = 1 − Mx, the rest of the sum is 1ᵀM⁻¹r, and M⁻¹
    has no negative entry: the magnitude of the rest is at most max|r| times the whole sum.
    """
    total, term, image = space[0], space[1], space[2]
    total[:n] = 1.0
    term[:n] = 1.0
    for step in range(_MOST_TERMS):
        # A long series is given to GMRES; if that fails, summing continues.
        if step == _FEW_TERMS:
            value = _gmres(pair, decay, n, total)
            if value == value:
                return value
        # Add the next term.
        apply_product(pair, term, image)
        largest = 0.0
        for k in range(n):
            term[k] = decay * image[k]
            total[k] += term[k]
            largest = max(largest, term[k])
        if largest <= _ACCURACY:
            return total[:n].sum()
        if not largest < np.inf:
            return np.inf
    return np.nan


@njit(nogil=True, cache=True)
def _gmres(pair: Pair, decay: float, n: int, guess: Floats) -> float:
    """The geometric sum by GMRES with restarts; NaN if the residual does not become small enough.

    Entries of the solution x may differ by many orders of magnitude if one cycle leads to another.
    The unknowns and equations are therefore scaled by the x of the previous start, and every
    residual must be small compared with its own x, within the rounding of the equation itself. The
    residual is recomputed at every start; the one from the recursions is never used as a test.
    """
    x, scale = guess[:n].copy(), guess[:n].copy()
    # Large systems get a smaller subspace, so that it does not fill the memory.
    basis = np.empty((1 + min(_SUBSPACE, max(5, _ROOM // n)), n))
    image = np.empty(n)
    before, stuck = np.inf, 0
    for _ in range(_STARTS):
        # The true residual, and whether it is small enough.
        apply_product(pair, x, image)
        worst, squared, least = 0.0, 0.0, np.inf
        for k in range(n):
            basis[0, k] = (1.0 - x[k] + decay * image[k]) / scale[k]
            worst = max(worst, abs(basis[0, k]) * scale[k] / abs(x[k]))
            squared += basis[0, k] * basis[0, k]
            least = min(least, x[k])
        if worst <= _RESIDUAL and least > 0.0:
            return x.sum()
        stuck = stuck + 1 if worst > 0.5 * before else 0
        if stuck == 5 or not squared < np.inf:
            return np.nan
        before = worst
        # Scale by the present solution, and add a correction.
        if least > 0.0:
            squared = 0.0
            for k in range(n):
                basis[0, k] *= scale[k] / x[k]
                scale[k] = x[k]
                squared += basis[0, k] * basis[0, k]
        _add_correction(pair, decay, scale, np.sqrt(squared), basis, image, x)
    return np.nan


@njit(nogil=True, cache=True)
def _add_correction(
    pair: Pair, decay: float, scale: Floats, length: float, basis: Floats, image: Floats, x: Floats
) -> None:
    """One cycle of GMRES: add to x the correction that minimises its scaled residual.

    The residual is in row 0 of ``basis``, its length is ``length``. Arnoldi's recursion builds an
    orthonormal basis; plane rotations keep its small system triangular.
    """
    n, width = len(x), len(basis) - 1
    system = np.zeros((width + 1, width))
    cosines, sines = np.zeros(width), np.zeros(width)
    rest = np.zeros(width + 1)
    rest[0] = length
    basis[0] /= length
    used = 0
    for m in range(width):
        # The next direction, orthogonal to the previous ones.
        fresh = basis[m + 1]
        for k in range(n):
            fresh[k] = scale[k] * basis[m, k]
        apply_product(pair, fresh, image)
        for k in range(n):
            fresh[k] = basis[m, k] - decay * image[k] / scale[k]
        for p in range(m + 1):
            system[p, m] = np.dot(basis[p], fresh)
            fresh -= system[p, m] * basis[p]
        norm = np.sqrt(np.dot(fresh, fresh))
        # Rotate the new column of the small system; one more rotation removes its subdiagonal.
        for p in range(m):
            a, b = system[p, m], system[p + 1, m]
            system[p, m] = cosines[p] * a + sines[p] * b
            system[p + 1, m] = cosines[p] * b - sines[p] * a
        size = np.hypot(system[m, m], norm)
        if size == 0.0:
            break
        cosines[m], sines[m] = system[m, m] / size, norm / size
        system[m, m] = size
        rest[m + 1] = -sines[m] * rest[m]
        rest[m] *= cosines[m]
        used = m + 1
        if norm <= 1e-14 * size or abs(rest[m + 1]) <= 1e-16 * length:
            break
        fresh /= norm
    # Solve the triangular system backwards.
    for m in range(used - 1, -1, -1):
        for p in range(m + 1, used):
            rest[m] -= system[m, p] * rest[p]
        rest[m] /= system[m, m]
    for m in range(used):
        for k in range(n):
            x[k] += rest[m] * scale[k] * basis[m, k]


@njit(nogil=True, cache=True)
def _dense_geometric(pair: Pair, decay: float, n: int) -> float:
    """The geometric sum by a dense solver, for weights of any sign; −inf for too many nodes."""
    if n > LARGEST_SIGNED:
        return -np.inf
    left, right = pair.left, pair.right
    first, last = left.node_offsets[pair.i], left.node_offsets[pair.i + 1]
    other = right.node_offsets[pair.j]
    matrix = np.eye(n)
    for u in range(last - first):
        for v in range(pair.low[u], pair.high[u]):
            at = pair.start[u] + v - pair.low[u]
            for a in range(left.indptr[first + u], left.indptr[first + u + 1]):
                head = left.heads[a]
                for b in range(right.indptr[other + v], right.indptr[other + v + 1]):
                    partner = right.heads[b]
                    if pair.low[head] <= partner < pair.high[head]:
                        to = pair.start[head] + partner - pair.low[head]
                        matrix[at, to] -= decay * left.weights[a] * right.weights[b]
    return np.linalg.solve(matrix, np.ones(n)).sum()


@njit(nogil=True, cache=True)
def _exponential(pair: Pair, decay: float, signed: bool, n: int, space: Floats) -> float:
    """1ᵀ exp(λA×) 1 as a power series; inf if it overflows.

    A term is at most ‖λA×‖/step times the previous one, so that after 2‖λA×‖ steps a term bounds
    the sum of all that follow. With negative weights the terms of a long series cancel; it is then
    split into factors exp(λA×/pieces) of norm at most e, which are applied one after the other.
    """
    # A bound on ‖λA×‖, and the number of factors.
    total, term, image = space[0], space[1], space[2]
    total[:n] = 1.0
    norm = decay * min(
        _largest_row(pair.left, pair.i) * _largest_row(pair.right, pair.j),
        _largest_column(pair.left, pair.i) * _largest_column(pair.right, pair.j),
    )
    n_pieces = np.ceil(max(1.0, norm)) if signed else 1.0
    if n_pieces > _MANY_TERMS:
        return np.inf
    for _ in range(int(n_pieces)):
        copy_into(total[:n], term)
        # The power series of one factor.
        for step in range(1, _MANY_TERMS):
            apply_product(pair, term, image)
            factor = decay / (n_pieces * step)
            added, reached = 0.0, 0.0
            for k in range(n):
                term[k] = factor * image[k]
                total[k] += term[k]
                added += abs(term[k])
                reached += abs(total[k])
            if not reached < np.inf:
                return np.inf
            decreasing = step + 1 >= 2.0 * norm / n_pieces
            if added == 0.0 or (decreasing and added <= 1e-17 * reached):
                break
        else:
            return np.inf
    return total[:n].sum()


@njit(nogil=True, cache=True)
def _largest_row(graphs: LabelledGraphs, i: int) -> float:
    """The largest sum of the absolute weights of the arcs that leave a node of graph i."""
    largest = 0.0
    for u in range(graphs.node_offsets[i], graphs.node_offsets[i + 1]):
        total = 0.0
        for arc in range(graphs.indptr[u], graphs.indptr[u + 1]):
            total += abs(graphs.weights[arc])
        largest = max(largest, total)
    return largest


@njit(nogil=True, cache=True)
def _largest_column(graphs: LabelledGraphs, i: int) -> float:
    """The same for the arcs that end at a node."""
    first, last = graphs.node_offsets[i], graphs.node_offsets[i + 1]
    totals = np.zeros(last - first)
    for arc in range(graphs.indptr[first], graphs.indptr[last]):
        totals[graphs.heads[arc]] += abs(graphs.weights[arc])
    return totals.max() if last > first else 0.0
