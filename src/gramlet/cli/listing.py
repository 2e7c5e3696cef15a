"""``gramlet kernels``, ``gramlet datasets``, ``gramlet info``: what there is."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gramlet.cli.inputs import read_input
from gramlet.cli.options import DataDir, Input, LabelColumn, SmilesColumn
from gramlet.cli.output import console

if TYPE_CHECKING:
    from gramlet.files.catalogue import DatasetFacts
    from gramlet.files.dataset import Dataset
    from gramlet.kernels.registry import Entry


def kernels(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="Tell more of one.")] = None,
) -> None:
    """List kernels and embeddings, or tell the parameters of one."""
    from gramlet.kernels import registry

    if name is not None:
        _show_kernel(registry.get(name))
        return
    rows = registry.entries()
    width = max(len(row.name) for row in rows)
    screen = console()
    for family in dict.fromkeys(row.family for row in rows):
        screen.print(f"[bold]{family}[/]")
        grid = _grid("", "", "", headings_shown=False)
        for row in rows:
            if row.family == family:
                grid.add_row(f"  [cyan]{row.name:{width}}[/]", row.summary, _choices(row))
        screen.print(grid)
    screen.print(
        "\n[dim]On the right what evaluation chooses; gramlet kernels NAME tells all of one.[/]"
    )


def _choices(row: Entry) -> str:
    """What evaluation chooses, and what is special."""
    remarks = list(row.tunable)
    if row.kind == "embedding":
        remarks.append("embedding")
    tags = row.tags
    if tags.supervised:
        remarks.append("supervised")
    remarks += [f"needs {column.replace('_', ' ')}" for column in tags.needs]
    return ", ".join(remarks)


def _show_kernel(row: Entry) -> None:
    from inspect import getdoc

    screen = console()
    cls = row.cls()
    text = (getdoc(cls) or "").split("\nParameters\n")[0].split("\nAttributes\n")[0]
    screen.print(f"[bold cyan]{row.name}[/]  [bold]{row.class_name}[/] ({row.paper})\n")
    screen.print(_flowing(text), markup=False)
    grid = _grid("parameter", "default", "chosen from, in evaluation")
    for key, value in sorted(row.make().get_params(deep=False).items()):
        tried = ", ".join(_plain(candidate) for candidate in row.tunable.get(key, ()))
        grid.add_row(f"[cyan]{key}[/]", _plain(value), tried)
    screen.print()
    screen.print(grid)


def _flowing(text: str) -> str:
    """Paragraphs on a line each, so that the terminal's width breaks them; lists as they are."""
    paragraphs = text.strip().split("\n\n")
    kept = [p if p.lstrip().startswith(("-", ">")) else " ".join(p.split()) for p in paragraphs]
    return "\n\n".join(kept)


def _plain(value: Any) -> str:
    shown = f"{value:g}" if isinstance(value, float) else " ".join(repr(value).split())
    return shown.replace("[", r"\[")


def datasets(data_dir: DataDir = None) -> None:
    """List the well-known data sets, and where they are."""
    from gramlet.files.catalogue import list_datasets

    headings = ("name", "graphs", "classes", "nodes", "edges", "labels", "attr.", "where")
    grid = _grid(*headings, right=(1, 2, 3, 4, 6))
    domain = ""
    for facts in list_datasets():
        if facts.domain != domain:
            domain = facts.domain
            grid.add_row(f"[bold]{domain}[/]")
        grid.add_row(
            f"  [cyan]{facts.name}[/]",
            str(facts.n_graphs),
            str(facts.n_classes or ""),
            f"{facts.mean_nodes:.1f}",
            f"{facts.mean_edges:.1f}",
            ", ".join(["node"] * facts.node_labels + ["edge"] * facts.edge_labels),
            str(facts.node_attributes or ""),
            _where(facts, data_dir),
        )
    console().print(grid)


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


def info(
    source: Input,
    data_dir: DataDir = None,
    smiles_column: SmilesColumn = None,
    label_column: LabelColumn = None,
) -> None:
    """Tell what is in a data set."""
    import numpy as np

    data = read_input(source, data_dir, smiles_column, label_column)
    screen = console()
    screen.print(f"{data.name}: {len(data.graphs)} graphs", markup=False, style="bold")
    grid = _grid("", "mean", "median", "min", "max", right=(1, 2, 3, 4))
    graphs = data.graphs
    if len(graphs):
        for what, counts in (("nodes", graphs.sizes), ("edges", graphs.n_edges)):
            middle = f"{np.median(counts):g}"
            low, high = str(counts.min()), str(counts.max())
            grid.add_row(what, f"{counts.mean():.1f}", middle, low, high)
        screen.print(grid)
    for line in _facts(data):
        screen.print(line, markup=False)


def _facts(data: Dataset) -> list[str]:
    graphs = data.graphs
    lines = [_classes(data)]
    for what, labels, names in (
        ("node labels", graphs.node_labels, data.node_label_names),
        ("edge labels", graphs.edge_labels, data.edge_label_names),
    ):
        if labels is not None:
            used = sorted(labels.used(), key=str)
            shown = [str((names or {}).get(value, value)) for value in used[:12]]
            more = f", and {len(used) - 12} more" if len(used) > 12 else ""
            lines.append(f"{what}: {len(used)} ({', '.join(shown)}{more})")
        else:
            lines.append(f"{what}: none")
    if graphs.node_attributes is not None:
        lines.append(f"node attributes: {graphs.node_attributes.shape[1]}")
    if graphs.edge_weights is not None:
        lines.append("edge weights: yes")
    empty, edgeless = int((graphs.sizes == 0).sum()), int((graphs.n_edges == 0).sum())
    if edgeless:
        lines.append(f"graphs without edges: {edgeless}, of them {empty} without nodes")
    return lines


def _classes(data: Dataset) -> str:
    import numpy as np

    if data.target is None:
        return "classes: none"
    if data.target.ndim != 1 or (data.target.dtype.kind == "f" and (data.target % 1).any()):
        return f"target: real numbers, shape {data.target.shape}"
    values, counts = np.unique(data.target, return_counts=True)
    names = data.target_names or {}
    shown = [
        f"{names.get(value, value)} {count}"
        for value, count in zip(values.tolist(), counts.tolist(), strict=True)
    ]
    return f"classes: {len(values)} ({', '.join(shown)})"


def _grid(*headings: str, right: tuple[int, ...] = (), headings_shown: bool = True) -> Any:
    from rich.table import Table

    grid = Table(
        box=None,
        pad_edge=False,
        padding=(0, 2, 0, 0),
        header_style="underline",
        show_header=headings_shown,
    )
    for column, heading in enumerate(headings):
        side = "right" if column in right else "left"
        grid.add_column(heading, justify=side, no_wrap=column == 0)  # type: ignore[arg-type]
    return grid
