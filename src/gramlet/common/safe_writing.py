"""Atomic writing: a file is either complete or does not exist.

The content is written to a hidden file beside the target, flushed to disk and renamed to the
target. An error removes the hidden file; one left by a killed process is removed by the next write
to the same folder. System errors, as of a full disk, name the target.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import shutil
import socket
import zlib
from collections.abc import Iterator
from pathlib import Path

# Errors of a full disk, of a quota and of a limit for files.
NO_ROOM = (errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC))

# Other machines may share the folder, and have their own process numbers.
_HOST = f"{zlib.crc32(socket.gethostname().encode()):08x}"
_PART = re.compile(rf"\..*\.{_HOST}-(\d+)-[0-9a-f]{{8}}\.part(\.[^.]*)?", re.DOTALL)
_unfinished: set[Path] = set()


@contextlib.contextmanager
def writing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A path beside ``path`` to write a file to; it is renamed to ``path`` on success.

    If ``path`` is a link, the file that it points to is replaced. Devices, pipes and folders are
    refused with an OSError.
    """
    target = Path(os.path.realpath(path))
    _check_kind(target, path)
    remove_leftovers(target.parent)
    with _hidden(target) as part, _naming(path, part):
        yield part
        _flush(part)
        os.replace(part, target)
        flush_folder(target.parent)


@contextlib.contextmanager
def writing_folder(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A folder beside ``path`` to write files to; it is renamed to ``path`` on success.

    An existing folder is replaced. It is renamed for a moment, because a folder cannot be renamed
    to an existing one; if the process is killed then, the next write restores it.
    """
    target = Path(os.path.realpath(path))
    aside = target.with_name(f".{target.name}.before")
    remove_leftovers(target.parent)
    _restore(aside, target)
    with scratch_folder(target.parent) as scratch, _naming(path, scratch):
        fresh = scratch / target.name
        fresh.mkdir()
        yield fresh
        for file in fresh.iterdir():
            _flush(file)
        try:
            if target.exists():
                os.rename(target, aside)
            os.rename(fresh, target)
        finally:
            _restore(aside, target)
        flush_folder(target.parent)


@contextlib.contextmanager
def scratch_folder(folder: Path) -> Iterator[Path]:
    """A hidden folder within ``folder`` for temporary files, which is removed at the end."""
    with _hidden(folder / "scratch") as part:
        part.mkdir()
        yield part


@contextlib.contextmanager
def naming_place(folder: Path, kept: str) -> Iterator[None]:
    """Add a folder, and what is kept there, to errors of a full disk and to those without a file.

    >>> with naming_place(Path("K.zarr"), "Finished tiles are kept"):
    ...     raise OSError(28, "No space left on device")
    Traceback (most recent call last):
    OSError: [Errno 28] 'K.zarr' cannot be written: No space left on device. Finished tiles are ...
    """
    try:
        yield
    except OSError as why:
        names_file = why.filename is not None and why.errno not in NO_ROOM
        if why.errno is None or names_file or "cannot be written" in str(why):
            raise
        message = f"{str(folder)!r} cannot be written: {why.strerror}. {kept}; make room and call "
        raise type(why)(why.errno, f"{message}again with the same arguments.") from why


def check_place(path: str | os.PathLike[str]) -> None:
    """Raise an OSError with the reason if a file cannot be written to ``path``.

    An empty file is created beside it and removed: permissions, read-only disks and names that are
    too long cannot be found in any other way.
    """
    target, shown = Path(os.path.realpath(path)), repr(os.fspath(path))
    try:
        _check_kind(target, path)
        if not target.parent.is_dir():
            raise OSError(f"{shown}: there is no folder {os.fspath(Path(path).parent)!r}.")
        if target.exists() and not os.access(target, os.W_OK):
            raise OSError(
                f"{shown} cannot be written: you do not have permission. Name another file."
            )
        remove_leftovers(target.parent)
        with _hidden(target) as part:
            part.touch(exist_ok=False)
    except OSError as why:
        if why.strerror is None:  # raised above
            raise
        raise OSError(f"{shown} cannot be written: {why.strerror}. Name another place.") from why


def flush_folder(folder: Path) -> None:
    """Wait until the names in a folder are on the disk, if the system supports that."""
    with contextlib.suppress(OSError):
        _flush(folder)


def remove_leftovers(folder: Path) -> None:
    """Remove unfinished files in a folder that were left by killed processes of this machine."""
    with contextlib.suppress(OSError):
        for name in os.listdir(folder):
            leftover = _PART.fullmatch(name)
            if leftover and not _alive(int(leftover[1])):
                _remove(folder / name)


def remove_unfinished() -> None:
    """Remove the unfinished files of this process, before it ends without Python's clean-up."""
    for part in list(_unfinished):
        _remove(part)


@contextlib.contextmanager
def _hidden(target: Path) -> Iterator[Path]:
    """The path of a hidden file or folder beside the target, which is removed at the end."""
    stem = os.fsdecode(os.fsencode(target.stem)[:60])  # names have a largest length
    unique = f"{_HOST}-{os.getpid()}-{os.urandom(4).hex()}"
    part = target.with_name(f".{stem}.{unique}.part{target.suffix}")
    _unfinished.add(part)
    try:
        yield part
    finally:
        _remove(part)
        _unfinished.discard(part)


@contextlib.contextmanager
def _naming(path: str | os.PathLike[str], hidden: Path) -> Iterator[None]:
    """Let system errors without a file, or about the hidden one, name the file to write."""
    try:
        yield
    except OSError as why:
        if why.errno is not None and str(why.filename or hidden).startswith(str(hidden)):
            why.filename = os.fspath(path)
        raise


def _check_kind(target: Path, path: str | os.PathLike[str]) -> None:
    if target.is_dir():
        raise IsADirectoryError(f"{os.fspath(path)!r} is a folder; name a file.")
    if os.path.lexists(target) and not target.is_file():
        raise OSError(
            f"{os.fspath(path)!r} is a device, a pipe or a link to itself, not a file to replace; "
            "name a file."
        )


def _restore(aside: Path, target: Path) -> None:
    """Rename a folder back to its target, or remove it if the target exists."""
    if target.exists():
        _remove(aside)
    elif aside.exists():
        os.rename(aside, target)


def _flush(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
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
