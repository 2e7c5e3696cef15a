"""Equal rows of numbers: found, kept apart, in the order in which they first occur."""

from __future__ import annotations

import numpy as np

from gramlet.engine.laplacian.distinct_rows import equal_rows


def test_equal_rows_are_found_and_others_kept_apart():
    generator = np.random.default_rng(0)
    kinds = generator.integers(0, 4, size=(300, 5)) / 4.0  # short fractions: few bits differ
    kinds = np.unique(kinds, axis=0)
    rows = kinds[generator.integers(len(kinds), size=9_000)]  # several blocks
    rows[0] = kinds[3]
    first, which = equal_rows(rows)
    np.testing.assert_array_equal(rows[first][which], rows)
    assert len(first) == len(np.unique(rows, axis=0))
    assert (np.diff(first) > 0).all()
    for number, position in enumerate(first):
        assert (which[:position] != number).all()  # it is where the row first occurs


def test_no_rows_are_equal_to_none():
    for shape in ((0, 3), (4, 0)):
        first, which = equal_rows(np.zeros(shape))
        assert len(first) == min(1, shape[0])
        assert which.tolist() == [0] * shape[0]
