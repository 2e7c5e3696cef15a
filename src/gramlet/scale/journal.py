"""The journal of a store: what is being computed, and which parts of it are finished.

A text file of JSON lines. The first describes the store; each further one names a finished part
and its checksum. An incomplete line is ignored.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from gramlet.common.safe_writing import writing
from gramlet.scale.matrices.tile_grid import Tile

__all__ = ["Journal", "differences"]

JOURNAL = "gramlet.journal"


class Journal:
    """The journal in a folder.

    Parameters
    ----------
    folder : Path
    key : str
        The name of a part: "tile" or "part", with two numbers.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     journal = Journal(Path(folder))
    ...     journal.rewrite({"format": "example"}, {})
    ...     with journal.appending() as append:
    ...         append([((0, 1), "a1")])
    ...     journal.header(), journal.finished()
    ({'format': 'example'}, {(0, 1): 'a1'})
    """

    def __init__(self, folder: Path, key: str = "tile") -> None:
        self.path = folder / JOURNAL
        self.key = key

    def exists(self) -> bool:
        return self.path.is_file()

    def header(self) -> dict[str, Any]:
        """The first line; ValueError if it is not valid."""
        with self.path.open("rb") as file:
            line = file.readline()
        found = _parsed(line)
        if found is None or not isinstance(found.get("format"), str):
            raise ValueError(
                f"{str(self.path)!r} does not begin with a line that gramlet wrote. Name another "
                "place, or remove the folder yourself."
            )
        return found

    def finished(self) -> dict[Tile, str]:
        """The finished parts and their checksums."""
        tiles: dict[Tile, str] = {}
        with self.path.open("rb") as file:
            file.readline()
            for line in file:
                found = _parsed(line)
                if found is None:
                    continue
                with contextlib.suppress(KeyError, TypeError, ValueError):
                    i, j = found[self.key]
                    tiles[int(i), int(j)] = str(found["checksum"])
        return tiles

    def rewrite(self, header: Mapping[str, Any], finished: Mapping[Tile, str]) -> None:
        """Replace the journal in one step."""
        with writing(self.path) as place, place.open("wb") as file:
            file.write(_line(header))
            file.writelines(self._part_line(tile, digest) for tile, digest in finished.items())

    @contextlib.contextmanager
    def appending(self) -> Iterator[Any]:
        """A function that appends lines for finished tiles and waits until they are on disk."""
        handle = os.open(self.path, os.O_WRONLY | os.O_APPEND)

        def append(entries: Iterable[tuple[Tile, str]]) -> None:
            data = b"".join(self._part_line(tile, digest) for tile, digest in entries)
            try:
                while data:
                    data = data[os.write(handle, data) :]
                os.fsync(handle)
            except OSError as why:
                raise type(why)(
                    why.errno,
                    f"{str(self.path)!r} cannot be written: {why.strerror}. Make room and call "
                    "again with the same arguments.",
                ) from why

        try:
            yield append
        finally:
            os.close(handle)

    def _part_line(self, part: Tile, digest: str) -> bytes:
        return _line({self.key: [int(part[0]), int(part[1])], "checksum": digest})

    def delete(self) -> None:
        self.path.unlink(missing_ok=True)


def differences(stored: Mapping[str, Any], wanted: Mapping[str, Any], place: str = "") -> list[str]:
    """The differences between two first lines, as text.

    >>> differences({"chunk": 2, "params": {"n_iter": 3}}, {"chunk": 2, "params": {"n_iter": 5}})
    ['params.n_iter is 3 in the store and 5 now']
    """
    found = []
    for name in [*wanted, *(name for name in stored if name not in wanted)]:
        mine, theirs = stored.get(name), wanted.get(name)
        if mine == theirs and type(mine) is type(theirs):
            continue
        if isinstance(mine, dict) and isinstance(theirs, dict):
            found += differences(mine, theirs, f"{place}{name}.")
        else:
            found.append(f"{place}{name} is {_shown(mine)} in the store and {_shown(theirs)} now")
    return found


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 80 else f"{text[:77]}..."


def _line(content: Mapping[str, Any]) -> bytes:
    return json.dumps(content, ensure_ascii=True, allow_nan=False).encode() + b"\n"


def _parsed(line: bytes) -> dict[str, Any] | None:
    if not line.endswith(b"\n"):
        return None
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):  # the latter for brackets nested too deeply
        return None
    return found if isinstance(found, dict) else None
