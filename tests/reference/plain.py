"""Graphs as plain Python objects, and the loop that fills a Gram matrix.

Everything in this folder is a plain, slow definition that fast code is compared with.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from dataclasses import dataclass

import numpy as np

from gramlet import GraphBatch

# The label of all nodes (and of all edges) if there are no labels.
SAME = ("no labels",)


@dataclass(frozen=True)
class PlainGraph:
    """One graph: lists and dictionaries, nodes numbered from 0.

    `weights` and `edge_labels` have one entry per direction of an edge, or one per arc if the graph
    is directed. If the graph has none, weights are 1 and labels all equal (see `has_labels`).
    `neighbours` are the heads of a node's arcs, `predecessors` the tails of the arcs to it; both
    are the same in undirected graphs.
    """

    n: int
    neighbours: list[list[int]]
    labels: list[Hashable]
    has_labels: bool
    edge_labels: dict[tuple[int, int], Hashable]
    has_edge_labels: bool
    weights: dict[tuple[int, int], float]
    attributes: np.ndarray | None
    directed: bool = False
    edge_attributes: dict[tuple[int, int], list[float]] | None = None

    @property
    def predecessors(self) -> list[list[int]]:
        return [[u for u in range(self.n) if v in self.neighbours[u]] for v in range(self.n)]

    def edges(self) -> list[tuple[int, int]]:
        """Every edge once, the smaller node first; if directed, every arc, tail first."""
        pairs = [(u, v) for u in range(self.n) for v in self.neighbours[u]]
        return pairs if self.directed else [(u, v) for u, v in pairs if u < v]

    def degree(self, v: int) -> int:
        return len(self.neighbours[v])

    def adjacency(self, weighted: bool = False) -> np.ndarray:
        matrix = np.zeros((self.n, self.n))
        for (u, v), weight in self.weights.items():
            matrix[u, v] = weight if weighted else 1.0
        return matrix


def plain_graph(batch: GraphBatch, i: int) -> PlainGraph:
    """Graph i of a batch, read entry by entry from its columns."""
    first, last = int(batch.node_offsets[i]), int(batch.node_offsets[i + 1])
    neighbours, weights, edge_labels, edge_rows = [], {}, {}, {}
    for u in range(first, last):
        row = []
        for arc in range(int(batch.indptr[u]), int(batch.indptr[u + 1])):
            ends = (u - first, int(batch.indices[arc]) - first)
            row.append(ends[1])
            weights[ends] = 1.0 if batch.edge_weights is None else float(batch.edge_weights[arc])
            edge_labels[ends] = SAME if batch.edge_labels is None else batch.edge_labels[arc]
            if batch.edge_attributes is not None:
                edge_rows[ends] = batch.edge_attributes[arc].tolist()
        neighbours.append(row)
    if batch.node_labels is None:
        labels = [SAME] * (last - first)
    else:
        labels = [batch.node_labels[v] for v in range(first, last)]
    attributes = batch.node_attributes
    return PlainGraph(
        n=last - first,
        neighbours=neighbours,
        labels=labels,
        has_labels=batch.node_labels is not None,
        edge_labels=edge_labels,
        has_edge_labels=batch.edge_labels is not None,
        weights=weights,
        attributes=None if attributes is None else np.array(attributes[first:last]),
        directed=batch.directed,
        edge_attributes=None if batch.edge_attributes is None else edge_rows,
    )


def plain_graphs(graphs: GraphBatch | PlainGraph | list[PlainGraph]) -> list[PlainGraph]:
    """All graphs of a batch; plain graphs are returned unchanged."""
    if isinstance(graphs, PlainGraph):
        return [graphs]
    if isinstance(graphs, GraphBatch):
        return [plain_graph(graphs, i) for i in range(len(graphs))]
    return list(graphs)


def one_graph(graph: GraphBatch | PlainGraph) -> PlainGraph:
    """The single graph of a one-graph batch; a plain graph is returned unchanged."""
    (single,) = plain_graphs(graph)
    return single


def gram(kernel: Callable[..., float], X, Y=None, *, normalize: bool = False, **options):
    """The matrix of kernel(x, y, **options), rows X, columns Y (X itself if None).

    Normalised, an entry is divided by sqrt(k(x, x) k(y, y)), and is 0 if that is 0.
    """
    rows = plain_graphs(X)
    columns = rows if Y is None else plain_graphs(Y)
    matrix = np.zeros((len(rows), len(columns)))
    for i, x in enumerate(rows):
        for j, y in enumerate(columns):
            value = kernel(x, y, **options)
            if normalize:
                norm = math.sqrt(kernel(x, x, **options) * kernel(y, y, **options))
                value = value / norm if norm > 0 else 0.0
            matrix[i, j] = value
    return matrix


def diagonal(kernel: Callable[..., float], X, **options) -> np.ndarray:
    """The self-similarities kernel(x, x, **options)."""
    return np.array([kernel(x, x, **options) for x in plain_graphs(X)])


def relabelled(batch: GraphBatch, rng: np.random.Generator) -> GraphBatch:
    """The same graphs with their nodes in another, random order."""
    edges, sizes, labels, edge_labels, weights, attributes = [], [], [], [], [], []
    edge_rows = []
    for graph in plain_graphs(batch):
        place = rng.permutation(graph.n)
        old = np.argsort(place)
        pairs = graph.edges()
        edges.append(np.array([(place[u], place[v]) for u, v in pairs], int).reshape(-1, 2))
        sizes.append(graph.n)
        labels.append([graph.labels[v] for v in old])
        edge_labels.append([graph.edge_labels[pair] for pair in pairs])
        weights.append([graph.weights[pair] for pair in pairs])
        attributes.append(None if graph.attributes is None else graph.attributes[old])
        rows = graph.edge_attributes
        edge_rows.append(None if rows is None else [rows[pair] for pair in pairs])
    return GraphBatch.from_edges(
        edges,
        n_nodes=sizes,
        node_labels=None if batch.node_labels is None else labels,
        edge_labels=None if batch.edge_labels is None else edge_labels,
        edge_weights=None if batch.edge_weights is None else weights,
        node_attributes=None if batch.node_attributes is None else attributes,
        edge_attributes=None if batch.edge_attributes is None else edge_rows,
        directed=batch.directed,
    )
