"""Histograms of labels, the simplest kernels and a baseline for all others, and their optimal
assignment forms."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from gramlet.common.arrays import Ints
from gramlet.common.fields import Choice, Flag, Instance, fields
from gramlet.common.parameters import StrOptions
from gramlet.engine.core.signature_table import SignaturesOf, SignatureTable, pack_rows
from gramlet.engine.core.tiles import Tiling
from gramlet.engine.counts.comparison import Measure, count_codes
from gramlet.graphs.batch import GraphBatch
from gramlet.kernels.contract.count_kernel import (
    Counter,
    CountKernel,
    ExplicitFeatures,
    count_new,
)
from gramlet.kernels.contract.kernel import COMMON_CONSTRAINTS
from gramlet.kernels.contract.labels import LABEL_CHOICE, EdgeLabels, NodeLabels
from gramlet.kernels.contract.normalisation import Normalization
from gramlet.kernels.contract.parameter_texts import shared_texts
from gramlet.kernels.contract.tags import GraphTags, used


class VertexCounter:
    """Counts the node labels of each graph."""

    stored = fields(labels=Instance(NodeLabels))

    def fit(self, batch: GraphBatch, tiling: Tiling) -> sparse.csr_matrix:
        self.labels = NodeLabels()
        codes = self.labels.fit(batch)
        return count_codes(batch.node_offsets, codes, len(self.labels))

    def count(self, batch: GraphBatch, tiling: Tiling) -> sparse.csr_matrix:
        return count_new(batch.node_offsets, self.labels.encode(batch), len(self.labels))

    def names(self) -> list[str]:
        return self.labels.names()

    @property
    def n_features(self) -> int:
        return len(self.labels)


def edge_types(batch: GraphBatch, colours: Ints, edge_codes: Ints | None) -> tuple[Ints, Ints]:
    """The type of every edge, as rows (smaller colour, larger colour, edge label).

    In directed graphs every arc has a row, with the colour of its tail first. Returns the offsets
    of the graphs' edges, then the rows. All edge labels are 0 if ``edge_codes`` is None.
    """
    tails, heads = batch.arcs()
    offsets = np.concatenate([[0], np.cumsum(batch.n_edges)]).astype(np.int64)
    if batch.directed:
        codes = np.zeros(len(tails), dtype=np.int64) if edge_codes is None else edge_codes
        return offsets, np.column_stack([colours[tails], colours[heads], codes])
    once = tails < heads
    a, b = colours[tails[once]], colours[heads[once]]
    codes = np.zeros(len(a), dtype=np.int64) if edge_codes is None else edge_codes[once]
    return offsets, np.column_stack([np.minimum(a, b), np.maximum(a, b), codes])


def edge_name(tail: str, edge: str | None, head: str, directed: bool) -> str:
    """The name of an edge type.

    >>> edge_name("C", None, "O", directed=False), edge_name("C", "2", "O", directed=True)
    ('C-O', 'C-2->O')
    """
    line = "-" if edge is None else f"-{edge}-"
    return f"{tail}{line}{'>' if directed else ''}{head}"


class EdgeCounter:
    """Counts the edges of each graph by their end labels and their own label."""

    stored = fields(
        use_edge_labels=Choice(True, False, "auto"),
        directed=Flag(),
        labels=Instance(NodeLabels),
        edge_labels=Instance(EdgeLabels),
        types=SignaturesOf(3),
    )

    def __init__(self, use_edge_labels: bool | str) -> None:
        self.use_edge_labels = use_edge_labels

    def fit(self, batch: GraphBatch, tiling: Tiling) -> sparse.csr_matrix:
        self.labels, self.edge_labels = NodeLabels(), EdgeLabels(self.use_edge_labels)
        self.directed = batch.directed
        offsets, rows = edge_types(batch, self.labels.fit(batch), self.edge_labels.fit(batch))
        self.types, codes = SignatureTable.fit(*pack_rows(rows))
        return count_codes(offsets, codes, len(self.types))

    def count(self, batch: GraphBatch, tiling: Tiling) -> sparse.csr_matrix:
        offsets, rows = edge_types(batch, self.labels.encode(batch), self.edge_labels.encode(batch))
        return count_new(offsets, self.types.lookup(*pack_rows(rows)), len(self.types))

    def names(self) -> list[str]:
        nodes, edges = self.labels.names(), self.edge_labels.names()
        return [
            edge_name(nodes[a], None if edges is None else edges[e], nodes[b], self.directed)
            for a, b, e in self.types.data.reshape(-1, 3).tolist()
        ]

    @property
    def n_features(self) -> int:
        return len(self.types)


@shared_texts
class VertexHistogram(ExplicitFeatures, CountKernel):
    """Dot product of node-label counts.

    k(G, G') = Σ_σ c(G, σ) c(G', σ), with c(G, σ) the number of nodes of G with label σ. Without
    labels it is the product of the numbers of nodes. Directed graphs are treated like undirected
    ones. Cost: linear in the nodes, then a sparse product.

    Parameters
    ----------
    %(normalize)s
    %(n_jobs)s
    %(verbose)s

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
        self,
        *,
        normalize: Normalization = False,
        n_jobs: int | None = None,
        verbose: int | bool = False,
    ) -> None:
        self.normalize = normalize
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _counter(self) -> Counter:
        return VertexCounter()

    def __graph_tags__(self) -> GraphTags:
        return GraphTags(features=True, directed=True, uses=("node_labels",))


@shared_texts
class EdgeHistogram(ExplicitFeatures, CountKernel):
    """Dot product of edge-type counts.

    As `VertexHistogram`, over edges; the type of an edge is the unordered pair of its end labels,
    with its edge label if edge labels are used. In directed graphs the pair is ordered, tail first.
    Cost: linear in the edges, then a sparse product.

    Parameters
    ----------
    %(use_edge_labels)s
    %(normalize)s
    %(n_jobs)s
    %(verbose)s

    References
    ----------
    Haussler (1999), Convolution kernels on discrete structures.

    Examples
    --------
    >>> from gramlet import EdgeHistogram
    >>> graphs = [([(0, 1)], ["C", "O"]), ([(0, 1), (1, 2)], ["O", "C", "O"])]
    >>> EdgeHistogram().fit_transform(graphs)
    array([[1., 2.],
           [2., 4.]])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "use_edge_labels": LABEL_CHOICE,
        **COMMON_CONSTRAINTS,
    }

    def __init__(
        self,
        *,
        use_edge_labels: bool | str = "auto",
        normalize: Normalization = False,
        n_jobs: int | None = None,
        verbose: int | bool = False,
    ) -> None:
        self.use_edge_labels = use_edge_labels
        self.normalize = normalize
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _counter(self) -> Counter:
        return EdgeCounter(self.use_edge_labels)

    def __graph_tags__(self) -> GraphTags:
        uses = used(node_labels=True, edge_labels=self.use_edge_labels)
        return GraphTags(features=True, directed=True, uses=uses)


@shared_texts
class OptimalAssignment(CountKernel):
    """Optimal assignment of nodes or edges by their labels (V-OA, E-OA).

    k(G, G') = Σ_σ min(c(G, σ), c(G', σ)): the number of nodes (``base="vertex"``) or edges
    (``base="edge"``) that can be matched one to one with equal ones of the other graph.

    Parameters
    ----------
    base : {"vertex", "edge"}
        Nodes by label, or edges by end labels (and edge label, if edge labels are used). The end
        labels of an arc of a directed graph are ordered, tail first.
    %(use_edge_labels)s
    %(normalize)s
    %(n_jobs)s
    %(verbose)s

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
        "use_edge_labels": LABEL_CHOICE,
        **COMMON_CONSTRAINTS,
    }

    def __init__(
        self,
        base: str = "vertex",
        *,
        use_edge_labels: bool | str = "auto",
        normalize: Normalization = False,
        n_jobs: int | None = None,
        verbose: int | bool = False,
    ) -> None:
        self.base = base
        self.use_edge_labels = use_edge_labels
        self.normalize = normalize
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _counter(self) -> Counter:
        return VertexCounter() if self.base == "vertex" else EdgeCounter(self.use_edge_labels)

    def __graph_tags__(self) -> GraphTags:
        edge_labels = self.base == "edge" and self.use_edge_labels
        return GraphTags(directed=True, uses=used(node_labels=True, edge_labels=edge_labels))
