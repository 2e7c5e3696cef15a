"""Kernels on counts of node labels and edge types, and the general R-convolution kernel."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Sequence

import numpy as np

from reference.plain import PlainGraph, one_graph


def dot(a: Counter, b: Counter) -> float:
    """Σ_σ a(σ) b(σ)."""
    return float(sum(a[key] * b[key] for key in a))


def intersection(a: Counter, b: Counter) -> float:
    """Σ_σ min(a(σ), b(σ))."""
    return float(sum(min(a[key], b[key]) for key in a))


def ordered_pair(first: Hashable, second: Hashable) -> tuple:
    return (first, second)


def unordered_pair(first: Hashable, second: Hashable) -> frozenset:
    """The set of the two values; it has one element if they are equal."""
    return frozenset([first, second])


def vertex_counts(graph: PlainGraph, colours: Sequence[Hashable] | None = None) -> Counter:
    """The number of nodes of each label (or of each of the given colours)."""
    return Counter(one_graph(graph).labels if colours is None else colours)


def edge_counts(graph: PlainGraph, colours: Sequence[Hashable] | None = None) -> Counter:
    """The number of edges of each type.

    A type is the unordered pair of the end labels (a set of one if they are equal), with the edge
    label if edges have labels. For an arc, the pair is ordered, tail first.
    """
    graph = one_graph(graph)
    colours = graph.labels if colours is None else colours
    ends = ordered_pair if graph.directed else unordered_pair
    return Counter(
        (ends(colours[u], colours[v]), graph.edge_labels[u, v]) for u, v in graph.edges()
    )


def vertex_histogram(G, H) -> float:
    """Σ_σ c(G,σ) c(H,σ) over node labels."""
    return dot(vertex_counts(one_graph(G)), vertex_counts(one_graph(H)))


def edge_histogram(G, H) -> float:
    """Σ_τ c(G,τ) c(H,τ) over edge types."""
    return dot(edge_counts(one_graph(G)), edge_counts(one_graph(H)))


def r_convolution(
    G, H, decompose: Callable[..., list[tuple]], kernels: Sequence[Callable]
) -> float:
    """Σ over pairs of tuples of parts of the product of the part kernels.

    `decompose` gets each graph in its original form (a one-graph batch or a plain graph).
    """
    total = 0.0
    for parts_of_g in decompose(G):
        for parts_of_h in decompose(H):
            product = 1.0
            for kernel, part_g, part_h in zip(kernels, parts_of_g, parts_of_h, strict=True):
                product *= kernel(part_g, part_h)
            total += product
    return total


def r_convolution_gram(X, Y, decompose, kernels) -> np.ndarray:
    """The R-convolution matrix of two batches; `decompose` gets each graph as a batch of one."""
    return np.array([[r_convolution(x, y, decompose, kernels) for y in Y] for x in X])
