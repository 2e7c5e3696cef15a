"""Molecules: SMILES strings and RDKit objects, with the real RDKit."""

from __future__ import annotations

import pickle
import random
import subprocess
import sys

import numpy as np
import pytest

from gramlet import GraphBatch, as_batch, load_dataset, molecules
from gramlet.graphs.fingerprint import graphs_digest
from gramlet.graphs.molecules import parsing
from gramlet.graphs.molecules.molecules import read_molecules

Chem = pytest.importorskip("rdkit.Chem", reason="needs RDKit: pip install gramlet[chem]")

from reference.molecules import naive_molecules  # noqa: E402  # needs RDKit

ALL = ("element", "charge", "hydrogens", "aromatic", "chirality", "ring")
ETHANOL = GraphBatch.from_edges(
    [[(0, 1), (1, 2)]], node_labels=["CCO"], edge_labels=[["single", "single"]]
)
# Strings on which counting atoms in the text, or reading bonds from a matrix, could go wrong.
TRICKY = [
    "[H][H]",
    "[2H]C",
    "[H]C([H])([H])[H]",
    "[H+]",
    "[H]Cl",
    "[#6]C",
    "*C",
    "[1*]C",
    "[13CH4]",
    "O=N(=O)c1ccccc1",
    "[O-][N+](=O)C",
    "CN=[N]#N",
    "OCl(=O)(=O)=O",
    "N#N=N",
    "[Na+].[Cl-]",
    "[O-2].[Ca+2]",
    "C[N+](C)(C)C.[Br-]",
    "[Fe+2]",
    "[Pt](Cl)(Cl)(N)N",
    "[Cu]<-N",
    "N->[Cu]",
    "C~C",
    "C$C",
    "C#N",
    "O=C=O",
    "F/C=C/F",
    "C%12CCCCC%12",
    "C%(123)CC%(123)",
    "Clc1ccccc1Br",
    "BrBr",
    "[Cl][Cl]",
    "Cn1cccc1",
    "CSc1ccccc1",
    "[se]1cccc1",
    "[nH]1cccc1",
    "c1cc[n+]cc1C",
    "[Si](C)(C)(C)C",
    "[CH3:7]Cl",
    "[B-](F)(F)(F)F",
    "C" * 200,
    "CCO ethanol",
    "C1CC1 |$R1;;$|",
    " CC",
    "CC\t7",
    "N[C@@H](C)C(=O)O",
    "N[C@H](C)C(=O)O",
    "C1CC[C@H]2CCCC[C@@H]2C1",
    "c1ccc2c(c1)CCCC2",
]


def labels(smiles: str, *atoms: str, **options: bool) -> list[str]:
    return list(molecules([smiles], atoms=atoms, **options).node_labels)


def test_atoms_and_bonds():
    assert as_batch(["CCO"]) == molecules(["CCO"]) == ETHANOL
    batch = as_batch(["c1ccccc1Cl", "C#N", "O=C=O"])
    assert batch.sizes.tolist() == [7, 2, 3]
    assert batch.n_edges.tolist() == [7, 1, 2]
    assert list(batch[0].node_labels) == ["C"] * 6 + ["Cl"]
    assert set(batch[0].edge_labels.used()) == {"aromatic", "single"}
    assert batch[1].edge_labels.used() == ("triple",)
    assert batch[2].edge_labels.used() == ("double",)


def test_labels_show_what_is_asked_for_in_one_order():
    assert labels("C[N+](C)(C)CC(=O)[O-]", "element", "charge").count("N+") == 1
    assert labels("[O-2].[Ca+2]", "element", "charge") == ["O-2", "Ca+2"]
    assert labels("[O-2].[Ca+2]", "element") == ["O", "Ca"]
    assert labels("CN", "hydrogens", "element") == ["CH3", "NH2"]
    assert labels("c1ccccc1C", "element", "aromatic") == ["Car"] * 6 + ["C"]
    assert labels("C1CC1C", "ring", "element") == ["Cr"] * 3 + ["C"]
    pyridinium = labels("c1cc[nH+]cc1", "ring", "aromatic", "hydrogens", "charge", "element")
    assert pyridinium[3] == "N+H1arr"
    assert labels("N[C@@H](C)C(=O)O", *ALL)[1] == "CH1@@"
    assert labels("N[C@H](C)C(=O)O", *ALL)[1] == "CH1@"
    assert labels("NC(C)C(=O)O", *ALL)[1] == "CH1"


def test_hydrogens_become_nodes():
    assert labels("CO", "element", "charge", hydrogens=True) == ["C", "O"] + ["H"] * 4
    assert labels("CO", "element", "hydrogens", hydrogens=True)[:2] == ["CH3", "OH1"]
    assert molecules(["CO"], hydrogens=True).n_edges.tolist() == [5]


@pytest.mark.parametrize("atoms", [("element",), ("element", "charge"), ALL])
@pytest.mark.parametrize("hydrogens", [False, True])
def test_as_rdkit_tells_them_one_by_one(atoms, hydrogens):
    smiles = [*TRICKY, *load_dataset("B3DB").molecules[::20]]
    batch, unreadable = read_molecules(smiles, atoms, hydrogens)
    assert batch == naive_molecules(smiles, atoms, hydrogens)
    assert {each.given for each in unreadable} == {"OCl(=O)(=O)=O"} - set(readable(smiles))


def readable(smiles: list[str]) -> list[str]:
    return [text for text in smiles if Chem.MolFromSmiles(text) is not None]


@pytest.mark.parametrize("atoms", [("element", "charge"), ALL])
def test_damaged_strings_are_read_or_refused_as_rdkit_does(atoms):
    rng = random.Random(0)
    smiles = []
    for text in load_dataset("B3DB").molecules[::8]:
        letters = list(text)
        for _ in range(rng.choice([1, 1, 2, 3])):
            letters[rng.randrange(len(letters))] = rng.choice("CNOSPcnosFIBrl[]()=#+-@H123%.*/\\:")
        smiles.append("".join(letters))
    batch, unreadable = read_molecules(smiles, atoms)
    assert 50 < len(unreadable) < len(smiles) - 20
    refused = {each.position for each in unreadable}
    with parsing.quiet():
        assert refused == {i for i, s in enumerate(smiles) if Chem.MolFromSmiles(s) is None}
    assert batch == naive_molecules(smiles, atoms)


def test_spelling_of_a_molecule_does_not_matter():
    molecule = Chem.MolFromSmiles(load_dataset("B3DB").molecules[5])
    texts = Chem.MolToRandomSmilesVect(molecule, 20, randomSeed=1)
    batch = molecules(texts)
    counts = {tuple(sorted(zip(graph.node_labels, graph.degrees, strict=True))) for graph in batch}
    assert len(set(texts)) > 10
    assert len(counts) == 1


def test_rings_of_six_differ_by_their_bonds():
    benzene, cyclohexane, cyclohexene = molecules(["c1ccccc1", "C1CCCCC1", "C1=CCCCC1"])
    assert benzene.edge_labels.used() == ("aromatic",)
    assert cyclohexane.edge_labels.used() == ("single",)
    assert sorted(cyclohexene.edge_labels.used()) == ["double", "single"]
    assert molecules(["C1=CC=CC=C1"]) == benzene


def test_other_bond_types_have_names():
    assert molecules(["[Cu]<-N"]).edge_labels.used() == ("dative",)
    assert molecules(["C$C"]).edge_labels.used() == ("quadruple",)
    assert molecules(["C~C"]).edge_labels.used() == ("unspecified",)


def test_fragments_are_one_graph():
    batch = molecules(["[Na+].[Cl-]", "CC.O"])
    assert batch.sizes.tolist() == [2, 3]
    assert batch.n_edges.tolist() == [0, 1]


def test_molecules_and_strings_agree_and_mix():
    molecule = Chem.MolFromSmiles("CCO")
    assert as_batch([molecule]) == ETHANOL
    assert as_batch([Chem.RWMol(molecule)]) == ETHANOL
    assert as_batch([molecule, "CCO"]) == GraphBatch.concatenate([ETHANOL] * 2)
    assert as_batch([ETHANOL, "CCO", molecule]) == GraphBatch.concatenate([ETHANOL] * 3)
    assert as_batch([Chem.AddHs(molecule)]).sizes.tolist() == [9]
    smiles = load_dataset("B3DB").molecules[:300]
    assert molecules(list(map(Chem.MolFromSmiles, smiles)), ALL) == molecules(smiles, ALL)


def test_molecules_not_sanitized_are_completed_and_left_alone():
    molecule = Chem.MolFromSmiles("C1CC1O", sanitize=False)
    assert list(molecules([molecule], ALL).node_labels) == labels("C1CC1O", *ALL)
    assert molecule.NeedsUpdatePropertyCache()


def test_series_and_arrays():
    pd = pytest.importorskip("pandas", reason="needs pandas")
    assert molecules(pd.Series(["CCO", "CCO"], index=[7, 7])) == molecules(["CCO", "CCO"])
    with pytest.raises(ValueError, match=r"Graph 1 \(index 'b'\): nan is not a molecule"):
        molecules(pd.Series(["CCO", np.nan], index=["a", "b"]))
    assert as_batch(np.array(["CCO", "CCO"])) == as_batch(["CCO", "CCO"])
    assert as_batch(np.array(["CCO"], dtype=object)) == ETHANOL
    assert len(molecules([])) == 0
    assert len(molecules(text for text in ["C", "CC"])) == 2


def test_options_of_as_batch_hold_for_molecules():
    arcs = as_batch(["CCO", "CC"], directed=True)
    assert arcs.directed
    assert arcs.to_undirected() == molecules(["CCO", "CC"])
    assert list(as_batch(["CCO"], node_labels="degree").node_labels) == [1, 2, 1]


def test_processes_change_nothing():
    smiles = [*load_dataset("B3DB").molecules, "C(", *TRICKY[:9]]
    alone = read_molecules(smiles)
    shared = read_molecules(smiles, n_jobs=2)
    assert shared[1] == alone[1]
    assert shared[0] == alone[0]
    for column in ("node_labels", "edge_labels"):
        mine, theirs = getattr(shared[0], column), getattr(alone[0], column)
        assert mine.categories == theirs.categories
        assert np.array_equal(mine.codes, theirs.codes)


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        ("C((", "syntax error at character 3"),
        ("c1cccc", "unclosed ring"),
        ("xyz", "syntax error at character 1"),
        ("C(C)(C)(C)(C)C", "Explicit valence for atom # 0 C, 5, is greater than permitted"),
        ("c1cncc1", "Can't kekulize mol.  Unkekulized atoms: 0 1 2 3 4"),
        ("CC)", "extra close parentheses at character 3"),
    ],
)
@pytest.mark.parametrize("read", [as_batch, molecules, lambda x: as_batch([*x, ETHANOL])])
def test_bad_strings_are_refused_by_position_and_quietly(bad, reason, read, capfd):
    with pytest.raises(ValueError, match=r"Graph 2: .* is not a valid SMILES") as raised:
        read(["C", "CC", bad, "CCC"])
    assert f"{bad!r} is not a valid SMILES string ({reason})" in str(raised.value)
    assert 'on_error="skip"' in str(raised.value)
    printed = capfd.readouterr()
    assert printed.out + printed.err == ""


@pytest.mark.parametrize("nothing", ["", "  ", None, float("nan"), 7, b"CC"])
def test_what_is_no_molecule_is_refused_by_position(nothing):
    with pytest.raises(ValueError, match=r"Graph 1: .* is not a molecule \("):
        molecules(["C", nothing])
    batch, unreadable = molecules(["C", nothing, "CC"], on_error="skip")
    assert batch == molecules(["C", "CC"])
    assert [each.position for each in unreadable] == [1]


def test_skipping_tells_what_was_left_out(capfd):
    batch, unreadable = molecules(["C((", "CCO", "c1cccc"], on_error="skip")
    assert batch == ETHANOL
    assert [(each.position, each.given) for each in unreadable] == [(0, "C(("), (2, "c1cccc")]
    assert unreadable[1].reason == "unclosed ring"
    assert len(molecules(["C(("], on_error="skip")[0]) == 0
    assert capfd.readouterr().err == ""


def test_wrong_options():
    with pytest.raises(ValueError, match=r"atoms contains 'mass'.*'element', 'charge', 'hydrogens"):
        molecules(["C"], atoms=("element", "mass"))
    with pytest.raises(ValueError, match=r"must be a tuple; write \('charge',\)"):
        molecules(["C"], atoms="charge")
    with pytest.raises(ValueError, match="on_error='ignore' must be 'raise' or 'skip'"):
        molecules(["C"], on_error="ignore")
    with pytest.raises(TypeError, match=r"single str.*molecules\(\[molecule\]\)"):
        molecules("CCO")
    with pytest.raises(TypeError, match="single Mol"):
        molecules(Chem.MolFromSmiles("C"))
    with pytest.raises(TypeError, match="single rdkit Mol"):
        as_batch(Chem.MolFromSmiles("C"))
    with pytest.raises(ValueError, match=r"one column of molecules; got shape \(1, 2\)"):
        molecules(np.array([["C", "CC"]]))


def test_logs_are_on_again_afterwards(capfd):
    molecules(["C", "C(("], on_error="skip")
    Chem.MolFromSmiles("C((")
    assert "SMILES Parse Error" in capfd.readouterr().err


def test_without_rdkit_the_error_names_the_extra():
    code = (
        "import sys; sys.modules['rdkit'] = None\n"
        "import gramlet\n"
        "for read in (gramlet.molecules, gramlet.as_batch, gramlet.scaffolds):\n"
        "    try: read(['CCO'])\n"
        "    except ImportError as error: print(error)\n"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.count("pip install gramlet[chem]") == 3


def test_a_batch_keeps_its_molecules():
    texts = ["CCO", "c1ccccc1 benzene", "[2H]O"]
    batch = molecules(texts)
    assert batch.molecules == as_batch(texts).molecules == tuple(texts)
    assert list(batch[[2, 0]].molecules) == ["[2H]O", "CCO"]
    assert list(batch[1].molecules) == ["c1ccccc1 benzene"]
    joined = GraphBatch.concatenate([batch, batch[:0], molecules(["C"])])
    assert list(joined.molecules) == [*texts, "C"]
    assert pickle.loads(pickle.dumps(batch)).molecules == tuple(texts)
    assert as_batch(batch, directed=True).to_undirected().molecules == tuple(texts)
    assert as_batch(texts, node_labels="degree").molecules == tuple(texts)
    assert list(molecules(["C", "C((", "O"], on_error="skip")[0].molecules) == ["C", "O"]


def test_molecules_of_rdkit_are_kept_as_strings():
    given = [Chem.MolFromSmiles("OCC"), Chem.MolFromSmiles("N[C@@H](C)C(=O)O")]
    assert list(as_batch(given).molecules) == ["CCO", "C[C@H](N)C(=O)O"]
    assert list(molecules([given[0], "OCC"], hydrogens=True).molecules) == ["CCO", "OCC"]


def test_the_column_is_not_compared_and_may_be_missing():
    batch = molecules(["CCO"])
    bare = batch.with_columns(molecules=None)
    assert bare.molecules is None
    assert bare == batch
    assert GraphBatch.concatenate([batch, bare]).molecules is None
    assert as_batch([*batch.to_networkx(), "C"]).molecules is None
    with pytest.raises(ValueError, match="molecules has 2 entries for 1 graphs"):
        batch.with_columns(molecules=["C", "O"])
    with pytest.raises(TypeError, match="Graph 0: molecules must be SMILES strings; got 7"):
        batch.with_columns(molecules=[7])


def test_stored_work_depends_on_the_molecules():
    batch = molecules(["N[C@@H](C)O"])
    other = batch.with_columns(molecules=["N[C@H](C)O"])
    assert graphs_digest(batch) == graphs_digest(molecules(["N[C@@H](C)O"]))
    assert graphs_digest(batch) != graphs_digest(other)
