"""The decorator of compiled functions, and the folder in which compiled code is kept between runs.

numba compiles, and stores what it has compiled. It notices when the file of a function has changed,
but not when a function of another file that is called has: the folder is therefore named by a
digest of all sources of the engine. `compiling` notices when something is compiled.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
import threading
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numba

from gramlet.common.places import cache_folder

HOW_TO_CHOOSE = (
    "Set the environment variable GRAMLET_CACHE, or NUMBA_CACHE_DIR for compiled code alone, to a "
    "folder that can be written to."
)
_PACKAGE = Path(__file__).resolve().parents[2]
_BESIDE_SOURCES = _PACKAGE / "__pycache__" / "compiled"
_KEPT_VERSIONS = 4  # several installations may share a folder, and old processes may still run
_MIN_FREE = 1 << 26  # bytes; numba raises an error when a file does not fit on the disk
_lock = threading.Lock()


def njit(**options: Any) -> Callable[[Any], Any]:
    """A decorator: numba's ``njit`` with gramlet's folder for compiled code.

    Parameters
    ----------
    **options
        Options of ``numba.njit``; ``cache=True`` keeps the compiled code.

    >>> import numpy as np
    >>> @njit(nogil=True)
    ... def total(values):
    ...     result = 0
    ...     for value in values:
    ...         result += value
    ...     return result
    >>> total(np.array([1, 2]))
    3
    """

    def decorate(function: Callable[..., Any]) -> Any:
        folder = code_folder() if options.get("cache") else None
        if folder is None:
            return numba.njit(**{**options, "cache": False})(function)
        # numba reads its setting when it decorates; for the user's functions it stays as it is.
        with _lock:
            before = numba.config.CACHE_DIR
            numba.config.CACHE_DIR = str(folder)
            try:
                return numba.njit(**options)(function)
            finally:
                numba.config.CACHE_DIR = before

    return decorate


def read_only(values: Any) -> Any:
    """A read-only view of an array.

    For numba, read-only and writable arrays have different types. The arrays of a batch of graphs
    are read-only; a function that takes these as well as others is compiled only once if it gets
    all of them as read-only.
    """
    view = values.view()
    view.flags.writeable = False
    return view


def possible_folders() -> list[Path]:
    """Folders that compiled code may be kept in, in order of preference."""
    if numba.config.CACHE_DIR:
        return [Path(numba.config.CACHE_DIR).expanduser().absolute() / "gramlet"]
    chosen = cache_folder().absolute() / "compiled"
    return [chosen] if os.environ.get("GRAMLET_CACHE") else [_BESIDE_SOURCES, chosen]


@cache
def code_folder() -> Path | None:
    """The folder for the compiled code of these sources; None, with a warning, if none is writable.

    Folders of earlier sources and damaged files are removed.
    """
    name = _digest_of_sources()
    reasons = []
    for parent in possible_folders():
        folder = parent / name
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=folder):
                os.utime(folder)  # the time of the last use
            if shutil.disk_usage(folder).free < _MIN_FREE:
                raise OSError("the disk is full")
            _remove_old(parent)
            _remove_damaged(folder)
            return folder
        except OSError as error:
            reasons.append(f"{str(parent)!r} ({error.strerror or error})")
    warnings.warn(
        f"Compiled code cannot be kept in {' or '.join(reasons)}: every process compiles again. "
        f"{HOW_TO_CHOOSE}",
        stacklevel=2,
    )
    return None


def _digest_of_sources() -> str:
    digest = hashlib.sha256()
    for path in sorted((_PACKAGE / "engine").rglob("*.py")):
        digest.update(f"{path.relative_to(_PACKAGE)}\0".encode() + path.read_bytes())
    return digest.hexdigest()[:16]


def _remove_old(parent: Path) -> None:
    """Remove the folders of other sources, except for those that were used last."""
    folders = sorted(parent.iterdir(), key=lambda folder: folder.stat().st_mtime)
    for folder in folders[:-_KEPT_VERSIONS]:
        shutil.rmtree(folder, ignore_errors=True)


def _remove_damaged(folder: Path) -> None:
    """Remove empty, truncated and overwritten files, for which numba raises errors.

    numba stores pickles, which start with the byte 0x80 and end with a full stop. A function with a
    damaged file is compiled again.
    """
    for path in folder.glob("*/*.nb[ic]"):
        with path.open("rb") as file:
            start = file.read(1)
            if start:
                file.seek(-1, os.SEEK_END)
            end = file.read(1) or start
        if (start, end) != (b"\x80", b"."):
            path.unlink(missing_ok=True)
