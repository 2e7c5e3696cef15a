"""Shortest paths by Floyd-Warshall, walks on an explicit product graph, propagation by steps."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Sequence

import numpy as np
from scipy.linalg import expm

from reference.kernels.histograms import dot, ordered_pair, unordered_pair
from reference.plain import PlainGraph, one_graph, plain_graphs

# Shortest paths


def all_distances(graph: PlainGraph, weighted: bool = False) -> list[list[float]]:
    """Lengths of shortest paths between all pairs; inf if there is none."""
    graph = one_graph(graph)
    lengths = [[0.0 if u == v else math.inf for v in range(graph.n)] for u in range(graph.n)]
    for (u, v), weight in graph.weights.items():
        if weighted and weight <= 0:
            raise ValueError(f"Edge ({u}, {v}) has weight {weight}; lengths must be > 0.")
        lengths[u][v] = weight if weighted else 1.0
    for middle in range(graph.n):
        for u in range(graph.n):
            for v in range(graph.n):
                detour = lengths[u][middle] + lengths[middle][v]
                if detour < lengths[u][v]:
                    lengths[u][v] = detour
    return lengths


def paths(
    graph: PlainGraph,
    colours: Sequence[Hashable] | None = None,
    weighted: bool = False,
    pairs: str = "unordered",
) -> list[tuple[Hashable, float]]:
    """(unordered pair of end labels, length) of every unordered pair of connected nodes.

    With pairs="ordered", and always in directed graphs, ordered pairs with ends in their order.
    """
    graph = one_graph(graph)
    colours = graph.labels if colours is None else colours
    lengths = all_distances(graph, weighted)
    ordered = graph.directed or pairs == "ordered"
    ends = ordered_pair if ordered else unordered_pair
    return [
        (ends(colours[u], colours[v]), lengths[u][v])
        for u in range(graph.n)
        for v in range(graph.n)
        if (u != v if ordered else u < v) and lengths[u][v] < math.inf
    ]


def shortest_path_counts(graph: PlainGraph, colours: Sequence[Hashable] | None = None) -> Counter:
    """The number of shortest paths of each (unordered pair of end labels, number of edges)."""
    return Counter(paths(graph, colours))


def same_length(a: float, b: float, bin_width: float | None) -> bool:
    """Whether two lengths agree to a relative 1e-9 or, with bins, are in one bin."""
    if bin_width is None:
        return math.isclose(a, b, rel_tol=1e-9, abs_tol=0.0)
    return math.floor(a / bin_width) == math.floor(b / bin_width)


def shortest_path(
    G,
    H,
    weighted: bool = False,
    labels: bool = True,
    bin_width: float | None = None,
    pairs: str = "unordered",
) -> float:
    """The number of pairs (path of G, path of H) with equal end labels and equal length."""
    G, H = one_graph(G), one_graph(H)
    paths_of_g = paths(G, None if labels else [0] * G.n, weighted, pairs)
    paths_of_h = paths(H, None if labels else [0] * H.n, weighted, pairs)
    return float(
        sum(
            ends_g == ends_h and same_length(length_g, length_h, bin_width)
            for ends_g, length_g in paths_of_g
            for ends_h, length_h in paths_of_h
        )
    )


# Random walks


def product_graph(G, H, labels: bool = True, weighted: bool = False) -> np.ndarray:
    """A×: nodes are pairs of nodes with equal labels; edges are pairs of edges."""
    G, H = one_graph(G), one_graph(H)
    nodes = [
        (u, v) for u in range(G.n) for v in range(H.n) if not labels or G.labels[u] == H.labels[v]
    ]
    matrix = np.zeros((len(nodes), len(nodes)))
    for i, (u, v) in enumerate(nodes):
        for j, (u2, v2) in enumerate(nodes):
            if (u, u2) in G.weights and (v, v2) in H.weights:
                matrix[i, j] = G.weights[u, u2] * H.weights[v, v2] if weighted else 1.0
    return matrix


def strong_components(matrix: np.ndarray) -> list[list[int]]:
    """The sets of nodes that reach one another along the non-zero entries of a matrix."""
    n = len(matrix)
    reach = (matrix != 0) | np.eye(n, dtype=bool)
    for middle in range(n):
        reach |= np.outer(reach[:, middle], reach[middle])
    mutual = reach & reach.T
    return [np.flatnonzero(mutual[v]).tolist() for v in range(n) if not mutual[v, :v].any()]


def spectral_radius(matrix: np.ndarray) -> float:
    """ρ, the largest modulus of an eigenvalue; 0 for the empty matrix.

    The eigenvalues of a matrix are those of its strong components. Computed separately, a component
    of one node without a loop gives exactly 0; from the whole matrix it would be a rounding error.
    """
    blocks = [matrix[np.ix_(nodes, nodes)] for nodes in strong_components(matrix)]
    return max((float(np.abs(np.linalg.eigvals(block)).max()) for block in blocks), default=0.0)


def largest_safe_decay(X, Y=None, labels: bool = True, weighted: bool = False) -> float:
    """1 / max ρ(A×) over the pairs: the geometric kernel needs a smaller λ."""
    rows = plain_graphs(X)
    columns = rows if Y is None else plain_graphs(Y)
    radius = max(
        spectral_radius(product_graph(x, y, labels, weighted)) for x in rows for y in columns
    )
    return math.inf if radius == 0 else 1.0 / radius


def random_walk(
    G, H, kind: str, decay: float, n_steps: int = 0, labels: bool = True, weighted: bool = False
) -> float:
    """1ᵀ f(λA×) 1 with f the geometric series, the exponential or the first terms of the series."""
    product = product_graph(G, H, labels, weighted)
    ones = np.ones(len(product))
    if len(product) == 0:
        return 0.0
    if kind == "geometric":
        if decay * spectral_radius(product) >= 1:
            raise ValueError(f"decay={decay} is too large: the series does not converge.")
        return float(ones @ np.linalg.solve(np.eye(len(product)) - decay * product, ones))
    if kind == "exponential":
        return float(ones @ expm(decay * product) @ ones)
    if kind == "steps":
        total, walks = 0.0, ones
        for i in range(n_steps + 1):
            total += decay**i * float(ones @ walks)
            walks = product @ walks
        return total
    raise ValueError(f"kind={kind!r}")


# Propagation


def label_distributions(graph, alphabet: Sequence[Hashable]) -> np.ndarray:
    """One-hot rows over the fitted alphabet; other labels share one extra column."""
    graph = one_graph(graph)
    rows = np.zeros((graph.n, len(alphabet) + 1))
    for v, label in enumerate(graph.labels):
        rows[v, alphabet.index(label) if label in alphabet else len(alphabet)] = 1.0
    return rows


def diffuse(graph: PlainGraph, rows: np.ndarray) -> np.ndarray:
    """P ← D⁻¹ A P; a node without neighbours keeps its row."""
    new = rows.copy()
    for v in range(graph.n):
        if graph.neighbours[v]:
            new[v] = sum(rows[u] for u in graph.neighbours[v]) / graph.degree(v)
    return new


def propagation_bins(
    graph,
    start: np.ndarray,
    directions: Sequence[np.ndarray],
    shifts: Sequence[float],
    width: float,
    metric: str,
) -> Counter:
    """The number of nodes in each (step, bin), given u_t and b_t of every step t."""
    graph, rows = one_graph(graph), np.array(start, dtype=float)
    counts: Counter = Counter()
    for step, (direction, shift) in enumerate(zip(directions, shifts, strict=True)):
        for v in range(graph.n):
            point = np.sqrt(rows[v]) if metric == "hellinger" else rows[v]
            counts[step, math.floor((float(point @ direction) + shift) / width)] += 1
        rows = diffuse(graph, rows)
    return counts


def propagation_gram(
    X, Y, starts_of_x, starts_of_y, directions, shifts, width: float, metric: str = "tv"
) -> np.ndarray:
    """Σ_t Σ_bins counts(G) counts(H), for given rows P_0 of every graph and given u_t, b_t."""
    bins_of_x = [
        propagation_bins(graph, start, directions, shifts, width, metric)
        for graph, start in zip(plain_graphs(X), starts_of_x, strict=True)
    ]
    bins_of_y = [
        propagation_bins(graph, start, directions, shifts, width, metric)
        for graph, start in zip(plain_graphs(Y), starts_of_y, strict=True)
    ]
    return np.array([[dot(a, b) for b in bins_of_y] for a in bins_of_x])
