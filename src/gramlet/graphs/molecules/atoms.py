"""Labels of atoms: which properties they contain, and how they are written.

A label is the element's symbol followed by the chosen properties, always in the same order.
Whole sets of molecules are labelled in `molecule_columns`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from gramlet.graphs.molecules.parsing import rdkit

__all__ = ["ATOM_PROPERTIES", "DEFAULT_ATOMS", "AtomLabels", "charged_label"]

ATOM_PROPERTIES = ("element", "charge", "hydrogens", "aromatic", "chirality", "ring")
DEFAULT_ATOMS = ("element", "charge")

# RDKit's tags; they refer to the order of the molecule's bonds.
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
    """How atoms are labelled: by element and the chosen properties.

    Parameters
    ----------
    atoms : sequence of str
        Some of "element", "charge", "hydrogens", "aromatic", "chirality", "ring", in any order.

    Examples
    --------
    >>> from rdkit import Chem
    >>> pyrrole = Chem.MolFromSmiles("c1cc[nH]c1")
    >>> AtomLabels(("element", "ring", "hydrogens", "aromatic")).of(pyrrole.GetAtoms())
    ['CH1arr', 'CH1arr', 'CH1arr', 'NH1arr', 'CH1arr']
    """

    def __init__(self, atoms: Sequence[str]) -> None:
        self.asked = frozenset(_checked(atoms))
        chem = rdkit()
        self._symbol = chem.GetPeriodicTable().GetElementSymbol
        readers: dict[str, Callable[[Any], Any]] = {
            "charge": chem.Atom.GetFormalCharge,
            "hydrogens": lambda atom: atom.GetTotalNumHs(True),  # also those that are nodes
            "aromatic": chem.Atom.GetIsAromatic,
            "chirality": chem.Atom.GetChiralTag,
            "ring": chem.Atom.IsInRing,
        }
        self._names = [name for name in readers if name in self.asked]
        self._readers = [chem.Atom.GetAtomicNum, *(readers[name] for name in self._names)]
        self._known: dict[tuple[Any, ...], str] = {}

    @property
    def from_element_and_charge(self) -> bool:
        """Whether element and charge alone determine the label."""
        return self.asked <= {"element", "charge"}

    def of(self, atoms: Iterable[Any]) -> list[str]:
        """The labels of RDKit atoms; each combination of properties is formatted once."""
        labels = []
        for atom in atoms:
            values = tuple([read(atom) for read in self._readers])
            label = self._known.get(values)
            if label is None:
                label = self._known[values] = self._text(values)
            labels.append(label)
        return labels

    def _text(self, values: tuple[Any, ...]) -> str:
        found = dict(zip(self._names, values[1:], strict=True))
        # The symbol of the periodic table, not of the atom, which may be the name of a placeholder.
        label = charged_label(str(self._symbol(values[0])), found.get("charge", 0))
        if found.get("hydrogens"):
            label += f"H{found['hydrogens']}"
        if found.get("aromatic"):
            label += "ar"
        if "chirality" in found:
            label += _CHIRALITY.get(found["chirality"].name, "")
        if found.get("ring"):
            label += "r"
        return label


def _checked(atoms: Sequence[str]) -> tuple[str, ...]:
    known = ", ".join(repr(name) for name in ATOM_PROPERTIES)
    if isinstance(atoms, str):
        raise ValueError(f"atoms={atoms!r} must be a tuple; write ({atoms!r},). Known: {known}.")
    for name in atoms:
        if name not in ATOM_PROPERTIES:
            raise ValueError(
                f"atoms contains {name!r}, which is not an atom property. Known: {known}."
            )
    return tuple(atoms)
