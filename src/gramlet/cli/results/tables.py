"""Small tables that commands print or write: comma-separated, with a heading."""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gramlet.cli.results.output import note
from gramlet.common.notices import counted, warn_caller
from gramlet.common.safe_writing import writing

if TYPE_CHECKING:
    from gramlet.files.dataset import Dataset

__all__ = ["ids_of", "names_of", "note_skipped", "warn_of_repeated_ids", "write_table"]

_MOST_LISTED = 20  # rows that were left out


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
    """The names of graphs in tables: their ids, or their positions.

    If rows of the file were left out, their lines: positions would be those of other rows.
    """
    if data.ids is not None:
        return data.ids
    places = data.get("places")
    if places is not None:
        return [str(place).rsplit(", ", 1)[-1] for place in places]
    return range(len(data.graphs))


def ids_of(data: Dataset) -> Any:
    """The ids of graphs as an array of strings, or their lines as for `names_of`; or None."""
    import numpy as np

    names = names_of(data)
    return None if isinstance(names, range) else np.asarray(list(map(str, names)), dtype=str)


def note_skipped(data: Dataset, others: str = "") -> None:
    """List rows that were left out, on standard error; ``others`` says where all are listed."""
    skipped = data.skipped or ()
    for each in skipped[:_MOST_LISTED]:
        note(str(each))
    if len(skipped) > _MOST_LISTED:
        note(f"... and {len(skipped) - _MOST_LISTED} more{others}.")


def warn_of_repeated_ids(data: Dataset, text: str) -> None:
    """Warn if graphs share ids, so that rows of a table do not show which graph they mean."""
    ids = data.ids or ()
    repeated = len(ids) - len(set(ids))
    if repeated:
        warn_caller(
            f"{text}: {counted(repeated, 'id')} of {counted(len(ids), 'graph')} repeat an earlier "
            "one; these graphs cannot be told apart in the table."
        )
