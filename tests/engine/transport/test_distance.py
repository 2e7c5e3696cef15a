"""Exact transport against POT, on thousands of problems, most of them degenerate."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from gramlet import wasserstein
from gramlet.engine.transport.distance import emd
from gramlet.engine.transport.network_simplex import transport_workspace
from reference.kernels.wasserstein import transport_cost

ot = pytest.importorskip("ot", reason="needs POT, a test dependency")

COSTS = {
    "uniform": lambda rng, n, m: rng.random((n, m)),
    "ties": lambda rng, n, m: rng.integers(0, 3, (n, m)).astype(float),
    "equal points": lambda rng, n, m: _distances(
        rng.integers(0, 3, (n, 2)), rng.integers(0, 3, (m, 2))
    ),
    "points": lambda rng, n, m: _distances(rng.random((n, 4)), rng.random((m, 4))),
    "many scales": lambda rng, n, m: np.exp(3.0 * rng.normal(size=(n, m))),
    "tiny": lambda rng, n, m: 1e-200 * rng.random((n, m)),
    "all 0": lambda rng, n, m: np.zeros((n, m)),
}
MASSES = {
    "equal": lambda rng, n: np.ones(n),
    "some 0": lambda rng, n: rng.random(n) * (rng.random(n) < 0.6),
    "integers": lambda rng, n: rng.integers(0, 3, n).astype(float),
    "many scales": lambda rng, n: np.exp(5.0 * rng.normal(size=n)),
}


def _distances(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    return np.sqrt(((left[:, None, :] - right[None, :, :]) ** 2).sum(axis=2))


def _masses(rng: np.random.Generator, kind: str, n: int) -> np.ndarray:
    masses = MASSES[kind](rng, n)
    if masses.sum() == 0.0:
        masses[rng.integers(n)] = 1.0
    return masses / masses.sum()


def _pot(a: np.ndarray, b: np.ndarray, cost: np.ndarray) -> float:
    top = cost.max() or 1.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return float(ot.emd2(a, b, cost / top, numItermax=10**7)) * top


def _agree(value: float, expected: float, cost: np.ndarray) -> None:
    assert value == pytest.approx(expected, rel=1e-9, abs=1e-14 * cost.max())


@pytest.mark.parametrize("masses", MASSES)
@pytest.mark.parametrize("costs", COSTS)
def test_values_and_plans_are_those_of_pot(costs: str, masses: str) -> None:
    rng = np.random.default_rng([list(COSTS).index(costs), list(MASSES).index(masses)])
    for trial in range(150):
        n, m = rng.integers(1, 40, 2)
        n, m = (1, m) if trial % 15 == 0 else (n, 1) if trial % 15 == 1 else (n, m)
        a, b = _masses(rng, masses, n), _masses(rng, masses, m)
        cost = COSTS[costs](rng, n, m)
        value, plan = wasserstein(a, b, cost, return_plan=True)
        _agree(value, _pot(a, b, cost), cost)
        assert plan.min() >= 0.0
        assert np.allclose(plan.sum(axis=1), a, rtol=1e-12, atol=1e-15)
        assert np.allclose(plan.sum(axis=0), b, rtol=1e-12, atol=1e-15)
        assert (plan * cost).sum() == pytest.approx(value, rel=1e-12, abs=1e-14 * cost.max())
        assert np.count_nonzero(plan) <= n + m - 1


@pytest.mark.parametrize(
    "shape", [(300, 300), (65, 64), (64, 65), (129, 128), (3, 700), (700, 2), (90, 260)]
)
@pytest.mark.parametrize("costs", ["points", "equal points", "ties"])
def test_large_problems(shape: tuple[int, int], costs: str) -> None:
    rng = np.random.default_rng(shape)
    a, b = (_masses(rng, "some 0", n) for n in shape)
    cost = COSTS[costs](rng, *shape)
    _agree(wasserstein(a, b, cost), _pot(a, b, cost), cost)


def test_a_thousand_points_a_side() -> None:
    rng = np.random.default_rng(0)
    points = rng.random((1000, 3))
    order = rng.permutation(1000)
    cost = _distances(points, points[order])
    assert wasserstein(np.ones(1000), np.ones(1000), cost) == pytest.approx(0.0, abs=1e-12)
    weights = rng.random(1000)
    shifted = _distances(points, points[order] + [10.0, 0.0, 0.0])
    expected = _pot(weights / weights.sum(), np.full(1000, 1e-3), shifted)
    _agree(wasserstein(weights / weights.sum(), np.full(1000, 1e-3), shifted), expected, shifted)


def test_linear_programming_agrees() -> None:
    rng = np.random.default_rng(3)
    for _ in range(20):
        n, m = rng.integers(1, 9, 2)
        a, b = _masses(rng, "some 0", n), _masses(rng, "some 0", m)
        cost = rng.random((n, m))
        assert wasserstein(a, b, cost) == pytest.approx(transport_cost(a, b, cost), abs=1e-9)


def test_value_grows_with_the_total_mass() -> None:
    cost = [[1.0, 3.0], [2.0, 1.0]]
    assert wasserstein([3, 5], [4, 4], cost) == pytest.approx(
        8 * wasserstein([3 / 8, 5 / 8], [0.5, 0.5], cost)
    )
    assert wasserstein([0.0, 0.0], [0.0, 0.0], cost) == 0.0


def test_totals_may_differ_by_rounding() -> None:
    cost = [[0.0, 1.0], [1.0, 0.0]]
    assert wasserstein([0.5, 0.5], [0.5, 0.5 + 1e-12], cost) == pytest.approx(0.0, abs=1e-11)


def test_the_order_of_points_does_not_matter() -> None:
    rng = np.random.default_rng(7)
    a, b = _masses(rng, "equal", 12), _masses(rng, "some 0", 17)
    cost = COSTS["points"](rng, 12, 17)
    rows, columns = rng.permutation(12), rng.permutation(17)
    value = wasserstein(a, b, cost)
    assert wasserstein(a[rows], b[columns], cost[np.ix_(rows, columns)]) == pytest.approx(
        value, rel=1e-12
    )
    assert wasserstein(b, a, cost.T) == pytest.approx(value, rel=1e-12)


def test_a_workspace_serves_problems_of_any_shape_in_turn() -> None:
    rng = np.random.default_rng(5)
    workspace, no_plan = transport_workspace(40, 40), np.zeros((0, 0))
    for _ in range(60):
        n, m = rng.integers(1, 41, 2)
        a, b, cost = _masses(rng, "some 0", n), _masses(rng, "equal", m), COSTS["ties"](rng, n, m)
        _agree(emd(a, b, cost, no_plan, workspace), _pot(a, b, cost), cost)


@pytest.mark.parametrize(
    ("a", "b", "cost", "message"),
    [
        ([0.5, -0.5], [0.0], [[1], [1]], r"masses a .* 0 or more; entry 1 is -0\.5"),
        ([1.0], [np.nan, 1.0], [[1, 1]], r"masses b .* finite; entry 0 is nan"),
        ([1.0], [1.0], [[np.inf]], r"costs .* finite; entry \(0, 0\) is inf"),
        ([1.0], [1.0], [[-2.0]], r"costs .* 0 or more .* entry \(0, 0\) is -2"),
        ([1.0], [1.0], [[1.0, 2.0]], r"shape \(1, 1\); got shape \(1, 2\)"),
        ([1.0], [0.9], [[1.0]], r"same total; a adds up to 1\.0 and b to 0\.9"),
        ([], [], np.zeros((0, 0)), r"non-empty 1-d array; got shape \(0,\)"),
        ([[1.0]], [1.0], [[1.0]], r"non-empty 1-d array; got shape \(1, 1\)"),
    ],
)
def test_bad_input_is_named(a: object, b: object, cost: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        wasserstein(a, b, cost)
