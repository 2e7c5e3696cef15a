"""A folder of graph files, one graph per file, with or without a table of targets."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from gramlet.files.dataset import Dataset, DatasetNotFoundError
from gramlet.files.kinds import describe_kinds, kind_of, stem_of
from gramlet.files.molecules.rows import MoleculeOptions, MoleculeRow, dataset_of_rows
from gramlet.files.molecules.sdf import molecules_of_sdf
from gramlet.files.molecules.tables import find_target, molecules_of_smi
from gramlet.files.networks.file_graphs import (
    ColumnNames,
    FileGraph,
    batch_of_graphs,
    describe_graphs,
)
from gramlet.files.networks.parsing import NETWORK_KINDS, parse_graphs
from gramlet.files.networks.reading import dataset_of_graphs
from gramlet.files.problems import Problems
from gramlet.files.tables import Table, read_table
from gramlet.files.target import is_missing, target_from_cells

__all__ = ["read_folder"]

_TABLES = (".csv", ".tsv", ".parquet")
_MOLECULES = (".sdf", ".smi")


def read_folder(
    path: Path,
    target: str | int | Literal[False] | None,
    sep: str | None,
    directed: bool | None,
    names: ColumnNames,
    options: MoleculeOptions,
    problems: Problems,
    max_bytes: int,
) -> Dataset:
    """The graphs of all files, in the order of the table, or else of their names."""
    files = sorted(file for file in path.iterdir() if file.is_file() and file.name[0] != ".")
    tables = [file for file in files if kind_of(file) in _TABLES]
    files = [file for file in files if kind_of(file) in (*NETWORK_KINDS, *_MOLECULES)]
    if not files:
        raise DatasetNotFoundError(f"{path} has no files of graphs; known are {describe_kinds()}.")
    if len(tables) > 1:
        listed = ", ".join(file.name for file in tables)
        raise ValueError(f"{path} has {len(tables)} tables ({listed}); keep one, with the targets.")
    target_name, cells = None, None
    if tables:
        table = read_table(tables[0], sep, lambda cells: not _names_file(cells[0], files))
        target_name, rows = _rows(table, target, files, problems)
        files = [file for file, _ in rows]
        cells = [cell for _, cell in rows]
    elif target is not None and target is not False and not isinstance(target, str):
        raise ValueError(f"{path} has no table of targets, so target={target!r} does not apply.")
    if all(kind_of(file) in _MOLECULES for file in files):
        return _molecules(path, files, cells, target_name, options, problems, max_bytes)
    graphs = _graphs(files, problems, max_bytes)
    ids = {str(file): stem_of(file) for file in files}
    if cells is None or target_name is None:
        wanted: str | Literal[False] | None = None if tables or target is None else str(target)
        return dataset_of_graphs(
            graphs,
            path,
            names,
            problems,
            directed=directed,
            target=False if target is False else wanted,
            id=None,
            ids=ids,
            name=path.name,
        )
    described = describe_graphs(graphs, names, directed, problems)
    skipped = problems.finish(path, len(described), "file")
    cell_of = dict(zip(map(str, files), cells, strict=True))
    values, _ = target_from_cells([cell_of[each.graph.place] for each in described])
    return Dataset(
        batch_of_graphs(described, names, directed, path),
        values,
        name=path.name,
        ids=[ids[each.graph.place] for each in described],
        target_name=target_name,
        skipped=skipped,
    )


def _names_file(cell: str, files: list[Path]) -> bool:
    return any(cell in (file.name, stem_of(file), file.stem) for file in files)


def _rows(
    table: Table, target: str | int | Literal[False] | None, files: list[Path], problems: Problems
) -> tuple[str | None, list[tuple[Path, str]]]:
    """The name of the target, and the file and target of each row that can be used."""
    column = find_target(table, target, {0}, guess=True)
    target_name = None
    if column is not None:
        target_name = table.headings[column] if table.headings is not None else str(column)
    by_name: dict[str, Path] = {}
    for file in files:
        for name in (stem_of(file), file.stem, file.name):
            by_name[name] = file
    found: dict[Path, tuple[str, str]] = {}
    for row in table.rows:
        place, name = f"{table.path}, line {row.line}", row.cells[0]
        cell = "" if column is None else row.cells[column]
        named = by_name.get(name)
        if row.problem is not None:
            problems.add(place, row.problem)
        elif named is None:
            problems.add(place, f"there is no file {name!r}")
        elif named in found:
            problems.add(place, f"{name!r} is listed a second time")
        else:
            found[named] = (place, cell)
    _report_unlisted(table, files, found, problems)
    if column is None:
        return None, [(file, "") for file in found]
    return target_name, _with_targets(found, target_name or "", problems)


def _report_unlisted(
    table: Table, files: list[Path], found: dict[Path, Any], problems: Problems
) -> None:
    for file in files:
        if file not in found:
            problems.add(str(file), f"{table.path.name} has no row for this file")


def _with_targets(
    found: dict[Path, tuple[str, str]], target_name: str, problems: Problems
) -> list[tuple[Path, str]]:
    """The files whose target is present and of the same type as the others."""
    there = []
    for file, (place, cell) in found.items():
        if is_missing(cell):
            value = repr(cell) if cell else "missing"
            problems.add(place, f"the target {target_name!r} is {value}")
        else:
            there.append((file, place, cell))
    _, unfit = target_from_cells([cell for _, _, cell in there])
    for position, reason in unfit.items():
        problems.add(there[position][1], f"the target {target_name!r}: {reason}")
    return [(f, cell) for i, (f, _, cell) in enumerate(there) if i not in unfit]


def _graphs(files: list[Path], problems: Problems, max_bytes: int) -> list[FileGraph]:
    """The graphs of the files that can be read, one per file; the file is the graph's place."""
    graphs = []
    for file in files:
        kind = kind_of(file) or ""
        if kind not in NETWORK_KINDS:
            raise ValueError(f"{file}: molecules and other graphs cannot be in one data set.")
        unreadable = Problems("skip")
        try:
            inside = parse_graphs(file, kind, unreadable, max_bytes)
            if len(inside) != 1 and not unreadable.skipped:
                raise ValueError(f"{file}: {len(inside)} graphs in one file; a folder needs one")
        except ValueError as why:
            problems.add(*_place_and_reason(file, why))
            continue
        if unreadable.skipped:
            problems.add(*unreadable.skipped[0])
            continue
        inside[0].place = str(file)
        graphs.append(inside[0])
    return graphs


def _place_and_reason(file: Path, why: ValueError) -> tuple[str, str]:
    """The place and the reason of a file that cannot be read, with the line if it is known."""
    text = str(why).rstrip(".")
    place = next((p for p in (f"{file}: ", f"{file}, line ") if text.startswith(p)), None)
    if place is None or place.endswith(": "):
        return str(file), text.removeprefix(f"{file}: ").replace(f"{file} ", "it ", 1)
    line, _, reason = text.removeprefix(place).partition(": ")
    return f"{place}{line}", reason


def _molecules(
    path: Path,
    files: list[Path],
    cells: list[str] | None,
    target_name: str | None,
    options: MoleculeOptions,
    problems: Problems,
    max_bytes: int,
) -> Dataset:
    rows = []
    for position, file in enumerate(files):
        found = _molecules_of(file, problems, max_bytes)
        if len(found) > 1:
            problems.add(str(file), f"{len(found)} molecules in one file; a folder needs one")
        elif found:
            cell = None if cells is None else cells[position]
            rows.append(MoleculeRow(str(file), found[0], stem_of(file), cell))
    return dataset_of_rows(path, rows, options, problems, name=path.name, target_name=target_name)


def _molecules_of(file: Path, problems: Problems, max_bytes: int) -> list[Any]:
    """The molecules of one file."""
    if kind_of(file) == ".sdf":
        return molecules_of_sdf(file, problems, max_bytes)
    try:
        return list(molecules_of_smi(file, max_bytes))
    except ValueError as why:
        problems.add(*_place_and_reason(file, why))
        return []
