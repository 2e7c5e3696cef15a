"""Molecular descriptors against RDKit's list, one function at a time."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

Chem = pytest.importorskip("rdkit.Chem", reason="needs RDKit: pip install gramlet[chem]")
from rdkit import rdBase  # noqa: E402
from rdkit.Chem import Descriptors  # noqa: E402

import gramlet  # noqa: E402
from gramlet import MolecularDescriptors  # noqa: E402
from gramlet.embeddings import molecular_descriptors  # noqa: E402
from gramlet.graphs.molecules.structures import smiles_of  # noqa: E402


def naive(smiles: list[str]) -> np.ndarray:
    """Every descriptor of every molecule; 0 where it raises or is not finite; at most 1e6."""
    rows = []
    with rdBase.BlockLogs():
        for text in smiles:
            molecule = Chem.MolFromSmiles(text)
            row = []
            for _, function in Descriptors.descList:
                try:
                    value = float(function(molecule))
                except Exception:
                    value = 0.0
                value = value if np.isfinite(value) else 0.0
                row.append(min(max(value, -1e6), 1e6))
            rows.append(row)
    return np.array(rows)


def test_they_are_rdkits():
    smiles = gramlet.load_dataset("B3DB").molecules[::400]
    embedding = MolecularDescriptors()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rows = embedding.fit_transform(gramlet.molecules(smiles))
        two_jobs = MolecularDescriptors(n_jobs=2).fit_transform(smiles)
        again = embedding.transform(smiles)
    np.testing.assert_array_equal(rows, naive(smiles))
    np.testing.assert_array_equal(two_jobs, rows)
    np.testing.assert_array_equal(again, rows)
    names = [name for name, _ in Descriptors.descList]
    assert embedding.get_feature_names_out().tolist() == embedding.names_ == names


def test_values_that_are_not_finite_are_counted_once(monkeypatch):
    monkeypatch.setattr(
        molecular_descriptors,
        "_descriptors",
        lambda: [("nan", lambda m: np.nan), ("raises", lambda m: 1 / 0), ("large", lambda m: 1e9)],
    )
    monkeypatch.setattr(molecular_descriptors, "_ROWS", {})
    with pytest.warns(UserWarning, match="4 descriptors of 2 .* the first is nan of") as w:
        rows = MolecularDescriptors().fit_transform(["CCO", "C"])
    assert len(w) == 1
    assert rows.tolist() == [[0.0, 0.0, 1e6]] * 2


def test_graphs_without_the_column_are_rebuilt_from_labels():
    smiles = ["CCO", "c1ccccc1C", "C[N+](C)(C)CC([O-])=O", "C#N", "[Na+].[Cl-]", "C1CC1Br"]
    bare = gramlet.molecules(smiles).with_columns(molecules=None)
    assert [Chem.CanonSmiles(text) for text in smiles] == smiles_of(bare)
    with pytest.warns(UserWarning, match="descriptors of 1 molecules are not finite"):
        rows = MolecularDescriptors().fit_transform(bare)
    np.testing.assert_allclose(rows, naive(smiles), rtol=1e-12, atol=1e-12)
    every = ("element", "charge", "hydrogens", "aromatic", "ring")
    rich = gramlet.molecules(["c1cc[nH]c1", "[Cr]", "C[CH2]"], atoms=every)
    assert smiles_of(rich.with_columns(molecules=None)) == ["c1cc[nH]c1", "[Cr]", "[CH2]C"]


@pytest.mark.parametrize(
    ("labels", "bonds", "reason"),
    [
        (None, ["single"], "it has no node labels"),
        (["C", "O"], None, "it has no edge labels"),
        (["C", "helix"], ["single"], "'helix' does not name an atom"),
        (["C", 7], ["single"], "7 does not name an atom"),
        (["C", "O"], ["friend"], "'friend' is not a type of bond"),
        (["F", "O"], ["triple"], "valence"),
    ],
)
def test_graphs_that_are_no_molecules_are_refused_by_position(labels, bonds, reason):
    good = gramlet.molecules(["CO"]).with_columns(molecules=None)
    graph = gramlet.GraphBatch.from_edges(
        [[(0, 1)]],
        node_labels=None if labels is None else [labels],
        edge_labels=None if bonds is None else [bonds],
    )
    if labels is not None and bonds is not None:
        graph = gramlet.GraphBatch.concatenate([good, graph])
    position = len(graph) - 1
    with pytest.raises(ValueError, match=rf"Graph {position} is not a molecule \(.*{reason}"):
        MolecularDescriptors().fit(graph)


def test_an_empty_graph_has_finite_descriptors():
    empty = gramlet.GraphBatch.from_edges([[]], n_nodes=[0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rows = MolecularDescriptors().fit_transform(empty)
    assert rows.shape == (1, len(Descriptors.descList))
    assert np.isfinite(rows).all()


def test_a_string_that_is_no_molecule_is_refused_by_position():
    batch = gramlet.molecules(["CO", "CC"]).with_columns(molecules=["CO", "C(("])
    with pytest.raises(ValueError, match=r"Graph 1: RDKit cannot read its molecule 'C\(\('"):
        MolecularDescriptors().fit_transform(batch)
