"""The graphs of a TU data set: nodes, edges, labels, weights and attributes into one batch.

Every mistake in the files is reported with file and line. Targets, names and the README are
`tudataset`'s affair.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from gramlet.common.arrays import Array, Floats, Ints
from gramlet.files.tu.extras import restore_values
from gramlet.files.tu.members import TUFiles
from gramlet.files.tu.text import parse_floats, parse_integers
from gramlet.graphs.batch import GraphBatch
from gramlet.graphs.columns import Categorical

__all__ = ["check_rows", "read_graphs", "read_integers"]


# A higher number of a graph is a slip of the pen, and must not cost all memory.
_MOST_EMPTY = 10_000_000


@dataclass(frozen=True)
class _Nodes:
    """Where the nodes of the files stand in the batch."""

    offsets: Ints
    graph: Ints  # the graph (from 0) of each node, in the files' order
    order: Ints | None  # file position of each node of the batch; None if the same
    place: Ints | None  # the inverse of `order`


def read_graphs(
    files: TUFiles, n_graphs: int | None, extras: dict[str, Any], edge_weights: bool | None
) -> GraphBatch:
    """The batch that the files describe; ``n_graphs`` is None if no file tells the number."""
    nodes = _read_nodes(files, n_graphs)
    n_nodes = len(nodes.graph)
    edges = _read_edges(files, nodes)
    wanted = extras.get("edge_weights", False) if edge_weights is None else edge_weights
    listed = f"{files.file_name('A')} lists {len(edges)} edges"
    labels = _read_labels(files, "edge_labels", len(edges), listed, extras)
    weights = _read_weights(files, len(edges), listed) if wanted else None
    proper = _without_loops(files, edges)
    listed = f"{files.file_name('graph_indicator')} lists {n_nodes} nodes"
    node_labels = _read_labels(files, "node_labels", n_nodes, listed, extras)
    attributes = _read_attributes(files, n_nodes, listed, extras)
    if nodes.order is not None:
        node_labels = None if node_labels is None else node_labels.take(nodes.order)
        attributes = None if attributes is None else attributes[nodes.order]
    src, dst = edges[proper].T if nodes.place is None else nodes.place[edges[proper]].T
    try:
        return GraphBatch.from_arcs(
            nodes.offsets,
            src,
            dst,
            node_labels=node_labels,
            edge_labels=None if labels is None else labels.take(proper),
            edge_weights=None if weights is None else weights[proper],
            node_attributes=attributes,
        )
    except ValueError:
        _report_conflict(files, edges, labels, weights)
        raise


def read_integers(files: TUFiles, role: str, n_rows: int | None = None, counted: str = "") -> Ints:
    """A table of integers, with as many rows as ``counted`` says there must be."""
    table = parse_integers(files.require(role), files.location(files.file_name(role)))
    check_rows(files, role, len(table), n_rows, counted)
    return table


def check_rows(files: TUFiles, role: str, found: int, n_rows: int | None, counted: str) -> None:
    """Refuse a file whose number of lines does not fit another file's."""
    if n_rows is None or found == n_rows:
        return
    verdict = "is missing" if found < n_rows else "is one too many"
    raise ValueError(
        f"{files.location(files.file_name(role))}, line {min(found, n_rows) + 1} {verdict}: "
        f"the file has {found} lines, but {counted}."
    )


def _refuse_at(files: TUFiles, role: str, row: int, why: str) -> None:
    raise ValueError(f"{files.location(files.file_name(role))}, line {row + 1}: {why}")


def _require_columns(files: TUFiles, role: str, table: Array, n_columns: int, what: str) -> None:
    if len(table) and table.shape[1] != n_columns:
        _refuse_at(files, role, 0, f"{what}; got {table.shape[1]} columns.")


def _read_nodes(files: TUFiles, n_graphs: int | None) -> _Nodes:
    table = read_integers(files, "graph_indicator")
    _require_columns(files, "graph_indicator", table, 1, "a line holds the graph of one node")
    number = table[:, 0]
    if n_graphs is None:
        n_graphs = _highest_number(files, number)
    outside = np.flatnonzero((number < 1) | (number > n_graphs))
    if len(outside):
        found = number[outside[0]]
        why = f"graph {found} does not exist; the graphs are numbered 1 to {n_graphs}."
        _refuse_at(files, "graph_indicator", int(outside[0]), why)
    graph = number - 1
    offsets = np.zeros(n_graphs + 1, dtype=np.int64)
    np.cumsum(np.bincount(graph, minlength=n_graphs), out=offsets[1:])
    if (np.diff(graph) >= 0).all():
        return _Nodes(offsets, graph, None, None)
    order = np.argsort(graph, kind="stable")
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    return _Nodes(offsets, graph, order, place)


def _highest_number(files: TUFiles, number: Ints) -> int:
    """The number of graphs where no file tells it: graphs after the last have no trace."""
    if not len(number):
        return 0
    row = int(number.argmax())
    if number[row] - len(number) > _MOST_EMPTY:
        why = f"graph {number[row]} would leave more than {_MOST_EMPTY:,} graphs without nodes."
        _refuse_at(files, "graph_indicator", row, why)
    return max(int(number[row]), 0)


def _read_edges(files: TUFiles, nodes: _Nodes) -> Ints:
    """The edges as pairs of nodes, from 0, in the files' order."""
    table = read_integers(files, "A")
    _require_columns(files, "A", table, 2, "a line holds the two nodes of one edge")
    edges = table.reshape(len(table), 2) - 1 if len(table) else np.zeros((0, 2), dtype=np.int64)
    n_nodes = len(nodes.graph)
    outside = np.flatnonzero(((edges < 0) | (edges >= n_nodes)).any(axis=1))
    if len(outside):
        u, v = edges[outside[0]] + 1
        why = f"the edge ({u}, {v}) leaves the range; nodes are numbered 1 to {n_nodes}."
        _refuse_at(files, "A", int(outside[0]), why)
    across = np.flatnonzero(nodes.graph[edges[:, 0]] != nodes.graph[edges[:, 1]])
    if len(across):
        u, v = edges[across[0]]
        why = (
            f"the edge ({u + 1}, {v + 1}) joins a node of graph {nodes.graph[u] + 1} to one of "
            f"graph {nodes.graph[v] + 1}; an edge must stay in one graph."
        )
        _refuse_at(files, "A", int(across[0]), why)
    return edges


def _without_loops(files: TUFiles, edges: Ints) -> Ints:
    """The rows that are no self-loops; the others are counted in one warning."""
    proper = np.flatnonzero(edges[:, 0] != edges[:, 1])
    n_loops = len(edges) - len(proper)
    if n_loops:
        noun = "self-loop was" if n_loops == 1 else "self-loops were"
        warnings.warn(
            f"{files.location(files.file_name('A'))}: {n_loops} {noun} dropped; graphs are simple.",
            stacklevel=4,
        )
    return proper


def _read_labels(
    files: TUFiles, role: str, n_rows: int, counted: str, extras: dict[str, Any]
) -> Categorical | None:
    if not files.has(role):
        return None
    table = read_integers(files, role, n_rows, counted)
    values = extras.get("values", {}).get(role)
    if values is not None:
        _require_columns(files, role, table, 1, "a line holds one code")
        return restore_values(table[:, 0], values, files.location(files.file_name(role)))
    if table.shape[1] == 1:
        return Categorical.from_values(table[:, 0])
    distinct, codes = np.unique(table, axis=0, return_inverse=True)
    return Categorical(codes.reshape(-1), map(tuple, distinct.tolist()))


def _read_weights(files: TUFiles, n_rows: int, counted: str) -> Floats:
    role = "edge_attributes"
    table = parse_floats(files.require(role), files.location(files.file_name(role)))
    check_rows(files, role, len(table), n_rows, counted)
    _require_columns(files, role, table, 1, "edge_weights=True needs one number a line")
    return table[:, 0]


def _read_attributes(
    files: TUFiles, n_rows: int, counted: str, extras: dict[str, Any]
) -> Floats | None:
    role = "node_attributes"
    if not files.has(role):
        return None
    table = parse_floats(files.require(role), files.location(files.file_name(role)))
    check_rows(files, role, len(table), n_rows, counted)
    return table if len(table) else np.zeros((0, extras.get("node_attribute_columns", 1)))


def _report_conflict(
    files: TUFiles,
    edges: Ints,
    labels: Categorical | None,
    weights: Floats | None,
) -> None:
    """Name the first line that contradicts an earlier one about the same edge, if there is one."""
    pairs = np.sort(edges, axis=1)
    _, first, group = np.unique(pairs, axis=0, return_index=True, return_inverse=True)
    earlier = first[group.reshape(-1)]
    for role, values in (
        ("edge_labels", None if labels is None else labels.codes),
        ("edge_attributes", weights),
    ):
        if values is None:
            continue
        differs = np.flatnonzero((values != values[earlier]) & (edges[:, 0] != edges[:, 1]))
        if len(differs):
            row = int(differs[0])
            u, v = edges[row] + 1
            why = (
                f"the edge ({u}, {v}) has another value than in line {earlier[row] + 1}; graphs "
                "are undirected, so both lines must agree."
            )
            _refuse_at(files, role, row, why)
