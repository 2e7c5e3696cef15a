"""Scorers by name against scikit-learn's own, and pooled parts."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.metrics import get_scorer, get_scorer_names, r2_score, roc_auc_score

from gramlet.evaluation.scorers import part_scores, scorer_names, scorer_of


class Known(ClassifierMixin, BaseEstimator):
    """An estimator that returns given predictions."""

    def __init__(self, predictions=None, decisions=None, classes=None):
        self.predictions = predictions
        self.decisions = decisions
        self.classes = classes

    def fit(self, X, y):
        self.classes_ = self.classes
        return self

    def predict(self, X):
        return self.predictions

    def decision_function(self, X):
        return self.decisions


class KnownNumbers(RegressorMixin, BaseEstimator):
    def __init__(self, predictions=None):
        self.predictions = predictions

    def fit(self, X, y):
        self.fitted_ = True
        return self

    def predict(self, X):
        return self.predictions


def of_classes(n_classes: int, n: int = 60):
    rng = np.random.default_rng(n_classes)
    truth = rng.integers(n_classes, size=n)
    decisions = rng.normal(size=(n, n_classes)).round(1) + np.eye(n_classes)[truth]
    predictions = decisions.argmax(axis=1)
    if n_classes == 2:
        decisions = decisions[:, 1] - decisions[:, 0]
    return truth, predictions, decisions


@pytest.mark.parametrize("name", scorer_names("classification", 2))
def test_scorers_of_two_classes_are_scikit_learns(name):
    truth, predictions, decisions = of_classes(2)
    theirs = Known(predictions, decisions, np.arange(2)).fit(None, truth)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = get_scorer(name)(theirs, np.zeros((60, 1)), truth)
    found = scorer_of(name, "classification", 2)(truth, predictions, decisions)
    assert found == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("name", scorer_names("classification", 4))
def test_scorers_of_more_classes_are_scikit_learns(name):
    truth, predictions, decisions = of_classes(4)
    found = scorer_of(name, "classification", 4)(truth, predictions, decisions)
    if name == "roc_auc":  # scikit-learn's scorer takes probabilities only
        expected = np.mean([roc_auc_score(truth == c, decisions[:, c]) for c in range(4)])
    else:
        theirs = Known(predictions, decisions, np.arange(4)).fit(None, truth)
        expected = get_scorer(name)(theirs, np.zeros((60, 1)), truth)
    assert found == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("name", scorer_names("regression"))
def test_scorers_of_numbers_are_scikit_learns(name):
    rng = np.random.default_rng(0)
    truth = rng.uniform(1, 5, size=40)
    predictions = truth + rng.uniform(-0.5, 0.5, size=40)
    expected = get_scorer(name)(
        KnownNumbers(predictions).fit(None, truth), np.zeros((40, 1)), truth
    )
    found = scorer_of(name, "regression")(truth, predictions, None)
    assert found == pytest.approx(expected, rel=1e-12)


def test_every_name_is_scikit_learns_and_those_left_out_need_something_else():
    ours = {*scorer_names("classification", 2), *scorer_names("regression")}
    assert ours <= set(get_scorer_names())
    for name in set(get_scorer_names()) - ours:
        needs = str(get_scorer(name)._response_method)
        of_clusters = "cluster" in get_scorer(name)._score_func.__module__
        assert "predict_proba" in needs or of_clusters or name.endswith("_samples"), name


@pytest.mark.parametrize(
    ("name", "task", "n_classes", "message"),
    [
        ("r2", "classification", 2, "'r2' is for regression, but this is a classification. .*f1"),
        ("accuracy", "regression", 0, "'accuracy' is for classification.*neg_mean_squared_error"),
        ("neg_log_loss", "classification", 2, "needs probabilities"),
        ("acuracy", "classification", 2, "'acuracy' is not a scorer.* fit: accuracy, "),
        ("f1", "classification", 3, "'f1' is for two classes, but there are 3.*f1_macro"),
        ("adjusted_rand_score", "classification", 2, "is not a scorer"),
        (len, "classification", 2, "is not a scorer"),
    ],
)
def test_scorers_that_do_not_fit_are_refused(name, task, n_classes, message):
    with pytest.raises(ValueError, match=message):
        scorer_of(name, task, n_classes)


def test_defaults():
    assert scorer_of(None, "classification", 2).name == "accuracy"
    assert scorer_of(None, "regression").name == "r2"


def test_ties_of_decision_values_count_half():
    scorer = scorer_of("roc_auc", "classification", 2)
    truth = np.array([0, 1, 0, 1])
    assert scorer(truth, truth, np.zeros(4)) == 0.5


@pytest.mark.parametrize(
    ("name", "least"), [("neg_mean_squared_log_error", "-1"), ("neg_mean_poisson_deviance", "0")]
)
def test_predictions_that_a_scorer_is_not_defined_for(name, least):
    scorer = scorer_of(name, "regression")
    with pytest.raises(
        ValueError,
        match=rf"'{name}' .* predictions of {least} or less; 1 of the 3 "
        r"predictions .* smallest -1\.5\. Choose another scorer",
    ):
        scorer(np.array([1.0, 2.0, 3.0]), np.array([1.0, -1.5, 2.0]), None)


class TestPooling:
    truth = np.array([0.0, 1.0, 2.0, 3.0, 4.0, 6.0])
    told = np.array([0.5, 1.0, 1.5, 3.5, 4.0, 5.0])

    def test_single_graphs_are_scored_together(self):
        parts = [np.array([k]) for k in range(6)]
        scorer = scorer_of("r2", "regression")
        found = part_scores(scorer, self.truth, parts, self.told)
        np.testing.assert_allclose(found, r2_score(self.truth, self.told))

    def test_only_parts_that_are_too_small_are_pooled(self):
        parts = [np.array([0, 1, 2]), np.array([3]), np.array([4]), np.array([5])]
        scorer = scorer_of("r2", "regression")
        found = part_scores(scorer, self.truth, parts, self.told)
        together = r2_score(self.truth[3:], self.told[3:])
        first = r2_score(self.truth[:3], self.told[:3])
        np.testing.assert_allclose(found, [first, together, together, together])

    def test_a_pool_that_is_too_small_takes_the_whole_repeat(self):
        parts = [np.array([0, 1, 2]), np.array([3, 4]), np.array([5])]
        scorer = scorer_of("r2", "regression")
        found = part_scores(scorer, self.truth, parts, self.told)
        np.testing.assert_allclose(found, r2_score(self.truth, self.told))

    def test_parts_of_one_class(self):
        truth = np.array([0, 0, 1, 1, 0, 1])
        values = np.array([0.1, 0.7, 0.5, 0.9, 0.2, 0.3])
        parts = [np.array([0, 1]), np.array([2, 3]), np.array([4, 5])]
        scorer = scorer_of("roc_auc", "classification", 2)
        found = part_scores(scorer, truth, parts, truth, values)
        pooled = roc_auc_score(truth[:4], values[:4])
        np.testing.assert_allclose(found, [pooled, pooled, 1.0])
        right = scorer_of("accuracy", "classification", 2)
        np.testing.assert_allclose(
            part_scores(right, truth, parts, np.zeros(6, dtype=int)), [1.0, 0.0, 0.5]
        )

    def test_what_cannot_be_scored_at_all(self):
        scorer = scorer_of("roc_auc", "classification", 2)
        zeros = np.zeros(4, dtype=int)
        with pytest.raises(ValueError, match="'roc_auc' cannot be computed"):
            part_scores(scorer, zeros, [np.arange(4)], zeros, np.zeros(4))
        with pytest.raises(ValueError, match="needs decision values, but this classifier has none"):
            part_scores(scorer, np.arange(4) % 2, [np.arange(4)], zeros)
