"""RDKit's parser: converts a SMILES string to a molecule, or gives the reason why it cannot.

RDKit is imported here, when the first molecule is read, and its printing is suppressed. `atoms`
and `molecule_columns` convert the atoms and bonds.
"""

from __future__ import annotations

import re
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from typing import Any

# An explicit hydrogen atom, or an atomic number that may be one.
_HYDROGEN = re.compile(r"\[\d*[H#DT]")
_TIME_STAMP = re.compile(r"^\[[\d:]+\] ", re.MULTILINE)


@cache
def rdkit() -> Any:
    """RDKit's module ``Chem``; raises an ImportError that names the extra if it is missing."""
    try:
        from rdkit import Chem
    except ImportError:
        raise ImportError(
            "Reading molecules needs RDKit, which is not installed: pip install gramlet[chem]"
        ) from None
    return Chem


def quiet() -> AbstractContextManager[Any]:
    """A context in which RDKit prints nothing; its reasons appear in our messages."""
    rdkit()
    from rdkit import rdBase

    return rdBase.BlockLogs()


def _captured() -> AbstractContextManager[Any]:
    """A context that collects RDKit's errors in ``messages``, if RDKit supports it."""
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

    RDKit's steps after the bond types (conjugation, hybridization, stereochemistry) are skipped,
    so that it takes 0.6 of the time of `molecule_from`. Strings with explicit hydrogens are read by
    `molecule_from`. The string must contain nothing after the structure.
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
        steps &= ~int(getattr(flags, f"SANITIZE_{name}", 0))  # the last is new in RDKit 2024.3
    return chem, parameters, steps


def molecule_from_block(block: str) -> Any:
    """The molecule of a record's structure in an SDF file: the lines up to "M  END".

    Raises
    ------
    ValueError
        Where there is none, with the reason alone; the caller knows the place.

    Examples
    --------
    >>> from gramlet.graphs.molecules.parsing import molecule_from_block
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
    """The first line of RDKit's log that is not a heading."""
    lines = (line.strip() for line in _TIME_STAMP.sub("", said).split("\n"))
    return next(
        (line.rstrip(".") for line in lines if line.strip("*") and not line.endswith("Violation")),
        "",
    )


def _completed(molecule: Any) -> Any:
    """The molecule with hydrogens and rings known: itself, or a sanitized copy."""
    try:
        molecule.GetRingInfo().NumRings()
        if not molecule.NeedsUpdatePropertyCache():
            return molecule
    except RuntimeError:  # rings have not been computed
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
    """The reason and the position, from the lines that RDKit logs about one string."""
    what = re.search(r"SMILES Parse Error: (.*?)(?: while parsing:| for input:|$)", said, re.M)
    where = re.search(r"around position (\d+)", said)
    if what is None:
        return _first_reason(said) or "RDKit cannot read it"
    return what[1] + (f" at character {where[1]}" if where else "")
