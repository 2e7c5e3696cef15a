"""``python -m benchmarks papers``: recompute tables of papers beside the published numbers."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table as Grid

from benchmarks.papers.cells import CellFolder
from benchmarks.papers.runner import Line, run_experiment, run_table
from benchmarks.papers.tables import (
    EXPERIMENTS,
    SELECTIONS,
    TABLES,
    Experiment,
    Table,
    published,
    source_of,
)
from gramlet.common.places import cache_folder


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks papers",
        description="Recompute a paper's table and show it beside the published numbers. Finished "
        "cells are kept, so that a run can be stopped and continued; cells that another version of "
        "gramlet computed are computed again.",
    )
    add = parser.add_argument
    add("table", nargs="?", metavar="TABLE", help="name of a table; none: list them")
    add("--data", action="append", metavar="NAME", help="only this data set; repeatable")
    add("--row", action="append", metavar="NAME", help="only this row; repeatable")
    add("--repeats", type=int, metavar="N", help="repetitions, each with new folds")
    add(
        "--protocol",
        choices=(*SELECTIONS, "both"),
        default="both",
        help="choose options inside training parts, on the test parts (optimistic), or both",
    )
    add("--store", type=Path, metavar="FOLDER", help="finished cells (default: gramlet's cache)")
    add("--download", action="store_true", help="download missing data sets")
    add("--data-dir", type=Path, metavar="FOLDER", help="folder of TU data sets")
    add("--jobs", type=int, default=-1, metavar="N", help="threads (default: all)")
    return parser


def main(arguments: Sequence[str]) -> int:
    """List the tables, or run one; returns 2 for wrong use, 1 for a damaged cell."""
    parser = _parser()
    asked = parser.parse_args(arguments)
    if asked.table is None:
        _list_tables()
        return 0
    if asked.table not in {**TABLES, **EXPERIMENTS}:
        known = ", ".join([*TABLES, *EXPERIMENTS])
        parser.error(f"There is no table {asked.table!r}; the tables are {known}.")
    if asked.repeats is not None and asked.repeats < 1:
        parser.error(f"--repeats must be at least 1; got {asked.repeats}.")
    folder = CellFolder(asked.store or cache_folder() / "papers")
    given: dict[str, Any] = {
        "data": asked.data,
        "repeats": asked.repeats,
        "data_home": asked.data_dir,
        "download": asked.download,
        "n_jobs": asked.jobs,
    }
    try:
        if asked.table in TABLES:
            selections = SELECTIONS if asked.protocol == "both" else (asked.protocol,)
            _run_table(TABLES[asked.table], folder, selections, asked.row, given)
        elif asked.row:
            parser.error(f"{asked.table!r} is an experiment and has no rows to choose with --row.")
        else:
            _run_experiment(EXPERIMENTS[asked.table], folder, given)
    except ValueError as error:
        parser.error(str(error))
    return 0


def _grid(*columns: str, right: Sequence[int] = ()) -> Grid:
    grid = Grid(box=None, pad_edge=False)
    for i, column in enumerate(columns):
        grid.add_column(column, justify="right" if i in right else "left", overflow="fold")
    return grid


def _show(grid: Grid) -> None:
    # Wide enough that nothing is cut where the output is a file.
    Console(width=None if sys.stdout.isatty() else 200).print(grid)


def _list_tables() -> None:
    shown = _grid("table", "what", "data sets", "source")
    for table in TABLES.values():
        shown.add_row(table.name, table.title, ", ".join(table.data), source_of(table.source))
    for found in EXPERIMENTS.values():
        data = ", ".join(found.data) or "made for it"
        shown.add_row(found.name, found.title, data, source_of(found.source))
    _show(shown)


def _run_table(
    table: Table, folder: Any, selections: tuple[str, ...], rows: Any, given: dict[str, Any]
) -> None:
    protocol = table.protocol
    if given["repeats"] is not None:
        protocol = replace(protocol, repeats=given["repeats"])
    print(f"{table.title}\n{source_of(table.source)}\n{protocol.describe()}")

    def tell(line: Line) -> None:
        print(f"{line.data}, {line.row}: {line.missing or 'done'}", file=sys.stderr)

    lines = run_table(table, folder, rows=rows, selections=selections, tell=tell, **given)
    shown = _grid(
        "data",
        "row",
        "paper",
        "nested",
        "s.e.",
        "best of grid (optimistic)",
        "s.e.",
        "difference",
        "repeats",
        "seconds",
        right=(2, 3, 4, 5, 6, 7, 8, 9),
    )
    for line in lines:
        shown.add_row(*_columns(line))
    _show(shown)
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
    cell = line.cells.get("nested") or line.cells.get("best-of-grid")
    known = line.published is not None and isinstance(line.published.mean, float)
    difference = ""
    if cell is not None and known:
        difference = f"{cell.mean - float(line.published.mean):+.2f}"
    seconds = sum(cell.seconds for cell in line.cells.values())
    repeats = "" if cell is None else str(cell.repeats)
    return [*columns, difference, repeats, f"{seconds:.0f}" if line.cells else ""]


def _run_experiment(experiment: Experiment, folder: Any, given: dict[str, Any]) -> None:
    print(f"{experiment.title}\n{source_of(experiment.source)}")
    measured = run_experiment(experiment, folder, **given)
    for name, found in measured.items():
        if isinstance(found, str):
            print(found)
            continue
        where = name or "planted subtrees"
        print(f"{name or 'Made for it'}: repeats {found['repeats']}, {found['seconds']:g} s")
        shown = _grid(*found["heading"], "paper", right=tuple(range(1, len(found["heading"]) + 1)))
        for row in found["rows"]:
            printed = published(experiment.name, str(row[0]), where)
            filled = [*row, *[""] * (len(found["heading"]) - len(row))]
            shown.add_row(*map(str, filled), "" if printed is None else str(printed))
        _show(shown)
