"""from_pandas: graphs from a table of edges, and optional tables of nodes and targets.

Works on the columns of data frames; pandas itself is not imported.
"""

from __future__ import annotations

import reprlib
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from gramlet.common.arrays import Array, Bools, Ints
from gramlet.common.notices import counted, warn_caller
from gramlet.files.dataset import Dataset
from gramlet.files.target import check_target
from gramlet.graphs.batch import GraphBatch
from gramlet.graphs.columns import Categorical
from gramlet.graphs.conversion.frames import Column, Frame, plain_frame

_NAMED = 5  # how many graphs a message names

Names = str | Sequence[str] | None


def from_pandas(
    edges: Any,
    nodes: Any = None,
    targets: Any = None,
    graph: str = "graph",
    source: str = "source",
    target: str = "target",
    directed: bool = False,
    *,
    node: str = "node",
    node_label: str | None = None,
    node_attributes: Names = None,
    edge_label: str | None = None,
    edge_weight: str | None = None,
    edge_attributes: Names = None,
    target_name: str | None = None,
    name: str = "",
) -> Dataset:
    """Graphs from data frames: one row per edge, and optionally one row per node.

    Frames are of pandas, polars or pyarrow.

    Graphs are in the order of ``targets`` if given, else of their first row in ``nodes``, else in
    ``edges``. Nodes of a graph are in the order of their first row. The cost is linear, except for
    sorting the edges.

    Parameters
    ----------
    edges : DataFrame
        Columns ``graph``, ``source``, ``target``: which graph, and the names of both nodes.
        Repeated edges are merged; self-loops, and repeats that differ, are an error.
    nodes : DataFrame, optional
        Columns ``graph`` and ``node``. Nodes without edges are listed here, and with them graphs
        without edges; an edge whose node has no row here is an error.
    targets : Series, DataFrame or str, optional
        One target per graph: a Series indexed by graph, or a frame with the column ``graph`` and
        one other (or the one called ``target_name``); a graph with a target and no row elsewhere
        is a graph without nodes, and a warning names it. Or the name of a column of ``nodes`` or
        ``edges`` that has one value per graph.
    graph, source, target, node : str
        Names of columns.
    directed : bool
        Whether a row is an arc from source to target.
    node_label, edge_label, edge_weight : str, optional
        Columns of labels and weights; by default "label" in ``nodes``, "label" and "weight" in
        ``edges``, where they exist.
    node_attributes, edge_attributes : str or list of str, optional
        Columns of numbers.
    target_name : str, optional
        The column of ``targets`` to use.
    name : str
        The name of the Dataset.

    Returns
    -------
    Dataset
        ``graphs``, ``target``, ``ids`` (the names of the graphs), ``target_name``.

    Examples
    --------
    >>> import pandas as pd
    >>> import gramlet
    >>> edges = pd.DataFrame({"graph": ["a", "a", "b"], "source": [1, 2, 1], "target": [2, 3, 2]})
    >>> data = gramlet.from_pandas(edges, targets=pd.Series({"a": 0.5, "b": 1.5}))
    >>> data.graphs, data.target.tolist()
    (GraphBatch(2 graphs, 5 nodes, 3 edges), [0.5, 1.5])
    """
    edges, nodes, targets = plain_frame(edges), plain_frame(nodes), plain_frame(targets)
    of_edges = {column: _values(edges, column, "edges") for column in (graph, source, target)}
    if isinstance(targets, str):
        targets = _target_column(targets, nodes, edges, graph)
    keys, values, found_name = _targets(targets, graph, target_name)
    node_graphs = None if nodes is None else _values(nodes, graph, "nodes")
    node_names = None if nodes is None else _values(nodes, node, "nodes")
    order = _graph_order(keys, node_graphs, of_edges[graph])
    numbers, graph_of_node = _number_nodes(
        order, of_edges[graph], of_edges[source], of_edges[target], node_graphs, node_names
    )
    offsets = np.zeros(len(order) + 1, dtype=np.int64)
    np.cumsum(np.bincount(graph_of_node, minlength=len(order)), out=offsets[1:])
    # Nodes are numbered in the order of the batch: graph by graph, then in order of appearance.
    place = np.empty(len(graph_of_node), dtype=np.int64)
    by_graph = np.argsort(graph_of_node, kind="stable")
    place[by_graph] = np.arange(len(place))
    n_edges = len(of_edges[graph])
    tails, heads = place[numbers[:n_edges]], place[numbers[n_edges : 2 * n_edges]]
    _refuse_loops(tails, heads, of_edges, graph, source)
    batch = GraphBatch.from_arcs(
        offsets,
        tails,
        heads,
        directed=directed,
        node_labels=_labels(nodes, node_label, "nodes", by_graph),
        node_attributes=_numbers(nodes, node_attributes, "nodes", by_graph),
        edge_labels=_labels(edges, edge_label, "edges"),
        edge_weights=_weights(edges, edge_weight),
        edge_attributes=_numbers(edges, edge_attributes, "edges"),
    )
    if batch.node_labels is None and batch.node_attributes is None and nodes is not None:
        _warn_of_others(nodes, "nodes", (graph, node, found_name), "node_label=, node_attributes=")
    if not any(
        column is not None
        for column in (batch.edge_labels, batch.edge_weights, batch.edge_attributes)
    ):
        known = "edge_label=, edge_weight=, edge_attributes="
        _warn_of_others(edges, "edges", (graph, source, target, found_name), known)
    ids = [str(key) for key in order]
    return Dataset(batch, values, name=name, ids=ids, target_name=found_name)


# Columns of frames


def _warn_of_others(frame: Any, what: str, taken: tuple[str | None, ...], options: str) -> None:
    """Warn of columns that are not read, if only the required ones are."""
    others = [repr(column) for column in frame.columns if column not in taken]
    if others:
        warn_caller(
            f"{what}: {', '.join(others)} {'is' if len(others) == 1 else 'are'} not read. Name "
            f"what is to be read by {options}."
        )


def _values(frame: Any, column: str, what: str) -> list[Hashable]:
    """A column as plain Python values, none of them missing."""
    _require_column(frame, column, what)
    series = frame[column]
    missing = np.flatnonzero(np.asarray(series.isna()))
    if len(missing):
        raise ValueError(
            f"{what}: column {column!r} has no value in the row with index "
            f"{frame.index.tolist()[int(missing[0])]!r} ({len(missing)} in all)."
        )
    values: list[Hashable] = series.tolist()
    return values


def _require_column(frame: Any, column: str, what: str) -> None:
    if not hasattr(frame, "columns"):
        raise TypeError(
            f"{what} must be a DataFrame of pandas, polars or pyarrow; got {type(frame).__name__}."
        )
    if column not in frame.columns:
        raise ValueError(
            f"{what} has no column {column!r}; it has {', '.join(map(repr, frame.columns))}."
        )
    if getattr(frame[column], "ndim", 1) != 1:
        raise ValueError(f"{what} has several columns called {column!r}.")


def _labels(
    frame: Any, column: str | None, what: str, order: Ints | None = None
) -> Categorical | None:
    if frame is None:
        _refuse_without_nodes(column, "node_label")
        return None
    if column is None:
        if "label" not in frame.columns:
            return None
        column = "label"
    labels = Categorical.from_values(_values(frame, column, what))
    return labels if order is None else labels.take(order)


def _weights(frame: Any, column: str | None) -> Array | None:
    if column is None and "weight" not in frame.columns:
        return None
    table = _numbers(frame, column or "weight", "edges")
    return None if table is None else table[:, 0]


def _numbers(frame: Any, columns: Names, what: str, order: Ints | None = None) -> Array | None:
    if columns is None:
        return None
    if frame is None:
        _refuse_without_nodes(columns, "node_attributes")
    columns = [columns] if isinstance(columns, str) else list(columns)
    table = np.empty((len(frame), len(columns)))
    for i, column in enumerate(columns):
        values: Any = _values(frame, column, what)
        try:
            table[:, i] = values
        except (TypeError, ValueError):
            raise ValueError(f"{what}: column {column!r} must contain numbers.") from None
    if not np.isfinite(table).all():
        row, bad = (int(i) for i in np.argwhere(~np.isfinite(table))[0])
        raise ValueError(
            f"{what}: column {columns[bad]!r} is not finite in the row with index "
            f"{frame.index.tolist()[row]!r}."
        )
    return table if order is None else table[order]


def _refuse_without_nodes(given: Any, option: str) -> None:
    if given is not None:
        raise ValueError(f"{option}={given!r} names a column of nodes; give nodes=.")


# Graphs and nodes


def _targets(
    targets: Any, graph: str, target_name: str | None
) -> tuple[list[Hashable] | None, Array | None, str | None]:
    """The graphs in order, their targets, and the name of the target."""
    if targets is None:
        return None, None, None
    if not hasattr(targets, "columns"):
        if isinstance(targets, Column) or not hasattr(targets, "isna"):
            raise TypeError(
                "targets must be a pandas Series indexed by graph, or a frame with the column "
                f"{graph!r}; got {type(targets).__name__}."
            )
        keys, column = targets.index.tolist(), targets
    else:
        if graph in targets.columns or isinstance(targets, Frame):
            keys = _values(targets, graph, "targets")
        else:
            keys = targets.index.tolist()
        others = [name for name in targets.columns if name != graph]
        if target_name is None and len(others) != 1:
            raise ValueError(
                f"targets has the columns {', '.join(map(repr, others))}; name one by target_name=."
            )
        wanted = others[0] if target_name is None else target_name
        _require_column(targets, wanted, "targets")
        column = targets[wanted]
    if len(set(keys)) < len(keys):
        twice = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"targets lists the graph {twice!r} more than once.")
    missing = np.flatnonzero(np.asarray(column.isna()))
    if len(missing):
        raise ValueError(
            f"targets has no value for the graph {keys[int(missing[0])]!r} "
            f"({len(missing)} in all). Leave these graphs out."
        )
    found = None if column.name is None else str(column.name)
    return keys, check_target(np.array(column.tolist(), dtype=_dtype(column))), found


def _target_column(name: str, nodes: Any, edges: Any, graph: str) -> Any:
    """A Series of targets from a column that repeats each graph's target in all its rows."""
    in_nodes = nodes is not None and name in nodes.columns
    what, frame = ("nodes", nodes) if in_nodes else ("edges", edges)
    _require_column(frame, name, what)
    values: dict[Hashable, Any] = {}
    for key, value in zip(_values(frame, graph, what), frame[name].tolist(), strict=True):
        first = values.setdefault(key, value)
        if first != value and not (first != first and value != value):
            raise ValueError(
                f"{what}: column {name!r} has several values for the graph {key!r}; a target is "
                "one value per graph."
            )
    return Frame({graph: list(values), name: list(values.values())})


def _dtype(column: Any) -> Any:
    return object if str(column.dtype) in ("object", "category") else None


def _graph_order(
    keys: list[Hashable] | None, of_nodes: list[Hashable] | None, of_edges: list[Hashable]
) -> dict[Hashable, int]:
    """The number of each graph."""
    if keys is None:
        return {key: i for i, key in enumerate(dict.fromkeys([*(of_nodes or []), *of_edges]))}
    order = {key: i for i, key in enumerate(keys)}
    _warn_of_unknown_graphs(keys, of_nodes, of_edges)
    for what, graphs in (("nodes", of_nodes or []), ("edges", of_edges)):
        for row, key in enumerate(graphs):
            if key not in order:
                raise ValueError(
                    f"{what}: row {row} belongs to the graph {key!r}, which has no target."
                )
    return order


def _warn_of_unknown_graphs(
    keys: list[Hashable], of_nodes: list[Hashable] | None, of_edges: list[Hashable]
) -> None:
    """Name targets of graphs that no row of the tables belongs to: these may be misspelt."""
    known = {*(of_nodes or []), *of_edges}
    unknown = [key for key in keys if key not in known]
    if not unknown:
        return
    shown = ", ".join(map(reprlib.repr, unknown[:_NAMED])) + ", ..." * (len(unknown) > _NAMED)
    where = "edges or nodes" if of_nodes is not None else "edges"
    warn_caller(
        f"targets lists {counted(len(unknown), 'graph')} without rows in {where}, taken as graphs "
        f"without nodes: {shown}. Nodes without edges are listed in nodes=; drop the targets of "
        "graphs that do not exist."
    )


def _number_nodes(
    order: dict[Hashable, int],
    edge_graphs: list[Hashable],
    sources: list[Hashable],
    targets: list[Hashable],
    node_graphs: list[Hashable] | None,
    node_names: list[Hashable] | None,
) -> tuple[Ints, Ints]:
    """The number of the node at each end of the edges, and the graph of each numbered node."""
    index: dict[tuple[int, Hashable], int] = {}
    if node_graphs is not None and node_names is not None:
        for row, (key, name) in enumerate(zip(node_graphs, node_names, strict=True)):
            if index.setdefault((order[key], name), len(index)) != row:
                raise ValueError(
                    f"nodes lists the node {name!r} of the graph {key!r} more than once."
                )
    numbers = np.empty(2 * len(sources), dtype=np.int64)
    for column, ends in enumerate((sources, targets)):
        shift = column * len(sources)
        for row, (key, name) in enumerate(zip(edge_graphs, ends, strict=True)):
            if node_graphs is None:
                numbers[shift + row] = index.setdefault((order[key], name), len(index))
                continue
            found = index.get((order[key], name))
            if found is None:
                raise ValueError(
                    f"edges: row {row} ends at the node {name!r} of the graph {key!r}, which has "
                    "no row in nodes."
                )
            numbers[shift + row] = found
    graph_of_node = np.fromiter((g for g, _ in index), dtype=np.int64, count=len(index))
    return numbers, graph_of_node


def _refuse_loops(
    tails: Ints, heads: Ints, of_edges: dict[str, list[Hashable]], graph: str, source: str
) -> None:
    loops: Bools = tails == heads
    if loops.any():
        row = int(np.flatnonzero(loops)[0])
        raise ValueError(
            f"edges: row {row} is a self-loop at the node {reprlib.repr(of_edges[source][row])} of "
            f"the graph {of_edges[graph][row]!r} ({int(loops.sum())} self-loops in all). Graphs "
            "are simple: remove self-loops first."
        )
