"""A small TU data set as text, complete or with changes, as a folder or an archive."""

from __future__ import annotations

import zipfile
from pathlib import Path

__all__ = ["GOOD", "pack", "put"]

# Two graphs: a path of three nodes and one edge.
GOOD = {
    "A": "1, 2\n2, 1\n2, 3\n3, 2\n4, 5\n5, 4\n",
    "graph_indicator": "1\n1\n1\n2\n2\n",
    "graph_labels": "1\n-1\n",
    "node_labels": "0\n7\n0\n7\n7\n",
    "edge_labels": "0\n0\n1\n1\n2\n2\n",
    "node_attributes": "0.5, 1\n1, 2\n2, 3\n3, 4\n4, -5e-3\n",
}


def put(folder: Path, name: str = "SET", **changes: str | None) -> Path:
    """Write the valid files with changes; None omits a file."""
    folder = folder / name
    folder.mkdir(parents=True, exist_ok=True)
    for role, text in {**GOOD, **changes}.items():
        if text is not None:
            (folder / f"{name}_{role}.txt").write_text(text, encoding="utf-8")
    return folder


def pack(folder: Path, archive: Path, prefix: str = "") -> Path:
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
        for file in sorted(folder.iterdir()):
            packed.write(file, prefix + f"{folder.name}/{file.name}")
    return archive
