"""Laplacian kernels of one scale: the Laplacian graph kernel and its form on vertex features."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from numbers import Real
from typing import Any, ClassVar, cast

import numpy as np

from gramlet.common.arrays import Array, Floats
from gramlet.common.fields import Instance, Integer, fields
from gramlet.common.parameters import Interval
from gramlet.common.stored_state import require, require_instance
from gramlet.engine.core.tiles import Tiling
from gramlet.graphs.batch import GraphBatch
from gramlet.kernels.contract.columns import checked_weights
from gramlet.kernels.contract.kernel import COMMON_CONSTRAINTS, GraphKernel
from gramlet.kernels.contract.parameter_texts import shared_texts
from gramlet.kernels.contract.tags import GraphTags
from gramlet.kernels.laplacian.covariance_profile import (
    CovarianceProfile,
    KernelisedProfile,
    SupportedProfile,
)
from gramlet.kernels.laplacian.covariances import of_graphs, of_labels, of_nonzero_features
from gramlet.kernels.laplacian.kernelised import BaseKernel
from gramlet.kernels.laplacian.vertex_features import (
    FEATURES_CONSTRAINTS,
    VertexFeatures,
    columns_of,
)

__all__ = ["LAPLACIAN_CONSTRAINTS", "FeatureLaplacian", "LaplacianKernel"]


LAPLACIAN_CONSTRAINTS: dict[str, list[Any]] = {
    "eta": [Interval(Real, 0, None, closed="neither")],
    "gamma": [Interval(Real, 0, None, closed="left")],
}


@shared_texts
class LaplacianKernel(GraphKernel):
    """Laplacian graph kernel (LG) of graphs of one size, node for node.

    A graph is represented by a Gaussian with covariance S = L⁻¹ + γI, L = D − A + ηI, and two
    graphs are compared by the overlap of their Gaussians (the Bhattacharyya kernel),
    ln k = ¼(ln|S₁| + ln|S₂|) − ½ ln|(S₁ + S₂)/2|. Edge weights are used, labels are not. Cost:
    O(n³) per pair for graphs of n nodes. Positive semi-definite; k(G, G) = 1.

    Node i of one graph is compared with node i of the other: the kernel is **not** invariant to
    renumbering nodes. It suits graphs on one common set of nodes (sensors, brain regions, one
    network over time). For other graphs use `FeatureLaplacian`.

    Parameters
    ----------
    eta : float, default 0.1
        Regularises the Laplacian (η); above 0.
    gamma : float, default 0.01
        Softens the overlap (γ); at least 0.
    %(normalize_unit)s
    %(n_jobs)s
    %(verbose)s

    References
    ----------
    Kondor, Pan (2016), The multiscale Laplacian graph kernel, Definition 1.

    Examples
    --------
    >>> from gramlet import GraphBatch, LaplacianKernel
    >>> graphs = GraphBatch.from_edges([[(0, 1)], []], n_nodes=[2, 2])
    >>> LaplacianKernel(eta=1.0, gamma=1.0).fit_transform(graphs).round(4)
    array([[1.    , 0.9898],
           [0.9898, 1.    ]])
    """

    stored = fields(profile_=Instance(CovarianceProfile, len="n_fitted_"), n_nodes_=Integer())

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **LAPLACIAN_CONSTRAINTS,
        **COMMON_CONSTRAINTS,
    }

    def __init__(
        self,
        eta: float = 0.1,
        gamma: float = 0.01,
        *,
        normalize: bool = False,
        n_jobs: int | None = None,
        verbose: int | bool = False,
    ) -> None:
        self.eta = eta
        self.gamma = gamma
        self.normalize = normalize
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _fit(self, batch: GraphBatch, y: Any, tiling: Tiling) -> CovarianceProfile:
        self.n_nodes_ = int(batch.sizes[0])
        return self._profile(batch, tiling)

    def _profile(self, batch: GraphBatch, tiling: Tiling) -> CovarianceProfile:
        other = np.flatnonzero(batch.sizes != self.n_nodes_)
        if len(other):
            raise ValueError(
                f"LaplacianKernel compares graphs of one size, node for node: graph {other[0]} has "
                f"{batch.sizes[other[0]]} nodes, the first fitted graph has {self.n_nodes_}. Use "
                "FeatureLaplacian for graphs of different sizes."
            )
        checked_weights(batch, "LaplacianKernel", positive=False)
        rows = np.tile(np.eye(self.n_nodes_), (len(batch), 1))
        gamma = float(self.gamma)
        return CovarianceProfile(
            of_graphs(batch, rows, float(self.eta), gamma, tiling=tiling), gamma
        )

    def _validate_fitted(self) -> None:
        profile: Any = self.profile_
        order = profile.covariances.order
        require(self.n_nodes_ == order, "n_nodes_ must be the order of the matrices")
        require(profile.gamma == self.gamma, "gamma was changed after fit; fit the kernel again")

    def __graph_tags__(self) -> GraphTags:
        return GraphTags(uses=("edge_weights",), unit=True)


@shared_texts
class FeatureLaplacian(GraphKernel):
    """Feature-space Laplacian graph kernel (FLG).

    The Laplacian kernel on features of nodes instead of nodes, whose numbering is arbitrary:
    S = U L⁻¹ Uᵀ + γI, with the features φ(v) as the columns of U and L = D − A + ηI, and
    ln k = ¼(ln|S₁| + ln|S₂|) − ½ ln|(S₁ + S₂)/2|. Two graphs are similar if they have the same
    features, at similar distances from each other in the graph. Edge weights are used. The kernel
    is invariant to renumbering nodes and compares graphs of any size. Positive semi-definite;
    k(G, G) = 1. Cost: a sparse factorisation per graph, then O(p³) per pair, with p features (for
    labels, those that occur in the two graphs).

    Parameters
    ----------
    eta : float, default 0.1
        Regularises the Laplacian (η); above 0.
    gamma : float, default 0.01
        Softens the overlap (γ); at least 0. With 0 the kernel is the limit γ → 0: graphs whose
        features are non-zero in different columns have k = 0, and a graph whose other features are
        linearly dependent raises a ValueError.
    vertex_features : {"labels", "degree", "attributes", "heat"} or callable, default "labels"
        One-hot labels; the number of neighbours; the node attributes; the diagonals
        [exp(−t(D − A))]_vv of heat diffusion; or a function that takes a graph (a `GraphBatch` of
        one) and returns an array with one row per node.
    heat_times : sequence of float, default (0.1, 1, 10)
        The times t of "heat".
    base_kernel : callable, optional
        ``base_kernel(P, Q)`` takes two arrays of features, one row per node, and returns the matrix
        of a positive semi-definite kernel between their rows. S is then in the feature space of
        that kernel. The default is the dot product. Needs gamma > 0; costs O((n + n')³) per pair.
    %(normalize_unit)s
    %(n_jobs)s
    %(verbose)s

    Notes
    -----
    A label that was not seen in `fit` is a new feature. A graph without nodes has S = γI.

    References
    ----------
    Kondor, Pan (2016), The multiscale Laplacian graph kernel, Definitions 2 and 4.

    Examples
    --------
    >>> from gramlet import FeatureLaplacian
    >>> graphs = [([(0, 1)], ["C", "N"]), ([(0, 1), (1, 2)], ["C", "N", "C"])]
    >>> FeatureLaplacian(eta=1.0, gamma=1.0).fit_transform(graphs).round(4)
    array([[1.    , 0.9887],
           [0.9887, 1.    ]])
    """

    stored = fields(reader_=Instance(VertexFeatures))

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **LAPLACIAN_CONSTRAINTS,
        **FEATURES_CONSTRAINTS,
        "base_kernel": [callable, None],
        **COMMON_CONSTRAINTS,
    }

    def __init__(
        self,
        eta: float = 0.1,
        gamma: float = 0.01,
        vertex_features: str | Callable[[GraphBatch], Any] = "labels",
        heat_times: Sequence[float] = (0.1, 1, 10),
        base_kernel: Callable[[Floats, Floats], Any] | None = None,
        *,
        normalize: bool = False,
        n_jobs: int | None = None,
        verbose: int | bool = False,
    ) -> None:
        self.eta = eta
        self.gamma = gamma
        self.vertex_features = vertex_features
        self.heat_times = heat_times
        self.base_kernel = base_kernel
        self.normalize = normalize
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _check(self, batch: GraphBatch) -> None:
        if self.base_kernel is not None and self.gamma == 0:
            raise ValueError(
                "The 'gamma' parameter of FeatureLaplacian must be above 0 with a base_kernel: the "
                "nodes of two graphs rarely span the same space. Got 0."
            )

    def _fit(self, batch: GraphBatch, y: Any, tiling: Tiling) -> Any:
        checked_weights(batch, "FeatureLaplacian", positive=False)
        self.reader_ = VertexFeatures(self.vertex_features, self.heat_times, "FeatureLaplacian")
        return self._covariances(batch, self.reader_.fit(batch, tiling=tiling), tiling)

    def _profile(self, batch: GraphBatch, tiling: Tiling) -> Any:
        checked_weights(batch, "FeatureLaplacian", positive=False)
        return self._covariances(batch, self.reader_.read(batch, tiling=tiling), tiling)

    def _covariances(self, batch: GraphBatch, features: Array, tiling: Tiling) -> Any:
        eta, gamma = float(self.eta), float(self.gamma)
        if self.base_kernel is not None:
            width = self.reader_.width
            base = BaseKernel(self.base_kernel, "FeatureLaplacian", eta, gamma, width)
            return KernelisedProfile(base, features, base.prepare(batch, features, tiling))
        if features.ndim == 1:
            return SupportedProfile(of_labels(batch, features, eta, gamma, tiling=tiling))
        if gamma == 0:
            return SupportedProfile(of_nonzero_features(batch, features, eta, tiling=tiling))
        return CovarianceProfile(of_graphs(batch, features, eta, gamma, tiling=tiling), gamma)

    def _validate_fitted(self) -> None:
        require_instance("reader_", self.reader_, VertexFeatures)
        reader, profile = self.reader_, cast(Any, self.profile_)
        require(reader.features == self.vertex_features, "reader_ does not fit vertex_features")
        kind: type = CovarianceProfile
        if reader.features == "labels" or self.gamma == 0:
            kind = SupportedProfile
        require_instance("profile_", profile, kind)
        gamma = profile.gamma if kind is CovarianceProfile else profile.covariances.gamma
        require(gamma == self.gamma, "gamma was changed after fit; fit the kernel again")
        if kind is CovarianceProfile:
            order = profile.covariances.order
            require(order in (0, reader.width), "the matrices do not fit the features")

    def __graph_tags__(self) -> GraphTags:
        attributes = self.vertex_features == "attributes"
        return GraphTags(
            needs=("node_attributes",) if attributes else (),
            uses=columns_of(self.vertex_features),
            unit=True,
        )
