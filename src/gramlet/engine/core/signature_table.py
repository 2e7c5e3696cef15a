"""Exact renaming: variable-length integer signatures to consecutive ids, without collisions.

A fitted table is never changed: later look-ups give unknown signatures ids from ``len(table)`` on,
in a table of their own. `hash_table` finds the signatures. More signatures than fit into memory at
once are made and renamed range by range (`intern_tiles`); only the distinct ones of each range are
kept, and these are renamed together.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from gramlet.common.arrays import Floats, Ints
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
from gramlet.engine.core.ragged import offsets_of, taken
from gramlet.engine.core.tiles import QUIET, Tiling, for_tiles

# Offsets and data of the signatures of rows begin:end.
Signatures = Callable[[int, int], tuple[Ints, Ints]]


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
        self.offsets, self.data = offsets, data
        # Built by the first look-up: in most tables nothing is ever looked up.
        self._slots: Ints | None = None

    @classmethod
    def fit(cls, offsets: Ints, data: Ints, ids: Ints | None = None) -> tuple[SignatureTable, Ints]:
        """A table of the distinct signatures, and the id of each given one.

        ``ids`` is the array that is filled and returned.

        >>> table, ids = SignatureTable.fit(*pack_rows(np.array([[7, 1], [2, 2], [7, 1]])))
        >>> len(table), ids.tolist()
        (2, [0, 1, 0])
        >>> table.lookup(*pack_rows(np.array([[2, 2], [9, 9]]))).tolist()
        [1, 2]
        """
        nothing = SignatureTable(np.zeros(1, np.int64), np.zeros(0, np.int64))
        ids, (new_offsets, new_data) = nothing.lookup_new(offsets, data, ids)
        return cls(new_offsets, new_data), ids

    def lookup(self, offsets: Ints, data: Ints) -> Ints:
        """Ids of signatures; an unknown one gets an id of its own from ``len(self)`` on."""
        return self.lookup_new(offsets, data)[0]

    def lookup_new(
        self, offsets: Ints, data: Ints, ids: Ints | None = None
    ) -> tuple[Ints, tuple[Ints, Ints]]:
        """Ids as `lookup` gives them, and the unknown signatures in the order of their ids."""
        if self._slots is None:
            self._slots = slots_of(self.offsets, self.data, len(self))
        n = len(offsets) - 1
        ids = np.empty(n, dtype=np.int64) if ids is None else ids
        fresh = np.full(n_slots_for(n), -1, dtype=np.int64)
        first = np.empty(n, dtype=np.int64)
        n_new = _intern(offsets, data, self.offsets, self.data, self._slots, fresh, ids, first)
        new_offsets, entries = taken(offsets, first[:n_new])
        return ids, (new_offsets, data[entries])

    def signature(self, i: int) -> Ints:
        """Signature number ``i``."""
        return self.data[self.offsets[i] : self.offsets[i + 1]]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getstate__(self) -> dict[str, Ints]:
        return {"offsets": self.offsets, "data": self.data}

    def __setstate__(self, state: dict[str, Ints]) -> None:
        _check(state["offsets"], state["data"])
        self.__init__(state["offsets"], state["data"])  # type: ignore[misc]

    def validate(self, width: int | None = None) -> None:
        """Check what the compiled look-up relies on; raise a ValueError if it does not hold.

        With a ``width``, every signature must have that many entries.
        """
        _check(self.offsets, self.data)
        if width is not None and (np.diff(self.offsets) != width).any():
            raise ValueError(f"Signatures must have {width} entries each.")


def _check(offsets: Ints, data: Ints) -> None:
    require_array("the data of signatures", data, "int64", (None,))
    require_offsets("the offsets of signatures", offsets, end=len(data))


@njit(nogil=True, cache=True)
def _intern(
    offsets: Ints,
    data: Ints,
    known_offsets: Ints,
    known_data: Ints,
    known_slots: Ints,
    fresh: Ints,
    ids: Ints,
    first: Ints,
) -> int:
    """Fill ``ids``, and ``first`` with where each new signature first occurs; return how many.

    In the table ``fresh`` the number of a signature is the position where it first occurs.
    """
    n = len(offsets) - 1
    n_known = len(known_offsets) - 1
    n_new = 0
    for i in range(n):
        begin, end = offsets[i], offsets[i + 1]
        code = hash_of(data, begin, end)
        # Known from the fit.
        if n_known > 0:
            at = find_slot(known_slots, 0, known_offsets, known_data, code, data, begin, end)
            if known_slots[at] >= 0:
                ids[i] = number_in(known_slots[at])
                continue
        # Met before in this call.
        at = find_slot(fresh, 0, offsets, data, code, data, begin, end)
        if fresh[at] >= 0:
            ids[i] = ids[number_in(fresh[at])]
            continue
        # New.
        fresh[at] = occupied(code, np.int64(i))
        ids[i] = n_known + n_new
        first[n_new] = i
        n_new += 1
    return n_new


# Work per tile: Python code between compiled calls, which runs on one thread at a time, then takes
# little of the time.
_TILE_COST = 1 << 17


def n_tiles_for(costs: Floats) -> int:
    """The number of tiles for rows of these costs."""
    return int(np.clip(costs.sum() / _TILE_COST, 16, 128))


def intern_tiles(
    make: Signatures,
    costs: Floats,
    table: SignatureTable | None = None,
    *,
    tiling: Tiling = QUIET,
) -> tuple[SignatureTable, Ints]:
    """Rename all signatures of some rows; ids do not depend on how the rows are cut.

    Parameters
    ----------
    make : callable
        ``make(begin, end)`` gives the offsets and data of the signatures of a range of rows.
    costs : array
        The relative cost of each row.
    table : SignatureTable, optional
        A fitted table; signatures not in it get ids from ``len(table)`` on. None: fit one.

    Returns
    -------
    table : SignatureTable
    ids : array of int64, one per signature

    Examples
    --------
    >>> def make(begin, end):
    ...     return np.arange(end - begin + 1), np.array([7, 2, 7])[begin:end]
    >>> intern_tiles(make, np.ones(3))[1].tolist()
    [0, 1, 0]
    """
    parts: dict[int, tuple[SignatureTable, Ints]] = {}

    def work(begin: int, end: int) -> None:
        parts[begin] = SignatureTable.fit(*make(begin, end))

    for_tiles(work, len(costs), costs=costs, n_tiles=n_tiles_for(costs), tiling=tiling)
    ordered = [parts[begin] for begin in sorted(parts)]
    table, names, _ = joined([part for part, _ in ordered], table)
    ids = [of_part[of_row] for of_part, (_, of_row) in zip(names, ordered, strict=True)]
    return table, np.concatenate([np.zeros(0, np.int64), *ids])


def joined(
    parts: Sequence[SignatureTable], table: SignatureTable | None = None
) -> tuple[SignatureTable, list[Ints], tuple[Ints, Ints]]:
    """The table of all signatures of some tables, their ids in it, and those it does not contain.

    A given ``table`` stays as it is. All parts are looked up in one pass: a large table is not in
    the processor's caches, and looking up takes most of the time.
    """
    nothing = np.zeros(0, np.int64)
    new = np.zeros(1, np.int64), nothing
    if table is None and len(parts) == 1:
        return parts[0], [np.arange(len(parts[0]), dtype=np.int64)], new
    offsets = offsets_of(np.concatenate([nothing, *(np.diff(part.offsets) for part in parts)]))
    data = np.concatenate([nothing, *(part.data for part in parts)])
    if table is None:
        table, ids = SignatureTable.fit(offsets, data)
    else:
        ids, new = table.lookup_new(offsets, data)
    cuts = np.cumsum([len(part) for part in parts])[:-1]
    return table, np.split(ids, cuts) if parts else [], new
