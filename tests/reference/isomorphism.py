"""Isomorphic graphs by trying every renumbering, and graphs that WL cannot distinguish."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from itertools import permutations

from reference.kernels.weisfeiler_lehman import colour_levels, multiset
from reference.plain import PlainGraph, plain_graphs


def is_isomorphism(G: PlainGraph, H: PlainGraph, image: Sequence[int]) -> bool:
    """Whether v ↦ image[v] keeps labels, edges (with direction) and edge labels."""
    if any(G.labels[v] != H.labels[w] for v, w in enumerate(image)):
        return False
    if len(G.edge_labels) != len(H.edge_labels):
        return False
    return all(
        (image[u], image[v]) in H.edge_labels and H.edge_labels[image[u], image[v]] == label
        for (u, v), label in G.edge_labels.items()
    )


def isomorphic(G: PlainGraph, H: PlainGraph) -> bool:
    """Whether some renumbering makes the graphs equal; weights are ignored."""
    if G.n != H.n:
        return False
    if (G.weights or H.weights) and G.directed != H.directed:
        return False
    return any(is_isomorphism(G, H, image) for image in permutations(range(H.n)))


def grouped(classes: Sequence[int]) -> list[list[int]]:
    """Positions of equal entries, two or more, ascending, in the order of the first."""
    groups = [[j for j, other in enumerate(classes) if other == i] for i in range(len(classes))]
    return [group for group in groups if len(group) > 1]


def find_duplicates(graphs) -> list[list[int]]:
    """The positions of isomorphic graphs, group by group."""
    graphs = plain_graphs(graphs)
    first = [
        next(j for j, other in enumerate(graphs[: i + 1]) if isomorphic(other, graph))
        for i, graph in enumerate(graphs)
    ]
    return grouped(first)


def wl_identity(graph: PlainGraph, n_iter: int = 3, use_edge_labels="auto") -> Hashable:
    """A value that is equal for two graphs if and only if their `graph_hashes` must be equal.

    It consists of the multiset of colours after n_iter rounds, which contain those of all earlier
    rounds, and of whether there are arcs. Edge labels count if the graph has them, unless disabled.
    """
    used = graph.has_edge_labels if use_edge_labels == "auto" else bool(use_edge_labels)
    colours = colour_levels(graph, n_iter, use_edge_labels=used)[-1]
    return (multiset(colours), graph.directed and bool(graph.weights))


def hash_classes(graphs, n_iter: int = 3, use_edge_labels="auto") -> list[int]:
    """For each graph, the position of the first graph that must have the same hash."""
    identities = [wl_identity(graph, n_iter, use_edge_labels) for graph in plain_graphs(graphs)]
    return [identities.index(identity) for identity in identities]
