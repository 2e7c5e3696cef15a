"""Patterns beside bars of their weights, level by level, and graphs coloured by them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gramlet.common.arrays import Floats, Ints
from gramlet.explain import LinearExplanation
from gramlet.graphs.conversion.convert import as_single
from gramlet.kernels.wasserstein.weighted import WeightedWassersteinWL
from gramlet.kernels.weisfeiler_lehman.colour_counts import colouring_of
from gramlet.plotting.drawing import Drawing
from gramlet.plotting.figure import pyplot
from gramlet.plotting.graphs import draw_graph, put_on_axes
from gramlet.plotting.pattern_drawing import can_draw, pattern_drawing

__all__ = ["node_importance", "plot_graph_importance", "plot_patterns"]


# Inches: the height of a line of a drawn pattern, and the largest height of a pattern.
_LINE, _TALLEST = 0.22, 2.5


class _Learned(NamedTuple):
    """The values of a kernel's patterns, the neutral value, and their name."""

    kernel: Any
    values: Floats
    centre: float
    meaning: str

    @property
    def colouring(self) -> Any:
        """The colours of a Weisfeiler-Lehman kernel over nodes; None for any other."""
        return colouring_of(self.kernel)

    def levels(self) -> list[tuple[int | None, Ints]]:
        """The columns of each level; all of them, at level None, if there are no levels."""
        if self.colouring is None:
            return [(None, np.arange(len(self.values)))]
        ends = np.cumsum(self.colouring.n_colours)[:-1]
        columns = np.split(np.arange(len(self.values)), ends)
        return list(zip(self.colouring.level_numbers, columns, strict=True))


def _learned(model: Any, output: int) -> _Learned:
    if isinstance(model, LinearExplanation):
        if can_draw(model.kernel):
            meaning = f"coefficient for {model.outputs[output]}"
            return _Learned(model.kernel, model.coefficients[output], 0.0, meaning)
    elif isinstance(model, WeightedWassersteinWL) and "weights_" in vars(model):
        return _Learned(model, np.concatenate(model.weights_), 1.0, "weight")
    raise TypeError(
        "Patterns have values in a fitted WeightedWassersteinWL, or in explain_linear of a "
        "Weisfeiler-Lehman kernel over nodes, ODDSTh, GraphletKernel, ShortestPath, NSPDK, "
        f"VertexHistogram or EdgeHistogram; got {type(model).__name__}."
    )


def plot_patterns(
    model: Any,
    n: int = 10,
    level: int | None = None,
    *,
    output: int = 0,
    node_names: Any = None,
    edge_names: Any = None,
    graphs: Any = None,
) -> Any:
    """Draw the patterns that matter most beside bars of their weights, level by level.

    Parameters
    ----------
    model : fitted WeightedWassersteinWL, or the result of `explain_linear`
        For a kernel whose patterns can be drawn: `WeisfeilerLehman` over nodes, `ODDSTh`,
        `GraphletKernel`, `ShortestPath`, `NSPDK`, `VertexHistogram`, `EdgeHistogram`.
    n : int
        Patterns per level: those whose weight is farthest from 1 (coefficients: from 0).
    level : int, optional
        Only this level.
    output : int
        Which decision, for `explain_linear` with more than two classes.
    node_names, edge_names : mapping, optional
        What to write for a label, e.g. ``{0: "C", 1: "N"}``.
    graphs : graphs, optional
        The source of examples of pairs of balls (`NSPDK`).

    Returns
    -------
    figure : matplotlib figure
    """
    learned = _learned(model, output)
    levels = learned.levels()
    known = [h for h, _ in levels if h is not None]
    if level is not None and level not in known:
        raise ValueError(
            f"level must be one of {known}; got {level!r}."
            if known
            else f"The patterns of {type(learned.kernel).__name__} have no levels; got {level!r}."
        )
    panels = [
        (h, _leading(learned.values, columns, learned.centre, n))
        for h, columns in levels
        if level in (None, h)
    ]
    drawings = {
        int(column): pattern_drawing(
            learned.kernel, int(column), node_names=node_names, edge_names=edge_names, graphs=graphs
        )
        for _, chosen in panels
        for column in chosen
    }
    rows = max(1, *(len(chosen) for _, chosen in panels))
    lines = max((_lines(drawing) for drawing in drawings.values()), default=1.0)
    height = 0.5 + rows * min(max(0.75, _LINE * lines), _TALLEST)
    figure = pyplot().figure(figsize=(4.6 * len(panels), height), layout="constrained")
    parts = np.atleast_1d(figure.subfigures(1, len(panels), wspace=0.04))
    for part, (h, chosen) in zip(parts, panels, strict=True):
        if h is not None:
            part.suptitle(f"level {h}", fontsize=11)
        _draw_level(part, [drawings[int(column)] for column in chosen], learned, chosen, rows)
    return figure


def _leading(values: Floats, columns: Ints, centre: float, n: int) -> Ints:
    """The columns whose values are farthest from ``centre``, the highest value first."""
    mine = values[columns]
    chosen = np.argsort(-np.abs(mine - centre), kind="stable")[:n]
    return columns[chosen[np.argsort(-mine[chosen], kind="stable")]]


def _lines(drawing: Drawing | None) -> float:
    """How many lines of text a drawing is high."""
    if drawing is None or not len(drawing.points):
        return 1.0
    return float(np.ptp(drawing.points[:, 1])) / 0.7 + 1.0


def _draw_level(
    panel: Any, drawings: list[Drawing | None], learned: _Learned, chosen: Ints, rows: int
) -> None:
    grid = panel.add_gridspec(rows, 2, width_ratios=(1.25, 1))
    for row, drawing in enumerate(drawings):
        ax = panel.add_subplot(grid[row, 0])
        ax.axis("off")
        if drawing is not None:
            put_on_axes(drawing, ax=ax)
    weights, centre = learned.values[chosen], learned.centre
    bars = panel.add_subplot(grid[: max(1, len(chosen)), 1])
    bars.barh(
        np.arange(len(chosen)),
        weights - centre,
        left=centre,
        height=0.55,
        color=np.where(weights >= centre, "#b2432f", "#3a6ea5"),
    )
    bars.axvline(centre, color="0.4", linewidth=0.8)
    bars.set_ylim(len(chosen) - 0.5, -0.5)
    bars.set_yticks([])
    bars.set_xlabel(learned.meaning)
    bars.spines[["top", "right", "left"]].set_visible(False)


def node_importance(model: Any, graph: Any, output: int = 0) -> tuple[Floats, float, str]:
    """The value of each node of a graph, the neutral value, and its name."""
    batch = as_single(graph)
    learned = _learned(model, output)
    if isinstance(model, LinearExplanation):
        shares = model.nodes(batch, output).sum(axis=1)
        return shares, 0.0, f"adds to the decision for {model.outputs[output]}"
    levels = learned.colouring.apply(batch)
    weights = np.ones(levels.shape)
    for h, (_, columns) in enumerate(learned.levels()):
        seen = levels[h] < len(columns)
        weights[h, seen] = learned.values[columns][levels[h][seen]]
    return weights.mean(axis=0), 1.0, "mean weight of the patterns rooted here"


def plot_graph_importance(
    model: Any,
    graph: Any,
    *,
    output: int = 0,
    ax: Any = None,
    reach: float | None = None,
    node_names: Any = None,
    edge_names: Any = None,
) -> Any:
    """Draw a graph with its nodes coloured by the patterns rooted there.

    For a `WeightedWassersteinWL` a node's value is the mean weight of its patterns over the levels
    (1 for a pattern not seen at fit); for `explain_linear` what the node adds to the decision.

    Parameters
    ----------
    model : fitted WeightedWassersteinWL, or the result of `explain_linear`
    graph : one graph
    output : int
        Which decision, for `explain_linear` with more than two classes.
    ax : matplotlib axes, optional
    reach : float, optional
        The distance from the neutral value at which the colour is full; use the same value for
        several pictures. By default the largest distance in this graph.
    node_names, edge_names : mapping, optional
        What to write for a label; molecules by name are drawn as such.

    Returns
    -------
    ax : matplotlib axes
    """
    values, centre, meaning = node_importance(model, graph, output)
    return draw_graph(
        graph,
        values,
        ax=ax,
        centre=centre,
        reach=reach,
        node_names=node_names,
        edge_names=edge_names,
        value_label=meaning,
    )
