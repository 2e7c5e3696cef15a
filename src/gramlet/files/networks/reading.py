"""A Dataset of the graphs of network files: `.graphml`, `.gexf`, `.gml`, `.g6`, `.json` and others.

Ids and targets are data of the graphs. Fields of a Dataset that these formats do not support are
stored as JSON, under one name, in the data of the first graph.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from gramlet.files.dataset import Dataset
from gramlet.files.networks.file_graphs import (
    ColumnNames,
    FileGraph,
    batch_of_graphs,
    describe_graphs,
)
from gramlet.files.problems import Problems
from gramlet.files.tables import ColumnNotFoundError
from gramlet.files.target import check_target
from gramlet.files.tu.extras import NAME_FIELDS, decode_names, encode_names

NOTES = "gramlet"
TARGET_NAMES = ("target", "label", "class", "y")
ID_NAMES = ("id", "name")
_OF_FORMATS = ("mode", "start", "end", "timeformat")  # data that GEXF has about every graph


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


def restore_notes(graphs: list[FileGraph], path: Path) -> dict[str, Any]:
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
