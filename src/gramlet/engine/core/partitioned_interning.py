"""Exact renaming of millions of signatures, in parts that stay in the processor's caches.

A single table of all signatures is larger than the caches, and every look-up waits for memory. Here
signatures are first grouped into parts by the upper bits of their hash; equal ones fall into the
same part, whose table and signatures are small. Ids are given in the order in which signatures
first occur, exactly as in `signature_table`.
"""

from __future__ import annotations

import numpy as np

from gramlet.common.arrays import Int32s, Ints, UInt64s
from gramlet.engine.core.compiled import njit
from gramlet.engine.core.hash_table import find_slot, hash_of, number_in, occupied, slots_for
from gramlet.engine.core.workspace import Workspace

__all__ = ["MANY", "intern_in_parts"]

# The smallest number of signatures worth splitting, and about how many a part has.
MANY, _PART = 200_000, 8192


def intern_in_parts(
    offsets: Ints, data: Int32s, workspace: Workspace | None = None
) -> tuple[Ints, Ints]:
    """Ids of the signatures, and where each id first occurs.

    The number of signatures and that of their entries must fit into 32 bits. With a workspace, the
    arrays that are returned are part of it.

    >>> ids, first = intern_in_parts(np.array([0, 1, 2, 3]), np.array([7, 5, 7], dtype=np.int32))
    >>> ids.tolist(), first.tolist()
    ([0, 1, 0], [0, 1])
    """
    n = len(offsets) - 1
    n_bits = max(1, int(np.ceil(np.log2(max(1, n) / _PART))))
    array = (workspace or Workspace()).array
    codes, hashes = array("codes", n, np.uint64), array("hashes", n, np.uint64)
    order, first = array("order", n, np.int32), array("first", n, np.int32)
    cuts, entries = array("cuts", n + 1, np.int32), array("entries", len(data), np.int32)
    _find_first(offsets, data, n_bits, codes, hashes, order, cuts, entries, first)
    # Hashes and codes are no longer needed.
    ids, met = codes.view(np.int64), hashes.view(np.int64)
    return ids, met[: _number(first, ids, met)]


@njit(nogil=True, cache=True)
def _find_first(
    offsets: Ints, data: Int32s, n_bits: int, codes: UInt64s, hashes: UInt64s, order: Int32s,
    cuts: Int32s, entries: Int32s, first: Int32s,
) -> None:  # fmt: skip
    """Fill ``first``: for every signature, the position where an equal one first occurs.

    ``codes`` to ``entries`` are workspace.
    """
    n = len(offsets) - 1
    n_parts, shift = 1 << n_bits, np.uint64(64 - n_bits)
    # Count the signatures and the entries of each part.
    begins = np.zeros(n_parts + 1, dtype=np.int64)
    starts = np.zeros(n_parts + 1, dtype=np.int64)
    for i in range(n):
        codes[i] = hash_of(data, offsets[i], offsets[i + 1])
        part = np.int64(codes[i] >> shift)
        begins[part + 1] += 1
        starts[part + 1] += offsets[i + 1] - offsets[i]
    for own in range(n_parts):
        begins[own + 1] += begins[own]
        starts[own + 1] += starts[own]
    # Copy the signatures part by part, in the order in which they come.
    places, ends = begins[:-1].copy(), starts[:-1].copy()
    for i in range(n):
        part = np.int64(codes[i] >> shift)
        place, end = places[part], ends[part]
        order[place], cuts[place], hashes[place] = i, end, codes[i]
        for p in range(offsets[i], offsets[i + 1]):
            entries[end] = data[p]
            end += 1
        places[part], ends[part] = place + 1, end
    cuts[n] = len(data)
    # Find equal signatures with one small table, which the parts use one after the other.
    slots = slots_for(0)
    for own in range(n_parts):
        begin, end = begins[own], begins[own + 1]
        if 2 * (end - begin) > len(slots):
            slots = slots_for(end - begin)
        for k in range(begin, end):
            at = find_slot(slots, begin, cuts, entries, hashes[k], entries, cuts[k], cuts[k + 1])
            number = number_in(slots[at])
            if number < begin:
                slots[at] = occupied(hashes[k], k)
            else:
                # An equal one came before: its position replaces this signature's own.
                order[k] = order[number]
    # Go back from the order of parts to that of the signatures.
    places = begins[:-1].copy()
    for i in range(n):
        part = np.int64(codes[i] >> shift)
        first[i] = order[places[part]]
        places[part] += 1


@njit(nogil=True, cache=True)
def _number(first: Int32s, ids: Ints, met: Ints) -> int:
    """Give ids in the order of first occurrence and store where that is; return their number."""
    n_ids = 0
    for i in range(len(first)):
        if first[i] == i:
            ids[i], met[n_ids] = n_ids, i
            n_ids += 1
        else:
            ids[i] = ids[first[i]]
    return n_ids
