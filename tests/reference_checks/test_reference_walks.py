"""The plain definitions of walks, strings and learned weights against values by hand."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from gramlet import GraphBatch
from reference import path_kernels
from reference.examples import bare, molecules, random_graphs
from reference.kernels import paths_walks, wasserstein, weighted_wwl
from reference.plain import gram


@pytest.fixture(scope="module", name="molecules")
def molecules_fixture():
    return molecules()


@pytest.fixture(scope="module", name="bare")
def bare_fixture():
    return bare()


# Shortest paths, random walks, propagation


def test_shortest_paths_by_hand(molecules, bare):
    # C-C-O: {C}/1, {C,O}/1, {C,O}/2. C-N: {C,N}/1.
    np.testing.assert_array_equal(gram(paths_walks.shortest_path, molecules), [[3, 0], [0, 1]])
    # Without labels: lengths 1, 1, 2 and 1.
    np.testing.assert_array_equal(
        gram(paths_walks.shortest_path, molecules, labels=False), [[5, 2], [2, 1]]
    )
    np.testing.assert_array_equal(
        gram(paths_walks.shortest_path, bare),
        [[5, 6, 0, 0], [6, 9, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]],
    )


def test_weighted_shortest_paths_by_hand():
    # A triangle whose side of 5 is longer than the other two, 1 + 2: lengths 1, 2, 3. An edge of 3.
    batch = GraphBatch.from_edges(
        [[(0, 1), (1, 2), (0, 2)], [(0, 1)]], edge_weights=[[1.0, 2.0, 5.0], [3.0 + 1e-12]]
    )
    kernel = paths_walks.shortest_path
    assert paths_walks.all_distances(batch[0], weighted=True)[0] == [0, 1, 3]
    np.testing.assert_array_equal(gram(kernel, batch, weighted=True), [[3, 1], [1, 1]])
    # Bins of 2: 1 → 0, 2 → 1, 3 → 1.
    np.testing.assert_array_equal(
        gram(kernel, batch, weighted=True, bin_width=2.0), [[5, 2], [2, 1]]
    )
    # Unweighted, the triangle's three paths and the edge all have length 1.
    np.testing.assert_array_equal(gram(kernel, batch), [[9, 3], [3, 1]])
    weightless = GraphBatch.from_edges([[(0, 1)]], edge_weights=[[0.0]])
    with pytest.raises(ValueError, match="weight"):
        kernel(weightless, weightless, weighted=True)


def test_random_walks_by_hand(molecules):
    edge = GraphBatch.from_edges([[(0, 1)]])
    path = GraphBatch.from_edges([[(0, 1), (1, 2)]])
    walk = paths_walks.random_walk
    # Edge × edge: two edges on four nodes, so A×1 = 1.
    assert walk(edge, edge, "geometric", 0.2) == pytest.approx(4 / (1 - 0.2))
    assert walk(edge, edge, "exponential", 0.2) == pytest.approx(4 * math.exp(0.2))
    assert walk(edge, edge, "steps", 0.2, n_steps=2) == pytest.approx(4 * (1 + 0.2 + 0.04))
    # Walks of 0, 1, 2 steps: 3, 4, 6 in the path, 2 in the edge; the product multiplies them.
    assert walk(path, edge, "steps", 0.5, n_steps=2) == pytest.approx(2 * (3 + 0.5 * 4 + 0.25 * 6))
    # ρ(path × path) = √2·√2.
    joined = GraphBatch.concatenate([path, edge])
    assert paths_walks.largest_safe_decay(joined) == pytest.approx(0.5)
    with pytest.raises(ValueError, match="decay"):
        walk(path, path, "geometric", 0.51)
    # Labels: C-C-O and C-N share only the two pairs of C, without an edge between them.
    assert walk(molecules[0], molecules[1], "geometric", 0.3) == pytest.approx(2)
    assert walk(molecules[0], molecules[1], "steps", 0.5, 1, labels=False) == pytest.approx(
        6 + 0.5 * 4 * 2
    )
    # Weights 2 and 3 multiply to 6.
    heavy = GraphBatch.from_edges([[(0, 1)], [(0, 1)]], edge_weights=[[2.0], [3.0]])
    assert walk(heavy[0], heavy[1], "geometric", 0.1, weighted=True) == pytest.approx(4 / 0.4)
    assert walk(heavy[0], heavy[1], "geometric", 0.1) == pytest.approx(4 / 0.9)


def test_random_walks_of_graphs_without_edges_or_nodes(bare):
    for kind in ("geometric", "exponential", "steps"):
        matrix = gram(paths_walks.random_walk, bare[2:], kind=kind, decay=0.3, n_steps=3)
        np.testing.assert_allclose(matrix, [[4, 0], [0, 0]])


def test_propagation_by_hand():
    batch = GraphBatch.from_edges([[(0, 1)], [], []], node_labels=[["a", "b"], ["a"], []])
    starts = [paths_walks.label_distributions(graph, ["a", "b"]) for graph in batch]
    # a → 1 + ½, b → 2 + ½, in cells of 1: bins 1 and 2. In step 1 the edge's nodes change places
    # and the lone node stays: the edge has 2 + 2, the node 1 + 1, the two together 1 + 1.
    direction, shift = np.array([1.0, 2.0, 0.0]), 0.5
    matrix = paths_walks.propagation_gram(
        batch, batch, starts, starts, [direction] * 2, [shift] * 2, width=1.0
    )
    np.testing.assert_array_equal(matrix, [[4, 2, 0], [2, 2, 0], [0, 0, 0]])


def test_propagation_square_roots_and_unseen_labels():
    path = GraphBatch.from_edges([[(0, 1), (1, 2)]], node_labels=[["a", "b", "new"]])
    start = paths_walks.label_distributions(path, ["a", "b"])
    np.testing.assert_array_equal(start, np.eye(3))
    bins = {
        metric: paths_walks.propagation_bins(
            path, start, [np.zeros(3), np.array([1.0, 0.0, 0.0])], [0.0, 0.0], 0.6, metric
        )
        for metric in ("tv", "hellinger")
    }
    # Step 1: the middle row is (½, 0, ½), the outer ones (0, 1, 0): ½/0.6 → 0, √½/0.6 → 1.
    assert bins["tv"] == {(0, 0): 3, (1, 0): 3}
    assert bins["hellinger"] == {(0, 0): 3, (1, 0): 2, (1, 1): 1}


# Vectors and strings


def test_subset_kernels_by_hand():
    x, y = [1.0, 2.0, 3.0], [1.0, 1.0, 2.0]
    # Products 1, 2, 6: sizes 0..3 give 1, 9, 2 + 6 + 12 = 20, 12; their sum is 2·3·7.
    assert path_kernels.linear(x, y) == 9
    assert path_kernels.polynomial(x, y, 2) == 100
    assert [path_kernels.anova(x, y, m) for m in range(5)] == [1, 9, 20, 12, 0]
    assert path_kernels.all_subsets(x, y) == 42


def test_subset_kernels_are_sums_over_paths():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 5))
    assert path_kernels.all_subsets(x, y) == pytest.approx(np.prod(1 + x * y))
    by_paths = path_kernels.path_sum(path_kernels.all_subsets_layers(x, y))
    np.testing.assert_allclose(by_paths, [[path_kernels.all_subsets(x, y)]])
    by_paths = path_kernels.path_sum(path_kernels.anova_layers(x, y, 2))
    assert by_paths[0, 2] == pytest.approx(path_kernels.anova(x, y, 2))
    layers = [rng.normal(size=shape) for shape in ((2, 3), (3, 1), (1, 4))]
    np.testing.assert_allclose(
        path_kernels.path_sum(layers), layers[0] @ layers[1] @ layers[2], rtol=1e-12
    )


def test_product_kernel_of_columns_is_all_subsets():
    X, Y = np.random.default_rng(1).normal(size=(2, 3, 4))
    kernel = path_kernels.product_kernel([lambda a, b: 1 + a @ b.T] * 4)
    np.testing.assert_allclose(kernel(X, Y), path_kernels.matrix(path_kernels.all_subsets, X, Y))


def test_subsequence_check_values():
    decay = 0.7
    features = path_kernels.subsequence_features("Nasdaq", 3, decay)
    assert features[tuple("asd")] == pytest.approx(decay**3)
    features = path_kernels.subsequence_features("lassodimension", 3, decay)
    assert features[tuple("asd")] == pytest.approx(2 * decay**5)


def test_subsequences_by_hand():
    # cat: ca λ², ct λ³, at λ². car: ca λ², cr λ³, ar λ². They share ca.
    decay = 0.5
    self_similarity = 2 * decay**4 + decay**6
    expected = np.array([[self_similarity, decay**4, 0], [decay**4, self_similarity, 0], [0, 0, 0]])
    words = ["cat", "car", "x"]
    np.testing.assert_allclose(path_kernels.subsequence_gram(words, n=2, decay=decay), expected)
    normalised = path_kernels.subsequence_gram(words, n=2, decay=decay, normalize=True)
    np.testing.assert_allclose(
        normalised[:2, :2], np.array([[1, 1 / 2.25], [1 / 2.25, 1]]), rtol=1e-12
    )
    assert not normalised[2].any()


# Weighted Wasserstein


@pytest.fixture(scope="module")
def classes():
    """Edges C-C twice and C-N, the first two of one class."""
    batch = GraphBatch.from_edges([[(0, 1)]] * 3, node_labels=[["C", "C"], ["C", "C"], ["C", "N"]])
    return batch, ["same", "same", "other"]


def test_weighted_distance_by_hand(molecules):
    settings = weighted_wwl.Settings(n_iter=1)
    vector = weighted_wwl.pair_vector(molecules[0], molecules[1], settings)
    # They share C at level 0: min(⅔, ½) over two levels.
    assert vector == {(0, "C"): 0.25}
    distance = weighted_wwl.weighted_distance
    assert distance(molecules[0], molecules[1], {}, settings) == pytest.approx(0.75)
    assert distance(molecules[0], molecules[1], {(0, "C"): 1.4}, settings) == pytest.approx(0.65)
    empty = GraphBatch.from_edges([[]], n_nodes=[0])
    assert distance(empty, molecules[0], {}, settings) == 1
    assert distance(empty, empty, {}, settings) == 0


def test_weights_of_one_give_wwl():
    batch = random_graphs(3)
    settings = weighted_wwl.Settings(n_iter=2)
    np.testing.assert_allclose(
        gram(weighted_wwl.weighted_distance, batch, weights={}, settings=settings),
        gram(wasserstein.wwl_distance, batch, n_iter=2),
        atol=1e-12,
    )


def test_loss_pieces_by_hand():
    settings = weighted_wwl.Settings(alpha_diff=1.0, alpha_same=0.5, sigma=0.2)
    different = [weighted_wwl.loss_different(d, settings) for d in (1.1, 0.9, 0.5)]
    # 0; 0.1²/0.4; 1 − 0.1 − 0.5.
    np.testing.assert_allclose(different, [0, 0.025, 0.4], atol=1e-15)
    same = [weighted_wwl.loss_same(d, settings) for d in (0.4, 0.6, 1.0)]
    # 0; 0.1²/0.4; 1 − 0.5 − 0.1.
    np.testing.assert_allclose(same, [0, 0.025, 0.4], atol=1e-15)


def test_loss_by_hand(classes):
    batch, y = classes
    settings = weighted_wwl.Settings(n_iter=1, alpha_diff=1.0, sigma=0.1)
    # Within the class all is equal, d = 0 and no loss. C-N shares half of level 0 with C-C:
    # d = 1 − ¼ = ¾, V₁ = 1 − 0.05 − 0.75 = 0.2, on 4 of 9 ordered pairs.
    assert weighted_wwl.loss(batch, y, {}, settings) == pytest.approx(4 * 0.2 / 9)
    slopes = weighted_wwl.gradient(batch, y, {}, settings)
    assert slopes[0, "C"] == pytest.approx(4 / 9 * 0.25)
    assert sum(abs(value) for value in slopes.values()) == pytest.approx(4 / 9 * 0.25)


def test_gradient_is_the_slope_of_the_loss():
    rng = np.random.default_rng(4)
    batch, y = random_graphs(5), [0, 1, 0, 1, 1, 0]
    settings = weighted_wwl.Settings(n_iter=1, sigma=0.3)
    names = weighted_wwl.patterns(batch, settings)
    weights = {p: 1 + 0.2 * rng.normal() for p in names}
    slopes = weighted_wwl.gradient(batch, y, weights, settings)
    for p in names:
        step = 1e-6
        up = weighted_wwl.loss(batch, y, {**weights, p: weights[p] + step}, settings)
        down = weighted_wwl.loss(batch, y, {**weights, p: weights[p] - step}, settings)
        assert slopes[p] == pytest.approx((up - down) / (2 * step), abs=1e-8)


def test_projection_by_hand():
    # Inside; straight back to the ball; cut at 0 by a ball that would reach below.
    np.testing.assert_allclose(weighted_wwl.project_level([1.1, 0.9], 0.5), [1.1, 0.9])
    np.testing.assert_allclose(weighted_wwl.project_level([4.0, 5.0], 0.5), [1.3, 1.4])
    np.testing.assert_allclose(weighted_wwl.project_level([-1.0, 1.0], 2.0), [0.0, 1.0])
    np.testing.assert_allclose(weighted_wwl.project_level([7.0, -3.0], 0.0), [1.0, 1.0])
    # Both constraints hold: the first is 0, the rest of the radius is used by the second.
    np.testing.assert_allclose(
        weighted_wwl.project_level([-9.0, 9.0], 1.5), [0.0, 1 + math.sqrt(1.25)], rtol=1e-9
    )


def test_projection_is_the_nearest_point():
    rng = np.random.default_rng(6)
    for _ in range(10):
        w, radius = 1 + 3 * rng.normal(size=4), float(rng.uniform(0.2, 3))
        nearest = weighted_wwl.project_level(w, radius)
        assert nearest.min() >= 0
        assert np.linalg.norm(nearest - 1) <= radius + 1e-9
        for _ in range(50):
            other = np.maximum(0, nearest + 0.3 * rng.normal(size=4))
            offset = other - 1
            other = 1 + offset * min(1, radius / np.linalg.norm(offset))
            # A nearest point makes no acute angle with the way out to w (variational inequality).
            assert (w - nearest) @ (other - nearest) <= 1e-9


def test_descent_lowers_the_loss_and_stays_inside(classes):
    batch, y = classes
    settings = weighted_wwl.Settings(n_iter=1)
    weights, history = weighted_wwl.projected_gradient(batch, y, 0.5, 1.0, 20, settings)
    assert all(later <= earlier + 1e-12 for earlier, later in itertools.pairwise(history))
    # Only C's weight matters and uses all of level 0's radius: d = 1 − ½·¼ = 0.875,
    # V₁ = 1 − 0.05 − 0.875.
    assert weights[0, "C"] == pytest.approx(0.5)
    assert history[-1] == pytest.approx(4 / 9 * 0.075)
    moved = weighted_wwl.stochastic_descent(batch, y, [(0, 2), (0, 1)], 0.5, 0.1, settings)
    # The first step moves C by 0.1·¼; the second pair, equal graphs of one class, has no slope.
    assert moved[0, "C"] == pytest.approx(1 - 0.025)


def test_generalization_bound_by_hand(classes):
    batch, _ = classes
    settings = weighted_wwl.Settings(n_iter=1)
    # The longest Z: C-C with itself, all mass on one pattern at each of two levels: √(¼ + ¼).
    assert weighted_wwl.largest_vector(batch, settings) == pytest.approx(math.sqrt(0.5))
    # k_n = 4/3·μT·½ with μT = 0.05; M = max(1 − 0.05 − 0.5, 1 − 0.05 + 0.5).
    stability = 4 / 3 * 0.05 * 0.5
    expected = 2 * stability + (3 * stability + 1.45) * math.sqrt(2 / 3 * math.log(2 / 0.1))
    bound = weighted_wwl.generalization_bound(batch, 0.5, 1e-4, 500, 0.1, settings)
    assert bound == pytest.approx(expected)
