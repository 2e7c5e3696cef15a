"""The folder of a store while a process writes to it: created, locked, named in errors."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from gramlet.common.safe_writing import naming_place
from gramlet.scale.lock import locked

__all__ = ["open_folder", "place_of"]


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
            with locked(folder):
                yield
        finally:
            if new:
                with contextlib.suppress(OSError):  # it is not empty
                    folder.rmdir()
