"""Decisions of kernels that are not linear in patterns: exact sums over patterns all the same."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.compose import TransformedTargetRegressor
from sklearn.kernel_ridge import KernelRidge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KernelCenterer, StandardScaler
from sklearn.svm import SVC, SVR

from gramlet import (
    EmbeddingKernel,
    GraphClassifier,
    GraphRegressor,
    NetLSD,
    WeisfeilerLehman,
    WLOptimalAssignment,
    explain_linear,
    explain_model,
    load,
    save,
)
from gramlet.kernels import registry
from gramlet.kernels.expression import estimator_of
from gramlet.models.machines import decisions_of
from reference.examples import random_graphs
from reference.explanations import contributions

GRAPHS = random_graphs(0, n_graphs=30)
NEW = random_graphs(1, n_graphs=9)
TARGET = GRAPHS.sizes + np.random.default_rng(0).normal(size=30)
KERNELS = ["wl(n_iter=2)", "wl-oa(n_iter=2)", "sp", "vertex", "nspdk", "graphlet", "pyramid-match"]


def sums(explanation, graphs, output=0):
    parts = explanation.contributions(graphs, output)
    return parts.sum(axis=1).A1 + explanation.intercept[output]


@pytest.mark.parametrize("how", [False, "cosine", "tanimoto"])
@pytest.mark.parametrize("name", KERNELS)
def test_contributions_are_those_of_the_definition(name, how):
    kernel = estimator_of(name).set_params(normalize=how)
    model = make_pipeline(kernel, SVC(kernel="precomputed", C=3.0)).fit(GRAPHS, np.arange(30) % 2)
    explanation = explain_linear(model)
    fitted, rows = kernel.profile_, kernel.profile_of(NEW)
    dual = np.zeros(30)
    dual[model[-1].support_] = model[-1].dual_coef_[0]
    expected = contributions(
        rows.counts.toarray(), fitted.counts.toarray(), dual, fitted.measure, how, fitted.n_known
    )
    found = explanation.contributions(NEW)
    np.testing.assert_allclose(found.toarray(), expected, atol=1e-9)
    np.testing.assert_allclose(sums(explanation, NEW), model.decision_function(NEW), atol=1e-9)
    np.testing.assert_array_equal(
        explanation.present(NEW).toarray(), rows.counts[:, : fitted.n_known].toarray() > 0
    )
    if explanation.meaning == "mean contribution":
        means = explanation.contributions(GRAPHS).toarray().mean(axis=0)
        np.testing.assert_allclose(explanation.values(), means, atol=1e-12)


@pytest.mark.parametrize("machine", ["svc", "ridge", "svr", "gp"])
@pytest.mark.parametrize("name", ["wl", "wl-oa", "sp"])
def test_estimators_decide_by_the_sums(name, machine, tmp_path):
    if machine in ("svr", "gp"):
        model = GraphRegressor(name, regressor=machine, C=[1.0], cv=2).fit(GRAPHS, TARGET)
        explanation = explain_linear(model)
        assert explanation.outputs == ["higher values"]
        np.testing.assert_allclose(sums(explanation, NEW), model.predict(NEW), atol=1e-9)
    else:
        for n in (2, 3):
            model = GraphClassifier(name, classifier=machine, C=[1.0], cv=2)
            model.fit(GRAPHS, np.array(["a", "b", "c"])[np.arange(30) % n])
            explanation = explain_linear(model)
            outputs = np.transpose([sums(explanation, NEW, o) for o in range(2 * n - 3)])
            np.testing.assert_allclose(explanation.decision(NEW), outputs, atol=1e-12)
            if n == 2:
                assert explanation.outputs == ["b"]
                found = outputs[:, 0]
            else:
                pairs = ["a over b", "a over c", "b over c"]
                assert explanation.outputs == (pairs if machine == "svc" else ["a", "b", "c"])
                found = decisions_of(model.machine_, outputs, 3)
            np.testing.assert_allclose(found, model.decision_function(NEW), atol=1e-9)
    save(model, tmp_path / "m.gramlet")
    again = explain_model(load(tmp_path / "m.gramlet"), NEW)
    assert again.meaning == "mean contribution"
    np.testing.assert_allclose(
        again.contributions().toarray(), explanation.contributions(NEW).toarray(), atol=1e-12
    )


def _centred_ridge():
    ridge = KernelRidge(alpha=0.5, kernel="precomputed")
    centred = TransformedTargetRegressor(ridge, transformer=StandardScaler(with_std=False))
    return make_pipeline(KernelCenterer(), centred)


@pytest.mark.parametrize("machine", [_centred_ridge(), SVR(kernel="precomputed")])
def test_machines_of_pipelines(machine):
    kernel = WLOptimalAssignment(n_iter=1, normalize="tanimoto")
    model = make_pipeline(kernel, machine).fit(GRAPHS, TARGET)
    np.testing.assert_allclose(sums(explain_linear(model), NEW), model.predict(NEW), atol=1e-9)


@pytest.mark.parametrize("how", [False, "cosine", "tanimoto"])
def test_sums_of_kernels_with_and_without_patterns(how):
    wl = WLOptimalAssignment(n_iter=1, normalize="tanimoto")
    rest = EmbeddingKernel(NetLSD())
    paths = 0.5 * registry.make("sp", normalize="cosine")
    kernel = (wl + rest + paths).set_params(normalize=how)
    model = make_pipeline(kernel, SVR(kernel="precomputed")).fit(GRAPHS, TARGET)
    explanation = explain_model(model, NEW)
    np.testing.assert_allclose(sums(explanation.model, NEW), model.predict(NEW), atol=1e-9)
    members = explanation.members()
    assert list(members) == ["embeddingkernel"]
    [column] = np.flatnonzero(explanation.model.names == "embeddingkernel")
    np.testing.assert_array_equal(
        members["embeddingkernel"], explanation.contributions()[:, [column]].toarray().ravel()
    )
    assert explanation.patterns()[column].n_graphs == len(NEW)
    # Nodes share what wl-oa adds.
    wl_width = len(model[0].kernels_[0].counter_.names())
    assert explanation.drawable
    for i in range(len(NEW)):
        nodes = explanation.model.nodes(NEW[i])
        assert nodes.shape == (NEW.sizes[i], 2)
        share = explanation.contributions()[i, :wl_width].sum()
        assert nodes.sum() == pytest.approx(share, abs=1e-9)


@pytest.mark.parametrize("kernel", [WeisfeilerLehman(n_iter=2), WLOptimalAssignment(n_iter=2)])
def test_nodes_add_up(kernel):
    kernel.set_params(normalize="tanimoto")
    model = make_pipeline(kernel, SVC(kernel="precomputed")).fit(GRAPHS, np.arange(30) % 2)
    explanation = explain_linear(model)
    for i in range(len(NEW)):
        total = explanation.nodes(NEW[i]).sum() + explanation.intercept[0]
        assert total == pytest.approx(model.decision_function(NEW[i])[0], abs=1e-9)


def test_names_do_not_change_numbers():
    names = {label: f"name of {label}" for label in GRAPHS.node_labels.used()}
    model = GraphRegressor("wl-oa", options={"n_iter": [1]}).fit(GRAPHS, TARGET)
    plain, named = explain_model(model, NEW), explain_model(model, NEW, node_names=names)
    assert all("name of" in pattern.text for pattern in named.patterns())
    assert [p.value for p in named.patterns()] == [p.value for p in plain.patterns()]
    assert named.levels == [0, 1]
    np.testing.assert_array_equal(named.contributions().toarray(), plain.contributions().toarray())


@pytest.mark.parametrize("kernel", ["wl(n_iter=1) * sp", "wwl", "wl(sp(normalize='tanimoto'))"])
def test_kernels_that_are_no_sums_over_patterns(kernel):
    model = make_pipeline(estimator_of(kernel), SVC(kernel="precomputed"))
    with pytest.raises(TypeError, match="gives no values to patterns"):
        explain_model(model.fit(GRAPHS, np.arange(30) % 2), NEW)
    with pytest.raises(TypeError, match="fitted GraphClassifier"):
        explain_model(GraphClassifier("wl"), NEW)
