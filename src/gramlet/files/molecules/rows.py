"""A Dataset from rows of molecules with ids and targets, for tables and SDF files.

Rows that cannot be used are removed with their ids and targets, so that the others stay aligned.
"""

from __future__ import annotations

import reprlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gramlet.common.notices import warn_caller
from gramlet.files.dataset import Dataset
from gramlet.files.problems import Problems
from gramlet.files.target import CellFormat, is_missing, odd_word_text, target_from_cells
from gramlet.graphs.batch import GraphBatch

__all__ = ["MoleculeOptions", "MoleculeRow", "dataset_of_rows"]


@dataclass(frozen=True)
class MoleculeOptions:
    """How molecules are converted to graphs; as for `gramlet.molecules`."""

    atoms: tuple[str, ...] = ("element", "charge")
    hydrogens: bool = False
    n_jobs: int | None = None


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
    options: MoleculeOptions,
    problems: Problems,
    *,
    name: str,
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
        name=name,
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


def _graphs(
    rows: Sequence[MoleculeRow], options: MoleculeOptions
) -> tuple[GraphBatch, dict[int, str]]:
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
