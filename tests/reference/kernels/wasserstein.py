"""Wasserstein distances between graphs: by the closed form and by solving the transport problem."""

from __future__ import annotations

import math

import numpy as np
from scipy.optimize import linprog

from reference.kernels.weisfeiler_lehman import colour_levels, level_counts
from reference.plain import one_graph


def transport_cost(mass_a, mass_b, cost) -> float:
    """min Σ T_ij cost_ij over T ≥ 0 with row sums mass_a, column sums mass_b: a linear program."""
    cost = np.asarray(cost, dtype=float)
    rows, columns = cost.shape
    sums, totals = [], []
    for i in range(rows):
        row = np.zeros((rows, columns))
        row[i, :] = 1.0
        sums.append(row.ravel())
        totals.append(mass_a[i])
    # The sum of the last column follows from the others; omitting it avoids a
    # redundant equation that rounding could make contradict them.
    for j in range(columns - 1):
        column = np.zeros((rows, columns))
        column[:, j] = 1.0
        sums.append(column.ravel())
        totals.append(mass_b[j])
    solution = linprog(
        cost.ravel(), A_eq=np.array(sums), b_eq=np.array(totals), bounds=(0, None), method="highs"
    )
    if not solution.success:
        raise RuntimeError(solution.message)
    return max(0.0, float(solution.fun))


def euclidean_costs(points_a: np.ndarray, points_b: np.ndarray) -> np.ndarray:
    """Distances between all points of one set and all points of the other."""
    return np.array([[float(np.linalg.norm(p - q)) for q in points_b] for p in points_a])


# Labelled graphs


def wwl_distance(G, H, n_iter: int = 5, **options) -> float:
    """(1/|levels|) Σ_h (1 − Σ_σ min(c_h(G,σ)/n, c_h(H,σ)/n')).

    An empty graph has its mass on a separate symbol: distance 1 to a graph with nodes, else 0.
    """
    G, H = one_graph(G), one_graph(H)
    if G.n == 0 or H.n == 0:
        return 0.0 if G.n == H.n else 1.0
    counts_g = level_counts(G, n_iter, **options)
    counts_h = level_counts(H, n_iter, **options)
    total = 0.0
    for a, b in zip(counts_g, counts_h, strict=True):
        total += 1.0 - sum(min(a[colour] / G.n, b[colour] / H.n) for colour in a)
    return total / len(counts_g)


def wwl_distance_by_transport(G, H, n_iter: int = 5, **options) -> float:
    """The same as a transport problem: uniform masses, normalised Hamming distance of colours."""
    G, H = one_graph(G), one_graph(H)
    if G.n == 0 or H.n == 0:
        return 0.0 if G.n == H.n else 1.0
    levels_g = colour_levels(G, n_iter, **options)
    levels_h = colour_levels(H, n_iter, **options)
    hamming = np.zeros((G.n, H.n))
    for colours_g, colours_h in zip(levels_g, levels_h, strict=True):
        for u in range(G.n):
            for v in range(H.n):
                hamming[u, v] += (colours_g[u] != colours_h[v]) / len(levels_g)
    return transport_cost([1 / G.n] * G.n, [1 / H.n] * H.n, hamming)


def wasserstein_wl(G, H, n_iter: int = 5, gamma: float = 1.0, **options) -> float:
    """exp(−γ D)."""
    return math.exp(-gamma * wwl_distance(G, H, n_iter, **options))


# Graphs with continuous attributes


def attribute_levels(graph, n_iter: int, include_initial: bool = True) -> np.ndarray:
    """x(v) = (a_0, ..., a_H)(v), a_{h+1}(v) = ½ (a_h(v) + weighted mean of a_h over neighbours)."""
    graph = one_graph(graph)
    levels = [np.array(graph.attributes, dtype=float)]
    for _ in range(n_iter):
        old = levels[-1]
        new = old.copy()
        for v in range(graph.n):
            if graph.neighbours[v]:
                total = sum(graph.weights[v, u] for u in graph.neighbours[v])
                mean = sum(graph.weights[v, u] * old[u] for u in graph.neighbours[v]) / total
                new[v] = 0.5 * (old[v] + mean)
        levels.append(new)
    return np.concatenate(levels if include_initial else levels[1:], axis=1)


def continuous_wwl_distance(G, H, n_iter: int = 5, include_initial: bool = True) -> float:
    """The 1-Wasserstein distance of the node sets, uniform masses, Euclidean ground distance."""
    G, H = one_graph(G), one_graph(H)
    if G.n == 0 or H.n == 0:
        raise ValueError("An empty graph has no distance to others.")
    cost = euclidean_costs(
        attribute_levels(G, n_iter, include_initial), attribute_levels(H, n_iter, include_initial)
    )
    return transport_cost([1 / G.n] * G.n, [1 / H.n] * H.n, cost)


def continuous_wasserstein_wl(
    G, H, n_iter: int = 5, gamma: float = 1.0, include_initial: bool = True
) -> float:
    """exp(−γ D); 0 between an empty graph and one with nodes, 1 between empty graphs."""
    G, H = one_graph(G), one_graph(H)
    if G.n == 0 or H.n == 0:
        return 1.0 if G.n == H.n else 0.0
    return math.exp(-gamma * continuous_wwl_distance(G, H, n_iter, include_initial))
