"""The graphs behind the path kernels: ``python docs/figures/paths.py`` draws them as SVG."""

from __future__ import annotations

import itertools
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle, FancyArrowPatch

FOLDER = Path(__file__).parent
TAKEN, PASSED, INK = "#c0392b", "#5d6d7e", "#1b2631"
NODE_RADIUS = 0.16
Point = tuple[float, float]


def canvas(width: float, height: float) -> tuple[Figure, Axes]:
    """A figure of so many inches, without axes around it."""
    figure, axes = plt.subplots(figsize=(width, height))
    axes.set_aspect("equal")
    axes.axis("off")
    return figure, axes


def node(axes: Axes, at: Point, label: str = "", strong: bool = False) -> None:
    face = "#f9e79f" if strong else "white"
    axes.add_patch(Circle(at, NODE_RADIUS, facecolor=face, edgecolor=INK, linewidth=1.2, zorder=3))
    axes.text(*at, label, ha="center", va="center", fontsize=8, color=INK, zorder=4)


def edge(axes: Axes, start: Point, end: Point, label: str, taken: bool, bend: float = 0.0) -> None:
    """An arrow that bends up (negative) or down, with its weight beside the middle."""
    colour = TAKEN if taken else PASSED
    arrow = FancyArrowPatch(
        start,
        end,
        connectionstyle=f"arc3,rad={bend}",
        arrowstyle="-|>",
        mutation_scale=9,
        shrinkA=11,
        shrinkB=11,
        color=colour,
        linewidth=1.2,
    )
    axes.add_patch(arrow)
    middle_x, middle_y = (start[0] + end[0]) / 2, (start[1] + end[1]) / 2
    if end[1] > start[1]:
        middle_x -= 0.1
    # An arc3 curve passes half of rad times the chord away from the chord's middle.
    lift = -bend * (end[0] - start[0]) / 2
    side = -1 if bend > 0 else 1
    axes.text(
        middle_x,
        middle_y + lift + 0.13 * side,
        label,
        ha="center",
        va="center",
        fontsize=8,
        color=colour,
        zorder=5,
        bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.6},
    )


def all_subsets_graph(d: int = 4) -> Figure:
    """A chain: each coordinate is taken or passed by."""
    figure, axes = canvas(6.4, 1.5)
    for r in range(d):
        edge(axes, (1.3 * r, 0), (1.3 * r + 1.3, 0), "1", taken=False, bend=-0.45)
        edge(axes, (1.3 * r, 0), (1.3 * r + 1.3, 0), f"$x_{r + 1}y_{r + 1}$", True, bend=0.45)
    for r in range(d + 1):
        node(axes, (1.3 * r, 0), str(r), strong=r in (0, d))
    axes.set(xlim=(-0.3, 1.3 * d + 0.3), ylim=(-0.62, 0.62))
    return figure


def anova_graph(d: int = 4, degree: int = 2) -> Figure:
    """A lattice: the height is the number of coordinates taken so far."""
    figure, axes = canvas(6.4, 3.2)
    step_x, step_y = 1.5, 0.95

    def place(r: int, s: int) -> Point:
        return step_x * r, step_y * s

    for r, s in itertools.product(range(d + 1), range(degree + 1)):
        if s > r:
            continue
        on_a_path = degree - s <= d - r
        if on_a_path:
            node(axes, place(r, s), f"{r},{s}", strong=(r, s) in ((0, 0), (d, degree)))
        if r < d and degree - s <= d - r - 1:
            edge(axes, place(r, s), place(r + 1, s), "1", taken=False)
        if r < d and s < degree and on_a_path:
            weight = f"$x_{r + 1}y_{r + 1}$"
            edge(axes, place(r, s), place(r + 1, s + 1), weight, taken=True)
    axes.text(*place(0, degree), "coordinates taken ↑\ncoordinates seen →", fontsize=8, color=INK)
    axes.set(xlim=(-0.4, step_x * d + 0.4), ylim=(-0.35, step_y * degree + 0.45))
    return figure


def polynomial_graph(d: int = 3, degree: int = 3) -> Figure:
    """A chain with all coordinates in parallel, once for each factor."""
    figure, axes = canvas(6.4, 2.3)
    step = 1.9
    for k in range(degree):
        start, end = (step * k, 0.0), (step * k + step, 0.0)
        bends = [0.55 - 1.1 * j / d for j in range(d + 1)]
        for j, bend in enumerate(bends):
            label = "1" if j == d else f"$x_{j + 1}y_{j + 1}$"
            edge(axes, start, end, label, taken=j < d, bend=bend)
    for k in range(degree + 1):
        node(axes, (step * k, 0.0), str(k), strong=k in (0, degree))
    axes.set(xlim=(-0.3, step * degree + 0.3), ylim=(-0.85, 0.85))
    return figure


def embeddings_of(word: str, string: str) -> list[tuple[int, ...]]:
    """All ways to find the word in the string, in order, with gaps."""
    places = itertools.combinations(range(len(string)), len(word))
    return [chosen for chosen in places if "".join(string[i] for i in chosen) == word]


def embeddings_picture(word: str = "asd", string: str = "lassodimension") -> Figure:
    """Every embedding of a word in a string, with its span."""
    found = embeddings_of(word, string)
    figure, axes = canvas(6.4, 0.75 + 0.45 * len(found))
    for i, character in enumerate(string):
        axes.text(0.45 * i, 0, character, ha="center", va="center", fontsize=13, color=INK)
    for k, places in enumerate(found, start=1):
        height = -0.55 * k
        span = places[-1] - places[0] + 1
        axes.plot([0.45 * places[0], 0.45 * places[-1]], [height] * 2, color=PASSED, zorder=1)
        for i in places:
            axes.add_patch(Circle((0.45 * i, height), 0.17, facecolor="white", edgecolor=TAKEN))
            axes.text(0.45 * i, height, string[i], ha="center", va="center", fontsize=9)
        axes.text(0.45 * places[-1] + 0.4, height, rf"$\lambda^{span}$", va="center", color=TAKEN)
    axes.set(xlim=(-0.4, 0.45 * len(string)), ylim=(-0.55 * len(found) - 0.35, 0.35))
    return figure


FIGURES = {
    "all_subsets": all_subsets_graph,
    "anova": anova_graph,
    "polynomial": polynomial_graph,
    "subsequences": embeddings_picture,
}


def main() -> None:
    """Write all of them beside this file, the same bytes every time."""
    plt.rcParams["svg.hashsalt"] = "gramlet"
    for name, draw in FIGURES.items():
        figure = draw()
        path = FOLDER / f"paths_{name}.svg"
        figure.savefig(path, bbox_inches="tight", facecolor="white", metadata={"Date": None})
        plt.close(figure)


if __name__ == "__main__":
    main()
