"""Fields that graph formats do not support: names of classes and labels, molecules, a description.

They are stored as JSON, under one name, in the data of the first graph.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from gramlet.files.networks.file_graphs import FileGraph
from gramlet.files.tu.extras import NAME_FIELDS, decode_names, encode_names

__all__ = ["NOTES", "notes_of", "restore_notes"]

NOTES = "gramlet"


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
