"""The compiled support vector machine against scikit-learn's, and against the definition."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.svm import SVC

from compiled_calls import from_python
from gramlet.engine.machines import support_vectors
from gramlet.engine.machines.support_vectors import (
    decide_by_cost,
    fill_block,
    rounded,
    scale_to_one,
)

solve_with = from_python(support_vectors.solve)
descend_with = from_python(support_vectors.descend)
move, best_partner = from_python(support_vectors._move), from_python(support_vectors._best_partner)
stretch = from_python(support_vectors._stretch)


def solve(gram, signs, bounds, beta, slack, tol, max_iter):
    """Solve with the matrix in single precision, whose factor the weights are divided by."""
    factor = scale_to_one(np.diagonal(gram))
    own = rounded(gram, factor)
    beta /= factor
    found = solve_with(own, signs, bounds / factor, beta, slack, tol, max_iter)
    beta *= factor
    return found


def descend(gram, signs, bounds, beta, slack, tol, max_steps):
    factor = scale_to_one(np.diagonal(gram))
    own = rounded(gram, factor)
    high = np.where(signs > 0, bounds, 0.0)
    beta /= factor
    found = descend_with(own, high / factor, (high - bounds) / factor, beta, slack, tol, max_steps)
    beta *= factor
    return found


def correct_by_cost(gram, classes, cross, truth, costs, tol, max_iter, weights=None):
    """Correct predictions for each C; the class with most votes wins, the first of equals."""
    n_classes = classes.max() + 1
    weights = np.ones(n_classes) if weights is None else weights
    decisions, unfinished = decide_by_cost(gram, classes, weights, cross, costs, tol, max_iter)
    votes = np.zeros((n_classes, len(costs), len(cross)))
    pairs = [(i, j) for i in range(n_classes) for j in range(i + 1, n_classes)]
    for (i, j), values in zip(pairs, decisions, strict=True):
        votes[i] += values > 0
        votes[j] += values <= 0
    return np.count_nonzero(votes.argmax(axis=0) == truth, axis=1), unfinished


COSTS = np.array([1e-3, 1e-2, 0.1, 1.0, 10.0, 100.0])


def random_problem(seed: int, n: int, n_classes: int, rank: int = 5):
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(n + 20, rank))
    classes = rng.integers(n_classes, size=n + 20)
    classes[:n_classes] = np.arange(n_classes)
    points[:, 0] += 0.8 * classes
    # Representable in single precision, in which machines read it.
    gram = (points @ points.T).astype(np.float32).astype(np.float64)
    return gram[:n, :n].copy(), classes[:n], gram[n:, :n].copy(), classes[n:]


@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("seed", range(4))
def test_counts_are_those_of_scikit_learn(seed, n_classes):
    gram, classes, cross, truth = random_problem(seed, 60, n_classes)
    found, unfinished = correct_by_cost(gram, classes, cross, truth, COSTS, 1e-8, 10**6)
    expected = [
        np.count_nonzero(
            SVC(kernel="precomputed", C=c, tol=1e-5).fit(gram, classes).predict(cross) == truth
        )
        for c in COSTS
    ]
    assert found.tolist() == expected
    assert unfinished == 0


@pytest.mark.parametrize("n_classes", [2, 3])
def test_weighted_classes_are_those_of_scikit_learn(n_classes):
    gram, classes, cross, truth = random_problem(7, 70, n_classes)
    weights = np.array([0.2, 3.0, 1.0])[:n_classes]
    found, _ = correct_by_cost(gram, classes, cross, truth, COSTS, 1e-8, 10**6, weights)
    expected = []
    for c in COSTS:
        machine = SVC(kernel="precomputed", C=c, tol=1e-5, class_weight=dict(enumerate(weights)))
        expected.append(np.count_nonzero(machine.fit(gram, classes).predict(cross) == truth))
    assert found.tolist() == expected
    plain, _ = correct_by_cost(gram, classes, cross, truth, COSTS, 1e-8, 10**6)
    assert plain.tolist() != expected


@given(st.integers(0, 10**6), st.integers(4, 40), st.integers(1, 8), st.sampled_from(COSTS))
def test_the_solution_satisfies_the_optimality_conditions(seed, n, rank, cost):
    gram, classes, _, _ = random_problem(seed, n, 2, rank)
    signs = np.where(classes == 0, 1.0, -1.0)
    beta, slack = np.zeros(n), signs.copy()
    bias, n_iter = solve(gram, signs, np.full(len(signs), cost), beta, slack, 1e-4, 10**6)
    assert n_iter < 10**6
    alpha = beta * signs
    assert alpha.min() >= 0
    assert alpha.max() <= cost
    assert abs(beta.sum()) <= 1e-8 * max(cost * n, 1)
    scale = max(np.abs(gram).max() * cost * n, 1)
    np.testing.assert_allclose(slack, signs - gram @ beta, atol=1e-9 * scale)
    margin = signs * (gram @ beta + bias)
    room = 2e-4 + 1e-9 * scale
    assert (margin[alpha == 0] >= 1 - room).all()
    assert (margin[alpha == cost] <= 1 + room).all()
    assert (np.abs(margin[(alpha > 0) & (alpha < cost)] - 1) <= room).all()


@pytest.mark.parametrize("cost", [10.0, 1000.0])
@pytest.mark.parametrize("seed", range(3))
def test_long_runs_set_weights_aside_and_end_at_the_same_optimum(seed, cost):
    gram, classes, _, _ = random_problem(seed, 400, 2, rank=4)
    signs = np.where(classes == 0, 1.0, -1.0)
    beta, slack = np.zeros(400), signs.copy()
    bias, n_iter = solve(gram, signs, np.full(len(signs), cost), beta, slack, 1e-4, 10**7)
    assert 4 * 400 < n_iter < 10**7
    np.testing.assert_allclose(slack, signs - gram @ beta, atol=1e-6)
    machine = SVC(kernel="precomputed", C=cost, tol=1e-4).fit(gram, classes)
    theirs = np.zeros(400)
    theirs[machine.support_] = -machine.dual_coef_[0]  # scikit-learn's positive class is the second

    def objective(b):
        return np.abs(b).sum() - b @ gram @ b / 2

    assert objective(beta) == pytest.approx(objective(theirs), rel=1e-5)
    np.testing.assert_allclose(gram @ beta + bias, -machine.decision_function(gram), atol=1e-2)


def test_weights_are_set_aside_in_such_runs():
    gram, classes, _, _ = random_problem(0, 400, 2, rank=4)
    signs = np.where(classes == 0, 1.0, -1.0)
    beta, slack = np.zeros(400), signs.copy()
    _, most, least = descend(gram, signs, np.full(400, 10.0), beta, slack, 1e-4, 4000)
    high = np.where(signs > 0, 10.0, 0.0)
    kept = from_python(support_vectors._active)(high, high - 10.0, beta, slack, most, least)
    assert 2 * len(kept) < 400
    free = np.flatnonzero((np.abs(beta) > 0) & (np.abs(beta) < 10.0))
    assert set(free) <= set(kept)


@pytest.mark.parametrize("steps", [1000, 2500])
def test_a_long_run_cut_short_leaves_a_true_slack(steps):
    gram, classes, _, _ = random_problem(0, 400, 2, rank=4)
    signs = np.where(classes == 0, 1.0, -1.0)
    beta, slack = np.zeros(400), signs.copy()
    assert solve(gram, signs, np.full(400, 10.0), beta, slack, 1e-9, steps)[1] == steps
    np.testing.assert_allclose(slack, signs - gram @ beta, atol=1e-6)


def test_a_start_from_a_smaller_cost_ends_where_a_fresh_start_ends():
    gram, classes, cross, truth = random_problem(1, 80, 2)
    together, _ = correct_by_cost(gram, classes, cross, truth, COSTS, 1e-8, 10**6)
    alone = [
        correct_by_cost(gram, classes, cross, truth, COSTS[k : k + 1], 1e-8, 10**6)[0][0]
        for k in range(len(COSTS))
    ]
    assert together.tolist() == alone


def test_running_out_of_steps_is_reported():
    gram, classes, cross, truth = random_problem(2, 60, 2)
    _, unfinished = correct_by_cost(gram, classes, cross, truth, COSTS[3:], 1e-8, 5)
    assert unfinished == len(COSTS[3:])


def test_an_indefinite_matrix_ends():
    rng = np.random.default_rng(0)
    gram = rng.normal(size=(50, 50))
    gram = gram + gram.T
    classes = rng.integers(2, size=50)
    counts, _ = correct_by_cost(gram, classes, gram, classes, COSTS, 1e-3, 10_000)
    assert ((counts >= 0) & (counts <= 50)).all()


def test_a_matrix_of_zeros_says_the_same_of_all():
    zeros = np.zeros((30, 30))
    classes = np.repeat([0, 1], [20, 10])
    counts, unfinished = correct_by_cost(zeros, classes, zeros, classes, COSTS, 1e-3, 10_000)
    assert set(counts.tolist()) <= {10, 20}
    assert unfinished == 0


@pytest.mark.parametrize("precision", [np.float64, np.float32])
def test_blocks_are_cut_as_numpy_cuts_them(precision):
    matrix = np.arange(35.0).reshape(5, 7)
    rows, columns = np.array([4, 0, 0]), np.array([6, 2])
    block = np.full((3, 4), np.nan, dtype=precision)
    fill_block(matrix, rows, columns, block)
    np.testing.assert_array_equal(block[:, :2], matrix[np.ix_(rows, columns)])
    assert (block[:, 2:] == 0.0).all()


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("size", [1e-320, 2.0**-100, 1.0, 3.0, 1e30, 1e200])
def test_decisions_do_not_depend_on_the_size_of_the_kernel(size, n_classes):
    gram, classes, cross, _ = random_problem(3, 90, n_classes)
    gram, cross = gram / 16.0, cross / 16.0
    weights = np.ones(n_classes)
    costs = np.array([0.1, 10.0])
    expected, _ = decide_by_cost(gram, classes, weights, cross, costs, 1e-6, 10**6)
    if size < 1e-300:  # such numbers have few digits: only that there is an answer
        costs, gram = np.array([0.1, 10.0]), np.ones_like(gram)
        found, _ = decide_by_cost(size * gram, classes, weights, size * cross, costs, 1e-6, 1000)
        assert np.isfinite(found).all()
        return
    found, _ = decide_by_cost(
        size * gram, classes, weights, size * cross, costs / size, 1e-6, 10**6
    )
    np.testing.assert_allclose(found, expected, atol=1e-3)


def test_held_out_values_beyond_single_precision_are_decided():
    gram, classes, cross, _ = random_problem(3, 90, 2)
    found, _ = decide_by_cost(gram, classes, np.ones(2), 1e60 * cross, COSTS, 1e-3, 10**6)
    assert np.isfinite(found).all()


def plain_steps(gram, signs, bounds, tol, max_steps):
    """Sequential minimal optimisation by its definition, with one loop per maximum."""
    n = len(signs)
    beta, slack = np.zeros(n), signs.copy()
    high = np.where(signs > 0, bounds, 0.0)
    low = high - bounds
    own = np.diag(gram)
    for step in range(max_steps):
        rising, falling = beta < high, beta > low
        i = int(np.where(rising, slack, -np.inf).argmax())
        gaps = np.maximum(slack[i] - np.where(falling, slack, np.inf), 0.0)
        curvatures = np.maximum(own[i] + own - 2.0 * gram[i], 1e-12)
        j = int((gaps * gaps / curvatures).argmax())
        if slack[i] - slack[falling].min() < tol:
            return beta, slack, step
        move = min(gaps[j] / curvatures[j], high[i] - beta[i], beta[j] - low[j])
        beta[i] = high[i] if move == high[i] - beta[i] else beta[i] + move
        beta[j] = low[j] if move == beta[j] - low[j] else beta[j] - move
        slack -= move * (gram[i] - gram[j])
    return beta, slack, max_steps


@pytest.mark.parametrize("n", [2, 5, 63, 64, 65, 128, 200])
def test_the_first_steps_are_those_of_the_definition(n):
    gram, classes, _, _ = random_problem(n, n, 2, rank=30)
    signs = np.where(classes == 0, 1.0, -1.0)
    bounds = np.full(n, 0.7)
    for steps in (1, 2, 5, 20):
        beta, slack = np.zeros(n), signs.copy()
        found = descend(gram, signs, bounds, beta, slack, 1e-4, steps)[0]
        expected, expected_slack, expected_steps = plain_steps(gram, signs, bounds, 1e-4, steps)
        assert found == expected_steps
        np.testing.assert_allclose(beta, expected, atol=1e-5)
        np.testing.assert_allclose(slack, expected_slack, atol=1e-4)


@pytest.mark.parametrize("size", [2.0**-100, 1.0, 3.0, 1e6, 2.0**200])
@pytest.mark.parametrize("tol", [1e-3, 1e-9])
def test_steps_end_at_the_tolerance_in_double_precision(size, tol):
    gram, classes, _, _ = random_problem(5, 150, 2, rank=30)
    # Sizes other than powers of two are rounded once more.
    gram = (size * gram).astype(np.float32).astype(np.float64) if 1 < size < 1e9 else size * gram
    bound = 0.7 / size
    signs = np.where(classes == 0, 1.0, -1.0)
    beta, slack = np.zeros(150), signs.copy()
    steps, most, least = descend(gram, signs, np.full(150, bound), beta, slack, tol, 10**6)
    assert 0 < steps < 10**6
    true = signs - gram @ beta
    np.testing.assert_allclose(slack, true, atol=1e-11)
    high = np.where(signs > 0, bound, 0.0)
    rising, falling = beta < high, beta > high - bound
    assert most == slack[rising].max()
    assert least == slack[falling].min()
    assert true[rising].max() - true[falling].min() < tol + 1e-10
    assert abs(beta.sum()) < 1e-10 * bound * 150


@pytest.mark.parametrize("where", [0, 40, 63, 64, 100, 130])
def test_the_first_of_equal_partners_is_taken(where):
    n, single = 192, np.float32
    tops, bottoms = np.empty(64, single), np.empty(64, single)
    places = np.empty(64, dtype=np.int32)
    slack = np.zeros(n, single)
    slack[where:] = 1.0
    zeros, ones = np.zeros(n, single), np.ones(n, single)
    assert move(zeros, zeros, single(0), zeros, slack, tops, places) == (where, 1.0)
    rest = tops, bottoms, places
    assert best_partner(zeros, ones, single(1), single(1), zeros, -slack, *rest) == (where, -1.0)
    blocked = np.full(n, np.inf, single)
    assert best_partner(zeros, ones, single(1), single(1), blocked, slack, *rest) == (-1, np.inf)


def decisions_of(gram, classes, cross, costs, weights=(1.0, 1.0), tol=1e-8):
    return decide_by_cost(
        gram, classes, np.array(weights, dtype=float), cross, np.array(costs), tol, 10**6
    )[0][0]


WIDE = [1e-12, 1e-6, 1e-3, 0.1, 1.0, 10.0, 1e4]


@pytest.mark.parametrize("weights", [(1.0, 1.0), (0.2, 3.0)])
@pytest.mark.parametrize("case", ["random", "duplicates", "one of a class", "two graphs"])
def test_decisions_for_a_wide_range_of_cost_are_those_of_scikit_learn(case, weights):
    n = 2 if case == "two graphs" else 70
    gram, classes, cross, _ = random_problem(11, n, 2, rank=n + 5)
    if case == "duplicates":  # also of graphs of the other class
        same = np.repeat(np.arange(0, n, 2), 2)
        gram, cross = gram[np.ix_(same, same)].copy(), cross[:, same].copy()
    if case == "one of a class":
        classes = (np.arange(n) == 3).astype(np.int64)
    found = decisions_of(gram, classes, cross, WIDE, weights)
    for values, cost in zip(found, WIDE, strict=True):
        machine = SVC(
            kernel="precomputed", C=cost, tol=1e-7, class_weight=dict(enumerate(weights))
        ).fit(gram, classes)
        free = np.abs(machine.dual_coef_[0]) < cost * np.array(weights)[classes[machine.support_]]
        theirs = -machine.decision_function(cross)
        if free.any():
            np.testing.assert_allclose(values, theirs, atol=1e-4 * max(1.0, np.abs(theirs).max()))
        else:  # the bias is then any value of an interval
            np.testing.assert_allclose(np.ptp(values - theirs), 0.0, atol=1e-5)


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_a_constant_kernel_decides_alike_for_all_graphs_and_ends(value):
    gram, cross = np.full((90, 90), value), np.full((4, 90), value)
    classes = np.repeat([0, 1], [60, 30])
    found = decisions_of(gram, classes, cross, WIDE, tol=1e-3)
    assert np.isfinite(found).all()
    assert (np.ptp(found, axis=1) == 0.0).all()


def test_a_stretched_solution_is_feasible_and_has_its_slack():
    gram, classes, _, _ = random_problem(3, 90, 2)
    signs = np.where(classes == 0, 1.0, -1.0)
    weights = np.where(classes == 0, 0.3, 1.7)
    bounds, larger = 0.003 * weights, 0.7 * weights
    beta, slack = np.zeros(90), signs.copy()
    solve(gram, signs, bounds, beta, slack, 1e-6, 10**6)
    assert np.count_nonzero(beta * signs >= bounds) > 45
    at_bound = beta * signs >= bounds
    stretch(signs, bounds, larger, 0.7 / 0.003, beta, slack)
    np.testing.assert_array_equal((beta * signs)[at_bound], larger[at_bound])
    assert (beta * signs >= 0).all()
    assert (beta * signs <= larger).all()
    assert abs(beta.sum()) < 1e-10
    np.testing.assert_allclose(slack, signs - gram @ beta, atol=1e-9)


def test_a_solution_inside_its_bounds_is_not_stretched():
    gram, classes, _, _ = random_problem(3, 40, 2, rank=60)
    signs = np.where(classes == 0, 1.0, -1.0)
    beta, slack = np.zeros(40), signs.copy()
    solve(gram, signs, np.full(40, 100.0), beta, slack, 1e-6, 10**6)
    before = beta.copy(), slack.copy()
    stretch(signs, np.full(40, 100.0), np.full(40, 1000.0), 10.0, beta, slack)
    np.testing.assert_array_equal(beta, before[0])
    np.testing.assert_array_equal(slack, before[1])
