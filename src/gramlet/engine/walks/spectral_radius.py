"""The spectral radius ρ(A×) of product graphs, which limits the decay of walks.

By the Cauchy-Schwarz inequality over sequences of labels, each entry of |A×(G, H)^k| is at most the
root of the product of entries of A×(G, G)^k and A×(H, H)^k, for weights of any sign. So
ρ(A×(G, H))² is at most ρ(A×(G, G)) ρ(A×(H, H)): one number per graph bounds all pairs, and the
largest ρ of all pairs of a set of graphs is that of a graph with itself.

Undirected graphs have symmetric matrices, for which Lanczos iteration is used without forming them.
In directed graphs, the eigenvalues are those of the strongly connected components; a component of
one node has only the eigenvalue 0, so ρ is exactly 0 for an acyclic graph. Without negative weights
a component has a positive leading vector, and the ratios (Ax)_v / x_v of any positive x enclose ρ.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import splu

from gramlet.common.arrays import Floats, Ints
from gramlet.engine.core.compiled import njit
from gramlet.engine.core.tiles import QUIET, Tiling, for_tiles
from gramlet.engine.walks.product_walks import (
    FACTORISED,
    LabelledGraphs,
    Pair,
    apply_product,
    lay_out,
    product_matrix,
    room,
)

# The largest number of Lanczos steps; a graph with a tiny spectral gap takes hundreds.
_MOST_STEPS = 3000
# Iterations stop at this relative difference of two values or bounds.
_SETTLED = 1e-12
# Directed graphs: bounds that remain this far apart are accepted, too; entries do not fall below
# `_TINY`; steps of an iteration at first, and at most.
_CLOSE, _TINY, _FEW_STEPS, _MANY_STEPS = 1e-9, 1e-280, 100, 20_000
# Components with negative weights need a dense decomposition, up to this size.
LARGEST_SIGNED = 2000


# Undirected graphs


def self_radii(graphs: LabelledGraphs, tiling: Tiling = QUIET) -> Floats:
    """sqrt(ρ(A×(G, G))) of every graph: the product of two of them bounds ρ of the pair."""
    each = np.arange(len(graphs.node_offsets) - 1)
    return np.sqrt(pair_radii(graphs, graphs, each, each, tiling))


def pair_radii(
    left: LabelledGraphs,
    right: LabelledGraphs,
    rows: Ints,
    columns: Ints,
    tiling: Tiling = QUIET,
) -> Floats:
    """ρ(A×) of the pairs (rows[k], columns[k]) of graphs; 0 if they have no common edge."""
    radii = np.zeros(len(rows))

    def fill(begin: int, end: int) -> None:
        _fill_radii(begin, end, left, right, rows, columns, radii)

    costs = np.diff(left.node_offsets)[rows] * np.diff(right.node_offsets)[columns] + 1.0
    for_tiles(fill, len(rows), costs=costs, tiling=tiling)
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
            if last or found - radius <= 0.1 * _SETTLED * found:
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


# Directed graphs


def arc_self_radii(graphs: LabelledGraphs) -> Floats:
    """sqrt(ρ(A×(G, G))) of every graph: the product of two of them bounds ρ of the pair."""
    radii = np.zeros(graphs.n_graphs)
    n_labels = np.diff(graphs.class_offsets)
    for i in range(graphs.n_graphs):
        if n_labels[i] == 1:
            # With one label, A× = A ⊗ A, whose eigenvalues are products of two eigenvalues of A.
            radii[i] = _named(matrix_radius, _own_matrix(graphs, i), i, i)
        elif n_labels[i] > 1:
            radii[i] = np.sqrt(_named(matrix_radius, product_matrix(graphs, i, graphs, i), i, i))
    return radii


def arc_pair_radii(
    left: LabelledGraphs, right: LabelledGraphs, rows: Ints, columns: Ints
) -> Floats:
    """ρ(A×) of the pairs (rows[k], columns[k]) of graphs; 0 if they have no common cycle."""
    return np.array(
        [
            _named(matrix_radius, product_matrix(left, int(i), right, int(j)), int(i), int(j))
            for i, j in zip(rows, columns, strict=True)
        ],
        dtype=np.float64,
    )


def _named(function: Any, matrix: sparse.csr_matrix, i: int, j: int) -> float:
    try:
        return float(function(matrix))
    except ValueError as error:
        raise ValueError(f"RandomWalk, graphs {i} and {j}: {error}") from None


def matrix_radius(matrix: sparse.csr_matrix) -> float:
    """The largest modulus of an eigenvalue of a sparse matrix; exactly 0 if it is acyclic.

    Examples
    --------
    >>> matrix_radius(sparse.csr_matrix([[0.0, 1.0, 5.0], [4.0, 0.0, 0.0], [0.0, 0.0, 0.0]]))
    2.0
    >>> matrix_radius(sparse.csr_matrix([[0.0, 1e9], [0.0, 0.0]]))
    0.0
    """
    matrix = sparse.csr_matrix(matrix)
    matrix.eliminate_zeros()
    _, component = connected_components(matrix, directed=True, connection="strong")
    sizes = np.bincount(component)
    loops = matrix.diagonal()
    radius = float(np.abs(loops).max(initial=0.0)) if (sizes == 1).any() else 0.0
    by_component = np.argsort(component, kind="stable")
    ends = np.cumsum(sizes)
    for which in np.flatnonzero(sizes > 1):
        nodes = by_component[ends[which] - sizes[which] : ends[which]]
        block = matrix[nodes][:, nodes]
        signed = block.data.min() < 0.0
        radius = max(radius, _signed_radius(block) if signed else _perron_root(block, radius))
    return radius


def _signed_radius(block: sparse.csr_matrix) -> float:
    """The largest modulus of an eigenvalue of a component, by a dense decomposition."""
    if block.shape[0] > LARGEST_SIGNED:
        raise ValueError(
            "with negative weights the spectral radius of a directed product graph needs a dense "
            f"matrix of its largest strong component, which has {block.shape[0]} nodes; at most "
            f'{LARGEST_SIGNED} are supported. Use kind="steps", or weights that are not negative.'
        )
    return float(np.abs(np.linalg.eigvals(block.toarray())).max())


def _perron_root(block: sparse.csr_matrix, enough: float) -> float:
    """ρ of a strongly connected matrix without negative entries, enclosed from both sides.

    The search stops when ρ cannot exceed ``enough``. A few steps of the power method suffice if ρ
    is well separated; otherwise Noda's inverse iteration is used, which always converges. If the
    two bounds remain apart, the upper one is returned, so that ρ is never underestimated.
    """
    x, low, high = _power_steps(block, np.ones(block.shape[0]), 0.0, np.inf, _FEW_STEPS)
    if high > enough and high - low > _SETTLED * high and block.shape[0] <= FACTORISED:
        x, low, high = _noda_steps(block, x, low, high)
    if high > enough and high - low > _CLOSE * high:
        _, low, high = _power_steps(block, x, low, high, _MANY_STEPS)
    return 0.5 * (low + high) if high - low <= _CLOSE * high else high


def _bounds(image: Floats, x: Floats, low: float, high: float) -> tuple[float, float]:
    ratios = image / x
    return max(low, float(ratios.min())), min(high, float(ratios.max()))


def _power_steps(
    block: sparse.csr_matrix, x: Floats, low: float, high: float, n_steps: int
) -> tuple[Floats, float, float]:
    """Steps of the power method on A + ρI, which has one leading eigenvalue; bounds on ρ."""
    for _ in range(n_steps):
        image = block @ x
        low, high = _bounds(image, x, low, high)
        if high - low <= _SETTLED * high:
            break
        x = image + 0.5 * (low + high) * x
        # Entries that underflow to 0 would give ratios 0/0.
        x = np.maximum(x / x.max(), _TINY)
    return x, low, high


def _noda_steps(
    block: sparse.csr_matrix, x: Floats, low: float, high: float
) -> tuple[Floats, float, float]:
    """Noda's iteration: inverse steps shifted by the upper bound, which converges quadratically."""
    unit = sparse.identity(block.shape[0], format="csc")
    for _ in range(_FEW_STEPS):
        if high - low <= _SETTLED * high:
            break
        # A shift just above the bound keeps the system regular if the bound equals ρ.
        solver = splu((high * (1.0 + 1e-14) * unit - block).tocsc())
        y = solver.solve(x)
        if not (np.isfinite(y).all() and y.min() > 0.0):
            break
        x = np.maximum(y / y.max(), _TINY)
        low, high = _bounds(block @ x, x, low, high)
    return x, low, high


def _own_matrix(graphs: LabelledGraphs, i: int) -> sparse.csr_matrix:
    """The adjacency matrix of one graph."""
    first, last = graphs.node_offsets[i], graphs.node_offsets[i + 1]
    begin, end = graphs.indptr[first], graphs.indptr[last]
    rows = graphs.indptr[first : last + 1] - begin
    entries = (graphs.weights[begin:end], graphs.heads[begin:end], rows)
    return sparse.csr_matrix(entries, shape=(last - first, last - first))
