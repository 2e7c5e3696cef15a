"""Layouts: rings are open, trees spread out, and there are no unnecessary crossings."""

from __future__ import annotations

import time
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gramlet import GraphBatch, load_dataset
from gramlet.plotting.crossings import count_crossings
from gramlet.plotting.layout import component_nodes, edges_of, layout, sampled
from gramlet.plotting.outer_face import blocks_of, flat_start, ring_basis
from gramlet.plotting.stress import majorise_flat


def one(edges, n=None):
    return GraphBatch.from_edges([edges], n_nodes=None if n is None else [n])


def plain_crossings(points, edges):
    """The definition: two segments cross if the ends of each are on both sides of the other."""

    def side(a, b, c):
        (ax, ay), (bx, by), (cx, cy) = points[a], points[b], points[c]
        return (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)

    count = 0
    for i, (a, b) in enumerate(edges):
        for c, d in edges[i + 1 :]:
            if {a, b} & {c, d}:
                continue
            count += side(a, b, c) * side(a, b, d) < 0 and side(c, d, a) * side(c, d, b) < 0
    return count


@given(st.integers(0, 2**32 - 1))
def test_crossings_are_those_of_the_definition(seed):
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(8, 2))
    edges = np.array([(i, j) for i in range(8) for j in range(i) if rng.random() < 0.4])
    assert count_crossings(points, edges.reshape(-1, 2)) == plain_crossings(points, edges.tolist())


def test_no_molecule_of_mutag_crosses_itself():
    crossing = [
        (i, count_crossings(layout(graph), edges_of(graph)))
        for i, graph in enumerate(load_dataset("MUTAG").graphs)
    ]
    assert [pair for pair in crossing if pair[1]] == []


@pytest.mark.parametrize("n", range(3, 17))
def test_rings_are_round(n):
    points = layout(one([(i, (i + 1) % n) for i in range(n)]))
    apart = np.linalg.norm(points - points.mean(axis=0), axis=1)
    np.testing.assert_allclose(apart, apart.mean(), rtol=0.02)
    steps = np.linalg.norm(points - np.roll(points, 1, axis=0), axis=1)
    np.testing.assert_allclose(steps, steps.mean(), rtol=0.02)


def test_two_nodes_are_drawn_apart():
    np.testing.assert_allclose(np.linalg.norm(np.diff(layout(one([(0, 1)])), axis=0)), 1.0)


@given(st.integers(0, 2**32 - 1), st.integers(3, 25))
def test_trees_with_rings_do_not_cross(seed, n):
    """A random tree in which some edges are replaced by rings of three to six nodes."""
    rng = np.random.default_rng(seed)
    edges, total = [], 1
    while total < n:
        root, size = int(rng.integers(total)), int(rng.integers(1, 6))
        ring = [root, *range(total, total + size)]
        edges += list(pairwise(ring))
        if size > 1:
            edges.append((ring[-1], root))
        total += size
    graph = one(edges)
    assert count_crossings(layout(graph), edges_of(graph)) == 0


def test_moves_that_would_cross_are_not_made():
    """Distances that would pull corners of a square across each other cause no crossing."""
    edges = np.array([[0, 1], [1, 2], [2, 3], [3, 0]])
    square = np.array([[0.0, 0], [1, 0], [1, 1], [0, 1]])
    distances = np.array([[0, 3, 1, 3], [3, 0, 3, 1], [1, 3, 0, 3], [3, 1, 3, 0]], float)
    moved = majorise_flat(square, distances, edges, 50)
    assert count_crossings(moved, edges) == 0
    assert not np.allclose(moved, square)


def test_rings_and_blocks():
    naphthalene = [(i, (i + 1) % 10) for i in range(10)] + [(0, 5)]
    rings = ring_basis(naphthalene)
    assert sorted(ring.bit_count() for ring in rings) == [6, 6]
    around = [[1, 2], [0, 2], [0, 1, 3], [2, 4], [3]]
    assert sorted(len(block) for block in blocks_of(around)) == [1, 1, 3]
    complete = [[j for j in range(5) if j != i] for i in range(5)]
    assert flat_start(complete) is None  # K5 is not planar


def test_a_thousand_nodes_take_seconds():
    rng = np.random.default_rng(0)
    edges = [(i, int(rng.integers(i))) for i in range(1, 1000)]
    edges += [tuple(pair) for pair in rng.integers(1000, size=(300, 2)) if pair[0] != pair[1]]
    graph = one(edges, 1000)
    started = time.process_time()
    points = layout(graph)
    assert time.process_time() - started < 20.0  # about one on an idle machine
    assert np.isfinite(points).all()
    assert len(np.unique(points.round(6), axis=0)) > 990


def test_larger_graphs_are_sampled_and_hang_together():
    graph = one(
        [(i, i + 1) for i in range(2999)] + [(1500, i) for i in range(0, 3000, 50) if i != 1500],
        3000,
    )
    kept = sampled(graph, 500)
    assert len(kept) == 500
    assert 1500 in kept
    assert sampled(graph, 3000) is None
    inside = np.isin(edges_of(graph), kept).all(axis=1)
    part = one(np.searchsorted(kept, edges_of(graph)[inside]), 500)
    assert len(component_nodes(part)) == 1


def test_many_components_stand_in_rows():
    points = layout(one([], 60))
    assert len(np.unique(points, axis=0)) == 60
    assert np.ptp(points[:, 0]) < 20
    assert np.ptp(points[:, 1]) > 2
