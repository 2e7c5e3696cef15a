"""The subgraph matching kernel, by trying every bijection between every two subsets of nodes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import combinations, permutations

import numpy as np

from reference.building import matrix, rows_and_columns
from reference.kernels.laplacian import hops_from, induced
from reference.plain import PlainGraph


def size_weight(weights: str | Sequence[float], s: int) -> float:
    """λ_s."""
    if not isinstance(weights, str):
        return float(weights[s - 1])
    return {
        "uniform": 1.0,
        "increasing": float(s),
        "decreasing": 1.0 / s,
        "strong-decreasing": 1.0 / s**2,
    }[weights]


def is_connected(graph: PlainGraph) -> bool:
    return graph.n == 0 or len(hops_from(graph, 0)) == graph.n


def node_value(G, H, v: int, w: int, node_kernel: str | Callable, mu: float | None) -> float:
    """κ_V of a node of G and a node of H; a callable gets labels, None if there are none."""
    if callable(node_kernel):
        return float(
            node_kernel(
                G.labels[v] if G.has_labels else None, H.labels[w] if H.has_labels else None
            )
        )
    if node_kernel == "gaussian":
        difference = G.attributes[v] - H.attributes[w]
        rate = 1.0 / len(difference) if mu is None else mu
        return math.exp(-rate * float(difference @ difference))
    return float(G.labels[v] == H.labels[w])


def pair_value(G, H, pair: tuple, image: tuple, edge_kernel: str | Callable) -> float:
    """κ_E: the edge kernel for two edges, 1 for two pairs without an edge, otherwise 0."""
    if (pair in G.weights) != (image in H.weights):
        return 0.0
    if pair not in G.weights or edge_kernel == "one":
        return 1.0
    if callable(edge_kernel):
        return float(
            edge_kernel(
                G.edge_labels[pair] if G.has_edge_labels else None,
                H.edge_labels[image] if H.has_edge_labels else None,
            )
        )
    return float(G.edge_labels[pair] == H.edge_labels[image])


def bijection_value(G, H, nodes, images, node_kernel, edge_kernel, mu) -> float:
    """Π_v κ_V(v, φ(v)) Π_{pairs} κ_E(pair, φ(pair)) for φ: nodes[i] ↦ images[i]."""
    value = 1.0
    for v, w in zip(nodes, images, strict=True):
        value *= node_value(G, H, v, w, node_kernel, mu)
    for i, j in combinations(range(len(nodes)), 2):
        if value:
            pair, image = (nodes[i], nodes[j]), (images[i], images[j])
            value *= pair_value(G, H, pair, image, edge_kernel)
    return value


def subgraph_matching_pair(
    G: PlainGraph,
    H: PlainGraph,
    size: int = 3,
    weights: str | Sequence[float] = "uniform",
    connected: bool = True,
    node_kernel: str | Callable = "label",
    edge_kernel: str | Callable = "label",
    mu: float | None = None,
) -> float:
    """Σ_s λ_s Σ over bijections between s-node subsets of the products of node and pair kernels."""
    total = 0.0
    for s in range(1, size + 1):
        for nodes in combinations(range(G.n), s):
            if connected and not is_connected(induced(G, list(nodes))):
                continue
            for images in permutations(range(H.n), s):
                if connected and not is_connected(induced(H, list(images))):
                    continue
                value = bijection_value(G, H, nodes, images, node_kernel, edge_kernel, mu)
                total += size_weight(weights, s) * value
    return total


def subgraph_matching(graphs, other=None, normalize: bool = False, **options) -> np.ndarray:
    """The matrix of SubgraphMatching: rows `graphs`, columns the fitted graphs `other`."""
    rows, columns = rows_and_columns(graphs, other)
    return matrix(subgraph_matching_pair, rows, columns, normalize, **options)
