"""The GraphHopper kernel, by enumerating all shortest paths of both graphs."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np

from reference.building import matrix, rows_and_columns
from reference.kernels.paths_walks import all_distances
from reference.plain import PlainGraph


def shortest_paths(graph: PlainGraph, weighted: bool = False) -> list[tuple[int, ...]]:
    """All shortest paths as tuples of nodes: from every node, all ties, single nodes included.

    An arc u→w continues a shortest path from s if |d(s,u) + w_uw − d(s,w)| ≤ 1e-9·d(s,w).
    """
    lengths = all_distances(graph, weighted)
    found: list[tuple[int, ...]] = []

    def go_on(path: tuple[int, ...]) -> None:
        found.append(path)
        s, u = path[0], path[-1]
        for w in graph.neighbours[u]:
            step = graph.weights[u, w] if weighted else 1.0
            # w must be farther than u: else paths could repeat an edge of tiny weight.
            farther = lengths[s][w] > lengths[s][u]
            if farther and abs(lengths[s][u] + step - lengths[s][w]) <= 1e-9 * lengths[s][w]:
                go_on((*path, w))

    for s in range(graph.n):
        go_on((s,))
    return found


def node_kernel_value(
    G: PlainGraph, H: PlainGraph, v: int, w: int, node_kernel: str, mu, width: float, labels: bool
) -> float:
    """κ(v, w) of a node of G and a node of H."""
    same = float(G.labels[v] == H.labels[w])
    if node_kernel == "label":
        return same
    a, b = G.attributes[v], H.attributes[w]
    square = float(sum((x - y) ** 2 for x, y in zip(a, b, strict=True)))
    if node_kernel == "linear":
        value = float(sum(x * y for x, y in zip(a, b, strict=True)))
    elif node_kernel == "gaussian":
        value = math.exp(-(1.0 / len(a) if mu is None else mu) * square)
    elif node_kernel == "bridge":
        value = max(0.0, 1.0 - math.sqrt(square) / width)
    else:
        raise ValueError(f"node_kernel={node_kernel!r}")
    return value * same if labels else value


def graph_hopper_pair(
    G: PlainGraph,
    H: PlainGraph,
    node_kernel: str = "label",
    mu: float | None = None,
    width: float = 4.0,
    weighted: bool = False,
    use_labels: bool = False,
) -> float:
    """Σ over pairs of paths with equally many nodes Σ_j κ(π(j), π'(j))."""
    kappa = {
        (v, w): node_kernel_value(G, H, v, w, node_kernel, mu, width, use_labels)
        for v in range(G.n)
        for w in range(H.n)
    }
    paths_of_h = shortest_paths(H, weighted)
    total = 0.0
    for path in shortest_paths(G, weighted):
        for other in paths_of_h:
            if len(path) == len(other):
                total += sum(kappa[v, w] for v, w in zip(path, other, strict=True))
    return total


def places(graph: PlainGraph, weighted: bool = False) -> list[Counter]:
    """M_v of every node v: the number of shortest paths of l nodes with v at position i."""
    counts: list[Counter] = [Counter() for _ in range(graph.n)]
    for path in shortest_paths(graph, weighted):
        for i, v in enumerate(path):
            counts[v][i, len(path)] += 1
    return counts


def graph_hopper(
    graphs,
    other=None,
    node_kernel: str = "auto",
    mu: float | None = None,
    width: float = 4.0,
    weighted: bool = False,
    use_labels=False,
    normalize: bool = False,
) -> np.ndarray:
    """The matrix of GraphHopper: rows `graphs`, columns the fitted graphs `other`."""
    rows, columns = rows_and_columns(graphs, other)
    if node_kernel == "auto":
        has_attributes = any(graph.attributes is not None for graph in columns)
        node_kernel = "gaussian" if has_attributes else "label"
    if use_labels == "auto":
        use_labels = any(graph.has_labels for graph in columns)
    return matrix(
        graph_hopper_pair,
        rows,
        columns,
        normalize,
        node_kernel=node_kernel,
        mu=mu,
        width=width,
        weighted=weighted,
        use_labels=use_labels,
    )
