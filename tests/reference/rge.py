"""Kernels on node coordinates from eigenvectors: earth mover's distances, pyramids, assignments."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Sequence
from functools import cmp_to_key

import numpy as np
from scipy.optimize import linear_sum_assignment

from reference.kernels.wasserstein import transport_cost
from reference.plain import gram, one_graph, plain_graphs

EQUAL = 1e-8

# Coordinates of nodes


def eigenspaces(matrix: np.ndarray) -> list[tuple[float, np.ndarray]]:
    """(eigenvalue, orthonormal columns) of each eigenspace, ascending.

    Eigenvalues less than 1e-8 from the one before belong to the same space.
    """
    if len(matrix) == 0:
        return []
    values, vectors = np.linalg.eigh(matrix)
    groups = [[0]]
    for i in range(1, len(values)):
        if values[i] - values[i - 1] < EQUAL:
            groups[-1].append(i)
        else:
            groups.append([i])
    return [(float(values[group].mean()), vectors[:, group]) for group in groups]


def coordinates(spaces: list[tuple[float, np.ndarray]], n: int, n_dims: int):
    """The first n_dims columns of (eigenvalues, coordinates of nodes), padded with zeros.

    Each of the r columns of an eigenspace is sqrt(P_ii / r), where P is the projector on the whole
    eigenspace, even if n_dims keeps only some of the columns.
    """
    values, columns = np.zeros(n_dims), np.zeros((n, n_dims))
    filled = 0
    for value, vectors in spaces:
        r = vectors.shape[1]
        projector = vectors @ vectors.T
        for _ in range(r):
            if filled < n_dims:
                values[filled] = value
                columns[:, filled] = [math.sqrt(max(0.0, projector[i, i]) / r) for i in range(n)]
                filled += 1
    return values, columns


def normalised_laplacian(graph) -> np.ndarray:
    """I − D^{-1/2} A D^{-1/2} with 0^{-1/2} = 0; weights are ignored."""
    graph = one_graph(graph)
    matrix = np.eye(graph.n)
    for u, v in graph.weights:
        matrix[u, v] -= 1.0 / math.sqrt(graph.degree(u) * graph.degree(v))
    return matrix


def node_embedding(graph, n_dims: int) -> np.ndarray:
    """Coordinates by the smallest eigenvalues of the normalised Laplacian, one row per node."""
    graph = one_graph(graph)
    return coordinates(eigenspaces(normalised_laplacian(graph)), graph.n, n_dims)[1]


def node_masses(graph, masses: str = "degree") -> np.ndarray:
    """degree / Σ degree; all equal without edges or for masses="uniform"."""
    graph = one_graph(graph)
    degrees = [graph.degree(v) if masses == "degree" else 0 for v in range(graph.n)]
    total = sum(degrees)
    return np.array([d / total if total else 1 / graph.n for d in degrees])


def largest_coordinate(X, n_dims: int) -> float:
    """The largest coordinate of all nodes of all graphs, to which random anchors are scaled."""
    return max(
        (float(node_embedding(graph, n_dims).max()) for graph in plain_graphs(X) if graph.n),
        default=0.0,
    )


def uses_labels(use_labels, *graphs) -> bool:
    """The setting itself, or, for "auto", whether there are labels."""
    return any(graph.has_labels for graph in graphs) if use_labels == "auto" else bool(use_labels)


# Earth mover's distances


def earth_movers_distance(
    G, H, n_dims: int = 6, use_labels="auto", label_weight: float = 1.0, masses: str = "degree"
) -> float:
    """The cost of the best transport between the node masses, by a linear program.

    One-hot labels of length label_weight add 2·label_weight² to the squared distance of nodes with
    different labels.
    """
    G, H = one_graph(G), one_graph(H)
    if G.n == 0 or H.n == 0:
        raise ValueError("An empty graph has no earth mover's distance to others.")
    points_g, points_h = node_embedding(G, n_dims), node_embedding(H, n_dims)
    labelled = uses_labels(use_labels, G, H)
    cost = np.zeros((G.n, H.n))
    for u in range(G.n):
        for v in range(H.n):
            square = float(((points_g[u] - points_h[v]) ** 2).sum())
            if labelled and G.labels[u] != H.labels[v]:
                square += 2 * label_weight**2
            cost[u, v] = math.sqrt(square)
    return transport_cost(node_masses(G, masses), node_masses(H, masses), cost)


def emd_kernel(G, H, gamma: float = 1.0, **options) -> float:
    """exp(−γ EMD); 0 between an empty graph and one with nodes, 1 between empty graphs."""
    G, H = one_graph(G), one_graph(H)
    if G.n == 0 or H.n == 0:
        return 1.0 if G.n == H.n else 0.0
    return math.exp(-gamma * earth_movers_distance(G, H, **options))


def repaired(fitted: np.ndarray, psd: str) -> np.ndarray:
    """The Gram matrix of the fitted graphs with its spectrum clipped, flipped or shifted."""
    values, vectors = np.linalg.eigh(fitted)
    if psd == "none":
        return fitted
    if psd == "shift":
        return fitted + max(0.0, -float(values.min())) * np.eye(len(fitted))
    new = np.maximum(values, 0) if psd == "clip" else np.abs(values)
    return vectors @ np.diag(new) @ vectors.T


def repaired_rows(rows: np.ndarray, fitted: np.ndarray, psd: str) -> np.ndarray:
    """Rows of new graphs times U diag(s) Uᵀ, s = 1 for λ > 0, otherwise 0 (clip) or −1 (flip)."""
    if psd in ("none", "shift"):
        return rows
    values, vectors = np.linalg.eigh(fitted)
    signs = np.where(values > 0, 1.0, 0.0 if psd == "clip" else -1.0)
    return rows @ vectors @ np.diag(signs) @ vectors.T


def emd_gram(X, fitted=None, psd: str = "none", **options) -> np.ndarray:
    """`fit_transform(X)` if fitted is None, else `transform(X)` after fitting on `fitted`."""
    if fitted is None:
        return repaired(gram(emd_kernel, X, **options), psd)
    return repaired_rows(
        gram(emd_kernel, X, fitted, **options), gram(emd_kernel, fitted, **options), psd
    )


# Random graph embedding


def labelled_points(
    graph, n_dims: int, alphabet: Sequence[Hashable], label_weight: float
) -> np.ndarray:
    """Coordinates, then label_weight × one-hot labels and one column for other labels."""
    graph = one_graph(graph)
    one_hot = np.zeros((graph.n, len(alphabet) + 1))
    for v, label in enumerate(graph.labels):
        one_hot[v, alphabet.index(label) if label in alphabet else len(alphabet)] = label_weight
    return np.concatenate([node_embedding(graph, n_dims), one_hot], axis=1)


def rge_features(
    X,
    anchors: Sequence[tuple[np.ndarray, np.ndarray]],
    n_dims: int,
    gamma: float,
    alphabet: Sequence[Hashable] | None = None,
    label_weight: float = 1.0,
    masses: str = "degree",
) -> np.ndarray:
    """exp(−γ EMD(G, ω_j))/√R for given anchors (coordinates, masses); zeros for an empty graph.

    With an alphabet, labels are used: anchors have its columns after the first n_dims; missing
    columns at the end are zeros.
    """
    graphs = plain_graphs(X)
    features = np.zeros((len(graphs), len(anchors)))
    for i, graph in enumerate(graphs):
        if graph.n == 0:
            continue
        if alphabet is None:
            points = node_embedding(graph, n_dims)
        else:
            points = labelled_points(graph, n_dims, alphabet, label_weight)
        for j, (anchor, anchor_masses) in enumerate(anchors):
            places = np.zeros((len(anchor), points.shape[1]))
            places[:, : anchor.shape[1]] = anchor
            cost = [[float(np.linalg.norm(p - q)) for q in places] for p in points]
            distance = transport_cost(node_masses(graph, masses), anchor_masses, cost)
            features[i, j] = math.exp(-gamma * distance) / math.sqrt(len(anchors))
    return features


def label_probabilities(X, label_draw: str = "frequency") -> dict[Hashable, float]:
    """The probability of each fitted label for a node of a random anchor."""
    counts = Counter(label for graph in plain_graphs(X) for label in graph.labels)
    if label_draw == "uniform":
        return {label: 1.0 / len(counts) for label in counts}
    return {label: count / counts.total() for label, count in counts.items()}


# Coordinates from the adjacency matrix


def adjacency_eigenspaces(graph) -> list[tuple[float, np.ndarray]]:
    """Eigenspaces of A by decreasing magnitude; of equal magnitudes, the positive one first."""

    def before(a, b) -> int:
        if abs(abs(a[0]) - abs(b[0])) < EQUAL:
            return -1 if a[0] > b[0] else 1
        return -1 if abs(a[0]) > abs(b[0]) else 1

    return sorted(eigenspaces(one_graph(graph).adjacency()), key=cmp_to_key(before))


def adjacency_embedding(graph, n_dims: int) -> tuple[np.ndarray, np.ndarray]:
    """(eigenvalues, coordinates of nodes) for the n_dims eigenvalues of largest magnitude."""
    graph = one_graph(graph)
    return coordinates(adjacency_eigenspaces(graph), graph.n, n_dims)


def pyramid_counts(graph, n_dims: int, level: int, labels: bool) -> Counter:
    """The number of nodes in each (dimension, cell, label) at a level of 2^level cells."""
    graph = one_graph(graph)
    points = adjacency_embedding(graph, n_dims)[1]
    counts: Counter = Counter()
    for v in range(graph.n):
        for dimension in range(n_dims):
            cell = min(math.floor(points[v, dimension] * 2**level + 1e-9), 2**level - 1)
            counts[dimension, cell, graph.labels[v] if labels else None] += 1
    return counts


def pyramid_match(G, H, n_dims: int = 6, n_levels: int = 4, labels="auto") -> float:
    """I_L + Σ_{l<L} (I_l − I_{l+1})/2^{L−l}, I_l = Σ min of counts at level l, L = n_levels."""
    G, H = one_graph(G), one_graph(H)
    labelled = uses_labels(labels, G, H)
    matches = []
    for level in range(n_levels + 1):
        a = pyramid_counts(G, n_dims, level, labelled)
        b = pyramid_counts(H, n_dims, level, labelled)
        matches.append(sum(min(a[key], b[key]) for key in a))
    total = float(matches[n_levels])
    for level in range(n_levels):
        total += (matches[level] - matches[level + 1]) / 2 ** (n_levels - level)
    return total


def matching(G, H, n_dims: int = 6) -> float:
    """The value of the best assignment of the smaller node set to the larger.

    A node's vector is its row of |V| diag(|λ|^{1/2}); similarity is the dot product.
    """
    values_g, points_g = adjacency_embedding(G, n_dims)
    values_h, points_h = adjacency_embedding(H, n_dims)
    points_g = points_g * np.sqrt(np.abs(values_g))
    points_h = points_h * np.sqrt(np.abs(values_h))
    similarity = points_g @ points_h.T
    rows, columns = linear_sum_assignment(similarity, maximize=True)
    return float(similarity[rows, columns].sum())


def geometric_assignment_gram(X, fitted=None, n_dims: int = 6) -> np.ndarray:
    """Dot products of features: the matchings of a graph to the fitted graphs, divided by N."""
    fitted = X if fitted is None else fitted
    of_x = gram(matching, X, fitted, n_dims=n_dims) / len(fitted)
    of_fitted = gram(matching, fitted, n_dims=n_dims) / len(fitted)
    return of_x @ of_fitted.T
