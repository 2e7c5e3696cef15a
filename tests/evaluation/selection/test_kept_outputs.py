"""Gram matrices kept for a second evaluation: used again, as far as there is room."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from gramlet import Protocol, ShortestPath, evaluate, load_dataset
from gramlet.evaluation.machines.blocks import Features
from gramlet.evaluation.selection import trials
from gramlet.evaluation.selection.kept_outputs import KeptOutputs
from gramlet.evaluation.store import Store

QUICK = Protocol(folds=3, repeats=1, inner_folds=2, C=(1.0, 100.0))


@pytest.fixture(scope="module")
def mutag():
    return load_dataset("MUTAG")


def test_two_selections_compute_matrices_once_and_nothing_changes(mutag, monkeypatch, tmp_path):
    computed, whole = [], trials.whole_outputs
    monkeypatch.setattr(
        trials, "whole_outputs", lambda *given: computed.append(given[1]) or whole(*given)
    )
    outputs, options = KeptOutputs(), {"use_labels": [True, False]}
    kernel = ShortestPath(normalize=True)
    for selection in ("nested", "best-of-grid"):
        protocol = replace(QUICK, selection=selection)
        computed.clear()
        plain = evaluate(kernel, mutag, protocol=protocol, options=options)
        assert len(computed) >= 2
        computed.clear()
        store = Store(tmp_path, outputs=outputs)
        kept = evaluate(kernel, mutag, protocol=protocol, options=options, store=store)
        assert len(computed) == (2 if selection == "nested" else 0)
        np.testing.assert_array_equal(kept.predictions, plain.predictions)
        assert kept.chosen == plain.chosen


def test_what_does_not_fit_is_computed_again(mutag):
    kept = KeptOutputs(most_bytes=2000)
    calls = []

    def compute(n):
        return lambda: calls.append(n) or [np.zeros((n, n))]

    for _ in range(2):
        for n in (10, 15, 9):  # 800 bytes; 1,800, for which there is no room any more; 648
            found = kept.outputs(ShortestPath(), [{"bin_width": n}], mutag.graphs, compute(n))
            assert found[0].shape == (n, n)
    assert calls == [10, 15, 9, 15]


def test_sparse_features_count_with_their_indices(mutag):
    rows = Features(sparse.eye(100, format="csr"), 0.0, "mine")
    assert rows.sparse
    kept, calls = KeptOutputs(most_bytes=1000), []
    for _ in range(2):
        kept.outputs(
            ShortestPath(), [{}], mutag.graphs[:5], lambda: calls.append(1) or [rows]
        )  # 800 bytes of values alone
    assert len(calls) == 2
