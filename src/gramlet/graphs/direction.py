"""Directions of a batch: incoming arcs, removing directions, and which graphs can be compared.

Kernels call `require_undirected` if they do not support directed graphs, and
`require_same_direction` if they do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gramlet.common.arrays import Ints, Nodes
from gramlet.graphs.build import EDGE_COLUMNS, GRAPH_COLUMNS, NODE_COLUMNS, narrow
from gramlet.graphs.columns import frozen

if TYPE_CHECKING:
    from gramlet.graphs.batch import GraphBatch


class InArcs(NamedTuple):
    """The arcs of a batch by the node they end at.

    The arcs that end at node v are the entries ``indptr[v]:indptr[v + 1]``: ``indices`` contains
    the nodes they start from (in ascending order), ``arcs`` their positions among the out-arcs, so
    that ``batch.edge_labels.codes[arcs]`` and ``batch.edge_weights[arcs]`` are their data.
    """

    indptr: Ints
    indices: Nodes
    arcs: Ints


def arcs_coming_in(batch: GraphBatch) -> InArcs:
    """The in-arcs of a batch; use the cached ``batch.in_arcs``. Cost: one sort of the arcs."""
    if not batch.directed:
        # Each edge is stored in both directions, with the same data.
        return InArcs(batch.indptr, batch.indices, frozen(np.arange(len(batch.indices))))
    tails, heads = batch.arcs()
    arcs = np.argsort(heads, kind="stable")
    indptr = np.zeros(batch.n_nodes_total + 1, dtype=np.int64)
    np.cumsum(np.bincount(heads, minlength=batch.n_nodes_total), out=indptr[1:])
    sources = narrow(tails[arcs], batch.n_nodes_total)
    return InArcs(frozen(indptr), frozen(sources), frozen(arcs))


def direction_of(batch: GraphBatch) -> bool | None:
    """Whether a batch is directed; None if it has no edges and so counts as either.

    An estimator stores this in fit and passes it to `require_same_direction` later.

    Examples
    --------
    >>> from gramlet import GraphBatch
    >>> direction_of(GraphBatch.from_edges([[(0, 1)]], directed=True))
    True
    >>> direction_of(GraphBatch.from_edges([[]], n_nodes=[3]))
    """
    return batch.directed if len(batch.indices) else None


def two_arcs_per_edge(batch: GraphBatch) -> GraphBatch:
    """The directed batch with two arcs per edge; a directed batch is returned unchanged.

    Examples
    --------
    >>> from gramlet import GraphBatch
    >>> two_arcs_per_edge(GraphBatch.from_edges([[(0, 1)]]))
    GraphBatch(1 graph, 2 nodes, 2 arcs, directed)
    """
    if batch.directed:
        return batch
    columns = {name: getattr(batch, name) for name in NODE_COLUMNS + EDGE_COLUMNS + GRAPH_COLUMNS}
    return type(batch)(batch.node_offsets, batch.indptr, batch.indices, directed=True, **columns)


def require_undirected(batch: GraphBatch, owner: str) -> None:
    """Raise a ValueError if the graphs are directed.

    Parameters
    ----------
    batch : GraphBatch
    owner : str
        The name of the estimator that does not support directed graphs.

    Examples
    --------
    >>> from gramlet import GraphBatch
    >>> require_undirected(GraphBatch.from_edges([[(0, 1)]], directed=True), "PyramidMatch")
    ... # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    ValueError: PyramidMatch compares undirected graphs only; these are directed (graph 0 has ...
    """
    if direction_of(batch):
        graph = int(np.flatnonzero(batch.n_edges)[0])
        raise ValueError(
            f"{owner} compares undirected graphs only; these are directed (graph {graph} has arcs)."
            " Remove the directions with batch.to_undirected() or as_batch(x, directed=False)."
        )


def require_same_direction(fitted_directed: bool | None, batch: GraphBatch, owner: str) -> None:
    """Raise a ValueError if new graphs are directed and the fitted ones are not, or the reverse.

    Parameters
    ----------
    fitted_directed : bool or None
        The result of `direction_of` for the fitted graphs.
    batch : GraphBatch
        The new graphs.
    owner : str
        The name of the estimator.

    Examples
    --------
    >>> from gramlet import GraphBatch
    >>> edges = [[(0, 1)]]
    >>> require_same_direction(True, GraphBatch.from_edges(edges, directed=True), "ShortestPath")
    >>> require_same_direction(True, GraphBatch.from_edges(edges), "ShortestPath")
    ... # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    ValueError: ShortestPath was fitted on directed graphs; these are undirected. Convert one of ...
    """
    new = direction_of(batch)
    if fitted_directed is None or new is None or fitted_directed == new:
        return
    fitted, found = ("directed", "undirected") if fitted_directed else ("undirected", "directed")
    raise ValueError(
        f"{owner} was fitted on {fitted} graphs; these are {found}. Convert one of them: "
        "as_batch(x, directed=True) or batch.to_undirected()."
    )
