"""The comparison of all kernels: which cells are computed, their results, and the table."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest

from benchmarks import compare_kernels as comparison
from benchmarks import extrapolation
from benchmarks.papers import comparison_tables
from gramlet import Dataset, GraphBatch, as_batch, load_dataset
from gramlet.kernels import registry

ROOT = Path(__file__).resolve().parents[2]

ANSWER = '{"matrix_seconds": 2.0, "peak_bytes": 8000000}\n'
SCORE = '{"accuracy": 0.9, "std_folds": 0.04}\n'


def test_cells_are_all_of_the_registry_on_every_data_set():
    found = list(comparison.cells(comparison.DATASETS, None))
    assert len(found) == len(set(found)) == 7 * (2 + len(registry.entries()))
    assert [dataset for dataset, name in found if name == "wl"] == list(comparison.DATASETS)
    assert list(comparison.cells(["MUTAG"], ["sp", "size"])) == [("MUTAG", "size"), ("MUTAG", "sp")]
    with pytest.raises(ValueError, match="No kernel is called 'spp'"):
        list(comparison.cells(["MUTAG"], ["spp"]))
    assert set(comparison.OPTIONS) <= {row.name for row in registry.entries()}
    for name, options in comparison.OPTIONS.items():
        assert set(options) <= set(registry.make(name).get_params())


def test_what_is_there_is_not_computed_again():
    assert comparison.wanted(None, 6.0)
    assert not comparison.wanted({"accuracy": 0.9}, 30.0)
    assert not comparison.wanted({"reason": "needs node attributes"}, 30.0)
    assert not comparison.wanted({"reason": "...", "limit_minutes": 6.0}, 6.0)
    assert comparison.wanted({"reason": "...", "limit_minutes": 6.0}, 30.0)


def test_cheap_cells_come_first_and_hopeless_ones_are_not_tried():
    assert comparison.limits(30.0) == [0.5, 2.0, 8.0, 30.0]
    assert comparison.limits(0.1) == [0.1]
    stopped = {"reason": "...", "limit_minutes": 0.5, "estimated_minutes": 11.0}
    assert [comparison.wanted(stopped, limit) for limit in (0.5, 2.0, 8.0)] == [False, False, True]
    assert not comparison.wanted({**stopped, "estimated_minutes": 80.0}, 30.0)


def planted(n_graphs):
    sizes = 2 + np.arange(n_graphs) % 7
    edges = [[(0, node) for node in range(1, size)] for size in sizes]
    batch = GraphBatch.from_edges(edges, n_nodes=sizes.tolist())
    return Dataset(batch, (np.arange(n_graphs) % 3 == 0).astype(int), name="planted")


def test_parts_of_a_data_set_have_its_classes_and_sizes():
    data = planted(420)
    chosen = extrapolation.part(data, 105)
    assert len(set(chosen.tolist())) == 105
    assert np.asarray(data.target)[chosen].mean() == pytest.approx(1 / 3, abs=0.02)
    sizes = np.diff(data.graphs.node_offsets)
    assert sizes[chosen].mean() == pytest.approx(sizes.mean(), abs=0.1)


def test_parts_grow_while_they_fit_into_the_time():
    data = planted(1600)
    assert extrapolation.next_size([], data, 60.0) == 100
    assert extrapolation.next_size([(100, 1.0)], data, 60.0) == 200
    assert extrapolation.next_size([(100, 13.0)], data, 60.0) is None
    assert extrapolation.next_size([(200, 1.0), (400, 2.0), (800, 4.0)], data, 60.0) is None
    assert extrapolation.next_size([], planted(60), 60.0) is None  # 20 per class: the smallest part


@pytest.mark.parametrize(
    ("done", "minutes", "reason"),
    [
        ([(100, 6.0), (200, 24.0)], 102.4, "estimated 100 CPU minutes from 200 of 3200 graphs"),
        ([(100, 6.0), (200, 12.0)], 3.2, "estimated 3.2 CPU minutes from 200 of 3200 graphs"),
        ([(100, 6.0), (200, 5.0)], 4 / 3, "estimated 1.3 CPU minutes from 200 of 3200 graphs"),
        ([(100, 6.0), (200, 96.0)], 409.6, "estimated 410 CPU minutes from 200 of 3200 graphs"),
        ([(200, 60.0)], 16.0, "estimated 16 CPU minutes from 200 of 3200 graphs"),
    ],
)
def test_costs_are_carried_on_to_the_whole_set(done, minutes, reason):
    found = extrapolation.estimate(done, None, 180.0, 3200)
    assert found.minutes == pytest.approx(minutes)
    assert found.reason == reason


def test_a_part_that_does_not_end_bounds_the_whole_from_below():
    found = extrapolation.estimate([], 200, 180.0, 3200)
    assert found.minutes == pytest.approx(48.0)
    assert found.reason == "more than 48 CPU minutes: 200 of 3200 graphs take longer than 3"
    assert extrapolation.estimate([], None, 180.0, 3200) is None


def test_outcomes_of_children():
    done = comparison.outcome_of(ANSWER + SCORE, 0, 6.0)
    assert done == {
        "matrix_seconds": 2.0,
        "peak_bytes": 8000000,
        "accuracy": 0.9,
        "std_folds": 0.04,
    }
    killed = comparison.outcome_of(ANSWER, -24, 6.0)
    assert killed["reason"] == "the evaluation takes longer than 6 CPU minutes"
    assert (killed["limit_minutes"], killed["matrix_seconds"]) == (6.0, 2.0)
    early = comparison.outcome_of("", -24, 0.5)
    assert early["reason"] == "the matrix takes longer than 0.5 CPU minutes"
    with pytest.raises(RuntimeError, match="failed"):
        comparison.outcome_of("", 1, 6.0)


forks = pytest.mark.skipif(not hasattr(os, "fork"), reason="cells are measured in forked processes")


@forks
def test_cells_are_measured(tmp_path):
    data = load_dataset("MUTAG")
    # Large enough to need new memory.
    many = Dataset(as_batch([data.graphs] * 6), np.tile(data.target, 6), name="MUTAG")
    found = comparison.measured("vertex", many, 5.0, tmp_path)
    assert 0.5 < found["accuracy"] < 1.0
    assert found["peak_bytes"] >= (6 * 188) ** 2 * 8
    assert found["matrix_seconds"] >= 0.0
    assert comparison.measured("wwl-attr", data, 5.0, tmp_path) == {
        "reason": "needs node attributes"
    }


@forks
def test_a_cell_that_takes_too_long_is_stopped(tmp_path, monkeypatch):
    def endless(name, data, minutes, store, lines):
        import resource
        import time

        used = int(time.process_time()) + 1
        resource.setrlimit(resource.RLIMIT_CPU, (used, used + 5))
        print(json.dumps({"matrix_seconds": 0.1}), file=lines, flush=True)
        while True:
            np.linalg.norm(np.ones(1000))

    monkeypatch.setattr(comparison, "_measure", endless)
    found = comparison.measured("vertex", None, 0.1, tmp_path)
    assert found["limit_minutes"] == 0.1
    assert found["reason"].startswith("the evaluation takes longer")


@forks
def test_a_stopped_cell_is_estimated_from_parts(monkeypatch):
    costs = {"seconds": 5.0}

    def parts(name, data, seconds, lines):
        for size in (20, 40):
            found = {"graphs": size, "seconds": costs["seconds"] * size**2}
            print(json.dumps(found), file=lines, flush=True)

    monkeypatch.setattr(comparison, "_probe", parts)
    data, known = planted(320), {"reason": "the matrix ...", "limit_minutes": 0.5}
    hopeless = comparison.probed("wl", data, known, 30.0)
    assert hopeless["reason"].startswith("estimated 8500 CPU minutes from 40 of 320 graphs")
    costs["seconds"] = 0.005
    possible = comparison.probed("wl", data, known, 30.0)
    assert possible["reason"] == "the matrix ..."
    assert possible["estimated_minutes"] == pytest.approx(8.533, abs=0.01)


@forks
def test_parts_are_timed_with_the_cell_s_own_protocol():
    found = comparison.probed("vertex", planted(320), {"limit_minutes": 0.5}, 5.0)
    assert [size for size, _ in found["parts"]] == [45, 90]
    assert 0.0 < found["estimated_minutes"] < 5.0


def document(cells):
    return {
        "protocol": "10-fold",
        "C": [0.1, 1.0],
        "options": {"wl": {"n_iter": [1]}},
        "machine": {"processor": "a processor"},
        "cells": cells,
    }


def test_tables_show_what_is_there():
    cells = {
        "MUTAG": {
            "majority": {"accuracy": 0.66, "std_folds": 0.02},
            "wl": {"accuracy": 0.9, "std_folds": 0.05, "matrix_seconds": 0.001, "peak_bytes": 3e6},
            "sp": {"accuracy": 0.88, "std_folds": 0.01, "matrix_seconds": 1.26, "peak_bytes": 9},
            "wwl-attr": {"reason": "needs node attributes"},
            "emd": {"matrix_seconds": 3.0, "peak_bytes": 5e6, "reason": "the evaluation is slow"},
        }
    }
    text = comparison_tables.comparison_tables(document(cells))
    rows = [line for line in text.splitlines() if line.startswith("| `")]
    by_name = {}
    for line in rows:
        name, first = line.split("|")[1:3]
        by_name.setdefault(name.strip(" `"), []).append(first.strip())
    assert by_name["majority"] == ["66.0 ± 2"]
    assert by_name["wl"] == ["**90.0 ± 5**", "< 0.01", "3"]
    assert by_name["sp"] == ["**88.0 ± 1**", "1.3", "1"]
    assert by_name["emd"] == ["– 2", "3", "5"]
    assert by_name["wwl-attr"] == ["– 1", "– 1", "– 1"]
    assert by_name["rw"] == ["·", "·", "·"]
    assert "– 1: needs node attributes." in text
    assert "– 2: the evaluation is slow." in text


def test_a_cell_stopped_by_a_smaller_limit_is_not_shown_as_a_dash():
    stopped = {"reason": "the matrix takes longer than 0.5 CPU minutes", "limit_minutes": 0.5}
    shown = comparison_tables.comparison_tables(
        {**document({"MUTAG": {"rw": stopped}}), "minutes": 30}
    )
    assert "| `rw` | · |" in shown
    assert "0.5 CPU minutes" not in shown
    final = {"reason": "the matrix takes longer than 30 CPU minutes", "limit_minutes": 30.0}
    shown = comparison_tables.comparison_tables(
        {**document({"MUTAG": {"rw": final}}), "minutes": 30}
    )
    assert "| `rw` | – 1 |" in shown


def test_stored_results_have_known_names_and_render():
    stored = json.loads(comparison_tables.RESULTS.read_text(encoding="utf-8"))
    known = {*comparison_tables.BASELINES, *(row.name for row in registry.entries())}
    assert comparison_tables.DATASETS == comparison.DATASETS
    assert set(stored["cells"]) <= set(comparison.DATASETS)
    for row in stored["cells"].values():
        assert set(row) <= known
        for cell in row.values():
            assert "accuracy" in cell or cell["reason"]
    assert "Accuracy" in comparison_tables.comparison_tables(stored)
