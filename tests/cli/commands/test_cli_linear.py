"""gramlet embed, train --linear and predict: classification of files of any size."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys

import numpy as np
import pytest

import gramlet
from gramlet.cli.program import run

pytest.importorskip("rdkit")


@pytest.fixture
def table(tmp_path):
    file = tmp_path / "a.csv"
    rows = [
        f"m{i},{'C' * (1 + i % 9)}{'N' if i % 3 else 'O'},{'yes' if i % 3 else 'no'},{i % 9}.5\n"
        for i in range(90)
    ]
    file.write_text("id,smiles,y,logS\n" + "".join(rows))
    return file


@pytest.fixture
def store(table, tmp_path):
    command = ["embed", str(table), "--hashed", "10", "-o", str(tmp_path / "store")]
    assert run([*command, "--batch-size", "20", "--target", "y"]) == 0
    return tmp_path / "store"


def test_from_a_file_to_predictions(table, store, tmp_path, capsys):
    model = tmp_path / "m.gramlet"
    assert run(["train", str(store), "--linear", "-o", str(model), "--epochs", "3"]) == 0
    said = capsys.readouterr().out
    assert "linear classification trained on 90 graphs" in said
    assert "3 epochs" in said
    assert "graphs held out (always predicting the most frequent class: " in said
    place = tmp_path / "p.csv"
    assert run(["predict", str(model), str(table), "--target", "y", "-o", str(place)]) == 0
    told = capsys.readouterr()
    assert "90 predictions" in told.out
    assert "accuracy: 100.0 % (90 of 90)" in told.err
    whole, loaded = gramlet.read(table, target="y"), gramlet.load(model)
    rows = list(csv.DictReader(place.open()))
    assert [row["id"] for row in rows] == whole.ids
    assert [row["prediction"] for row in rows] == loaded.predict(whole.graphs).tolist()
    shown = np.array([float(row["decision for yes"]) for row in rows])
    assert np.array_equal(shown, loaded.decision_function(whole.graphs))
    assert run(["predict", str(model), str(table), "--target", "y"]) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert lines == [["id", "prediction"], *([row["id"], row["prediction"]] for row in rows)]


def test_numbers(table, tmp_path, capsys):
    command = ["embed", str(table), "--hashed", "10", "-o", str(tmp_path / "s"), "--target", "logS"]
    assert run([*command, "--batch-size", "7"]) == 0
    model = str(tmp_path / "m.gramlet")
    assert run(["train", str(tmp_path / "s"), "--linear", "-o", model]) == 0
    assert "linear regression trained on 90 graphs" in capsys.readouterr().out
    place = str(tmp_path / "p.csv")
    assert run(["predict", model, str(table), "--target", "logS", "-o", place]) == 0
    told = capsys.readouterr().err
    data = gramlet.read(table, target="logS")
    errors = gramlet.load(model).predict(data.graphs) - data.target
    r2 = 1 - np.mean(errors**2) / np.var(data.target)
    assert f"R²: {r2:.3f}" in told


def test_rows_left_out_are_listed(table, store, tmp_path, capsys):
    model, place = str(tmp_path / "m.gramlet"), tmp_path / "p.csv"
    assert run(["train", str(store), "--linear", "-o", model, "--epochs", "1"]) == 0
    lines = table.read_text().splitlines()
    lines[4], lines[7] = "m3,?,yes,1", "m6,C,yes,1,2,3"
    table.write_text("\n".join(lines))
    command = ["predict", model, str(table), "--target", "y"]
    capsys.readouterr()
    assert run([*command, "-o", str(place)]) == 1
    assert "line 5" in capsys.readouterr().err
    assert not place.exists()
    assert run([*command, "-o", str(place), "--on-error", "skip"]) == 0
    told = capsys.readouterr().err
    assert "2 of 90 rows were left out" in told
    assert "p.skipped.csv lists them" in told
    rows = list(csv.DictReader(place.open()))
    assert [row["id"] for row in rows] == [f"m{i}" for i in range(90) if i not in (3, 6)]
    assert all(int(row["line"]) == int(row["id"][1:]) + 2 for row in rows)
    skipped = list(csv.DictReader((tmp_path / "p.skipped.csv").open()))
    assert [row["place"].rpartition(", ")[2] for row in skipped] == ["line 5", "line 8"]
    assert run([*command, "--on-error", "skip"]) == 0
    assert "line 8: the row has 6 cells" in capsys.readouterr().err


@pytest.mark.exhaustive
def test_killed_in_the_middle(table, store, tmp_path):
    """kill -9 while predictions are written: no output file; the next run removes the rest."""
    model, place = str(tmp_path / "m.gramlet"), tmp_path / "out" / "p.csv"
    place.parent.mkdir()
    assert run(["train", str(store), "--linear", "-o", model, "--epochs", "1"]) == 0
    script = (
        "import os, sys\n"
        "from gramlet.scale.stream_prediction import PredictionWriter\n"
        "original = PredictionWriter.add\n"
        "def add(self, *rest):\n"
        "    original(self, *rest)\n"
        "    os.kill(os.getpid(), 9)\n"
        "PredictionWriter.add = add\n"
        "from gramlet.cli.program import run\n"
        "run(sys.argv[1:])\n"
    )
    command = ["predict", model, str(table), "--target", "y", "-o", str(place)]
    assert subprocess.run([sys.executable, "-c", script, *command]).returncode == -9
    assert [name for name in os.listdir(place.parent) if not name.startswith(".")] == []
    assert len(os.listdir(place.parent)) == 1
    assert run(command) == 0
    assert os.listdir(place.parent) == ["p.csv"]


@pytest.mark.parametrize(
    ("source", "options", "code", "told"),
    [
        ("a.csv", ["--linear"], 2, "is not a feature store"),
        ("a.csv", ["--linear", "--target", "y"], 2, "'gramlet embed a.csv --hashed 20 -o STORE'"),
        ("none", ["--linear"], 2, "is not a feature store"),
        ("store", [], 2, "--linear learns from it"),
        ("store", ["--epochs", "3"], 2, "--epochs needs --linear"),
        ("store", ["--linear", "-k", "sp"], 2, "--kernel does not apply to a feature store"),
        ("store", ["--linear", "--target", "y"], 2, "--target does not apply"),
        ("store", ["--linear", "--C", "3"], 2, "--C does not apply"),
        ("store", ["--linear", "--held-out", "0.9"], 2, "--held-out"),
        ("store", ["--linear", "--scoring", "r2"], 1, "'r2' is for regression"),
        ("store", ["--linear", "--task", "regression"], 1, "Use task='classification'"),
        ("store", ["--linear", "--class-weight", "perhaps=2"], 2, "there is no class 'perhaps'"),
    ],
)
def test_wrong_use(source, options, code, told, store, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run(["train", source, *options, "-o", "m.gramlet"]) == code
    error = capsys.readouterr().err
    assert told in error
    assert error.count("\n") == 1
    assert not (tmp_path / "m.gramlet").exists()


def test_a_store_without_targets(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.csv").write_text("smiles\nCC\nCO\n")
    assert run(["embed", "a.csv", "--hashed", "8", "-o", "s"]) == 0
    capsys.readouterr()
    assert run(["train", "s", "--linear", "-o", "m.gramlet"]) == 1
    assert "has no targets (part 0)" in capsys.readouterr().err


def test_a_row_that_cannot_be_read(table, tmp_path, capsys, monkeypatch):
    """Data that is damaged, not wrong use; once corrected, the same command works."""
    monkeypatch.chdir(tmp_path)
    right = table.read_text()
    table.write_text(right.replace("m5,", "m5,("))
    command = ["embed", "a.csv", "--hashed", "8", "-o", "s"]
    assert run(command) == 1
    error = capsys.readouterr().err
    assert error.startswith("gramlet: error: a.csv, line 7: ")
    assert error.count("\n") == 1
    table.write_text(right)
    assert run(command) == 0
    assert run([*command, "--batch-size", "9"]) == 2
    assert (
        "or start again with resume=False (--fresh), which deletes them." in capsys.readouterr().err
    )
    assert run([*command, "--label", "x"]) == 2


@pytest.mark.exhaustive
@pytest.mark.parametrize("options", [[], ["--workers", "2"]])
def test_of_several_bad_rows_the_first_is_named(table, tmp_path, options):
    pytest.importorskip("distributed")
    lines = table.read_text().splitlines()
    for i in (12, 22, 52):
        lines[i] = f"m{i},C(C,yes,1.5"
    table.write_text("\n".join(lines))
    line = ["embed", str(table), "--hashed", "8", "-o", str(tmp_path / "s"), "--batch-size", "10"]
    program = "import sys; from gramlet.cli import main; sys.exit(main())"
    done = subprocess.run(
        [sys.executable, "-c", program, *line, *options], capture_output=True, timeout=120
    )
    assert done.returncode == 1
    said = [line for line in done.stderr.decode().splitlines() if "compiling" not in line]
    assert len(said) == 1, said
    assert "a.csv, line 13: 'C(C' is not a valid SMILES string" in said[0]


def test_stores_that_are_not_whole(store, tmp_path, capsys):
    train = ["train", str(store), "--linear", "-o", str(tmp_path / "m.gramlet")]
    part = store / "part-000001.npz"
    content = part.read_bytes()
    part.write_bytes(content[:-5])
    assert run(train) == 1
    assert "part-000001.npz' is missing or damaged" in capsys.readouterr().err
    part.write_bytes(content)
    manifest = store / "manifest.json"
    listed = json.loads(manifest.read_text())
    manifest.write_text(json.dumps({name: listed[name] for name in listed if name != "parts"}))
    assert run(train) == 2
    assert "is not finished: it has 5 parts" in capsys.readouterr().err
    manifest.write_text(json.dumps({**listed, "format": "gramlet feature store, 9"}))
    assert run(train) == 2
    assert "expected 'gramlet feature store, 3'" in capsys.readouterr().err
    gram = tmp_path / "K.zarr"
    pytest.importorskip("zarr")
    gramlet.gram(gramlet.molecules(["C", "CC"]), "wl", output=gram)
    assert run(["train", str(gram), "--linear", "-o", str(tmp_path / "m.gramlet")]) == 2
    assert "is not a feature store" in capsys.readouterr().err
    assert not (tmp_path / "m.gramlet").exists()
