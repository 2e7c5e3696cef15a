"""The quadratic program of the SVM-θ kernel, solved for all graphs of a batch.

ω(G) = max over α ≥ 0 of 2Σα − αᵀKα with K = I + A/ρ, ρ = −λ_min(A), and K = I without edges. K is
positive semi-definite and mostly singular: there are many maximisers, all of the same value.
Coordinate ascent finds which entries are positive, a linear solve on these entries makes the value
exact, and the dual program bounds its error.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import ArpackError, eigsh

from gramlet.common.arrays import Floats, Ints, Nodes
from gramlet.engine.core.compiled import njit
from gramlet.engine.core.ragged import copy_into
from gramlet.engine.core.stacked_matrices import adjacency_stack, for_eigensystems
from gramlet.engine.core.tiles import Tiling, for_tiles

# Graphs up to this size are decomposed as dense matrices.
_DENSE = 800
# Up to this number of positive entries is solved for exactly; for more, only ascent is used.
_SOLVED = 2000
# The ascent stops when the bounds on ω agree up to this relative difference.
_GAP = 1e-13
_ROUNDS = 14


class ThetaValues(NamedTuple):
    """ω of each graph and a bound on its error: ω ≤ the true value ≤ ω + gap."""

    values: Floats
    gaps: Floats


def theta_values(node_offsets: Ints, indptr: Ints, indices: Nodes, tiling: Tiling) -> ThetaValues:
    """ω of each graph of a batch; 0 for a graph without nodes, n for n nodes without edges.

    >>> path = np.array([0, 3]), np.array([0, 1, 3, 4]), np.array([1, 0, 2, 1])
    >>> round(float(theta_values(*path, Tiling()).values[0]), 12)
    2.0
    """
    sizes = np.diff(node_offsets)
    least = least_eigenvalues(node_offsets, indptr, indices, tiling)
    # Without edges A is zero, so any scale will do.
    scales = np.divide(-1.0, least, out=np.zeros(len(least)), where=least < 0)
    values, gaps = np.zeros(len(sizes)), np.zeros(len(sizes))

    def work(begin: int, end: int) -> None:
        _solve_range(begin, end, node_offsets, indptr, indices, scales, values, gaps)

    costs = sizes + np.diff(indptr[node_offsets]) + 1.0
    for_tiles(work, len(sizes), costs=costs, tiling=tiling)
    return ThetaValues(values, gaps)


def least_eigenvalues(node_offsets: Ints, indptr: Ints, indices: Nodes, tiling: Tiling) -> Floats:
    """The smallest eigenvalue of each adjacency matrix; 0 for graphs without edges.

    >>> edge = np.array([0, 2]), np.array([0, 1, 2]), np.array([1, 0])
    >>> least_eigenvalues(*edge, Tiling()).tolist()
    [-1.0]
    """
    sizes = np.diff(node_offsets)
    n_arcs = np.diff(indptr[node_offsets])
    least = np.zeros(len(sizes))

    def stack_of(graphs: Ints) -> Floats:
        return adjacency_stack(graphs, node_offsets, indptr, indices, None)

    def keep(graphs: Ints, values: Floats) -> None:
        least[graphs] = values[:, 0]

    def of_large(graph: int) -> None:
        least[graph] = _least_of_large(graph, node_offsets, indptr, indices)

    for_eigensystems(
        np.where(n_arcs > 0, sizes, 0),
        stack_of,
        keep,
        vectors=False,
        largest=_DENSE,
        large=of_large,
        tiling=tiling,
    )
    return least


def _least_of_large(graph: int, node_offsets: Ints, indptr: Ints, indices: Nodes) -> float:
    """The smallest eigenvalue by Lanczos iteration, or of the dense matrix if that fails."""
    first, last = node_offsets[graph], node_offsets[graph + 1]
    begin, end = indptr[first], indptr[last]
    size = int(last - first)
    matrix = sparse.csr_matrix(
        (np.ones(end - begin), indices[begin:end] - first, indptr[first : last + 1] - begin),
        shape=(size, size),
    )
    start = np.random.default_rng(size).normal(size=size)
    try:
        return float(eigsh(matrix, k=1, which="SA", v0=start, return_eigenvectors=False)[0])
    except ArpackError:
        return float(np.linalg.eigvalsh(matrix.toarray())[0])


@njit(nogil=True, cache=True)
def _solve_range(
    begin: int,
    end: int,
    node_offsets: Ints,
    indptr: Ints,
    indices: Nodes,
    scales: Floats,
    values: Floats,
    gaps: Floats,
) -> None:
    """ω of graphs ``begin:end``: rounds of ascent and exact solves until the bounds agree."""
    for graph in range(begin, end):
        first, n = node_offsets[graph], node_offsets[graph + 1] - node_offsets[graph]
        scale = scales[graph]
        alpha, image, trial = np.ones(n), np.empty(n), np.empty(n)
        n_sweeps = 20
        best, gap = 0.0, np.inf
        for _ in range(_ROUNDS if n > 0 else 0):
            # Ascent, with twice as many sweeps in every round.
            _ascend(alpha, first, indptr, indices, scale, n_sweeps)
            lower, upper = _bounds(alpha, image, first, indptr, indices, scale)
            # An exact solution on the positive entries, kept if it is better.
            copy_into(alpha, trial)
            _solve_support(trial, image, first, indptr, indices, scale)
            exact, above = _bounds(trial, image, first, indptr, indices, scale)
            if exact > lower:
                copy_into(trial, alpha)
                lower = exact
            upper = min(upper, above)
            # Tighten both bounds; stop when they agree.
            if lower > best or gap == np.inf:
                best = max(best, lower)
            gap = min(gap, max(0.0, upper - best))
            if gap <= _GAP * best:
                break
            n_sweeps *= 2
        values[graph] = best
        gaps[graph] = gap if n > 0 else 0.0


@njit(nogil=True, cache=True)
def _ascend(
    alpha: Floats, first: int, indptr: Ints, indices: Nodes, scale: float, n_sweeps: int
) -> None:
    """Sweeps of coordinate ascent, in both directions: α_i = max(0, 1 − Σ_{j ∈ N(i)} α_j / ρ)."""
    n = len(alpha)
    for sweep in range(2 * n_sweeps):
        change = 0.0
        for step in range(n):
            i = step if sweep % 2 == 0 else n - 1 - step
            around = 0.0
            for p in range(indptr[first + i], indptr[first + i + 1]):
                around += alpha[indices[p] - first]
            value = max(0.0, 1.0 - scale * around)
            change = max(change, abs(value - alpha[i]))
            alpha[i] = value
        if change < 1e-16:
            break


@njit(nogil=True, cache=True)
def _bounds(
    alpha: Floats, image: Floats, first: int, indptr: Ints, indices: Nodes, scale: float
) -> tuple[float, float]:
    """A lower and an upper bound on ω from α ≥ 0; Kα is written to ``image``.

    The best multiple of α has the value (Σα)² / αᵀKα. ω is the least βᵀKβ with Kβ ≥ 1, and α
    divided by the smallest entry of Kα is such a β.
    """
    total, form, least = 0.0, 0.0, np.inf
    for i in range(len(alpha)):
        around = 0.0
        for p in range(indptr[first + i], indptr[first + i + 1]):
            around += alpha[indices[p] - first]
        image[i] = alpha[i] + scale * around
        total += alpha[i]
        form += alpha[i] * image[i]
        least = min(least, image[i])
    lower = total * total / form if form > 0.0 else 0.0
    return lower, form / (least * least) if least > 0.0 else np.inf


@njit(nogil=True, cache=True)
def _solve_support(
    alpha: Floats, image: Floats, first: int, indptr: Ints, indices: Nodes, scale: float
) -> None:
    """Solve Kα = 1 on the positive entries, starting from α; negative results become 0.

    K may be singular there. Steps with K + εI instead of K do not change α in the null space of K
    and divide the error in an eigenspace of λ by about λ/ε. ``image`` is workspace for Kα.
    """
    # Number the positive entries.
    n = len(alpha)
    place = np.full(n, -1, dtype=np.int64)
    support = np.empty(n, dtype=np.int64)
    size = 0
    for i in range(n):
        if alpha[i] > 1e-9:
            place[i], support[size] = size, i
            size += 1
        else:
            alpha[i] = 0.0
    if size == 0 or size > _SOLVED:
        return
    # K + εI.
    matrix = np.zeros((size, size))
    for a in range(size):
        matrix[a, a] = 1.0 + 1e-9
        i = support[a]
        for p in range(indptr[first + i], indptr[first + i + 1]):
            b = place[indices[p] - first]
            if b >= 0:
                matrix[a, b] = scale
    # Three steps, each on the remaining error.
    step = np.empty(size)
    for _ in range(3):
        _bounds(alpha, image, first, indptr, indices, scale)
        for a in range(size):
            step[a] = 1.0 - image[support[a]]
        change = np.linalg.solve(matrix, step)
        for a in range(size):
            alpha[support[a]] += change[a]
    for a in range(size):
        alpha[support[a]] = max(0.0, alpha[support[a]])
