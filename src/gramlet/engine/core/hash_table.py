"""The engine's hash table: open addressing over signatures that are stored elsewhere.

A table is an array of slots. A slot holds the number of a signature and bits of its hash;
signature ``i`` itself is ``data[offsets[i]:offsets[i + 1]]``. The hash only proposes a slot; equal
signatures are recognised by comparing all entries. Compiled callers own the slots, the signatures
and their numbers.
"""

from __future__ import annotations

import numpy as np

from gramlet.common.arrays import Ints
from gramlet.engine.core.compiled import inner, njit

__all__ = ["find_slot", "hash_of", "n_slots_for", "number_in", "occupied", "slots_for", "slots_of"]

# The bits of a slot that hold a number.
_NUMBER = np.int64(0xFFFFFFFF)


def n_slots_for(n: int) -> int:
    """How many slots a table for ``n`` signatures has: at least twice as many, a power of two."""
    return max(16, 1 << max(2 * n - 1, 0).bit_length())


@inner
def slots_for(n: int) -> Ints:
    """Free slots for ``n`` signatures: at least twice as many, and a power of two."""
    size = 16
    while size < 2 * n:
        size *= 2
    slots = np.empty(size, dtype=np.int64)
    for i in range(size):
        slots[i] = -1
    return slots


@inner
def hash_of(data: Ints, begin: int, end: int) -> np.uint64:
    """The hash of the signature ``data[begin:end]``."""
    state = np.uint64(0x9E3779B97F4A7C15)
    for p in range(begin, end):
        state ^= np.uint64(np.int64(data[p]))
        state *= np.uint64(0xBF58476D1CE4E5B9)
        state ^= state >> np.uint64(29)
    state *= np.uint64(0x94D049BB133111EB)
    return state ^ (state >> np.uint64(32))


@inner
def occupied(code: np.uint64, number: np.int64) -> np.int64:
    """The content of a slot: a number in the lower half, bits of the hash above it.

    Most signatures that are compared in one slot differ in these bits and need not be read.
    """
    return (np.int64(code >> np.uint64(33)) << np.int64(32)) | number


@inner
def number_in(slot: np.int64) -> np.int64:
    """The number of the signature that occupies a slot."""
    return slot & _NUMBER


@inner
def find_slot(
    slots: Ints, offsets: Ints, data: Ints, code: np.uint64, wanted: Ints, begin: int, end: int
) -> np.int64:
    """The slot of the signature equal to ``wanted[begin:end]``, or the free slot for it (−1).

    ``code`` is the hash of ``wanted[begin:end]``.
    """
    mask = np.int64(len(slots) - 1)
    at = np.int64(code & np.uint64(mask))
    while slots[at] >= 0:
        i = number_in(slots[at])
        if slots[at] == occupied(code, i) and _same(
            wanted, begin, end, data, offsets[i], offsets[i + 1]
        ):
            return at  # not break: the compiler would count references to the arrays in the loop
        at = (at + 1) & mask
    return at


@inner
def _same(data: Ints, begin: int, end: int, other: Ints, at: int, until: int) -> bool:
    if end - begin != until - at:
        return False
    for p in range(end - begin):  # noqa: SIM110 (compiled: a plain loop)
        if data[begin + p] != other[at + p]:
            return False
    return True


@njit(nogil=True, cache=True)
def slots_of(offsets: Ints, data: Ints, first: int, last: int, n: int) -> Ints:
    """A table with room for ``n`` signatures that holds ``first:last``, known to be distinct."""
    slots = slots_for(n)
    mask = np.int64(len(slots) - 1)
    for i in range(first, last):
        code = hash_of(data, offsets[i], offsets[i + 1])
        at = np.int64(code & np.uint64(mask))
        while slots[at] >= 0:
            at = (at + 1) & mask
        slots[at] = occupied(code, np.int64(i))
    return slots
