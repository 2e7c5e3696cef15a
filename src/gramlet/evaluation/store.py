"""Finished work kept on disk: whole results, and the records of evaluations that were interrupted.

A folder with one JSON file per result, named by the digest of everything it depends on. Until an
evaluation is finished, its records are lines appended to a file of its process: a process that is
killed loses nothing that was finished, and processes that share a folder at worst compute the same.
All content has a checksum; what is damaged is reported and computed again.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import secrets
import threading
import warnings
from pathlib import Path
from typing import Any

from gramlet.common.safe_writing import writing

_FORMAT = "gramlet store 3"


class Records:
    """Records of finished parts of an evaluation, by name.

    Parameters
    ----------
    path : Path, optional
        The file to which new records are appended.
    known : dict, optional
        Records of earlier runs.
    """

    def __init__(self, path: Path | None = None, known: dict[str, Any] | None = None) -> None:
        self._path = path
        self._known = known or {}
        self._lock = threading.Lock()

    def get(self, name: str) -> Any:
        """A record, or None."""
        return self._known.get(name)

    def add(self, name: str, record: Any) -> None:
        """Add a record, and write it at once."""
        if self._path is None:
            return
        text = json.dumps([name, record])
        with self._lock, open(self._path, "a", encoding="utf-8") as file:
            file.write(f"{_digest(text)} {text}\n")


class Store:
    """A folder of finished work.

    Parameters
    ----------
    path : path
        Created if it does not exist.
    fresh : bool
        Whether stored work is discarded and computed again.
    """

    def __init__(self, path: str | os.PathLike[str], fresh: bool = False) -> None:
        self.path = Path(path)
        self._fresh = fresh
        self._written: set[str] = set()  # keys of results of this object
        if self.path.exists() and not self.path.is_dir():
            raise ValueError(
                f"store: {str(self.path)!r} is a file; give a folder, which is created if missing."
            )
        self.path.mkdir(parents=True, exist_ok=True)

    def result(self, key: str) -> Any:
        """The content that was written for a key; None if there is none."""
        path = self.path / f"{key}.json"
        if self._fresh and key not in self._written:
            path.unlink(missing_ok=True)
            self._remove_records(key)
            return None
        try:
            document = json.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None
        except OSError as error:
            return _report(path, str(error))
        except (ValueError, RecursionError):  # the latter for brackets nested too deeply
            return _report(path, "it is not valid JSON")
        if not isinstance(document, dict) or document.get("format") != _FORMAT:
            return _report(path, f"it is not marked {_FORMAT!r}")
        if document.get("key") != key:
            return _report(path, "it belongs to another evaluation")
        if document.get("checksum") != _digest(json.dumps(document.get("content"))):
            return _report(path, "its checksum does not match")
        return document["content"]

    def write(self, key: str, content: Any) -> None:
        """Store the result of an evaluation atomically, and remove its records."""
        text = json.dumps(content)
        head = json.dumps({"format": _FORMAT, "key": key, "checksum": _digest(text)})
        self._written.add(key)
        with writing(self.path / f"{key}.json") as path:
            path.write_text(f'{head[:-1]}, "content": {text}}}', encoding="utf-8")
        self._remove_records(key)

    def records(self, key: str, draw: int = 0) -> Records:
        """The records of one draw of an evaluation that is not finished."""
        known: dict[str, Any] = {}
        for path in sorted(self.path.glob(f"{key}-{draw}.*.records")):
            known |= _read_records(path)
        name = f"{key}-{draw}.{os.getpid()}-{secrets.token_hex(4)}.records"
        return Records(self.path / name, known)

    def _remove_records(self, key: str) -> None:
        for path in self.path.glob(f"{key}-*.records"):
            with contextlib.suppress(OSError):
                path.unlink()


def _read_records(path: Path) -> dict[str, Any]:
    """The records of a file; an incomplete last line is that of a killed process."""
    known: dict[str, Any] = {}
    try:
        lines = path.read_bytes().split(b"\n")
    except FileNotFoundError:  # the evaluation was finished by another process
        return known
    damaged = 0
    for line in lines[:-1]:
        checksum, _, text = line.partition(b" ")
        if hashlib.sha256(text).hexdigest().encode() != checksum:
            damaged += 1
            continue
        name, record = json.loads(text)
        known[name] = record
    if damaged:
        _report(path, f"the checksums of {damaged} of {len(lines) - 1} records do not match")
    return known


def _report(path: Path, why: str) -> None:
    warnings.warn(
        f"Stored work in {str(path)!r} cannot be used ({why}); it is computed again.", stacklevel=3
    )


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8")).hexdigest()
