"""Small tables that commands print or write: comma-separated, with a heading."""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gramlet.common.notices import counted, warn_caller
from gramlet.common.safe_writing import writing

if TYPE_CHECKING:
    from gramlet.files.dataset import Dataset

__all__ = ["ids_of", "names_of", "warn_of_repeated_ids", "write_table"]


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


def ids_of(data: Dataset) -> Any:
    """The ids of graphs as an array of strings; None if there are none."""
    import numpy as np

    return None if data.ids is None else np.asarray([str(name) for name in data.ids], dtype=str)


def warn_of_repeated_ids(data: Dataset, text: str) -> None:
    """Warn if graphs share ids, so that rows of a table do not show which graph they mean."""
    ids = data.ids or ()
    repeated = len(ids) - len(set(ids))
    if repeated:
        warn_caller(
            f"{text}: {counted(repeated, 'id')} of {counted(len(ids), 'graph')} repeat an earlier "
            "one; these graphs cannot be told apart in the table."
        )
