"""Kernels of distances: several values of gamma share one matrix, and numbers stay the same."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import clone

from gramlet import (
    EMDKernel,
    GraphBatch,
    Protocol,
    WassersteinWL,
    WeightedWassersteinWL,
    evaluate,
    load_dataset,
)
from gramlet.evaluation.machines import blocks
from gramlet.kernels.contract.point_profile import PointProfile
from gramlet.kernels.wasserstein.wasserstein_wl import MassProfile

QUICK = Protocol(folds=3, repeats=1, inner_folds=2, C=(1.0, 100.0))
OPTIONS = {"gamma": [0.1, 1.0, 10.0]}
KERNELS = [
    EMDKernel(n_dims=2),
    WassersteinWL(n_iter=2),
    WeightedWassersteinWL(n_iter=1, solver="accelerated", max_iter=3),
]


@pytest.fixture(scope="module")
def mutag():
    data = load_dataset("MUTAG")
    return data.graphs[:50], data.target[:50]


@pytest.mark.parametrize("normalize", [False, True])
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: type(kernel).__name__)
def test_matrices_from_distances_are_those_of_transform(mutag, kernel, normalize):
    graphs, y = mutag
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
def test_matrices_follow_normalize_as_well(mutag, kernel):
    graphs, y = mutag
    fitted = clone(kernel).fit(graphs[:30], y[:30])
    own, cross = fitted.decays(), fitted.decays(graphs[30:])
    for normalize in (False, True, False):
        fitted.set_params(normalize=normalize)
        np.testing.assert_allclose(own.matrix(), fitted.transform(graphs[:30]), rtol=1e-13)
        np.testing.assert_allclose(cross.matrix(), fitted.transform(graphs[30:]), rtol=1e-13)


def test_blocks_of_one_fit_follow_normalize(mutag):
    graphs, y = mutag
    sets = [{"normalize": False}, {"normalize": True}]
    found = blocks.fitted_blocks(KERNELS[2], sets, graphs[:30], y[:30], graphs[30:])
    diagonals = [np.diag(own).copy() for own, _ in found]
    assert (diagonals[0] != 1.0).all()
    assert (diagonals[1] == 1.0).all()


class Doubled(WassersteinWL):
    """A subclass of a user that inherits the tags but not the matrices."""

    def fit_transform(self, X, y=None):
        return 2.0 * super().fit_transform(X, y)

    def transform(self, X):
        return 2.0 * super().transform(X)


def test_matrices_of_subclasses_are_their_own(mutag):
    graphs, y = mutag
    kernel = Doubled(n_iter=1, normalize=True)
    [(own, _)] = blocks.fitted_blocks(kernel, [{"gamma": 2.0}], graphs[:30], y[:30], graphs[30:])
    assert (np.diag(own) == 2.0).all()


@pytest.mark.parametrize("normalize", [False, True])
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: type(kernel).__name__)
def test_shared_distances_change_nothing(mutag, monkeypatch, kernel, normalize):
    kernel = clone(kernel).set_params(normalize=normalize)
    shared = evaluate(kernel, *mutag, QUICK, options=OPTIONS)
    cls = type(kernel)
    tags = replace(kernel.__graph_tags__(), distances=False)
    monkeypatch.setattr(cls, "__graph_tags__", lambda self: tags)
    plain = evaluate(kernel, *mutag, QUICK, options=OPTIONS)
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
def test_distances_of_all_graphs_are_computed_once(mutag, monkeypatch, kernel, profile):
    sizes = count_distances(monkeypatch, profile)
    evaluate(kernel, *mutag, QUICK, options=OPTIONS)
    assert sizes == [50]
    evaluate(WassersteinWL(), *mutag, QUICK, options={"n_iter": [0, 1], **OPTIONS})
    assert len(sizes) == (1 if profile is PointProfile else 3)


def test_distances_that_are_too_large_are_not_kept(mutag, monkeypatch):
    sizes = count_distances(monkeypatch, PointProfile)
    monkeypatch.setattr(blocks, "_SHARED_BYTES", 1000)
    evaluate(KERNELS[0], *mutag, QUICK, options=OPTIONS)
    assert len(sizes) >= 3
