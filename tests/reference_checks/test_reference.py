"""The plain definitions against values computed by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from gramlet import GraphBatch
from reference.examples import bare, molecules, random_graphs
from reference.kernels import histograms, wasserstein, weisfeiler_lehman
from reference.plain import diagonal, gram, plain_graphs


@pytest.fixture(scope="module", name="molecules")
def molecules_fixture():
    return molecules()


@pytest.fixture(scope="module", name="bare")
def bare_fixture():
    return bare()


# Plain graphs


def test_plain_graph_reads_every_column():
    batch = GraphBatch.from_edges(
        [[], [(2, 0), (1, 2)]],
        n_nodes=[1, 3],
        node_labels=[["a"], ["a", "b", "c"]],
        edge_labels=[[], ["x", "y"]],
        edge_weights=[[], [2.0, 3.0]],
        node_attributes=[[[1.0]], [[2.0], [3.0], [4.0]]],
    )
    graph = plain_graphs(batch)[1]
    assert graph.n == 3
    assert graph.neighbours == [[2], [2], [0, 1]]
    assert graph.labels == ["a", "b", "c"]
    assert graph.edge_labels == {(0, 2): "x", (2, 0): "x", (1, 2): "y", (2, 1): "y"}
    assert graph.weights == {(0, 2): 2.0, (2, 0): 2.0, (1, 2): 3.0, (2, 1): 3.0}
    assert graph.attributes.tolist() == [[2.0], [3.0], [4.0]]
    assert graph.edges() == [(0, 2), (1, 2)]
    np.testing.assert_array_equal(graph.adjacency(weighted=True), batch.adjacency(1, weighted=True))


# Histograms


def test_vertex_histogram(molecules, bare):
    # C:2 O:1 and C:1 N:1: 4 + 1 = 5, 2·1 = 2, 1 + 1 = 2.
    np.testing.assert_array_equal(gram(histograms.vertex_histogram, molecules), [[5, 2], [2, 2]])
    # Without labels all nodes are equal: products of the sizes 3, 3, 2, 0.
    sizes = np.array([3, 3, 2, 0])
    np.testing.assert_array_equal(
        gram(histograms.vertex_histogram, bare), np.multiply.outer(sizes, sizes)
    )


def test_normalised_gram_is_zero_where_a_norm_is_zero(bare):
    expected = np.ones((4, 4))
    expected[3] = expected[:, 3] = 0
    np.testing.assert_allclose(
        gram(histograms.vertex_histogram, bare, normalize=True), expected, rtol=1e-15
    )


def test_edge_histogram(molecules):
    # {C,C}, {C,O} against {C,N}.
    np.testing.assert_array_equal(gram(histograms.edge_histogram, molecules), [[2, 0], [0, 1]])
    # Both orders of the ends are the same type; another edge label is another type.
    flipped = GraphBatch.from_edges(
        [[(0, 1)], [(0, 1)], [(0, 1)]],
        node_labels=[["C", "N"], ["N", "C"], ["C", "N"]],
        edge_labels=[["single"], ["single"], ["double"]],
    )
    np.testing.assert_array_equal(
        gram(histograms.edge_histogram, flipped), [[1, 1, 0], [1, 1, 0], [0, 0, 1]]
    )


def test_r_convolution_over_nodes_is_the_vertex_histogram(molecules):
    matrix = histograms.r_convolution_gram(
        molecules,
        molecules,
        decompose=lambda graph: [(label,) for label in graph.node_labels],
        kernels=[lambda a, b: float(a == b)],
    )
    np.testing.assert_array_equal(matrix, [[5, 2], [2, 2]])


# Weisfeiler-Lehman


def test_weisfeiler_lehman_of_two_molecules(molecules):
    # Level 0: [[5, 2], [2, 2]]. Level 1: C(C), C(C,O), O(C) and C(N), N(C): [[3, 0], [0, 2]].
    np.testing.assert_array_equal(
        gram(weisfeiler_lehman.weisfeiler_lehman, molecules, n_iter=1), [[8, 2], [2, 4]]
    )
    np.testing.assert_array_equal(
        gram(weisfeiler_lehman.weisfeiler_lehman, molecules, n_iter=1, include_initial=False),
        [[3, 0], [0, 2]],
    )
    # Minima instead of products: level 0 [[3, 1], [1, 2]], level 1 [[3, 0], [0, 2]].
    np.testing.assert_array_equal(
        gram(weisfeiler_lehman.wl_optimal_assignment, molecules, n_iter=1), [[6, 1], [1, 4]]
    )


def test_weisfeiler_lehman_of_bare_graphs(bare):
    # Level 1 distinguishes degrees: path 1, 2, 1; triangle 2, 2, 2; edgeless 0, 0.
    np.testing.assert_array_equal(
        gram(weisfeiler_lehman.weisfeiler_lehman, bare, n_iter=1),
        [[9 + 5, 9 + 3, 6, 0], [9 + 3, 9 + 9, 6, 0], [6, 6, 4 + 4, 0], [0, 0, 0, 0]],
    )


def test_weisfeiler_lehman_edge_base(bare):
    # Level 0: edges 2 and 3, all equal: [[4, 6], [6, 9]]. Level 1: the path's join degrees 1 and 2,
    # the triangle's 2 and 2: [[4, 0], [0, 9]].
    np.testing.assert_array_equal(
        gram(weisfeiler_lehman.weisfeiler_lehman, bare[:2], n_iter=1, base="edge"),
        [[8, 6], [6, 18]],
    )


def test_weisfeiler_lehman_shortest_path_base(bare):
    # Level 0: lengths 1, 1, 2 and 1, 1, 1: [[5, 6], [6, 9]].
    # Level 1, degrees: the path has {1,2}/1 twice and {1}/2 once; the triangle {2}/1 three times.
    np.testing.assert_array_equal(
        gram(weisfeiler_lehman.weisfeiler_lehman, bare[:2], n_iter=1, base="shortest-path"),
        [[10, 6], [6, 18]],
    )


def test_edge_labels_refine_colours_only_when_asked():
    batch = GraphBatch.from_edges([[(0, 1)], [(0, 1)]], edge_labels=[["x"], ["y"]])
    kernel = weisfeiler_lehman.weisfeiler_lehman
    np.testing.assert_array_equal(gram(kernel, batch, n_iter=1), [[8, 8], [8, 8]])
    np.testing.assert_array_equal(
        gram(kernel, batch, n_iter=1, use_edge_labels=True), [[8, 4], [4, 8]]
    )


def test_optimal_assignment(molecules):
    kernel = weisfeiler_lehman.optimal_assignment
    np.testing.assert_array_equal(gram(kernel, molecules), [[3, 1], [1, 2]])
    np.testing.assert_array_equal(gram(kernel, molecules, base="edge"), [[2, 0], [0, 1]])


def test_an_unseen_label_matches_nothing_and_counts_in_its_own_norm(molecules):
    new = GraphBatch.from_edges([[(0, 1)]], node_labels=[["Au", "C"]])
    kernel = weisfeiler_lehman.weisfeiler_lehman
    # Level 0: one C against two and one; level 1: C next to Au is unique.
    np.testing.assert_array_equal(gram(kernel, new, molecules, n_iter=1), [[2, 1]])
    np.testing.assert_array_equal(diagonal(kernel, new, n_iter=1), [4])


def test_no_level_left_is_an_error(molecules):
    with pytest.raises(ValueError, match="No level"):
        weisfeiler_lehman.weisfeiler_lehman(
            molecules[0], molecules[1], n_iter=0, include_initial=False
        )


# Wasserstein


def test_transport_cost_by_hand():
    # 1/2 at 0 and 1/2 at 3 against all at 1: ½·1 + ½·2.
    assert wasserstein.transport_cost([0.5, 0.5], [1.0], [[1.0], [2.0]]) == pytest.approx(1.5)
    # On a line, masses (¾, ¼) at 0, 1 to (¼, ¾) at 0, 1: half the mass moves by 1.
    assert wasserstein.transport_cost(
        [0.75, 0.25], [0.25, 0.75], [[0, 1], [1, 0]]
    ) == pytest.approx(0.5)


def test_wwl_distance_by_hand(molecules, bare):
    # Level 0: C ⅔, O ⅓ against C ½, N ½ share ½; level 1 shares nothing: (½ + 1)/2.
    assert wasserstein.wwl_distance(molecules[0], molecules[1], n_iter=1) == pytest.approx(0.75)
    # Path and triangle: level 0 shares all; level 1 one node in three of degree 2: (0 + ⅔)/2.
    distances = gram(wasserstein.wwl_distance, bare, n_iter=1)
    expected = [[0, 1 / 3, 1 / 2, 1], [1 / 3, 0, 1 / 2, 1], [1 / 2, 1 / 2, 0, 1], [1, 1, 1, 0]]
    np.testing.assert_allclose(distances, expected, atol=1e-15)
    kernel = gram(wasserstein.wasserstein_wl, bare, n_iter=1, gamma=2.0)
    np.testing.assert_allclose(kernel, np.exp(-2 * np.array(expected)))


@pytest.mark.parametrize("include_initial", [True, False])
@pytest.mark.parametrize("use_edge_labels", [True, False])
def test_wwl_closed_form_is_the_transport_cost(include_initial, use_edge_labels):
    batch = random_graphs(0)
    options = {
        "n_iter": 2,
        "include_initial": include_initial,
        "use_edge_labels": use_edge_labels,
    }
    np.testing.assert_allclose(
        gram(wasserstein.wwl_distance, batch, **options),
        gram(wasserstein.wwl_distance_by_transport, batch, **options),
        atol=1e-9,
    )


def test_continuous_wwl_by_hand():
    # An edge with attributes 0 and 2, and one node with 3. Means: a_1 = (1, 1) and (3).
    batch = GraphBatch.from_edges([[(0, 1)], [], []], node_attributes=[[[0.0], [2.0]], [[3.0]], []])
    distance = wasserstein.continuous_wwl_distance
    # Node vectors (0, 1), (2, 1) to (3, 3), half the mass each.
    expected = (math.hypot(3, 2) + math.hypot(1, 2)) / 2
    assert distance(batch[0], batch[1], n_iter=1) == pytest.approx(expected)
    # Level 1 alone: 1 to 3.
    assert distance(batch[0], batch[1], n_iter=1, include_initial=False) == pytest.approx(2.0)
    kernel = gram(wasserstein.continuous_wasserstein_wl, batch, n_iter=1)
    np.testing.assert_allclose(
        kernel, [[1, math.exp(-expected), 0], [math.exp(-expected), 1, 0], [0, 0, 1]]
    )
    with pytest.raises(ValueError, match="empty"):
        distance(batch[0], batch[2])


def test_continuous_wwl_weighs_neighbours():
    # The middle node's neighbours 0 and 4 at weights 1 and 3: mean 3, then ½(2 + 3).
    path = GraphBatch.from_edges(
        [[(0, 1), (1, 2)]], edge_weights=[[1.0, 3.0]], node_attributes=[[[0.0], [2.0], [4.0]]]
    )
    levels = wasserstein.attribute_levels(path, n_iter=1)
    np.testing.assert_allclose(levels, [[0, 1], [2, 2.5], [4, 3]])
