"""Pyramid match kernel: nodes' spectral coordinates matched in ever finer cells."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from gramlet.common.arrays import Ints
from gramlet.common.parameters import Interval, StrOptions
from gramlet.engine.counts.comparison import Measure
from gramlet.engine.spectral.coordinates import adjacency_coordinates
from gramlet.graphs.batch import GraphBatch
from gramlet.kernels.contract.kernel import COMMON_CONSTRAINTS, CountKernel
from gramlet.kernels.contract.vocabulary import LabelVocabulary
from gramlet.kernels.histograms.label_histograms import count_new

__all__ = ["PyramidCounter", "PyramidMatch", "uses_labels"]


# Coordinates this little below a border count as on it, so that rounding does not move nodes.
_BORDER = 1e-9


def uses_labels(choice: bool | str, batch: GraphBatch) -> bool:
    """The choice itself, or, for "auto", whether the graphs have node labels."""
    return batch.node_labels is not None if choice == "auto" else bool(choice)


class PyramidCounter:
    """Counts nodes in the cells of every level, weighted so that minima add up to the kernel."""

    def __init__(self, n_dims: int, n_levels: int, labels: bool | str, n_jobs: int | None) -> None:
        self.n_dims = n_dims
        self.n_levels = n_levels
        self.choice = labels
        self.n_jobs = n_jobs

    def fit(self, batch: GraphBatch) -> sparse.csr_matrix:
        self.with_labels = uses_labels(self.choice, batch)
        column = batch.node_labels if self.with_labels else None
        self.labels, codes = LabelVocabulary.fit(column, batch.n_nodes_total, "node labels")
        return self._counts(batch, codes)

    def count(self, batch: GraphBatch) -> sparse.csr_matrix:
        column = batch.node_labels if self.with_labels else None
        return self._counts(batch, self.labels.encode(column, batch.n_nodes_total))

    def names(self) -> list[str]:
        cells = [
            (level, dim, cell)
            for level in range(self.n_levels + 1)
            for dim in range(self.n_dims)
            for cell in range(2**level)
        ]
        return [
            f"{label}:level {level}, dimension {dim}, cell {cell}"
            for label in self.labels.names()
            for level, dim, cell in cells
        ]

    def _counts(self, batch: GraphBatch, labels: Ints) -> sparse.csr_matrix:
        points = adjacency_coordinates(
            batch.node_offsets, batch.indptr, batch.indices, self.n_dims, self.n_jobs
        ).points
        n_cells = self.n_dims * (2 ** (self.n_levels + 1) - 1)
        lines, weights, start = [], np.empty(n_cells), 0
        for level in range(self.n_levels + 1):
            side = 2**level
            cells = np.minimum(np.floor(points * side + _BORDER).astype(np.int64), side - 1)
            cells += start + np.arange(self.n_dims) * side + (labels * n_cells)[:, None]
            lines.append(cells.T)
            weights[start : start + self.n_dims * side] = self._weight(level)
            start += self.n_dims * side
        codes = np.concatenate(lines) if len(points) else np.zeros((1, 0), dtype=np.int64)
        counts = count_new(batch.node_offsets, codes, len(self.labels) * n_cells)
        counts.data *= weights[counts.indices % n_cells]
        return counts

    def _weight(self, level: int) -> float:
        """The factor of I_l in I_L + Σ_{l<L} (I_l − I_{l+1}) / 2^{L−l}."""
        depth = self.n_levels - level
        if level == 0:
            return 1.0 / 2**depth
        return 1.0 / 2 ** (depth + 1)


class PyramidMatch(CountKernel):
    """Pyramid match kernel.

    Nodes have the coordinates abs(u) of the eigenvectors of A for the ``n_dims`` eigenvalues of
    largest magnitude. At level l = 0..L each dimension on its own is cut into 2^l cells, and I_l is
    the number of nodes (over dimensions and cells, and only of one label) that can be matched one
    to one. k = I_L + Σ_{l<L} (I_l − I_{l+1}) / 2^{L−l}: matches that are first found in coarser
    cells count less. Cost: one eigendecomposition a graph, then a pass over common cells a pair.
    Positive semi-definite.

    Parameters
    ----------
    n_dims : int, default 6
        Coordinates a node.
    n_levels : int, default 4
        The finest level (L); there are L + 1 of them.
    labels : bool or "auto"
        Whether only nodes of one label match; "auto": if the graphs have labels.
    normalize : bool, default False
        Divide by sqrt(k(G,G) k(G',G')); an entry whose norm is 0 becomes 0.
    n_jobs : int or None
        Threads; the result does not depend on it.
    verbose : bool or int
        Show a progress bar on a terminal.

    Notes
    -----
    Edge weights are ignored. Graphs with fewer nodes than dimensions have columns of zeros, which
    match like any other. Repeated eigenvalues give every column of their eigenspace the same
    coordinates, sqrt(P_ii / r), so the kernel does not depend on the order of the nodes.

    References
    ----------
    Nikolentzos, Meladianos, Vazirgiannis (2017), Matching node embeddings for graph similarity.

    Examples
    --------
    >>> from gramlet import PyramidMatch
    >>> graphs = [([(0, 1)], ["C", "O"]), ([(0, 1), (1, 2)], ["C", "O", "C"])]
    >>> PyramidMatch(n_dims=2, n_levels=2).fit_transform(graphs)
    array([[4., 4.],
           [4., 6.]])
    """

    _measure: ClassVar[Measure] = "min"
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_dims": [Interval(Integral, 1, None, closed="left")],
        "n_levels": [Interval(Integral, 0, 20, closed="both")],
        "labels": ["boolean", StrOptions({"auto"})],
        **COMMON_CONSTRAINTS,
    }

    def __init__(
        self,
        n_dims: int = 6,
        n_levels: int = 4,
        labels: bool | str = "auto",
        *,
        normalize: bool = False,
        n_jobs: int | None = None,
        verbose: int | bool = False,
    ) -> None:
        self.n_dims = n_dims
        self.n_levels = n_levels
        self.labels = labels
        self.normalize = normalize
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _counter(self) -> PyramidCounter:
        return PyramidCounter(self.n_dims, self.n_levels, self.labels, self.n_jobs)
