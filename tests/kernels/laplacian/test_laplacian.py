"""The Laplacian kernels of one scale: plain definitions, exact values, and errors."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gramlet import FeatureLaplacian, GraphBatch, LaplacianKernel
from reference.examples import bare, molecules, random_graphs
from reference.kernels import laplacian
from reference.plain import gram
from reference.strategies import graph_batches, permuted

FEATURES = ("labels", "degree", "attributes", "heat")
etas = st.sampled_from([0.01, 0.1, 1.0])
gammas = st.sampled_from([0.01, 0.5])


def gaussian(P, Q):
    return np.exp(-((P[:, None, :] - Q[None, :, :]) ** 2).sum(axis=2))


def same_size(seed, n_graphs=4, n_nodes=5):
    rng = np.random.default_rng(seed)
    edges = [
        [(u, v) for u in range(n_nodes) for v in range(u) if rng.random() < 0.5]
        for _ in range(n_graphs)
    ]
    weights = [rng.choice([0.5, 1.0, 2.0], len(part)).tolist() for part in edges]
    return GraphBatch.from_edges(edges, n_nodes=[n_nodes] * n_graphs, edge_weights=weights)


# The plain definitions


@given(graph_batches(min_graphs=1, max_graphs=4, attributes=True), etas, gammas)
@settings(max_examples=15)
def test_feature_laplacian_is_the_definition(batch, eta, gamma):
    for features in FEATURES:
        kernel = FeatureLaplacian(eta, gamma, vertex_features=features)
        expected = gram(laplacian.feature_laplacian, batch, eta=eta, gamma=gamma, features=features)
        np.testing.assert_allclose(kernel.fit_transform(batch), expected, atol=1e-9)
        np.testing.assert_allclose(kernel.transform(batch), expected, atol=1e-9)


@given(graph_batches(min_graphs=2, max_graphs=5, labels=True), etas)
@settings(max_examples=15)
def test_labels_of_new_graphs_have_columns_of_their_own(batch, eta):
    new, fitted = batch[1:], batch[:1]
    kernel = FeatureLaplacian(eta).fit(fitted)
    expected = gram(laplacian.feature_laplacian, new, fitted, eta=eta)
    np.testing.assert_allclose(kernel.transform(new), expected, atol=1e-9)
    assert np.array_equal(kernel.diagonal(new), np.ones(len(new)))


@pytest.mark.parametrize("features", FEATURES)
@pytest.mark.parametrize("base", [gaussian, lambda P, Q: (1.0 + P @ Q.T) ** 2], ids=["rbf", "poly"])
def test_base_kernel_is_the_kernelised_form(features, base):
    fitted, new = random_graphs(1), random_graphs(2)
    kernel = FeatureLaplacian(vertex_features=features, base_kernel=base)
    options = {"base_kernel": base, "features": features}
    definition = laplacian.kernelised_feature_laplacian
    np.testing.assert_allclose(
        kernel.fit_transform(fitted), gram(definition, fitted, **options), atol=1e-7
    )
    np.testing.assert_allclose(
        kernel.transform(new), gram(definition, new, fitted, **options), atol=1e-7
    )
    np.testing.assert_allclose(kernel.transform(fitted), kernel.fit_transform(fitted), atol=1e-9)


@given(graph_batches(min_graphs=2, max_graphs=4, attributes=True))
@settings(max_examples=10)
def test_the_dot_product_as_base_kernel_changes_nothing(batch):
    for features in FEATURES:
        plain = FeatureLaplacian(vertex_features=features).fit(batch[:1])
        lifted = FeatureLaplacian(vertex_features=features, base_kernel=lambda P, Q: P @ Q.T)
        np.testing.assert_allclose(
            lifted.fit(batch[:1]).transform(batch), plain.transform(batch), atol=1e-8
        )


@pytest.mark.parametrize(("eta", "gamma"), [(0.1, 0.01), (1.0, 0.5), (0.5, 0.0)])
def test_laplacian_kernel_is_the_definition(eta, gamma):
    batch = same_size(3)
    kernel = LaplacianKernel(eta, gamma)
    expected = gram(laplacian.laplacian_kernel, batch, eta=eta, gamma=gamma)
    np.testing.assert_allclose(kernel.fit_transform(batch), expected, atol=1e-10)
    assert np.array_equal(kernel.transform(batch), kernel.fit_transform(batch))
    shuffled = permuted(batch, np.random.default_rng(0))
    assert not np.allclose(kernel.transform(shuffled), expected)


def test_laplacian_kernel_of_many_nodes():
    # Above and below the order from which LAPACK factorises.
    for n_nodes in (40, 300):
        batch = same_size(4, n_graphs=3, n_nodes=n_nodes)
        matrix = LaplacianKernel(1.0, 0.1).fit_transform(batch)
        covariances = [
            np.linalg.inv(laplacian.regularised_laplacian(batch[i], 1.0)) + 0.1 * np.eye(n_nodes)
            for i in range(3)
        ]
        expected = laplacian.bhattacharyya_by_logarithms(covariances[0], covariances[2])
        assert matrix[0, 2] == pytest.approx(expected, rel=1e-9)
        assert np.array_equal(matrix, matrix.T)


def test_a_callable_sees_one_graph_at_a_time():
    batch = random_graphs(6)

    def features(graph):
        assert len(graph) == 1
        return np.column_stack([graph.degrees, graph.degrees**2])

    kernel = FeatureLaplacian(vertex_features=features)
    expected = gram(
        laplacian.feature_laplacian,
        batch,
        features=lambda plain: np.array(
            [[plain.degree(v), plain.degree(v) ** 2] for v in range(plain.n)], float
        ).reshape(plain.n, 2),
    )
    np.testing.assert_allclose(kernel.fit_transform(batch), expected, atol=1e-9)


# Exact values


@pytest.mark.parametrize("features", FEATURES)
def test_self_similarity_is_exactly_one(features):
    batch = random_graphs(7, n_graphs=40)
    kernel = FeatureLaplacian(vertex_features=features).fit(batch)
    matrix = kernel.transform(batch)
    assert np.array_equal(np.diagonal(matrix), np.ones(40))
    assert matrix.max() == 1.0
    assert np.array_equal(matrix, kernel.fit_transform(batch))


@pytest.mark.parametrize("features", FEATURES)
def test_invariant_to_relabelling(features):
    batch = random_graphs(8, n_graphs=12)
    kernel = FeatureLaplacian(vertex_features=features)
    shuffled = permuted(batch, np.random.default_rng(1))
    np.testing.assert_allclose(
        kernel.fit_transform(shuffled), kernel.fit_transform(batch), atol=1e-10
    )


def test_many_labels_are_no_more_work_than_those_that_occur():
    n = 3000
    batch = GraphBatch.from_edges(
        [[(0, 1)]] * n, node_labels=[[f"a{i}", f"b{i}"] for i in range(n)]
    )
    matrix = FeatureLaplacian(1.0, 1.0).fit_transform(batch)
    # No common label: |S| = 8/3 on two labels and 1 on the others, |(S + I)/2|² for the mean.
    half = np.linalg.det(np.array([[5 / 3 + 1, 1 / 3], [1 / 3, 5 / 3 + 1]]) / 2)
    assert matrix[0, 1] == pytest.approx(math.sqrt(8 / 3) / half)
    assert np.unique(matrix.round(12)).size == 2


def test_large_graphs_neither_overflow_nor_underflow():
    rng = np.random.default_rng(9)
    edges = [[(i, i + 1) for i in range(999)], rng.permutation(2000).reshape(-1, 2) % 1000]
    edges[1] = [(u, v) for u, v in edges[1].tolist() if u != v]
    batch = GraphBatch.from_edges(
        edges, n_nodes=[1000, 1000], node_labels=rng.integers(5, size=(2, 1000)).tolist()
    )
    for features in ("labels", "degree", "heat"):
        matrix = FeatureLaplacian(vertex_features=features).fit_transform(batch)
        assert np.isfinite(matrix).all()
        assert 0 < matrix[0, 1] < 1


def test_features_that_are_all_zero():
    # Without edges all degrees are 0, so S = γI and k = 1; with an edge k < 1.
    batch = GraphBatch.from_edges([[], [], [(0, 1)]], n_nodes=[2, 0, 2])
    matrix = FeatureLaplacian(1.0, 1.0, vertex_features="degree").fit_transform(batch)
    other = 3**0.25 / math.sqrt(2)
    np.testing.assert_allclose(matrix, [[1, 1, other], [1, 1, other], [other, other, 1]])


@pytest.mark.parametrize("features", FEATURES)
def test_fitted_on_graphs_without_nodes(features):
    nothing = GraphBatch.from_edges([[], []], n_nodes=[0, 0])
    batch = random_graphs(10)
    kernel = FeatureLaplacian(vertex_features=features)
    assert np.array_equal(kernel.fit_transform(nothing), np.ones((2, 2)))
    expected = gram(laplacian.feature_laplacian, batch, nothing, features=features)
    np.testing.assert_allclose(kernel.transform(batch), expected, atol=1e-10)


# γ = 0


def test_without_softening_only_graphs_with_the_same_labels_overlap():
    batch = GraphBatch.from_edges(
        [[(0, 1)], [(0, 1), (1, 2)], [], []],
        n_nodes=[2, 3, 1, 0],
        node_labels=[["C", "O"], ["C", "O", "C"], ["C"], []],
    )
    matrix = FeatureLaplacian(0.5, 0.0).fit_transform(batch)
    # If one label is not shared, k decreases like γ^¼.
    limit = FeatureLaplacian(0.5, 1e-12).fit_transform(batch)
    np.testing.assert_allclose(matrix, limit, atol=3e-3)
    assert np.count_nonzero(matrix) == 6
    assert np.array_equal(np.diagonal(matrix), np.ones(4))
    assert 0 < matrix[0, 1] < 1


def test_without_softening_attributes_must_be_independent():
    batch = GraphBatch.from_edges(
        [[(0, 1)], [(0, 1)]], node_attributes=[[[1.0, 0.0], [0.0, 2.0]], [[1.0, 1.0], [3.0, 2.0]]]
    )
    matrix = FeatureLaplacian(1.0, 0.0, vertex_features="attributes").fit_transform(batch)
    expected = gram(laplacian.feature_laplacian, batch, eta=1.0, gamma=0.0, features="attributes")
    np.testing.assert_allclose(matrix, expected, atol=1e-12)
    dependent = GraphBatch.from_edges([[(0, 1)]], node_attributes=[[[1.0, 2.0], [2.0, 4.0]]])
    with pytest.raises(ValueError, match=r"Graph 1: .* is singular.*gamma > 0"):
        FeatureLaplacian(1.0, 0.0, vertex_features="attributes").fit(
            GraphBatch.concatenate([batch[:1], dependent])
        )
    equal = GraphBatch.from_edges([[(0, 1)]], node_attributes=[np.ones((2, 4))])
    with pytest.raises(ValueError, match=r"Graph 0: .* is singular.*gamma > 0"):
        FeatureLaplacian(1.0, 0.0, vertex_features="attributes").fit(equal)


# Errors


@pytest.mark.parametrize("kernel", [LaplacianKernel, FeatureLaplacian])
@pytest.mark.parametrize(
    "params", [{"eta": 0}, {"eta": -1.0}, {"gamma": -0.1}, {"eta": math.nan}, {"gamma": math.inf}]
)
def test_parameters_out_of_range(kernel, params):
    (name,) = params
    with pytest.raises(ValueError, match=f"'{name}' parameter of {kernel.__name__}"):
        kernel(**params).fit(molecules()[:1])


def test_laplacian_kernel_needs_graphs_of_one_size():
    with pytest.raises(ValueError, match="graph 1 has 2 nodes, the first fitted graph has 3"):
        LaplacianKernel().fit(molecules())
    kernel = LaplacianKernel().fit(same_size(0))
    with pytest.raises(ValueError, match=r"graph 0 has 3 nodes.*has 5"):
        kernel.transform(molecules()[:1])


@pytest.mark.parametrize(
    ("features", "message"),
    [
        ("colour", "'vertex_features' parameter of FeatureLaplacian"),
        (lambda graph: np.ones(graph.sizes[0]), r"one row per node; for graph 0.*shape \(3,\)"),
        (lambda graph: np.ones((1, 2)), "graph 0, with 3 nodes"),
        (lambda graph: np.full((graph.sizes[0], 1), np.nan), "node 0 of graph 0 are not finite"),
        (lambda graph: "none", "for graph 0 it gave a str"),
        (lambda graph: np.ones((graph.sizes[0], graph.sizes[0])), "2 columns for graph 1, but 3"),
    ],
)
def test_features_that_cannot_be_used(features, message):
    with pytest.raises(ValueError, match=message):
        FeatureLaplacian(vertex_features=features).fit(molecules())


@pytest.mark.parametrize("times", [(), (-1.0,), (math.nan,), ("a",)])
def test_heat_times_that_cannot_be_used(times):
    with pytest.raises(ValueError, match="'heat_times' parameter of FeatureLaplacian"):
        FeatureLaplacian(vertex_features="heat", heat_times=times).fit(molecules())


def test_attributes_that_are_missing_or_not_finite():
    with pytest.raises(ValueError, match="needs node attributes, but graph 0 has none"):
        FeatureLaplacian(vertex_features="attributes").fit(molecules())
    broken = GraphBatch.from_edges([[], []], node_attributes=[[[1.0]], [[0.0], [np.nan]]])
    with pytest.raises(ValueError, match="node 1 of graph 1 are not finite"):
        FeatureLaplacian(vertex_features="attributes").fit(broken)
    kernel = FeatureLaplacian(vertex_features="attributes").fit(broken[:1])
    with pytest.raises(ValueError, match="fitted on graphs with 1 attributes per node"):
        kernel.transform(GraphBatch.from_edges([[]], node_attributes=[[[1.0, 2.0]]]))


@pytest.mark.parametrize("kernel", [LaplacianKernel(), FeatureLaplacian()])
def test_weights_that_make_no_laplacian(kernel):
    def weighted(weight):
        return GraphBatch.from_edges([[(0, 1)], [(0, 1)]], edge_weights=[[1.0], [weight]])

    with pytest.raises(ValueError, match=r"Graph 1: D − A .* not positive definite.*eta"):
        kernel.fit(weighted(-2.0))
    with pytest.raises(ValueError, match=r"edge .* of graph 1 has weight nan"):
        kernel.fit(weighted(np.nan))
    assert np.isfinite(kernel.fit_transform(weighted(0.0))).all()


def test_features_too_large_for_gamma():
    huge = GraphBatch.from_edges([[], []], node_attributes=[[[1.0, 0.0]], [[1e10, 1e10]]])
    with pytest.raises(ValueError, match=r"Graph 1: .* numerically singular.*gamma"):
        FeatureLaplacian(vertex_features="attributes").fit(huge)


@pytest.mark.parametrize(
    ("base", "message"),
    [
        (lambda P, Q: np.ones((1, 1)), r"here \(3, 3\); for graph 0 it gave \(1, 1\)"),
        (lambda P, Q: np.full((len(P), len(Q)), np.nan), "not finite for graph 0"),
        (lambda P, Q: -P @ Q.T, "Graph 0: .* not positive definite"),
        (
            lambda P, Q: 2 * np.ones((len(P), len(Q))) - gaussian(P, Q) * (len(P) == len(Q)),
            "Graph 0: .* not positive semi-definite",
        ),
    ],
)
def test_base_kernels_that_cannot_be_used(base, message):
    with pytest.raises(ValueError, match=message):
        FeatureLaplacian(base_kernel=base).fit(molecules())


def test_base_kernel_that_is_valid_in_graphs_but_not_across():
    # The kernel of two vertices is 1 within a graph and 5 between graphs.
    batch = GraphBatch.from_edges([[(0, 1)], [(0, 1)]], node_labels=[["a", "a"], ["b", "b"]])
    kernel = FeatureLaplacian(base_kernel=lambda P, Q: 5.0 - 4.0 * (P @ Q.T))
    with pytest.raises(ValueError, match="graph 0 and fitted graph 1 have no kernel value"):
        kernel.fit_transform(batch)


def test_base_kernel_needs_gamma():
    with pytest.raises(ValueError, match="'gamma' parameter of FeatureLaplacian must be above 0"):
        FeatureLaplacian(gamma=0, base_kernel=gaussian).fit(bare())
