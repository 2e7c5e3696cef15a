"""A kernel between graphs from a kernel between their nodes, without a basis of its feature space.

With K the Gram matrix of the nodes of two graphs and Λ the block-diagonal matrix of L₁ and L₂,
ln k = ¼(ln|L₁ + K₁₁/γ| + ln|L₂ + K₂₂/γ| + ln|L₁| + ln|L₂|) − ½ ln|Λ + K/(2γ)|. This equals the
kernel in the coordinates of K's eigenvectors, but takes only one Cholesky factorisation per pair,
whose first block is computed once per graph. For several levels of such kernels see `exact_levels`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gramlet.common.arrays import Floats, Ints
from gramlet.engine.core.compiled import njit
from gramlet.engine.core.ragged import taken
from gramlet.engine.core.tiles import QUIET, Tiling, for_tiles
from gramlet.engine.laplacian.covariances import arc_weights
from gramlet.graphs.batch import GraphBatch

__all__ = ["KernelisedGraphs", "dense_laplacian", "factor_dense"]

Arrays = tuple[Ints, Ints, Floats, Floats, Floats, Floats]

# A pivot below this share of the diagonal is a rounding error.
_LOST = 1e-14


@dataclass(frozen=True)
class KernelisedGraphs:
    """Graphs with the factorised Gram matrices of their own nodes.

    Attributes
    ----------
    offsets : array of int64, shape (n graphs + 1,)
        ``node_offsets`` of the graphs.
    starts : array of int64, shape (n graphs + 1,)
        The matrices of graph g are ``[starts[g]:starts[g + 1]]`` of ``squares`` and ``roots``.
    squares, roots : arrays of float64
        L + K/(2γ), and its Cholesky factor.
    constants : array of float64
        ¼(ln|L + K/γ| + ln|L|).
    half_logs : array of float64
        ½ ln|L + K/(2γ)|.
    """

    offsets: Ints
    starts: Ints
    squares: Floats
    roots: Floats
    constants: Floats
    half_logs: Floats

    @classmethod
    def build(
        cls, batch: GraphBatch, grams: Floats, eta: float, gamma: float, tiling: Tiling = QUIET
    ) -> KernelisedGraphs:
        """Factor the matrices of all graphs.

        Parameters
        ----------
        grams : array
            The Gram matrices of the nodes of each graph, flattened, one after the other.
        """
        n = len(batch)
        starts = np.concatenate([[0], np.cumsum(batch.sizes**2)]).astype(np.int64)
        squares, roots = np.empty(len(grams)), np.empty(len(grams))
        graphs = cls(batch.node_offsets, starts, squares, roots, np.empty(n), np.empty(n))
        adjacency = (batch.indptr, batch.indices, arc_weights(batch))

        def work(begin: int, end: int) -> None:
            _factor_graphs(adjacency, graphs.arrays(), grams, eta, gamma, begin, end)

        for_tiles(work, n, costs=batch.sizes.astype(np.float64) ** 3, tiling=tiling)
        bad = ~np.isfinite(graphs.half_logs + graphs.constants)
        if bad.any():
            raise ValueError(
                f"Graph {int(bad.argmax())}: L + K/γ is not positive definite with eta={eta}, "
                f"gamma={gamma}. Either edge weights are negative, or the kernel between nodes "
                "is not positive semi-definite, or eta is too small compared with the weights. Use "
                "weights of at least 0, a valid kernel, or a larger eta."
            )
        return graphs

    def arrays(self) -> Arrays:
        """The columns, as the compiled loops take them."""
        return (
            self.offsets,
            self.starts,
            self.squares,
            self.roots,
            self.constants,
            self.half_logs,
        )

    def __len__(self) -> int:
        return len(self.constants)

    def take(self, rows: Ints) -> KernelisedGraphs:
        """The graphs at these positions."""
        offsets, _ = taken(self.offsets, rows)
        starts, entries = taken(self.starts, rows)
        return KernelisedGraphs(
            offsets,
            starts,
            self.squares[entries],
            self.roots[entries],
            self.constants[rows],
            self.half_logs[rows],
        )

    def row(
        self, graph: int, columns: KernelisedGraphs, first: int, gram: Floats, gamma: float
    ) -> Floats:
        """k of one graph and the graphs of ``columns`` from ``first`` on.

        ``gram`` is the kernel between its nodes and all of theirs. The value of a pair is NaN if
        its Gram matrix is not positive semi-definite.
        """
        values = np.empty(len(columns) - first)
        gram = np.ascontiguousarray(gram)
        _fill_row(self.arrays(), graph, columns.arrays(), first, gram, gamma, values)
        return values


@njit(nogil=True, cache=True)
def _factor_graphs(
    adjacency: tuple[Ints, Ints, Floats],
    graphs: Arrays,
    grams: Floats,
    eta: float,
    gamma: float,
    begin: int,
    end: int,
) -> None:
    """Fill the arrays of the graphs ``begin:end``."""
    offsets, starts, squares, roots, constants, half_logs = graphs
    local = np.full(len(adjacency[0]) - 1, -1, dtype=np.int64)
    for g in range(begin, end):
        members = np.arange(offsets[g], offsets[g + 1])
        size = len(members)
        kernel = grams[starts[g] : starts[g + 1]].reshape(size, size)
        square = squares[starts[g] : starts[g + 1]].reshape(size, size)
        root = roots[starts[g] : starts[g + 1]].reshape(size, size)
        # L + K/(2γ) and its factor.
        laplacian = dense_laplacian(adjacency, members, local, eta)
        square[:, :] = laplacian + kernel / (2.0 * gamma)
        root[:, :] = square
        half_logs[g] = factor_dense(root)
        # ½(½ ln|L + K/γ| + ½ ln|L|).
        full = laplacian + kernel / gamma
        constants[g] = 0.5 * (factor_dense(full) + factor_dense(laplacian))


@njit(nogil=True, cache=True)
def dense_laplacian(
    adjacency: tuple[Ints, Ints, Floats], members: Ints, local: Ints, eta: float
) -> Floats:
    """D − A + ηI of an induced subgraph; ``local`` is −1 everywhere, before and after."""
    indptr, indices, weights = adjacency
    size = len(members)
    laplacian = np.zeros((size, size))
    for a in range(size):
        local[members[a]] = a
    for a in range(size):
        laplacian[a, a] = eta
        for arc in range(indptr[members[a]], indptr[members[a] + 1]):
            b = local[indices[arc]]
            if b >= 0:
                laplacian[a, a] += weights[arc]
                laplacian[a, b] = -weights[arc]
    for a in range(size):
        local[members[a]] = -1
    return laplacian


@njit(nogil=True, cache=True)
def factor_dense(matrix: Floats) -> float:
    """Cholesky factorisation in place; returns ½ ln|S|, or NaN if S is not positive definite."""
    half_log = 0.0
    for i in range(len(matrix)):
        for j in range(i + 1):
            value = matrix[i, j]
            for k in range(j):
                value -= matrix[i, k] * matrix[j, k]
            if j < i:
                matrix[i, j] = value / matrix[j, j]
            elif value > _LOST * matrix[i, i]:
                matrix[i, i] = np.sqrt(value)
                half_log += 0.5 * np.log(value)
            else:
                return np.nan
    return half_log


@njit(nogil=True, cache=True)
def _fill_row(
    rows: Arrays,
    graph: int,
    columns: Arrays,
    first: int,
    gram: Floats,
    gamma: float,
    values: Floats,
) -> None:
    offsets, starts, squares, _, constants, _ = columns
    n = gram.shape[0]
    root = rows[3][rows[1][graph] : rows[1][graph + 1]].reshape(n, n)
    for h in range(first, len(constants)):
        m = offsets[h + 1] - offsets[h]
        shift = offsets[h] - offsets[first]
        rest = squares[starts[h] : starts[h + 1]].copy().reshape(m, m)
        _subtract(rest, gram[:, shift : shift + m] / (2.0 * gamma), root)
        log_k = rows[4][graph] + constants[h] - rows[5][graph] - factor_dense(rest)
        values[h - first] = np.exp(min(log_k, 0.0)) if np.isfinite(log_k) else np.nan


@njit(nogil=True, cache=True)
def _subtract(rest: Floats, across: Floats, root: Floats) -> None:
    """Continue the factorisation of the first graph to the second: its Schur complement."""
    n, m = across.shape
    for a in range(n):
        for k in range(a):
            factor = root[a, k]
            for b in range(m):
                across[a, b] -= factor * across[k, b]
        for b in range(m):
            across[a, b] /= root[a, a]
        for b in range(m):
            for c in range(b + 1):
                rest[b, c] -= across[a, b] * across[a, c]
