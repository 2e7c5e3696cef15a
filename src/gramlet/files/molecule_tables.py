"""Tables of molecules: columns of SMILES strings, ids and a target, and the Dataset of their rows.

Decides which column is which; `files.tables` reads rows and cells. Rows that cannot be used are
left out with their ids and targets, so that the others stay aligned; SDF files share this.
"""

from __future__ import annotations

import reprlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

from gramlet.common.notices import warn_caller
from gramlet.files.dataset import Dataset
from gramlet.files.kinds import ReadOptions, kind_of, stem_of
from gramlet.files.opening import Problems
from gramlet.files.tables import ColumnNotFoundError, Row, Table, find_column, read_tables
from gramlet.files.target import (
    CellFormat,
    ScannedTarget,
    is_missing,
    odd_word_text,
    target_from_cells,
)
from gramlet.graphs.batch import GraphBatch

Column = str | int | Literal[False] | None  # False: no target, whatever the file contains

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


def read_molecule_table(path: Path, options: ReadOptions, problems: Problems) -> Dataset:
    """The molecules of a table, with ids and target if it has such columns."""
    table, columns = next(molecule_tables(path, options))
    guessed = columns.target if options.target is None else None
    if guessed is not None and not target_cells(table, guessed):  # an empty column
        columns = columns._replace(target=None)
    return dataset_of_table(table, columns, options, problems)


def molecule_tables(
    path: Path, options: ReadOptions, batch_size: int | None = None
) -> Iterator[tuple[Table, MoleculeColumns]]:
    """Tables of ``batch_size`` rows; the first decides which column is which for all."""
    wanted = (options.target, options.molecules, options.id)
    named = [column for column in wanted if isinstance(column, str)]
    last = max((column for column in wanted if isinstance(column, int)), default=0)
    is_smi = kind_of(path) == ".smi"

    def is_headings(cells: list[str]) -> bool:
        return _is_heading(cells, named, options.header, is_smi)

    columns = None
    width = max(2, last + 1)
    for table in read_tables(path, options.sep, is_headings, batch_size, options.max_bytes, width):
        columns = columns or find_columns(table, options)
        yield table, columns
    if columns is None:
        raise ValueError(f"{path} has a line of headings and no rows.")


class MoleculeColumns(NamedTuple):
    """The numbers of a table's columns; None for a missing one."""

    structure: int
    target: int | None
    id: int | None


def find_columns(table: Table, options: ReadOptions) -> MoleculeColumns:
    """Which column is which: as given, by usual headings, or by the contents of the first rows.

    A target that was not requested may be an empty column.
    """
    is_smi = kind_of(table.path) == ".smi"
    structure = 0 if is_smi and options.molecules is None else _molecule_column(table, options)
    target = find_target(table, options.target, {structure}, guess=not is_smi)
    identifier = find_column(table, options.id, ID_HEADINGS, "id")
    taken = {structure, target}
    if identifier is None and is_smi and table.n_columns > 1 and 1 not in taken:
        identifier = 1  # the usual place of a name
    if identifier in taken and options.id is None:
        identifier = None
    return MoleculeColumns(structure, target, identifier)


def target_cells(table: Table, column: int) -> list[str]:
    """The cells of a target that are not missing."""
    return [row.cells[column] for row in table.rows if not is_missing(row.cells[column])]


def dataset_of_table(
    table: Table,
    columns: MoleculeColumns,
    options: ReadOptions,
    problems: Problems,
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
    headings = [table.heading(i) for i in range(table.n_columns)]
    return dataset_of_rows(
        table.path,
        rows,
        options,
        problems,
        target_name=None if target is None else headings[target],
        unread=[heading for i, heading in enumerate(headings) if i not in columns and heading],
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
            "file .smi, with names in its first lines, or give sep="
        )
    return None


class TargetScan(NamedTuple):
    """The columns of a file, the format and task of its target, and where one is first missing."""

    columns: MoleculeColumns
    target: ScannedTarget | None
    missing: str | None


def scan_target(path: Path, options: ReadOptions, batch_size: int) -> TargetScan:
    """Look at all targets of a file: its blocks have a target of one type and task, or none.

    Without a target, only the first table is read.
    """
    scanned, missing = ScannedTarget(), None
    for table, columns in molecule_tables(path, options, batch_size):
        at = columns.target
        if at is None:
            return TargetScan(columns, None, None)
        scanned.add(target_cells(table, at))
        empty = (row for row in table.rows if is_missing(row.cells[at]))
        if missing is None and (row := next(empty, None)) is not None:
            cell = row.cells[at]
            verb = f"is {cell!r}" if cell else "is missing"
            missing = f"{table.place(row)}: the target {table.name(at)} {verb}"
    if scanned.n_cells == 0 and options.target is None:
        return TargetScan(columns._replace(target=None), None, missing)  # an empty column
    return TargetScan(columns, scanned, missing)


def _is_heading(cells: list[str], named: list[str], header: bool | None, is_smi: bool) -> bool:
    """Whether the first row contains headings: as given, by its words, or if it is not data."""
    if header is not None:
        return header
    if is_smi:
        return cells[0].lower() in MOLECULE_HEADINGS or not set(named).isdisjoint(cells)
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


def _molecule_column(table: Table, options: ReadOptions) -> int:
    column = find_column(table, options.molecules, MOLECULE_HEADINGS, "molecules")
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


# Datasets


@dataclass(frozen=True)
class MoleculeRow:
    """One molecule of a file: its place, structure, id and target.

    ``problem`` is the reason if there is no structure.
    """

    place: str
    structure: Any  # a SMILES string or an RDKit molecule
    id: str | None = None
    target: str | None = None
    problem: str | None = None


def dataset_of_rows(
    path: Path,
    rows: Sequence[MoleculeRow],
    options: ReadOptions,
    problems: Problems,
    *,
    target_name: str | None,
    unread: Sequence[str] = (),
    written: CellFormat | None = None,
) -> Dataset:
    """A Dataset of all rows that can be used; the others are listed in ``problems``.

    ``unread`` are the other columns of the file, to choose a target from. ``written`` is the format
    of the target in the whole file; by default it is learned from the rows.
    """
    reasons = {i: row.problem for i, row in enumerate(rows) if row.problem is not None}
    targets, unfit = _targets(rows, target_name, written)
    reasons = {**unfit, **reasons}
    chosen = [i for i in range(len(rows)) if i not in reasons]
    graphs, unreadable = _graphs([rows[i] for i in chosen], options)
    reasons.update({chosen[position]: reason for position, reason in unreadable.items()})
    for i in sorted(reasons):
        problems.add(rows[i].place, reasons[i])
    kept = [row for i, row in enumerate(rows) if i not in reasons]
    target = None
    if targets is not None:
        left = [cell for i, cell in enumerate(targets) if i not in reasons]
        target, _ = target_from_cells(left, written)
    skipped = problems.finish(path, len(kept), "molecule")
    has_ids = any(row.id for row in kept)
    others: dict[str, Any] = {"unread": list(unread)} if unread else {}
    if skipped:
        others["places"] = [row.place for row in kept]
    return Dataset(
        graphs,
        target,
        name=stem_of(path),
        ids=[row.id or "" for row in kept] if has_ids else None,
        target_name=target_name if target is not None else None,
        skipped=skipped,
        **others,
    )


def _targets(
    rows: Sequence[MoleculeRow], target_name: str | None, written: CellFormat | None
) -> tuple[list[str] | None, dict[int, str]]:
    """The cells of the target, and the rows whose cell cannot be used, with the reasons."""
    if target_name is None:
        return None, {}
    cells = [row.target or "" for row in rows]
    what = f"the target {target_name!r}"
    unfit = {
        i: f"{what} is {repr(cell) if cell else 'missing'}"
        for i, cell in enumerate(cells)
        if is_missing(cell)
    }
    there = [i for i in range(len(rows)) if i not in unfit]
    if written is None:
        written = CellFormat().learn([cells[i] for i in there])
        if written.odd_word is not None:
            place = next(rows[i].place for i in there if cells[i] == written.odd_word)
            warn_caller(f"{place}: {what} is {odd_word_text(written.odd_word)}")
    _, others = target_from_cells([cells[i] for i in there], written)
    unfit.update({there[position]: f"{what}: {why}" for position, why in others.items()})
    return cells, unfit


def _graphs(rows: Sequence[MoleculeRow], options: ReadOptions) -> tuple[GraphBatch, dict[int, str]]:
    """The graphs of all molecules that RDKit can read, and why it cannot read the others."""
    from gramlet.graphs.molecules.molecules import read_molecules

    graphs, unreadable = read_molecules(
        [row.structure for row in rows], options.atoms, options.hydrogens, options.n_jobs
    )
    return graphs, {
        each.position: f"{_what(each.given)} ({each.reason.rstrip('.')})" for each in unreadable
    }


def _what(given: Any) -> str:
    if isinstance(given, str):
        return f"{reprlib.repr(given)} is not a valid SMILES string"
    return "RDKit cannot use the molecule"
