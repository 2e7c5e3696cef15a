"""Extreme weights, sizes and calls: correct values, or an error that says what to do."""

from __future__ import annotations

import numpy as np
import pytest

import gramlet.engine.core.memory as memory
from gramlet import (
    FGSD,
    NSPDK,
    GraphBatch,
    GraphHopper,
    GraphKernelGP,
    KernelProduct,
    KernelSum,
    MarginalizedKernel,
    NetLSD,
    ODDSTh,
    Propagation,
    PyramidMatch,
    RandomWalk,
    SubgraphMatching,
    VertexHistogram,
    WeisfeilerLehman,
    earth_movers_distance,
)
from reference.examples import molecules, random_graphs


def weighted_paths(*weights):
    edges = [[(i, i + 1) for i in range(len(row))] for row in weights]
    labels = [["C", "O", "C", "C"][: len(row) + 1] for row in weights]
    return GraphBatch.from_edges(edges, node_labels=labels, edge_weights=list(weights))


@pytest.mark.parametrize("scale", [1e-320, 1e-300, 1e-155, 1e153, 1e200, 1e307])
def test_marginalized_does_not_depend_on_the_scale_of_weights(scale):
    rows = [[1.0, 2.0], [3.0, 1.0, 2.0]]
    kernel = MarginalizedKernel(weighted=True, node_floor=0.3)
    expected = kernel.fit_transform(weighted_paths(*rows))
    scaled = kernel.fit_transform(weighted_paths(*[[w * scale for w in row] for row in rows]))
    np.testing.assert_allclose(scaled, expected, rtol=1e-3 if scale < 1e-310 else 1e-10)
    _, slopes = kernel.gram_with_gradient(weighted_paths(*[[w * scale for w in r] for r in rows]))
    assert all(np.isfinite(slope).all() for slope in slopes.values())


@pytest.mark.parametrize("ratio", [1e-3, 1e-7, 1e-30, 1e-150, 1e-300])
def test_marginalized_with_very_different_weights(ratio):
    graphs = weighted_paths([1.0, ratio, 1.0], [ratio, 1.0, ratio])
    undirected = MarginalizedKernel(weighted=True, node_floor=0.3).fit_transform(graphs)
    tails, heads = graphs.arcs()
    first = graphs.node_offsets[graphs.graph_of_node[tails]]
    arcs = [
        [(int(t - f), int(h - f)) for t, h, f in zip(tails, heads, first, strict=True) if part(t)]
        for part in (lambda t: t < graphs.node_offsets[1], lambda t: t >= graphs.node_offsets[1])
    ]
    weights = np.split(graphs.edge_weights, [len(arcs[0])])
    labels = [["C", "O", "C", "C"]] * 2
    directed = GraphBatch.from_edges(
        arcs, node_labels=labels, edge_weights=[w.tolist() for w in weights], directed=True
    )
    expected = MarginalizedKernel(weighted=True, node_floor=0.3).fit_transform(directed)
    np.testing.assert_allclose(undirected, expected, rtol=1e-9)


@pytest.mark.parametrize("metric", ["tv", "hellinger", "l2"])
def test_propagation_does_not_depend_on_order_or_on_other_graphs(metric):
    graphs = random_graphs(5, n_graphs=9)
    kernel = Propagation(width=0.5, metric=metric, random_state=3)
    matrix = kernel.fit_transform(graphs)
    order = np.arange(len(graphs))[::-1]
    assert np.array_equal(kernel.fit_transform(graphs[order]), matrix[np.ix_(order, order)])
    some = np.array([2, 0])
    assert np.array_equal(kernel.fit_transform(graphs[some]), matrix[np.ix_(some, some)])


def test_propagation_takes_labels_without_a_content_hash():
    label = [frozenset([1]), frozenset([2])]
    graphs = GraphBatch.from_edges([[(0, 1)]], node_labels=[label])
    assert Propagation(n_iter=0, random_state=0).fit_transform(graphs).tolist() == [[2.0]]


@pytest.mark.filterwarnings("error")
def test_values_beyond_the_largest_number_are_refused():
    graphs, kernel = molecules(), WeisfeilerLehman(n_iter=2)
    for normalize in (False, True):
        with pytest.raises(ValueError, match=r"KernelSum: with member 0 with weight 1e\+308"):
            KernelSum([kernel], weights=[1e308], normalize=normalize).fit_transform(graphs)
        many = KernelProduct([kernel] * 300, normalize=normalize)
        with pytest.raises(ValueError, match=r"KernelProduct: with member \d+ the value of graphs"):
            many.fit_transform(graphs)
    fitted = KernelSum([VertexHistogram(), kernel], weights=[1.0, 1e308]).fit(graphs)
    for call in (fitted.transform, fitted.diagonal):
        with pytest.raises(ValueError, match="with member 1"):
            call(graphs)
    with pytest.raises(ValueError, match="SubgraphMatching: weights must be"):
        SubgraphMatching(weights=[1e308] * 3).fit(graphs)
    large = SubgraphMatching(node_kernel=lambda a, b: 1e200)
    with pytest.raises(ValueError, match="node_kernel and edge_kernel"):
        large.fit_transform(graphs)
    assert np.isfinite(SubgraphMatching(weights=[1e10] * 3).fit_transform(graphs)).all()


@pytest.mark.parametrize("decay", [0.1, 0.5, 1.0])
def test_gradients_at_the_ends_of_a_range(decay):
    graphs = molecules()
    kernel = GraphKernelGP(ODDSTh(height=1, decay=decay), tune={"decay": (0.1, 1.0)})
    matrix, gradient = kernel(graphs, eval_gradient=True)
    step = 1e-3 if decay < 1 else -1e-3
    values = [ODDSTh(height=1, decay=decay + k * step).fit_transform(graphs) for k in (1, 2)]
    slope = (4 * values[0] - values[1] - 3 * matrix) / (2 * step)
    np.testing.assert_allclose(gradient[:, :, 0], decay * slope, rtol=1e-3, atol=1e-6)
    fixed = GraphKernelGP(ODDSTh(decay=decay), tune={"decay": (decay, decay)})
    assert not fixed(graphs, eval_gradient=True)[1].any()


def test_a_gaussian_process_refuses_embeddings_at_once():
    with pytest.raises(TypeError, match="NetLSD is an embedding"):
        GraphKernelGP(NetLSD())


def test_earth_movers_distance_refuses_directed_graphs():
    pair = GraphBatch.from_edges([[(0, 1)], [(0, 1), (1, 2)]], directed=True)
    with pytest.raises(ValueError, match="to_undirected"):
        earth_movers_distance(pair[0], pair[1])


@pytest.mark.parametrize("model", [ODDSTh(), MarginalizedKernel(), FGSD()])
def test_what_does_not_fit_into_memory_is_named_beforehand(model, monkeypatch):
    monkeypatch.setattr(memory, "available_bytes", lambda: 10**7)
    star = [(0, i) for i in range(1, 900)]
    graphs = GraphBatch.from_edges([[(0, 1)], star])
    name = type(model).__name__
    with pytest.raises(MemoryError, match=rf"{name}: .*graph 1\D.*900 nodes.* GB"):
        model.fit_transform(graphs)


def path_and_star(n):
    return (
        GraphBatch.from_edges([[(0, 1)], [(i, i + 1) for i in range(n - 1)]]),
        GraphBatch.from_edges([[(0, 1)], [(0, i) for i in range(1, n)]]),
    )


@pytest.mark.parametrize("kernel", [PyramidMatch(), GraphHopper(), RandomWalk(), NSPDK()])
def test_long_work_on_one_graph_is_announced(kernel, recwarn, monkeypatch):
    monkeypatch.setattr(type(kernel), "_fit", lambda self, batch, y, tiling: None)
    slow, quick = path_and_star(4000)
    if isinstance(kernel, NSPDK):
        slow, quick = quick, slow
    kernel.fit(quick)
    assert not recwarn
    with pytest.warns(UserWarning, match=r"graph 1 has 4,000 nodes and takes about \d+ (sec|min)"):
        kernel.fit(slow)
