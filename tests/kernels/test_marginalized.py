"""MarginalizedKernel against one dense system per pair, and its derivatives."""

from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gramlet
from gramlet import GraphBatch, MarginalizedKernel
from reference.kernels import marginalized as reference

WORKED = [
    ([(0, 1), (1, 2)], ["C", "O", "C"]),
    ([(0, 1)], ["C", "O"]),
    ([(0, 1), (1, 2)], ["C", "C", "O"]),
    ([(0, 1), (1, 2), (0, 2)], ["C", "C", "C"]),
]
KINDS = st.sampled_from(["label", "gaussian", "label*gaussian", "one"])
OPTIONS = st.fixed_dictionaries(
    {
        "stop": st.sampled_from([0.05, 0.3, 0.9]),
        "node_kernel": KINDS,
        "edge_kernel": KINDS,
        "node_floor": st.sampled_from([0.0, 0.25, 1.0]),
        "edge_floor": st.sampled_from([0.0, 0.5]),
        "node_scale": st.sampled_from([0.5, 2.0]),
        "edge_scale": st.sampled_from([0.7, 1.0]),
        "weighted": st.booleans(),
        "start": st.sampled_from(["uniform", "ones"]),
    }
)


def sample(seed: int, directed: bool, alphabet: str = "CN") -> GraphBatch:
    """Random graphs with every column; the first has no node, the second no edge."""
    rng = np.random.default_rng(seed)
    sizes = [0, 2, *rng.integers(1, 6, 3).tolist()]
    edges = [[], []]
    for n in sizes[2:]:
        pairs = [(u, v) for u in range(n) for v in range(n) if (u != v if directed else u < v)]
        edges.append([pair for pair in pairs if rng.random() < 0.5])
    return GraphBatch.from_edges(
        edges,
        n_nodes=sizes,
        node_labels=[rng.choice(list(alphabet), n).tolist() for n in sizes],
        edge_labels=[rng.integers(0, 2, len(e)).tolist() for e in edges],
        edge_weights=[rng.choice([0.5, 1.0, 2.0], len(e)) for e in edges],
        node_attributes=[rng.normal(size=(n, 2)) for n in sizes],
        edge_attributes=[rng.normal(size=(len(e), 1)) for e in edges],
        directed=directed,
    )


def test_worked_values():
    one = MarginalizedKernel(0.5, edge_kernel="one").fit_transform(WORKED)
    expected = [
        [0.185185, 0.166667, 0.155914, 0.166667],
        [0.166667, 0.166667, 0.143817, 0.125],
        [0.155914, 0.143817, 0.167435, 0.204301],
        [0.166667, 0.125, 0.204301, 0.333333],
    ]
    np.testing.assert_allclose(one, expected, atol=6e-7)
    floor = MarginalizedKernel(0.5, edge_kernel="one", node_floor=0.5).fit_transform(WORKED)
    expected = [
        [0.248677, 0.238095, 0.23675, 0.247312],
        [0.238095, 0.238095, 0.231213, 0.225806],
        [0.23675, 0.231213, 0.246462, 0.26776],
        [0.247312, 0.225806, 0.26776, 0.333333],
    ]
    np.testing.assert_allclose(floor, expected, atol=6e-7)


@given(st.integers(0, 10_000), st.booleans(), OPTIONS)
def test_is_the_solution_of_the_dense_system(seed, directed, options):
    batch, new = sample(seed, directed), sample(seed + 1, directed, "CNO")
    kernel = MarginalizedKernel(**options)
    np.testing.assert_allclose(
        kernel.fit_transform(batch), reference.marginalized(batch, **options), rtol=1e-10
    )
    np.testing.assert_allclose(
        kernel.transform(new), reference.marginalized(new, batch, **options), rtol=1e-10
    )


@given(st.integers(0, 10_000), st.booleans(), st.booleans(), OPTIONS)
def test_derivatives(seed, directed, normalize, options):
    batch = sample(seed, directed)
    kernel = MarginalizedKernel(**options, normalize=normalize)
    matrix, gradients = kernel.gram_with_gradient(batch)
    expected, slopes = reference.gram_with_gradient(batch, normalize, **options)
    assert np.array_equal(matrix, kernel.fit_transform(batch))
    np.testing.assert_allclose(matrix, expected, rtol=1e-10, atol=1e-15)
    assert list(gradients) == list(slopes)
    for name, gradient in gradients.items():
        assert np.array_equal(gradient, gradient.T)
        largest = np.abs(slopes[name]).max(initial=0.0)
        np.testing.assert_allclose(gradient, slopes[name], rtol=1e-8, atol=1e-9 * (largest + 1e-3))


def test_needs_no_fit_and_leaves_none():
    kernel = MarginalizedKernel()
    kernel.gram_with_gradient(WORKED)
    assert not hasattr(kernel, "profile_")


@pytest.mark.parametrize("directed", [False, True])
def test_walks_that_hardly_stop(directed):
    batch = sample(3, directed)
    options = {"stop": 1e-3, "node_floor": 0.5}
    np.testing.assert_allclose(
        MarginalizedKernel(**options).fit_transform(batch),
        reference.marginalized(batch, **options),
        rtol=1e-9,
    )


def test_without_labels_all_are_alike_and_floors_change_nothing():
    batch = GraphBatch.from_edges([[(0, 1), (1, 2)], [(0, 1)]])
    matrix, gradients = MarginalizedKernel(0.2).gram_with_gradient(batch)
    np.testing.assert_allclose(matrix, 0.04 / (1 - 0.64), rtol=1e-12)
    assert list(gradients) == ["stop", "node_floor", "edge_floor"]
    assert not gradients["node_floor"].any()
    assert not gradients["edge_floor"].any()


def test_what_is_refused():
    bare = GraphBatch.from_edges([[(0, 1)]], node_labels=[["a", "b"]])
    with pytest.raises(ValueError, match="needs node attributes, but graph 0"):
        MarginalizedKernel(node_kernel="gaussian").fit(bare)
    with pytest.raises(ValueError, match="needs edge attributes, but graph 0"):
        MarginalizedKernel(edge_kernel="label*gaussian").fit(bare)
    for params in ({"stop": 0.0}, {"stop": 1.0}, {"node_floor": 1.5}, {"edge_scale": 0.0}):
        with pytest.raises(ValueError, match=f"'{next(iter(params))}' parameter"):
            MarginalizedKernel(**params).gram_with_gradient(bare)
    weights = GraphBatch.from_edges([[(0, 1)]], edge_weights=[[-1.0]])
    with pytest.raises(ValueError, match="above 0"):
        MarginalizedKernel(weighted=True).fit(weights)
    fitted = MarginalizedKernel(node_kernel="gaussian", edge_kernel="one").fit(sample(0, False))
    narrow = GraphBatch.from_edges([[(0, 1)]], node_attributes=[np.zeros((2, 1))])
    with pytest.raises(ValueError, match="2 attributes per node"):
        fitted.transform(narrow)
    fitted = MarginalizedKernel(edge_kernel="gaussian").fit(sample(1, False))
    with pytest.raises(ValueError, match="edge attributes"):
        fitted.transform(sample(1, False).with_columns(edge_attributes=None))
    fitted = MarginalizedKernel().fit(sample(1, False))
    with pytest.raises(ValueError, match="without edge labels"):
        fitted.transform(sample(1, False).with_columns(edge_labels=None))


def test_derivatives_cost_little_more_than_the_matrix():
    graphs = gramlet.load_dataset("MUTAG").graphs[:60]
    kernel = MarginalizedKernel()
    shares = []
    for _ in range(5):
        times = []
        for work in (kernel.fit_transform, kernel.gram_with_gradient):
            begin = time.process_time()
            work(graphs)
            times.append(time.process_time() - begin)
        shares.append(times[1] / times[0])
    assert min(shares) < 2.5


def test_gaussian_processes_use_the_derivatives():
    graphs = gramlet.load_dataset("MUTAG").graphs[:10]
    tune = {"stop": (0.01, 0.5), "node_floor": (0.01, 0.9), "node_scale": (0.1, 10.0)}
    kernel = MarginalizedKernel(0.1, node_floor=0.2, normalize=True)
    matrix, gradient = gramlet.GraphKernelGP(kernel, tune)(graphs, eval_gradient=True)
    assert np.array_equal(matrix, kernel.fit_transform(graphs))
    _, slopes = kernel.gram_with_gradient(graphs)
    np.testing.assert_allclose(gradient[:, :, 0], 0.1 * slopes["stop"], rtol=1e-13)
    np.testing.assert_allclose(gradient[:, :, 1], 0.2 * slopes["node_floor"], rtol=1e-13)
    assert not gradient[:, :, 2].any()
    ahead, behind = (
        MarginalizedKernel(0.1 * np.exp(s), node_floor=0.2, normalize=True).fit_transform(graphs)
        for s in (1e-5, -1e-5)
    )
    np.testing.assert_allclose(gradient[:, :, 0], (ahead - behind) / 2e-5, rtol=1e-5, atol=1e-9)


@pytest.mark.parametrize("kernel", [MarginalizedKernel, gramlet.GraphHopper])
def test_new_graphs_without_the_weights_of_the_fitted_ones(kernel):
    fitted = GraphBatch.from_edges([[(0, 1), (1, 2)]], edge_weights=[[2.0, 5.0]])
    new = GraphBatch.from_edges([[], [(0, 1), (1, 2)]], n_nodes=[3, 3])
    with pytest.raises(ValueError, match=r"fitted on graphs with edge weights, but graph 1 has"):
        kernel(weighted=True).fit(fitted).transform(new)
    assert kernel(weighted=True).fit(fitted).transform(new[0]).shape == (1, 1)
    assert kernel(weighted=True).fit(new).transform(new).shape == (2, 2)
    assert kernel().fit(fitted).transform(new).shape == (2, 1)
