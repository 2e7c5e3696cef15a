"""Canonical strings of molecules' graphs: the order of the atoms does not matter.

RDKit orders the nodes and writes the string. A string spells every node, edge and label of its
graph, so graphs with equal strings are isomorphic.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator

import numpy as np

from gramlet.common.arrays import Ints
from gramlet.graphs.batch import GraphBatch
from gramlet.graphs.columns import Categorical
from gramlet.graphs.molecules.parsing import rdkit

__all__ = ["first_other_molecule"]


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
