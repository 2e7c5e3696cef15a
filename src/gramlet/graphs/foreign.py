"""Graphs of networkx, igraph and PyTorch Geometric, one converter each, and the way back.

Nothing here imports these libraries: whoever hands in such a graph has imported its library
already (only `to_networkx` has to). Joining graphs and checking them is left to `record`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from gramlet.common.arrays import Array, Floats
from gramlet.graphs.batch import GraphBatch
from gramlet.graphs.record import AttributeNames, GraphRecord, complete_column

__all__ = ["from_igraph", "from_networkx", "from_pyg", "to_networkx"]


def from_networkx(position: int, graph: Any, names: AttributeNames) -> GraphRecord:
    """A networkx graph of any class; nodes in the order of ``graph.nodes``."""
    nodes = dict(graph.nodes(data=True))
    number = {node: i for i, node in enumerate(nodes)}
    # A comprehension, not list(): that would ask networkx for the length, a second walk.
    arcs = [arc for arc in graph.edges(data=True)]  # noqa: C416
    on_arcs = [data for _, _, data in arcs]
    if not any(on_arcs):  # nothing is written on the edges, as in most graphs
        on_arcs = []

    def column(what: str, name: str | None, on: Iterable[Any], owners: Any) -> list[Any] | None:
        values = [] if name is None else [data.get(name) for data in on]
        return complete_column(position, what, values, owners)

    on_nodes = nodes.values()
    ends = ((u, v) for u, v, _ in arcs)
    attributes = column("node attr", names.attr, on_nodes, nodes)
    return GraphRecord(
        edges=[(number[u], number[v]) for u, v, _ in arcs],
        n_nodes=len(nodes),
        node_labels=column("node label", names.label, on_nodes, nodes),
        edge_labels=column("edge label", names.edge_label, on_arcs, ends),
        edge_weights=column("edge weight", names.weight, on_arcs, ends),
        node_attributes=attribute_rows(position, attributes),
    )


def from_igraph(position: int, graph: Any, names: AttributeNames) -> GraphRecord:
    """An igraph graph, directed or not."""
    edges = graph.get_edgelist()

    def column(what: str, sequence: Any, name: str | None, owners: Any) -> list[Any] | None:
        values = sequence[name] if name in sequence.attributes() else []
        return complete_column(position, what, values, owners)

    nodes = range(graph.vcount())
    return GraphRecord(
        edges=edges,
        n_nodes=len(nodes),
        node_labels=column("node label", graph.vs, names.label, nodes),
        edge_labels=column("edge label", graph.es, names.edge_label, edges),
        edge_weights=column("edge weight", graph.es, names.weight, edges),
        node_attributes=attribute_rows(position, column("node attr", graph.vs, names.attr, nodes)),
    )


def attribute_rows(position: int, values: list[Any] | None) -> Floats | None:
    """One row a node from a number or a vector a node."""
    if values is None:
        return None
    try:
        rows = np.array([np.asarray(value, dtype=np.float64) for value in values])
    except (TypeError, ValueError):
        raise ValueError(
            f"Graph {position}: node attributes must be numbers or vectors of one length."
        ) from None
    return rows.reshape(len(values), -1)


def from_pyg(position: int, data: Any, names: AttributeNames) -> GraphRecord:
    """A PyTorch Geometric ``Data`` object.

    ``x`` gives node attributes, or node labels if it is one column of integers; ``edge_attr``
    gives edge labels (integers in one column, or one-hot rows) or weights (floats in one column);
    ``edge_weight`` gives weights.
    """
    if data.edge_index is None and getattr(data, "adj_t", None) is not None:
        raise ValueError(
            f"Graph {position}: this Data object keeps its edges in adj_t; "
            "give it an edge_index instead."
        )
    edges = _array(data.edge_index)
    node_labels, attributes = _pyg_nodes(_array(data.x))
    edge_labels, weights = _pyg_edges(
        position, _array(data.edge_attr), _array(getattr(data, "edge_weight", None))
    )
    return GraphRecord(
        edges=[] if edges is None else edges.T,
        n_nodes=int(data.num_nodes or 0),
        node_labels=node_labels,
        edge_labels=edge_labels,
        edge_weights=weights,
        node_attributes=attributes,
    )


def _array(tensor: Any) -> Array | None:
    return None if tensor is None else tensor.detach().cpu().numpy()


def _one_column(array: Array) -> bool:
    return array.ndim == 1 or (array.ndim == 2 and array.shape[1] == 1)


def _pyg_nodes(x: Array | None) -> tuple[list[Any] | None, Array | None]:
    """Node labels and node attributes from ``x``."""
    if x is None or (x.ndim == 2 and x.shape[1] == 0):
        return None, None
    if x.dtype.kind in "iu" and _one_column(x):
        return x.reshape(-1).tolist(), None
    return None, x.reshape(len(x), -1).astype(np.float64)


def _pyg_edges(
    position: int, edge_attr: Array | None, edge_weight: Array | None
) -> tuple[list[Any] | None, Array | None]:
    """Edge labels and edge weights from ``edge_attr`` and ``edge_weight``."""
    weights = None if edge_weight is None else edge_weight.reshape(len(edge_weight))
    if edge_attr is None or (edge_attr.ndim == 2 and edge_attr.shape[1] == 0):
        return None, weights
    if _one_column(edge_attr):
        column = edge_attr.reshape(-1)
        if column.dtype.kind in "iub":
            return column.tolist(), weights
        if weights is None:
            return None, column
        raise ValueError(
            f"Graph {position} has weights in edge_weight and in edge_attr; keep one of them."
        )
    if edge_attr.ndim == 2 and _is_one_hot(edge_attr):
        return edge_attr.argmax(axis=1).tolist(), weights
    raise ValueError(
        f"Graph {position} has an edge_attr of shape {edge_attr.shape} that is not one-hot. "
        "Edges have one label or one weight: set edge_attr to one integer column (labels) or "
        "one float column (weights), or to None."
    )


def _is_one_hot(rows: Array) -> bool:
    return bool(((rows == 0) | (rows == 1)).all() and (rows.sum(axis=1) == 1).all())


def to_networkx(batch: GraphBatch) -> list[Any]:
    """The graphs of a batch as networkx graphs; `as_batch` turns them back into an equal batch.

    Nodes are numbered from 0. Labels become the attribute ``label`` of nodes and edges, weights
    ``weight``, attributes of nodes and edges the tuple ``attr``.

    Parameters
    ----------
    batch : GraphBatch

    Returns
    -------
    list of networkx.Graph, or of networkx.DiGraph where directed

    Examples
    --------
    >>> from gramlet import GraphBatch
    >>> [graph] = to_networkx(GraphBatch.from_edges([[(0, 1)]], node_labels=[["C", "O"]]))
    >>> graph.nodes(data="label")
    NodeDataView({0: 'C', 1: 'O'}, data='label')
    """
    try:
        import networkx
    except ImportError:
        raise ImportError(
            "Turning graphs into networkx graphs needs networkx: pip install gramlet[graphs]"
        ) from None
    kind = networkx.DiGraph if batch.directed else networkx.Graph
    return [_filled(kind(), one) for one in batch]


def _filled(graph: Any, one: GraphBatch) -> Any:
    """``graph`` with the nodes and edges of a one-graph batch."""
    of_nodes = _dicts(one.n_nodes_total, label=one.node_labels, attr=_rows(one.node_attributes))
    tails, heads = one.arcs()
    weights = None if one.edge_weights is None else one.edge_weights.tolist()
    of_edges = _dicts(
        len(tails), label=one.edge_labels, weight=weights, attr=_rows(one.edge_attributes)
    )
    graph.add_nodes_from(enumerate(of_nodes))
    graph.add_edges_from(
        (u, v, data)
        for u, v, data in zip(tails.tolist(), heads.tolist(), of_edges, strict=True)
        if u < v or one.directed
    )
    return graph


def _rows(attributes: Floats | None) -> Any:
    return None if attributes is None else map(tuple, attributes.tolist())


def _dicts(length: int, **columns: Any) -> list[dict[str, Any]]:
    """One dictionary per entry, from the columns that are there."""
    rows: list[dict[str, Any]] = [{} for _ in range(length)]
    for name, column in columns.items():
        if column is not None:
            for row, value in zip(rows, column, strict=True):
                row[name] = value
    return rows
