"""Refinement of large batches, whose levels share one workspace, against small ones."""

from __future__ import annotations

import numpy as np
import pytest

from gramlet import GraphBatch
from gramlet.engine.core import partitioned_interning, signature_table
from gramlet.engine.weisfeiler_lehman.colour_refinement import refine


def random_batch(directed: bool) -> GraphBatch:
    rng = np.random.default_rng(3)
    edges = [rng.permuted(np.argwhere(rng.random((9, 9)) < 0.2)) for _ in range(30)]
    kept = [sorted({(int(u), int(v)) for u, v in pairs if u < v}) for pairs in edges]
    labels = [[(u * v) % 3 for u, v in pairs] for pairs in kept]
    return GraphBatch.from_edges(kept, n_nodes=[9] * 30, edge_labels=labels, directed=directed)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("with_edges", [False, True])
@pytest.mark.parametrize("few", [0, 1 << 15])
def test_levels_and_tables_do_not_share_the_workspace(few, directed, with_edges, monkeypatch):
    batch = random_batch(directed)
    colours = np.arange(batch.n_nodes_total) % 2
    edges = batch.edge_labels.codes if with_edges else None
    given = (batch.indptr, batch.indices, colours, 2, 4, edges, batch.in_arcs if directed else None)
    expected, levels = refine(*given)
    monkeypatch.setattr(signature_table, "MANY", 0)  # as if the batch were large
    monkeypatch.setattr(partitioned_interning, "_FEW", few)
    found, again = refine(*given)
    assert np.array_equal(again, levels)
    for one, other in zip(found.tables, expected.tables, strict=True):
        assert np.array_equal(one.offsets, other.offsets)
        assert np.array_equal(one.data, other.data)
    applied = found.apply(batch.indptr, batch.indices, colours, edges, given[-1])
    assert np.array_equal(applied, levels)


def test_pairs_of_edge_label_and_colour_may_exceed_32_bits():
    # label · radix + colour is 2^40 and more, and decides the order of the neighbours.
    batch = GraphBatch.from_edges([[(0, 1), (0, 2)]])
    colours = np.array([0, 2**30 - 1, 5])
    labels = np.array([2, 1025, 2, 1025])
    refinement, levels = refine(batch.indptr, batch.indices, colours, 2**30, 1, labels)
    table = refinement.tables[0]
    assert table.signature(levels[1, 0]).tolist() == [0, 2, 2**30 - 1, 1025, 5]
    assert table.signature(levels[1, 2]).tolist() == [5, 1025, 0]
