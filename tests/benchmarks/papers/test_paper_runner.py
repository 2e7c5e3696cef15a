"""Tables of papers: complete data; cells are run one by one, stored, continued and never mixed."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from benchmarks.papers.cells import Cell, CellFolder
from benchmarks.papers.runner import run_experiment, run_table
from benchmarks.papers.tables import EXPERIMENTS, TABLES, Row, Table, published, source_of

import gramlet
from benchmarks.papers import experiments, runner
from gramlet import Protocol

SMALL = Table(
    "small",
    "Two kernels",
    "mlg",
    ("MUTAG", "NOT-THERE"),
    (
        Row("Labels", "vertex"),
        Row("WL", "wl", {"use_edge_labels": False}, {"n_iter": (1, 2)}),
        Row("Printed"),
    ),
    Protocol(folds=3, repeats=2, inner_folds=3, C=(1.0, 10.0)),
)


@pytest.fixture
def folder(tmp_path):
    return CellFolder(tmp_path)


# Data


@pytest.mark.parametrize("table", TABLES.values(), ids=lambda table: table.name)
def test_rows_can_be_made_and_options_are_parameters(table):
    assert source_of(table.source)
    assert len({row.name for row in table.rows}) == len(table.rows)
    for row in table.rows:
        printed = [published(table.name, row.name, name) for name in table.data]
        assert row.kernel or any(printed), f"{row.name} has no published number"
        if row.kernel:
            kernel = runner._estimator(row)
            assert set(row.options) <= set(kernel.get_params())


def test_every_published_row_belongs_to_a_table():
    document = json.loads(
        (runner.Path(runner.__file__).parent / "published.json").read_text(encoding="utf-8")
    )
    for name, rows in document["tables"].items():
        if name in TABLES:
            assert set(rows) <= {row.name for row in TABLES[name].rows}
        else:
            assert name in EXPERIMENTS


def test_experiments_have_functions_and_sources():
    for experiment in EXPERIMENTS.values():
        assert callable(getattr(experiments, experiment.function))
        assert source_of(experiment.source)


# Running


def test_cells_are_what_evaluate_gives(folder):
    lines = run_table(SMALL, folder, data=["MUTAG"])
    assert [line.row for line in lines] == ["Labels", "WL", "Printed"]
    assert lines[2].missing == "published numbers only"
    mutag = gramlet.load_dataset("MUTAG")
    expected = gramlet.evaluate(
        gramlet.WeisfeilerLehman(use_edge_labels=False, normalize=True),
        mutag,
        protocol=SMALL.protocol,
        options={"n_iter": (1, 2)},
    )
    cell = lines[1].cells["nested"]
    np.testing.assert_allclose(cell.scores, expected.scores, atol=1e-6)
    assert cell.mean == pytest.approx(100 * expected.mean, abs=1e-4)
    assert cell.std == pytest.approx(100 * expected.std, abs=1e-4)
    assert cell.chosen["n_iter"][0] == expected.most_chosen()["n_iter"][0]
    optimistic = lines[1].cells["best-of-grid"]
    assert optimistic.optimistic
    assert "optimistic" in optimistic.describe
    assert optimistic.mean >= cell.mean - 1e-9


def test_standard_error_allows_for_overlapping_training_parts():
    cell = Cell("t", "r", "d", "nested", [[0.8, 0.9], [0.7, 0.8]], 1.0, "", overlap=1.0)
    variance = np.var([0.8, 0.9, 0.7, 0.8], ddof=1)
    assert cell.standard_error == pytest.approx(100 * math.sqrt((0.25 + 1.0) * variance))
    assert cell.std == pytest.approx(100 * np.std([0.85, 0.75], ddof=1))
    alone = Cell("t", "r", "d", "nested", [[0.8]], 1.0, "", 1.0)
    assert (alone.std, alone.standard_error) == (0.0, 0.0)


def test_finished_cells_are_found_again(folder, monkeypatch):
    once = run_table(SMALL, folder, ["MUTAG"], ["Labels"], selections=["nested"])

    def refuse(*_, **__):
        raise AssertionError("computed again")

    monkeypatch.setattr(runner, "evaluate", refuse)
    again = run_table(SMALL, folder, ["MUTAG"], ["Labels"], selections=["nested"])
    np.testing.assert_allclose(again[0].cells["nested"].scores, once[0].cells["nested"].scores)
    fewer = run_table(SMALL, folder, ["MUTAG"], ["Labels"], repeats=1, selections=["nested"])
    assert fewer[0].cells["nested"].repeats == 2
    with pytest.raises(AssertionError, match="computed again"):
        run_table(SMALL, folder, ["MUTAG"], ["Labels"], repeats=3, selections=["nested"])


def test_cells_of_another_version_are_computed_again(folder):
    kept = Cell("small", "Labels", "MUTAG", "nested", [[0.1], [0.1]], 1.0, "", 0.5, version="0.0.1")
    folder.write(kept)
    assert folder.read("small", "Labels", "MUTAG", "nested").version == "0.0.1"
    (line,) = run_table(SMALL, folder, ["MUTAG"], ["Labels"], selections=["nested"])
    assert line.cells["nested"].version == gramlet.__version__
    assert line.cells["nested"].mean > 50


def test_cells_of_other_options_are_computed_again(folder):
    (before,) = run_table(SMALL, folder, ["MUTAG"], ["WL"], selections=["nested"])
    deeper = replace(SMALL.row("WL"), options={"n_iter": (0,)})
    (after,) = run_table(
        replace(SMALL, rows=(deeper,)), folder, ["MUTAG"], ["WL"], selections=["nested"]
    )
    assert after.cells["nested"].chosen["n_iter"][0] == 0
    assert after.cells["nested"].settings != before.cells["nested"].settings
    other = replace(SMALL, protocol=replace(SMALL.protocol, C=(1.0,)))
    (again,) = run_table(other, folder, ["MUTAG"], ["WL"], selections=["nested"])
    assert again.cells["nested"].settings != before.cells["nested"].settings
    assert again.cells["nested"].chosen["C"][0] == 1.0


def test_a_row_that_two_tables_have_is_computed_once(folder, monkeypatch):
    (first,) = run_table(SMALL, folder, ["MUTAG"], ["WL"], selections=["nested"])
    renamed = replace(SMALL.row("WL"), name="Subtrees")
    deeper = replace(SMALL.row("WL"), name="Deeper", options={"n_iter": (3,)})
    other = replace(SMALL, name="other", rows=(renamed, deeper))

    def refuse(*_, **__):
        raise AssertionError("computed again")

    monkeypatch.setattr(runner, "evaluate", refuse)
    (line,) = run_table(other, folder, ["MUTAG"], ["Subtrees"], selections=["nested"])
    expected = replace(first.cells["nested"], table="other", row="Subtrees")
    assert line.cells["nested"] == expected
    assert folder.read("other", "Subtrees", "MUTAG", "nested") == expected
    for changed in ({"rows": ["Deeper"]}, {"selections": ["best-of-grid"]}, {"repeats": 3}):
        asked = {"rows": ["Subtrees"], "selections": ["nested"], **changed}
        with pytest.raises(AssertionError, match="computed again"):
            run_table(other, folder, ["MUTAG"], **asked)


def test_a_data_set_that_is_not_there_is_told_of_and_the_others_run(folder):
    told = []
    lines = run_table(SMALL, folder, rows=["Labels"], selections=["nested"], tell=told.append)
    assert [line.data for line in lines] == ["MUTAG", "NOT-THERE"]
    assert lines[0].cells
    assert not lines[1].cells
    assert "NOT-THERE is missing" in lines[1].missing
    assert "--download gets it" in lines[1].missing
    assert "NOT-THERE.zip" in lines[1].missing
    assert told == lines


def test_rows_and_data_that_a_table_does_not_have(folder):
    with pytest.raises(ValueError, match="'small' has no row 'X'; it has Labels, WL, Printed"):
        run_table(SMALL, folder, ["MUTAG"], ["X"])
    with pytest.raises(ValueError, match="no data set 'X'"):
        run_table(SMALL, folder, ["X"])


def test_a_file_that_is_no_cell_is_named(folder):
    (folder.path / "small").mkdir()
    (folder.path / "small" / "Labels--MUTAG--nested.json").write_text("{}")
    with pytest.raises(ValueError, match=r"Labels--MUTAG--nested.json.*Remove the file"):
        run_table(SMALL, folder, ["MUTAG"], ["Labels"], selections=["nested"])


def test_cells_are_listed(folder):
    cells = [
        Cell("t", "MLG, published code", "A", s, [[0.5]], 1.0, "", 0.1)
        for s in ("nested", "best-of-grid")
    ]
    for cell in cells:
        folder.write(cell)
    assert sorted(folder.cells("t"), key=lambda c: c.selection) == sorted(
        cells, key=lambda c: c.selection
    )
    assert list(folder.cells("other")) == []


def test_a_row_whose_library_is_missing_says_so(folder, monkeypatch):
    def missing(*_, **__):
        raise ImportError("Networks need PyTorch")

    monkeypatch.setattr(runner, "evaluate", missing)
    (line,) = run_table(TABLES["learned"], folder, ["MUTAG"], ["GIN"])
    assert line.missing == "GIN: Networks need PyTorch"


def test_networks_run_in_their_table(folder):
    pytest.importorskip("torch_geometric", reason="needs PyTorch Geometric")
    blind = replace(TABLES["learned"].row("structure-blind"), params={"max_epochs": 2}, options={})
    table = replace(TABLES["learned"], rows=(blind,), protocol=Protocol.errica(folds=3))
    (line,) = run_table(table, folder, ["MUTAG"])
    assert list(line.cells) == ["nested"]  # the table has only this protocol
    assert "3 final fits" in line.cells["nested"].describe


# Experiments


def test_learning_times_fall_from_batch_to_accelerated(folder):
    found = run_experiment(EXPERIMENTS["weighted-3"], folder, ["MUTAG"])["MUTAG"]
    times = {row[0]: row for row in found["rows"]}
    assert set(times) == {"full batch", "stochastic", "accelerated"}
    assert times["accelerated"][3] <= times["full batch"][3] + 1e-6
    assert published("weighted-3", "stochastic", "MUTAG").mean == "1' 32\""


def test_experiments_are_kept_and_done_again_by_another_version(folder, monkeypatch):
    calls = []

    def measure(repeats=1, n_jobs=None):
        calls.append(repeats)
        return {"heading": ["a"], "rows": [[1]], "repeats": repeats, "seconds": 0.0}

    monkeypatch.setattr(experiments, "planted", measure)
    experiment = EXPERIMENTS["planted"]
    run_experiment(experiment, folder)
    run_experiment(experiment, folder)
    assert calls == [1]
    run_experiment(experiment, folder, repeats=3)
    assert calls == [1, 3]
    place = folder.path / "planted" / "measurements.json"
    document = json.loads(place.read_text())
    place.write_text(json.dumps({**document, "version": "0.0.1"}))
    run_experiment(experiment, folder)
    assert calls == [1, 3, 1]


def test_experiments_on_data_that_is_not_there(folder):
    absent = replace(EXPERIMENTS["weighted-3"], data=("NOT-THERE",))
    assert "is missing" in run_experiment(absent, folder)["NOT-THERE"]


def test_measurements_of_the_smallest_kind():
    found = experiments.growth(numbers=(5, 10), sizes=(10, 20), n_graphs=4)
    assert [row[1] for row in found["rows"]] == [5, 10, "exponent", 10, 20, "exponent"]
    curve = experiments.bound(repeats=1, lengths=(100, 1600))
    bounds, *errors = (row[1:] for row in curve["rows"])
    assert all(error < bound for row in errors for error, bound in zip(row, bounds, strict=True))
    assert errors[2][1] < errors[2][0]
    table = experiments.blocks(repeats=1, similarities=(3.0,), sizes=(3,))
    assert all(0 <= row[2] <= 100 for row in table["rows"])


def test_the_planted_pattern_is_found():
    found = experiments.planted(repeats=1)
    rows = {row[0]: row[1:] for row in found["rows"]}
    assert rows["Weighted WWL"][0] > rows["WWL"][0]
