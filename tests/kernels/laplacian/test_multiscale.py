"""The multiscale Laplacian kernel: exact against the definition, low-rank against exact."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gramlet.kernels.laplacian.multiscale as multiscale
from gramlet import FeatureLaplacian, GraphBatch, MultiscaleLaplacian, WeisfeilerLehman
from gramlet.engine.laplacian.distinct_rows import distinct_rows
from gramlet.kernels.laplacian.low_rank import LandmarkDraw, leading_directions
from reference.examples import molecules, random_graphs
from reference.kernels import laplacian
from reference.strategies import graph_batches, permuted

FEATURES = ("labels", "degree", "attributes", "heat")
FULL = {"rank": 10_000, "n_landmarks": 10_000}
SCALES = [
    (0, 1, 2),
    (1, 1, 2),
    (2, 1, 2),
    (2, 0, 2),
    (2, 2, 1.5),
    (3, 1, 1),
    (3, 1, "add"),
    (2, 1.5, "add"),
]


@st.composite
def scales(draw):
    """Levels and their radii, and the options of the authors' code."""
    n_levels, radius, growth = draw(st.sampled_from(SCALES))
    return {
        "n_levels": n_levels,
        "radius": radius,
        "growth": growth,
        "discount": draw(st.booleans()),
        "top": draw(st.sampled_from(["regularised", "pseudo-inverse"])),
    }


def ring(size, first=0):
    return [(first + i, first + (i + 1) % size) for i in range(size)]


# The definition


@given(graph_batches(min_graphs=1, max_graphs=3, max_nodes=6, attributes=True), scales())
@settings(max_examples=20)
def test_exact_is_the_definition(batch, options):
    for features in FEATURES:
        kernel = MultiscaleLaplacian(**options, vertex_features=features, method="exact")
        expected = laplacian.multiscale_laplacian_gram(batch, features=features, **options)
        np.testing.assert_allclose(kernel.fit_transform(batch), expected, atol=1e-6)


@given(graph_batches(min_graphs=2, max_graphs=4, max_nodes=6), scales())
@settings(max_examples=20)
def test_exact_on_new_graphs_is_the_definition_of_the_pair(batch, options):
    kernel = MultiscaleLaplacian(**options, method="exact").fit(batch[:1])
    expected = laplacian.multiscale_laplacian_gram(batch[1:], batch[:1], **options)
    found = kernel.transform(batch[1:])
    np.testing.assert_allclose(found, expected, atol=1e-6)
    alone = np.vstack([kernel.transform(batch[i]) for i in range(1, len(batch))])
    np.testing.assert_allclose(alone, found, atol=1e-12)


@given(graph_batches(min_graphs=1, max_graphs=5, attributes=True), scales(), st.booleans())
@settings(max_examples=25)
def test_low_rank_at_full_rank_is_exact(batch, scale, unique):
    for features in FEATURES:
        options = scale | {"vertex_features": features}
        exact = MultiscaleLaplacian(**options, method="exact").fit_transform(batch)
        low = MultiscaleLaplacian(**options, **FULL, unique_landmarks=unique).fit_transform(batch)
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
    "options",
    [
        {"method": "exact"},
        {"method": "exact", "discount": True, "top": "pseudo-inverse"},
        FULL,
        {"rank": 5, "n_landmarks": 12, "random_state": 3},
        {"rank": 5, "n_landmarks": 12, "random_state": 3, "unique_landmarks": True},
        {"rank": 5, "n_landmarks": 12, "random_state": 3, "discount": True},
    ],
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

    def drawn(graphs, n_landmarks):
        draw = LandmarkDraw(graphs, n_landmarks, np.random.RandomState(0))
        codes = np.zeros(graphs.n_nodes_total, dtype=np.int64)
        nodes = draw.by_features(codes)
        assert np.array_equal(nodes, draw.by_balls(np.zeros((1, 1)), codes))
        return nodes

    assert len(set(drawn(batch, 10).tolist())) == 10
    assert np.array_equal(drawn(batch, 10), drawn(batch, 10))
    assert np.array_equal(drawn(batch, n), np.arange(n))
    assert len(drawn(batch[:0], 5)) == 0


def test_the_draw_of_unique_landmarks():
    """Ten rings and a path with one label: the path has two kinds of balls of radius 1."""
    edges = [*(ring(6) for _ in range(10)), [(0, 1), (1, 2), (2, 3)]]
    batch = GraphBatch.from_edges(edges, n_nodes=[6] * 10 + [4])
    kernel = MultiscaleLaplacian(1, n_landmarks=2, unique_landmarks=True, random_state=0).fit(batch)
    (level,) = kernel.levels_.levels
    matrices = laplacian.distinct(list(level.landmarks.packed))
    assert len(level.landmarks) == 2
    assert len(matrices) == 2
    plenty = MultiscaleLaplacian(1, n_landmarks=50, unique_landmarks=True).fit(batch)
    assert len(plenty.levels_.levels[0].landmarks) == 2  # inner balls of a path are as in a ring
    with_repeats = MultiscaleLaplacian(1, n_landmarks=50, random_state=0).fit(batch)
    assert len(with_repeats.levels_.levels[0].landmarks) == 50
    np.testing.assert_allclose(
        plenty.transform(batch),
        MultiscaleLaplacian(1, method="exact").fit_transform(batch),
        atol=1e-8,
    )


@given(st.integers(0, 30), st.integers(1, 4), st.integers(0, 99))
def test_distinct_rows_are_those_of_the_definition(n, width, seed):
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, 3, size=(n, width)) + rng.choice([0.0, 1e-12, -1e-11], size=(n, width))
    kinds = distinct_rows(rows)
    assert np.unique(kinds).tolist() == laplacian.distinct(list(rows))
    assert all(abs(rows[i] - rows[kind]).max() < 1e-10 for i, kind in enumerate(kinds))


def test_distinct_rows_without_columns_are_one():
    assert distinct_rows(np.zeros((3, 0))).tolist() == [0, 0, 0]
    assert len(distinct_rows(np.zeros((0, 2)))) == 0


def test_a_discount_weighs_the_middle_of_a_ball():
    """Label b at the centre or at a leaf of a star: the same labels, with different weights."""
    star = [(0, i) for i in range(1, 4)]
    batch = GraphBatch.from_edges([star, star], node_labels=[list("baaa"), list("abaa")])
    values = [
        MultiscaleLaplacian(1, discount=discount, **FULL).fit_transform(batch)[0, 1]
        for discount in (False, True)
    ]
    expected = [
        laplacian.multiscale_laplacian_gram(batch, n_levels=1, discount=discount)[0, 1]
        for discount in (False, True)
    ]
    np.testing.assert_allclose(values, expected, atol=1e-8)
    assert abs(values[0] - values[1]) > 0.01


def test_pseudo_inverses_of_graphs_without_edges_are_zero():
    """S = γI for each of them, so all graphs without edges are equal."""
    batch = GraphBatch.from_edges([[], [], [(0, 1)]], n_nodes=[1, 3, 2])
    for method in ("lowrank", "exact"):
        kernel = MultiscaleLaplacian(0, top="pseudo-inverse", method=method, gamma=0.5)
        matrix = kernel.fit_transform(batch)
        assert matrix[0, 1] == pytest.approx(1)
        # One label: the vector (1, 1) of the edge's nodes is orthogonal to the only eigenvector.
        assert matrix[0, 2] == pytest.approx(1)
    labelled = GraphBatch.from_edges([[], [(0, 1)]], node_labels=[["a", "b"], ["a", "b"]])
    # S of the edge: γI + ½·½[[1, −1], [−1, 1]], determinant γ² + γ/2.
    kernel = MultiscaleLaplacian(0, top="pseudo-inverse", gamma=0.5)
    value = (0.25 * 0.5) ** 0.25 / (0.25 + 0.125) ** 0.5
    assert kernel.fit_transform(labelled)[0, 1] == pytest.approx(value)


def test_balls_that_grow_by_addition():
    assert MultiscaleLaplacian(4, radius=1.5, growth="add")._hops() == (1, 3, 4, 6)
    assert MultiscaleLaplacian(3, radius=1, growth="add")._hops() == (1, 2, 3)


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
    assert (exact <= low + 1e-12).all()  # the dropped directions would distinguish them


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


# What the levels distinguish


@pytest.mark.parametrize("method", ["lowrank", "exact"])
def test_each_level_sees_twice_as_far(method):
    # One ring of 2n nodes or two of n: equal for colour refinement, and for balls that do not
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


# Errors


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
        {"growth": "multiply"},
        {"discount": "yes"},
        {"top": "inverse"},
        {"unique_landmarks": 2.5},
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
    # One label, one size of balls: everything is one-dimensional, and nothing is singular.
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
    for top in ("regularised", "pseudo-inverse"):
        with pytest.raises(ValueError, match="Graph 1: D − A"):
            MultiscaleLaplacian(0, method=method, top=top).fit(negative)


@pytest.mark.parametrize("method", ["lowrank", "exact"])
def test_features_too_large_for_gamma(method):
    rows = [[[1e5, -1e5]] * 2, [[1e10, 1e10]] * 2]
    huge = GraphBatch.from_edges([[(0, 1)], [(0, 1)]], node_attributes=rows)
    kernel = MultiscaleLaplacian(method=method, vertex_features="attributes")
    with pytest.raises(ValueError, match=r"raph 1.* numerically singular"):
        kernel.fit_transform(huge)


def test_exact_says_how_much_memory_it_would_need(monkeypatch):
    monkeypatch.setattr(multiscale, "EXACT_BYTES", 1000)
    with pytest.raises(ValueError, match=r"would need 0\.0 GB .* the limit is .*lowrank"):
        MultiscaleLaplacian(method="exact").fit(random_graphs(0))
