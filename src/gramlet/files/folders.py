"""A folder of graph files, one graph per file, with or without a table of targets."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from gramlet.files.dataset import Dataset, DatasetNotFoundError
from gramlet.files.kinds import NETWORKS, ReadOptions, describe_kinds, kind_of, stem_of
from gramlet.files.molecule_tables import (
    MoleculeRow,
    dataset_of_rows,
    find_target,
    molecule_tables,
)
from gramlet.files.network_files import parse_graphs
from gramlet.files.network_graphs import FileGraph, dataset_of_graphs
from gramlet.files.opening import Problems
from gramlet.files.sdf import molecules_of_sdf
from gramlet.files.tables import Table, read_tables
from gramlet.files.target import is_missing, target_from_cells

_TABLES = (".csv", ".tsv", ".parquet")
_MOLECULES = (".sdf", ".smi")


def read_folder(path: Path, options: ReadOptions, problems: Problems) -> Dataset:
    """The graphs of all files, in the order of the table, or else of their names."""
    files = sorted(file for file in path.iterdir() if file.is_file() and file.name[0] != ".")
    tables = [file for file in files if kind_of(file) in _TABLES]
    files = [file for file in files if kind_of(file) in (*NETWORKS, *_MOLECULES)]
    if not files:
        raise DatasetNotFoundError(f"{path} has no files of graphs; known are {describe_kinds()}.")
    if len(tables) > 1:
        listed = ", ".join(file.name for file in tables)
        raise ValueError(f"{path} has {len(tables)} tables ({listed}); keep one, with the targets.")
    target_name, cells = None, None
    if tables:
        by_name = {name: f for f in files for name in (stem_of(f), f.stem, f.name)}
        table = next(read_tables(tables[0], options.sep, lambda row: row[0] not in by_name))
        target_name, listed_files = _listed(table, options, by_name, problems)
        cells = None if target_name is None else {str(f): c for f, c in listed_files.items()}
        files = list(listed_files)
    elif type(options.target) is int:
        raise ValueError(
            f"{path} has no table of targets, so target={options.target!r} does not apply."
        )
    if all(kind_of(file) in _MOLECULES for file in files):
        dataset = _molecules(path, files, cells or {}, target_name, options, problems)
        dataset.name = path.name
        return dataset
    if tables and options.target is not False:
        options = replace(options, target=None)  # it is a column of the table
    return dataset_of_graphs(
        _graphs(files, problems, options.max_bytes),
        path,
        options,
        problems,
        ids={str(file): stem_of(file) for file in files},
        cells=cells,
        target_name=target_name,
    )


def _listed(
    table: Table, options: ReadOptions, by_name: dict[str, Path], problems: Problems
) -> tuple[str | None, dict[Path, str]]:
    """The name of the target, and the files that can be used with their targets."""
    column = find_target(table, options.target, {0}, guess=True)
    target_name = None if column is None else table.heading(column)
    places: dict[Path, str] = {}
    cells: dict[Path, str] = {}
    for row in table.rows:
        file = by_name.get(row.cells[0])
        if row.problem is not None:
            problems.add(table.place(row), row.problem)
        elif file is None:
            problems.add(table.place(row), f"there is no file {row.cells[0]!r}")
        elif file in cells:
            problems.add(table.place(row), f"{row.cells[0]!r} is listed a second time")
        else:
            places[file] = table.place(row)
            cells[file] = "" if column is None else row.cells[column]
    for file in dict.fromkeys(by_name.values()):
        if file not in cells:
            problems.add(str(file), f"{table.path.name} has no row for this file")
    if column is None:
        return None, cells
    for file, cell in list(cells.items()):
        if is_missing(cell):
            value = repr(cell) if cell else "missing"
            problems.add(places[file], f"the target {target_name!r} is {value}")
            del cells[file]
    _, unfit = target_from_cells(list(cells.values()))
    for position, file in enumerate(list(cells)):
        if position in unfit:
            problems.add(places[file], f"the target {target_name!r}: {unfit[position]}")
            del cells[file]
    return target_name, cells


def _graphs(files: list[Path], problems: Problems, max_bytes: int) -> list[FileGraph]:
    """The graphs of the files that can be read, one per file; the file is the graph's place."""
    graphs = []
    for file in files:
        kind = kind_of(file) or ""
        if kind not in NETWORKS:
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
    cells: dict[str, str],
    target_name: str | None,
    options: ReadOptions,
    problems: Problems,
) -> Dataset:
    rows = []
    for file in files:
        inside = _molecules_of(file, options, problems)
        if len(inside) > 1:
            problems.add(str(file), f"{len(inside)} molecules in one file; a folder needs one")
        elif inside:
            rows.append(MoleculeRow(str(file), inside[0], stem_of(file), cells.get(str(file))))
    return dataset_of_rows(path, rows, options, problems, target_name=target_name)


def _molecules_of(file: Path, options: ReadOptions, problems: Problems) -> list[Any]:
    """The molecules of one file."""
    if kind_of(file) == ".sdf":
        return molecules_of_sdf(file, problems, options.max_bytes)
    try:
        table, columns = next(molecule_tables(file, ReadOptions(max_bytes=options.max_bytes)))
    except ValueError as why:
        problems.add(*_place_and_reason(file, why))
        return []
    for row in table.rows:
        if row.problem is not None:
            problems.add(table.place(row), row.problem)
    return [row.cells[columns.structure] for row in table.rows if row.problem is None]
