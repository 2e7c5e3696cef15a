"""Balls, covariances and signatures against plain loops and numpy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gramlet import GraphBatch
from gramlet.engine.core.hashes import node_signatures
from gramlet.engine.core.ragged import offsets_of
from gramlet.engine.laplacian import bhattacharyya, supports
from gramlet.engine.laplacian import covariances as engine
from gramlet.engine.laplacian.balls import ball_owners, ball_sizes
from gramlet.engine.laplacian.covariances import ball_covariances, graph_covariances, heat_diagonals
from reference.examples import random_graphs
from reference.kernels import laplacian
from reference.plain import plain_graphs
from reference.strategies import graph_batches, permuted


def balls(batch, hops):
    """The nodes of the ball around every node of the batch, numbered over the batch."""
    found = []
    for graph, first in zip(plain_graphs(batch), batch.node_offsets[:-1].tolist(), strict=True):
        found += [tuple(first + u for u in laplacian.ball(graph, v, hops)) for v in range(graph.n)]
    return found


def packed(matrices):
    rows, columns = np.tril_indices(matrices.shape[1])
    return np.ascontiguousarray(matrices[:, rows, columns])


def covariances(seed, n, order):
    roots = np.random.default_rng(seed).normal(size=(n, order, order + 2))
    return roots @ roots.transpose(0, 2, 1) + 0.01 * np.eye(order)


@given(graph_batches(max_graphs=4), st.integers(0, 4))
def test_balls_of_one_node_set_have_one_owner(batch, hops):
    expected = balls(batch, hops)
    owners = ball_owners(batch, hops)
    assert owners.tolist() == [expected.index(ball) for ball in expected]
    sizes = ball_sizes(batch, np.arange(batch.n_nodes_total), hops)
    assert sizes.tolist() == [len(ball) for ball in expected]


@given(graph_batches(max_graphs=3), st.integers(0, 3), st.integers(0, 3))
def test_covariances_of_balls_and_graphs(batch, hops, order):
    n = batch.n_nodes_total
    rows = np.random.default_rng(0).normal(size=(n, order))
    found = ball_covariances(batch, np.arange(n), hops, rows, 0.3, 0.2)
    whole = graph_covariances(batch, rows, 0.3, 0.2)
    at = 0
    for g, graph in enumerate(plain_graphs(batch)):
        first = at
        everything = laplacian.covariance(graph, rows[first : first + graph.n].T, 0.3, 0.2)
        np.testing.assert_allclose(whole[g], packed(everything[None])[0], atol=1e-9)
        for v in range(graph.n):
            nodes = laplacian.ball(graph, v, hops)
            U = rows[[first + u for u in nodes]].T
            S = laplacian.covariance(laplacian.induced(graph, nodes), U, 0.3, 0.2)
            np.testing.assert_allclose(found[at], packed(S[None])[0], atol=1e-9)
            at += 1


@pytest.mark.parametrize("order", [0, 1, 2, 3, 10, 33, 260])
def test_pairs_of_covariances(order):
    n = 3 if order > 100 else 70  # more than one block of lanes, and not a multiple of it
    S = covariances(order, n, order)
    made = bhattacharyya.Covariances.build(packed(S), order)
    matrix = bhattacharyya.compare_self(made)
    for i, j in ((0, 1), (n - 1, 2), (n // 2, n - 1)):
        expected = laplacian.bhattacharyya_by_logarithms(S[i], S[j])
        assert matrix[i, j] == pytest.approx(expected, rel=1e-9)
    assert np.array_equal(matrix, matrix.T)
    assert np.array_equal(bhattacharyya.compare(made, made), matrix)
    weights = np.random.default_rng(1).normal(size=(n, 4))
    np.testing.assert_allclose(
        bhattacharyya.project(made, made, weights), matrix @ weights, atol=1e-10
    )


@pytest.mark.parametrize("scale", [1e-60, 1e60])
def test_determinants_far_out_of_the_range_of_numbers(scale):
    S = covariances(5, 2, 12)
    plain, scaled = (
        bhattacharyya.compare_self(bhattacharyya.Covariances.build(packed(factor * S), 12))
        for factor in (1.0, scale)
    )
    np.testing.assert_allclose(scaled, plain, rtol=1e-10)


def test_supports_are_covariances_with_gamma_elsewhere():
    gamma, n, width = 0.3, 12, 6
    rng = np.random.default_rng(2)
    chosen = [np.flatnonzero(rng.random(width) < 0.5) for _ in range(n)]
    full, values = np.tile(gamma * np.eye(width), (n, 1, 1)), []
    for i, codes in enumerate(chosen):
        S = covariances(i, 1, len(codes))[0]
        full[i][np.ix_(codes, codes)] = S
        values.append(packed(S[None])[0])
    orders = np.array([len(codes) for codes in chosen])
    starts, entries = offsets_of(orders * (orders + 1) // 2), np.concatenate(values)
    logs, _ = supports.logs_and_pivots(orders, starts, entries)
    made = supports.SupportedCovariances(
        gamma, offsets_of(orders), np.concatenate(chosen), starts, entries, logs
    )
    expected = bhattacharyya.compare_self(bhattacharyya.Covariances.build(packed(full), width))
    np.testing.assert_allclose(supports.compare_supported_self(made), expected, rtol=1e-10)
    assert np.array_equal(
        supports.compare_supported(made, made), supports.compare_supported_self(made)
    )


def test_loops_start_again_where_their_arrays_are_too_small(monkeypatch):
    batch = random_graphs(6, n_graphs=9)
    n = batch.n_nodes_total
    rows = np.random.default_rng(1).normal(size=(n, 3))

    def everything():
        return [
            ball_covariances(batch, np.arange(n), 2, rows, 0.3, 0.2, discount=True),
            graph_covariances(batch, rows, 0.3, 0.2),
            engine.label_covariances(batch, np.arange(n) % 4, 0.3, 0.2)[-1],
        ]

    expected = everything()
    monkeypatch.setattr(engine, "_MOST_NODES", 1)
    sizes = []
    create = engine._Pieces._space

    def watched(spaces, most):
        sizes.append(most)
        return create(spaces, most)

    monkeypatch.setattr(engine._Pieces, "_space", watched)
    for found, whole in zip(everything(), expected, strict=True):
        assert np.array_equal(found, whole)
    assert 1 in sizes
    assert max(sizes) >= 8


def test_logs_and_pivots_of_matrices_of_several_orders():
    rng = np.random.default_rng(4)
    matrices = [covariances(i, 1, order)[0] for i, order in enumerate([3, 0, 1, 5, 3, 1, 9])]
    bad = [np.ones((3, 3)), np.zeros((2, 2)), -np.eye(2), np.diag([2.0, np.nan, 1.0])]
    bad.append(np.diag([-1.0, 2.0, 3.0]))
    orders = np.array([len(S) for S in matrices + bad])
    values = np.concatenate([S[np.tril_indices(len(S))] for S in matrices + bad])
    mixed = rng.permutation(len(orders))  # matrices of one order need not follow each other
    sizes = orders * (orders + 1) // 2
    pieces = np.split(values, np.cumsum(sizes)[:-1])
    logs, pivots = supports.logs_and_pivots(
        orders[mixed], offsets_of(sizes[mixed]), np.concatenate([pieces[i] for i in mixed])
    )
    back = np.argsort(mixed)
    logs, pivots = logs[back], pivots[back]
    expected = [np.linalg.slogdet(S)[1] for S in matrices]
    np.testing.assert_allclose(logs[: len(matrices)], expected, rtol=1e-12, atol=1e-12)
    for S, pivot in zip(matrices, pivots, strict=False):
        roots = np.diagonal(np.linalg.cholesky(S)) ** 2 if len(S) else np.ones(1)
        largest = np.diagonal(S).max() if len(S) else 1.0
        assert pivot == pytest.approx(roots.min() / largest, rel=1e-12)
    assert pivots[len(matrices) :].tolist() == [0.0] * len(bad)
    assert np.isnan(logs[len(matrices) :]).all()


def test_pivots_tell_singular_matrices():
    good, flat = covariances(3, 1, 3)[0], np.ones((3, 3))
    ratios = bhattacharyya.smallest_pivots(packed(np.stack([good, flat, 0 * flat, -good])), 3)
    assert ratios[0] > 1e-6
    assert (ratios[1:] < 1e-15).all()


@given(graph_batches(max_graphs=4, attributes=False))
@settings(max_examples=25)
def test_heat(batch):
    found = heat_diagonals(batch, np.array([0.1, 2.0]))
    expected = [
        laplacian.vertex_features(graph, "heat", heat_times=(0.1, 2.0))
        for graph in plain_graphs(batch)
    ]
    np.testing.assert_allclose(found, np.concatenate([np.zeros((0, 2)), *expected]), atol=1e-9)


def test_signatures_follow_the_nodes():
    batch = random_graphs(4, n_graphs=8)
    signatures = np.sort(node_signatures(batch, 3))
    shuffled = permuted(batch, np.random.default_rng(0))
    assert np.array_equal(np.sort(node_signatures(shuffled, 3)), signatures)
    assert np.array_equal(np.sort(node_signatures(batch[::-1], 3)), signatures)
    # The ends of a path are equivalent, the middle is not; labels and weights matter.
    path = GraphBatch.from_edges([[(0, 1), (1, 2)]])
    a, b, c = node_signatures(path, 2)
    assert a == c != b
    for changed in (
        GraphBatch.from_edges([[(0, 1), (1, 2)]], edge_weights=[[1.0, 2.0]]),
        GraphBatch.from_edges([[(0, 1), (1, 2)]], node_labels=[["x", "x", "y"]]),
        GraphBatch.from_edges([[(0, 1), (1, 2)]], edge_labels=[["x", "y"]]),
        GraphBatch.from_edges([[(0, 1), (1, 2)]], node_attributes=[[[0.0], [0.0], [1.0]]]),
    ):
        assert len(set(node_signatures(changed, 2).tolist())) == 3
