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
@pytest.mark.parametrize("scale", [1.0, 0.25, 2.0**14])
def test_a_symmetric_matrix(measure, n_rows, scale):
    made = counts(n_rows, 40)
    made.data *= scale  # whole numbers in single precision, others, and numbers too large for it
    found = self_comparison.compare_self(made, measure)
    assert np.array_equal(found, plain(made, made, measure))
    assert np.array_equal(comparison.norms(made, measure), np.diagonal(found))


@pytest.mark.parametrize("measure", ["dot", "min"])
def test_whole_numbers_are_exact_at_the_limit_of_single_precision(measure):
    size = 4096.0 if measure == "dot" else 2.0**24
    # In single precision the sum of the two last columns would be 2**24 instead of 2**24 + 1.
    made = sparse.csr_matrix(np.array([[0.0, size, 1.0], [0.0, size, 1.0], [1.0, 0.0, 1.0]]))
    found = self_comparison.compare_self(made, measure)
    assert found[0, 1] == 2**24 + 1
    assert np.array_equal(found, plain(made, made, measure))


@pytest.mark.parametrize("measure", ["dot", "min"])
@pytest.mark.parametrize("divisor", [1.0, 3.0])
def test_an_index_in_parts_gives_the_same_bits(measure, divisor, monkeypatch):
    made = counts(300, 200)
    made.data /= divisor
    whole = self_comparison.compare_self(made, measure)
    monkeypatch.setattr(comparison, "LARGE", 1)
    monkeypatch.setattr(self_comparison, "LARGE", 1)
    monkeypatch.setattr(self_comparison, "_DENSE_IN_PARTS", 1.0)
    monkeypatch.setattr(self_comparison, "DENSE_PART", 1.0)
    monkeypatch.setattr(self_comparison, "_WHOLE_INDEX", 0.02)
    monkeypatch.setattr(self_comparison, "_INDEX_PART", 0.02)
    number = np.float32 if divisor == 1.0 else np.float64
    ranges = self_comparison._Features.of(made, measure, number).ranges
    assert 1 < len(ranges) <= self_comparison._MOST_PARTS
    assert np.array_equal(self_comparison.compare_self(made, measure), whole)


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
@pytest.mark.parametrize("scale", [1.0, 0.25, 2.0**14, 2.0**-21])
def test_rows_against_other_rows(measure, n_rows, scale):
    rows, columns = counts(n_rows, 40, seed=1), counts(70, 40)
    rows.data *= scale
    found = comparison.compare(rows, columns, measure)
    assert np.array_equal(found, plain(rows, columns, measure))
    assert np.array_equal(comparison.compare(columns, rows, measure), found.T)
    assert np.array_equal(comparison.compare(rows, columns, measure, tiling=Tiling(2)), found)


@pytest.mark.parametrize(
    ("measure", "values", "type_"),
    [
        ("min", [1.0, 2.0**24 - 2], np.float32),
        ("min", [1.0, 2.0**24 - 1], np.float64),
        ("min", [0.125, 2.0**21 - 1], np.float32),
        ("min", [0.125, 2.0**21], np.float64),
        ("min", [0.375, 5.0], np.float32),
        ("min", [1 / 3, 1.0], np.float64),
        ("min", [2.0**-21, 1e-3], np.float64),
        ("min", [1e300], np.float64),
        ("min", [], np.float32),
        ("dot", [1.0, 4095.0], np.float32),
        ("dot", [1.0, 4096.0], np.float64),
        ("dot", [0.5, 2047.0], np.float32),
        ("dot", [0.5, 2048.0], np.float64),
    ],
)
def test_single_precision_only_where_all_sums_are_exact(measure, values, type_):
    row = sparse.csr_matrix(np.array([values]))
    side = row.data, comparison.norms(row, measure)
    assert comparison.number_type(measure, side) is type_
    small = np.ones(1), np.ones(1)
    assert comparison.number_type(measure, small, side) is type_
    found = comparison.compare(row, row, measure)
    assert np.array_equal(found, plain(row, row, measure))


@pytest.mark.parametrize("measure", ["dot", "min"])
def test_no_rows_and_no_features(measure):
    empty = sparse.csr_matrix((3, 0))
    assert np.array_equal(self_comparison.compare_self(empty, measure), np.zeros((3, 3)))
    assert np.array_equal(comparison.norms(sparse.csr_matrix((0, 4)), measure), np.zeros(0))
