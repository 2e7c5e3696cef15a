"""Labels of Morgan fingerprints and the kernel on them, against RDKit's count fingerprints."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

Chem = pytest.importorskip("rdkit.Chem", reason="needs RDKit: pip install gramlet[chem]")
from rdkit.Chem import rdFingerprintGenerator, rdMolDescriptors  # noqa: E402

import gramlet  # noqa: E402
from gramlet.kernels import registry  # noqa: E402


def fingerprints(smiles: list[str], radius: int) -> list[Counter]:
    generator = rdFingerprintGenerator.GetMorganGenerator(
        radius=radius, includeRedundantEnvironments=True
    )
    mols = [Chem.MolFromSmiles(text) for text in smiles]
    return [Counter(generator.GetSparseCountFingerprint(mol).GetNonzeroElements()) for mol in mols]


@pytest.fixture(scope="module")
def smiles() -> list[str]:
    """Molecules in which every atom has a bond."""
    chosen = gramlet.load_dataset("B3DB").molecules[::60]
    others = ["C/C=C/C", "[13CH3]O", "C[N+](C)(C)C", "N[C@@H](C)C(=O)O", "C1CC1", "[2H]OC"]
    texts = [*chosen, *others]
    return [t for t in texts if all(a.GetDegree() for a in Chem.MolFromSmiles(t).GetAtoms())]


def test_labels_are_rdkits_invariants_and_bond_types():
    batch = gramlet.molecules(["CC(=O)[O-]", "c1cc[nH]c1"], atoms="morgan")
    expected = [
        value
        for text in batch.molecules
        for value in rdMolDescriptors.GetConnectivityInvariants(Chem.MolFromSmiles(text))
    ]
    assert list(batch.node_labels) == expected
    assert batch.edge_labels == gramlet.molecules(batch.molecules).edge_labels


@pytest.mark.parametrize("radius", [0, 1, 2, 3])
def test_counts_products_and_minima_are_those_of_the_fingerprints(smiles, radius):
    batch = gramlet.molecules(smiles, atoms="morgan")
    expected = fingerprints(smiles, radius)
    kernel = gramlet.WeisfeilerLehman(n_iter=radius).fit(batch)
    rows = kernel.features(batch).toarray()
    for row, counts in zip(rows, expected, strict=True):
        assert sorted(row[row > 0]) == sorted(counts.values())
    products = [[sum(a[k] * b[k] for k in a) for b in expected] for a in expected]
    minima = [[sum((a & b).values()) for b in expected] for a in expected]
    np.testing.assert_array_equal(kernel.transform(batch), products)
    oa = gramlet.WLOptimalAssignment(n_iter=radius)
    np.testing.assert_array_equal(oa.fit_transform(batch), minima)
    np.testing.assert_array_equal(
        registry.make("morgan", n_iter=radius).fit_transform(smiles), minima
    )


def test_new_molecules_are_compared_with_the_fitted_ones(smiles):
    kernel = gramlet.MorganKernel().fit(gramlet.molecules(smiles[:30]))
    expected = fingerprints(smiles, 2)
    minima = [[sum((a & b).values()) for b in expected[:30]] for a in expected[30:]]
    np.testing.assert_array_equal(kernel.transform(smiles[30:]), minima)
    norms = [sum(counts.values()) for counts in expected[30:]]
    np.testing.assert_array_equal(kernel.diagonal(smiles[30:]), norms)


def test_the_labels_of_the_batch_do_not_matter(smiles):
    plain = gramlet.MorganKernel().fit_transform(gramlet.molecules(smiles[:9]))
    bare = gramlet.molecules(smiles[:9], atoms=("element", "ring")).with_columns(edge_labels=None)
    np.testing.assert_array_equal(gramlet.MorganKernel().fit_transform(bare), plain)


def test_other_graphs_are_refused(smiles):
    kernel = gramlet.MorganKernel().fit(smiles[:5])
    graphs = gramlet.GraphBatch.from_edges([[(0, 1)]], node_labels=[["C", "O"]])
    for call in (gramlet.MorganKernel().fit, kernel.transform):
        with pytest.raises(ValueError, match=r"compares molecules.*gramlet\.molecules"):
            call(graphs)


def test_unknown_properties_are_refused():
    with pytest.raises(ValueError, match=r"atoms='ecfp' is wrong.*'morgan'"):
        gramlet.molecules(["C"], atoms="ecfp")
