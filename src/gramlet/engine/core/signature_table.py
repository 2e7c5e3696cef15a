"""Exact renaming: variable-length integer signatures to consecutive ids, without collisions.

A fitted table is never changed: later look-ups give unknown signatures ids from ``len(table)`` on,
in a table of their own. `hash_table` finds the signatures.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gramlet.common.arrays import Array, Bools, Int32s, Ints
from gramlet.common.stored_state import require_array, require_offsets
from gramlet.engine.core.compiled import njit
from gramlet.engine.core.hash_table import (
    find_slot,
    hash_of,
    n_slots_for,
    number_in,
    occupied,
    slots_of,
)
from gramlet.engine.core.partitioned_interning import MANY, intern_in_parts
from gramlet.engine.core.workspace import Workspace

__all__ = ["SignatureTable", "pack_rows"]


# The largest entry of an array of 32 bits.
_MOST = np.iinfo(np.int32).max
# This many entries are copied by numpy if all signatures have one length.
_FEW_ENTRIES = 1 << 12
# Lengths are summed in steps of so many signatures, whose temporaries stay in cache.
_STEP = 1 << 16


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

    def __init__(self, offsets: Ints, data: Ints) -> None:
        self._hold(offsets, data)

    def _hold(self, offsets: Ints, data: Ints) -> None:
        self._data = _narrow(data)
        kept = offsets.astype(self._data.dtype, copy=False)
        self._length = len(kept) - 1
        # If all signatures have one length, offsets are computed when they are needed.
        self._width = int(kept[1]) if self._length else 0
        regular = _of_width(kept[:100], self._width) and _of_width(kept, self._width)
        self._kept: Array | None = None if regular else kept
        # Built by the first look-up: in most tables nothing is ever looked up.
        self._slots: Ints | None = None

    @property
    def _offsets(self) -> Array:
        if self._kept is not None:
            return self._kept
        return np.arange(self._length + 1, dtype=self._data.dtype) * self._data.dtype.type(
            self._width
        )

    @property
    def offsets(self) -> Ints:
        """Where the signatures begin and end, as int64."""
        return self._offsets.astype(np.int64)

    @property
    def data(self) -> Ints:
        """The entries of all signatures, as int64."""
        return self._data.astype(np.int64)

    @classmethod
    def fit(
        cls,
        offsets: Ints,
        data: Array,
        *,
        ids: Ints | None = None,
        alone: Bools | None = None,
        workspace: Workspace | None = None,
    ) -> tuple[SignatureTable, Ints]:
        """A table of the distinct signatures, and the id of each given one.

        ``data`` has 32 or 64 bits. ``ids`` is the array that is filled and returned. ``alone``
        marks signatures that the caller knows to differ from all others, which are not looked up;
        then it marks all signatures that do.

        >>> table, ids = SignatureTable.fit(*pack_rows(np.array([[7, 1], [2, 2], [7, 1]])))
        >>> len(table), ids.tolist()
        (2, [0, 1, 0])
        >>> table.lookup(*pack_rows(np.array([[2, 2], [9, 9]]))).tolist()
        [1, 2]
        """
        data = _narrow(data)
        n = len(offsets) - 1
        ids = np.empty(n, dtype=np.int64) if ids is None else ids
        alone = np.zeros(n, dtype=np.bool_) if alone is None else alone
        if n >= MANY and data.dtype == np.int32:
            first = intern_in_parts(offsets, data, ids, alone, workspace)
        else:
            known = np.zeros(1, np.int64), np.zeros(0, data.dtype), np.full(1, -1, dtype=np.int64)
            first = _interned(offsets, data, *known, ids, alone)
        return cls(*_taken(offsets, data, first)), ids

    def lookup(self, offsets: Ints, data: Array) -> Ints:
        """Ids of signatures; an unknown one gets an id of its own from ``len(self)`` on."""
        return self._found(offsets, data)[0]

    def lookup_new(self, offsets: Ints, data: Ints) -> tuple[Ints, tuple[Ints, Ints]]:
        """Ids as `lookup` gives them, and the unknown signatures in the order of their ids."""
        data = _narrow(data)
        ids, first = self._found(offsets, data)
        new_offsets, new_data = _taken(offsets, data, first)
        return ids, (new_offsets.astype(np.int64), new_data.astype(np.int64))

    def _found(self, offsets: Ints, data: Array) -> tuple[Ints, Int32s]:
        if self._slots is None:
            self._kept = self._offsets
            self._slots = slots_of(self._kept, self._data, len(self))
        # Compiled code compares integers of one width.
        data = _narrow(data)
        width = np.promote_types(data.dtype, self._data.dtype)
        known = self._data.astype(width, copy=False)
        ids = np.empty(len(offsets) - 1, dtype=np.int64)
        alone = np.zeros(len(ids), dtype=np.bool_)
        first = _interned(
            offsets, data.astype(width, copy=False), self.offsets, known, self._slots, ids, alone
        )
        return ids, first

    @staticmethod
    def joined(tables: Sequence[SignatureTable]) -> tuple[Ints, Array]:
        """Offsets and data of the signatures of several tables, one table after the other.

        >>> tables = [SignatureTable.fit(*pack_rows(np.array([[i, 5]])))[0] for i in (1, 2)]
        >>> [part.tolist() for part in SignatureTable.joined(tables)]
        [[0, 2, 4], [1, 5, 2, 5]]
        """
        offsets = np.zeros(1 + sum(map(len, tables)), dtype=np.int64)
        begin = 0
        for table in tables:
            own = offsets[begin : begin + len(table) + 1]
            own[1:] = table._offsets[1:]
            own[1:] += own[0]
            begin += len(table)
        return offsets, np.concatenate([np.zeros(0, np.int32), *(each._data for each in tables)])

    def signature(self, i: int) -> Ints:
        """Signature number ``i``."""
        if self._kept is None:
            return self._data[i * self._width : (i + 1) * self._width].astype(np.int64)
        return self._data[self._kept[i] : self._kept[i + 1]].astype(np.int64)

    def __len__(self) -> int:
        return self._length

    def __getstate__(self) -> dict[str, Ints]:
        return {"offsets": self.offsets, "data": self.data}

    def __setstate__(self, state: dict[str, Ints]) -> None:
        _check(state["offsets"], state["data"])
        self._hold(state["offsets"], state["data"])

    def validate(self, width: int | None = None) -> None:
        """Check what the compiled look-up relies on; raise a ValueError if it does not hold.

        With a ``width``, every signature must have that many entries.
        """
        _check(self.offsets, self.data)
        if width is not None and (np.diff(self._offsets) != width).any():
            raise ValueError(f"Signatures must have {width} entries each.")


def _check(offsets: Ints, data: Ints) -> None:
    require_array("the data of signatures", data, "int64", (None,))
    require_offsets("the offsets of signatures", offsets, end=len(data))


def _narrow(data: Array) -> Array:
    """The entries in 32 bits, or in 64 if they do not fit: models keep their tables."""
    if len(data) > _MOST:
        return data.astype(np.int64, copy=False)
    if data.dtype == np.int32:
        return data
    fits = data.max(initial=0) <= _MOST and data.min(initial=0) >= -_MOST
    return data.astype(np.int32 if fits else np.int64, copy=False)


def _of_width(offsets: Array, width: int) -> bool:
    """Whether all signatures have this length."""
    return bool((offsets[1:] - offsets[:-1] == width).all())


def _taken(offsets: Ints, data: Array, which: Int32s) -> tuple[Array, Array]:
    """Offsets and data of some of the signatures, in the type of the data."""
    # Few signatures of one length, such as the types of edges: nothing to compile.
    if 0 < len(which) <= _FEW_ENTRIES:
        begins, ends = offsets[which], offsets[which.astype(np.int64) + 1]
        width = int(ends[0] - begins[0])
        if 0 < width * len(which) <= _FEW_ENTRIES and (ends - begins == width).all():
            kept = (np.arange(len(which) + 1) * width).astype(data.dtype)
            return kept, data[begins[:, None] + np.arange(width)].reshape(-1)
    n_entries = 0
    for begin in range(0, len(which), _STEP):
        part = which[begin : begin + _STEP].astype(np.int64)
        n_entries += int((offsets[part + 1] - offsets[part]).sum())
    kept = np.empty(len(which) + 1, dtype=data.dtype)
    out = np.empty(n_entries, dtype=data.dtype)
    _copy_signatures(offsets, data, which, kept, out)
    return kept, out


def _interned(
    offsets: Ints,
    data: Array,
    known_offsets: Array,
    known_data: Array,
    known_slots: Ints,
    ids: Ints,
    alone: Bools,
) -> Int32s:
    """Fill the ids of the signatures; return where each new one first occurs."""
    first = np.empty(len(ids), dtype=np.int32)
    fresh = np.full(n_slots_for(len(ids)), -1, dtype=np.int64)
    n_new = _intern(offsets, data, known_offsets, known_data, known_slots, fresh, ids, first, alone)
    return first[:n_new]


@njit(nogil=True, cache=True)
def _intern(
    offsets: Ints,
    data: Ints,
    known_offsets: Ints,
    known_data: Ints,
    known_slots: Ints,
    fresh: Ints,
    ids: Ints,
    first: Int32s,
    alone: Bools,
) -> int:
    """Fill ``ids``, and ``first`` with where each new signature first occurs; return how many.

    In the table ``fresh`` the number of a signature is the position where it first occurs.
    Signatures that are marked as ``alone`` are new; then all those are marked that occur once.
    """
    n = len(offsets) - 1
    n_known = len(known_offsets) - 1
    n_new = 0
    for i in range(n):
        if alone[i]:
            ids[i] = n_known + n_new
            first[n_new] = i
            n_new += 1
            continue
        begin, end = offsets[i], offsets[i + 1]
        code = hash_of(data, begin, end)
        # Known from the fit.
        at = find_slot(known_slots, 0, known_offsets, known_data, code, data, begin, end)
        if known_slots[at] >= 0:
            ids[i] = number_in(known_slots[at])
            continue
        # Met before in this call.
        at = find_slot(fresh, 0, offsets, data, code, data, begin, end)
        if fresh[at] >= 0:
            before = number_in(fresh[at])
            ids[i] = ids[before]
            alone[before] = False
            continue
        # New.
        fresh[at] = occupied(code, np.int64(i))
        alone[i] = True
        ids[i] = n_known + n_new
        first[n_new] = i
        n_new += 1
    return n_new


@njit(nogil=True, cache=True)
def _copy_signatures(offsets: Ints, data: Array, which: Int32s, kept: Array, out: Array) -> None:
    """Fill ``out`` with the chosen signatures and ``kept`` with where they begin."""
    at, i = 0, 0
    kept[0] = 0
    while i < len(which):
        # Signatures that follow each other are copied in one go.
        last = np.int64(which[i])
        begin = offsets[last]
        shift = at - begin
        while i < len(which) and which[i] == last:
            last += 1
            i += 1
            kept[i] = offsets[last] + shift
        for p in range(offsets[last] - begin):
            out[at + p] = data[begin + p]
        at += offsets[last] - begin
