"""Graphs of networkx, igraph, PyTorch Geometric and GraKeL.

Only `to_networkx` imports its library: the caller who passes such a graph has imported it already.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from gramlet.common.arrays import Array, Floats
from gramlet.graphs.batch import GraphBatch
from gramlet.graphs.conversion.edges import from_edges_and_labels, is_symmetric
from gramlet.graphs.conversion.record import (
    AttributeNames,
    GraphRecord,
    attribute_rows,
    complete_column,
)


def from_networkx(position: int, graph: Any, names: AttributeNames) -> GraphRecord:
    """A networkx graph of any class; nodes in the order of ``graph.nodes``."""
    nodes = dict(graph.nodes(data=True))
    number = {node: i for i, node in enumerate(nodes)}
    # A comprehension, not list(), which would compute the length first, in a second pass.
    arcs = [arc for arc in graph.edges(data=True)]  # noqa: C416
    on_nodes, on_arcs = nodes.values(), [data for _, _, data in arcs]
    node_names, edge_names = frozenset().union(*on_nodes), frozenset().union(*on_arcs)
    ends = ((u, v) for u, v, _ in arcs)

    def of_nodes(what: str, name: str | None) -> list[Any] | None:
        return _column(position, what, name, node_names, on_nodes, nodes)

    def of_edges(what: str, name: str | None) -> list[Any] | None:
        return _column(position, what, name, edge_names, on_arcs, ends)

    return GraphRecord(
        edges=[(number[u], number[v]) for u, v, _ in arcs],
        n_nodes=len(nodes),
        node_labels=of_nodes("node label", names.label),
        edge_labels=of_edges("edge label", names.edge_label),
        edge_weights=of_edges("edge weight", names.weight),
        node_attributes=attribute_rows(position, "node", of_nodes("node attr", names.attr)),
        edge_attributes=attribute_rows(position, "edge", of_edges("edge attr", names.edge_attr)),
        directed=bool(graph.is_directed()),
        node_names=node_names,
        edge_names=edge_names,
    )


def _column(
    position: int,
    what: str,
    name: str | None,
    there: frozenset[Any],
    on: Iterable[dict[Any, Any]],
    owners: Iterable[Any],
) -> list[Any] | None:
    if name is None or name not in there:
        return None
    return complete_column(position, what, [data.get(name) for data in on], owners)


def to_networkx(batch: GraphBatch) -> list[Any]:
    """The graphs of a batch as networkx graphs; `as_batch` converts them back to an equal batch.

    Nodes are numbered from 0. Labels become the attribute ``label`` of nodes and edges, weights
    ``weight``, attributes of nodes and edges the tuple ``attr``.

    Parameters
    ----------
    batch : GraphBatch

    Returns
    -------
    list of networkx.Graph, or of networkx.DiGraph if directed

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
            "Converting graphs to networkx needs networkx: pip install gramlet[graphs]"
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
    """One dictionary per entry, from the existing columns."""
    rows: list[dict[str, Any]] = [{} for _ in range(length)]
    for name, column in columns.items():
        if column is not None:
            for row, value in zip(rows, column, strict=True):
                row[name] = value
    return rows


# The attribute that igraph adds to the nodes of graphs that it converts from networkx.
_BOOKKEEPING = {"_nx_name"}


def from_igraph(position: int, graph: Any, names: AttributeNames) -> GraphRecord:
    """An igraph graph, directed or not."""
    edges = graph.get_edgelist()
    nodes = range(graph.vcount())

    def column(what: str, sequence: Any, name: str | None, owners: Any) -> list[Any] | None:
        values = sequence[name] if name in sequence.attributes() else []
        return complete_column(position, what, values, owners)

    node_rows = column("node attr", graph.vs, names.attr, nodes)
    edge_rows = column("edge attr", graph.es, names.edge_attr, edges)
    return GraphRecord(
        edges=edges,
        n_nodes=len(nodes),
        node_labels=column("node label", graph.vs, names.label, nodes),
        edge_labels=column("edge label", graph.es, names.edge_label, edges),
        edge_weights=column("edge weight", graph.es, names.weight, edges),
        node_attributes=attribute_rows(position, "node", node_rows),
        edge_attributes=attribute_rows(position, "edge", edge_rows),
        directed=bool(graph.is_directed()),
        node_names=_names(graph.vs),
        edge_names=_names(graph.es),
    )


def _names(sequence: Any) -> frozenset[str]:
    """The attributes that some node or edge has; igraph sets missing values to None."""
    return frozenset(
        name
        for name in sequence.attributes()
        if name not in _BOOKKEEPING and any(value is not None for value in sequence[name])
    )


def from_pyg(position: int, data: Any, names: AttributeNames) -> GraphRecord:
    """A PyTorch Geometric ``Data`` object.

    ``x`` gives node attributes, or node labels if it is one column of integers; ``edge_weight``
    gives weights; ``edge_attr`` gives edge labels (integers in one column, or one-hot rows),
    weights (floats in one column, if there is no ``edge_weight``) or edge attributes. The graph
    counts as directed if some arc has no opposite, or an opposite with other data.
    """
    if data.edge_index is None and getattr(data, "adj_t", None) is not None:
        raise ValueError(
            f"Graph {position}: this Data object stores its edges in adj_t; "
            "give it an edge_index instead."
        )
    found, edge_attr = _array(data.edge_index), _array(data.edge_attr)
    edges = np.zeros((0, 2), dtype=np.int64) if found is None else found.T
    node_labels, node_attributes = _of_nodes(_array(data.x))
    on = _of_edges(edge_attr, _array(getattr(data, "edge_weight", None)))
    _refuse_wrong_lengths(position, len(edges), on)
    symmetric = edges.ndim != 2 or is_symmetric(edges, *on)
    return GraphRecord(
        edges=edges,
        n_nodes=int(data.num_nodes or 0),
        node_labels=node_labels,
        edge_labels=None if on.labels is None else on.labels.tolist(),
        edge_weights=on.weights,
        node_attributes=node_attributes,
        edge_attributes=on.attributes,
        directed=None if symmetric else True,
        one_hot=edge_attr if edge_attr is not None and _are_labels(edge_attr) else None,
    )


def settle_one_hot(records: list[GraphRecord]) -> None:
    """Turn one-hot rows back into attributes if some graph has rows that are not one-hot.

    Which bonds a molecule has must not decide what its columns mean.
    """
    if not any(record.edge_attributes is not None for record in records):
        return
    for record in records:
        if record.one_hot is not None:
            record.edge_labels = None
            record.edge_attributes = record.one_hot.astype(np.float64)


class _EdgeColumns(NamedTuple):
    labels: Array | None
    weights: Array | None
    attributes: Array | None


def _array(tensor: Any) -> Array | None:
    return None if tensor is None else tensor.detach().cpu().numpy()


def _one_column(array: Array) -> bool:
    return array.ndim == 1 or (array.ndim == 2 and array.shape[1] == 1)


def _of_nodes(x: Array | None) -> tuple[list[Any] | None, Floats | None]:
    """Node labels and node attributes from ``x``."""
    if x is None or (x.ndim == 2 and x.shape[1] == 0):
        return None, None
    if x.dtype.kind in "iu" and _one_column(x):
        return x.reshape(-1).tolist(), None
    return None, x.reshape(len(x), -1).astype(np.float64)


def _of_edges(edge_attr: Array | None, edge_weight: Array | None) -> _EdgeColumns:
    """Edge labels, weights and attributes from ``edge_attr`` and ``edge_weight``."""
    weights = None if edge_weight is None else edge_weight.reshape(len(edge_weight))
    if edge_attr is None or (edge_attr.ndim == 2 and edge_attr.shape[1] == 0):
        return _EdgeColumns(None, weights, None)
    if _one_column(edge_attr) and edge_attr.dtype.kind in "iub":
        return _EdgeColumns(edge_attr.reshape(-1), weights, None)
    if _one_column(edge_attr) and weights is None:
        return _EdgeColumns(None, edge_attr.reshape(-1), None)
    if _are_labels(edge_attr):
        return _EdgeColumns(edge_attr.argmax(axis=1), weights, None)
    rows = edge_attr.reshape(len(edge_attr), -1).astype(np.float64)
    return _EdgeColumns(None, weights, rows)


def _are_labels(rows: Array) -> bool:
    """Whether these are one-hot rows of several columns."""
    if _one_column(rows) or rows.ndim != 2:
        return False
    return bool(((rows == 0) | (rows == 1)).all() and (rows.sum(axis=1) == 1).all())


def _refuse_wrong_lengths(position: int, n_arcs: int, columns: _EdgeColumns) -> None:
    for column in columns:
        if column is not None and len(column) != n_arcs:
            raise ValueError(
                f"Graph {position} has {n_arcs} columns in edge_index, but {len(column)} rows in "
                "edge_attr or edge_weight."
            )


def from_grakel(position: int, graph: Any, names: AttributeNames) -> GraphRecord:
    """A ``grakel.Graph`` in any of its formats; all of them are undirected."""
    if graph.edge_dictionary is not None:
        parts = (graph.edge_dictionary, graph.node_labels, graph.edge_labels)
    else:
        parts = (graph.adjacency_matrix, graph.index_node_labels, graph.index_edge_labels)
    record = from_edges_and_labels(position, parts, names)
    return replace(record, directed=False, edges_as_listed=False)
