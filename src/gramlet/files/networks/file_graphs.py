"""Graphs as read from network files, and their conversion to one batch.

The readers of each format create `FileGraph`; this module drops self-loops and parallel edges, with
one warning that counts them, and gathers the columns: first graph by graph, so that single graphs
can be left out, then of all graphs together.
"""

from __future__ import annotations

import re
import reprlib
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from gramlet.common.notices import counted, warn_caller
from gramlet.files.problems import Problems
from gramlet.files.tables import ColumnNotFoundError
from gramlet.graphs.batch import GraphBatch

__all__ = ["ColumnNames", "DescribedGraph", "FileGraph", "batch_of_graphs", "describe_graphs"]

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


Edges = list[tuple[Hashable, Hashable, dict[str, Any]]]

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


@dataclass
class DescribedGraph:
    """A graph whose content can be used: its simple edges, and its columns, None where it has none.

    ``tally`` counts the edges that were dropped.
    """

    graph: FileGraph
    edges: Edges
    columns: dict[str, Any]
    tally: _Tally


def describe_graphs(
    graphs: Sequence[FileGraph], names: ColumnNames, directed: bool | None, problems: Problems
) -> list[DescribedGraph]:
    """The graphs whose labels, weights and attributes can be used; the others are problems."""
    described = []
    for graph in graphs:
        tally = _Tally()
        edges = _simple_edges(graph, graph.directed if directed is None else directed, tally)
        try:
            columns = _columns(graph, edges, names)
        except _UnusableGraphError as why:
            problems.add(graph.place, str(why))
        else:
            described.append(DescribedGraph(graph, edges, columns, tally))
    return described


def batch_of_graphs(
    described: Sequence[DescribedGraph], names: ColumnNames, directed: bool | None, where: object
) -> GraphBatch:
    """One batch of all the graphs, in order.

    ``directed``, as given to `describe_graphs`: None leaves the graphs as they are; then all must
    be directed or all undirected.
    """
    graphs = [each.graph for each in described]
    simple = [each.edges for each in described]
    if directed is None:
        directed = _common_direction(graphs)
    _warn([each.tally for each in described], where)
    columns = {name: [each.columns[name] for each in described] for name in _OPTIONS}
    _require_names(columns, names, graphs, simple, where)
    if names.label is None:
        _leave_out_names(graphs, columns, where)
    _require_same_columns(graphs, simple, columns)
    _warn_of_other_names(graphs, simple, columns, where)
    return GraphBatch.from_edges(
        [_numbered(graph, edges) for graph, edges in zip(graphs, simple, strict=True)],
        n_nodes=[len(graph.nodes) for graph in graphs],
        directed=directed,
        **{
            name: None if all(c is None for c in column) else column
            for name, column in columns.items()
        },
    )


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


def _warn(tallies: Sequence[_Tally], where: object) -> None:
    loops, parallel = sum(t.loops for t in tallies), sum(t.parallel for t in tallies)
    for n, what, why in (
        (loops, "self-loop", "graphs are simple"),
        (parallel, "parallel edge", "graphs are simple, and the first is kept"),
    ):
        if n:
            verb = "was" if n == 1 else "were"
            warn_caller(f"{where}: {counted(n, what)} {verb} dropped; {why}.")


def _numbered(graph: FileGraph, edges: Edges) -> list[tuple[int, int]]:
    number = {node: i for i, node in enumerate(graph.nodes)}
    return [(number[u], number[v]) for u, v, _ in edges]


# Columns


class _UnusableGraphError(ValueError):
    """What is wrong with the labels, weights or attributes of one graph."""


def _columns(graph: FileGraph, edges: Edges, names: ColumnNames) -> dict[str, Any]:
    """The columns of a graph, None for those that it does not have."""
    of_nodes, of_edges = _of_nodes(graph), _of_edges(edges)
    return {
        "node_labels": _labels("node", names.label or "label", of_nodes),
        "node_attributes": _attributes("node", names.attr or "attr", of_nodes),
        "edge_labels": _labels("edge", names.edge_label or "label", of_edges),
        "edge_weights": _weights(names.weight or "weight", of_edges),
        "edge_attributes": _attributes("edge", names.edge_attr or "attr", of_edges),
    }


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
            raise ColumnNotFoundError(
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


def _values(kind: str, name: str, owners: Owners) -> list[Any] | None:
    """The values under a name if all have one, None if none has."""
    values = [data.get(name) for _, data in owners]
    missing = [i for i, value in enumerate(values) if value is None]
    if len(missing) == len(values):
        return None
    if missing:
        raise _UnusableGraphError(
            f"{kind} {owners[missing[0]][0]!r} has no {name!r}, but others have; give it to all "
            f"{kind}s or to none"
        )
    return values


def _labels(kind: str, name: str, owners: Owners) -> list[Any] | None:
    values = _values(kind, name, owners)
    if values is None:
        return None
    return [
        _label(f"the {name!r} of {kind} {owner!r}", value)
        for (owner, _), value in zip(owners, values, strict=True)
    ]


def _label(what: str, value: Any) -> Any:
    if isinstance(value, list):
        return tuple(_label(what, part) for part in value)
    if not isinstance(value, Hashable) or value != value:
        raise _UnusableGraphError(
            f"{what} is {reprlib.repr(value)}, which is not a label; labels are strings or numbers"
        )
    return value


def _weights(name: str, owners: Owners) -> list[float] | None:
    values = _values("edge", name, owners)
    if values is None:
        return None
    return [
        _number(f"the {name!r} of edge {owner!r}", value, "weights")
        for (owner, _), value in zip(owners, values, strict=True)
    ]


def _number(what: str, value: Any, plural: str) -> float:
    try:
        number = float(value) if not isinstance(value, bool) else float("nan")
    except (TypeError, ValueError, OverflowError):
        number = float("nan")
    if number - number != 0:  # NaN and infinity
        raise _UnusableGraphError(
            f"{what} is {reprlib.repr(value)}; {plural} must be finite numbers"
        )
    return number


def _attributes(kind: str, name: str, owners: Owners) -> list[list[float]] | None:
    """One row per node or edge: a list under the name, or numbers under ``name_0``, ``name_1``."""
    rows = _attribute_rows(kind, name, owners)
    if rows is None:
        return None
    if len({len(row) for row in rows}) > 1:
        raise _UnusableGraphError(f"the {name!r} of {kind}s differ in length")
    return [
        [_number(f"the {name!r} of {kind} {owner!r}", value, "attributes") for value in row]
        for (owner, _), row in zip(owners, rows, strict=True)
    ]


def _all_values(kind: str, name: str, owners: Owners) -> list[Any]:
    values = _values(kind, name, owners)
    if values is None:
        raise _UnusableGraphError(f"the {name!r} of every {kind} is null; give finite numbers")
    return values


def _attribute_rows(kind: str, name: str, owners: Owners) -> list[Any] | None:
    if owners and name not in owners[0][1]:
        numbered = sorted(
            (int(found[1]), key)
            for key in owners[0][1]
            if (found := _NUMBERED.search(key)) and key == f"{name}_{found[1]}"
        )
        if [i for i, _ in numbered] == list(range(len(numbered))) and numbered:
            return list(zip(*(_all_values(kind, key, owners) for _, key in numbered), strict=True))
    values = _values(kind, name, owners)
    if values is None:
        return None
    return [value if isinstance(value, list | tuple) else [value] for value in values]


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
