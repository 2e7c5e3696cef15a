"""Kernel ridge regression from a tridiagonal form, against its definition and the spectrum."""

from __future__ import annotations

import numpy as np
import pytest

from gramlet.engine.machines.kernel_ridge import centre, centre_rows, decompose
from gramlet.engine.machines.tridiagonal_ridge import (
    factorise,
    inverse_diagonal,
    reduce,
    solve_factorised,
    without_constant,
)
from reference.evaluation import leave_one_out, penalties, points, ridge

COSTS = np.array([1e-3, 0.1, 1.0, 10.0, 1e3])


@pytest.mark.parametrize(("n", "n_dims"), [(4, 2), (5, 8), (30, 4), (12, 40), (67, 80), (131, 9)])
def test_leave_one_out_is_what_leaving_each_graph_out_gives(n, n_dims):
    _, gram, numbers = points(n, n_dims)
    targets = np.column_stack([numbers, numbers**2])
    form = reduce(gram)
    np.testing.assert_allclose(form.penalties(COSTS), penalties(gram, COSTS))
    found, duals = form.leave_one_out(targets, form.penalties(COSTS))
    expected = [leave_one_out(gram, targets, penalty) for penalty in penalties(gram, COSTS)]
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(duals, form.coefficients(targets, form.penalties(COSTS)), atol=1e-9)


def test_predictions_are_those_of_the_definition_and_of_the_spectrum():
    _, gram, numbers = points(90, 30)
    train, held, targets = gram[:70, :70], gram[70:, :70], numbers[:70, None]
    form = reduce(train)
    found = centre_rows(train, held) @ form.coefficients(targets, form.penalties(COSTS))
    centred, rows = centre(train, held)
    spectrum = decompose(centred, np.abs(train).max())
    np.testing.assert_allclose(
        found, rows @ spectrum.coefficients(targets, form.penalties(COSTS)), atol=1e-8
    )
    for p, penalty in enumerate(form.penalties(COSTS)):
        expected = ridge(train, held, targets, penalty)
        np.testing.assert_allclose(found[p] + targets.mean(), expected, rtol=1e-7, atol=1e-8)


def test_small_penalties_keep_their_digits():
    """Solving by the spectrum subtracts a constant from the diagonal and may lose digits."""
    _, gram, numbers = points(60, 100)
    penalty = penalties(gram, [1e6])
    found, _ = reduce(gram).leave_one_out(numbers[:, None], penalty)
    expected = leave_one_out(gram, numbers[:, None], penalty[0])
    np.testing.assert_allclose(found[0], expected, rtol=1e-7)


def test_graphs_that_are_there_twice_are_no_trouble():
    _, gram, numbers = points(40, 60)
    twice = np.tile(np.arange(40), 2)
    gram, targets = gram[np.ix_(twice, twice)], np.r_[numbers, numbers + 1.0][:, None]
    form = reduce(gram)
    assert form.is_safe(form.penalties(COSTS))
    found, _ = form.leave_one_out(targets, form.penalties(COSTS))
    expected = [leave_one_out(gram, targets, penalty) for penalty in penalties(gram, COSTS)]
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-7)


def test_the_pieces_are_what_they_say():
    _, gram, _ = points(9, 20)
    n = len(gram)
    axis = np.full(n, n**-0.5)
    axis[0] -= 1.0
    mirror = np.eye(n) - 2.0 * np.outer(axis, axis) / (axis @ axis)
    np.testing.assert_allclose(without_constant(gram), (mirror @ gram @ mirror)[1:, 1:], atol=1e-9)
    form = reduce(gram)
    dense = np.diag(form.diagonal) + np.diag(form.beside, 1) + np.diag(form.beside, -1)
    some = np.array([0.5, 7.0])
    pivots, lower = factorise(form.diagonal, form.beside, some)
    columns = np.arange(2.0 * (n - 1)).reshape(n - 1, 2)
    solved = solve_factorised(pivots, lower, columns).reshape(n - 1, 2, 2)
    basis = np.linalg.qr(np.random.default_rng(0).normal(size=(n - 2, n - 2)))[0]
    whole = np.zeros((n, n - 1))
    whole[1, 0], whole[2:, 1:] = 1.0, basis
    whole = mirror @ whole
    diagonals = inverse_diagonal(np.asfortranarray(basis), pivots, lower)
    for p, penalty in enumerate(some):
        inverse = np.linalg.inv(dense + penalty * np.eye(n - 1))
        np.testing.assert_allclose(solved[:, p], inverse @ columns, atol=1e-9)
        np.testing.assert_allclose(diagonals[p], np.diag(whole @ inverse @ whole.T), atol=1e-12)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_few_graphs_have_no_such_form(n):
    assert reduce(np.eye(n)) is None


def test_graphs_that_are_all_alike_have_no_such_form():
    assert reduce(np.full((10, 10), 3.7)) is None


def test_a_matrix_with_negative_eigenvalues_of_its_own_has_no_such_form():
    rng = np.random.default_rng(0)
    basis = np.linalg.qr(rng.normal(size=(20, 20)))[0]
    values = np.r_[np.linspace(1, 5, 18), -0.2, -0.1]  # centring may remove one of them
    assert reduce((basis * values) @ basis.T) is None
    values[-2:] = 0.0
    assert reduce((basis * values) @ basis.T) is not None


def test_a_penalty_below_rounding_is_not_safe():
    _, gram, _ = points(50, 2)
    form = reduce(gram)
    assert form.is_safe(np.array([1.0, 1e-3]))
    assert not form.is_safe(np.array([1.0, -1e-3]))
