"""Drawings of patterns: one column of a kernel's features as a small graph.

Subtrees of Weisfeiler-Lehman kernels and ODD-STh are trees, graphlets are small graphs, shortest
paths are chains, pairs of balls are subgraphs of a graph that contains them. `patterns` draws
values and bars.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.sparse.csgraph import shortest_path

from gramlet.common.arrays import Ints
from gramlet.engine.graphlets.patterns import adjacency_matrices
from gramlet.engine.graphlets.patterns import patterns as graphlets
from gramlet.engine.neighbourhoods.ball_pairs import ball_identities
from gramlet.engine.neighbourhoods.descent_trees import split_child
from gramlet.graphs.batch import GraphBatch
from gramlet.graphs.conversion.convert import as_batch
from gramlet.kernels.graphlets.graphlet import GraphletCounter
from gramlet.kernels.histograms.label_histograms import EdgeCounter, VertexCounter
from gramlet.kernels.neighbourhoods.nspdk import BallPairCounter
from gramlet.kernels.neighbourhoods.odd_sth import TreeCounter
from gramlet.kernels.paths.shortest_path import PathCounter
from gramlet.kernels.weisfeiler_lehman.colour_counts import ColourCounter, SubtreePattern
from gramlet.plotting.colours import label_colours
from gramlet.plotting.drawing import Drawing, Stroke, drawing_of, induced

__all__ = ["can_draw", "pattern_drawing", "tree_drawing"]

Names = Mapping[Any, str]

_WIDE, _HIGH = 1.9, 0.9  # between the levels and the leaves of a drawn tree
_LONGEST_CHAIN = 8
_SEARCHED = 200  # graphs that are searched at once for an example
_PAPER = "#f3f1ea"
_LONGEST_NAME, _LONGEST_BOND = 14, 12  # letters in a box, and along an edge


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
    >>> from gramlet.plotting.pattern_drawing import pattern_drawing
    >>> kernel = ShortestPath().fit([([(0, 1), (1, 2)], "CNO")])
    >>> column = kernel.get_feature_names_out().tolist().index("C-O:2")
    >>> pattern_drawing(kernel, column).names
    ['C', '', 'O']
    """
    counter = getattr(kernel, "counter_", None)
    drawer = _DRAWERS.get(type(counter))
    if drawer is None:
        return None
    words = _by_text(node_names)
    if colours is None:
        colours = _palette(counter, words)
    found: Drawing | None = drawer(counter, column, words, edge_names, graphs, colours)
    return found


def tree_drawing(
    tree: SubtreePattern,
    words: Mapping[str, str] | None = None,
    colours: Names | None = None,
    bonds: Mapping[str, str] | None = None,
) -> Drawing:
    """A rooted tree with its root at the left; equal children are drawn once, with ×count."""
    spots: list[tuple[float, float, str]] = []
    strokes: list[Stroke] = []
    _place(tree, 0, 0.0, spots, strokes, words or {}, bonds or {})
    names = [name for _, _, name in spots]
    shown = [cut_text(name, _LONGEST_NAME) for name in names]
    # Boxes and the texts of edges must not cover each other.
    letters = max((len(stroke.text) for stroke in strokes), default=0)
    wide = max(_WIDE, 0.5 + 0.21 * letters + 0.24 * max(map(len, shown)))
    return Drawing(
        points=np.array([[wide * x, -_HIGH * y] for x, y, _ in spots]),
        texts=shown,
        names=names,
        colours=[(colours or {}).get(name, _PAPER) for name in names],
        strokes=strokes,
        boxes=True,
    )


def cut_text(text: str, most: int) -> str:
    """A text in a picture, shortened if it is too long.

    >>> cut_text("aromatic", 5), cut_text("C", 5)
    ('arom…', 'C')
    """
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _place(
    tree: SubtreePattern,
    depth: int,
    top: float,
    spots: list[tuple[float, float, str]],
    strokes: list[Stroke],
    words: Mapping[str, str],
    bonds: Mapping[str, str],
) -> tuple[int, float, float]:
    """Place a subtree below ``top``; return its root's number and height, and its bottom."""
    below, children = top, []
    for edge, child, count in tree.children:
        node, middle, below = _place(child, depth + 1, below, spots, strokes, words, bonds)
        bond = cut_text(bonds.get(edge, edge), _LONGEST_BOND)
        children.append((node, middle, f"{bond} ×{count}".strip() if count > 1 else bond))
    own = (children[0][1] + children[-1][1]) / 2 if children else top
    spots.append((depth, own, words.get(tree.label, tree.label)))
    root = len(spots) - 1
    strokes.extend(Stroke(root, node, text=text) for node, _, text in children)
    return root, own, below if children else top + 1.0


def _subtree(
    counter: ColourCounter,
    column: int,
    words: Names,
    edge_names: Any,
    graphs: Any,
    colours: Names,
) -> Drawing:
    colouring = counter.colouring
    for level, known in zip(colouring.level_numbers, colouring.n_colours, strict=True):
        if column < known:
            bonds = _by_text(edge_names)
            return tree_drawing(colouring.tree(level, column), words, colours, bonds)
        column -= known
    raise IndexError(f"There are {counter.n_features} patterns; there is none beyond them.")


def _descents(
    counter: TreeCounter,
    column: int,
    words: Names,
    edge_names: Any,
    graphs: Any,
    colours: Names,
) -> Drawing:
    level = 0
    while column >= len(counter.tables[level]):
        column -= len(counter.tables[level])
        level += 1
    tree = _descent_tree(counter, counter.labels.names(), level, column)
    return tree_drawing(tree, words, colours)


def _descent_tree(counter: TreeCounter, labels: list[str], level: int, tree: int) -> SubtreePattern:
    root, *children = counter.tables[level].signature(tree).tolist()
    below = [_descent_tree(counter, labels, *split_child(child)) for child in children]
    counted = Counter(below)
    return SubtreePattern(labels[root], tuple(("", child, n) for child, n in counted.items()))


def _graphlet(
    counter: GraphletCounter,
    column: int,
    words: Names,
    edge_names: Any,
    graphs: Any,
    colours: Names,
) -> Drawing:
    known = graphlets(counter.k)
    codes = known.smallest[known.connected] if counter.connected_only else known.smallest
    matrix = adjacency_matrices(codes[column : column + 1], counter.k)[0]
    edges = np.argwhere(np.triu(matrix))
    return drawing_of(GraphBatch.from_edges([edges], n_nodes=[counter.k]))


def _chain(
    names: list[str], strokes: list[Stroke], palette: Mapping[str, str], small: bool = False
) -> Drawing:
    """Nodes in a row."""
    return Drawing(
        points=np.column_stack(
            [np.arange(len(names)) * (0.75 if small else 1.3), np.zeros(len(names))]
        ),
        texts=[name if len(name) <= 4 else name[:3] + "…" for name in names],
        names=names,
        colours=[palette.get(name, "#d9d9d9") for name in names],
        strokes=strokes,
    )


def _by_text(names: Names | None) -> dict[str, str]:
    """Names of labels, by their text."""
    return {str(label): str(name) for label, name in (names or {}).items()}


def _palette(counter: Any, words: Names) -> dict[str, str]:
    """One colour per label that the kernel knows; none for patterns without labels."""
    labels = getattr(getattr(counter, "colouring", counter), "labels", None)
    names = [] if labels is None else labels.names()
    return label_colours(words.get(name, name) for name in names)


def _label(
    counter: VertexCounter,
    column: int,
    words: Names,
    edge_names: Any,
    graphs: Any,
    colours: Names,
) -> Drawing:
    name = counter.labels.names()[column]
    return _chain([words.get(name, name)], [], colours)


def _edge(
    counter: EdgeCounter, column: int, words: Names, edge_names: Any, graphs: Any, colours: Names
) -> Drawing:
    a, b, e = counter.types.signature(column).tolist()
    labels, bonds = counter.labels.names(), counter.edge_labels.names()
    text = "" if bonds is None else bonds[e]
    shown = _by_text(edge_names).get(text, text)
    names = [words.get(labels[node], labels[node]) for node in (a, b)]
    stroke = Stroke(0, 1, arrow=counter.directed, text=shown)
    return _chain(names, [stroke], colours)


def _path(
    counter: PathCounter, column: int, words: Names, edge_names: Any, graphs: Any, colours: Names
) -> Drawing:
    """The two ends, and as many nodes between them as there are on the path."""
    a, b, code = counter.types.signature(column).tolist()
    labels = counter.labels.names()
    length = counter.lengths.names(np.array([code]))[0]
    ends = [words.get(labels[node], labels[node]) for node in (a, b)]
    hops = int(length) if not counter.weighted and length.isdecimal() else 0
    if not 1 <= hops <= _LONGEST_CHAIN:
        return _chain(ends, [Stroke(0, 1, arrow=counter.ordered, text=length)], colours)
    names = [ends[0], *[""] * (hops - 1), ends[1]]
    strokes = [Stroke(i, i + 1, arrow=counter.ordered) for i in range(hops)]
    return _chain(names, strokes, colours, small=hops > 1)


def _balls(
    counter: BallPairCounter,
    column: int,
    words: Names,
    edge_names: Any,
    graphs: Any,
    colours: Names,
) -> Drawing:
    """Both balls and a shortest path between their roots, from a graph; roots are marked."""
    radius, distance, a, b = counter.types.signature(column).tolist()
    example = None if graphs is None else _example(counter, graphs, radius, distance, (a, b))
    if example is None:
        return tree_drawing(_shells(counter, column), words, colours)
    graph, nodes, roots = example
    drawn = drawing_of(
        induced(graph, nodes),
        node_names=words and _by_label(graph, words),
        edge_names=edge_names,
        colours=colours,
    )
    marked = tuple(int(np.searchsorted(nodes, root)) for root in roots)
    return drawn.marking(marked)


def _by_label(graph: GraphBatch, words: Names) -> dict[Any, str]:
    if graph.node_labels is None:
        return {}
    return {label: words.get(str(label), str(label)) for label in graph.node_labels.categories}


def _example(
    counter: BallPairCounter, graphs: Any, radius: int, distance: int, pair: tuple[int, int]
) -> tuple[GraphBatch, Ints, tuple[int, int]] | None:
    """A graph, the nodes of both balls and of the path between them, and the roots."""
    batch = as_batch(graphs)
    for first in range(0, len(batch), _SEARCHED):
        part = batch[first : first + _SEARCHED]
        codes, edges = counter.labels.encode(part), counter.edge_labels.encode(part)
        _, found = ball_identities(part, codes, edges, radius, counter.balls[radius])
        for position in range(len(part)):
            nodes = slice(part.node_offsets[position], part.node_offsets[position + 1])
            mine = found[nodes]
            if pair[0] in mine and pair[1] in mine:
                cut = _cut_out(part[position], mine, radius, distance, pair)
                if cut is not None:
                    return part[position], *cut
    return None


def _cut_out(
    graph: GraphBatch, balls: Ints, radius: int, distance: int, pair: tuple[int, int]
) -> tuple[Ints, tuple[int, int]] | None:
    hops = shortest_path(graph.adjacency(0), directed=False, unweighted=True)
    for u in np.flatnonzero(balls == pair[0]).tolist():
        for v in np.flatnonzero(balls == pair[1]).tolist():
            if hops[u, v] == distance:
                between = _way(graph, hops, u, v)
                near = (hops[u] <= radius) | (hops[v] <= radius)
                near[between] = True
                return np.flatnonzero(near), (u, v)
    return None


def _way(graph: GraphBatch, hops: Any, u: int, v: int) -> list[int]:
    """The nodes of one shortest path."""
    way = [u]
    while way[-1] != v:
        around = graph.indices[graph.indptr[way[-1]] : graph.indptr[way[-1] + 1]]
        way.append(int(around[np.argmin(hops[around, v])]))
    return way


def _shells(counter: BallPairCounter, column: int) -> SubtreePattern:
    """The text of a pair of balls as two nodes, if there is no example."""
    text = counter.names()[column].partition(": ")[2]
    first, _, second = text.partition(" - ")
    _, distance, _, _ = counter.types.signature(column).tolist()
    below = ((f"{distance} hops", SubtreePattern(second, ()), 1),) if second else ()
    return SubtreePattern(first, below)


_DRAWERS: dict[type, Any] = {
    ColourCounter: _subtree,
    TreeCounter: _descents,
    GraphletCounter: _graphlet,
    VertexCounter: _label,
    EdgeCounter: _edge,
    PathCounter: _path,
    BallPairCounter: _balls,
}
