"""``gramlet kernels`` and ``gramlet datasets``: what there is, and where."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gramlet.cli.options import DataDir
from gramlet.cli.terminal import console, grid

if TYPE_CHECKING:
    from gramlet.files.datasets.catalogue import DatasetFacts
    from gramlet.kernels.registry import Entry


def kernels(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="Show this one with its parameters.")
    ] = None,
) -> None:
    """List kernels and embeddings, or show the parameters of one."""
    from gramlet.kernels import registry

    if name is not None:
        _show_kernel(registry.get(name))
        return
    rows = registry.entries()
    width = max(len(row.name) for row in rows)
    screen = console()
    for family in dict.fromkeys(row.family for row in rows):
        screen.print(f"[bold]{family}[/]")
        table = grid("", "", "", headings_shown=False)
        for row in rows:
            if row.family == family:
                table.add_row(f"  [cyan]{row.name:{width}}[/]", row.summary, _choices(row))
        screen.print(table)
    screen.print(
        "\n[dim]Right: the options that evaluation chooses. 'gramlet kernels NAME' shows one.[/]"
    )


def _choices(row: Entry) -> str:
    """The options that evaluation chooses; from the registry alone, without importing the class."""
    return ", ".join([*row.tunable, *(["embedding"] if row.kind == "embedding" else [])])


def _show_kernel(row: Entry) -> None:
    from inspect import getdoc

    screen = console()
    cls = row.cls()
    text = (getdoc(cls) or "").split("\nParameters\n")[0].split("\nAttributes\n")[0]
    screen.print(f"[bold cyan]{row.name}[/]  [bold]{row.class_name}[/] ({row.paper})\n")
    screen.print(_flowing(text), markup=False)
    remarks = _remarks(row)
    if remarks:
        screen.print(f"\n{row.kind}: {', '.join(remarks)}", markup=False)
    table = grid("parameter", "default", "chosen from, in evaluation")
    for key, value in sorted(row.make().get_params(deep=False).items()):
        tried = ", ".join(_plain(candidate) for candidate in row.tunable.get(key, ()))
        table.add_row(f"[cyan]{key}[/]", _plain(value), tried)
    screen.print()
    screen.print(table)


def _remarks(row: Entry) -> list[str]:
    """The properties of the estimator, from its tags."""
    tags = row.tags
    facts = {
        "learns from the classes": tags.supervised,
        "draws random numbers (--seed)": tags.random,
        "has explicit features ('gramlet embed', 'gramlet explain')": tags.features,
        "not always positive semi-definite": not tags.psd,
    }
    needs = [f"needs {column.replace('_', ' ')}" for column in tags.needs]
    return needs + [fact for fact, holds in facts.items() if holds]


def _flowing(text: str) -> str:
    """One line per paragraph, so that the terminal wraps it; lists stay as they are."""
    paragraphs = text.strip().split("\n\n")
    lines = [p if p.lstrip().startswith(("-", ">")) else " ".join(p.split()) for p in paragraphs]
    return "\n\n".join(lines)


def _plain(value: Any) -> str:
    shown = f"{value:g}" if isinstance(value, float) else " ".join(repr(value).split())
    return shown.replace("[", r"\[")


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
