"""Explanations of regressions: predictions are exactly the sum of the patterns' contributions."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline

from gramlet import FeatureMap, GraphClassifier, GraphRegressor, WeisfeilerLehman
from gramlet.explain import explain_linear, explain_model
from reference.evaluation import trees

GRAPHS = trees(40)
TARGET = GRAPHS.sizes + np.random.default_rng(0).normal(size=40)
COSTS = (0.1, 10.0)


def fitted(machine: str, normalize: bool):
    kernel = WeisfeilerLehman(n_iter=1, normalize=normalize)
    return GraphRegressor(kernel, regressor=machine, C=COSTS, cv=2).fit(GRAPHS, TARGET)


@pytest.mark.parametrize("normalize", [False, True])
@pytest.mark.parametrize("classifier", ["ridge", "svr"])
def test_predictions_are_sums_over_patterns(classifier, normalize):
    model = fitted(classifier, normalize)
    explanation = explain_linear(model)
    assert explanation.outputs == ["higher values"]
    new = trees(47)[35:]
    for graphs in (GRAPHS, new):
        shown = explanation.decision(graphs)[:, 0]
        np.testing.assert_allclose(shown, model.predict(graphs), rtol=1e-8, atol=1e-8)
    shares = dict(explanation.shares(new[0]))
    total = sum(shares.values()) + explanation.intercept[0]
    np.testing.assert_allclose(total, model.predict(new[:1])[0], rtol=1e-8)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_ridge_of_classes_is_explained_class_by_class(n_classes):
    y = np.array(["few", "many", "some"])[np.digitize(TARGET, np.quantile(TARGET, [0.4, 0.7]))]
    y[y == "some"] = "many" if n_classes == 2 else "some"
    kernel = WeisfeilerLehman(n_iter=1)
    model = GraphClassifier(kernel, classifier="ridge", C=COSTS, cv=2).fit(GRAPHS, y)
    explanation = explain_linear(model, class_names={"many": "a lot"})
    new = trees(47)[35:]
    values = explanation.decision(new)
    if n_classes == 2:
        assert explanation.outputs == ["a lot"]
        told = np.where(values[:, 0] > 0, "many", "few")
    else:
        assert explanation.outputs == ["few", "a lot", "some"]
        told = model.classes_[values.argmax(axis=1)]
    np.testing.assert_array_equal(told, model.predict(new))


def test_shares_are_of_graphs_below_and_above_the_median():
    model = fitted("ridge", False)
    found = explain_model(model, GRAPHS, TARGET)
    middle = np.median(TARGET)
    assert found.regression
    assert found.accuracy is None
    assert found.classes == [f"up to {middle:.4g}", f"above {middle:.4g}"]
    np.testing.assert_array_equal(found.codes, middle < TARGET)
    np.testing.assert_array_equal(found.numbers, TARGET)
    np.testing.assert_allclose(found.predictions, model.predict(GRAPHS))
    without = explain_model(model, GRAPHS)
    assert without.numbers is None
    assert without.classes[0].startswith("predicted up to ")
    with pytest.raises(ValueError, match="one number per graph"):
        explain_model(model, GRAPHS, TARGET[:3])


def test_a_linear_model_on_features():
    model = make_pipeline(FeatureMap(WeisfeilerLehman(n_iter=1)), Ridge()).fit(GRAPHS, TARGET)
    explanation = explain_linear(model)
    assert explanation.outputs == ["higher values"]
    np.testing.assert_allclose(explanation.decision(GRAPHS)[:, 0], model.predict(GRAPHS))


def test_what_is_no_such_machine():
    model = make_pipeline(WeisfeilerLehman(n_iter=1), KernelRidge(kernel="precomputed"))
    with pytest.raises(TypeError, match="must be a fitted SVC"):
        explain_linear(model.fit(GRAPHS, TARGET))
