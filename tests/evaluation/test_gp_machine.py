"""Gaussian processes chosen by marginal likelihood, against their definition."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

from gramlet import Protocol, VertexHistogram, WeisfeilerLehman, compare_results, evaluate
from gramlet.engine.machines.gaussian_regression import GaussianRegression
from gramlet.evaluation import Result
from reference.evaluation import plain_process, points, trees

QUICK = Protocol(folds=3, repeats=2, inner_folds=2)


@pytest.mark.parametrize(("n", "n_dims"), [(12, 3), (40, 6), (15, 30)])
def test_likelihood_and_predictions_are_those_of_the_definition(n, n_dims):
    _, gram, numbers = points(n + 8, n_dims)
    train, cross, diagonal = gram[:n, :n], gram[n:, :n], np.diag(gram)[n:]
    y = numbers[:n]
    likelihood, mean, square, noise, inverse = plain_process(train, y)
    fitted = GaussianRegression.fit(train, y)
    assert fitted.noise == pytest.approx(noise)
    assert fitted.log_likelihood == pytest.approx(likelihood)
    values, deviations = fitted.predict(cross, diagonal)
    np.testing.assert_allclose(values, mean + cross @ inverse @ (y - mean))
    explained = np.einsum("ij,jk,ik->i", cross, inverse, cross)
    variance = square * (np.maximum(diagonal - explained, 0.0) + noise)
    np.testing.assert_allclose(deviations, np.sqrt(variance), rtol=1e-6)
    # Scaling the target scales the predictions and nothing else.
    for factor in (1e-170, 1e170):
        scaled, _ = GaussianRegression.fit(train, factor * y).predict(cross, diagonal)
        np.testing.assert_allclose(scaled, factor * values, rtol=1e-9)


def test_a_constant_target_and_a_kernel_of_zeros():
    _, gram, numbers = points(12)
    constant = GaussianRegression.fit(gram, np.full(12, 3.5))
    assert constant.log_likelihood == 0.0
    values, deviations = constant.predict(gram[:4], np.diag(gram)[:4])
    assert values.tolist() == [3.5] * 4
    assert deviations.tolist() == [0.0] * 4
    blind = GaussianRegression.fit(np.zeros((12, 12)), numbers)
    assert blind.noise == 100.0  # all noises are equally likely, and the size counts as 1
    assert blind.predict(np.zeros((1, 12)), np.zeros(1))[0] == pytest.approx(numbers.mean())
    assert blind.predict(np.zeros((1, 12)), np.zeros(1))[1] == pytest.approx(numbers.std())


def test_options_and_noise_are_chosen_by_likelihood_in_each_training_part():
    graphs = trees(48)
    y = graphs.sizes + np.random.default_rng(0).normal(scale=0.3, size=48)
    options = {"n_iter": [0, 1, 2]}
    result = evaluate(
        WeisfeilerLehman(normalize=True), graphs, y, QUICK, options=options, classifier="gp"
    )
    grams = [WeisfeilerLehman(n_iter=h, normalize=True).fit_transform(graphs) for h in (0, 1, 2)]
    for repeat in range(2):
        for fold in range(3):
            test = result.folds[repeat] == fold
            block = np.ix_(~test, ~test)
            fits = [plain_process(gram[block], y[~test]) for gram in grams]
            best = int(np.argmax([fit[0] for fit in fits]))
            _, mean, square, noise, inverse = fits[best]
            chosen = result.chosen[repeat][fold]
            assert chosen == {"n_iter": best, "s": pytest.approx(noise)}
            cross = grams[best][np.ix_(test, ~test)]
            np.testing.assert_allclose(
                result.predictions[repeat, test], mean + cross @ inverse @ (y[~test] - mean)
            )
            explained = np.einsum("ij,jk,ik->i", cross, inverse, cross)
            np.testing.assert_allclose(
                result.deviations[repeat, test],
                np.sqrt(square * (np.maximum(1.0 - explained, 0.0) + noise)),
            )
    normal = norm(result.predictions, result.deviations)
    densities, inside = normal.logpdf(y), np.abs(y - result.predictions) <= 1.96 * result.deviations
    parts = [(repeat, result.folds[repeat] == fold) for repeat in range(2) for fold in range(3)]
    for name, values in (("log_predictive_density", densities), ("coverage_95", inside)):
        expected = np.mean([values[repeat, test].mean() for repeat, test in parts])
        assert result.score(name) == pytest.approx(expected)
    assert "C" not in result.tried
    again = Result.from_json(result.to_json())
    np.testing.assert_array_equal(again.deviations, result.deviations)
    assert "svr" not in repr(compare_results(result, again))


def test_kernels_that_are_fitted_on_training_parts_and_features_have_variances():
    from sklearn.preprocessing import FunctionTransformer

    graphs = trees(30)
    y = graphs.sizes + np.random.default_rng(0).normal(scale=0.3, size=30)

    class Refitted(WeisfeilerLehman):
        """A kernel of which nothing is known."""

    plain = evaluate(WeisfeilerLehman(n_iter=1), graphs, y, QUICK, classifier="gp")
    refitted = evaluate(Refitted(n_iter=1), graphs, y, QUICK, classifier="gp")
    np.testing.assert_allclose(refitted.predictions, plain.predictions)
    np.testing.assert_allclose(refitted.deviations, plain.deviations)
    features = FunctionTransformer(sizes)
    linear = evaluate(features, graphs, y, QUICK, classifier="gp")
    # Features are centred on the training part and divided by one number.
    test = linear.folds[0] == 0
    column = graphs.sizes.astype(float)
    column = column - column[~test].mean()
    column /= np.sqrt((column[~test] ** 2).mean())
    gram = np.outer(column, column)
    _, _, square, noise, inverse = plain_process(gram[np.ix_(~test, ~test)], y[~test])
    cross = gram[np.ix_(test, ~test)]
    explained = np.einsum("ij,jk,ik->i", cross, inverse, cross)
    np.testing.assert_allclose(
        linear.deviations[0, test],
        np.sqrt(square * (np.maximum(column[test] ** 2 - explained, 0.0) + noise)),
        rtol=1e-6,
    )


def sizes(graphs):
    return graphs.sizes[:, None].astype(float)


def test_scores_of_the_predictive_distribution_need_it():
    graphs = trees(30)
    y = graphs.sizes + 0.5 * (np.arange(30) % 2)
    for name in ("log_predictive_density", "coverage_95"):
        with pytest.raises(ValueError, match=f"{name}' needs classifier='gp'"):
            evaluate(VertexHistogram(), graphs, y, QUICK, scoring=name)
        chosen = evaluate(VertexHistogram(), graphs, y, QUICK, scoring=name, classifier="gp")
        assert chosen.scoring == name
        assert chosen.baselines == {}
    with pytest.raises(ValueError, match="classifier must be 'svc' or 'ridge'"):
        evaluate(VertexHistogram(), graphs, np.arange(30) % 2, QUICK, classifier="gp")
