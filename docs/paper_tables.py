"""Tables of the pages on papers, from the published numbers and the cells in ``docs/results``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from gramlet import __version__
from gramlet.reproduce import EXPERIMENTS, TABLES, CellFolder, published, source_of
from gramlet.reproduce.tables import SELECTIONS, Experiment, Table

CELLS = CellFolder(Path(__file__).parent / "results" / "papers")
MISSING = "*not computed*"


def accuracy_table(table: Table, folder: CellFolder = CELLS) -> str:
    """Paper, ours, difference, standard errors and seconds, one line per row and data set."""
    lines = [
        f"{table.title}; {source_of(table.source)}. Accuracies in percent. Options chosen inside "
        f"training parts (nested): {table.protocol.describe()}. Options chosen on the test parts "
        "(best of grid) are **optimistic**. Behind ± stands the standard deviation of the repeats, "
        "under s.e. the standard error of the mean, corrected for overlapping training parts.",
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
    return "\n".join(lines) + "\n\n" + _count(table, folder) + "\n"


def _line(table: Table, row: str, computed: bool, data: str, folder: CellFolder) -> str:
    printed = published(table.name, row, data)
    columns = [data, row, "" if printed is None else str(printed)]
    cells = [folder.read(table.name, row, data, way) for way in SELECTIONS]
    for cell, way in zip(cells, SELECTIONS, strict=True):
        if cell is None:
            columns += [MISSING if computed and way in table.selections else "", "", ""]
            continue
        other = "" if cell.version == __version__ else f" (version {cell.version})"
        difference = ""
        if printed is not None and isinstance(printed.mean, float):
            difference = f"{cell.mean - printed.mean:+.1f}"
        columns += [f"{cell.mean:.1f} ± {cell.std:.1f}{other}", f"{cell.standard_error:.1f}",
                    difference]  # fmt: skip
    there = [cell for cell in cells if cell is not None]
    repeats = ", ".join(sorted({str(cell.repeats) for cell in there}))
    seconds = f"{sum(cell.seconds for cell in there):.0f}" if there else ""
    return "| " + " | ".join([*columns, repeats, seconds]) + " |"


def _count(table: Table, folder: CellFolder) -> str:
    wanted = len(table.selections) * len(table.data) * sum(bool(row.kernel) for row in table.rows)
    there = sum(
        folder.read(table.name, row.name, data, way) is not None
        for data in table.data
        for row in table.rows
        for way in table.selections
        if row.kernel
    )
    return (
        f"{there} of {wanted} cells have been computed; `gramlet reproduce {table.name} --store "
        "docs/results/papers` computes the others. Empty rows are published numbers only."
    )


def experiment_table(experiment: Experiment, folder: CellFolder = CELLS) -> str:
    """What an experiment measured, data set by data set."""
    parts = [f"{experiment.title}; {source_of(experiment.source)}."]
    for name in experiment.data or ("",):
        found = folder.read_measurements(experiment.name, name)
        if found is None:
            where = f" on {name}" if name else ""
            parts.append(
                f"{MISSING}{where}: `gramlet reproduce {experiment.name} --store "
                "docs/results/papers` measures it."
            )
            continue
        parts.append(_measurements(experiment, name, found))
    return "\n\n".join(parts) + "\n"


def _measurements(experiment: Experiment, name: str, found: dict[str, Any]) -> str:
    heading = [*found["heading"], "paper"]
    lines = [
        f"{name or 'Graphs made for it'}, repeats: {found['repeats']}, {found['seconds']:g} "
        f"processor seconds in all, version {found['version']}.",
        "",
        "| " + " | ".join(heading) + " |",
        "|---|" + "---:|" * (len(heading) - 1),
    ]
    for row in found["rows"]:
        printed = published(experiment.name, str(row[0]), name or "planted subtrees")
        filled = [*row, *[""] * (len(heading) - 1 - len(row))]
        shown = [*map(str, filled), "" if printed is None else str(printed)]
        lines.append("| " + " | ".join(shown) + " |")
    return "\n".join(lines)


def write_paper_tables(folder: Path) -> None:
    """Write the tables where the pages on papers include them from."""
    place = folder / "generated" / "papers"
    place.mkdir(parents=True, exist_ok=True)
    for table in TABLES.values():
        (place / f"{table.name}.md").write_text(accuracy_table(table), encoding="utf-8")
    for experiment in EXPERIMENTS.values():
        text = experiment_table(experiment)
        (place / f"{experiment.name}.md").write_text(text, encoding="utf-8")
