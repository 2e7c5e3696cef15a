"""Laplacian kernels by determinants, and the multiscale kernel by Gram matrices of nodes."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace

import numpy as np
from scipy.linalg import expm

from reference.plain import PlainGraph, one_graph, plain_graphs

# The kernel between two covariance matrices


def bhattacharyya(S1: np.ndarray, S2: np.ndarray) -> float:
    """|(½S₁⁻¹ + ½S₂⁻¹)⁻¹|^½ / (|S₁|^¼ |S₂|^¼), the formula of the paper."""
    if len(S1) == 0:
        return 1.0
    harmonic = np.linalg.inv((np.linalg.inv(S1) + np.linalg.inv(S2)) / 2)
    determinant = np.linalg.det
    return math.sqrt(determinant(harmonic)) / (determinant(S1) * determinant(S2)) ** 0.25


def bhattacharyya_by_logarithms(S1: np.ndarray, S2: np.ndarray) -> float:
    """exp(¼(ln|S₁| + ln|S₂|) − ½ ln|(S₁ + S₂)/2|): the same with one new determinant."""

    def log_determinant(S: np.ndarray) -> float:
        return float(np.linalg.slogdet(S)[1]) if len(S) else 0.0

    own = log_determinant(S1) + log_determinant(S2)
    return math.exp(own / 4 - log_determinant((S1 + S2) / 2) / 2)


# Graphs of equal size


def regularised_laplacian(graph, eta: float) -> np.ndarray:
    """D − A + ηI, with edge weights."""
    graph = one_graph(graph)
    adjacency = graph.adjacency(weighted=True)
    return np.diag(adjacency.sum(axis=1)) - adjacency + eta * np.eye(graph.n)


def laplacian_pseudo_inverse(graph) -> np.ndarray:
    """Σ u uᵀ / λ over the eigenvalues of D − A above 1e-4 of the largest; 0 without edges."""
    laplacian = regularised_laplacian(graph, 0.0)
    total = np.zeros_like(laplacian)
    if len(laplacian) == 0:
        return total
    values, vectors = np.linalg.eigh(laplacian)
    for value, vector in zip(values, vectors.T, strict=True):
        if value > 1e-4 * values.max():
            total += np.outer(vector, vector) / value
    return total


def covariance(graph, U: np.ndarray, eta: float, gamma: float) -> np.ndarray:
    """S = U L⁻¹ Uᵀ + γI, with one column of U per node."""
    return U @ np.linalg.inv(regularised_laplacian(graph, eta)) @ U.T + gamma * np.eye(len(U))


def laplacian_kernel(G, H, eta: float, gamma: float, form: Callable = bhattacharyya) -> float:
    """The kernel of two graphs as they are numbered: U = I."""
    G, H = one_graph(G), one_graph(H)
    if G.n != H.n:
        raise ValueError(f"The graphs have {G.n} and {H.n} nodes; they must have as many.")
    S1, S2 = (covariance(graph, np.eye(graph.n), eta, gamma) for graph in (G, H))
    return form(S1, S2)


# Vertex features


def vertex_features(
    graph,
    features="labels",
    alphabet: Sequence[Hashable] = (),
    heat_times: Sequence[float] = (0.1, 1, 10),
) -> np.ndarray:
    """One row per node: one-hot labels, degree, attributes, heat kernel diagonals, a callable's."""
    if callable(features):
        return np.asarray(features(graph), dtype=float)
    graph = one_graph(graph)
    if features == "labels":
        return np.array(
            [[float(label == other) for other in alphabet] for label in graph.labels]
        ).reshape(graph.n, len(alphabet))
    if features == "degree":
        return np.array([[float(graph.degree(v))] for v in range(graph.n)]).reshape(graph.n, 1)
    if features == "attributes":
        return np.zeros((0, 0)) if graph.n == 0 else np.array(graph.attributes, dtype=float)
    if features == "heat":
        laplacian = regularised_laplacian(graph, 0.0)
        columns = [np.diag(expm(-t * laplacian)) for t in heat_times]
        return np.array(columns).reshape(len(heat_times), graph.n).T
    raise ValueError(f"features={features!r}")


def joint_features(graphs, features="labels", **options) -> list[np.ndarray]:
    """The features of several graphs in common columns, over the union of their alphabets."""
    graphs = list(graphs)
    alphabet = list(dict.fromkeys(label for graph in graphs for label in one_graph(graph).labels))
    rows = [vertex_features(graph, features, alphabet, **options) for graph in graphs]
    # An empty graph may not have the number of attributes of the others.
    width = max((len(row[0]) for row in rows if len(row)), default=0)
    return [row if len(row) else np.zeros((0, width)) for row in rows]


def feature_laplacian(
    G, H, eta: float = 0.1, gamma: float = 0.01, features="labels", **options
) -> float:
    """The kernel of S₁ = U₁L₁⁻¹U₁ᵀ + γI and S₂ in the space of features."""
    P, Q = joint_features([G, H], features, **options)
    return bhattacharyya_by_logarithms(
        covariance(G, P.T, eta, gamma), covariance(H, Q.T, eta, gamma)
    )


# From a kernel between vertices instead of features


def kernelised(
    G, H, joint_gram: np.ndarray, eta: float, gamma: float, inverse: Callable | None = None
) -> float:
    """The kernel of G and H from the Gram matrix of G's vertices followed by H's.

    Q = [√λ_i u_i] over its non-zero eigenvalues; Q₁ its first n₁ rows, Q₂ the n₂ rows after them;
    S̄ = QᵀL⁻¹Q + γI, or QᵀL'Q + γI with L' = inverse(graph).
    """
    G, H = one_graph(G), one_graph(H)
    if len(joint_gram) == 0:
        return 1.0
    values, vectors = np.linalg.eigh((joint_gram + joint_gram.T) / 2)
    kept = values > 1e-12 * max(values.max(), 0.0)
    Q = vectors[:, kept] * np.sqrt(values[kept])
    Q1, Q2 = Q[: G.n], Q[G.n : G.n + H.n]
    if inverse is not None:
        ridge = gamma * np.eye(Q.shape[1])
        return bhattacharyya_by_logarithms(
            Q1.T @ inverse(G) @ Q1 + ridge, Q2.T @ inverse(H) @ Q2 + ridge
        )
    return bhattacharyya_by_logarithms(
        covariance(G, Q1.T, eta, gamma), covariance(H, Q2.T, eta, gamma)
    )


def kernelised_feature_laplacian(
    G,
    H,
    base_kernel: Callable[[np.ndarray, np.ndarray], np.ndarray],
    eta: float = 0.1,
    gamma: float = 0.01,
    features="labels",
    **options,
) -> float:
    """The kernel induced from `base_kernel` on the rows of vertex features."""
    rows = np.concatenate(joint_features([G, H], features, **options))
    return kernelised(G, H, base_kernel(rows, rows), eta, gamma)


# Many scales


def ball(graph: PlainGraph, centre: int, radius: int) -> list[int]:
    """The nodes at most `radius` hops from the centre, including the centre."""
    reached = {centre}
    for _ in range(radius):
        reached |= {u for v in reached for u in graph.neighbours[v]}
    return sorted(reached)


def induced(graph: PlainGraph, nodes: list[int]) -> PlainGraph:
    """The induced subgraph, with nodes numbered in the given order."""
    place = {v: i for i, v in enumerate(nodes)}
    arcs = [(u, v) for u in nodes for v in graph.neighbours[u] if v in place]

    def kept(column):
        return {(place[u], place[v]): column[u, v] for u, v in arcs}

    return replace(
        graph,
        n=len(nodes),
        neighbours=[[place[v] for v in graph.neighbours[u] if v in place] for u in nodes],
        labels=[graph.labels[v] for v in nodes],
        edge_labels=kept(graph.edge_labels),
        weights=kept(graph.weights),
        attributes=None if graph.attributes is None else graph.attributes[nodes],
        edge_attributes=None if graph.edge_attributes is None else kept(graph.edge_attributes),
    )


def lifted_gram(
    pieces: list[tuple[PlainGraph, list[int], list[float]]],
    vertex_gram: np.ndarray,
    eta: float,
    gamma: float,
    inverse: Callable | None = None,
) -> np.ndarray:
    """The kernel between all pairs of (graph, positions of its nodes in the joint Gram matrix,
    factors by which the vectors of its nodes are multiplied)."""
    matrix = np.zeros((len(pieces), len(pieces)))
    for i, (G, places_g, factors_g) in enumerate(pieces):
        for j, (H, places_h, factors_h) in enumerate(pieces[: i + 1]):
            both, factors = places_g + places_h, np.array(factors_g + factors_h)
            joint = vertex_gram[np.ix_(both, both)] if both else np.zeros((0, 0))
            joint = joint * np.multiply.outer(factors, factors)
            matrix[i, j] = matrix[j, i] = kernelised(G, H, joint, eta, gamma, inverse)
    return matrix


def hops_from(graph: PlainGraph, centre: int) -> dict[int, int]:
    """The number of hops from the centre to every reachable node."""
    hops, reached = {centre: 0}, [centre]
    for v in reached:
        for u in graph.neighbours[v]:
            if u not in hops:
                hops[u] = hops[v] + 1
                reached.append(u)
    return hops


def ball_radius(level: int, radius: float, growth) -> int:
    """⌊radius·growth^{level−1}⌋, or ⌊radius·level⌋ for growth="add"."""
    return math.floor(radius * (level if growth == "add" else growth ** (level - 1)))


def distinct(matrices: Sequence[np.ndarray]) -> list[int]:
    """The position of the first matrix of each kind.

    Two matrices are of one kind if all entries agree to 1e-9 of the largest entry overall.
    """
    largest = max((float(np.abs(S).max()) for S in matrices if S.size), default=0.0)
    first: list[int] = []
    for i, S in enumerate(matrices):
        if not any(
            matrices[j].shape == S.shape and bool((abs(matrices[j] - S) <= 1e-9 * largest).all())
            for j in first
        ):
            first.append(i)
    return first


def multiscale_laplacian_gram(
    X,
    Y=None,
    n_levels: int = 2,
    radius: float = 1,
    growth: float | str = 2,
    eta: float = 0.1,
    gamma: float = 0.01,
    features="labels",
    discount: bool = False,
    top: str = "regularised",
    **options,
) -> np.ndarray:
    """The multiscale kernel, by the joint Gram matrix of all vertices of all graphs.

    Level 0 is the dot product of vertex features. At level l two vertices are compared by the
    kernel, induced from level l − 1, of their balls of radius ⌊radius·growth^{l−1}⌋; finally two
    graphs are compared by the kernel induced from the last level. With `discount` a vector in a
    ball is divided by (hops to the centre + 1); `top` inverts the Laplacian of whole graphs.
    """
    graphs = plain_graphs(X) + ([] if Y is None else plain_graphs(Y))
    rows = np.concatenate(joint_features(graphs, features, **options))
    vertex_gram = rows @ rows.T
    first = np.concatenate([[0], np.cumsum([graph.n for graph in graphs])]).astype(int).tolist()
    for level in range(1, n_levels + 1):
        pieces = []
        for graph, offset in zip(graphs, first, strict=False):
            for v in range(graph.n):
                nodes = ball(graph, v, ball_radius(level, radius, growth))
                hops = hops_from(graph, v)
                factors = [1.0 / (hops[u] + 1) if discount else 1.0 for u in nodes]
                pieces.append((induced(graph, nodes), [offset + u for u in nodes], factors))
        vertex_gram = lifted_gram(pieces, vertex_gram, eta, gamma)
    wholes = [
        (graph, list(range(offset, offset + graph.n)), [1.0] * graph.n)
        for graph, offset in zip(graphs, first, strict=False)
    ]
    inverse = {"regularised": None, "pseudo-inverse": laplacian_pseudo_inverse}[top]
    matrix = lifted_gram(wholes, vertex_gram, eta, gamma, inverse)
    return matrix if Y is None else matrix[: len(X), len(X) :]
