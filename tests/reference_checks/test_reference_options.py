"""Options of kernels: boxes, fixed levels, masses, random labels, Laplacian scales."""

from __future__ import annotations

import math

import numpy as np
import pytest

from reference import rge
from reference.building import build, worked
from reference.kernels import laplacian, weighted_wwl
from reference.kernels.weighted_wwl import Settings

# Weighted Wasserstein-WL


def test_box_clips_every_weight_on_its_own():
    moved = {(0, "a"): 3.0, (0, "b"): 0.9, (1, "c"): -2.0}
    box = weighted_wwl.project(moved, 0.5, "box")
    assert box == {(0, "a"): 1.5, (0, "b"): 0.9, (1, "c"): 0.5}
    wide = weighted_wwl.project(moved, [0.5, 1.5], "box")
    assert wide == {(0, "a"): 1.5, (0, "b"): 0.9, (1, "c"): 0.0}
    fixed = weighted_wwl.project(moved, 0.5, "box", fixed=[0])
    assert fixed == {(0, "a"): 1.0, (0, "b"): 1.0, (1, "c"): 0.5}


def test_fixed_levels_are_numbers_of_rounds():
    assert weighted_wwl.fixed_places([0, 2], Settings(n_iter=2)) == [0, 2]
    assert weighted_wwl.fixed_places([1, 2], Settings(n_iter=2, include_initial=False)) == [0, 1]
    for settings in (Settings(n_iter=2, include_initial=False), Settings(n_iter=2)):
        with pytest.raises(ValueError, match="no level 3"):
            weighted_wwl.fixed_places([3], settings)
    with pytest.raises(ValueError, match="no level 0"):
        weighted_wwl.fixed_places([0], Settings(n_iter=2, include_initial=False))


def test_weights_of_fixed_levels_stay_one():
    graphs, y, settings = worked(), [0, 0, 1, 1], Settings(n_iter=1)
    for constraint in ("ball", "box"):
        weights, history = weighted_wwl.projected_gradient(
            graphs, y, 0.5, 0.5, 5, settings, constraint, fixed_levels=[0]
        )
        assert {w for (level, _), w in weights.items() if level == 0} == {1.0}
        assert any(w != 1.0 for (level, _), w in weights.items() if level == 1)
        assert history[-1] < history[0]
        free, history = weighted_wwl.projected_gradient(
            graphs, y, 0.5, 0.5, 2, settings, constraint, fixed_levels=[0, 1]
        )
        assert set(free.values()) == {1.0}
        assert history[0] == history[-1]


def test_bound_counts_free_levels():
    graphs, settings = worked(), Settings(n_iter=1)
    # The triangle with itself: one pattern of mass 1 per level, half of it in Z.
    assert weighted_wwl.largest_vector(graphs, settings) == pytest.approx(math.sqrt(0.5))
    assert weighted_wwl.largest_vector(graphs, settings, [0]) == pytest.approx(0.5)
    assert weighted_wwl.largest_vector(graphs, settings, [0, 1]) == 0


# Node masses and labels of anchors


def test_masses():
    star = build(4, [(0, 1), (0, 2), (0, 3)])
    np.testing.assert_allclose(rge.node_masses(star), [1 / 2, 1 / 6, 1 / 6, 1 / 6])
    np.testing.assert_allclose(rge.node_masses(star, "uniform"), [1 / 4] * 4)
    np.testing.assert_allclose(rge.node_masses(build(2)), [1 / 2] * 2)
    path, edge = build(3, [(0, 1), (1, 2)], "COC"), build(2, [(0, 1)], "CO")
    # With n_dims=0 only labels cost: the mass of O is ½ and ½, or ⅓ and ½.
    options = {"n_dims": 0, "use_labels": True}
    assert rge.earth_movers_distance(path, edge, **options) == pytest.approx(0, abs=1e-12)
    uniform = rge.earth_movers_distance(path, edge, masses="uniform", **options)
    assert uniform == pytest.approx(math.sqrt(2) / 6)
    anchors = [(np.array([[0.0, 1.0]]), np.array([1.0]))]  # one node O
    rows = rge.rge_features([path], anchors, 0, 1.0, ["C", "O"], masses="uniform")
    assert rows[0, 0] == pytest.approx(math.exp(-math.sqrt(2) * 2 / 3))


def test_label_draw():
    graphs = worked()
    assert rge.label_probabilities(graphs) == {"C": 8 / 11, "O": 3 / 11}
    assert rge.label_probabilities(graphs, "uniform") == {"C": 0.5, "O": 0.5}


# Multiscale Laplacian


def test_ball_radius():
    assert [laplacian.ball_radius(level, 1, 2) for level in (1, 2, 3)] == [1, 2, 4]
    assert [laplacian.ball_radius(level, 1.5, "add") for level in (1, 2, 3)] == [1, 3, 4]


def test_pseudo_inverse_of_the_laplacian():
    np.testing.assert_allclose(
        laplacian.laplacian_pseudo_inverse(build(2, [(0, 1)])), [[0.25, -0.25], [-0.25, 0.25]]
    )
    assert not laplacian.laplacian_pseudo_inverse(build(3)).any()
    # A weight below 1e-4 of the other is dropped: eigenvalues 2 and 2e-5.
    two = build(4, [(0, 1), (2, 3)], weights=[1.0, 1e-5])
    kept = laplacian.laplacian_pseudo_inverse(two)
    assert kept[2:, 2:] == pytest.approx(np.zeros((2, 2)), abs=1e-12)
    np.testing.assert_allclose(kept[:2, :2], [[0.25, -0.25], [-0.25, 0.25]])


def test_top_pseudo_inverse_by_hand():
    # No levels: S = Uᵀ L⁺ U + γI with one-hot labels; without edges S = γI.
    edge, apart = build(2, [(0, 1)], "CO"), build(2, [], "CO")
    gamma = 0.1
    matrix = laplacian.multiscale_laplacian_gram(
        [edge, apart], n_levels=0, gamma=gamma, top="pseudo-inverse"
    )
    S1 = np.array([[0.25 + gamma, -0.25], [-0.25, 0.25 + gamma]])
    expected = laplacian.bhattacharyya(S1, gamma * np.eye(2))
    np.testing.assert_allclose(matrix, [[1, expected], [expected, 1]])


def test_discount_by_hand():
    # One level on C-O, balls are the whole edge; seen from C the vector of O is halved.
    edge, eta, gamma = build(2, [(0, 1)], "CO"), 0.1, 0.01
    inverse = np.linalg.inv(np.array([[1 + eta, -1], [-1, 1 + eta]]))
    from_c, from_o = np.diag([1, 0.5]), np.diag([0.5, 1])
    S_c, S_o = (U @ inverse @ U.T + gamma * np.eye(2) for U in (from_c, from_o))
    k = laplacian.bhattacharyya(S_c, S_o)
    pieces = [(edge, [0, 1], [1.0, 0.5]), (edge, [0, 1], [0.5, 1.0])]
    np.testing.assert_allclose(
        laplacian.lifted_gram(pieces, np.eye(2), eta, gamma), [[1, k], [k, 1]]
    )
    other = build(2, [], "CC")
    plain, discounted = (
        laplacian.multiscale_laplacian_gram([edge, other], n_levels=1, discount=discount)
        for discount in (False, True)
    )
    np.testing.assert_allclose(np.diag(discounted), 1)
    assert abs(plain[0, 1] - discounted[0, 1]) > 1e-3


def test_growth_add_is_a_choice_of_radii():
    graphs = [build(5, [(i, i + 1) for i in range(4)], "CCOCO"), worked()[0]]
    added = laplacian.multiscale_laplacian_gram(graphs, n_levels=2, growth="add")
    doubled = laplacian.multiscale_laplacian_gram(graphs, n_levels=2, growth=2)
    np.testing.assert_allclose(added, doubled)  # radii 1 and 2 both ways
    far = laplacian.multiscale_laplacian_gram(graphs, n_levels=2, growth=1)
    assert np.abs(added - far).max() > 1e-6


def test_distinct_matrices():
    S = np.array([[1.0, 0.5], [0.5, 2.0]])
    near, far = S + 1e-9, S + 1e-8
    assert laplacian.distinct([S, near, far, S, np.zeros((2, 2))]) == [0, 2, 4]
