"""Graph kernels inside scikit-learn's Gaussian processes."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.gaussian_process import GaussianProcessClassifier, GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, WhiteKernel
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import gramlet
from gramlet import GraphKernelGP, VertexHistogram, WassersteinWL
from reference.examples import random_graphs

GRAPHS = random_graphs(0, n_graphs=40, largest=9)


def test_regression_with_a_tuned_hyperparameter():
    graphs = random_graphs(5, n_graphs=120, largest=9)
    truth, start = 1.5, 0.3
    matrix = WassersteinWL(n_iter=1, gamma=truth).fit_transform(graphs)
    values, vectors = np.linalg.eigh(matrix)
    normal = np.random.default_rng(0).normal(size=len(graphs))
    y = vectors @ (np.sqrt(np.maximum(values, 0)) * normal)
    kernel = GraphKernelGP(WassersteinWL(n_iter=1, gamma=start), tune={"gamma": (1e-2, 1e1)})
    model = GaussianProcessRegressor(kernel, alpha=1e-6, n_restarts_optimizer=1, random_state=0)
    model.fit(graphs[:100], y[:100])
    assert truth / 4 < model.kernel_.kernel.gamma < truth * 4
    assert kernel.kernel.gamma == start
    at_truth = model.log_marginal_likelihood(np.log([truth]))
    assert model.log_marginal_likelihood_value_ >= at_truth
    predicted, spread = model.predict(graphs[100:], return_std=True)
    assert (spread >= 0).all()
    errors = np.abs(predicted - y[100:])
    assert errors.mean() < 0.8 * np.abs(y[100:] - y[:100].mean()).mean()
    assert (errors < 3 * spread + 1e-3).mean() > 0.9


def test_adds_and_multiplies_with_other_kernels():
    kernel = ConstantKernel(2.0) * GraphKernelGP(WassersteinWL()) + WhiteKernel(0.5)
    expected = 2.0 * WassersteinWL().fit_transform(GRAPHS) + 0.5 * np.eye(len(GRAPHS))
    np.testing.assert_allclose(kernel(GRAPHS), expected)


def test_classification():
    graphs = random_graphs(6, n_graphs=120, largest=9)
    first, second, *_ = graphs.node_labels.used()
    labels = [list(graph.node_labels) for graph in graphs]
    y = np.array([found.count(first) > found.count(second) for found in labels])
    model = GaussianProcessClassifier(GraphKernelGP(VertexHistogram())).fit(graphs[:80], y[:80])
    assert model.score(graphs[80:], y[80:]) > 0.85


def test_gradient_is_that_of_the_kernel():
    kernel = GraphKernelGP(WassersteinWL(n_iter=2, gamma=0.7), tune={"gamma": (0.1, 10.0)})
    matrix, gradient = kernel(GRAPHS[:6], eval_gradient=True)
    distance = WassersteinWL(n_iter=2).fit(GRAPHS[:6]).distance(GRAPHS[:6])
    np.testing.assert_allclose(gradient[:, :, 0], -0.7 * distance * matrix, atol=1e-7)
    np.testing.assert_allclose(kernel.diag(GRAPHS[:6]), 1.0)
    np.testing.assert_allclose(kernel(GRAPHS[:6], GRAPHS[6:9]).shape, (6, 3))


def test_clone_repr_and_equality():
    kernel = GraphKernelGP(WassersteinWL(gamma=2.0), tune={"gamma": (0.1, 10.0)})
    assert clone(kernel) == kernel
    assert kernel.clone_with_theta(np.log([3.0])) != kernel
    assert kernel.kernel.gamma == 2.0
    assert "WassersteinWL" in repr(kernel)
    assert GraphKernelGP(VertexHistogram()).theta.shape == (0,)


@pytest.mark.parametrize(
    ("tune", "message"),
    [
        ({"n_iter": (1, 5)}, "Only real parameters"),
        ({"width": (1, 5)}, "no parameter 'width'"),
        ({"gamma": (5, 1)}, "bounds of 'gamma'"),
    ],
)
def test_bad_tuning(tune, message):
    with pytest.raises(ValueError, match=message):
        _ = GraphKernelGP(WassersteinWL(), tune=tune).theta


@pytest.mark.parametrize(
    "kernel",
    [
        gramlet.MultiscaleLaplacian(n_landmarks=5, rank=3),
        gramlet.Propagation(n_iter=2),
        gramlet.GraphletKernel(k=3, method="sample", n_samples=20),
    ],
    ids=lambda k: type(k).__name__,
)
def test_random_kernels_are_one_kernel_throughout(kernel):
    graphs = gramlet.load_dataset("MUTAG").graphs[:40]
    target = graphs.n_edges.astype(float)
    model = GaussianProcessRegressor(GraphKernelGP(kernel), alpha=1e-6, normalize_y=True)
    fitted = model.fit(graphs, target).predict(graphs)
    gp = GraphKernelGP(kernel)
    own = gp(graphs)
    assert np.array_equal(gp(graphs), own)
    np.testing.assert_allclose(gp(graphs[3:9], graphs), own[3:9], rtol=1e-10)
    np.testing.assert_allclose(gp(graphs, graphs[3:9]), own[:, 3:9], rtol=1e-10)
    np.testing.assert_allclose(gp(graphs[:5], graphs[3:9]), own[:5, 3:9], rtol=1e-10)
    np.testing.assert_allclose(gp.diag(graphs[3:9]), np.diagonal(own)[3:9], rtol=1e-10)
    # The posterior mean at the training graphs, from one Gram matrix.
    centred = (target - target.mean()) / target.std()
    mean = own @ np.linalg.solve(own + 1e-6 * np.eye(40), centred)
    np.testing.assert_allclose(fitted, mean * target.std() + target.mean(), rtol=1e-5, atol=1e-5)


def test_smiles_strings_as_they_are():
    pytest.importorskip("rdkit", reason="needs rdkit")
    smiles = ["CCO", "CCC", "c1ccccc1", "CCN", "CCCl"]
    target = [1.0, 2.0, 3.0, 4.0, 5.0]
    model = GaussianProcessRegressor(GraphKernelGP(gramlet.WeisfeilerLehman(1)), alpha=1e-8)
    np.testing.assert_allclose(model.fit(smiles, target).predict(smiles), target, rtol=1e-4)


def graphs_of_networkx() -> list:
    nx = pytest.importorskip("networkx", reason="needs networkx")
    return [nx.path_graph(n) for n in range(2, 8)] + [nx.cycle_graph(n) for n in range(3, 9)]


def test_the_kernel_takes_lists_of_networkx_graphs():
    graphs = graphs_of_networkx()
    gp = GraphKernelGP(gramlet.WeisfeilerLehman(1))
    wanted = gramlet.WeisfeilerLehman(1).fit_transform(graphs)
    assert np.array_equal(gp(graphs), wanted)
    assert np.array_equal(gp(graphs[2:5], graphs), wanted[2:5])
    assert np.array_equal(gp.diag(graphs), np.diagonal(wanted))


@pytest.mark.parametrize("way", ["pipeline", "series", "object array"])
def test_gaussian_processes_of_networkx_graphs(way):
    pd = pytest.importorskip("pandas", reason="needs pandas")
    graphs = graphs_of_networkx()
    target = np.array([graph.number_of_edges() for graph in graphs], dtype=float)
    model = GaussianProcessRegressor(GraphKernelGP(gramlet.WeisfeilerLehman(1)), alpha=1e-8)
    given = graphs
    if way == "pipeline":
        model = make_pipeline(FunctionTransformer(gramlet.as_batch), model)
    elif way == "series":
        given = pd.Series(graphs)
    else:
        given = np.empty(len(graphs), dtype=object)
        given[:] = graphs
    np.testing.assert_allclose(model.fit(given, target).predict(given), target, atol=1e-3)
    assert model.predict(given[3:5]).shape == (2,)


def test_a_list_of_networkx_graphs_of_one_size_says_the_way_out():
    """scikit-learn passes their nodes instead of the graphs."""
    nx = pytest.importorskip("networkx", reason="needs networkx")
    graphs = [nx.path_graph(4), nx.cycle_graph(4), nx.star_graph(3)]
    model = GaussianProcessRegressor(GraphKernelGP(gramlet.WeisfeilerLehman(1)), alpha=1e-8)
    with pytest.raises(TypeError, match=r"give as_batch\(graphs\) instead"):
        model.fit(graphs, [3.0, 4.0, 3.0])
    batch = gramlet.as_batch(graphs)
    found = model.fit(batch, [3.0, 4.0, 5.0]).predict(batch)
    np.testing.assert_allclose(found, [3.0, 4.0, 5.0], atol=1e-3)
