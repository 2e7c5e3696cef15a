"""Edges in Python objects: pairs, triples, sets, dictionaries, matrices as lists of lists.

This module decides how a structure is read; if two different readings are possible, an error
explains how to write each of them. `plain` adds the labels.
"""

from __future__ import annotations

import reprlib
from collections.abc import Iterable, Mapping, Set
from typing import Any, Literal, NamedTuple

import numpy as np

from gramlet.common.arrays import Array
from gramlet.common.checks import is_integer
from gramlet.graphs.conversion.from_matrix import from_matrix
from gramlet.graphs.conversion.names import AttributeNames

__all__ = ["Structure", "in_order", "no_edges", "read_structure"]


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


def no_edges(position: int, given: Any) -> TypeError:
    """The error for a value that is neither a list of edges nor a matrix."""
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
