"""Node coordinates from eigenvectors: both solvers against the plain definition."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse.linalg import ArpackError

from gramlet import as_batch
from gramlet.engine.core.tiles import Tiling
from gramlet.engine.spectral import coordinates as spectral
from reference import rge
from reference.strategies import graph_batches

nx = pytest.importorskip("networkx", reason="needs networkx")


def coordinates(batch, n_dims):
    arrays = (batch.node_offsets, batch.indptr, batch.indices, n_dims)
    return spectral.laplacian_coordinates(*arrays), spectral.adjacency_coordinates(*arrays)


def check(batch, n_dims, tolerance):
    by_laplacian, by_adjacency = coordinates(batch, n_dims)
    for i in range(len(batch)):
        rows = slice(batch.node_offsets[i], batch.node_offsets[i + 1])
        np.testing.assert_allclose(
            by_laplacian.points[rows], rge.node_embedding(batch[i], n_dims), atol=tolerance
        )
        values, points = rge.adjacency_embedding(batch[i], n_dims)
        np.testing.assert_allclose(by_adjacency.points[rows], points, atol=tolerance)
        np.testing.assert_allclose(by_adjacency.values[i], values, atol=tolerance)


@given(graph_batches(max_graphs=4), st.integers(1, 8))
def test_small_graphs(batch, n_dims):
    check(batch, n_dims, 1e-7)


LARGE = {
    "random": nx.gnm_random_graph(300, 600, seed=1),
    "cycle": nx.cycle_graph(200),
    "star": nx.star_graph(200),
    "complete": nx.complete_graph(170),
    "two cycles": nx.disjoint_union(nx.cycle_graph(170), nx.cycle_graph(170)),
    "grid": nx.convert_node_labels_to_integers(nx.grid_2d_graph(14, 14)),
    "tree": nx.balanced_tree(2, 7),
    "ternary tree": nx.balanced_tree(3, 6),
    "cube": nx.convert_node_labels_to_integers(nx.hypercube_graph(8)),
    "no edges": nx.empty_graph(200),
}


@pytest.mark.parametrize("name", LARGE)
def test_large_graphs_by_iteration(name, monkeypatch):
    batch = as_batch([LARGE[name]])
    monkeypatch.setattr(spectral, "_DENSE", 2000)
    dense = coordinates(batch, 5)
    monkeypatch.setattr(spectral, "_DENSE", 100)
    check(batch, 5, 1e-6)
    for iterated, direct in zip(coordinates(batch, 5), dense, strict=True):
        np.testing.assert_allclose(iterated.points, direct.points, atol=1e-6)


def test_an_iteration_that_breaks_down_is_replaced(monkeypatch):
    def broken(*arguments, **options):
        raise ArpackError(3)

    monkeypatch.setattr(spectral, "eigsh", broken)
    monkeypatch.setattr(spectral, "_DENSE", 100)
    check(as_batch([LARGE["complete"]]), 5, 1e-6)


def test_iteration_is_used_and_finds_repeated_eigenvalues(monkeypatch):
    called = []
    original = spectral._lanczos

    def spy(*arguments):
        called.append(1)
        return original(*arguments)

    monkeypatch.setattr(spectral, "_lanczos", spy)
    monkeypatch.setattr(spectral, "_DENSE", 100)
    check(as_batch([LARGE["cube"]]), 5, 1e-6)
    assert called


def test_an_eigenspace_too_large_is_an_error_that_names_the_graph(monkeypatch):
    monkeypatch.setattr(spectral, "_DENSE", 50)
    monkeypatch.setattr(spectral, "_DENSE_AT_MOST", 100)
    with pytest.raises(ValueError, match="Graph 1 has an eigenvalue repeated so often"):
        coordinates(as_batch([nx.path_graph(3), LARGE["star"]]), 5)


def test_threads_do_not_matter(monkeypatch):
    monkeypatch.setattr(spectral, "_DENSE", 100)
    batch = as_batch([nx.gnm_random_graph(n, 2 * n, seed=n) for n in (5, 20, 20, 200)])
    arrays = (batch.node_offsets, batch.indptr, batch.indices, 4)
    one = spectral.laplacian_coordinates(*arrays, Tiling(1))
    two = spectral.laplacian_coordinates(*arrays, Tiling(2))
    assert np.array_equal(one.points, two.points)
