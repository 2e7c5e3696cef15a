"""Refinement with colours and labels of any size."""

from __future__ import annotations

import numpy as np

from gramlet import GraphBatch
from gramlet.engine.weisfeiler_lehman.colour_refinement import refine


def test_pairs_of_edge_label_and_colour_may_exceed_32_bits():
    # label · radix + colour is 2^40 and more, and decides the order of the neighbours.
    batch = GraphBatch.from_edges([[(0, 1), (0, 2)]])
    colours = np.array([0, 2**30 - 1, 5])
    labels = np.array([2, 1025, 2, 1025])
    refinement, levels = refine(batch.indptr, batch.indices, colours, 2**30, 1, labels)
    table = refinement.tables[0]
    assert table.signature(levels[1, 0]).tolist() == [0, 2, 2**30 - 1, 1025, 5]
    assert table.signature(levels[1, 2]).tolist() == [5, 1025, 0]
