"""The multiscale Laplacian kernel: exact against the definition, low-rank against exact."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gramlet.kernels.laplacian.multiscale as multiscale
from gramlet import FeatureLaplacian, GraphBatch, MultiscaleLaplacian, WeisfeilerLehman
from gramlet.kernels.laplacian.low_rank import draw_landmarks, leading_directions
from reference import laplacian
from reference.examples import molecules, random_graphs
from reference.strategies import graph_batches, permuted

FEATURES = ("labels", "degree", "attributes", "heat")
FULL = {"rank": 10_000, "n_landmarks": 10_000}
scales = st.sampled_from([(0, 1, 2), (1, 1, 2), (2, 1, 2), (2, 0, 2), (2, 2, 1.5), (3, 1, 1)])


def ring(size, first=0):
    return [(first + i, first + (i + 1) % size) for i in range(size)]


# The definition


@given(graph_batches(min_graphs=1, max_graphs=3, max_nodes=6, attributes=True), scales)
@settings(max_examples=12)
def test_exact_is_the_definition(batch, scale):
    n_levels, radius, growth = scale
    for features in FEATURES:
        options = {"n_levels": n_levels, "radius": radius, "growth": growth}
        kernel = MultiscaleLaplacian(**options, vertex_features=features, method="exact")
        expected = laplacian.multiscale_laplacian_gram(batch, features=features, **options)
        np.testing.assert_allclose(kernel.fit_transform(batch), expected, atol=1e-6)


@given(graph_batches(min_graphs=2, max_graphs=4, max_nodes=6), scales)
@settings(max_examples=12)
def test_exact_on_new_graphs_is_the_definition_of_the_pair(batch, scale):
    n_levels, radius, growth = scale
    options = {"n_levels": n_levels, "radius": radius, "growth": growth}
    kernel = MultiscaleLaplacian(**options, method="exact").fit(batch[:1])
    expected = laplacian.multiscale_laplacian_gram(batch[1:], batch[:1], **options)
    found = kernel.transform(batch[1:])
    np.testing.assert_allclose(found, expected, atol=1e-6)
    alone = np.vstack([kernel.transform(batch[i]) for i in range(1, len(batch))])
    np.testing.assert_allclose(alone, found, atol=1e-12)


@given(graph_batches(min_graphs=1, max_graphs=5, attributes=True), scales)
@settings(max_examples=15)
def test_low_rank_at_full_rank_is_exact(batch, scale):
    n_levels, radius, growth = scale
    for features in FEATURES:
        options = {"n_levels": n_levels, "radius": radius, "growth": growth}
        options["vertex_features"] = features
        exact = MultiscaleLaplacian(**options, method="exact").fit_transform(batch)
        low = MultiscaleLaplacian(**options, **FULL).fit_transform(batch)
        np.testing.assert_allclose(low, exact, atol=1e-6)


@pytest.mark.parametrize("method", ["lowrank", "exact"])
@pytest.mark.parametrize("features", FEATURES)
def test_without_levels_it_is_the_feature_laplacian(method, features):
    batch, new = random_graphs(0), random_graphs(1)
    kernel = MultiscaleLaplacian(0, method=method, vertex_features=features, **FULL)
    plain = FeatureLaplacian(vertex_features=features)
    np.testing.assert_allclose(kernel.fit_transform(batch), plain.fit_transform(batch), atol=1e-9)
    np.testing.assert_allclose(kernel.transform(new), plain.transform(new), atol=1e-9)


def test_more_rank_comes_closer_to_the_exact_kernel():
    batch = random_graphs(2, n_graphs=20, largest=9)
    exact = MultiscaleLaplacian(method="exact").fit_transform(batch)
    distances = [
        np.abs(MultiscaleLaplacian(rank=rank).fit_transform(batch) - exact).mean()
        for rank in (1, 8, 32, 64)
    ]
    assert distances == sorted(distances, reverse=True)
    assert distances[-1] < 0.1 * distances[0]


# Invariance, new graphs, draws


@pytest.mark.parametrize("features", FEATURES)
@pytest.mark.parametrize(
    "options", [{"method": "exact"}, FULL, {"rank": 5, "n_landmarks": 12, "random_state": 3}]
)
@pytest.mark.parametrize("n_levels", [1, 3])
def test_invariant_to_relabelling(features, options, n_levels):
    batch = random_graphs(3, n_graphs=8)
    kernel = MultiscaleLaplacian(n_levels, vertex_features=features, **options)
    matrix = kernel.fit_transform(batch)
    np.testing.assert_allclose(kernel.transform(batch), matrix, rtol=1e-9, atol=1e-10)
    shuffled = permuted(batch, np.random.default_rng(4))
    np.testing.assert_allclose(kernel.transform(shuffled), matrix, atol=1e-8)
    np.testing.assert_allclose(kernel.fit_transform(shuffled), matrix, atol=1e-8)


def test_low_rank_self_similarity_is_exactly_one():
    batch = random_graphs(5, n_graphs=30)
    kernel = MultiscaleLaplacian(rank=4, n_landmarks=20, random_state=0).fit(batch)
    assert np.array_equal(np.diagonal(kernel.transform(batch)), np.ones(30))
    assert np.array_equal(kernel.diagonal(batch), np.ones(30))
    assert np.array_equal(kernel.fit_transform(batch), kernel.transform(batch))


def test_real_molecules(shared_data):
    from gramlet import load_dataset

    batch = load_dataset("MUTAG", data_home=shared_data).graphs
    kernel = MultiscaleLaplacian(random_state=0)
    matrix = kernel.fit_transform(batch)
    assert np.linalg.eigvalsh(matrix)[0] > -1e-10
    shuffled = permuted(batch, np.random.default_rng(6))
    np.testing.assert_allclose(
        MultiscaleLaplacian(random_state=0).fit_transform(shuffled), matrix, atol=1e-8
    )
    order = np.random.default_rng(7).permutation(len(batch))
    np.testing.assert_allclose(
        MultiscaleLaplacian(random_state=0).fit_transform(batch[order]),
        matrix[np.ix_(order, order)],
        atol=1e-8,
    )
    other = MultiscaleLaplacian(random_state=1).fit_transform(batch)
    assert not np.allclose(other, matrix)


def test_the_draw_of_landmarks():
    batch = random_graphs(8, n_graphs=10)
    n = batch.n_nodes_total
    drawn = draw_landmarks(batch, 10, np.random.RandomState(0))
    assert len(set(drawn.tolist())) == 10
    assert np.array_equal(drawn, draw_landmarks(batch, 10, np.random.RandomState(0)))
    assert np.array_equal(draw_landmarks(batch, n, np.random.RandomState(0)), np.arange(n))
    assert len(draw_landmarks(batch[:0], 5, np.random.RandomState(0))) == 0


def test_the_rank_is_cut_at_noise_and_not_between_equal_eigenvalues():
    gram = np.diag([5.0, 3.0, 3.0, 3.0, 1e-20, 0.0])
    assert [leading_directions(gram, rank).shape[1] for rank in (1, 2, 3, 4, 6)] == [1, 4, 4, 4, 4]
    weights = leading_directions(gram, 4)
    np.testing.assert_allclose(weights.T @ gram @ weights, np.eye(4), atol=1e-12)
    assert leading_directions(np.zeros((3, 3)), 2).shape == (3, 0)


def test_landmarks_and_labels_that_new_graphs_do_not_share():
    fitted = GraphBatch.from_edges([[(0, 1)], []], n_nodes=[2, 1], node_labels=[["a", "b"], ["a"]])
    strange = GraphBatch.from_edges([[(0, 1)], []], n_nodes=[2, 0], node_labels=[["x", "y"], []])
    low = MultiscaleLaplacian(**FULL).fit(fitted).transform(strange)
    exact = MultiscaleLaplacian(method="exact").fit(fitted).transform(strange)
    assert np.isfinite(low).all()
    np.testing.assert_allclose(
        exact, laplacian.multiscale_laplacian_gram(strange, fitted), atol=1e-8
    )
    assert (exact <= low + 1e-12).all()  # what is dropped would have told them apart


@pytest.mark.parametrize("method", ["lowrank", "exact"])
@pytest.mark.parametrize("features", FEATURES)
def test_fitted_on_graphs_without_nodes(method, features):
    nothing = GraphBatch.from_edges([[], []], n_nodes=[0, 0])
    kernel = MultiscaleLaplacian(method=method, vertex_features=features)
    assert np.array_equal(kernel.fit_transform(nothing), np.ones((2, 2)))
    batch = random_graphs(9)
    found = kernel.transform(batch)
    assert found.shape == (6, 2)
    assert np.isfinite(found).all()
    if method == "exact":
        expected = laplacian.multiscale_laplacian_gram(batch, nothing, features=features)
        np.testing.assert_allclose(found, expected, atol=1e-8)


# What the levels see


@pytest.mark.parametrize("method", ["lowrank", "exact"])
def test_each_level_sees_twice_as_far(method):
    # One ring of 2n nodes or two of n: alike for colour refinement, and for balls that do not
    # reach around the smaller ring.
    for size, sees in ((3, 2), (6, 3), (12, 4)):
        one, two = ring(2 * size), ring(size) + ring(size, size)
        graphs = GraphBatch.from_edges([one, two], n_nodes=[2 * size] * 2)
        wl = WeisfeilerLehman(n_iter=2 * size, normalize=True).fit_transform(graphs)
        assert wl[0, 1] == pytest.approx(1)
        for n_levels in range(1, 5):
            value = MultiscaleLaplacian(n_levels, method=method).fit_transform(graphs)[0, 1]
            assert (value < 0.5) if n_levels >= sees else (value == pytest.approx(1, abs=1e-9))


def test_large_balls_and_long_graphs():
    rng = np.random.default_rng(10)
    edges = [[(i, i + 1) for i in range(999)], ring(600)]
    labels = [rng.choice(["a", "b"], n).tolist() for n in (1000, 600)]
    batch = GraphBatch.from_edges(edges, n_nodes=[1000, 600], node_labels=labels)
    kernel = MultiscaleLaplacian(n_levels=3, radius=3, growth=4, random_state=0)
    matrix = kernel.fit_transform(batch)
    assert np.isfinite(matrix).all()
    assert 0 < matrix[0, 1] < 1


# Refusals


@pytest.mark.parametrize(
    "params",
    [
        {"eta": 0},
        {"eta": -0.1},
        {"gamma": -1e-3},
        {"rank": 0},
        {"rank": 2.5},
        {"n_landmarks": 0},
        {"n_levels": -1},
        {"radius": -1},
        {"growth": 0.5},
        {"growth": math.inf},
        {"method": "fast"},
        {"vertex_features": "colour"},
        {"random_state": "seed"},
    ],
)
def test_parameters_out_of_range(params):
    (name,) = params
    with pytest.raises(ValueError, match=f"'{name}' parameter of MultiscaleLaplacian"):
        MultiscaleLaplacian(**params).fit(molecules())


def test_more_landmarks_than_vertices_are_all_of_them():
    batch = molecules()
    few, many = (MultiscaleLaplacian(n_landmarks=n).fit_transform(batch) for n in (5, 500))
    assert np.array_equal(few, many)


def test_gamma_of_zero():
    with pytest.raises(ValueError, match=r"'gamma' parameter .* above 0 with method=.exact."):
        MultiscaleLaplacian(gamma=0, method="exact").fit(molecules())
    with pytest.raises(ValueError, match=r"Graph 0: .* is singular.*gamma > 0"):
        MultiscaleLaplacian(gamma=0).fit(molecules())
    # One label, one size of ball: everything is one-dimensional, and nothing is singular.
    rings = GraphBatch.from_edges([ring(6), ring(9)], n_nodes=[6, 9])
    matrix = MultiscaleLaplacian(gamma=0).fit_transform(rings)
    assert matrix[0, 1] == pytest.approx((60 * 90) ** 0.25 / 75**0.5)


@pytest.mark.parametrize("method", ["lowrank", "exact"])
def test_columns_that_cannot_be_used(method):
    kernel = MultiscaleLaplacian(method=method, vertex_features="attributes")
    with pytest.raises(ValueError, match="MultiscaleLaplacian needs node attributes"):
        kernel.fit(molecules())
    broken = GraphBatch.from_edges([[]], node_attributes=[[[np.nan]]])
    with pytest.raises(ValueError, match="node 0 of graph 0 are not finite"):
        kernel.fit(broken)
    negative = GraphBatch.from_edges([[], [(0, 1)]], n_nodes=[1, 2], edge_weights=[[], [-5.0]])
    with pytest.raises(ValueError, match="Graph 1: D − A"):
        MultiscaleLaplacian(method=method).fit(negative)


@pytest.mark.parametrize("method", ["lowrank", "exact"])
def test_features_too_large_for_gamma(method):
    rows = [[[1e5, -1e5]] * 2, [[1e10, 1e10]] * 2]
    huge = GraphBatch.from_edges([[(0, 1)], [(0, 1)]], node_attributes=rows)
    kernel = MultiscaleLaplacian(method=method, vertex_features="attributes")
    with pytest.raises(ValueError, match=r"raph 1.* singular to the precision of numbers"):
        kernel.fit_transform(huge)


def test_exact_says_how_much_memory_it_would_need(monkeypatch):
    monkeypatch.setattr(multiscale, "EXACT_BYTES", 1000)
    with pytest.raises(ValueError, match=r"would need 0\.0 GB .* the limit is .*lowrank"):
        MultiscaleLaplacian(method="exact").fit(random_graphs(0))
