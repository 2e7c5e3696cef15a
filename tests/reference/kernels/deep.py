"""The deep graph kernel: patterns that occur in the same graphs are similar."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable

import numpy as np

from reference.kernels.weisfeiler_lehman import level_counts
from reference.plain import plain_graphs

Pattern = tuple[Hashable, Hashable]


def wl_patterns(graph, n_iter: int = 5, **options) -> Counter:
    """The features of Weisfeiler-Lehman by (level, colour)."""
    counts: Counter = Counter()
    for level, of_level in enumerate(level_counts(graph, n_iter, **options)):
        for colour, count in of_level.items():
            counts[level, colour] = count
    return counts


def without_levels(counts: Callable[..., Counter]) -> Callable[..., Counter]:
    """The features of a base kernel without levels: all on one level."""
    return lambda graph: Counter({(None, key): value for key, value in counts(graph).items()})


def cooccurrences(features: list[Counter], patterns: list[Pattern]) -> np.ndarray:
    """C_st: the number of graphs that have both of two different patterns of one level."""
    C = np.zeros((len(patterns), len(patterns)))
    for i, s in enumerate(patterns):
        for j, t in enumerate(patterns):
            if i != j and s[0] == t[0]:
                C[i, j] = sum(1 for counts in features if counts[s] and counts[t])
    return C


def positive_information(C: np.ndarray) -> np.ndarray:
    """PPMI = max(0, ln(C_st ΣC/(C_s· C_·t))), 0 if C_st = 0."""
    total = C.sum()
    ppmi = np.zeros_like(C)
    for i in range(len(C)):
        for j in range(len(C)):
            if C[i, j] > 0:
                ratio = C[i, j] * total / (C[i].sum() * C[:, j].sum())
                ppmi[i, j] = max(0.0, math.log(ratio))
    return ppmi


def pattern_similarity(ppmi: np.ndarray, n_components: int) -> np.ndarray:
    """M = E Eᵀ with ones on the diagonal, E the rows of U√S divided by their lengths.

    Of the n_components largest singular values, those are kept that exceed both (1 + 1e-6) times
    the first omitted one and 1e-10 times the largest; rows shorter than 1e-7·√largest are 0.
    """
    if len(ppmi) == 0:
        return np.zeros((0, 0))
    U, S, _ = np.linalg.svd(ppmi)
    cut_off = S[n_components] if n_components < len(S) else 0.0
    kept = [
        i
        for i in range(min(n_components, len(S)))
        if S[i] > (1 + 1e-6) * cut_off and S[i] > 1e-10 * S[0]
    ]
    rows = U[:, kept] * np.sqrt(S[kept])
    E = np.zeros_like(rows)
    for i, row in enumerate(rows):
        length = float(np.linalg.norm(row))
        if length >= 1e-7 * math.sqrt(S[0]) and length > 0:
            E[i] = row / length
    M = E @ E.T
    np.fill_diagonal(M, 1.0)
    return M


def fitted_patterns(fitted, features: Callable[..., Counter], n_components: int):
    """The patterns of the fitted graphs, and their similarities M."""
    counts = [features(graph) for graph in plain_graphs(fitted)]
    patterns = list(dict.fromkeys(p for of_graph in counts for p in of_graph if of_graph[p]))
    ppmi = positive_information(cooccurrences(counts, patterns))
    return patterns, pattern_similarity(ppmi, n_components)


def deep_graph_diagonal(
    graphs, fitted, *, features: Callable[..., Counter] = wl_patterns, n_components: int = 64
) -> np.ndarray:
    """The self-similarities after a fit on `fitted`: the seen part, plus Σ count² of the unseen."""
    patterns, M = fitted_patterns(fitted, features, n_components)
    values = []
    for graph in plain_graphs(graphs):
        counts = features(graph)
        seen = np.array([counts[p] for p in patterns], dtype=float)
        unseen = sum(value**2 for p, value in counts.items() if p not in set(patterns))
        values.append(float(seen @ M @ seen) + unseen)
    return np.array(values)


def deep_graph_kernel(
    graphs,
    other=None,
    *,
    features: Callable[..., Counter] = wl_patterns,
    n_components: int = 64,
    normalize: bool = False,
) -> np.ndarray:
    """The matrix Φ M Φᵀ: rows `graphs`, columns the fitted graphs `other`.

    `features(graph)` returns the features of the base kernel by (level, pattern). A pattern that no
    fitted graph has counts only in a graph's own norm.
    """
    rows = plain_graphs(graphs)
    columns = rows if other is None else plain_graphs(other)
    patterns, M = fitted_patterns(columns, features, n_components)

    def vectors(side) -> np.ndarray:
        counts = [features(graph) for graph in side]
        values = [[float(of_graph[p]) for p in patterns] for of_graph in counts]
        return np.array(values).reshape(len(side), len(patterns))

    values = vectors(rows) @ M @ vectors(columns).T
    if normalize:
        options = {"features": features, "n_components": n_components}
        own_rows = deep_graph_diagonal(rows, columns, **options)
        own_columns = deep_graph_diagonal(columns, columns, **options)
        for i, a in enumerate(own_rows):
            for j, b in enumerate(own_columns):
                values[i, j] = values[i, j] / math.sqrt(a * b) if a > 0 and b > 0 else 0.0
    return values
