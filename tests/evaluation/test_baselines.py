"""Baselines that predict a constant have the scores of a constant, also where parts are pooled."""

from __future__ import annotations

import numpy as np
import pytest

from gramlet import Protocol, evaluate
from reference.evaluation import trees


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_area_of_the_majority_is_a_half(n_classes):
    n = 24
    rules = Protocol(folds=6, repeats=2, inner_folds=2)
    y = np.repeat(np.arange(n_classes), n // n_classes)
    groups = np.arange(n) // 2
    result = evaluate("majority", trees(n), y, rules, scoring="roc_auc", groups=groups)
    np.testing.assert_array_equal(result.scores, 0.5)
    assert len(np.unique(result.decisions.reshape(2 * n, -1), axis=0)) == 1


def test_test_parts_of_one_class_each():
    """All parts are pooled; constants of the training parts would rank all graphs wrongly."""
    y = np.repeat([0, 1], 10)
    rules = Protocol(folds=10, repeats=1, inner_folds=2)
    result = evaluate("majority", trees(20), y, rules, scoring="roc_auc", groups=np.arange(20) // 2)
    assert result.pooled.all()
    assert result.mean == 0.5
    assert result.score("average_precision") == pytest.approx(0.5)
    assert len(np.unique(result.decisions)) == 1


def test_the_majority_of_each_training_part_is_predicted():
    y = np.repeat([0, 1], 12)
    groups = np.arange(24) // 2
    result = evaluate("majority", trees(24), y, Protocol(5, 1, 2), groups=groups)
    for fold in range(5):
        tested = result.folds[0] == fold
        counts = np.bincount(y[~tested], minlength=2)
        assert set(result.predictions[0, tested]) == {int(counts.argmax())}


def test_the_most_frequent_classes_are_the_top():
    y = np.repeat([0, 1, 2], [30, 20, 10])
    result = evaluate("majority", trees(60), y, Protocol(5, 1, 2), scoring="top_k_accuracy")
    assert result.mean == pytest.approx(5 / 6)
