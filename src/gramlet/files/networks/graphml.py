"""GraphML: reading and writing any number of graphs in one pass over the document.

Entities and deep nesting are refused; nothing is downloaded. Elements of GraphML that graphs here
do not have (hyperedges, graphs inside of nodes) are an error; ports and drawings are ignored.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from gramlet.files.networks.file_graphs import FileGraph
from gramlet.files.networks.safe_xml import guarded_parser, parse_guarded
from gramlet.files.opening import open_bytes
from gramlet.files.problems import Problems

__all__ = ["graphml_text", "read_graphml"]

_ILLEGAL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_HEAD = (
    '<?xml version="1.0" encoding="utf-8"?>\n'
    '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n'
)
_TYPES: dict[str, Any] = {
    "int": int,
    "long": int,
    "integer": int,
    "float": float,
    "double": float,
    "string": str,
}


def read_graphml(path: Path, problems: Problems, max_bytes: int) -> list[FileGraph]:
    """All graphs of a GraphML document."""
    document = _Document(path)
    parser = guarded_parser(path, document.start, document.end)
    parser.CharacterDataHandler = document.text
    document.parser = parser
    with open_bytes(path, max_bytes) as stream:
        parse_guarded(parser, stream, path)
    several = len(document.graphs) > 1
    graphs = []
    for position, graph in enumerate(document.graphs):
        graph.place = f"{path}, graph {position}" if several else str(path)
        document.complete(graph)
        stray = _stray_end(graph)
        if stray is not None:
            problems.add(
                graph.place, f"an edge ends at {stray!r}, which is not a node of its graph"
            )
        else:
            graphs.append(graph)
    return graphs


def _stray_end(graph: FileGraph) -> Hashable:
    """An end of an edge that is not a node of the graph, or None."""
    ends = (end for u, v, _ in graph.edges for end in (u, v))
    return next((end for end in ends if end not in graph.nodes), None)


class _Document:
    """The state of the parser, which calls `start`, `text` and `end`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.graphs: list[FileGraph] = []
        self.parser: Any = None
        self._keys: dict[str, tuple[str, Any]] = {}  # id -> (name, type)
        self._defaults: dict[str, dict[str, Any]] = {"node": {}, "edge": {}, "graph": {}}
        self._owners: list[dict[str, Any]] = []  # the data of open graphs, nodes and edges
        self._open: list[str] = []
        self._key: tuple[str, str, str] | None = None  # the key, its scope, or a default's
        self._data: str | None = None
        self._pieces: list[str] = []

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        tag = tag.rpartition(":")[2]
        self._open.append(tag)
        if self._data is not None:  # a drawing inside of data
            return
        if tag == "key":
            self._start_key(attributes)
        elif tag == "graph":
            self._start_graph(attributes)
        elif tag == "node":
            self._start_node(attributes)
        elif tag == "edge":
            self._start_edge(attributes)
        elif tag in ("data", "default"):
            self._data = attributes.get("key", "") if tag == "data" else ""
            self._pieces = []
        elif tag == "hyperedge":
            self._fail("hyperedges are not supported")

    def text(self, piece: str) -> None:
        if self._data is not None and self._open[-1] in ("data", "default"):
            self._pieces.append(piece)

    def end(self, tag: str) -> None:
        tag = tag.rpartition(":")[2]
        self._open.pop()
        if tag == "data" and "data" not in self._open:
            self._end_data()
        elif tag == "default" and self._key is not None:
            key, scope, _ = self._key
            name, kind = self._keys[key]
            value = self._value(kind, "".join(self._pieces), name)
            for each in self._defaults if scope == "all" else (scope,):
                self._defaults.setdefault(each, {})[name] = value
            self._data = None
        elif tag == "key":
            self._key = None
        elif self._data is None and tag in ("graph", "node", "edge"):
            self._owners.pop()

    def complete(self, graph: FileGraph) -> None:
        """Add the defaults of the document to a graph."""
        for name, value in self._defaults["node"].items():
            for data in graph.nodes.values():
                data.setdefault(name, value)
        for _, _, data in graph.edges:
            for name, value in self._defaults["edge"].items():
                data.setdefault(name, value)
        for name, value in self._defaults["graph"].items():
            graph.data.setdefault(name, value)

    def _start_key(self, attributes: dict[str, str]) -> None:
        key = attributes.get("id", "")
        kind = attributes.get("attr.type", "string").lower()
        self._keys[key] = (attributes.get("attr.name", key), kind)
        self._key = (key, attributes.get("for", "all"), kind)

    def _start_graph(self, attributes: dict[str, str]) -> None:
        if "graph" in self._open[:-1]:
            self._fail("a graph inside of a node is not supported")
        directed = attributes.get("edgedefault", "undirected") == "directed"
        self.graphs.append(FileGraph(str(self.path), {}, [], directed))
        self._owners.append(self.graphs[-1].data)

    def _start_node(self, attributes: dict[str, str]) -> None:
        name = attributes.get("id")
        if not self.graphs or "graph" not in self._open or name is None:
            self._fail("a node is outside of a graph or has no id")
        elif name in self.graphs[-1].nodes:
            self._fail(f"two nodes of one graph have the id {name!r}")
        else:
            self._owners.append(self.graphs[-1].nodes.setdefault(name, {}))

    def _start_edge(self, attributes: dict[str, str]) -> None:
        ends = attributes.get("source"), attributes.get("target")
        if not self.graphs or "graph" not in self._open or None in ends:
            self._fail("an edge is outside of a graph or has no source and target")
        graph = self.graphs[-1]
        directed = attributes.get("directed", str(graph.directed)).lower() == "true"
        if directed != graph.directed:
            self._fail("directed and undirected edges in one graph are not supported")
        data: dict[str, Any] = {}
        graph.edges.append((ends[0], ends[1], data))
        self._owners.append(data)

    def _end_data(self) -> None:
        key, self._data = self._data or "", None
        name, kind = self._keys.get(key, (key, "string"))
        text = "".join(self._pieces)
        if self._owners and (text or kind == "string"):
            self._owners[-1][name] = self._value(kind, text, name)

    def _value(self, kind: str, text: str, name: str) -> Any:
        if kind == "boolean":
            if text.strip().lower() in ("true", "1", "false", "0"):
                return text.strip().lower() in ("true", "1")
            self._fail(f"{name!r} is {text[:40]!r}, which is not true or false")
        try:
            return _TYPES.get(kind, str)(text)
        except ValueError:
            self._fail(f"{name!r} is {text[:40]!r}, which is not of type {kind}")

    def _fail(self, reason: str) -> None:
        raise ValueError(f"{self.path}, line {self.parser.CurrentLineNumber}: {reason}.")


# Writing

Data = dict[str, Any]


def graphml_text(
    graphs: Iterator[tuple[Data, list[Data], list[tuple[int, int, Data]]]], directed: bool
) -> str:
    """A document of graphs: data of the graph, of its nodes, and its edges with data."""
    keys: dict[tuple[str, str, str], str] = {}
    body: list[str] = []
    default = "directed" if directed else "undirected"
    for position, (data, nodes, edges) in enumerate(graphs):
        body.append(f'<graph id="g{position}" edgedefault="{default}">\n')
        body.append(_data_text(data, "graph", keys))
        for number, node in enumerate(nodes):
            body.append(f'<node id="{number}">{_data_text(node, "node", keys)}</node>\n')
        for u, v, edge in edges:
            inside = _data_text(edge, "edge", keys)
            body.append(f'<edge source="{u}" target="{v}">{inside}</edge>\n')
        body.append("</graph>\n")
    declared = [
        f'<key id="{key}" for="{scope}" attr.name={quoteattr(name)} attr.type="{kind}"/>\n'
        for (scope, name, kind), key in keys.items()
    ]
    return "".join([_HEAD, *declared, *body, "</graphml>\n"])


def _data_text(data: Data, scope: str, keys: dict[tuple[str, str, str], str]) -> str:
    parts = []
    for name, value in data.items():
        kind, text = _typed(name, value)
        key = keys.setdefault((scope, _legal(name, name), kind), f"d{len(keys)}")
        parts.append(f'<data key="{key}">{text}</data>')
    return "".join(parts)


def _typed(name: str, value: Any) -> tuple[str, str]:
    if isinstance(value, bool):
        return "boolean", str(value).lower()
    if isinstance(value, int):
        return "long", str(value)
    if isinstance(value, float):
        return "double", repr(value)
    if isinstance(value, str):
        return "string", escape(_legal(value, name), {"\r": "&#13;"})
    raise ValueError(
        f"GraphML cannot store {name!r} = {value!r}: only strings and numbers are supported."
    )


def _legal(text: str, name: str) -> str:
    if _ILLEGAL.search(text):
        raise ValueError(
            f"GraphML cannot store {name!r}: it contains characters that are not allowed in XML."
        )
    return text
