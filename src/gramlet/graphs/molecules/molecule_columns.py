"""Columns of a set of molecules: labels of atoms, bonds as sorted neighbours, types of bonds.

Reading atoms and bonds from RDKit one by one costs about as much as parsing. So bonds are read from
the matrix of bond orders, in one call per molecule, and elements from the SMILES strings, all at
once: atoms have the order of the text, and RDKit is called once per distinct spelling ("[nH]",
"Cl") to get its element (`spellings`). Molecules for which this is not exact are read atom by atom.
A molecule is freed as soon as it is read: freeing many at once costs half as much as parsing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gramlet.common.arrays import Array, Ints
from gramlet.graphs.columns import Categorical
from gramlet.graphs.molecules.atoms import AtomLabels
from gramlet.graphs.molecules.parsing import flat_molecule, molecule_from, quiet, rdkit
from gramlet.graphs.molecules.spellings import Spellings

__all__ = ["MoleculeColumns", "Unreadable", "bond_name", "columns_of"]

# Codes of bond types: twice the bond order if that is unique, else minus RDKit's number.
_BY_ORDER = {2: "single", 4: "double", 6: "triple", 3: "aromatic", 8: "quadruple"}
_CODE_OF_TYPE = {"SINGLE": 2, "DOUBLE": 4, "TRIPLE": 6, "AROMATIC": 3, "QUADRUPLE": 8}
# Above this size the square matrix of bond orders costs more than the list of bonds.
_LARGEST_MATRIX = 128


@dataclass(frozen=True)
class Unreadable:
    """An input that cannot be read: its position, the given value, and the reason."""

    position: int
    given: Any
    reason: str


@dataclass
class MoleculeColumns:
    """Graphs of molecules as concatenated columns; bonds in both directions, neighbours sorted."""

    labels: Ints
    alphabet: tuple[str, ...]
    sizes: Ints
    degrees: Ints
    neighbours: Ints
    bonds: Ints
    unreadable: list[Unreadable] = field(default_factory=list)


def bond_name(code: int) -> str:
    """The edge label of a code: "single", "double", "triple", "aromatic", or RDKit's name.

    >>> [bond_name(2), bond_name(3), bond_name(-17)]
    ['single', 'aromatic', 'dative']
    """
    if code in _BY_ORDER:
        return _BY_ORDER[code]
    return str(rdkit().BondType.values[-code].name).lower()


def columns_of(
    items: Sequence[Any], first: int, atoms: tuple[str, ...], hydrogens: bool
) -> MoleculeColumns:
    """The columns of these SMILES strings and molecules; ``first`` is the first one's position."""
    label = AtomLabels(atoms)
    texts = [str(item) if isinstance(item, str) and not hydrogens else "" for item in items]
    spellings = Spellings(texts)
    stereo = "chirality" in label.asked
    reading = _Reading(label)
    unreadable: list[Unreadable] = []
    spelled = np.zeros(len(items), dtype=bool)
    with quiet():
        for i, item in enumerate(items):
            try:
                # If the text has no extras, and stereo centres are absent or do not matter.
                flat = spellings.counts[i] > 0 and not (stereo and "@" in item)
                molecule = flat_molecule(item) if flat else molecule_from(item)
            except ValueError as why:
                unreadable.append(Unreadable(first + i, item, str(why)))
                continue
            if hydrogens:
                molecule = rdkit().AddHs(molecule)
            if label.from_element_and_charge:
                spelled[i] = spellings.counts[i] == molecule.GetNumAtoms()
            reading.add(molecule, from_text=bool(texts[i]), spelled=bool(spelled[i]))
    return reading.columns(spellings.symbols(spelled), unreadable)


class _Reading:
    """Collects the number of atoms, labels and entries of the bond matrix per molecule."""

    def __init__(self, label: AtomLabels) -> None:
        self.label = label
        self.sizes: list[int] = []
        self.n_atoms = 0
        self.spelled: list[bool] = []
        self.labelled: list[tuple[int, str]] = []  # (atom over all molecules, label)
        self.entries: list[Ints] = [np.zeros(0, dtype=np.int64)]
        self.orders: list[Array] = [np.zeros(0)]
        self._matrix = rdkit().GetAdjacencyMatrix
        # Charges come from the molecule, not the text: RDKit writes N(=O)=O with charges.
        self._charged = rdkit().MolFromSmarts("[!+0]") if "charge" in label.asked else None

    def add(self, molecule: Any, from_text: bool, spelled: bool) -> None:
        """Read a molecule; ``spelled``: its elements are known from its SMILES string."""
        n = molecule.GetNumAtoms()
        first = self.n_atoms
        if not spelled:
            labels = self.label.of(molecule.GetAtoms())
            self.labelled += zip(range(first, first + n), labels, strict=True)
        elif self._charged is not None:
            found = [i for (i,) in molecule.GetSubstructMatches(self._charged, maxMatches=n)]
            labels = self.label.of(map(molecule.GetAtomWithIdx, found))
            self.labelled += [(first + i, text) for i, text in zip(found, labels, strict=True)]
        self._add_bonds(molecule, n, from_text)
        self.spelled.append(spelled)
        self.sizes.append(n)
        self.n_atoms += n

    def _add_bonds(self, molecule: Any, n: int, from_text: bool) -> None:
        if from_text and n <= _LARGEST_MATRIX:
            orders = self._matrix(molecule, True).ravel()
            entries = orders.nonzero()[0]
            # The matrix lacks bonds of order 0, and has dative ones in one direction only.
            if len(entries) == 2 * molecule.GetNumBonds():
                self.entries.append(entries)
                self.orders.append(orders[entries])
                return
        entries, codes = _listed_bonds(molecule)
        self.entries.append(entries)
        self.orders.append(codes / 2)

    def columns(self, symbols: Categorical, unreadable: list[Unreadable]) -> MoleculeColumns:
        """The columns of all molecules; ``symbols``: elements read from SMILES strings."""
        sizes = np.array(self.sizes, dtype=np.int64)
        lengths = np.array([len(each) for each in self.entries[1:]], dtype=np.int64)
        shift = np.repeat(np.cumsum(sizes) - sizes, lengths)
        tails, heads = np.divmod(np.concatenate(self.entries), np.repeat(sizes, lengths))
        labels, alphabet = self._labels(symbols, sizes)
        return MoleculeColumns(
            labels=labels,
            alphabet=alphabet,
            sizes=sizes,
            degrees=np.bincount(tails + shift, minlength=self.n_atoms),
            neighbours=heads + shift,
            bonds=(2 * np.concatenate(self.orders)).astype(np.int64),
            unreadable=unreadable,
        )

    def _labels(self, symbols: Categorical, sizes: Ints) -> tuple[Ints, tuple[str, ...]]:
        """One code per atom, and the sorted labels that the codes stand for."""
        index = {str(symbol): code for code, symbol in enumerate(symbols.categories)}
        codes = np.zeros(self.n_atoms, dtype=np.int64)
        codes[np.repeat(np.array(self.spelled, dtype=bool), sizes)] = symbols.codes
        for atom, text in self.labelled:
            codes[atom] = index.setdefault(text, len(index))
        # Sorted, so that the codes do not depend on the order of reading.
        used = np.bincount(codes, minlength=len(index)) > 0
        alphabet = sorted(text for text, code in index.items() if used[code])
        rank = {text: code for code, text in enumerate(alphabet)}
        table = np.array([rank.get(text, 0) for text in index], dtype=np.int64)
        return (table[codes] if len(codes) else codes), tuple(alphabet)


def _listed_bonds(molecule: Any) -> tuple[Ints, Array]:
    n = molecule.GetNumAtoms()
    ends = []
    codes = []
    for bond in molecule.GetBonds():
        kind = bond.GetBondType()
        ends.append((bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()))
        codes.append(_CODE_OF_TYPE.get(kind.name, -int(kind)))
    begin, end = np.array(ends, dtype=np.int64).reshape(-1, 2).T
    both = np.concatenate([begin * n + end, end * n + begin])
    order = np.argsort(both)
    return both[order], np.array([*codes, *codes], dtype=np.float64)[order]
