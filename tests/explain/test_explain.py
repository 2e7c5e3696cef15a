"""Linear explanations sum to the decision value for every model."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from gramlet import (
    EdgeHistogram,
    FeatureMap,
    WeisfeilerLehman,
    WLOptimalAssignment,
    explain_linear,
)
from reference.examples import random_graphs

GRAPHS = random_graphs(0, n_graphs=30)
NEW = random_graphs(1, n_graphs=7)


@pytest.mark.parametrize("normalize", [False, True])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(
    "kernel", [WeisfeilerLehman(n_iter=2), WeisfeilerLehman(n_iter=1, base="edge"), EdgeHistogram()]
)
def test_support_vector_machine(kernel, n_classes, normalize):
    y = np.arange(30) % n_classes
    svc = SVC(kernel="precomputed", decision_function_shape="ovo", C=10.0)
    model = make_pipeline(kernel.set_params(normalize=normalize), svc).fit(GRAPHS, y)
    explanation = explain_linear(model)
    expected = np.reshape(model.decision_function(NEW), (len(NEW), -1))
    np.testing.assert_allclose(explanation.decision(NEW), expected, atol=1e-8)
    assert len(explanation.outputs) == expected.shape[1]
    for output in range(expected.shape[1]):
        for i in range(len(NEW)):
            shares = explanation.shares(NEW[i], output)
            total = sum(value for _, value in shares) + explanation.intercept[output]
            assert total == pytest.approx(expected[i, output], abs=1e-8)


@pytest.mark.parametrize("normalize", [False, True])
def test_nodes_add_up(normalize):
    kernel = WeisfeilerLehman(n_iter=2, normalize=normalize)
    model = make_pipeline(kernel, SVC(kernel="precomputed")).fit(GRAPHS, np.arange(30) % 2)
    explanation = explain_linear(model)
    for i in range(len(NEW)):
        nodes = explanation.nodes(NEW[i])
        assert nodes.shape == (NEW.sizes[i], 3)
        total = nodes.sum() + explanation.intercept[0]
        assert total == pytest.approx(model.decision_function(NEW[i])[0], abs=1e-8)


def test_linear_model_on_features():
    y = np.arange(30) % 3
    model = make_pipeline(FeatureMap(WeisfeilerLehman(n_iter=1)), LogisticRegression(max_iter=2000))
    model.fit(GRAPHS, y)
    explanation = explain_linear(model)
    np.testing.assert_allclose(explanation.decision(NEW), model.decision_function(NEW), atol=1e-8)
    assert explanation.outputs == ["0", "1", "2"]
    assert len(explanation.top(5)) == 5


def test_what_cannot_be_explained():
    y = np.arange(30) % 2
    with pytest.raises(TypeError, match="two steps"):
        explain_linear(SVC())
    with pytest.raises(TypeError, match="no explicit feature map"):
        FeatureMap(WLOptimalAssignment()).fit(GRAPHS)
    edges = make_pipeline(EdgeHistogram(), SVC(kernel="precomputed")).fit(GRAPHS, y)
    with pytest.raises(TypeError, match="over nodes"):
        explain_linear(edges).nodes(NEW[0])
    unfitted = make_pipeline(EdgeHistogram().fit(GRAPHS), LogisticRegression())
    with pytest.raises(TypeError, match="precomputed"):
        explain_linear(unfitted)
