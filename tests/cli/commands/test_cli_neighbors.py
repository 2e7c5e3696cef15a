"""The commands that find similar and equal graphs."""

from __future__ import annotations

import csv
import io
import json

import numpy as np
import pytest

import gramlet
from gramlet.cli import main

SMILES = "smiles,label\nCCO,yes\nOCC,no\nCCN,yes\nCCCC,no\nc1ccccc1,no\n"


@pytest.fixture
def molecules(tmp_path):
    pytest.importorskip("rdkit", reason="SMILES strings are read by RDKit")
    path = tmp_path / "molecules.csv"
    path.write_text(SMILES)
    return path


def node_link(n_nodes, edges=(), **data):
    """A line of a .jsonl file."""
    links = [{"source": a, "target": b} for a, b in edges]
    return json.dumps({"graph": data, "nodes": [{"id": i} for i in range(n_nodes)], "links": links})


def table(text):
    return list(csv.DictReader(io.StringIO(text)))


def test_of_few_graphs_all_others_are_neighbours(run, molecules):
    code, out, err = run("neighbors", molecules)
    assert code == 0, err
    assert len(table(out)) == 5 * 4
    code, out, _ = run("neighbors", molecules, "--query", molecules)
    assert len(table(out)) == 5 * 5
    assert run("neighbors", molecules, "-n", "10")[0] != 0


def test_neighbors_are_printed(run):
    code, out, _ = run("neighbors", "MUTAG", "-n", "3", "-k", "wl-oa", "-p", "n_iter=2")
    assert code == 0
    rows = table(out)
    assert len(rows) == 188 * 3
    mutag = gramlet.load_dataset("MUTAG").graphs
    kernel = gramlet.WLOptimalAssignment(n_iter=2)
    index = gramlet.GraphNeighbors(kernel, 3).fit(mutag)
    distances, positions = index.kneighbors()
    assert [int(row["neighbour"]) for row in rows] == positions.reshape(-1).tolist()
    assert float(rows[0]["similarity"]) == pytest.approx(1 - distances[0, 0] ** 2 / 2, rel=1e-5)


def test_neighbors_of_a_query(run, molecules, tmp_path):
    query = tmp_path / "query.smi"
    query.write_text("CCO\n")
    place = tmp_path / "near.csv"
    code, out, _ = run("neighbors", molecules, "--query", query, "-n", "2", "-o", place)
    assert (code, out) == (0, "")
    rows = table(place.read_text())
    assert [row["smiles"] for row in rows] == ["CCO", "OCC"]
    assert [float(row["similarity"]) for row in rows] == [1.0, 1.0]


def test_ids_that_repeat_are_counted_once(run, tmp_path):
    pytest.importorskip("rdkit", reason="SMILES strings are read by RDKit")
    path = tmp_path / "ids.csv"
    path.write_text("id,smiles\nX,CCO\nX,CCN\nX,CCC\ny,CC\n")
    code, _, err = run("neighbors", path, "-k", "wl", "-o", tmp_path / "n.csv")
    assert code == 0
    assert err.count("2 ids of 4 graphs repeat an earlier one") == 1
    path.write_text("id,smiles\nX,CCO\nz,CCN\n")
    assert "repeat" not in run("neighbors", path, "-k", "wl")[2]


def test_duplicates_are_printed(run, molecules):
    code, out, err = run("duplicates", molecules)
    assert code == 0
    assert [(row["graph"], row["smiles"]) for row in table(out)] == [("0", "CCO"), ("1", "OCC")]
    assert "1 of them repeat" in err


def test_rows_that_are_left_out_do_not_rename_the_others(run, tmp_path):
    pytest.importorskip("rdkit", reason="SMILES strings are read by RDKit")
    path = tmp_path / "molecules.csv"
    path.write_text("smiles\nCCO\nxx(\nOCC\nCCN\nyy(\nNCC\n")
    code, out, err = run("duplicates", path, "--on-error", "skip")
    assert code == 0, err
    assert [(row["graph"], row["smiles"]) for row in table(out)] == [
        ("line 2", "CCO"),
        ("line 4", "OCC"),
        ("line 5", "CCN"),
        ("line 7", "NCC"),
    ]
    assert "molecules.csv, line 3: 'xx('" in err
    assert "molecules.csv, line 6: 'yy('" in err
    code, out, _ = run("neighbors", path, "-n", 1, "--on-error", "skip")
    assert [(row["query"], row["neighbour"]) for row in table(out)] == [
        ("line 2", "line 4"),
        ("line 4", "line 2"),
        ("line 5", "line 7"),
        ("line 7", "line 5"),
    ]
    assert run("gram", path, "-o", tmp_path / "K.npz", "--on-error", "skip")[0] == 0
    assert np.load(tmp_path / "K.npz")["ids"].tolist() == ["line 2", "line 4", "line 5", "line 7"]


@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_no_graph_is_left_out_for_a_target_that_is_not_needed(ending, run, tmp_path):
    path = tmp_path / f"graphs.{ending}"
    if ending == "csv":
        pytest.importorskip("rdkit", reason="SMILES strings are read by RDKit")
        path.write_text("smiles,y\nCCO,1\nOCC,\nxx(,0\nCCN,0\n")
    else:
        lines = [
            node_link(2, [(0, 1)], target=1),
            node_link(2, [(0, 1)], target=None),
            node_link(2, [(0, 9)], target=0),
            node_link(3, [(0, 1)], target=0),
        ]
        path.write_text("\n".join(lines))
    code, out, err = run("duplicates", path, "--on-error", "skip")
    assert code == 0, err
    assert [row["graph"] for row in table(out)] == [
        f"line {1 + (ending == 'csv')}",
        f"line {2 + (ending == 'csv')}",
    ]
    assert err.count("were left out") == 1


def test_empty_graphs_are_similar_to_each_other_alone(run, tmp_path):
    path = tmp_path / "graphs.jsonl"
    lines = [node_link(3, [(0, 1), (1, 2)]), node_link(0), node_link(2), node_link(0)]
    path.write_text("\n".join(lines))
    for kernel in ("emd", "wl"):
        code, out, err = run("neighbors", path, "-k", kernel)
        assert code == 0, err
        found = {(row["query"], row["neighbour"]): row["similarity"] for row in table(out)}
        expected = {pair: "1" if set(pair) == {"1", "3"} else "0" for pair in found}
        assert all(found[pair] == expected[pair] for pair in found if {"1", "3"} & set(pair))


def test_nothing_in_common_is_zero(run, tmp_path):
    path = tmp_path / "atoms.smi"
    pytest.importorskip("rdkit", reason="SMILES strings are read by RDKit")
    path.write_text("C a\n[Na+] b\n[Cl-] c\nO d\n")
    code, out, _ = run("neighbors", path)
    assert code == 0
    assert {row["similarity"] for row in table(out)} == {"0"}


def test_mistakes_in_an_expression_are_shown(run, tmp_path):
    code, _, err = run("gram", "MUTAG", "-k", "wl + spp", "-o", tmp_path / "K.npy")
    assert code == 2
    assert err.endswith("\n  wl + spp\n       ^\n")
    assert not (tmp_path / "K.npy").exists()


def test_expressions_train_and_predict(run, tmp_path):
    place = tmp_path / "K.npy"
    assert run("gram", "MUTAG", "-k", "wl(n_iter=2) * sp", "-o", place)[0] == 0
    model = tmp_path / "m.gramlet"
    assert run("train", "MUTAG", "-k", "wl(n_iter=1) + vertex", "-o", model)[0] == 0
    assert run("predict", model, "MUTAG", "-o", tmp_path / "p.csv")[0] == 0


def test_too_many_neighbours(run, molecules):
    code, _, err = run("neighbors", molecules, "-n", "5")
    assert code == 2
    assert "n_neighbors=5, but only 4 other graphs were fitted. Use at most 4." in err


def test_a_kernel_that_learns_is_given_the_classes(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    line = ["neighbors", "MUTAG", "-k", "weighted-wwl", "-p", "n_iter=1", "-o", "n.csv"]
    code = main(line)
    assert code == 0, capsys.readouterr().err
    assert (tmp_path / "n.csv").is_file()


@pytest.mark.parametrize(("kernel", "unused"), [("vertex", True), ("wl", False)])
@pytest.mark.parametrize(
    ("command", "output"),
    [("gram", "out.csv"), ("neighbors", "out.csv"), ("embed", "out.npz"), ("map", "out.svg")],
)
def test_bonds_that_a_kernel_does_not_use_are_named(
    run, molecules, tmp_path, command, output, kernel, unused
):
    code, _, err = run(command, molecules, "-k", kernel, "-o", tmp_path / output)
    assert code == 0, err
    assert (f"The graphs have edge labels, which {kernel} does not use." in err) == unused
