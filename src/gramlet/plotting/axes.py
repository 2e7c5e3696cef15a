"""Drawings of graphs with matplotlib, in the same geometry as their SVG.

Everything is placed in the units of the drawing, letters too, so that it grows and shrinks with
its axes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gramlet.common.arrays import Floats
from gramlet.plotting.colours import IMPORTANCE_COLOURS
from gramlet.plotting.drawing import Disc, Drawing, Letters, drawing_of


def pyplot() -> Any:
    """matplotlib.pyplot, imported when it is first needed."""
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError(
            "Plots need matplotlib. Install it with: pip install gramlet[plot]"
        ) from None
    return plt


def new_axes(ax: Any, **size: Any) -> Any:
    """The given axes, or those of a new figure."""
    return pyplot().subplots(layout="constrained", **size)[1] if ax is None else ax


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
    ax = put_on_axes(drawing, ax=ax, reach=reach)
    if drawing.values is not None and (value_label or reach is None):
        _add_colour_bar(ax, centre, max(drawing.reach(reach), 1e-12), value_label)
    return ax


def put_on_axes(
    drawing: Drawing,
    *,
    ax: Any = None,
    reach: float | None = None,
    line_width: float = 1.2,
    least: tuple[float, float] = (5.0, 4.0),
) -> Any:
    """Draw a drawing; its importance has the full colour at ``reach``.

    The axes are at least so wide and high, in edges, so that small graphs are not drawn large.
    """
    ax = new_axes(ax)
    from matplotlib.collections import LineCollection, PatchCollection, PolyCollection
    from matplotlib.patches import Circle, FancyBboxPatch

    shapes = drawing.shapes(reach)
    round_corners = "round,pad=0,rounding_size=0.15"
    outlines: dict[str, Any] = {"edgecolors": "0.27", "linewidths": line_width / 2}
    ink: dict[str, Any] = {
        "colors": "0.15" if drawing.molecule else "0.55",
        "linewidths": line_width,
    }
    discs: dict[str, tuple[list[Disc], dict[str, Any]]] = {
        "glows": (shapes.glows, {"linewidths": 0}),
        "nodes": (shapes.nodes, outlines),
        "rings": (shapes.rings, {"edgecolors": "0.1", "linewidths": line_width}),
    }
    layers: dict[str, Any] = {
        name: PatchCollection(
            [Circle((disc.x, disc.y), disc.radius) for disc in members],
            facecolors=[disc.fill for disc in members],
            alpha=[disc.opacity for disc in members],
            **style,
        )
        for name, (members, style) in discs.items()
        if members
    }
    if shapes.lines:
        layers["lines"] = LineCollection(shapes.lines, **ink)
    if shapes.dashed:
        layers["dashed"] = LineCollection(shapes.dashed, linestyles="dashed", **ink)
    if shapes.arrows:
        layers["arrows"] = PolyCollection(shapes.arrows, facecolors="0.4")
    if shapes.boxes:
        boxes = [
            FancyBboxPatch(
                (box.x - box.half_width, box.y - 0.27), 2 * box.half_width, 0.54, round_corners
            )
            for box in shapes.boxes
        ]
        fills = [box.fill for box in shapes.boxes]
        layers["boxes"] = PatchCollection(boxes, facecolors=fills, **outlines)
    if shapes.letters:
        layers["letters"] = PatchCollection(
            [_outline(text, drawing.molecule) for text in shapes.letters],
            facecolors=[
                "black" if text.colour == "currentColor" else text.colour for text in shapes.letters
            ],
            linewidths=0,
        )
    order = ("glows", "lines", "dashed", "arrows", "nodes", "boxes", "letters", "rings")
    for height, name in enumerate(order):
        if name in layers:
            layers[name].set(zorder=1 + height / 10, label=f"_{name}", clip_on=False)
            ax.add_collection(layers[name])
    if drawing.note:
        note = {"ha": "center", "va": "top", "fontsize": 7, "color": "0.35"}
        ax.text(0.5, 0, drawing.note, transform=ax.transAxes, **note)
    if len(drawing.points):
        low, high = drawing.points.min(axis=0), drawing.points.max(axis=0)
        half = np.maximum((high - low) / 2 + drawing.margins, np.array(least) / 2)
        (left, bottom), (right, top) = (low + high) / 2 - half, (low + high) / 2 + half
        ax.set(xlim=(left, right), ylim=(bottom, top))
    ax.set_aspect("equal")
    ax.axis("off")
    return ax


def _outline(letters: Letters, bold: bool) -> Any:
    """The outlines of a text, centred at its point."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.patches import PathPatch
    from matplotlib.textpath import TextPath
    from matplotlib.transforms import Affine2D

    font = FontProperties(weight="bold" if bold else "normal")
    plain = letters.text.replace("$", r"\$")  # not mathematics
    # Laid out at a size for which the font has outlines, and then shrunk.
    outline = TextPath((0, 0), plain, size=10, prop=font)
    middle = outline.get_extents().x1 / 2 if len(outline.vertices) else 0.0
    shrunk = Affine2D().translate(-middle, -3.4).scale(letters.size / 10)
    return PathPatch(outline.transformed(shrunk.translate(letters.x, letters.y)))


def _add_colour_bar(ax: Any, centre: float, reach: float, label: str) -> None:
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import LinearSegmentedColormap, Normalize

    scale = LinearSegmentedColormap.from_list("importance", IMPORTANCE_COLOURS)
    mappable = ScalarMappable(Normalize(centre - reach, centre + reach), scale)
    ax.figure.colorbar(mappable, ax=ax, label=label, shrink=0.8)
