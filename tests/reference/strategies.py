"""Hypothesis strategies for sets of graphs, and the random renaming of their nodes.

Small graphs, degenerate ones first: empty, edgeless, disconnected, labelled or not, weighted or
not. Labels include 1 and "1", which must stay different. Weights and attributes are multiples of
1/4, so that sums of a few of them are exact. Directed batches and edge attributes are optional.
"""

from __future__ import annotations

from itertools import combinations, permutations
from typing import Any

import numpy as np
from hypothesis import strategies as st

from gramlet import GraphBatch

__all__ = ["graph_batches", "permuted", "with_molecules"]

NODE_ALPHABET = ("C", "O", 1, "1")
EDGE_ALPHABET = ("single", "double", 2)

_weights = st.integers(1, 16).map(lambda quarters: quarters / 4)
_attributes = st.integers(-8, 8).map(lambda quarters: quarters / 4)


@st.composite
def graph_batches(
    draw: st.DrawFn,
    min_graphs: int = 0,
    max_graphs: int = 6,
    max_nodes: int = 7,
    min_nodes: int = 0,
    labels: bool | None = None,
    edge_labels: bool | None = None,
    weights: bool | None = None,
    attributes: bool | None = None,
    edge_attributes: bool | None = False,
    directed: bool | None = False,
) -> GraphBatch:
    """Batches of small graphs.

    ``labels``, ``edge_labels``, ``weights``, ``attributes`` and ``edge_attributes`` specify whether
    the batch has that column, ``directed`` whether it is directed: True always, False never, None
    sometimes. Weights are positive.
    """
    wishes = (labels, edge_labels, weights, attributes, edge_attributes, directed)
    with_labels, with_edge_labels, with_weights, with_attributes, with_edge_rows, has_arcs = (
        draw(st.booleans()) if wish is None else wish for wish in wishes
    )
    sizes = draw(
        st.lists(st.integers(min_nodes, max_nodes), min_size=min_graphs, max_size=max_graphs)
    )
    edges = [draw(_edge_lists(n, has_arcs)) for n in sizes]

    def column(values: st.SearchStrategy[Any], lengths: list[int]) -> list[list[Any]]:
        return [draw(st.lists(values, min_size=n, max_size=n)) for n in lengths]

    def rows(lengths: list[int], there: bool) -> list[np.ndarray] | None:
        if not there:
            return None
        width = draw(st.integers(1, 3))
        row = st.lists(_attributes, min_size=width, max_size=width)
        return [np.array(part, float).reshape(-1, width) for part in column(row, lengths)]

    n_edges = [len(e) for e in edges]
    return GraphBatch.from_edges(
        edges,
        n_nodes=sizes,
        node_labels=column(st.sampled_from(NODE_ALPHABET), sizes) if with_labels else None,
        edge_labels=column(st.sampled_from(EDGE_ALPHABET), n_edges) if with_edge_labels else None,
        edge_weights=column(_weights, n_edges) if with_weights else None,
        node_attributes=rows(sizes, with_attributes),
        edge_attributes=rows(n_edges, with_edge_rows),
        directed=has_arcs,
    )


def _edge_lists(n_nodes: int, directed: bool = False) -> st.SearchStrategy[list[tuple[int, int]]]:
    """Edge lists without repeats: any graph (a subset of all pairs), or a sparse one."""
    pairs = list((permutations if directed else combinations)(range(n_nodes), 2))
    if not pairs:
        return st.just([])
    sparse = st.lists(st.sampled_from(pairs), unique=True, max_size=n_nodes)
    dense = st.lists(st.booleans(), min_size=len(pairs), max_size=len(pairs)).map(
        lambda chosen: [pair for pair, there in zip(pairs, chosen, strict=True) if there]
    )
    return st.one_of(sparse, dense)


def with_molecules(batch: GraphBatch, alphabet: str = "CNO") -> GraphBatch:
    """The same graphs, said to be molecules: chains of atoms, some of them rings."""
    chains = []
    for position, size in enumerate(batch.sizes.tolist()):
        atoms = [alphabet[(position * step + step) % len(alphabet)] for step in range(size + 1)]
        close = "1" if position % 2 and size > 2 else ""
        chains.append(atoms[0] + close + "".join(atoms[1:]) + close)
    return batch.with_columns(molecules=chains)


def permuted(batch: GraphBatch, rng: np.random.Generator) -> GraphBatch:
    """The same graphs with nodes renamed at random, including all columns."""
    old_of_new = np.concatenate(
        [np.zeros(0, np.int64)]
        + [
            first + rng.permutation(size)
            for first, size in zip(batch.node_offsets[:-1], batch.sizes, strict=True)
        ]
    )
    new_of_old = np.empty_like(old_of_new)
    new_of_old[old_of_new] = np.arange(len(old_of_new))
    tails, heads = batch.arcs()
    return GraphBatch.from_arcs(
        batch.node_offsets,
        new_of_old[tails],
        new_of_old[heads],
        node_labels=None if batch.node_labels is None else batch.node_labels.take(old_of_new),
        edge_labels=batch.edge_labels,
        edge_weights=batch.edge_weights,
        node_attributes=None
        if batch.node_attributes is None
        else batch.node_attributes[old_of_new],
        edge_attributes=batch.edge_attributes,
        molecules=batch.molecules,
        directed=batch.directed,
    )
