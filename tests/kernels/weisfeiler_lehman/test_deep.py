"""DeepGraphKernel against its definition with a dense decomposition."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gramlet
from gramlet import DeepGraphKernel, VertexHistogram, WeisfeilerLehman
from gramlet.engine.counts import pattern_vectors as engine
from reference.kernels.deep import (
    deep_graph_diagonal,
    deep_graph_kernel,
    without_levels,
    wl_patterns,
)
from reference.strategies import graph_batches


def two_levels(graph):
    return wl_patterns(graph, n_iter=2, use_edge_labels=False)


def label_counts(graph):
    return Counter(graph.labels)


@st.composite
def two_batches(draw):
    columns = {"labels": True, "edge_labels": False}
    return (
        draw(graph_batches(min_graphs=1, max_graphs=6, **columns)),
        draw(graph_batches(max_graphs=3, **columns)),
    )


@given(two_batches(), st.sampled_from([1, 2, 3, 5, 8, 64]), st.booleans())
def test_is_the_kernel_of_the_definition(batches, n_components, normalize):
    batch, new = batches
    options = {"n_components": n_components, "normalize": normalize}
    kernel = DeepGraphKernel(WeisfeilerLehman(2), **options)
    expected = deep_graph_kernel(batch, features=two_levels, **options)
    np.testing.assert_allclose(kernel.fit_transform(batch), expected, rtol=1e-7, atol=1e-7)
    expected = deep_graph_kernel(new, batch, features=two_levels, **options)
    np.testing.assert_allclose(kernel.transform(new), expected, rtol=1e-7, atol=1e-7)
    if not normalize:
        own = deep_graph_diagonal(new, batch, features=two_levels, n_components=n_components)
        np.testing.assert_allclose(kernel.diagonal(new), own, rtol=1e-7, atol=1e-7)


@given(two_batches(), st.sampled_from([1, 2, 64]))
def test_bases_without_levels(batches, n_components):
    batch, new = batches
    kernel = DeepGraphKernel(VertexHistogram(normalize=True), n_components).fit(batch)
    expected = deep_graph_kernel(
        new, batch, features=without_levels(label_counts), n_components=n_components
    )
    np.testing.assert_allclose(kernel.transform(new), expected, rtol=1e-7, atol=1e-7)


def dense_vectors(counts, levels, n_components):
    """M from the singular value decomposition of the whole matrix."""
    there = (counts.toarray() != 0).astype(float)
    common = there.T @ there
    common[levels[:, None] != levels] = 0.0
    np.fill_diagonal(common, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = common * common.sum() / np.outer(common.sum(0), common.sum(1))
        information = np.where(common > 0, np.maximum(0.0, np.log(ratio)), 0.0)
    U, S, _ = np.linalg.svd(information)
    kept = S[:n_components] > max((1 + 1e-6) * S[n_components], 1e-10 * S[0])
    rows = U[:, :n_components][:, kept] * np.sqrt(S[:n_components][kept])
    lengths = np.linalg.norm(rows, axis=1)
    there = lengths >= 1e-7 * np.sqrt(S[0])
    return np.where(there[:, None], rows / np.where(there, lengths, 1.0)[:, None], 0.0)


@pytest.mark.parametrize("dense", [True, False])
@pytest.mark.parametrize("n_components", [5, 64])
def test_the_solver_is_exact_on_molecules(monkeypatch, dense, n_components):
    graphs = gramlet.load_dataset("MUTAG").graphs[:60]
    kernel = WeisfeilerLehman(2).fit(graphs)
    counts, levels = kernel.features(graphs), kernel.feature_levels()
    if not dense:  # as if the matrix were too large for a dense decomposition
        monkeypatch.setattr(engine, "_DENSE", 0)
    rng = np.random.RandomState(3)
    rows = engine.pattern_vectors(counts, levels, n_components, rng)
    expected = dense_vectors(counts, levels, n_components)
    np.testing.assert_allclose(rows @ rows.T, expected @ expected.T, atol=1e-7)


def test_the_seed_changes_nothing():
    graphs = gramlet.load_dataset("MUTAG").graphs[:40]
    one, two = (DeepGraphKernel(random_state=seed).fit_transform(graphs) for seed in (0, 1))
    np.testing.assert_allclose(one, two, rtol=1e-7)


def test_bases_that_cannot_serve():
    graphs = gramlet.load_dataset("MUTAG").graphs[:3]
    with pytest.raises(ValueError, match="no explicit feature map"):
        DeepGraphKernel("wl-oa").fit(graphs)
    with pytest.raises(ValueError, match="'n_components' parameter"):
        DeepGraphKernel(n_components=0).fit(graphs)
    with pytest.raises(ValueError, match="refines node labels itself"):
        WeisfeilerLehman(base="deep").fit(graphs)
