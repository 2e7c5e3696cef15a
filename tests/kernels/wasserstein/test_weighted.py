"""Weighted Wasserstein-WL: distance, loss, solvers and bound against plain definitions."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gramlet import GraphBatch, WassersteinWL, WeightedWassersteinWL
from gramlet.engine.core.tiles import Tiling
from gramlet.engine.wasserstein import pattern_weights as importance
from reference import weighted_wwl as plain
from reference.examples import random_graphs
from reference.strategies import graph_batches

PASSES = 4


@st.composite
def classified(draw, min_graphs=2, max_graphs=5):
    batch = draw(
        graph_batches(min_graphs=min_graphs, max_graphs=max_graphs, max_nodes=5, directed=None)
    )
    classes = draw(st.lists(st.integers(0, 2), min_size=len(batch), max_size=len(batch)))
    classes[0], classes[1] = 0, 1
    return batch, classes


@st.composite
def constants(draw):
    alpha_same = draw(st.sampled_from([0.05, 0.3, 0.5]))
    return plain.Settings(
        n_iter=draw(st.integers(1, 2)),
        include_initial=draw(st.booleans()),
        use_edge_labels=draw(st.booleans()),
        alpha_same=alpha_same,
        alpha_diff=draw(st.sampled_from([0.6, 1.0, 1.3])),
        sigma=draw(st.sampled_from([0.1, 0.4])),
        offset=draw(st.sampled_from([1.0, 1.2])),
    )


def kernel_like(constant: plain.Settings, **params):
    return WeightedWassersteinWL(**vars(constant), **params)


def fitted_pairs(kernel, batch, y, weights, constant):
    """Distances of the fitted kernel, and those of plain weights with the same history."""
    graphs = plain.plain_graphs(batch)
    return np.array(
        [[plain.weighted_distance(G, H, weights, constant) for H in graphs] for G in graphs]
    )


@settings(max_examples=40)
@given(classified(), constants(), st.sampled_from([0.2, 1.0, 1.7]), st.sampled_from([0.5, 5.0]))
def test_batch_follows_the_definition(data, constant, radius, rate):
    batch, y = data
    kernel = kernel_like(
        constant, radius=radius, learning_rate=rate, max_iter=PASSES, solver="batch"
    ).fit(batch, y)
    weights, history = plain.projected_gradient(batch, y, radius, rate, PASSES, constant)
    np.testing.assert_allclose(kernel.loss_history_, history, atol=1e-12)
    np.testing.assert_allclose(
        kernel.distance(batch), fitted_pairs(kernel, batch, y, weights, constant), atol=1e-9
    )
    np.testing.assert_allclose(
        kernel.fit_transform(batch, y),
        np.exp(-fitted_pairs(kernel, batch, y, weights, constant)),
        atol=1e-9,
    )


@settings(max_examples=25)
@given(classified(), constants(), st.sampled_from([0.2, 1.7]), st.integers(0, 99))
def test_stochastic_follows_the_definition(data, constant, radius, seed):
    batch, y = data
    kernel = kernel_like(
        constant, radius=radius, learning_rate=0.4, max_iter=12, random_state=seed
    ).fit(batch, y)
    pairs = np.random.RandomState(seed).randint(0, len(batch), size=(12, 2))
    weights = plain.stochastic_descent(batch, y, pairs.tolist(), radius, 0.4, constant)
    np.testing.assert_allclose(
        kernel.distance(batch), fitted_pairs(kernel, batch, y, weights, constant), atol=1e-9
    )
    assert len(kernel.loss_history_) == 2
    np.testing.assert_allclose(
        kernel.loss_history_[-1], plain.loss(batch, y, weights, constant), atol=1e-12
    )


@settings(max_examples=25)
@given(classified(max_graphs=7), constants(), st.sampled_from([0.2, 1.0, 1.7]))
def test_accelerated_is_never_above_batch(data, constant, radius):
    batch, y = data
    plainly = kernel_like(constant, radius=radius, max_iter=30, solver="batch").fit(batch, y)
    faster = kernel_like(constant, radius=radius, max_iter=30, solver="accelerated", tol=1e-9)
    faster.fit(batch, y)
    history = faster.loss_history_
    assert (np.diff(history) <= 1e-15).all()
    assert history[-1] <= plainly.loss_history_[-1] + 1e-9 * (1 + history[-1])
    # The certificate holds: no feasible weights found are below loss − gap.
    assert plainly.loss_history_[-1] >= history[-1] - faster.gap_ - 1e-12


def problem_of(seed=0, n=9, **changes):
    batch = random_graphs(seed, n_graphs=n)
    kernel = WeightedWassersteinWL(alpha_same=0.2, sigma=0.3, **changes).fit(
        batch, np.arange(n) % 3
    )
    masses = kernel._masses(kernel.counter_.count(batch, Tiling()), batch)
    return kernel._problem(masses, np.arange(n, dtype=np.int64) % 3)


@pytest.mark.parametrize("balanced", [False, True])
def test_gradient_by_finite_differences(balanced):
    problem = problem_of(balanced=balanced)
    rng = np.random.default_rng(1)
    weights = rng.uniform(0.5, 1.5, problem.masses.shape[1])
    gradient = problem.pairs.adjoint(problem.loss(problem.common(weights))[1])
    for _ in range(10):
        direction = rng.normal(size=len(weights))
        step = 1e-6
        ahead = problem.loss(problem.common(weights + step * direction))[0]
        behind = problem.loss(problem.common(weights - step * direction))[0]
        assert (ahead - behind) / (2 * step) == pytest.approx(gradient @ direction, abs=1e-7)


def test_lipschitz_bound_holds_and_is_not_slack():
    problem = problem_of()
    rows = np.asarray(problem.masses.todense())
    n = len(rows)
    vectors = np.minimum(rows[:, None], rows[None, :]).reshape(n * n, -1)
    exact = np.linalg.eigvalsh(vectors.T @ vectors / n**2)[-1] / problem.sigma
    assert exact <= problem.lipschitz() * (1 + 1e-12)
    assert problem.lipschitz() < 1.5 * exact


@given(
    st.lists(st.floats(-6, 6), min_size=1, max_size=8), st.sampled_from([0.1, 1.0, 1.4, 2.0, 3.5])
)
def test_projection(values, radius):
    z = np.array(values)
    point = importance.project(z, np.array([0, len(z)]), np.array([radius]))
    np.testing.assert_allclose(point, plain.project_level(z, radius), atol=1e-9)


def test_weights_of_one_give_plain_wwl():
    batch = random_graphs(3, n_graphs=8)
    y = np.arange(8) % 2
    weighted = WeightedWassersteinWL(n_iter=3, max_iter=0, gamma=0.7).fit(batch, y)
    plainly = WassersteinWL(n_iter=3, gamma=0.7).fit(batch)
    np.testing.assert_allclose(weighted.distance(batch), plainly.distance(batch), atol=1e-14)
    assert all((w == 1).all() for w in weighted.weights_)


@pytest.mark.parametrize("solver", ["stochastic", "batch", "accelerated"])
def test_same_bits_for_any_number_of_threads(solver):
    batch = random_graphs(4, n_graphs=40)
    y = np.arange(40) % 2
    fits = [
        WeightedWassersteinWL(solver=solver, max_iter=7, random_state=3, n_jobs=n).fit(batch, y)
        for n in (1, 2)
    ]
    assert np.array_equal(*(np.concatenate(f.weights_) for f in fits))
    assert np.array_equal(*(f.loss_history_ for f in fits))


def test_patterns_names_and_order():
    graphs = [([(0, 1)], ["C", "O"]), ([(0, 1)], ["C", "N"]), ([(0, 1)], ["C", "O"])]
    kernel = WeightedWassersteinWL(n_iter=1, solver="accelerated").fit(graphs, [0, 1, 0])
    assert kernel.patterns_ == [["C", "O", "N"], ["C(O)", "O(C)", "C(N)", "N(C)"]]
    assert kernel.get_feature_names_out().tolist()[:4] == ["h0:C", "h0:O", "h0:N", "h1:C(O)"]
    best = kernel.top_patterns(2, level=1)
    assert [p.level for p in best] == [1, 1]
    assert best[0].weight >= best[1].weight
    # Carbon is in both classes: it must not gain on oxygen, which is in one.
    weights = dict(zip(kernel.patterns_[0], kernel.weights_[0], strict=True))
    assert weights["C"] < weights["O"]
    with pytest.raises(ValueError, match="level must be one of"):
        kernel.top_patterns(3, level=9)


def test_bound_follows_the_definition():
    batch, y = random_graphs(5, n_graphs=8), [0, 1] * 4
    constant = plain.Settings()
    kernel = WeightedWassersteinWL(learning_rate=1e-4, max_iter=50, random_state=0).fit(batch, y)
    expected = plain.generalization_bound(batch, 0.5, 1e-4, 50, 0.05, constant)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert kernel.generalization_bound(0.05) == pytest.approx(expected)
    kernel = WeightedWassersteinWL(learning_rate=10.0, max_iter=5, random_state=0).fit(batch, y)
    with pytest.warns(UserWarning, match="learning_rate up to"):
        kernel.generalization_bound(0.05)
    with pytest.raises(ValueError, match="delta"):
        kernel.generalization_bound(0.0)


@pytest.mark.parametrize(
    ("params", "y", "message"),
    [
        ({}, [0, 0, 0], "two classes"),
        ({}, None, "requires y to be passed"),
        ({}, [0, 1], "one class a graph"),
        ({"radius": 0}, [0, 1, 0], "'radius' parameter"),
        ({"radius": [0.1, 0.2]}, [0, 1, 0], "one a level"),
        ({"radius": [0.1, -0.2, 0.3]}, [0, 1, 0], "above 0"),
        ({"alpha_same": 2.0}, [0, 1, 0], "alpha_same must not exceed"),
        ({"n_iter": 0, "include_initial": False}, [0, 1, 0], "leaves no level"),
        ({"solver": "magic"}, [0, 1, 0], "'solver' parameter"),
    ],
)
def test_bad_input(params, y, message):
    with pytest.raises(ValueError, match=message):
        WeightedWassersteinWL(**params).fit(random_graphs(0, n_graphs=3), y)


def test_one_graph_is_too_few():
    with pytest.raises(ValueError, match="at least two graphs"):
        WeightedWassersteinWL().fit(random_graphs(0, n_graphs=1), [0])


def test_a_graph_that_shares_nothing():
    kernel = WeightedWassersteinWL(solver="accelerated").fit(
        random_graphs(1, n_graphs=6), [0, 1] * 3
    )
    stranger = GraphBatch.from_edges(
        [[(0, 1)]],
        node_labels=[["?", "!"]],
        edge_labels=[["x"]],
        edge_weights=[[1.0]],
        node_attributes=[np.zeros((2, 2))],
    )
    np.testing.assert_allclose(kernel.transform(stranger)[:, :4], np.exp(-1.0))
    assert kernel.diagonal(stranger) == pytest.approx(1.0)  # weights of unseen patterns are 1
