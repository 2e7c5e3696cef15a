"""Exact renaming: variable-length integer signatures to consecutive ids, without collisions.

A hash only proposes; the stored signature decides. The table of a fit is never changed: later
look-ups give unknown signatures ids from ``len(table)`` on, in a table of their own.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from gramlet.common.arrays import Ints
from gramlet.common.stored_state import require_array, require_offsets

__all__ = ["SignatureTable", "pack_rows"]


# The bits of a slot that hold an id.
_ID = np.int64(0xFFFFFFFF)


def pack_rows(rows: Ints) -> tuple[Ints, Ints]:
    """Offsets and data of signatures that are all of one length: the rows of a matrix."""
    rows = np.ascontiguousarray(rows, dtype=np.int64)
    return np.arange(len(rows) + 1, dtype=np.int64) * rows.shape[1], rows.reshape(-1)


class SignatureTable:
    """Distinct signatures in the order of their ids.

    Parameters
    ----------
    offsets, data : arrays of int64
        Signature ``i`` is ``data[offsets[i]:offsets[i + 1]]``.
    """

    def __init__(self, offsets: Ints, data: Ints, _slots: Ints | None = None) -> None:
        self.offsets = np.asarray(offsets, dtype=np.int64)
        self.data = np.asarray(data, dtype=np.int64)
        self._slots = _slots_of(self.offsets, self.data) if _slots is None else _slots

    @classmethod
    def fit(cls, offsets: Ints, data: Ints) -> tuple[SignatureTable, Ints]:
        """A table of the distinct signatures, and the id of each given one.

        >>> table, ids = SignatureTable.fit(*pack_rows(np.array([[7, 1], [2, 2], [7, 1]])))
        >>> len(table), ids.tolist()
        (2, [0, 1, 0])
        >>> table.lookup(*pack_rows(np.array([[2, 2], [9, 9]]))).tolist()
        [1, 2]
        """
        nothing = np.zeros(0, dtype=np.int64)
        no_slots = np.full(1, -1, dtype=np.int64)
        ids, first, slots = _intern(offsets, data, np.zeros(1, np.int64), nothing, no_slots)
        # The table that found them serves on, unless it was made for many more than there are.
        reused = slots if len(slots) <= 4 * _capacity(len(first)) else None
        return cls(*_taken(offsets, data, first), reused), ids

    def lookup(self, offsets: Ints, data: Ints) -> Ints:
        """Ids of signatures; an unknown one gets an id of its own from ``len(self)`` on."""
        return _intern(offsets, data, self.offsets, self.data, self._slots)[0]

    def lookup_new(self, offsets: Ints, data: Ints) -> tuple[Ints, tuple[Ints, Ints]]:
        """Ids as `lookup` gives them, and the unknown signatures in the order of their ids."""
        ids, first, _ = _intern(offsets, data, self.offsets, self.data, self._slots)
        return ids, _taken(offsets, data, first)

    def signature(self, i: int) -> Ints:
        """Signature number ``i``."""
        return self.data[self.offsets[i] : self.offsets[i + 1]]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getstate__(self) -> dict[str, Ints]:
        return {"offsets": self.offsets, "data": self.data}

    def __setstate__(self, state: dict[str, Ints]) -> None:
        self.offsets, self.data = state["offsets"], state["data"]
        self._check()
        self._slots = _slots_of(self.offsets, self.data)

    def validate(self, width: int | None = None) -> None:
        """Check what the compiled look-up relies on; ValueError if it does not hold.

        With a ``width``, every signature must have that many entries.
        """
        self._check()
        if width is not None and (np.diff(self.offsets) != width).any():
            raise ValueError(f"Signatures must have {width} entries each.")

    def _check(self) -> None:
        require_array("the data of signatures", self.data, "int64", (None,))
        require_offsets("the offsets of signatures", self.offsets, end=len(self.data))


def _taken(offsets: Ints, data: Ints, which: Ints) -> tuple[Ints, Ints]:
    """Offsets and data of some of the signatures."""
    kept = np.concatenate([[0], np.cumsum(np.diff(offsets)[which])]).astype(np.int64)
    return kept, _copy_signatures(offsets, data, which, kept)


@njit(nogil=True, cache=True)
def _hash(data: Ints, begin: int, end: int) -> np.uint64:
    state = np.uint64(0x9E3779B97F4A7C15)
    for p in range(begin, end):
        state ^= np.uint64(data[p])
        state *= np.uint64(0xBF58476D1CE4E5B9)
        state ^= state >> np.uint64(29)
    state *= np.uint64(0x94D049BB133111EB)
    return state ^ (state >> np.uint64(32))


@njit(nogil=True, cache=True)
def _same(data: Ints, begin: int, end: int, other: Ints, at: int, until: int) -> bool:
    if end - begin != until - at:
        return False
    for p in range(end - begin):  # noqa: SIM110 (compiled: a plain loop)
        if data[begin + p] != other[at + p]:
            return False
    return True


@njit(nogil=True, cache=True)
def _capacity(n: int) -> int:
    size = 16
    while size < 2 * n:
        size *= 2
    return size


@njit(nogil=True, cache=True)
def _slot(code: np.uint64, i: np.int64) -> np.int64:
    """What stands in a slot: an id below, and above it bits of the hash.

    Most of the signatures that meet in a slot differ in these bits, and need not be fetched.
    """
    return (np.int64(code >> np.uint64(33)) << np.int64(32)) | i


@njit(nogil=True, cache=True)
def _slots_of(offsets: Ints, data: Ints) -> Ints:
    """An open-addressing hash table of ids, for signatures known to be distinct."""
    n = len(offsets) - 1
    slots = np.full(_capacity(n), -1, dtype=np.int64)
    mask = np.int64(len(slots) - 1)
    for i in range(n):
        code = _hash(data, offsets[i], offsets[i + 1])
        at = np.int64(code & np.uint64(mask))
        while slots[at] >= 0:
            at = (at + 1) & mask
        slots[at] = _slot(code, i)
    return slots


@njit(nogil=True, cache=True)
def _intern(
    offsets: Ints, data: Ints, known_offsets: Ints, known_data: Ints, known_slots: Ints
) -> tuple[Ints, Ints, Ints]:
    """Ids of the signatures; where each new one was first met; the hash table of the new ones."""
    n = len(offsets) - 1
    n_known = len(known_offsets) - 1
    ids = np.empty(n, dtype=np.int64)
    first = np.empty(n, dtype=np.int64)
    n_new = 0
    known_mask = np.int64(len(known_slots) - 1)
    fresh = np.full(_capacity(n), -1, dtype=np.int64)
    fresh_mask = np.int64(len(fresh) - 1)
    for i in range(n):
        begin, end = offsets[i], offsets[i + 1]
        code = _hash(data, begin, end)
        found = np.int64(-1)
        at = np.int64(code & np.uint64(known_mask))
        while known_slots[at] >= 0:
            k = known_slots[at] & _ID
            if known_slots[at] == _slot(code, k) and _same(
                data, begin, end, known_data, known_offsets[k], known_offsets[k + 1]
            ):
                found = k
                break
            at = (at + 1) & known_mask
        if found < 0:
            at = np.int64(code & np.uint64(fresh_mask))
            while fresh[at] >= 0:
                k = fresh[at] & _ID
                if fresh[at] == _slot(code, k):
                    j = first[k]
                    if _same(data, begin, end, data, offsets[j], offsets[j + 1]):
                        found = n_known + k
                        break
                at = (at + 1) & fresh_mask
        if found < 0:
            fresh[at] = _slot(code, n_new)
            first[n_new] = i
            found = np.int64(n_known + n_new)
            n_new += 1
        ids[i] = found
    return ids, first[:n_new], fresh


@njit(nogil=True, cache=True)
def _copy_signatures(offsets: Ints, data: Ints, which: Ints, kept: Ints) -> Ints:
    out = np.empty(kept[-1], dtype=np.int64)
    for i in range(len(which)):
        begin = offsets[which[i]]
        for p in range(kept[i + 1] - kept[i]):
            out[kept[i] + p] = data[begin + p]
    return out
