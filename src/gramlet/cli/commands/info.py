"""``gramlet info``: the contents of a data set."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gramlet.cli.inputs import read_input
from gramlet.cli.options import Input, Reading
from gramlet.cli.terminal import console, grid

if TYPE_CHECKING:
    from gramlet.files.dataset import Dataset


_NO_LABELS = " (all nodes get the same label; --node-labels degree labels nodes by their degrees)"


def info(
    source: Input,
    reading: Reading,
) -> None:
    """Show the contents of a data set."""
    import numpy as np

    data = read_input(source, reading, needs_target=False)
    screen = console()
    noun = "graph" if len(data.graphs) == 1 else "graphs"
    screen.print(f"{data.name}: {len(data.graphs)} {noun}", markup=False, style="bold")
    table = grid("", "mean", "median", "min", "max", right=(1, 2, 3, 4))
    graphs = data.graphs
    if len(graphs):
        for what, counts in (("nodes", graphs.sizes), ("edges", graphs.n_edges)):
            middle = f"{np.median(counts):g}"
            low, high = str(counts.min()), str(counts.max())
            table.add_row(what, f"{counts.mean():.1f}", middle, low, high)
        screen.print(table)
    for line in _facts(data):
        screen.print(line, markup=False)


def _facts(data: Dataset) -> list[str]:
    graphs = data.graphs
    lines = [_target(data)]
    if graphs.directed:
        lines.append("directed: yes")
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
            lines.append(f"{what}: none{_NO_LABELS if what == 'node labels' else ''}")
    if graphs.node_attributes is not None:
        lines.append(f"node attributes: {graphs.node_attributes.shape[1]}")
    if graphs.edge_attributes is not None:
        lines.append(f"edge attributes: {graphs.edge_attributes.shape[1]}")
    if graphs.edge_weights is not None:
        lines.append("edge weights: yes")
    empty, edgeless = int((graphs.sizes == 0).sum()), int((graphs.n_edges == 0).sum())
    if edgeless:
        lines.append(f"graphs without edges: {edgeless}, of them {empty} without nodes")
    return lines


def _target(data: Dataset) -> str:
    import numpy as np

    from gramlet.files.target import infer_task

    if data.target is None:
        columns = data.get("unread")
        return f"classes: none{f' ({_choose(columns)})' if columns else ''}"
    name = f"target {data.target_name!r}" if data.target_name else "target"
    if data.target.ndim != 1:
        return f"{name}: real numbers, shape {data.target.shape}"
    if len(data.target) and infer_task(data.target) == "regression":
        low, middle, high = np.quantile(data.target, [0, 0.5, 1])
        return f"{name}: real numbers from {low:.4g} to {high:.4g}, median {middle:.4g}"
    values, counts = np.unique(data.target, return_counts=True)
    names = data.target_names or {}
    shown = [
        f"{names.get(value, value)} {count}"
        for value, count in zip(values.tolist(), counts.tolist(), strict=True)
    ]
    where = f", in {data.target_name!r}" if data.target_name else ""
    return f"classes: {len(values)} ({', '.join(shown)}){where}"


def _choose(columns: Sequence[str]) -> str:
    return f"--target reads one of {', '.join(map(repr, columns))}"
