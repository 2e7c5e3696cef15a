"""Graphs of igraph, which is not imported here: the caller who passes one has imported it."""

from __future__ import annotations

from typing import Any

from gramlet.graphs.conversion.names import AttributeNames
from gramlet.graphs.conversion.record import GraphRecord, attribute_rows, complete_column

__all__ = ["from_igraph"]

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
