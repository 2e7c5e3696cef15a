"""Options that can no longer win are given up, and nothing else changes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.evaluation.test_evaluate import noise, spiders

from gramlet import Protocol, evaluate
from gramlet.evaluation.machines.machines import Outcome
from gramlet.evaluation.selection import selection
from gramlet.evaluation.selection.tally import Tally

RULES = Protocol(folds=4, repeats=2, inner_folds=4, C=(0.01, 1.0, 100.0))
OPTIONS = {"n_iter": [0, 1, 2, 3]}


def tally(best: float) -> Tally:
    parts = [np.arange(5), np.arange(5, 10)]
    return Tally(parts, np.zeros(10, dtype=np.int64), 2, best)


def test_an_entry_is_wanted_as_long_as_it_can_reach_the_best():
    told = np.zeros((2, 5), dtype=np.int64)
    told[0, :2] = 1  # two errors of ten graphs: 0.8 at most
    told[1, :3] = 1
    found = tally(0.8)
    assert found.able().tolist() == [True, True]
    assert not found.add(0, Outcome(told), np.array([True, True]))
    assert found.able().tolist() == [True, False]
    assert found.add(1, Outcome(told), found.able())
    assert found.complete.tolist() == [True, False]
    open_end = tally(-np.inf)
    open_end.add(0, Outcome(told), np.array([True, True]))
    assert open_end.able().all()


def test_a_mean_over_parts_weighs_the_errors_of_small_parts_more():
    parts = [np.arange(2), np.arange(2, 10)]
    found = Tally(parts, np.zeros(10, dtype=np.int64), 1, 0.8, equal_parts=True)
    found.add(1, Outcome(np.eye(1, 8, dtype=np.int64)), np.array([True]))  # 1/16 is lost
    assert found.able().all()
    found.add(0, Outcome(np.eye(1, 2, dtype=np.int64)), np.array([True]))  # and a quarter
    assert not found.able().any()


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("make", [spiders, noise])
@pytest.mark.parametrize("selection", ["nested", "best-of-grid"])
def test_choices_are_those_without_giving_up(make, n_jobs, selection, monkeypatch):
    graphs, y = make()[:2]
    rules = replace(RULES, selection=selection)
    short = evaluate("wl", graphs, y, rules, options=OPTIONS, n_jobs=n_jobs)
    monkeypatch.setattr(Tally, "able", lambda self: np.ones(len(self.complete), dtype=bool))
    full = evaluate("wl", graphs, y, rules, options=OPTIONS)
    assert short.chosen == full.chosen
    assert np.array_equal(short.scores, full.scores)
    assert np.array_equal(short.predictions, full.predictions)
    assert np.array_equal(short.decisions, full.decisions)


@pytest.mark.parametrize(("selection", "n_inner"), [("nested", 4), ("best-of-grid", 1)])
def test_machines_are_spared(selection, n_inner, monkeypatch):
    graphs, y = spiders()[:2]
    asked = []
    from gramlet.evaluation.machines import machines

    decide = machines.decide_by_cost
    monkeypatch.setattr(
        machines, "decide_by_cost", lambda *given: asked.append(len(given[4])) or decide(*given)
    )
    rules = replace(RULES, selection=selection)
    evaluate("wl", graphs, y, rules, options=OPTIONS, baselines=False)
    everything = 4 * 2 * n_inner * 4 * 3  # folds, repeats, inner folds, levels, values of C
    assert sum(asked) < 0.9 * everything


@pytest.mark.parametrize("room", [0, 2 * 8 * 60**2])
def test_choices_tested_early_for_want_of_memory_give_the_same(room, monkeypatch):
    graphs, y = spiders()[:2]
    plain = evaluate("wl", graphs, y, RULES, options=OPTIONS)
    monkeypatch.setattr(selection, "_KEPT_BYTES", room)
    found = evaluate("wl", graphs, y, RULES, options=OPTIONS)
    assert found.chosen == plain.chosen
    assert np.array_equal(found.predictions, plain.predictions)
    assert np.array_equal(found.scores, plain.scores)
