"""Transport from many sources to few sinks: as exact as the simplex method on the whole problem."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from gramlet.engine.transport.distance import wasserstein
from gramlet.engine.transport.earth_mover import earth_mover_distances, mass_points
from gramlet.engine.transport.few_sinks import MANY_SOURCES


def clouds(rng, sizes, n_dims, n_labels=1, ties=False):
    """Sets of points with labels and integer weights; on a coarse grid if there are to be ties."""
    total = int(np.sum(sizes))
    points = rng.random((total, n_dims))
    points = np.round(points * 3) / 3 if ties else points
    labels = rng.integers(n_labels, size=total)
    weights = rng.integers(1, 9, size=total)
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    return offsets, points, labels, weights


def plain(left, right, label_distance):
    """Each pair separately, with an explicit matrix of costs."""
    out = np.empty((len(left[0]) - 1, len(right[0]) - 1))
    for i in range(out.shape[0]):
        a = slice(left[0][i], left[0][i + 1])
        for j in range(out.shape[1]):
            b = slice(right[0][j], right[0][j + 1])
            unlike = left[2][a][:, None] != right[2][b][None, :]
            cost = np.sqrt(cdist(left[1][a], right[1][b]) ** 2 + label_distance * unlike)
            masses = left[3][a] / left[3][a].sum(), right[3][b] / right[3][b].sum()
            out[i, j] = wasserstein(*masses, cost)
    return out


@pytest.mark.parametrize("ties", [False, True], ids=["scattered", "on a grid"])
@pytest.mark.parametrize("n_labels", [1, 3])
def test_many_sources_and_few_sinks(ties, n_labels):
    rng = np.random.default_rng(n_labels)
    many = [MANY_SOURCES - 1, MANY_SOURCES, 333, 700, 1500]
    left = clouds(rng, many, 3, n_labels, ties)
    right = clouds(rng, [1, 2, 3, 8, 15, 40, 120], 3, n_labels, ties)
    expected = plain(left, right, 0.5)
    found = earth_mover_distances(mass_points(*left), mass_points(*right), 0.5)
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-12)
    turned = earth_mover_distances(mass_points(*right), mass_points(*left), 0.5)
    np.testing.assert_allclose(turned, expected.T, rtol=1e-10, atol=1e-12)


def test_sources_in_an_order_that_misleads_the_sample():
    """Points at regular intervals coincide, so the prices of the sample do not suit the others."""
    rng = np.random.default_rng(0)
    left = clouds(rng, [960], 2)
    left[1][:: 960 // (960 // 4)] = 0.0
    right = clouds(rng, [9], 2)
    found = earth_mover_distances(mass_points(*left), mass_points(*right), 0.0)
    np.testing.assert_allclose(found, plain(left, right, 0.0), rtol=1e-10)


def test_points_that_all_coincide():
    left, right = (
        clouds(np.random.default_rng(0), [MANY_SOURCES + 40], 2),
        clouds(np.random.default_rng(1), [5], 2),
    )
    left[1][:] = 0.25
    right[1][:] = 0.25
    assert earth_mover_distances(mass_points(*left), mass_points(*right), 0.0)[0, 0] == 0.0
    right[1][:] = 0.75
    found = earth_mover_distances(mass_points(*left), mass_points(*right), 0.0)
    assert found[0, 0] == pytest.approx(0.5 * np.sqrt(2), rel=1e-12)


def test_threads_do_not_matter():
    rng = np.random.default_rng(0)
    left, right = (
        mass_points(*clouds(rng, [MANY_SOURCES + 20] * 6, 2)),
        mass_points(*clouds(rng, [7] * 4, 2)),
    )
    one = earth_mover_distances(left, right, 0.0, n_jobs=1)
    assert np.array_equal(one, earth_mover_distances(left, right, 0.0, n_jobs=2))
