"""Molecules: SMILES strings and RDKit's own objects, as graphs of atoms and bonds.

This module checks the input, names the position in errors and distributes work over processes.
`atoms` and `molecule_columns` convert the atoms and bonds of a molecule.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal, overload

import numpy as np

from gramlet.graphs.batch import GraphBatch
from gramlet.graphs.columns import Categorical, unify
from gramlet.graphs.conversion.record import AttributeNames, GraphRecord, records_of_batch
from gramlet.graphs.molecules.atoms import DEFAULT_ATOMS, AtomLabels
from gramlet.graphs.molecules.molecule_columns import (
    MoleculeColumns,
    Unreadable,
    bond_name,
    columns_of,
)

__all__ = [
    "Unreadable",
    "from_molecule",
    "from_smiles",
    "is_molecule",
    "molecules",
    "read_molecules",
]

# Molecules per task: some tenths of a second of parsing.
_CHUNK = 2000


@overload
def molecules(
    inputs: Iterable[Any],
    atoms: Sequence[str] = ...,
    hydrogens: bool = ...,
    n_jobs: int | None = ...,
    on_error: Literal["raise"] = ...,
) -> GraphBatch: ...


@overload
def molecules(
    inputs: Iterable[Any],
    atoms: Sequence[str] = ...,
    hydrogens: bool = ...,
    n_jobs: int | None = ...,
    *,
    on_error: Literal["skip"],
) -> tuple[GraphBatch, list[Unreadable]]: ...


def molecules(
    inputs: Iterable[Any],
    atoms: Sequence[str] = DEFAULT_ATOMS,
    hydrogens: bool = False,
    n_jobs: int | None = None,
    on_error: str = "raise",
) -> GraphBatch | tuple[GraphBatch, list[Unreadable]]:
    """Convert molecules into a batch of graphs: atoms are nodes, bonds are edges.

    Node labels are the element's symbol followed by the properties in ``atoms``; edge labels are
    the bond types "single", "double", "triple" and "aromatic" (others have RDKit's name in lower
    case: "dative", "quadruple", "zero", "unspecified", ...). A molecule of several fragments is
    one graph. The cost is about that of RDKit's parser.

    Parameters
    ----------
    inputs : iterable of str and rdkit.Chem.Mol
        SMILES strings, RDKit molecules, or both; also a pandas Series or an array of them.
    atoms : tuple of str
        What a node label contains besides the element's symbol, which is always included. The
        properties are written in this order, whatever the order of the tuple:

        - "charge": sign and count, if not 0 ("N+", "O-", "Ca+2");
        - "hydrogens": "H" and the number of attached hydrogens, if not 0, whether they are
          nodes or not ("NH2");
        - "aromatic": "ar" for atoms of aromatic rings;
        - "chirality": "@" or "@@" for centres with RDKit's counter-clockwise or clockwise tag
          ("@SP", "@TB", "@OH", "@AL" for other arrangements);
        - "ring": "r" for atoms in rings.

        "element" stands for the symbol.
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
    atoms: Sequence[str] = DEFAULT_ATOMS,
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
        (items[first : first + _CHUNK], first, tuple(atoms), bool(hydrogens))
        for first in range(0, max(1, len(items)), _CHUNK)
    ]
    if n_jobs in (None, 1) or len(chunks) == 1:
        pieces = [columns_of(*chunk) for chunk in chunks]
    else:
        from joblib import Parallel, delayed

        pieces = Parallel(n_jobs=n_jobs)(delayed(columns_of)(*chunk) for chunk in chunks)
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


def _joined(pieces: list[MoleculeColumns]) -> GraphBatch:
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
    *labels, alphabet = unify([Categorical(p.labels, p.alphabet) for p in pieces])
    # Sorted, so that the codes do not depend on how the molecules were distributed.
    order = sorted(range(len(alphabet)), key=lambda code: str(alphabet[code]))
    rank = np.argsort(order)
    return GraphBatch(
        np.concatenate([[0], np.cumsum(sizes)]),
        np.concatenate([[0], np.cumsum(degrees)]),
        np.concatenate(neighbours),
        node_labels=Categorical(rank[np.concatenate(labels)], [alphabet[code] for code in order]),
        edge_labels=Categorical(bonds[codes - lowest], [bond_name(int(code)) for code in distinct]),
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
