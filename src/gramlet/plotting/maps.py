"""Maps of graphs: points of a kernel map by class, with a few graphs drawn beside them."""

from __future__ import annotations

from typing import Any

import numpy as np

from gramlet.common.arrays import Array, Floats, Ints
from gramlet.files.target import infer_task
from gramlet.graphs.convert import as_batch
from gramlet.plotting.figure import new_axes
from gramlet.plotting.graphs import draw_graph

__all__ = ["plot_map"]


_COLOURS = ("#3a6ea5", "#c8553d", "#4f8a4b", "#8e6bad", "#b58a1d", "#4aa3a2", "#7a7a7a")
_MARKERS = ("o", "s", "^", "D", "v", "P", "X")


def plot_map(
    graph_map: Any,
    y: Any = None,
    *,
    graphs: Any = None,
    examples: int | Any = 6,
    ax: Any = None,
    value_name: str | None = None,
    node_names: Any = None,
) -> Any:
    """Draw the fitted graphs of a `KernelMap` as points, by class or by number.

    Parameters
    ----------
    graph_map : fitted KernelMap
        Its first two components are drawn.
    y : array, optional
        The classes of the fitted graphs, or numbers, which `infer_task` tells from classes and
        for which there is a colour bar.
    graphs : the fitted graphs, optional
        If given, some of them are drawn around the map, joined to their points.
    examples : int or sequence of int
        How many (spread over the map), or which graphs to draw.
    ax : matplotlib axes, optional
    value_name : str, optional
        What the numbers are called, for the colour bar.
    node_names : mapping, optional
        What to write for a node label in the drawn graphs.

    Returns
    -------
    ax : matplotlib axes
    """
    scores = graph_map.scores_
    if scores.shape[1] < 2:
        raise ValueError("A map needs two components; fit KernelMap with n_components=2 or more.")
    values = None if y is None else np.asarray(y)
    if values is not None and len(values) != len(scores):
        raise ValueError(f"y has {len(values)} values for {len(scores)} fitted graphs.")
    ax = new_axes(ax, figsize=(8.5, 6.2))
    if values is not None and infer_task(values) == "regression":
        _draw_numbers(ax, scores, values, value_name)
    else:
        _draw_classes(ax, scores, values)
    share = graph_map.explained_share_
    ax.set_xlabel(f"component 1 ({share[0]:.0%} of the variance)")
    ax.set_ylabel(f"component 2 ({share[1]:.0%})")
    ax.spines[["top", "right"]].set_visible(False)
    if graphs is not None:
        _draw_examples(ax, scores[:, :2], as_batch(graphs), examples, node_names)
    return ax


def _draw_classes(ax: Any, scores: Floats, values: Array | None) -> None:
    classes = np.zeros(len(scores), dtype=int) if values is None else values
    for i, name in enumerate(np.unique(classes)):
        chosen = classes == name
        ax.scatter(
            *scores[chosen, :2].T, s=22, alpha=0.75, linewidths=0,
            color=_COLOURS[i % len(_COLOURS)], marker=_MARKERS[i % len(_MARKERS)], label=str(name),
        )  # fmt: skip
    if values is not None:
        ax.legend(title="class", frameon=False, loc="best")


def _draw_numbers(ax: Any, scores: Floats, values: Array, name: str | None) -> None:
    """Points coloured by number, with a bar that says which colour is which."""
    points = ax.scatter(
        *scores[:, :2].T, s=22, alpha=0.85, linewidths=0, c=values.astype(float), cmap="viridis"
    )
    ax.figure.colorbar(points, ax=ax, label=name or "", shrink=0.8)


def _draw_examples(ax: Any, points: Floats, graphs: Any, examples: Any, node_names: Any) -> None:
    if len(graphs) != len(points):
        raise ValueError(f"{len(graphs)} graphs are given, but {len(points)} were fitted.")
    chosen = _spread(points, examples) if isinstance(examples, int) else np.asarray(examples)
    if len(chosen) == 0:
        return
    low, high = points.min(axis=0), points.max(axis=0)
    middle, reach = (low + high) / 2, np.maximum((high - low) / 2, 1e-12)
    ax.set_xlim(middle[0] - 1.75 * reach[0], middle[0] + 1.75 * reach[0])
    ax.set_ylim(middle[1] - 1.75 * reach[1], middle[1] + 1.75 * reach[1])
    relative = (points[chosen] - middle) / reach
    angles = np.arctan2(relative[:, 1], relative[:, 0])
    # Around the map in the order of the points' directions, evenly, so that lines do not cross.
    order = np.argsort(angles, kind="stable")
    places = angles[order[0]] + 2 * np.pi * np.arange(len(chosen)) / len(chosen)
    for graph, angle in zip(chosen[order], places, strict=True):
        centre = 0.5 + 0.41 * np.array([np.cos(angle), np.sin(angle)])
        inset = ax.inset_axes([centre[0] - 0.09, centre[1] - 0.09, 0.18, 0.18])
        draw_graph(graphs[int(graph)], ax=inset, node_names=node_names, small=True)
        ax.annotate(
            "", xy=points[graph], xytext=centre, textcoords="axes fraction", zorder=0,
            arrowprops={"arrowstyle": "-", "color": "0.6", "lw": 0.8, "shrinkA": 22},
        )  # fmt: skip


def _spread(points: Floats, count: int) -> Ints:
    """Points far from each other: each next one farthest from those before."""
    scaled = points / np.maximum(np.ptp(points, axis=0), 1e-12)
    chosen = [int(np.argmax(np.linalg.norm(scaled - scaled.mean(axis=0), axis=1)))]
    while len(chosen) < min(count, len(points)):
        apart = np.linalg.norm(scaled[:, None] - scaled[chosen][None], axis=2).min(axis=1)
        chosen.append(int(np.argmax(apart)))
    return np.array(chosen[:count], dtype=np.int64)
