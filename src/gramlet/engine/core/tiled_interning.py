"""Exact renaming of more signatures than fit into memory at once.

Signatures are made and renamed range by range; only the distinct ones of each range are kept, and
these are renamed together. Ids do not depend on how the rows are cut or on the number of threads.
Callers make the signatures; `signature_table` renames them.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import sparse

from gramlet.common.arrays import Floats, Ints
from gramlet.engine.core.signature_table import SignatureTable
from gramlet.engine.core.tiles import QUIET, Tiling, for_tiles
from gramlet.engine.counts.comparison import count_codes

__all__ = ["count_tiles", "intern_tiles"]

# Tiles have at least this cost, so that Python code between compiled calls, which runs on one
# thread at a time, takes little of the time; and there are at least and at most so many.
_TILE_COST, _FEWEST_TILES, _MOST_TILES = 1 << 17, 16, 128

# Offsets and data of the signatures of rows begin:end.
Signatures = Callable[[int, int], tuple[Ints, Ints]]
# The same after the number of signatures of each row.
CountedSignatures = Callable[[int, int], tuple[Ints, Ints, Ints]]


def intern_tiles(
    make: Signatures,
    n_rows: int,
    table: SignatureTable | None = None,
    *,
    costs: Floats | None = None,
    tiling: Tiling = QUIET,
) -> tuple[SignatureTable, Ints]:
    """Rename all signatures of some rows.

    Parameters
    ----------
    make : callable
        ``make(begin, end)`` gives the offsets and data of the signatures of a range of rows.
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
    >>> intern_tiles(make, 3)[1].tolist()
    [0, 1, 0]
    """
    parts: dict[int, tuple[SignatureTable, Ints]] = {}

    def work(begin: int, end: int) -> None:
        parts[begin] = SignatureTable.fit(*make(begin, end))

    for_tiles(
        work,
        n_rows,
        costs=costs,
        n_tiles=_n_tiles(costs),
        tiling=tiling,
    )
    ordered = [parts[begin] for begin in sorted(parts)]
    table, names, _ = _joined([part[0] for part in ordered], table)
    ids = [own[found] for own, (_, found) in zip(names, ordered, strict=True)]
    return table, np.concatenate([np.zeros(0, np.int64), *ids])


def count_tiles(
    make: CountedSignatures,
    n_rows: int,
    table: SignatureTable | None = None,
    *,
    costs: Floats | None = None,
    tiling: Tiling = QUIET,
) -> tuple[SignatureTable, tuple[Ints, Ints], sparse.csr_matrix]:
    """Count the signatures of each row.

    Returns
    -------
    table : SignatureTable
        The fitted table, or ``table`` if one is given.
    new : pair of arrays of int64
        Offsets and data of the signatures that ``table`` does not contain, in the order of their
        columns; empty if the table is fitted here.
    counts : csr_matrix of float64
        Columns from ``len(table)`` on are signatures that ``table`` does not contain.
    """
    parts: dict[int, tuple[SignatureTable, sparse.csr_matrix]] = {}

    def work(begin: int, end: int) -> None:
        per_row, offsets, data = make(begin, end)
        own, ids = SignatureTable.fit(offsets, data)
        starts = np.concatenate([[0], np.cumsum(per_row)]).astype(np.int64)
        parts[begin] = own, count_codes(starts, ids, len(own))

    for_tiles(
        work,
        n_rows,
        costs=costs,
        n_tiles=_n_tiles(costs),
        tiling=tiling,
    )
    ordered = [parts[begin] for begin in sorted(parts)]
    table, names, new = _joined([part[0] for part in ordered], table)
    width = len(table) + len(new[0]) - 1
    blocks = [
        sparse.csr_matrix(
            (counts.data, own[counts.indices], counts.indptr), shape=(counts.shape[0], width)
        )
        for own, (_, counts) in zip(names, ordered, strict=True)
    ]
    matrix = sparse.csr_matrix(sparse.vstack(blocks)) if blocks else sparse.csr_matrix((0, width))
    matrix.sort_indices()
    return table, new, matrix


def _n_tiles(costs: Floats | None) -> int:
    if costs is None:
        return _MOST_TILES
    return int(np.clip(costs.sum() / _TILE_COST, _FEWEST_TILES, _MOST_TILES))


def _joined(
    parts: list[SignatureTable], table: SignatureTable | None
) -> tuple[SignatureTable, list[Ints], tuple[Ints, Ints]]:
    """Ids of the signatures of all parts in one table, and the signatures it does not contain.

    All parts are looked up in one pass: a large table is not in the processor's caches, and looking
    up takes most of the time.
    """
    nothing = np.zeros(0, np.int64)
    new = np.zeros(1, np.int64), nothing
    if table is None and len(parts) == 1:
        return parts[0], [np.arange(len(parts[0]), dtype=np.int64)], new
    offsets, data = SignatureTable.joined(parts)
    if table is None:
        table, ids = SignatureTable.fit(offsets, data)
    else:
        ids, new = table.lookup_new(offsets, data)
    cuts = np.cumsum([len(part) for part in parts])[:-1]
    return table, np.split(ids, cuts) if parts else [], new
