"""Tables that cost a moment to build, kept on disk between runs.

A table is known by the checksum of its right content: a file that is missing, cut short or changed
is built anew. Files are plain ``.npy`` arrays, so that loading one runs no code.
"""

from __future__ import annotations

import contextlib
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np

from gramlet.common.arrays import Array
from gramlet.common.places import cache_folder
from gramlet.common.safe_writing import writing

__all__ = ["cached_table", "checksum"]


def checksum(table: Array) -> int:
    """CRC-32 of a table's shape, type and bytes in little-endian order.

    >>> checksum(np.arange(3, dtype=np.int16)) == checksum(np.arange(3, dtype=">i2"))
    True
    """
    plain = np.ascontiguousarray(table, dtype=table.dtype.newbyteorder("<"))
    head = f"{plain.dtype.str}{plain.shape}".encode()
    return zlib.crc32(plain.tobytes(), zlib.crc32(head))


def cached_table(name: str, right_checksum: int, build: Callable[[], Array]) -> Array:
    """The table ``name`` from disk if it is there and sound, else built and, if possible, kept."""
    path = _place(name)
    if path is not None:
        table = _load(path)
        if table is not None and checksum(table) == right_checksum:
            return table
    table = build()
    if path is not None and checksum(table) == right_checksum:
        _store(path, table)
    return table


def _place(name: str) -> Path | None:
    """Beside the data sets; None where the user has no home directory."""
    try:
        return cache_folder() / "tables" / f"{name}.npy"
    except RuntimeError:
        return None


def _load(path: Path) -> Array | None:
    try:
        return np.asarray(np.load(path, allow_pickle=False))
    except (OSError, ValueError, EOFError):
        return None


def _store(path: Path, table: Array) -> None:
    """Keep the table; another process sees the whole file or none."""
    # A full disk or a read-only home costs time at the next start, nothing else.
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        with writing(path) as place, open(place, "wb") as file:
            np.save(file, table, allow_pickle=False)
