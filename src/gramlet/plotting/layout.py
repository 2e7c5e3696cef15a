"""Positions of the nodes of a graph: rings open, trees spread, components side by side.

A component starts from a drawing without crossings if `outer_face` finds one; `stress` then moves
its nodes so that their distances are near the graph's distances. Molecules have their own
coordinates, see `molecule_layout`.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import breadth_first_order, connected_components, shortest_path

from gramlet.common.arrays import Floats, Ints
from gramlet.graphs.batch import GraphBatch
from gramlet.plotting.crossings import count_crossings
from gramlet.plotting.outer_face import flat_start
from gramlet.plotting.stress import majorise, majorise_flat, turned

__all__ = ["LARGEST_DRAWN", "component_nodes", "edges_of", "layout", "sampled"]

LARGEST_DRAWN = 1000
_GAP = 1.2  # between components
_NARROWEST = 9.0  # rows of components
# Limit of rounds times squared nodes per component: some tenths of a second.
_WORK = 6e7
_MOST_EDGES_CHECKED = 400


def layout(graph: GraphBatch, n_rounds: int = 200) -> Floats:
    """Positions of the nodes of one graph, with drawn distances near the graph's distances.

    Deterministic. Edges of graphs that consist of rings and trees do not cross. Components are
    placed side by side. Cost: O(n²) per round for a component of n nodes; fewer rounds if n is
    large.

    Parameters
    ----------
    graph : GraphBatch
        A batch of one graph.
    n_rounds : int
        The largest number of rounds of improvement.

    Examples
    --------
    >>> from gramlet import GraphBatch
    >>> from gramlet.plotting import layout
    >>> points = layout(GraphBatch.from_edges([[(0, 1), (1, 2), (2, 3), (3, 0)]]))
    >>> diagonals = points[[0, 1]] - points[[2, 3]]
    >>> bool(np.ptp(np.linalg.norm(diagonals, axis=1)) < 0.1)
    True
    """
    placed = np.zeros((int(graph.sizes[0]), 2))
    edges = edges_of(graph)
    parts = []
    for members in component_nodes(graph):
        inside = np.searchsorted(members, edges[np.isin(edges[:, 0], members)])
        points = _component(len(members), inside, n_rounds)
        parts.append((members, points - points.min(axis=0)))
    for (members, points), corner in zip(parts, _corners([p for _, p in parts]), strict=True):
        placed[members] = points + corner
    return placed


def _corners(parts: list[Floats]) -> list[Floats]:
    """The lower left corners of the components: in one row, or in several if there are many."""
    sizes = [points.max(axis=0) + _GAP for points in parts]
    area = sum(float(width * height) for width, height in sizes)
    widest = max([_NARROWEST, 1.6 * area**0.5, *(float(width) for width, _ in sizes)])
    corners, x, y, tallest = [], 0.0, 0.0, 0.0
    for width, height in sizes:
        if x > 0 and x + width > widest:
            x, y, tallest = 0.0, y - tallest, 0.0
        corners.append(np.array([x, y - height + _GAP]) if y else np.array([x, 0.0]))
        x, tallest = x + float(width), max(tallest, float(height))
    return corners


def edges_of(graph: GraphBatch) -> Ints:
    """The edges of one graph as pairs of nodes, each pair once, whatever its direction."""
    tails, heads = graph.arcs()
    pairs = np.column_stack([np.minimum(tails, heads), np.maximum(tails, heads)])
    return np.unique(pairs, axis=0) if len(pairs) else pairs.astype(np.int64)


def component_nodes(graph: GraphBatch) -> list[Ints]:
    """The nodes of each component, ascending; components by their first node."""
    n = int(graph.sizes[0])
    if not n:
        return []
    count, owner = connected_components(_matrix(n, edges_of(graph)), directed=False)
    return [np.flatnonzero(owner == k) for k in range(count)]


def sampled(graph: GraphBatch, most: int = LARGEST_DRAWN) -> Ints | None:
    """The nodes to draw of a graph that is too large; None if it is not too large.

    They are those nearest to the node of highest degree, so that the drawn part is connected.
    """
    n = int(graph.sizes[0])
    if n <= most:
        return None
    matrix = _matrix(n, edges_of(graph))
    start = int(np.argmax(np.bincount(edges_of(graph).ravel(), minlength=n)))
    found = breadth_first_order(matrix, start, directed=False, return_predecessors=False)[:most]
    if len(found) < most:
        others = np.setdiff1d(np.arange(n), found)
        found = np.concatenate([found, others[: most - len(found)]])
    return np.sort(found).astype(np.int64)


def _matrix(n: int, edges: Ints) -> csr_matrix:
    ones = np.ones(len(edges))
    return csr_matrix((ones, (edges[:, 0], edges[:, 1])), shape=(n, n))


def _component(n: int, edges: Ints, n_rounds: int) -> Floats:
    if n == 1:
        return np.zeros((1, 2))
    if n == 2:
        return np.array([[0.0, 0.0], [1.0, 0.0]])
    distances = shortest_path(_matrix(n, edges), directed=False, unweighted=True)
    n_rounds = max(10, min(n_rounds, int(_WORK / n**2)))
    radius = float(distances.max()) / 2
    start = flat_start(_neighbours(n, edges))
    if start is None:
        return turned(majorise(_circle(distances) * radius, distances, n_rounds))
    points = majorise(start * radius, distances, n_rounds)
    if len(edges) <= _MOST_EDGES_CHECKED and count_crossings(points, edges):
        points = majorise_flat(start * radius, distances, edges, n_rounds // 2)
    return turned(points)


def _neighbours(n: int, edges: Ints) -> list[list[int]]:
    around: list[list[int]] = [[] for _ in range(n)]
    for u, v in edges.tolist():
        around[u].append(v)
        around[v].append(u)
    return around


def _circle(distances: Floats) -> Floats:
    """Nodes on a circle in breadth-first order."""
    n = len(distances)
    order = np.argsort(np.argsort(distances[0], kind="stable"), kind="stable")
    angles = 2 * np.pi * order / n
    return np.column_stack([np.cos(angles), np.sin(angles)])
