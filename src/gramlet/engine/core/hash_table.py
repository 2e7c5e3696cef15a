"""The engine's hash table: open addressing over signatures that are stored elsewhere.

A table is an array of slots. A slot holds the number of a signature and bits of its hash; the
signatures themselves are ragged, ``data[offsets[i]:offsets[i + 1]]``, or rows of one width, one
after the other. The hash only proposes a slot; equal signatures are recognised by comparing all
entries. Compiled callers own the slots, the signatures and their numbers, which only rise: slots
with numbers below ``first`` count as free, so that a table that is used for one graph, or one part,
after the other need not be cleared.
"""

from __future__ import annotations

import numpy as np

from gramlet.common.arrays import Ints
from gramlet.engine.core.compiled import njit

_MOST = 1 << 31  # a slot has 31 bits for the number of a signature


def n_slots_for(n: int) -> int:
    """How many slots a table for ``n`` signatures has: at least twice as many, a power of two."""
    if n >= _MOST:
        raise ValueError(
            f"{n} nodes or patterns are too many for one table, which holds fewer than {_MOST}. "
            "Divide the graphs into parts, as gramlet.stream and HashedFeatures do."
        )
    return max(16, 1 << max(2 * n - 1, 0).bit_length())


@njit(nogil=True, cache=True)
def slots_for(n: int) -> Ints:
    """Free slots for ``n`` signatures: at least twice as many, and a power of two."""
    size = 16
    while size < 2 * n:
        size *= 2
    slots = np.empty(size, dtype=np.int64)
    for i in range(size):
        slots[i] = -1
    return slots


@njit(nogil=True, cache=True)
def hash_of(data: Ints, begin: int, end: int) -> np.uint64:
    """The hash of the signature ``data[begin:end]``."""
    state = np.uint64(0x9E3779B97F4A7C15)
    for p in range(end - begin):
        # An unsigned position: the compiler need not test whether it counts from the end.
        state ^= np.uint64(np.int64(data[np.uint64(begin + p)]))
        state *= np.uint64(0xBF58476D1CE4E5B9)
        state ^= state >> np.uint64(29)
    state *= np.uint64(0x94D049BB133111EB)
    return state ^ (state >> np.uint64(32))


@njit(nogil=True, cache=True)
def hash_of_key(key: np.int64) -> np.uint64:
    """The hash of a single integer."""
    code = np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)
    return code ^ (code >> np.uint64(32))


@njit(nogil=True, cache=True)
def occupied(code: np.uint64, number: np.int64) -> np.int64:
    """The content of a slot: a number in the upper half, bits of the hash below it.

    Most signatures that are compared in one slot differ in these bits and need not be read.
    """
    return (number << np.int64(32)) | np.int64(code >> np.uint64(32))


@njit(nogil=True, cache=True)
def number_in(slot: np.int64) -> np.int64:
    """The number of the signature that occupies a slot; less than ``first`` if it is free."""
    return slot >> np.int64(32)


@njit(nogil=True, cache=True)
def find_slot(
    slots: Ints,
    first: int,
    offsets: Ints,
    data: Ints,
    code: np.uint64,
    wanted: Ints,
    begin: int,
    end: int,
) -> np.uint64:
    """The slot of the ragged signature equal to ``wanted[begin:end]``, or the free slot for it.

    ``code`` is the hash of ``wanted[begin:end]``.
    """
    mask = np.uint64(len(slots) - 1)
    at = code & mask
    while number_in(slots[at]) >= first:
        i = number_in(slots[at])
        if (
            slots[at] == occupied(code, i)
            and offsets[i + 1] - offsets[i] == end - begin
            and same_entries(wanted, begin, data, offsets[i], end - begin)
        ):
            return at  # not break: the compiler would count references to the arrays in the loop
        at = (at + np.uint64(1)) & mask
    return at


@njit(nogil=True, cache=True)
def find_row(
    slots: Ints, first: int, rows: Ints, code: np.uint64, wanted: Ints, begin: int, width: int
) -> np.uint64:
    """The slot of the row equal to ``wanted[begin : begin + width]``, or the free slot for it.

    Row i is ``rows[i * width : (i + 1) * width]``.
    """
    mask = np.uint64(len(slots) - 1)
    at = code & mask
    while number_in(slots[at]) >= first:
        i = number_in(slots[at])
        if slots[at] == occupied(code, i) and same_entries(wanted, begin, rows, i * width, width):
            return at
        at = (at + np.uint64(1)) & mask
    return at


@njit(nogil=True, cache=True)
def find_key(slots: Ints, first: int, keys: Ints, code: np.uint64, key: np.int64) -> np.uint64:
    """As `find_row` for rows of a single entry, ``keys[i]``; ``code`` is its `hash_of_key`."""
    mask = np.uint64(len(slots) - 1)
    at = code & mask
    while number_in(slots[at]) >= first:
        if keys[np.uint64(number_in(slots[at]))] == key:
            return at
        at = (at + np.uint64(1)) & mask
    return at


@njit(nogil=True, cache=True)
def same_entries(data: Ints, begin: int, other: Ints, at: int, length: int) -> bool:
    """Whether two signatures of one length, beginning at these positions, are equal."""
    for p in range(length):  # noqa: SIM110 (compiled: a plain loop)
        if data[np.uint64(begin + p)] != other[np.uint64(at + p)]:
            return False
    return True


@njit(nogil=True, cache=True)
def slots_of(offsets: Ints, data: Ints, n: int) -> Ints:
    """A table with room for ``n`` signatures that holds all given ones, known to be distinct."""
    slots = slots_for(n)
    for i in range(len(offsets) - 1):
        _place(slots, hash_of(data, offsets[i], offsets[i + 1]), i)
    return slots


@njit(nogil=True, cache=True)
def slots_of_rows(rows: Ints, width: int, first: int, last: int, n: int) -> Ints:
    """A table with room for ``n`` rows that holds ``first:last``, known to be distinct."""
    slots = slots_for(n)
    for i in range(first, last):
        _place(slots, hash_of(rows, i * width, (i + 1) * width), i)
    return slots


@njit(nogil=True, cache=True)
def slots_of_keys(keys: Ints, n_keys: int, n: int) -> Ints:
    """A table with room for ``n`` keys that holds the first ``n_keys``, known to be distinct."""
    slots = slots_for(n)
    for i in range(n_keys):
        _place(slots, hash_of_key(keys[i]), i)
    return slots


@njit(nogil=True, cache=True)
def _place(slots: Ints, code: np.uint64, number: int) -> None:
    """Put a number that is not in the table into the next free slot of its hash."""
    mask = np.uint64(len(slots) - 1)
    at = code & mask
    while slots[at] >= 0:
        at = (at + np.uint64(1)) & mask
    slots[at] = occupied(code, np.int64(number))
