"""The propagation kernel against its plain definition, with the same random numbers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gramlet import GraphBatch, Propagation
from reference.examples import random_graphs
from reference.kernels.paths_walks import label_distributions, propagation_gram
from reference.plain import plain_graphs
from reference.strategies import graph_batches

METRICS = ["tv", "hellinger", "l1", "l2"]


@st.composite
def two_batches(draw):
    labels, directed = draw(st.booleans()), draw(st.booleans())
    return (
        draw(graph_batches(min_graphs=1, max_graphs=4, labels=labels, directed=directed)),
        draw(graph_batches(min_graphs=1, max_graphs=3, labels=labels, directed=directed)),
    )


@given(two_batches(), st.sampled_from(METRICS), st.sampled_from([1e-3, 0.5]), st.integers(0, 3))
def test_labels(batches, metric, width, n_iter):
    batch, new = batches
    kernel = Propagation(n_iter, width, metric=metric, random_state=7).fit(batch)
    counter = kernel.counter_
    values = counter.labels.vocabulary.values
    alphabet = [None] if values is None else list(values)
    if batch.node_labels is None and batch.n_nodes_total == 0:
        alphabet = []
    starts = [
        [label_distributions(graph, alphabet) for graph in plain_graphs(part)]
        for part in (batch, new)
    ]
    draws = (counter.directions, counter.shifts, width, metric)
    expected = propagation_gram(batch, batch, starts[0], starts[0], *draws)
    np.testing.assert_allclose(kernel.fit_transform(batch), expected)
    expected = propagation_gram(new, batch, starts[1], starts[0], *draws)
    np.testing.assert_allclose(kernel.transform(new), expected)


@pytest.mark.parametrize("metric", ["tv", "l1", "l2"])
def test_attributes(metric):
    batch, new = random_graphs(0, n_graphs=8), random_graphs(1, n_graphs=5)
    kernel = Propagation(3, 0.7, metric=metric, random_state=1, use_attributes=True).fit(batch)
    starts = [[graph.attributes for graph in plain_graphs(part)] for part in (batch, new)]
    draws = (kernel.counter_.directions, kernel.counter_.shifts, 0.7, metric)
    expected = propagation_gram(new, batch, starts[1], starts[0], *draws)
    assert expected.max() > 0
    np.testing.assert_allclose(kernel.transform(new), expected)


def test_draws_are_of_the_right_law():
    labels = [[f"label {i}" for i in range(400)]]
    batch = GraphBatch.from_edges([[]], node_labels=labels)
    gaussian = Propagation(20, 1.0, metric="l2", random_state=0).fit(batch).counter_
    assert gaussian.directions.shape == (21, 401)
    assert abs(gaussian.directions.std() - 1) < 0.05
    cauchy = Propagation(20, 1.0, metric="tv", random_state=0).fit(batch).counter_
    assert abs(np.median(np.abs(cauchy.directions)) - 1) < 0.05  # quartiles of Cauchy's law
    assert np.abs(cauchy.directions).max() > 50
    assert (gaussian.shifts >= 0).all()
    assert (gaussian.shifts <= 1).all()


def test_same_seed_same_matrix():
    batch = random_graphs(2, n_graphs=10)
    first = Propagation(random_state=3).fit_transform(batch)
    assert np.array_equal(first, Propagation(random_state=3).fit_transform(batch))
    wide = [Propagation(width=2.0, random_state=s).fit_transform(batch) for s in (0, 1)]
    assert not np.array_equal(*wide)


def test_bad_input():
    batch = random_graphs(0, n_graphs=3)
    bare = GraphBatch.from_edges([[], [(0, 1)]], n_nodes=[0, 2])
    with pytest.raises(ValueError, match="graph 1 has none"):
        Propagation(use_attributes=True).fit(bare)
    with pytest.raises(ValueError, match="negative attributes"):
        Propagation(metric="hellinger", use_attributes=True).fit(batch)
    missing = GraphBatch.from_edges(
        [[], [(0, 1)]], n_nodes=[1, 2], node_attributes=[[[0.0]], [[1.0], [np.nan]]]
    )
    with pytest.raises(ValueError, match="node 1 of graph 1 are not finite"):
        Propagation(use_attributes=True).fit(missing)
    kernel = Propagation(use_attributes=True, random_state=0).fit(batch)
    narrow = GraphBatch.from_edges([[]], n_nodes=[1], node_attributes=[[[1.0]]])
    with pytest.raises(ValueError, match="fitted on graphs with"):
        kernel.transform(narrow)
    for params in ({"width": 0}, {"metric": "l3"}, {"n_iter": -1}):
        with pytest.raises(ValueError, match="parameter of Propagation"):
            Propagation(**params).fit(batch)


@pytest.mark.parametrize("metric", ["tv", "hellinger", "l2"])
def test_attributes_may_come_after_a_fit_on_graphs_without_nodes(metric):
    empty = GraphBatch.from_edges([[], []], n_nodes=[0, 0])
    graphs = GraphBatch.from_edges(
        [[(0, 1)], [(0, 1), (1, 2)]], node_attributes=[np.eye(2), np.arange(6.0).reshape(3, 2)]
    )
    kernel = Propagation(n_iter=2, metric=metric, use_attributes=True, random_state=0).fit(empty)
    assert kernel.transform(graphs).tolist() == [[0.0, 0.0]] * 2
    own = kernel.diagonal(graphs)
    assert np.array_equal(own, kernel.diagonal(graphs))
    # Nodes with different attributes fall into different bins.
    assert own[0] < 3 * 2**2
    assert (own >= [3 * 2, 3 * 3]).all()
