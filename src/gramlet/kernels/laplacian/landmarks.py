"""The vertices that span the space of the low-rank multiscale Laplacian: how they are drawn."""

from __future__ import annotations

import numpy as np

from gramlet.common.arrays import Array, Floats, Ints
from gramlet.engine.core.node_hashes import node_signatures
from gramlet.engine.laplacian.distinct_rows import distinct_rows
from gramlet.graphs.batch import GraphBatch

__all__ = ["LandmarkDraw"]

# More rounds tell hardly any nodes apart that these do not.
_SIGNATURE_ROUNDS = 8


class LandmarkDraw:
    """Draws nodes without replacement; all of them if there are not as many.

    They are drawn from a list in the order of their signatures, so that neither the numbering of
    nodes nor the order of graphs matters.

    Parameters
    ----------
    batch : GraphBatch
    n_landmarks : int
    rng : RandomState
    unique : bool
        Draw at every level anew, one node at most of those that count as one there; otherwise the
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
        """The landmarks of a level of balls, from the balls' S and which ball each node has."""
        if self._common is not None:
            return self._common
        return self._drawn(self._one_of_each(packed, of_node))

    def _one_of_each(self, rows: Floats, of_node: Ints | None = None) -> Ints:
        """Of nodes whose rows count as one, the first in the order of signatures."""
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
