"""Drawings of molecules: which graphs are molecules, and the positions of their atoms.

A graph is drawn as a molecule if all its node labels begin with an element's symbol, as
`gramlet.molecules` writes them, and its edge labels are bond types. Coordinates come from RDKit
if it is installed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from gramlet.common.arrays import Floats, Ints
from gramlet.graphs.molecules.parsing import quiet

__all__ = ["BOND_ORDERS", "Atom", "atom_of", "atoms_of", "molecule_points"]

# Lines per bond type; aromatic bonds have a solid line and a dashed one.
BOND_ORDERS = {
    "single": 1.0,
    "double": 2.0,
    "triple": 3.0,
    "aromatic": 1.5,
    "quadruple": 4.0,
    "dative": 1.0,
}

_ELEMENTS = (
    "H He Li Be B C N O F Ne Na Mg Al Si P S Cl Ar K Ca Sc Ti V Cr Mn Fe Co Ni Cu Zn Ga Ge As Se "
    "Br Kr Rb Sr Y Zr Nb Mo Tc Ru Rh Pd Ag Cd In Sn Sb Te I Xe Cs Ba La Ce Pr Nd Pm Sm Eu Gd Tb Dy "
    "Ho Er Tm Yb Lu Hf Ta W Re Os Ir Pt Au Hg Tl Pb Bi Po At Rn Fr Ra Ac Th Pa U"
)
_SYMBOLS = frozenset(_ELEMENTS.split())
# Charge, hydrogens, aromatic, chirality, ring: as `gramlet.molecules` writes them.
_SUFFIX = re.compile(r"([+-]\d*)?(H\d*)?(?:ar)?(?:@\w*)?r?")
_RAISED = str.maketrans("+-0123456789", "⁺⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_LOWERED = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
_BOND_LENGTH = 1.5  # of RDKit


class Atom(tuple[str, str]):
    """(symbol, text): the element, and the text of the atom, e.g. ("N", "NH₂⁺")."""

    __slots__ = ()


def atom_of(label: str) -> Atom | None:
    """The atom that a label stands for; None if it is not an atom.

    >>> atom_of("N+"), atom_of("OH1"), atom_of("Cl"), atom_of("Car"), atom_of("helix")
    (('N', 'N⁺'), ('O', 'OH'), ('Cl', 'Cl'), ('C', 'C'), None)
    """
    found = re.match(r"[A-Z][a-z]?", label)
    if found is None:
        return None
    long, short = found[0], label[0]
    for symbol in (long,) if long == label else (short, long):
        suffix = _SUFFIX.fullmatch(label[len(symbol) :])
        if symbol in _SYMBOLS and suffix is not None:
            charge, hydrogens = suffix[1] or "", suffix[2] or ""
            hydrogens = "H" + hydrogens[1:].replace("1", "", hydrogens == "H1") if hydrogens else ""
            text = symbol + hydrogens.translate(_LOWERED) + charge.translate(_RAISED)
            return Atom((symbol, text))
    return None


def atoms_of(labels: Sequence[str], bonds: Sequence[str]) -> list[Atom] | None:
    """The atoms of a graph with these labels of nodes and edges; None if it is not a molecule.

    >>> atoms_of(["C", "O"], ["double"])
    [('C', 'C'), ('O', 'O')]
    >>> atoms_of(["C", "O"], ["friend"]) is None
    True
    """
    if not labels or not all(bond in BOND_ORDERS for bond in bonds):
        return None
    known = {label: atom_of(label) for label in set(labels)}
    found = [known[label] for label in labels]
    return None if None in found else [atom for atom in found if atom is not None]


def molecule_points(atoms: Sequence[Atom], edges: Ints, orders: Sequence[float]) -> Floats | None:
    """RDKit's coordinates with bonds of length 1; None without RDKit, or if it gives none."""
    try:
        from rdkit import Chem
        from rdkit.Chem import rdDepictor
    except ImportError:
        return None
    kinds = {
        1.0: Chem.BondType.SINGLE,
        2.0: Chem.BondType.DOUBLE,
        3.0: Chem.BondType.TRIPLE,
        1.5: Chem.BondType.AROMATIC,
        4.0: Chem.BondType.QUADRUPLE,
    }
    try:
        with quiet():
            return _coordinates(Chem, rdDepictor, atoms, edges, [kinds[o] for o in orders])
    except (RuntimeError, ValueError):
        return None


def _coordinates(
    chem: Any, depictor: Any, atoms: Sequence[Atom], edges: Ints, kinds: Sequence[Any]
) -> Floats | None:
    molecule = chem.RWMol()
    for symbol, _ in atoms:
        molecule.AddAtom(chem.Atom(symbol))
    for (u, v), kind in zip(edges.tolist(), kinds, strict=True):
        molecule.AddBond(u, v, kind)
    plain = molecule.GetMol()
    plain.UpdatePropertyCache(strict=False)
    chem.FastFindRings(plain)
    depictor.Compute2DCoords(plain, canonOrient=True)
    points: Floats = np.asarray(plain.GetConformer().GetPositions())[:, :2] / _BOND_LENGTH
    return points if np.isfinite(points).all() else None
