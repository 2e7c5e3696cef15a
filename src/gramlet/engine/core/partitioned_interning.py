"""Exact renaming of millions of signatures, by tables that stay in the processor's caches.

A single table of all signatures is larger than the caches, and every look-up waits for memory. If
few signatures are distinct, one small table suffices. Otherwise their hashes, of 64 bits, are
grouped into parts by their upper bits; equal ones fall into the same part, whose table is small.
Signatures with equal hashes are then compared. Ids are given in the order in which signatures first
occur, exactly as in `signature_table`.
"""

from __future__ import annotations

import numpy as np

from gramlet.common.arrays import Bools, Int32s, Ints
from gramlet.engine.core.compiled import njit
from gramlet.engine.core.hash_table import (
    find_key,
    find_slot,
    hash_of,
    number_in,
    occupied,
    same_entries,
    slots_for,
)
from gramlet.engine.core.workspace import Workspace

__all__ = ["MANY", "intern_in_parts"]

# The smallest number of signatures worth splitting, about how many a part has, and how many
# distinct ones a table in cache holds.
MANY, _PART, _FEW = 200_000, 8192, 32_768


def intern_in_parts(
    offsets: Ints, data: Int32s, ids: Ints, alone: Bools, workspace: Workspace | None = None
) -> Int32s:
    """Fill the ids of the signatures; return where each id first occurs.

    ``alone`` marks signatures that are known to differ from all others, which are not looked up;
    then it marks all signatures that do. The number of signatures and that of their entries must
    fit into 32 bits. With a workspace, the array that is returned is part of it.

    >>> ids, alone = np.empty(3, dtype=np.int64), np.zeros(3, dtype=bool)
    >>> data = np.array([7, 5, 7], dtype=np.int32)
    >>> intern_in_parts(np.array([0, 1, 2, 3]), data, ids, alone).tolist()
    [0, 1]
    >>> ids.tolist(), alone.tolist()
    ([0, 1, 0], [False, True, False])
    """
    n = len(offsets) - 1
    array = (workspace or Workspace()).array
    first = array("first", n, np.int32)
    if not _find_among_few(offsets, data, alone, _FEW, first):
        n_asked = max(1, n - int(np.count_nonzero(alone)))
        n_bits = max(1, int(np.ceil(np.log2(n_asked / _PART))))
        hashes, order = array("hashes", n_asked, np.int64), array("order", n_asked, np.int32)
        # Until ids are given, their array is free for the hashes in the order of the signatures.
        _find_in_parts(offsets, data, alone, n_bits, ids, hashes, order, first)
    return first[: _number(first, ids, alone)]


@njit(nogil=True, cache=True)
def _find_among_few(offsets: Ints, data: Int32s, alone: Bools, most: int, first: Int32s) -> bool:
    """Fill ``first``: for every signature, the position where an equal one first occurs.

    Gives up and returns False if more than ``most`` signatures are distinct.
    """
    slots = slots_for(most)
    n_left = most
    for i in range(len(first)):
        first[i] = i
        if alone[i]:
            continue
        begin, end = offsets[i], offsets[i + 1]
        code = hash_of(data, begin, end)
        at = find_slot(slots, 0, offsets, data, code, data, begin, end)
        if slots[at] >= 0:
            first[i] = number_in(slots[at])
        elif n_left == 0:
            return False
        else:
            slots[at] = occupied(code, np.int64(i))
            n_left -= 1
    return True


@njit(nogil=True, cache=True)
def _find_in_parts(
    offsets: Ints,
    data: Int32s,
    alone: Bools,
    n_bits: int,
    codes: Ints,
    hashes: Ints,
    order: Int32s,
    first: Int32s,
) -> None:
    """Fill ``first`` as `_find_among_few` does, for any number of distinct signatures.

    ``codes`` to ``order`` are workspace.
    """
    n = len(offsets) - 1
    n_parts, shift = 1 << n_bits, np.uint64(64 - n_bits)
    # Count the signatures of each part.
    begins = np.zeros(n_parts + 1, dtype=np.int64)
    for i in range(n):
        if not alone[i]:
            code = hash_of(data, offsets[i], offsets[i + 1])
            codes[i] = np.int64(code)
            begins[np.int64(code >> shift) + 1] += 1
    for own in range(n_parts):
        begins[own + 1] += begins[own]
    # Group their hashes part by part, in the order in which they come.
    places = begins[:-1].copy()
    for i in range(n):
        if not alone[i]:
            part = np.int64(np.uint64(codes[i]) >> shift)
            order[places[part]], hashes[places[part]] = i, codes[i]
            places[part] += 1
    # Find equal hashes with one small table, which the parts use one after the other.
    slots = slots_for(0)
    for own in range(n_parts):
        begin, end = begins[own], begins[own + 1]
        if 2 * (end - begin) > len(slots):
            slots = slots_for(end - begin)
        for k in range(begin, end):
            code = np.uint64(hashes[k])
            at = find_key(slots, begin, hashes, code, hashes[k])
            number = number_in(slots[at])
            if number < begin:
                slots[at] = occupied(code, k)
            else:
                # An equal one came before: its position replaces this signature's own.
                order[k] = order[number]
    # Go back from the order of parts to that of the signatures, and compare those of equal hashes.
    # The list of hashes is no longer needed: signatures that only share their hash go there.
    places, n_odd = begins[:-1].copy(), 0
    for i in range(n):
        first[i] = i
        if not alone[i]:
            part = np.int64(np.uint64(codes[i]) >> shift)
            before = order[places[part]]
            places[part] += 1
            if before == i or _equal(offsets, data, i, before):
                first[i] = before
            else:
                n_odd = _find_odd(offsets, data, i, hashes, n_odd, first)


@njit(nogil=True, cache=True)
def _find_odd(offsets: Ints, data: Int32s, i: int, odd: Ints, n_odd: int, first: Int32s) -> int:
    """Find signature ``i`` among those that differ from the first one with their hash, or add it.

    Two of 64 bits are hardly ever equal by chance, so that a list suffices. Returns its length.
    """
    for k in range(n_odd):
        if _equal(offsets, data, i, odd[k]):
            first[i] = odd[k]
            return n_odd
    odd[n_odd] = i
    return n_odd + 1


@njit(nogil=True, cache=True)
def _equal(offsets: Ints, data: Int32s, i: int, j: int) -> bool:
    length = offsets[i + 1] - offsets[i]
    if offsets[j + 1] - offsets[j] != length:
        return False
    return same_entries(data, offsets[i], data, offsets[j], length)


@njit(nogil=True, cache=True)
def _number(first: Int32s, ids: Ints, alone: Bools) -> int:
    """Give ids in the order of first occurrence; return their number.

    Where each id first occurs is written over the beginning of ``first``, which has been read.
    """
    n_ids = 0
    for i in range(len(first)):
        before = first[i]
        alone[i] = before == i
        if alone[i]:
            ids[i], first[n_ids] = n_ids, i
            n_ids += 1
        else:
            ids[i] = ids[before]
            alone[before] = False
    return n_ids
