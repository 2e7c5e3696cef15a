"""What molecules are as a whole: scaffolds, equality up to the order of atoms, and their strings.

A batch that was made from molecules keeps their SMILES strings. Other graphs are molecules if their
labels name atoms and bonds, as `gramlet.molecules` writes them; RDKit then rebuilds them.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from gramlet.common.arrays import Ints
from gramlet.graphs.batch import GraphBatch
from gramlet.graphs.columns import Categorical
from gramlet.graphs.molecules.parsing import molecule_from, quiet, rdkit

# Charge, hydrogens, aromatic, chirality, ring: as `gramlet.molecules` writes them.
_PROPERTIES = re.compile(r"([+-]\d*)?(H\d+)?(ar)?(@\w*)?r?")


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

    names = []
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
            names.append(chem.CanonSmiles(scaffold) if scaffold else "")
    return names


# Molecules of graphs


def smiles_of(batch: GraphBatch) -> list[str]:
    """One SMILES string per graph: those that the batch keeps, or rebuilt from its labels.

    Hydrogens, isotopes and chirality that the labels do not name are lost. A graph without nodes
    gives "".

    Raises
    ------
    ValueError
        With the position of the first graph that is not a molecule.

    Examples
    --------
    >>> import gramlet
    >>> batch = gramlet.molecules(["OCC", "c1ccccc1"])
    >>> smiles_of(batch), smiles_of(batch.with_columns(molecules=None))
    (['OCC', 'c1ccccc1'], ['CCO', 'c1ccccc1'])
    """
    if batch.molecules is not None:
        return list(batch.molecules)
    texts = []
    with quiet():
        for position, graph in enumerate(batch):
            try:
                texts.append(_rebuilt(graph))
            except ValueError as why:
                raise ValueError(
                    f"Graph {position} is not a molecule ({str(why).strip()}). Read molecules with "
                    "gramlet.molecules, which keeps them in the column batch.molecules."
                ) from None
    return texts


class _Atom(NamedTuple):
    symbol: str
    charge: int
    hydrogens: int | None
    aromatic: bool


def _rebuilt(graph: GraphBatch) -> str:
    """The SMILES string of one graph whose labels name atoms and bonds."""
    chem = rdkit()
    if graph.n_nodes_total == 0:
        return ""
    if graph.node_labels is None:
        raise ValueError("it has no node labels")
    if graph.edge_labels is None and len(graph.indices):
        raise ValueError("it has no edge labels")
    molecule = chem.RWMol()
    for label in graph.node_labels:
        molecule.AddAtom(_rdkit_atom(label))
    for tail, head, label in zip(*graph.arcs(), graph.edge_labels or (), strict=True):
        if tail < head:
            kind = chem.BondType.names.get(str(label).upper())
            if kind is None:
                raise ValueError(f"the edge label {label!r} is not a type of bond")
            molecule.AddBond(int(tail), int(head), kind)
            if kind == chem.BondType.AROMATIC:
                for atom in (tail, head):
                    molecule.GetAtomWithIdx(int(atom)).SetIsAromatic(True)
                molecule.GetBondBetweenAtoms(int(tail), int(head)).SetIsAromatic(True)
    chem.SanitizeMol(molecule)
    return str(chem.MolToSmiles(molecule))


def _rdkit_atom(label: Any) -> Any:
    chem = rdkit()
    described = _atom_of(label) if isinstance(label, str) else None
    if described is None:
        raise ValueError(f"the node label {label!r} does not name an atom")
    atom = chem.Atom(described.symbol)
    atom.SetFormalCharge(described.charge)
    atom.SetIsAromatic(described.aromatic)
    if described.hydrogens is not None:
        atom.SetNumExplicitHs(described.hydrogens)
        atom.SetNoImplicit(True)
    return atom


def _atom_of(label: str) -> _Atom | None:
    """The atom that a label stands for; None if it is none.

    "Cr" is chromium, as the periodic table has it; "Car" is an aromatic carbon.

    >>> _atom_of("N+H1arr"), _atom_of("Car").symbol, _atom_of("Cr").symbol, _atom_of("helix")
    (_Atom(symbol='N', charge=1, hydrogens=1, aromatic=True), 'C', 'Cr', None)
    """
    letters = re.match(r"[A-Z][a-z]?|\*", label)
    if letters is None:
        return None
    table = rdkit().GetPeriodicTable()
    for symbol in (letters[0],) if letters[0] == label else (label[0], letters[0]):
        rest = _PROPERTIES.fullmatch(label[len(symbol) :])
        if rest is not None and (symbol == "*" or table.GetAtomicNumber(symbol) > 0):
            sign, count = (rest[1] or "+0")[0], (rest[1] or "+0")[1:] or "1"
            hydrogens = None if rest[2] is None else int(rest[2][1:])
            return _Atom(symbol, int(sign + count), hydrogens, rest[3] is not None)
    return None


# Equality


def first_other_molecule(molecules: GraphBatch, others: GraphBatch) -> int | None:
    """The first position where two batches of undirected graphs are not isomorphic, or None.

    Isomorphisms preserve labels of nodes and edges; weights and attributes are not compared.

    >>> import gramlet
    >>> ethanol, methanol = gramlet.molecules(["CCO"]), gramlet.molecules(["OC"])
    >>> first_other_molecule(ethanol, gramlet.molecules(["OCC"]))
    >>> first_other_molecule(ethanol, methanol)
    0
    """
    numbers: dict[Hashable, int] = {}
    pairs = zip(_strings(molecules, numbers), _strings(others, numbers), strict=True)
    return next((position for position, (one, other) in enumerate(pairs) if one != other), None)


def _strings(batch: GraphBatch, numbers: dict[Hashable, int]) -> Iterator[str]:
    """One canonical string per graph; ``numbers`` has the number of each label."""
    nodes = _numbered(batch.node_labels, batch.n_nodes_total, numbers)
    edges = _numbered(batch.edge_labels, len(batch.indices), numbers)
    tails, heads = batch.arcs()
    for first, last in zip(batch.node_offsets[:-1], batch.node_offsets[1:], strict=True):
        arcs = np.arange(batch.indptr[first], batch.indptr[last])
        arcs = arcs[tails[arcs] < heads[arcs]]
        ends = (tails[arcs] - first).tolist(), (heads[arcs] - first).tolist()
        yield _string(nodes[first:last].tolist(), *ends, edges[arcs].tolist())


def _numbered(column: Categorical | None, length: int, numbers: dict[Hashable, int]) -> Ints:
    """The numbers of labels from 1; 0 where there are none."""
    if column is None:
        return np.zeros(length, dtype=np.int64)
    known = [numbers.setdefault(label, len(numbers) + 1) for label in column.categories]
    return np.array([*known, 0])[column.codes]


def _string(nodes: list[int], tails: list[int], heads: list[int], edges: list[int]) -> str:
    """The canonical string of one graph, with labels as isotopes and an atom for each edge."""
    chem = rdkit()
    molecule = chem.RWMol()

    def add(element: int, label: int) -> int:
        atom = chem.Atom(element)
        atom.SetIsotope(label)
        return int(molecule.AddAtom(atom))

    for label in nodes:
        add(0, label)
    for tail, head, label in zip(tails, heads, edges, strict=True):
        middle = add(1, label)
        molecule.AddBond(tail, middle, chem.BondType.SINGLE)
        molecule.AddBond(middle, head, chem.BondType.SINGLE)
    return str(chem.MolToSmiles(molecule))
