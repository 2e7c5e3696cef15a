"""Degrees as labels, and no labels."""

from __future__ import annotations

import pytest

from gramlet import GraphBatch, as_batch

STAR = GraphBatch.from_edges([[(0, 1), (0, 2)], []], n_nodes=[3, 1])


def test_nodes_are_labelled_by_their_degree():
    batch = as_batch(STAR, node_labels="degree")
    assert list(batch.node_labels) == [2, 1, 1, 0]
    assert all(type(label) is int for label in batch.node_labels)
    assert batch.with_columns(node_labels=None) == STAR
    assert as_batch([([(0, 1), (0, 2)], None)], node_labels="degree") == batch[0]


def test_arcs_count_at_both_ends():
    arcs = GraphBatch.from_edges([[(0, 1), (1, 0), (2, 1)]], directed=True)
    assert list(as_batch(arcs, node_labels="degree").node_labels) == [2, 3, 1]


def test_labels_are_replaced_or_dropped_on_request():
    labelled = GraphBatch.from_edges([[(0, 1)]], node_labels=["ab"], edge_labels=[["s"]])
    assert list(as_batch(labelled, node_labels="degree").node_labels) == [1, 1]
    assert as_batch(labelled, node_labels="none") == GraphBatch.from_edges(
        [[(0, 1)]], edge_labels=[["s"]]
    )
    assert as_batch(labelled, node_labels=None) is labelled


@pytest.mark.parametrize("odd", ["degrees", 3, ["degree"], True])
def test_other_wishes_are_refused(odd):
    with pytest.raises(ValueError, match="node_labels must be 'degree', 'none' or None; got"):
        as_batch(STAR, node_labels=odd)
