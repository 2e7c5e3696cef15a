"""Wasserstein-WL on node attributes against linear programs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gramlet import GraphBatch, WassersteinWL
from reference.kernels import wasserstein
from reference.plain import gram
from reference.strategies import graph_batches


@st.composite
def with_attributes(draw, min_nodes=0):
    batch = draw(
        graph_batches(
            min_graphs=2,
            max_graphs=5,
            max_nodes=5,
            min_nodes=min_nodes,
            attributes=True,
            directed=None,
        )
    )
    cut = draw(st.integers(1, len(batch) - 1))
    return batch[:cut], batch[cut:]


@given(with_attributes(), st.integers(0, 2), st.booleans(), st.sampled_from([0.3, 2.0]))
def test_kernel(batches, n_iter, include_initial, gamma):
    batch, new = batches
    options = {"n_iter": n_iter, "include_initial": include_initial or n_iter == 0}
    kernel = WassersteinWL(gamma=gamma, use_attributes=True, **options)
    definition = wasserstein.continuous_wasserstein_wl
    np.testing.assert_allclose(
        kernel.fit_transform(batch), gram(definition, batch, gamma=gamma, **options), atol=1e-8
    )
    np.testing.assert_allclose(
        kernel.transform(new), gram(definition, new, batch, gamma=gamma, **options), atol=1e-8
    )


@settings(max_examples=20)
@given(with_attributes(min_nodes=1))
def test_distance(batches):
    batch, new = batches
    found = WassersteinWL(n_iter=2, use_attributes=True).fit(batch).distance(new)
    expected = gram(wasserstein.continuous_wwl_distance, new, batch, n_iter=2)
    np.testing.assert_allclose(found, expected, atol=1e-8)


def rows(*lists):
    return [np.array(part, dtype=float).reshape(-1, 1) for part in lists]


def test_empty_graphs_have_no_distance():
    batch = GraphBatch.from_edges([[(0, 1)], []], node_attributes=rows([0, 1], []))
    kernel = WassersteinWL(n_iter=1, use_attributes=True).fit(batch[:1])
    with pytest.raises(ValueError, match="Graph 1 of the given graphs is empty"):
        kernel.distance(batch)
    with pytest.raises(ValueError, match="Graph 1 of the fitted graphs is empty"):
        kernel.fit(batch).distance(batch[:1])
    assert kernel.fit_transform(batch).tolist() == [[1.0, 0.0], [0.0, 1.0]]


def test_bad_input():
    good = GraphBatch.from_edges([[(0, 1)]], node_attributes=rows([0, 1]))
    bare = GraphBatch.from_edges([[(0, 1)]])
    missing = GraphBatch.from_edges([[], [(0, 1)]], node_attributes=rows([1], [0, np.nan]))
    kernel = WassersteinWL(use_attributes=True)
    with pytest.raises(ValueError, match="graph 0 has none"):
        kernel.fit(bare)
    with pytest.raises(ValueError, match="node 1 of graph 1 are not finite"):
        kernel.fit(missing)
    wide = GraphBatch.from_edges([[(0, 1)]], node_attributes=[np.zeros((2, 3))])
    with pytest.raises(ValueError, match="fitted on graphs with 1 attributes"):
        kernel.fit(good).transform(wide)
    with pytest.raises(ValueError, match="use_edge_labels"):
        WassersteinWL(use_attributes=True, use_edge_labels=True).fit(good)
    zero = GraphBatch.from_edges([[(0, 1)]], edge_weights=[[0.0]], node_attributes=rows([0, 1]))
    with pytest.raises(ValueError, match=r"node 0 of graph 0 add up to 0\.0"):
        kernel.fit(zero)


def test_attributes_whose_squares_are_not_finite():
    attributes = [np.ones((2, 3)), np.full((2, 3), 1e200)]
    batch = GraphBatch.from_edges([[(0, 1)], [(0, 1)]], node_attributes=attributes)
    with pytest.raises(ValueError, match=r"node 0 of graph 1 are beyond 1e\+140.*Scale"):
        WassersteinWL(use_attributes=True).fit(batch)
