"""Tables of the pages on papers, from published numbers and the stored cells."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.papers.cells import Cell, CellFolder
from benchmarks.papers.tables import (
    EXPERIMENTS,
    SELECTIONS,
    TABLES,
    Experiment,
    Table,
    published,
    source_of,
)
from gramlet import __version__

CELLS = CellFolder(Path(__file__).parent / "results")
MISSING = "*not computed*"


def accuracy_table(table: Table, folder: CellFolder = CELLS) -> str:
    """Paper, ours, difference, standard errors and seconds, one line per row and data set."""
    lines = [
        f"{table.title}; {source_of(table.source)}. Accuracies in percent. Options chosen inside "
        f"training parts (nested): {table.protocol.describe()}. Options chosen on the test parts "
        "(best of grid) are **optimistic**. ± gives the standard deviation over several repeats, "
        "s.e. the standard error of the mean, corrected for overlapping training parts.",
        "",
        "| data | row | paper | nested | s.e. | difference | best of grid (optimistic) | s.e. | "
        "difference | repeats | seconds |",
        "|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for name in table.data:
        for row in table.rows:
            lines.append(_line(table, row.name, bool(row.kernel), name, folder))
    notes = [f"- {row.name}: {row.note}." for row in table.rows if row.note]
    if notes:
        lines += ["", "Rows that differ from the paper's:", "", *notes]
    parts = ["\n".join(lines), _count(table, folder), reached(table, folder), worth(table, folder)]
    return "\n\n".join(part for part in parts if part) + "\n"


def reached(table: Table, folder: CellFolder = CELLS) -> str:
    """Which rows agree with the paper, and how much choosing options on the test parts adds."""
    sentences = []
    for way, shown in zip(SELECTIONS, ("Nested", "Best of grid (optimistic)"), strict=True):
        counts: dict[str, list[str]] = {"as": [], "below": [], "above": []}
        for data, row, cell in _cells(table, way, folder):
            printed = published(table.name, row, data)
            if printed is None or not isinstance(printed.mean, float):
                continue
            off = cell.mean - printed.mean
            near = abs(off) <= 2.0 * cell.standard_error
            kind = "as" if near else "below" if off < 0 else "above"
            counts[kind].append(f"{row} on {data} ({off:+.1f})")
        total = sum(map(len, counts.values()))
        if total:
            text = (
                f"{shown}: {len(counts['as'])} of {total} cells lie within two standard errors of "
            )
            text += "the paper's number"
            for kind in ("below", "above"):
                if counts[kind]:
                    text += f"; {kind}: {', '.join(counts[kind])}"
            sentences.append(f"- {text}.")
    gains = _gains(table, folder)
    if gains:
        listed = ", ".join(f"{data} {gain:+.1f}" for data, gain in gains.items())
        sentences.append(
            "- Gain in accuracy from choosing options on the test parts instead of nested, in "
            f"points, as a mean over the rows: {listed}."
        )
    return "\n".join(["Summary:", "", *sentences]) if sentences else ""


def _cells(table: Table, way: str, folder: CellFolder) -> Iterator[tuple[str, str, Cell]]:
    for data in table.data:
        for row in table.rows:
            cell = folder.read(table.name, row.name, data, way) if row.kernel else None
            if cell is not None:
                yield data, row.name, cell


def _gains(table: Table, folder: CellFolder) -> dict[str, float]:
    """The mean difference between best of grid and nested choice, per data set."""
    nested = {(data, row): cell.mean for data, row, cell in _cells(table, SELECTIONS[0], folder)}
    leads: dict[str, list[float]] = {}
    for data, row, cell in _cells(table, SELECTIONS[1], folder):
        if (data, row) in nested:
            leads.setdefault(data, []).append(cell.mean - nested[data, row])
    return {data: sum(found) / len(found) for data, found in leads.items()}


def worth(table: Table, folder: CellFolder = CELLS) -> str:
    """The difference of each row that varies another one from it, on the same folds."""
    variants = [row for row in table.rows if row.variant_of]
    if not variants:
        return ""
    lines = [
        "Differences between rows on the same folds, in points, nested. ± gives the standard "
        "error, corrected for overlapping training parts. Differences of less than two standard "
        "errors are within noise.",
        "",
        "| row | compared with | " + " | ".join(table.data) + " |",
        "|---|---|" + "---:|" * len(table.data),
    ]
    for row in variants:
        shown = [_difference(table, row.name, row.variant_of, data, folder) for data in table.data]
        lines.append(f"| {row.name} | {row.variant_of} | " + " | ".join(shown) + " |")
    return "\n".join(lines)


def _difference(table: Table, row: str, first: str, data: str, folder: CellFolder) -> str:
    cells = [folder.read(table.name, name, data, SELECTIONS[0]) for name in (row, first)]
    if cells[0] is None or cells[1] is None:
        return MISSING
    leads = 100.0 * (np.ravel(cells[0].scores) - np.ravel(cells[1].scores))
    error = math.sqrt((1 / len(leads) + cells[0].overlap) * float(leads.var(ddof=1)))
    verdict = ", within noise" if abs(leads.mean()) < 2.0 * error else ""
    return f"{leads.mean():+.1f} ± {error:.1f}{verdict}"


def _line(table: Table, row: str, computed: bool, data: str, folder: CellFolder) -> str:
    printed = published(table.name, row, data)
    missing = _in_one_line(MISSING)
    columns = [_in_one_line(data), _in_one_line(row), "" if printed is None else str(printed)]
    cells = [folder.read(table.name, row, data, way) for way in SELECTIONS]
    for cell, way in zip(cells, SELECTIONS, strict=True):
        if cell is None:
            columns += [missing if computed and way in table.selections else "", "", ""]
            continue
        other = "" if cell.version == __version__ else f" (version {cell.version})"
        difference = ""
        if printed is not None and isinstance(printed.mean, float):
            difference = f"{cell.mean - printed.mean:+.1f}"
        columns += [f"{cell.shown(1)}{other}", f"{cell.standard_error:.1f}", difference]
    finished = [cell for cell in cells if cell is not None]
    repeats = ", ".join(sorted({str(cell.repeats) for cell in finished}))
    seconds = f"{sum(cell.seconds for cell in finished):.0f}" if finished else ""
    return "| " + " | ".join([*columns, repeats, seconds]) + " |"


def _in_one_line(name: str) -> str:
    """A name that browsers do not break; wide tables are scrolled instead."""
    return name.replace(" ", "\N{NO-BREAK SPACE}").replace("-", "\N{NON-BREAKING HYPHEN}")


def _count(table: Table, folder: CellFolder) -> str:
    wanted = len(table.selections) * len(table.data) * sum(bool(row.kernel) for row in table.rows)
    finished = sum(
        folder.read(table.name, row.name, data, way) is not None
        for data in table.data
        for row in table.rows
        for way in table.selections
        if row.kernel
    )
    return (
        f"{finished} of {wanted} cells have been computed; `python -m benchmarks papers "
        f"{table.name} --store benchmarks/papers/results` computes the others. Empty rows "
        "are published numbers only."
    )


def experiment_table(experiment: Experiment, folder: CellFolder = CELLS) -> str:
    """The results of an experiment, one table per data set."""
    parts = [f"{experiment.title}; {source_of(experiment.source)}."]
    for name in experiment.data or ("",):
        measurements = folder.read_measurements(experiment.name, name)
        if measurements is None:
            where = f" on {name}" if name else ""
            parts.append(
                f"{MISSING}{where}: `python -m benchmarks papers {experiment.name} "
                "--store benchmarks/papers/results` measures it."
            )
            continue
        parts.append(_measurements(experiment, name, measurements))
    return "\n\n".join(parts) + "\n"


def _measurements(experiment: Experiment, name: str, measurements: dict[str, Any]) -> str:
    heading = [*measurements["heading"], "paper"]
    lines = [
        f"{name or 'Generated graphs'}, repeats: {measurements['repeats']}, "
        f"{measurements['seconds']:g} processor seconds in total, version "
        f"{measurements['version']}.",
        "",
        "| " + " | ".join(heading) + " |",
        "|---|" + "---:|" * (len(heading) - 1),
    ]
    for row in measurements["rows"]:
        printed = published(experiment.name, str(row[0]), name or "planted subtrees")
        filled = [*row, *[""] * (len(heading) - 1 - len(row))]
        shown = [*map(str, filled), "" if printed is None else str(printed)]
        lines.append("| " + " | ".join(shown) + " |")
    return "\n".join(lines)


def write_paper_tables(folder: Path) -> None:
    """Write the tables to the folder from which the pages on papers include them."""
    place = folder / "generated" / "papers"
    place.mkdir(parents=True, exist_ok=True)
    for table in TABLES.values():
        (place / f"{table.name}.md").write_text(accuracy_table(table), encoding="utf-8")
    for experiment in EXPERIMENTS.values():
        text = experiment_table(experiment)
        (place / f"{experiment.name}.md").write_text(text, encoding="utf-8")
