"""The text of files: node-link JSON, GraphML, and tables of molecules.

Formats a Dataset as text; `writing` writes the files and checks that nothing is lost.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator
from typing import Any

from gramlet.files.dataset import Dataset
from gramlet.files.networks.reading import NOTES, notes_of
from gramlet.files.tu.extras import encode_values

__all__ = ["write_graphml", "write_json", "write_json_lines", "write_table"]


_ILLEGAL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def write_json_lines(dataset: Dataset, kind: str) -> str:
    """One node-link graph per line."""
    return "".join(f"{line}\n" for line in _lines(dataset))


def write_json(dataset: Dataset, kind: str) -> str:
    """A list of node-link graphs."""
    return "[\n" + ",\n".join(_lines(dataset)) + "\n]\n"


def _lines(dataset: Dataset) -> Iterator[str]:
    for position, graph in enumerate(_node_link(dataset)):
        try:
            yield json.dumps(graph, allow_nan=False)
        except ValueError as why:
            columns = {"target or data": graph["graph"], "nodes": graph["nodes"]}
            what = next((name for name, part in columns.items() if not _is_json(part)), "edges")
            raise ValueError(
                f"graph {position} has a number in its {what} that is NaN or infinite, which JSON "
                "cannot store. Correct it, or leave the graph out."
            ) from why


def _is_json(value: Any) -> bool:
    try:
        json.dumps(value, allow_nan=False)
    except ValueError:
        return False
    return True


def _node_link(dataset: Dataset) -> Iterator[dict[str, Any]]:
    networkx = _networkx()
    for graph in _networkx_graphs(dataset):
        yield networkx.node_link_data(graph, edges="edges")


Columns = dict[str, Any]
PlainGraph = tuple[Columns, list[Columns], list[tuple[int, int, Columns]]]


def _plain_graphs(dataset: Dataset) -> Iterator[PlainGraph]:
    """Data of the graph, of its nodes and of its edges, as JSON values."""
    batch = dataset.graphs
    labels = None
    if batch.node_labels is not None:
        labels = encode_values(batch.node_labels.categories, "node labels")
    edge_labels = None
    if batch.edge_labels is not None:
        edge_labels = encode_values(batch.edge_labels.categories, "edge labels")
    for position, data in enumerate(_graph_data(dataset)):
        one = batch[position]
        nodes: list[Columns] = [{} for _ in range(one.n_nodes_total)]
        if labels is not None and one.node_labels is not None:
            _fill(nodes, "label", [labels[code] for code in one.node_labels.codes.tolist()])
        if one.node_attributes is not None:
            _fill(nodes, "attr", one.node_attributes.tolist())
        tails, heads = one.arcs()
        on_edges: list[Columns] = [{} for _ in range(len(tails))]
        if edge_labels is not None and one.edge_labels is not None:
            _fill(on_edges, "label", [edge_labels[c] for c in one.edge_labels.codes.tolist()])
        if one.edge_weights is not None:
            _fill(on_edges, "weight", one.edge_weights.tolist())
        if one.edge_attributes is not None:
            _fill(on_edges, "attr", one.edge_attributes.tolist())
        arcs = zip(tails.tolist(), heads.tolist(), on_edges, strict=True)
        yield data, nodes, [(u, v, d) for u, v, d in arcs if batch.directed or u < v]


def _fill(rows: list[Columns], name: str, values: list[Any]) -> None:
    for row, value in zip(rows, values, strict=True):
        row[name] = value


def _graph_data(dataset: Dataset) -> list[Columns]:
    """Id, target and SMILES string of each graph; the first also has the common fields."""
    rows: list[Columns] = [{} for _ in range(len(dataset.graphs))]
    if dataset.ids is not None:
        _fill(rows, "id", [str(name) for name in dataset.ids])
    if dataset.target is not None:
        values = encode_values(dataset.target.tolist(), "the target")
        _fill(rows, dataset.target_name or "target", values)
    if dataset.molecules is not None:
        _fill(rows, "smiles", list(dataset.molecules))
    notes = notes_of(dataset)
    if notes and rows:
        rows[0][NOTES] = notes
    return rows


def _networkx() -> Any:
    try:
        import networkx
    except ImportError:
        raise ImportError(
            "Writing network files needs networkx: pip install gramlet[graphs]"
        ) from None
    return networkx


def _networkx_graphs(dataset: Dataset) -> Iterator[Any]:
    networkx = _networkx()
    kind = networkx.DiGraph if dataset.graphs.directed else networkx.Graph
    for data, nodes, edges in _plain_graphs(dataset):
        graph = kind()
        graph.graph.update(data)
        graph.add_nodes_from(enumerate(nodes))
        graph.add_edges_from(edges)
        yield graph


def write_graphml(dataset: Dataset, kind: str) -> str:
    """All graphs in one GraphML document; attributes as ``attr_0``, ``attr_1``, ..."""
    networkx = _networkx()
    writer = networkx.readwrite.graphml.GraphMLWriter()
    for graph in _networkx_graphs(dataset):
        if NOTES in graph.graph:
            graph.graph[NOTES] = json.dumps(graph.graph[NOTES])
        if "id" in graph.graph:  # in GraphML the name of the element
            graph.graph["name"] = graph.graph.pop("id")
        _flatten(graph.graph)
        for _, data in graph.nodes(data=True):
            _flatten(data)
        for _, _, data in graph.edges(data=True):
            _flatten(data)
        writer.add_graph_element(graph)
    text = io.BytesIO()
    writer.dump(text)
    return text.getvalue().decode()


def _flatten(data: Columns) -> None:
    for i, value in enumerate(data.pop("attr", ())):
        data[f"attr_{i}"] = value
    for name, value in data.items():
        if not isinstance(value, str | int | float):
            raise ValueError(
                f"GraphML cannot store {name!r} = {value!r}: only strings and numbers are "
                "supported."
            )
        if isinstance(value, str) and _ILLEGAL.search(value):
            raise ValueError(
                f"GraphML cannot store {name!r}: it contains characters that are not allowed in "
                "XML."
            )


def write_table(dataset: Dataset, kind: str) -> str:
    """The SMILES strings of molecules, with ids and, in tables, the target."""
    molecules = dataset.molecules or []
    if kind == ".smi":
        ids = dataset.ids if dataset.ids is not None else [""] * len(molecules)
        return "".join(f"{f'{s} {name}'.strip()}\n" for s, name in zip(molecules, ids, strict=True))
    columns: dict[str, Any] = {"smiles": molecules}
    if dataset.ids is not None:
        columns["id"] = dataset.ids
    if dataset.target is not None:
        columns[dataset.target_name or "target"] = [
            value if isinstance(value, str) else repr(value) for value in dataset.target.tolist()
        ]
    text = io.StringIO(newline="")
    table = csv.writer(text, delimiter="\t" if kind == ".tsv" else ",", lineterminator="\n")
    table.writerow(columns)
    table.writerows(zip(*columns.values(), strict=True))
    return text.getvalue()
