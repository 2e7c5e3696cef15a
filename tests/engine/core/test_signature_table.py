"""Exact renaming of signatures, against a dictionary of tuples."""

from __future__ import annotations

import pickle
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gramlet.engine.core import signature_table as engine
from gramlet.engine.core.signature_table import SignatureTable, pack_rows

# Small entries are kept in 32 bits, others in 64.
entries = st.one_of(st.integers(-3, 3), st.integers(-(2**63), 2**63 - 1))
small = st.lists(st.lists(st.integers(-3, 3), max_size=3).map(tuple))
signatures = st.one_of(small, st.lists(st.lists(entries, max_size=4).map(tuple)))


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
    for _ in range(2):  # a look-up does not change the table
        assert table.lookup(*packed(new)).tolist() == by_dictionary(new, known)
    for row, i in known.items():
        assert table.signature(i).tolist() == list(row)


@pytest.mark.parametrize("n_distinct", [3, 500, 40_000])
def test_few_and_many_distinct_signatures(n_distinct):
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


@pytest.mark.parametrize("largest", [2**31 - 1, 2**31, -(2**31) + 1, -(2**31), 2**63 - 1])
def test_entries_keep_their_value_in_as_few_bits_as_they_need(largest):
    table, _ = SignatureTable.fit(*pack_rows(np.array([[0, largest], [largest, 1]])))
    assert table.data.dtype == table.offsets.dtype == table.signature(0).dtype == np.int64
    assert table.data.tolist() == [0, largest, largest, 1]
    assert table.signature(1).tolist() == [largest, 1]
    asked = np.array([[largest, 1], [0, largest], [largest, 0]])
    assert table.lookup(*pack_rows(asked)).tolist() == [1, 0, 2]
    assert pickle.loads(pickle.dumps(table)).lookup(*pack_rows(asked)).tolist() == [1, 0, 2]


def test_signatures_of_both_widths_are_looked_up_in_tables_of_both():
    small, large = np.array([[1, 2], [3, 4]]), np.array([[1, 2], [2**40, 4]])
    for fitted in (small, large):
        table, ids = SignatureTable.fit(*pack_rows(fitted))
        assert ids.tolist() == [0, 1]
        known = {tuple(row): i for i, row in enumerate(fitted.tolist())}
        for asked in (small, large):
            expected = [known.get(tuple(row), 2) for row in asked.tolist()]
            offsets, data = pack_rows(asked)
            assert table.lookup(offsets, data).tolist() == expected
            found, (new_offsets, new_data) = table.lookup_new(offsets, data)
            assert found.tolist() == expected
            assert new_offsets.dtype == new_data.dtype == np.int64
            assert new_data.tolist() == ([] if asked is fitted else asked[1].tolist())
    offsets, data = pack_rows(small)
    narrow, ids = SignatureTable.fit(offsets, data.astype(np.int32))
    assert ids.tolist() == [0, 1]
    assert narrow.data.tolist() == data.tolist()


def test_a_table_holds_little_more_than_its_signatures():
    rows = np.arange(400_000).reshape(-1, 4)
    table, _ = SignatureTable.fit(*pack_rows(rows))
    held = sum(part.nbytes for part in vars(table).values() if isinstance(part, np.ndarray))
    assert held == 4 * rows.size  # offsets are not stored if all rows have one length


@pytest.mark.parametrize("widths", [[2, 2, 2], [1, 3, 2], [0, 0], []])
def test_offsets_of_equal_lengths_are_implied(widths):
    offsets = np.concatenate([[0], np.cumsum(widths)]).astype(np.int64)
    data = np.arange(offsets[-1])
    table = SignatureTable(offsets, data)
    for _ in range(2):  # before and after a look-up, which creates the array of offsets
        assert table.offsets.tolist() == offsets.tolist()
        assert len(table) == len(widths)
        for i, (begin, end) in enumerate(pairwise(offsets)):
            assert table.signature(i).tolist() == data[begin:end].tolist()
        if len(set(widths)) == len(widths):
            assert table.lookup(offsets, data).tolist() == list(range(len(widths)))
        table.lookup(np.array([0, 1]), np.array([77]))
    again = pickle.loads(pickle.dumps(table))
    assert again.offsets.tolist() == offsets.tolist()


@pytest.mark.parametrize("widths", [[3] * 40, [3, 1] * 20, [0, 0], [0, 2], []])
@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_signatures_are_taken_alike_with_and_without_compiled_code(widths, dtype, monkeypatch):
    offsets = np.concatenate([[0], np.cumsum(widths)]).astype(np.int64)
    data = np.random.default_rng(0).integers(0, 9, offsets[-1]).astype(dtype)
    which = np.arange(len(widths))[::-1].copy()
    found = engine._taken(offsets, data, which)
    monkeypatch.setattr(engine, "_FEW_ENTRIES", 0)
    for mine, other in zip(found, engine._taken(offsets, data, which), strict=True):
        assert np.array_equal(mine, other)
        assert mine.dtype == other.dtype == dtype
    rows = [data[offsets[i] : offsets[i + 1]] for i in which]
    assert found[1].tolist() == [value for row in rows for value in row.tolist()]
    assert np.diff(found[0]).tolist() == [len(row) for row in rows]
