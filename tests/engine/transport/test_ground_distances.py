"""Distances of points: both methods compared with plain loops, and cancellation."""

from __future__ import annotations

import math

import numpy as np
import pytest

from compiled_calls import from_python
from gramlet.engine.transport.ground_distances import fill_distances, places

fill_distances = from_python(fill_distances)


def plain_distances(left, right, left_labels, right_labels, penalty):
    """√(Σ_c (x_c − y_c)² + penalty if the labels differ), with exactly rounded sums."""
    return np.array(
        [
            [
                math.sqrt(
                    math.fsum((float(a) - float(b)) ** 2 for a, b in zip(x, y, strict=True))
                    + (penalty if label != other else 0.0)
                )
                for y, other in zip(right, right_labels, strict=True)
            ]
            for x, label in zip(left, left_labels, strict=True)
        ]
    ).reshape(len(left), len(right))


def distances(left, right, left_labels=None, right_labels=None, penalty=0.0, part=None):
    """`fill_distances` for points by rows; ``part`` is (first, last, begin, end)."""
    alike = [np.zeros(len(points), dtype=np.int64) for points in (left, right)]
    left_labels = alike[0] if left_labels is None else left_labels
    right_labels = alike[1] if right_labels is None else right_labels
    one, other = places(
        np.ascontiguousarray(left.T), left_labels, np.ascontiguousarray(right.T), right_labels
    )
    first, last, begin, end = part or (0, len(left), 0, len(right))
    n = last - first
    block = np.full(n * (end - begin) + 5, -1.0)
    fill_distances(first, last, one, begin, end, other, penalty, block)
    assert (block[n * (end - begin) :] == -1.0).all()
    return block[: n * (end - begin)].reshape(n, end - begin)


@pytest.mark.parametrize("n_dimensions", [1, 2, 3, 6, 15, 16, 17, 54])
@pytest.mark.parametrize("penalty", [0.0, 2.0])
def test_as_plain_loops(n_dimensions, penalty):
    rng = np.random.default_rng(n_dimensions)
    left, right = rng.normal(size=(7, n_dimensions)), rng.normal(size=(23, n_dimensions))
    labels = rng.integers(3, size=7), rng.integers(3, size=23)
    found = distances(left, right, *labels, penalty)
    np.testing.assert_allclose(
        found, plain_distances(left, right, *labels, penalty), rtol=1e-12, atol=0
    )


@pytest.mark.parametrize("n_dimensions", [4, 20])
def test_a_part_of_the_points(n_dimensions):
    rng = np.random.default_rng(1)
    left, right = rng.normal(size=(9, n_dimensions)), rng.normal(size=(12, n_dimensions))
    found = distances(left, right, part=(2, 5, 5, 11))
    whole = plain_distances(left, right, [0] * 9, [0] * 12, 0.0)
    np.testing.assert_allclose(found, whole[2:5, 5:11], rtol=1e-12)


@pytest.mark.parametrize("n_dimensions", [5, 16, 54])
@pytest.mark.parametrize("gap", [1e-2, 1e-5, 1e-8])
def test_near_points_far_from_the_centre_keep_their_digits(n_dimensions, gap):
    """Two clusters far apart: within one, norms are at least 1e6 times the distances."""
    rng = np.random.default_rng(2)
    corner = rng.choice([-1000.0, 1000.0], size=n_dimensions)
    near = corner + gap * rng.normal(size=(8, n_dimensions))
    points = np.vstack([near, -corner + rng.normal(size=(8, n_dimensions))])
    found = distances(points, points)
    alike = [0] * len(points)
    np.testing.assert_allclose(
        found, plain_distances(points, points, alike, alike, 0.0), rtol=1e-10, atol=0
    )


@pytest.mark.parametrize("n_dimensions", [2, 16, 54])
@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_equal_points_are_at_distance_zero(n_dimensions, scale):
    rng = np.random.default_rng(3)
    points = scale * rng.normal(size=(10, n_dimensions)) + 7 * scale
    found = distances(points, np.vstack([points, points[::-1]]))
    assert (np.diagonal(found[:, :10]) == 0.0).all()
    assert (np.diagonal(found[:, 10:][:, ::-1]) == 0.0).all()
    assert (found >= 0.0).all()
    assert np.count_nonzero(found) == 10 * 20 - 20


@pytest.mark.parametrize("n_dimensions", [3, 30])
def test_a_single_point(n_dimensions):
    point = np.arange(n_dimensions, dtype=np.float64)[None]
    assert distances(point, point).tolist() == [[0.0]]
    moved = point + np.eye(n_dimensions)[:1] * 3.0
    np.testing.assert_allclose(distances(point, moved), [[3.0]], rtol=1e-12)


def test_without_dimensions_only_labels_count():
    nowhere = np.zeros((2, 0)), np.zeros((3, 0))
    labels = np.array([0, 1]), np.array([1, 1, 0])
    assert (distances(*nowhere) == 0.0).all()
    assert distances(*nowhere, *labels, 4.0).tolist() == [[2.0, 2.0, 0.0], [0.0, 0.0, 2.0]]


def test_no_points_give_no_distances():
    some = np.ones((4, 20))
    assert distances(np.zeros((0, 20)), some).shape == (0, 4)
    assert distances(some, some, part=(0, 4, 2, 2)).shape == (4, 0)


@pytest.mark.parametrize("rank", [1, 7, 19])
def test_directions_in_which_no_points_differ_are_left_out(rank):
    """Points in a plane of 20 dimensions: constant directions have no term in the product."""
    rng = np.random.default_rng(rank)
    axes, offset = rng.normal(size=(rank, 20)), 5.0 * rng.normal(size=20)
    left, right = (rng.normal(size=(n, rank)) @ axes + offset for n in (11, 13))
    columns = [np.ascontiguousarray(points.T) for points in (left, right)]
    nothing = [np.zeros(n, dtype=np.int64) for n in (11, 13)]
    one, other = places(columns[0], nothing[0], columns[1], nothing[1])
    assert one.rows.shape == (11, rank)
    assert other.rows.shape == (13, rank)
    np.testing.assert_allclose(
        distances(left, right), plain_distances(left, right, *nothing, 0.0), rtol=1e-12, atol=1e-14
    )


def test_a_set_that_only_one_side_spans():
    """Directions in which only new points differ count, even if the fitted ones lie in a plane."""
    rng = np.random.default_rng(5)
    right = np.zeros((9, 18))
    right[:, :2] = rng.normal(size=(9, 2))
    left = rng.normal(size=(4, 18))
    found = distances(left, right)
    np.testing.assert_allclose(found, plain_distances(left, right, [0] * 4, [0] * 9, 0.0), 1e-12)


@pytest.mark.parametrize("place", [0.0, 0.1, -3e5])
def test_points_that_are_all_the_same(place):
    points = np.full((6, 17), place)
    assert (distances(points, points[:4]) == 0.0).all()


def test_small_coordinates_beside_huge_ones_count():
    """Near the centre of three distant clusters, differences are small relative to the whole."""
    rng = np.random.default_rng(6)
    points = rng.normal(size=(30, 18))
    points[:, 0] = np.repeat([-1e15, 0.0, 1e15], 10)
    found = distances(points, points)
    np.testing.assert_allclose(
        found, plain_distances(points, points, [0] * 30, [0] * 30, 0.0), 1e-12
    )
