"""Small tables that commands print or write: comma-separated, with a heading."""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gramlet.common.safe_writing import writing

if TYPE_CHECKING:
    from gramlet.files.dataset import Dataset

__all__ = ["names_of", "write_table"]


def write_table(path: Path | None, heading: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write rows to a file, completely or not at all, or print them if no file is given."""
    if path is None:
        out = csv.writer(sys.stdout, lineterminator="\n")
        out.writerow(heading)
        out.writerows(rows)
        return
    with writing(path) as place, place.open("w", encoding="utf-8", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(heading)
        out.writerows(rows)


def names_of(data: Dataset) -> Sequence[Any]:
    """The names of graphs in tables: their ids, or their positions."""
    return range(len(data.graphs)) if data.ids is None else data.ids
