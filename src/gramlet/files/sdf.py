"""SDF files: molecules with their properties, record by record.

Splits the file into records and properties; RDKit reads the structures, `rows` the rest.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gramlet.files.dataset import Dataset
from gramlet.files.kinds import ReadOptions
from gramlet.files.molecule_tables import (
    ID_HEADINGS,
    TARGET_HEADINGS,
    MoleculeRow,
    dataset_of_rows,
)
from gramlet.files.opening import Problems, open_text, text_problem
from gramlet.files.tables import ColumnNotFoundError

_END = "$$$$"
_PROPERTY = re.compile(r">.*?<(.*)>")
_LONGEST_RECORD = 1 << 26


@dataclass
class _Record:
    """One molecule's text: the line it begins on, its structure and its properties."""

    line: int
    block: str
    properties: dict[str, str]
    problem: str | None = None

    @property
    def title(self) -> str:
        return self.block.partition("\n")[0].strip()


def read_sdf(path: Path, options: ReadOptions, problems: Problems) -> Dataset:
    """The molecules of an SDF file; ids are the titles or a property, the target a property."""
    records = list(_records(path, options.max_bytes))
    if not records:
        raise ValueError(f"{path} has no molecules.")
    column = None
    if options.target is not False:
        column = _property(path, records, options.target, TARGET_HEADINGS, "target")
    id = None if options.id is None else _property(path, records, options.id, ID_HEADINGS, "id")
    rows = []
    for record in records:
        molecule, problem = None, None
        try:
            molecule = _structure(record)
        except ValueError as why:
            problem = str(why)
        identifier = record.title if id is None else record.properties.get(id, "")
        cell = None if column is None else record.properties.get(column, "")
        place = f"{path}, line {record.line}"
        rows.append(MoleculeRow(place, molecule, identifier, cell, problem))
    names = dict.fromkeys(name for record in records for name in record.properties)
    unread = [each for each in names if each not in (column, id)]
    return dataset_of_rows(path, rows, options, problems, target_name=column, unread=unread)


def molecules_of_sdf(path: Path, problems: Problems, max_bytes: int) -> list[Any]:
    """RDKit's molecules of an SDF or mol file."""
    found = []
    for record in _records(path, max_bytes):
        try:
            found.append(_structure(record))
        except ValueError as why:
            problems.add(f"{path}, line {record.line}", str(why))
    return found


def _records(path: Path, max_bytes: int) -> Iterator[_Record]:
    with open_text(path, max_bytes) as text:
        lines: list[str] = []
        first, size = 1, 0
        for number, line in enumerate(text, start=1):
            size += len(line)
            if size > _LONGEST_RECORD:
                raise ValueError(f"{path}, line {first}: a record of more than {size:,} bytes.")
            if line.startswith(_END):
                yield _record(first, lines, True)
                lines, first, size = [], number + 1, 0
            else:
                lines.append(line.rstrip("\r\n"))
        if any(line.strip() for line in lines):
            yield _record(first, lines, False)


def _record(first: int, lines: list[str], has_end: bool) -> _Record:
    end = next((i for i, line in enumerate(lines) if line.startswith("M  END")), None)
    stop = len(lines) if end is None else end + 1
    properties: dict[str, str] = {}
    name: str | None = None
    problem = text_problem("".join(lines))
    for line in lines[stop:]:
        heading = _PROPERTY.match(line)
        if heading is not None:
            name = heading[1].strip()
            if name in properties:
                problem = f"the property {name!r} is there twice"
            properties[name] = ""
        elif not line.strip():
            name = None
        elif name is not None:
            properties[name] = f"{properties[name]}\n{line}".strip()
    if name is not None and not has_end:
        problem = (
            f"the file ends inside the property {name!r}, which may be cut; a record ends with a "
            "line '$$$$'"
        )
    return _Record(first, "\n".join(lines[:stop]) + "\n", properties, problem)


def _structure(record: _Record) -> Any:
    """RDKit's molecule."""
    from gramlet.graphs.molecules.parsing import molecule_from_block

    if record.problem is not None:
        raise ValueError(record.problem)
    try:
        return molecule_from_block(record.block)
    except RuntimeError:  # RDKit's own checks, on damaged molecules
        raise ValueError("RDKit cannot read its atoms and bonds") from None


def _property(
    path: Path,
    records: list[_Record],
    wanted: str | int | None,
    usual: tuple[str, ...],
    option: str,
) -> str | None:
    names = {name: None for record in records for name in record.properties}
    if wanted is None:
        folded = {name.lower(): name for name in reversed(names)}
        return next((folded[name] for name in usual if name in folded), None)
    wanted = str(wanted)
    if wanted not in names:
        there = ", ".join(map(repr, names)) or "none"
        raise ColumnNotFoundError(
            f"{path}: no property is called {wanted!r} ({option}=); there are {there}."
        )
    return wanted
