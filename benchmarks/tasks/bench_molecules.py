"""Molecules from SMILES strings, compared with RDKit's parser alone."""

from __future__ import annotations

import importlib.util
from functools import partial
from typing import Any

import numpy as np

from benchmarks.cases import Case, register
from benchmarks.data import Source
from gramlet import GraphBatch, load_dataset, molecules


def needs_rdkit() -> str | None:
    """Why the cases cannot be run, if so."""
    return None if importlib.util.find_spec("rdkit") else "RDKit is not installed"


def spellings(source: Source) -> list[str]:
    """Distinct SMILES strings: the molecules of B3DB, each written from several atoms."""
    from rdkit import Chem

    n_strings = source.n_graphs or (500 if source.quick else 20_000)
    rng = np.random.default_rng(0)
    smiles = load_dataset("B3DB").molecules
    found: dict[str, None] = {}
    for seed in range(100):
        for text in rng.permutation(smiles).tolist():
            molecule = Chem.MolFromSmiles(text)
            found.setdefault(Chem.MolToRandomSmilesVect(molecule, 1, randomSeed=seed + 1)[0])
            if len(found) == n_strings:
                return list(found)
    raise ValueError(f"B3DB gives {len(found)} distinct strings, not {n_strings}")


def parse(texts: list[str]) -> Any:
    """RDKit's parser; each molecule is freed after its atoms are counted."""
    from rdkit import Chem

    return np.array([Chem.MolFromSmiles(text).GetNumAtoms() for text in texts])


def same_sizes(ours: GraphBatch, theirs: Any) -> None:
    assert np.array_equal(ours.sizes, theirs), "the molecules have other numbers of atoms"


register(
    Case(
        "molecules",
        "20,000 distinct SMILES strings as graphs",
        data=spellings,
        ours=molecules,
        peer=parse,
        peer_name="RDKit's parser alone",
        check=same_sizes,
        needs=needs_rdkit,
        target_ratio=1 / 1.5,
    )
)
register(
    Case(
        "molecules-all-properties",
        "20,000 distinct SMILES strings as graphs, with all atom properties",
        data=spellings,
        ours=partial(
            molecules,
            atoms=("element", "charge", "hydrogens", "aromatic", "chirality", "ring"),
        ),
        peer=parse,
        peer_name="RDKit's parser alone",
        check=same_sizes,
        needs=needs_rdkit,
    )
)
