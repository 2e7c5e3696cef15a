"""Comparison of counts against plain matrix arithmetic."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from gramlet.engine.core.tiles import Tiling
from gramlet.engine.counts import comparison, self_comparison


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
@pytest.mark.parametrize("n_rows", [1, 70, 300])
@pytest.mark.parametrize("scale", [1.0, 0.25])
def test_a_symmetric_matrix(measure, n_rows, scale):
    made = counts(n_rows, 40)
    made.data *= scale
    found = self_comparison.compare_self(made, measure)
    assert np.array_equal(found, plain(made, made, measure))
    assert np.array_equal(comparison.norms(made, measure), np.diagonal(found))


@pytest.mark.parametrize("measure", ["dot", "min"])
@pytest.mark.parametrize("divisor", [1.0, 3.0])
def test_threads_give_the_same_bits(measure, divisor):
    made = counts(300, 200)
    made.data /= divisor
    one = self_comparison.compare_self(made, measure)
    assert np.array_equal(one, one.T)
    for _ in range(5):
        assert np.array_equal(self_comparison.compare_self(made, measure, tiling=Tiling(2)), one)


@pytest.mark.parametrize("measure", ["dot", "min"])
@pytest.mark.parametrize("n_rows", [1, 9, 300])
@pytest.mark.parametrize("scale", [1.0, 0.25])
def test_rows_against_other_rows(measure, n_rows, scale):
    rows, columns = counts(n_rows, 40, seed=1), counts(70, 40)
    rows.data *= scale
    found = comparison.compare(rows, columns, measure)
    assert np.array_equal(found, plain(rows, columns, measure))
    assert np.array_equal(comparison.compare(columns, rows, measure), found.T)
    assert np.array_equal(comparison.compare(rows, columns, measure, tiling=Tiling(2)), found)


@pytest.mark.parametrize("measure", ["dot", "min"])
def test_no_rows_and_no_features(measure):
    empty = sparse.csr_matrix((3, 0))
    assert np.array_equal(self_comparison.compare_self(empty, measure), np.zeros((3, 3)))
    assert np.array_equal(comparison.norms(sparse.csr_matrix((0, 4)), measure), np.zeros(0))
