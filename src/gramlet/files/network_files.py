"""Files of graphs as networkx reads them, behind a guard.

The guard refuses what networkx accepts in silence or at any cost: DTDs, deep nesting, sizes that
a line cannot contain, repeated nodes, edges that end nowhere.
`network_graphs` makes a Dataset of them.
"""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

from gramlet.files.network_graphs import FileGraph
from gramlet.files.opening import Problems, brief, open_bytes, read_text

_DEEPEST = 64
_DEEPEST_NAME = 8
_OF_ENCODINGS = (
    expat.errors.XML_ERROR_INVALID_TOKEN,
    expat.errors.XML_ERROR_UNKNOWN_ENCODING,
    expat.errors.XML_ERROR_INCORRECT_ENCODING,
)
_TYPES = ("int", "integer", "long", "float", "double", "boolean", "string")
# sparse6 can state a million nodes in six characters; up to this many are accepted without edges.
_MOST_NODES = 1_000_000
_NODES_PER_CHARACTER = 64
_GML_PARTS = re.compile(r'"[^"]*"|#[^\n]*|\bgraph\s*\[|[\[\]]')


def parse_graphs(path: Path, kind: str, problems: Problems, max_bytes: int) -> list[FileGraph]:
    """The graphs of one file."""
    try:
        import networkx
    except ImportError:
        raise ImportError(
            f"Reading {path.name} needs networkx: pip install gramlet[graphs]"
        ) from None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # networkx's, of ports and of keys without a type
        return _READERS[kind](networkx, path, problems, max_bytes)


def _parsed(path: Path, kind: str, parse: Callable[..., Any], *given: Any, **named: Any) -> Any:
    """What networkx reads from a file; its errors become one-line messages."""
    try:
        return parse(*given, **named)
    except RecursionError:
        raise ValueError(f"{path} is nested too deeply.") from None
    except Exception as why:
        # networkx raises errors of many types on malformed files: KeyError, AttributeError, ...
        raise ValueError(f"{path} cannot be read as {kind} ({brief(why)}).") from why


def _file_graph(place: str, graph: Any, labels_may_be_names: bool = False) -> FileGraph:
    for name in ("node_default", "edge_default"):
        graph.graph.pop(name, None)
    return FileGraph(place, graph, labels_may_be_names)


# XML


class _GuardedXml:
    """A document of GraphML or GEXF as a tree, in the one namespace that networkx knows.

    ``strays``: by number of the graph, an end of an edge that is not a node of it.
    """

    def __init__(self, path: Path, namespace: str, max_bytes: int) -> None:
        self.strays: dict[int, str] = {}
        self._path = path
        self._namespace = namespace
        self._builder = TreeBuilder()
        self._open: list[str] = []
        self._foreign = 0  # the depth inside of a drawing, which has another prefix
        self._n_graphs = 0
        self._nodes: set[str] = set()
        self._ends: dict[str, None] = {}
        parser = self._parser = expat.ParserCreate()
        parser.buffer_text = True
        parser.StartDoctypeDeclHandler = self._refuse
        parser.EntityDeclHandler = self._refuse
        parser.ExternalEntityRefHandler = self._refuse
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._text
        with open_bytes(path, max_bytes) as stream:
            self._parse(stream)
        self.root: Element = self._builder.close()

    def graphs(self) -> list[Element]:
        """The elements of the graphs."""
        return self.root.findall(f"{{{self._namespace}}}graph")

    def _parse(self, stream: Any) -> None:
        try:
            self._parser.ParseFile(stream)
        except expat.ExpatError as why:
            said = expat.ErrorString(why.code)
            advice = "Save it as UTF-8." if said in _OF_ENCODINGS else "Is the file cut off?"
            raise ValueError(
                f"{self._path}, line {why.lineno}: not well-formed XML ({said}). {advice}"
            ) from None
        except LookupError as why:
            raise ValueError(f"{self._path} cannot be read ({why}). Save it as UTF-8.") from None

    def _refuse(self, *_: Any) -> int:
        raise ValueError(
            f"Refusing to read {self._path}: it declares a DTD or XML entities, which data files "
            "do not need."
        )

    def _fail(self, reason: str) -> None:
        raise ValueError(f"{self._path}, line {self._parser.CurrentLineNumber}: {reason}.")

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        prefix, _, tag = name.rpartition(":")
        if len(self._open) + self._foreign >= _DEEPEST:
            raise ValueError(f"{self._path} is nested more than {_DEEPEST} deep.")
        if not self._open:
            self._prefix = prefix
        if self._foreign or prefix != self._prefix:
            self._foreign += 1
            return
        if tag == "graph":
            if "graph" in self._open:
                self._fail("a graph inside of a node is not supported")
            self._n_graphs += 1
        elif tag == "node":
            self._check_node(attributes.get("id"))
        elif tag == "edge":
            ends = attributes.get("source"), attributes.get("target")
            if "graph" not in self._open or None in ends:
                self._fail("an edge is outside of a graph or has no source and target")
            self._ends.update(dict.fromkeys(str(end) for end in ends))
        elif tag == "hyperedge":
            self._fail("hyperedges are not supported")
        elif tag == "key":
            attributes.setdefault("attr.name", attributes.get("id", ""))
            attributes.setdefault("for", "all")
            kind = attributes.get("attr.type", "string").lower()
            attributes["attr.type"] = kind if kind in _TYPES else "string"
        self._open.append(tag)
        self._builder.start(f"{{{self._namespace}}}{tag}", attributes)

    def _check_node(self, name: str | None) -> None:
        if "graph" not in self._open or name is None:
            self._fail("a node is outside of a graph or has no id")
        elif name in self._nodes:
            self._fail(f"two nodes of one graph have the id {name!r}")
        else:
            self._nodes.add(name)

    def _text(self, piece: str) -> None:
        if not self._foreign:
            self._builder.data(piece)

    def _end(self, name: str) -> None:
        if self._foreign:
            self._foreign -= 1
            return
        tag = self._open.pop()
        if tag == "graph":
            for end in self._ends:
                if end not in self._nodes:
                    self.strays.setdefault(self._n_graphs - 1, end)
            self._nodes, self._ends = set(), {}
        elif tag == "data":
            self._builder.data("")  # networkx skips data without text: an empty string
        self._builder.end(f"{{{self._namespace}}}{tag}")


def _read_xml(
    networkx: Any, path: Path, problems: Problems, max_bytes: int, kind: str
) -> list[FileGraph]:
    is_graphml = kind == "GraphML"
    module = networkx.readwrite
    reader = module.graphml.GraphMLReader() if is_graphml else module.gexf.GEXFReader()
    document = _GuardedXml(path, reader.NS_GRAPHML if is_graphml else reader.NS_GEXF, max_bytes)
    keys = _parsed(path, kind, reader.find_graphml_keys, document.root) if is_graphml else ()
    elements = document.graphs()
    graphs = []
    for position, element in enumerate(elements):
        place = f"{path}, graph {position}" if len(elements) > 1 else str(path)
        if position in document.strays:
            stray = document.strays[position]
            problems.add(place, f"an edge ends at {stray!r}, which is not a node of its graph")
            continue
        parsed = _parsed(path, kind, reader.make_graph, element, *keys)
        graph = _file_graph(place, parsed, labels_may_be_names=not is_graphml)
        if is_graphml:
            _parsed(path, kind, _add_defaults, graph, *keys, reader)
        graphs.append(graph)
    return graphs


def _add_defaults(graph: FileGraph, keys: Any, defaults: Any, reader: Any) -> None:
    """Give a graph the defaults of the document, which networkx only notes."""
    owners = {
        "node": [data for _, data in graph.graph.nodes(data=True)],
        "edge": [data for _, _, data in graph.graph.edges(data=True)],
        "graph": [graph.data],
    }
    owners["all"] = [data for each in owners.values() for data in each]
    for key, text in defaults.items():
        kind = keys[key]["type"]
        value = reader.convert_bool[text.strip().lower()] if kind is bool else kind(text)
        for data in owners.get(keys[key]["for"], ()):
            data.setdefault(keys[key]["name"], value)


def _read_graphml(networkx: Any, path: Path, problems: Problems, max_bytes: int) -> list[FileGraph]:
    return _read_xml(networkx, path, problems, max_bytes, "GraphML")


def _read_gexf(networkx: Any, path: Path, problems: Problems, max_bytes: int) -> list[FileGraph]:
    return _read_xml(networkx, path, problems, max_bytes, "GEXF")


# GML


def _read_gml(networkx: Any, path: Path, problems: Problems, max_bytes: int) -> list[FileGraph]:
    """Graphs by the ids of their nodes: names in GML are labels, and need not be distinct."""
    pieces = _gml_graphs(read_text(path, max_bytes))
    graphs = []
    for position, piece in enumerate(pieces):
        graph = _parsed(path, "GML", networkx.parse_gml, piece, label="id")
        place = f"{path}, graph {position}" if len(pieces) > 1 else str(path)
        graphs.append(_file_graph(place, graph, labels_may_be_names=True))
    return graphs


def _gml_graphs(text: str) -> list[str]:
    """The text of each graph of a file; all of the text if it is not several whole graphs."""
    begins, depth = [], 0
    for part in _GML_PARTS.finditer(text):
        if part[0] == "]":
            depth -= 1
        elif part[0].endswith("[") and part[0][0] not in '"#':
            if depth == 0 and part[0] != "[":
                begins.append(part.start())
            depth += 1
    if len(begins) < 2 or depth:
        return [text]
    return [text[a:b] for a, b in zip(begins, [*begins[1:], len(text)], strict=True)]


# graph6 and sparse6


def _read_graph6(networkx: Any, path: Path, problems: Problems, max_bytes: int) -> list[FileGraph]:
    graphs: list[FileGraph] = []
    n_characters, n_total = 0, 0
    with open_bytes(path, max_bytes) as stream:
        for number, line in enumerate(stream, start=1):
            text = line.strip()
            n_characters += len(text)
            text = text.removeprefix(b">>graph6<<").removeprefix(b">>sparse6<<")
            if not text:
                continue
            place = f"{path}, line {number}"
            try:
                n_total += _declared_nodes(text)
                if n_total > _MOST_NODES + _NODES_PER_CHARACTER * n_characters:
                    problems.add(
                        place,
                        f"the graphs have more than {_MOST_NODES:,} nodes, and few edges; such a "
                        "file is probably damaged or malicious",
                    )
                    return graphs
                sparse = text.startswith(b":")
                decode = networkx.from_sparse6_bytes if sparse else networkx.from_graph6_bytes
                graphs.append(_file_graph(place, decode(text)))
            except (ValueError, IndexError, networkx.NetworkXError) as why:
                if str(path) in str(why):
                    raise
                problems.add(place, str(why).rstrip(".") or "the line is cut off")
    return graphs


def _declared_nodes(text: bytes) -> int:
    """The number of nodes that a line states; a line that cannot contain them is refused."""
    body = text.removeprefix(b":")
    outside = next((i for i, c in enumerate(body) if not 63 <= c <= 126), None)
    if outside is not None:
        raise ValueError(f"character {outside + 1} is not between '?' and '~'")
    mark = len(body[:2]) - len(body[:2].lstrip(b"~"))
    digits = body[mark : mark + (1, 3, 6)[mark]]
    if len(digits) < (1, 3, 6)[mark]:
        raise ValueError("the number of nodes is missing")
    n = 0
    for digit in digits:
        n = n * 64 + digit - 63
    needed, n_characters = (n * (n - 1) // 2 + 5) // 6, len(body) - mark - len(digits)
    if not text.startswith(b":") and n_characters != needed:
        raise ValueError(f"{n} nodes need {needed} characters; the line has {n_characters}")
    return n


# Node-link JSON


def _read_json(networkx: Any, path: Path, problems: Problems, max_bytes: int) -> list[FileGraph]:
    """The graph, or the list of graphs, of a `.json` file."""
    content = _decoded(read_text(path, max_bytes), str(path))
    if not isinstance(content, list):
        return _node_link_graphs(networkx, [(str(path), content)], problems)
    items = ((f"{path}, graph {i}", item) for i, item in enumerate(content))
    return _node_link_graphs(networkx, items, problems)


def _read_json_lines(
    networkx: Any, path: Path, problems: Problems, max_bytes: int
) -> list[FileGraph]:
    """The graphs of a `.jsonl` file, one per line."""
    lines = enumerate(read_text(path, max_bytes).split("\n"), start=1)
    items = ((f"{path}, line {number}", line) for number, line in lines if line.strip())
    return _node_link_graphs(networkx, items, problems)


def _node_link_graphs(networkx: Any, items: Any, problems: Problems) -> list[FileGraph]:
    graphs = []
    for place, item in items:
        try:
            item = _decoded(item, place) if isinstance(item, str) else item
            checked = _checked_node_link(place, item)
            graph = _parsed(
                Path(place),
                "node-link JSON",
                networkx.node_link_graph,
                checked,
                edges="edges",
            )
            graphs.append(_file_graph(place, graph))
        except ValueError as why:
            problems.add(place, str(why).removeprefix(f"{place}: ").rstrip("."))
    return graphs


def _decoded(text: str, place: str) -> Any:
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except RecursionError:
        raise ValueError(f"{place}: the JSON is nested too deeply.") from None
    except ValueError as why:
        raise ValueError(f"{place}: not valid JSON ({why}).") from None


def _refuse_constant(text: str) -> None:
    raise ValueError(f"{text} is not a JSON number")


def _checked_node_link(place: str, item: Any) -> dict[str, Any]:
    """A graph as networkx writes it, with distinct nodes and edges between them."""
    if not isinstance(item, dict) or not isinstance(item.get("nodes"), list):
        raise ValueError(f"{place}: not a node-link graph; it needs a list 'nodes'.")
    if "adjacency" in item:
        raise ValueError(
            f"{place}: not a node-link graph but one with 'adjacency'; write it with networkx's "
            "node_link_data."
        )
    if "edges" in item and "links" in item:
        raise ValueError(f"{place}: there are both 'edges' and 'links'; give one of them.")
    edges = item.get("edges", item.get("links", []))
    directed = item.get("directed", False)
    data = item.get("graph", {})
    # Older versions of networkx wrote pairs instead of objects.
    if isinstance(data, list) and all(
        isinstance(p, list) and len(p) == 2 and isinstance(p[0], str) for p in data
    ):
        data = dict(data)
    if not isinstance(edges, list) or not isinstance(directed, bool) or not isinstance(data, dict):
        raise ValueError(
            f"{place}: 'edges' must be a list, 'directed' true or false, 'graph' an object."
        )
    names = set()
    for position, node in enumerate(item["nodes"]):
        if not isinstance(node, dict):
            raise ValueError(f"{place}: node {position} is not an object.")
        name = _node_name(place, node.setdefault("id", position))
        if name in names:
            raise ValueError(f"{place}: two nodes have the id {name!r}.")
        names.add(name)
    for position, edge in enumerate(edges):
        if not isinstance(edge, dict) or "source" not in edge or "target" not in edge:
            raise ValueError(f"{place}: edge {position} has no 'source' and 'target'.")
        edge.pop("key", None)  # so that networkx keeps parallel edges apart
        for end in (_node_name(place, edge[key]) for key in ("source", "target")):
            if end not in names:
                raise ValueError(f"{place}: edge {position} ends at {end!r}, which is not a node.")
    content = {"nodes": item["nodes"], "edges": edges, "graph": data}
    return {**content, "directed": directed, "multigraph": True}


def _node_name(place: str, value: Any, depth: int = 0) -> Any:
    """A node's id; JSON lists become tuples."""
    if isinstance(value, list) and depth < _DEEPEST_NAME:
        return tuple(_node_name(place, part, depth + 1) for part in value)
    if value is None or isinstance(value, list | dict):
        raise ValueError(f"{place}: the id of a node must be a string or a number.")
    return value


_READERS: dict[str, Callable[[Any, Path, Problems, int], list[FileGraph]]] = {
    ".graphml": _read_graphml,
    ".gexf": _read_gexf,
    ".gml": _read_gml,
    ".g6": _read_graph6,
    ".s6": _read_graph6,
    ".json": _read_json,
    ".jsonl": _read_json_lines,
}
