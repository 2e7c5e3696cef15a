"""Laplacian kernels of one scale: the Laplacian graph kernel and its form on vertex features."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, ClassVar, cast

import numpy as np
from scipy.linalg import solve_triangular

from gramlet.common.arrays import Array, Floats, Ints
from gramlet.common.fields import Instance, Integer, fields
from gramlet.common.parameters import Interval
from gramlet.common.stored_state import require, require_instance
from gramlet.engine.core.ragged import taken
from gramlet.engine.core.tiles import QUIET, Tiling, for_tiles, mirror
from gramlet.engine.laplacian.covariances import laplacian_stacks
from gramlet.graphs.batch import GraphBatch
from gramlet.kernels.contract.columns import checked_weights
from gramlet.kernels.contract.kernel import COMMON_CONSTRAINTS, GraphKernel
from gramlet.kernels.contract.normalisation import Normalization
from gramlet.kernels.contract.parameter_texts import shared_texts
from gramlet.kernels.contract.tags import GraphTags
from gramlet.kernels.laplacian.covariance_profile import (
    CovarianceProfile,
    SupportedProfile,
    UnitProfile,
    of_graphs,
    of_labels,
    of_nonzero_features,
)
from gramlet.kernels.laplacian.vertex_features import (
    FEATURES_CONSTRAINTS,
    VertexFeatures,
    columns_of,
    one_hot,
)

# A pivot below this share of the diagonal is a rounding error.
_LOST = 1e-14

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

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **LAPLACIAN_CONSTRAINTS,
        **COMMON_CONSTRAINTS,
    }

    stored = fields(n_nodes_=Integer(0))

    def __init__(
        self,
        eta: float = 0.1,
        gamma: float = 0.01,
        *,
        normalize: Normalization = False,
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
        require_instance("profile_", profile, CovarianceProfile)
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

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **LAPLACIAN_CONSTRAINTS,
        **FEATURES_CONSTRAINTS,
        "base_kernel": [callable, None],
        **COMMON_CONSTRAINTS,
    }

    stored = fields(reader_=Instance(VertexFeatures))

    def __init__(
        self,
        eta: float = 0.1,
        gamma: float = 0.01,
        *,
        vertex_features: str | Callable[[GraphBatch], Any] = "labels",
        heat_times: Sequence[float] = (0.1, 1, 10),
        base_kernel: Callable[[Floats, Floats], Any] | None = None,
        normalize: Normalization = False,
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
            width = self.reader_.width or 0
            return KernelisedProfile.build(self.base_kernel, width, batch, features, eta, gamma)
        if features.ndim == 1:
            return SupportedProfile(of_labels(batch, features, eta, gamma, tiling=tiling))
        if gamma == 0:
            return SupportedProfile(of_nonzero_features(batch, features, eta, tiling=tiling))
        return CovarianceProfile(of_graphs(batch, features, eta, gamma, tiling=tiling), gamma)

    def _validate_fitted(self) -> None:
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


@dataclass(frozen=True)
class KernelisedProfile(UnitProfile):
    """Graphs compared by a kernel between their nodes that the user gives.

    With K the Gram matrix of the nodes of two graphs and Λ the block-diagonal matrix of L₁ and L₂,
    ln k = ¼(ln|L₁ + K₁₁/γ| + ln|L₂ + K₂₂/γ| + ln|L₁| + ln|L₂|) − ½ ln|Λ + K/(2γ)|. This equals the
    kernel in the coordinates of K's eigenvectors, but takes only one Cholesky factorisation per
    pair, whose first block is computed once per graph. The value of a pair does not depend on other
    graphs, so new graphs are compared exactly.

    Attributes
    ----------
    function : callable
        Takes two arrays of features and returns their kernel matrix.
    width : int
        Number of columns of the fitted labels; larger codes are new labels.
    gamma : float
    offsets : array
        ``node_offsets`` of the graphs.
    vertex_features : array
        Codes of labels, or rows of numbers, one per node.
    squares, roots : list of arrays
        L + K/(2γ) of each graph, and its Cholesky factor.
    constants : array
        ¼(ln|L + K/γ| + ln|L|) of each graph.
    half_logs : array
        ½ ln|L + K/(2γ)|.
    """

    function: Callable[[Floats, Floats], Any]
    width: int
    gamma: float
    offsets: Ints
    vertex_features: Array
    squares: list[Floats]
    roots: list[Floats]
    constants: Floats
    half_logs: Floats

    @classmethod
    def build(
        cls,
        function: Callable[[Floats, Floats], Any],
        width: int,
        batch: GraphBatch,
        features: Array,
        eta: float,
        gamma: float,
    ) -> KernelisedProfile:
        """Factor the matrices of all graphs; Gram matrices of base_kernel are made symmetric."""
        n, stack_of = len(batch), laplacian_stacks(batch)
        profile = cls(
            function, width, gamma, batch.node_offsets, features, [], [], np.empty(n), np.empty(n)
        )
        for g, size in enumerate(batch.sizes.tolist()):
            laplacian = eta * np.eye(size)
            if size:
                laplacian += stack_of(np.array([g]))[0]
            gram = profile._gram(features[batch.node_offsets[g] : batch.node_offsets[g + 1]], g)
            gram = (gram + gram.T) / (2.0 * gamma)
            try:
                root, half_log = _factor(laplacian + gram / 2.0)
                own_logs = _factor(laplacian + gram)[1] + _factor(laplacian)[1]
            except np.linalg.LinAlgError:
                raise ValueError(
                    f"Graph {g}: L + K/γ is not positive definite with eta={eta}, gamma={gamma}. "
                    "Either edge weights are negative, or the kernel between nodes is not positive "
                    "semi-definite, or eta is too small compared with the weights. Use weights of "
                    "at least 0, a valid kernel, or a larger eta."
                ) from None
            profile.squares.append(laplacian + gram / 2.0)
            profile.roots.append(root)
            profile.constants[g], profile.half_logs[g] = 0.5 * own_logs, half_log
        return profile

    def validate(self) -> None:
        """Raise ValueError: a function that the user gives cannot be restored from a file."""
        raise ValueError("A base_kernel is a function and cannot be restored from a file.")

    def __len__(self) -> int:
        return len(self.constants)

    def take(self, rows: Ints) -> KernelisedProfile:
        offsets, nodes = taken(self.offsets, rows)
        return replace(
            self,
            offsets=offsets,
            vertex_features=self.vertex_features[nodes],
            squares=[self.squares[g] for g in rows],
            roots=[self.roots[g] for g in rows],
            constants=self.constants[rows],
            half_logs=self.half_logs[rows],
        )

    def compare(self, other: KernelisedProfile, tiling: Tiling = QUIET) -> Floats:
        out = np.empty((len(self), len(other)))

        def work(begin: int, end: int) -> None:
            for g in range(begin, end):
                self._fill_row(g, other, 0, out[g])

        for_tiles(work, len(self), tiling=tiling)
        return out

    def compare_self(self, tiling: Tiling = QUIET) -> Floats:
        n = len(self)
        out = np.empty((n, n))

        def work(begin: int, end: int) -> None:
            for g in range(begin, end):
                self._fill_row(g, self, g, out[g])

        for_tiles(work, n, costs=np.arange(n, 0, -1, dtype=np.float64), tiling=tiling)
        mirror(out)
        np.fill_diagonal(out, 1.0)
        return out

    def _fill_row(self, g: int, other: KernelisedProfile, first: int, row: Floats) -> None:
        """k of graph g and the graphs of ``other`` from ``first`` on."""
        mine = self.vertex_features[self.offsets[g] : self.offsets[g + 1]]
        gram = self._gram(mine, g, other.vertex_features[other.offsets[first] :])
        # Continue the factorisation of the first graph to each other one: its Schur complement.
        across = gram / (2.0 * self.gamma)
        if len(mine):
            across = solve_triangular(self.roots[g], across, lower=True, check_finite=False)
        for h in range(first, len(other)):
            begin, end = other.offsets[h : h + 2] - other.offsets[first]
            block = across[:, begin:end]
            try:
                half_log = _factor(other.squares[h] - block.T @ block)[1]
            except np.linalg.LinAlgError:
                raise ValueError(
                    f"FeatureLaplacian: graph {g} and fitted graph {h} have no kernel value: "
                    "base_kernel is not positive semi-definite on their nodes. Use a valid kernel."
                ) from None
            log_k = self.constants[g] + other.constants[h] - self.half_logs[g] - half_log
            row[h] = np.exp(min(log_k, 0.0))

    def _gram(self, mine: Array, g: int, theirs: Array | None = None) -> Floats:
        """The kernel between the nodes of graph g and other nodes, by default its own."""
        theirs = mine if theirs is None else theirs
        shape = (len(mine), len(theirs))
        if 0 in shape:
            return np.zeros(shape)
        if mine.ndim == 1:  # one column per fitted label, then one per new label
            known = self.width
            new = np.unique(np.concatenate([mine[mine >= known], theirs[theirs >= known]]))
            mine, theirs = (
                one_hot(np.where(c < known, c, known + np.searchsorted(new, c)), known + len(new))
                for c in (mine, theirs)
            )
        gram = np.asarray(self.function(mine, theirs), dtype=np.float64)
        if gram.shape != shape:
            raise ValueError(
                "FeatureLaplacian: base_kernel(P, Q) must give one row per row of P and one column "
                f"per row of Q, here {shape}; for graph {g} it gave {gram.shape}."
            )
        if not np.isfinite(gram).all():
            raise ValueError(
                "FeatureLaplacian: base_kernel(P, Q) gave values that are not finite for graph "
                f"{g}."
            )
        return gram


def _factor(matrix: Floats) -> tuple[Floats, float]:
    """The Cholesky factor R of S and ½ ln|S|; a LinAlgError if S is not positive definite."""
    root = np.asarray(np.linalg.cholesky(matrix), dtype=np.float64)
    pivots = np.diagonal(root)
    if not (pivots**2 > _LOST * np.diagonal(matrix)).all():
        raise np.linalg.LinAlgError
    return root, float(np.log(pivots).sum())
