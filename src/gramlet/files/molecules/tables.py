"""Tables of molecules: `.smi`, `.csv` and `.tsv` files with SMILES strings, ids and a target.

Decides which column is which; `files.tables` reads rows and cells, `rows` makes graphs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from gramlet.files.dataset import Dataset
from gramlet.files.molecules.rows import MoleculeOptions, MoleculeRow, dataset_of_rows
from gramlet.files.problems import Problems
from gramlet.files.scanned_target import ScannedTarget
from gramlet.files.tables import (
    ColumnNotFoundError,
    Row,
    Table,
    find_column,
    read_lines,
    read_table,
    stream_lines,
    stream_tables,
)
from gramlet.files.target import CellFormat, is_missing, target_from_cells

__all__ = [
    "ID_HEADINGS",
    "TARGET_HEADINGS",
    "MoleculeColumns",
    "dataset_of_table",
    "find_columns",
    "find_target",
    "molecules_of_smi",
    "read_molecule_table",
    "scan_target",
    "stream_molecule_tables",
]

Column = str | int | None  # for targets also False: none, whatever the file contains

# Headings by which each column is recognised if none is named.
MOLECULE_HEADINGS = (
    "smiles",
    "canonical_smiles",
    "isomeric_smiles",
    "smi",
    "smile",
    "smiles_string",
    "structure",
    "molecule",
    "mol",
)
TARGET_HEADINGS = ("target", "label", "class", "y", "activity")
ID_HEADINGS = (
    "id",
    "name",
    "compound_id",
    "mol_id",
    "molecule_id",
    "compound",
    "identifier",
    "title",
    "compound_name",
    "molecule_name",
    "drug_id",
    "drug_name",
    "chembl_id",
    "molecule_chembl_id",
    "cas",
    "index",
)

_LOOKED_AT = 20
_MOST = 0.5


def read_molecule_table(
    path: Path,
    *,
    smi: bool,
    target: Column,
    molecules: Column,
    id: Column,
    sep: str | None,
    header: bool | None,
    options: MoleculeOptions,
    problems: Problems,
    name: str,
    max_bytes: int,
) -> Dataset:
    """The molecules of a table, with ids and target if it has such columns."""
    named = [column for column in (target, molecules, id) if isinstance(column, str)]
    if smi:
        numbers = [int(column) for column in (target, molecules, id) if isinstance(column, int)]
        table = _smi_table(path, named, max(numbers, default=0), header, max_bytes)
    else:
        table = read_table(path, sep, lambda cells: _is_heading(cells, named, header), max_bytes)
    columns = find_columns(table, smi=smi, target=target, molecules=molecules, id=id)
    if target is None and columns.target is not None and not _target_cells(table, columns.target):
        columns = columns._replace(target=None)
    return dataset_of_table(table, columns, options, problems, name)


def molecules_of_smi(path: Path, max_bytes: int) -> list[str]:
    """The SMILES strings of a `.smi` file."""
    table = _smi_table(path, [], 0, None, max_bytes)
    for row in table.rows:
        if row.problem is not None:
            raise ValueError(f"{table.place(row)}: {row.problem}.")
    return [row.cells[0] for row in table.rows]


class MoleculeColumns(NamedTuple):
    """The numbers of a table's columns; None for a missing one."""

    structure: int
    target: int | None
    id: int | None


def find_columns(
    table: Table, *, smi: bool, target: Column, molecules: Column, id: Column
) -> MoleculeColumns:
    """Which column is which: as given, by usual headings, or by the contents of the first rows.

    A target that was not requested may be an empty column.
    """
    structure = 0 if smi and molecules is None else _molecule_column(table, molecules)
    wanted_target = find_target(table, target, {structure}, guess=not smi)
    identifier = _id_column(table, id, {structure, wanted_target}, smi)
    return MoleculeColumns(structure, wanted_target, identifier)


def _target_cells(table: Table, column: int) -> list[str]:
    """The cells of a target that are not missing."""
    return [row.cells[column] for row in table.rows if not is_missing(row.cells[column])]


def dataset_of_table(
    table: Table,
    columns: MoleculeColumns,
    options: MoleculeOptions,
    problems: Problems,
    name: str,
    written: CellFormat | None = None,
) -> Dataset:
    """The molecules of rows whose columns are known, and maybe the format of the target."""
    structure, target, identifier = columns
    rows = [
        MoleculeRow(
            table.place(row),
            row.cells[structure],
            None if identifier is None else row.cells[identifier],
            None if target is None else row.cells[target],
            row.problem or _missing(table, row, structure),
        )
        for row in table.rows
    ]
    target_name = None
    if target is not None:
        target_name = table.headings[target] if table.headings else str(target)
    headings = table.headings or [str(i) for i in range(table.n_columns)]
    unread = [h for i, h in enumerate(headings) if i not in columns and h]
    return dataset_of_rows(
        table.path,
        rows,
        options,
        problems,
        name=name,
        target_name=target_name,
        unread=unread,
        written=written,
    )


def _missing(table: Table, row: Row, structure: int) -> str | None:
    cell = row.cells[structure]
    if is_missing(cell):
        return f"column {table.name(structure)} has no molecule"
    after = cell.split(maxsplit=1)[1:]
    if after and not after[0].startswith("|"):  # CXSMILES continues between bars
        return (
            f"{cell[:40]!r} is more than a molecule; if columns are separated by spaces, call the "
            "file .smi, or give sep="
        )
    return None


def _smi_table(
    path: Path, named: list[str], last_column: int, header: bool | None, max_bytes: int
) -> Table:
    rows = read_lines(path, max_bytes)
    layout = _smi_layout(lambda: (row.cells[0] for row in rows), named, last_column, header)
    if layout.headings is not None:
        rows = rows[1:]
    if not rows:
        raise ValueError(f"{path} has a line of headings and no rows.")
    return layout.table(path, rows)


@dataclass(frozen=True)
class _SmiLayout:
    """How lines of a `.smi` file are split into cells; ``sep`` None is white space."""

    sep: str | None
    headings: list[str] | None
    width: int

    def table(self, path: Path, rows: list[Row]) -> Table:
        cut = [
            [cell.strip() for cell in row.cells[0].split(self.sep, self.width - 1)] for row in rows
        ]
        return Table(
            path,
            self.headings,
            [
                Row(row.line, cells + [""] * (self.width - len(cells)), row.problem)
                for row, cells in zip(rows, cut, strict=True)
            ],
        )


def _smi_layout(
    lines: Callable[[], Iterator[str]], named: list[str], last_column: int, header: bool | None
) -> _SmiLayout:
    """How lines of a `.smi` file are split: a molecule, then its name, which may contain spaces.

    Cells are separated by tabs if every line has one, else by white space; what is left at the end
    of a line belongs to the last cell. ``lines`` gives all lines each time it is called.
    """
    sep = "\t" if all("\t" in line for line in lines()) else None
    first = next(lines()).split(sep)
    has_names = first[0].lower() in MOLECULE_HEADINGS or not set(named).isdisjoint(first)
    if header or (header is None and has_names):
        return _SmiLayout(sep, first, len(first))
    most = max(2, last_column + 1)
    return _SmiLayout(sep, None, max(len(line.split(sep, most - 1)) for line in lines()))


def stream_molecule_tables(
    path: Path,
    *,
    smi: bool,
    target: Column,
    molecules: Column,
    id: Column,
    sep: str | None,
    header: bool | None,
    batch_size: int,
    max_bytes: int,
) -> Iterator[tuple[Table, MoleculeColumns]]:
    """Tables of ``batch_size`` rows; the first decides which column is which for all."""
    named = [column for column in (target, molecules, id) if isinstance(column, str)]
    if smi:
        numbers = [column for column in (target, molecules, id) if isinstance(column, int)]
        tables = _stream_smi(path, named, max(numbers, default=0), header, batch_size, max_bytes)
    else:
        tables = stream_tables(
            path, sep, lambda cells: _is_heading(cells, named, header), batch_size, max_bytes
        )
    columns = None
    for table in tables:
        if columns is None:
            columns = find_columns(table, smi=smi, target=target, molecules=molecules, id=id)
        yield table, columns


def scan_target(
    tables: Iterator[tuple[Table, MoleculeColumns]], requested: bool
) -> tuple[MoleculeColumns, ScannedTarget | None]:
    """The columns of a file, and the format and task of its target, from all of its rows.

    So that all blocks of a file have a target of one type and task, or none. Without a target, only
    the first table is read.
    """
    scanned = ScannedTarget()
    columns = None
    for table, columns in tables:
        if columns.target is None:
            return columns, None
        scanned.add(_target_cells(table, columns.target))
    assert columns is not None, "a file without rows is an error of its reader"
    if scanned.n_cells == 0 and not requested:
        return columns._replace(target=None), None  # an empty column
    return columns, scanned


def _stream_smi(
    path: Path,
    named: list[str],
    last_column: int,
    header: bool | None,
    batch_size: int,
    max_bytes: int,
) -> Iterator[Table]:
    def lines() -> Iterator[str]:
        return (row.cells[0] for rows in stream_lines(path, batch_size, max_bytes) for row in rows)

    layout = _smi_layout(lines, named, last_column, header)
    for number, rows in enumerate(stream_lines(path, batch_size, max_bytes)):
        data = rows[1:] if number == 0 and layout.headings is not None else rows
        if data:
            yield layout.table(path, data)


def _is_heading(cells: list[str], named: list[str], header: bool | None) -> bool:
    """Whether the first row contains headings: as given, by its words, or if it is not data."""
    if header is not None:
        return header
    folded = {cell.strip().lower().replace(" ", "_") for cell in cells}
    usual = {*MOLECULE_HEADINGS, *TARGET_HEADINGS, *ID_HEADINGS}
    if folded & usual or set(named) & set(cells):
        return True
    if any(_is_number(cell) for cell in cells):
        return False
    return not any(_is_smiles(cell) for cell in cells if cell)


def _is_number(cell: str) -> bool:
    return bool(cell) and target_from_cells([cell])[0].dtype.kind in "if"


def _is_smiles(cell: str) -> bool:
    from gramlet.graphs.molecules.molecules import read_molecules

    return not read_molecules([cell])[1]


def _molecule_column(table: Table, wanted: Column) -> int:
    column = find_column(table, wanted, MOLECULE_HEADINGS, "molecules")
    if column is not None:
        return column
    shares = [_share_of_smiles(table, i) for i in range(table.n_columns)]
    # All of the first rows, or most of them, since some may be unreadable.
    likely = [i for i, share in enumerate(shares) if share == 1.0]
    likely = likely or [i for i, share in enumerate(shares) if share > _MOST]
    if len(likely) == 1:
        return likely[0]
    found = "several columns contain" if likely else "no column contains"
    edges = {"source", "target"} <= {heading.lower() for heading in table.headings or ()}
    way_out = (
        "Tables of edges are not read; write each network to a .graphml or .json file."
        if edges and not likely
        else "Name the column of molecules with molecules=."
    )
    raise ColumnNotFoundError(
        f"{table.path}: {found} SMILES strings; {table.describe()}. {way_out}"
    )


def _share_of_smiles(table: Table, column: int) -> float:
    cells = [row.cells[column] for row in table.rows[:_LOOKED_AT] if row.cells[column]]
    return sum(map(_is_smiles, cells)) / len(cells) if cells else 0.0


def find_target(table: Table, wanted: Column, taken: set[int | None], guess: bool) -> int | None:
    """The column of the target: as given, by a usual heading, or the only one that is left."""
    if wanted is False:
        return None
    column = find_column(table, wanted, TARGET_HEADINGS, "target")
    if column is not None or not guess:
        return column
    ids = find_column(table, None, ID_HEADINGS, "id")
    left = [i for i in range(table.n_columns) if i not in taken and i != ids]
    return left[0] if len(left) == 1 else None


def _id_column(table: Table, wanted: Column, taken: set[int | None], smi: bool) -> int | None:
    column = find_column(table, wanted, ID_HEADINGS, "id")
    if column is None and smi and table.n_columns > 1 and 1 not in taken:
        return 1  # the usual place of a name
    return None if column in taken and wanted is None else column
