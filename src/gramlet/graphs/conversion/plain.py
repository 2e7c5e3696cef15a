"""Graphs written as edges with labels: ``(edges, node_labels)``, perhaps with edge labels.

GraKeL's lists ``[structure, node_labels, edge_labels]`` are the same with dictionaries and
matrices, so one reader is used for both. Nodes may have any names if labels are dictionaries. The
first part is read in `structures`.
"""

from __future__ import annotations

import reprlib
from collections.abc import Hashable, Iterable, Iterator, Mapping, Set
from numbers import Number
from typing import Any

import numpy as np

from gramlet.common.arrays import Array
from gramlet.graphs.conversion.names import AttributeNames
from gramlet.graphs.conversion.record import GraphRecord
from gramlet.graphs.conversion.structures import Structure, in_order, no_edges, read_structure
from gramlet.graphs.conversion.symmetry import is_symmetric

__all__ = ["from_edges_and_labels"]


def from_edges_and_labels(position: int, item: Any, names: AttributeNames) -> GraphRecord:
    """``(edges, node_labels)``, ``(edges, node_labels, edge_labels)``, and GraKeL's lists.

    Edges are undirected; a matrix is directed if it, or the labels of its edges, are asymmetric.
    """
    given, node_labels, edge_labels = _split(position, item)
    structure = read_structure(position, given, None if node_labels is None else len(node_labels))
    nodes = _nodes(position, structure, node_labels)
    if isinstance(node_labels, Mapping):
        node_labels = [node_labels[node] for node in nodes or ()]
    elif nodes is not None and node_labels is not None and len(nodes) != len(node_labels):
        raise _wrong_number(position, nodes, node_labels)
    labels, attributes = _labels_or_attributes(node_labels)
    of_edges = _edge_labels(position, structure, edge_labels)
    edge_labels, edge_attributes = _labels_or_attributes(of_edges)
    weights = structure.weights
    return GraphRecord(
        edges=_numbered(structure.edges, nodes),
        n_nodes=None if nodes is None else len(nodes),
        node_labels=labels,
        edge_labels=edge_labels,
        edge_weights=weights,
        node_attributes=attributes,
        edge_attributes=edge_attributes,
        ones_only=weights is not None and all(_is_one(weight) for weight in weights),
        directed=_direction(structure, of_edges),
        edges_as_listed=structure.form != "matrix",
    )


def _direction(structure: Structure, edge_labels: list[Any] | None) -> bool | None:
    """False for edges; for a matrix, True if it is asymmetric, else None (unknown)."""
    if structure.form != "matrix":
        return False
    codes = None if edge_labels is None else _codes(edge_labels)
    return None if is_symmetric(structure.edges, structure.weights, codes) else True


def _codes(labels: list[Any]) -> Array:
    """Encode equal labels as equal numbers; vectors are compared by their entries."""
    index: dict[Hashable, int] = {}
    plain = [tuple(np.ravel(x).tolist()) if _is_vector(x) else x for x in labels]
    try:
        return np.array([index.setdefault(label, len(index)) for label in plain])
    except TypeError:  # not hashable: refused when the labels are encoded, with the graph's place
        return np.zeros(len(labels))


def _is_one(weight: Any) -> bool:
    return isinstance(weight, Number | np.number) and bool(weight == 1)


def _split(position: int, item: Any) -> tuple[Any, Any, Any]:
    """Structure, node labels, edge labels; an empty dictionary of labels counts as None."""
    if not 1 <= len(item) <= 3:
        raise TypeError(
            f"Graph {position} is a {type(item).__name__} of {len(item)} parts; a graph written "
            "this way is (edges, node_labels) or (edges, node_labels, edge_labels)."
        )
    structure, node_labels, edge_labels = (*item, None, None)[:3]
    # Not any iterable: a networkx grid graph also iterates over pairs, which are its nodes.
    if not isinstance(structure, list | tuple | dict | Set | np.ndarray | Iterator) and not hasattr(
        structure, "tocoo"
    ):
        raise no_edges(position, structure)
    return structure, *(_label_list(position, labels) for labels in (node_labels, edge_labels))


def _label_list(position: int, labels: Any) -> Any:
    """Labels as a list or a dictionary, or None."""
    if labels is None or (isinstance(labels, Mapping) and not labels):
        return None
    no_axis = isinstance(labels, np.ndarray) and labels.ndim == 0
    if isinstance(labels, Set) or not isinstance(labels, Iterable) or no_axis:
        raise TypeError(
            f"Graph {position}: labels must be a list or a dictionary; got {reprlib.repr(labels)}."
        )
    return labels if isinstance(labels, Mapping) else list(labels)


def _nodes(position: int, structure: Structure, labels: Any) -> list[Any] | None:
    """The names of all nodes, or None if they are numbered from 0."""
    if not isinstance(labels, Mapping):
        numbered = structure.form == "named" and labels is not None
        return None if numbered else structure.nodes
    mentioned = structure.nodes
    if mentioned is None:
        mentioned = in_order(position, (node for edge in structure.edges for node in _plain(edge)))
    for node in mentioned:
        if node not in labels:
            raise ValueError(
                f"Graph {position}: node {node!r} has no label, but others have. "
                "Give a label to all nodes or to none."
            )
    if structure.form == "matrix" and len(labels) != len(mentioned):
        raise _wrong_number(position, mentioned, labels)
    return in_order(position, labels)


def _wrong_number(position: int, nodes: list[Any], labels: Any) -> ValueError:
    return ValueError(
        f"Graph {position} has {len(nodes)} nodes, but {len(labels)} node labels; give one per "
        "node."
    )


def _plain(edge: Any) -> Any:
    return edge.tolist() if isinstance(edge, np.ndarray) else edge


def _numbered(edges: Any, nodes: list[Any] | None) -> Any:
    """The edges between node numbers instead of names."""
    if nodes is None or nodes == list(range(len(nodes))):
        return edges
    number: dict[Hashable, int] = {node: i for i, node in enumerate(nodes)}
    return [(number[u], number[v]) for u, v in map(_plain, edges)]


def _is_vector(value: Any) -> bool:
    return isinstance(value, list | np.ndarray)


def _labels_or_attributes(values: Any) -> tuple[Any, Any]:
    """Values that are lists or arrays are rows of attributes, not labels, as in GraKeL."""
    if values is not None and len(values) and _is_vector(values[0]):
        return None, values
    return values, None


def _edge_labels(position: int, structure: Structure, given: Any) -> Any:
    """Edge labels in the order of the edges."""
    if given is None:
        return None
    if not isinstance(given, Mapping):
        if structure.form == "rows":
            return given
        raise ValueError(
            f"Graph {position}: edge labels for a matrix, a set or a dictionary of edges must be "
            "a dictionary {(u, v): label}."
        )
    if structure.form == "rows":  # refuses names that are not hashable
        in_order(position, (node for edge in structure.edges for node in _plain(edge)))
    labels = []
    for u, v in map(_plain, structure.edges):
        found = [given[pair] for pair in ((u, v), (v, u)) if pair in given]
        if not found:
            raise ValueError(
                f"Graph {position}: edge ({u!r}, {v!r}) has no label, but others have. "
                "Give a label to all edges or to none."
            )
        # In a matrix every direction has an entry, and so its own label.
        if structure.form != "matrix" and not _equal(found[0], found[-1]):
            raise ValueError(
                f"Graph {position} has two labels for the edge ({u!r}, {v!r}), one per direction. "
                "Edge lists are undirected: keep one of them, or build directed graphs with "
                "GraphBatch.from_edges(..., directed=True)."
            )
        labels.append(found[0])
    _refuse_strangers(position, structure, given)
    return labels


def _equal(one: Any, other: Any) -> bool:
    return bool(np.array_equal(one, other)) if _is_vector(one) else bool(one == other)


def _refuse_strangers(position: int, structure: Structure, labels: Mapping[Any, Any]) -> None:
    edges = {pair for u, v in map(_plain, structure.edges) for pair in ((u, v), (v, u))}
    for pair in labels:
        if pair not in edges:
            raise ValueError(
                f"Graph {position} has a label for {pair!r}, which is not one of its edges."
            )
