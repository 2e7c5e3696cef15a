"""The strategies produce degenerate graphs, and renaming nodes renames them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import find

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


def test_renaming_does_rename():
    path = GraphBatch.from_edges([[(i, i + 1) for i in range(9)]], node_labels=["abcdefghij"])
    renamed = permuted(path, np.random.default_rng(0))
    assert renamed != path
