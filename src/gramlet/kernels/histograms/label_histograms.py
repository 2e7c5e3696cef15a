"""Histograms of labels: the simplest kernels, the baseline beside all others, and their optimal
assignment forms."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from gramlet.common.arrays import Ints
from gramlet.common.parameters import StrOptions
from gramlet.engine.core.signature_table import SignatureTable, pack_rows
from gramlet.engine.counts.comparison import Measure, count_codes
from gramlet.graphs.batch import GraphBatch
from gramlet.kernels.contract.kernel import (
    COMMON_CONSTRAINTS,
    Counter,
    CountKernel,
    ExplicitFeatures,
)
from gramlet.kernels.contract.vocabulary import LabelVocabulary

__all__ = [
    "EdgeCounter",
    "EdgeHistogram",
    "OptimalAssignment",
    "VertexCounter",
    "VertexHistogram",
    "count_new",
    "edge_types",
]


def count_new(offsets: Ints, codes: Ints, n_fitted: int) -> sparse.csr_matrix:
    """Count codes of new graphs; the matrix has at least the fitted columns."""
    return count_codes(offsets, codes, max(n_fitted, int(codes.max(initial=-1)) + 1))


class VertexCounter:
    """Counts the node labels of each graph."""

    def fit(self, batch: GraphBatch) -> sparse.csr_matrix:
        self.labels, codes = LabelVocabulary.fit(
            batch.node_labels, batch.n_nodes_total, "node labels"
        )
        return count_codes(batch.node_offsets, codes, len(self.labels))

    def count(self, batch: GraphBatch) -> sparse.csr_matrix:
        codes = self.labels.encode(batch.node_labels, batch.n_nodes_total)
        return count_new(batch.node_offsets, codes, len(self.labels))

    def names(self) -> list[str]:
        return self.labels.names()


def edge_types(batch: GraphBatch, colours: Ints, edge_codes: Ints) -> tuple[Ints, Ints]:
    """The type of every edge, as rows (smaller colour, larger colour, edge label).

    Returns the offsets of the graphs' edges, then the rows.
    """
    tails, heads = batch.arcs()
    once = tails < heads
    a, b = colours[tails[once]], colours[heads[once]]
    offsets = np.concatenate([[0], np.cumsum(batch.n_edges)]).astype(np.int64)
    return offsets, np.column_stack([np.minimum(a, b), np.maximum(a, b), edge_codes[once]])


class EdgeCounter:
    """Counts the edges of each graph by their end labels and their own label."""

    def fit(self, batch: GraphBatch) -> sparse.csr_matrix:
        self.labels, colours = LabelVocabulary.fit(
            batch.node_labels, batch.n_nodes_total, "node labels"
        )
        self.edge_labels, edges = LabelVocabulary.fit(
            batch.edge_labels, len(batch.indices), "edge labels"
        )
        offsets, rows = edge_types(batch, colours, edges)
        self.types, codes = SignatureTable.fit(*pack_rows(rows))
        return count_codes(offsets, codes, len(self.types))

    def count(self, batch: GraphBatch) -> sparse.csr_matrix:
        colours = self.labels.encode(batch.node_labels, batch.n_nodes_total)
        edges = self.edge_labels.encode(batch.edge_labels, len(batch.indices))
        offsets, rows = edge_types(batch, colours, edges)
        return count_new(offsets, self.types.lookup(*pack_rows(rows)), len(self.types))

    def names(self) -> list[str]:
        nodes, edges = self.labels.names(), self.edge_labels.names()
        rows = self.types.data.reshape(-1, 3).tolist()
        if self.edge_labels.values is None:
            return [f"{nodes[a]}-{nodes[b]}" for a, b, _ in rows]
        return [f"{nodes[a]}-{edges[e]}-{nodes[b]}" for a, b, e in rows]


class VertexHistogram(ExplicitFeatures, CountKernel):
    """Dot product of node-label counts.

    k(G, G') = Σ_σ c(G, σ) c(G', σ), with c(G, σ) the number of nodes of G with label σ. Without
    labels it is the product of the numbers of nodes. Cost: linear in nodes, then a sparse product.

    Parameters
    ----------
    normalize : bool, default False
        Divide by sqrt(k(G,G) k(G',G')); an entry whose norm is 0 becomes 0.
    n_jobs : int or None
        Threads for the Gram matrix; the result does not depend on it.
    verbose : bool or int
        Show a progress bar on a terminal.

    References
    ----------
    Haussler (1999), Convolution kernels on discrete structures.

    Examples
    --------
    >>> from gramlet import VertexHistogram
    >>> graphs = [([(0, 1)], ["C", "O"]), ([(0, 1), (1, 2)], ["C", "C", "N"])]
    >>> VertexHistogram().fit_transform(graphs)
    array([[2., 2.],
           [2., 5.]])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = COMMON_CONSTRAINTS

    def __init__(
        self, *, normalize: bool = False, n_jobs: int | None = None, verbose: int | bool = False
    ) -> None:
        self.normalize = normalize
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _counter(self) -> Counter:
        return VertexCounter()


class EdgeHistogram(ExplicitFeatures, CountKernel):
    """Dot product of edge-type counts.

    As `VertexHistogram`, over edges; the type of an edge is the unordered pair of its end labels,
    with its edge label if the edges have labels. Cost: linear in edges, then one sparse product.

    Parameters
    ----------
    normalize : bool, default False
        Divide by sqrt(k(G,G) k(G',G')); an entry whose norm is 0 becomes 0.
    n_jobs : int or None
        Threads for the Gram matrix; the result does not depend on it.
    verbose : bool or int
        Show a progress bar on a terminal.

    Examples
    --------
    >>> from gramlet import EdgeHistogram
    >>> graphs = [([(0, 1)], ["C", "O"]), ([(0, 1), (1, 2)], ["O", "C", "O"])]
    >>> EdgeHistogram().fit_transform(graphs)
    array([[1., 2.],
           [2., 4.]])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = COMMON_CONSTRAINTS

    def __init__(
        self, *, normalize: bool = False, n_jobs: int | None = None, verbose: int | bool = False
    ) -> None:
        self.normalize = normalize
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _counter(self) -> Counter:
        return EdgeCounter()


class OptimalAssignment(CountKernel):
    """Optimal assignment of nodes or edges by their labels (V-OA, E-OA).

    k(G, G') = Σ_σ min(c(G, σ), c(G', σ)): how many nodes (``base="vertex"``) or edges
    (``base="edge"``) can be matched one to one with an equal one of the other graph.

    Parameters
    ----------
    base : {"vertex", "edge"}
        Nodes by label, or edges by end labels (and edge label, if there is one).
    normalize : bool, default False
        Divide by sqrt(k(G,G) k(G',G')); an entry whose norm is 0 becomes 0.
    n_jobs : int or None
        Threads for the Gram matrix; the result does not depend on it.
    verbose : bool or int
        Show a progress bar on a terminal.

    References
    ----------
    Kriege, Giscard, Wilson (2016), On valid optimal assignment kernels and applications to graph
    classification.

    Examples
    --------
    >>> from gramlet import OptimalAssignment
    >>> graphs = [([(0, 1)], ["C", "O"]), ([(0, 1), (1, 2)], ["C", "C", "N"])]
    >>> OptimalAssignment().fit_transform(graphs)
    array([[2., 1.],
           [1., 3.]])
    """

    _measure: ClassVar[Measure] = "min"
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "base": [StrOptions({"vertex", "edge"})],
        **COMMON_CONSTRAINTS,
    }

    def __init__(
        self,
        base: str = "vertex",
        *,
        normalize: bool = False,
        n_jobs: int | None = None,
        verbose: int | bool = False,
    ) -> None:
        self.base = base
        self.normalize = normalize
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _counter(self) -> Counter:
        return VertexCounter() if self.base == "vertex" else EdgeCounter()
