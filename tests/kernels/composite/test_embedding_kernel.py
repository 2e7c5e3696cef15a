"""EmbeddingKernel against its definition with plain loops, and inside expressions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import gramlet
from gramlet import EmbeddingKernel, LocalDegreeProfile, NetLSD, WLOptimalAssignment
from gramlet.kernels import registry
from reference.examples import random_graphs
from reference.strategies import graph_batches


def naive(fitted: np.ndarray, new: np.ndarray, metric: str, gamma: object) -> np.ndarray:
    """Standardised columns, then exp(−γ‖x − x'‖²) or dot products."""
    mean, spread = [], []
    for column in fitted.T:
        constant = max(column) == min(column)
        mean.append(column[0] if constant else sum(column) / len(column))
        variance = sum((value - mean[-1]) ** 2 for value in column) / len(column)
        spread.append(1.0 if constant else variance**0.5)
    ours, theirs = ((rows - np.array(mean)) / np.array(spread) for rows in (fitted, new))
    if metric == "linear":
        return np.array([[float(x @ y) for y in ours] for x in theirs])
    if gamma == "median":
        first = ours[:1000]
        pairs = [((x - y) ** 2).sum() for i, x in enumerate(first) for y in first[i + 1 :]]
        above = [d for d in pairs if d > 1e-12 * max(1.0, *pairs)] if pairs else []
        gamma = 1.0 / np.median(above) if above else 1.0
    return np.array([[np.exp(-gamma * ((x - y) ** 2).sum()) for y in ours] for x in theirs])


@given(graph_batches(min_graphs=1), graph_batches(min_graphs=1))
@pytest.mark.parametrize(("metric", "gamma"), [("rbf", "median"), ("rbf", 0.3), ("linear", 1.0)])
def test_definition(metric, gamma, batch, new):
    kernel = EmbeddingKernel(LocalDegreeProfile(n_bins=3), metric, gamma=gamma)
    matrix = kernel.fit_transform(batch)
    embedding = LocalDegreeProfile(n_bins=3).fit(batch)
    rows, new_rows = embedding.transform(batch), embedding.transform(new)
    np.testing.assert_allclose(matrix, naive(rows, rows, metric, gamma), rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(
        kernel.transform(new), naive(rows, new_rows, metric, gamma), rtol=1e-9, atol=1e-10
    )
    assert np.array_equal(matrix, matrix.T)
    if metric == "rbf":
        assert np.array_equal(np.diagonal(matrix), np.ones(len(batch)))


def test_the_median_is_of_the_first_thousand_graphs():
    rng = np.random.default_rng(0)
    sizes = [*rng.integers(1, 4, 1000).tolist(), *[9] * 200]
    batch = gramlet.GraphBatch.from_edges([[]] * 1200, n_nodes=sizes)
    features = FunctionTransformer(lambda graphs: gramlet.as_batch(graphs).sizes[:, None] * 1.0)
    kernel = EmbeddingKernel(features).fit(batch)
    column = np.array(sizes, dtype=float)
    scaled = ((column - column.mean()) / column.std())[:1000]
    distances = (scaled[:, None] - scaled)[np.triu_indices(1000, 1)] ** 2
    assert kernel.median_gamma_ == pytest.approx(1 / np.median(distances[distances > 1e-12]))


def test_any_transformer_of_graphs_serves():
    graphs = random_graphs(0, n_graphs=9)
    pipeline = make_pipeline(NetLSD(), PCA(2, random_state=0))
    matrix = EmbeddingKernel(pipeline).fit_transform(graphs)
    rows = pipeline.fit_transform(graphs)
    np.testing.assert_allclose(matrix, naive(rows, rows, "rbf", "median"), rtol=1e-9)


def test_gamma_may_change_after_fit():
    graphs = random_graphs(0, n_graphs=9)
    kernel = EmbeddingKernel(NetLSD()).fit(graphs)
    expected = EmbeddingKernel(NetLSD(), gamma=0.2).fit(graphs).transform(graphs)
    np.testing.assert_array_equal(kernel.set_params(gamma=0.2).transform(graphs), expected)
    np.testing.assert_allclose(kernel.decays().matrix(), expected, rtol=1e-10)


def test_features_that_are_not_finite_are_refused():
    broken = FunctionTransformer(lambda graphs: np.array([[0.0], [np.nan]]))
    with pytest.raises(ValueError, match="Graph 1: feature 0 of FunctionTransformer is nan"):
        EmbeddingKernel(broken).fit(random_graphs(0, n_graphs=2))


def test_expressions():
    graphs = random_graphs(1, n_graphs=8)
    kernel = registry.make("rbf(netlsd(kind=wave), gamma=0.5)")
    assert repr(kernel) == "EmbeddingKernel(embedding=NetLSD(kind='wave'), gamma=0.5)"
    summed = registry.make("wl-oa + 2 * rbf(degree-profile)")
    members = [type(member) for member in summed.kernels]
    assert members == [WLOptimalAssignment, EmbeddingKernel]
    assert np.isfinite(summed.fit_transform(graphs)).all()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("rbf(wl)", "'rbf' takes an embedding"),
        ("1 * rbf", "'rbf' takes an embedding"),
        ("rbf(netlsd, metric=linear)", "Kernel 'rbf' has no parameter 'metric'"),
        ("rbf(netlsd, fgsd)", "'embedding' is given twice"),
        ("wl + netlsd", r"kernels can, such as rbf\(netlsd\)"),
    ],
)
def test_mistakes_in_expressions(text, message):
    with pytest.raises(ValueError, match=message):
        registry.make(text)


@pytest.mark.parametrize("params", [{"metric": "cosine"}, {"gamma": -1.0}, {"gamma": "auto"}])
def test_wrong_parameters(params):
    with pytest.raises(ValueError, match=f"'{next(iter(params))}' parameter of EmbeddingKernel"):
        EmbeddingKernel(NetLSD(), **params).fit(random_graphs(0))
