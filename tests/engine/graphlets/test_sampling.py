"""Samplers against their exact distributions; labels identify each sampled tuple of nodes.

Seeds are fixed, so that a correct sampler always passes; tests with wrong distributions show that a
wrong one would fail.
"""

from __future__ import annotations

import math
import os
import subprocess
import sys

import numpy as np
import pytest
from scipy import stats

from compiled_calls import from_python
from gramlet import GraphBatch
from gramlet.engine.core import random_streams as streams
from gramlet.engine.core.tiles import Tiling
from gramlet.engine.graphlets.patterns import adjacency_matrices, unpacked_labels
from gramlet.engine.graphlets.sampling import (
    add_weighted_rows,
    pair_moments,
    sample_codes,
    sample_counts,
)
from reference.kernels import graphlets as reference

SEED = 20
N_DRAWS = 60_000
PASS, FAIL = 1e-3, 1e-9

PATH = GraphBatch.from_edges([[(0, 1), (1, 2), (2, 3), (3, 4)]])
KITE = GraphBatch.from_edges([[(0, 1), (1, 2), (0, 2), (2, 3), (3, 4), (4, 5)]])
STAR = GraphBatch.from_edges([[(0, 1), (0, 2), (0, 3), (0, 4)]])
PIECES = GraphBatch.from_edges([[(0, 1), (2, 3), (3, 4)]], n_nodes=[6])
SHORT = GraphBatch.from_edges([[(0, 1)]], n_nodes=[3])
EMPTY = GraphBatch.from_edges([[]], n_nodes=[0])
GRAPHS = {"path": PATH, "kite": KITE, "star": STAR, "pieces": PIECES, "short": SHORT}


def drawn_tuples(graph, k, flyback=None, n_draws=N_DRAWS, **options):
    """How often each ordered tuple of nodes was drawn; all padding nodes have one name."""
    n = int(graph.sizes[0])
    found = sample_counts(
        graph, k, n_draws, SEED, flyback=flyback, labels=np.arange(n), n_labels=n, **options
    )
    tuples = unpacked_labels(found.label_words, k, n + 1)
    for code, nodes in zip(found.codes.tolist(), tuples.tolist(), strict=True):
        assert code == code_of_nodes(graph, nodes)
    return {tuple(t): int(c) for t, c in zip(tuples.tolist(), found.counts, strict=True)}


def code_of_nodes(graph, nodes) -> int:
    matrix = np.zeros((graph.sizes[0] + 1,) * 2)
    matrix[:-1, :-1] = graph.adjacency(0)
    return reference.pattern_of(matrix[np.ix_(nodes, nodes)])


def with_one_padding(law, n):
    """A distribution over tuples, with all nodes from n on called n."""
    merged = {}
    for nodes, chance in law.items():
        key = tuple(min(node, n) for node in nodes)
        merged[key] = merged.get(key, 0.0) + chance
    return merged


def p_value(counts, law) -> float:
    """Chi-square test of counts; tuples outside the distribution have probability 0."""
    if any(law.get(key, 0.0) <= 0.0 for key in counts):
        return 0.0
    keys = [key for key, chance in law.items() if chance > 0.0]
    total = sum(counts.values())
    expected = np.array([law[key] for key in keys]) * total
    observed = np.array([counts.get(key, 0) for key in keys])
    rare = expected < 5
    if rare.any():  # rare tuples are merged, otherwise the chi-square distribution does not hold
        expected = np.append(expected[~rare], expected[rare].sum())
        observed = np.append(observed[~rare], observed[rare].sum())
    if len(expected) == 1:
        return 1.0
    return float(stats.chisquare(observed, expected * total / expected.sum()).pvalue)


# Distributions


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("k", [2, 4])
def test_uniform_draws_have_the_uniform_law(name, k):
    graph = GRAPHS[name]
    law = with_one_padding(reference.uniform_law(graph, k), int(graph.sizes[0]))
    assert p_value(drawn_tuples(graph, k), law) > PASS


@pytest.mark.parametrize("patience", [0, 3, 10**9])
@pytest.mark.parametrize("flyback", [0.0, 0.35, 0.8])
@pytest.mark.parametrize("name", GRAPHS)
def test_walks_have_the_law_of_the_markov_chain(name, flyback, patience):
    graph = GRAPHS[name]
    law = with_one_padding(reference.walk_law(graph, 4, flyback), int(graph.sizes[0]))
    assert p_value(drawn_tuples(graph, 4, flyback, patience=patience), law) > PASS


def test_walks_with_the_usual_patience_have_their_law():
    for flyback in (0.1, 0.95):
        law = reference.walk_law(KITE, 5, flyback)
        assert p_value(drawn_tuples(KITE, 5, flyback), law) > PASS


@pytest.mark.parametrize("flyback", [0.9999, 1 - 2.0**-53])
def test_a_flyback_near_one_is_drawn_exactly_and_at_once(flyback):
    # If all but one step in 10^16 fly back, a simulation would not end.
    law = reference.walk_law(PATH, 4, 0.9999)
    assert p_value(drawn_tuples(PATH, 4, flyback), law) > PASS
    long = GraphBatch.from_edges([[(i, i + 1) for i in range(29)]])
    assert sum(drawn_tuples(long, 8, flyback, n_draws=500).values()) == 500


def test_classes_of_uniform_draws_have_the_exact_spectrum():
    rng = np.random.default_rng(1)
    edges = np.argwhere(np.triu(rng.random((9, 9)) < 0.35, 1))
    graph = GraphBatch.from_edges([edges], n_nodes=[9])
    codes, counts = np.unique(sample_codes(graph, 4, N_DRAWS, SEED), return_counts=True)
    law = reference.spectrum_with_repetition(graph, 4)
    assert p_value(dict(zip(codes.tolist(), counts.tolist(), strict=True)), law) > PASS


# A wrong sampler is detected


def test_an_ordered_draw_would_fail():
    counts = drawn_tuples(KITE, 4)
    in_order = {}
    for nodes, count in counts.items():
        # Nodes in increasing order except for the last two, as after an incomplete shuffle.
        key = (*sorted(nodes[:2]), *nodes[2:])
        in_order[key] = in_order.get(key, 0) + count
    assert p_value(in_order, reference.uniform_law(KITE, 4)) < FAIL


def test_a_slightly_biased_draw_would_fail():
    counts = drawn_tuples(KITE, 4)
    tilted = {nodes: count * (1.2 if nodes[0] == 0 else 1.0) for nodes, count in counts.items()}
    assert p_value(tilted, reference.uniform_law(KITE, 4)) < FAIL


@pytest.mark.parametrize("wrong", [0.0, 0.3, 0.45])
def test_a_walk_with_another_flyback_would_fail(wrong):
    counts = drawn_tuples(KITE, 4, 0.35)
    law = reference.walk_law(KITE, 4, wrong)
    assert p_value(counts, law) < (FAIL if wrong != 0.3 else PASS)


def test_a_walk_is_not_a_uniform_draw():
    assert p_value(drawn_tuples(KITE, 4), reference.walk_law(KITE, 4, 0.0)) < FAIL
    assert p_value(drawn_tuples(KITE, 4, 0.0), reference.uniform_law(KITE, 4)) < FAIL


def test_a_restart_anywhere_but_at_a_new_node_would_fail():
    # A walk that continues, after a finished component, from the smallest new node.
    law, wrong = reference.walk_law(PIECES, 4, 0.0), {}
    for nodes, chance in law.items():
        if set(nodes[:2]) == {0, 1} and nodes[2] > 2:
            nodes = (*nodes[:2], 2, 3)
        wrong[nodes] = wrong.get(nodes, 0.0) + chance
    assert p_value(drawn_tuples(PIECES, 4, 0.0), wrong) < FAIL


# Samples are independent


@pytest.mark.parametrize("flyback", [None, 0.2])
def test_consecutive_draws_are_independent(flyback):
    codes = sample_codes(KITE, 3, N_DRAWS, SEED, flyback=flyback)[0]
    values, index = np.unique(codes, return_inverse=True)
    for lag in (1, 2):
        table = np.zeros((len(values), len(values)))
        np.add.at(table, (index[:-lag], index[lag:]), 1)
        assert stats.chi2_contingency(table).pvalue > PASS


@pytest.mark.parametrize("flyback", [None, 0.2])
def test_a_graph_draws_the_same_wherever_it_is(flyback):
    rng = np.random.default_rng(2)
    edges = [np.argwhere(np.triu(rng.random((n, n)) < 0.3, 1)) for n in range(30)]
    batch = GraphBatch.from_edges(edges, n_nodes=list(range(30)))
    codes = sample_codes(batch, 5, 200, SEED, flyback=flyback)
    order = rng.permutation(30)
    moved = sample_codes(batch[order], 5, 200, SEED, flyback=flyback, n_jobs=2)
    np.testing.assert_array_equal(codes[order], moved)
    alone = sample_codes(batch[17], 5, 200, SEED, flyback=flyback)
    np.testing.assert_array_equal(codes[17], alone[0])
    twice = sample_codes(batch[[9, 9]], 5, 200, SEED, flyback=flyback)
    np.testing.assert_array_equal(twice[0], twice[1])
    # Fewer samples are the first ones of more.
    fewer = sample_codes(batch, 5, 50, SEED, flyback=flyback)
    np.testing.assert_array_equal(codes[:, :50], fewer)


def test_streams_differ_by_seed_size_and_edges():
    def start(graph, seed):
        state = np.zeros(4, dtype=np.uint64)
        with streams.wrapping_integers():
            from_python(streams.graph_stream)(
                seed, 0, graph.n_nodes_total, graph.indptr, graph.indices, state
            )
        return tuple(state.tolist())

    sizes = [GraphBatch.from_edges([[]], n_nodes=[n]) for n in range(5)]
    ways = [GraphBatch.from_edges([[(0, i)]], n_nodes=[5]) for i in range(1, 5)]
    more = [GraphBatch.from_edges([[(0, 1), (i, 4)]], n_nodes=[5]) for i in (2, 3)]
    graphs = [*sizes, *ways, *more, PATH, STAR, KITE]
    states = {start(graph, seed) for graph in graphs for seed in (0, 1, 2**62)}
    assert len(states) == 3 * len(graphs)


def test_random_bits_are_those_of_the_published_generator():
    state = np.array([1, 2, 3, 4], dtype=np.uint64)
    next_bits = from_python(streams.next_bits)
    with streams.wrapping_integers():
        bits = [int(next_bits(state)) for _ in range(5)]
    assert bits == [
        41943041,
        58720359,
        3588806011781223,
        3591011842654386,
        9228616714210784205,
    ]


def test_integers_below_a_bound_are_uniform():
    state = np.array([5, 6, 7, 8], dtype=np.uint64)
    below = from_python(streams.below)
    with streams.wrapping_integers():
        for n in (1, 2, 7, 2**31 + 12345):
            drawn = np.array([int(below(n, state)) for _ in range(20_000)])
            assert drawn.min() >= 0
            assert drawn.max() < n
            cells = np.bincount(drawn * min(n, 16) // n, minlength=min(n, 16))
            edges = [math.ceil(i * n / min(n, 16)) for i in range(min(n, 16) + 1)]
            expected = np.diff(edges) / n * len(drawn)
            assert n == 1 or stats.chisquare(cells, expected).pvalue > PASS


# Counts, labels, large and small graphs


@pytest.mark.parametrize("flyback", [None, 0.2])
@pytest.mark.parametrize("k", [2, 5, 8])
def test_counts_are_counts_of_the_same_draws(k, flyback):
    batch = GraphBatch.concatenate([PATH, EMPTY, KITE, STAR, PIECES, SHORT])
    codes = sample_codes(batch, k, 700, SEED, flyback=flyback)
    for n_jobs in (None, 2):
        found = sample_counts(batch, k, 700, SEED, flyback=flyback, tiling=Tiling(n_jobs))
        assert len(found.indptr) == len(batch) + 1
        assert not found.label_words.any()
        for i in range(len(batch)):
            own = slice(found.indptr[i], found.indptr[i + 1])
            _, first = np.unique(codes[i], return_index=True)
            in_order = codes[i][np.sort(first)]
            np.testing.assert_array_equal(found.codes[own], in_order)
            expected = [(codes[i] == code).sum() for code in in_order]
            np.testing.assert_array_equal(found.counts[own], expected)


def test_many_distinct_patterns_are_told_apart():
    rng = np.random.default_rng(4)
    edges = np.argwhere(np.triu(rng.random((40, 40)) < 0.5, 1))
    batch = GraphBatch.from_edges([edges] * 2, n_nodes=[40, 41])
    codes = sample_codes(batch, 8, 5000, SEED)
    found = sample_counts(batch, 8, 5000, SEED)
    assert found.counts.sum() == 10_000
    for i in range(2):
        own = slice(found.indptr[i], found.indptr[i + 1])
        assert sorted(found.codes[own].tolist()) == np.unique(codes[i]).tolist()


@pytest.mark.parametrize("flyback", [None, 0.1])
def test_large_graphs_are_searched_instead_of_tabled(flyback):
    n = 4096
    hubs = [(h, i) for h in range(8) for i in range(8, n, h + 2)]
    graph = GraphBatch.from_edges([hubs], n_nodes=[n])
    found = sample_counts(graph, 5, 400, SEED, flyback=flyback, labels=np.arange(n), n_labels=n)
    tuples = unpacked_labels(found.label_words, 5, n + 1)
    matrix = graph.adjacency(0)
    for code, nodes in zip(found.codes.tolist(), tuples.tolist(), strict=True):
        assert len(set(nodes)) == 5
        assert code == reference.pattern_of(matrix[np.ix_(nodes, nodes)])
    if flyback is not None:
        assert found.codes.all()


@pytest.mark.parametrize("flyback", [None, 0.0])
def test_graphs_without_edges_or_nodes(flyback):
    batch = GraphBatch.from_edges([[], [], []], n_nodes=[0, 1, 9])
    assert not sample_codes(batch, 5, 50, SEED, flyback=flyback).any()
    found = sample_counts(batch, 5, 50, SEED, flyback=flyback)
    assert found.counts.tolist() == [50, 50, 50]
    nothing = sample_counts(batch[:0], 5, 50, SEED, flyback=flyback)
    assert nothing.indptr.tolist() == [0]
    assert len(nothing.codes) == 0
    assert sample_codes(batch[:0], 5, 50, SEED).shape == (0, 50)


def test_a_walk_takes_whole_pieces_and_all_of_a_small_graph():
    codes = sample_codes(PIECES, 6, 300, SEED, flyback=0.3)[0]
    assert (adjacency_matrices(codes, 6).sum(axis=(1, 2)) == 6).all()
    codes = sample_codes(SHORT, 5, 300, SEED, flyback=0.3)[0]
    assert (adjacency_matrices(codes, 5).sum(axis=(1, 2)) == 2).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"k": 1}, "2 to 8 nodes; got k=1"),
        ({"k": 9}, "2 to 8 nodes; got k=9"),
        ({"n_samples": 0}, "n_samples must be at least 1; got 0"),
        ({"seed": -1}, "seed must be"),
        ({"seed": 2**63}, "seed must be"),
        ({"flyback": 1.0}, r"flyback must be a probability in \[0, 1\); got 1.0"),
        ({"flyback": -0.1}, "flyback must be a probability"),
        ({"flyback": math.nan}, "flyback must be a probability"),
    ],
)
def test_values_outside_are_refused(options, message):
    arguments = {"k": 3, "n_samples": 10, "seed": 0, **options}
    for sample in (sample_codes, sample_counts):
        with pytest.raises(ValueError, match=message):
            sample(PATH, **arguments)


def test_too_many_labels_are_refused():
    with pytest.raises(ValueError, match="5000 node labels on 8 nodes are too many"):
        sample_counts(PATH, 8, 10, 0, labels=np.arange(5), n_labels=5000)


UNIFORM = """
from gramlet import GraphBatch
from gramlet.engine.graphlets import sampling
path = GraphBatch.from_edges([[(0, 1), (1, 2), (2, 3)]])
sampling.sample_counts(path, 3, 10, seed=0)
print(*(bool(f.overloads) for f in (sampling._draw_uniform, sampling._draw_walk)))
"""


@pytest.mark.exhaustive
def test_uniform_draws_do_not_compile_walks(tmp_path):
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), "NUMBA_DISABLE_JIT": "0"}
    command = [sys.executable, "-c", UNIFORM]
    run = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["True", "False"]


# Features of counted patterns


def csr(rng, n_rows, n_columns, most):
    lengths = rng.integers(0, most, n_rows)
    indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    columns = rng.integers(0, n_columns, indptr[-1])
    return indptr, columns, rng.normal(size=len(columns))


@pytest.mark.parametrize("width", [1, 3, 17, 128])
def test_sums_are_those_of_a_loop_to_the_bit(width):
    rng = np.random.default_rng(width)
    indptr, columns, weights = csr(rng, 20, 6, 11)
    table = rng.normal(size=(6, width))
    result = rng.normal(size=(20, width))
    expected = result.copy()
    for i in range(20):
        for e in range(indptr[i], indptr[i + 1]):
            expected[i] += weights[e] * table[columns[e]]
    add_weighted_rows(indptr[:-1], indptr[1:], columns + 100, weights, table, 100, result)
    np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize("k", [2, 3, 5, 8])
def test_moments_count_pairs_of_bits(k):
    rng = np.random.default_rng(k)
    n_bits = k * (k - 1) // 2
    indptr = np.array([0, 3, 3, 10])
    codes = rng.integers(0, 1 << n_bits, 10)
    counts = rng.integers(1, 9, 10).astype(np.float64)
    moments = pair_moments(indptr, codes, counts, k)
    for i in range(3):
        for q in range(n_bits):
            for p in range(q + 1):
                both = sum(
                    counts[e]
                    for e in range(indptr[i], indptr[i + 1])
                    if codes[e] >> p & 1 and codes[e] >> q & 1
                )
                assert moments[i, q * (q + 1) // 2 + p] == both
