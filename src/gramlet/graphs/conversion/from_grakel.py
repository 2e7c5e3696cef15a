"""GraKeL's ``grakel.Graph`` objects; GraKeL is not imported here.

The lists ``[structure, node_labels, edge_labels]`` that GraKeL accepts are read in `plain`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from gramlet.graphs.conversion.names import AttributeNames
from gramlet.graphs.conversion.plain import from_edges_and_labels
from gramlet.graphs.conversion.record import GraphRecord

__all__ = ["from_grakel"]


def from_grakel(position: int, graph: Any, names: AttributeNames) -> GraphRecord:
    """A ``grakel.Graph`` in any of its formats; all of them are undirected."""
    if graph.edge_dictionary is not None:
        parts = (graph.edge_dictionary, graph.node_labels, graph.edge_labels)
    else:
        parts = (graph.adjacency_matrix, graph.index_node_labels, graph.index_edge_labels)
    record = from_edges_and_labels(position, parts, names)
    return replace(record, directed=False, edges_as_listed=False)
