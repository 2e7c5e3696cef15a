"""Pyramid match kernel: spectral coordinates of nodes, matched in cells of decreasing size."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from gramlet.common.arrays import Ints
from gramlet.common.fields import Choice, Instance, Integer, fields
from gramlet.common.parameters import Interval
from gramlet.common.stored_state import require
from gramlet.engine.core.tiles import Tiling
from gramlet.engine.counts.comparison import Measure
from gramlet.engine.spectral.coordinates import adjacency_coordinates
from gramlet.graphs.batch import GraphBatch
from gramlet.kernels.contract.count_kernel import CountKernel, count_new
from gramlet.kernels.contract.kernel import COMMON_CONSTRAINTS
from gramlet.kernels.contract.labels import LABEL_CHOICE, NodeLabels
from gramlet.kernels.contract.normalisation import Normalization
from gramlet.kernels.contract.parameter_texts import shared_texts
from gramlet.kernels.contract.slow_graphs import hops_across
from gramlet.kernels.contract.tags import GraphTags, used

# Coordinates this close below a border are on it, so that rounding does not move nodes.
_BORDER = 1e-9


# The largest number of cells that a file may contain, as arrays have one entry per cell.
_MOST_CELLS = 1 << 27


class PyramidCounter:
    """Counts nodes in the cells of every level, weighted so that minima sum to the kernel."""

    stored = fields(
        n_dims=Integer(1),
        n_levels=Integer(0, most=20),
        use_labels=Choice(True, False, "auto"),
        labels=Instance(NodeLabels),
    )

    def __init__(self, n_dims: int, n_levels: int, use_labels: bool | str) -> None:
        self.n_dims = n_dims
        self.n_levels = n_levels
        self.use_labels = use_labels

    def fit(self, batch: GraphBatch, tiling: Tiling) -> sparse.csr_matrix:
        self.labels = NodeLabels(self.use_labels)
        return self._counts(batch, self.labels.fit(batch), tiling)

    def count(self, batch: GraphBatch, tiling: Tiling) -> sparse.csr_matrix:
        return self._counts(batch, self.labels.encode(batch), tiling)

    def validate(self) -> None:
        """Raise ValueError if there are more cells than fit into arrays."""
        require(self.n_features <= _MOST_CELLS, "there are too many cells")

    @property
    def n_features(self) -> int:
        return len(self.labels) * int(self.n_dims) * (2 ** (int(self.n_levels) + 1) - 1)

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

    def _counts(self, batch: GraphBatch, labels: Ints, tiling: Tiling) -> sparse.csr_matrix:
        points = adjacency_coordinates(
            batch.node_offsets, batch.indptr, batch.indices, self.n_dims, tiling
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


@shared_texts
class PyramidMatch(CountKernel):
    """Pyramid match kernel.

    Nodes have the coordinates abs(u), for the eigenvectors u of A with the ``n_dims`` eigenvalues
    of largest magnitude. At level l = 0..L each dimension is split separately into 2^l cells, and
    I_l is the number of nodes of equal label that can be matched one to one, summed over dimensions
    and cells. k = I_L + Σ_{l<L} (I_l − I_{l+1}) / 2^{L−l}: matches that are only found in coarser
    cells have a lower weight. Cost: one eigendecomposition per graph, then a pass over common cells
    per pair. Positive semi-definite.

    Parameters
    ----------
    n_dims : int, default 6
        Number of coordinates per node.
    n_levels : int, default 4
        The finest level (L); there are L + 1 levels.
    use_labels : bool or "auto"
        Whether only nodes of equal label match; "auto": if the fitted graphs have labels.
    %(normalize)s
    %(n_jobs)s
    %(verbose)s

    Notes
    -----
    Edge weights are ignored. Graphs with fewer nodes than dimensions have columns of zeros, which
    are matched like any others. For a repeated eigenvalue, every column of the eigenspace has the
    same coordinates, sqrt(P_ii / r), so the kernel does not depend on the order of the nodes.

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
        "use_labels": LABEL_CHOICE,
        **COMMON_CONSTRAINTS,
    }

    def __init__(
        self,
        n_dims: int = 6,
        n_levels: int = 4,
        *,
        use_labels: bool | str = "auto",
        normalize: Normalization = False,
        n_jobs: int | None = None,
        verbose: int | bool = False,
    ) -> None:
        self.n_dims = n_dims
        self.n_levels = n_levels
        self.use_labels = use_labels
        self.normalize = normalize
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _counter(self) -> PyramidCounter:
        return PyramidCounter(int(self.n_dims), int(self.n_levels), self.use_labels)

    def _expected_seconds(self, batch: GraphBatch, graph: int) -> float:
        # The closer the leading eigenvalues are, as in long paths, the longer Lanczos takes.
        return 2e-9 * float(batch.sizes[graph]) ** 2 * hops_across(batch, graph)

    def __graph_tags__(self) -> GraphTags:
        return GraphTags(uses=used(node_labels=self.use_labels))
