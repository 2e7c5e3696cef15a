"""Conversion from and to networkx graphs.

Only `to_networkx` imports networkx: the caller who passes such a graph has imported it already.
`record` joins graphs and checks directions, `names` checks the names of their data.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from gramlet.common.arrays import Floats
from gramlet.graphs.batch import GraphBatch
from gramlet.graphs.conversion.names import AttributeNames
from gramlet.graphs.conversion.record import GraphRecord, attribute_rows, complete_column

__all__ = ["from_networkx", "to_networkx"]


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
