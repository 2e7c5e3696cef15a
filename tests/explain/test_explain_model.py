"""Explanations of models: values, presence, names, and models no better than the majority class."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from gramlet import (
    CoreKernel,
    FeatureMap,
    GraphBatch,
    ShortestPath,
    WeightedWassersteinWL,
    WeisfeilerLehman,
    WLOptimalAssignment,
    explain_model,
    load,
    save,
)
from gramlet.explain import LinearExplanation
from gramlet.explain.sums import has_patterns
from gramlet.kernels import registry
from reference.examples import random_graphs

GRAPHS = random_graphs(0, n_graphs=30)
NEW = random_graphs(1, n_graphs=9)
Y = np.arange(30) % 2
NEW_Y = np.arange(9) % 2


def fitted(kernel, y=Y, **params):
    return make_pipeline(kernel, SVC(kernel="precomputed", C=10.0, **params)).fit(GRAPHS, y)


@pytest.mark.parametrize("normalize", [False, True, "tanimoto"])
@pytest.mark.parametrize(
    "name",
    [
        row.name
        for row in registry.entries("kernel")
        if has_patterns(row.make()) and not row.tags.needs
    ]
    + [
        "wl(sp, n_iter=1)",
        "wl(vertex(normalize=True), n_iter=1)",
        "core(wl(n_iter=1))",
        "core(vertex(normalize=True))",
        "core(svm-theta)",
        "core(sp, normalize=False) + wl(normalize=False)",
    ],
)
def test_contributions_add_up_for_every_kernel_of_patterns(name, normalize):
    params = {"random_state": 0} if "random_state" in registry.make(name).get_params() else {}
    model = fitted(registry.make(name, normalize=normalize, **params))
    found = explain_model(model, NEW, NEW_Y)
    total = np.asarray(found.contributions().sum(axis=1)).ravel() + found.model.intercept[0]
    np.testing.assert_allclose(total, model.decision_function(NEW), atol=1e-7)
    patterns = model[0].profile_of(NEW).features()
    if isinstance(found.model, LinearExplanation):
        values = np.array([pattern.value for pattern in found.patterns()])
        np.testing.assert_array_equal(values, found.model.coefficients[0])
        patterns = model[0].features(NEW)
    counts = np.asarray((patterns != 0).sum(axis=0)).ravel()
    assert [pattern.n_graphs for pattern in found.patterns()] == counts.tolist()


def make_fitted(kernel, model):
    """A pipeline of two fitted steps."""
    return make_pipeline(kernel, model)


def test_cores_that_no_support_vector_has_are_there():
    triangle, path = [(0, 1), (1, 2), (0, 2)], [(0, 1), (1, 2)]
    graphs = GraphBatch.from_edges([path, path[:1], triangle, path], n_nodes=[3, 2, 3, 4])
    kernel = CoreKernel("vertex").fit(graphs)
    model = SVC(kernel="precomputed").fit(kernel.transform(graphs), [0, 1, 1, 0])
    kept = np.flatnonzero(graphs.sizes != 3)  # as if the triangle were not a support vector
    some = kernel.profile_[kept].features()
    wide = kernel.features(graphs)
    np.testing.assert_array_equal(some.toarray(), wide[kept].toarray())
    explained = explain_model(make_fitted(kernel, model), graphs)
    assert explained.model.coefficients.shape[1] == wide.shape[1]


def test_shares_are_of_the_classes():
    found = explain_model(fitted(WeisfeilerLehman(n_iter=1)), NEW, NEW_Y)
    has = np.asarray(found.model.kernel.features(NEW).todense()) > 0
    for column, pattern in enumerate(found.patterns()):
        expected = [has[c == NEW_Y, column].mean() for c in (0, 1)]
        assert pattern.shares == pytest.approx(expected)
    assert found.levels == [0, 1]
    assert found.drawable


def test_leading_patterns_are_the_farthest_from_neutral():
    found = explain_model(fitted(WeisfeilerLehman(n_iter=1)), NEW)
    level = [pattern for pattern in found.patterns() if pattern.level == 1]
    leading = found.leading(3, level=1)
    values = [pattern.value for pattern in leading]
    assert values == sorted(values, reverse=True)
    apart = sorted((abs(pattern.value) for pattern in level), reverse=True)
    assert sorted((abs(value) for value in values), reverse=True) == apart[:3]


def test_weights_of_a_supervised_kernel_alone_and_with_a_machine():
    kernel = WeightedWassersteinWL(n_iter=1, random_state=0)
    model = fitted(kernel)
    found = explain_model(model, NEW, NEW_Y)
    alone = explain_model(model[0], NEW)
    np.testing.assert_array_equal(
        [pattern.value for pattern in found.patterns()], np.concatenate(model[0].weights_)
    )
    assert (found.meaning, found.neutral, found.outputs) == ("weight", 1.0, [""])
    assert alone.classes == ["all"]
    assert alone.predictions is None
    assert [p.n_graphs for p in alone.patterns()] == [p.n_graphs for p in found.patterns()]
    with pytest.raises(TypeError, match="not a sum over patterns"):
        found.contributions()


def test_names_do_not_change_numbers():
    names = {label: f"name of {label}" for label in GRAPHS.node_labels.used()}
    model = fitted(WeisfeilerLehman(n_iter=1))
    plain = explain_model(model, NEW, NEW_Y)
    named = explain_model(model, NEW, NEW_Y, node_names=names, class_names={0: "no", 1: "yes"})
    assert named.outputs == ["yes"]
    assert named.classes == ["no", "yes"]
    assert named.predicted_names() == [["no", "yes"][c] for c in plain.predictions]
    assert all("name of" in pattern.text for pattern in named.patterns())
    for a, b in zip(plain.patterns(), named.patterns(), strict=True):
        assert (a.level, a.value, a.n_graphs, a.shares) == (b.level, b.value, b.n_graphs, b.shares)
    np.testing.assert_array_equal(plain.model.decision(NEW), named.model.decision(named.graphs))
    # Names that would make two labels equal are not used.
    same = explain_model(model, NEW, node_names=dict.fromkeys(names, "x"))
    assert [p.text for p in same.patterns()] == [p.text for p in plain.patterns()]


def test_a_model_from_a_file_explains_the_same(tmp_path):
    model = fitted(WeisfeilerLehman(n_iter=1, normalize=True))
    save(model, tmp_path / "m.gramlet")
    again = explain_model(load(tmp_path / "m.gramlet"), NEW, NEW_Y)
    assert again.patterns() == explain_model(model, NEW, NEW_Y).patterns()


def test_accuracy_and_majority():
    y = np.repeat([0, 1], [20, 10])
    model = fitted(WeisfeilerLehman(n_iter=0), y)
    found = explain_model(model, GRAPHS, y)
    assert found.accuracy == np.mean(model.predict(GRAPHS) == y)
    assert found.majority == pytest.approx(2 / 3)
    nothing = make_pipeline(WeisfeilerLehman(), SVC(kernel="precomputed", C=1e-9)).fit(GRAPHS, y)
    assert explain_model(nothing, GRAPHS, y).no_better
    texts = explain_model(model, GRAPHS, y.astype(str))  # as files contain them
    assert texts.accuracy == found.accuracy
    other = explain_model(model, GRAPHS, ["a", "b"] * 15)
    assert (other.accuracy, other.majority, other.no_better) == (None, None, False)
    without = explain_model(model, NEW)
    assert {name.split()[0] for name in without.classes} == {"predicted"}


def test_several_classes_and_linear_models():
    y = np.arange(30) % 3
    pairs = explain_model(fitted(WeisfeilerLehman(n_iter=0), y), NEW)
    assert pairs.outputs == ["0 over 1", "0 over 2", "1 over 2"]
    assert [p.value for p in pairs.patterns(2)] == pairs.model.coefficients[2].tolist()
    rest = make_pipeline(FeatureMap(ShortestPath()), LogisticRegression(max_iter=3000))
    found = explain_model(rest.fit(GRAPHS, y), NEW)
    assert found.outputs == ["0", "1", "2"]
    assert (found.levels, found.drawable) == ([], False)


def test_graphs_without_nodes_and_no_graphs():
    empty = GraphBatch.from_edges([[], [(0, 1)]], n_nodes=[0, 2], node_labels=[[], ["C", "?"]])
    model = fitted(WeisfeilerLehman(n_iter=1, use_edge_labels=False))
    found = explain_model(model, empty, [0, 1])
    assert found.contributions().shape[0] == 2
    assert max(pattern.n_graphs for pattern in found.patterns()) <= 1


def test_what_cannot_be_explained():
    with pytest.raises(TypeError, match="takes a fitted GraphClassifier"):
        explain_model(WLOptimalAssignment().fit(GRAPHS), NEW)
    with pytest.raises(ValueError, match="one class per graph: got shape"):
        explain_model(fitted(WeisfeilerLehman()), NEW, [0, 1])
