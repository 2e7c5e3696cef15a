"""Products with the product graph, which is never formed, and its spectral radius."""

from __future__ import annotations

import numpy as np
from hypothesis import given

from compiled_calls import from_python
from gramlet.engine.walks.product_walks import Pair, apply_product, lay_out, room, sort_by_label
from gramlet.engine.walks.spectra import walk_spectra
from gramlet.engine.walks.spectral_radius import pair_radii, self_radii
from reference.examples import random_graphs
from reference.kernels.paths_walks import product_graph, spectral_radius
from reference.plain import plain_graphs
from reference.strategies import graph_batches

apply_product = from_python(apply_product)
lay_out = from_python(lay_out)
room = from_python(room)


def sorted_graphs(batch, weighted=True):
    codes = (
        np.zeros(batch.n_nodes_total, np.int64)
        if batch.node_labels is None
        else np.asarray(batch.node_labels.codes, dtype=np.int64)
    )
    weights = batch.edge_weights if weighted else None
    return sort_by_label(batch.node_offsets, batch.indptr, batch.indices, codes, weights)


@given(graph_batches(min_graphs=1, max_graphs=5))
def test_sorting_by_label_keeps_the_graphs(batch):
    graphs = sorted_graphs(batch)
    for i in range(len(batch)):
        first, last = graphs.node_offsets[i], graphs.node_offsets[i + 1]
        size = last - first
        matrix = np.zeros((size, size))
        for u in range(size):
            arcs = slice(graphs.indptr[first + u], graphs.indptr[first + u + 1])
            matrix[u, graphs.heads[arcs]] = graphs.weights[arcs]
        assert np.array_equal(matrix, matrix.T)
        np.testing.assert_allclose(
            np.linalg.eigvalsh(matrix),
            np.linalg.eigvalsh(batch.adjacency(i, weighted=True)),
            atol=1e-9,
        )
        classes = slice(graphs.class_offsets[i], graphs.class_offsets[i + 1])
        begins, ends = graphs.class_begins[classes], graphs.class_ends[classes]
        assert np.array_equal(np.append(begins, size), np.append(0, ends))
        assert (np.diff(graphs.class_labels[classes]) > 0).all()


@given(graph_batches(min_graphs=2, max_graphs=3, max_nodes=6))
def test_products_have_the_moments_of_the_product_graph(batch):
    graphs, plain = sorted_graphs(batch), plain_graphs(batch)
    weighted = batch.edge_weights is not None
    low, high, start, row = room(graphs, graphs)
    for i in range(len(batch)):
        pair = Pair(graphs, i, graphs, 0, low, high, start, row)
        matrix = product_graph(plain[i], plain[0], weighted=weighted)
        n = lay_out(pair)
        assert n == len(matrix)
        ours, theirs = np.ones(n), np.ones(n)
        for _ in range(3):
            image = np.full(n, np.nan)
            apply_product(pair, ours, image)
            ours, theirs = image, matrix @ theirs
            np.testing.assert_allclose(np.sort(ours), np.sort(theirs), rtol=1e-12)


@given(graph_batches(min_graphs=1, max_graphs=4, max_nodes=6))
def test_radii_of_products(batch):
    graphs, plain = sorted_graphs(batch), plain_graphs(batch)
    weighted = batch.edge_weights is not None
    expected = np.array(
        [[spectral_radius(product_graph(a, b, weighted=weighted)) for b in plain] for a in plain]
    )
    rows, columns = np.divmod(np.arange(len(batch) ** 2), len(batch))
    found = pair_radii(graphs, graphs, rows, columns).reshape(expected.shape)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
    own = self_radii(graphs)
    np.testing.assert_allclose(own, np.sqrt(np.diagonal(expected)), rtol=1e-12, atol=1e-12)
    assert (found <= np.outer(own, own) * (1 + 1e-9)).all()


def test_radii_with_negative_weights():
    rng = np.random.default_rng(0)
    batch = random_graphs(0, n_graphs=8)
    graphs = sorted_graphs(batch, weighted=False)
    # Both directions of an edge have the same sign, which depends on the unordered pair of ends.
    tails = np.repeat(np.arange(len(graphs.indptr) - 1), np.diff(graphs.indptr))
    heads = (
        graphs.heads + graphs.node_offsets[np.searchsorted(graphs.node_offsets, tails, "right") - 1]
    )
    draws = rng.normal(size=(len(tails) + 1, len(tails) + 1))
    weights = draws[np.minimum(tails, heads), np.maximum(tails, heads)]
    graphs = graphs._replace(weights=weights)
    for i in range(len(batch)):
        low, high, start, row = room(graphs, graphs)
        pair = Pair(graphs, i, graphs, i, low, high, start, row)
        n = lay_out(pair)
        matrix = np.empty((n, n))
        for k in range(n):
            apply_product(pair, np.eye(n)[k], matrix[k])
        np.testing.assert_allclose(matrix, matrix.T)
        found = pair_radii(graphs, graphs, np.array([i]), np.array([i]))[0]
        np.testing.assert_allclose(found, spectral_radius(matrix), rtol=1e-9, atol=1e-12)


@given(graph_batches(min_graphs=1, max_graphs=5))
def test_spectra_hold_the_numbers_of_walks(batch):
    spectra, radii = walk_spectra(
        batch.node_offsets, batch.indptr, batch.indices, batch.edge_weights
    )
    for i in range(len(batch)):
        matrix = batch.adjacency(i, weighted=True)
        np.testing.assert_allclose(radii[i], spectral_radius(matrix), atol=1e-12)
        part = slice(spectra.offsets[i], spectra.offsets[i + 1])
        for power in range(4):
            walks = np.linalg.matrix_power(matrix, power).sum()
            ours = (spectra.masses[part] * spectra.values[part] ** power).sum()
            np.testing.assert_allclose(ours, walks, rtol=1e-10, atol=1e-10)
