"""Crossings of straight edges: how many a drawing has, and whether one edge crosses others."""

from __future__ import annotations

import numpy as np

from gramlet.common.arrays import Bools, Floats, Ints

__all__ = ["count_crossings", "crossed_edges"]

# Products of lengths up to this count as touching, not as crossing.
_TOUCH = 1e-9


def count_crossings(points: Floats, edges: Ints) -> int:
    """The number of pairs of edges without a common node that cross.

    Cost: O(m²) for m edges.

    >>> square = np.array([[0.0, 0], [1, 0], [1, 1], [0, 1]])
    >>> count_crossings(square, np.array([[0, 1], [1, 2], [2, 3], [3, 0]]))
    0
    >>> count_crossings(square, np.array([[0, 2], [1, 3]]))
    1
    """
    return sum(
        int(crossed_edges(points, edge, edges[position + 1 :]).sum())
        for position, edge in enumerate(edges)
    )


def crossed_edges(points: Floats, edge: Ints, others: Ints) -> Bools:
    """Which of the others an edge crosses; those with a common node never do."""
    a, b = points[edge[0]], points[edge[1]]
    c, d = points[others[:, 0]], points[others[:, 1]]
    apart = ~(np.isin(others[:, 0], edge) | np.isin(others[:, 1], edge))
    first = _side(a, b, c) * _side(a, b, d)
    second = _side(c, d, a) * _side(c, d, b)
    crossed: Bools = apart & (first < -_TOUCH) & (second < -_TOUCH)
    return crossed


def _side(a: Floats, b: Floats, c: Floats) -> Floats:
    """Twice the signed area of the triangle: on which side of the line a, b the point c lies."""
    along, towards = b - a, c - a
    area: Floats = along[..., 0] * towards[..., 1] - along[..., 1] * towards[..., 0]
    return area
