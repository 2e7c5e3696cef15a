"""Patterns, which are columns of a kernel's features, as small drawings beside their weights.

Subtrees of Weisfeiler-Lehman kernels and ODD-STh are trees, graphlets are small graphs, shortest
paths are chains, pairs of balls are subgraphs of a graph that contains them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse.csgraph import shortest_path

from gramlet.common.arrays import Floats, Ints
from gramlet.engine.graphlets.patterns import adjacency_matrices
from gramlet.engine.graphlets.patterns import patterns as graphlets
from gramlet.engine.neighbourhoods.ball_pairs import ball_identities
from gramlet.engine.neighbourhoods.descent_trees import split_child
from gramlet.explain import Explanation, ModelExplanation
from gramlet.graphs.batch import GraphBatch
from gramlet.graphs.conversion.convert import as_batch, as_single
from gramlet.kernels.graphlets.graphlet import GraphletCounter
from gramlet.kernels.histograms.label_histograms import EdgeCounter, VertexCounter
from gramlet.kernels.neighbourhoods.nspdk import BallPairCounter
from gramlet.kernels.neighbourhoods.odd_sth import TreeCounter
from gramlet.kernels.paths.shortest_path import PathCounter
from gramlet.kernels.wasserstein.weighted import WeightedWassersteinWL
from gramlet.kernels.weisfeiler_lehman.colour_counts import (
    ColourCounter,
    SubtreePattern,
    colouring_of,
)
from gramlet.plotting.axes import draw_graph, put_on_axes, pyplot
from gramlet.plotting.colours import label_colours
from gramlet.plotting.drawing import Drawing, Names, Stroke, drawing_of, half_box, induced

_LEVEL_GAP, _LEAF_GAP = 0.6, 0.9  # between the boxes of levels, and between leaves
_LONGEST_CHAIN = 8
_LONGEST_TEXT = 40  # letters in a box, and along an edge
_SEARCHED = 200  # graphs that are searched at once for an example
_PAPER = "#f3f1ea"
_INCH, _TALLEST = 0.33, 2.5  # inches per edge of a drawn pattern, and the largest height


class _Look(NamedTuple):
    """How patterns are drawn: names of labels by their text, colours, graphs with examples."""

    words: dict[str, str]
    bonds: dict[str, str]
    colours: Mapping[str, str]
    graphs: Any

    def names(self, labels: list[str], *codes: int) -> list[str]:
        """The names of some labels."""
        return [self.words.get(labels[code], labels[code]) for code in codes]


def can_draw(kernel: Any) -> bool:
    """Whether the patterns of a fitted kernel can be drawn."""
    return type(getattr(kernel, "counter_", None)) in _DRAWERS


def pattern_drawing(
    kernel: Any,
    column: int,
    *,
    node_names: Names | None = None,
    edge_names: Names | None = None,
    graphs: Any = None,
    colours: Mapping[str, str] | None = None,
) -> Drawing | None:
    """The pattern of a column of a fitted kernel's features; None if it cannot be drawn.

    Parameters
    ----------
    kernel : fitted kernel with explicit features
    column : int
    node_names, edge_names : mapping, optional
        Names of labels.
    graphs : graphs, optional
        Graphs to search for an example of a pair of balls (`NSPDK`); without them, or if there is
        none, the labels of the balls are drawn hop by hop.
    colours : mapping, optional
        The colour of each label by its name, as in other drawings of the same graphs; by default
        by its position among the labels that the kernel knows.

    Examples
    --------
    >>> from gramlet import ShortestPath
    >>> from gramlet.plotting.patterns import pattern_drawing
    >>> kernel = ShortestPath().fit([([(0, 1), (1, 2)], "CNO")])
    >>> column = kernel.get_feature_names_out().tolist().index("C-O:2")
    >>> pattern_drawing(kernel, column).names
    ['C', '', 'O']
    """
    counter = getattr(kernel, "counter_", None)
    drawer = _DRAWERS.get(type(counter))
    if drawer is None:
        return None
    words, bonds = (
        {str(label): str(name) for label, name in (names or {}).items()}
        for names in (node_names, edge_names)
    )
    if colours is None:
        labels = getattr(getattr(counter, "colouring", counter), "labels", None)
        known = [] if labels is None else labels.names()
        colours = label_colours(words.get(name, name) for name in known)
    return drawer(counter, column, _Look(words, bonds, colours, graphs))


def _subtree(counter: ColourCounter, column: int, look: _Look) -> Drawing:
    colouring = counter.colouring
    for level, known in zip(colouring.level_numbers, colouring.n_colours, strict=True):
        if column < known:
            return _tree_drawing(colouring.tree(level, column), look)
        column -= known
    raise IndexError(f"There are {counter.n_features} patterns; there is none beyond them.")


def _descents(counter: TreeCounter, column: int, look: _Look) -> Drawing:
    level = 0
    while column >= len(counter.tables[level]):
        column -= len(counter.tables[level])
        level += 1
    labels = counter.labels.names()

    def tree(level: int, column: int) -> SubtreePattern:
        root, *children = counter.tables[level].signature(column).tolist()
        below = Counter(tree(*split_child(child)) for child in children)
        return SubtreePattern(labels[root], tuple(("", child, n) for child, n in below.items()))

    return _tree_drawing(tree(level, column), look)


def _graphlet(counter: GraphletCounter, column: int, look: _Look) -> Drawing:
    known = graphlets(counter.k)
    codes = known.smallest[known.connected] if counter.connected_only else known.smallest
    matrix = adjacency_matrices(codes[column : column + 1], counter.k)[0]
    edges = np.argwhere(np.triu(matrix))
    return drawing_of(GraphBatch.from_edges([edges], n_nodes=[counter.k]))


def _label(counter: VertexCounter, column: int, look: _Look) -> Drawing:
    return _chain(look.names(counter.labels.names(), column), [], look)


def _edge(counter: EdgeCounter, column: int, look: _Look) -> Drawing:
    tail, head, edge = counter.types.signature(column).tolist()
    bonds = counter.edge_labels.names()
    text = "" if bonds is None else look.bonds.get(bonds[edge], bonds[edge])
    names = look.names(counter.labels.names(), tail, head)
    return _chain(names, [Stroke(0, 1, arrow=counter.directed, text=text)], look)


def _path(counter: PathCounter, column: int, look: _Look) -> Drawing:
    """The two ends, and as many nodes between them as there are on the path."""
    tail, head, code = counter.types.signature(column).tolist()
    length = counter.lengths.names(np.array([code]))[0]
    ends = look.names(counter.labels.names(), tail, head)
    hops = int(length) if not counter.weighted and length.isdecimal() else 0
    if not 1 <= hops <= _LONGEST_CHAIN:
        return _chain(ends, [Stroke(0, 1, arrow=counter.ordered, text=length)], look)
    names = [ends[0], *[""] * (hops - 1), ends[1]]
    strokes = [Stroke(i, i + 1, arrow=counter.ordered) for i in range(hops)]
    return _chain(names, strokes, look)


def _chain(names: list[str], strokes: list[Stroke], look: _Look) -> Drawing:
    """Nodes in a row."""
    step = 0.75 if len(strokes) > 1 else 1.3
    return Drawing(
        points=np.column_stack([np.arange(len(names)) * step, np.zeros(len(names))]),
        texts=[name if len(name) <= 4 else name[:3] + "…" for name in names],
        names=names,
        colours=[look.colours.get(name, "#d9d9d9") for name in names],
        strokes=strokes,
    )


def _tree_drawing(tree: SubtreePattern, look: _Look) -> Drawing:
    """A rooted tree with its root at the left; equal children are drawn once, with ×count."""
    nodes: list[tuple[int, float, str]] = []  # depth, row, label
    strokes: list[Stroke] = []

    def add(tree: SubtreePattern, depth: int, top: float) -> tuple[int, float, float]:
        """Add a subtree below ``top``; return its root's number and row, and its bottom."""
        below, children = top, []
        for edge, child, count in tree.children:
            node, row, below = add(child, depth + 1, below)
            bond = _cut(look.bonds.get(edge, edge))
            children.append((node, row, f"{bond} ×{count}".strip() if count > 1 else bond))
        row = (children[0][1] + children[-1][1]) / 2 if children else top
        nodes.append((depth, row, look.words.get(tree.label, tree.label)))
        root = len(nodes) - 1
        strokes.extend(Stroke(root, node, text=text) for node, _, text in children)
        return root, row, below if children else top + 1.0

    add(tree, 0, 0.0)
    names = [name for _, _, name in nodes]
    texts = [_cut(name) for name in names]
    # Boxes and the texts of edges must not cover each other.
    letters = max((len(stroke.text) for stroke in strokes), default=0)
    step = _LEVEL_GAP + 0.2 * letters + 2 * max(map(half_box, texts))
    return Drawing(
        points=np.array([[step * depth, -_LEAF_GAP * row] for depth, row, _ in nodes]),
        texts=texts,
        names=names,
        colours=[look.colours.get(name, _PAPER) for name in names],
        strokes=strokes,
        boxes=True,
    )


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_TEXT else f"{text[: _LONGEST_TEXT - 1]}…"


def _balls(counter: BallPairCounter, column: int, look: _Look) -> Drawing:
    """Both balls and a shortest path between their roots, from a graph; roots are marked."""
    radius, distance, *pair = counter.types.signature(column).tolist()
    batch = as_batch([] if look.graphs is None else look.graphs)
    for first in range(0, len(batch), _SEARCHED):
        part = batch[first : first + _SEARCHED]
        codes, edges = counter.labels.encode(part), counter.edge_labels.encode(part)
        _, balls = ball_identities(part, codes, edges, radius, counter.balls[radius])
        for position in range(len(part)):
            inside = balls[part.node_offsets[position] : part.node_offsets[position + 1]]
            if np.isin(pair, inside).all():
                drawing = _example(part[position], inside, radius, distance, pair, look)
                if drawing is not None:
                    return drawing
    # Without an example: the names of both balls as two nodes.
    text = counter.names()[column].partition(": ")[2]
    tail, _, head = text.partition(" - ")
    below = ((f"{distance} hops", SubtreePattern(head, ()), 1),) if head else ()
    return _tree_drawing(SubtreePattern(tail, below), look)


def _example(
    graph: GraphBatch, balls: Ints, radius: int, distance: int, pair: list[int], look: _Look
) -> Drawing | None:
    """Balls of these identities at this distance in a graph; None if there are none."""
    hops = shortest_path(graph.adjacency(0), directed=False, unweighted=True)
    tails, heads = np.flatnonzero(balls == pair[0]), np.flatnonzero(balls == pair[1])
    matches = np.argwhere(hops[np.ix_(tails, heads)] == distance)
    if not len(matches):
        return None
    tail, head = int(tails[matches[0, 0]]), int(heads[matches[0, 1]])
    inside = (hops[tail] <= radius) | (hops[head] <= radius)
    node = tail
    while node != head:
        around = graph.indices[graph.indptr[node] : graph.indptr[node + 1]]
        node = int(around[np.argmin(hops[around, head])])
        inside[node] = True
    nodes = np.flatnonzero(inside)
    names, bonds = (
        {label: words.get(str(label), str(label)) for label in column.categories} if column else {}
        for column, words in ((graph.node_labels, look.words), (graph.edge_labels, look.bonds))
    )
    drawing = drawing_of(
        induced(graph, nodes), node_names=names, edge_names=bonds, colours=look.colours
    )
    return replace(drawing, marked=tuple(np.searchsorted(nodes, [tail, head]).tolist()))


_DRAWERS: dict[type, Callable[[Any, int, _Look], Drawing]] = {
    ColourCounter: _subtree,
    TreeCounter: _descents,
    GraphletCounter: _graphlet,
    VertexCounter: _label,
    EdgeCounter: _edge,
    PathCounter: _path,
    BallPairCounter: _balls,
}


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
    if isinstance(model, Explanation):
        if can_draw(model.kernel):
            meaning = f"{model.meaning} for {model.outputs[output]}"
            return _Learned(model.kernel, model.values(output), 0.0, meaning)
    elif isinstance(model, WeightedWassersteinWL) and "weights_" in vars(model):
        return _Learned(model, np.concatenate(model.weights_), 1.0, "weight")
    raise TypeError(
        "Patterns have values in a fitted WeightedWassersteinWL, or in explain_model or "
        "explain_linear of a Weisfeiler-Lehman kernel over nodes, ODDSTh, GraphletKernel, "
        f"ShortestPath, NSPDK, VertexHistogram or EdgeHistogram; got {type(model).__name__}."
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
    model : the result of `explain_model` or `explain_linear`, or a fitted WeightedWassersteinWL
        For a kernel whose patterns can be drawn: `WeisfeilerLehman` over nodes,
        `WLOptimalAssignment`, `ODDSTh`, `GraphletKernel`, `ShortestPath`, `NSPDK`,
        `VertexHistogram`, `EdgeHistogram`.
    n : int
        Patterns per level: those whose weight is farthest from 1 (other values: from 0).
    level : int, optional
        Only this level.
    output : int
        Which decision, for a machine with more than two classes.
    node_names, edge_names : mapping, optional
        What to write for a label, e.g. ``{0: "C", 1: "N"}``; by default the names that
        `explain_model` was given.
    graphs : graphs, optional
        The source of examples of pairs of balls (`NSPDK`); by default those of `explain_model`.

    Returns
    -------
    figure : matplotlib figure
    """
    if isinstance(model, ModelExplanation):
        node_names, edge_names = node_names or model.node_names, edge_names or model.edge_names
        graphs = model.graphs if graphs is None else graphs
        model = model.model
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
    names = {"node_names": node_names, "edge_names": edge_names, "graphs": graphs}
    drawings = {
        int(column): pattern_drawing(learned.kernel, int(column), **names)
        for _, chosen in panels
        for column in chosen
    }
    # Rows of one height, and a column per level as wide as its widest drawing.
    rows = max(1, *(len(chosen) for _, chosen in panels))
    height = max([0.6, *(min(_inches(d)[1], _TALLEST) for d in drawings.values())])
    widths = [
        max([1.5, *(min(_inches(drawings[int(c)])[0], 6.0) for c in chosen)])
        for _, chosen in panels
    ]
    size = (sum(widths) + 2.4 * len(panels), 0.5 + rows * height)
    figure = pyplot().figure(figsize=size, layout="constrained")
    shares = [width + 2.4 for width in widths]
    parts = np.atleast_1d(figure.subfigures(1, len(panels), wspace=0.04, width_ratios=shares))
    for part, (h, chosen), width in zip(parts, panels, widths, strict=True):
        if h is not None:
            part.suptitle(f"level {h}", fontsize=11)
        grid = part.add_gridspec(rows, 2, width_ratios=(width, 2.4))
        for row, column in enumerate(chosen.tolist()):
            ax = part.add_subplot(grid[row, 0])
            ax.axis("off")
            drawing = drawings[column]
            if drawing is not None:
                put_on_axes(drawing, ax=ax, least=(width / _INCH, height / _INCH))
        _draw_bars(part.add_subplot(grid[: max(1, len(chosen)), 1]), learned, chosen)
    return figure


def _leading(values: Floats, columns: Ints, centre: float, n: int) -> Ints:
    """The columns whose values are farthest from ``centre``, the highest value first."""
    inside = values[columns]
    chosen = np.argsort(-np.abs(inside - centre), kind="stable")[:n]
    return columns[chosen[np.argsort(-inside[chosen], kind="stable")]]


def _inches(drawing: Drawing | None) -> tuple[float, float]:
    """The width and height at which the letters of a drawing are easy to read."""
    if drawing is None or not len(drawing.points):
        return 0.0, 0.0
    width, height = _INCH * (np.ptp(drawing.points, axis=0) + 2 * np.array(drawing.margins))
    return float(width), float(height)


def _draw_bars(ax: Any, learned: _Learned, chosen: Ints) -> None:
    weights, centre = learned.values[chosen], learned.centre
    ax.barh(
        np.arange(len(chosen)),
        weights - centre,
        left=centre,
        height=0.55,
        color=np.where(weights >= centre, "#b2432f", "#3a6ea5"),
    )
    ax.axvline(centre, color="0.4", linewidth=0.8)
    ax.set_ylim(len(chosen) - 0.5, -0.5)
    ax.set_yticks([])
    ax.set_xlabel(learned.meaning)
    ax.spines[["top", "right", "left"]].set_visible(False)


def node_importance(model: Any, graph: Any, output: int = 0) -> tuple[Floats, float, str]:
    """The value of each node of a graph, the neutral value, and its name."""
    batch = as_single(graph)
    if isinstance(model, Explanation):
        shares = model.nodes(batch, output).sum(axis=1)
        return shares, 0.0, f"adds to the decision for {model.outputs[output]}"
    learned = _learned(model, output)
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
    (1 for a pattern not seen at fit); for a machine what the node adds to the decision.

    Parameters
    ----------
    model : the result of `explain_model` or `explain_linear`, or a fitted WeightedWassersteinWL
    graph : one graph
        Or the position of one of the graphs that `explain_model` was given.
    output : int
        Which decision, for a machine with more than two classes.
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
    if isinstance(model, ModelExplanation):
        if not isinstance(graph, (int, np.integer)) or not 0 <= graph < len(model.graphs):
            raise ValueError(
                "Of the result of explain_model, graph is the position of one of its "
                f"{len(model.graphs)} graphs; got {graph!r}."
            )
        graph, model = model.graphs[int(graph)], model.model
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
