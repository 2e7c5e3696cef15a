"""Writing files that are whole or not there at all.

What is written goes to a hidden place beside the target, to the disk, and then takes the target's
name in one step. An error or Ctrl-C removes the hidden file; one that a killed process left behind
is removed by the next write to the same target.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import socket
import zlib
from collections.abc import Iterator
from pathlib import Path

__all__ = ["flush_folder", "flush_to_disk", "remove_leftovers", "writing"]

_MARK = ".part"


@contextlib.contextmanager
def writing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A place beside ``path`` to write a file to; it becomes ``path`` if all goes well.

    A link keeps pointing where it points: the file it leads to is replaced.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with writing(f"{folder}/result.txt") as place:
    ...         _ = place.write_text("whole")
    ...     sorted(os.listdir(folder))
    ['result.txt']
    """
    target = Path(os.path.realpath(path))
    remove_leftovers(target)
    part = target.with_name(f"{_prefix(target)}{os.getpid()}-{secrets.token_hex(4)}{_end(target)}")
    try:
        yield part
        flush_to_disk(part)
        os.replace(part, target)
        flush_folder(target.parent)
    finally:
        _remove(part)


def flush_to_disk(path: Path) -> None:
    """Wait until a file's content is on the disk."""
    with open(path, "rb") as file:
        os.fsync(file.fileno())


def flush_folder(folder: Path) -> None:
    """Wait until a folder's names are on the disk, where the system can do that."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def remove_leftovers(target: Path) -> None:
    """Remove what killed processes of this machine left beside ``target``."""
    prefix, end = _prefix(target), _end(target)
    with contextlib.suppress(OSError):
        for name in os.listdir(target.parent):
            if name.startswith(prefix) and name.endswith(end):
                pid = name[len(prefix) :].partition("-")[0]
                if pid.isdigit() and not _alive(int(pid)):
                    _remove(target.parent / name)


def _prefix(target: Path) -> str:
    # Another machine may share the folder; its process numbers mean nothing here.
    host = zlib.crc32(socket.gethostname().encode())
    return f".{target.stem}.{host:08x}-"


def _end(target: Path) -> str:
    return f"{_MARK}{target.suffix}"


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _remove(place: Path) -> None:
    with contextlib.suppress(OSError):
        if place.is_dir() and not place.is_symlink():
            shutil.rmtree(place)
        else:
            place.unlink(missing_ok=True)
