"""Small graphs that many tests share."""

from __future__ import annotations

import numpy as np

from gramlet import GraphBatch
from reference.strategies import with_molecules


def molecules() -> GraphBatch:
    """C-C-O and C-N."""
    return GraphBatch.from_edges(
        [[(0, 1), (1, 2)], [(0, 1)]], node_labels=[["C", "C", "O"], ["C", "N"]]
    )


def bare() -> GraphBatch:
    """Without labels: the path on 3 nodes, the triangle, 2 nodes without an edge, no node."""
    return GraphBatch.from_edges(
        [[(0, 1), (1, 2)], [(0, 1), (1, 2), (0, 2)], [], []], n_nodes=[3, 3, 2, 0]
    )


def random_graphs(seed, n_graphs=6, largest=7, density=0.45, directed=False):
    """Random graphs with all columns; the last one is empty and the one before has no edges."""
    rng = np.random.default_rng(seed)
    edges, sizes, labels, edge_labels, weights, attributes = [], [], [], [], [], []
    for i in range(n_graphs):
        n = 0 if i == n_graphs - 1 else int(rng.integers(1, largest + 1))
        pairs = [(u, v) for u in range(n) for v in range(u) if rng.random() < density]
        pairs = [] if i == n_graphs - 2 else pairs
        edges.append(pairs)
        sizes.append(n)
        labels.append(rng.choice(["a", "b", "c"], n).tolist())
        edge_labels.append(rng.choice(["x", "y"], len(pairs)).tolist())
        weights.append(rng.choice([0.5, 1.0, 1.5, 2.0], len(pairs)).tolist())
        attributes.append(rng.normal(size=(n, 2)))
    return GraphBatch.from_edges(
        edges,
        n_nodes=sizes,
        node_labels=labels,
        edge_labels=edge_labels,
        edge_weights=weights,
        node_attributes=attributes,
        directed=directed,
    )


def labelled_graphs(
    n_graphs: int, seed: int = 0, alphabet: str = "CNO", edgeless: tuple[int, ...] = (0, 1)
) -> GraphBatch:
    """Random graphs with all columns; the first ones have the given sizes and no edges."""
    rng = np.random.default_rng(seed)
    sizes = [*edgeless, *rng.integers(2, 9, n_graphs - len(edgeless)).tolist()]
    edges = [[] for _ in edgeless]
    for n in sizes[len(edgeless) :]:
        pairs = [(i, j) for i in range(n) for j in range(i)]
        chosen = rng.random(len(pairs)) < 0.4
        edges.append([pair for pair, kept in zip(pairs, chosen, strict=True) if kept])
    batch = GraphBatch.from_edges(
        edges,
        n_nodes=sizes,
        node_labels=[rng.choice(list(alphabet), n).tolist() for n in sizes],
        edge_labels=[rng.integers(0, 2, len(e)).tolist() for e in edges],
        edge_weights=[rng.integers(1, 4, len(e)).astype(float) for e in edges],
        node_attributes=[rng.normal(size=(n, 2)) for n in sizes],
    )
    return with_molecules(batch, {"XYZ": "SPB"}.get(alphabet, alphabet))


def worked_molecules() -> GraphBatch:
    """C-O-C, C-O, C-C-O and a triangle of C: the graphs of the worked values."""
    return GraphBatch.from_edges(
        [[(0, 1), (1, 2)], [(0, 1)], [(0, 1), (1, 2)], [(0, 1), (1, 2), (0, 2)]],
        node_labels=[list("COC"), list("CO"), list("CCO"), list("CCC")],
    )
