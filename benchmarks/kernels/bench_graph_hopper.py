"""GraphHopper compared with GraKeL, on connected graphs.

GraKeL fails on graphs with one node and computes components separately; on connected graphs without
weights it gives the same numbers as gramlet.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components

from benchmarks.cases import Case, register
from benchmarks.data import Source, to_grakel
from benchmarks.kernels.bench_wl import needs_grakel
from gramlet import GraphBatch, GraphHopper

Floats = NDArray[np.float64]


class Both(NamedTuple):
    """The same graphs for both sides."""

    ours: GraphBatch
    peer: list[Any]
    width: int


def both(source: Source, name: str, n_graphs: int | None = None) -> Both:
    """Connected graphs of a data set for both sides, with attributes if the data set has them."""
    batch = connected(source.load(name, n_graphs))
    if name == "ENZYMES" and batch.node_attributes is None:  # MUTAG, with --quick
        rng = np.random.default_rng(0)
        batch = batch.with_columns(node_attributes=rng.normal(size=(batch.n_nodes_total, 2)))
    peer = to_grakel(batch)
    if batch.node_attributes is None:
        return Both(batch, peer, 0)
    for graph, first, last in zip(
        peer, batch.node_offsets[:-1], batch.node_offsets[1:], strict=True
    ):
        graph[1] = dict(enumerate(batch.node_attributes[first:last]))
    return Both(batch, peer, batch.node_attributes.shape[1])


def connected(batch: GraphBatch) -> GraphBatch:
    """The connected graphs of two or more nodes."""
    n = batch.n_nodes_total
    matrix = csr_matrix((np.ones(len(batch.indices)), batch.indices, batch.indptr), shape=(n, n))
    _, component = connected_components(matrix, directed=False)
    pairs = np.unique(np.column_stack([batch.graph_of_node, component]), axis=0)
    parts = np.bincount(pairs[:, 0], minlength=len(batch))
    return batch[(parts == 1) & (batch.sizes > 1)]


def ours(data: Both, node_kernel: str) -> Floats:
    return GraphHopper(node_kernel).fit_transform(data.ours)


def grakel(data: Both, node_kernel: str) -> Floats:
    from grakel import Graph
    from grakel import GraphHopper as Peer

    if node_kernel == "gaussian":
        kernel = Peer(kernel_type=("gaussian", 1.0 / data.width))
        return np.asarray(kernel.fit_transform(data.peer))
    # GraKeL compares labels by the dot product of vectors: unit vectors, one per label.
    codes = data.ours.node_labels.codes
    units = np.eye(int(codes.max()) + 1)[codes]
    offsets = data.ours.node_offsets
    graphs = [
        Graph(graph[0], dict(enumerate(units[first:last])), {})
        for graph, first, last in zip(data.peer, offsets[:-1], offsets[1:], strict=True)
    ]
    return np.asarray(Peer(kernel_type="linear").fit_transform(graphs))


register(
    Case(
        "graph-hopper",
        "Gram matrix of GraphHopper on labels, MUTAG",
        partial(both, name="MUTAG"),
        partial(ours, node_kernel="label"),
        partial(grakel, node_kernel="label"),
        "GraKeL",
        target_ratio=200.0,
        needs=needs_grakel,
    )
)
register(
    Case(
        "graph-hopper-gaussian",
        "Gram matrix of GraphHopper on attributes (Gaussian), 60 graphs of ENZYMES",
        partial(both, name="ENZYMES", n_graphs=60),
        partial(ours, node_kernel="gaussian"),
        partial(grakel, node_kernel="gaussian"),
        "GraKeL",
        target_ratio=50.0,
        needs=needs_grakel,
    )
)
