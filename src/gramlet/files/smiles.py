"""Files of molecules: SMILES strings, one a line, with a class beside each.

Finds the columns and the lines; what a molecule is as a graph is left to `molecules`.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from gramlet.common.arrays import Array
from gramlet.files.dataset import Dataset, DatasetNotFoundError
from gramlet.graphs.molecules import read_molecules

__all__ = ["SMILES_SUFFIXES", "ColumnNotFoundError", "read_smiles"]

_DELIMITERS = {".csv": ",", ".tsv": "\t"}
SMILES_SUFFIXES = (".smi", ".smiles", *_DELIMITERS)

# Headings taken for the SMILES and the class where none is named.
_SMILES_HEADINGS = ("smiles", "smi", "canonical_smiles", "structure")
_LABEL_HEADINGS = ("label", "class", "target", "y", "activity")

Row = tuple[int, list[str]]


class ColumnNotFoundError(ValueError):
    """A table has no column of the name, or of the names, that it was asked for."""


def read_smiles(
    path: str | Path,
    smiles_column: str | int | None = None,
    label_column: str | int | None = None,
) -> Dataset:
    """Read molecules from a file of SMILES strings.

    A ``.smi`` (``.smiles``) file has a SMILES string a line and, after white space, its class, if
    there is one; lines that begin with ``#`` are left out. A ``.csv`` or ``.tsv`` file has a line
    of headings. Atoms' symbols and charges become node labels, bond types edge labels. The cost is
    linear.

    Parameters
    ----------
    path : str or Path
    smiles_column : str or int, optional
        The column of the SMILES strings: its heading, or its number from 0. By default the first
        in ``.smi``, and in tables the one called "smiles" (or "smi", "canonical_smiles",
        "structure").
    label_column : str or int, optional
        The column of the classes. By default the second in ``.smi``, and in tables the one called
        "label" (or "class", "target", "y", "activity"), or else the only other column.

    Returns
    -------
    Dataset
        ``graphs``, ``target`` (None if there is no such column), ``name``, ``smiles``.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from gramlet.files.smiles import read_smiles
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "alcohols.csv")
    ...     _ = file.write_text("smiles,label\\nCCO,alcohol\\nCC,other\\n")
    ...     read_smiles(file).target.tolist()
    ['alcohol', 'other']
    """
    path = Path(path)
    if path.suffix.lower() not in SMILES_SUFFIXES:
        raise ValueError(
            f"{path}: files of SMILES strings end in {', '.join(SMILES_SUFFIXES)}; got "
            f"{path.suffix or 'no ending'!r}."
        )
    if not path.is_file():
        raise DatasetNotFoundError(f"There is no file {path}.")
    rows = list(_lines(path))
    headings = _headings(path, rows, smiles_column, label_column)
    body = rows[1:] if headings else rows
    if not body:
        raise ValueError(f"{path} holds no molecules.")
    structures, labels = _columns(path, headings, body, smiles_column, label_column)
    graphs, unreadable = read_molecules(structures)
    if unreadable:
        line, _ = body[unreadable[0].position]
        raise ValueError(
            f"{path}, line {line}: {unreadable[0].given!r} is not a valid SMILES string "
            f"({unreadable[0].reason}). Correct the line or remove it."
        )
    target = None if labels is None else _target(labels)
    return Dataset(graphs, target, name=path.stem, smiles=structures)


def _lines(path: Path) -> Iterator[Row]:
    """The rows that are not empty, each with the number of its line."""
    delimiter = _DELIMITERS.get(path.suffix.lower())
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            if delimiter:
                reader = csv.reader(file, delimiter=delimiter, strict=True)
                for row in reader:
                    if any(cell.strip() for cell in row):
                        yield reader.line_num, [cell.strip() for cell in row]
            else:
                for number, line in enumerate(file, start=1):
                    if line.strip() and not line.lstrip().startswith("#"):
                        yield number, line.split()
    except UnicodeDecodeError as why:
        raise ValueError(f"{path} is not a text file in UTF-8 ({why.reason}).") from None
    except csv.Error as why:
        raise ValueError(f"{path}, line {reader.line_num}: {why}.") from None


def _headings(
    path: Path, rows: list[Row], smiles_column: str | int | None, label_column: str | int | None
) -> list[str]:
    """The first row, if it is one of headings: in tables always, else if a column is named."""
    table = path.suffix.lower() in _DELIMITERS
    named = isinstance(smiles_column, str) or isinstance(label_column, str)
    return rows[0][1] if rows and (table or named) else []


def _columns(
    path: Path,
    headings: list[str],
    body: list[Row],
    smiles_column: str | int | None,
    label_column: str | int | None,
) -> tuple[list[str], list[str] | None]:
    """The SMILES strings, and the classes if there are any."""
    structure = _find(path, headings, smiles_column, _SMILES_HEADINGS, "smiles_column")
    if structure is None:
        if headings:
            raise ColumnNotFoundError(
                f"{path}: no column is called {_SMILES_HEADINGS[0]!r}; there are "
                f"{', '.join(map(repr, headings))}. Name the one that holds the SMILES strings."
            )
        structure = 0
    label = _find(path, headings, label_column, _LABEL_HEADINGS, "label_column")
    if label is None and len(headings or body[0][1]) == 2:
        label = 1 - structure
    texts = [_cell(path, line, row, structure, "SMILES string") for line, row in body]
    if label is None:
        return texts, None
    return texts, [_cell(path, line, row, label, "class") for line, row in body]


def _find(
    path: Path,
    headings: list[str],
    wanted: str | int | None,
    usual: tuple[str, ...],
    parameter: str,
) -> int | None:
    """The number of a column, by its number, by its heading, or by a usual heading."""
    if isinstance(wanted, int):
        if wanted < 0:
            raise ValueError(f"{parameter}={wanted}: columns are counted from 0.")
        return wanted
    if wanted is not None:
        if wanted not in headings:
            raise ColumnNotFoundError(
                f"{path}: no column is called {wanted!r} ({parameter}); there are "
                f"{', '.join(map(repr, headings))}."
            )
        return headings.index(wanted)
    folded = [heading.lower() for heading in headings]
    return next((folded.index(name) for name in usual if name in folded), None)


def _cell(path: Path, line: int, row: list[str], column: int, what: str) -> str:
    if column >= len(row) or not row[column]:
        raise ValueError(
            f"{path}, line {line}: no {what} in column {column + 1}; the line has {len(row)} "
            f"column{'s' * (len(row) != 1)}."
        )
    return row[column]


def _target(labels: list[str]) -> Array:
    """Integers if all classes are written as such, else numbers if all are, else strings."""
    for kind in (int, float):
        try:
            return np.array([kind(label) for label in labels])
        except ValueError:
            continue
    return np.array(labels)
