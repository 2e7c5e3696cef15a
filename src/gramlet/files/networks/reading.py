"""Files of graphs: `.graphml`, `.gexf`, `.gml`, `.g6`, `.s6`, `.json` and `.jsonl`.

networkx parses .gexf and .gml; XML entities and deep nesting are refused first. Ids and targets are
data of the graphs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Mapping
from pathlib import Path
from typing import Any, Literal

from gramlet.files.dataset import Dataset
from gramlet.files.networks.file_graphs import (
    ColumnNames,
    FileGraph,
    batch_of_graphs,
    describe_graphs,
)
from gramlet.files.networks.graph6 import parse_graph6, parse_sparse6
from gramlet.files.networks.graphml import read_graphml
from gramlet.files.networks.node_link import read_json, read_json_lines
from gramlet.files.networks.notes import NOTES, restore_notes
from gramlet.files.networks.safe_xml import guarded_parser, parse_guarded
from gramlet.files.opening import open_bytes, open_text
from gramlet.files.problems import Problems
from gramlet.files.tables import ColumnNotFoundError
from gramlet.files.target import check_target

__all__ = ["NETWORK_KINDS", "dataset_of_graphs", "parse_graphs"]

TARGET_NAMES = ("target", "label", "class", "y")
ID_NAMES = ("id", "name")
_GRAPH = re.compile(r"^\s*graph\s*\[", re.MULTILINE)
_OF_FORMATS = ("mode", "start", "end", "timeformat")  # data that GEXF has about every graph

# sparse6 can state a million nodes in six characters; up to this many are accepted without edges.
_MOST_NODES = 1_000_000
_NODES_PER_CHARACTER = 64


def parse_graphs(path: Path, kind: str, problems: Problems, max_bytes: int) -> list[FileGraph]:
    """The graphs of one file."""
    return NETWORK_KINDS[kind](path, problems, max_bytes)


def dataset_of_graphs(
    graphs: list[FileGraph],
    path: Path,
    names: ColumnNames,
    problems: Problems,
    *,
    directed: bool | None,
    target: str | Literal[False] | None,
    id: str | None,
    name: str,
    ids: Mapping[str, str] | None = None,
) -> Dataset:
    """A Dataset of the graphs that can be used, with the target and the ids in their data.

    ``ids`` are ids by the graphs' places, instead of those in their data.
    """
    notes = restore_notes(graphs, path)
    described = describe_graphs(graphs, names, directed, problems)
    if not described:
        problems.finish(path, 0, "graph")
        raise ValueError(f"{path} has no graphs.")
    graphs = [each.graph for each in described]
    usual = (*filter(None, [notes.pop("target_name", None)]), *TARGET_NAMES)
    target_name = None
    if target is not False:
        target_name = _data_name(path, graphs, target, usual, "target")
    values = None
    if target_name is not None:
        positions, values = _targets(graphs, target_name, problems)
        described = [described[i] for i in positions]
    kept = [each.graph for each in described]
    id_name = None
    if ids is None:
        id_name = _data_name(path, graphs, id, ID_NAMES, "id")
    skipped = problems.finish(path, len(kept), "graph")
    if "molecules" in notes:
        notes["molecules"] = [graph.data["smiles"] for graph in kept]
    unread = _unread(graphs, {target_name, id_name, *(["smiles"] if "molecules" in notes else [])})
    if unread:
        notes["unread"] = unread
    if skipped:
        notes["places"] = [graph.place for graph in kept]
    return Dataset(
        batch_of_graphs(described, names, directed, path),
        values,
        name=name,
        ids=_ids(kept, id_name, ids),
        target_name=target_name,
        skipped=skipped,
        **notes,
    )


def _ids(
    graphs: list[FileGraph], name: str | None, by_place: Mapping[str, str] | None
) -> list[str] | None:
    if by_place is not None:
        return [by_place[graph.place] for graph in graphs]
    return None if name is None else [str(graph.data.get(name, "")) for graph in graphs]


def _data_name(
    path: Path, graphs: list[FileGraph], wanted: str | None, usual: tuple[str, ...], option: str
) -> str | None:
    if wanted is None:
        everywhere = [n for n in usual if graphs and all(n in graph.data for graph in graphs)]
        return everywhere[0] if everywhere else None
    there = sorted({str(name) for graph in graphs for name in graph.data})
    if wanted not in there:
        raise ColumnNotFoundError(
            f"{path}: no graph has data called {wanted!r} ({option}=); there "
            f"{'are ' + ', '.join(map(repr, there)) if there else 'is none'}."
        )
    return wanted


def _unread(graphs: list[FileGraph], read: set[str | None]) -> list[str]:
    """Names of single values in the graphs' data that are not read, as of columns of a table."""
    found = {
        str(name)
        for graph in graphs
        for name, value in graph.data.items()
        if isinstance(value, str | int | float) and name not in (*_OF_FORMATS, *ID_NAMES, NOTES)
    }
    return sorted(found - read)


def _targets(graphs: list[FileGraph], name: str, problems: Problems) -> tuple[list[int], Any]:
    """The positions of the graphs whose target can be used, and the targets."""
    kept, values = [], []
    for position, graph in enumerate(graphs):
        value = graph.data.get(name)
        if value is None or value == "":
            problems.add(graph.place, f"the target {name!r} is missing")
        elif value != value or value in (float("inf"), float("-inf")):
            problems.add(graph.place, f"the target {name!r} is {value!r}")
        elif not isinstance(value, str | int | float):
            problems.add(graph.place, f"the target {name!r} is a {type(value).__name__}")
        else:
            kept.append(position)
            values.append(value)
    kinds = {str if isinstance(v, str) else bool if isinstance(v, bool) else float for v in values}
    if len(kinds) > 1:
        values = [str(value) for value in values]
    return kept, check_target(values) if values else None


# One reader per format


def _read_graphml(path: Path, problems: Problems, max_bytes: int) -> list[FileGraph]:
    return read_graphml(path, problems, max_bytes)


def _read_gexf(path: Path, problems: Problems, max_bytes: int) -> list[FileGraph]:
    nodes: dict[str, int] = {}
    ends: dict[str, None] = {}

    def note(tag: str, attributes: dict[str, str]) -> None:
        kind = tag.rpartition(":")[2]
        if kind == "node" and "id" in attributes:
            nodes[attributes["id"]] = nodes.get(attributes["id"], 0) + 1
        elif kind == "edge":
            ends.update(dict.fromkeys(attributes.get(end, "") for end in ("source", "target")))

    with open_bytes(path, max_bytes) as stream:
        parse_guarded(guarded_parser(path, note), stream, path)
    # networkx would keep the last of such nodes, and add nodes that edges name.
    for name, times in nodes.items():
        if times > 1:
            raise ValueError(f"{path}: {times} nodes have the id {name!r}.")
    for name in ends:
        if name and name not in nodes:
            raise ValueError(f"{path}: an edge ends at {name!r}, which is not a node.")
    networkx = _networkx(path)
    with open_bytes(path, max_bytes) as stream:
        graph = _parsed(path, "GEXF", lambda: networkx.read_gexf(stream))
    return [_from_networkx(str(path), graph)]


def _read_gml(path: Path, problems: Problems, max_bytes: int) -> list[FileGraph]:
    networkx = _networkx(path)
    with open_text(path, max_bytes) as stream:
        graph = _parsed(path, "GML", lambda: _parse_gml(networkx, stream.read()))
    return [_from_networkx(str(path), graph)]


def _parse_gml(networkx: Any, text: str) -> Any:
    """A graph by the ids of its nodes: names in GML are labels, and need not be distinct."""
    try:
        return networkx.parse_gml(text, label="id")
    except networkx.NetworkXError as why:
        if not re.match(r"edge .* is duplicated", str(why)):
            raise
    # Parallel edges, of which the first is kept as in other formats.
    return networkx.parse_gml(_GRAPH.sub("graph [ multigraph 1 ", text, count=1), label="id")


def _read_graph6(path: Path, problems: Problems, max_bytes: int) -> list[FileGraph]:
    graphs = []
    n_characters, n_total = 0, 0
    with open_bytes(path, max_bytes) as stream:
        for number, line in enumerate(stream, start=1):
            text = line.strip()
            n_characters += len(text)
            if not text or text in (b">>graph6<<", b">>sparse6<<"):
                continue
            place = f"{path}, line {number}"
            sparse = text.removeprefix(b">>sparse6<<").startswith(b":")
            try:
                n_nodes, edges = parse_sparse6(text) if sparse else parse_graph6(text)
            except ValueError as why:
                problems.add(place, f"{why}")
                continue
            n_total += n_nodes
            if n_total > _MOST_NODES + _NODES_PER_CHARACTER * n_characters:
                raise ValueError(
                    f"{place}: the graphs have more than {_MOST_NODES:,} nodes, and few edges; "
                    "such a file is probably damaged or malicious."
                )
            nothing: dict[str, Any] = {}  # one for all nodes: there may be many
            nodes: dict[Hashable, dict[str, Any]] = dict.fromkeys(range(n_nodes), nothing)
            graphs.append(FileGraph(place, nodes, [(u, v, {}) for u, v in edges.tolist()]))
    return graphs


NETWORK_KINDS: dict[str, Callable[[Path, Problems, int], list[FileGraph]]] = {
    ".graphml": _read_graphml,
    ".gexf": _read_gexf,
    ".gml": _read_gml,
    ".g6": _read_graph6,
    ".s6": _read_graph6,
    ".json": read_json,
    ".jsonl": read_json_lines,
}


def _from_networkx(place: str, graph: Any) -> FileGraph:
    data = {k: v for k, v in graph.graph.items() if k not in ("node_default", "edge_default")}
    return FileGraph(
        place,
        dict(graph.nodes(data=True)),
        list(graph.edges(data=True)),
        graph.is_directed(),
        data,
        labels_may_be_names=True,
    )


def _networkx(path: Path) -> Any:
    try:
        import networkx
    except ImportError:
        raise ImportError(
            f"Reading {path.name} needs networkx: pip install gramlet[graphs]"
        ) from None
    return networkx


def _parsed(path: Path, kind: str, parse: Callable[[], Any]) -> Any:
    """The graph that networkx reads from a file; its errors become one-line messages."""
    try:
        return parse()
    except (EOFError, OSError, UnicodeDecodeError):
        raise
    except RecursionError:
        raise ValueError(f"{path} is nested too deeply.") from None
    except Exception as why:
        if isinstance(why, ValueError) and str(path) in str(why):
            raise  # our own error about the file's size
        # networkx raises errors of many types on malformed files: KeyError, AttributeError, ...
        reason = " ".join(str(why).split())[:200] or type(why).__name__
        raise ValueError(f"{path} cannot be read as {kind} ({reason}).") from why
