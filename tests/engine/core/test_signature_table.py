"""Exact renaming of signatures, against a dictionary of tuples."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gramlet.engine.core.signature_table import SignatureTable, pack_rows

signatures = st.lists(st.lists(st.integers(-(2**63), 2**63 - 1), max_size=4).map(tuple))


def packed(rows: list[tuple[int, ...]]) -> tuple[np.ndarray, np.ndarray]:
    offsets = np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int64)
    return offsets, np.array([value for row in rows for value in row], dtype=np.int64)


def by_dictionary(rows: list[tuple[int, ...]], known: dict[tuple[int, ...], int]) -> list[int]:
    index = dict(known)
    return [index.setdefault(row, len(index)) for row in rows]


@given(signatures, signatures)
def test_ids_are_those_of_a_dictionary(fitted, new):
    table, ids = SignatureTable.fit(*packed(fitted))
    expected = by_dictionary(fitted, {})
    assert ids.tolist() == expected
    known = dict(zip(fitted, expected, strict=True))
    assert len(table) == len(known)
    for _ in range(2):  # a look-up leaves the table as it was
        assert table.lookup(*packed(new)).tolist() == by_dictionary(new, known)
    for row, i in known.items():
        assert table.signature(i).tolist() == list(row)


@pytest.mark.parametrize("n_distinct", [3, 500, 40_000])
def test_few_and_many_distinct_signatures(n_distinct):
    # Few: a table of its own size is made; many: the one that found them serves on.
    rng = np.random.default_rng(n_distinct)
    rows = rng.integers(n_distinct, size=(20_000, 1)) * np.array([[1, 1 << 32, -7]])
    table, ids = SignatureTable.fit(*pack_rows(rows))
    distinct, first, inverse = np.unique(rows[:, 0], return_index=True, return_inverse=True)
    assert len(table) == len(distinct)
    np.testing.assert_array_equal(ids, np.argsort(np.argsort(first))[inverse])
    again = pickle.loads(pickle.dumps(table))
    fresh = rows + 1
    for which in (table, again):
        np.testing.assert_array_equal(which.lookup(*pack_rows(rows)), ids)
        assert (which.lookup(*pack_rows(fresh)) >= len(table)).all()


@pytest.mark.parametrize("offsets", [[1, 2], [0, 3], [0, 2, 1, 2]])
def test_a_state_that_points_outside_is_refused(offsets):
    state = {"offsets": np.array(offsets), "data": np.zeros(2, np.int64)}
    with pytest.raises(ValueError, match="offsets"):
        SignatureTable.__new__(SignatureTable).__setstate__(state)
