"""Scaffolds against RDKit's own function, and graphs equal up to the order of the atoms."""

from __future__ import annotations

import numpy as np
import pytest

MurckoScaffold = pytest.importorskip(
    "rdkit.Chem.Scaffolds.MurckoScaffold", reason="needs RDKit: pip install gramlet[chem]"
)

import gramlet  # noqa: E402
from gramlet import GraphBatch, load_dataset, scaffolds  # noqa: E402
from gramlet.graphs.molecules.structures import first_other_molecule  # noqa: E402


def test_rings_and_links_remain():
    assert scaffolds(["Cc1ccccc1", "OC(=O)C1CC1", "CCO", "[Na+].[Cl-]"]) == [
        "c1ccccc1",
        "C1CC1",
        "",
        "",
    ]
    assert scaffolds(["c1ccccc1CCc1ccncc1"]) == ["c1ccc(CCc2ccncc2)cc1"]


def test_spelling_and_stereo_centres_do_not_matter():
    one, other, flat = scaffolds(["C[C@H]1CCN[C@@H]1C", "C[C@@H]1CCN[C@H]1C", "C1C(C)C(C)NC1"])
    assert one == other == flat == "C1CCNC1"


def test_as_rdkit_makes_them():
    smiles = load_dataset("B3DB").molecules[::10]
    expected = [MurckoScaffold.MurckoScaffoldSmiles(text) for text in smiles]
    assert scaffolds(smiles) == expected


@pytest.mark.parametrize("bad", ["C((", "", None])
def test_what_is_no_molecule_is_refused_by_position(bad, capfd):
    with pytest.raises(ValueError, match=r"Molecule 1: .* has no scaffold"):
        scaffolds(["C", bad])
    assert capfd.readouterr().err == ""


SYMMETRIC = ["C12C3C4C1C5C2C3C45", "C1CCCCCCCCCCC1", "O.O.CC.CC.O", "CC(C)(C)C(C)(C)C", "[2H]O[2H]"]


def _shuffled(graphs: GraphBatch, seed: int) -> GraphBatch:
    """The same graphs with their nodes in another order."""
    rng = np.random.default_rng(seed)
    edges, labels, bonds = [], [], []
    for graph in graphs:
        place = rng.permutation(graph.n_nodes_total)
        tails, heads = graph.arcs()
        once = tails < heads
        edges.append(list(zip(place[tails[once]], place[heads[once]], strict=True)))
        labels.append([graph.node_labels[i] for i in np.argsort(place)])
        bonds.append([graph.edge_labels[i] for i in np.flatnonzero(once)])
    sizes = graphs.sizes.tolist()
    return GraphBatch.from_edges(edges, n_nodes=sizes, node_labels=labels, edge_labels=bonds)


def test_the_order_of_atoms_does_not_matter():
    strings = [*SYMMETRIC, *gramlet.load_dataset("B3DB").molecules[:100]]
    graphs = gramlet.molecules(strings)
    for seed in range(3):
        other = _shuffled(graphs, seed)
        assert other != graphs
        assert first_other_molecule(graphs, other) is None


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("CCO", "COC"),
        ("CC", "C=C"),
        ("C1CCCCC1", "C1CC1.C1CC1"),
        ("CN", "C[NH3+]"),
        ("C1CCCC2C1CCCC2", "C1CCCC1C1CCCC1"),  # colour refinement cannot distinguish them
    ],
)
def test_other_molecules_have_other_strings(one, other):
    assert first_other_molecule(gramlet.molecules(["C", one]), gramlet.molecules(["C", other])) == 1


def test_missing_labels_differ_from_all_labels():
    graphs = gramlet.molecules(["CCO"])
    assert first_other_molecule(graphs, graphs.with_columns(edge_labels=None)) == 0
    bare = graphs.with_columns(edge_labels=None, node_labels=None)
    assert first_other_molecule(bare, bare) is None
