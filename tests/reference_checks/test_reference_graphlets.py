"""Plain definitions of graphlet spectra, samplers and mean kernels against values by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from gramlet import GraphBatch
from reference.examples import bare
from reference.kernels import graphlets
from reference.plain import gram, relabelled

STAR = GraphBatch.from_edges([[(0, 1), (0, 2), (0, 3)]])
PATH, TRIANGLE, EDGELESS, EMPTY = bare()


def test_bits_are_pairs_in_order():
    # Bits of (0,1), (0,2), (0,3), (1,2), (1,3), (2,3).
    matrix = np.zeros((4, 4))
    matrix[0, 3] = matrix[3, 0] = 1
    assert graphlets.pattern_of(matrix) == 0b000100
    matrix[1, 2] = matrix[2, 1] = 1
    assert graphlets.pattern_of(matrix) == 0b001100
    for pattern in range(64):
        assert graphlets.pattern_of(graphlets.adjacency_of(pattern, 4)) == pattern


def test_numbers_of_classes():
    assert [len(graphlets.classes(k)) for k in (3, 4, 5, 6)] == [4, 11, 34, 156]
    assert [graphlets.n_classes(k) for k in (1, 2, 3, 4, 5, 6, 7)] == [1, 2, 4, 11, 34, 156, 1044]
    # Connected ones: 2, 6, 21.
    for k, expected in ((3, 2), (4, 6), (5, 21)):
        assert sum(graphlets.is_connected(p, k) for p in graphlets.classes(k)) == expected


def test_canonical_pattern_is_the_smallest_of_its_class():
    for k in (3, 4):
        smallest = set(graphlets.classes(k))
        assert {graphlets.canonical(p, k) for p in range(2 ** math.comb(k, 2))} == smallest


def test_spectra_by_hand():
    # Patterns on 3 nodes: 0 none, 1 one edge, 3 two edges (0b011), 7 the triangle.
    assert graphlets.spectrum(PATH, 3) == {3: 1.0}
    assert graphlets.spectrum(TRIANGLE, 3) == {7: 1.0}
    # The star with three leaves: three times two edges, once the leaves only.
    assert graphlets.spectrum(STAR, 3) == {3: 0.75, 0: 0.25}
    assert graphlets.spectrum(STAR, 3, connected_only=True) == {3: 1.0}
    # Too few nodes: isolated nodes are added.
    edge = GraphBatch.from_edges([[(0, 1)]])
    assert graphlets.spectrum(edge, 3) == {1: 1.0}
    assert graphlets.spectrum(EMPTY, 3) == {0: 1.0}
    assert graphlets.spectrum(EDGELESS, 3, connected_only=True) == {}


def test_graphlet_kernel_by_hand():
    batch = GraphBatch.concatenate([PATH, TRIANGLE, STAR, EMPTY])
    expected = [[1, 0, 0.75, 0], [0, 1, 0, 0], [0.75, 0, 0.625, 0.25], [0, 0, 0.25, 1]]
    np.testing.assert_allclose(gram(graphlets.graphlet_kernel, batch, k=3), expected)
    expected = [[1, 0, 1, 0], [0, 1, 0, 0], [1, 0, 1, 0], [0, 0, 0, 0]]
    np.testing.assert_allclose(
        gram(graphlets.graphlet_kernel, batch, k=3, connected_only=True), expected
    )


def test_estimate_counts_samples():
    assert graphlets.estimate(STAR, [(0, 1, 2), (3, 0, 1), (3, 2, 1), (1, 2, 0)], 3) == {
        3: 0.75,
        0: 0.25,
    }


# Samplers


def test_walk_on_the_path_by_hand():
    # From an end, the next node is the centre, then the other end. From the centre, each end
    # comes first with probability ½.
    law = graphlets.walk_law(PATH, 3, flyback=0.3)
    assert law == pytest.approx(
        {(0, 1, 2): 1 / 3, (2, 1, 0): 1 / 3, (1, 0, 2): 1 / 6, (1, 2, 0): 1 / 6}
    )


def test_flyback_draws_the_walk_to_its_start():
    # Path 0-1-2-3, started at 1, two nodes more. The first is 0 or 2. After 0 only 2 is left to
    # find. After 2, with flyback p: h(2) = p h(1) + (1−p)(½ h(1) + ½ [3]) and
    # h(1) = p h(1) + (1−p)(½ h(2) + ½ [0]), so [3] from 2 has the chance x with
    # x = (p + (1−p)/2) z + (1−p)/2, z = x/2: the chance of 3 from 1.
    chain = GraphBatch.from_edges([[(0, 1), (1, 2), (2, 3)]])
    for p in (0.0, 0.5):
        x = ((1 - p) / 2) / (1 - (p + (1 - p) / 2) / 2)
        law = graphlets.walk_law(chain, 3, flyback=p)
        assert law[1, 2, 3] == pytest.approx(0.25 * 0.5 * x)
        assert law[1, 2, 0] == pytest.approx(0.25 * 0.5 * (1 - x))
        assert law[1, 0, 2] == pytest.approx(0.25 * 0.5)


def test_walk_starts_again_where_its_component_ends():
    # An edge and an isolated node, two nodes: from the edge its other end, from the isolated node a
    # uniform other node.
    graph = GraphBatch.from_edges([[(0, 1)]], n_nodes=[3])
    law = graphlets.walk_law(graph, 2, flyback=0.2)
    assert law == pytest.approx({(0, 1): 1 / 3, (1, 0): 1 / 3, (2, 0): 1 / 6, (2, 1): 1 / 6})


# Maps and their kernels


def test_kernels_of_graphlets_by_hand():
    path, triangle = graphlets.adjacency_of(0b011, 3), graphlets.adjacency_of(0b111, 3)
    # One edge differs: two entries.
    assert graphlets.gaussian_kernel(path, triangle, sigma=2.0) == pytest.approx(math.exp(-2 / 8))
    # Eigenvalues −√2, 0, √2 and −1, −1, 2.
    square = (math.sqrt(2) - 1) ** 2 + 1 + (2 - math.sqrt(2)) ** 2
    assert graphlets.eigen_gaussian_kernel(path, triangle) == pytest.approx(math.exp(-square / 2))
    # ‖a‖² = 4 and 6, aᵀa' = 4; with the bias one more each.
    assert graphlets.optical_kernel(path, triangle, bias=False) == 4 * 6 + 16
    assert graphlets.optical_kernel(path, triangle, scale=2.0) == 16 * (5 * 7 + 25)
    assert graphlets.match_kernel(path, graphlets.adjacency_of(0b110, 3)) == 1
    assert graphlets.match_kernel(path, triangle) == 0


def test_maps_have_the_kernels_as_mean_inner_products():
    rng = np.random.default_rng(10)
    m, k = 200_000, 3
    a, b = graphlets.adjacency_of(0b011, k), graphlets.adjacency_of(0b110, k)
    phases = rng.uniform(0, 2 * np.pi, m)
    W = rng.normal(0, 1 / 1.5, (k * k, m))
    inner = graphlets.gaussian_map(a, W, phases) @ graphlets.gaussian_map(b, W, phases)
    assert inner == pytest.approx(graphlets.gaussian_kernel(a, b, 1.5), abs=0.02)
    W = rng.normal(0, 1 / 1.5, (k, m))
    inner = graphlets.eigen_gaussian_map(a, W, phases) @ graphlets.eigen_gaussian_map(b, W, phases)
    assert inner == pytest.approx(1.0, abs=0.02)
    spread = 0.8 / math.sqrt(2)
    W = rng.normal(0, spread, (m, k * k)) + 1j * rng.normal(0, spread, (m, k * k))
    bias = rng.normal(0, spread, m) + 1j * rng.normal(0, spread, m)
    inner = graphlets.optical_map(a, W, bias) @ graphlets.optical_map(b, W, bias)
    assert inner == pytest.approx(graphlets.optical_kernel(a, b, scale=0.8), rel=0.05)


def test_mean_kernel_by_hand():
    # Path against triangle: each of the path's three orders differs from the triangle in one edge.
    assert graphlets.mean_kernel(PATH, TRIANGLE, 3) == pytest.approx(math.exp(-1))
    # Path against path: the same order once in three, else two edges (four entries) differ.
    own = 1 / 3 + 2 / 3 * math.exp(-2)
    assert graphlets.mean_kernel(PATH, PATH, 3) == pytest.approx(own)
    assert graphlets.mmd(PATH, TRIANGLE, 3) == pytest.approx(math.sqrt(own + 1 - 2 * math.exp(-1)))
    reordered = relabelled(PATH, np.random.default_rng(0))
    assert graphlets.mmd(PATH, reordered, 3) == pytest.approx(0, abs=1e-7)


# Theory


def test_theory_by_hand():
    # 2(4·0.6931 + ln 20)/0.01 = 2(2.7726 + 2.9957)·100 = 1153.66
    assert graphlets.graphlet_samples(3, 0.1, 0.05) == 1154
    # δ = 6/e makes ln(6/δ) = 1; ln(3/δ) = 1 − ln 2.
    expected = 4 / 10 + 8 * (1 + math.sqrt(2 * (1 - math.log(2)))) / 20
    assert graphlets.mmd_bound(100, 400, 6 / math.e) == pytest.approx(expected)
    assert graphlets.mmd_bound(100, 400, 6 / math.e, math.sqrt(2)) == pytest.approx(2 * expected)
    # 400·ln(90/0.1) = 400·6.8024
    assert graphlets.fourier_components(0.1, 10, 0.1) == 2721
