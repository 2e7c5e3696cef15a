"""Embeddings by the spectrum of the normalised Laplacian, and by profiles of degrees."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from reference.plain import PlainGraph, plain_graphs


def laplacian(graph: PlainGraph) -> np.ndarray:
    """I − D^{-1/2} A D^{-1/2}, with 0 in the row of an isolated node; weights are ignored."""
    matrix = np.zeros((graph.n, graph.n))
    for v in range(graph.n):
        if graph.neighbours[v]:
            matrix[v, v] = 1.0
        for u in graph.neighbours[v]:
            matrix[v, u] = -1.0 / math.sqrt(graph.degree(u) * graph.degree(v))
    return matrix


def eigenvalues(graph: PlainGraph) -> list[float]:
    """The eigenvalues in ascending order."""
    return np.linalg.eigvalsh(laplacian(graph)).tolist() if graph.n else []


# NetLSD


def signature(values: Sequence[float], t: float, kind: str) -> float:
    return sum(math.exp(-t * x) if kind == "heat" else math.cos(t * x) for x in values)


def netlsd_divisor(n: int, t: float, kind: str, normalization: str | None) -> float:
    """1, n, or the value of the complete graph: eigenvalues 0 and, n − 1 times, n/(n − 1)."""
    if normalization is None:
        return 1.0
    if normalization == "empty":
        return float(n)
    complete = [0.0] + [n / (n - 1)] * (n - 1) if n > 1 else [0.0]
    return signature(complete, t, kind)


def netlsd(
    graphs,
    times: Sequence[float] | None = None,
    kind: str = "heat",
    normalization: str | None = None,
) -> np.ndarray:
    """Σ_i e^{−tλ_i} or Σ_i cos(tλ_i); 0 if the magnitude of the divisor is below 1e-12."""
    graphs = plain_graphs(graphs)
    if times is None:
        times = [10.0 ** (-2 + 4 * i / 249) for i in range(250)]
    rows = np.zeros((len(graphs), len(times)))
    for i, graph in enumerate(graphs):
        values = eigenvalues(graph)
        for j, t in enumerate(times):
            if graph.n:
                divisor = netlsd_divisor(graph.n, t, kind, normalization)
                if abs(divisor) >= 1e-12:
                    rows[i, j] = signature(values, t, kind) / divisor
    return rows


# FGSD


def pseudo_inverse(graph: PlainGraph) -> np.ndarray:
    """Σ u uᵀ / λ over eigenvalues of at least 1e-10."""
    total = np.zeros((graph.n, graph.n))
    values, vectors = np.linalg.eigh(laplacian(graph))
    for value, vector in zip(values, vectors.T, strict=True):
        if value >= 1e-10:
            total += np.outer(vector, vector) / value
    return total


def fgsd(graphs, n_bins: int = 200, range: tuple[float, float] = (0, 20)) -> np.ndarray:
    """The number of ordered pairs (i, j), i = j included, by P_ii + P_jj − 2P_ij."""
    graphs = plain_graphs(graphs)
    low, high = range
    rows = np.zeros((len(graphs), n_bins))
    for row, graph in zip(rows, graphs, strict=True):
        if graph.n == 0:
            continue
        P = pseudo_inverse(graph)
        for i in np.arange(graph.n):
            for j in np.arange(graph.n):
                y = (P[i, i] + P[j, j] - 2 * P[i, j] - low) / (high - low) * n_bins
                if abs(y - n_bins) <= 1e-9:
                    row[n_bins - 1] += 1
                elif 0 <= math.floor(y + 1e-9) < n_bins:
                    row[math.floor(y + 1e-9)] += 1
    return rows


# The smallest eigenvalues


def spectral_features(graphs, n_components: int = 128) -> np.ndarray:
    """The smallest eigenvalues in ascending order, padded with zeros."""
    graphs = plain_graphs(graphs)
    rows = np.zeros((len(graphs), n_components))
    for row, graph in zip(rows, graphs, strict=True):
        for i, value in enumerate(eigenvalues(graph)[:n_components]):
            row[i] = value
    return rows


# Local degree profile


def degree_profile(graph: PlainGraph) -> list[list[float]]:
    """For each node, ln(1 + x) of its degree and of the minimum, maximum, mean and deviation of its
    neighbours' degrees."""
    profile = []
    for v in range(graph.n):
        around = [graph.degree(u) for u in graph.neighbours[v]]
        numbers = [float(len(around)), 0.0, 0.0, 0.0, 0.0]
        if around:
            mean = sum(around) / len(around)
            variance = sum((d - mean) ** 2 for d in around) / len(around)
            numbers[1:] = [min(around), max(around), mean, math.sqrt(variance)]
        profile.append([math.log(1 + x) for x in numbers])
    return profile


def local_degree_profile(graphs, fitted=None, n_bins: int = 32) -> np.ndarray:
    """Five concatenated histograms over [0, largest fitted value], each divided by n."""
    graphs = plain_graphs(graphs)
    fitted = graphs if fitted is None else plain_graphs(fitted)
    largest = [
        max((node[c] for graph in fitted for node in degree_profile(graph)), default=0.0)
        for c in range(5)
    ]
    rows = np.zeros((len(graphs), 5 * n_bins))
    for row, graph in zip(rows, graphs, strict=True):
        for node in degree_profile(graph):
            for c, x in enumerate(node):
                if largest[c] > 0:
                    place = min(math.floor(x / largest[c] * n_bins + 1e-9), n_bins - 1)
                else:
                    place = n_bins - 1 if x > 0 else 0
                row[c * n_bins + place] += 1.0 / graph.n
    return rows
