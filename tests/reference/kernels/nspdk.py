"""The neighbourhood subgraph pairwise distance kernel, with complete identities of balls.

Sorted lists of the definition are multisets here: they are equal if and only if the sorted lists
are, and labels need no order.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable

import numpy as np

from reference.building import matrix, rows_and_columns
from reference.kernels.histograms import dot
from reference.kernels.laplacian import ball, induced
from reference.kernels.paths_walks import all_distances
from reference.kernels.weisfeiler_lehman import multiset
from reference.plain import PlainGraph


def ball_identity(graph: PlainGraph, root: int, radius: int) -> Hashable:
    """(multiset of Lⁿ, multiset over edges of ({Lⁿ(u), Lⁿ(w)}, edge label)) of the rooted ball.

    Lⁿ(u) = (D(u, root), ℓ(u), multiset over w of (D(u,w), D(w,root), ℓ(w))), D the hop distance
    inside the ball.
    """
    nodes = ball(graph, root, radius)
    inside, centre = induced(graph, nodes), nodes.index(root)
    D = all_distances(inside)
    names = [
        (
            D[u][centre],
            inside.labels[u],
            multiset((D[u][w], D[w][centre], inside.labels[w]) for w in range(inside.n)),
        )
        for u in range(inside.n)
    ]
    edges = [(multiset([names[u], names[w]]), inside.edge_labels[u, w]) for u, w in inside.edges()]
    return (multiset(names), multiset(edges))


def pair_counts(graph: PlainGraph, radius: int, distance: int) -> Counter:
    """The number of unordered pairs {u, v} at hop distance exactly `distance`, by their balls."""
    D = all_distances(graph)
    identities = [ball_identity(graph, v, radius) for v in range(graph.n)]
    return Counter(
        multiset([identities[u], identities[v]])
        for u in range(graph.n)
        for v in range(u, graph.n)
        if D[u][v] == distance
    )


def nspdk_pair(
    G: PlainGraph, H: PlainGraph, radius: int = 2, distance: int = 5, normalize_levels: bool = True
) -> float:
    """Σ_{r,d} κ_{r,d}, with each κ_{r,d} normalised separately if asked for."""
    total = 0.0
    for r in range(radius + 1):
        for d in range(distance + 1):
            a, b = pair_counts(G, r, d), pair_counts(H, r, d)
            value = dot(a, b)
            if normalize_levels:
                norm = math.sqrt(dot(a, a) * dot(b, b))
                value = value / norm if norm > 0 else 0.0
            total += value
    return total


def nspdk(
    graphs,
    other=None,
    radius: int = 2,
    distance: int = 5,
    normalize_levels: bool = True,
    use_edge_labels="auto",
    normalize: bool = False,
) -> np.ndarray:
    """The matrix of NSPDK: rows `graphs`, columns the fitted graphs `other`."""
    rows, columns = rows_and_columns(graphs, other, use_edge_labels=use_edge_labels)
    return matrix(
        nspdk_pair,
        rows,
        columns,
        normalize,
        radius=radius,
        distance=distance,
        normalize_levels=normalize_levels,
    )
