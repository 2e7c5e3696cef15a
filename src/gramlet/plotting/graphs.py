"""Drawing one graph: positions by stress majorisation, nodes coloured by values."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse.csgraph import shortest_path

from gramlet.common.arrays import Floats
from gramlet.graphs.batch import GraphBatch
from gramlet.graphs.convert import as_single
from gramlet.plotting.figure import new_axes

__all__ = ["draw_graph", "layout"]


# One hue for each of a few labels, distinguishable also by people who do not see all colours.
_HUES = ("#bcd2e8", "#f5c396", "#bfe3c0", "#e8b7c8", "#d5c8ea", "#eadf9c", "#b7dedd", "#d9d9d9")

_DARK = 0.7  # beyond this share of the largest value a node is too dark for black letters


def layout(graph: GraphBatch, n_rounds: int = 200) -> Floats:
    """Positions of the nodes, with drawn distances near the graph's distances.

    Deterministic: starts from a circle in breadth-first order and majorises the stress. Components
    stand side by side.
    """
    n = int(graph.sizes[0])
    adjacency = graph.adjacency(0)
    hops = shortest_path(adjacency, directed=False, unweighted=True) if n else np.zeros((0, 0))
    placed = np.zeros((n, 2))
    left = np.ones(n, dtype=bool)
    x = 0.0
    while left.any():
        members = np.flatnonzero(np.isfinite(hops[np.flatnonzero(left)[0]]))
        points = _majorise(hops[np.ix_(members, members)], n_rounds)
        points -= points.min(axis=0)
        placed[members] = points + np.array([x, 0.0])
        x += float(points[:, 0].max()) + 1.2
        left[members] = False
    return placed


def _majorise(distances: Floats, n_rounds: int) -> Floats:
    n = len(distances)
    if n == 1:
        return np.zeros((1, 2))
    order = np.argsort(np.argsort(distances[0], kind="stable"), kind="stable")
    angle = 2 * np.pi * order / n
    points = np.column_stack([np.cos(angle), np.sin(angle)]) * distances.max() / 2
    weights = np.divide(1.0, distances**2, out=np.zeros_like(distances), where=distances > 0)
    total = weights.sum(axis=1, keepdims=True)
    for _ in range(n_rounds):
        apart = points[:, None] - points[None, :]
        length = np.maximum(np.linalg.norm(apart, axis=2), 1e-9)
        pull = weights * distances / length
        points = (weights @ points + (pull[:, :, None] * apart).sum(axis=1)) / total
    centred = points - points.mean(axis=0)
    # The longest way lies across the page.
    _, _, axes = np.linalg.svd(centred, full_matrices=False)
    return centred @ axes.T


def draw_graph(
    graph: Any,
    values: Floats | None = None,
    *,
    ax: Any = None,
    centre: float = 0.0,
    node_names: Any = None,
    value_label: str = "",
    small: bool = False,
) -> Any:
    """Draw one graph; the arcs of a directed one are arrows.

    Parameters
    ----------
    graph : one graph, as `gramlet.as_batch` takes it in a list
    values : array, optional
        One number per node; nodes are coloured by it, ``centre`` being white. Without it nodes are
        coloured by label.
    ax : matplotlib axes, optional
    node_names : mapping, optional
        What to write for a label, e.g. ``{0: "C", 1: "N"}``.
    value_label : str
        What the colour bar says.
    small : bool
        Draw with little dots, for insets.

    Returns
    -------
    ax : matplotlib axes
    """
    batch = as_single(graph)
    ax = new_axes(ax)
    points = layout(batch)
    _draw_edges(batch, points, ax, small)
    names = _node_texts(batch, node_names)
    style: dict[str, Any] = {"s": 260, "edgecolors": "0.25", "linewidths": 0.8, "zorder": 2}
    style["clip_on"] = False  # nodes at the rim of a flat drawing stay whole
    dark = np.zeros(len(points), dtype=bool)
    if small:
        style |= {"s": 34, "linewidths": 0.4}
    if values is None:
        codes = np.zeros(len(points), int) if batch.node_labels is None else batch.node_labels.codes
        ax.scatter(*points.T, c=[_HUES[c % len(_HUES)] for c in codes], **style)
    else:
        reach = max(float(np.abs(np.asarray(values) - centre).max(initial=0.0)), 1e-12)
        dots = ax.scatter(
            *points.T, c=values, cmap="RdBu_r", vmin=centre - reach, vmax=centre + reach, **style
        )
        dark = np.abs(np.asarray(values) - centre) > _DARK * reach
        ax.figure.colorbar(dots, ax=ax, label=value_label, shrink=0.8)
    font = {"ha": "center", "va": "center", "fontsize": 4 if small else 8, "zorder": 3}
    for (x, y), text, on_dark in zip(points, names, dark, strict=True):
        ax.text(x, y, text, color="white" if on_dark else "black", **font)
    ax.set_aspect("equal")
    ax.margins(0.12)
    ax.axis("off")
    return ax


def _draw_edges(batch: GraphBatch, points: Floats, ax: Any, small: bool) -> None:
    from matplotlib.collections import LineCollection

    tails, heads = batch.arcs()
    if not batch.directed:
        lines = np.stack([points[tails], points[heads]], axis=1)[tails < heads]
        ax.add_collection(LineCollection(list(lines), colors="0.55", linewidths=1.2, zorder=1))
        return
    # An arrow ends at the rim of its node.
    rim = 3.5 if small else 9.5
    arrow = {"arrowstyle": "-|>", "color": "0.55", "shrinkA": 0, "shrinkB": rim, "zorder": 1}
    for tail, head in zip(points[tails], points[heads], strict=True):
        ax.annotate("", xy=head, xytext=tail, arrowprops=arrow, zorder=1)


def _node_texts(batch: GraphBatch, node_names: Any) -> list[str]:
    if batch.node_labels is None:
        return [""] * batch.n_nodes_total
    renamed = node_names or {}
    return [str(renamed.get(label, label)) for label in batch.node_labels]
