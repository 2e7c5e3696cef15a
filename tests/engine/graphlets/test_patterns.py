"""Codes of patterns and their classes, compared with trying all orders of the nodes."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from gramlet.engine.graphlets.patterns import (
    adjacency_matrices,
    canonical_labelled,
    classes_of_codes,
    n_pairs,
    pattern_code,
    patterns,
    unpacked_labels,
)
from gramlet.theory import n_graphlets
from reference.kernels import graphlets as reference


def random_codes(k: int, n: int, seed: int = 0) -> np.ndarray:
    """Codes of all densities."""
    rng = np.random.default_rng(seed)
    bits = rng.random((n, n_pairs(k))) < rng.random((n, 1))
    return bits @ (1 << np.arange(n_pairs(k)))


# Codes


def test_codes_have_one_bit_a_pair_in_the_stated_order():
    for bit, pair in enumerate(itertools.combinations(range(6), 2)):
        assert pattern_code([pair], 6) == 1 << bit
        assert pattern_code([pair[::-1]], 6) == 1 << bit


@pytest.mark.parametrize("k", [1, 2, 4, 8])
def test_adjacency_matrices_spell_codes(k):
    codes = random_codes(k, 20)
    for code, matrix in zip(codes.tolist(), adjacency_matrices(codes, k), strict=True):
        np.testing.assert_array_equal(matrix, reference.adjacency_of(code, k))
    assert adjacency_matrices(codes[:0], k).shape == (0, k, k)


# Classes


@pytest.mark.parametrize("k", range(1, 9))
def test_there_are_as_many_classes_as_burnside_says(k):
    found = patterns(k)
    assert len(found) == n_graphlets(k)
    assert (np.diff(found.smallest) > 0).all()
    assert found.smallest[0] == 0
    assert found.smallest[-1] == (1 << n_pairs(k)) - 1
    assert found.orbit_sizes.sum() == 1 << n_pairs(k)
    # A class has k! / (number of automorphisms) codes: a divisor of k!.
    assert (math.factorial(k) % found.orbit_sizes == 0).all()
    np.testing.assert_array_equal(classes_of_codes(found.smallest, k), np.arange(len(found)))


@pytest.mark.parametrize("k", [1, 2, 3, 4, 5])
def test_every_code_has_the_class_of_its_smallest_order(k):
    codes = np.arange(1 << n_pairs(k))
    smallest = [reference.canonical(code, k) for code in codes.tolist()]
    np.testing.assert_array_equal(patterns(k).smallest[classes_of_codes(codes, k)], smallest)


@pytest.mark.parametrize(("k", "n"), [(6, 60), (7, 6)])
def test_random_codes_have_the_class_of_their_smallest_order(k, n):
    codes = random_codes(k, n)
    smallest = [reference.canonical(code, k) for code in codes.tolist()]
    np.testing.assert_array_equal(patterns(k).smallest[classes_of_codes(codes, k)], smallest)


def test_eight_nodes_have_the_class_of_their_smallest_order():
    # All 8! orders at once: the reference would take a minute.
    orders = np.array(list(itertools.permutations(range(8))))
    rows, columns = np.triu_indices(8, 1)
    for code in random_codes(8, 12, seed=1):
        matrix = adjacency_matrices(np.array([code]), 8)[0].astype(np.int64)
        all_codes = matrix[orders[:, rows], orders[:, columns]] @ (1 << np.arange(28))
        found = classes_of_codes(all_codes, 8)
        assert (found == found[0]).all()
        assert patterns(8).smallest[found[0]] == all_codes.min()
        assert patterns(8).orbit_sizes[found[0]] == len(np.unique(all_codes))


@pytest.mark.parametrize("k", [6, 7, 8])
def test_codes_share_a_class_exactly_when_isomorphic(k):
    nx = pytest.importorskip("networkx", reason="needs networkx")
    rng = np.random.default_rng(k)
    equal = 0
    for code in random_codes(k, 60, seed=k).tolist():
        graph = nx.from_numpy_array(adjacency_matrices(np.array([code]), k)[0])
        other = graph.copy()
        # Swapping ends of edges keeps all degrees: few of the resulting patterns are isomorphic.
        edges = list(other.edges)
        for _ in range(4):
            if len(edges) < 2:
                break
            (a, b), (c, d) = (edges[i] for i in rng.choice(len(edges), 2, replace=False))
            if len({a, b, c, d}) == 4 and not other.has_edge(a, d) and not other.has_edge(c, b):
                other.remove_edges_from([(a, b), (c, d)])
                other.add_edges_from([(a, d), (c, b)])
                edges = list(other.edges)
        renamed = nx.relabel_nodes(other, dict(enumerate(rng.permutation(k).tolist())))
        mine, theirs = classes_of_codes(np.array([code, pattern_code(renamed.edges, k)]), k)
        assert (mine == theirs) == nx.is_isomorphic(graph, renamed)
        equal += mine == theirs
    assert 0 < equal < 60


@pytest.mark.parametrize("k", [3, 4, 5, 6])
def test_connected_classes_and_edges(k):
    found = patterns(k)
    connected = [reference.is_connected(code, k) for code in found.smallest.tolist()]
    np.testing.assert_array_equal(found.connected, connected)
    assert found.n_edges.tolist() == [code.bit_count() for code in found.smallest.tolist()]


def test_numbers_of_connected_classes():
    counts = [int(patterns(k).connected.sum()) for k in range(1, 9)]
    assert counts == [1, 1, 2, 6, 21, 112, 853, 11117]


def test_sizes_outside_are_refused():
    for k in (0, 9):
        with pytest.raises(ValueError, match=f"1 to 8 nodes; got k={k}"):
            patterns(k)


# Labelled patterns


def labelled_orders(code: int, labels: list[int], k: int) -> set[tuple[int, tuple[int, ...]]]:
    return {
        (reference.renumbered(code, k, order), tuple(labels[i] for i in order))
        for order in itertools.permutations(range(k))
    }


@pytest.mark.parametrize("k", [1, 2, 3, 4, 5])
def test_labelled_forms_are_equal_exactly_for_isomorphic_patterns(k):
    rng = np.random.default_rng(k)
    base = 3
    codes = random_codes(k, 40, seed=k)
    labels = rng.integers(0, base, (40, k))
    words = labels @ base ** np.arange(k)
    np.testing.assert_array_equal(unpacked_labels(words, k, base), labels)
    new_codes, new_words = canonical_labelled(codes, words, k, base)
    new_labels = unpacked_labels(new_words, k, base)
    for i in range(40):
        orders = labelled_orders(int(codes[i]), labels[i].tolist(), k)
        form = (int(new_codes[i]), tuple(new_labels[i].tolist()))
        assert form in orders
        # All orders have the same form: labels in increasing order, then the smallest code.
        assert form == min(orders, key=lambda pattern: (pattern[1], pattern[0]))
        others = [pattern for pattern in orders if rng.random() < 0.2]
        if others:
            other_codes = np.array([code for code, _ in others])
            other_words = np.array([labels for _, labels in others]) @ base ** np.arange(k)
            again_codes, again_words = canonical_labelled(other_codes, other_words, k, base)
            assert (again_codes == new_codes[i]).all()
            assert (again_words == new_words[i]).all()


def test_labelled_patterns_of_many_nodes_are_refused():
    with pytest.raises(ValueError, match="at most 5 nodes; got k=6"):
        canonical_labelled(np.array([0]), np.array([0]), 6, 2)
