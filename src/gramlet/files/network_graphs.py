"""A Dataset of the graphs of network files: `.graphml`, `.gexf`, `.gml`, `.g6`, `.json` and others.

Drops self-loops and parallel edges, with one warning that counts them; `graphs.conversion` turns
the graphs into a batch. Ids and targets are data of the graphs. Fields of a Dataset that these
formats do not support are stored as JSON, under one name, in the data of the first graph.
"""

from __future__ import annotations

import dataclasses
import json
import math
import re
import reprlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gramlet.common.notices import counted, warn_caller
from gramlet.files.dataset import Dataset
from gramlet.files.kinds import ReadOptions, stem_of
from gramlet.files.opening import Problems
from gramlet.files.tables import ColumnNotFoundError
from gramlet.files.target import check_target, target_from_cells
from gramlet.files.tu.extras import NAME_FIELDS, decode_names, encode_names
from gramlet.graphs.batch import GraphBatch
from gramlet.graphs.conversion.libraries import from_networkx
from gramlet.graphs.conversion.record import AttributeNames, GraphRecord, join_records

NOTES = "gramlet"
TARGET_NAMES = ("target", "label", "class", "y")
ID_NAMES = ("id", "name")

_FEW_NODES = 4
# Data that formats add themselves, which is not data of the graph.
_TECHNICAL = frozenset(("id", "key", "source", "target", "viz", "start", "end", "networkx_key"))
_OF_FORMATS = ("mode", "start", "end", "timeformat")  # data that GEXF has about every graph


@dataclass
class FileGraph:
    """One graph of a file, as networkx reads it, and its place.

    ``labels_may_be_names``: the format stores the name of a node as its label (.gml, .gexf).
    ``record`` is the graph without self-loops and parallel edges, of which ``n_dropped`` counts.
    """

    place: str
    graph: Any
    labels_may_be_names: bool = False
    n_dropped: list[int] = dataclasses.field(default_factory=lambda: [0, 0])
    record: GraphRecord = dataclasses.field(default_factory=lambda: GraphRecord([]))

    @property
    def data(self) -> dict[str, Any]:
        """The data of the graph itself."""
        data: dict[str, Any] = self.graph.graph
        return data


def dataset_of_graphs(
    graphs: list[FileGraph],
    path: Path,
    options: ReadOptions,
    problems: Problems,
    *,
    ids: Mapping[str, str] | None = None,
    cells: Mapping[str, str] | None = None,
    target_name: str | None = None,
) -> Dataset:
    """A Dataset of the graphs that can be used, with the target and the ids in their data.

    ``ids`` are ids by the graphs' places, ``cells`` targets called ``target_name``, instead of
    those in the graphs' data.
    """
    notes = _restore_notes(graphs, path)
    graphs, batch = _usable(graphs, path, options, problems)
    usual = (*filter(None, [notes.pop("target_name", None)]), *TARGET_NAMES)
    values = None
    if cells is not None:
        values, _ = target_from_cells([cells[each.place] for each in graphs])
    elif options.target is not False:
        target_name = _data_name(path, graphs, options.target, usual, "target")
        if target_name is not None:
            positions, values = _targets(graphs, target_name, problems)
            graphs, batch = [graphs[i] for i in positions], batch[positions]
    skipped = problems.finish(path, len(graphs), "graph" if ids is None else "file")
    _warn_of_dropped(graphs, path)
    id_name = None
    if ids is not None:
        texts = [ids[each.place] for each in graphs]
    else:
        id_name = _data_name(path, graphs, options.id, ID_NAMES, "id")
        texts = [str(each.data.get(str(id_name), "")) for each in graphs]
    if "molecules" in notes:
        notes["molecules"] = [each.data["smiles"] for each in graphs]
    unread = {
        str(name)
        for each in graphs
        for name, value in each.data.items()
        if isinstance(value, str | int | float) and name not in (*_OF_FORMATS, *ID_NAMES, NOTES)
    } - {target_name, id_name, "smiles" if "molecules" in notes else None}
    if unread:
        notes["unread"] = sorted(unread)
    if skipped:
        notes["places"] = [each.place for each in graphs]
    return Dataset(
        batch,
        values,
        name=stem_of(path) if ids is None else path.name,
        ids=texts if ids is not None or id_name is not None else None,
        target_name=target_name,
        skipped=skipped,
        **notes,
    )


# Graphs


def _usable(
    graphs: list[FileGraph], path: Path, options: ReadOptions, problems: Problems
) -> tuple[list[FileGraph], GraphBatch]:
    """The graphs whose labels, weights and attributes can be used, and their batch."""
    given = {
        name: getattr(options, name)
        for name in AttributeNames._fields
        if getattr(options, name) is not None
    }
    names = AttributeNames(**given)
    readable = []
    for position, each in enumerate(graphs):
        try:
            _add_record(position, each, names, options.directed)
        except ValueError as why:
            problems.add(each.place, _reason(why))
        else:
            readable.append(each)
    if not readable:
        problems.finish(path, 0, "graph")
        raise ValueError(f"{path} has no graphs.")
    _require_names(readable, names, set(given), path)
    if options.label is None:
        _leave_out_names(readable, path)
    directed = _common_direction(readable) if options.directed is None else options.directed
    try:
        batch = _joined(readable, directed)
    except (ValueError, TypeError) as together:
        usable = []
        for each in readable:
            try:
                _joined([each], directed)
            except (ValueError, TypeError) as why:
                problems.add(each.place, _reason(why))
            else:
                usable.append(each)
        problems.check()
        if len(usable) in (0, len(readable)):  # each is right, but they do not agree
            text = re.sub(
                r"\b[Gg]raph (\d+)", lambda found: readable[int(found[1])].place, str(together)
            )
            if not usable:
                problems.finish(path, 0, "graph")
            raise ValueError(text) from None
        readable, batch = usable, _joined(usable, directed)
    _warn_of_other_names(readable, names, path)
    return readable, batch


def _reason(why: Exception) -> str:
    """What is wrong with one graph, without its position."""
    return re.sub(r"^Graph \d+(:|,)? ", "", str(why)).rstrip(".")


def _add_record(
    position: int, each: FileGraph, names: AttributeNames, directed: bool | None
) -> None:
    """Convert a graph without its self-loops and all but the first of parallel edges.

    In directed graphs an undirected edge becomes two arcs. In undirected graphs an edge may be
    listed in both directions; the second counts as left out only if its data differ.
    """
    import networkx as nx

    graph = each.graph
    is_directed = graph.is_directed()
    directed = is_directed if directed is None else directed
    edges: dict[tuple[Any, Any], dict[str, Any]] = {}
    loops = parallel = 0
    for u, v, data in graph.edges(data=True):
        if u == v:
            loops += 1
        elif (u, v) in edges:
            parallel += 1
        elif not directed and (v, u) in edges:
            first = edges[v, u]
            differs = any(
                first.get(name) != data.get(name) for name in {*first, *data} - _TECHNICAL
            )
            parallel += differs
        else:
            edges[u, v] = data
            if directed and not is_directed:
                edges.setdefault((v, u), data)
    each.n_dropped = [loops, parallel]
    simple = (nx.DiGraph if directed else nx.Graph)()
    simple.add_nodes_from(
        (v, _plain(f"node {v!r}", data, names.attr)) for v, data in graph.nodes.items()
    )
    simple.add_edges_from(
        (*edge, _plain(f"edge {edge!r}", data, names.edge_attr, names.weight))
        for edge, data in edges.items()
    )
    each.record = from_networkx(position, simple, names)


def _plain(
    owner: str, data: dict[str, Any], attr: str | None, weight: str | None = None
) -> dict[str, Any]:
    """Data with tuples for lists, and one tuple for attributes under ``attr_0``, ``attr_1``, ..."""
    plain = {name: _tuples(value) if type(value) is list else value for name, value in data.items()}
    if attr not in data and f"{attr}_0" in data:
        columns: list[Any] = []
        while f"{attr}_{len(columns)}" in data:
            columns.append(plain.pop(f"{attr}_{len(columns)}"))
        plain[str(attr)] = tuple(columns)
    for name, noun in ((attr, "attributes"), (weight, "weights")):
        value = plain.get(str(name))
        if value is None:
            continue
        numbers = tuple(map(_number, value if isinstance(value, tuple) else (value,)))
        if not all(map(math.isfinite, numbers)):
            raise ValueError(
                f"the {name!r} of {owner} is {reprlib.repr(value)}; {noun} must be finite numbers"
            )
        plain[str(name)] = numbers[0] if noun == "weights" else numbers
    return plain


def _number(value: Any) -> float:
    try:
        return math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        return math.nan


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


def _joined(graphs: Sequence[FileGraph], directed: bool) -> GraphBatch:
    return join_records([each.record for each in graphs], directed)


def _common_direction(graphs: Sequence[FileGraph]) -> bool:
    first: dict[bool, str] = {}
    for each in graphs:
        if len(each.record.edges):
            first.setdefault(each.graph.is_directed(), each.place)
    if len(first) == 2:
        raise ValueError(
            f"{first[True]} is directed and {first[False]} is undirected. Read them with "
            "directed=True or directed=False."
        )
    return next(iter(first)) if first else any(each.graph.is_directed() for each in graphs)


def _warn_of_dropped(graphs: Sequence[FileGraph], path: Path) -> None:
    loops, parallel = (sum(each.n_dropped[i] for each in graphs) for i in (0, 1))
    for n, what, why in (
        (loops, "self-loop", "graphs are simple"),
        (parallel, "parallel edge", "graphs are simple, and the first is kept"),
    ):
        if n:
            warn_caller(f"{path}: {counted(n, what)} {'was' if n == 1 else 'were'} dropped; {why}.")


# Names of data


def _names(graphs: Iterable[FileGraph], owner: str) -> list[str]:
    """The names of all data on nodes or edges."""
    columns = (getattr(each.record, f"{owner}_names") or () for each in graphs)
    return sorted({str(name) for names in columns for name in names} - _TECHNICAL)


def _require_names(
    graphs: Sequence[FileGraph], names: AttributeNames, given: set[str], path: Path
) -> None:
    """Refuse a name that is given and found nowhere."""
    for option in sorted(given):
        owner = "node" if option in ("label", "attr") else "edge"
        name = getattr(names, option)
        data = [getattr(each.record, f"{owner}_names") or () for each in graphs]
        if not any(name in each for each in data):
            there = ", ".join(map(repr, _names(graphs, owner))) or "nothing"
            raise ColumnNotFoundError(
                f"{path}: no {owner} has {name!r} ({option}=); {owner}s have {there}."
            )


def _leave_out_names(graphs: Sequence[FileGraph], path: Path) -> None:
    """Drop labels that are the nodes' names, in formats that use one word for both, and warn.

    Labels that only look like names, because none occurs twice in a graph, are kept.
    """
    labelled = [
        (each, list(map(str, each.record.node_labels)))
        for each in graphs
        if each.record.node_labels is not None
    ]
    if not labelled or not all(each.labels_may_be_names for each, _ in labelled):
        return
    if all(labels == list(map(str, each.graph)) for each, labels in labelled):
        for each, _ in labelled:
            each.record.node_labels = None
        warn_caller(
            f"{path}: the labels of nodes are their ids, and are not read as labels; "
            "label='label' reads them."
        )
    elif all(len(set(labels)) == len(labels) for _, labels in labelled) and any(
        len(labels) >= _FEW_NODES for _, labels in labelled
    ):
        others = ", ".join(repr(name) for name in _names(graphs, "node") if name != "label")
        warn_caller(
            f"{path}: no two nodes of a graph have the same label: these may be names. "
            f"label= takes another column ({others or 'there is none'}), node_labels='none' none."
        )


def _warn_of_other_names(graphs: Sequence[FileGraph], names: AttributeNames, path: Path) -> None:
    """Warn of data on nodes or edges under other names, if none of the known names is used."""
    for owner, known, options in (
        ("node", {names.label, names.attr}, "label=, attr="),
        (
            "edge",
            {names.edge_label, names.weight, names.edge_attr},
            "edge_label=, weight=, edge_attr=",
        ),
    ):
        there = _names(graphs, owner)
        if there and known.isdisjoint(there):
            warn_caller(
                f"{path}: {owner}s carry data under {', '.join(map(repr, there))}, which is not "
                f"read. Name what is to be read by {options}."
            )


def _data_name(
    path: Path,
    graphs: list[FileGraph],
    wanted: str | int | None,
    usual: tuple[str, ...],
    option: str,
) -> str | None:
    """The name of a target or id among the data of the graphs."""
    if wanted is None:
        everywhere = (name for name in usual if all(name in each.data for each in graphs))
        return next(everywhere, None)
    there = sorted({str(name) for each in graphs for name in each.data})
    if str(wanted) not in there:
        raise ColumnNotFoundError(
            f"{path}: no graph has data called {str(wanted)!r} ({option}=); there "
            f"{'are ' + ', '.join(map(repr, there)) if there else 'is none'}."
        )
    return str(wanted)


def _targets(graphs: list[FileGraph], name: str, problems: Problems) -> tuple[list[int], Any]:
    """The positions of the graphs whose target can be used, and the targets."""
    kept, values = [], []
    for position, each in enumerate(graphs):
        value = each.data.get(name)
        if value is None or value == "":
            problems.add(each.place, f"the target {name!r} is missing")
        elif value != value or value in (float("inf"), float("-inf")):
            problems.add(each.place, f"the target {name!r} is {value!r}")
        elif not isinstance(value, str | int | float):
            problems.add(each.place, f"the target {name!r} is a {type(value).__name__}")
        else:
            kept.append(position)
            values.append(value)
    kinds = {str if isinstance(v, str) else bool if isinstance(v, bool) else float for v in values}
    if len(kinds) > 1:
        values = [str(value) for value in values]
    return kept, check_target(values) if values else None


# Fields that the formats do not support


def notes_of(dataset: Any) -> dict[str, Any]:
    """The names and the description of a Dataset, as JSON values."""
    notes: dict[str, Any] = {
        field: encode_names(dataset[field], field)
        for field in NAME_FIELDS
        if dataset.get(field) is not None
    }
    for field in ("description", "target_name"):
        if dataset.get(field):
            notes[field] = dataset[field]
    return notes


def _restore_notes(graphs: list[FileGraph], path: Path) -> dict[str, Any]:
    """The fields of a Dataset that the graphs' data contain besides ids and target."""
    fields: dict[str, Any] = {}
    if graphs and all(isinstance(graph.data.get("smiles"), str) for graph in graphs):
        fields["molecules"] = [graph.data["smiles"] for graph in graphs]
    found = graphs[0].data.get(NOTES) if graphs else None
    if found is None:
        return fields
    try:
        notes = json.loads(found) if isinstance(found, str) else found
        for field in NAME_FIELDS:
            if field in notes:
                fields[field] = decode_names(notes[field])
        for field in ("description", "target_name"):
            if isinstance(notes.get(field), str):
                fields[field] = notes[field]
    except (ValueError, TypeError, AttributeError, RecursionError) as why:
        raise ValueError(f"{path}: the notes of gramlet are damaged ({why}).") from None
    return fields
