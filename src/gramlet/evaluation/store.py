"""Finished work kept on disk: whole results, and the parts of one that was interrupted.

A folder of JSON files, each named by the digest of everything its content depends on. Every file is
written atomically and contains a checksum; a damaged one is reported and computed again. Two
processes may use a folder at once: at worst both compute the same.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import threading
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from gramlet.common.safe_writing import writing
from gramlet.evaluation.machines.machines import Outcome
from gramlet.evaluation.selection.kept_outputs import KeptOutputs

__all__ = ["Ledger", "Store", "StoredLedger"]

_FORMAT = "gramlet store 2"
_SHARE = 0.05  # of the time that writing may take


class Ledger:
    """Records of finished parts of an evaluation; this class does not store them."""

    def known(self, part: str) -> dict[int, Any]:
        """The records of a part, by split."""
        return {}

    def add(self, part: str, split: int, record: Any) -> None:
        """Record the values of one split."""

    def add_outcome(self, part: str, split: int, outcome: Outcome) -> None:
        """Record predictions."""
        self.add(part, split, _plain_outcome(outcome))

    def outcome(self, record: Any) -> Outcome:
        """The predictions that `add_outcome` recorded."""
        decisions, chosen = record["decisions"], record["chosen"]
        return Outcome(
            np.array(record["predictions"]),
            None if decisions is None else np.array(decisions, dtype=np.float64),
            None if chosen is None else tuple(chosen),
        )

    def flush(self) -> None:
        """Write what has not been written yet."""


def _plain_outcome(outcome: Outcome) -> dict[str, Any]:
    return {
        "predictions": outcome.predictions.tolist(),
        "decisions": None if outcome.decisions is None else outcome.decisions.tolist(),
        "chosen": None if outcome.chosen is None else list(outcome.chosen),
    }


class Store:
    """A folder of finished work.

    Parameters
    ----------
    path : path
        Created if it does not exist.
    fresh : bool
        Whether stored work is discarded and computed again.
    outputs : KeptOutputs, optional
        Gram matrices that several evaluations with this store have in common, in memory.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        fresh: bool = False,
        outputs: KeptOutputs | None = None,
    ) -> None:
        self.path = Path(path)
        self.outputs = outputs
        self._fresh = fresh
        self._own: set[str] = set()  # names that this store has written
        if self.path.exists() and not self.path.is_dir():
            raise ValueError(
                f"store: {str(self.path)!r} is a file; give a folder, which is created if missing."
            )
        self.path.mkdir(parents=True, exist_ok=True)

    def read(self, name: str, key: str) -> Any:
        """The content that was written under this name for this key; None if there is none."""
        place = self.path / f"{name}.json"
        if self._fresh and name not in self._own:
            place.unlink(missing_ok=True)
            return None
        try:
            text = place.read_text(encoding="utf-8")
        except FileNotFoundError:
            return None
        except (OSError, UnicodeDecodeError) as why:
            return self._damaged(place, str(why))
        try:
            document = json.loads(text)
        except (ValueError, RecursionError):  # the latter for brackets nested too deeply
            return self._damaged(place, "it is not valid JSON")
        if not isinstance(document, dict) or document.get("format") != _FORMAT:
            return self._damaged(place, f"it is not marked {_FORMAT!r}")
        if document.get("key") != key:
            return self._damaged(place, "it belongs to another evaluation")
        if document.get("checksum") != _digest(_text(document.get("content"))):
            return self._damaged(place, "its checksum does not match")
        return document["content"]

    def write(self, name: str, key: str, content: Any) -> None:
        """Store something atomically."""
        text = _text(content)
        head = {"format": _FORMAT, "key": key, "checksum": _digest(text)}
        self._own.add(name)
        with writing(self.path / f"{name}.json") as place:
            # The content is converted once, for the checksum and for the file.
            place.write_text(f'{json.dumps(head)[:-1]}, "content": {text}}}', encoding="utf-8")

    def remove(self, start: str) -> None:
        """Remove the files whose names begin with this."""
        for place in self.path.glob(f"{start}*.json"):
            with contextlib.suppress(OSError):
                place.unlink()

    def ledger(self, key: str, draw: int) -> StoredLedger:
        """The records of one draw of one evaluation."""
        return StoredLedger(self, key, f"{key}.{draw}")

    def _damaged(self, place: Path, why: str) -> None:
        warnings.warn(
            f"Stored work in {str(place)!r} cannot be used ({why}); it is computed again.",
            stacklevel=2,
        )


class StoredLedger(Ledger):
    """Records of one evaluation, written as they arrive.

    A part's file is rewritten with each record, unless that would take more than a twentieth of the
    time; then it is written with a later record, or by `flush`.
    """

    def __init__(self, store: Store, key: str, name: str) -> None:
        self._store = store
        self._key = key
        self._name = name
        self._parts: dict[str, dict[int, Any]] = {}
        self._waiting: set[str] = set()
        self._lock = threading.Lock()
        self._next = 0.0  # the time of the next write

    def known(self, part: str) -> dict[int, Any]:
        with self._lock:
            return dict(self._part(part))

    def _part(self, part: str) -> dict[int, Any]:
        if part not in self._parts:
            found = self._store.read(f"{self._name}.{part}", self._key) or {}
            self._parts[part] = {int(split): record for split, record in found.items()}
        return self._parts[part]

    def add(self, part: str, split: int, record: Any) -> None:
        with self._lock:
            self._part(part)[split] = record
            self._waiting.add(part)
            if time.monotonic() >= self._next:
                self._write()

    def flush(self) -> None:
        with self._lock:
            self._write()

    def _write(self) -> None:
        started = time.monotonic()
        for part in sorted(self._waiting):
            content = {str(split): record for split, record in sorted(self._parts[part].items())}
            self._store.write(f"{self._name}.{part}", self._key, content)
        self._waiting.clear()
        ended = time.monotonic()
        self._next = ended + (ended - started) / _SHARE


def _text(content: Any) -> str:
    return json.dumps(content)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8")).hexdigest()
