"""Test parts that were scored together are one run in tests of significance."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import t as student

from gramlet import Protocol, compare_results, evaluate
from gramlet.evaluation import Result, table
from gramlet.evaluation.hints import baseline_hints, pooled_hints
from gramlet.evaluation.result_table import as_good_as_the_best
from gramlet.evaluation.significance import independent_runs, overlap_of_runs
from reference.evaluation import points


@pytest.fixture(scope="module", params=[1, 3])
def leave_one_out(request):
    _, gram, y = points(20)
    rules = Protocol(folds=20, repeats=request.param, inner_folds=3)
    worse = gram + 5 * np.eye(20)
    return list(evaluate({"good": gram, "bad": worse}, None, y, rules).values())


@pytest.fixture(scope="module")
def by_groups():
    """Twelve folds of one group each, six of which have one class."""
    _, gram, _ = points(60)
    groups = np.arange(60) // 5
    y = np.where(groups < 6, groups % 2, np.arange(60) % 2)
    rules = Protocol(folds=12, repeats=2, inner_folds=3, C=(0.1, 1.0))
    given = {"k": gram, "noise": np.eye(60)}
    found = evaluate(given, None, y, rules, scoring="roc_auc", groups=groups)
    return y, list(found.values())


def test_runs_by_hand():
    pooled = np.array([[False, True, True, False], [False, False, False, False]])
    values = np.array([[1.0, 2.0, 2.0, 3.0], [4.0, 5.0, 6.0, 7.0]])
    assert independent_runs(values, pooled).tolist() == [1.0, 3.0, 2.0, 4.0, 5.0, 6.0, 7.0]
    assert overlap_of_runs(1 / 3, pooled) == pytest.approx(2 / 5)
    assert overlap_of_runs(1 / 3, np.zeros((2, 4), dtype=bool)) == 1 / 3
    assert overlap_of_runs(1 / 3, np.ones((2, 4), dtype=bool)) == np.inf


def test_leave_one_out_is_no_evidence(leave_one_out):
    good, bad = leave_one_out
    assert good.mean > bad.mean
    assert good.pooled.all()
    found = compare_results(good, bad)
    assert (found.statistic, found.p_value) == (0.0, 1.0)
    assert found.n_runs == len(good.scores)
    assert found.difference == pytest.approx(good.mean - bad.mean)
    assert [pair.adjusted for pair in compare_results([good, bad, good])] == [1.0] * 3
    assert as_good_as_the_best([bad, good]) == (good, ["bad"])


def test_a_remark_says_how_many_parts_were_pooled(leave_one_out):
    n = leave_one_out[0].scores.size
    text = table(leave_one_out)
    assert (
        text.count(
            f"The scores of {n} of {n} test parts were pooled, because some parts have fewer than "
            "two graphs. They are not independent: there is no test of significance."
        )
        == 1
    )
    assert "significantly better" not in text


def test_pooled_parts_are_one_run_per_repeat(by_groups):
    y, (kernel, noise) = by_groups
    one_class = np.zeros((2, 12), dtype=bool)
    for repeat, fold in np.ndindex(2, 12):
        one_class[repeat, fold] = len(set(y[kernel.folds[repeat] == fold])) == 1
    assert 0 < one_class.sum() < 24
    np.testing.assert_array_equal(kernel.pooled, one_class)
    found = compare_results(kernel, noise)
    differences = kernel.scores - noise.scores
    runs = np.concatenate(
        [
            [*row[~together], row[together][0]]
            for row, together in zip(differences, one_class, strict=True)
        ]
    )
    assert found.n_runs == len(runs) == 24 - one_class.sum() + 2
    t = runs.mean() / np.sqrt((1 / len(runs) + 2 / (len(runs) - 2)) * runs.var(ddof=1))
    assert found.statistic == pytest.approx(t)
    assert found.p_value == pytest.approx(2 * student.sf(abs(t), len(runs) - 1))
    assert f"({len(runs)} independent scores; {one_class.sum()} parts pooled)" in str(found)
    (hint,) = [hint for hint in kernel.hints if hint.kind == "pooled"]
    assert hint.facts == {"parts": 24, "pooled": one_class.sum(), "runs": len(runs)}
    assert "fewer than two graphs or one class. They are not independent: they count" in hint.text


def test_results_from_json_know_what_was_pooled(by_groups):
    kernel, noise = by_groups[1]
    again = Result.from_json(kernel.to_json())
    np.testing.assert_array_equal(again.pooled, kernel.pooled)
    assert compare_results(again, noise) == compare_results(kernel, noise)
    unknown = replace(kernel, folds=None, target=None)
    assert not unknown.pooled.any()
    assert unknown.pooled.shape == kernel.scores.shape


def test_other_scorers_do_not_pool(by_groups):
    _, (kernel, _) = by_groups
    assert not replace(kernel, scoring="accuracy").pooled.any()


def test_a_class_frequency_has_no_area(by_groups):
    kernel = by_groups[1][0]
    np.testing.assert_array_equal(kernel.baselines["majority"], 0.5)


def test_baselines_without_a_test():
    scores, pooled = np.full((1, 4), 0.9), np.ones((1, 4), dtype=bool)
    baselines = {"mean": np.full((1, 4), 0.1), "size": np.full((1, 4), 0.95)}
    (hint,) = baseline_hints("k", scores, baselines, pooled, 1 / 3)
    assert hint.facts["baseline"] == "size"
    assert hint.facts["p_value"] == 1.0
    assert "is not better than" in hint.text


def test_the_runs_of_a_baseline():
    """Many parts of one pool look like evidence; as one run they are not."""
    scores = np.array([[0.9] * 8 + [0.5, 0.6]])
    baselines = {"majority": np.full((1, 10), 0.5)}
    pooled = np.array([[True] * 8 + [False, False]])
    assert baseline_hints("k", scores, baselines, np.zeros((1, 10), dtype=bool), 1 / 9) == []
    (hint,) = baseline_hints("k", scores, baselines, pooled, 1 / 9)
    assert "not significantly better" in hint.text


def test_no_hint_without_pooled_parts():
    assert pooled_hints(np.zeros((2, 3), dtype=bool), "classification") == []
