"""Comparison of counts against plain matrix arithmetic."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from gramlet.engine.counts import comparison


def counts(n_rows: int, n_features: int, seed: int = 0) -> sparse.csr_matrix:
    """Counts with features of one row, some rows, most rows and no row."""
    rng = np.random.default_rng(seed)
    share = rng.choice([0.0, 0.02, 0.1, 0.9], n_features)
    dense = (rng.random((n_rows, n_features)) < share) * rng.integers(1, 5, (n_rows, n_features))
    dense[:, 0] = 0
    dense[3 % n_rows, 0] = 7
    return sparse.csr_matrix(dense.astype(float))


def plain(a: sparse.csr_matrix, b: sparse.csr_matrix, measure: str) -> np.ndarray:
    left, right = a.toarray()[:, None], b.toarray()[None]
    return (left * right if measure == "dot" else np.minimum(left, right)).sum(axis=2)


@pytest.mark.parametrize("measure", ["dot", "min"])
@pytest.mark.parametrize("few_entries", [0, 1 << 40])
def test_a_symmetric_matrix_with_and_without_features_of_one_row(measure, few_entries, monkeypatch):
    monkeypatch.setattr(comparison, "_FEW_ENTRIES", few_entries)
    made = counts(70, 40)
    found = comparison.compare_self(made, measure)
    assert np.array_equal(found, plain(made, made, measure))
    assert np.array_equal(comparison.norms(made, measure), np.diagonal(found))


@pytest.mark.parametrize("measure", ["dot", "min"])
def test_an_index_in_parts_gives_the_same_bits(measure, monkeypatch):
    made = counts(70, 200)
    made.data /= 3.0
    whole = comparison.compare_self(made, measure)
    monkeypatch.setattr(comparison, "_most_dense", lambda n_rows, in_parts: n_rows)
    monkeypatch.setattr(comparison, "_LARGE", 1)
    parts = list(comparison.CountIndex.parts(made, measure, True, whole.nbytes // 60))
    assert 1 < len(parts) <= comparison._MOST_PARTS
    assert np.array_equal(comparison.compare_self(made, measure), whole)


@pytest.mark.parametrize("measure", ["dot", "min"])
def test_rows_against_other_rows(measure):
    rows, columns = counts(9, 40, seed=1), counts(70, 40)
    index = comparison.CountIndex.build(columns, measure)
    found = comparison.compare(rows, index, measure)
    assert np.array_equal(found, plain(rows, columns, measure))


@pytest.mark.parametrize("measure", ["dot", "min"])
def test_no_rows_and_no_features(measure):
    empty = sparse.csr_matrix((3, 0))
    assert np.array_equal(comparison.compare_self(empty, measure), np.zeros((3, 3)))
    assert np.array_equal(comparison.norms(sparse.csr_matrix((0, 4)), measure), np.zeros(0))
