"""Tables of molecules: `.smi`, `.csv` and `.tsv` files with SMILES strings, ids and a target.

Decides which column is which; rows and cells come from `files.tables`, graphs from `rows`.
"""

from __future__ import annotations

from pathlib import Path

from gramlet.files.dataset import Dataset
from gramlet.files.molecules.rows import MoleculeOptions, MoleculeRow, dataset_of_rows
from gramlet.files.problems import Problems
from gramlet.files.tables import (
    ColumnNotFoundError,
    Row,
    Table,
    find_column,
    read_lines,
    read_table,
)
from gramlet.files.target import is_missing, target_from_cells

__all__ = ["ID_HEADINGS", "TARGET_HEADINGS", "find_target", "read_molecule_table"]

Column = str | int | None

# Headings taken for each column where none is named.
MOLECULE_HEADINGS = (
    "smiles", "canonical_smiles", "isomeric_smiles", "smi", "smile", "smiles_string",
    "structure", "molecule", "mol",
)  # fmt: skip
TARGET_HEADINGS = ("target", "label", "class", "y", "activity")
ID_HEADINGS = (
    "id", "name", "compound_id", "mol_id", "molecule_id", "compound", "identifier", "title",
    "compound_name", "molecule_name", "chembl_id", "molecule_chembl_id", "cas", "index",
)  # fmt: skip

_LOOKED_AT = 20


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
    """The molecules of a table, with ids and target where there are such columns."""
    named = [column for column in (target, molecules, id) if isinstance(column, str)]
    if smi:
        numbers = [column for column in (target, molecules, id) if isinstance(column, int)]
        table = _smi_table(path, named, max(numbers, default=0), header, max_bytes)
    else:
        table = read_table(path, sep, lambda cells: _is_heading(cells, named, header), max_bytes)
    structure = 0 if smi and molecules is None else _molecule_column(table, molecules)
    wanted_target = find_target(table, target, {structure}, guess=not smi)
    identifier = _id_column(table, id, {structure, wanted_target}, smi)
    rows = [
        MoleculeRow(
            f"{path}, line {row.line}",
            row.cells[structure],
            row.cells[structure],
            None if identifier is None else row.cells[identifier],
            None if wanted_target is None else row.cells[wanted_target],
            f"column {table.name(structure)} has no molecule"
            if is_missing(row.cells[structure])
            else None,
        )
        for row in table.rows
    ]
    target_name = None
    if wanted_target is not None:
        target_name = table.headings[wanted_target] if table.headings else str(wanted_target)
        if target is None and all(is_missing(row.target or "") for row in rows):
            target_name = None  # a column that was not asked for and is empty
    return dataset_of_rows(path, rows, options, problems, name=name, target_name=target_name)


def _smi_table(
    path: Path, named: list[str], last_column: int, header: bool | None, max_bytes: int
) -> Table:
    """Lines of a `.smi` file: a molecule, then its name, which may contain spaces.

    Cells are separated by tabs if every line has one, else by white space; what is left at the end
    of a line belongs to the last cell.
    """
    rows = read_lines(path, max_bytes)
    sep = "\t" if all("\t" in row.cells[0] for row in rows) else None
    first = rows[0].cells[0].split(sep)
    headings = None
    if header or (header is None and (named or first[0].lower() in MOLECULE_HEADINGS)):
        headings = first
        rows.pop(0)
        if not rows:
            raise ValueError(f"{path} has a line of headings and no rows.")
    width = len(headings) if headings is not None else max(2, last_column + 1)
    cut = [[cell.strip() for cell in row.cells[0].split(sep, width - 1)] for row in rows]
    if headings is None:
        width = max(map(len, cut))
    return Table(
        path,
        headings,
        [
            Row(row.line, cells + [""] * (width - len(cells)))
            for row, cells in zip(rows, cut, strict=True)
        ],
    )


def _is_heading(cells: list[str], named: list[str], header: bool | None) -> bool:
    """Whether the first row is one of headings: told, or by its words, or as it is no data."""
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
    from gramlet.graphs.molecules import read_molecules

    return not read_molecules([cell])[1]


def _molecule_column(table: Table, wanted: Column) -> int:
    column = find_column(table, wanted, MOLECULE_HEADINGS, "molecules")
    if column is not None:
        return column
    looked_at = table.rows[:_LOOKED_AT]
    likely = [
        i
        for i in range(table.n_columns)
        if any(row.cells[i] for row in looked_at)
        and all(_is_smiles(row.cells[i]) for row in looked_at if row.cells[i])
    ]
    if len(likely) == 1:
        return likely[0]
    found = "several columns hold" if likely else "no column holds"
    raise ColumnNotFoundError(
        f"{table.path}: {found} SMILES strings; {table.describe()}. Name the column of molecules "
        "by molecules=."
    )


def find_target(table: Table, wanted: Column, taken: set[int | None], guess: bool) -> int | None:
    """The column of the target: as told, by a usual heading, or the only one that is left."""
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
