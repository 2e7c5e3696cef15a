"""Murcko scaffolds against RDKit's own function."""

from __future__ import annotations

import pytest

MurckoScaffold = pytest.importorskip(
    "rdkit.Chem.Scaffolds.MurckoScaffold", reason="needs RDKit: pip install gramlet[chem]"
)

from gramlet import load_dataset, scaffolds  # noqa: E402


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
