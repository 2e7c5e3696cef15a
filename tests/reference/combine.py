"""Sums, products, aligned sums, landmarks, distances and neighbours of kernels.

A kernel here is a function of rows and columns that returns their matrix: `kernel(graphs, other)`.
Self-similarities are computed one graph at a time, so it must not depend on the fitted graphs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import combinations

import numpy as np

from reference.plain import plain_graphs

Kernel = Callable[..., np.ndarray]


def own_values(kernel: Kernel, graphs) -> np.ndarray:
    """k(x, x) of every graph."""
    return np.array([float(kernel([x], [x])[0, 0]) for x in plain_graphs(graphs)])


def normalised(values: np.ndarray, own_rows, own_columns) -> np.ndarray:
    """Every entry divided by sqrt(k(x, x) k(y, y)); 0 if that is 0."""
    result = np.zeros_like(values)
    for i, a in enumerate(own_rows):
        for j, b in enumerate(own_columns):
            if a > 0 and b > 0:
                result[i, j] = values[i, j] / math.sqrt(a * b)
    return result


def evaluated(kernel: Kernel, graphs, other=None, normalize: bool = False) -> np.ndarray:
    """The matrix of a kernel, normalised if asked for."""
    rows = plain_graphs(graphs)
    columns = rows if other is None else plain_graphs(other)
    values = np.asarray(kernel(rows, columns), dtype=float)
    if not normalize:
        return values
    return normalised(values, own_values(kernel, rows), own_values(kernel, columns))


# Sums and products


def kernel_sum(
    graphs, other=None, *, kernels: Sequence[Kernel], weights=None, normalize: bool = False
) -> np.ndarray:
    """Σ_k w_k K_k."""
    weights = [1.0] * len(kernels) if weights is None else weights

    def total(rows, columns):
        return sum(w * kernel(rows, columns) for w, kernel in zip(weights, kernels, strict=True))

    return evaluated(total, graphs, other, normalize)


def kernel_product(
    graphs, other=None, *, kernels: Sequence[Kernel], normalize: bool = False
) -> np.ndarray:
    """Π_k K_k, entry by entry."""

    def product(rows, columns):
        values = np.ones((len(rows), len(columns)))
        for kernel in kernels:
            values = values * kernel(rows, columns)
        return values

    return evaluated(product, graphs, other, normalize)


# Aligned sums


def task_of(y) -> str:
    """ "classification" or "regression".

    Strings and booleans are classes. Numbers are a real target if one of them is not whole, or if
    there are at least 50 and more than a fifth as many distinct values as graphs.
    """
    values = list(y)
    if any(isinstance(value, str | bool | np.bool_) for value in values):
        return "classification"
    if any(float(value) != math.floor(float(value)) for value in values):
        return "regression"
    if len(values) >= 50 and len(set(values)) > len(values) / 5:
        return "regression"
    return "classification"


def centred(K: np.ndarray) -> np.ndarray:
    """H K H, H = I − 1/n, entry by entry."""
    n = len(K)
    rows, columns, mean = K.sum(axis=1) / n, K.sum(axis=0) / n, K.sum() / n**2
    return np.array([[K[i, j] - rows[i] - columns[j] + mean for j in range(n)] for i in range(n)])


def target_matrix(y, task: str = "auto") -> np.ndarray:
    """Y Yᵀ, with Y the one-hot classes or the centred real target."""
    task = task_of(y) if task == "auto" else task
    if task == "classification":
        return np.array([[float(a == b) for b in y] for a in y])
    target = np.array([float(value) for value in y])
    target = target - target.mean()
    return np.outer(target, target)


def alignment_system(grams: Sequence[np.ndarray], y, task: str = "auto"):
    """M_kl = ⟨K_k^c, K_l^c⟩ and a_k = ⟨K_k^c, Y Yᵀ⟩; a centred matrix that is 0 counts as 0."""
    centred_grams = []
    for K in grams:
        C = centred(np.asarray(K, dtype=float))
        if np.linalg.norm(C) <= 1e-12 * np.linalg.norm(K):
            C = np.zeros_like(C)
        centred_grams.append(C)
    Y = target_matrix(y, task)
    M = np.array([[float((A * B).sum()) for B in centred_grams] for A in centred_grams])
    return M, np.array([float((A * Y).sum()) for A in centred_grams])


def subsets(items: Sequence[int]):
    return (S for size in range(len(items) + 1) for S in combinations(items, size))


def shortest_minimiser(M: np.ndarray, a: np.ndarray) -> np.ndarray:
    """The shortest v ≥ 0 that minimises vᵀMv − 2vᵀa, by trying every set of positive entries.

    First any minimiser: there is one whose set S of positive entries has a regular M_SS, with
    M_SS v = a_S. All minimisers have the same Mv and aᵀv, so the shortest one is the shortest
    v ≥ 0 with these values; on its positive entries it is the least-norm solution of the equations.
    """
    live = [k for k in range(len(a)) if M[k, k] > 0]
    scale = np.array([math.sqrt(M[k, k]) if M[k, k] > 0 else 1.0 for k in range(len(a))])
    R, b = M / np.outer(scale, scale), a / scale
    best, best_value = np.zeros(len(a)), 0.0
    for S in map(list, subsets(live)):
        if not S or np.linalg.eigvalsh(R[np.ix_(S, S)]).min() < 1e-10:
            continue
        u = np.zeros(len(a))
        u[S] = np.linalg.solve(R[np.ix_(S, S)], b[S])
        value = float(u @ R @ u - 2 * u @ b)
        if u.min() >= 0 and value < best_value:
            best, best_value = u, value
    fixed = R @ best
    tolerance = 1e-8 * max(1e-300, float(np.abs(fixed).max(initial=0.0)))
    shortest = best / scale
    for S in map(list, subsets(live)):
        if not S:
            continue
        v = np.zeros(len(a))
        v[S] = np.linalg.lstsq(R[:, S] * scale[S], fixed, rcond=1e-9)[0]
        solves = np.abs(R @ (scale * v) - fixed).max() <= tolerance
        if solves and v.min() >= 0 and np.linalg.norm(v) < np.linalg.norm(shortest) * (1 - 1e-9):
            shortest = v
    return shortest


def aligned_weights(grams: Sequence[np.ndarray], y, task: str = "auto") -> np.ndarray:
    """`weights_` of AlignedKernelSum: v/Σv, or equal weights if v = 0."""
    v = shortest_minimiser(*alignment_system(grams, y, task))
    return v / v.sum() if v.sum() > 0 else np.full(len(grams), 1.0 / len(grams))


def aligned_kernel_sum(
    graphs, other, y, *, kernels: Sequence[Kernel], task: str = "auto", normalize: bool = False
) -> np.ndarray:
    """The sum with the weights learned on the fitted graphs `other` and their y."""
    fitted = plain_graphs(other)
    weights = aligned_weights([kernel(fitted, fitted) for kernel in kernels], y, task)
    return kernel_sum(graphs, fitted, kernels=kernels, weights=weights, normalize=normalize)


# Landmarks


def nystroem_features(graphs, landmarks, *, kernel: Kernel, tol: float = 1e-10) -> np.ndarray:
    """Φ(X) = K_XZ U Λ^{−1/2} over λ > tol·λ_max, at least one column; signs are arbitrary."""
    values, vectors = np.linalg.eigh(kernel(landmarks, landmarks))
    kept = [i for i in reversed(range(len(values))) if values[i] > max(0.0, tol * values.max())]
    if not kept:
        return np.zeros((len(graphs), 1))
    return kernel(graphs, landmarks) @ (vectors[:, kept] / np.sqrt(values[kept]))


def landmark_chances(graphs, chosen: Sequence[int], *, kernel: Kernel) -> np.ndarray:
    """k-means++: the probability of each graph to be the next landmark, given those chosen."""
    n = len(graphs)
    if not chosen:
        return np.full(n, 1.0 / n)
    squares = kernel_distance(graphs, kernel=kernel) ** 2
    nearest = squares[:, list(chosen)].min(axis=1)
    return nearest / nearest.sum() if nearest.sum() > 0 else np.full(n, 1.0 / n)


# Distances and neighbours


def squared_distances(values: np.ndarray, own_rows, own_columns) -> np.ndarray:
    """max(0, k(x,x) + k(y,y) − 2k(x,y)), 0 below 1e-12·(k(x,x) + k(y,y))."""
    squares = np.zeros_like(values)
    for i, a in enumerate(own_rows):
        for j, b in enumerate(own_columns):
            square = a + b - 2 * values[i, j]
            squares[i, j] = 0.0 if square < 1e-12 * (a + b) else square
    return squares


def kernel_distance(graphs, other=None, *, kernel: Kernel, normalize: bool = False) -> np.ndarray:
    """The matrix of KernelDistance, of the normalised kernel if asked for."""
    rows = plain_graphs(graphs)
    columns = rows if other is None else plain_graphs(other)
    values = evaluated(kernel, rows, columns, normalize)
    own_rows, own_columns = own_values(kernel, rows), own_values(kernel, columns)
    if normalize:
        own_rows, own_columns = (np.where(own > 0, 1.0, 0.0) for own in (own_rows, own_columns))
    distances = np.sqrt(squared_distances(values, own_rows, own_columns))
    if other is None:
        np.fill_diagonal(distances, 0.0)
    return distances


def neighbours(
    fitted, graphs=None, *, kernel: Kernel, n_neighbors: int = 5
) -> tuple[np.ndarray, np.ndarray]:
    """(distances, positions) of the nearest graphs, by d² rounded to 12 decimals, then by position.

    Without `graphs` the queries are the fitted graphs, and none is its own neighbour. Graphs of
    norm 0 have similarity 1, and 0 to any other; the kernel is Tanimoto-normalised.
    """
    fitted = plain_graphs(fitted)
    rows = fitted if graphs is None else plain_graphs(graphs)
    distances = np.zeros((len(rows), len(fitted)))
    norms, others = own_values(kernel, rows), own_values(kernel, fitted)
    values = evaluated(kernel, rows, fitted, False)
    for i, a in enumerate(norms):
        for j, b in enumerate(others):
            similarity = 1.0 if a == b == 0 else values[i, j] / (a + b - values[i, j])
            square = 2 - 2 * similarity
            distances[i, j] = np.sqrt(square) if square >= 2e-12 else 0.0
    available = len(fitted) - (graphs is None)
    if n_neighbors > available:
        raise ValueError(f"{n_neighbors} neighbours of {available} graphs.")
    places = np.zeros((len(rows), n_neighbors), dtype=int)
    for i in range(len(rows)):
        others = [j for j in range(len(fitted)) if graphs is not None or j != i]
        others.sort(key=lambda j: (round(float(distances[i, j]) ** 2, 12), j))
        places[i] = others[:n_neighbors]
    return np.take_along_axis(distances, places, axis=1), places
