"""The plain definitions of spectral embeddings, degree profiles and the deep graph kernel."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest

from reference import spectral_embeddings
from reference.building import awkward, build, random_graph, worked
from reference.kernels import deep, histograms, weisfeiler_lehman

nx = pytest.importorskip("networkx", reason="needs networkx: pip install gramlet[graphs]")

EDGE, TRIANGLE = build(2, [(0, 1)]), build(3, [(0, 1), (1, 2), (0, 2)])
EMPTY, ALONE = build(0), build(1)


# Spectra


def test_laplacian_against_networkx():
    rng = np.random.default_rng(0)
    for n in (1, 4, 7):
        graph = random_graph(rng, n, 0.3)
        other = nx.Graph(graph.edges())
        other.add_nodes_from(range(n))
        expected = nx.normalized_laplacian_matrix(other, range(n)).toarray()
        np.testing.assert_allclose(spectral_embeddings.laplacian(graph), expected, atol=1e-15)


def test_netlsd_kinds_and_divisors():
    graphs = [EMPTY, ALONE, EDGE, build(3)]
    t = 0.7
    heat = spectral_embeddings.netlsd(graphs, [t])[:, 0]
    np.testing.assert_allclose(heat, [0, 1, 1 + math.exp(-2 * t), 3])
    wave = spectral_embeddings.netlsd(graphs, [t], "wave")[:, 0]
    np.testing.assert_allclose(wave, [0, 1, 1 + math.cos(2 * t), 3])
    empty = spectral_embeddings.netlsd(graphs, [t], "heat", "empty")[:, 0]
    np.testing.assert_allclose(empty, [0, 1, (1 + math.exp(-2 * t)) / 2, 1])
    complete = spectral_embeddings.netlsd(graphs, [t], "heat", "complete")[:, 0]
    np.testing.assert_allclose(complete, [0, 1, 1, 3 / (1 + 2 * math.exp(-1.5 * t))])
    # The wave signature of K2 at t = π/2 is 1 + cos π = 0: division by 0.
    zero = spectral_embeddings.netlsd([build(2)], [math.pi / 2], "wave", "complete")
    assert zero[0, 0] == 0


def test_netlsd_default_times():
    rows = spectral_embeddings.netlsd([EDGE])
    times = np.logspace(-2, 2, 250)
    np.testing.assert_allclose(rows[0], 1 + np.exp(-2 * times), rtol=1e-10)


def test_fgsd_bins():
    rows = spectral_embeddings.fgsd([EDGE, EMPTY, ALONE], n_bins=200, range=(0, 20))
    # K2: P = ±¼, so that the distances are 0 twice and 1 twice, exactly on a border.
    assert Counter({i: v for i, v in enumerate(rows[0]) if v}) == {0: 2, 10: 2}
    assert not rows[1].any()
    assert rows[2, 0] == rows[2].sum() == 1
    # The upper end belongs to the last bin; larger values are omitted.
    assert spectral_embeddings.fgsd([EDGE], 4, (0, 1))[0].tolist() == [2, 0, 0, 2]
    assert spectral_embeddings.fgsd([EDGE], 4, (0, 0.9))[0].tolist() == [2, 0, 0, 0]
    assert spectral_embeddings.fgsd([EDGE], 4, (0.5, 1.5))[0].tolist() == [0, 0, 2, 0]


def test_spectral_features():
    rows = spectral_embeddings.spectral_features([EMPTY, ALONE, EDGE, TRIANGLE], 3)
    np.testing.assert_allclose(rows, [[0, 0, 0], [0, 0, 0], [0, 2, 0], [0, 1.5, 1.5]], atol=1e-14)
    np.testing.assert_allclose(
        spectral_embeddings.spectral_features([TRIANGLE], 2), [[0, 1.5]], atol=1e-14
    )


def test_local_degree_profile():
    star = build(4, [(0, 1), (0, 2), (0, 3)])
    profile = spectral_embeddings.degree_profile(star)
    np.testing.assert_allclose(profile[0], np.log([4, 2, 2, 2, 1]))
    np.testing.assert_allclose(profile[1], np.log([2, 4, 4, 4, 1]))
    path = build(4, [(0, 1), (1, 2), (2, 3)])
    # Degrees 1 and 2 around node 1: mean 1.5, deviation 0.5.
    np.testing.assert_allclose(
        spectral_embeddings.degree_profile(path)[1], np.log([3, 2, 3, 2.5, 1.5])
    )
    rows = spectral_embeddings.local_degree_profile([star], n_bins=2)
    # Degree: ln 2 is half of ln 4, on the border. Deviations are all 0.
    np.testing.assert_allclose(rows[0], [0, 1, 0, 1, 0, 1, 0, 1, 1, 0])
    beyond = spectral_embeddings.local_degree_profile([star, EMPTY], [ALONE], n_bins=2)
    np.testing.assert_allclose(beyond[0], [0, 1, 0, 1, 0, 1, 0, 1, 1, 0])
    assert not beyond[1].any()


# Deep graph kernel


def test_cooccurrences_and_information_by_hand():
    features = [Counter({(0, "a"): 1, (0, "b"): 2}), Counter({(0, "a"): 3, (1, "c"): 1})]
    patterns = [(0, "a"), (0, "b"), (1, "c")]
    C = deep.cooccurrences(features, patterns)
    # a and b are in one graph; a and c too, but on different levels.
    np.testing.assert_array_equal(C, [[0, 1, 0], [1, 0, 0], [0, 0, 0]])
    # C_ab ΣC/(C_a· C_·b) = 1·2/(1·1).
    np.testing.assert_allclose(deep.positive_information(C)[0], [0, math.log(2), 0])


def test_pattern_similarity_keeps_or_drops_equal_singular_values_together():
    ppmi = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    # Both singular values are 1: U√S spans the plane, and its rows are orthogonal.
    np.testing.assert_allclose(deep.pattern_similarity(ppmi, 2), np.eye(3), atol=1e-12)
    # Two paths of three patterns: √2 four times. Three components would split the eigenspace, so
    # that none is kept; with four, the ends of a path are similar.
    path = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 0.0]])
    paths = np.kron(np.eye(2), path)
    np.testing.assert_allclose(deep.pattern_similarity(paths, 3), np.eye(6))
    ends = np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 0.0], [1.0, 0.0, 1.0]])
    np.testing.assert_allclose(
        deep.pattern_similarity(paths, 4), np.kron(np.eye(2), ends), atol=1e-12
    )
    uneven = np.array([[0.0, 3.0, 1.0], [3.0, 0.0, 1.0], [1.0, 1.0, 0.0]])
    values, vectors = np.linalg.eigh(uneven)
    roots = vectors @ np.diag(np.abs(values)) @ vectors.T
    lengths = np.sqrt(np.diag(roots))
    np.testing.assert_allclose(
        deep.pattern_similarity(uneven, 3), roots / np.outer(lengths, lengths), atol=1e-12
    )


def test_deep_kernel_without_shared_graphs_is_the_base():
    # Each pattern alone in its graph: no two patterns are in one graph, M = I.
    graphs = [build(2, [], "CC"), build(1, [], "O")]
    features = deep.without_levels(histograms.vertex_counts)
    matrix = deep.deep_graph_kernel(graphs, features=features)
    np.testing.assert_allclose(matrix, [[4, 0], [0, 1]])


def test_deep_kernel_with_two_like_patterns():
    # C and O are together in two graphs, N with each of C, O and S in one.
    graphs = [build(2, [], "CO"), build(2, [], "NS"), build(3, [], "CON")]
    features = deep.without_levels(histograms.vertex_counts)
    matrix = deep.deep_graph_kernel(graphs, features=features)
    assert np.linalg.eigvalsh(matrix).min() > -1e-10
    counts = np.array([[1, 1, 0, 0], [0, 0, 1, 1], [1, 1, 1, 0]])
    C = np.array([[0, 2, 1, 0], [2, 0, 1, 0], [1, 1, 0, 1], [0, 0, 1, 0]])
    ppmi = np.zeros((4, 4))
    for s in range(4):
        for t in range(4):
            if C[s, t]:
                ppmi[s, t] = max(0, math.log(C[s, t] * 10 / (C[s].sum() * C[t].sum())))
    values, vectors = np.linalg.eigh(ppmi)
    roots = vectors @ np.diag(np.abs(values)) @ vectors.T
    lengths = np.sqrt(np.diag(roots))
    expected = counts @ (roots / np.outer(lengths, lengths)) @ counts.T
    np.testing.assert_allclose(matrix, expected, atol=1e-10)


def test_deep_kernel_patterns_not_seen_at_fit():
    new = build(3, [(0, 1)], "NNC")

    def features(graph):
        return deep.wl_patterns(graph, n_iter=1)

    fitted = worked()
    matrix = deep.deep_graph_kernel([new], fitted, features=features)
    only_c = deep.deep_graph_kernel([build(1, [], "C")], fitted, features=features)
    np.testing.assert_allclose(matrix, only_c)
    # Unseen: N twice at level 0; N(N) twice and C alone at level 1. Seen: C once at level 0.
    own = deep.deep_graph_diagonal([new], fitted, features=features)
    assert own[0] == pytest.approx(1 + 4 + 4 + 1)


def test_deep_kernel_on_weisfeiler_lehman_levels():
    counts = deep.wl_patterns(worked()[0], n_iter=1)
    assert counts.total() == 6
    assert {level for level, _ in counts} == {0, 1}
    matrix = deep.deep_graph_kernel(worked() + awkward())
    plain = [
        [weisfeiler_lehman.weisfeiler_lehman(G, H, 5) for H in worked() + awkward()]
        for G in worked() + awkward()
    ]
    assert np.isfinite(matrix).all()
    assert not matrix[4].any()
    assert np.abs(matrix - plain).max() > 1e-3
    ones = np.diag(deep.deep_graph_kernel(worked() + awkward(), normalize=True))
    np.testing.assert_allclose(ones, [1, 1, 1, 1, 0, 1, 1, 1])
