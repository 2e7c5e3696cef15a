"""``gramlet reproduce``: recompute tables of papers and compare with the published numbers."""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gramlet.cli.arguments.options import DataDir, Jobs
from gramlet.cli.errors import WrongUse
from gramlet.cli.results.output import console, grid, note

if TYPE_CHECKING:
    from gramlet.reproduce.runner import Line
    from gramlet.reproduce.tables import Experiment, Table

__all__ = ["reproduce"]


class Selections(StrEnum):
    """Where options are chosen."""

    nested = "nested"
    best_of_grid = "best-of-grid"
    both = "both"


def reproduce(
    table: Annotated[
        str | None,
        typer.Argument(metavar="[TABLE]", help="Name of a table; by default all are listed."),
    ] = None,
    data: Annotated[
        list[str] | None,
        typer.Option("--data", metavar="NAME", help="Only this data set; repeatable."),
    ] = None,
    row: Annotated[
        list[str] | None,
        typer.Option("--row", metavar="NAME", help="Only this row; repeatable."),
    ] = None,
    repeats: Annotated[
        int | None,
        typer.Option("--repeats", min=1, metavar="N", help="Repetitions, each with new folds."),
    ] = None,
    protocol: Annotated[
        Selections,
        typer.Option("--protocol", help="Choose options inside training parts, on the test parts "
                     "(optimistic), or compute both."),
    ] = Selections.both,
    store: Annotated[
        Path | None,
        typer.Option("--store", metavar="FOLDER", help="Where finished cells are kept and found "
                     "again. [default: in gramlet's cache]"),
    ] = None,
    download: Annotated[
        bool, typer.Option("--download", help="Download missing data sets.")
    ] = False,
    data_dir: DataDir = None,
    jobs: Jobs = -1,
) -> None:  # fmt: skip
    """Recompute a paper's table and show it beside the published numbers.

    Finished cells are kept, so that a run can be stopped and continued; cells that another version
    of gramlet computed are computed again. Without TABLE, the tables are listed.
    """
    from gramlet.common.places import cache_folder
    from gramlet.reproduce import EXPERIMENTS, TABLES, CellFolder

    if table is None:
        _list_tables()
        return
    folder = CellFolder(store if store is not None else cache_folder() / "reproduce")
    given: dict[str, Any] = {
        "data": data or None, "repeats": repeats, "data_home": data_dir, "download": download,
        "n_jobs": jobs,
    }  # fmt: skip
    if table in TABLES:
        both = protocol is Selections.both
        selections = ("nested", "best-of-grid") if both else (protocol.value,)
        _run_table(TABLES[table], folder, selections, row or None, given)
    elif table in EXPERIMENTS:
        if row:
            raise WrongUse(f"{table!r} is an experiment and has no rows to choose with --row.")
        _run_experiment(EXPERIMENTS[table], folder, given)
    else:
        known = ", ".join([*TABLES, *EXPERIMENTS])
        raise WrongUse(f"There is no table {table!r}; the tables are {known}.")


def _list_tables() -> None:
    from gramlet.reproduce import EXPERIMENTS, TABLES, source_of

    shown = grid("table", "what", "data sets", "source")
    for table in TABLES.values():
        shown.add_row(table.name, table.title, ", ".join(table.data), source_of(table.source))
    for found in EXPERIMENTS.values():
        data = ", ".join(found.data) or "made for it"
        shown.add_row(found.name, found.title, data, source_of(found.source))
    console().print(shown)


def _run_table(
    table: Table, folder: Any, selections: tuple[str, ...], rows: Any, given: dict[str, Any]
) -> None:
    from gramlet.reproduce import run_table, source_of

    protocol = table.protocol
    if given["repeats"] is not None:
        protocol = replace(protocol, repeats=given["repeats"])
    print(f"{table.title}\n{source_of(table.source)}\n{protocol.describe()}")

    def tell(line: Line) -> None:
        note(f"{line.data}, {line.row}: {line.missing or 'done'}")

    try:
        lines = run_table(table, folder, rows=rows, selections=selections, tell=tell, **given)
    except ValueError as error:
        raise WrongUse(str(error)) from error
    shown = grid(
        "data", "row", "paper", "nested", "s.e.", "best of grid (optimistic)", "s.e.",
        "difference", "repeats", "seconds", right=(2, 3, 4, 5, 6, 7, 8, 9),
    )  # fmt: skip
    for line in lines:
        shown.add_row(*_columns(line))
    console().print(shown)
    for remark in dict.fromkeys(line.missing for line in lines if line.missing):
        print(remark)


def _columns(line: Line) -> list[str]:
    printed = "" if line.published is None else str(line.published)
    columns = [line.data, line.row, printed]
    for selection in ("nested", "best-of-grid"):
        cell = line.cells.get(selection)
        if cell is None:
            columns += ["–", ""]
        else:
            columns += [cell.shown(2), f"{cell.standard_error:.2f}"]
    kept = line.cells.get("nested") or line.cells.get("best-of-grid")
    known = line.published is not None and isinstance(line.published.mean, float)
    difference = ""
    if kept is not None and known:
        difference = f"{kept.mean - float(line.published.mean):+.2f}"  # type: ignore[union-attr]
    seconds = sum(cell.seconds for cell in line.cells.values())
    repeats = "" if kept is None else str(kept.repeats)
    return [*columns, difference, repeats, f"{seconds:.0f}" if line.cells else ""]


def _run_experiment(experiment: Experiment, folder: Any, given: dict[str, Any]) -> None:
    from gramlet.reproduce import published, run_experiment, source_of

    print(f"{experiment.title}\n{source_of(experiment.source)}")
    try:
        measured = run_experiment(experiment, folder, **given)
    except ValueError as error:
        raise WrongUse(str(error)) from error
    for name, found in measured.items():
        if isinstance(found, str):
            print(found)
            continue
        where = name or "planted subtrees"
        print(f"{name or 'Made for it'}: repeats {found['repeats']}, {found['seconds']:g} s")
        shown = grid(*found["heading"], "paper", right=tuple(range(1, len(found["heading"]) + 1)))
        for row in found["rows"]:
            printed = published(experiment.name, str(row[0]), where)
            filled = [*row, *[""] * (len(found["heading"]) - len(row))]
            shown.add_row(*map(str, filled), "" if printed is None else str(printed))
        console().print(shown)
