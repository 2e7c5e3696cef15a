"""Node-link JSON: one graph per file, a list of graphs, or one graph per line (`.jsonl`).

A graph is ``{"directed": ..., "graph": {...}, "nodes": [{"id": ...}], "edges": [{"source": ...,
"target": ...}]}`` as networkx writes it; "links" is another name for "edges".
"""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterator
from pathlib import Path
from typing import Any

from gramlet.files.networks.file_graphs import FileGraph
from gramlet.files.opening import open_text
from gramlet.files.problems import Problems

__all__ = ["read_json", "read_json_lines"]

_DEEPEST_NAME = 8


def read_json(path: Path, problems: Problems, max_bytes: int) -> list[FileGraph]:
    """The graph, or the list of graphs, of a `.json` file."""
    with open_text(path, max_bytes) as text:
        content = _decoded(text.read(), str(path))
    several = isinstance(content, list)
    items = content if several else [content]
    places = [f"{path}, graph {i}" if several else str(path) for i in range(len(items))]
    return list(_graphs(zip(places, items, strict=True), problems))


def read_json_lines(path: Path, problems: Problems, max_bytes: int) -> list[FileGraph]:
    """The graphs of a `.jsonl` file, one per line."""
    graphs: list[FileGraph] = []
    with open_text(path, max_bytes) as text:
        for number, line in enumerate(text, start=1):
            if not line.strip():
                continue
            place = f"{path}, line {number}"
            try:
                graphs.append(_graph(place, _decoded(line, place)))
            except ValueError as why:
                problems.add(place, str(why).removeprefix(f"{place}: ").rstrip("."))
    return graphs


def _graphs(items: Iterator[tuple[str, Any]], problems: Problems) -> Iterator[FileGraph]:
    for place, item in items:
        try:
            yield _graph(place, item)
        except ValueError as why:
            problems.add(place, str(why).removeprefix(f"{place}: ").rstrip("."))


def _decoded(text: str, place: str) -> Any:
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except RecursionError:
        raise ValueError(f"{place}: the JSON is nested too deeply.") from None
    except ValueError as why:
        raise ValueError(f"{place}: not valid JSON ({why}).") from None


def _refuse_constant(text: str) -> None:
    raise ValueError(f"{text} is not a JSON number")


def _graph(place: str, item: Any) -> FileGraph:
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
    data = dict(data) if isinstance(data, list) and _are_pairs(data) else data
    if not isinstance(edges, list) or not isinstance(directed, bool) or not isinstance(data, dict):
        raise ValueError(
            f"{place}: 'edges' must be a list, 'directed' true or false, 'graph' an object."
        )
    nodes = _nodes(place, item["nodes"])
    return FileGraph(place, nodes, _edges(place, edges, nodes), directed, data)


def _are_pairs(data: list[Any]) -> bool:
    return all(isinstance(p, list) and len(p) == 2 and isinstance(p[0], str) for p in data)


def _nodes(place: str, items: list[Any]) -> dict[Hashable, dict[str, Any]]:
    nodes: dict[Hashable, dict[str, Any]] = {}
    for position, item in enumerate(items):
        if not isinstance(item, dict):
            raise ValueError(f"{place}: node {position} is not an object.")
        name = _name(place, item.get("id", position))
        if name in nodes:
            raise ValueError(f"{place}: two nodes have the id {name!r}.")
        nodes[name] = {key: value for key, value in item.items() if key != "id"}
    return nodes


def _edges(
    place: str, items: list[Any], nodes: dict[Hashable, dict[str, Any]]
) -> list[tuple[Hashable, Hashable, dict[str, Any]]]:
    edges = []
    for position, item in enumerate(items):
        if not isinstance(item, dict) or "source" not in item or "target" not in item:
            raise ValueError(f"{place}: edge {position} has no 'source' and 'target'.")
        ends = [_name(place, item[key]) for key in ("source", "target")]
        for end in ends:
            if end not in nodes:
                raise ValueError(f"{place}: edge {position} ends at {end!r}, which is not a node.")
        rest = {key: v for key, v in item.items() if key not in ("source", "target", "key")}
        edges.append((ends[0], ends[1], rest))
    return edges


def _name(place: str, value: Any, depth: int = 0) -> Hashable:
    """A node's id; JSON lists become tuples."""
    if isinstance(value, list) and depth < _DEEPEST_NAME:
        return tuple(_name(place, part, depth + 1) for part in value)
    if isinstance(value, list | dict):
        raise ValueError(f"{place}: the id of a node must be a string or a number.")
    return value
