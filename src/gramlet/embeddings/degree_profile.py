"""Local degree profile: histograms of the degrees of nodes and of their neighbours."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar

import numpy as np

from gramlet.common.arrays import Floats, Ints, Nodes
from gramlet.common.fields import ArrayOf, Integer, fields
from gramlet.common.parameters import Interval
from gramlet.embeddings.base import DETERMINISTIC_CONSTRAINTS, GraphEmbedding
from gramlet.engine.core.tiles import Tiling
from gramlet.graphs.batch import GraphBatch
from gramlet.kernels.contract.parameter_texts import shared_texts
from gramlet.kernels.contract.tags import GraphTags

_STATISTICS = ("degree", "minimum", "maximum", "mean", "deviation")
# Values this close to the border of two bins, in bin widths, are counted in the upper one.
_BORDER = 1e-9


@shared_texts
class LocalDegreeProfile(GraphEmbedding):
    """Local degree profile: histograms of degrees and of neighbours' degrees.

    For each node, x is its degree and the minimum, maximum, mean and standard deviation of its
    neighbours' degrees (0 without neighbours). The values ln(1 + x) of each of the five are counted
    in bins from 0 to the largest value in the fitted graphs, larger ones in the last bin, and
    divided by n. Cost: O(n + m) per graph.

    Parameters
    ----------
    n_bins : int, default 32
        Number of bins of each of the five histograms.
    %(n_jobs)s
    %(verbose)s

    Attributes
    ----------
    largest_ : array of five float
        The end of the last bin of each histogram.

    Notes
    -----
    A graph without nodes gets the zero row. Labels and weights are ignored.

    References
    ----------
    Cai, Wang (2018), A simple yet effective baseline for non-attributed graph classification.

    Examples
    --------
    >>> from gramlet import LocalDegreeProfile
    >>> path, triangle = [(0, 1), (1, 2)], [(0, 1), (1, 2), (0, 2)]
    >>> profile = LocalDegreeProfile(n_bins=2).fit([(path, None), (triangle, None)])
    >>> profile.transform([(triangle, None)])
    array([[0., 1., 0., 1., 0., 1., 0., 1., 1., 0.]])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_bins": [Interval(Integral, 1, None, closed="left")],
        **DETERMINISTIC_CONSTRAINTS,
    }

    stored = fields(
        n_bins_=Integer(1, size="n_bins"),
        largest_=ArrayOf("float64", len(_STATISTICS), least=0.0),
    )

    def __init__(
        self, n_bins: int = 32, *, n_jobs: int | None = None, verbose: int | bool = False
    ) -> None:
        self.n_bins = n_bins
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _fit(self, batch: GraphBatch, y: Any, tiling: Tiling) -> GraphBatch:
        self.n_bins_ = int(self.n_bins)
        self.largest_ = degree_statistics(batch.indptr, batch.indices).max(axis=0, initial=0.0)
        return batch

    def _profile(self, batch: GraphBatch, tiling: Tiling) -> GraphBatch:
        return batch

    def _features(self, profile: GraphBatch, tiling: Tiling) -> Floats:
        values = degree_statistics(profile.indptr, profile.indices)
        n_columns = len(_STATISTICS) * self.n_bins_
        places = self._bins(values) + np.arange(len(_STATISTICS)) * self.n_bins_
        places += profile.graph_of_node[:, None] * n_columns
        counts = np.bincount(places.reshape(-1), minlength=len(profile) * n_columns)
        rows = counts.reshape(len(profile), n_columns)
        return rows / np.maximum(profile.sizes, 1)[:, None]

    def _bins(self, values: Floats) -> Ints:
        """The bin of each value; if the largest is 0, the first bin for 0 and the last for more."""
        above = np.where(values > 0, np.inf, 0.0)
        shares = np.divide(values, self.largest_, out=above, where=self.largest_ > 0)
        last = self.n_bins_ - 1
        return np.minimum(np.floor(shares * self.n_bins_ + _BORDER), last).astype(np.int64)

    def _names(self) -> list[str]:
        return [f"{name} {at}" for name in _STATISTICS for at in range(self.n_bins_)]

    def __graph_tags__(self) -> GraphTags:
        return GraphTags(kind="embedding", depends_on_fitted=True, uses=())


def degree_statistics(indptr: Ints, indices: Nodes) -> Floats:
    """ln(1 + x) of each node's degree and the minimum, maximum, mean, deviation of neighbours'.

    >>> path = np.array([0, 1, 3, 4]), np.array([1, 0, 2, 1])
    >>> np.expm1(degree_statistics(*path)).round(6).tolist()[:2]
    [[1.0, 2.0, 2.0, 2.0, 0.0], [2.0, 1.0, 1.0, 1.0, 0.0]]
    """
    degrees = np.diff(indptr)
    out = np.zeros((len(degrees), len(_STATISTICS)))
    out[:, 0] = degrees
    there = np.flatnonzero(degrees)
    if len(there):
        around = degrees[indices].astype(np.float64)
        # Nodes without neighbours have empty ranges, which reduceat cannot sum.
        begins, count = indptr[there], degrees[there]
        mean = np.add.reduceat(around, begins) / count
        squares = (around - np.repeat(mean, count)) ** 2
        out[there, 1] = np.minimum.reduceat(around, begins)
        out[there, 2] = np.maximum.reduceat(around, begins)
        out[there, 3] = mean
        out[there, 4] = np.sqrt(np.add.reduceat(squares, begins) / count)
    return np.log1p(out)
