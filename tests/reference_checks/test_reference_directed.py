"""The plain definitions on directed graphs: a cycle C→C→O→C, the path C→C→O, a star of O→C, O→C."""

from __future__ import annotations

import math

import numpy as np
import pytest

from reference.building import build, digraphs
from reference.kernels import (
    graph_hopper,
    histograms,
    marginalized,
    odd_sth,
    paths_walks,
    wasserstein,
    weighted_wwl,
    weisfeiler_lehman,
)
from reference.plain import gram

CYCLE, PATH, STAR = digraphs()


# Histograms and refinement


def test_histograms():
    np.testing.assert_array_equal(gram(histograms.vertex_histogram, digraphs()), np.full((3, 3), 5))
    # Arcs CC, CO, OC; CC, CO; OC twice.
    np.testing.assert_array_equal(
        gram(histograms.edge_histogram, digraphs()), [[3, 2, 2], [2, 2, 0], [2, 0, 4]]
    )
    np.testing.assert_array_equal(
        gram(weisfeiler_lehman.optimal_assignment, digraphs(), base="edge"),
        [[3, 2, 1], [2, 2, 0], [1, 0, 2]],
    )
    one, other = (build(2, [(0, 1)], "CO", True, edge_labels=[label]) for label in "xy")
    assert histograms.edge_histogram(one, other) == 0


def test_refinement_sees_out_and_in():
    # The cycle and the path share only the colour of the middle C: heads {O}, tails {C}.
    matrix = gram(weisfeiler_lehman.weisfeiler_lehman, digraphs(), n_iter=1)
    np.testing.assert_array_equal(matrix, [[8, 6, 5], [6, 8, 5], [5, 5, 10]])
    assigned = gram(weisfeiler_lehman.wl_optimal_assignment, digraphs(), n_iter=1)
    np.testing.assert_array_equal(assigned, [[6, 4, 3], [4, 6, 3], [3, 3, 6]])
    forth, back = build(2, [(0, 1)], "CC", True), build(2, [(0, 1), (1, 0)], "CC", True)
    assert weisfeiler_lehman.weisfeiler_lehman(forth, back, 1) == 4
    assert weisfeiler_lehman.weisfeiler_lehman(forth, forth, 1) == 4 + 2
    assert weisfeiler_lehman.weisfeiler_lehman(back, back, 1) == 4 + 4


def test_refinement_sees_labels_of_arcs_on_both_sides():
    one, other = (build(2, [(0, 1)], "CO", True, edge_labels=[label]) for label in "xy")
    options = {"n_iter": 1, "use_edge_labels": True}
    assert weisfeiler_lehman.weisfeiler_lehman(one, other, **options) == 2
    assert weisfeiler_lehman.weisfeiler_lehman(one, one, **options) == 4
    assert weisfeiler_lehman.weisfeiler_lehman(one, other, n_iter=1) == 4


def test_refinement_over_arcs_and_paths():
    edges = gram(weisfeiler_lehman.weisfeiler_lehman, digraphs(), n_iter=1, base="edge")
    # Level 0 is the edge histogram; at level 1 different graphs share nothing.
    np.testing.assert_array_equal(edges, [[6, 2, 2], [2, 4, 0], [2, 0, 8]])
    paths = gram(weisfeiler_lehman.weisfeiler_lehman, digraphs(), n_iter=0, base="shortest-path")
    np.testing.assert_array_equal(paths, gram(paths_walks.shortest_path, digraphs()))


# Wasserstein


def test_wasserstein():
    # Level 0 agrees; at level 1 one node of three does.
    assert wasserstein.wwl_distance(CYCLE, PATH, 1) == pytest.approx(1 / 3)
    assert wasserstein.wwl_distance_by_transport(CYCLE, PATH, 1) == pytest.approx(1 / 3)
    settings = weighted_wwl.Settings(n_iter=1)
    assert weighted_wwl.weighted_distance(CYCLE, PATH, {}, settings) == pytest.approx(1 / 3)
    shared = weighted_wwl.pair_vector(CYCLE, PATH, settings)
    (middle,) = [pattern for pattern in shared if pattern[0] == 1]
    heavier = weighted_wwl.weighted_distance(CYCLE, PATH, {middle: 3.0}, settings)
    assert heavier == pytest.approx(1 / 3 - 2 / 6)


def test_attributes_are_averaged_over_heads():
    path = build(3, [(0, 1), (1, 2)], directed=True, attributes=[[0.0], [2.0], [4.0]])
    levels = wasserstein.attribute_levels(path, 1)
    np.testing.assert_array_equal(levels, [[0, 1], [2, 3], [4, 4]])
    fork = build(
        3, [(0, 1), (0, 2)], directed=True, weights=[3, 1], attributes=[[0.0], [4.0], [8.0]]
    )
    np.testing.assert_array_equal(wasserstein.attribute_levels(fork, 1)[:, 1], [2.5, 4, 8])


# Paths and walks


def test_shortest_paths_along_arcs():
    matrix = gram(paths_walks.shortest_path, digraphs())
    np.testing.assert_array_equal(matrix, [[6, 3, 2], [3, 3, 0], [2, 0, 4]])
    ordered = gram(paths_walks.shortest_path, digraphs(), pairs="ordered")
    np.testing.assert_array_equal(ordered, matrix)


def test_ordered_pairs_of_undirected_graphs():
    A, D = build(3, [(0, 1), (1, 2)], "COC"), build(3, [(0, 1), (1, 2)], "CCO")
    np.testing.assert_array_equal(gram(paths_walks.shortest_path, [A, D]), [[5, 2], [2, 3]])
    # Pairs of equal labels count four times, mixed ones twice.
    ordered = gram(paths_walks.shortest_path, [A, D], pairs="ordered")
    np.testing.assert_array_equal(ordered, [[4 + 2 * 4, 2 * 2], [2 * 2, 4 + 2 * 2]])


def test_spectral_radius_of_directed_graphs():
    bare = {"labels": False}
    cycle = paths_walks.product_graph(CYCLE, CYCLE, **bare)
    assert paths_walks.spectral_radius(cycle) == pytest.approx(1)
    assert paths_walks.spectral_radius(paths_walks.product_graph(PATH, PATH, **bare)) == 0
    long = build(40, [(u, v) for u in range(40) for v in range(u)], directed=True)
    assert paths_walks.spectral_radius(long.adjacency()) == 0
    # A cycle with a tail into another cycle of weight 8: its eigenvalues have modulus 2.
    weights = [1, 1, 1, 1, 1, 1, 8]
    arcs = [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 5), (5, 3)]
    two = build(6, arcs, directed=True, weights=weights)
    assert paths_walks.spectral_radius(two.adjacency(weighted=True)) == pytest.approx(2)
    assert paths_walks.largest_safe_decay([PATH, STAR]) == math.inf


def test_random_walks_along_arcs():
    # 5 pairs of nodes with equal labels; (0,0)→(1,1)→(2,2) is the only walk.
    value = paths_walks.random_walk(PATH, PATH, "geometric", 10.0)
    assert value == pytest.approx(5 + 2 * 10 + 100)
    assert paths_walks.random_walk(PATH, PATH, "exponential", 2.0) == pytest.approx(5 + 4 + 2)
    with pytest.raises(ValueError, match="too large"):
        paths_walks.random_walk(CYCLE, CYCLE, "geometric", 1.0)
    assert paths_walks.random_walk(CYCLE, CYCLE, "geometric", 0.5) == pytest.approx(3 * 2 + 2)


def test_propagation_over_heads():
    rows = np.array([[1.0], [2.0], [3.0]])
    np.testing.assert_array_equal(paths_walks.diffuse(PATH, rows), [[2], [3], [3]])
    np.testing.assert_array_equal(paths_walks.diffuse(STAR, rows), [[2.5], [2], [3]])


def test_graph_hopper_goes_along_arcs():
    bare = build(3, [(0, 1), (1, 2)], directed=True)
    # 3 nodes, 2 arcs and one path of three nodes: 9 + 4·2 + 3.
    assert graph_hopper.graph_hopper([bare])[0, 0] == 20
    assert len(graph_hopper.shortest_paths(CYCLE)) == 9


def test_odd_sth_goes_along_arcs():
    # Height 1 on the path: C(C), C, C(O), O twice.
    assert odd_sth.odd_sth([PATH], height=1)[0, 0] == 7
    # On the cycle: C(C), C(O), O(C), and each node once as a leaf: C twice, O once.
    assert odd_sth.odd_sth([CYCLE], height=1)[0, 0] == 3 + 4 + 1
    assert odd_sth.odd_sth([CYCLE], [PATH], height=1)[0, 0] == 2 + 2 * 1 + 1 * 2


def test_marginalized_goes_along_arcs():
    bare = build(3, [(0, 1), (1, 2)], directed=True)
    # x is ¼ if one node is the last, 5/16 if one is the middle, 21/64 for the first with itself.
    expected = (5 * 1 / 4 + 3 * 5 / 16 + 21 / 64) / 9
    assert marginalized.marginalized([bare], stop=0.5)[0, 0] == pytest.approx(expected)
