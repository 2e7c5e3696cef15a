"""Machines on Gram matrices, against scikit-learn's and against their definitions."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import RidgeClassifier
from sklearn.svm import SVC, SVR

from gramlet import Protocol
from gramlet.evaluation.machines import Block, machine_of, weights_of
from gramlet.evaluation.task import target_of
from reference.evaluation import chosen_cost, classes_of, penalties, points, ridge

RULES = Protocol(C=(0.01, 0.1, 1.0, 10.0, 100.0), tol=1e-7)


def problem(n_classes: int, n: int = 60):
    x, gram, numbers = points(n + 20, seed=n_classes)
    y = classes_of(numbers, n_classes) if n_classes else numbers
    return x, gram[:n, :n].copy(), gram[n:, :n].copy(), y[:n], target_of(y, len(y))


@pytest.mark.parametrize("class_weight", [None, "balanced", {0: 0.3, 1: 4.0}])
@pytest.mark.parametrize("n_classes", [2, 3, 4])
def test_support_vectors_predict_and_decide_as_scikit_learn(n_classes, class_weight):
    _, gram, cross, y, target = problem(n_classes)
    machine = machine_of("svc", target, RULES, class_weight)
    grid = machine.predict_grid(Block(gram, cross), y)
    for position, cost in enumerate(RULES.C):
        theirs = SVC(kernel="precomputed", C=cost, tol=1e-7, class_weight=class_weight)
        theirs.fit(gram, y)
        final = machine.predict(Block(gram, cross), y, position)
        for row in (grid.rows(position), final):
            np.testing.assert_array_equal(row.values[0], theirs.predict(cross))
            np.testing.assert_allclose(row.decisions[0], theirs.decision_function(cross), atol=1e-2)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_ridge_of_classes_is_scikit_learns_at_the_penalty_of_least_leave_one_out_error(n_classes):
    x, gram, cross, y, target = problem(n_classes)
    found = machine_of("ridge", target, RULES).predict_grid(Block(gram, cross), y)
    best = chosen_cost(gram, np.eye(n_classes)[y], RULES.C, of_classes=True)
    assert found.chosen == (RULES.C[best],)
    penalty = penalties(gram, RULES.C)[best]
    theirs = RidgeClassifier(alpha=penalty, solver="svd").fit(x[:60], y)
    np.testing.assert_array_equal(found.values[0], theirs.predict(x[60:]))
    values = theirs.decision_function(x[60:])  # for columns of −1 and 1 instead of 0 and 1
    mine = found.decisions[0] if n_classes == 2 else 2 * found.decisions[0] - 1
    np.testing.assert_allclose(mine, values, rtol=1e-6, atol=1e-8)


def test_ridge_of_numbers_at_the_penalty_of_least_leave_one_out_error():
    _, gram, cross, y, target = problem(0)
    found = machine_of(None, target, RULES).predict_grid(Block(gram, cross), y)
    best = chosen_cost(gram, y[:, None], RULES.C, of_classes=False)
    assert 0 < best < len(RULES.C) - 1
    assert found.chosen == (RULES.C[best],)
    expected = ridge(gram, cross, y[:, None], penalties(gram, RULES.C)[best])
    np.testing.assert_allclose(found.values, expected.T, rtol=1e-7, atol=1e-8)
    assert found.decisions is None


def test_ties_go_to_the_larger_penalty():
    target = problem(2)[4]
    apart = np.where(np.arange(60) % 2, 1, 0)
    easy = np.outer(2 * apart - 1, 2 * apart - 1).astype(float)  # no penalty makes errors
    found = machine_of("ridge", target, RULES).predict_grid(Block(easy, easy[:3]), apart)
    assert found.chosen == (RULES.C[0],)


def test_ridge_by_folds_tries_all_penalties():
    _, gram, cross, y, target = problem(0)
    machine = machine_of("ridge", target, RULES, grouped=True)
    found = machine.predict_grid(Block(gram, cross), y)
    assert found.values.shape == (5, 20)
    for position, penalty in enumerate(penalties(gram, RULES.C)):
        expected = ridge(gram, cross, y[:, None], penalty)[:, 0]
        np.testing.assert_allclose(found.values[position], expected, rtol=1e-7, atol=1e-8)
        final = machine.predict(Block(gram, cross), y, position)
        np.testing.assert_allclose(final.values[0], expected, rtol=1e-7, atol=1e-8)
    truth = y[:20]
    np.testing.assert_allclose(
        machine.losses(truth, found.values), ((found.values - truth) ** 2).mean(axis=1)
    )


@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("n_classes", [0, 2, 3])
def test_ridge_on_features_is_ridge_on_their_gram_matrix(n_classes, grouped):
    x, gram, cross, y, target = problem(n_classes)
    machine = machine_of("ridge", target, RULES, grouped=grouped)
    features = Block(x[:60], x[60:], features=True)
    ours, expected = machine.predict_grid(features, y), machine.predict_grid(Block(gram, cross), y)
    assert ours.chosen == expected.chosen
    np.testing.assert_allclose(ours.values, expected.values, rtol=1e-7, atol=1e-8)
    if n_classes:
        np.testing.assert_allclose(ours.decisions, expected.decisions, rtol=1e-6, atol=1e-8)
    position = 1 if grouped else 0  # one row where the machine chooses itself
    final = machine.predict(features, y, position)
    np.testing.assert_allclose(
        final.values, machine.predict(Block(gram, cross), y, position).values, rtol=1e-7, atol=1e-8
    )
    vectors = machine_of("svc" if n_classes else "svr", target, RULES)
    assert not vectors.takes_features


def test_support_vector_regression_is_scikit_learns():
    _, gram, cross, y, target = problem(0)
    machine = machine_of("svr", target, RULES)
    grid = machine.predict_grid(Block(gram, cross), y)
    for position, cost in enumerate(RULES.C):
        theirs = SVR(kernel="precomputed", C=cost, tol=1e-7).fit(gram, y).predict(cross)
        np.testing.assert_allclose(grid.values[position], theirs)
        np.testing.assert_allclose(
            machine.predict(Block(gram, cross), y, position).values[0], theirs
        )


@pytest.mark.parametrize("factor", [1.0, 1e-4, 1e4])
def test_a_scaled_c_makes_the_kernels_scale_irrelevant(factor):
    _, gram, cross, y, target = problem(2)
    rules = Protocol(C=RULES.C, tol=1e-9, scale_C=True)
    spread = penalties(gram, [1.0])[0]
    machine = machine_of("svc", target, rules)
    found = machine.predict_grid(Block(factor * gram, factor * cross), y)
    for position, cost in enumerate(RULES.C):
        theirs = SVC(kernel="precomputed", C=cost / spread, tol=1e-9).fit(gram, y)
        np.testing.assert_allclose(
            found.decisions[position], theirs.decision_function(cross), atol=1e-2
        )
        final = machine.predict(Block(factor * gram, factor * cross), y, position)
        np.testing.assert_allclose(final.decisions, found.decisions[[position]], atol=1e-2)


def test_a_class_that_a_training_part_lacks_comes_last():
    _, gram, cross, _, target = problem(3)
    y = np.where(np.arange(60) % 2, 2, 0)
    for name in ("svc", "ridge"):
        machine = machine_of(name, target, RULES)
        for outcome in (
            machine.predict_grid(Block(gram, cross), y),
            machine.predict(Block(gram, cross), y, 0),
        ):
            assert outcome.decisions.shape[2] == 3
            assert set(np.unique(outcome.values)) <= {0, 2}
    final = machine_of("svc", target, RULES).predict(Block(gram, cross), y, 2)
    assert (final.decisions[0].argmin(axis=1) == 1).all()


def test_balanced_weights_are_scikit_learns():
    from sklearn.utils.class_weight import compute_class_weight

    y = np.repeat([0, 1, 2], [5, 3, 12])
    expected = compute_class_weight("balanced", classes=np.arange(3), y=y)
    np.testing.assert_allclose(weights_of("balanced", y, 3), expected)


@pytest.mark.parametrize(
    ("n_classes", "name", "weight", "message"),
    [
        (2, "svr", None, "classifier must be 'svc' or 'ridge' for classification; got 'svr'"),
        (0, "svc", None, "classifier must be 'ridge' or 'svr' or 'gp' for regression; got 'svc'"),
        (2, "forest", None, "got 'forest'"),
        (2, "ridge", "balanced", "class_weight is for classifier='svc'; 'ridge' has no"),
        (2, "svc", "even", "class_weight must be None, 'balanced', or a mapping"),
        (2, "svc", {0: 1.0, 7: 2.0}, r"to classes of y \(0, 1\); got"),
        (2, "svc", {0: -1.0}, "positive numbers"),
    ],
)
def test_machines_that_do_not_fit_are_refused(n_classes, name, weight, message):
    target = problem(n_classes)[4]
    with pytest.raises(ValueError, match=message):
        machine_of(name, target, RULES, weight)
