"""The strategies produce degenerate graphs, and renaming nodes changes nothing else."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import find, given
from hypothesis import strategies as st

from gramlet import GraphBatch
from reference.strategies import graph_batches, permuted


@pytest.mark.parametrize(
    "wanted",
    [
        lambda b: len(b) == 0,
        lambda b: bool((b.sizes == 0).any()) and bool((b.sizes > 0).any()),
        lambda b: bool(((b.n_edges == 0) & (b.sizes > 1)).any()),
        lambda b: bool((b.n_edges > 3).any()),
        lambda b: b.node_labels is not None and {1, "1"} <= set(b.node_labels.used()),
        lambda b: b.node_labels is None and b.edge_weights is not None,
        lambda b: b.edge_labels is not None and b.node_attributes is not None,
    ],
)
def test_the_awkward_cases_are_reached(wanted):
    find(graph_batches(), wanted)


@given(graph_batches(min_graphs=2, labels=True, edge_labels=False, weights=True, attributes=False))
def test_wishes_are_kept(batch: GraphBatch):
    assert len(batch) >= 2
    assert batch.edge_labels is None
    assert batch.node_attributes is None
    if batch.n_nodes_total:
        assert batch.node_labels is not None
    if len(batch.indices):
        assert (batch.edge_weights > 0).all()


def _described_nodes(graph: GraphBatch) -> Counter:
    """A description of each node and its neighbourhood without node numbers."""
    labels = ["-"] * graph.n_nodes_total if graph.node_labels is None else list(graph.node_labels)
    tails, heads = graph.arcs()
    around: list[list[tuple]] = [[] for _ in labels]
    for arc, (tail, head) in enumerate(zip(tails, heads, strict=True)):
        around[tail].append(
            (
                repr(labels[head]),
                "-" if graph.edge_labels is None else repr(graph.edge_labels[arc]),
                0.0 if graph.edge_weights is None else float(graph.edge_weights[arc]),
            )
        )
    rows = graph.node_attributes
    return Counter(
        (repr(labels[v]), () if rows is None else tuple(rows[v]), tuple(sorted(around[v])))
        for v in range(graph.n_nodes_total)
    )


@given(graph_batches(), st.integers(0, 2**32 - 1))
def test_renaming_nodes_keeps_every_graph(batch: GraphBatch, seed: int):
    renamed = permuted(batch, np.random.default_rng(seed))
    assert np.array_equal(renamed.node_offsets, batch.node_offsets)
    assert [_described_nodes(g) for g in renamed] == [_described_nodes(g) for g in batch]


def test_renaming_does_rename():
    path = GraphBatch.from_edges([[(i, i + 1) for i in range(9)]], node_labels=["abcdefghij"])
    renamed = permuted(path, np.random.default_rng(0))
    assert renamed != path
