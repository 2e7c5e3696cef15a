"""The spectral radius ρ(A×) of product graphs of directed graphs: the largest modulus.

By the Cauchy-Schwarz inequality over sequences of labels, each entry of |A×(G, H)^k| is at most the
root of the product of entries of A×(G, G)^k and A×(H, H)^k, for weights of any sign. So
ρ(A×(G, H))² is at most ρ(A×(G, G)) ρ(A×(H, H)), as for undirected graphs.

The eigenvalues of a matrix are those of its strongly connected components; a component of one node
has only the eigenvalue 0, so ρ is exactly 0 for an acyclic graph. Without negative weights a
component has a positive leading vector, and the ratios (Ax)_v / x_v of any positive x enclose ρ.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import splu

from gramlet.common.arrays import Floats, Ints
from gramlet.engine.core.compiled import njit
from gramlet.engine.walks.arc_walks import LARGEST_SIGNED
from gramlet.engine.walks.product_walks import LabelledGraphs, Pair, lay_out, room

__all__ = ["arc_pair_radii", "arc_self_radii", "matrix_radius"]

# The iteration stops when the relative difference of the ratios is at most this.
_SETTLED = 1e-12
# If that is not reached, their mean is accepted up to this relative difference.
_CLOSE = 1e-9
_TINY = 1e-280
# Steps of an iteration: first, first on matrices that are slow to factorise, and at most.
_FEW_STEPS, _MORE_STEPS, _MANY_STEPS = 40, 500, 20_000
# Components up to the first size are fast to factorise; beyond the second they may fill the memory.
_SMALL, _FACTORISED = 2_000, 50_000


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
    n = block.shape[0]
    n_steps = _FEW_STEPS if n <= _SMALL else _MORE_STEPS
    x, low, high = _power_steps(block, np.ones(n), 0.0, np.inf, n_steps)
    if high <= enough or high - low <= _SETTLED * high:
        return 0.5 * (low + high)
    if n <= _FACTORISED:
        x, low, high = _noda_steps(block, x, low, high)
    if high - low > _CLOSE * high:
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


def product_matrix(
    left: LabelledGraphs, i: int, right: LabelledGraphs, j: int
) -> sparse.csr_matrix:
    """A× of one pair of graphs, as a sparse matrix."""
    n, indptr, heads, weights = _product_arcs(left, i, right, j)
    return sparse.csr_matrix((weights, heads, indptr), shape=(n, n))


@njit(nogil=True, cache=True)
def _product_arcs(
    left: LabelledGraphs, i: int, right: LabelledGraphs, j: int
) -> tuple[int, Ints, Ints, Floats]:
    """The number of nodes of the product graph, and A× as CSR: row offsets, columns, values."""
    low, high, start, row = room(left, right)
    pair = Pair(left, i, right, j, low, high, start, row)
    n = lay_out(pair)
    first, last = left.node_offsets[i], left.node_offsets[i + 1]
    other = right.node_offsets[j]
    indptr = np.zeros(n + 1, dtype=np.int64)
    heads, weights = np.empty(0, dtype=np.int64), np.empty(0)
    # Two passes over the same arcs: count the entries of every row, then write them.
    for write in (False, True):
        if write:
            for k in range(n):
                indptr[k + 1] += indptr[k]
            heads, weights = np.empty(indptr[n], dtype=np.int64), np.empty(indptr[n])
        filled = 0
        # Row (u, v): all pairs of arcs from u and v whose heads have the same label.
        for u in range(last - first):
            for v in range(low[u], high[u]):
                at = start[u] + v - low[u]
                for a in range(left.indptr[first + u], left.indptr[first + u + 1]):
                    head = left.heads[a]
                    for b in range(right.indptr[other + v], right.indptr[other + v + 1]):
                        partner = right.heads[b]
                        if not low[head] <= partner < high[head]:
                            continue
                        if write:
                            heads[filled] = start[head] + partner - low[head]
                            weights[filled] = left.weights[a] * right.weights[b]
                            filled += 1
                        else:
                            indptr[at + 1] += 1
    return n, indptr, heads, weights
