"""Exact renaming of signatures, against a dictionary of tuples."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gramlet.common.fields import check
from gramlet.engine.core.signature_table import SignatureTable, intern_tiles, joined, pack_rows
from gramlet.engine.core.tiles import Tiling

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
    with pytest.raises(ValueError, match=r"offsets|data"):
        check(SignatureTable(np.array(offsets), np.zeros(2, np.int64)))


@pytest.mark.parametrize("n_rows", [0, 1, 300])
def test_renaming_in_tiles_is_renaming_at_once(n_rows):
    rows, later = rows_of_signatures(0, n_rows), rows_of_signatures(1, 200)

    def maker(given):
        return lambda begin, end: packed([one for row in given[begin:end] for one in row])

    table, ids = intern_tiles(maker(rows), np.full(n_rows, 1e4))
    whole, expected = SignatureTable.fit(*maker(rows)(0, n_rows))
    assert np.array_equal(ids, expected)
    assert np.array_equal(table.data, whole.data)
    _, found = intern_tiles(maker(later), np.full(200, 1e4), table, tiling=Tiling(2))
    assert np.array_equal(found, whole.lookup(*maker(later)(0, 200)))


def test_joined_tables_and_what_a_table_does_not_contain():
    parts = [SignatureTable.fit(*packed(rows))[0] for rows in ([(1, 5), (2,)], [(2,), (), (7,)])]
    table, names, new = joined(parts)
    assert table.data.tolist() == [1, 5, 2, 7]
    assert [ids.tolist() for ids in names] == [[0, 1], [1, 2, 3]]
    assert [part.tolist() for part in new] == [[0], []]
    same, names, (offsets, data) = joined(parts, parts[0])
    assert same is parts[0]
    assert [ids.tolist() for ids in names] == [[0, 1], [1, 2, 3]]
    assert (offsets.tolist(), data.tolist()) == ([0, 0, 1], [7])


def rows_of_signatures(seed, n_rows):
    """Random rows of signatures of several lengths, many of them equal."""
    rng = np.random.default_rng(seed)
    return [
        [tuple(rng.integers(0, 3, rng.integers(0, 4)).tolist()) for _ in range(rng.integers(0, 5))]
        for _ in range(n_rows)
    ]
