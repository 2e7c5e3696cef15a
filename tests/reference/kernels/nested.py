"""Kernels over another kernel: on the cores of graphs, and on the levels of colour refinement.

The other kernel is a function of rows and columns that returns their matrix, like all kernels of
this folder: `base(graphs, other)`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from reference.building import matrix, rows_and_columns, with_labels
from reference.kernels.laplacian import induced
from reference.kernels.weisfeiler_lehman import colour_levels
from reference.plain import PlainGraph, gram


def as_matrix(pair: Callable[..., float], **options) -> Callable[..., np.ndarray]:
    """A function of two graphs as a function of two sets of graphs."""
    return lambda graphs, other=None: gram(pair, graphs, other, **options)


# Cores


def core_numbers(graph: PlainGraph) -> list[int]:
    """The largest i such that the node is in a subgraph where all degrees are at least i."""
    numbers = [0] * graph.n
    for i in range(1, graph.n):
        left = set(range(graph.n))
        while True:
            poor = {v for v in left if sum(u in left for u in graph.neighbours[v]) < i}
            if not poor:
                break
            left -= poor
        for v in left:
            numbers[v] = i
    return numbers


def core(graph: PlainGraph, i: int) -> PlainGraph:
    """C_i: the subgraph induced by the nodes of core number at least i."""
    return induced(graph, [v for v, number in enumerate(core_numbers(graph)) if number >= i])


def core_pair(G: PlainGraph, H: PlainGraph, base: Callable, min_core: int = 0) -> float:
    """Σ_{i=min_core..min(δ,δ')} base(C_i(G), C_i(H)); 0 if a graph has no nodes."""
    if G.n == 0 or H.n == 0:
        return 0.0
    last = min(max(core_numbers(G)), max(core_numbers(H)))
    return sum(float(base([core(G, i)], [core(H, i)])[0, 0]) for i in range(min_core, last + 1))


def core_kernel(
    graphs, other=None, *, base: Callable, min_core: int = 0, normalize: bool = False
) -> np.ndarray:
    """The matrix of CoreKernel: rows `graphs`, columns the fitted graphs `other`."""
    rows, columns = rows_and_columns(graphs, other)
    return matrix(core_pair, rows, columns, normalize, base=base, min_core=min_core)


# Levels of refinement


def wl_over_base(
    graphs,
    other=None,
    *,
    base: Callable,
    n_iter: int = 5,
    include_initial: bool = True,
    use_edge_labels="auto",
    normalize: bool = False,
) -> np.ndarray:
    """Σ_h base on the graphs with the colours of level h as node labels, other columns kept.

    `use_edge_labels` applies to the refinement only: the base gets the edge labels unchanged.
    """
    rows, columns = rows_and_columns(graphs, other, use_edge_labels=True)
    if use_edge_labels == "auto":
        use_edge_labels = any(graph.has_edge_labels and graph.weights for graph in columns)

    def levels(side):
        of_graph = [
            colour_levels(graph, n_iter, include_initial, use_edge_labels) for graph in side
        ]
        return [
            [with_labels(graph, level) for graph, level in zip(side, of_level, strict=True)]
            for of_level in zip(*of_graph, strict=True)
        ]

    def total(xs, ys):
        return sum(base(x, y) for x, y in zip(levels(xs), levels(ys), strict=True))

    if not rows or not columns:
        return np.zeros((len(rows), len(columns)))
    values = np.array(total(rows, columns), dtype=float)
    if normalize:
        norms_x = [float(total([x], [x])[0, 0]) for x in rows]
        norms_y = [float(total([y], [y])[0, 0]) for y in columns]
        for i, a in enumerate(norms_x):
            for j, b in enumerate(norms_y):
                values[i, j] = values[i, j] / np.sqrt(a * b) if a > 0 and b > 0 else 0.0
    return values
