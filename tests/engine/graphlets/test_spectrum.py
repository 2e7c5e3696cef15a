"""Exact spectra of batches against enumeration of induced subgraphs."""

from __future__ import annotations

import itertools
import math
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gramlet import GraphBatch
from gramlet.engine.core.tiles import Tiling
from gramlet.engine.graphlets import spectrum as graphlets
from gramlet.engine.graphlets.connected import (
    class_columns,
    count_by_formula,
    count_by_visiting,
    expected_visits,
)
from gramlet.engine.graphlets.patterns import classes_of_codes, n_pairs, pattern_code, patterns
from gramlet.engine.graphlets.spectrum import graphlet_frequencies
from reference.kernels import graphlets as reference
from reference.strategies import graph_batches, permuted


def random_batch(sizes, densities, seed=0) -> GraphBatch:
    rng = np.random.default_rng(seed)
    edges = []
    for n, density in zip(sizes, densities, strict=True):
        edges.append(np.argwhere(np.triu(rng.random((n, n)) < density, 1)))
    return GraphBatch.from_edges(edges, n_nodes=list(sizes))


def counts_one_by_one(batch: GraphBatch, k: int) -> np.ndarray:
    """Counts over all sets of k nodes; classes come from the table, which is tested separately."""
    rows = []
    pairs_i, pairs_j = np.triu_indices(k, 1)
    for i in range(len(batch)):
        matrix = reference.padded(batch[i], k).astype(np.int64)
        sets = np.array(list(itertools.combinations(range(len(matrix)), k)))
        codes = matrix[sets[:, pairs_i], sets[:, pairs_j]] @ (1 << np.arange(n_pairs(k)))
        rows.append(np.bincount(classes_of_codes(codes, k), minlength=len(patterns(k))))
    return np.array(rows)


def graphlet_counts(batch: GraphBatch, k: int, **options) -> np.ndarray:
    """The spectrum times the number of sets; exact below 2**53."""
    shares = graphlet_frequencies(batch, k, **options)
    totals = np.array([[math.comb(max(int(v), k), k)] for v in batch.sizes]).reshape(-1, 1)
    np.testing.assert_allclose(shares * totals, np.rint(shares * totals), rtol=1e-12, atol=1e-9)
    return np.rint(shares * totals).astype(np.int64)


def class_of(edges, k: int) -> int:
    return int(classes_of_codes(np.array([pattern_code(edges, k)]), k)[0])


SMALL = random_batch(
    [n for n in range(10) for _ in range(6)], [0.0, 0.15, 0.4, 0.65, 0.9, 1.0] * 10, seed=1
)


@pytest.mark.parametrize("k", [2, 3, 4, 5, 6])
def test_counts_are_those_of_all_sets_of_nodes(k):
    counts = graphlet_counts(SMALL, k)
    np.testing.assert_array_equal(counts, counts_one_by_one(SMALL, k))
    totals = [math.comb(max(int(v), k), k) for v in SMALL.sizes]
    assert counts.sum(axis=1).tolist() == totals


@given(graph_batches(max_nodes=7, max_graphs=3), st.integers(2, 4), st.booleans())
def test_frequencies_are_those_of_the_definition(batch, k, connected_only):
    found = graphlet_frequencies(batch, k, connected_only=connected_only)
    assert found.shape == (len(batch), len(patterns(k)))
    for i in range(len(batch)):
        expected = np.zeros(len(patterns(k)))
        for pattern, share in reference.spectrum(batch[i], k, connected_only).items():
            expected[classes_of_codes(np.array([pattern]), k)] = share
        np.testing.assert_allclose(found[i], expected, rtol=1e-14, atol=0)


@pytest.mark.parametrize("k", [2, 3, 4])
def test_closed_formulas_count_what_visiting_counts(k):
    rng = np.random.default_rng(3)
    batch = random_batch([40, 25, 30, 17, 60, 12], [0.05, 0.3, 0.7, 1.0, 0.1, 0.0], seed=4)
    hub = GraphBatch.from_edges([[(0, i) for i in range(1, 50)] + [(3, 4), (4, 5)]])
    batch = GraphBatch.concatenate([batch, hub])[rng.permutation(7)]
    shape = (len(batch), class_columns(k).first_column[-1])
    by_formula, by_visiting = np.zeros(shape, np.int64), np.zeros((*shape,), np.int64)
    arrays = batch.node_offsets, batch.indptr, batch.indices
    count_by_formula(*arrays, k, by_formula, 0, len(batch))
    if k == 2:
        assert by_formula[:, class_of([(0, 1)], 2) + 1].tolist() == batch.n_edges.tolist()
        return
    count_by_visiting(*arrays, k, by_visiting, 0, len(batch))
    np.testing.assert_array_equal(by_formula, by_visiting)
    part = np.zeros((2, shape[1]), np.int64)
    count_by_formula(*arrays, k, part, 3, 5)
    np.testing.assert_array_equal(part, by_formula[3:5])


def test_known_graphs():
    petersen = GraphBatch.from_edges(
        [
            [(i, (i + 1) % 5) for i in range(5)]
            + [(i, i + 5) for i in range(5)]
            + [(5 + i, 5 + (i + 2) % 5) for i in range(5)]
        ]
    )
    five = graphlet_counts(petersen, 5)[0]
    assert five[class_of([(i, (i + 1) % 5) for i in range(5)], 5)] == 12
    four = graphlet_counts(petersen, 4)[0]
    assert four[class_of([(0, 1), (1, 2), (2, 3), (0, 3)], 4)] == 0
    assert four[class_of([(0, 1), (0, 2), (0, 3)], 4)] == 10
    assert four[class_of([], 4)] == 5


def test_numbers_beyond_64_bits_take_the_long_way(monkeypatch):
    shares = {k: graphlet_frequencies(SMALL, k) for k in (3, 5)}
    monkeypatch.setattr(graphlets, "largest_in_64_bits", lambda k: 6)
    for k in (3, 5):
        np.testing.assert_allclose(graphlet_frequencies(SMALL, k), shares[k], rtol=1e-15)


@pytest.mark.parametrize("k", [2, 3, 4, 5, 6])
def test_largest_number_of_nodes_for_64_bits(k):
    n = graphlets.largest_in_64_bits(k)
    for nodes, fits in ((n, True), (n + 1, False)):
        products = [math.comb(nodes, p) * math.comb(nodes, k - p) for p in range(1, k)]
        assert (max(products) < 2**63) == fits


def test_a_long_path_has_the_shares_of_combinatorics():
    n, k = 20_000, 6
    path = GraphBatch.from_edges([[(0, 1)], [(i, i + 1) for i in range(n - 1)]])
    shares = graphlet_frequencies(path, k)[1]
    # Independent sets of a path: C(n − k + 1, k).
    assert shares[0] == math.comb(n - k + 1, k) / math.comb(n, k)
    assert shares[class_of([(i, i + 1) for i in range(k - 1)], k)] == (n - k + 1) / math.comb(n, k)
    assert math.fsum(shares) == pytest.approx(1.0, abs=1e-15)


def test_threads_and_order_do_not_matter():
    batch = random_batch(list(range(5, 35)), np.linspace(0, 1, 30), seed=5)
    counts = graphlet_counts(batch, 5)
    np.testing.assert_array_equal(counts, graphlet_counts(batch, 5, tiling=Tiling(2)))
    order = np.random.default_rng(0).permutation(30)
    np.testing.assert_array_equal(counts[order], graphlet_counts(batch[order], 5))


def test_connected_patterns_only():
    batch = GraphBatch.from_edges([[(0, 1), (1, 2), (2, 3)], [], [(0, 1)]], n_nodes=[4, 3, 2])
    shares = graphlet_frequencies(batch, 3, connected_only=True)
    assert shares.tolist() == [[0, 0, 1, 0], [0, 0, 0, 0], [0, 0, 0, 0]]


def test_no_graphs_and_no_nodes():
    assert graphlet_counts(SMALL[:0], 4).shape == (0, 11)
    nothing = GraphBatch.from_edges([[], []], n_nodes=[0, 0])
    for k in (3, 5):
        assert graphlet_counts(nothing, k)[:, 0].tolist() == [1, 1]
        assert graphlet_counts(nothing, k).sum() == 2


def test_sizes_outside_are_refused():
    for k in (1, 7):
        with pytest.raises(ValueError, match=f"2 to 6 nodes; got k={k}"):
            graphlet_frequencies(SMALL, k)


# Estimated costs


def test_expected_visits_have_the_truth_as_their_mean():
    # 600 copies of six graphs with renumbered nodes give as many independent estimates.
    rng = np.random.default_rng(6)
    few = random_batch([18] * 6, np.linspace(0.05, 0.5, 6), seed=6)
    batch = GraphBatch.concatenate([permuted(few, rng) for _ in range(100)])
    for k in (5, 6):
        counts = np.zeros((6, class_columns(k).first_column[-1]), np.int64)
        count_by_visiting(few.node_offsets, few.indptr, few.indices, k, counts, 0, 6)
        truth = counts[:, class_columns(k).first_column[k] :].sum(axis=1)
        expected = expected_visits(batch.node_offsets, batch.indptr, batch.indices, k)
        expected = expected.reshape(100, 6)
        errors = expected.std(axis=0) / 10
        assert (np.abs(expected.mean(axis=0) - truth) < 4 * errors + 1e-9).all()
        assert (errors <= 0.1 * truth).all()


def test_bounds_on_visits_hold():
    batch = random_batch([25] * 20, np.linspace(0.02, 0.6, 20), seed=7)
    counts = np.zeros((20, class_columns(5).first_column[-1]), np.int64)
    count_by_visiting(batch.node_offsets, batch.indptr, batch.indices, 5, counts, 0, 20)
    truth = counts[:, class_columns(5).first_column[5] :].sum(axis=1)
    assert (graphlets._most_connected_sets(batch, 5) >= truth).all()


def test_a_long_wait_is_announced(monkeypatch):
    batch = random_batch([30] * 4, [0.3] * 4, seed=8)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        graphlet_counts(batch, 5)
    monkeypatch.setattr(graphlets, "_LONG", 1e-4)
    with pytest.warns(UserWarning, match="connected subgraphs on 5 nodes must be visited") as seen:
        graphlet_counts(batch, 5)
    assert seen[0].filename == __file__
