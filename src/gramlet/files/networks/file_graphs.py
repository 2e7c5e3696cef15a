"""Graphs as read from network files, and their conversion to one batch.

The readers of each format create `FileGraph`; this module drops self-loops and parallel edges, with
one warning that counts them, and gathers the columns.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from gramlet.common.notices import counted, warn_caller
from gramlet.graphs.batch import GraphBatch

__all__ = ["ColumnNames", "FileGraph", "batch_of_graphs"]

_FEW_NODES = 4
_NUMBERED = re.compile(r"_(\d{1,6})$")
# Data that formats add themselves, which is not data of the graph.
_TECHNICAL = frozenset(("id", "key", "source", "target", "viz", "start", "end", "networkx_key"))


@dataclass(frozen=True)
class ColumnNames:
    """The names under which nodes and edges store labels, weights and attributes.

    None is the default name. A name that is given must exist; a default one may be missing.
    """

    label: str | None = None
    edge_label: str | None = None
    weight: str | None = None
    attr: str | None = None
    edge_attr: str | None = None


@dataclass
class FileGraph:
    """One graph of a file: data by node, edges with data, data of the graph, and its place.

    ``labels_may_be_names``: the format stores the name of a node as its label (.gml, .gexf).
    """

    place: str
    nodes: dict[Hashable, dict[str, Any]]
    edges: list[tuple[Hashable, Hashable, dict[str, Any]]]
    directed: bool = False
    data: dict[str, Any] = field(default_factory=dict)
    labels_may_be_names: bool = False


# Column of a batch -> the option that names it.
_OPTIONS = {
    "node_labels": "label",
    "node_attributes": "attr",
    "edge_labels": "edge_label",
    "edge_weights": "weight",
    "edge_attributes": "edge_attr",
}


@dataclass
class _Tally:
    loops: int = 0
    parallel: int = 0


def batch_of_graphs(
    graphs: Sequence[FileGraph], names: ColumnNames, directed: bool | None, where: object
) -> GraphBatch:
    """One batch of all the graphs, in order.

    ``directed=None`` leaves the graphs as they are; then all must be directed or all undirected.
    """
    if directed is None:
        directed = _common_direction(graphs)
    tally = _Tally()
    simple = [_simple_edges(graph, directed, tally) for graph in graphs]
    _warn(tally, where)
    columns = _columns(graphs, simple, names)
    _require_names(columns, names, graphs, simple, where)
    if names.label is None:
        _leave_out_names(graphs, columns, where)
    _require_same_columns(graphs, simple, columns)
    _warn_of_other_names(graphs, simple, columns, where)
    return GraphBatch.from_edges(
        [_numbered(graph, edges) for graph, edges in zip(graphs, simple, strict=True)],
        n_nodes=[len(graph.nodes) for graph in graphs],
        directed=directed,
        **{name: None if all(c is None for c in column) else column
           for name, column in columns.items()},
    )  # fmt: skip


Edges = list[tuple[Hashable, Hashable, dict[str, Any]]]


def _common_direction(graphs: Sequence[FileGraph]) -> bool:
    first: dict[bool, str] = {}
    for graph in graphs:
        if graph.edges:
            first.setdefault(graph.directed, graph.place)
    if len(first) == 2:
        raise ValueError(
            f"{first[True]} is directed and {first[False]} is undirected. Read them with "
            "directed=True or directed=False."
        )
    return next(iter(first)) if first else any(graph.directed for graph in graphs)


def _simple_edges(graph: FileGraph, directed: bool, tally: _Tally) -> Edges:
    """The edges without self-loops and without all but the first of parallel ones.

    In directed graphs an undirected edge becomes two arcs. In undirected graphs an edge may be
    listed in both directions; the second counts as left out only if its data differ.
    """
    edges: dict[tuple[Hashable, Hashable], dict[str, Any]] = {}
    for u, v, data in graph.edges:
        if u == v:
            tally.loops += 1
            continue
        if (u, v) in edges:
            tally.parallel += 1
        elif not directed and (v, u) in edges:
            if _content(edges[v, u]) != _content(data):
                tally.parallel += 1
        else:
            edges[u, v] = data
            if directed and not graph.directed:
                edges.setdefault((v, u), data)
    return [(u, v, data) for (u, v), data in edges.items()]


def _content(data: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in data.items() if name not in _TECHNICAL}


def _warn(tally: _Tally, where: object) -> None:
    for n, what, why in (
        (tally.loops, "self-loop", "graphs are simple"),
        (tally.parallel, "parallel edge", "graphs are simple, and the first is kept"),
    ):
        if n:
            verb = "was" if n == 1 else "were"
            warn_caller(f"{where}: {counted(n, what)} {verb} dropped; {why}.")


def _numbered(graph: FileGraph, edges: Edges) -> list[tuple[int, int]]:
    number = {node: i for i, node in enumerate(graph.nodes)}
    return [(number[u], number[v]) for u, v, _ in edges]


# Columns


def _columns(
    graphs: Sequence[FileGraph], simple: list[Edges], names: ColumnNames
) -> dict[str, list[Any]]:
    """Each column graph by graph, None for graphs that do not have it."""
    label, attr = names.label or "label", names.attr or "attr"
    edge_label, weight = names.edge_label or "label", names.weight or "weight"
    edge_attr = names.edge_attr or "attr"
    columns: dict[str, list[Any]] = {name: [] for name in _OPTIONS}
    for graph, edges in zip(graphs, simple, strict=True):
        place, of_nodes, of_edges = graph.place, _of_nodes(graph), _of_edges(edges)
        columns["node_labels"].append(_column(place, "node", label, of_nodes))
        columns["node_attributes"].append(_attributes(place, "node", attr, of_nodes))
        columns["edge_labels"].append(_column(place, "edge", edge_label, of_edges))
        columns["edge_weights"].append(_weights(place, weight, of_edges))
        columns["edge_attributes"].append(_attributes(place, "edge", edge_attr, of_edges))
    return columns


def _require_names(
    columns: dict[str, list[Any]],
    names: ColumnNames,
    graphs: Sequence[FileGraph],
    simple: list[Edges],
    where: object,
) -> None:
    for column, option in _OPTIONS.items():
        wanted = getattr(names, option)
        if wanted is not None and all(part is None for part in columns[column]):
            owner = "edge" if column.startswith("edge") else "node"
            data = _data_of_edges(simple) if owner == "edge" else _data_of_nodes(graphs)
            there = ", ".join(map(repr, _distinct_names(data))) or "nothing"
            raise ValueError(
                f"{where}: no {owner} has {wanted!r} ({option}=); {owner}s have {there}."
            )


def _leave_out_names(
    graphs: Sequence[FileGraph], columns: dict[str, list[Any]], where: object
) -> None:
    """Drop labels that are the nodes' names, in formats that use one word for both, and warn.

    Labels that only look like names, because none occurs twice in a graph, are kept.
    """
    labels = columns["node_labels"]
    described = [(g, part) for g, part in zip(graphs, labels, strict=True) if part is not None]
    if not described or not all(graph.labels_may_be_names for graph, _ in described):
        return
    if all(list(map(str, part)) == list(map(str, graph.nodes)) for graph, part in described):
        columns["node_labels"] = [None] * len(graphs)
        warn_caller(
            f"{where}: the labels of nodes are their ids, and are not read as labels; "
            "label='label' reads them."
        )
    elif all(len(set(part)) == len(part) for _, part in described) and any(
        len(part) >= _FEW_NODES for _, part in described
    ):
        found = _distinct_names(_data_of_nodes(graphs))
        others = ", ".join(repr(name) for name in found if name != "label")
        warn_caller(
            f"{where}: no two nodes of a graph have the same label: these may be names. "
            f"label= takes another column ({others or 'there is none'}), "
            "node_labels='none' none."
        )


Owners = list[tuple[Any, dict[str, Any]]]


def _of_nodes(graph: FileGraph) -> Owners:
    return list(graph.nodes.items())


def _of_edges(edges: Edges) -> Owners:
    return [((u, v), data) for u, v, data in edges]


def _column(place: str, kind: str, name: str, owners: Owners) -> list[Any] | None:
    """The values under a name if all have one, None if none has."""
    values = [data.get(name) for _, data in owners]
    missing = [i for i, value in enumerate(values) if value is None]
    if len(missing) == len(values):
        return None
    if missing:
        raise ValueError(
            f"{place}: {kind} {owners[missing[0]][0]!r} has no {name!r}, but others have. Give it "
            f"to all {kind}s or to none."
        )
    return [_hashable(place, kind, name, value) for value in values]


def _hashable(place: str, kind: str, name: str, value: Any) -> Any:
    if isinstance(value, list):
        return tuple(_hashable(place, kind, name, part) for part in value)
    if not isinstance(value, Hashable) or value != value:
        raise ValueError(f"{place}: the {name!r} of one {kind} is {value!r}, which is not a label.")
    return value


def _weights(place: str, name: str, owners: Owners) -> list[float] | None:
    values = _column(place, "edge", name, owners)
    return None if values is None else [_float(place, "edge", name, v) for v in values]


def _float(place: str, kind: str, name: str, value: Any) -> float:
    try:
        number = float(value) if not isinstance(value, bool) else float("nan")
    except (TypeError, ValueError, OverflowError):
        number = float("nan")
    if number - number != 0:  # NaN and infinity
        raise ValueError(f"{place}: the {name!r} of one {kind} is {value!r}; give finite numbers.")
    return number


def _attributes(place: str, kind: str, name: str, owners: Owners) -> list[list[float]] | None:
    """One row per node or edge: a list under the name, or numbers under ``name_0``, ``name_1``."""
    if owners and name not in owners[0][1]:
        numbered = sorted(
            (int(found[1]), key)
            for key in owners[0][1]
            if (found := _NUMBERED.search(key)) and key == f"{name}_{found[1]}"
        )
        if [i for i, _ in numbered] == list(range(len(numbered))) and numbered:
            columns = [_column(place, kind, key, owners) or [] for _, key in numbered]
            return [[_float(place, kind, name, v) for v in row] for row in zip(*columns)]  # noqa: B905
    values = _column(place, kind, name, owners)
    if values is None:
        return None
    rows = [list(v) if isinstance(v, tuple) else [v] for v in values]
    if len({len(row) for row in rows}) > 1:
        raise ValueError(f"{place}: the {name!r} of {kind}s differ in length.")
    return [[_float(place, kind, name, v) for v in row] for row in rows]


def _require_same_columns(
    graphs: Sequence[FileGraph], simple: list[Edges], columns: dict[str, list[Any]]
) -> None:
    for name, column in columns.items():
        owners = simple if name.startswith("edge") else [graph.nodes for graph in graphs]
        described = [i for i, each in enumerate(owners) if len(each)]
        there = [i for i in described if column[i] is not None]
        missing = [i for i in described if column[i] is None]
        if there and missing:
            raise ValueError(
                f"{graphs[there[0]].place} has {name.replace('_', ' ')} and "
                f"{graphs[missing[0]].place} has none. Give them to all graphs or to none."
            )


def _warn_of_other_names(
    graphs: Sequence[FileGraph],
    simple: list[Edges],
    columns: dict[str, list[Any]],
    where: object,
) -> None:
    """Warn of data on nodes or edges under other names, if none of the known names is used."""
    for kind, owners in (("nodes", _data_of_nodes(graphs)), ("edges", _data_of_edges(simple))):
        used = [name for name in columns if name.startswith(kind[:4])]
        if any(part is not None for name in used for part in columns[name]):
            continue
        # There was already a warning about labels of nodes that are names.
        others = [name for name in _distinct_names(owners) if (kind, name) != ("nodes", "label")]
        if others:
            known = "label=, attr=" if kind == "nodes" else "edge_label=, weight=, edge_attr="
            warn_caller(
                f"{where}: {kind} carry data under {', '.join(map(repr, others))}, which is not "
                f"read. Name what is to be read by {known}."
            )


def _data_of_nodes(graphs: Sequence[FileGraph]) -> Iterable[dict[str, Any]]:
    return (data for graph in graphs for data in graph.nodes.values())


def _data_of_edges(simple: list[Edges]) -> Iterable[dict[str, Any]]:
    return (data for edges in simple for _, _, data in edges)


def _distinct_names(owners: Iterable[dict[str, Any]]) -> list[str]:
    return sorted({str(name) for data in owners for name in data} - _TECHNICAL)
