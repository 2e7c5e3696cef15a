"""Molecules: RDKit's own objects and SMILES strings, as graphs of atoms and bonds.

RDKit is imported when the first SMILES string is read. Hydrogens are nodes only where the
molecule has them as atoms.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from gramlet.graphs.record import AttributeNames, GraphRecord

__all__ = ["from_molecule", "from_smiles"]


def from_molecule(position: int, molecule: Any, names: AttributeNames) -> GraphRecord:
    """An RDKit molecule: atoms' symbols as node labels, bond types as edge labels."""
    bonds = list(molecule.GetBonds())
    return GraphRecord(
        edges=[(bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()) for bond in bonds],
        n_nodes=molecule.GetNumAtoms(),
        node_labels=[atom.GetSymbol() for atom in molecule.GetAtoms()],
        edge_labels=[bond.GetBondType().name for bond in bonds],
    )


def from_smiles(position: int, smiles: str, names: AttributeNames) -> GraphRecord:
    """A molecule written as a SMILES string."""
    rd_base, mol_from_smiles = _rdkit()
    with rd_base.BlockLogs():  # RDKit would print what the error below says
        molecule = mol_from_smiles(smiles)
    if molecule is None:
        raise ValueError(
            f"Graph {position}: {smiles!r} is not a valid SMILES string. "
            "Correct it, or remove it together with its target."
        )
    return from_molecule(position, molecule, names)


@cache
def _rdkit() -> tuple[Any, Any]:
    try:
        from rdkit import rdBase
        from rdkit.Chem import MolFromSmiles
    except ImportError:
        raise ImportError("Reading SMILES strings needs RDKit: pip install gramlet[chem]") from None
    return rdBase, MolFromSmiles
