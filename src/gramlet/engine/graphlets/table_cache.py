"""Tables that take about a second to build, kept on disk between runs.

The checksum of a table's content is known: if a file is missing, truncated or changed, the table is
built again. Files are plain ``.npy`` arrays, so that loading one runs no code.
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
    """Load the table ``name`` from disk if its checksum is right, else build and store it."""
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
    """The file of a table, in the cache folder; None if the user has no home directory."""
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
    """Store the table; another process sees the whole file or none."""
    # With a full disk or a read-only home, the table is built again next time.
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        with writing(path) as place, open(place, "wb") as file:
            np.save(file, table, allow_pickle=False)
