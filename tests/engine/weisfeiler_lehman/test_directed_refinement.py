"""Refinement of directed graphs: the content of signatures, and checks of stored ones."""

from __future__ import annotations

import numpy as np
import pytest

from gramlet import GraphBatch
from gramlet.common.fields import check
from gramlet.engine.core.signature_table import SignatureTable
from gramlet.engine.weisfeiler_lehman.colour_refinement import Refinement, refine, split_signature


def refined(edge_labels=None):
    """Node 0 has arcs to 1 and 2, and from 2 and 3; node 4 is isolated."""
    batch = GraphBatch.from_edges(
        [[(0, 1), (0, 2), (2, 0), (3, 0)]],
        n_nodes=[5],
        directed=True,
        edge_labels=None if edge_labels is None else [edge_labels],
    )
    edges = None if edge_labels is None else batch.edge_labels.codes
    colours = np.array([0, 1, 2, 1, 0])
    return refine(batch.indptr, batch.indices, colours, 3, 2, edges, batch.in_arcs)


def test_signatures_hold_two_multisets():
    refinement, levels = refined()
    table = refinement.tables[0]
    assert [table.signature(c).tolist() for c in levels[1]] == [
        [0, 1, 2, -1, 1, 2],
        [1, -1, 0],
        [2, 0, -1, 0],
        [1, 0],
        [0],
    ]
    assert split_signature(table.signature(levels[1, 1])) == (1, [], [0])
    check(refinement)


def test_signatures_hold_the_label_of_each_arc():
    refinement, levels = refined(edge_labels=[5, 6, 6, 5])
    table = refinement.tables[0]
    assert [table.signature(c).tolist() for c in levels[1]] == [
        [0, 0, 1, 1, 2, -1, 0, 1, 1, 2],
        [1, -1, 0, 0],
        [2, 1, 0, -1, 1, 0],
        [1, 0, 0],
        [0],
    ]
    check(refinement)


@pytest.mark.parametrize(
    ("signature", "with_edges", "message"),
    [
        ([-1, 0], False, "mixes outgoing and incoming"),
        ([0, 1, -1], False, "mixes outgoing and incoming"),
        ([0, -1, 1, -1, 1], False, "mixes outgoing and incoming"),
        ([0, 1, -1, 0, 1], True, "mixes outgoing and incoming"),
        ([0, -1, 1], True, "wrong length"),
        ([0, -1, 3], False, "unknown colours"),
        ([0, -2, 1], False, "unknown colours"),
        ([0, -1, 1, 3], True, "unknown colours"),
    ],
)
def test_stored_signatures_that_no_refinement_wrote(signature, with_edges, message):
    table = SignatureTable(np.array([0, len(signature)]), np.array(signature))
    with pytest.raises(ValueError, match=message):
        check(Refinement(3, with_edges, [table]))
