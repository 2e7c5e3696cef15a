"""Positions whose distances are near the graph's distances, by majorising the stress.

`majorise` moves all nodes at once; `majorise_flat` moves one after the other and never lets edges
cross that did not cross before.
"""

from __future__ import annotations

import numpy as np

from gramlet.common.arrays import Floats, Ints
from gramlet.plotting.crossings import crossed_edges

__all__ = ["majorise", "majorise_flat", "turned"]

_CLOSE = 1e-9
_STEPS = (1.0, 0.5, 0.2, 0.05)  # shares of a move that are tried


def majorise(points: Floats, distances: Floats, n_rounds: int) -> Floats:
    """Improve positions; stops early when nodes no longer move.

    Cost: O(n²) per round for n nodes.
    """
    weights, total, pulls = _weights(distances)
    scale = float(distances.max())
    for _ in range(n_rounds):
        squares = np.einsum("ij,ij->i", points, points)
        apart = squares[:, None] + squares[None, :] - 2.0 * (points @ points.T)
        lengths = np.sqrt(np.maximum(apart, _CLOSE))
        pull = pulls / lengths
        moved = (weights @ points + pull.sum(axis=1)[:, None] * points - pull @ points) / total
        step = float(np.abs(moved - points).max())
        points = moved
        if step < 1e-4 * scale:
            break
    return points


def majorise_flat(points: Floats, distances: Floats, edges: Ints, n_rounds: int) -> Floats:
    """Improve positions without crossings, node by node, without creating any."""
    points = points.copy()
    weights, total, pulls = _weights(distances)
    around = [np.flatnonzero((edges == node).any(axis=1)) for node in range(len(points))]
    for _ in range(n_rounds):
        farthest = 0.0
        for node in range(len(points)):
            apart = points[node] - points
            lengths = np.sqrt(np.maximum((apart**2).sum(axis=1), _CLOSE))
            aim = weights[node] @ points + (pulls[node] / lengths) @ apart
            move = aim / total[node, 0] - points[node]
            farthest = max(farthest, _moved(points, node, move, edges, around[node]))
        if farthest < 1e-3:
            break
    return points


def _moved(points: Floats, node: int, move: Floats, edges: Ints, own: Ints) -> float:
    """Move a node by the largest share of the move without crossings; return the distance."""
    before = points[node].copy()
    for share in _STEPS:
        points[node] = before + share * move
        if not any(crossed_edges(points, edges[edge], edges).any() for edge in own):
            return float(share * np.abs(move).max())
    points[node] = before
    return 0.0


def _weights(distances: Floats) -> tuple[Floats, Floats, Floats]:
    """1/d², their sums, and 1/d."""
    weights = np.divide(1.0, distances**2, out=np.zeros_like(distances), where=distances > 0)
    return weights, weights.sum(axis=1, keepdims=True), weights * distances


def turned(points: Floats) -> Floats:
    """Centred, with the longest direction horizontal."""
    centred = points - points.mean(axis=0)
    _, _, axes = np.linalg.svd(centred, full_matrices=False)
    return np.asarray(centred @ axes.T)
