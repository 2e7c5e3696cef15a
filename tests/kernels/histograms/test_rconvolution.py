"""R-convolution: the general form equals the fast kernels."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given

from gramlet import EdgeHistogram, RConvolution, VertexHistogram
from reference.examples import random_graphs
from reference.kernels.histograms import r_convolution_gram
from reference.plain import plain_graphs
from reference.strategies import graph_batches


def nodes(graph):
    return [(label,) for label in graph.node_labels or [None] * graph.n_nodes_total]


def edges(graph):
    tails, heads = graph.arcs()
    labels = list(graph.node_labels)
    return [
        (frozenset([(labels[u], 1), (labels[v], 1 + (labels[u] == labels[v]))]), bond)
        for u, v, bond in zip(tails, heads, graph.edge_labels, strict=True)
        if u < v
    ]


def equal(a, b):
    return float(a == b)


def triples(graph):
    """Induced subgraphs on three nodes, by their number of edges: a small graphlet kernel."""
    matrix = graph.adjacency(0)
    return [
        (int(matrix[np.ix_(chosen, chosen)].sum()) // 2,)
        for chosen in map(list, combinations(range(len(matrix)), 3))
    ]


@given(graph_batches(min_graphs=1, max_graphs=4, max_nodes=5))
def test_vertex_histogram(batch):
    slow = RConvolution(nodes, [equal]).fit_transform(batch)
    assert np.array_equal(slow, VertexHistogram().fit_transform(batch))


def test_edge_histogram_of_two_places():
    batch, new = random_graphs(0, n_graphs=8), random_graphs(1, n_graphs=4)
    slow, fast = (
        RConvolution(edges, [equal, equal], n_jobs=2).fit(batch),
        EdgeHistogram().fit(batch),
    )
    np.testing.assert_allclose(slow.transform(new), fast.transform(new))
    np.testing.assert_allclose(slow.diagonal(new), fast.diagonal(new))
    assert np.array_equal(slow.fit_transform(batch), fast.fit_transform(batch))


def test_small_graphlet_kernel_counts_triples():
    batch = random_graphs(2, n_graphs=6)
    counts = np.zeros((6, 4))
    for i in range(6):
        for (code,) in triples(batch[i]):
            counts[i, code] += 1
    np.testing.assert_allclose(
        RConvolution(triples, [equal]).fit_transform(batch), counts @ counts.T
    )


def test_real_part_kernels_against_the_definition():
    batch = random_graphs(3, n_graphs=5)

    def degrees(graph):
        return [
            (float(d), label) for d, label in zip(graph.degrees, graph.node_labels, strict=True)
        ]

    def plain_degrees(graph):
        return [(float(len(graph.neighbours[v])), graph.labels[v]) for v in range(graph.n)]

    def near(a, b):
        return float(np.exp(-((a - b) ** 2)))

    fast = RConvolution(degrees, [near, equal]).fit_transform(batch)
    graphs = plain_graphs(batch)
    slow = r_convolution_gram(graphs, graphs, plain_degrees, [near, equal])
    np.testing.assert_allclose(fast, slow)
    normal = RConvolution(degrees, [near, equal], normalize=True).fit_transform(batch)
    assert set(np.diagonal(normal)) <= {0.0, 1.0}


def test_bad_decompositions():
    batch = random_graphs(0, n_graphs=3)
    with pytest.raises(ValueError, match="1 parts for graph 0, but there are 2 kernels"):
        RConvolution(nodes, [equal, equal]).fit(batch)
    with pytest.raises(ValueError, match="'decompose' parameter"):
        RConvolution("nodes", [equal]).fit(batch)
    with pytest.raises(ValueError, match="one callable for each place"):
        RConvolution(nodes, []).fit(batch)
    with pytest.raises(ValueError, match="not finite"):
        RConvolution(nodes, [lambda a, b: np.nan]).fit_transform(batch)
