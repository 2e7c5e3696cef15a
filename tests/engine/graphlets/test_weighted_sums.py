"""Weighted sums of rows and moments of bits, against plain loops."""

from __future__ import annotations

import numpy as np
import pytest

from gramlet.engine.graphlets.weighted_sums import add_weighted_rows, pair_moments


def csr(rng, n_rows, n_columns, most):
    lengths = rng.integers(0, most, n_rows)
    indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    columns = rng.integers(0, n_columns, indptr[-1])
    return indptr, columns, rng.normal(size=len(columns))


@pytest.mark.parametrize("width", [1, 3, 17, 128])
def test_sums_are_those_of_a_loop_to_the_bit(width):
    rng = np.random.default_rng(width)
    indptr, columns, weights = csr(rng, 20, 6, 11)
    table = rng.normal(size=(6, width))
    result = rng.normal(size=(20, width))
    expected = result.copy()
    for i in range(20):
        for e in range(indptr[i], indptr[i + 1]):
            expected[i] += weights[e] * table[columns[e]]
    add_weighted_rows(indptr[:-1], indptr[1:], columns + 100, weights, table, 100, result)
    np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize("k", [2, 3, 5, 8])
def test_moments_count_pairs_of_bits(k):
    rng = np.random.default_rng(k)
    n_bits = k * (k - 1) // 2
    indptr = np.array([0, 3, 3, 10])
    codes = rng.integers(0, 1 << n_bits, 10)
    counts = rng.integers(1, 9, 10).astype(np.float64)
    moments = pair_moments(indptr, codes, counts, k)
    for i in range(3):
        for q in range(n_bits):
            for p in range(q + 1):
                both = sum(
                    counts[e]
                    for e in range(indptr[i], indptr[i + 1])
                    if codes[e] >> p & 1 and codes[e] >> q & 1
                )
                assert moments[i, q * (q + 1) // 2 + p] == both
