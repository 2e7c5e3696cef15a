"""Finished cells of tables: one small file each, with the version that computed it."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from gramlet._version import __version__
from gramlet.common.safe_writing import writing
from gramlet.evaluation.protocol import Protocol
from gramlet.evaluation.result import Result
from gramlet.evaluation.significance import overlap_of

_FORMAT = "gramlet cell 1"


@dataclass(frozen=True)
class Cell:
    """One kernel on one data set under one protocol.

    Attributes
    ----------
    table, row, data : str
    selection : {"nested", "best-of-grid"}
    scores : list of lists of float
        Accuracies, repeats × folds.
    seconds : float
        Processor time; for a run that was continued, of its last part. Gram matrices that both
        selections use, as far as they are kept in memory, count for the first one only.
    describe : str
        A description of the protocol.
    overlap : float
        n_test / n_train.
    chosen : dict
        Each option's most frequent value, and its share of the training parts.
    version : str
        The version of gramlet.
    settings : str
        A digest of the row and the protocol it was computed with; "" if that is not known.
    """

    table: str
    row: str
    data: str
    selection: str
    scores: list[list[float]]
    seconds: float
    describe: str
    overlap: float
    chosen: dict[str, Any] = field(default_factory=dict)
    version: str = __version__
    settings: str = ""

    @classmethod
    def of(
        cls,
        result: Result,
        table: str,
        row: str,
        protocol: Protocol,
        seconds: float,
        settings: str = "",
    ) -> Cell:
        """The cell of a result that took these seconds."""
        chosen = {key: [_plain(v), share] for key, (v, share) in result.most_chosen().items()}
        # Six digits distinguish all possible accuracies, and keep the files short.
        scores = result.accuracies.round(6).tolist()
        return cls(
            table,
            row,
            result.data.name,
            protocol.selection,
            scores,
            round(seconds, 2),
            protocol.describe(),
            overlap_of(protocol),
            chosen,
            settings=settings,
        )

    @property
    def repeats(self) -> int:
        """The number of repeats."""
        return len(self.scores)

    @property
    def mean(self) -> float:
        """Mean accuracy, in percent."""
        return 100.0 * float(np.mean(self.scores))

    @property
    def std(self) -> float:
        """Standard deviation (n − 1) of the repeats' means, in percent, as papers print it."""
        means = np.mean(self.scores, axis=1)
        return 100.0 * float(np.std(means, ddof=1)) if len(means) > 1 else 0.0

    @property
    def standard_error(self) -> float:
        """Standard error of the mean, corrected for overlapping training parts, in percent.

        sqrt((1/J + n_test/n_train) s²) over the J test parts (Nadeau and Bengio, 2003).
        """
        flat = np.ravel(self.scores)
        if len(flat) < 2:
            return 0.0
        return 100.0 * math.sqrt((1 / len(flat) + self.overlap) * float(flat.var(ddof=1)))

    def shown(self, n_digits: int) -> str:
        """Mean and standard deviation; the mean alone if there is one repeat."""
        spread = f" ± {self.std:.{n_digits}f}" if self.repeats > 1 else ""
        return f"{self.mean:.{n_digits}f}{spread}"

    @property
    def optimistic(self) -> bool:
        """Whether options were chosen on the test parts."""
        return self.selection == "best-of-grid"


def _plain(value: Any) -> Any:
    return value if isinstance(value, bool | int | float | str | None) else repr(value)


class CellFolder:
    """A folder of finished cells and measurements.

    Parameters
    ----------
    path : Path
        Created when the first cell is written.
    """

    def __init__(self, path: Path) -> None:
        self.path = Path(path)

    @property
    def parts(self) -> Path:
        """The folder of unfinished evaluations."""
        return self.path / "parts"

    def read(self, table: str, row: str, data: str, selection: str) -> Cell | None:
        """The cell, of any version; None if there is none."""
        document = self._document(self._place(table, f"{row}--{data}--{selection}"))
        return None if document is None else Cell(**document)

    def write(self, cell: Cell) -> None:
        """Store a finished cell atomically."""
        name = f"{cell.row}--{cell.data}--{cell.selection}"
        self._write(self._place(cell.table, name), asdict(cell))

    def read_measurements(self, experiment: str, data: str) -> dict[str, Any] | None:
        """The measurements of an experiment; None if it has not run."""
        return self._document(self._place(experiment, data or "measurements"))

    def write_measurements(self, experiment: str, data: str, measurements: dict[str, Any]) -> None:
        """Store the measurements of an experiment."""
        self._write(
            self._place(experiment, data or "measurements"),
            {**measurements, "version": __version__},
        )

    def cells(self, table: str) -> Iterator[Cell]:
        """All cells of a table, by the names of their files."""
        for place in sorted((self.path / table).glob("*--*--*.json")):
            document = self._document(place)
            if document is not None:
                yield Cell(**document)

    def equal(self, data: str, selection: str, settings: str, repeats: int) -> Cell | None:
        """A cell of any table that this version computed with these settings; None if none has."""
        known = (data, selection, settings, __version__)
        tables = (place for place in self.path.glob("*") if place.is_dir() and place != self.parts)
        for table in sorted(tables):
            for cell in self.cells(table.name):
                its = (cell.data, cell.selection, cell.settings, cell.version)
                if its == known and cell.repeats >= repeats:
                    return cell
        return None

    def _place(self, table: str, name: str) -> Path:
        return self.path / table / f"{re.sub(r'[^A-Za-z0-9_.-]+', '_', name)}.json"

    def _document(self, place: Path) -> dict[str, Any] | None:
        try:
            text = place.read_text(encoding="utf-8")
        except FileNotFoundError:
            return None
        try:
            document = json.loads(text)
        except ValueError:
            document = None
        if not isinstance(document, dict) or document.pop("format", None) != _FORMAT:
            raise ValueError(
                f"{str(place)!r} is not a cell that gramlet wrote ({_FORMAT!r} is missing). "
                "Remove the file; the cell is then computed again."
            )
        return document

    def _write(self, place: Path, content: dict[str, Any]) -> None:
        place.parent.mkdir(parents=True, exist_ok=True)
        text = json.dumps({"format": _FORMAT, **content}, ensure_ascii=False, indent=1)
        # Rows of numbers on one line each.
        text = re.sub(r"\[\s+([-0-9.e,\s]+?)\s+\]", _on_one_line, text)
        with writing(place) as beside:
            beside.write_text(text + "\n", encoding="utf-8")


def _on_one_line(match: re.Match[str]) -> str:
    return "[" + re.sub(r"\s+", " ", match.group(1)) + "]"
