"""Fitted machines are those of scikit-learn, or their formulas, on the same Gram matrix."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.preprocessing import KernelCenterer
from sklearn.svm import SVC, SVR

from gramlet.engine.machines.gaussian_regression import GaussianRegression
from gramlet.models.machines import FittedMachine, decisions_of, fit_machine
from reference.evaluation import classes_of, plain_process, points


@pytest.mark.parametrize("n_classes", [2, 3, 4])
@pytest.mark.parametrize("weighted", [False, True])
def test_support_vectors_for_classes(n_classes, weighted):
    _, gram, numbers = points(60)
    codes = classes_of(numbers, n_classes)
    train, rows = gram[:45, :45], gram[45:, :45]
    class_weights = np.linspace(1.0, 3.0, n_classes) if weighted else None
    weights = np.linspace(0.5, 2.0, 45) if weighted else None
    machine = fit_machine("svc", train, codes[:45], 0.1, n_classes, class_weights, weights)
    theirs = SVC(
        kernel="precomputed",
        C=0.1,
        class_weight=dict(enumerate(class_weights)) if weighted else None,
        break_ties=n_classes > 2,
    ).fit(train, codes[:45], weights)
    values = decisions_of(machine, machine.outputs(rows), n_classes)
    np.testing.assert_allclose(values, theirs.decision_function(rows), atol=1e-9)
    predicted = values.argmax(axis=1) if n_classes > 2 else values >= 0
    np.testing.assert_array_equal(predicted, theirs.predict(rows))


def test_support_vectors_for_numbers():
    _, gram, numbers = points(60)
    train, rows = gram[:45, :45], gram[45:, :45]
    for weights in (None, np.linspace(0.5, 2.0, 45)):
        machine = fit_machine("svr", train, numbers[:45], 0.1, sample_weight=weights)
        theirs = SVR(kernel="precomputed", C=0.1).fit(train, numbers[:45], weights)
        np.testing.assert_allclose(machine.outputs(rows)[:, 0], theirs.predict(rows))


@pytest.mark.parametrize("n_classes", [0, 2, 3])
def test_ridge(n_classes):
    _, gram, numbers = points(60)
    train, rows = gram[:45, :45], gram[45:, :45]
    target = classes_of(numbers, n_classes)[:45] if n_classes else numbers[:45]
    columns = np.eye(n_classes)[target] if n_classes else target[:, None]
    centred = KernelCenterer().fit(train)
    alpha = np.trace(centred.transform(train)) / 45 / 10.0
    theirs = KernelRidge(alpha=alpha, kernel="precomputed").fit(
        centred.transform(train), columns - columns.mean(axis=0)
    )
    expected = theirs.predict(centred.transform(rows)) + columns.mean(axis=0)
    machine = fit_machine("ridge", train, target, 10.0, n_classes)
    np.testing.assert_allclose(machine.outputs(rows), expected)
    if n_classes:
        values = decisions_of(machine, machine.outputs(rows), n_classes)
        shown = expected[:, 1] - expected[:, 0] if n_classes == 2 else expected
        np.testing.assert_allclose(values, shown)


def test_gaussian_process():
    _, gram, numbers = points(60)
    train, rows, y = gram[:45, :45], gram[45:, :45], numbers[:45]
    machine = FittedMachine.of_process(GaussianRegression.fit(train, y))
    _, mean, square, noise, inverse = plain_process(train, y)
    np.testing.assert_allclose(machine.outputs(rows)[:, 0], mean + rows @ inverse @ (y - mean))
    assert (machine.noise, machine.scale**2) == pytest.approx((noise, square))
