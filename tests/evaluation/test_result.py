"""Results as data: every prediction is kept, can be scored again, and survives JSON."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import balanced_accuracy_score, confusion_matrix, roc_auc_score

from gramlet import Protocol, compare_results, evaluate, load_dataset
from gramlet.evaluation import Result, table
from gramlet.evaluation.candidates import candidates_of, normalisation_of
from gramlet.evaluation.splits import make_splits
from reference.evaluation import classes_of, points, trees

QUICK = Protocol(folds=4, repeats=2, inner_folds=3, C=(0.01, 1.0))


@pytest.fixture(scope="module")
def three():
    _, gram, numbers = points(72)
    y = np.array(["low", "middle", "top"])[classes_of(numbers, 3)]
    return y, evaluate({"k": gram}, None, y, QUICK)["k"]


@pytest.fixture(scope="module")
def numbers():
    _, gram, y = points(50)
    return y, evaluate({"k": gram}, None, y, QUICK)["k"]


def test_predictions_are_in_the_order_of_the_graphs(three):
    y, result = three
    assert result.predictions.shape == (2, 72)
    assert result.decisions.shape == (2, 72, 3)
    codes = np.unique(y, return_inverse=True)[1]
    for split in QUICK.splits(codes, np.unique(y)):
        right = result.predictions[split.repeat, split.test] == y[split.test]
        assert right.mean() == pytest.approx(result.accuracies[split.repeat, split.fold])
        assert set(result.folds[split.repeat, split.test]) == {split.fold}
    assert result.scores is result.accuracies
    np.testing.assert_array_equal(result.classes, ["low", "middle", "top"])


def test_any_scorer_afterwards(three):
    y, result = three
    codes = np.unique(y, return_inverse=True)[1]
    balanced, areas = [], []
    for s in QUICK.splits(codes, np.unique(y)):
        told, values = result.predictions[s.repeat, s.test], result.decisions[s.repeat, s.test]
        balanced.append(balanced_accuracy_score(y[s.test], told))
        areas.append(np.mean([roc_auc_score(codes[s.test] == c, values[:, c]) for c in range(3)]))
    assert result.score("balanced_accuracy") == pytest.approx(np.mean(balanced))
    assert result.score("roc_auc") == pytest.approx(np.mean(areas))
    assert result.score("accuracy") == pytest.approx(result.mean)
    with pytest.raises(ValueError, match="'r2' is for regression"):
        result.score("r2")


def test_the_confusion_matrix(three):
    y, result = three
    wanted = sum(confusion_matrix(y, row) for row in result.predictions)
    np.testing.assert_array_equal(result.confusion_matrix(), wanted)
    np.testing.assert_array_equal(
        result.confusion_matrix(1), confusion_matrix(y, result.predictions[1])
    )


def test_calibration_of_classes(three):
    y, result = three
    with pytest.raises(ValueError, match="label: choose a class, one of 'low', 'middle', 'top'"):
        result.calibration()
    found = result.calibration(4, "top")
    assert sum(found["count"]) == 144
    values, truth = result.decisions[:, :, 2].ravel(), np.tile(y == "top", 2)
    order = np.argsort(values, kind="stable")[:36]
    assert found["value"][0] == pytest.approx(values[order].mean())
    assert found["observed"][0] == pytest.approx(truth[order].mean())
    assert found["observed"][-1] > found["observed"][0]
    with pytest.raises(ValueError, match="got 'up'"):
        result.calibration(4, "up")


def test_calibration_of_numbers_and_of_the_first_of_two_classes(numbers):
    y, result = numbers
    found = result.calibration(5)
    order = np.argsort(result.predictions.ravel(), kind="stable")[-20:]
    assert found["observed"][-1] == pytest.approx(np.tile(y, 2)[order].mean())
    with pytest.raises(ValueError, match="confusion matrix needs classes"):
        result.confusion_matrix()
    _, gram, values = points(50)
    two = evaluate({"k": gram}, None, classes_of(values), QUICK)["k"]
    first, last = two.calibration(2, 0), two.calibration(2)
    assert first["observed"][0] == pytest.approx(1 - last["observed"][1])
    assert first["value"][0] == pytest.approx(-last["value"][1])


@pytest.mark.parametrize("which", ["three", "numbers"])
def test_json_keeps_everything(which, request):
    result = request.getfixturevalue(which)[1]
    again = Result.from_json(result.to_json())
    assert again.to_dict() == result.to_dict()
    assert json.loads(result.to_json())["predictions"][0][0] == result.predictions[0, 0]
    np.testing.assert_array_equal(again.predictions, result.predictions)
    assert again.predictions.dtype.kind == result.predictions.dtype.kind
    if result.decisions is not None:
        np.testing.assert_array_equal(again.decisions, result.decisions)
    name = "roc_auc" if which == "three" else "neg_root_mean_squared_error"
    assert again.score(name) == result.score(name)
    assert compare_results(again, result).difference == 0.0


def test_graphs_left_out_have_no_prediction():
    graphs = trees(40)
    y = np.array(["few"] * 3 + ["a", "b"] * 18 + ["few"])
    with pytest.raises(ValueError, match=r"'few' has 4 graphs.*with min_class_size=6"):
        evaluate("vertex", graphs, y, Protocol(folds=4, inner_folds=4))
    with pytest.warns(UserWarning, match="leaves out 4 of 40 graphs"):
        result = evaluate("vertex", graphs, y, QUICK, min_class_size=5)
    assert result.data.n_graphs == 36
    assert result.data.left_out == 4
    assert result.predictions.shape == (2, 40)
    left = y == "few"
    assert all(value is None for value in result.predictions[:, left].ravel())
    assert set(result.predictions[:, ~left].ravel()) <= {"a", "b"}
    assert np.isnan(result.decisions[:, left]).all()
    assert np.isfinite(result.decisions[:, ~left]).all()
    same = evaluate("vertex", graphs[~left], y[~left], QUICK)
    np.testing.assert_array_equal(same.scores, result.scores)
    assert result.score("balanced_accuracy") == pytest.approx(same.score("balanced_accuracy"))
    assert result.confusion_matrix().sum() == 72
    again = Result.from_json(result.to_json())
    assert again.predictions.tolist() == result.predictions.tolist()
    assert again.score("roc_auc") == result.score("roc_auc")


def test_held_out_shares_leave_the_rest_without_predictions():
    _, gram, y = points(50)
    rules = Protocol.holdout(0.2, repeats=3, inner_folds=3)
    result = evaluate({"k": gram}, None, y, rules)["k"]
    assert result.scores.shape == (3, 1)
    assert (np.isfinite(result.predictions).sum(axis=1) == 10).all()
    assert Result.from_json(result.to_json()).score("r2") == result.score("r2")


def test_tables_of_other_scorers(numbers):
    result = numbers[1]
    text = table(result)
    assert text.split()[:3] == ["kernel", "R²", "RMSE"]
    error = -result.score("neg_root_mean_squared_error")
    assert f"{error:.3f}" in text.splitlines()[2].split()
    assert f"{result.mean:.3f} ± {result.std:.3f}" in text
    assert "Result('k', R²" in repr(result)
    _, gram, y = points(50)
    other = evaluate({"k": gram}, None, y, QUICK, scoring="neg_mean_squared_error")["k"]
    assert table(other).split()[:5] == ["kernel", "MSE", "R²", "RMSE", "seconds"]
    assert repr(other).startswith("Result('k', MSE ")
    with pytest.raises(ValueError, match="different scorers"):
        table([result, other])
    with pytest.raises(ValueError, match="different scorers, 'r2' and 'neg_mean_squared_error'"):
        compare_results(result, other)


def test_tables_of_rare_classes_have_scores_that_weigh_classes_equally():
    data = load_dataset("MUTAG")
    rows = np.concatenate([np.flatnonzero(data.target == 1), np.flatnonzero(data.target < 0)[:12]])
    rules = Protocol(folds=3, repeats=1, inner_folds=2)
    result = evaluate("vertex", data.graphs[rows], data.target[rows], rules)
    assert result.scoring == "roc_auc"
    head, _, line, *below = table(result).splitlines()
    assert re.split("  +", head)[:4] == ["kernel", "ROC AUC", "accuracy %", "balanced accuracy"]
    assert f"{100 * result.score('accuracy'):.1f}" in line.split()
    assert f"{result.score('balanced_accuracy'):.3f}" in line.split()
    assert "Normalisation: tanimoto (vertex)." in below
    cosine = evaluate("wl-oa", data.graphs[rows], data.target[rows], rules, normalize="cosine")
    both = table([result, cosine])
    assert "Normalisation: tanimoto (vertex); cosine (wl-oa)." in both
    unit = candidates_of("wwl", {}, None, 0, "classification")
    assert normalisation_of(unit) == "by itself"


def test_the_options_of_a_chosen_kernel_are_its_own(three):
    sets = [{"kernel": "a", "x": 1}, {"kernel": "b", "z": 2}, {"kernel": "a", "x": 3}]
    chosen = replace(three[1], chosen=[sets]).most_chosen()
    assert chosen == {"kernel": ("a", 2 / 3), "x": (1, 1 / 3)}


def test_leave_one_out_parts_are_pooled():
    _, gram, y = points(20)
    rules = Protocol(folds=20, repeats=1, inner_folds=3)
    result = evaluate({"k": gram}, None, y, rules)["k"]
    from sklearn.metrics import r2_score

    assert result.mean == pytest.approx(r2_score(y, result.predictions[0]))
    assert len(make_splits(rules, y, np.zeros(0), None)) == 20


class TestReadyMatrices:
    def test_one_result_per_matrix(self):
        _, gram, y = points(40)
        found = evaluate({"a": gram, "b": 2 * gram}, None, y, QUICK)
        assert list(found) == ["a", "b"]
        assert [result.name for result in found.values()] == ["a", "b"]
        assert list(found["a"].baselines) == ["mean"]
        np.testing.assert_allclose(found["a"].predictions, found["b"].predictions)

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            (lambda k: k[:-1], "'mine' must be square, one row and column .* got shape"),
            (lambda k: k[:-1, :-1], r"per value of y \(40\)"),
            (lambda k: k.astype(str), "of numbers"),
            (lambda k: np.where(np.eye(40) == 1, np.nan, k), "not finite at row 0, column 0"),
            (lambda k: k + 1e-3 * np.eye(40, k=3), "must be symmetric.* row 0, column 3"),
        ],
    )
    def test_matrices_that_are_none(self, change, message):
        _, gram, y = points(40)
        with pytest.raises(ValueError, match=message):
            evaluate({"mine": change(gram)}, None, y, QUICK)

    def test_symmetric_to_rounding_is_symmetric(self):
        _, gram, y = points(40)
        evaluate({"mine": gram + 1e-10 * np.eye(40, k=3)}, None, y, QUICK)
        with pytest.raises(ValueError, match="without graphs"):
            evaluate({"mine": gram}, trees(), y, QUICK)
        with pytest.raises(ValueError, match="the dict is empty"):
            evaluate({}, None, y, QUICK)
        with pytest.raises(ValueError, match="y is missing"):
            evaluate({"mine": gram}, None, None, QUICK)


@pytest.mark.parametrize(
    "changes",
    [
        {"baselines": []},
        {"folds": [[10**30]]},
        {"target": ["low"]},
        {"scores": 0},
        {"predictions": [["low"]]},
        {"data": None},
    ],
)
def test_damaged_results_are_refused(changes, three):
    fields = three[1].to_dict()
    with pytest.raises(ValueError, match="damaged"):
        Result.from_dict({**fields, **changes})
    with pytest.raises(ValueError, match="not a result"):
        Result.from_json("[" * 100_000)
