"""Subtree patterns as small trees beside their weights, and graphs coloured by them."""

from __future__ import annotations

from typing import Any

import numpy as np

from gramlet.common.arrays import Floats, Ints
from gramlet.explain import LinearExplanation
from gramlet.graphs.convert import as_single
from gramlet.kernels.weisfeiler_lehman.colour_counts import Colouring, SubtreePattern
from gramlet.plotting.figure import pyplot
from gramlet.plotting.graphs import draw_graph

__all__ = ["plot_graph_importance", "plot_patterns"]


# Inches: a leaf of a drawn tree, and the most that one tree may take.
_LEAF, _TALLEST = 0.22, 2.5


def _learned(model: Any, output: int) -> tuple[Colouring, list[Floats], float, str]:
    """The colouring, the values level by level, the value that means nothing, and its name."""
    if isinstance(model, LinearExplanation):
        colouring = getattr(model.kernel.counter_, "colouring", None)
        if colouring is not None and getattr(model.kernel, "base", "vertex") == "vertex":
            ends = np.cumsum(colouring.n_colours)[:-1]
            values = np.split(model.coefficients[output], ends)
            return colouring, values, 0.0, f"coefficient for {model.outputs[output]}"
    elif hasattr(model, "weights_") and hasattr(model, "counter_"):
        return model.counter_.colouring, model.weights_, 1.0, "weight"
    raise TypeError(
        "Patterns have values in a fitted WeightedWassersteinWL, or in explain_linear of a "
        f"Weisfeiler-Lehman kernel over nodes; got {type(model).__name__}."
    )


def plot_patterns(
    model: Any,
    n: int = 10,
    level: int | None = None,
    *,
    output: int = 0,
    node_names: Any = None,
) -> Any:
    """Draw the patterns that matter most, as trees beside bars of their weights, level by level.

    Parameters
    ----------
    model : fitted WeightedWassersteinWL, or the result of `explain_linear`
    n : int
        Patterns a level: those whose weight is farthest from 1 (coefficients: from 0).
    level : int, optional
        Only this level.
    output : int
        Which decision, for `explain_linear` with more than two classes.
    node_names : mapping, optional
        What to write for a label, e.g. ``{0: "C", 1: "N"}``.

    Returns
    -------
    figure : matplotlib figure
    """
    colouring, values, centre, meaning = _learned(model, output)
    levels = list(colouring.level_numbers)
    if level is not None and level not in levels:
        raise ValueError(f"level must be one of {levels}; got {level!r}.")
    shown = [(h, v) for h, v in zip(levels, values, strict=True) if level in (None, h)]
    rows = max(1, max(min(n, len(v)) for _, v in shown))
    chosen = {h: _leading(weights, centre, n) for h, weights in shown}
    leaves = max(
        (_n_leaves(colouring.tree(h, int(c))) for h in chosen for c in chosen[h]), default=1
    )
    height = 0.5 + rows * min(max(0.75, _LEAF * leaves), _TALLEST)
    figure = pyplot().figure(figsize=(4.6 * len(shown), height), layout="constrained")
    panels = np.atleast_1d(figure.subfigures(1, len(shown), wspace=0.04))
    names = {str(k): str(v) for k, v in (node_names or {}).items()}
    for panel, (h, weights) in zip(panels, shown, strict=True):
        panel.suptitle(f"level {h}", fontsize=11)
        _draw_level(panel, colouring, h, chosen[h], weights, centre, meaning, rows, names)
    return figure


def _leading(weights: Floats, centre: float, n: int) -> Ints:
    """The colours whose values are farthest from ``centre``, the highest value first."""
    chosen = np.argsort(-np.abs(weights - centre), kind="stable")[:n]
    return chosen[np.argsort(-weights[chosen], kind="stable")]


def _n_leaves(tree: SubtreePattern) -> int:
    """Leaves as they are drawn: equal children once."""
    return sum(_n_leaves(child) for _, child, _ in tree.children) or 1


def _draw_level(
    panel: Any,
    colouring: Colouring,
    level: int,
    chosen: Ints,
    weights: Floats,
    centre: float,
    meaning: str,
    rows: int,
    names: dict[str, str],
) -> None:
    grid = panel.add_gridspec(rows, 2, width_ratios=(1.25, 1))
    for row, colour in enumerate(chosen):
        ax = panel.add_subplot(grid[row, 0])
        draw_tree(colouring.tree(level, int(colour)), ax, names)
    bars = panel.add_subplot(grid[: len(chosen), 1])
    above = weights[chosen] >= centre
    bars.barh(
        np.arange(len(chosen)),
        weights[chosen] - centre,
        left=centre,
        height=0.55,
        color=np.where(above, "#b2432f", "#3a6ea5"),
    )
    bars.axvline(centre, color="0.4", linewidth=0.8)
    bars.set_ylim(len(chosen) - 0.5, -0.5)
    bars.set_yticks([])
    bars.set_xlabel(meaning)
    bars.spines[["top", "right", "left"]].set_visible(False)


def draw_tree(tree: SubtreePattern, ax: Any, names: dict[str, str] | None = None) -> None:
    """Draw a rooted tree, its root at the left; equal children are drawn once, with ×count."""
    spots: list[tuple[float, float, str]] = []
    links: list[tuple[float, float, float, float, str]] = []
    height = _place(tree, 0, 0.0, spots, links, names or {})[1]
    for x0, y0, x1, y1, text in links:
        ax.plot([x0, x1], [-y0, -y1], color="0.6", linewidth=1.0, zorder=1)
        if text:
            ax.text((x0 + x1) / 2, -(y0 + y1) / 2, text, fontsize=6.5, color="0.3",
                    ha="center", va="bottom", zorder=3)  # fmt: skip
    for x, y, text in spots:
        box = {"boxstyle": "round,pad=0.18", "fc": "white", "ec": "0.45", "lw": 0.7}
        ax.text(x, -y, text, fontsize=8, ha="center", va="center", zorder=2, bbox=box)
    deepest = max(x for x, _, _ in spots)
    ax.set_xlim(-0.5, max(deepest, 2.0) + 0.5)
    ax.set_ylim(-max(height, 1.0) + 0.3, 0.7)
    ax.axis("off")


def _place(
    tree: SubtreePattern,
    depth: int,
    top: float,
    spots: list[tuple[float, float, str]],
    links: list[tuple[float, float, float, float, str]],
    names: dict[str, str],
) -> tuple[float, float]:
    """Place a subtree below ``top``; returns the root's height and where the next may begin."""
    if not tree.children:
        spots.append((depth, top, names.get(tree.label, tree.label)))
        return top, top + 1.0
    below, middles = top, []
    for edge, child, count in tree.children:
        middle, below = _place(child, depth + 1, below, spots, links, names)
        text = f"{edge} ×{count}".strip() if count > 1 else edge
        middles.append((middle, text))
    own = (middles[0][0] + middles[-1][0]) / 2
    links.extend((depth, own, depth + 1, middle, text) for middle, text in middles)
    spots.append((depth, own, names.get(tree.label, tree.label)))
    return own, below


def plot_graph_importance(
    model: Any, graph: Any, *, output: int = 0, ax: Any = None, node_names: Any = None
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
    node_names : mapping, optional
        What to write for a label.

    Returns
    -------
    ax : matplotlib axes
    """
    batch = as_single(graph)
    colouring, values, centre, meaning = _learned(model, output)
    if isinstance(model, LinearExplanation):
        shares = model.nodes(batch, output).sum(axis=1)
        return draw_graph(
            batch, shares, ax=ax, centre=0.0, node_names=node_names,
            value_label=f"adds to the decision for {model.outputs[output]}",
        )  # fmt: skip
    levels = colouring.apply(batch)
    weights = np.ones(levels.shape)
    for h, known in enumerate(colouring.n_colours):
        seen = levels[h] < known
        weights[h, seen] = values[h][levels[h][seen]]
    return draw_graph(
        batch, weights.mean(axis=0), ax=ax, centre=centre, node_names=node_names,
        value_label=f"mean {meaning} of the patterns rooted here",
    )  # fmt: skip
