"""Geometric assignment kernel: graphs described by their best matchings with the fitted graphs."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from gramlet.common.arrays import Array, Floats, Ints
from gramlet.common.fields import ArrayOf, Instance, Offsets, fields
from gramlet.common.parameters import Interval
from gramlet.common.stored_state import require
from gramlet.engine.core.tiles import Tiling, for_tiles, mirror
from gramlet.engine.spectral.assignment import match_rows
from gramlet.engine.spectral.coordinates import adjacency_coordinates
from gramlet.graphs.batch import GraphBatch
from gramlet.graphs.conversion.convert import as_batch
from gramlet.kernels.contract.count_kernel import ExplicitFeatures
from gramlet.kernels.contract.kernel import COMMON_CONSTRAINTS, GraphKernel
from gramlet.kernels.contract.normalisation import Normalization
from gramlet.kernels.contract.parameter_texts import shared_texts
from gramlet.kernels.contract.profile import FeatureProfile
from gramlet.kernels.contract.tags import GraphTags


@dataclass
class PointSets:
    """The vectors of the nodes of many graphs, ordered by graph."""

    offsets: Ints
    points: Floats

    stored = fields(offsets=Offsets("n", "points"), points=ArrayOf("float64", "points", "d"))

    def validate(self) -> None:
        """Raise ValueError if the points are not stored row by row."""
        require(self.points.flags.c_contiguous, "points must be contiguous")

    def __len__(self) -> int:
        return len(self.offsets) - 1


@shared_texts
class GeometricAssignment(ExplicitFeatures, GraphKernel):
    """Geometric assignment kernel (OA-E_λ).

    The vectors of nodes are the rows of abs(V) diag(abs(λ)^{1/2}), for the ``n_dims`` eigenvalues
    of A of largest magnitude. M(G, H) is the value of the best assignment of the smaller node set
    to the larger, where the similarity of two nodes is their dot product. M is not positive
    semi-definite, so a graph is described by its M with every fitted graph, divided by their
    number, and k is the dot product of these descriptions: positive semi-definite, and dependent on
    the fitted graphs. Cost: O(n³) per pair of graphs with n nodes.

    Parameters
    ----------
    n_dims : int, default 6
        Number of coordinates per node.
    %(normalize)s
    %(n_jobs)s
    %(verbose)s

    References
    ----------
    Johansson, Dubhashi (2015), Learning with similarity functions on graphs using matchings of
    geometric embeddings.

    Examples
    --------
    >>> from gramlet import GeometricAssignment
    >>> triangle, path = ([(0, 1), (1, 2), (2, 0)], "CCC"), ([(0, 1), (1, 2)], "CCC")
    >>> GeometricAssignment(n_dims=1).fit([triangle, path]).matching([triangle]).round(3)
    array([[2.   , 1.658]])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_dims": [Interval(Integral, 1, None, closed="left")],
        **COMMON_CONSTRAINTS,
    }

    stored = fields(
        profile_=Instance(FeatureProfile, len="n_fitted_"),
        fitted_sets_=Instance(PointSets, len="n_fitted_"),
    )

    def __init__(
        self,
        n_dims: int = 6,
        *,
        normalize: Normalization = False,
        n_jobs: int | None = None,
        verbose: int | bool = False,
    ) -> None:
        self.n_dims = n_dims
        self.normalize = normalize
        self.n_jobs = n_jobs
        self.verbose = verbose

    def matching(self, X: Any) -> Floats:
        """Compute M, the values of the best assignments of X to the fitted graphs."""
        check_is_fitted(self)
        return self._matchings(self._point_sets(as_batch(X), self._tiling()), self._tiling())

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """A name per column of `features`."""
        check_is_fitted(self)
        return np.array([f"matching with fitted graph {i}" for i in range(self.n_fitted_)], object)

    def _point_sets(self, batch: GraphBatch, tiling: Tiling) -> PointSets:
        nodes = adjacency_coordinates(
            batch.node_offsets, batch.indptr, batch.indices, self.n_dims, tiling
        )
        lengths = np.sqrt(np.abs(nodes.values))[batch.graph_of_node]
        return PointSets(np.asarray(batch.node_offsets), nodes.points * lengths)

    def _matchings(self, sets: PointSets, tiling: Tiling) -> Floats:
        fitted = self.fitted_sets_
        out = np.zeros((len(sets), len(fitted)))
        symmetric = sets is fitted
        columns, fitted_columns = (np.ascontiguousarray(one.points.T) for one in (sets, fitted))

        def fill(begin: int, end: int) -> None:
            match_rows(
                begin,
                end,
                sets.offsets,
                sets.points,
                columns,
                fitted.offsets,
                fitted.points,
                fitted_columns,
                symmetric,
                out,
            )

        costs = np.arange(len(out), 0, -1, dtype=np.float64) if symmetric else None
        for_tiles(fill, len(out), costs=costs, tiling=tiling)
        if symmetric:
            mirror(out)
        return out

    def _fit(self, batch: GraphBatch, y: Any, tiling: Tiling) -> FeatureProfile:
        self.fitted_sets_ = self._point_sets(batch, tiling)
        return FeatureProfile(self._matchings(self.fitted_sets_, tiling) / len(batch))

    def _profile(self, batch: GraphBatch, tiling: Tiling) -> FeatureProfile:
        sets = self._point_sets(batch, tiling)
        return FeatureProfile(self._matchings(sets, tiling) / self.n_fitted_)

    def _validate_fitted(self) -> None:
        n = self.n_fitted_
        require(self.fitted_sets_.points.shape[1] == self.n_dims, "n_dims does not fit the points")
        ArrayOf("float64", n, n).check("profile_.rows", self.profile_.rows, {})

    def __graph_tags__(self) -> GraphTags:
        return GraphTags(features=True, depends_on_fitted=True, uses=())
