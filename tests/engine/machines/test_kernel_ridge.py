"""Kernel ridge regression from one decomposition, against its definition and scikit-learn's."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.preprocessing import KernelCenterer

from gramlet.engine.machines.kernel_ridge import centre, decompose, decompose_features
from reference.evaluation import leave_one_out, penalties, points, ridge

COSTS = np.array([1e-3, 0.1, 1.0, 10.0, 1e3])


def prepared(gram, cross):
    centred, rows = centre(gram, cross)
    return decompose(centred, np.abs(gram).max()), rows


@pytest.mark.parametrize(("n", "n_dims"), [(30, 4), (12, 40)])
def test_leave_one_out_is_what_leaving_each_graph_out_gives(n, n_dims):
    _, gram, numbers = points(n, n_dims)
    targets = np.column_stack([numbers, numbers**2])
    spectrum, _ = prepared(gram, gram[:0])
    np.testing.assert_allclose(spectrum.penalties(COSTS), penalties(gram, COSTS))
    found, _ = spectrum.leave_one_out(targets, spectrum.penalties(COSTS))
    expected = [leave_one_out(gram, targets, penalty) for penalty in penalties(gram, COSTS)]
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-7)


def test_predictions_are_those_of_the_definition_and_of_scikit_learn():
    _, gram, numbers = points(50)
    train, held = gram[:40, :40], gram[40:, :40]
    spectrum, rows = prepared(train, held)
    found = rows @ spectrum.coefficients(numbers[:40, None], spectrum.penalties(COSTS))
    found += numbers[:40].mean()
    centrer = KernelCenterer().fit(train)
    mean = numbers[:40].mean()
    for p, penalty in enumerate(spectrum.penalties(COSTS)):
        np.testing.assert_allclose(
            found[p], ridge(train, held, numbers[:40, None], penalty), rtol=1e-7, atol=1e-8
        )
        machine = KernelRidge(alpha=penalty, kernel="precomputed")
        machine.fit(centrer.transform(train), numbers[:40] - mean)
        theirs = machine.predict(centrer.transform(held)) + mean
        np.testing.assert_allclose(found[p, :, 0], theirs, rtol=1e-7, atol=1e-8)


def test_a_matrix_in_which_all_graphs_are_alike_predicts_the_mean():
    gram = np.full((10, 10), 3.7)
    numbers = np.arange(10.0)[:, None]
    spectrum, rows = prepared(gram, gram[:2])
    assert spectrum.mean_self_similarity == 0.0
    found = rows @ spectrum.coefficients(numbers, spectrum.penalties(COSTS))
    np.testing.assert_allclose(found, 0.0)
    residuals, _ = spectrum.leave_one_out(numbers, spectrum.penalties(COSTS))
    np.testing.assert_allclose(residuals[0], (numbers - 4.5) * 10 / 9)


def test_the_negative_part_of_an_indefinite_matrix_is_dropped():
    rng = np.random.default_rng(0)
    basis = np.linalg.qr(rng.normal(size=(20, 20)))[0]
    values = np.r_[np.linspace(1, 5, 12), np.linspace(-0.5, -0.1, 8)]
    gram = (basis * values) @ basis.T
    positive, _ = centre(gram, gram[:0])
    w, u = np.linalg.eigh(positive)
    positive = (u * w.clip(0)) @ u.T
    spectrum, _ = prepared(gram, gram[:0])
    targets = rng.normal(size=(20, 1))
    some = np.array([0.3])
    found = positive @ spectrum.coefficients(targets, some) + targets.mean()
    np.testing.assert_allclose(found[0], ridge(positive, positive, targets, 0.3), atol=1e-8)
    assert np.isfinite(spectrum.leave_one_out(targets, np.array([0.3, 1e-3]))[0]).all()


@pytest.mark.parametrize(("n", "n_dims"), [(4, 2), (30, 4), (67, 16), (131, 9), (12, 40)])
def test_features_leave_one_out_is_what_leaving_each_graph_out_gives(n, n_dims):
    features, gram, numbers = points(n, n_dims)
    targets = np.column_stack([numbers, numbers**2])
    form, _ = decompose_features(features)
    np.testing.assert_allclose(form.penalties(COSTS), penalties(gram, COSTS))
    found, weights = form.leave_one_out(targets, form.penalties(COSTS))
    expected = [leave_one_out(gram, targets, penalty) for penalty in penalties(gram, COSTS)]
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(weights, form.coefficients(targets, form.penalties(COSTS)))


def test_features_predictions_are_those_of_the_definition():
    features, gram, numbers = points(90, 12)
    train, held, targets = gram[:70, :70], gram[70:, :70], numbers[:70, None]
    form, mean = decompose_features(features[:70])
    weights = form.coefficients(targets, form.penalties(COSTS))
    for p, penalty in enumerate(penalties(train, COSTS)):
        expected = ridge(train, held, targets, penalty)
        found = (features[70:] - mean) @ weights[p] + targets.mean()
        np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-8)


def test_features_directions_that_a_gram_matrix_loses_to_rounding():
    """A column 1e-9 times as long as the other decides where the penalty is smaller still."""
    generator = np.random.default_rng(0)
    features = generator.normal(size=(40, 2)) * [1.0, 1e-9]
    targets = 3.0 * features[:, 1:] / 1e-9
    form, mean = decompose_features(features)
    weights = form.coefficients(targets, np.array([1e-24]))
    np.testing.assert_allclose(
        (features - mean) @ weights[0], targets - targets.mean(), rtol=1e-4, atol=1e-4
    )


def test_features_features_that_tell_no_graphs_apart_predict_the_mean():
    form, mean = decompose_features(np.full((6, 3), 0.1))
    targets = np.arange(6.0)[:, None]
    assert form.penalties(COSTS).tolist() == [1.0] * 5
    residuals, weights = form.leave_one_out(targets, form.penalties(COSTS))
    assert not weights.any()
    expected = targets - (targets.sum() - targets) / 5  # the mean of the others
    np.testing.assert_allclose(residuals[0], expected, atol=1e-12)
    np.testing.assert_allclose(mean, 0.1)


def test_features_a_feature_of_one_graph_gives_no_infinite_residual():
    features = np.zeros((8, 2))
    features[:, 0], features[0, 1] = np.arange(8.0) ** 2, 1.0
    form, _ = decompose_features(features)
    targets = np.arange(8.0)[:, None]
    for penalty in (1e-12, 1e-20, 1e-40):
        residuals, weights = form.leave_one_out(targets, np.array([penalty]))
        assert np.isfinite(residuals).all()
        assert np.isfinite(weights).all()
