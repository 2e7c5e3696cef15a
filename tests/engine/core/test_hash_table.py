"""The hash table against a dictionary; colliding hashes must not merge signatures."""

from __future__ import annotations

import numpy as np
import pytest

from compiled_calls import from_python
from gramlet.engine.core.hash_table import (
    find_slot,
    hash_of,
    number_in,
    occupied,
    slots_for,
    slots_of,
)

find_slot = from_python(find_slot)
hash_of = from_python(hash_of)
number_in = from_python(number_in)
occupied = from_python(occupied)
slots_for = from_python(slots_for)

ROWS = np.random.default_rng(0).integers(-3, 3, size=(200, 2))
DATA = ROWS.reshape(-1)
OFFSETS = np.arange(len(ROWS) + 1) * 2


def numbers(code_of) -> list[int]:
    """The position of the first equal row, for every row, from the hash table."""
    slots = slots_for(len(ROWS))
    found = []
    for i in range(len(ROWS)):
        code = code_of(OFFSETS[i], OFFSETS[i + 1])
        at = find_slot(slots, OFFSETS, DATA, code, DATA, OFFSETS[i], OFFSETS[i + 1])
        if slots[at] < 0:
            slots[at] = occupied(code, np.int64(i))
        found.append(int(number_in(slots[at])))
    return found


@pytest.mark.parametrize("collide", [False, True])
def test_equal_signatures_share_a_slot_and_others_do_not(collide):
    first: dict[tuple[int, ...], int] = {}
    expected = [first.setdefault(tuple(row), i) for i, row in enumerate(ROWS.tolist())]
    constant = np.uint64(2**64 - 5)
    assert numbers(lambda a, b: constant if collide else np.uint64(hash_of(DATA, a, b))) == expected


def test_signatures_of_other_lengths_are_others():
    data, offsets = np.array([1, 2, 1, 2, 3]), np.array([0, 2, 5])
    slots = slots_of(offsets, data, 0, 2, 2)
    code = np.uint64(hash_of(data, 0, 2))
    assert number_in(slots[find_slot(slots, offsets, data, code, data, 0, 2)]) == 0
    assert slots[find_slot(slots, offsets, data, np.uint64(hash_of(data, 0, 1)), data, 0, 1)] == -1
    # With equal hashes, the lengths decide.
    assert slots[find_slot(slots, offsets, data, code, data, 0, 1)] == -1


def test_tables_of_a_range_have_room():
    distinct = np.unique(ROWS, axis=0)
    data, offsets = distinct.reshape(-1), np.arange(len(distinct) + 1) * 2
    slots = slots_of(offsets, data, 5, 20, 300)
    assert len(slots) >= 600
    assert sorted(number_in(slot) for slot in slots if slot >= 0) == list(range(5, 20))
    for i in range(5, 20):
        code = np.uint64(hash_of(data, 2 * i, 2 * i + 2))
        at = find_slot(slots, offsets, data, code, data, 2 * i, 2 * i + 2)
        assert number_in(slots[at]) == i


def test_hashes_do_not_depend_on_the_width_of_integers():
    narrow = DATA.astype(np.int32)
    assert hash_of(narrow, 0, 10) == hash_of(DATA, 0, 10)
