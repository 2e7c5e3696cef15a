"""The plain definitions against worked values for C-O-C, C-O, C-C-O and a triangle of C."""

from __future__ import annotations

import math

import numpy as np
import pytest

from reference import spectral_embeddings
from reference.building import build, worked
from reference.kernels import (
    graph_hopper,
    hashing,
    histograms,
    marginalized,
    nested,
    nspdk,
    odd_sth,
    subgraph_matching,
    svm_theta,
)

K2, P3, K3 = [(0, 1)], [(0, 1), (1, 2)], [(0, 1), (1, 2), (0, 2)]
CODES = {"codes": {"C": 1, "O": 2}, "n_bits": 3}


def mirrored(upper) -> np.ndarray:
    """The symmetric matrix of its rows from the diagonal on."""
    n = len(upper)
    matrix = np.zeros((n, n))
    for i, row in enumerate(upper):
        matrix[i, i:] = matrix[i:, i] = row
    return matrix


WHOLE = {
    "graph hopper": (
        lambda g: graph_hopper.graph_hopper(g),
        [[33, 11, 25, 30], [11, 6, 11, 15], [25, 11, 33, 42], [30, 15, 42, 81]],
    ),
    "nspdk, plain": (
        lambda g: nspdk.nspdk(g, radius=0, distance=1, normalize_levels=False),
        [[9, 5, 7, 6], [5, 3, 4, 3], [7, 4, 7, 9], [6, 3, 9, 18]],
    ),
    "odd-sth, height 1": (
        lambda g: odd_sth.odd_sth(g, height=1),
        [[13, 6, 8, 12], [6, 4, 5, 6], [8, 5, 13, 18], [12, 6, 18, 45]],
    ),
    "odd-sth, height 2": (
        lambda g: odd_sth.odd_sth(g, height=2),
        [[25, 6, 8, 24], [6, 4, 5, 6], [8, 5, 13, 12], [24, 6, 12, 45]],
    ),
    "subgraph matching, size 2": (
        lambda g: subgraph_matching.subgraph_matching(g, size=2),
        [[9, 5, 7, 6], [5, 3, 4, 3], [7, 4, 8, 12], [6, 3, 12, 27]],
    ),
    "subgraph matching, size 3": (
        lambda g: subgraph_matching.subgraph_matching(g, size=3),
        [[11, 5, 7, 6], [5, 3, 4, 3], [7, 4, 9, 12], [6, 3, 12, 33]],
    ),
    "hadamard, 1 round": (
        lambda g: hashing.hadamard_code(g, n_iter=1),
        [[10, 7, 8, 6], [7, 6, 5, 3], [8, 5, 8, 6], [6, 3, 6, 18]],
    ),
    "hadamard, 2 rounds": (
        lambda g: hashing.hadamard_code(g, n_iter=2),
        [[15, 7, 10, 6], [7, 10, 5, 3], [10, 5, 11, 6], [6, 3, 6, 27]],
    ),
    "neighbourhood hash, simple": (
        lambda g: hashing.neighborhood_hash(g, n_iter=1, **CODES),
        [[1, 0.25, 0, 0], [0.25, 1, 0.25, 0], [0, 0.25, 1, 0], [0, 0, 0, 1]],
    ),
    "cores, vertex histogram": (
        lambda g: nested.core_kernel(g, base=nested.as_matrix(histograms.vertex_histogram)),
        [[10, 6, 10, 12], [6, 4, 6, 6], [10, 6, 10, 12], [12, 6, 12, 27]],
    ),
}


@pytest.mark.parametrize("name", WHOLE)
def test_worked_matrix(name):
    kernel, expected = WHOLE[name]
    np.testing.assert_array_equal(kernel(worked()), expected)


def test_graph_hopper_on_a_path_of_equal_nodes():
    path = build(3, P3, weights=[2.0, 1.0])
    assert graph_hopper.graph_hopper([path])[0, 0] == 53
    assert graph_hopper.graph_hopper([path], weighted=True)[0, 0] == 53


def test_nspdk_with_levels_normalised():
    expected = mirrored(
        [[4, 2.581139, 1.707107, 0.894427], [4, 2.064038, 0.707107], [4, 1.601534], [4]]
    )
    actual = nspdk.nspdk(worked(), radius=1, distance=1)
    np.testing.assert_allclose(actual, expected, atol=6e-7)


def test_odd_sth_with_decay():
    matrix = odd_sth.odd_sth(worked(), height=1, decay=0.5)
    assert matrix[0, 0] == 5.125
    assert matrix[0, 1] == 2.5
    assert matrix[3, 3] == 19.125


def test_subgraph_matching_of_subsets_that_are_not_connected():
    matrix = subgraph_matching.subgraph_matching(worked(), size=2, connected=False)
    assert matrix[0, 0] == 11
    assert matrix[2, 2] == 9


def test_neighbourhood_hash_of_two_rounds_and_with_counts():
    simple = hashing.neighborhood_hash(worked(), n_iter=2, **CODES)
    A, B, D, T = range(4)
    np.testing.assert_allclose(
        [simple[A, B], simple[A, D], simple[A, T], simple[D, T]], [0.125, 0.1, 0.25, 0.1]
    )
    count = hashing.neighborhood_hash(worked(), n_iter=1, kind="count", **CODES)
    np.testing.assert_allclose([count[A, B], count[A, D], count[B, D]], [2 / 3, 1 / 2, 2 / 3])


@pytest.mark.parametrize(
    ("n", "edges", "expected"),
    [
        (2, K2, 1),
        (3, P3, 2),
        (3, K3, 1),
        (4, [(0, 1), (1, 2), (2, 3), (3, 0)], 2),
        (5, [(i, (i + 1) % 5) for i in range(5)], math.sqrt(5)),
        (4, [(0, 1), (1, 2), (2, 3)], math.sqrt(5)),
        (4, [(0, 1), (0, 2), (0, 3)], 3),
        (3, [], 3),
    ],
)
def test_svm_theta_omega(n, edges, expected):
    assert svm_theta.omega(build(n, edges)) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    ("floor", "upper"),
    [
        (
            0.0,
            [
                [0.185185, 0.166667, 0.155914, 0.166667],
                [0.166667, 0.143817, 0.125],
                [0.167435, 0.204301],
                [0.333333],
            ],
        ),
        (
            0.5,
            [
                [0.248677, 0.238095, 0.23675, 0.247312],
                [0.238095, 0.231213, 0.225806],
                [0.246462, 0.26776],
                [0.333333],
            ],
        ),
    ],
)
def test_marginalized(floor, upper):
    actual = marginalized.marginalized(worked(), stop=0.5, edge_kernel="one", node_floor=floor)
    np.testing.assert_allclose(actual, mirrored(upper), atol=6e-7)


def test_netlsd_of_complete_graphs():
    rows = spectral_embeddings.netlsd([build(2, K2), build(3, K3)], times=[1.0])
    np.testing.assert_allclose(rows[:, 0], [1 + math.exp(-2), 1 + 2 * math.exp(-1.5)], rtol=1e-14)
