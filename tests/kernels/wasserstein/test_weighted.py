"""Weighted Wasserstein-WL: distance, loss, solvers and bound against plain definitions."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gramlet
from gramlet import GraphBatch, WassersteinWL, WeightedWassersteinWL
from gramlet.engine.core.tiles import Tiling
from gramlet.engine.wasserstein.weight_constraint import WeightConstraint
from reference.examples import random_graphs
from reference.kernels import weighted_wwl as plain
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
    alpha_same = draw(st.sampled_from([0.05, 0.3, 0.5, 1.3]))
    return plain.Settings(
        n_iter=draw(st.integers(1, 2)),
        include_initial=draw(st.booleans()),
        use_edge_labels=draw(st.booleans()),
        alpha_same=alpha_same,
        alpha_diff=draw(st.sampled_from([0.6, 1.0, 1.3])),
        sigma=draw(st.sampled_from([0.1, 0.4])),
        offset=draw(st.sampled_from([1.0, 1.2])),
    )


@st.composite
def limits(draw, constant: plain.Settings):
    """A constraint, and some of the levels."""
    levels = list(range(0 if constant.include_initial else 1, constant.n_iter + 1))
    fixed = draw(st.lists(st.sampled_from(levels), unique=True))
    return {"constraint": draw(st.sampled_from(["ball", "box"])), "fixed_levels": tuple(fixed)}


def kernel_like(constant: plain.Settings, **params):
    return WeightedWassersteinWL(**vars(constant), **params)


def fitted_pairs(kernel, batch, y, weights, constant):
    """Distances of the fitted kernel, and those of plain weights with the same history."""
    graphs = plain.plain_graphs(batch)
    return np.array(
        [[plain.weighted_distance(G, H, weights, constant) for H in graphs] for G in graphs]
    )


@given(
    classified(),
    constants(),
    st.data(),
    st.sampled_from([0.2, 1.0, 1.7]),
    st.sampled_from([0.5, 5.0]),
)
def test_batch_follows_the_definition(classes, constant, data, radius, rate):
    batch, y = classes
    allowed = data.draw(limits(constant))
    kernel = kernel_like(
        constant, radius=radius, learning_rate=rate, max_iter=PASSES, solver="batch", **allowed
    ).fit(batch, y)
    weights, history = plain.projected_gradient(batch, y, radius, rate, PASSES, constant, **allowed)
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
@given(classified(), constants(), st.data(), st.sampled_from([0.2, 1.7]), st.integers(0, 99))
def test_stochastic_follows_the_definition(classes, constant, data, radius, seed):
    batch, y = classes
    allowed = data.draw(limits(constant))
    kernel = kernel_like(
        constant, radius=radius, learning_rate=0.4, max_iter=12, random_state=seed, **allowed
    ).fit(batch, y)
    pairs = np.random.RandomState(seed).randint(0, len(batch), size=(12, 2))
    weights = plain.stochastic_descent(batch, y, pairs.tolist(), radius, 0.4, constant, **allowed)
    np.testing.assert_allclose(
        kernel.distance(batch), fitted_pairs(kernel, batch, y, weights, constant), atol=1e-9
    )
    assert len(kernel.loss_history_) == 2
    np.testing.assert_allclose(
        kernel.loss_history_[-1], plain.loss(batch, y, weights, constant), atol=1e-12
    )


@settings(max_examples=25)
@given(classified(max_graphs=7), constants(), st.data(), st.sampled_from([0.2, 1.0, 1.7]))
def test_accelerated_is_never_above_batch(classes, constant, data, radius):
    batch, y = classes
    options = {"radius": radius, "max_iter": 30, **data.draw(limits(constant))}
    plainly = kernel_like(constant, solver="batch", **options).fit(batch, y)
    faster = kernel_like(constant, solver="accelerated", tol=1e-9, **options).fit(batch, y)
    history = faster.loss_history_
    assert (np.diff(history) <= 1e-15).all()
    assert history[-1] <= plainly.loss_history_[-1] + 1e-9 * (1 + history[-1])
    # The certificate holds: no feasible weights have a loss below loss − gap.
    assert plainly.loss_history_[-1] >= history[-1] - faster.gap_ - 1e-12


@pytest.mark.parametrize("constraint", ["ball", "box"])
@pytest.mark.parametrize("n_passes", [1, 2, 5])
def test_accelerated_is_ahead_from_the_first_pass(constraint, n_passes):
    data = gramlet.load_dataset("MUTAG")
    graphs, y = data.graphs[::5], data.target[::5]
    for radius, sigma in ((0.5, 0.1), (1.0, 0.5), (3.0, 0.5)):
        options = {"radius": radius, "sigma": sigma, "alpha_same": 0.2, "alpha_diff": 0.5}
        plainly, faster = (
            WeightedWassersteinWL(
                n_iter=2, constraint=constraint, solver=solver, max_iter=n_passes, tol=0, **options
            ).fit(graphs, y)
            for solver in ("batch", "accelerated")
        )
        assert faster.loss_history_[-1] <= plainly.loss_history_[-1] * (1 + 1e-9)


def test_accelerated_is_not_behind_where_the_plain_path_is_lucky():
    batch = GraphBatch.from_edges(
        [[(0, 1)], [], []], n_nodes=[2, 2, 1], node_labels=[["O", "C"], ["C", "C"], ["O"]]
    )
    plainly, faster = (
        WeightedWassersteinWL(
            1, radius=0.5, alpha_diff=1.2, alpha_same=0.2, sigma=0.4, max_iter=2, solver=solver
        ).fit(batch, [0, 1, 0])
        for solver in ("batch", "accelerated")
    )
    assert (faster.loss_history_ <= plainly.loss_history_).all()


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
    gradient = problem.gradient(problem.common(weights)[0])[1]
    for _ in range(10):
        direction = rng.normal(size=len(weights))
        step = 1e-6
        ahead, behind = (
            problem.common(weights + part)[1] for part in (step * direction, -step * direction)
        )
        assert (ahead - behind) / (2 * step) == pytest.approx(gradient @ direction, abs=1e-7)


@pytest.mark.parametrize("fixed_levels", [(), (0, 2)])
def test_lipschitz_bound_holds_and_is_not_slack(fixed_levels):
    problem = problem_of(fixed_levels=fixed_levels)
    rows = np.asarray(problem.masses.todense())
    n = len(rows)
    vectors = np.minimum(rows[:, None], rows[None, :]).reshape(n * n, -1)
    vectors = vectors[:, problem.constraint.free]
    exact = np.linalg.eigvalsh(vectors.T @ vectors / n**2)[-1] / problem.hinge.sigma
    assert exact <= problem.lipschitz() * (1 + 1e-12)
    assert problem.lipschitz() < 1.5 * exact
    assert exact <= problem.curvature_bound() * (1 + 1e-12)


def test_the_loss_between_two_points_and_its_slope():
    problem = problem_of()
    rng = np.random.default_rng(2)
    here, there = (
        problem.common(rng.uniform(0.5, 1.5, problem.masses.shape[1]))[0] for _ in range(2)
    )
    for share in (-0.3, 0.0, 0.4, 1.0):
        value, slope = problem.loss(here, there, share)
        assert value == pytest.approx(problem.gradient(here, there, share)[0], rel=1e-12)
        assert value == pytest.approx(problem.gradient(here + share * (there - here))[0], rel=1e-12)
        ahead, behind = (problem.loss(here, there, share + h)[0] for h in (1e-6, -1e-6))
        assert slope == pytest.approx((ahead - behind) / 2e-6, abs=1e-7)


@pytest.mark.parametrize("n", [9, 300])  # one range of rows, and several
@pytest.mark.parametrize("n_jobs", [None, 2])
def test_common_masses_and_their_gradient(n, n_jobs):
    problem = problem_of(n=n, n_jobs=n_jobs)
    assert problem.fixed.any()  # some graphs are empty
    rng = np.random.default_rng(3)
    weights = rng.uniform(0.5, 1.5, problem.masses.shape[1])
    rows = np.asarray(problem.masses.todense())
    later = np.triu_indices(n)
    minima = np.minimum(rows[later[0]], rows[later[1]])
    expected = minima @ weights + np.minimum(problem.fixed[later[0]], problem.fixed[later[1]])
    np.testing.assert_allclose(problem.common(weights)[0], expected, rtol=1e-12)
    coefficients = rng.normal(size=len(expected))
    found = problem.pairs.adjoint(coefficients)
    np.testing.assert_allclose(found, coefficients @ minima, atol=1e-10)


@st.composite
def constraints(draw):
    """Two levels of one to five weights."""
    sizes = draw(st.lists(st.integers(1, 5), min_size=2, max_size=2))
    radii = draw(st.lists(st.sampled_from([0.1, 1.0, 1.4, 2.0, 3.5]), min_size=2, max_size=2))
    fixed = draw(st.lists(st.integers(0, 1), unique=True))
    starts = np.concatenate([[0], np.cumsum(sizes)])
    kind = draw(st.sampled_from(["ball", "box"]))
    return WeightConstraint(starts, np.array(radii), kind, tuple(fixed))


def values_for(constraint: WeightConstraint):
    n = int(constraint.level_starts[-1])
    return st.lists(st.floats(-6, 6), min_size=n, max_size=n).map(np.array)


@given(st.data(), constraints())
def test_projection(data, constraint):
    z = data.draw(values_for(constraint))
    levels = np.repeat([0, 1], np.diff(constraint.level_starts))
    weights = {(level, column): w for column, (level, w) in enumerate(zip(levels, z, strict=True))}
    expected = plain.project(weights, constraint.radii.tolist(), constraint.kind, constraint.fixed)
    np.testing.assert_allclose(constraint.project(z), list(expected.values()), atol=1e-9)


@given(st.data(), constraints())
def test_least_product_is_a_bound_that_is_reached(data, constraint):
    slopes, z = (data.draw(values_for(constraint)) for _ in range(2))
    least = constraint.least_product(slopes)
    assert slopes @ (constraint.project(z) - 1.0) >= least - 1e-9
    if constraint.kind == "box" or (constraint.radii <= 1).all():
        farthest = constraint.project(1.0 - 1e9 * slopes)
        assert slopes @ (farthest - 1.0) == pytest.approx(least, abs=1e-6)


def test_fixed_levels_keep_their_weights_and_all_levels_may_be_fixed():
    batch, y = random_graphs(2, n_graphs=8), np.arange(8) % 2
    options = {"n_iter": 2, "solver": "accelerated", "constraint": "box", "radius": 1.0}
    some = WeightedWassersteinWL(fixed_levels=[0], **options).fit(batch, y)
    assert (some.weights_[0] == 1).all()
    assert any((weights != 1).any() for weights in some.weights_[1:])
    every = WeightedWassersteinWL(fixed_levels=np.arange(3), **options).fit(batch, y)
    assert all((weights == 1).all() for weights in every.weights_)
    assert len(every.loss_history_) == 1
    later = WeightedWassersteinWL(n_iter=2, include_initial=False, fixed_levels=(2,)).fit(batch, y)
    assert (later.weights_[1] == 1).all()
    assert (later.weights_[0] != 1).any()


def test_a_box_lets_more_weights_reach_their_limit_than_a_ball():
    batch, y = random_graphs(2, n_graphs=8), np.arange(8) % 2
    ball, box = (
        WeightedWassersteinWL(radius=1.0, solver="accelerated", constraint=kind).fit(batch, y)
        for kind in ("ball", "box")
    )
    assert box.loss_history_[-1] < ball.loss_history_[-1]
    for weights in box.weights_:
        assert (np.abs(weights - 1) <= 1).all()
    assert any(np.linalg.norm(weights - 1) > 1 for weights in box.weights_)


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
    # Carbon is in both classes, oxygen in one: carbon must not get the larger weight.
    weights = dict(zip(kernel.patterns_[0], kernel.weights_[0], strict=True))
    assert weights["C"] < weights["O"]
    with pytest.raises(ValueError, match="level must be one of"):
        kernel.top_patterns(3, level=9)


@pytest.mark.parametrize("fixed_levels", [(), (0,), (0, 1, 2)])
def test_bound_follows_the_definition(fixed_levels):
    batch, y = random_graphs(5, n_graphs=8), [0, 1] * 4
    constant = plain.Settings()
    kernel = WeightedWassersteinWL(
        learning_rate=1e-4, max_iter=50, random_state=0, fixed_levels=fixed_levels
    ).fit(batch, y)
    expected = plain.generalization_bound(batch, 0.5, 1e-4, 50, 0.05, constant, fixed_levels)
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
        ({}, [0, 1], "one class per graph"),
        ({}, [0.0, float("nan"), 1.0], r"missing, NaN or infinite .*positions 1"),
        ({}, ["a", "b", None], r"missing, NaN or infinite .*positions 2"),
        ({"radius": 0}, [0, 1, 0], "'radius' parameter"),
        ({"radius": [0.1, 0.2]}, [0, 1, 0], "one per level"),
        ({"constraint": "sphere"}, [0, 1, 0], "'constraint' parameter"),
        ({"fixed_levels": 0}, [0, 1, 0], "'fixed_levels' parameter"),
        ({"fixed_levels": (3,)}, [0, 1, 0], r"existing levels, \[0, 1, 2\] here; got 3"),
        ({"fixed_levels": (-1,)}, [0, 1, 0], "got -1"),
        ({"fixed_levels": (1.0,)}, [0, 1, 0], "got 1.0"),
        ({"fixed_levels": (0,), "include_initial": False}, [0, 1, 0], "got 0"),
        ({"radius": [0.1, -0.2, 0.3]}, [0, 1, 0], "above 0"),
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
