"""``gramlet explain``: the table, the files, and what it refuses."""

from __future__ import annotations

import csv
import sys
from contextlib import contextmanager
from functools import partial

import numpy as np
import pytest

from gramlet import (
    GraphBatch,
    GraphClassifier,
    WeightedWassersteinWL,
    load,
    load_dataset,
    save,
    write_tu,
)
from gramlet.cli import main
from gramlet.cli.commands import explain as explain_command
from gramlet.common.safe_writing import writing

mpl = pytest.importorskip("matplotlib", reason="pictures need matplotlib")

FILES = ["graphs.csv", "graphs.png", "patterns.csv", "patterns.png"]


@pytest.fixture
def run(run):
    """Run ``gramlet explain``."""
    return partial(run, "explain")


def read_table(folder) -> tuple[list[str], list[list[str]]]:
    with (folder / "patterns.csv").open(newline="", encoding="utf-8") as file:
        head, *rows = csv.reader(file)
    return head, rows


def names_in(folder) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_weights_of_mutag(run, tmp_path):
    folder = tmp_path / "out"
    params = ("-p", "n_iter=1", "-p", "radius=0.8", "-p", "use_edge_labels=false")
    code, out, err = run("MUTAG", "-o", folder, "-n", "3", *params)
    assert code == 0, err
    assert names_in(folder) == FILES
    assert (folder / "patterns.png").read_bytes()[:4] == b"\x89PNG"
    head, rows = read_table(folder)
    assert head == [
        "level",
        "pattern",
        "weight",
        "graphs",
        "share of not mutagenic",
        "share of mutagenic",
    ]
    data = load_dataset("MUTAG")
    model = WeightedWassersteinWL(n_iter=1, radius=0.8, solver="accelerated", use_edge_labels=False)
    model.fit(data.graphs, data.target)
    np.testing.assert_allclose(
        sorted(float(row[2]) for row in rows), np.sort(np.concatenate(model.weights_)), atol=1e-9
    )
    # Names of labels, not their numbers; presence is counted by hand.
    junction = next(row for row in rows if row[1] == "C(C,C,C)")
    has = np.array([_has_junction(graph) for graph in data.graphs])
    assert int(junction[3]) == has.sum()
    assert float(junction[5]) == pytest.approx(has[data.target == 1].mean(), abs=1e-5)
    # Three patterns per level, those with weights farthest from 1.
    shown = [line.split()[0] for line in out.splitlines() if line.startswith("  ")]
    level_0 = [row for row in rows if row[0] == "0"]
    level_0.sort(key=lambda row: -abs(float(row[2]) - 1))
    assert set(shown[:3]) == {row[1] for row in level_0[:3]}
    assert len(shown) == 6


def _has_junction(graph) -> bool:
    """Whether a carbon has three neighbours, all of them carbons."""
    labels = list(graph.node_labels)
    near = [[labels[j] for j in np.flatnonzero(row)] for row in graph.adjacency(0)]
    return any(own == 0 and around == [0, 0, 0] for own, around in zip(labels, near, strict=True))


def test_coefficients_of_wl(run, tmp_path):
    plain = ("-k", "wl", "--normalize", "none")
    code, out, err = run("MUTAG", "-o", tmp_path, *plain, "--level", "1", "-n", "2", "--C", "5")
    assert code == 0, err
    assert "wl n_iter=2 normalize=none, support vectors (svc) C=5: " in out
    assert "Positive values speak for mutagenic." in out
    assert "level 1" in out
    assert "level 0" not in out
    assert names_in(tmp_path) == FILES
    head, rows = read_table(tmp_path)
    assert head[2] == "coefficient"
    assert {row[0] for row in rows} == {"0", "1", "2"}
    assert min(float(row[2]) for row in rows) < 0 < max(float(row[2]) for row in rows)


def test_an_estimator_from_a_file(run, tmp_path):
    data = load_dataset("MUTAG")
    model = GraphClassifier("wl-oa + rbf(degree-profile)", C=[10], cv=2).fit(
        data.graphs, data.target
    )
    save(model, tmp_path / "m.gramlet")
    code, out, err = run(tmp_path / "m.gramlet", "MUTAG", "-o", tmp_path / "out")
    assert code == 0, err
    assert "mean contribution" in out
    assert names_in(tmp_path / "out") == ["graphs.csv", "graphs.png", "patterns.csv"]
    with (tmp_path / "out" / "graphs.csv").open(newline="", encoding="utf-8") as file:
        head, *rows = csv.reader(file)
    assert head[3:] == ["decision for mutagenic", "added by embeddingkernel", "added most by"]
    np.testing.assert_allclose(
        [float(row[3]) for row in rows], model.decision_function(data.graphs), atol=1e-9
    )


def test_several_classes(run, tmp_path, shared_data):
    source = shared_data / "ENZYMES.zip"
    options = ("-o", tmp_path, "-k", "wl", "-p", "n_iter=1")
    code, out, err = run(source, *options, "--decision", "2 over 5")
    assert code == 0, err
    assert "Positive values speak for 2 over 5." in out
    code, _, err = run(source, *options, "--decision", "2 over 2")
    assert code == 2
    assert "1 over 2, 1 over 3" in err


def test_its_own_files_are_replaced_and_others_left_alone(run, tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    arguments = ("MUTAG", "-o", tmp_path, "-p", "n_iter=1")
    assert run(*arguments)[0] == 0
    before = read_table(tmp_path)
    assert run(*arguments, "-p", "radius=0.1")[0] == 0
    assert read_table(tmp_path) != before
    assert names_in(tmp_path) == sorted([*FILES, "notes.txt"])
    assert (tmp_path / "notes.txt").read_text() == "mine"


@pytest.mark.parametrize("name", FILES)
def test_foreign_files_are_not_overwritten(run, tmp_path, name):
    (tmp_path / name).write_bytes(b"level of the sea,2 m")
    code, out, err = run("MUTAG", "-o", tmp_path)
    assert (code, out) == (2, "")
    assert "would be lost" in err
    assert names_in(tmp_path) == [name]


def test_all_files_or_none(run, tmp_path, monkeypatch):
    written = []

    @contextmanager
    def fail_at_the_third(path):
        with writing(path) as place:
            if len(written) == 2:
                raise OSError(28, "No space left on device")
            written.append(path.name)
            yield place

    monkeypatch.setattr(explain_command, "writing", fail_at_the_third)
    for folder in (tmp_path, tmp_path / "new"):
        written.clear()
        code, _, err = run("MUTAG", "-o", folder, "-p", "n_iter=1", "--C", "1")
        assert code == 1
        assert err.endswith("cannot be written: No space left on device.\n")
        assert str(folder) in err
        assert names_in(tmp_path) == []


def test_without_matplotlib(run, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    code, _, err = run("MUTAG", "-o", tmp_path)
    assert code == 1
    assert "pip install gramlet[plot]" in err
    assert names_in(tmp_path) == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["MUTAG", "-k", "wwl"], "gives no values to patterns; these do: vertex, edge, v-oa"),
        (["MUTAG", "--level", "7"], "--level must be one of 0, 1, 2"),
        (["MUTAG", "-k", "wl", "-p", "base=edges"], "No kernel is called 'edges'"),
        (["MUTAG", "-k", "wl", "--C", "0"], "must be positive"),
        (["a.gramlet"], "gramlet explain MODEL INPUT"),
        (["a", "b", "c"], "got 3 names"),
        (["a.gramlet", "MUTAG", "-k", "wl"], "--kernel is for a new fit"),
        (["a.gramlet", "MUTAG", "--C", "1"], "--C is for a new fit"),
        (["a.gramlet", "MUTAG"], "there is no file 'a.gramlet'"),
        (["MUTAG", "-p", "radius=0"], "'radius' parameter"),
        (["MUTAG", "-p", "radios=1"], "no parameter 'radios'"),
        (["MUTAG", "--decision", "x"], "--decision is for machines"),
        (["no-such-set"], "no-such-set"),
    ],
)
def test_wrong_use(run, tmp_path, arguments, message):
    code, _, err = run(*arguments, "-o", tmp_path / "out")
    assert code == 2
    assert len(err.splitlines()) == 1
    assert message in err
    assert names_in(tmp_path) == []


def test_places_that_cannot_be(run, tmp_path):
    file = tmp_path / "file"
    file.write_text("")
    assert "is a file" in run("MUTAG", "-o", file)[2]
    assert "there is no folder" in run("MUTAG", "-o", tmp_path / "a" / "b")[2]


def test_a_saved_model_on_other_graphs(run, tmp_path):
    data = load_dataset("MUTAG")
    write_tu(data.graphs[:100], tmp_path / "FIRST", data.target[:100])
    write_tu(data.graphs[100:], tmp_path / "REST", data.target[100:])
    model = tmp_path / "m.gramlet"
    train = ["train", str(tmp_path / "FIRST"), "-k", "wl", "-p", "n_iter=1", "--normalize", "none"]
    assert main([*train, "-o", str(model)]) == 0
    code, out, err = run(model, tmp_path / "REST", "-o", tmp_path / "out", "-n", "3")
    assert code == 0, err
    fitted = load(model)
    predicted = fitted.predict(data.graphs[100:])
    right = 100 * np.mean(predicted == data.target[100:])
    assert f"{right:.1f} % of these graphs classified correctly." in out
    _, rows = read_table(tmp_path / "out")
    counts = fitted.kernel_.features(data.graphs[100:])
    assert [int(row[3]) for row in sorted(rows)] == [
        int(n)
        for _, n in sorted(zip(names_of(fitted.kernel_), (counts > 0).sum(axis=0).A1, strict=True))
    ]
    with (tmp_path / "out" / "graphs.csv").open(newline="") as file:
        graphs = list(csv.DictReader(file))
    assert [int(row["prediction"]) for row in graphs] == predicted.tolist()
    assert [int(row["class"]) for row in graphs] == data.target[100:].tolist()
    np.testing.assert_allclose(
        [float(row["decision for 1"]) for row in graphs],
        fitted.decision_function(data.graphs[100:]),
        atol=1e-9,
    )


def names_of(kernel) -> list[list[str]]:
    """(level, pattern) of each feature, as in the table."""
    return [name[1:].split(":", 1) for name in kernel.get_feature_names_out()]


def test_names_of_labels_in_a_saved_model(run, tmp_path):
    model = tmp_path / "m.gramlet"
    assert main(["train", "MUTAG", "-k", "wl", "-p", "n_iter=1", "--C", "1", "-o", str(model)]) == 0
    code, out, err = run(model, "MUTAG", "-o", tmp_path / "out")
    assert code == 0, err
    assert "C(aromatic:C,aromatic:C,aromatic:C)" in out
    assert "Positive values speak for mutagenic." in out
    assert names_in(tmp_path / "out") == FILES


def test_a_constant_machine_on_uneven_folds_is_no_better(run, tmp_path):
    """The mean over folds of one class's share is not its share of all graphs."""
    graphs = GraphBatch.from_edges([[(0, 1)]] * 24, node_labels=[["a", "a"]] * 24)
    write_tu(graphs, tmp_path / "SAME", np.repeat([0, 1], [8, 16]))
    code, out, err = run(tmp_path / "SAME", "-k", "wl", "-o", tmp_path / "out")
    assert code == 0, err
    assert "has learned nothing about the classes" in out


def test_a_machine_no_better_than_the_majority(run, tmp_path):
    rng = np.random.default_rng(0)
    graphs = GraphBatch.from_edges([[(0, 1)]] * 40, node_labels=rng.choice(["a", "b"], (40, 2)))
    write_tu(graphs, tmp_path / "NOISE", np.repeat([0, 1], [28, 12]))
    code, out, err = run(tmp_path / "NOISE", "-k", "wl", "-o", tmp_path / "out")
    assert code == 0, err
    assert "no better than always predicting the most frequent class, 70.0 %" in out
    assert "has learned nothing about the classes" in out
    model = str(tmp_path / "m.gramlet")
    assert main(["train", str(tmp_path / "NOISE"), "-k", "wl", "-o", model]) == 0
    code, out, err = run(model, tmp_path / "NOISE", "-o", tmp_path / "out")
    assert code == 0, err
    assert "no better than always predicting their most frequent class, 70.0 %" in out


def test_kernels_without_trees_have_no_picture_of_graphs(run, tmp_path):
    assert run("MUTAG", "-k", "wl", "-o", tmp_path, "--C", "1")[0] == 0
    code, out, err = run("MUTAG", "-k", "sp", "-o", tmp_path, "--C", "1")
    assert code == 0, err
    # No files of another model remain.
    assert names_in(tmp_path) == ["graphs.csv", "patterns.csv", "patterns.png"]
    assert "level" not in out
    _, rows = read_table(tmp_path)
    assert {row[0] for row in rows} == {""}


def test_models_that_cannot_be_explained(run, tmp_path):
    model = tmp_path / "m.gramlet"
    assert (
        main(["train", "MUTAG", "-k", "wwl", "-p", "n_iter=1", "--C", "1", "-o", str(model)]) == 0
    )
    code, _, err = run(model, "MUTAG", "-o", tmp_path / "out")
    assert code == 2
    assert "WassersteinWL gives no values to patterns" in err
    (tmp_path / "bad.gramlet").write_bytes(b"\0" * 100)
    code, _, err = run(tmp_path / "bad.gramlet", "MUTAG", "-o", tmp_path / "out")
    assert code == 1
    assert len(err.splitlines()) == 1
    assert names_in(tmp_path) == ["bad.gramlet", "m.gramlet"]
