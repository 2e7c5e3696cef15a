"""``gramlet datasets``: the well-known data sets, and where they are found."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from gramlet.cli.options import DataDir
from gramlet.cli.terminal import console, grid

if TYPE_CHECKING:
    from gramlet.files.datasets.catalogue import DatasetFacts


def datasets(data_dir: DataDir = None) -> None:
    """List the well-known data sets, and where they are found."""
    from gramlet.files.datasets.catalogue import list_datasets

    headings = ("name", "graphs", "classes", "nodes", "edges", "labels", "attr.", "where")
    table = grid(*headings, right=(1, 2, 3, 4, 6))
    domain = ""
    for facts in list_datasets():
        if facts.domain != domain:
            domain = facts.domain
            table.add_row(f"[bold]{domain}[/]")
        table.add_row(
            f"  [cyan]{facts.name}[/]",
            str(facts.n_graphs),
            str(facts.n_classes or ""),
            f"{facts.mean_nodes:.1f}",
            f"{facts.mean_edges:.1f}",
            ", ".join(["node"] * facts.node_labels + ["edge"] * facts.edge_labels),
            str(facts.node_attributes or ""),
            _where(facts, data_dir),
        )
    console().print(table)


def _where(facts: DatasetFacts, data_dir: Path | None) -> str:
    from gramlet.common.places import cache_folder

    listed = os.environ.get("GRAMLET_DATA", "").split(os.pathsep)
    folders = [Path(folder).expanduser() for folder in listed if folder]
    if data_dir is not None:
        folders.insert(0, data_dir)
    for folder in folders:
        if (folder / facts.name).is_dir() or (folder / f"{facts.name}.zip").is_file():
            return str(folder)
    if facts.embedded:
        return "embedded"
    cached = (cache_folder() / "datasets" / f"{facts.name}.zip").is_file()
    return "cache" if cached else "[dim]download[/]"
