"""Inputs of a network per node: labels, or degrees if there are none, and attributes."""

from __future__ import annotations

import numpy as np

from gramlet.common.arrays import Array, Floats, Ints
from gramlet.graphs.batch import GraphBatch
from gramlet.kernels.contract.columns import required_attributes
from gramlet.kernels.contract.labels import NodeLabels

__all__ = ["NodeInputs"]

_MOST_DEGREES = 64  # larger degrees share the last column


class NodeInputs:
    """Rows of numbers for nodes, in columns learned from the fitted graphs.

    One-hot labels with one more column for unseen labels; without labels, one-hot degrees (those
    above the largest fitted degree, or above 64, share the last column). Attributes, if used, are
    standardised by the fitted graphs.

    Parameters
    ----------
    use_labels : bool or "auto"
    use_attributes : bool
    owner : str
        The estimator's name, for messages.
    """

    def __init__(self, use_labels: bool | str, use_attributes: bool, owner: str) -> None:
        self.labels = NodeLabels(use_labels)
        self.use_attributes = use_attributes
        self.owner = owner
        self.n_degrees = 0
        self.mean: Floats | None = None
        self.spread: Floats | None = None

    def fit(self, batch: GraphBatch) -> Array:
        """Learn the columns of these graphs; return their rows."""
        codes = self.labels.fit(batch)
        self.n_degrees = 0
        if not self.labels.used or batch.node_labels is None:
            largest = int(batch.degrees.max(initial=0))
            self.n_degrees = min(largest, _MOST_DEGREES) + 1
        if self.use_attributes:
            rows = required_attributes(batch, self.owner, None)
            self.mean = rows.mean(axis=0) if len(rows) else np.zeros(rows.shape[1])
            spread = rows.std(axis=0) if len(rows) else np.ones(rows.shape[1])
            self.spread = np.where(spread > 0, spread, 1.0)
        return self._rows(batch, codes)

    def read(self, batch: GraphBatch) -> Array:
        """The rows of new graphs."""
        return self._rows(batch, self.labels.encode(batch))

    @property
    def width(self) -> int:
        """The number of columns."""
        first = self.n_degrees or len(self.labels) + 1
        return first + (0 if self.mean is None else len(self.mean))

    def _rows(self, batch: GraphBatch, codes: Ints) -> Array:
        if self.n_degrees:
            codes, width = np.minimum(batch.degrees, self.n_degrees - 1), self.n_degrees
        else:
            width = len(self.labels) + 1
            codes = np.minimum(codes, width - 1)
        rows = np.zeros((batch.n_nodes_total, self.width), dtype=np.float32)
        rows[np.arange(len(rows)), codes] = 1.0
        if self.mean is not None and self.spread is not None:
            given = required_attributes(batch, self.owner, len(self.mean))
            rows[:, width:] = (given - self.mean) / self.spread
        return rows
