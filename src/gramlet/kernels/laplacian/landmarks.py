"""Random landmarks: the nodes that span the space of the low-rank multiscale Laplacian."""

from __future__ import annotations

import numpy as np

from gramlet.common.arrays import Array, Floats, Ints
from gramlet.engine.core.hashes import node_signatures
from gramlet.engine.laplacian.distinct_rows import distinct_rows
from gramlet.graphs.batch import GraphBatch

__all__ = ["LandmarkDraw"]

# More rounds distinguish hardly any more nodes.
_SIGNATURE_ROUNDS = 8


class LandmarkDraw:
    """Draws nodes without replacement, or takes all if there are not enough.

    They are drawn from a list sorted by signature, so that the draw depends neither on the
    numbering of nodes nor on the order of graphs.

    Parameters
    ----------
    batch : GraphBatch
    n_landmarks : int
    rng : RandomState
    unique : bool
        Draw new nodes at every level, at most one of those that are equal there; otherwise use the
        same nodes at every level.
    """

    def __init__(
        self, batch: GraphBatch, n_landmarks: int, rng: np.random.RandomState, unique: bool = False
    ) -> None:
        self._n_nodes = batch.n_nodes_total
        self._n_landmarks = n_landmarks
        self._rng = rng
        self.unique = unique
        self._in_order = np.arange(self._n_nodes)
        if unique or self._n_nodes > n_landmarks:
            signatures = node_signatures(batch, _SIGNATURE_ROUNDS)
            self._in_order = np.argsort(signatures, kind="stable")
        self._common = None if unique else self._drawn(self._in_order)

    def by_features(self, features: Array) -> Ints:
        """The landmarks of level 0, where nodes are compared by codes of labels or by rows."""
        if self._common is not None:
            return self._common
        rows = features if features.ndim == 2 else features.astype(np.float64)[:, None]
        return self._drawn(self._one_of_each(rows))

    def by_balls(self, packed: Floats, of_node: Ints) -> Ints:
        """The landmarks of a level of balls, from S of the balls and the ball of each node."""
        if self._common is not None:
            return self._common
        return self._drawn(self._one_of_each(packed, of_node))

    def _one_of_each(self, rows: Floats, of_node: Ints | None = None) -> Ints:
        """Of nodes with equal rows, the first in the order of signatures."""
        in_order = self._in_order
        if of_node is None:
            kinds = distinct_rows(rows)[in_order]
        else:
            kinds = distinct_rows(rows)[of_node[in_order]]
        return in_order[np.sort(np.unique(kinds, return_index=True)[1])]

    def _drawn(self, nodes: Ints) -> Ints:
        if len(nodes) <= self._n_landmarks:
            return nodes
        chosen = np.sort(self._rng.choice(len(nodes), self._n_landmarks, replace=False))
        return np.asarray(nodes[chosen], dtype=np.int64)
