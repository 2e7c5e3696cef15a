"""Plain graphs built by hand, also directed ones, and small changes to plain graphs.

Also what all kernels share: which columns count for "auto", and the matrix of a function of two
graphs.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace

import numpy as np

from reference.plain import SAME, PlainGraph, plain_graphs


def build(
    n: int,
    edges: Sequence[tuple[int, int]] = (),
    labels: Sequence[Hashable] | None = None,
    directed: bool = False,
    edge_labels: Sequence[Hashable] | None = None,
    weights: Sequence[float] | None = None,
    attributes=None,
    edge_attributes=None,
) -> PlainGraph:
    """A graph of n nodes; edge columns are in the order of the edges."""
    columns: dict[str, dict] = {"labels": {}, "weights": {}, "attributes": {}}
    neighbours: list[list[int]] = [[] for _ in range(n)]
    for e, (u, v) in enumerate(edges):
        for tail, head in [(u, v)] if directed else [(u, v), (v, u)]:
            neighbours[tail].append(head)
            columns["labels"][tail, head] = SAME if edge_labels is None else edge_labels[e]
            columns["weights"][tail, head] = 1.0 if weights is None else float(weights[e])
            if edge_attributes is not None:
                columns["attributes"][tail, head] = [float(x) for x in edge_attributes[e]]
    return PlainGraph(
        n=n,
        neighbours=[sorted(row) for row in neighbours],
        labels=[SAME] * n if labels is None else list(labels),
        has_labels=labels is not None,
        edge_labels=columns["labels"],
        has_edge_labels=edge_labels is not None,
        weights=columns["weights"],
        attributes=None if attributes is None else np.array(attributes, dtype=float),
        directed=directed,
        edge_attributes=None if edge_attributes is None else columns["attributes"],
    )


def worked() -> list[PlainGraph]:
    """A = C-O-C, B = C-O, D = C-C-O and T, a triangle of C."""
    return [
        build(3, [(0, 1), (1, 2)], "COC"),
        build(2, [(0, 1)], "CO"),
        build(3, [(0, 1), (1, 2)], "CCO"),
        build(3, [(0, 1), (1, 2), (0, 2)], "CCC"),
    ]


def awkward(directed: bool = False) -> list[PlainGraph]:
    """Graphs with no node, one node, two nodes without an edge, and a label of no worked graph."""
    return [
        build(0, [], [], directed),
        build(1, [], "C", directed),
        build(2, [], "CO", directed),
        build(2, [(0, 1)], "CN", directed),
    ]


def digraphs() -> list[PlainGraph]:
    """A directed cycle C→C→O→C, the path C→C→O, and a node O with arcs to two nodes C."""
    return [
        build(3, [(0, 1), (1, 2), (2, 0)], "CCO", directed=True),
        build(3, [(0, 1), (1, 2)], "CCO", directed=True),
        build(3, [(0, 1), (0, 2)], "OCC", directed=True),
    ]


def random_graph(
    rng: np.random.Generator,
    n: int,
    density: float = 0.5,
    directed: bool = False,
    edge_labels: bool = True,
    n_attributes: int = 2,
) -> PlainGraph:
    """A random graph with all columns."""
    pairs = [(u, v) for u in range(n) for v in range(n) if (u != v if directed else u < v)]
    edges = [pair for pair in pairs if rng.random() < density]
    m = len(edges)
    return build(
        n,
        edges,
        rng.choice(["a", "b"], n).tolist(),
        directed,
        rng.choice(["x", "y"], m).tolist() if edge_labels else None,
        rng.choice([0.5, 1.0, 1.5, 2.0], m).tolist(),
        rng.normal(size=(n, n_attributes)),
        rng.normal(size=(m, 1)),
    )


def renumbered(graph: PlainGraph, place: Sequence[int]) -> PlainGraph:
    """The same graph with node v renamed to place[v]."""
    old = sorted(range(graph.n), key=lambda v: place[v])

    def moved(column):
        return {(place[u], place[v]): value for (u, v), value in column.items()}

    return replace(
        graph,
        neighbours=[sorted(place[u] for u in graph.neighbours[v]) for v in old],
        labels=[graph.labels[v] for v in old],
        edge_labels=moved(graph.edge_labels),
        weights=moved(graph.weights),
        attributes=None if graph.attributes is None else graph.attributes[old],
        edge_attributes=None if graph.edge_attributes is None else moved(graph.edge_attributes),
    )


def with_labels(graph: PlainGraph, labels: Sequence[Hashable]) -> PlainGraph:
    """The graph with other node labels."""
    return replace(graph, labels=list(labels), has_labels=True)


def without_labels(graph: PlainGraph) -> PlainGraph:
    return replace(graph, labels=[SAME] * graph.n, has_labels=False)


def without_edge_labels(graph: PlainGraph) -> PlainGraph:
    same = dict.fromkeys(graph.edge_labels, SAME)
    return replace(graph, edge_labels=same, has_edge_labels=False)


def rows_and_columns(graphs, other=None, use_labels=True, use_edge_labels="auto"):
    """The graphs of the rows and of the columns, without the labels that do not count.

    The columns are the fitted graphs (the rows themselves if `other` is None); "auto" means that
    these have the column. Graphs without edges do not determine whether edges have labels.
    """
    rows = plain_graphs(graphs)
    columns = rows if other is None else plain_graphs(other)
    if use_labels == "auto":
        use_labels = any(graph.has_labels for graph in columns)
    if use_edge_labels == "auto":
        use_edge_labels = any(graph.has_edge_labels and graph.weights for graph in columns)
    if not use_labels:
        rows, columns = ([without_labels(graph) for graph in side] for side in (rows, columns))
    if not use_edge_labels:
        rows, columns = ([without_edge_labels(graph) for graph in side] for side in (rows, columns))
    return rows, columns


def matrix(pair, rows, columns, normalize: bool = False, **options) -> np.ndarray:
    """pair(x, y, **options) for x in rows and y in columns.

    Normalised, an entry is divided by sqrt(k(x, x) k(y, y)), and is 0 if that is 0.
    """
    values = np.array([[pair(x, y, **options) for y in columns] for x in rows], dtype=float)
    values = values.reshape(len(rows), len(columns))
    if not normalize:
        return values
    norms_x = [pair(x, x, **options) for x in rows]
    norms_y = [pair(y, y, **options) for y in columns]
    for i, a in enumerate(norms_x):
        for j, b in enumerate(norms_y):
            values[i, j] = values[i, j] / np.sqrt(a * b) if a > 0 and b > 0 else 0.0
    return values
