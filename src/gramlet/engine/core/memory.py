"""How much memory there is, and an error before work whose result would not fit."""

from __future__ import annotations

import os
from pathlib import Path

# For results up to this size the system is not asked: that takes as long as computing them.
_SMALL = 1 << 22

_CGROUP_FILES = (
    ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
    ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"),
)


def available_bytes() -> int | None:
    """Bytes that can still be allocated, or None if the system does not report it."""
    found = [value for value in (_of_machine(), _of_container()) if value is not None]
    return min(found) if found else None


def require_room(n_rows: int, n_columns: int, owner: str) -> None:
    """Raise a MemoryError if a matrix of float64 is larger than the available memory.

    >>> require_room(1000, 1000, "WeisfeilerLehman")
    """
    require_bytes(
        8 * n_rows * n_columns,
        f"{owner}: a matrix of {n_rows:,} × {n_columns:,} numbers",
        'Write it to disk with gramlet.gram(..., output="K.zarr"), or use FeatureMap with a linear '
        "model, which needs no matrix of pairs.",
    )


def require_bytes(needed: int, what: str, way_out: str) -> None:
    """Raise a MemoryError that names ``what`` if it takes more than the available memory.

    >>> require_bytes(1000, "WeisfeilerLehman: a matrix", "Use fewer graphs.")
    """
    available = available_bytes() if needed > _SMALL else None
    if available is not None and needed > available:
        raise MemoryError(
            f"{what} takes {needed / 1e9:,.1f} GB; {available / 1e9:,.1f} GB of memory are "
            f"available. {way_out}"
        )


def _of_machine() -> int | None:
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except (OSError, ValueError, IndexError):
        pass
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_AVPHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None


def _of_container() -> int | None:
    for limit, usage in _CGROUP_FILES:
        try:
            return max(0, int(Path(limit).read_text()) - int(Path(usage).read_text()))
        except (OSError, ValueError):  # no such file, or "max": no limit
            continue
    return None
