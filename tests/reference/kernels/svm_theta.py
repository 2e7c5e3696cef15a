"""The SVM-θ kernel; its quadratic program by trying every set of positive entries."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from reference.building import matrix, rows_and_columns
from reference.plain import PlainGraph


def theta_matrix(graph: PlainGraph) -> np.ndarray:
    """K = I + A/ρ, ρ = −λ_min(A); I without edges."""
    adjacency = graph.adjacency()
    if not graph.weights:
        return np.eye(graph.n)
    return np.eye(graph.n) - adjacency / np.linalg.eigvalsh(adjacency).min()


def omega(graph: PlainGraph) -> float:
    """max over α ≥ 0 of 2Σα − αᵀKα.

    There is a maximiser whose set S of positive entries has a regular K_SS (along a null vector of
    K_SS the value is constant, so that another entry can be made 0), with K_SS α = 1. Each such
    α ≥ 0 is feasible, so the best of them is the maximum.
    """
    K = theta_matrix(graph)
    best = 0.0
    for size in range(1, graph.n + 1):
        for S in combinations(range(graph.n), size):
            part = K[np.ix_(S, S)]
            if np.linalg.eigvalsh(part).min() < 1e-9:
                continue
            alpha = np.linalg.solve(part, np.ones(size))
            if alpha.min() >= -1e-12:
                alpha = np.maximum(alpha, 0.0)
                best = max(best, float(2 * alpha.sum() - alpha @ part @ alpha))
    return best


def svm_theta_pair(G: PlainGraph, H: PlainGraph, sizes: tuple[int, int] = (2, 8)) -> float:
    """Σ_d d² ω ω'/(n n') over d = sizes[0]..min(sizes[1], n, n')."""
    total = 0.0
    for d in range(sizes[0], min(sizes[1], G.n, H.n) + 1):
        total += d**2 * omega(G) * omega(H) / (G.n * H.n)
    return total


def svm_theta(
    graphs, other=None, sizes: tuple[int, int] = (2, 8), normalize: bool = False
) -> np.ndarray:
    """The matrix of SVMTheta: rows `graphs`, columns the fitted graphs `other`."""
    rows, columns = rows_and_columns(graphs, other)
    return matrix(svm_theta_pair, rows, columns, normalize, sizes=sizes)
