"""The plain definitions on eigenvectors and Laplacians against values computed by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from gramlet import GraphBatch
from reference import rge
from reference.examples import bare
from reference.kernels import laplacian
from reference.plain import gram, plain_graphs

PATH, TRIANGLE, PAIR, EMPTY = bare()
EDGE = GraphBatch.from_edges([[(0, 1)]])
NODE = GraphBatch.from_edges([[]], n_nodes=[1])

HALF = math.sqrt(1 / 2)
THIRD = math.sqrt(1 / 3)


# Coordinates


def test_node_embeddings_by_hand():
    # The edge's Laplacian has eigenvalues 0 and 2; a third column does not exist.
    np.testing.assert_allclose(rge.node_embedding(EDGE, 3), [[HALF, HALF, 0]] * 2)
    # The path's: 0, 1, 2, with (½, √½, ½), (√½, 0, −√½), (½, −√½, ½).
    np.testing.assert_allclose(
        rge.node_embedding(PATH, 3),
        [[0.5, HALF, 0.5], [HALF, 0, HALF], [0.5, HALF, 0.5]],
        atol=1e-12,
    )
    # The triangle's: 0 and twice 1.5, whose projector has ⅔ on its diagonal, for two columns.
    np.testing.assert_allclose(rge.node_embedding(TRIANGLE, 3), [[THIRD] * 3] * 3)
    np.testing.assert_allclose(rge.node_embedding(TRIANGLE, 2), [[THIRD] * 2] * 3)
    # Without edges the Laplacian is I: one eigenspace.
    np.testing.assert_allclose(rge.node_embedding(PAIR, 3), [[HALF, HALF, 0]] * 2)
    assert rge.node_embedding(EMPTY, 3).shape == (0, 3)


def test_a_lone_node_beside_an_edge():
    # Eigenvalues 0 (the edge), 1 (the isolated node), 2 (the edge).
    graph = GraphBatch.from_edges([[(0, 1)]], n_nodes=[3])
    np.testing.assert_allclose(
        rge.node_embedding(graph, 3), [[HALF, 0, HALF], [HALF, 0, HALF], [0, 1, 0]], atol=1e-12
    )
    np.testing.assert_allclose(rge.node_masses(graph), [0.5, 0.5, 0])


def test_node_masses_by_hand():
    np.testing.assert_allclose(rge.node_masses(PATH), [0.25, 0.5, 0.25])
    np.testing.assert_allclose(rge.node_masses(PAIR), [0.5, 0.5])
    assert len(rge.node_masses(EMPTY)) == 0


def test_adjacency_embedding_orders_by_magnitude():
    # A triangle (2, −1, −1) beside a star with four leaves (2, −2, 0, 0, 0): the positive 2s first,
    # which share an eigenspace; then −2.
    edges = [(0, 1), (1, 2), (0, 2), (3, 4), (3, 5), (3, 6), (3, 7)]
    graph = GraphBatch.from_edges([edges])
    values, points = rge.adjacency_embedding(graph, 4)
    np.testing.assert_allclose(values, [2, 2, -2, -1], atol=1e-12)
    # The projector on 2: ⅓ on the triangle, ½ at the hub, ⅛ at a leaf; halved for two columns.
    np.testing.assert_allclose(points[:, 0] ** 2, [1 / 6] * 3 + [1 / 4] + [1 / 16] * 4)
    np.testing.assert_allclose(points[:, 2] ** 2, [0] * 3 + [1 / 2] + [1 / 8] * 4, atol=1e-12)
    np.testing.assert_allclose(points[:, 3] ** 2, [1 / 3] * 3 + [0] * 5, atol=1e-12)


# Earth mover's distances


def test_earth_movers_distance_by_hand():
    # In one dimension half the path's mass is at ½ and half at √½; the triangle is at √⅓.
    expected = ((THIRD - 0.5) + (HALF - THIRD)) / 2
    assert rge.earth_movers_distance(PATH, TRIANGLE, n_dims=1) == pytest.approx(expected)
    # The nodes of the edge and the two isolated nodes have the same coordinates.
    assert rge.earth_movers_distance(EDGE, PAIR) == pytest.approx(0, abs=1e-12)
    with pytest.raises(ValueError, match="empty"):
        rge.earth_movers_distance(PATH, EMPTY)


def test_labels_lengthen_the_way():
    nodes = GraphBatch.from_edges([[], []], n_nodes=[1, 1], node_labels=[["a"], ["b"]])
    distance = rge.earth_movers_distance
    assert distance(nodes[0], nodes[1]) == pytest.approx(math.sqrt(2))
    assert distance(nodes[0], nodes[1], label_weight=3.0) == pytest.approx(3 * math.sqrt(2))
    assert distance(nodes[0], nodes[1], use_labels=False) == pytest.approx(0)


def test_emd_kernel_of_empty_graphs():
    batch = GraphBatch.concatenate([PATH, EMPTY, EMPTY])
    np.testing.assert_allclose(
        gram(rge.emd_kernel, batch), [[1, 0, 0], [0, 1, 1], [0, 1, 1]], atol=1e-12
    )


def test_spectrum_repairs_by_hand():
    # Eigenvalues 3 on (1, 1)/√2 and −1 on (1, −1)/√2.
    fitted = np.array([[1.0, 2.0], [2.0, 1.0]])
    np.testing.assert_allclose(rge.repaired(fitted, "none"), fitted)
    np.testing.assert_allclose(rge.repaired(fitted, "clip"), [[1.5, 1.5], [1.5, 1.5]])
    np.testing.assert_allclose(rge.repaired(fitted, "flip"), [[2, 1], [1, 2]])
    np.testing.assert_allclose(rge.repaired(fitted, "shift"), [[2, 2], [2, 2]])
    for psd in ("none", "clip", "flip"):
        np.testing.assert_allclose(
            rge.repaired_rows(fitted, fitted, psd), rge.repaired(fitted, psd)
        )
    row = np.array([[1.0, 0.0]])
    np.testing.assert_allclose(rge.repaired_rows(row, fitted, "clip"), [[0.5, 0.5]])
    np.testing.assert_allclose(rge.repaired_rows(row, fitted, "flip"), [[0, 1]], atol=1e-12)
    np.testing.assert_allclose(rge.repaired_rows(row, fitted, "shift"), row)


def test_rge_features_by_hand():
    # Anchors at ½ and, two nodes of half the mass, at ½ and √½: the path is at distance
    # ½(√½ − ½) and 0.
    anchors = [(np.array([[0.5]]), np.array([1.0])), (np.array([[0.5], [HALF]]), np.full(2, 0.5))]
    batch = GraphBatch.concatenate([PATH, EMPTY])
    features = rge.rge_features(batch, anchors, n_dims=1, gamma=2.0)
    np.testing.assert_allclose(
        features, [[math.exp(-(HALF - 0.5)) * HALF, HALF], [0, 0]], atol=1e-9
    )


def test_rge_features_with_labels():
    # One node at (1), labelled: as far as √2·½ from an anchor there with the other label, and an
    # unseen label has a place of its own, just as far.
    nodes = GraphBatch.from_edges([[]] * 3, n_nodes=[1] * 3, node_labels=[["a"], ["b"], ["new"]])
    anchors = [(np.array([[1.0, 0.5, 0.0]]), np.array([1.0]))]
    features = rge.rge_features(nodes, anchors, 1, 1.0, alphabet=["a", "b"], label_weight=0.5)
    far = math.exp(-HALF)
    np.testing.assert_allclose(features, [[1], [far], [far]])


def test_largest_coordinate():
    # The only coordinate of the isolated node is 1.
    assert rge.largest_coordinate(GraphBatch.concatenate([PATH, TRIANGLE]), 3) == pytest.approx(
        HALF
    )
    assert rge.largest_coordinate(GraphBatch.concatenate([PATH, NODE]), 3) == pytest.approx(1)


# Pyramids and assignments


def test_pyramid_match_by_hand():
    kernel = rge.pyramid_match
    # A graph with itself matches all nodes in all dimensions.
    assert kernel(EDGE, EDGE, n_dims=2, n_levels=1) == 4
    # The isolated node is at (1, 0), the edge's at (√½, √½). One cell: 1 match per dimension.
    # Two cells: only in the upper half of the first dimension. 1 + (2 − 1)/2.
    assert kernel(EDGE, NODE, n_dims=2, n_levels=1) == 1.5
    # Four cells: √½·4 = 2.8 and 4 → cells 2 and 3, no match. 0 + (1 − 0)/2 + (2 − 1)/4.
    assert kernel(EDGE, NODE, n_dims=2, n_levels=2) == 0.75
    # A third dimension of zeros matches at every level.
    assert kernel(EDGE, NODE, n_dims=3, n_levels=2) == 1.75
    assert kernel(EDGE, EMPTY) == 0


def test_pyramid_match_of_labels():
    batch = GraphBatch.from_edges([[(0, 1)], [(0, 1)]], node_labels=[["a", "b"], ["a", "a"]])
    assert rge.pyramid_match(batch[0], batch[1], n_dims=2, n_levels=3) == 2
    assert rge.pyramid_match(batch[0], batch[1], n_dims=2, n_levels=3, labels=False) == 4


def test_matching_by_hand():
    # The edge's nodes are at (√½, √½); the path's ends at 2^¼(½, ½), its centre at 2^¼(√½, √½).
    batch = GraphBatch.concatenate([EDGE, PATH, EMPTY])
    scale = 2**0.25
    expected = np.array(
        [[2, scale * (1 + HALF), 0], [scale * (1 + HALF), math.sqrt(2) * 2, 0], [0, 0, 0]]
    )
    np.testing.assert_allclose(gram(rge.matching, batch, n_dims=2), expected, atol=1e-7)
    features = expected / 3
    np.testing.assert_allclose(
        rge.geometric_assignment_gram(batch, n_dims=2), features @ features.T, atol=1e-7
    )
    np.testing.assert_allclose(
        rge.geometric_assignment_gram(batch[:1], batch, n_dims=2),
        features[:1] @ features.T,
        atol=1e-7,
    )


# Laplacian kernels


def test_laplacian_kernel_by_hand():
    # η = γ = 1. The edge's covariance has 1 + 1 on (1, 1) and ⅓ + 1 on (1, −1); without the edge it
    # is 2 on both: the first direction agrees, the second gives (s s')^¼ / ((s + s')/2)^½.
    expected = (4 / 3 * 2) ** 0.25 / (5 / 3) ** 0.5
    assert laplacian.laplacian_kernel(EDGE, PAIR, 1.0, 1.0) == pytest.approx(expected)
    assert laplacian.laplacian_kernel(EMPTY, EMPTY, 1.0, 1.0) == 1
    with pytest.raises(ValueError, match="nodes"):
        laplacian.laplacian_kernel(EDGE, PATH, 1.0, 1.0)


def test_edge_weights_are_honoured():
    heavy = GraphBatch.from_edges([[(0, 1)]], edge_weights=[[3.0]])
    np.testing.assert_array_equal(
        laplacian.regularised_laplacian(heavy, 0.5), [[3.5, -3], [-3, 3.5]]
    )


def test_feature_laplacian_by_hand():
    kernel = laplacian.feature_laplacian
    # Degrees, η = γ = 1: the edge's (1, 1) gives 1ᵀL⁻¹1 + 1 = 3, no edge gives 1.
    value = kernel(EDGE, PAIR, 1.0, 1.0, features="degree")
    assert value == pytest.approx(3**0.25 / math.sqrt(2))
    # Labels: C-N has I + L⁻¹ = [[5, 1], [1, 5]]/3, of determinant 8/3; C alone diag(2, 1). Half
    # their sum is [[11, 1], [1, 8]]/6, of determinant 29/12.
    molecules = GraphBatch.from_edges([[(0, 1)], []], node_labels=[["C", "N"], ["C"]])
    value = kernel(molecules[0], molecules[1], 1.0, 1.0)
    assert value == pytest.approx((16 / 3) ** 0.25 / (29 / 12) ** 0.5)
    assert kernel(EMPTY, EMPTY) == 1
    # No node: S = γI. One node without labels: 1/η + γ.
    assert kernel(EMPTY, NODE, 1.0, 1.0) == pytest.approx(2**0.25 / 1.5**0.5)


def test_vertex_features_by_hand():
    heat = laplacian.vertex_features(EDGE, "heat", heat_times=(0.5, 2.0))
    expected = [(1 + math.exp(-1)) / 2, (1 + math.exp(-4)) / 2]
    np.testing.assert_allclose(heat, [expected, expected])
    np.testing.assert_array_equal(laplacian.vertex_features(PATH, "degree"), [[1], [2], [1]])
    doubled = laplacian.vertex_features(PATH, lambda graph: np.full((graph.sizes[0], 2), 2.0))
    np.testing.assert_array_equal(doubled, np.full((3, 2), 2.0))


def test_multiscale_laplacian_by_hand():
    # Single nodes a, a, b, η = γ = 1. Equal ones have kernel 1 at every level. Orthogonal ones:
    # diag(2, 1) against diag(1, 2), c = 2^½ / 1.5. From c the next is (2·2)^¼ over the root of
    # |I + diag((1 + c)/2, (1 − c)/2)| = (9 − c²)/4.
    batch = GraphBatch.from_edges([[]] * 3, n_nodes=[1] * 3, node_labels=[["a"], ["a"], ["b"]])

    def next_level(c):
        return math.sqrt(2) / math.sqrt((9 - c**2) / 4)

    c = math.sqrt(2) / 1.5
    assert next_level(0) == pytest.approx(c)
    for n_levels in (0, 1, 2):
        matrix = laplacian.multiscale_laplacian_gram(batch, n_levels=n_levels, eta=1.0, gamma=1.0)
        np.testing.assert_allclose(matrix, [[1, 1, c], [1, 1, c], [c, c, 1]])
        c = next_level(c)


def test_balls_and_induced_subgraphs():
    chain = plain_graphs(GraphBatch.from_edges([[(0, 1), (1, 2), (2, 3), (3, 4)]]))[0]
    assert [laplacian.ball(chain, 1, hops) for hops in (0, 1, 2)] == [[1], [0, 1, 2], [0, 1, 2, 3]]
    middle = laplacian.induced(chain, [1, 2, 4])
    assert middle.neighbours == [[1], [0], []]
