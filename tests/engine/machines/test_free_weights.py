"""Simultaneous steps of the free weights of a support vector machine, against a dense solver."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from compiled_calls import from_python
from gramlet.engine.machines import free_weights

compiled = from_python(free_weights.move_free_weights)
into_bounds = from_python(free_weights._into_bounds)
subtract_rows = from_python(free_weights.subtract_rows)


def move_free_weights(gram, *others):
    compiled(gram.astype(np.float32), *others)


def problem(seed, n, rank, bound):
    """A point within its bounds, with some weights at the bounds, and its slack."""
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(n, rank))
    signs = np.where(np.arange(n) % 2, 1.0, -1.0)
    points[:, 0] += 0.5 * signs
    gram = (points @ points.T).astype(np.float32).astype(np.float64)
    high = np.where(signs > 0, bound, 0.0)
    low = high - bound
    beta = low + bound * rng.uniform(0.3, 0.7, size=n)
    beta[:4] = [high[0], low[1], low[2], high[3]]
    beta[4:] -= beta.sum() / (n - 4)
    assert (beta >= low).all()
    assert (beta <= high).all()
    return gram, signs, high, low, beta, signs - gram @ beta


def objective(gram, signs, beta):
    return signs @ beta - beta @ gram @ beta / 2


def test_without_a_bound_in_the_way_the_linear_system_is_solved():
    gram, _, high, low, beta, _ = problem(0, 40, 60, 10.0)
    free = (low < beta) & (beta < high)
    shift = np.where(free, np.random.default_rng(1).uniform(-2.0, 2.0, size=40), 0.0)
    shift[free] -= shift[free].mean()
    slack, expected = gram @ shift + 3.0, beta + shift
    assert (low[free] < expected[free]).all()
    assert (expected[free] < high[free]).all()
    move_free_weights(gram, high, low, beta, slack, 1e-4)
    assert np.ptp(slack[free]) < 1e-3
    np.testing.assert_allclose(beta, expected, atol=1e-4)


@given(
    st.integers(0, 10**6),
    st.integers(8, 60),
    st.integers(1, 80),
    st.sampled_from([1e-3, 1.0, 1e3, 1e6]),
)
def test_sum_and_bounds_hold_and_the_objective_does_not_fall(seed, n, rank, bound):
    gram, signs, high, low, beta, slack = problem(seed, n, rank, bound)
    before, start = beta.copy(), objective(gram, signs, beta)
    move_free_weights(gram, high, low, beta, slack, 1e-3)
    assert (beta >= low).all()
    assert (beta <= high).all()
    assert abs(beta.sum()) < 1e-12 * bound * n
    np.testing.assert_array_equal(beta[:4], before[:4])
    size = np.abs(gram).max() * bound * n
    np.testing.assert_allclose(slack, signs - gram @ beta, atol=1e-11 * max(size, 1.0))
    assert objective(gram, signs, beta) >= start - 1e-11 * max(size * bound * n, 1.0)


def test_low_rank_and_wide_bounds_gain_most_of_what_there_is():
    gram, signs, high, low, beta, slack = problem(1, 60, 5, 1000.0)
    start = objective(gram, signs, beta)
    move_free_weights(gram, high, low, beta, slack, 1e-3)
    first = objective(gram, signs, beta)
    for _ in range(50):
        move_free_weights(gram, high, low, beta, slack, 1e-3)
    assert first - start > 0.9 * (objective(gram, signs, beta) - start) > 0


@pytest.mark.parametrize("scale", [0.1, 1.0, 10.0, 1e6])
def test_the_nearest_point_within_bounds_keeps_the_sum_and_the_fixed(scale):
    rng = np.random.default_rng(0)
    point = rng.uniform(-0.9, 0.9, size=30)
    trial = point + scale * rng.normal(size=30)
    loose = np.ones(30, dtype=np.float32)
    loose[::5] = 0.0
    trial[loose > 0] -= (trial - point)[loose > 0].mean()  # a step keeps the sum
    top, bottom = np.ones(30), -np.ones(30)
    aimed = trial.copy()
    into_bounds(trial, point, top, bottom, loose)
    np.testing.assert_array_equal(trial[::5], point[::5])
    assert trial.sum() == pytest.approx(point.sum(), abs=1e-9)
    assert (np.abs(trial) <= 1).all()
    # The nearest point: the same shift for all entries that are not clipped.
    inside = (loose > 0) & (np.abs(trial) < 1)
    shifts = (aimed - trial)[inside]
    assert np.ptp(shifts) < 1e-8 * max(scale, 1.0)


@pytest.mark.parametrize("k", [0, 1, 3, 4, 9])
def test_rows_are_subtracted_as_numpy_does(k):
    rng = np.random.default_rng(k)
    gram, slack = rng.normal(size=(12, 12)), rng.normal(size=12)
    rows, shifts = rng.permutation(12)[:k], rng.normal(size=k)
    expected = slack - shifts @ gram[rows]
    subtract_rows(gram, rows, shifts, slack)
    np.testing.assert_allclose(slack, expected, atol=1e-13)
