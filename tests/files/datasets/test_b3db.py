"""The embedded B3DB: its content, its preparation, and loading without RDKit."""

from __future__ import annotations

import gzip
import hashlib
import importlib.util
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import gramlet
from gramlet import as_batch, load_dataset
from gramlet.files.dataset import DatasetNotFoundError
from gramlet.files.datasets import catalogue

DATA = Path(gramlet.__file__).parent / "files" / "data"
SCRIPT = Path(__file__).resolve().parents[3] / "tools" / "prepare_b3db.py"
HAS_RDKIT = importlib.util.find_spec("rdkit") is not None


@pytest.fixture(scope="module")
def b3db():
    return load_dataset("B3DB", download=False)


def test_contents(b3db):
    assert len(b3db.graphs) == len(b3db.molecules) == len(b3db.ids) == 3901
    assert np.bincount(b3db.target).tolist() == [1430, 2471]
    assert b3db.target_names == {1: "BBB+", 0: "BBB-"}
    assert len(set(b3db.molecules)) == len(set(b3db.ids)) == 3901
    assert not any(sign in text for text in b3db.molecules for sign in "@/\\")
    assert "CC0" in b3db.description


def test_measured_values(b3db):
    measured = load_dataset("B3DB-logBB", download=False)
    there = np.flatnonzero(~np.isnan(b3db.logBB))
    assert len(measured.graphs) == len(there) == 888
    assert measured.target.tolist() == b3db.logBB[there].tolist()
    assert measured.graphs == b3db.graphs[there]
    assert measured.molecules == [b3db.molecules[i] for i in there]
    assert measured.ids == [b3db.ids[i] for i in there]
    assert measured.target.min() == -2.69
    assert measured.target_names is None


@pytest.mark.parametrize("name", ["b3db", "B3db", "B3DB-LOGBB", "b3db-logbb", "mutag"])
def test_any_case(name):
    assert load_dataset(name, download=False).name.lower() == name.lower()
    assert load_dataset(name, download=False).name in ("B3DB", "B3DB-logBB", "MUTAG")


def test_close_names_are_no_names():
    with pytest.raises(DatasetNotFoundError, match="Did you mean B3DB"):
        load_dataset("B3D", download=False)


def test_the_catalogue_agrees(b3db):
    for data in (b3db, load_dataset("B3DB-logBB")):
        row = catalogue.facts_of(data.name)
        assert row.embedded
        assert row.n_graphs == len(data.graphs)
        assert row.n_classes == (2 if data.name == "B3DB" else 0)
        assert row.mean_nodes == pytest.approx(data.graphs.sizes.mean(), abs=0.0051)
        assert row.mean_edges == pytest.approx(data.graphs.n_edges.mean(), abs=0.0051)


def test_files_are_small_and_as_the_readme_says():
    table, graphs = DATA / "B3DB.csv.gz", DATA / "B3DB.npz"
    assert table.stat().st_size + graphs.stat().st_size < 150_000
    readme = (DATA / "README.md").read_text(encoding="utf-8")
    assert hashlib.sha256(gzip.decompress(table.read_bytes())).hexdigest() in readme
    with np.load(graphs, allow_pickle=False) as stored:
        joined = b"".join(stored[name].tobytes() for name in stored)
    assert hashlib.sha256(joined).hexdigest() in readme
    assert "CC0" in readme


def test_loading_needs_neither_rdkit_nor_the_network():
    code = (
        "import socket, sys; sys.modules.update(dict.fromkeys(['rdkit', 'pandas']))\n"
        "socket.socket.connect = None\n"
        "import gramlet; data = gramlet.load_dataset('b3db'); print(len(data.graphs))\n"
        "print([m for m in ('sklearn', 'numba', 'scipy') if m in sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.split("\n")[:2] == ["3901", "[]"]


@pytest.mark.skipif(not HAS_RDKIT, reason="needs RDKit: pip install gramlet[chem]")
def test_graphs_are_those_of_the_strings(b3db):
    assert as_batch(b3db.molecules) == b3db.graphs


# How it was prepared


@pytest.fixture(scope="module")
def script():
    if not (HAS_RDKIT and SCRIPT.is_file()):
        pytest.skip("needs RDKit and the repository's tools")
    spec = importlib.util.spec_from_file_location("prepare_b3db", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def rows(*entries: tuple[str, str, str]) -> list[dict[str, str]]:
    return [
        {"NO.": str(i), "SMILES": smiles, "BBB+/BBB-": kind, "logBB": value}
        for i, (smiles, kind, value) in enumerate(entries, start=1)
    ]


def test_preparation_keeps_flat_molecules_without_conflict(script, capsys):
    classes = rows(
        ("CCO", "BBB+", "0.1"),
        ("N[C@H](C)O", "BBB-", ""),  # two stereoisomers that agree
        ("N[C@@H](C)O", "BBB-", ""),
        ("F/C=C/Cl", "BBB+", ""),  # two that do not
        ("F/C=C\\Cl", "BBB-", ""),
        ("C[C@H](F)Cl", "BBB+", "0.5"),  # values too far apart
        ("C[C@@H](F)Cl", "BBB+", "0.81"),
        ("C[C@H](F)Br", "BBB+", "0.5"),  # close enough: their mean
        ("C[C@@H](F)Br", "BBB+", "0.8"),
        ("C((", "BBB+", "1.0"),
        ("OCC", "BBB+", ""),
    )
    values = rows(("OCC", "", "0.1"), ("CCCCC", "", "2.0"), ("NC(C)O", "", "-1.5"))
    assert script.prepare(classes, values) == [
        (1, "CCO", 1, 0.1),
        (2, "CC(N)O", 0, -1.5),
        (8, "CC(F)Br", 1, 0.65),
    ]
    assert "1 unreadable" in capsys.readouterr().out


def test_preparation_gives_the_same_files_again(script, tmp_path, b3db):
    entries = [
        (int(number), text, int(kind), None if np.isnan(value) else float(value))
        for number, text, kind, value in zip(
            b3db.ids, b3db.molecules, b3db.target, b3db.logBB, strict=True
        )
    ]
    readme = (DATA / "README.md").read_text(encoding="utf-8")
    assert script.write_table(entries, tmp_path / "table.csv.gz") in readme
    assert script.write_graphs(b3db.molecules, tmp_path / "graphs.npz") in readme
    assert [script.flat(text) for text in b3db.molecules[::50]] == b3db.molecules[::50]
