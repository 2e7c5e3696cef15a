"""Plain definitions of further kernels on tiny graphs."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from scipy.optimize import nnls

from reference.building import awkward, build, random_graph, worked
from reference.kernels import (
    graph_hopper,
    hashing,
    histograms,
    marginalized,
    nested,
    nspdk,
    odd_sth,
    paths_walks,
    subgraph_matching,
    svm_theta,
    weisfeiler_lehman,
)

CODES = {label: 2**i + 1 for i, label in enumerate("CONab")}
VERTEX = nested.as_matrix(histograms.vertex_histogram)
PATHS = nested.as_matrix(paths_walks.shortest_path)

KERNELS = {
    "graph hopper": lambda X, Y=None: graph_hopper.graph_hopper(X, Y, node_kernel="label"),
    "nspdk": lambda X, Y=None: nspdk.nspdk(X, Y, radius=1, distance=2),
    "odd-sth": lambda X, Y=None: odd_sth.odd_sth(X, Y, height=2, decay=0.5),
    "subgraph matching": lambda X, Y=None: subgraph_matching.subgraph_matching(X, Y),
    "hadamard": lambda X, Y=None: hashing.hadamard_code(X, Y),
    "simple hash": lambda X, Y=None: hashing.neighborhood_hash(X, Y, codes=CODES),
    "counting hash": lambda X, Y=None: hashing.neighborhood_hash(X, Y, codes=CODES, kind="count"),
    "svm-theta": lambda X, Y=None: svm_theta.svm_theta(X, Y, sizes=(1, 4)),
    "cores": lambda X, Y=None: nested.core_kernel(X, Y, base=PATHS),
    "wl over paths": lambda X, Y=None: nested.wl_over_base(X, Y, base=PATHS, n_iter=2),
    "marginalized": lambda X, Y=None: marginalized.marginalized(X, Y, stop=0.3, weighted=True),
}


def randoms(seed: int, n_graphs: int = 4, largest: int = 6, **options):
    rng = np.random.default_rng(seed)
    return [random_graph(rng, int(rng.integers(2, largest)), **options) for _ in range(n_graphs)]


# Labels


def test_unseen_labels_match_nothing_and_count_in_the_own_norm():
    C_N, N = build(2, [(0, 1)], "CN"), build(1, [], "N")
    for name in ("graph hopper", "nspdk", "odd-sth", "subgraph matching", "hadamard"):
        assert KERNELS[name]([N], worked()).max() == 0
        assert KERNELS[name]([N])[0, 0] > 0
    # Only C is shared: one node against the nodes C of C-O.
    assert subgraph_matching.subgraph_matching([C_N], [worked()[1]])[0, 0] == 1


# GraphHopper


def test_graph_hopper_lists_ties_in_both_directions():
    square = build(4, [(0, 1), (1, 2), (2, 3), (3, 0)])
    lengths = Counter(len(path) for path in graph_hopper.shortest_paths(square))
    # 4 nodes, 8 directed edges, 2 ways between the 4 ordered pairs of opposite corners.
    assert lengths == {1: 4, 2: 8, 3: 8}


def test_graph_hopper_takes_lengths_by_weight():
    # The detour 0-2-1 of length 2 is shorter than the edge of 3, and as long as an edge of 2.
    triangle = [(0, 1), (0, 2), (1, 2)]
    longer = build(3, triangle, weights=[3.0, 1.0, 1.0])
    assert Counter(map(len, graph_hopper.shortest_paths(longer, True))) == {1: 3, 2: 4, 3: 2}
    tied = build(3, triangle, weights=[2.0 + 1e-12, 1.0, 1.0])
    assert Counter(map(len, graph_hopper.shortest_paths(tied, True))) == {1: 3, 2: 6, 3: 2}
    with pytest.raises(ValueError, match="must be > 0"):
        graph_hopper.shortest_paths(build(2, [(0, 1)], weights=[0.0]), True)


def test_graph_hopper_node_kernels():
    one = build(1, [], "C", attributes=[[1.0, 2.0]])
    two = build(1, [], "O", attributes=[[3.0, 2.0]])

    def value(**options):
        return graph_hopper.graph_hopper([one], [two], **options)[0, 0]

    assert value(node_kernel="linear") == 7
    assert value() == pytest.approx(math.exp(-0.5 * 4))
    assert value(mu=0.25) == pytest.approx(math.exp(-1))
    assert value(node_kernel="bridge") == pytest.approx(0.5)
    assert value(node_kernel="bridge", width=1.0) == 0
    assert value(node_kernel="label") == 0
    assert value(use_labels=True) == value(use_labels="auto") == 0


# NSPDK


def test_nspdk_without_balls_is_shortest_path_cut_short():
    for G, H in zip(randoms(6), randoms(7), strict=True):
        for distance in (1, 2):
            plain = {"radius": 0, "normalize_levels": False}
            cut = nspdk.nspdk([G], [H], distance=distance, **plain)[0, 0]
            cut -= nspdk.nspdk([G], [H], distance=0, **plain)[0, 0]
            pairs = [
                [path for path in paths_walks.paths(graph) if path[1] <= distance]
                for graph in (G, H)
            ]
            assert cut == histograms.dot(Counter(pairs[0]), Counter(pairs[1]))


def test_nspdk_balls_see_edges_and_their_labels():
    path, triangle = build(3, [(0, 1), (0, 2)]), build(3, [(0, 1), (0, 2), (1, 2)])
    assert nspdk.ball_identity(path, 0, 1) != nspdk.ball_identity(triangle, 0, 1)
    assert nspdk.ball_identity(path, 0, 0) == nspdk.ball_identity(triangle, 0, 0)
    single, double = (build(2, [(0, 1)], "CC", edge_labels=[label]) for label in (1, 2))
    plain = {"radius": 1, "distance": 0, "normalize_levels": False}
    assert nspdk.nspdk([single], [double], **plain)[0, 0] == 4
    assert nspdk.nspdk([single], [double], use_edge_labels=False, **plain)[0, 0] == 8
    # Fitted without edge labels, those of new graphs are ignored.
    assert nspdk.nspdk([single], [build(2, [(0, 1)], "CC")], **plain)[0, 0] == 8


def test_nspdk_level_norms_of_small_graphs():
    # One node: only d = 0, each of the 3 radii gives 1.
    assert nspdk.nspdk([build(1, [], "C")])[0, 0] == 3
    assert nspdk.nspdk([build(2, [(0, 1)], "CC")])[0, 0] == pytest.approx(6)


# ODD-STh


def test_odd_sth_unfolds_shared_descents():
    # Unfolded from 0, the square is C(C(C) C(C)): 5 nodes, although it has only 4.
    square = build(4, [(0, 1), (1, 2), (2, 3), (3, 0)], "CCCC")
    sizes = Counter()
    for (_, size), count in odd_sth.tree_counts(square, 3).items():
        sizes[size] += count
    assert sizes == {5: 4, 2: 8, 1: 4}
    assert odd_sth.odd_sth([square], height=0, decay=0.5)[0, 0] == 8


def test_odd_sth_where_the_decay_underflows():
    star = build(3, [(0, 1), (0, 2)], "CCC")
    assert odd_sth.odd_sth([star], height=0, decay=1e-200)[0, 0] == 9e-200
    assert odd_sth.odd_sth([star], height=1, decay=1e-200)[0, 0] == pytest.approx(25e-200)


# Subgraph matching


def test_subgraph_matching_with_callables_and_attributes():
    G = build(2, [(0, 1)], edge_labels=[2], attributes=[[0.0], [1.0]])
    H = build(2, [(0, 1)], edge_labels=[5], attributes=[[0.0], [1.0]])
    seen = []

    def nodes(a, b):
        seen.append((a, b))
        return 0.5

    value = subgraph_matching.subgraph_matching(
        [G], [H], size=2, node_kernel=nodes, edge_kernel=lambda a, b: a * b
    )
    assert value[0, 0] == pytest.approx(4 * 0.5 + 2 * 0.25 * 10)
    assert set(seen) == {(None, None)}
    e = math.exp(-1)
    options = {"size": 2, "node_kernel": "gaussian"}
    value = subgraph_matching.subgraph_matching([G], [H], **options)
    assert value[0, 0] == pytest.approx(2 + 2 * e)
    value = subgraph_matching.subgraph_matching([G], [H], edge_kernel="one", **options)
    assert value[0, 0] == pytest.approx(2 + 2 * e + 1 + e**2)


# Hadamard codes and hashes


def test_hadamard_vectors_agree_as_whole_numbers_of_any_size():
    CO, CC = build(2, [(0, 1)], "CO"), build(2, [(0, 1)], "CC")
    matrix = hashing.hadamard_code([CO, CC], n_iter=80)
    # C-O and C-C share their nodes C at level 0 and nothing later.
    assert matrix[0, 1] == 2
    # C and O differ at level 0 and have equal sums from level 1 on.
    assert matrix[0, 0] == 2 + 80 * 4


def test_rotation_and_one_round_by_hand():
    assert hashing.rotate(0b100, 1, 3) == 0b001
    assert hashing.rotate(0b011, 4, 3) == 0b110
    star = build(3, [(0, 1), (0, 2)])
    # Simple: equal neighbours cancel. Counting: 1 twice is ROT_2(1 xor 2) = ROT_2(011) = 101.
    assert hashing.hash_round(star, [2, 1, 1], "simple", 3)[0] == 0b100
    assert hashing.hash_round(star, [2, 1, 1], "count", 3)[0] == 0b100 ^ 0b101


# SVM-theta


def test_svm_theta_omega_against_least_squares():
    # With K = RᵀR, max 2Σα − αᵀKα = ‖c‖² − min ‖Rα − c‖² where Rᵀc = 1.
    for graph in randoms(10, 12, 8):
        K = svm_theta.theta_matrix(graph) + 1e-9 * np.eye(graph.n)
        R = np.linalg.cholesky(K).T
        c = np.linalg.solve(R.T, np.ones(graph.n))
        expected = c @ c - nnls(R, c)[1] ** 2
        assert svm_theta.omega(graph) == pytest.approx(expected, rel=1e-6)


def test_svm_theta_sums_over_sizes_of_both_graphs():
    edge, path = build(2, [(0, 1)]), build(3, [(0, 1), (1, 2)])
    np.testing.assert_allclose(
        svm_theta.svm_theta([edge, path, build(1)]),
        [[4 / 4, 4 * 2 / 6, 0], [4 * 2 / 6, 13 * 4 / 9, 0], [0, 0, 0]],
    )


# Cores and levels


def test_core_numbers():
    # A triangle with a tail, and an isolated node.
    graph = build(5, [(0, 1), (1, 2), (0, 2), (2, 3)])
    assert nested.core_numbers(graph) == [2, 2, 2, 1, 0]
    assert [nested.core(graph, i).n for i in range(4)] == [5, 4, 3, 0]


def test_core_kernel_starts_at_the_least_core():
    triangle = worked()[3]
    values = [nested.core_kernel([triangle], base=VERTEX, min_core=i)[0, 0] for i in range(4)]
    assert values == [27, 18, 9, 0]


def test_levels_over_the_histogram_are_weisfeiler_lehman():
    graphs = randoms(11) + awkward()
    for base, name in [(VERTEX, "vertex"), (PATHS, "shortest-path")]:
        expected = [
            [
                weisfeiler_lehman.weisfeiler_lehman(G, H, 2, name, use_edge_labels=True)
                for H in graphs
            ]
            for G in graphs
        ]
        actual = nested.wl_over_base(graphs, base=base, n_iter=2)
        np.testing.assert_array_equal(actual, expected)


def test_levels_keep_other_columns():
    # The base kernel uses edge labels even if the refinement does not.
    edges = [build(2, [(0, 1)], "CC", edge_labels=[label]) for label in (1, 2)]
    base = nested.as_matrix(histograms.edge_histogram)
    matrix = nested.wl_over_base(edges, base=base, n_iter=1, use_edge_labels=False)
    np.testing.assert_array_equal(matrix, [[2, 0], [0, 2]])


# The marginalised kernel


MARGINALISED = [
    {},
    {"node_floor": 0.2, "edge_floor": 0.3},
    {"node_kernel": "gaussian", "edge_kernel": "gaussian", "node_scale": 1.5},
    {"node_kernel": "label*gaussian", "edge_kernel": "label*gaussian", "edge_floor": 0.5},
    {"node_kernel": "one", "edge_kernel": "one", "start": "ones", "weighted": True},
]


@pytest.mark.parametrize("normalize", [False, True])
@pytest.mark.parametrize("options", MARGINALISED)
def test_marginalized_gradients_two_ways(options, normalize):
    graphs = [*randoms(14), build(1, [], "a", attributes=[[0.0, 1.0]])]
    K, slopes = marginalized.gram_with_gradient(graphs, normalize=normalize, stop=0.4, **options)
    expected = marginalized.gradient_by_differences(
        graphs, normalize=normalize, stop=0.4, **options
    )
    np.testing.assert_allclose(
        K, marginalized.marginalized(graphs, normalize=normalize, stop=0.4, **options), rtol=1e-12
    )
    assert list(slopes) == list(expected)
    for name, values in slopes.items():
        np.testing.assert_allclose(values, expected[name], rtol=1e-5, atol=1e-8)


def test_marginalized_parameters_in_use():
    _, slopes = marginalized.gram_with_gradient([build(2, [(0, 1)])])
    assert list(slopes) == ["stop", "node_floor", "edge_floor"]
    assert slopes["node_floor"][0, 0] == slopes["edge_floor"][0, 0] == 0
    options = marginalized.Options(node_kernel="one", edge_kernel="label*gaussian")
    assert marginalized.parameters_in_use(options) == ["stop", "edge_floor", "edge_scale"]


def test_marginalized_by_hand():
    # Isolated node: κ q². An edge with itself, distinct labels: x = q² + (1−q)² x for equal labels.
    one = build(1, [], "C")
    assert marginalized.marginalized([one], stop=0.5)[0, 0] == 0.25
    assert marginalized.marginalized([one], [build(1, [], "N")], stop=0.5, node_floor=0.1)[
        0, 0
    ] == pytest.approx(0.025)
    edge = build(2, [(0, 1)], "CO")
    assert marginalized.marginalized([edge], stop=0.5)[0, 0] == pytest.approx(2 / 4 * 0.25 / 0.75)
    # Ends C and N of weights 3 and 1 at a middle O, q = ½: e = ¼ + ¼m and m = ¼ + ¼(9 + 1)/16 e.
    path = build(3, [(0, 1), (1, 2)], "CON", weights=[3.0, 1.0])
    for weighted, share in [(True, 10 / 16), (False, 1 / 2)]:
        middle = (1 / 4 + share / 16) / (1 - share / 16)
        expected = (2 * (1 / 4 + middle / 4) + middle) / 9
        actual = marginalized.marginalized([path], stop=0.5, weighted=weighted)
        assert actual[0, 0] == pytest.approx(expected)
