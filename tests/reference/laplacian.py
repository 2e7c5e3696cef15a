"""Laplacian kernels from their determinants, and the multiscale one by Gram matrices of nodes."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence

import numpy as np
from scipy.linalg import expm

from reference.plain import PlainGraph, one_graph, plain_graphs

# The kernel between two covariance matrices


def bhattacharyya(S1: np.ndarray, S2: np.ndarray) -> float:
    """|(½S₁⁻¹ + ½S₂⁻¹)⁻¹|^½ / (|S₁|^¼ |S₂|^¼), as it is printed."""
    if len(S1) == 0:
        return 1.0
    harmonic = np.linalg.inv((np.linalg.inv(S1) + np.linalg.inv(S2)) / 2)
    determinant = np.linalg.det
    return math.sqrt(determinant(harmonic)) / (determinant(S1) * determinant(S2)) ** 0.25


def bhattacharyya_by_logarithms(S1: np.ndarray, S2: np.ndarray) -> float:
    """exp(¼(ln|S₁| + ln|S₂|) − ½ ln|(S₁ + S₂)/2|): the same with one matrix that is new."""

    def log_determinant(S: np.ndarray) -> float:
        return float(np.linalg.slogdet(S)[1]) if len(S) else 0.0

    own = log_determinant(S1) + log_determinant(S2)
    return math.exp(own / 4 - log_determinant((S1 + S2) / 2) / 2)


# Graphs of equal size


def regularised_laplacian(graph, eta: float) -> np.ndarray:
    """D − A + ηI, edge weights honoured."""
    graph = one_graph(graph)
    adjacency = graph.adjacency(weighted=True)
    return np.diag(adjacency.sum(axis=1)) - adjacency + eta * np.eye(graph.n)


def covariance(graph, U: np.ndarray, eta: float, gamma: float) -> np.ndarray:
    """S = U L⁻¹ Uᵀ + γI, one column of U a node."""
    return U @ np.linalg.inv(regularised_laplacian(graph, eta)) @ U.T + gamma * np.eye(len(U))


def laplacian_kernel(G, H, eta: float, gamma: float, form: Callable = bhattacharyya) -> float:
    """The kernel of the two graphs as they are numbered: U = I."""
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
    """One row a node: one-hot labels, degree, attributes, diagonals of heat, or a callable's."""
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
    """The features of several graphs in common columns: the alphabet is that of them all."""
    graphs = list(graphs)
    alphabet = list(dict.fromkeys(label for graph in graphs for label in one_graph(graph).labels))
    rows = [vertex_features(graph, features, alphabet, **options) for graph in graphs]
    # An empty graph may not know how many attributes others have.
    width = max((len(row[0]) for row in rows if len(row)), default=0)
    return [row if len(row) else np.zeros((0, width)) for row in rows]


def feature_laplacian(
    G, H, eta: float = 0.1, gamma: float = 0.01, features="labels", **options
) -> float:
    """S₁ = U₁L₁⁻¹U₁ᵀ + γI and S₂ alike in the space of features, then the kernel of the two."""
    P, Q = joint_features([G, H], features, **options)
    return bhattacharyya_by_logarithms(
        covariance(G, P.T, eta, gamma), covariance(H, Q.T, eta, gamma)
    )


# From a kernel between vertices instead of features


def kernelised(G, H, joint_gram: np.ndarray, eta: float, gamma: float) -> float:
    """The kernel of G and H from the Gram matrix of G's vertices followed by H's.

    Q = [√λ_i u_i] over its non-zero eigenvalues; Q₁ its first n₁ rows, Q₂ the n₂ rows after them;
    S̄ = QᵀL⁻¹Q + γI.
    """
    G, H = one_graph(G), one_graph(H)
    if len(joint_gram) == 0:
        return 1.0
    values, vectors = np.linalg.eigh((joint_gram + joint_gram.T) / 2)
    kept = values > 1e-12 * max(values.max(), 0.0)
    Q = vectors[:, kept] * np.sqrt(values[kept])
    Q1, Q2 = Q[: G.n], Q[G.n : G.n + H.n]
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
    """The nodes at most `radius` hops from the centre, the centre among them."""
    reached = {centre}
    for _ in range(radius):
        reached |= {u for v in reached for u in graph.neighbours[v]}
    return sorted(reached)


def induced(graph: PlainGraph, nodes: list[int]) -> PlainGraph:
    """The induced subgraph, its nodes numbered in the given order."""
    place = {v: i for i, v in enumerate(nodes)}
    arcs = [(u, v) for u in nodes for v in graph.neighbours[u] if v in place]
    return PlainGraph(
        n=len(nodes),
        neighbours=[[place[v] for v in graph.neighbours[u] if v in place] for u in nodes],
        labels=[graph.labels[v] for v in nodes],
        has_labels=graph.has_labels,
        edge_labels={(place[u], place[v]): graph.edge_labels[u, v] for u, v in arcs},
        has_edge_labels=graph.has_edge_labels,
        weights={(place[u], place[v]): graph.weights[u, v] for u, v in arcs},
        attributes=None if graph.attributes is None else graph.attributes[nodes],
    )


def lifted_gram(
    pieces: list[tuple[PlainGraph, list[int]]], vertex_gram: np.ndarray, eta: float, gamma: float
) -> np.ndarray:
    """The kernel between all pairs of (graph, places of its nodes in the joint Gram matrix)."""
    matrix = np.zeros((len(pieces), len(pieces)))
    for i, (G, places_g) in enumerate(pieces):
        for j, (H, places_h) in enumerate(pieces[: i + 1]):
            both = places_g + places_h
            joint = vertex_gram[np.ix_(both, both)] if both else np.zeros((0, 0))
            matrix[i, j] = matrix[j, i] = kernelised(G, H, joint, eta, gamma)
    return matrix


def multiscale_laplacian_gram(
    X,
    Y=None,
    n_levels: int = 2,
    radius: float = 1,
    growth: float = 2,
    eta: float = 0.1,
    gamma: float = 0.01,
    features="labels",
    **options,
) -> np.ndarray:
    """The multiscale kernel, by the joint Gram matrix of all vertices of all graphs.

    Level 0 is the dot product of vertex features. At level l two vertices are compared by the
    kernel, induced from level l − 1, of their balls of radius ⌊radius·growth^{l−1}⌋; in the end two
    graphs are compared by the kernel induced from the last level.
    """
    graphs = plain_graphs(X) + ([] if Y is None else plain_graphs(Y))
    rows = np.concatenate(joint_features(graphs, features, **options))
    vertex_gram = rows @ rows.T
    first = np.concatenate([[0], np.cumsum([graph.n for graph in graphs])]).astype(int).tolist()
    for level in range(1, n_levels + 1):
        hops = math.floor(radius * growth ** (level - 1))
        pieces = []
        for graph, offset in zip(graphs, first, strict=False):
            for v in range(graph.n):
                nodes = ball(graph, v, hops)
                pieces.append((induced(graph, nodes), [offset + u for u in nodes]))
        vertex_gram = lifted_gram(pieces, vertex_gram, eta, gamma)
    wholes = [
        (graph, list(range(offset, offset + graph.n)))
        for graph, offset in zip(graphs, first, strict=False)
    ]
    matrix = lifted_gram(wholes, vertex_gram, eta, gamma)
    return matrix if Y is None else matrix[: len(X), len(X) :]
