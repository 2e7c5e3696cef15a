"""Edges in Python objects: lists and sets of pairs, GraKeL's dictionaries, adjacency matrices.

Decides how a structure is read; if two readings are possible, an error explains how to write each
of them. Labels of nodes and edges are lists in their order, or dictionaries.
"""

from __future__ import annotations

import reprlib
from collections.abc import Hashable, Iterable, Iterator, Mapping, Set
from numbers import Number
from typing import Any, Literal, NamedTuple

import numpy as np

from gramlet.common.arrays import Array, Ints
from gramlet.common.checks import is_integer
from gramlet.graphs.conversion.record import AttributeNames, GraphRecord


class Structure(NamedTuple):
    """The edges of one graph and the form in which they were given.

    A matrix has all its nodes; a set or dictionary has ``nodes`` with any names, and labels may
    add nodes; rows have node numbers counted from 0 and an order that labels can follow.
    """

    form: Literal["matrix", "named", "rows"]
    edges: Any
    nodes: list[Any] | None = None
    weights: Any = None


def read_structure(position: int, given: Any, n_labels: int | None) -> Structure:
    """The edges of one graph; ``n_labels`` is the number of node labels beside them, if any."""
    if isinstance(given, dict):
        return _from_dictionary(position, given)
    if not isinstance(given, np.ndarray) and not hasattr(given, "tocoo"):
        return _from_rows(position, given, n_labels)
    if not isinstance(given, np.ndarray) or _is_matrix(given, n_labels):
        record = from_matrix(position, given, AttributeNames())
        nodes = list(range(record.n_nodes or 0))
        return Structure("matrix", record.edges, nodes, record.edge_weights)
    if given.size == 0:
        return Structure("rows", [])
    if given.ndim != 2 or given.shape[1] != 2:
        raise ValueError(
            f"Graph {position}: edges must be an (m, 2) array, or an adjacency matrix a square "
            f"one; got an array of shape {given.shape}."
        )
    return Structure("rows", given)


def _is_matrix(array: Array, n_labels: int | None) -> bool:
    """Whether an array is an adjacency matrix rather than a list of pairs of node numbers.

    A square array is a matrix. Two rows of two integers can be both; they are read as edges unless
    that is impossible: no edge is a self-loop, and with two labels only nodes 0 and 1 exist.
    """
    if array.ndim != 2 or array.shape[0] != array.shape[1]:
        return False
    if array.dtype.kind not in "biuf":
        return False
    if len(array) != 2 or array.dtype.kind not in "iu":
        return True
    no_edge = bool((array[:, 0] == array[:, 1]).any())
    out_of_range = n_labels == 2 and array.max() > 1
    return bool(not array.diagonal().any() and (no_edge or out_of_range))


def _from_rows(position: int, given: Any, n_labels: int | None) -> Structure:
    """Pairs (or triples with a weight) in a list or a set; or a matrix as a list of lists."""
    rows = list(given)
    if rows and all(isinstance(row, list) and len(row) == len(rows) for row in rows):
        table = _table(position, rows)
        if len(rows) != 3 or _three_rows_are_a_matrix(position, table):
            return read_structure(position, table, n_labels)
    lengths = {_length(row) for row in rows}
    if not (lengths <= {2} or lengths == {3}) or any(isinstance(row, str) for row in rows):
        raise no_edges(position, given)
    try:
        edges = [(row[0], row[1]) for row in rows]
        weights = [row[2] for row in rows] if lengths == {3} else None
    except (TypeError, KeyError, IndexError):  # sets and dictionaries instead of pairs
        raise no_edges(position, given) from None
    if not isinstance(given, Set):
        return Structure("rows", edges, None, weights)
    nodes = in_order(position, (node for edge in edges for node in edge))
    return Structure("named", edges, nodes, weights)


def _length(row: Any) -> int:
    try:
        return len(row)
    except TypeError:  # a number, or an array without an axis
        return 0


def _table(position: int, rows: list[list[Any]]) -> Array:
    """Lists of equal length as an array; an array of objects if not all are numbers."""
    try:
        return np.array(rows)
    except (ValueError, OverflowError):
        raise no_edges(position, rows) from None


def _three_rows_are_a_matrix(position: int, table: Array) -> bool:
    """Three lists of three numbers: an adjacency matrix, or three edges (u, v, weight).

    With a nonzero diagonal it is not the matrix of a simple graph; a symmetric matrix is never a
    list of edges (its last row would be a loop or contradict the others). Otherwise it is a matrix
    unless all its rows can be edges; that case is ambiguous and refused.
    """
    if table.ndim != 2 or table.dtype.kind not in "biuf":
        return False
    if table.diagonal().any():
        return not _rows_are_edges(table)
    if np.array_equal(table, table.T) or not _rows_are_edges(table):
        return True
    raise ValueError(
        f"Graph {position}: {table.tolist()} can be an adjacency matrix or three edges with "
        "weights. Write a matrix as a numpy array, edges as tuples (u, v, weight)."
    )


def _rows_are_edges(table: Array) -> bool:
    ends = table[:, :2]
    return bool(
        (ends >= 0).all() and (ends == np.floor(ends)).all() and (ends[:, 0] != ends[:, 1]).all()
    )


NOT_GRAPHS = (
    "these are not graphs. For a matrix of features use the kernels of scikit-learn; features of "
    "nodes belong to graphs: GraphBatch.from_edges(edges, node_attributes=rows)"
)


def no_edges(position: int, given: Any) -> TypeError:
    """The error for a value that is neither a list of edges nor a matrix."""
    if isinstance(given, float | np.floating):
        return TypeError(f"Graph {position} is a row of numbers: {NOT_GRAPHS}.")
    return TypeError(
        f"Graph {position}: expected edges (pairs of nodes) or an adjacency matrix as the first "
        f"part of a graph; got {reprlib.repr(given)}. Put a single graph into a list: "
        "as_batch([graph])."
    )


def _from_dictionary(position: int, given: Mapping[Any, Any]) -> Structure:
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
            raise no_edges(position, given)
    nodes = in_order(position, [*alone, *(node for edge in edges for node in edge)])
    return Structure("named", edges, nodes, weights)


def in_order(position: int, nodes: Iterable[Any]) -> list[Any]:
    """Distinct names: numbers sorted, so that node 0 comes first; others in order of appearance."""
    try:
        distinct = list(dict.fromkeys(nodes))
    except TypeError as error:
        raise TypeError(f"Graph {position}: names of nodes must be hashable ({error}).") from None
    if all(is_integer(node) for node in distinct):
        distinct.sort()
    return distinct


def from_edges_and_labels(position: int, item: Any, names: AttributeNames) -> GraphRecord:
    """Edges alone, ``(edges, node_labels)``, ``(edges, node_labels, edge_labels)``, GraKeL's lists.

    Edges are undirected; a matrix is directed if it, or the labels of its edges, are asymmetric.
    """
    given, node_labels, edge_labels = (
        (item, None, None) if _is_edge_list(item) else _split(position, item)
    )
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


def _is_edge_list(item: Any) -> bool:
    """Whether these are edges without labels: a set, or pairs or triples that begin with integers.

    The first part of ``(edges, node_labels)`` contains pairs itself, so its first entry is none.
    """
    if isinstance(item, Set) or item == []:
        return True
    return bool(item) and all(
        isinstance(row, list | tuple) and len(row) >= 2 and is_integer(row[0]) for row in item
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


def from_array(position: int, array: Any, names: AttributeNames) -> GraphRecord:
    """An adjacency matrix, or pairs of nodes: integers in two columns, if not square."""
    if array.ndim == 2 and array.shape[1] == 2 != len(array) and array.dtype.kind in "iu":
        return GraphRecord(edges=array, edges_as_listed=True)
    return from_matrix(position, array, names)


def from_matrix(position: int, matrix: Any, names: AttributeNames) -> GraphRecord:
    """An adjacency matrix, dense or sparse; entries other than 0 and 1 are weights.

    The graph counts as directed if some a_ij differs from a_ji.
    """
    if getattr(matrix, "ndim", 2) != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError(
            f"Graph {position}: an adjacency matrix must be square; got shape {matrix.shape}. If "
            f"its rows are features, {NOT_GRAPHS}."
        )
    if matrix.dtype.kind not in "biuf":
        raise ValueError(
            f"Graph {position}: an adjacency matrix must contain real numbers or booleans; got "
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
    arcs = np.array([rows, columns], dtype=np.int64).T
    if isinstance(matrix, np.ndarray):
        symmetric = np.array_equal(matrix, matrix.T)
    else:
        symmetric = is_symmetric(arcs, values)
    return GraphRecord(
        edges=arcs,
        n_nodes=matrix.shape[0],
        edge_weights=values.astype(np.float64),
        ones_only=bool((values == 1).all()),
        directed=None if symmetric else True,
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


def is_symmetric(arcs: Ints, *columns: Array | None) -> bool:
    """Whether every arc has its opposite, with the same data; compared exactly, NaN equals NaN.

    Parameters
    ----------
    arcs : array of shape (m, 2)
        For repeated arcs only the first is used.
    *columns : arrays of length m, or None
        Data of the arcs.

    Examples
    --------
    >>> is_symmetric(np.array([(0, 1), (1, 0)]))
    True
    >>> is_symmetric(np.array([(0, 1), (1, 0)]), np.array([0.5, 0.25]))
    False
    """
    if len(arcs) == 0:
        return True
    by_tail, by_head = _first_of_each(arcs, 0), _first_of_each(arcs, 1)
    if not np.array_equal(arcs[by_tail], arcs[by_head][:, ::-1]):
        return False
    return all(
        column is None or _same(np.asarray(column)[by_tail], np.asarray(column)[by_head])
        for column in columns
    )


def _first_of_each(arcs: Ints, side: int) -> Ints:
    """Positions of the distinct arcs, sorted by one end and then by the other."""
    order = np.lexsort((arcs[:, 1 - side], arcs[:, side]))
    new = np.ones(len(order), dtype=bool)
    new[1:] = (arcs[order[1:]] != arcs[order[:-1]]).any(axis=1)
    return order[new]


def _same(here: Array, there: Array) -> bool:
    return not ((here != there) & ~((here != here) & (there != there))).any()
