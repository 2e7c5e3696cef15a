"""Hashes of graphs and groups of isomorphic graphs, compared with trying every renumbering."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gramlet
from gramlet import GraphBatch, as_batch, find_duplicates, graph_hashes
from reference import isomorphism
from reference.strategies import graph_batches, permuted

nx = pytest.importorskip("networkx", reason="needs networkx: pip install gramlet[graphs]")


def with_copies(batch, rng):
    order = rng.permutation(np.repeat(np.arange(len(batch)), 2))
    return permuted(batch[order], rng)


@given(
    graph_batches(min_graphs=1, max_nodes=5, labels=None, edge_labels=None, directed=None),
    st.integers(0, 2**32 - 1),
)
def test_duplicates_are_the_isomorphic_graphs(batch, seed):
    graphs = with_copies(batch, np.random.default_rng(seed))
    assert find_duplicates(graphs) == isomorphism.find_duplicates(graphs)


@given(
    graph_batches(min_graphs=1, max_nodes=6, labels=None, edge_labels=None, directed=None),
    st.integers(0, 2**32 - 1),
    st.integers(0, 4),
    st.sampled_from(["auto", True, False]),
)
def test_hashes_are_equal_where_refinement_sees_no_difference(batch, seed, n_iter, use):
    graphs = with_copies(batch, np.random.default_rng(seed))
    hashes = graph_hashes(graphs, n_iter=n_iter, use_edge_labels=use)
    assert [hashes.index(h) for h in hashes] == isomorphism.hash_classes(graphs, n_iter, use)
    alone = [
        graph_hashes(graphs[i], n_iter=n_iter, use_edge_labels=use)[0] for i in range(len(graphs))
    ]
    assert alone == hashes
    assert all(len(h) == 32 and int(h, 16) >= 0 for h in hashes)


def label_hash(label):
    return graph_hashes([([], [label])])[0]


@pytest.mark.parametrize(
    "labels",
    [
        (1, 1.0, True, np.int64(1), np.float32(1), np.True_, Fraction(1), Decimal(1), 1 + 0j),
        (0.5, Fraction(1, 2), Decimal("0.5"), np.float64(0.5)),
        ("C", np.str_("C")),
        (b"C", np.bytes_(b"C")),
        ((1, "a"), (1.0, "a"), (True, "a"), (np.int64(1), "a")),
        (-0.0, 0, False),
        (10**30, Fraction(10**30)),
        (float("inf"), np.inf, Decimal("inf")),
    ],
    ids=str,
)
def test_equal_labels_hash_alike(labels):
    assert len(set(labels)) == 1
    assert len({label_hash(label) for label in labels}) == 1


def test_other_labels_do_not():
    labels = [None, 1, "1", b"1", (1,), ("1",), ((1,),), (), "", b"", 1.5, -1, 1j, 2, (1, 2), (12,)]
    labels += [("a", "b"), ("ab",), ("a,b",), (("a",), "b"), float("inf"), -float("inf"), 1e300]
    assert len({label_hash(label) for label in labels}) == len(labels)
    unlabelled = graph_hashes(GraphBatch.from_edges([[]], n_nodes=[1]))[0]
    assert unlabelled not in {label_hash(label) for label in labels}


@pytest.mark.parametrize("label", [frozenset({1}), object, (1, frozenset())])
def test_labels_of_other_types_are_named(label):
    kind = "frozenset" if label is not object else "type"
    with pytest.raises(ValueError, match=kind):
        label_hash(label)
    assert find_duplicates([([], [label]), ([], [label]), ([], ["C"])]) == [[0, 1]]


def test_hashes_are_the_same_in_every_process():
    code = (
        "import gramlet; print(gramlet.graph_hashes([([(0, 1)], ['C', ('a', 1)]), "
        "([(0, 1), (1, 2)], ['C', None, b'x'])], n_iter=4))"
    )
    runs = {
        subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("0", "1")
    }
    here = graph_hashes(
        [([(0, 1)], [("a", True), "C"]), ([(2, 1), (1, 0)], [b"x", None, "C"])], n_iter=4
    )
    assert runs == {f"{here}\n"}


def test_hashes_are_those_of_every_version():
    # Stored hashes must be found again: these digits never change.
    found = graph_hashes([([(0, 1), (1, 2)], ["C", "C", "O"]), ([], [])])
    assert found == STORED


STORED = ["6e7c00690a04c17ca1e3443063ba9441", "52284d182280576573354395a08c39f7"]


def test_directions_and_edge_labels():
    edges = [[(0, 1)]]
    arc, edge = GraphBatch.from_edges(edges, directed=True), GraphBatch.from_edges(edges)
    both = GraphBatch.from_edges([[(0, 1), (1, 0)]], directed=True)
    assert len({graph_hashes(b, n_iter=0)[0] for b in (arc, edge)}) == 2
    assert len({graph_hashes(b)[0] for b in (arc, edge, both)}) == 3
    single = GraphBatch.from_edges([[(0, 1)], []], n_nodes=[2, 2], edge_labels=[["single"], []])
    plain = GraphBatch.from_edges([[(0, 1)], []], n_nodes=[2, 2])
    assert graph_hashes(single)[1] == graph_hashes(plain)[1]
    assert graph_hashes(single)[0] != graph_hashes(plain)[0]
    assert graph_hashes(single, use_edge_labels=False) == graph_hashes(plain)
    no_arcs = GraphBatch.from_edges([[]], n_nodes=[2], directed=True)
    assert graph_hashes(no_arcs)[0] == graph_hashes(plain)[1]


def test_many_random_graphs_differ():
    graphs = gramlet.load_dataset("MUTAG").graphs
    hashes = graph_hashes(graphs, n_iter=10)
    groups = find_duplicates(graphs)
    repeated = sorted(p for group in groups for p in group)
    assert repeated == [i for i, h in enumerate(hashes) if hashes.count(h) > 1]


def shuffled(graph, seed):
    nodes = list(graph)
    names = np.random.default_rng(seed).permutation(len(nodes))
    return nx.relabel_nodes(graph, dict(zip(nodes, map(int, names), strict=True)))


def shrikhande():
    steps = [(0, 1), (1, 0), (1, 1), (0, 3), (3, 0), (3, 3)]
    pairs = [
        ((i, j), ((i + a) % 4, (j + b) % 4)) for i in range(4) for j in range(4) for a, b in steps
    ]
    return nx.Graph(pairs)


def paley(q):
    squares = {x * x % q for x in range(1, q)}
    return nx.Graph((a, b) for a in range(q) for b in range(a) if (a - b) % q in squares)


def cycles(*lengths):
    return nx.disjoint_union_all([nx.cycle_graph(n) for n in lengths])


REGULAR = {
    "strongly regular, 16": (shrikhande(), nx.line_graph(nx.complete_bipartite_graph(4, 4))),
    "cubic, 40": (nx.random_regular_graph(3, 40, seed=1), nx.random_regular_graph(3, 40, seed=2)),
    "circulant, 36": (nx.circulant_graph(36, [1, 6]), nx.circulant_graph(36, [1, 10])),
    "cycles": (cycles(*[6] * 9, *[3] * 4), cycles(*[6] * 7, *[3] * 8)),
    "complements of cycles": (
        nx.complement(cycles(*[6] * 5, 3, 3)),
        nx.complement(cycles(*[6] * 3, *[3] * 6)),
    ),
    "rook, 49": (
        nx.line_graph(nx.complete_bipartite_graph(7, 7)),
        nx.circulant_graph(49, range(1, 7)),
    ),
    "prism and moebius": (nx.circular_ladder_graph(16), nx.circulant_graph(32, [1, 16])),
}


@pytest.mark.parametrize("name", REGULAR)
def test_regular_graphs_are_told_apart_in_time(name):
    first, second = REGULAR[name]
    graphs = [shuffled(first, 1), shuffled(second, 2), shuffled(first, 3), shuffled(second, 4)]
    batch = as_batch([nx.convert_node_labels_to_integers(g) for g in graphs])
    begin = time.process_time()
    assert find_duplicates(batch) == [[0, 2], [1, 3]]
    assert time.process_time() - begin < 20


@pytest.mark.parametrize(
    "graph",
    [
        paley(37),
        nx.hypercube_graph(5),
        nx.complete_graph(40),
        nx.star_graph(60),
        nx.path_graph(90),
        nx.petersen_graph(),
        nx.empty_graph(50),
        nx.complete_bipartite_graph(15, 15),
    ],
    ids=lambda g: f"{len(g)}-{g.number_of_edges()}",
)
def test_symmetric_graphs_find_their_copies(graph):
    batch = as_batch(
        [nx.Graph(shuffled(graph, s).edges) if len(graph.edges) else graph for s in (1, 2)]
    )
    assert find_duplicates(batch) == [[0, 1]]


def test_no_graphs_and_empty_graphs():
    assert find_duplicates([]) == []
    assert graph_hashes([]) == []
    assert find_duplicates([([], []), ([(0, 1)], "CC"), ([], [])]) == [[0, 2]]
    weighted = GraphBatch.from_edges([[(0, 1)]] * 2, edge_weights=[[1.0], [2.0]])
    assert find_duplicates(weighted) == [[0, 1]]


@pytest.mark.parametrize("params", [{"n_iter": -1}, {"use_edge_labels": "yes"}])
def test_bad_parameters(params):
    with pytest.raises(ValueError, match=next(iter(params))):
        graph_hashes([([], [])], **params)


def test_without_rounds_direction_still_counts():
    """The rule for directed graphs holds even if refinement cannot distinguish them."""
    edges, labels = [[(0, 1)], []], ["CO", "CO"]
    here, there = (
        graph_hashes(
            GraphBatch.from_edges(edges, n_nodes=[2, 2], node_labels=labels, directed=directed),
            n_iter=0,
        )
        for directed in (False, True)
    )
    assert here[0] != there[0]
    assert here[1] == there[1]  # without edges there is no direction
    assert here[0] == here[1]  # without rounds edges do not matter
