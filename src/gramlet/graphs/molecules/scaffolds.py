"""Murcko scaffolds: the rings of a molecule and their linkers, as a name for its family.

They are used as groups in evaluation: molecules with the same scaffold stay in one fold.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from gramlet.graphs.molecules.parsing import molecule_from, quiet, rdkit

__all__ = ["scaffolds"]


def scaffolds(molecules: Iterable[Any]) -> list[str]:
    """The Bemis-Murcko scaffold of each molecule, as canonical SMILES without stereo centres.

    Side chains are removed; rings, the chains between them and atoms double-bonded to either
    remain. A molecule without rings has the scaffold ""; as usual, all such molecules form one
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
            # Written twice: cutting may leave stereo marks, which the second writing removes.
            found.append(chem.CanonSmiles(scaffold) if scaffold else "")
    return found
