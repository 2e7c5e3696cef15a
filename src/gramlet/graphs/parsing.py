"""RDKit's parser: a SMILES string becomes a molecule, or a reason why it is none.

RDKit is imported here, when the first molecule is read, and kept from printing. What the atoms and
bonds become is left to `atoms` and `molecule_columns`.
"""

from __future__ import annotations

import re
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from typing import Any

__all__ = [
    "flat_molecule",
    "molecule_from",
    "molecule_from_block",
    "quiet",
    "rdkit",
    "why_unreadable",
]

# A hydrogen of its own, or a number of an element that may mean one.
_HYDROGEN = re.compile(r"\[\d*[H#DT]")
_TIME_STAMP = re.compile(r"^\[[\d:]+\] ", re.MULTILINE)


@cache
def rdkit() -> Any:
    """RDKit's module ``Chem``; an ImportError that names the extra where it is not installed."""
    try:
        from rdkit import Chem
    except ImportError:
        raise ImportError(
            "Reading molecules needs RDKit, which is not installed: pip install gramlet[chem]"
        ) from None
    return Chem


def quiet() -> AbstractContextManager[Any]:
    """A context in which RDKit prints nothing: what it says goes into our messages."""
    rdkit()
    from rdkit import rdBase

    return rdBase.BlockLogs()


def _captured() -> AbstractContextManager[Any]:
    """A context that keeps RDKit's errors as ``messages``, where RDKit can do so."""
    from rdkit import rdBase

    return getattr(rdBase, "CaptureErrorLog", nullcontext)()


def molecule_from(item: Any) -> Any:
    """The molecule that a SMILES string or an RDKit molecule stands for.

    Raises
    ------
    ValueError
        Where there is none, with the reason alone; the caller knows the place.
    """
    chem = rdkit()
    if isinstance(item, chem.Mol):
        if not item.GetNumAtoms():
            raise ValueError("the molecule has no atoms")
        return _completed(item)
    if not isinstance(item, str):
        raise ValueError(_no_molecule(item))
    if not item.strip():
        raise ValueError("the string is empty")
    molecule = chem.MolFromSmiles(item)
    if molecule is None:
        raise ValueError(why_unreadable(item))
    if not molecule.GetNumAtoms():
        raise ValueError("the molecule has no atoms")
    return molecule


def flat_molecule(smiles: str) -> Any:
    """The molecule of a SMILES string, with atoms, charges and bonds but without stereo centres.

    What RDKit works out after the bond types (conjugation, hybridization, stereochemistry) is
    left out: 0.6 of the time of `molecule_from`, which it leaves strings with hydrogens to. The
    string must contain nothing after the structure.
    """
    chem, parameters, steps = _flat_parser()
    if not smiles or _HYDROGEN.search(smiles):
        return molecule_from(smiles)
    molecule = chem.MolFromSmiles(smiles, parameters)
    if molecule is None:
        raise ValueError(why_unreadable(smiles))
    try:
        chem.SanitizeMol(molecule, steps)
    except ValueError:
        raise ValueError(why_unreadable(smiles)) from None
    return molecule


@cache
def _flat_parser() -> tuple[Any, Any, int]:
    chem = rdkit()
    parameters = chem.SmilesParserParams()
    parameters.sanitize = False
    parameters.removeHs = False
    flags = chem.SanitizeFlags
    steps = int(flags.SANITIZE_ALL)
    for name in ("SETCONJUGATION", "SETHYBRIDIZATION", "CLEANUPCHIRALITY", "CLEANUPATROPISOMERS"):
        steps &= ~int(getattr(flags, f"SANITIZE_{name}", 0))  # the last came with RDKit 2024.3
    return chem, parameters, steps


def molecule_from_block(block: str) -> Any:
    """The molecule of a record's structure in an SDF file: the lines up to "M  END".

    Raises
    ------
    ValueError
        Where there is none, with the reason alone; the caller knows the place.

    Examples
    --------
    >>> from gramlet.graphs.parsing import molecule_from_block
    >>> molecule_from_block("water\\n\\n\\n  1  0  0")
    Traceback (most recent call last):
    ...
    ValueError: the record ends before 'M  END'
    """
    chem = rdkit()
    if "M  END" not in block:
        raise ValueError("the record ends before 'M  END'")
    with quiet(), _captured() as log:
        molecule = chem.MolFromMolBlock(block)
        said = getattr(log, "messages", "")
        unsanitized = chem.MolFromMolBlock(block, sanitize=False) if molecule is None else None
        problems = chem.DetectChemistryProblems(unsanitized) if unsanitized is not None else ()
    if molecule is not None and molecule.GetNumAtoms():
        return molecule
    if molecule is not None:
        raise ValueError("the molecule has no atoms")
    if problems:
        raise ValueError(str(problems[0].Message()).rstrip("."))
    raise ValueError(_first_reason(said) or "RDKit cannot read its atoms and bonds")


def _first_reason(said: str) -> str:
    """The first line RDKit logs that is no heading."""
    lines = (line.strip() for line in _TIME_STAMP.sub("", said).split("\n"))
    return next(
        (line.rstrip(".") for line in lines if line.strip("*") and not line.endswith("Violation")),
        "",
    )


def _completed(molecule: Any) -> Any:
    """A molecule that knows its hydrogens and rings: itself, or a copy of one not sanitized."""
    try:
        molecule.GetRingInfo().NumRings()
        if not molecule.NeedsUpdatePropertyCache():
            return molecule
    except RuntimeError:  # rings were never looked for
        pass
    copy = rdkit().Mol(molecule)
    copy.UpdatePropertyCache(strict=False)
    rdkit().FastFindRings(copy)
    return copy


def _no_molecule(item: Any) -> str:
    if item is None or item != item or type(item).__name__ in ("NAType", "NaTType"):
        return "the value is missing"
    return f"expected a SMILES string or an RDKit molecule, got {type(item).__name__}"


def why_unreadable(smiles: str) -> str:
    """RDKit's reason for refusing a string, on one line.

    >>> why_unreadable("c1ccccc")
    'unclosed ring'
    """
    chem = rdkit()
    with quiet(), _captured() as log:
        chem.MolFromSmiles(smiles)
        said = getattr(log, "messages", "")
        unsanitized = chem.MolFromSmiles(smiles, sanitize=False)
        problems = chem.DetectChemistryProblems(unsanitized) if unsanitized is not None else ()
    if problems:
        return str(problems[0].Message()).rstrip(".")
    return _syntax_error(_TIME_STAMP.sub("", said))


def _syntax_error(said: str) -> str:
    """What and where, out of the lines RDKit logs about one string."""
    what = re.search(r"SMILES Parse Error: (.*?)(?: while parsing:| for input:|$)", said, re.M)
    where = re.search(r"around position (\d+)", said)
    if what is None:
        return _first_reason(said) or "RDKit cannot read it"
    return what[1] + (f" at character {where[1]}" if where else "")
