"""Molecules: SMILES strings and RDKit's own objects, as graphs of atoms and bonds.

`molecules` checks the input, names the position in errors and distributes work over processes.
Reading atoms and bonds from RDKit one by one costs more than parsing, so bonds are read from the
matrix of bond orders, in one call per molecule. `parsing` calls RDKit's parser.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, overload

import numpy as np

from gramlet.common.arrays import Array, Ints
from gramlet.graphs.batch import GraphBatch
from gramlet.graphs.columns import Categorical, unify
from gramlet.graphs.conversion.record import AttributeNames, GraphRecord, records_of_batch
from gramlet.graphs.molecules.parsing import flat_molecule, molecule_from, quiet, rdkit

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
# Codes of bond types: twice the bond order if that is unique, else minus RDKit's number.
_BY_ORDER = {2: "single", 4: "double", 6: "triple", 3: "aromatic", 8: "quadruple"}
_CODE_OF_TYPE = {"SINGLE": 2, "DOUBLE": 4, "TRIPLE": 6, "AROMATIC": 3, "QUADRUPLE": 8}
# Above this size the square matrix of bond orders costs more than the list of bonds.
_LARGEST_MATRIX = 128
# Molecules per task: some tenths of a second of parsing.
_CHUNK = 2000


@dataclass(frozen=True)
class Unreadable:
    """An input that cannot be read: its position, the given value, and the reason."""

    position: int
    given: Any
    reason: str


@overload
def molecules(
    inputs: Iterable[Any],
    atoms: str | Sequence[str] = ...,
    hydrogens: bool = ...,
    n_jobs: int | None = ...,
    on_error: Literal["raise"] = ...,
) -> GraphBatch: ...


@overload
def molecules(
    inputs: Iterable[Any],
    atoms: str | Sequence[str] = ...,
    hydrogens: bool = ...,
    n_jobs: int | None = ...,
    *,
    on_error: Literal["skip"],
) -> tuple[GraphBatch, list[Unreadable]]: ...


def molecules(
    inputs: Iterable[Any],
    atoms: str | Sequence[str] = DEFAULT_ATOMS,
    hydrogens: bool = False,
    n_jobs: int | None = None,
    on_error: str = "raise",
) -> GraphBatch | tuple[GraphBatch, list[Unreadable]]:
    """Convert molecules into a batch of graphs: atoms are nodes, bonds are edges.

    Node labels are the element's symbol followed by the properties in ``atoms``; edge labels are
    the bond types "single", "double", "triple" and "aromatic" (others have RDKit's name in lower
    case: "dative", "quadruple", "zero", "unspecified", ...). A molecule of several fragments is
    one graph. The batch keeps the molecules as SMILES strings in its column ``molecules``. The cost
    is about that of RDKit's parser.

    Parameters
    ----------
    inputs : iterable of str and rdkit.Chem.Mol
        SMILES strings, RDKit molecules, or both; also a pandas Series or an array of them.
    atoms : tuple of str, or "morgan"
        What a node label contains besides the element's symbol, which is always included. The
        properties are written in this order, whatever the order of the tuple:

        - "charge": sign and count, if not 0 ("N+", "O-", "Ca+2");
        - "hydrogens": "H" and the number of attached hydrogens, if not 0, whether they are
          nodes or not ("NH2");
        - "aromatic": "ar" for atoms of aromatic rings;
        - "chirality": "@" or "@@" for centres with RDKit's counter-clockwise or clockwise tag
          ("@SP", "@TB", "@OH", "@AL" for other arrangements);
        - "ring": "r" for atoms in rings.

        "element" stands for the symbol. With "morgan" the labels are the integers that RDKit's
        Morgan fingerprints (ECFP) start from: `WeisfeilerLehman` with ``n_iter=r`` then counts
        the environments of the fingerprint of radius r, unfolded.
    hydrogens : bool
        Whether all hydrogens become nodes. By default only those that an RDKit molecule contains
        as atoms do, and those that RDKit keeps when it reads a string (``[H][H]``, isotopes).
    n_jobs : int, optional
        Processes to use, as in scikit-learn; None means one. (RDKit's parser does not run in
        several threads at once.) The result does not depend on it.
    on_error : {"raise", "skip"}
        What to do with inputs that cannot be read: raise a ValueError for the first one, or leave
        them out and also return them.

    Returns
    -------
    GraphBatch
        The graphs in the order of the inputs.
    list of Unreadable
        Only with ``on_error="skip"``: the ``position``, ``given`` value and ``reason`` of each
        input that was left out.

    Examples
    --------
    >>> from gramlet import molecules
    >>> batch = molecules(["C[N+](C)(C)CC([O-])=O", "c1ccccc1"])
    >>> batch
    GraphBatch(2 graphs, 14 nodes, 13 edges, 4 node labels, 3 edge labels)
    >>> sorted(set(batch.node_labels))
    ['C', 'N+', 'O', 'O-']
    >>> list(molecules(["CCO"], atoms=("element", "hydrogens")).node_labels)
    ['CH3', 'CH2', 'OH1']
    >>> list(molecules(["CCO"], atoms="morgan").node_labels)
    [2246728737, 2245384272, 864662311]
    >>> batch, failed = molecules(["CCO", "c1ccccc"], on_error="skip")
    >>> failed[0]
    Unreadable(position=1, given='c1ccccc', reason='unclosed ring')
    """
    if on_error not in ("raise", "skip"):
        raise ValueError(f"on_error={on_error!r} must be 'raise' or 'skip'.")
    batch, unreadable = read_molecules(inputs, atoms, hydrogens, n_jobs)
    if on_error == "skip":
        return batch, unreadable
    if unreadable:
        raise _refusal(unreadable, inputs)
    return batch


def read_molecules(
    inputs: Iterable[Any],
    atoms: str | Sequence[str] = DEFAULT_ATOMS,
    hydrogens: bool = False,
    n_jobs: int | None = None,
) -> tuple[GraphBatch, list[Unreadable]]:
    """The graphs of all inputs that can be read, and the inputs that cannot.

    For readers whose messages name a line or row instead of a position. Parameters as for
    :func:`molecules`.

    Examples
    --------
    >>> from gramlet.graphs.molecules.molecules import read_molecules
    >>> batch, unreadable = read_molecules(["CCO", "C(C)(C)(C)(C)C", None])
    >>> len(batch), [(each.position, each.reason) for each in unreadable]
    ... # doctest: +NORMALIZE_WHITESPACE
    (1, [(1, 'Explicit valence for atom # 0 C, 5, is greater than permitted'),
         (2, 'the value is missing')])
    """
    AtomLabels(atoms)  # refuses unknown properties before any work
    items = _items(inputs)
    chunks = [
        (items[first : first + _CHUNK], first, atoms, bool(hydrogens))
        for first in range(0, max(1, len(items)), _CHUNK)
    ]
    if n_jobs in (None, 1) or len(chunks) == 1:
        pieces = [_read(*chunk) for chunk in chunks]
    else:
        from joblib import Parallel, delayed

        pieces = Parallel(n_jobs=n_jobs)(delayed(_read)(*chunk) for chunk in chunks)
    return _joined(pieces), [each for piece in pieces for each in piece.unreadable]


def _items(inputs: Iterable[Any]) -> list[Any]:
    if isinstance(inputs, str) or is_molecule(inputs):
        raise TypeError(
            f"molecules takes a list of molecules; got a single {type(inputs).__name__}. "
            "Put it in a list: molecules([molecule])."
        )
    if getattr(inputs, "ndim", 1) != 1:
        shape = getattr(inputs, "shape", None)
        raise ValueError(f"molecules takes one column of molecules; got shape {shape}.")
    return list(inputs)


def _joined(pieces: list[_Piece]) -> GraphBatch:
    """One batch. The columns are symmetric, sorted and without repeats, so nothing is checked."""
    sizes = np.concatenate([piece.sizes for piece in pieces])
    degrees = np.concatenate([piece.degrees for piece in pieces])
    begins = np.cumsum([0, *(len(piece.labels) for piece in pieces)])
    neighbours = [p.neighbours + begin for p, begin in zip(pieces, begins, strict=False)]
    codes = np.concatenate([piece.bonds for piece in pieces])
    lowest = int(codes.min(initial=0))
    distinct = np.flatnonzero(np.bincount(codes - lowest)) + lowest
    bonds = np.zeros(int(codes.max(initial=0)) - lowest + 1, dtype=np.int64)
    bonds[distinct - lowest] = np.arange(len(distinct))
    *labels, alphabet = unify([p.labels for p in pieces])
    atoms = np.concatenate(labels)
    # Sorted, so that the codes do not depend on how the molecules were distributed.
    present = np.flatnonzero(np.bincount(atoms, minlength=len(alphabet))).tolist()
    order = sorted(present, key=lambda code: str(alphabet[code]))
    rank = np.zeros(len(alphabet) + 1, dtype=np.int64)
    rank[order] = np.arange(len(order))
    return GraphBatch(
        np.concatenate([[0], np.cumsum(sizes)]),
        np.concatenate([[0], np.cumsum(degrees)]),
        np.concatenate(neighbours),
        node_labels=Categorical(rank[atoms], [alphabet[code] for code in order]),
        edge_labels=Categorical(bonds[codes - lowest], [bond_name(int(code)) for code in distinct]),
        molecules=[text for piece in pieces for text in piece.smiles],
    )


def _refusal(unreadable: list[Unreadable], inputs: Any) -> ValueError:
    first = unreadable[0]
    place = f"Graph {first.position}"
    index: Any = getattr(inputs, "index", None)
    if hasattr(index, "get_indexer"):  # a pandas Series: its index names the row
        place += f" (index {index[first.position]!r})"
    if isinstance(first.given, str) and first.given.strip():
        what = f"{first.given!r} is not a valid SMILES string ({first.reason})"
    else:
        what = f"{first.given!r} is not a molecule ({first.reason})"
    others = len(unreadable) - 1
    more = f" {others} more cannot be read." if others else ""
    return ValueError(
        f"{place}: {what}.{more} Correct it, remove it together with its target, or leave such "
        'inputs out: gramlet.molecules(..., on_error="skip").'
    )


def is_molecule(item: Any) -> bool:
    """Whether an object is an RDKit molecule, without importing RDKit."""
    return any(
        base.__name__ == "Mol" and base.__module__.startswith("rdkit.")
        for base in type(item).__mro__
    )


def from_molecule(position: int, molecule: Any, names: AttributeNames) -> GraphRecord:
    """One molecule among graphs of other kinds."""
    batch, unreadable = read_molecules([molecule])
    if unreadable:
        raise _refusal([Unreadable(position, molecule, unreadable[0].reason)], None)
    return records_of_batch(batch)[0]


def from_smiles(position: int, smiles: str, names: AttributeNames) -> GraphRecord:
    """One SMILES string among graphs of other kinds."""
    return from_molecule(position, smiles, names)


def bond_name(code: int) -> str:
    """The edge label of a code: "single", "double", "triple", "aromatic", or RDKit's name.

    >>> [bond_name(2), bond_name(3), bond_name(-17)]
    ['single', 'aromatic', 'dative']
    """
    if code in _BY_ORDER:
        return _BY_ORDER[code]
    return str(rdkit().BondType.values[-code].name).lower()


# One chunk of molecules


@dataclass(frozen=True)
class _Piece:
    """Graphs of molecules as concatenated columns; bonds in both directions, neighbours sorted."""

    labels: Categorical
    sizes: Ints
    degrees: Ints
    neighbours: Ints
    bonds: Ints
    smiles: list[str]
    unreadable: list[Unreadable]


def _read(items: Sequence[Any], first: int, atoms: str | Sequence[str], hydrogens: bool) -> _Piece:
    """The columns of these SMILES strings and molecules; ``first`` is the first one's position.

    A molecule is freed as soon as it is read: freeing many at once costs half as much as parsing.
    """
    label = AtomLabels(atoms)
    sizes: list[int] = []
    codes: list[int] = []
    entries: list[Ints] = [np.zeros(0, dtype=np.int64)]
    orders: list[Array] = [np.zeros(0)]
    smiles: list[str] = []
    unreadable: list[Unreadable] = []
    with quiet():
        for position, item in enumerate(items, start=first):
            try:
                # If the text has no extras, and stereo centres are absent or do not matter.
                flat = not hydrogens and _is_bare(item) and not (label.stereo and "@" in item)
                molecule = flat_molecule(item) if flat else molecule_from(item)
                is_text = isinstance(item, str)
                text = str(item) if is_text else str(rdkit().MolToSmiles(molecule))
            except ValueError as why:
                unreadable.append(Unreadable(position, item, str(why)))
                continue
            except RuntimeError:  # RDKit's own checks, on damaged molecules
                reason = "RDKit cannot read its atoms and bonds"
                unreadable.append(Unreadable(position, item, reason))
                continue
            smiles.append(text)
            if hydrogens:
                molecule = rdkit().AddHs(molecule)
            codes += label.codes(molecule)
            ends, bond_orders = _bonds(molecule, use_matrix=is_text and not hydrogens)
            entries.append(ends)
            orders.append(bond_orders)
            sizes.append(molecule.GetNumAtoms())
    n_atoms = np.array(sizes, dtype=np.int64)
    lengths = np.array([len(each) for each in entries[1:]], dtype=np.int64)
    shift = np.repeat(np.cumsum(n_atoms) - n_atoms, lengths)
    tails, heads = np.divmod(np.concatenate(entries), np.repeat(n_atoms, lengths))
    return _Piece(
        labels=Categorical(np.array(codes, dtype=np.int64), label.labels),
        sizes=n_atoms,
        degrees=np.bincount(tails + shift, minlength=len(codes)),
        neighbours=heads + shift,
        bonds=(2 * np.concatenate(orders)).astype(np.int64),
        smiles=smiles,
        unreadable=unreadable,
    )


def _is_bare(item: Any) -> bool:
    """Whether an input is a string with a structure and nothing after it."""
    return isinstance(item, str) and item.isprintable() and " " not in item


def _bonds(molecule: Any, use_matrix: bool) -> tuple[Ints, Array]:
    """Positions of the bonds in the square matrix of the atoms, in order, and their orders."""
    n = molecule.GetNumAtoms()
    if use_matrix and n <= _LARGEST_MATRIX:
        orders = rdkit().GetAdjacencyMatrix(molecule, True).ravel()
        entries = orders.nonzero()[0]
        # The matrix lacks bonds of order 0, and has dative ones in one direction only.
        if len(entries) == 2 * molecule.GetNumBonds():
            return entries, orders[entries]
    ends = []
    codes = []
    for bond in molecule.GetBonds():
        kind = bond.GetBondType()
        ends.append((bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()))
        codes.append(_CODE_OF_TYPE.get(kind.name, -int(kind)))
    begin, end = np.array(ends, dtype=np.int64).reshape(-1, 2).T
    both = np.concatenate([begin * n + end, end * n + begin])
    order = np.argsort(both)
    return both[order], np.array([*codes, *codes], dtype=np.float64)[order] / 2


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
    """How atoms are labelled: by element and the chosen properties, or by Morgan invariants.

    Parameters
    ----------
    atoms : sequence of str, or "morgan"
        Some of "element", "charge", "hydrogens", "aromatic", "chirality", "ring", in any order.

    Attributes
    ----------
    labels : list
        The labels that the codes of `codes` stand for.

    Examples
    --------
    >>> from rdkit import Chem
    >>> pyrrole = Chem.MolFromSmiles("c1cc[nH]c1")
    >>> label = AtomLabels(("element", "ring", "hydrogens", "aromatic"))
    >>> [label.labels[code] for code in label.codes(pyrrole)]
    ['CH1arr', 'CH1arr', 'CH1arr', 'NH1arr', 'CH1arr']
    """

    def __init__(self, atoms: str | Sequence[str]) -> None:
        self.labels: list[Any] = []
        self._code_of: dict[Any, int] = {}  # of labels and of combinations of properties
        self.invariants: Callable[[Any], Any] | None = None
        self.stereo = False
        chem = rdkit()
        if isinstance(atoms, str) and atoms == "morgan":
            from rdkit.Chem.rdMolDescriptors import GetConnectivityInvariants

            self.invariants = GetConnectivityInvariants
            return
        asked = frozenset(_checked(atoms))
        self.stereo = "chirality" in asked
        self._symbol = chem.GetPeriodicTable().GetElementSymbol
        readers: dict[str, Callable[[Any], Any]] = {
            "charge": chem.Atom.GetFormalCharge,
            "hydrogens": lambda atom: atom.GetTotalNumHs(True),  # also those that are nodes
            "aromatic": chem.Atom.GetIsAromatic,
            "chirality": chem.Atom.GetChiralTag,
            "ring": chem.Atom.IsInRing,
        }
        self._names = [name for name in readers if name in asked]
        self._number = chem.Atom.GetAtomicNum
        self._readers = [self._number, *(readers[name] for name in self._names)]
        # Few atoms are charged: only these are read property by property, if that is all.
        self._by_element = asked <= {"element", "charge"}
        self._charged = chem.MolFromSmarts("[!+0]") if "charge" in asked else None

    def codes(self, molecule: Any) -> list[int]:
        """The codes of all atoms; each combination of properties is formatted once."""
        if self.invariants is not None:
            return [self._code(value) for value in self.invariants(molecule)]
        atoms = molecule.GetAtoms()
        if not self._by_element:
            return [self._code(tuple([read(atom) for read in self._readers])) for atom in atoms]
        code_of, number = self._code_of, self._number
        numbers = [number(atom) for atom in atoms]
        try:
            codes = [code_of[n] for n in numbers]
        except KeyError:
            codes = [self._code(n) for n in numbers]
        if self._charged is not None:
            n = len(numbers)
            for (i,) in molecule.GetSubstructMatches(self._charged, maxMatches=n):
                atom = molecule.GetAtomWithIdx(i)
                codes[i] = self._code(tuple([read(atom) for read in self._readers]))
        return codes

    def _code(self, values: Any) -> int:
        code = self._code_of.get(values)
        if code is None:
            label = values if self.invariants is not None else self._text(values)
            code = self._code_of.get(label)
            if code is None:
                code = self._code_of[label] = len(self.labels)
                self.labels.append(label)
            self._code_of[values] = code
        return code

    def _text(self, values: Any) -> str:
        number, *rest = values if isinstance(values, tuple) else (values,)
        properties = dict(zip(self._names, rest, strict=False))
        # The symbol of the periodic table, not of the atom, which may be the name of a placeholder.
        label = charged_label(str(self._symbol(number)), properties.get("charge", 0))
        if properties.get("hydrogens"):
            label += f"H{properties['hydrogens']}"
        if properties.get("aromatic"):
            label += "ar"
        if "chirality" in properties:
            label += _CHIRALITY.get(properties["chirality"].name, "")
        if properties.get("ring"):
            label += "r"
        return label


def _checked(atoms: str | Sequence[str]) -> tuple[str, ...]:
    known = ", ".join(repr(name) for name in ATOM_PROPERTIES)
    if isinstance(atoms, str):
        written = f"must be a tuple; write ({atoms!r},)" if atoms in ATOM_PROPERTIES else "is wrong"
        raise ValueError(f"atoms={atoms!r} {written}. Known: {known}, or atoms='morgan'.")
    for name in atoms:
        if name not in ATOM_PROPERTIES:
            raise ValueError(
                f"atoms contains {name!r}, which is not an atom property. Known: {known}."
            )
    return tuple(atoms)
