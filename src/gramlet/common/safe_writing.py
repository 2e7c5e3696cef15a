"""Atomic writing: a file is either complete or does not exist.

The content is written to a hidden file beside the target and flushed to disk; then the hidden file
is renamed to the target. An error or Ctrl-C removes the hidden file; one left by a killed process
is removed by the next write to the same folder. System errors, as of a full disk, name the target.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import zlib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

__all__ = [
    "NO_ROOM",
    "check_place",
    "flush_folder",
    "flush_to_disk",
    "naming_place",
    "remove_leftovers",
    "remove_unfinished",
    "scratch_folder",
    "writing",
    "writing_folder",
]

_STEM = 60  # bytes of the target's name in that of the hidden file, as names have a largest length
_PART = re.compile(r"\..*\.(?P<host>[0-9a-f]{8})-(?P<pid>\d+)-[0-9a-f]{8}\.part(\.[^.]*)?", re.S)

_SAID = "cannot be written"  # part of the messages that name the file or folder

# Errors of a full disk, of a quota and of a limit for files.
NO_ROOM = (errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC))

_unfinished: set[Path] = set()
# Folders that are renamed while new ones replace them, and their targets.
_aside: dict[Path, Path] = {}


@contextlib.contextmanager
def writing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A path beside ``path`` to write a file to; it is renamed to ``path`` on success.

    If ``path`` is a link, the file that it points to is replaced.

    Raises
    ------
    OSError
        If ``path`` is a device, a pipe or a folder, which a file must not replace.

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
    _check_kind(target, path)
    remove_leftovers(target.parent)
    part = _part(target)
    _unfinished.add(part)
    try:
        with _naming(path, part):
            yield part
            flush_to_disk(part)
            os.replace(part, target)
            flush_folder(target.parent)
    finally:
        _remove(part)
        _unfinished.discard(part)


@contextlib.contextmanager
def writing_folder(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A folder beside ``path`` to write files to; it is renamed to ``path`` on success.

    An existing folder is replaced. It is renamed for a moment, because a folder cannot be renamed
    to an existing one; if the process is killed then, the next write restores it.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with writing_folder(f"{folder}/X") as place:
    ...         _ = (place / "X_A.txt").write_text("1, 2")
    ...     os.listdir(folder), os.listdir(f"{folder}/X")
    (['X'], ['X_A.txt'])
    """
    target = Path(os.path.realpath(path))
    remove_leftovers(target.parent)
    aside = target.with_name(f".{target.name}.before")
    if aside.exists():
        _put_back(aside, target)
    with scratch_folder(target.parent) as scratch, _naming(path, scratch):
        fresh = scratch / target.name
        fresh.mkdir()
        yield fresh
        for file in fresh.iterdir():
            flush_to_disk(file)
        _aside[aside] = target
        try:
            if target.exists():
                os.rename(target, aside)
            os.rename(fresh, target)
        finally:
            _put_back(aside, target)
            del _aside[aside]
        flush_folder(target.parent)


def _put_back(aside: Path, target: Path) -> None:
    """Rename a folder back to its target, or remove it if the target exists."""
    if target.exists():
        _remove(aside)
    else:
        os.rename(aside, target)


@contextlib.contextmanager
def scratch_folder(folder: Path) -> Iterator[Path]:
    """A hidden folder within ``folder`` for temporary files.

    It is removed at the end; one left by a killed process is removed by the next write.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with scratch_folder(Path(folder)) as place:
    ...         _ = (place / "piece").write_text("of use for a while")
    ...     os.listdir(folder)
    []
    """
    part = _part(folder / "scratch")
    _unfinished.add(part)
    try:
        part.mkdir()
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
        named = why.filename
        ours = named is None or (isinstance(named, str) and named.startswith(str(hidden)))
        if ours and why.errno is not None:  # without a number it has a message of its own
            why.filename = os.fspath(path)
        raise


@contextlib.contextmanager
def naming_place(folder: Path, kept: str) -> Iterator[None]:
    """Add the folder to system errors that name no file, and to those of a full disk.

    Parameters
    ----------
    folder : Path
    kept : str
        What remains there, for the message.

    Examples
    --------
    >>> with naming_place(Path("K.zarr"), "Finished tiles are kept"):
    ...     raise OSError(28, "No space left on device")
    Traceback (most recent call last):
    OSError: [Errno 28] 'K.zarr' cannot be written: No space left on device. Finished tiles are ...
    """
    try:
        yield
    except OSError as why:
        names_file = why.filename is not None and why.errno not in NO_ROOM
        if why.errno is None or names_file or _SAID in str(why):
            raise
        raise type(why)(
            why.errno,
            f"{str(folder)!r} {_SAID}: {why.strerror}. {kept}; make room and call again "
            "with the same arguments.",
        ) from why


def check_place(path: str | os.PathLike[str]) -> None:
    """Raise an OSError with the reason if a file cannot be written to ``path``.

    An empty file is created beside it and removed: permissions, read-only disks and names that are
    too long cannot be found in any other way. Files left by killed processes are removed.
    """
    target = Path(os.path.realpath(path))
    shown = repr(os.fspath(path))
    try:
        _check_kind(target, path)
        if not target.parent.is_dir():
            raise OSError(f"{shown}: there is no folder {os.fspath(Path(path).parent)!r}.")
        if target.exists() and not os.access(target, os.W_OK):
            raise OSError(
                f"{shown} cannot be written: you do not have permission. Name another file."
            )
        remove_leftovers(target.parent)
        _try(target)
    except OSError as why:
        if why.strerror is None:  # raised above
            raise
        raise OSError(f"{shown} cannot be written: {why.strerror}. Name another place.") from why


def _try(target: Path) -> None:
    part = _part(target)
    _unfinished.add(part)
    try:
        with part.open("xb"):
            pass
    finally:
        _remove(part)
        _unfinished.discard(part)


def flush_to_disk(path: Path) -> None:
    """Wait until a file's content is on the disk."""
    with open(path, "rb") as file:
        os.fsync(file.fileno())


def flush_folder(folder: Path) -> None:
    """Wait until the names in a folder are on the disk, if the system supports that."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def remove_leftovers(folder: Path) -> None:
    """Remove unfinished files in a folder that were left by killed processes of this machine."""
    with contextlib.suppress(OSError):
        for name in os.listdir(folder):
            found = _PART.fullmatch(name)
            if found and found["host"] == _host() and not _alive(int(found["pid"])):
                _remove(folder / name)


def remove_unfinished() -> None:
    """Remove the unfinished files of this process, before it ends without Python's clean-up."""
    for aside, target in list(_aside.items()):
        with contextlib.suppress(OSError):
            _put_back(aside, target)
    for part in list(_unfinished):
        _remove(part)


def _check_kind(target: Path, path: str | os.PathLike[str]) -> None:
    if target.is_dir():
        raise IsADirectoryError(f"{os.fspath(path)!r} is a folder; name a file.")
    with contextlib.suppress(FileNotFoundError, NotADirectoryError):
        if os.path.lexists(target) and not target.is_file():
            raise OSError(
                f"{os.fspath(path)!r} is a device, a pipe or a link to itself, not a file to "
                "replace; name a file."
            )


def _part(target: Path) -> Path:
    stem = os.fsdecode(os.fsencode(target.stem)[:_STEM])
    unique = f"{_host()}-{os.getpid()}-{os.urandom(4).hex()}"
    return target.with_name(f".{stem}.{unique}.part{target.suffix}")


@cache
def _host() -> str:
    # Other machines may share the folder, and have their own process numbers.
    import socket

    return f"{zlib.crc32(socket.gethostname().encode()):08x}"


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
            import shutil

            shutil.rmtree(place)
        else:
            place.unlink(missing_ok=True)
