"""Labels of atoms: which properties they show, and how they are written.

A label is the element's symbol followed by the properties asked for, always in the same order.
Whole sets of molecules are labelled in `molecule_columns`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gramlet.graphs.parsing import rdkit

__all__ = ["ATOM_PROPERTIES", "DEFAULT_ATOMS", "AtomLabels", "charged_label"]

ATOM_PROPERTIES = ("element", "charge", "hydrogens", "aromatic", "chirality", "ring")
DEFAULT_ATOMS = ("element", "charge")

# RDKit's tags; the neighbours are looked at in the order of the molecule's bonds.
_CHIRALITY = {
    "CHI_TETRAHEDRAL_CCW": "@",
    "CHI_TETRAHEDRAL_CW": "@@",
    "CHI_ALLENE": "@AL",
    "CHI_SQUAREPLANAR": "@SP",
    "CHI_TRIGONALBIPYRAMIDAL": "@TB",
    "CHI_OCTAHEDRAL": "@OH",
}


def charged_label(symbol: str, charge: int) -> str:
    """The symbol with its charge as sign and count.

    >>> [charged_label("N", 1), charged_label("O", -1), charged_label("Ca", 2)]
    ['N+', 'O-', 'Ca+2']
    """
    if charge == 0:
        return symbol
    count = abs(charge)
    return f"{symbol}{'+' if charge > 0 else '-'}{count if count > 1 else ''}"


class AtomLabels:
    """How atoms are labelled: by element and the properties asked for.

    Parameters
    ----------
    atoms : sequence of str
        Some of "element", "charge", "hydrogens", "aromatic", "chirality", "ring", in any order.

    Examples
    --------
    >>> from rdkit import Chem
    >>> pyrrole = Chem.MolFromSmiles("c1cc[nH]c1")
    >>> label = AtomLabels(("element", "ring", "hydrogens", "aromatic"))
    >>> [label(atom) for atom in pyrrole.GetAtoms()]
    ['CH1arr', 'CH1arr', 'CH1arr', 'NH1arr', 'CH1arr']
    """

    def __init__(self, atoms: Sequence[str]) -> None:
        self.asked = frozenset(_checked(atoms))
        self._symbol = rdkit().GetPeriodicTable().GetElementSymbol

    @property
    def from_element_and_charge(self) -> bool:
        """Whether element and charge decide the label."""
        return self.asked <= {"element", "charge"}

    def symbol(self, atom: Any) -> str:
        """The element's symbol; "*" for an atom of no element."""
        return str(self._symbol(atom.GetAtomicNum()))

    def __call__(self, atom: Any) -> str:
        """The label of an RDKit atom."""
        label = self.symbol(atom)
        if "charge" in self.asked:
            label = charged_label(label, atom.GetFormalCharge())
        if "hydrogens" in self.asked and (count := atom.GetTotalNumHs(includeNeighbors=True)):
            label += f"H{count}"
        if "aromatic" in self.asked and atom.GetIsAromatic():
            label += "ar"
        if "chirality" in self.asked:
            label += _CHIRALITY.get(atom.GetChiralTag().name, "")
        if "ring" in self.asked and atom.IsInRing():
            label += "r"
        return label


def _checked(atoms: Sequence[str]) -> tuple[str, ...]:
    known = ", ".join(repr(name) for name in ATOM_PROPERTIES)
    if isinstance(atoms, str):
        raise ValueError(f"atoms={atoms!r} must be a tuple; write ({atoms!r},). Known: {known}.")
    for name in atoms:
        if name not in ATOM_PROPERTIES:
            raise ValueError(f"atoms contains {name!r}, which is no atom property. Known: {known}.")
    return tuple(atoms)
