"""Graphs compared by a kernel between their nodes that the user gives.

The function is called on rows of features, and its result is checked and passed to the engine. The
value of a pair does not depend on other graphs, so new graphs are compared exactly.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from gramlet.common.arrays import Array, Floats
from gramlet.engine.core.tiles import Tiling, for_tiles, mirror
from gramlet.engine.laplacian.kernelised import KernelisedGraphs
from gramlet.graphs.batch import GraphBatch
from gramlet.kernels.laplacian.vertex_features import one_hot

__all__ = ["BaseKernel"]


@dataclass(frozen=True)
class BaseKernel:
    """A kernel between nodes, and the graph kernel that it induces.

    Attributes
    ----------
    function : callable
        Takes two arrays of features and returns their kernel matrix.
    owner : str
        The graph kernel's name, for messages.
    eta, gamma : float
    width : int or None
        Number of columns of the fitted features; larger codes of labels are not fitted.
    """

    function: Callable[[Floats, Floats], Any]
    owner: str
    eta: float
    gamma: float
    width: int | None

    def prepare(self, batch: GraphBatch, features: Array, tiling: Tiling) -> KernelisedGraphs:
        """The part of the comparison that does not depend on the other graphs."""
        parts = [np.zeros(0)]
        for i in range(len(batch)):
            mine = features[batch.node_offsets[i] : batch.node_offsets[i + 1]]
            gram = self._gram(mine, mine, i)
            parts.append(((gram + gram.T) / 2).reshape(-1))
        grams = np.concatenate(parts)
        return KernelisedGraphs.build(batch, grams, self.eta, self.gamma, tiling=tiling)

    def compare(
        self,
        row_features: Array,
        rows: KernelisedGraphs,
        column_features: Array,
        columns: KernelisedGraphs,
        tiling: Tiling,
    ) -> Floats:
        """The kernel matrix of two sets of graphs."""
        out = np.empty((len(rows), len(columns)))

        def work(begin: int, end: int) -> None:
            for i in range(begin, end):
                out[i] = self._row(row_features, rows, i, column_features, columns, 0)

        for_tiles(work, len(rows), tiling=tiling)
        return out

    def compare_self(self, features: Array, graphs: KernelisedGraphs, tiling: Tiling) -> Floats:
        """The symmetric kernel matrix of a set of graphs; its diagonal is 1."""
        n = len(graphs)
        out = np.empty((n, n))

        def work(begin: int, end: int) -> None:
            for i in range(begin, end):
                out[i, i:] = self._row(features, graphs, i, features, graphs, i)

        for_tiles(work, n, costs=np.arange(n, 0, -1, dtype=np.float64), tiling=tiling)
        mirror(out)
        np.fill_diagonal(out, 1.0)
        return out

    def _row(
        self,
        row_features: Array,
        rows: KernelisedGraphs,
        i: int,
        column_features: Array,
        columns: KernelisedGraphs,
        first: int,
    ) -> Floats:
        mine = row_features[rows.offsets[i] : rows.offsets[i + 1]]
        theirs = column_features[columns.offsets[first] :]
        gram = self._gram(mine, theirs, i)
        values = rows.row(i, columns, first, gram, self.gamma)
        if np.isnan(values).any():
            j = first + int(np.isnan(values).argmax())
            raise ValueError(
                f"{self.owner}: graph {i} and fitted graph {j} have no kernel value: base_kernel "
                "is not positive semi-definite on their nodes. Use a valid kernel."
            )
        return values

    def _gram(self, mine: Array, theirs: Array, i: int) -> Floats:
        """The kernel between the nodes of graph i and other nodes."""
        shape = (len(mine), len(theirs))
        if 0 in shape:
            return np.zeros(shape)
        gram = np.asarray(self.function(*self._rows(mine, theirs)), dtype=np.float64)
        if gram.shape != shape:
            raise ValueError(
                f"{self.owner}: base_kernel(P, Q) must give one row per row of P and one column "
                f"per row of Q, here {shape}; for graph {i} it gave {gram.shape}."
            )
        if not np.isfinite(gram).all():
            raise ValueError(
                f"{self.owner}: base_kernel(P, Q) gave values that are not finite for graph {i}."
            )
        return gram

    def _rows(self, mine: Array, theirs: Array) -> tuple[Floats, Floats]:
        if mine.ndim == 2:
            return mine, theirs
        # One column per fitted label, then one per new label.
        known = self.width or 0
        new = np.unique(np.concatenate([mine[mine >= known], theirs[theirs >= known]]))
        rows = [
            one_hot(np.where(c < known, c, known + np.searchsorted(new, c)), known + len(new))
            for c in (mine, theirs)
        ]
        return rows[0], rows[1]
