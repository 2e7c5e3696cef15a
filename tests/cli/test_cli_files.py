"""Files of every format on the command line: options for reading, and ``gramlet convert``."""

from __future__ import annotations

import os
import zipfile

import numpy as np
import pytest

import gramlet
from reference.tu_files import put

pytest.importorskip("rdkit", reason="SMILES strings are read by RDKit")

TABLE = "name;structure;logp;active\nethanol;CCO;-0.3;yes\nethane;CC;1.8;no\nbroken;C(C;0;no\n"


@pytest.fixture(autouse=True)
def few_molecules(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "few.csv").write_text(TABLE)


def test_columns_and_rows_that_cannot_be_read(run):
    options = ("--molecules", "structure", "--target", "active", "--id", "name")
    code, _, err = run("info", "few.csv", *options)
    assert code == 1
    assert "line 4" in err
    assert 'on_error="skip"' in err
    code, out, err = run("info", "few.csv", *options, "--on-error", "skip")
    assert code == 0, err
    assert "few: 2 graphs" in out
    assert "classes: 2 (no 1, yes 1)" in out
    assert len(err.splitlines()) == 1
    assert err.startswith("gramlet: warning: ")
    code, _, err = run("info", "few.csv", "--target", "nope", "--on-error", "skip")
    assert code == 2
    assert "nope" in err


def test_labels_and_directions(run, tmp_path):
    code, out, _ = run("info", "MUTAG", "--node-labels", "degree")
    assert code == 0
    assert "node labels: 4 (1, 2, 3, 4)" in out
    code, out, _ = run("info", "MUTAG", "--node-labels", "none")
    assert "node labels: none" in out
    code, out, _ = run("info", "MUTAG", "--directed")
    assert code == 0
    assert "directed: yes" in out
    assert "edges  39.6" in out  # two arcs per edge
    code, _, err = run("info", "MUTAG", "--target", "x")
    assert code == 2
    assert "names a column of a file" in err


def test_one_of_several_data_sets_in_a_folder_or_archive(run, tmp_path):
    with zipfile.ZipFile(tmp_path / "both.zip", "w") as archive:
        for name in ("ONE", "TWO"):
            put(tmp_path, name)
            for file in (tmp_path / name).iterdir():
                archive.write(file, f"{name}/{file.name}")
                (tmp_path / "both").mkdir(exist_ok=True)
                file.rename(tmp_path / "both" / file.name)
    for place in ("both", "both.zip"):
        code, _, err = run("info", place)
        assert code == 1
        assert f"name one of them: {place}/ONE." in err
        code, out, err = run("info", f"{place}/ONE")
        assert code == 0, err
        assert out.startswith("ONE: 2 graphs")
        assert run("info", f"{place}/SIX")[0] == 2


def test_options_of_readers_have_their_own_names(run, tmp_path):
    (tmp_path / "a.json").write_text('{"nodes": [{"id": 0, "kind": "x"}], "edges": []}')
    code, _, err = run("info", "a.json", "--label", "nix")
    assert code != 0
    assert "no node has 'nix' (label=); nodes have 'kind'." in err
    put(tmp_path)
    code, _, err = run("info", "SET", "--label", "nix")
    assert code == 2
    assert "SET is TU data, to which label= does not apply." in err


def test_options_that_do_not_apply_are_wrong_use(run, tmp_path):
    (tmp_path / "a.sdf").write_text("")
    (tmp_path / "nets").mkdir()
    (tmp_path / "nets" / "a.g6").write_text("Bw\n")
    for name, option in (("few.csv", "--label"), ("a.sdf", "--molecules"), ("nets", "--id")):
        code, _, err = run("info", name, option, "x")
        assert code == 2
        assert f"to which {option[2:]}= does not apply." in err


def test_a_task_that_does_not_fit_is_wrong_use(run, tmp_path):
    (tmp_path / "words.csv").write_text("smiles,y\nCC,a\nCO,b\nCN,a\n")
    (tmp_path / "one.csv").write_text("smiles,y\nCC,a\nCO,a\nCN,a\n")
    for name in ("words.csv", "one.csv"):
        code, _, err = run("train", name, "--task", "regression", "-o", "m.gramlet")
        assert code == 2
        assert "task='regression' needs numbers" in err


def test_graphs_with_and_without_directions(run, tmp_path):
    graph = '{"nodes": [{"id": 0}, {"id": 1}], "edges": [{"source": 0, "target": 1}], "directed": '
    (tmp_path / "a.jsonl").write_text(f"{graph}true}}\n{graph}false}}\n")
    code, _, err = run("info", "a.jsonl")
    assert code == 1
    assert "Read them with directed=True or directed=False." in err
    assert run("info", "a.jsonl", "--undirected")[0] == 0


def test_identifiers_are_written_with_matrices(run, tmp_path):
    (tmp_path / "ids.csv").write_text("name,smiles\na,CC\nb,CO\n")
    (tmp_path / "bare.csv").write_text("smiles\nCC\nCO\n")
    for command in ("gram", "embed"):
        place = tmp_path / f"{command}.npz"
        assert run(command, "ids.csv", "--id", "name", "-o", place)[0] == 0
        with np.load(place) as members:
            assert members["ids"].tolist() == ["a", "b"]
        assert run(command, "bare.csv", "-o", place)[0] == 0
        with np.load(place) as members:
            assert "ids" not in members.files


def test_molecules_of_one_scaffold(run, tmp_path):
    (tmp_path / "chains.csv").write_text("smiles,y\n" + "CC,1\nCO,0\n" * 6)
    options = ("-k", "vertex", "--groups", "scaffold")
    for parts in (("--folds", "3"), ("--holdout", "0.3")):
        code, _, err = run("evaluate", "chains.csv", *options, *parts)
        assert code == 2
        assert "All graphs are in one group." in err
        assert "Evaluate without groups=." in err


def test_neighbours_of_a_single_graph(run, tmp_path):
    (tmp_path / "one.smi").write_text("CCO\n")
    code, _, err = run("neighbors", "one.smi")
    assert code == 2
    assert "There is one graph, and no other to compare it with." in err


def test_files_of_no_known_kind(run, tmp_path):
    for name, ending in (("notes", "its name has no ending"), ("a.xyz", "its ending is '.xyz'")):
        (tmp_path / name).write_text("C")
        code, _, err = run("info", name)
        assert code == 1
        assert f"{name} is of no known kind: {ending}. Known are TU folders and .zip, .smi" in err


def test_convert_and_back(run, tmp_path):
    assert run("convert", "MUTAG", "m.jsonl.gz")[0] == 0
    code, out, err = run("convert", "m.jsonl.gz", "BACK")
    assert code == 0, err
    assert out == "188 graphs in BACK\n"
    back, mutag = gramlet.read(tmp_path / "BACK"), gramlet.load_dataset("MUTAG")
    assert back.graphs == mutag.graphs
    np.testing.assert_array_equal(back.target, mutag.target)


def test_what_convert_refuses(run, tmp_path):
    before = sorted(os.listdir(tmp_path))
    code, _, err = run("convert", "MUTAG", "few.csv")
    assert code == 2
    assert "--overwrite replaces it" in err
    code, _, err = run("convert", "MUTAG", "m.gml")
    assert code == 2
    assert "'m.gml': graphs are written to .jsonl, " in err
    for place in ("m.xyz", "no/such/m.jsonl", "m.smi"):
        code, out, err = run("convert", "MUTAG", place)
        assert code in (1, 2)
        assert out == ""
        assert len(err.splitlines()) == 1
    assert sorted(os.listdir(tmp_path)) == before
