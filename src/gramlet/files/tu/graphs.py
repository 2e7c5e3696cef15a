"""The graphs of a TU data set: nodes, edges, labels, weights and attributes into one batch.

Every error in the files is reported with file and line. `dataset` reads targets, names and the
README.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gramlet.common.arrays import Array, Floats, Ints
from gramlet.common.notices import counted as count_of
from gramlet.common.notices import warn_caller
from gramlet.files.tu.extras import restore_values
from gramlet.files.tu.members import TUFiles
from gramlet.files.tu.text import float_blocks, integer_blocks, joined
from gramlet.graphs.batch import GraphBatch
from gramlet.graphs.columns import Categorical, pick

__all__ = ["check_rows", "read_floats", "read_graphs", "read_integers"]


# More graphs without nodes than this are treated as an error in the file, so that they do not use
# up the memory.
_MOST_EMPTY = 10_000_000


@dataclass(frozen=True)
class _Nodes:
    """The positions of the files' nodes in the batch."""

    offsets: Ints
    graph: Array  # the graph (from 0) of each node, in the files' order
    order: Ints | None  # file position of each node of the batch; None if the same
    place: Array | None  # the inverse of `order`


@dataclass(frozen=True)
class _Arcs:
    """The lines of ``_A.txt``: nodes of the batch, without self-loops."""

    tails: Array
    heads: Array
    n_lines: int
    loops: Ints  # the lines that were self-loops

    def proper(self, column: Any) -> Any:
        """A column with one entry per line, without those of self-loops."""
        if column is None or not len(self.loops):
            return column
        return pick(column, np.delete(np.arange(self.n_lines), self.loops))


def read_graphs(
    files: TUFiles,
    n_graphs: int | None,
    extras: dict[str, Any],
    edge_weights: bool | None,
    directed: bool | None,
) -> GraphBatch:
    """The batch that the files describe; ``n_graphs`` is None if no file contains the number."""
    nodes = _read_nodes(files, n_graphs)
    n_nodes = len(nodes.graph)
    arcs = _read_arcs(files, nodes)
    listed = f"{files.file_name('A')} lists {arcs.n_lines} edges"
    labels = _read_labels(files, "edge_labels", arcs.n_lines, listed, extras)
    weights, edge_attributes = _read_edge_attributes(
        files, arcs.n_lines, listed, extras, edge_weights
    )
    _warn_of_loops(files, len(arcs.loops))
    listed = f"{files.file_name('graph_indicator')} lists {n_nodes} nodes"
    node_labels = _read_labels(files, "node_labels", n_nodes, listed, extras)
    attributes = _read_attributes(files, n_nodes, listed, extras)
    if nodes.order is not None:
        node_labels = None if node_labels is None else node_labels.take(nodes.order)
        attributes = None if attributes is None else attributes[nodes.order]
    directed = extras.get("directed", False) if directed is None else directed
    of_nodes = {"node_labels": node_labels, "node_attributes": attributes}
    of_edges = {
        "edge_labels": arcs.proper(labels),
        "edge_weights": arcs.proper(weights),
        "edge_attributes": arcs.proper(edge_attributes),
    }
    return _build(files, nodes.offsets, arcs, of_nodes, of_edges, directed)


def _build(
    files: TUFiles,
    offsets: Ints,
    arcs: _Arcs,
    of_nodes: dict[str, Any],
    of_edges: dict[str, Any],
    directed: bool,
) -> GraphBatch:
    n_nodes = int(offsets[-1])
    of_edges = {name: column for name, column in of_edges.items() if column is not None}
    if not of_edges:
        indptr, indices = plain_csr(n_nodes, arcs.tails, arcs.heads, directed)
        return GraphBatch(offsets, indptr, indices, directed=directed, **of_nodes)
    values = [c.codes if isinstance(c, Categorical) else c for c in of_edges.values()]
    kept, n_differ = first_of_parallel(n_nodes, arcs.tails, arcs.heads, directed, values)
    if n_differ:
        warn_caller(
            f"{files.location(files.file_name('A'))}: {count_of(n_differ, 'line')} left out, each "
            "of an edge that an earlier line has with other labels, weights or attributes; the "
            "first is kept."
        )
    columns: dict[str, Any] = {name: pick(column, kept) for name, column in of_edges.items()}
    return GraphBatch.from_arcs(
        offsets, arcs.tails[kept], arcs.heads[kept], directed=directed, **of_nodes, **columns
    )


def read_integers(files: TUFiles, role: str, n_rows: int | None = None, counted: str = "") -> Ints:
    """A table of integers with the required number of rows; ``counted`` explains it."""
    with files.open(role) as stream:
        blocks = integer_blocks(stream, files.location(files.file_name(role)))
        table = joined(blocks, np.dtype(np.int64))
    check_rows(files, role, len(table), n_rows, counted)
    return table


def read_floats(files: TUFiles, role: str, n_rows: int | None = None, counted: str = "") -> Floats:
    """A table of finite numbers with the required number of rows; ``counted`` explains it."""
    with files.open(role) as stream:
        blocks = float_blocks(stream, files.location(files.file_name(role)))
        table = joined(blocks, np.dtype(np.float64))
    check_rows(files, role, len(table), n_rows, counted)
    return table


def check_rows(files: TUFiles, role: str, found: int, n_rows: int | None, counted: str) -> None:
    """Refuse a file whose number of lines does not agree with another file."""
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
    _require_columns(files, "graph_indicator", table, 1, "a line contains the graph of one node")
    number = table[:, 0]
    told = n_graphs is not None
    if n_graphs is None:
        n_graphs = _highest_number(files, number)
    outside = np.flatnonzero((number < 1) | (number > n_graphs))
    if len(outside):
        found = number[outside[0]]
        why = f"graph {found} does not exist; the graphs are numbered 1 to {n_graphs}"
        role = "graph_labels" if files.has("graph_labels") else "graph_attributes"
        if told and files.has(role):
            why += f", the lines of {files.file_name(role)}. Is that file truncated?"
        else:
            why += "."
        _refuse_at(files, "graph_indicator", int(outside[0]), why)
    if n_graphs - len(number) > _MOST_EMPTY:
        raise ValueError(
            f"{files.location(files.file_name('graph_indicator'))} lists {len(number)} nodes for "
            f"{n_graphs:,} graphs; more than {_MOST_EMPTY:,} would be empty."
        )
    graph = (number - 1).astype(_index_type(len(number)))
    offsets = np.zeros(n_graphs + 1, dtype=np.int64)
    np.cumsum(np.bincount(graph, minlength=n_graphs), out=offsets[1:])
    if (np.diff(graph) >= 0).all():
        return _Nodes(offsets, graph, None, None)
    order = np.argsort(graph, kind="stable")
    place = np.empty(len(order), dtype=graph.dtype)
    place[order] = np.arange(len(order))
    return _Nodes(offsets, graph, order, place)


def _index_type(n: int) -> type[np.signedinteger[Any]]:
    """32-bit integers if they suffice, for half of the memory while reading."""
    return np.int32 if n < 2**31 - 1 else np.int64


def _highest_number(files: TUFiles, number: Ints) -> int:
    """The number of graphs if no file contains it; empty graphs after the last one are lost."""
    if not len(number):
        return 0
    row = int(number.argmax())
    if number[row] - len(number) > _MOST_EMPTY:
        why = f"graph {number[row]} would leave more than {_MOST_EMPTY:,} graphs without nodes."
        _refuse_at(files, "graph_indicator", row, why)
    return max(int(number[row]), 0)


def _read_arcs(files: TUFiles, nodes: _Nodes) -> _Arcs:
    """The arcs, block by block: checked, without self-loops, as nodes of the batch."""
    kind = _index_type(len(nodes.graph))
    tails, heads = [np.zeros(0, dtype=kind)], [np.zeros(0, dtype=kind)]
    loops = [np.zeros(0, dtype=np.int64)]
    n_lines = 0
    with files.open("A") as stream:
        for table in integer_blocks(stream, files.location(files.file_name("A"))):
            _require_columns(files, "A", table, 2, "a line contains the two nodes of one edge")
            u, v = _checked_arcs(files, nodes, table, n_lines)
            alike = np.flatnonzero(u == v)
            if len(alike):
                loops.append(alike + n_lines)
                u, v = np.delete(u, alike), np.delete(v, alike)
            tails.append(u if nodes.place is None else nodes.place[u])
            heads.append(v if nodes.place is None else nodes.place[v])
            n_lines += len(table)
    tail_column = np.concatenate(tails)
    tails.clear()
    return _Arcs(tail_column, np.concatenate(heads), n_lines, np.concatenate(loops))


def _checked_arcs(
    files: TUFiles, nodes: _Nodes, table: Array, n_before: int
) -> tuple[Array, Array]:
    """Both columns of a block, counted from 0, within the range and each within one graph."""
    n_nodes = len(nodes.graph)
    if table.min() < 1 or table.max() > n_nodes:
        row = int(np.flatnonzero(((table < 1) | (table > n_nodes)).any(axis=1))[0])
        u, v = table[row]
        why = f"the edge ({u}, {v}) is out of range; nodes are numbered 1 to {n_nodes}."
        _refuse_at(files, "A", row + n_before, why)
    u, v = (table - 1).astype(_index_type(n_nodes), copy=False).T
    u, v = np.ascontiguousarray(u), np.ascontiguousarray(v)
    across = np.flatnonzero(nodes.graph[u] != nodes.graph[v])
    if len(across):
        row = int(across[0])
        why = (
            f"the edge ({u[row] + 1}, {v[row] + 1}) joins a node of graph "
            f"{nodes.graph[u[row]] + 1} to one of graph {nodes.graph[v[row]] + 1}; an edge must "
            "stay in one graph."
        )
        _refuse_at(files, "A", row + n_before, why)
    return u, v


def _warn_of_loops(files: TUFiles, n_loops: int) -> None:
    if n_loops:
        noun = "self-loop was" if n_loops == 1 else "self-loops were"
        warn_caller(
            f"{files.location(files.file_name('A'))}: {n_loops} {noun} dropped; graphs are simple."
        )


def _read_labels(
    files: TUFiles, role: str, n_rows: int, counted: str, extras: dict[str, Any]
) -> Categorical | None:
    if not files.has(role):
        return None
    table = read_integers(files, role, n_rows, counted)
    values = extras.get("values", {}).get(role)
    if values is not None:
        _require_columns(files, role, table, 1, "a line contains one code")
        return restore_values(table[:, 0], values, files.location(files.file_name(role)))
    if table.shape[1] == 1:
        return Categorical.from_values(table[:, 0])
    distinct, codes = np.unique(table, axis=0, return_inverse=True)
    return Categorical(codes.reshape(-1), map(tuple, distinct.tolist()))


def _read_edge_attributes(
    files: TUFiles, n_rows: int, counted: str, extras: dict[str, Any], edge_weights: bool | None
) -> tuple[Floats | None, Floats | None]:
    """Edge weights and edge attributes; `write_tu` writes the weights first."""
    role = "edge_attributes"
    weights_first = extras.get("edge_weights", False)
    if not files.has(role) and not edge_weights and not weights_first:
        return None, None
    table = read_floats(files, role, n_rows, counted)
    if not len(table):
        table = np.zeros((0, weights_first + extras.get("edge_attribute_columns", 1)))
    if weights_first and edge_weights is not False:
        return table[:, 0], (table[:, 1:] if table.shape[1] > 1 else None)
    if edge_weights:
        _require_columns(files, role, table, 1, "edge_weights=True needs one number per line")
        return table[:, 0], None
    return None, table


def _read_attributes(
    files: TUFiles, n_rows: int, counted: str, extras: dict[str, Any]
) -> Floats | None:
    if not files.has("node_attributes"):
        return None
    table = read_floats(files, "node_attributes", n_rows, counted)
    return table if len(table) else np.zeros((0, extras.get("node_attribute_columns", 1)))


# Arcs in the order of a file as the arrays of a batch; of repeats the first is kept


def plain_csr(n_nodes: int, tails: Array, heads: Array, directed: bool) -> tuple[Array, Array]:
    """``indptr`` and ``indices`` of simple graphs with these arcs, which have no data.

    >>> indptr, indices = plain_csr(3, np.array([2, 1, 2]), np.array([1, 2, 0]), False)
    >>> indptr.tolist(), indices.tolist()
    ([0, 1, 2, 4], [2, 2, 0, 1])
    """
    from scipy import sparse  # here: not needed for data sets with labelled edges

    there = np.ones(len(tails), dtype=bool)
    adjacency = sparse.coo_array((there, (tails, heads)), shape=(n_nodes, n_nodes)).tocsr()
    del there, tails, heads
    adjacency.sum_duplicates()
    if not directed:
        reverse = adjacency.T.tocsr()
        reverse.sort_indices()
        # Most files list both directions, so that nothing has to be added.
        if not _same_pattern(adjacency, reverse):
            adjacency = adjacency + reverse
            adjacency.sum_duplicates()
    return adjacency.indptr, adjacency.indices


def _same_pattern(one: Any, other: Any) -> bool:
    return np.array_equal(one.indptr, other.indptr) and np.array_equal(one.indices, other.indices)


def first_of_parallel(
    n_nodes: int, tails: Array, heads: Array, directed: bool, columns: list[Array]
) -> tuple[Ints, int]:
    """The rows to keep, one per edge in the order of the file, and how many others differ.

    ``columns`` are the values on the rows (labels' codes, weights, rows of attributes); a row that
    repeats an edge with the same values is merged and not counted.

    >>> tails, heads = np.array([0, 1, 0]), np.array([1, 0, 1])
    >>> kept, n_differ = first_of_parallel(2, tails, heads, False, [np.array([5, 5, 6])])
    >>> kept.tolist(), n_differ
    ([0], 1)
    """
    low, high = tails.astype(np.int64), heads.astype(np.int64)
    if not directed:
        low, high = np.minimum(low, high), np.maximum(low, high)
    key = low * n_nodes + high
    order = np.argsort(key, kind="stable")
    key = key[order]
    is_first = np.ones(len(key), dtype=bool)
    is_first[1:] = key[1:] != key[:-1]
    first = order[is_first]
    kept_instead = np.repeat(first, np.diff(np.flatnonzero(np.append(is_first, True))))
    differs = np.zeros(len(order), dtype=bool)
    for column in columns:
        unequal = column[order] != column[kept_instead]
        differs |= unequal if unequal.ndim == 1 else unequal.any(axis=1)
    return np.sort(first), int(np.count_nonzero(differs))
