"""Sigmoids of decision values, against scikit-learn's logistic regression."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from gramlet.models.probabilities import fit_sigmoids, probabilities


def plain_sigmoid(values, positive):
    """A and B: each graph counts in both classes, weighted by Platt's targets."""
    n_positive, n_negative = positive.sum(), (~positive).sum()
    targets = np.where(positive, (n_positive + 1) / (n_positive + 2), 1 / (n_negative + 2))
    machine = LogisticRegression(C=1e12, tol=1e-10, max_iter=10_000).fit(
        np.tile(values, 2)[:, None],
        np.repeat([1, 0], len(values)),
        np.concatenate([targets, 1 - targets]),
    )
    return np.array([-machine.coef_[0, 0], -machine.intercept_[0]])


def decisions_and_classes(n, n_classes, noise, seed=0):
    rng = np.random.default_rng(seed)
    codes = rng.integers(n_classes, size=n)
    values = np.eye(n_classes)[codes] + noise * rng.normal(size=(n, n_classes))
    return (values[:, 1] - values[:, 0] if n_classes == 2 else values), codes


@pytest.mark.parametrize("noise", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_two_classes(noise, scale):
    values, codes = decisions_and_classes(60, 2, noise)
    expected = plain_sigmoid(values, codes == 1)
    ((slope, shift),) = fit_sigmoids(scale * values, codes, 2)
    np.testing.assert_allclose([slope * scale, shift], expected, rtol=2e-3, atol=2e-3)
    assert slope < 0
    grid = np.linspace(-3, 3, 50) * scale
    rows = probabilities(grid, np.array([[slope, shift]]))
    np.testing.assert_allclose(rows.sum(axis=1), 1.0, rtol=1e-15)
    assert (np.diff(rows[:, 1]) >= 0).all()


def test_several_classes():
    values, codes = decisions_and_classes(90, 3, 0.5)
    sigmoids = fit_sigmoids(values, codes, 3)
    expected = [plain_sigmoid(values[:, c], codes == c) for c in range(3)]
    np.testing.assert_allclose(sigmoids, expected, rtol=2e-3)
    single = 1 / (1 + np.exp(values * sigmoids[:, 0] + sigmoids[:, 1]))
    np.testing.assert_allclose(
        probabilities(values, sigmoids), single / single.sum(axis=1, keepdims=True), rtol=1e-12
    )


def test_decisions_that_mislead_or_say_nothing_give_the_share_of_each_class():
    codes = np.repeat([0, 1], [30, 10])
    target = (10 * 11 / 12 + 30 / 32) / 40  # the mean of Platt's targets
    for values in (-codes.astype(float), np.zeros(40)):
        sigmoids = fit_sigmoids(values, codes, 2)
        assert sigmoids[0, 0] == pytest.approx(0.0, abs=1e-9)
        chances = probabilities(np.array([-5.0, 5.0]), sigmoids)
        np.testing.assert_allclose(chances[:, 1], target, rtol=1e-6)


def test_extreme_decisions_have_finite_probabilities():
    sigmoids = np.array([[-1.0, 0.0], [-2.0, 0.0], [-3.0, 1.0]])
    rows = probabilities(np.array([[-1e4] * 3, [1e4] * 3, [-1e300] * 3]), sigmoids)
    np.testing.assert_allclose(rows.sum(axis=1), 1.0)
    assert rows[0].tolist() == [1.0, 0.0, 0.0]
