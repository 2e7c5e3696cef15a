"""Positions of the nodes of a graph by networkx, components side by side.

Kamada-Kawai, started from the planar layout if there is one; the spring layout with a fixed seed
for large components. Molecules have RDKit's coordinates, see `drawing`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import breadth_first_order, connected_components
from threadpoolctl import threadpool_limits

from gramlet.common.arrays import Floats, Ints
from gramlet.graphs.batch import GraphBatch

LARGEST_DRAWN = 1000
_GAP = 1.2  # between components
_NARROWEST = 9.0  # rows of components
_LARGEST_KAMADA_KAWAI = 200  # nodes of a component


def layout(graph: GraphBatch) -> Floats:
    """Positions of the nodes of one graph, with edges about 1 long.

    Deterministic. Components are placed side by side. Needs networkx.

    Parameters
    ----------
    graph : GraphBatch
        A batch of one graph.

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
        points = _component(len(members), inside)
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
    nearest = breadth_first_order(matrix, start, directed=False, return_predecessors=False)[:most]
    others = np.setdiff1d(np.arange(n), nearest)[: most - len(nearest)]
    return np.sort(np.concatenate([nearest, others])).astype(np.int64)


def _matrix(n: int, edges: Ints) -> csr_matrix:
    ones = np.ones(len(edges))
    return csr_matrix((ones, (edges[:, 0], edges[:, 1])), shape=(n, n))


def _component(n: int, edges: Ints) -> Floats:
    """Positions of a connected graph: centred, the longest direction horizontal."""
    if n <= 2:
        return np.array([[0.0, 0.0], [1.0, 0.0]])[:n]
    networkx = import_networkx()
    graph = networkx.Graph()
    graph.add_nodes_from(range(n))
    graph.add_edges_from(edges.tolist())
    if n > _LARGEST_KAMADA_KAWAI:
        positions = networkx.spring_layout(graph, seed=0)
    else:
        planar, _ = networkx.check_planarity(graph)
        start = networkx.planar_layout(graph) if planar else None
        with threadpool_limits(1):  # BLAS threads make the tiny steps of L-BFGS ten times slower
            positions = networkx.kamada_kawai_layout(graph, pos=start)
    points = np.array([positions[node] for node in range(n)])
    lengths = np.linalg.norm(points[edges[:, 0]] - points[edges[:, 1]], axis=1)
    centred = (points - points.mean(axis=0)) / max(float(np.median(lengths)), 1e-9)
    axes = np.linalg.svd(centred, full_matrices=False)[2]
    return np.asarray(centred @ axes.T)


def import_networkx() -> Any:
    """networkx, or an error that names the extra."""
    try:
        import networkx
    except ImportError:
        raise ImportError(
            "Drawings of graphs need networkx. Install it with: pip install gramlet[plot]"
        ) from None
    return networkx
