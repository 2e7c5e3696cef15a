"""What kind of graphs features were computed from: with or without labels, directed or not.

Hashed features are defined for graphs of every kind, but a model learned from graphs of one kind
says nothing about those of another. Parts of a store record the kind, models check it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from gramlet.common.arrays import Array
from gramlet.graphs.batch import GraphBatch
from gramlet.graphs.direction import direction_of, require_same_direction
from gramlet.kernels.contract.vocabulary import wrong_kind

__all__ = ["GraphKind"]


class GraphKind(NamedTuple):
    """Whether graphs have node labels and edge labels, and whether they are directed.

    None: not known, since there are no nodes or no edges, or nothing was recorded.

    Examples
    --------
    >>> GraphKind.of(GraphBatch.from_edges([[(0, 1)]], node_labels=[["C", "O"]]))
    GraphKind(node_labels=True, edge_labels=False, directed=False)
    """

    node_labels: bool | None = None
    edge_labels: bool | None = None
    directed: bool | None = None

    @classmethod
    def of(cls, batch: GraphBatch) -> GraphKind:
        """The kind of the graphs of a batch."""
        return cls(
            batch.node_labels is not None if batch.n_nodes_total else None,
            batch.edge_labels is not None if len(batch.indices) else None,
            direction_of(batch),
        )

    @classmethod
    def joined(cls, kinds: Iterable[GraphKind]) -> GraphKind:
        """The kind of all graphs, from the kinds of some of them; None where they differ."""
        known = [set(values) - {None} for values in zip(*kinds, strict=True)]
        return cls(*(values.pop() if len(values) == 1 else None for values in known))

    @classmethod
    def from_array(cls, codes: Array) -> GraphKind:
        """The kind that `to_array` encodes; ValueError for other arrays."""
        found = codes.tolist()
        if codes.shape != (3,) or not set(found) <= {-1, 0, 1}:
            raise ValueError(f"graph_kind must be three numbers from -1 to 1; found {found!r:.80}.")
        return cls(*(None if code == -1 else bool(code) for code in found))

    def to_array(self) -> Array:
        """One number per field: 1, 0, or -1 for None."""
        return np.array([-1 if value is None else int(value) for value in self], dtype=np.int8)

    def fitting(self, batch: GraphBatch, owner: str, use_edge_labels: bool) -> GraphBatch:
        """New graphs for a model of graphs of this kind; ValueError if they are of another.

        As for kernels: edge labels are ignored if the fitted graphs have none, and graphs without
        edges are of either kind.
        """
        require_same_direction(self.directed, batch, owner)
        if self.edge_labels is False and batch.edge_labels is not None:
            batch = batch.with_columns(edge_labels=None)
        new = GraphKind.of(batch)
        _require_same(self.node_labels, new.node_labels, "node labels", owner)
        if use_edge_labels:
            _require_same(self.edge_labels, new.edge_labels, "edge labels", owner)
        return batch


def _require_same(fitted: bool | None, new: bool | None, what: str, owner: str) -> None:
    if fitted is None or new is None or fitted == new:
        return
    had, has = ("with", "without") if fitted else ("without", "with")
    raise ValueError(wrong_kind(had, has, what, owner))
