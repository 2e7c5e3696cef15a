"""Distances between many sets of points, against single transport problems."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from gramlet.engine.transport.earth_mover import earth_mover_distances, mass_points
from reference.kernels.wasserstein import transport_cost


def _sets(rng, sizes, n_dimensions, flat):
    """Sets of these sizes; every third point is one of a few points that sets share."""
    n = int(np.sum(sizes))
    points = rng.normal(size=(n, n_dimensions))
    common = rng.normal(size=(4, n_dimensions))
    points[::3] = common[rng.integers(4, size=len(points[::3]))]
    points[:, :flat] = 2.5
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    return offsets, points, rng.integers(2, size=n), rng.integers(0, 4, size=n)


def _plainly(left, right, label_distance):
    def parts(sets):
        offsets, points, labels, weights = sets
        for begin, end in pairwise(offsets):
            own = weights[begin:end].astype(float)
            if own.sum() == 0.0:
                own = np.ones(end - begin)
            yield points[begin:end], labels[begin:end], own / max(own.sum(), 1.0)

    def distance(one, other):
        if not len(one[0]) or not len(other[0]):
            return 0.0 if len(one[0]) == len(other[0]) else np.inf
        squares = ((one[0][:, None] - other[0][None]) ** 2).sum(axis=2)
        cost = np.sqrt(squares + label_distance * (one[1][:, None] != other[1][None]))
        return transport_cost(one[2], other[2], cost)

    return np.array([[distance(one, other) for other in parts(right)] for one in parts(left)])


@pytest.mark.parametrize(("n_dimensions", "flat"), [(3, 0), (17, 0), (20, 9)])
@pytest.mark.parametrize("label_distance", [0.0, 2.0])
def test_every_pair(n_dimensions, flat, label_distance):
    """Sizes in any order, some sets empty, and more sets than fit into one block of distances."""
    rng = np.random.default_rng([n_dimensions, flat])
    sizes = rng.permutation([0, 1, 1, 2, 70, 3, 30, 5, 0, 12, 40, 8])
    sets = _sets(rng, sizes, n_dimensions, flat)
    found = earth_mover_distances(mass_points(*sets), None, label_distance)
    np.testing.assert_allclose(found, _plainly(sets, sets, label_distance), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("n_dimensions", [2, 18])
def test_sets_against_others(n_dimensions):
    rng = np.random.default_rng(n_dimensions)
    left = _sets(rng, [9, 0, 140, 4, 33], n_dimensions, 0)
    right = _sets(rng, [20, 150, 3, 0, 60, 130], n_dimensions, 0)
    found = earth_mover_distances(mass_points(*left), mass_points(*right), 1.0)
    np.testing.assert_allclose(found, _plainly(left, right, 1.0), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("n_dimensions", [4, 16])
def test_sets_far_from_the_others_keep_their_digits(n_dimensions):
    """The rounding of costs depends on the two sets, not on their position."""
    rng = np.random.default_rng(n_dimensions)
    sizes = [40, 41, 1, 37]  # enough points for many nearly optimal trees
    points = rng.integers(-64, 64, size=(sum(sizes), n_dimensions)) / 64.0
    far = points + 2.0**40  # exact
    offsets = np.concatenate([[0], np.cumsum([*sizes, *sizes])])
    alike = np.zeros(offsets[-1], dtype=np.int64)
    found = earth_mover_distances(
        mass_points(offsets, np.concatenate([points, far]), alike, alike), None, 0.0
    )
    near = (offsets[:5], points, alike[: len(points)], alike[: len(points)])
    expected = _plainly(near, near, 0.0)
    np.testing.assert_allclose(found[:4, :4], expected, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found[4:, 4:], found[:4, :4], rtol=1e-13)


def test_labels_that_all_agree_cost_no_digits():
    """Even if the weight of other labels is large."""
    rng = np.random.default_rng(0)
    offsets = np.array([0, 40, 81, 87])
    points, alike = rng.normal(size=(87, 3)), np.zeros(87, dtype=np.int64)
    labels = np.r_[np.full(81, 5), rng.integers(2, size=6)]
    plain = earth_mover_distances(mass_points(offsets, points, alike, alike), None, 0.0)
    found = earth_mover_distances(mass_points(offsets, points, labels, alike), None, 1e28)
    np.testing.assert_allclose(found[0, 1], plain[0, 1], rtol=1e-13)
    np.testing.assert_allclose(found[:2, 2], 1e14, rtol=1e-9)


@pytest.mark.parametrize("n_dimensions", [3, 18])
def test_points_that_coincide_are_at_distance_zero(n_dimensions):
    """Products of vectors lose all digits there; many sinks and very many sources, too."""
    rng = np.random.default_rng(1)
    points = 1e6 + rng.normal(size=(100, n_dimensions))
    both = np.concatenate(
        [points, points[rng.permutation(100)], np.repeat(points[:3], 300, axis=0)]
    )
    alike = np.zeros(len(both), dtype=np.int64)
    sets = mass_points(np.array([0, 100, 200, 1100]), both, alike, alike)
    found = earth_mover_distances(sets, None, 0.0)
    assert found[0, 1] == pytest.approx(0.0, abs=1e-12)
    cost = np.sqrt(((points[:, None] - points[None, :3]) ** 2).sum(axis=2))
    expected = transport_cost(np.full(100, 0.01), np.full(3, 1 / 3), cost)
    np.testing.assert_allclose(found[0, 2], expected, rtol=1e-9)
