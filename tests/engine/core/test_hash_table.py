"""The hash table against a dictionary; colliding hashes must not merge signatures."""

from __future__ import annotations

import numpy as np
import pytest

from compiled_calls import from_python
from gramlet.engine.core.hash_table import (
    find_key,
    find_row,
    find_slot,
    hash_of,
    hash_of_key,
    n_slots_for,
    number_in,
    occupied,
    slots_for,
    slots_of,
    slots_of_keys,
    slots_of_rows,
)

find_key = from_python(find_key)
find_row = from_python(find_row)
find_slot = from_python(find_slot)
hash_of_key = from_python(hash_of_key)
slots_of_keys = from_python(slots_of_keys)
slots_of_rows = from_python(slots_of_rows)
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
        at = find_slot(slots, 0, OFFSETS, DATA, code, DATA, OFFSETS[i], OFFSETS[i + 1])
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
    slots = slots_of(offsets, data, 2)
    code = np.uint64(hash_of(data, 0, 2))
    assert number_in(slots[find_slot(slots, 0, offsets, data, code, data, 0, 2)]) == 0
    assert (
        slots[find_slot(slots, 0, offsets, data, np.uint64(hash_of(data, 0, 1)), data, 0, 1)] == -1
    )
    # With equal hashes, the lengths decide.
    assert slots[find_slot(slots, 0, offsets, data, code, data, 0, 1)] == -1


def test_tables_of_a_range_have_room():
    distinct = np.unique(ROWS, axis=0).reshape(-1)
    slots = slots_of_rows(distinct, 2, 5, 20, 300)
    assert len(slots) >= 600
    assert sorted(number_in(slot) for slot in slots if slot >= 0) == list(range(5, 20))
    for i in range(5, 20):
        code = np.uint64(hash_of(distinct, 2 * i, 2 * i + 2))
        at = find_row(slots, 5, distinct, code, distinct, 2 * i, 2)
        assert number_in(slots[at]) == i


@pytest.mark.parametrize("collide", [False, True])
def test_rows_and_keys_are_found_as_signatures_are(collide):
    keys = ROWS[:, 0] * 10 + ROWS[:, 1] + 100
    by_row, by_key = slots_for(len(ROWS)), slots_for(len(ROWS))
    found = []
    for i, key in enumerate(keys):
        code = np.uint64(7) if collide else np.uint64(hash_of_key(key))
        at = find_row(by_row, 0, DATA, code, DATA, 2 * i, 2)
        other = find_key(by_key, 0, keys, code, key)
        if by_row[at] < 0:
            assert by_key[other] < 0
            by_row[at] = by_key[other] = occupied(code, np.int64(i))
        assert number_in(by_row[at]) == number_in(by_key[other])
        found.append(int(number_in(by_row[at])))
    first: dict[tuple[int, ...], int] = {}
    assert found == [first.setdefault(tuple(row), i) for i, row in enumerate(ROWS.tolist())]


def test_numbers_below_the_first_one_are_free():
    keys = np.array([4, 9, 4, 9])
    slots = slots_of_keys(keys, 2, 2)
    code = np.uint64(hash_of_key(keys[0]))
    assert number_in(slots[find_key(slots, 0, keys, code, keys[0])]) == 0
    # For the keys from 2 on, the table is empty, and their slots are the same.
    at = find_key(slots, 2, keys, code, keys[2])
    assert number_in(slots[at]) < 2
    slots[at] = occupied(code, np.int64(2))
    assert number_in(slots[find_key(slots, 2, keys, code, keys[2])]) == 2
    assert number_in(slots[find_row(slots, 2, keys, code, keys, 0, 1)]) == 2
    offsets = np.arange(5)
    assert number_in(slots[find_slot(slots, 2, offsets, keys, code, keys, 0, 1)]) == 2
    assert number_in(slots[find_slot(slots, 3, offsets, keys, code, keys, 0, 1)]) < 3


def test_hashes_do_not_depend_on_the_width_of_integers():
    narrow = DATA.astype(np.int32)
    assert hash_of(narrow, 0, 10) == hash_of(DATA, 0, 10)


def test_more_signatures_than_a_slot_can_number_are_refused():
    assert n_slots_for(2**31 - 1) == 2**32
    with pytest.raises(ValueError, match="2147483648 nodes or patterns are too many for one table"):
        n_slots_for(2**31)
