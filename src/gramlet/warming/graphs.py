"""Small graphs with every combination of columns that compiled code distinguishes."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gramlet.common.arrays import Array
from gramlet.files.datasets.datasets import load_dataset
from gramlet.graphs.batch import GraphBatch

__all__ = ["batches", "molecules"]

_N_GRAPHS = 16


def molecules() -> tuple[GraphBatch, Array]:
    """Some graphs of MUTAG, which is part of the package, and their classes."""
    data = load_dataset("MUTAG")
    target = np.asarray(data.target)
    chosen = np.sort(np.concatenate([np.flatnonzero(target == c)[:8] for c in np.unique(target)]))
    return data.graphs[chosen[:_N_GRAPHS]], target[chosen[:_N_GRAPHS]]


def batches() -> Iterator[GraphBatch]:
    """The same graphs with labels of nodes and edges, without, with attributes, weights, arcs."""
    whole, _ = molecules()
    tails, heads = whole.arcs()
    once = tails < heads
    source, target = tails[once], heads[once]
    rng = np.random.default_rng(0)
    labels = whole.node_labels
    attributes = rng.normal(size=(whole.n_nodes_total, 2))
    weights = rng.uniform(0.5, 1.5, size=len(source))
    yield whole
    yield GraphBatch.from_arcs(whole.node_offsets, source, target)
    yield GraphBatch.from_arcs(whole.node_offsets, source, target, node_labels=labels)
    yield GraphBatch.from_arcs(
        whole.node_offsets, source, target, node_labels=labels, node_attributes=attributes
    )
    yield GraphBatch.from_arcs(
        whole.node_offsets, source, target, node_labels=labels, edge_weights=weights
    )
    yield GraphBatch.from_arcs(
        whole.node_offsets, source, target, node_labels=labels, directed=True
    )
