"""Murcko scaffolds: the rings of a molecule and what links them, as a name for its family.

Groups for evaluation: molecules of one scaffold belong into one fold.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from gramlet.graphs.parsing import molecule_from, quiet, rdkit

__all__ = ["scaffolds"]


def scaffolds(molecules: Iterable[Any]) -> list[str]:
    """The Bemis-Murcko scaffold of each molecule, as canonical SMILES without stereo centres.

    Side chains are cut off; rings, the chains between them and atoms double-bonded to either
    remain. A molecule without rings has the scaffold "": as is usual, all such molecules are one
    group.

    Parameters
    ----------
    molecules : iterable of str and rdkit.Chem.Mol
        As for :func:`gramlet.molecules`.

    Returns
    -------
    list of str

    References
    ----------
    Bemis, Murcko, The properties of known drugs. 1. Molecular frameworks, J. Med. Chem. 39, 1996.

    Examples
    --------
    >>> from gramlet import scaffolds
    >>> scaffolds(["Cc1ccccc1", "c1ccccc1CC1CCNCC1", "CCO", "CC1CCCCC1=O"])
    ['c1ccccc1', 'c1ccc(CC2CCNCC2)cc1', '', 'O=C1CCCCC1']
    """
    chem = rdkit()
    from rdkit.Chem.Scaffolds.MurckoScaffold import GetScaffoldForMol

    found = []
    with quiet():
        for position, item in enumerate(molecules):
            try:
                molecule = molecule_from(item)
            except ValueError as why:
                raise ValueError(
                    f"Molecule {position}: {item!r} has no scaffold ({why}). Correct it, or remove "
                    "it together with its target."
                ) from None
            scaffold = chem.MolToSmiles(GetScaffoldForMol(molecule), isomericSmiles=False)
            # Written again: cutting may leave centres or bonds that only the first writing sees.
            found.append(chem.CanonSmiles(scaffold) if scaffold else "")
    return found
