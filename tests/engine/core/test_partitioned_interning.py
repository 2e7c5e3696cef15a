"""Renaming in parts gives the same ids and table as renaming all at once."""

from __future__ import annotations

import numpy as np
import pytest

from gramlet.engine.core import signature_table
from gramlet.engine.core.partitioned_interning import intern_in_parts
from gramlet.engine.core.signature_table import SignatureTable


def signatures(n: int, n_values: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(n)
    offsets = np.concatenate([[0], np.cumsum(rng.integers(0, 4, n))])
    return offsets, rng.integers(-1, n_values, offsets[-1])


@pytest.mark.parametrize(("n", "n_values"), [(0, 2), (1, 2), (1000, 2), (3000, 50)])
def test_parts_are_as_one_table(n, n_values, monkeypatch):
    offsets, data = signatures(n, n_values)
    whole, ids = SignatureTable.fit(offsets, data)
    found, first = intern_in_parts(offsets, data.astype(np.int32))
    assert np.array_equal(found, ids)
    assert np.array_equal(ids[first], np.arange(len(whole)))
    monkeypatch.setattr(signature_table, "MANY", 0)
    parts, again = SignatureTable.fit(offsets, data)
    assert np.array_equal(again, ids)
    assert np.array_equal(parts.offsets, whole.offsets)
    assert np.array_equal(parts.data, whole.data)
    assert np.array_equal(parts.lookup(offsets, data), ids)


def test_entries_beyond_32_bits_are_renamed_in_one_table(monkeypatch):
    monkeypatch.setattr(signature_table, "MANY", 0)
    offsets, data = np.arange(4), np.array([2**40, 5, 2**40])
    assert SignatureTable.fit(offsets, data)[1].tolist() == [0, 1, 0]
