"""Balls with equal keys and different nodes: the comparison of nodes distinguishes them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gramlet import GraphBatch
from gramlet.engine.laplacian import balls as engine
from reference.kernels import laplacian
from reference.plain import plain_graphs
from reference.strategies import graph_batches


def expected_owners(batch, hops):
    """For each node, the first node whose ball contains the same nodes, by definition."""
    found = []
    for graph, first in zip(plain_graphs(batch), batch.node_offsets[:-1].tolist(), strict=True):
        for centre in range(graph.n):
            found.append({first + node for node in laplacian.ball(graph, centre, hops)})
    return [found.index(ball) for ball in found]


@pytest.fixture
def equal_marks(monkeypatch):
    """Give all nodes one mark: balls whose sizes have the same parity get the same key."""
    monkeypatch.setattr(engine, "scramble", lambda values: np.full(len(values), 7, np.uint64))


def test_balls_of_one_key_and_size_are_told_apart(equal_marks):
    # Two triangles: all six balls of 1 hop have 3 nodes and the same key.
    ring = [(0, 1), (1, 2), (0, 2)]
    owners = engine.ball_owners(GraphBatch.from_edges([ring, ring]), 1).tolist()
    assert owners[:3] == [0, 0, 0]
    assert all(owner >= 3 for owner in owners[3:])


@given(batch=graph_batches(max_graphs=4), hops=st.integers(0, 3))
def test_a_ball_never_gets_an_owner_with_other_nodes(batch, hops):
    """If all keys are equal, an owner may be missed but is never wrong."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engine, "scramble", lambda values: np.zeros(len(values), np.uint64))
        owners = engine.ball_owners(batch, hops).tolist()
    expected = expected_owners(batch, hops)
    assert all(expected[owner] == expected[node] for node, owner in enumerate(owners))
