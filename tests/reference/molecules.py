"""Molecules as graphs, read from RDKit one atom and one bond at a time."""

from __future__ import annotations

from typing import Any

from rdkit import Chem, rdBase

from gramlet import GraphBatch

__all__ = ["naive_label", "naive_molecules"]


def naive_label(atom: Any, atoms: tuple[str, ...]) -> str:
    """Symbol, charge, hydrogens, aromaticity, chirality, ring, in this order."""
    charge = atom.GetFormalCharge()
    label = Chem.GetPeriodicTable().GetElementSymbol(atom.GetAtomicNum())
    if "charge" in atoms and charge != 0:
        label += "+" if charge > 0 else "-"
        label += str(abs(charge)) if abs(charge) > 1 else ""
    n_hydrogens = atom.GetTotalNumHs(includeNeighbors=True)
    if "hydrogens" in atoms and n_hydrogens:
        label += f"H{n_hydrogens}"
    if "aromatic" in atoms and atom.GetIsAromatic():
        label += "ar"
    if "chirality" in atoms:
        tags = Chem.ChiralType
        label += {tags.CHI_TETRAHEDRAL_CCW: "@", tags.CHI_TETRAHEDRAL_CW: "@@"}.get(
            atom.GetChiralTag(), ""
        )
    if "ring" in atoms and atom.IsInRing():
        label += "r"
    return label


def naive_molecules(
    smiles: list[str], atoms: tuple[str, ...] = ("element", "charge"), hydrogens: bool = False
) -> GraphBatch:
    """The graphs of all strings that RDKit can parse."""
    with rdBase.BlockLogs():
        found = [Chem.MolFromSmiles(text) for text in smiles]
    read = [molecule for molecule in found if molecule is not None and molecule.GetNumAtoms()]
    if hydrogens:
        read = [Chem.AddHs(molecule) for molecule in read]
    return GraphBatch.from_edges(
        [[(b.GetBeginAtomIdx(), b.GetEndAtomIdx()) for b in m.GetBonds()] for m in read],
        n_nodes=[molecule.GetNumAtoms() for molecule in read],
        node_labels=[[naive_label(atom, atoms) for atom in m.GetAtoms()] for m in read],
        edge_labels=[[str(b.GetBondType()).lower() for b in m.GetBonds()] for m in read],
    )
