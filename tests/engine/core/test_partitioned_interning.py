"""Renaming in parts gives the same ids and table as renaming all at once."""

from __future__ import annotations

import numpy as np
import pytest

from gramlet.engine.core import partitioned_interning, signature_table
from gramlet.engine.core.compiled import njit
from gramlet.engine.core.hash_table import hash_of
from gramlet.engine.core.partitioned_interning import intern_in_parts
from gramlet.engine.core.signature_table import SignatureTable, pack_rows


@njit(cache=False)
def _hash(row: np.ndarray) -> int:
    return hash_of(row, 0, len(row))


def signatures(n: int, n_values: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(n)
    offsets = np.concatenate([[0], np.cumsum(rng.integers(0, 4, n))])
    return offsets, rng.integers(-1, n_values, offsets[-1])


def interned(
    offsets: np.ndarray, data: np.ndarray, alone: np.ndarray | None = None
) -> tuple[list[int], list[int], list[bool]]:
    """Ids, where they first occur, and which signatures occur once."""
    alone = np.zeros(len(offsets) - 1, dtype=bool) if alone is None else alone
    ids = np.empty(len(alone), dtype=np.int64)
    first = intern_in_parts(offsets, data.astype(np.int32), ids, alone)
    return ids.tolist(), first.tolist(), alone.tolist()


def colliding_pairs() -> np.ndarray:
    """Three pairs of different signatures of three entries that have the same hash of 64 bits.

    After two entries, the upper 33 bits of the states of the hash must agree; the third entries
    make up for the difference.
    """
    state = np.arange(1 << 20, dtype=np.uint64) ^ np.uint64(0x9E3779B97F4A7C15)
    for _ in range(2):  # the second entry is 0
        state *= np.uint64(0xBF58476D1CE4E5B9)
        state ^= state >> np.uint64(29)
    order = np.argsort(state)
    upper = state[order] >> np.uint64(31)
    (at,) = np.nonzero(upper[1:] == upper[:-1])
    one, other = order[at[:3]], order[at[:3] + 1]
    third = (state[one] ^ state[other]).astype(np.int64)
    zero = np.zeros_like(third)
    return np.stack([one, zero, zero, other, zero, third], axis=1).reshape(-1, 2, 3)


@pytest.mark.parametrize("few", [0, 10, 1 << 15])
@pytest.mark.parametrize(("n", "n_values"), [(0, 2), (1, 2), (1000, 2), (3000, 50)])
def test_parts_are_as_one_table(n, n_values, few, monkeypatch):
    offsets, data = signatures(n, n_values)
    whole, ids = SignatureTable.fit(offsets, data)
    monkeypatch.setattr(partitioned_interning, "_FEW", few)
    monkeypatch.setattr(partitioned_interning, "_PART", 100)
    found, first, alone = interned(offsets, data)
    assert found == ids.tolist()
    assert ids[first].tolist() == list(range(len(whole)))
    assert alone == (np.bincount(ids, minlength=1)[ids] == 1).tolist()
    monkeypatch.setattr(signature_table, "MANY", 0)
    parts, again = SignatureTable.fit(offsets, data)
    assert np.array_equal(again, ids)
    assert np.array_equal(parts.offsets, whole.offsets)
    assert np.array_equal(parts.data, whole.data)
    assert np.array_equal(parts.lookup(offsets, data), ids)


def test_signatures_that_share_a_hash_are_told_apart(monkeypatch):
    pairs = colliding_pairs()
    assert len(pairs) == 3
    for one, other in pairs:
        assert one.tolist() != other.tolist()
        assert _hash(one) == _hash(other)
    # Repeated, so that those that only share a hash are found again.
    rows = np.concatenate([pairs.reshape(-1, 3), pairs[::-1].reshape(-1, 3), pairs[:, 1]])
    offsets, data = pack_rows(rows)
    _, ids = SignatureTable.fit(offsets, data)
    distinct = {tuple(row): i for i, row in enumerate(dict.fromkeys(map(tuple, rows.tolist())))}
    assert ids.tolist() == [distinct[tuple(row)] for row in rows.tolist()]
    for few in (0, 1 << 15):
        monkeypatch.setattr(partitioned_interning, "_FEW", few)
        found, first, _ = interned(offsets, data)
        assert found == ids.tolist()
        assert first == list(range(6))


@pytest.mark.parametrize("many", [0, 10**9])
@pytest.mark.parametrize("few", [0, 1 << 15])
def test_signatures_known_to_be_alone_are_not_looked_up(many, few, monkeypatch):
    monkeypatch.setattr(signature_table, "MANY", many)
    monkeypatch.setattr(partitioned_interning, "_FEW", few)
    offsets, data = pack_rows(np.array([[5], [3], [4], [3], [5], [6], [8]]))
    alone = np.array([False, False, True, False, False, False, True])
    ids = np.empty(7, dtype=np.int64)
    table, found = SignatureTable.fit(offsets, data, ids=ids, alone=alone)
    assert found is ids
    assert ids.tolist() == [0, 1, 2, 1, 0, 3, 4]
    assert table.data.tolist() == [5, 3, 4, 6, 8]
    assert alone.tolist() == [False, False, True, False, False, True, True]
    # The caller's word is taken: equal signatures that are marked get ids of their own.
    _, ids = SignatureTable.fit(offsets, data, alone=np.ones(7, dtype=bool))
    assert ids.tolist() == list(range(7))


def test_entries_beyond_32_bits_are_renamed_in_one_table(monkeypatch):
    monkeypatch.setattr(signature_table, "MANY", 0)
    offsets, data = np.arange(4), np.array([2**40, 5, 2**40])
    assert SignatureTable.fit(offsets, data)[1].tolist() == [0, 1, 0]
