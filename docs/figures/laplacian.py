"""Balls within balls, and what each level sees: ``python docs/figures/laplacian.py`` draws SVG."""

from __future__ import annotations

from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from scipy.sparse.csgraph import shortest_path

from gramlet import GraphBatch, MultiscaleLaplacian, load_dataset
from gramlet.plotting import layout

FOLDER = Path(__file__).parent
INK, PALE = "#1b2631", "#d5d8dc"
SHADES = ("#c0392b", "#e08e79", "#f3d3c8")
LINES = ("#1b2631", "#2e6da4", "#c0392b", "#3b7a57")


def ring(size: int, first: int = 0) -> list[tuple[int, int]]:
    """The edges of a ring."""
    return [(first + i, first + (i + 1) % size) for i in range(size)]


def draw_ball(axes: Axes, graph: GraphBatch, centre: int, hops: int | None) -> None:
    """A graph with the ball around one node in colour, darker towards the centre."""
    points = layout(graph)
    away = shortest_path(graph.adjacency(0), unweighted=True)[centre]
    reach = away.max() if hops is None else hops
    for u, v in zip(*graph.arcs(), strict=True):
        inside = max(away[u], away[v]) <= reach
        axes.plot(*points[[u, v]].T, color=INK if inside else PALE, linewidth=1.4, zorder=1)
    for v, point in enumerate(points):
        colour = "white"
        if hops is not None and away[v] <= reach:
            colour = SHADES[0] if v == centre else SHADES[1 if 2 * away[v] <= reach else 2]
        elif hops is None:
            colour = SHADES[1]
        edge = INK if colour != "white" else PALE
        axes.scatter(*point, s=70, color=colour, edgecolor=edge, linewidth=1.0, zorder=2)
    axes.set_aspect("equal")
    axes.margins(0.06, 0.12)
    axes.axis("off")


def scales() -> None:
    """One vertex, the balls around it, and the graph."""
    graph = load_dataset("MUTAG").graphs[0]
    panels: list[tuple[int | None, str]] = [
        (1, "level 1: radius 1"),
        (2, "level 2: radius 2"),
        (4, "level 3: radius 4"),
        (None, "in the end: the graph"),
    ]
    figure, axes = plt.subplots(2, 2, figsize=(7.5, 3.6))
    for place, (hops, title) in zip(axes.flat, panels, strict=True):
        draw_ball(place, graph, 5, hops)
        place.set_title(title, fontsize=10, color=INK)
    figure.tight_layout()
    figure.savefig(FOLDER / "laplacian_scales.svg")
    plt.close(figure)


def rings() -> None:
    """The kernel of one ring of 2n nodes and two rings of n, level by level."""
    levels = np.arange(1, 7)
    figure, axes = plt.subplots(figsize=(7.5, 3.3))
    axes.axhline(1.0, color=PALE, linewidth=6, zorder=0, label="Weisfeiler-Lehman, all of them")
    for size, colour in zip((3, 6, 12, 24), LINES, strict=True):
        graphs = GraphBatch.from_edges(
            [ring(2 * size), ring(size) + ring(size, size)], n_nodes=[2 * size] * 2
        )
        values = [MultiscaleLaplacian(int(n)).fit_transform(graphs)[0, 1] for n in levels]
        label = f"a ring of {2 * size}, two of {size}"
        axes.plot(levels, values, "o-", color=colour, markersize=4, label=label)
    axes.set(xlabel="levels (the largest balls have radius 1, 2, 4, 8, 16, 32)", ylabel="k")
    axes.set_ylim(-0.03, 1.06)
    axes.legend(frameon=False, fontsize=9, loc="center left", bbox_to_anchor=(1.0, 0.5))
    axes.spines[["top", "right"]].set_visible(False)
    figure.tight_layout()
    figure.savefig(FOLDER / "laplacian_rings.svg")
    plt.close(figure)


if __name__ == "__main__":
    scales()
    rings()
