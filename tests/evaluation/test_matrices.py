"""A kernel fitted once on all graphs, if the user asks for it, and distances shared by options."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from gramlet import (
    EMDKernel,
    GraphBatch,
    Protocol,
    RandomGraphEmbedding,
    WassersteinWL,
    WeightedWassersteinWL,
    WeisfeilerLehman,
    evaluate,
    load_dataset,
)
from gramlet.evaluation import matrices
from gramlet.evaluation.candidates import candidates_of
from gramlet.kernels.contract.point_profile import PointProfile
from gramlet.kernels.wasserstein.wasserstein_wl import MassProfile

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
    "kernel",
    [WeightedWassersteinWL(), make_pipeline(WeisfeilerLehman(), SVC(kernel="precomputed"))],
    ids=["supervised", "classifier"],
)
def test_never_where_classes_are_used(mutag, kernel):
    with pytest.raises(ValueError, match="fit_once"):
        evaluate(kernel, *mutag, QUICK, fit_once=True)


@pytest.mark.parametrize("fit_once", [True, False])
def test_few_features_predict_as_their_gram_matrix(mutag, monkeypatch, fit_once):
    def predictions():
        found = evaluate(
            embedding(), *mutag, QUICK, options=OPTIONS, fit_once=fit_once, classifier="ridge"
        )
        return found.predictions, found.decisions, found.chosen

    few, decisions, chosen = predictions()
    monkeypatch.setattr(matrices.Features, "are_few", False)
    many, expected, same = predictions()
    assert chosen == same
    np.testing.assert_array_equal(few, many)
    np.testing.assert_allclose(decisions, expected, rtol=1e-6, atol=1e-8)


def test_no_gram_matrix_where_features_are_few(mutag, monkeypatch):
    def refuse(self, others):
        raise AssertionError("8 features of 60 graphs need no Gram matrix")

    monkeypatch.setattr(matrices.Features, "against", refuse)
    for fit_once in (True, False):
        evaluate(embedding(), *mutag, QUICK, fit_once=fit_once, classifier="ridge")


GAMMAS = {"gamma": [0.1, 1.0, 10.0]}
KERNELS = [
    EMDKernel(n_dims=2),
    WassersteinWL(n_iter=2),
    WeightedWassersteinWL(n_iter=1, solver="accelerated", max_iter=3),
]


@pytest.fixture(scope="module")
def fifty():
    data = load_dataset("MUTAG")
    return data.graphs[:50], data.target[:50]


@pytest.mark.parametrize("normalize", [False, True])
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: type(kernel).__name__)
def test_matrices_from_distances_are_those_of_transform(fifty, kernel, normalize):
    graphs, y = fifty
    empty = GraphBatch.from_edges([[]], n_nodes=[0], node_labels=[[]], edge_labels=[[]])
    kernel = clone(kernel)
    fitted = kernel.set_params(normalize=normalize, gamma=1.0).fit(graphs[:30], y[:30])
    new = GraphBatch.concatenate([graphs[25:], empty])
    own, cross = fitted.decays(), fitted.decays(new)
    # Normalised before, not after the exponential: the last digits may differ.
    rtol = 1e-14 if normalize else 0.0
    for gamma in (3.0, 0.2):
        fitted.set_params(gamma=gamma)
        np.testing.assert_allclose(cross.matrix(), fitted.transform(new), rtol=rtol)
        np.testing.assert_array_equal(cross.matrix(), cross.matrix())
        matrix = own.matrix()
        np.testing.assert_array_equal(matrix, matrix.T)
        np.testing.assert_allclose(matrix, fitted.transform(graphs[:30]), rtol=1e-13)
    fresh = kernel.set_params(gamma=0.2).fit_transform(graphs[:30], y[:30])
    np.testing.assert_allclose(matrix, fresh, rtol=rtol)
    assert (np.diag(matrix) == np.diag(fresh)).all()


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: type(kernel).__name__)
def test_matrices_follow_normalize_as_well(fifty, kernel):
    graphs, y = fifty
    fitted = clone(kernel).fit(graphs[:30], y[:30])
    own, cross = fitted.decays(), fitted.decays(graphs[30:])
    for normalize in (False, True, False):
        fitted.set_params(normalize=normalize)
        np.testing.assert_allclose(own.matrix(), fitted.transform(graphs[:30]), rtol=1e-13)
        np.testing.assert_allclose(cross.matrix(), fitted.transform(graphs[30:]), rtol=1e-13)


def test_blocks_of_one_fit_follow_normalize(fifty):
    graphs, y = fifty
    candidates = candidates_of(KERNELS[2], {"normalize": [False, True]}, None, 0, "classification")
    blocks = matrices.fitted_blocks(candidates, graphs[:30], y[:30], graphs[30:])
    diagonals = [np.diag(own).copy() for own, _, _ in blocks]
    assert (diagonals[0] != 1.0).all()
    assert (diagonals[1] == 1.0).all()


class Doubled(WassersteinWL):
    """A subclass of a user that inherits the tags but not the matrices."""

    def fit_transform(self, X, y=None):
        return 2.0 * super().fit_transform(X, y)

    def transform(self, X):
        return 2.0 * super().transform(X)


def test_matrices_of_subclasses_are_their_own(fifty):
    graphs, y = fifty
    kernel = Doubled(n_iter=1, normalize=True)
    candidates = candidates_of(kernel, {"gamma": [2.0]}, None, 0, "classification")
    [(own, _, _)] = matrices.fitted_blocks(candidates, graphs[:30], y[:30], graphs[30:])
    assert (np.diag(own) == 2.0).all()


@pytest.mark.parametrize("normalize", [False, True])
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: type(kernel).__name__)
def test_shared_distances_of_kernels_change_nothing(fifty, monkeypatch, kernel, normalize):
    kernel = clone(kernel).set_params(normalize=normalize)
    shared = evaluate(kernel, *fifty, QUICK, options=GAMMAS)
    cls = type(kernel)
    tags = replace(kernel.__graph_tags__(), distances=False)
    monkeypatch.setattr(cls, "__graph_tags__", lambda self: tags)
    plain = evaluate(kernel, *fifty, QUICK, options=GAMMAS)
    np.testing.assert_array_equal(shared.accuracies, plain.accuracies)
    assert shared.chosen == plain.chosen


def count_distances(monkeypatch, profile: type) -> list[int]:
    """A list that collects the number of rows in each later computation of distances."""
    sizes: list[int] = []
    original = profile.distances

    def counted(self, *rest):
        sizes.append(len(self))
        return original(self, *rest)

    monkeypatch.setattr(profile, "distances", counted)
    return sizes


@pytest.mark.parametrize(
    ("kernel", "profile"), [(KERNELS[0], PointProfile), (KERNELS[1], MassProfile)]
)
def test_distances_of_all_graphs_are_computed_once(fifty, monkeypatch, kernel, profile):
    sizes = count_distances(monkeypatch, profile)
    evaluate(kernel, *fifty, QUICK, options=GAMMAS)
    assert sizes == [50]
    evaluate(WassersteinWL(), *fifty, QUICK, options={"n_iter": [0, 1], **GAMMAS})
    assert len(sizes) == (1 if profile is PointProfile else 3)
