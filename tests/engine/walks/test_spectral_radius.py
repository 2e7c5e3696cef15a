"""Spectral radii of asymmetric matrices, against dense eigenvalues."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from gramlet.engine.walks import spectral_radius as module
from gramlet.engine.walks.product_walks import sort_by_label
from gramlet.engine.walks.spectral_radius import arc_pair_radii, arc_self_radii, matrix_radius
from reference.kernels.paths_walks import product_graph, spectral_radius
from reference.plain import plain_graphs
from reference.strategies import graph_batches


def ready(batch):
    labels = batch.node_labels
    codes = np.zeros(batch.n_nodes_total, np.int64) if labels is None else labels.codes
    return sort_by_label(batch.node_offsets, batch.indptr, batch.indices, codes, batch.edge_weights)


@given(graph_batches(min_graphs=1, max_graphs=4, max_nodes=6, directed=True))
def test_products_against_the_definition(batch):
    graphs, plain = ready(batch), plain_graphs(batch)
    rows, columns = (part.ravel() for part in np.indices((len(batch), len(batch))))
    expected = [
        spectral_radius(product_graph(plain[i], plain[j], weighted=True))
        for i, j in zip(rows, columns, strict=True)
    ]
    found = arc_pair_radii(graphs, graphs, rows, columns)
    np.testing.assert_allclose(found, expected, rtol=1e-9)
    bounds = arc_self_radii(graphs)
    np.testing.assert_allclose(
        bounds**2, np.reshape(expected, (len(batch), -1)).diagonal(), rtol=1e-9
    )
    # The Cauchy-Schwarz inequality that bounds all pairs.
    assert (np.array(expected) <= bounds[rows] * bounds[columns] * (1 + 1e-9)).all()


@given(st.integers(0, 10**6), st.booleans())
def test_the_bound_by_self_radii_holds_for_any_signs(seed, labelled):
    rng = np.random.default_rng(seed)
    labels = [rng.integers(0, 2 if labelled else 1, 4) for _ in range(2)]
    weights = [rng.normal(size=(4, 4)) * (rng.random((4, 4)) < 0.6) for _ in range(2)]

    def radius(a, b):
        meet = np.equal.outer(labels[a], labels[b]).ravel()
        product = np.kron(weights[a], weights[b])[np.ix_(meet, meet)]
        return np.abs(np.linalg.eigvals(product)).max(initial=0.0)

    assert radius(0, 1) ** 2 <= radius(0, 0) * radius(1, 1) * (1 + 1e-6) + 1e-12


def test_acyclic_matrices_have_exactly_zero():
    rng = np.random.default_rng(0)
    order = rng.permutation(40)
    upper = np.triu(rng.random((40, 40)), 1)[np.ix_(order, order)]
    assert matrix_radius(sparse.csr_matrix(upper)) == 0.0
    assert matrix_radius(sparse.csr_matrix((0, 0))) == 0.0


@pytest.mark.parametrize("n", [30, 700])
def test_long_cycles_with_a_chord(n):
    """Eigenvalues lie close together on a circle, so that the power method does not converge."""
    cycle = sparse.lil_matrix((n, n))
    for i in range(n):
        cycle[i, (i + 1) % n] = 1.0
    cycle[0, 3] = 1.0
    found = matrix_radius(sparse.csr_matrix(cycle))
    # Simple cycles have n or n − 2 steps: 1 = ρ^−n + ρ^−(n−2).
    assert found**-n + found ** -(n - 2) == pytest.approx(1.0, rel=1e-8)


def test_either_iteration_finds_it(monkeypatch):
    rng = np.random.default_rng(1)
    matrix = (rng.random((60, 60)) < 0.05) * rng.random((60, 60))
    expected = pytest.approx(np.abs(np.linalg.eigvals(matrix)).max(), rel=1e-9)
    with monkeypatch.context() as patch:
        patch.setattr(module, "_FEW_STEPS", 4)
        assert matrix_radius(sparse.csr_matrix(matrix)) == expected
    monkeypatch.setattr(module, "_noda_steps", lambda block, *state: state)
    assert matrix_radius(sparse.csr_matrix(matrix)) == expected


def test_weights_of_many_orders_of_magnitude():
    """A ring with weights from 10^-8 to 10^8: ρ is their geometric mean."""
    weights = 10.0 ** np.linspace(-8, 8, 50)
    ring = sparse.csr_matrix((weights, (np.arange(50), np.roll(np.arange(50), -1))))
    assert matrix_radius(ring) == pytest.approx(1.0, rel=1e-9)


def test_signed_components_are_limited(monkeypatch):
    monkeypatch.setattr(module, "LARGEST_SIGNED", 2)
    ring = sparse.csr_matrix([[0.0, -1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]])
    with pytest.raises(ValueError, match="3 nodes; at most 2 are supported"):
        matrix_radius(ring)
    monkeypatch.undo()
    assert matrix_radius(ring) == pytest.approx(1.0, rel=1e-12)
