"""The spectral radius ρ(A×) of product graphs, which limits the decay of walks.

Closed walks with equal labels obey the Cauchy-Schwarz inequality, so ρ(A×(G, H))² is at most
ρ(A×(G, G)) ρ(A×(H, H)): one number per graph bounds all pairs, and the largest ρ of all pairs of a
set of graphs is that of a graph with itself.
"""

from __future__ import annotations

import numpy as np

from gramlet.common.arrays import Floats, Ints
from gramlet.engine.core.compiled import njit
from gramlet.engine.core.tiles import Tiling, for_tiles
from gramlet.engine.walks.product_walks import LabelledGraphs, Pair, apply_product, lay_out, room

__all__ = ["pair_radii", "self_radii"]


# The largest number of Lanczos steps; a graph with a tiny spectral gap takes hundreds.
_MOST_STEPS = 3000
_SETTLED = 1e-13


def self_radii(graphs: LabelledGraphs, n_jobs: int | None = None) -> Floats:
    """sqrt(ρ(A×(G, G))) of every graph: the product of two of them bounds ρ of the pair."""
    each = np.arange(len(graphs.node_offsets) - 1)
    return np.sqrt(pair_radii(graphs, graphs, each, each, n_jobs))


def pair_radii(
    left: LabelledGraphs,
    right: LabelledGraphs,
    rows: Ints,
    columns: Ints,
    n_jobs: int | None = None,
) -> Floats:
    """ρ(A×) of the pairs (rows[k], columns[k]) of graphs; 0 if they have no common edge."""
    radii = np.zeros(len(rows))

    def fill(begin: int, end: int) -> None:
        _fill_radii(begin, end, left, right, rows, columns, radii)

    costs = np.diff(left.node_offsets)[rows] * np.diff(right.node_offsets)[columns] + 1.0
    for_tiles(fill, len(rows), costs=costs, tiling=Tiling(n_jobs))
    return radii


@njit(nogil=True, cache=True)
def _fill_radii(
    begin: int,
    end: int,
    left: LabelledGraphs,
    right: LabelledGraphs,
    rows: Ints,
    columns: Ints,
    radii: Floats,
) -> None:
    low, high, start, row = room(left, right)
    space = np.empty((3, 0))
    for at in range(begin, end):
        pair = Pair(left, rows[at], right, columns[at], low, high, start, row)
        n = lay_out(pair)
        if n > space.shape[1]:
            space = np.empty((3, n + n // 2))
        radii[at] = _radius(pair, n, space)


@njit(nogil=True, cache=True)
def _radius(pair: Pair, n: int, space: Floats) -> float:
    """The largest absolute eigenvalue, by Lanczos iteration from a positive vector.

    The leading eigenvector of a matrix without negative entries has none either, so it cannot be
    orthogonal to the start. With negative weights it could be, but hardly is, as the entries of the
    start differ.
    """
    # The normalised start.
    here, before, image = space[0], space[1], space[2]
    norm = 0.0
    for k in range(n):
        here[k] = 1.0 + 0.5 * ((k * 0.6180339887498949) % 1.0)
        before[k] = 0.0
        norm += here[k] * here[k]
    norm = np.sqrt(norm)
    for k in range(n):
        here[k] /= norm
    most = min(2 * n + 10, _MOST_STEPS)
    diagonal, beside = np.empty(most), np.zeros(most)
    radius, check = 0.0, 8
    for step in range(most if n else 0):
        # One Lanczos step: the image, without its parts along the last two vectors.
        apply_product(pair, here, image)
        mean, rest = 0.0, 0.0
        for k in range(n):
            mean += here[k] * image[k]
        coupling = beside[step - 1] if step else 0.0
        for k in range(n):
            image[k] -= mean * here[k] + coupling * before[k]
            rest += image[k] * image[k]
        diagonal[step], beside[step] = mean, np.sqrt(rest)
        # From time to time, and at the end, the eigenvalues of the tridiagonal matrix.
        scale = max(radius, abs(mean))
        last = beside[step] <= 1e-14 * scale or rest == 0.0 or step == most - 1
        if step + 1 == check or last:
            found = max(
                _largest(diagonal, beside, step + 1, 1.0),
                _largest(diagonal, beside, step + 1, -1.0),
            )
            if last or found - radius <= _SETTLED * found:
                return max(found, radius)
            radius, check = found, check + check // 2
        for k in range(n):
            before[k] = here[k]
            here[k] = image[k] / beside[step]
    return radius


@njit(nogil=True, cache=True)
def _largest(diagonal: Floats, beside: Floats, n: int, sign: float) -> float:
    """The largest eigenvalue of ``sign`` times a tridiagonal matrix, by bisection.

    A number is above all eigenvalues exactly if all pivots of (number · I − matrix) are positive.
    """
    # Bounds: the largest diagonal entry, and Gershgorin's circles.
    below, above = -np.inf, -np.inf
    for k in range(n):
        reach = (beside[k - 1] if k else 0.0) + (beside[k] if k < n - 1 else 0.0)
        below = max(below, sign * diagonal[k])
        above = max(above, sign * diagonal[k] + reach)
    # Halve the interval until it contains no other number.
    while True:
        middle = 0.5 * (below + above)
        if not below < middle < above:
            return above
        pivot, all_positive = 1.0, True
        for k in range(n):
            coupling = beside[k - 1] * beside[k - 1] / pivot if k else 0.0
            pivot = middle - sign * diagonal[k] - coupling
            if pivot <= 0.0:
                all_positive = False
                break
        if all_positive:
            above = middle
        else:
            below = middle
