"""The graphlet kernel, the mean kernel, and the distance and two-sample test based on it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gramlet import GraphBatch, GraphletKernel, WeisfeilerLehman, mean_kernel, mmd, mmd_test
from gramlet.discrepancy import mean_kernel as module
from reference.kernels import graphlets as reference
from reference.plain import gram, one_graph
from reference.strategies import graph_batches


def random_batch(sizes, density=0.4, seed=0):
    rng = np.random.default_rng(seed)
    edges = [np.argwhere(np.triu(rng.random((n, n)) < density, 1)) for n in sizes]
    return GraphBatch.from_edges(edges, n_nodes=list(sizes))


# The kernel


@given(graph_batches(min_graphs=1, max_graphs=4), st.sampled_from([3, 4]), st.booleans())
def test_kernel_is_that_of_the_definition(batch, k, connected_only):
    found = GraphletKernel(k, connected_only).fit_transform(batch)
    expected = gram(reference.graphlet_kernel, batch, k=k, connected_only=connected_only)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("k", [5, 6])
def test_large_graphlets(k):
    batch = random_batch([3, 6, 7, 8])
    found = GraphletKernel(k).fit_transform(batch)
    np.testing.assert_allclose(found, gram(reference.graphlet_kernel, batch, k=k), rtol=1e-12)


def test_features_are_named_by_their_edges():
    batch = random_batch([5, 6])
    kernel = GraphletKernel(3).fit(batch)
    assert kernel.get_feature_names_out().tolist() == [
        "3 nodes: no edges",
        "3 nodes: 0-1",
        "3 nodes: 0-1 0-2",
        "3 nodes: 0-1 0-2 1-2",
    ]
    connected = GraphletKernel(3, connected_only=True).fit(batch)
    assert connected.get_feature_names_out().tolist() == [
        "3 nodes: 0-1 0-2",
        "3 nodes: 0-1 0-2 1-2",
    ]
    assert connected.features(batch).shape == (2, 2)


@pytest.mark.parametrize("connected_only", [False, True])
def test_many_samples_tend_to_the_exact_spectra(connected_only):
    batch = random_batch([2, 6, 9, 30], 0.3)
    exact = GraphletKernel(4, connected_only).fit(batch).features(batch).toarray()
    errors = []
    for n_samples in (100, 40_000):
        kernel = GraphletKernel(
            4, connected_only, method="sample", n_samples=n_samples, random_state=0
        ).fit(batch)
        estimate = kernel.features(batch).toarray()
        sums = estimate.sum(axis=1)
        assert (np.isclose(sums, 1) | (sums == 0)).all()
        errors.append(np.abs(estimate - exact).sum(axis=1).max())
    assert errors[1] < 0.03 < errors[0]


def test_samples_of_a_graph_depend_on_it_alone():
    batch = random_batch([5, 6, 9, 12])
    kernel = GraphletKernel(5, method="sample", n_samples=100, random_state=1).fit(batch)
    features = kernel.features(batch).toarray()
    np.testing.assert_array_equal(kernel.features(batch[::-1]).toarray(), features[::-1])
    np.testing.assert_array_equal(kernel.features(batch[2]).toarray()[0], features[2])
    again = GraphletKernel(5, method="sample", n_samples=100, random_state=1).fit(batch[:1])
    np.testing.assert_array_equal(again.features(batch).toarray(), features)
    eight = GraphletKernel(8, method="sample", n_samples=50, random_state=1).fit(batch)
    assert eight.features(batch).shape == (4, 12346)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"k": 2}, "'k' parameter of GraphletKernel"),
        ({"k": 9, "method": "sample"}, "'k' parameter of GraphletKernel"),
        ({"k": 7}, r'method="exact"\) takes k from 3 to 6; got k=7. Use method="sample"'),
        ({"n_samples": 0}, "'n_samples' parameter of GraphletKernel"),
        ({"method": "guess"}, "'method' parameter of GraphletKernel"),
        ({"connected_only": 1.5}, "'connected_only' parameter of GraphletKernel"),
    ],
)
def test_wrong_parameters_are_named(params, message):
    with pytest.raises(ValueError, match=message):
        GraphletKernel(**params).fit(random_batch([5]))


# Mean kernel and distance

PAIRS = random_batch([2, 4, 5, 6], seed=3)


@pytest.mark.parametrize("k", [2, 3, 4])
@pytest.mark.parametrize("base", ["gaussian", "optical", "match"])
def test_mean_kernels_and_distances_are_those_of_the_definition(k, base):
    for i, j in ((0, 3), (2, 1), (3, 3)):
        G, H = PAIRS[i], PAIRS[j]
        plain = one_graph(G), one_graph(H)
        expected = reference.mean_kernel(*plain, k, base, 0.8)
        assert mean_kernel(G, H, k, base, 0.8) == pytest.approx(expected, rel=1e-12)
        distance = reference.mmd(*plain, k, base, 0.8)
        assert mmd(G, H, k, base, 0.8) == pytest.approx(distance, rel=1e-6, abs=1e-6)


def test_five_nodes_and_no_nodes():
    G, H = PAIRS[3], GraphBatch.from_edges([[]], n_nodes=[0])
    expected = reference.mean_kernel(one_graph(G), one_graph(H), 5)
    assert mean_kernel(G, H, 5) == pytest.approx(expected, rel=1e-12)
    assert mmd(H, H, 5) == 0.0
    assert mean_kernel(H, H, 3) == 1.0


def test_a_function_as_base_kernel():
    def corner(A, B):
        """A base kernel that is neither invariant nor symmetric."""
        return A[0, 1] + 2 * B[1, 2] * A[0, 2]

    G, H = PAIRS[1], PAIRS[2]
    expected = reference.mean_kernel(one_graph(G), one_graph(H), 3, corner)
    assert mean_kernel(G, H, 3, corner) == pytest.approx(expected)
    found = mean_kernel(G, H, 3, lambda A, B: reference.gaussian_kernel(A, B, 1.0))
    assert found == pytest.approx(mean_kernel(G, H, 3))
    with pytest.raises(ValueError, match="not finite"):
        mean_kernel(G, H, 3, lambda A, B: math.nan)


def test_other_forms_of_graphs():
    matrix = PAIRS.adjacency(2)
    assert mean_kernel(matrix, PAIRS[1], 3) == mean_kernel(PAIRS[2], PAIRS[1], 3)
    pair = ([(0, 1), (1, 2)], None)
    assert mmd(pair, pair, 3) == 0.0


def test_distances_of_embeddings():
    assert mmd(np.array([1.0, 2.0]), np.array([4.0, 6.0])) == 5.0
    with pytest.raises(ValueError, match="same length; got 2 and 3"):
        mmd(np.zeros(2), np.zeros(3))


def test_wrong_arguments_of_mean_kernels():
    G = PAIRS[1]
    for k in (1, 6, 3.0, True):
        with pytest.raises(ValueError, match="takes k from 2 to 5"):
            mean_kernel(G, G, k)
    with pytest.raises(TypeError, match="needs k"):
        mmd(G, G)
    with pytest.raises(ValueError, match="G must be one graph; got 4"):
        mean_kernel(PAIRS, G, 3)
    with pytest.raises(ValueError, match="base_kernel must be one of"):
        mean_kernel(G, G, 3, "round")
    for sigma in (0.0, -1.0, math.inf, "wide"):
        with pytest.raises(ValueError, match="sigma must be positive"):
            mean_kernel(G, G, 3, sigma=sigma)


def test_class_means_are_means_over_all_codes():
    means = module._class_means(3, "gaussian", 1.0)
    codes = [c for c in range(8) if reference.canonical(c, 3) == 3]
    kernel = np.mean(
        [
            reference.gaussian_kernel(reference.adjacency_of(a, 3), reference.adjacency_of(b, 3))
            for a in codes
            for b in codes
        ]
    )
    assert means[2, 2] == pytest.approx(kernel)


# Two samples


def test_statistic_is_the_squared_discrepancy():
    X, Y = random_batch([6, 7, 8]), random_batch([6, 7, 8, 9], 0.7, seed=1)
    K = GraphletKernel(3).fit_transform(GraphBatch.concatenate([X, Y]))
    expected = K[:3, :3].mean() + K[3:, 3:].mean() - 2 * K[:3, 3:].mean()
    for kernel in ("graphlet", GraphletKernel(3)):
        params = {"k": 3} if kernel == "graphlet" else {}
        outcome = mmd_test(X, Y, kernel, n_permutations=10, random_state=0, **params)
        assert outcome.statistic == pytest.approx(expected)


def test_different_distributions_are_told_apart_and_equal_ones_are_not():
    X, Y = random_batch([12] * 15, 0.3, seed=1), random_batch([12] * 15, 0.4, seed=2)
    for kernel in ("graphlet", "gsa-gaussian", WeisfeilerLehman(2, normalize=True)):
        outcome = mmd_test(X, Y, kernel, n_permutations=500, random_state=0)
        assert outcome.pvalue < 0.01
    same = mmd_test(X, random_batch([12] * 15, 0.3, seed=3), "graphlet", random_state=0)
    assert same.pvalue > 0.05


def test_p_values_are_uniform_under_the_hypothesis():
    batch = random_batch([10] * 400, 0.3, seed=4)
    p_values = [
        mmd_test(
            batch[i : i + 10], batch[i + 10 : i + 20], "graphlet", n_permutations=99, random_state=i
        ).pvalue
        for i in range(0, 400, 20)
    ]
    assert 0.3 < np.mean(p_values) < 0.7
    assert min(p_values) >= 0.01


def test_alike_graphs_have_p_value_one():
    X = random_batch([7] * 4)
    Z = GraphBatch.concatenate([X[0]] * 4)
    outcome = mmd_test(Z, Z, "graphlet", n_permutations=50, random_state=0)
    assert outcome.pvalue == 1.0
    assert outcome.statistic == pytest.approx(0.0, abs=1e-12)


def test_wrong_arguments_of_the_test():
    X = random_batch([7] * 4)
    with pytest.raises(ValueError, match="at least two graphs in Y; got 1"):
        mmd_test(X, X[:1])
    with pytest.raises(ValueError, match="n_permutations must be"):
        mmd_test(X, X, n_permutations=0)
