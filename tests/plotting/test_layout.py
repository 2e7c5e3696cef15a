"""Layouts: rings are round, large graphs are sampled, the same graph has the same picture."""

from __future__ import annotations

import sys
import time

import numpy as np
import pytest

from gramlet import GraphBatch
from gramlet.plotting.layout import component_nodes, edges_of, layout, sampled

pytest.importorskip("networkx", reason="needs networkx")


def one(edges, n=None):
    return GraphBatch.from_edges([edges], n_nodes=None if n is None else [n])


@pytest.mark.parametrize("n", range(3, 17))
def test_rings_are_round(n):
    points = layout(one([(i, (i + 1) % n) for i in range(n)]))
    apart = np.linalg.norm(points - points.mean(axis=0), axis=1)
    np.testing.assert_allclose(apart, apart.mean(), rtol=0.02)
    steps = np.linalg.norm(points - np.roll(points, 1, axis=0), axis=1)
    np.testing.assert_allclose(steps, steps.mean(), rtol=0.02)


def test_distances_are_kept_and_components_are_apart():
    points = layout(one([(0, 1), (1, 2), (2, 3), (5, 6)], 7))
    np.testing.assert_allclose(np.linalg.norm(points[0] - points[3]), 3.0, atol=0.05)
    np.testing.assert_allclose(np.linalg.norm(points[5] - points[6]), 1.0)
    assert points[4:, 0].min() > points[:4, 0].max()


def test_a_thousand_nodes_take_seconds():
    rng = np.random.default_rng(0)
    edges = [(i, int(rng.integers(i))) for i in range(1, 1000)]
    edges += [tuple(pair) for pair in rng.integers(1000, size=(300, 2)) if pair[0] != pair[1]]
    graph = one(edges, 1000)
    started = time.process_time()
    points = layout(graph)
    assert time.process_time() - started < 20.0  # about five on an idle machine
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


def test_the_same_graph_has_the_same_picture():
    rng = np.random.default_rng(0)
    for n in (30, 250):
        graph = one([(i, int(rng.integers(i))) for i in range(1, n)])
        points = layout(graph)
        assert np.array_equal(points, layout(graph))
        ends = edges_of(graph)
        lengths = np.linalg.norm(points[ends[:, 0]] - points[ends[:, 1]], axis=1)
        assert np.median(lengths) == pytest.approx(1.0)


def test_without_networkx_the_message_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "networkx", None)
    with pytest.raises(ImportError, match=r"pip install gramlet\[plot\]"):
        layout(one([(0, 1), (1, 2)]))
