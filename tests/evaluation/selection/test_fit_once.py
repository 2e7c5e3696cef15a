"""A kernel fitted once on all graphs, if the user asks for it, and distances shared by options."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from gramlet import (
    Protocol,
    RandomGraphEmbedding,
    WeightedWassersteinWL,
    WeisfeilerLehman,
    evaluate,
    load_dataset,
)
from gramlet.evaluation.machines import blocks

QUICK = Protocol(folds=3, repeats=1, inner_folds=2, C=(1.0, 100.0))
OPTIONS = {"gamma": [0.1, 1.0, 10.0], "max_nodes": [2, 5]}


@pytest.fixture(scope="module")
def mutag():
    data = load_dataset("MUTAG")
    return data.graphs[:60], data.target[:60]


def embedding() -> RandomGraphEmbedding:
    return RandomGraphEmbedding(8, n_dims=3, random_state=0)


def count_calls(monkeypatch, name: str) -> list[int]:
    """A list that collects the number of graphs in each later call of a method of the embedding."""
    sizes: list[int] = []
    original = getattr(RandomGraphEmbedding, name)

    def counted(self, X, *rest):
        sizes.append(len(X))
        return original(self, X, *rest)

    monkeypatch.setattr(RandomGraphEmbedding, name, counted)
    return sizes


def test_fitted_once_for_each_set_of_options_that_needs_it(mutag, monkeypatch):
    sizes = count_calls(monkeypatch, "_fit")
    result = evaluate(embedding(), *mutag, QUICK, options=OPTIONS, fit_once=True)
    assert sizes == [60, 60]
    assert not result.refitted


def test_fitted_in_training_parts_unless_asked(mutag, monkeypatch):
    sizes = count_calls(monkeypatch, "_fit")
    result = evaluate(embedding(), *mutag, QUICK, options=OPTIONS)
    assert max(sizes) == 40
    assert result.refitted


def test_the_same_as_slices_of_a_fitted_kernel(mutag):
    graphs, y = mutag
    features = embedding().fit(graphs).transform(graphs)
    result = evaluate(
        embedding(), graphs, y, Protocol(3, 1, 2, C=(10.0,)), options={}, fit_once=True
    )
    codes = np.unique(y, return_inverse=True)[1]
    splits = result.protocol.splits(codes, np.unique(y))
    machine = SVC(kernel="linear", C=10.0, tol=result.protocol.tol)
    wanted = []
    for s in splits:
        centred = features - features[s.train].mean(axis=0)
        scaled = centred / np.sqrt((centred[s.train] ** 2).sum(axis=1).mean())
        machine.fit(scaled[s.train], codes[s.train])
        wanted.append(machine.score(scaled[s.test], codes[s.test]))
    np.testing.assert_allclose(result.accuracies[0], wanted)


@pytest.mark.parametrize("fit_once", [False, True])
def test_shared_distances_change_nothing(mutag, monkeypatch, fit_once):
    shared = evaluate(embedding(), *mutag, QUICK, options=OPTIONS, fit_once=fit_once)
    tags = replace(embedding().__graph_tags__(), distances=False)
    monkeypatch.setattr(RandomGraphEmbedding, "__graph_tags__", lambda self: tags)
    plain = evaluate(embedding(), *mutag, QUICK, options=OPTIONS, fit_once=fit_once)
    np.testing.assert_array_equal(shared.accuracies, plain.accuracies)
    assert shared.chosen == plain.chosen


def test_distances_are_computed_once_for_all_gamma(mutag, monkeypatch):
    sizes = count_calls(monkeypatch, "distance")
    evaluate(embedding(), *mutag, QUICK, options={"gamma": [0.1, 1.0, 10.0]}, fit_once=True)
    assert sizes == [60]


def test_features_from_distances(mutag):
    graphs, _ = mutag
    fitted = embedding().fit(graphs[:20])
    distances = fitted.distance(graphs)
    fitted.set_params(gamma=3.0)
    np.testing.assert_array_equal(fitted.from_distances(distances), fitted.transform(graphs))


def test_kernels_of_two_graphs_alone_are_as_before(mutag):
    plain = evaluate("wl", *mutag, QUICK, options={"n_iter": [1, 2]})
    once = evaluate("wl", *mutag, QUICK, options={"n_iter": [1, 2]}, fit_once=True)
    np.testing.assert_array_equal(plain.accuracies, once.accuracies)


@pytest.mark.parametrize(
    "subject",
    [WeightedWassersteinWL(), make_pipeline(WeisfeilerLehman(), SVC(kernel="precomputed"))],
    ids=["supervised", "classifier"],
)
def test_never_where_classes_are_used(mutag, subject):
    with pytest.raises(ValueError, match="fit_once"):
        evaluate(subject, *mutag, QUICK, fit_once=True)


@pytest.mark.parametrize("fit_once", [True, False])
def test_few_features_predict_as_their_gram_matrix(mutag, monkeypatch, fit_once):
    def predictions():
        found = evaluate(
            embedding(), *mutag, QUICK, options=OPTIONS, fit_once=fit_once, classifier="ridge"
        )
        return found.predictions, found.decisions, found.chosen

    few, decisions, chosen = predictions()
    monkeypatch.setattr(blocks.Features, "are_few", False)
    many, expected, same = predictions()
    assert chosen == same
    np.testing.assert_array_equal(few, many)
    np.testing.assert_allclose(decisions, expected, rtol=1e-6, atol=1e-8)


def test_no_gram_matrix_where_features_are_few(mutag, monkeypatch):
    def refuse(self, others):
        raise AssertionError("8 features of 60 graphs need no Gram matrix")

    monkeypatch.setattr(blocks.Features, "against", refuse)
    for fit_once in (True, False):
        evaluate(embedding(), *mutag, QUICK, fit_once=fit_once, classifier="ridge")
