"""Molecules: RDKit objects and SMILES strings, with the real RDKit."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from gramlet import GraphBatch, as_batch
from gramlet.graphs import chem

Chem = pytest.importorskip("rdkit.Chem", reason="needs RDKit: pip install gramlet[chem]")

ETHANOL = GraphBatch.from_edges(
    [[(0, 1), (1, 2)]], node_labels=["CCO"], edge_labels=[["SINGLE", "SINGLE"]]
)


def test_atoms_and_bonds():
    assert as_batch(["CCO"]) == ETHANOL
    batch = as_batch(["c1ccccc1Cl", "C#N", "O=C=O"])
    assert batch.sizes.tolist() == [7, 2, 3]
    assert batch.n_edges.tolist() == [7, 1, 2]
    assert list(batch[0].node_labels) == ["C"] * 6 + ["Cl"]
    assert set(batch[0].edge_labels.used()) == {"AROMATIC", "SINGLE"}
    assert batch[1].edge_labels.used() == ("TRIPLE",)
    assert batch[2].edge_labels.used() == ("DOUBLE",)


def test_molecules_and_strings_agree_and_mix():
    molecule = Chem.MolFromSmiles("CCO")
    assert as_batch([molecule]) == ETHANOL
    assert as_batch([Chem.RWMol(molecule)]) == ETHANOL
    assert as_batch([molecule, "CCO"]) == GraphBatch.concatenate([ETHANOL] * 2)
    with_hydrogens = Chem.AddHs(molecule)
    assert as_batch([with_hydrogens]).sizes.tolist() == [9]


def test_arrays_of_strings():
    assert as_batch(np.array(["CCO", "CCO"])) == as_batch(["CCO", "CCO"])
    assert as_batch(np.array(["CCO"], dtype=object)) == ETHANOL


def test_lone_atoms_and_nothing_at_all():
    batch = as_batch(["C", "", "[Na+].[Cl-]", "CCO"])
    assert batch.sizes.tolist() == [1, 0, 2, 3]
    assert batch.n_edges.tolist() == [0, 0, 0, 2]


@pytest.mark.parametrize("bad", ["C((", "c1cccc", "xyz", "C(C)(C)(C)(C)C"])
def test_bad_strings_are_refused_by_position_and_quietly(bad, capfd):
    with pytest.raises(ValueError, match=r"Graph 2: .* is not a valid SMILES") as raised:
        as_batch(["C", "CC", bad])
    assert repr(bad) in str(raised.value)
    printed = capfd.readouterr()
    assert printed.out + printed.err == ""


def test_a_bare_molecule_is_refused():
    with pytest.raises(TypeError, match="single rdkit Mol"):
        as_batch(Chem.MolFromSmiles("C"))


def test_without_rdkit_the_error_names_the_extra(monkeypatch):
    chem._rdkit.cache_clear()
    monkeypatch.setitem(sys.modules, "rdkit", None)
    with pytest.raises(ImportError, match=r"pip install gramlet\[chem\]"):
        as_batch(["CCO"])
