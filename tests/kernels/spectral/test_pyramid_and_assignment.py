"""Pyramid match and geometric assignment against their plain definitions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from gramlet import GeometricAssignment, PyramidMatch, as_batch
from gramlet.engine.spectral.assignment import match_rows
from reference import rge
from reference.plain import gram
from reference.strategies import graph_batches, permuted


@st.composite
def two_batches(draw):
    labels = draw(st.booleans())
    return (
        draw(graph_batches(min_graphs=1, max_graphs=4, labels=labels)),
        draw(graph_batches(min_graphs=1, max_graphs=3, labels=labels)),
    )


@given(two_batches(), st.integers(1, 6), st.integers(0, 4), st.sampled_from(["auto", True, False]))
def test_pyramid_match(batches, n_dims, n_levels, labels):
    batch, new = batches
    kernel = PyramidMatch(n_dims, n_levels, use_labels=labels)
    options = {"n_dims": n_dims, "n_levels": n_levels, "labels": labels}
    np.testing.assert_allclose(
        kernel.fit_transform(batch), gram(rge.pyramid_match, batch, **options), atol=1e-9
    )
    np.testing.assert_allclose(
        kernel.transform(new), gram(rge.pyramid_match, new, batch, **options), atol=1e-9
    )


@given(two_batches(), st.integers(1, 6))
def test_geometric_assignment(batches, n_dims):
    batch, new = batches
    kernel = GeometricAssignment(n_dims)
    np.testing.assert_allclose(
        kernel.fit_transform(batch),
        rge.geometric_assignment_gram(batch, n_dims=n_dims),
        atol=1e-8,
    )
    np.testing.assert_allclose(
        kernel.transform(new),
        rge.geometric_assignment_gram(new, batch, n_dims=n_dims),
        atol=1e-8,
    )
    np.testing.assert_allclose(
        kernel.matching(new), gram(rge.matching, new, batch, n_dims=n_dims), atol=1e-8
    )


def best_assignment(value: np.ndarray) -> float:
    """The best assignment of vectors whose dot products are the values."""
    (n, m), out = value.shape, np.empty((1, 1))
    others = np.eye(m)
    match_rows(
        0,
        1,
        np.array([0, n]),
        value,
        np.ascontiguousarray(value.T),
        np.array([0, m]),
        others,
        others,
        False,
        out,
    )
    return out[0, 0]


@given(st.integers(1, 14), st.integers(1, 14), st.integers(0, 1000), st.booleans())
def test_assignment_solver(n, m, seed, ties):
    rng = np.random.default_rng(seed)
    value = rng.integers(0, 4, (n, m)) * 1.0 if ties else rng.normal(size=(n, m))
    rows, columns = linear_sum_assignment(value, maximize=True)
    assert best_assignment(value) == pytest.approx(value[rows, columns].sum(), abs=1e-9)


def test_assignment_of_values_that_are_not_finite_ends():
    assert np.isnan(best_assignment(np.full((3, 5), np.nan)))


@pytest.mark.parametrize("kernel", [PyramidMatch(), GeometricAssignment()])
def test_symmetric_graphs_do_not_depend_on_the_order_of_nodes(kernel):
    nx = pytest.importorskip("networkx", reason="needs networkx")
    graphs = [nx.cycle_graph(7), nx.star_graph(5), nx.complete_graph(6), nx.petersen_graph()]
    batch = as_batch(graphs)
    matrix = kernel.fit_transform(batch)
    for seed in range(3):
        shuffled = permuted(batch, np.random.default_rng(seed))
        np.testing.assert_allclose(kernel.fit_transform(shuffled), matrix, atol=1e-8)


@pytest.mark.parametrize("make", [PyramidMatch, GeometricAssignment])
def test_bad_dimensions(make):
    with pytest.raises(ValueError, match="'n_dims' parameter"):
        make(n_dims=0).fit([[(0, 1), (1, 2)]])
