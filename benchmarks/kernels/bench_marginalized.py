"""The marginalised kernel compared with one direct solution per pair in numpy; its derivatives.

The peer is the straightforward implementation: it builds the system of a pair as a dense matrix,
with one Kronecker product per edge label, and calls `numpy.linalg.solve`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.cases import Case, register
from benchmarks.data import Source
from gramlet import GraphBatch, MarginalizedKernel

Floats = NDArray[np.float64]
STOP = 0.05


def molecules(source: Source) -> GraphBatch:
    """A quarter of MUTAG, for which numpy needs about half a minute; a few graphs if quick."""
    batch = source.load("MUTAG")
    return batch[:6] if source.quick else batch[::4]


def ours(batch: GraphBatch) -> Floats:
    return MarginalizedKernel(STOP).fit_transform(batch)


def with_gradient(batch: GraphBatch) -> Floats:
    return MarginalizedKernel(STOP).gram_with_gradient(batch)[0]


def steps_by_label(graph: GraphBatch) -> list[Floats]:
    """The probabilities of steps, one matrix per edge label."""
    tails, heads = graph.arcs()
    labels: Any = graph.edge_labels
    matrices = np.zeros((len(labels.categories), graph.n_nodes_total, graph.n_nodes_total))
    matrices[labels.codes, tails, heads] = 1.0 / graph.degrees[tails]
    return list(matrices)


def direct(batch: GraphBatch) -> Floats:
    graphs = list(batch)
    steps = [steps_by_label(graph) for graph in graphs]
    labels = [np.asarray(graph.node_labels) for graph in graphs]
    matrix = np.empty((len(graphs), len(graphs)))
    for i in range(len(graphs)):
        for j in range(i, len(graphs)):
            kappa = (labels[i][:, None] == labels[j]).astype(np.float64).reshape(-1)
            walks = sum(np.kron(a, b) for a, b in zip(steps[i], steps[j], strict=True))
            system = np.eye(len(kappa)) - (1 - STOP) ** 2 * kappa[:, None] * walks
            solution = np.linalg.solve(system, STOP**2 * kappa)
            matrix[i, j] = matrix[j, i] = solution.mean()
    return matrix


register(
    Case(
        name="marginalized",
        title="Gram matrix of MarginalizedKernel, a quarter of MUTAG",
        data=molecules,
        ours=ours,
        peer=direct,
        peer_name="numpy, one dense system per pair",
        target_ratio=50,
    )
)
register(
    Case(
        name="marginalized-gradient",
        title="The same with derivatives by three parameters",
        data=molecules,
        ours=with_gradient,
        peer=ours,
        peer_name="the matrix alone",
        target_ratio=0.4,
    )
)
