"""A lock on a folder that is released when its process ends.

The operating system keeps the lock and releases that of a dead process; the file names the owner.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

__all__ = ["StoreInUseError", "locked"]

LOCK = "gramlet.lock"


class StoreInUseError(RuntimeError, ValueError):
    """Another process is writing to the same store."""


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the lock of a folder.

    Raises
    ------
    StoreInUseError
        If another process holds it; the message names the process.

    Notes
    -----
    A folder that this process may not write to is not locked: it can only be read.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with locked(Path(folder)):
    ...         sorted(os.listdir(folder))
    ...     sorted(os.listdir(folder))
    ['gramlet.lock']
    []
    """
    path = folder / LOCK
    if _is_read_only(folder):
        _refuse_if_held(path)
        yield
        return
    stream = _acquire(path)
    try:
        stream.truncate(0)
        stream.write(json.dumps({"process": os.getpid(), "machine": socket.gethostname()}) + "\n")
        stream.flush()
        yield
    finally:
        # Removed before it is unlocked: a process that opened the file meanwhile notices it.
        path.unlink(missing_ok=True)
        stream.close()


def _is_read_only(folder: Path) -> bool:
    return folder.is_dir() and not os.access(folder, os.W_OK)


def _refuse_if_held(path: Path) -> None:
    with contextlib.suppress(FileNotFoundError), path.open(encoding="utf-8") as stream:
        try:
            _lock(stream.fileno())
        except OSError as why:
            raise StoreInUseError(_refusal(path)) from why


def _acquire(path: Path) -> Any:
    while True:
        stream = path.open("a+", encoding="utf-8")
        try:
            _lock(stream.fileno())
        except OSError as why:
            stream.close()
            raise StoreInUseError(_refusal(path)) from why
        with contextlib.suppress(FileNotFoundError):
            if os.path.samestat(os.stat(path), os.fstat(stream.fileno())):
                return stream
        stream.close()  # its owner removed it after we opened it


def _refusal(path: Path) -> str:
    try:
        owner = json.loads(path.read_text(encoding="utf-8"))
        who = f"process {owner['process']} on {owner['machine']}"
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        who = "another process"
    return (
        f"{str(path.parent)!r} is being written by {who}. Wait until it has ended, or name another "
        "place."
    )


def _lock(handle: int) -> None:
    try:
        import fcntl
    except ImportError:  # Windows
        import msvcrt

        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
        return
    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
