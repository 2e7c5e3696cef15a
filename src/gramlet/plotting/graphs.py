"""Drawing one graph with matplotlib, from the geometry of `drawing`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gramlet.common.arrays import Floats
from gramlet.plotting.colours import text_on
from gramlet.plotting.drawing import Drawing, drawing_of
from gramlet.plotting.figure import new_axes

__all__ = ["draw_graph", "put_on_axes"]

_DARK = 0.7  # above this share of the largest value a node is too dark for black letters
_BESIDE = 0.12  # between the lines of a double bond
_GAP = 0.24  # between the end of a bond and the middle of a letter


def draw_graph(
    graph: Any,
    values: Floats | None = None,
    *,
    ax: Any = None,
    centre: float = 0.0,
    reach: float | None = None,
    node_names: Mapping[Any, str] | None = None,
    edge_names: Mapping[Any, str] | None = None,
    colours: Mapping[str, str] | None = None,
    value_label: str = "",
    small: bool = False,
) -> Any:
    """Draw one graph; molecules as chemists do, the arcs of directed graphs as arrows.

    Graphs of more than 1,000 nodes are drawn in part, with a note.

    Parameters
    ----------
    graph : one graph, of any type that `gramlet.as_batch` accepts in a list
        This includes SMILES strings and RDKit molecules.
    values : array, optional
        One number per node; nodes are coloured by it, with white at ``centre``. Without it, nodes
        are coloured by label.
    ax : matplotlib axes, optional
    centre : float
    reach : float, optional
        The distance from ``centre`` at which the colour is full; use the same value to compare
        several pictures. By default the largest distance in this graph.
    node_names, edge_names : mapping, optional
        Names of labels, e.g. ``{0: "C", 1: "N"}``. Graphs whose labels are atoms and
        bonds by name ("single", "double", "triple", "aromatic") are drawn as molecules.
    colours : mapping, optional
        The colour of each label by its name, see `label_colours`.
    value_label : str
        The label of the colour bar.
    small : bool
        Draw with small dots, for insets.

    Returns
    -------
    ax : matplotlib axes
    """
    drawing = drawing_of(
        graph,
        None if values is None else np.asarray(values, dtype=np.float64) - centre,
        node_names=node_names,
        edge_names=edge_names,
        colours=colours,
    )
    return put_on_axes(
        drawing, ax=ax, centre=centre, reach=reach, value_label=value_label, small=small
    )


def put_on_axes(
    drawing: Drawing,
    *,
    ax: Any = None,
    centre: float = 0.0,
    reach: float | None = None,
    value_label: str = "",
    small: bool = False,
) -> Any:
    """Draw a drawing; parameters as for `draw_graph`."""
    ax = new_axes(ax)
    _draw_lines(drawing, ax, small)
    if drawing.boxes:
        return _draw_boxes(drawing, ax)
    dark = _draw_nodes(drawing, ax, centre, reach, value_label, small)
    font = {"ha": "center", "va": "center", "fontsize": 4 if small else 8, "zorder": 3}
    for (x, y), text, colour, on_dark in zip(
        drawing.points, drawing.texts, drawing.colours, dark, strict=True
    ):
        ink = "white" if on_dark else "black"
        if drawing.molecule and not on_dark and colour != "currentColor":
            ink = colour
        if text:
            ax.text(x, y, text, color=ink, weight="bold" if drawing.molecule else "normal", **font)
    if drawing.marked:
        ring = {"s": 480.0, "facecolors": "none", "edgecolors": "0.1", "zorder": 3}
        ax.scatter(*drawing.points[list(drawing.marked)].T, **ring)
    if drawing.note:
        ax.text(
            0.5,
            0,
            drawing.note,
            transform=ax.transAxes,
            ha="center",
            va="top",
            fontsize=7,
            color="0.35",
        )
    ax.set_aspect("equal")
    ax.margins(0.12)
    ax.axis("off")
    return ax


def _draw_boxes(drawing: Drawing, ax: Any) -> Any:
    """Texts in boxes: the nodes of a tree."""
    box = {"boxstyle": "round,pad=0.18", "ec": "0.45", "lw": 0.7}
    for (x, y), text, fill in zip(drawing.points, drawing.texts, drawing.colours, strict=True):
        ax.text(
            x,
            y,
            text,
            fontsize=8,
            ha="center",
            va="center",
            zorder=2,
            color=text_on(fill),
            bbox=box | {"fc": fill},
        )
    (left, low), (right, high) = drawing.points.min(axis=0), drawing.points.max(axis=0)
    ax.set_xlim(left - 0.8, max(right, left + 4.0) + 0.8)
    ax.set_ylim(low - 0.5, high + 0.5)
    ax.axis("off")
    return ax


def _draw_nodes(
    drawing: Drawing, ax: Any, centre: float, reach: float | None, label: str, small: bool
) -> list[bool]:
    """Draw discs, coloured by value or label; return which of them are dark."""
    size = 34.0 if small else 260.0
    if len(drawing.points) > 40:
        size *= 40 / len(drawing.points)
    style: dict[str, Any] = {"s": size, "zorder": 2, "clip_on": False}
    if not drawing.molecule:
        style |= {"edgecolors": "0.25", "linewidths": 0.4 if small else 0.8}
    else:
        style |= {"linewidths": 0, "zorder": 0, "alpha": 0.8, "s": 1.3 * size}
    if drawing.values is None:
        if not drawing.molecule:
            ax.scatter(*drawing.points.T, c=drawing.colours, **style)
        return [False] * len(drawing.points)
    largest = float(np.abs(drawing.values).max(initial=0.0))
    full = max(largest if reach is None else reach, 1e-12)
    dots = ax.scatter(
        *drawing.points.T,
        c=drawing.values + centre,
        cmap="RdBu_r",
        vmin=centre - full,
        vmax=centre + full,
        **style,
    )
    if label or reach is None:
        ax.figure.colorbar(dots, ax=ax, label=label, shrink=0.8)
    return (np.abs(drawing.values) > _DARK * full).tolist()


def _draw_lines(drawing: Drawing, ax: Any, small: bool) -> None:
    from matplotlib.collections import LineCollection

    points = drawing.points
    if any(stroke.arrow for stroke in drawing.strokes):
        # An arrow ends at the rim of its node.
        rim = 3.5 if small else 9.5
        arrow = {"arrowstyle": "-|>", "color": "0.55", "shrinkA": 0, "shrinkB": rim, "zorder": 1}
        for stroke in drawing.strokes:
            ax.annotate(
                "", xy=points[stroke.head], xytext=points[stroke.tail], arrowprops=arrow, zorder=1
            )
        return
    whole: list[Any] = []
    broken: list[Any] = []
    for stroke in drawing.strokes:
        a, b = points[stroke.tail], points[stroke.head]
        along = (b - a) / max(float(np.hypot(*(b - a))), 1e-9)
        across = np.array([-along[1], along[0]])
        cut = [
            _GAP * along if drawing.molecule and drawing.texts[node] else 0.0 * along
            for node in (stroke.tail, stroke.head)
        ]
        for rail, dashed in drawing.rails(stroke):
            shift = rail * _BESIDE * across
            (broken if dashed else whole).append([a + cut[0] + shift, b - cut[1] + shift])
        if stroke.text:
            middle = (a + b) / 2
            ax.text(*middle, stroke.text, fontsize=6.5, color="0.3", ha="center", va="bottom")
    style: dict[str, Any] = {"colors": "0.15" if drawing.molecule else "0.55", "zorder": 1}
    width = 0.6 if small else 1.2
    ax.add_collection(LineCollection(whole, linewidths=width, **style))
    if broken:
        ax.add_collection(LineCollection(broken, linewidths=width, linestyles="dashed", **style))
