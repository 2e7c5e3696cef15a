"""The folder of a store: its place, the lock of the process that writes, links, and progress.

Gram matrices and feature stores are such folders. The operating system keeps the lock and releases
that of a dead process; the lock file names the owner.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from gramlet.common.safe_writing import naming_place

LOCK = "gramlet.lock"
_OLD_JOURNAL = "gramlet.journal"  # of stores before gramlet wrote attributes and manifests


class StoreInUseError(RuntimeError, ValueError):
    """Another process is writing to the same store."""


def place_of(path: str | os.PathLike[str], example: str) -> Path:
    """A path as the place of a store; raise if it cannot be one.

    >>> place_of("", "K.zarr")
    Traceback (most recent call last):
        ...
    ValueError: '' names no folder; give one such as 'K.zarr'.
    """
    if not os.fspath(path):
        raise ValueError(f"'' names no folder; give one such as {example!r}.")
    folder = Path(path)
    if folder.is_symlink() and not folder.exists():
        raise FileNotFoundError(
            f"{str(folder)!r} is a link to {str(folder.readlink())!r}, which does not exist. "
            "Create that folder, or remove the link."
        )
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"{str(folder)!r} is a file; name a folder.")
    if not folder.absolute().parent.is_dir():
        raise FileNotFoundError(
            f"{str(folder)!r}: there is no folder {str(folder.parent)!r}. Create it first."
        )
    return folder


@contextlib.contextmanager
def open_folder(folder: Path, kept: str) -> Iterator[None]:
    """Create a folder and hold its lock; a new one that stays empty is removed again.

    ``kept`` says in errors of the system what is kept.
    """
    with naming_place(folder, kept):
        new = not folder.exists()
        folder.mkdir(exist_ok=True)
        try:
            for _ in entries(folder):  # the lock file must not be a link either
                pass
            with locked(folder):
                yield
        finally:
            if new:
                with contextlib.suppress(OSError):  # it is not empty
                    folder.rmdir()


def entries(folder: Path) -> Iterator[os.DirEntry[str]]:
    """The files and folders in a folder; ValueError if one is a link.

    What is written to a link would replace a file outside the store.
    """
    with os.scandir(folder) as listing:
        for entry in listing:
            if entry.is_symlink():
                raise ValueError(
                    f"{entry.path!r} is a link; a store must contain its own files. Replace the "
                    "link by a copy of what it points to, or remove it."
                )
            yield entry


def refuse_older(folder: Path) -> None:
    """Refuse a store of an older format, by its name."""
    journal = folder / _OLD_JOURNAL
    if not journal.is_file():
        return
    try:
        with journal.open("rb") as file:
            name = json.loads(file.readline(1 << 20))["format"]
    except (ValueError, KeyError, TypeError, RecursionError):
        name = "unknown"
    raise OldFormatError(
        f"{str(folder)!r} is a store of an older format ({name!r:.60}), which this version of "
        "gramlet does not read. Compute it again in another place, or remove the folder yourself."
    )


class OldFormatError(ValueError):
    """A store that an earlier version wrote."""


def differences(stored: Mapping[str, Any], wanted: Mapping[str, Any], place: str = "") -> list[str]:
    """The differences between two descriptions of stores, as text.

    >>> differences({"chunk": 2, "params": {"n_iter": 3}}, {"chunk": 2, "params": {"n_iter": 5}})
    ['params.n_iter is 3 in the store and 5 now']
    """
    changes = []
    for name in [*wanted, *(name for name in stored if name not in wanted)]:
        before, now = stored.get(name), wanted.get(name)
        if before == now and type(before) is type(now):
            continue
        if isinstance(before, dict) and isinstance(now, dict):
            changes += differences(before, now, f"{place}{name}.")
        else:
            changes.append(f"{place}{name} is {_shown(before)} in the store and {_shown(now)} now")
    return changes


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 80 else f"{text[:77]}..."


# The lock


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the lock of a folder; StoreInUseError if another process holds it, with its number.

    A folder that this process may not write to is not locked: it can only be read.

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


@contextlib.contextmanager
def part_progress(
    total: int | None, done: int, label: str, unit: str
) -> Iterator[Callable[[], None]]:
    """A function to call after each finished part; it shows a bar if stderr is a terminal.

    ``done`` of ``total`` parts were finished before.
    """
    if not sys.stderr.isatty():
        yield lambda: None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn(unit),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(label, total=total, completed=done)
        yield lambda: bar.advance(task)
