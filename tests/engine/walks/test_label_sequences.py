"""Sums over common walks by counting label sequences, against sums pair by pair."""

from __future__ import annotations

import numpy as np
import pytest

from gramlet import GraphBatch, RandomWalk, load_dataset
from gramlet.engine.walks import label_sequences as module
from gramlet.engine.walks.label_sequences import series_weights
from gramlet.engine.walks.product_walks import EXPONENTIAL, GEOMETRIC, STEPS
from gramlet.kernels.walks import random_walk
from reference.examples import random_graphs

KINDS = ("geometric", "exponential", "steps")


def by_sequences(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the cost estimate always choose sequences."""
    for cost in ("_HALF", "_PRODUCT", "_COMPARED"):
        monkeypatch.setattr(module, cost, 1e-12)


def by_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(random_walk, "series_weights", lambda *_: None)


def weighted_graphs() -> GraphBatch:
    batch = random_graphs(3, n_graphs=12)
    tails, heads = batch.arcs()
    once = np.flatnonzero(tails < heads)
    weights = np.random.default_rng(0).uniform(0.0, 2.0, len(once))
    weights[::5] = 0.0
    return GraphBatch.from_arcs(
        batch.node_offsets,
        tails[once],
        heads[once],
        node_labels=batch.node_labels,
        edge_weights=weights,
    )


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("weighted", [False, True])
def test_all_pairs_are_as_one_by_one(kind, weighted, monkeypatch):
    batch = weighted_graphs()
    kernel = RandomWalk(kind, decay=0.01, n_steps=5, weighted=weighted)
    with monkeypatch.context() as patch:
        by_pairs(patch)
        expected = kernel.fit_transform(batch)
    by_sequences(monkeypatch)
    found = kernel.fit_transform(batch)
    assert not np.array_equal(found, expected) or kind == "steps"
    np.testing.assert_allclose(found, expected, rtol=1e-13)
    assert np.array_equal(found, found.T)
    np.testing.assert_allclose(kernel.transform(batch[2:7]), expected[2:7], rtol=1e-13)
    np.testing.assert_allclose(kernel.diagonal(batch), np.diagonal(expected), rtol=1e-13)


def test_counts_beyond_the_memory_are_not_made(monkeypatch):
    batch = load_dataset("MUTAG").graphs[:20]
    by_sequences(monkeypatch)
    kernel = RandomWalk(decay=0.01)
    expected = kernel.fit_transform(batch)
    for room in (1e3, 1e5):
        monkeypatch.setattr(module, "available_bytes", lambda room=room: room)
        np.testing.assert_allclose(kernel.fit_transform(batch), expected, rtol=1e-13)


def test_results_do_not_depend_on_threads():
    batch = load_dataset("MUTAG").graphs
    one, two = (RandomWalk(n_jobs=n).fit_transform(batch) for n in (1, 2))
    assert np.array_equal(one, two)


def test_a_decay_close_to_the_limit_is_left_to_solvers(monkeypatch):
    batch = load_dataset("MUTAG").graphs[:5]
    by_sequences(monkeypatch)
    radius = RandomWalk(decay=0.01).fit(batch).profile_.radii.max() ** 2
    assert series_weights(GEOMETRIC, 0.99 / radius, 0.99, 0) is None
    near = RandomWalk(decay=0.99 / radius).fit_transform(batch)
    assert np.isfinite(near).all()


def test_steps_of_large_graphs_without_labels_take_no_decomposition():
    rng = np.random.default_rng(5)
    parents = [rng.integers(0, np.arange(1, 4000)) for _ in range(3)]
    trees = [np.stack([parent, np.arange(1, 4000)], axis=1) for parent in parents]
    batch = GraphBatch.from_edges([tree.tolist() for tree in trees])
    matrix = RandomWalk("steps", decay=0.1, n_steps=2).fit_transform(batch)
    walks = [[4000, 2 * 3999, int((batch.degrees.reshape(3, -1)[i] ** 2).sum())] for i in range(3)]
    counts = np.array(walks) * np.sqrt(0.1) ** np.arange(3)
    np.testing.assert_allclose(matrix, counts @ counts.T, rtol=1e-13)


@pytest.mark.parametrize("reach", [1e-6, 0.01, 0.1, 0.3])
@pytest.mark.parametrize("kind", [GEOMETRIC, EXPONENTIAL])
def test_series_are_accurate_on_their_interval(kind, reach):
    weights = series_weights(kind, 1.0, reach, 0)
    assert weights is not None
    x = np.linspace(-reach, reach, 1001)
    expected = 1.0 / (1.0 - x) if kind == GEOMETRIC else np.exp(x)
    np.testing.assert_allclose(np.polyval(weights[::-1], x), expected, rtol=0, atol=3e-15)


def test_steps_beyond_numbers_are_left_to_solvers():
    assert series_weights(STEPS, 1e200, 1.0, 3) is None
    assert series_weights(STEPS, 1.0, 1.0, 1000) is None
    assert series_weights(GEOMETRIC, 1.0, 0.0, 0).tolist() == [1.0]
