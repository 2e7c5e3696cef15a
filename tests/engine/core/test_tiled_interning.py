"""Renaming in tiles gives the same result as renaming all at once."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from compiled_calls import from_python
from gramlet.engine.core.short_sort import sort_short
from gramlet.engine.core.signature_table import SignatureTable
from gramlet.engine.core.tiled_interning import count_tiles, intern_tiles
from gramlet.engine.counts.comparison import count_codes

sort_short = from_python(sort_short)


def rows_of_signatures(seed: int, n_rows: int):
    """Random rows of signatures of several lengths, many of them equal."""
    rng = np.random.default_rng(seed)
    return [
        [tuple(rng.integers(0, 3, rng.integers(0, 4)).tolist()) for _ in range(rng.integers(0, 5))]
        for _ in range(n_rows)
    ]


def packed(signatures):
    lengths = [len(signature) for signature in signatures]
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    return offsets, np.array([value for one in signatures for value in one], dtype=np.int64)


def flat(rows):
    return [signature for row in rows for signature in row]


@pytest.mark.parametrize("n_rows", [0, 1, 300])
def test_ids_are_those_of_one_table(n_rows):
    rows, later = rows_of_signatures(0, n_rows), rows_of_signatures(1, 200)
    table, ids = intern_tiles(lambda begin, end: packed(flat(rows[begin:end])), n_rows)
    whole, expected = SignatureTable.fit(*packed(flat(rows)))
    assert np.array_equal(ids, expected)
    assert np.array_equal(table.data, whole.data)
    _, found = intern_tiles(lambda begin, end: packed(flat(later[begin:end])), 200, table)
    assert np.array_equal(found, whole.lookup(*packed(flat(later))))


def test_counts_are_those_of_one_table():
    rows = rows_of_signatures(2, 250)
    later = [[*row, (7, i % 5)] for i, row in enumerate(rows_of_signatures(3, 170))]

    def maker(given):
        return lambda begin, end: (
            np.array([len(row) for row in given[begin:end]], dtype=np.int64),
            *packed(flat(given[begin:end])),
        )

    table, new, counts = count_tiles(maker(rows), 250)
    whole, ids = SignatureTable.fit(*packed(flat(rows)))
    starts = np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int64)
    assert np.array_equal(counts.toarray(), count_codes(starts, ids, len(whole)).toarray())
    assert np.array_equal(table.data, whole.data)
    assert [len(part) for part in new] == [1, 0]
    _, (offsets, data), counts = count_tiles(maker(later), 170, table)
    ids = whole.lookup(*packed(flat(later)))
    starts = np.concatenate([[0], np.cumsum([len(row) for row in later])]).astype(np.int64)
    width = max(len(whole), int(ids.max()) + 1)
    assert np.array_equal(counts.toarray(), count_codes(starts, ids, width).toarray())
    assert counts.shape[1] == len(whole) + len(offsets) - 1 > len(whole)
    unknown = [tuple(data[a:b]) for a, b in pairwise(offsets)]
    assert set(unknown) == set(flat(later)) - set(flat(rows))
    for i, signature in enumerate(unknown):
        assert whole.lookup(*packed([*unknown[:i], signature]))[i] == len(whole) + i
        assert ids[flat(later).index(signature)] == len(whole) + i


@pytest.mark.parametrize("length", [0, 1, 5, 24, 25, 100])
def test_sorting_in_place(length):
    values = np.random.default_rng(length).integers(-50, 50, length)
    wanted = np.sort(values)
    sort_short(values)
    assert np.array_equal(values, wanted)
