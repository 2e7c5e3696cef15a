"""Weisfeiler-Lehman colours as nested values, and the kernels that count or match them.

A colour is the pair (own colour, multiset of the neighbours' colours), stored in full: nothing is
renamed, so two colours are equal if and only if their patterns are. A multiset is the set of its
(value, multiplicity) pairs, which needs no order on labels.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable

from reference.kernels.histograms import dot, edge_counts, intersection, vertex_counts
from reference.kernels.paths_walks import shortest_path_counts
from reference.plain import PlainGraph, one_graph


def multiset(values) -> frozenset:
    """The multiset of some hashable values, as a hashable value."""
    return frozenset(Counter(values).items())


def refine(graph: PlainGraph, colours: list[Hashable], use_edge_labels: bool) -> list[Hashable]:
    """One step: ℓ_{h+1}(v) = (ℓ_h(v), multiset of ℓ_h over v's neighbours).

    In a directed graph there are two multisets, of the heads of v's arcs and of the tails of the
    arcs to v; the second is omitted if it is empty, so that a graph without edges has the same
    colours as an undirected one. With `use_edge_labels` they contain pairs (edge label, colour).
    """
    refined, predecessors = [], graph.predecessors
    for v in range(graph.n):
        directions = [[(u, (v, u)) for u in graph.neighbours[v]]]
        if graph.directed and predecessors[v]:
            directions.append([(u, (u, v)) for u in predecessors[v]])
        seen = [
            multiset(
                (graph.edge_labels[arc], colours[u]) if use_edge_labels else colours[u]
                for u, arc in arcs
            )
            for arcs in directions
        ]
        refined.append((colours[v], *seen))
    return refined


def colour_levels(
    graph, n_iter: int, include_initial: bool = True, use_edge_labels: bool = False
) -> list[list[Hashable]]:
    """The colours of the nodes at every level in use: 0..n_iter, or 1..n_iter."""
    graph = one_graph(graph)
    levels = [list(graph.labels)]
    for _ in range(n_iter):
        levels.append(refine(graph, levels[-1], use_edge_labels))
    kept = levels if include_initial else levels[1:]
    if not kept:
        raise ValueError("No level is left: n_iter=0 and include_initial=False.")
    return kept


def level_counts(
    graph,
    n_iter: int,
    base: str = "vertex",
    include_initial: bool = True,
    use_edge_labels: bool = False,
) -> list[Counter]:
    """c_h(G, ·) of every level: of nodes, of edges, or of shortest paths between colours."""
    graph = one_graph(graph)
    count = {"vertex": vertex_counts, "edge": edge_counts, "shortest-path": shortest_path_counts}
    levels = colour_levels(graph, n_iter, include_initial, use_edge_labels)
    return [count[base](graph, colours) for colours in levels]


def weisfeiler_lehman(G, H, n_iter: int = 5, base: str = "vertex", **options) -> float:
    """Σ_h Σ_σ c_h(G,σ) c_h(H,σ)."""
    counts_g = level_counts(G, n_iter, base, **options)
    counts_h = level_counts(H, n_iter, base, **options)
    return sum(dot(a, b) for a, b in zip(counts_g, counts_h, strict=True))


def optimal_assignment(G, H, base: str = "vertex") -> float:
    """Σ_σ min(c(G,σ), c(H,σ)) over node labels or edge types."""
    counts = {"vertex": vertex_counts, "edge": edge_counts}[base]
    return intersection(counts(one_graph(G)), counts(one_graph(H)))


def wl_optimal_assignment(G, H, n_iter: int = 5, **options) -> float:
    """Σ_h Σ_σ min(c_h(G,σ), c_h(H,σ))."""
    counts_g = level_counts(G, n_iter, **options)
    counts_h = level_counts(H, n_iter, **options)
    return sum(intersection(a, b) for a, b in zip(counts_g, counts_h, strict=True))
