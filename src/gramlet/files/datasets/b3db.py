"""B3DB: the embedded molecules of the blood-brain barrier, with classes and measured values.

The graphs are stored beside the SMILES strings, so that RDKit is not needed to load them. How the
files were made is in ``tools/prepare_b3db.py``, what they contain in ``files/data/README.md``.
"""

from __future__ import annotations

import csv
import gzip
from pathlib import Path

import numpy as np

from gramlet.files.dataset import Dataset
from gramlet.graphs.batch import GraphBatch
from gramlet.graphs.columns import Categorical

__all__ = ["B3DB_NAMES", "load_b3db"]

B3DB_NAMES = ("B3DB", "B3DB-logBB")

_DATA = Path(__file__).parents[1] / "data"
_DESCRIPTION = """\
Molecules that do (BBB+) or do not (BBB-) pass the blood-brain barrier, and logBB, the decimal
logarithm of the ratio of concentrations in brain and blood, where it was measured. Prepared from
the package qc-B3DB 1.1.1 (CC0): flat molecules, each once, those with conflicting values left out.
Meng, Xi, Huang, Ayers, A curated diverse molecular database of blood-brain barrier permeability
with chemical descriptors, Scientific Data 8, 289, 2021."""


def load_b3db(name: str = "B3DB") -> Dataset:
    """The embedded data set B3DB, or its part with measured values.

    Parameters
    ----------
    name : {"B3DB", "B3DB-logBB"}
        All molecules with their classes (1 for BBB+, 0 for BBB-), or the molecules with a measured
        logBB as the target.

    Returns
    -------
    Dataset
        With ``molecules`` (SMILES strings), ``ids`` (numbers of the original table) and
        ``target_name``; "B3DB" also has ``logBB``, which is NaN where it was not measured.

    Examples
    --------
    >>> from gramlet.files.datasets.b3db import load_b3db
    >>> load_b3db().molecules[3]
    'CCNC(=NCCSCc1ncccc1Br)NC#N'
    >>> load_b3db("B3DB-logBB").target[:4].tolist()
    [-2.69, -2.52, -2.4, -2.15]
    """
    with gzip.open(_DATA / "B3DB.csv.gz", "rt", encoding="ascii", newline="") as file:
        rows = list(csv.DictReader(file))
    graphs = _stored_graphs(_DATA / "B3DB.npz", [row["smiles"] for row in rows])
    ids = [row["id"] for row in rows]
    values = np.array([float(row["logBB"] or "nan") for row in rows])
    if name == "B3DB":
        return Dataset(
            graphs,
            np.array([int(row["class"]) for row in rows]),
            name=name,
            description=_DESCRIPTION,
            target_names={1: "BBB+", 0: "BBB-"},
            target_name="class",
            ids=ids,
            logBB=values,
        )
    measured = np.flatnonzero(~np.isnan(values))
    return Dataset(
        graphs[measured],
        values[measured],
        name=name,
        description=_DESCRIPTION,
        target_name="logBB",
        ids=[ids[i] for i in measured],
    )


def _stored_graphs(path: Path, smiles: list[str]) -> GraphBatch:
    """The graphs: per atom the number of earlier neighbours, per bond the distance and the type."""
    with np.load(path, allow_pickle=False) as stored:
        sizes = stored["sizes"].astype(np.int64)
        earlier = stored["earlier"].astype(np.int64)
        atoms = np.repeat(np.arange(len(earlier)), earlier)
        return GraphBatch.from_arcs(
            np.concatenate([[0], np.cumsum(sizes)]),
            atoms,
            atoms - stored["steps"],
            node_labels=Categorical(stored["atoms"], stored["atom_labels"].tolist()),
            edge_labels=Categorical(stored["bonds"], stored["bond_labels"].tolist()),
            molecules=smiles,
        )
