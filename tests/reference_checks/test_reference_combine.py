"""The plain definitions of sums, products, alignment, landmarks, neighbours, duplicates, ridge."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import nnls
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge

from reference import combine, isomorphism, ridge
from reference.building import awkward, build, digraphs, random_graph, renumbered, worked
from reference.kernels import histograms, paths_walks
from reference.kernels.nested import as_matrix

VERTEX, EDGE = as_matrix(histograms.vertex_histogram), as_matrix(histograms.edge_histogram)
PATHS = as_matrix(paths_walks.shortest_path)


def some_graphs(seed: int, n: int = 8):
    rng = np.random.default_rng(seed)
    return [random_graph(rng, int(rng.integers(2, 6))) for _ in range(n)]


# Sums and products


def test_sums_and_products():
    A, B, _, _ = worked()
    # Vertex histogram: 5, 3, 2. Edge histogram: 4, 2, 1.
    pair = {"kernels": [VERTEX, EDGE]}
    np.testing.assert_array_equal(combine.kernel_sum([A, B], **pair), [[9, 5], [5, 3]])
    weighted = combine.kernel_sum([A, B], weights=[1, 10], **pair)
    np.testing.assert_array_equal(weighted, [[45, 23], [23, 12]])
    np.testing.assert_array_equal(combine.kernel_product([A, B], **pair), [[20, 6], [6, 2]])
    normal = combine.kernel_sum([A, B], normalize=True, **pair)
    np.testing.assert_allclose(normal, [[1, 5 / math.sqrt(27)], [5 / math.sqrt(27), 1]])


def test_an_entry_of_norm_zero_makes_a_product_zero():
    graphs = [*awkward()[:3], worked()[0]]
    members = [
        lambda X, Y=None: combine.evaluated(VERTEX, X, Y, normalize=True),
        lambda X, Y=None: combine.evaluated(EDGE, X, Y, normalize=True),
    ]
    total = combine.kernel_sum(graphs, kernels=members)
    np.testing.assert_allclose(np.diag(total), [0, 1, 1, 2])
    product = combine.kernel_product(graphs, kernels=members)
    np.testing.assert_allclose(product, np.diag([0, 0, 0, 1]))


# Alignment


@pytest.mark.parametrize(
    ("y", "task"),
    [
        (["a", "b"], "classification"),
        ([True, False], "classification"),
        ([1, 2, 3], "classification"),
        ([1.0, 2.0], "classification"),
        ([1.0, 2.5], "regression"),
        (list(range(49)), "classification"),
        (list(range(50)), "regression"),
        ([i % 10 for i in range(50)], "classification"),
        ([i % 11 for i in range(50)], "regression"),
    ],
)
def test_task_of(y, task):
    assert combine.task_of(y) == task


def test_centring_and_targets():
    H = np.eye(4) - 1 / 4
    K = np.random.default_rng(0).normal(size=(4, 4))
    np.testing.assert_allclose(combine.centred(K), H @ K @ H, atol=1e-14)
    np.testing.assert_array_equal(
        combine.target_matrix(["a", "b", "a"]), [[1, 0, 1], [0, 1, 0], [1, 0, 1]]
    )
    np.testing.assert_allclose(combine.target_matrix([0.5, 1.5]), [[0.25, -0.25], [-0.25, 0.25]])


def test_aligned_weights_against_least_squares():
    rng = np.random.default_rng(1)
    for _ in range(10):
        factors = [rng.normal(size=(9, 2)) for _ in range(4)]
        grams = [F @ F.T for F in factors]
        y = rng.integers(0, 2, 9).tolist()
        # vᵀMv − 2vᵀa is ‖Σ v_k K_k^c − YYᵀ‖² up to a constant.
        columns = np.array([combine.centred(K).ravel() for K in grams]).T
        expected, _ = nnls(columns, combine.target_matrix(y).ravel())
        np.testing.assert_allclose(
            combine.aligned_weights(grams, y), expected / expected.sum(), atol=1e-8
        )


def test_aligned_weights_take_the_shortest_of_equal_minimisers():
    rng = np.random.default_rng(2)
    y = [0, 0, 0, 1, 1, 1]
    F = np.column_stack([np.array(y) - 0.5, rng.normal(size=6) * 0.1])
    K = F @ F.T
    np.testing.assert_allclose(combine.aligned_weights([K, K], y), [0.5, 0.5])
    # v + 2w = c is shortest at (c/5, 2c/5).
    np.testing.assert_allclose(combine.aligned_weights([K, 2 * K], y), [1 / 3, 2 / 3])
    # A matrix that is constant is 0 when centred.
    ones = np.ones((6, 6))
    np.testing.assert_allclose(combine.aligned_weights([ones, K, K], y), [0, 0.5, 0.5])


def test_aligned_weights_where_nothing_helps():
    y = [0, 0, 1, 1]
    against = np.array([0.5, -0.5, 0.5, -0.5])  # similar across classes, not within
    np.testing.assert_allclose(
        combine.aligned_weights([np.outer(against, against), np.ones((4, 4))], y), [0.5, 0.5]
    )
    F = np.array([0.5, 0.5, -0.5, -0.5])
    weights = combine.aligned_weights([np.outer(against, against), np.outer(F, F)], y)
    np.testing.assert_allclose(weights, [0, 1])


def test_aligned_kernel_sum_of_new_graphs():
    fitted, new = worked(), awkward()
    y = [0, 0, 1, 1]
    weights = combine.aligned_weights([VERTEX(fitted), EDGE(fitted)], y)
    actual = combine.aligned_kernel_sum(new, fitted, y, kernels=[VERTEX, EDGE])
    expected = weights[0] * VERTEX(new, fitted) + weights[1] * EDGE(new, fitted)
    np.testing.assert_allclose(actual, expected)


# Landmarks, distances, neighbours


def test_all_graphs_as_landmarks_give_the_kernel_back():
    graphs = some_graphs(3)
    features = combine.nystroem_features(graphs, graphs, kernel=PATHS)
    np.testing.assert_allclose(features @ features.T, PATHS(graphs), atol=1e-8)
    assert features.shape[1] == np.linalg.matrix_rank(PATHS(graphs), tol=1e-8)
    few = combine.nystroem_features(graphs, graphs[:2], kernel=VERTEX)
    np.testing.assert_allclose(few[:2] @ few[:2].T, VERTEX(graphs[:2]), atol=1e-9)
    nothing = combine.nystroem_features(graphs, awkward()[:1], kernel=VERTEX)
    np.testing.assert_array_equal(nothing, np.zeros((8, 1)))


def test_landmark_chances():
    graphs = [build(n, [], "C" * n) for n in (1, 1, 2, 4)]
    np.testing.assert_allclose(combine.landmark_chances(graphs, [], kernel=VERTEX), [1 / 4] * 4)
    # Squared distances from the first: 0, 0, 1, 9.
    np.testing.assert_allclose(
        combine.landmark_chances(graphs, [0], kernel=VERTEX), [0, 0, 0.1, 0.9]
    )
    np.testing.assert_allclose(
        combine.landmark_chances(graphs, [0, 3], kernel=VERTEX), [0, 0, 1, 0]
    )
    alike = [build(1, [], "C")] * 3
    np.testing.assert_allclose(combine.landmark_chances(alike, [1], kernel=VERTEX), [1 / 3] * 3)


def test_kernel_distance():
    A, B, D, T = worked()
    # Vectors (C, O): (2, 1), (1, 1), (2, 1), (3, 0).
    distances = combine.kernel_distance([A, B, D, T], kernel=VERTEX)
    np.testing.assert_allclose(distances[0], [0, 1, 0, math.sqrt(2)])
    np.testing.assert_array_equal(np.diag(distances), 0)
    normal = combine.kernel_distance([A], [T, build(0, [], [])], kernel=VERTEX, normalize=True)
    np.testing.assert_allclose(normal[0], [math.sqrt(2 - 2 * 2 / math.sqrt(5)), 1])
    tiny = combine.squared_distances(np.array([[1.0 - 4e-13]]), [1.0], [1.0])
    assert tiny[0, 0] == 0


def test_neighbours_by_distance_then_position():
    A, B, D, T = worked()
    fitted = [T, A, B, D, build(0, [], [])]
    distances, places = combine.neighbours(fitted, kernel=VERTEX, n_neighbors=3)
    # A and D have the same histogram; no graph is its own neighbour.
    assert places[1].tolist() == [3, 0, 2]
    assert places[3].tolist() == [1, 0, 2]
    assert places[0].tolist() == [1, 3, 2]
    # The empty graph has similarity 0 to all others: ties by position.
    assert places[4].tolist() == [0, 1, 2]
    np.testing.assert_allclose(distances[4], 2**0.5)
    assert distances[1, 0] == 0
    distances, places = combine.neighbours(
        fitted, [D, build(0, [], [])], kernel=VERTEX, n_neighbors=5
    )
    assert places.tolist() == [[1, 3, 0, 2, 4], [4, 0, 1, 2, 3]]
    assert distances[1, 0] == 0
    with pytest.raises(ValueError, match="5 neighbours of 4"):
        combine.neighbours(fitted, kernel=VERTEX, n_neighbors=5)


# Duplicates and hashes


def test_find_duplicates():
    rng = np.random.default_rng(4)
    square = build(4, [(0, 1), (1, 2), (2, 3), (3, 0)], "CCOO")
    crossed = build(4, [(0, 1), (1, 2), (2, 3), (3, 0)], "COCO")
    moved = renumbered(square, rng.permutation(4).tolist())
    empty, other_empty = build(0, [], []), build(0)
    assert isomorphism.find_duplicates([empty, square, crossed, moved, other_empty]) == [
        [0, 4],
        [1, 3],
    ]
    assert isomorphism.find_duplicates(worked()) == []
    weighted = build(2, [(0, 1)], "CO", weights=[2.0])
    assert isomorphism.find_duplicates([worked()[1], weighted]) == [[0, 1]]
    single, double = (build(2, [(0, 1)], "CO", edge_labels=[label]) for label in (1, 2))
    assert isomorphism.find_duplicates([single, double, single]) == [[0, 2]]


def test_direction_counts_among_duplicates():
    forth, back = build(2, [(0, 1)], "CO", True), build(2, [(1, 0)], "CO", True)
    turned = build(2, [(1, 0)], "OC", True)
    assert isomorphism.find_duplicates([forth, back, turned]) == [[0, 2]]
    cycle, _, _ = digraphs()
    backwards = build(3, [(1, 0), (2, 1), (0, 2)], "CCO", True)
    # C→C→O→C reversed is C→O→C→C: the same cycle.
    assert isomorphism.find_duplicates([cycle, backwards]) == [[0, 1]]


def test_hash_classes():
    hexagon = build(6, [(i, (i + 1) % 6) for i in range(6)])
    triangles = build(6, [(0, 1), (1, 2), (0, 2), (3, 4), (4, 5), (3, 5)])
    path = build(6, [(i, i + 1) for i in range(5)])
    # WL does not distinguish a hexagon from two triangles; they are not isomorphic.
    assert isomorphism.hash_classes([hexagon, triangles, path]) == [0, 0, 2]
    assert not isomorphism.isomorphic(hexagon, triangles)
    assert isomorphism.hash_classes([hexagon, path], n_iter=0) == [0, 0]
    labelled = [build(1, [], [label]) for label in (1, 1.0, True, "1", (1,), None)]
    assert isomorphism.hash_classes([*labelled, build(1)]) == [0, 0, 0, 3, 4, 5, 6]
    # Edge labels count if the graph has edges with labels.
    edges = [build(2, [(0, 1)]), build(2, [(0, 1)], edge_labels=["x"])]
    assert isomorphism.hash_classes(edges) == [0, 1]
    assert isomorphism.hash_classes(edges, use_edge_labels=False) == [0, 0]
    assert isomorphism.hash_classes([build(2), build(2, [], edge_labels=[])]) == [0, 0]
    arcs = build(2, [(0, 1), (1, 0)], directed=True)
    assert isomorphism.hash_classes([edges[0], arcs], n_iter=0) == [0, 1]
    assert isomorphism.hash_classes([build(2), build(2, directed=True)]) == [0, 0]


# Ridge


def ridge_data(seed: int):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(12, 4)) + 3
    return X, X @ rng.normal(size=4) + 5 + rng.normal(size=12)


def test_ridge_against_the_primal_and_the_centred_form():
    X, y = ridge_data(5)
    train, new = X[:9], X[9:]
    expected = Ridge(alpha=0.7).fit(train, y[:9]).predict(new)
    K, K_new = train @ train.T, new @ train.T
    np.testing.assert_allclose(ridge.predict_ridge(K, y[:9], K_new, 0.7), expected)
    np.testing.assert_allclose(ridge.predict_ridge_centred(K, y[:9], K_new, 0.7), expected)
    centred = combine.centred(K)
    machine = KernelRidge(alpha=0.7, kernel="precomputed").fit(centred, y[:9] - y[:9].mean())
    np.testing.assert_allclose(
        machine.predict(centred) + y[:9].mean(), ridge.predict_ridge(K, y[:9], K, 0.7)
    )


def test_leaving_one_out_against_the_closed_form():
    X, y = ridge_data(6)
    K = X @ X.T
    n, penalty = len(K), 0.3
    # H = 1/n + K_c (K_c + penalty)⁻¹; the error left out is (y − Hy)_i / (1 − H_ii).
    K_c = combine.centred(K)
    H = 1 / n + K_c @ np.linalg.inv(K_c + penalty * np.eye(n))
    expected = y - (y - H @ y) / (1 - np.diag(H))
    np.testing.assert_allclose(ridge.leave_one_out(K, y, penalty), expected)
    Y, classes = ridge.one_hot(["b", "a"] * 6)
    assert classes == ["a", "b"]
    expected = Y - (Y - H @ Y) / (1 - np.diag(H))[:, None]
    np.testing.assert_allclose(ridge.leave_one_out(K, Y, penalty), expected)


def test_choice_of_the_penalty():
    X, y = ridge_data(7)
    K = X @ X.T
    mean = np.trace(combine.centred(K)) / 12
    np.testing.assert_allclose(ridge.penalties(K, [0.1, 1, 10]), mean / np.array([0.1, 1, 10]))
    scores = ridge.loo_scores(K, y, [1e-4, 1.0, 1e4], "regression")
    best = int(np.argmax(scores))
    assert ridge.choose_penalty(K, y, [1e-4, 1.0, 1e4], "regression") == pytest.approx(
        mean / [1e-4, 1.0, 1e4][best]
    )
    # Two separate groups: all penalties in some range score 1, and the largest is chosen.
    groups = np.repeat([0, 1], 6)
    clear = np.outer(groups - 0.5, groups - 0.5)
    assert ridge.loo_scores(clear, groups.tolist(), [1, 10, 100], "classification") == [1, 1, 1]
    chosen = ridge.choose_penalty(clear, groups.tolist(), [1, 10, 100], "classification")
    assert chosen == ridge.penalties(clear, [1])[0]
    predictions = ridge.ridge_predictions(
        clear, ["x"] * 6 + ["y"] * 6, clear, [1], "classification"
    )
    assert predictions.tolist() == ["x"] * 6 + ["y"] * 6


def test_scaled_features():
    train, new = np.array([[0.0, 1.0], [2.0, 1.0]]), np.array([[1.0, 3.0]])
    scaled, moved = ridge.scaled_features(train, new)
    np.testing.assert_allclose(scaled, [[-1, 0], [1, 0]])
    np.testing.assert_allclose(moved, [[0, 2]])
    same, _ = ridge.scaled_features(np.ones((3, 2)), new)
    np.testing.assert_array_equal(same, 0)
