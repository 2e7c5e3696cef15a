"""Graphs written with plain values: adjacency matrices, edges with labels, GraKeL's formats.

A graph given as a tuple or list is ``(edges, node_labels)`` or ``(edges, node_labels,
edge_labels)``; GraKeL's ``[structure, node_labels, edge_labels]`` is the same with dictionaries and
matrices, so one reader serves both. Nodes may have any names where labels are dictionaries.
"""

from __future__ import annotations

import reprlib
from collections.abc import Hashable, Iterable, Iterator, Mapping, Set
from typing import Any, Literal, NamedTuple

import numpy as np

from gramlet.common.arrays import Array
from gramlet.graphs.record import AttributeNames, GraphRecord

__all__ = ["from_edges_and_labels", "from_grakel", "from_matrix"]


def from_matrix(position: int, matrix: Any, names: AttributeNames) -> GraphRecord:
    """An adjacency matrix, dense or sparse; entries other than 0 and 1 are weights."""
    if getattr(matrix, "ndim", 2) != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError(
            f"Graph {position}: an adjacency matrix must be square; got shape {matrix.shape}."
        )
    if matrix.dtype.kind not in "biuf":
        raise ValueError(
            f"Graph {position}: an adjacency matrix must hold real numbers or booleans; got "
            f"type {matrix.dtype}."
        )
    rows, columns, values = _nonzero(matrix)
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        raise ValueError(
            f"Graph {position}: the adjacency matrix has entries that are NaN or infinite; "
            "write 0 where there is no edge."
        )
    if (rows == columns).any():
        node = int(rows[rows == columns][0])
        raise ValueError(
            f"Graph {position} has a self-loop at node {node} (a nonzero entry on the diagonal "
            "of its adjacency matrix). Graphs are simple: set the diagonal to 0."
        )
    return GraphRecord(
        edges=np.array([rows, columns], dtype=np.int64).T,
        n_nodes=matrix.shape[0],
        edge_weights=values.astype(np.float64),
        ones_only=bool((values == 1).all()),
    )


def _nonzero(matrix: Any) -> tuple[Array, Array, Array]:
    if isinstance(matrix, np.ndarray):
        dense = np.asarray(matrix)  # np.matrix would keep its values two-dimensional
        rows, columns = np.nonzero(dense)
        return rows, columns, dense[rows, columns]
    entries = matrix.tocoo(copy=True)  # a copy: summing duplicates works in place
    entries.sum_duplicates()
    there = entries.data != 0
    return entries.row[there], entries.col[there], entries.data[there]


def from_grakel(position: int, graph: Any, names: AttributeNames) -> GraphRecord:
    """A ``grakel.Graph``, in whichever of its formats."""
    if graph.edge_dictionary is not None:
        parts = (graph.edge_dictionary, graph.node_labels, graph.edge_labels)
    else:
        parts = (graph.adjacency_matrix, graph.index_node_labels, graph.index_edge_labels)
    return from_edges_and_labels(position, parts, names)


class _Structure(NamedTuple):
    """Edges, as they were written.

    A matrix has all its nodes; a set or dictionary has ``nodes`` of any names, and labels may add
    some; rows have node numbers counted from 0 and an order that labels can follow.
    """

    form: Literal["matrix", "named", "rows"]
    edges: Any
    nodes: list[Any] | None = None
    weights: Any = None


def from_edges_and_labels(position: int, item: Any, names: AttributeNames) -> GraphRecord:
    """``(edges, node_labels)``, ``(edges, node_labels, edge_labels)``, and GraKeL's lists."""
    given, node_labels, edge_labels = _split(position, item)
    structure = _read_structure(position, given, node_labels, names)
    nodes = _nodes(position, structure, node_labels)
    if isinstance(node_labels, Mapping):
        node_labels = [node_labels[node] for node in nodes or ()]
    elif nodes is not None and node_labels is not None and len(nodes) != len(node_labels):
        raise _wrong_number(position, nodes, node_labels)
    labels, attributes = _labels_or_attributes(node_labels)
    weights = structure.weights
    return GraphRecord(
        edges=_numbered(structure.edges, nodes),
        n_nodes=None if nodes is None else len(nodes),
        node_labels=labels,
        edge_labels=_edge_labels(position, structure, edge_labels),
        edge_weights=weights,
        node_attributes=attributes,
        ones_only=weights is not None and all(weight == 1 for weight in weights),
    )


def _split(position: int, item: Any) -> tuple[Any, Any, Any]:
    """Structure, node labels, edge labels; an empty dictionary of labels is as good as none."""
    if not 1 <= len(item) <= 3:
        raise TypeError(
            f"Graph {position} is a {type(item).__name__} of {len(item)} parts; a graph written "
            "this way is (edges, node_labels) or (edges, node_labels, edge_labels)."
        )
    structure, node_labels, edge_labels = (*item, None, None)[:3]
    # Not any iterable: a networkx graph of a grid iterates over pairs too, and they are nodes.
    if not isinstance(structure, list | tuple | dict | Set | np.ndarray | Iterator) and not hasattr(
        structure, "tocoo"
    ):
        raise _no_edges(position, structure)
    return structure, *(_label_list(position, labels) for labels in (node_labels, edge_labels))


def _label_list(position: int, labels: Any) -> Any:
    """Labels as a list or a dictionary, or None."""
    if labels is None or (isinstance(labels, Mapping) and not labels):
        return None
    if isinstance(labels, Set) or not isinstance(labels, Iterable):
        raise TypeError(
            f"Graph {position}: labels must be a list or a dictionary; got {reprlib.repr(labels)}."
        )
    return labels if isinstance(labels, Mapping) else list(labels)


def _read_structure(
    position: int, given: Any, node_labels: Any, names: AttributeNames
) -> _Structure:
    if isinstance(given, dict):
        return _from_edge_dictionary(position, given)
    if not isinstance(given, np.ndarray) and not hasattr(given, "tocoo"):
        return _from_rows(position, given, node_labels, names)
    if not isinstance(given, np.ndarray) or _is_matrix(given, node_labels):
        record = from_matrix(position, given, names)
        nodes = list(range(record.n_nodes or 0))
        return _Structure("matrix", record.edges, nodes, record.edge_weights)
    if given.size and (given.ndim != 2 or given.shape[1] != 2):
        raise ValueError(
            f"Graph {position}: edges must be an (m, 2) array, or an adjacency matrix a square "
            f"one; got an array of shape {given.shape}."
        )
    return _Structure("rows", given)


def _from_rows(position: int, given: Any, node_labels: Any, names: AttributeNames) -> _Structure:
    """Pairs (or triples with a weight) in a list or a set; or a matrix as a list of lists."""
    rows = list(given)
    if rows and all(isinstance(row, list) and len(row) == len(rows) for row in rows):
        return _read_structure(position, np.array(rows), node_labels, names)
    lengths = {len(row) if hasattr(row, "__len__") else 0 for row in rows}
    if not (lengths <= {2} or lengths == {3}) or any(isinstance(row, str) for row in rows):
        raise _no_edges(position, given)
    edges = [(row[0], row[1]) for row in rows]
    weights = [row[2] for row in rows] if lengths == {3} else None
    if not isinstance(given, Set):
        return _Structure("rows", edges, None, weights)
    return _Structure("named", edges, _in_order(node for edge in edges for node in edge), weights)


def _no_edges(position: int, given: Any) -> TypeError:
    return TypeError(
        f"Graph {position}: expected edges (pairs of nodes) or an adjacency matrix as the first "
        f"part of a graph; got {reprlib.repr(given)}. A single graph goes into a list: "
        "as_batch([graph])."
    )


def _is_matrix(array: Array, node_labels: Any) -> bool:
    """Whether an array is an adjacency matrix rather than a list of pairs of node numbers.

    Square means matrix. Two rows of two integers can be both; they are edges unless that is
    impossible: no edge joins 0 with 0, and with two nodes only 0 and 1 have names.
    """
    if array.ndim != 2 or array.shape[0] != array.shape[1]:
        return False
    if array.dtype.kind not in "biuf":
        return False
    if len(array) != 2 or array.dtype.kind not in "iu":
        return True
    no_edge = not array.any()
    out_of_range = node_labels is not None and len(node_labels) == 2 and array.max() > 1
    return bool(not array.diagonal().any() and (no_edge or out_of_range))


def _from_edge_dictionary(position: int, given: Mapping[Any, Any]) -> _Structure:
    """GraKeL's dictionaries: {(u, v): weight}, {u: [v, ...]} or {u: {v: weight}}."""
    edges: list[tuple[Any, Any]] = []
    weights: list[Any] = []
    alone: list[Any] = []
    for key, value in given.items():
        if isinstance(value, Mapping):
            alone.append(key)
            edges += [(key, node) for node in value]
            weights += value.values()
        elif isinstance(value, list | tuple | Set):
            alone.append(key)
            edges += [(key, node) for node in value]
            weights += [1.0] * len(value)
        elif isinstance(key, tuple) and len(key) == 2:
            edges.append(key)
            weights.append(value)
        else:
            raise _no_edges(position, given)
    nodes = _in_order([*alone, *(node for edge in edges for node in edge)])
    return _Structure("named", edges, nodes, weights)


def _in_order(nodes: Iterable[Any]) -> list[Any]:
    """Distinct names: numbers by size, so that node 0 comes first; others as they come."""
    distinct = list(dict.fromkeys(nodes))
    if all(isinstance(node, int | np.integer) for node in distinct):
        distinct.sort()
    return distinct


def _nodes(position: int, structure: _Structure, labels: Any) -> list[Any] | None:
    """The names of all nodes, or None for the numbers from 0 on, as many as others tell."""
    if not isinstance(labels, Mapping):
        numbered = structure.form == "named" and labels is not None
        return None if numbered else structure.nodes
    mentioned = structure.nodes
    if mentioned is None:
        mentioned = [node for edge in structure.edges for node in _plain(edge)]
    for node in mentioned:
        if node not in labels:
            raise ValueError(
                f"Graph {position}: node {node!r} has no label, but others have. "
                "Give a label to all nodes or to none."
            )
    if structure.form == "matrix" and len(labels) != len(mentioned):
        raise _wrong_number(position, mentioned, labels)
    return _in_order(labels)


def _wrong_number(position: int, nodes: list[Any], labels: Any) -> ValueError:
    return ValueError(
        f"Graph {position} has {len(nodes)} nodes, but {len(labels)} node labels; give one a node."
    )


def _plain(edge: Any) -> Any:
    return edge.tolist() if isinstance(edge, np.ndarray) else edge


def _numbered(edges: Any, nodes: list[Any] | None) -> Any:
    """The edges between node numbers instead of names."""
    if nodes is None or nodes == list(range(len(nodes))):
        return edges
    number: dict[Hashable, int] = {node: i for i, node in enumerate(nodes)}
    return [(number[u], number[v]) for u, v in map(_plain, edges)]


def _labels_or_attributes(values: Any) -> tuple[Any, Any]:
    """Values that are lists or arrays are no labels but rows of attributes, as in GraKeL."""
    if values is not None and len(values) and isinstance(values[0], list | np.ndarray):
        return None, values
    return values, None


def _edge_labels(position: int, structure: _Structure, given: Any) -> Any:
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
    labels = []
    for edge in map(_plain, structure.edges):
        u, v = edge
        found = [given[pair] for pair in ((u, v), (v, u)) if pair in given]
        if not found:
            raise ValueError(
                f"Graph {position}: edge ({u!r}, {v!r}) has no label, but others have. "
                "Give a label to all edges or to none."
            )
        if found[0] != found[-1]:
            raise ValueError(
                f"Graph {position} has two labels for the edge ({u!r}, {v!r}), one a direction. "
                "Graphs are undirected: keep one of them."
            )
        labels.append(found[0])
    _refuse_strangers(position, structure, given)
    return labels


def _refuse_strangers(position: int, structure: _Structure, labels: Mapping[Any, Any]) -> None:
    edges = {pair for u, v in map(_plain, structure.edges) for pair in ((u, v), (v, u))}
    for pair in labels:
        if pair not in edges:
            raise ValueError(
                f"Graph {position} has a label for the edge {pair!r}, which it does not have."
            )
