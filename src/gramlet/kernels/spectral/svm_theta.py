"""SVM-θ kernel: graphs compared by a relaxation of the Lovász number, in closed form."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from gramlet.common.arrays import Array, Floats, Ints
from gramlet.common.checks import is_integer
from gramlet.common.fields import ArrayOf, Instance, Integer, fields
from gramlet.common.notices import warn_caller
from gramlet.common.stored_state import require
from gramlet.engine.core.tiles import QUIET, Tiling
from gramlet.engine.spectral.theta_program import theta_values
from gramlet.graphs.batch import GraphBatch
from gramlet.kernels.contract.kernel import COMMON_CONSTRAINTS, GraphKernel
from gramlet.kernels.contract.normalisation import Normalization
from gramlet.kernels.contract.parameter_texts import shared_texts
from gramlet.kernels.contract.profile import Profile
from gramlet.kernels.contract.tags import GraphTags

# There is a warning if the relative error of ω may be above this.
_ACCURATE = 1e-9


@dataclass(frozen=True)
class ThetaProfile(Profile):
    """ω/n and the number of nodes of each graph, and the sizes of subsets.

    Attributes
    ----------
    shares : array of float64
        ω/n; 0 for a graph without nodes.
    n_nodes : array of int64
    smallest, largest : int
    """

    shares: Floats
    n_nodes: Ints
    smallest: int
    largest: int

    stored = fields(
        shares=ArrayOf("float64", "n", least=0.0),
        n_nodes=ArrayOf("int64", "n", least=0),
        smallest=Integer(1),
        largest=Integer(1),
    )

    def __len__(self) -> int:
        return len(self.shares)

    def take(self, rows: Ints) -> ThetaProfile:
        return replace(self, shares=self.shares[rows], n_nodes=self.n_nodes[rows])

    def compare(self, other: ThetaProfile, tiling: Tiling = QUIET) -> Floats:
        factors = self._squares(np.minimum.outer(self.n_nodes, other.n_nodes))
        factors *= np.multiply.outer(self.shares, other.shares)
        return factors

    def compare_self(self, tiling: Tiling = QUIET) -> Floats:
        return self.compare(self, tiling)

    def norms(self, tiling: Tiling = QUIET) -> Floats:
        return self._squares(self.n_nodes) * (self.shares * self.shares)

    def features(self) -> Floats:
        """d·ω/n for each size d, or 0 if a graph has fewer nodes."""
        sizes = np.arange(self.smallest, self.largest + 1)
        return np.where(sizes <= self.n_nodes[:, None], sizes * self.shares[:, None], 0.0)

    def _squares(self, n_nodes: Ints) -> Floats:
        """Σ d² over d from the smallest size to the largest, or to the number of nodes."""
        last = np.clip(n_nodes, self.smallest - 1, self.largest).astype(np.float64)
        before = float(self.smallest - 1)
        return _sum_of_squares(last) - before * (before + 1.0) * (2.0 * before + 1.0) / 6.0

    def validate(self) -> None:
        """Raise ValueError if the sizes are not in order."""
        require(self.smallest <= self.largest, "smallest must not exceed largest")


def _sum_of_squares(last: Floats) -> Floats:
    return last * (last + 1.0) * (2.0 * last + 1.0) / 6.0


@shared_texts
class SVMTheta(GraphKernel):
    """SVM-θ kernel, with the linear base kernel and in closed form.

    With K = I + A/ρ, ρ = −λ_min(A) (K = I without edges), ω(G) = max over α ≥ 0 of 2Σα − αᵀKα
    bounds the Lovász number, which lies between the sizes of the largest independent set and of the
    smallest cover by cliques. The kernel averages over subsets of d nodes, k = Σ_d d² (ω/n)
    (ω'/n'), over all sizes d up to the number of nodes of both graphs. Cost: one eigenvalue and one
    quadratic program per graph, O(1) per pair. Positive semi-definite.

    Parameters
    ----------
    sizes : tuple of two int, default (2, 8)
        The smallest and the largest size d. For a graph with fewer nodes than the smallest, k = 0.
    %(normalize)s
    %(n_jobs)s
    %(verbose)s

    Notes
    -----
    ω is computed up to rounding: the dual program bounds its error, and there is a warning if that
    bound is above 1e-9 of ω. Labels and weights are ignored.

    References
    ----------
    Johansson, Jethava, Dubhashi, Bhattacharyya (2014), Global graph kernels using geometric
    embeddings.

    Examples
    --------
    >>> from gramlet import SVMTheta
    >>> path, triangle = [(0, 1), (1, 2)], [(0, 1), (1, 2), (0, 2)]
    >>> kernel = SVMTheta(sizes=(1, 3)).fit([(path, None), (triangle, None)])
    >>> kernel.features([(path, None)]).round(3)
    array([[0.667, 1.333, 2.   ]])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "sizes": [tuple, list],
        **COMMON_CONSTRAINTS,
    }

    stored = fields(profile_=Instance(ThetaProfile, len="n_fitted_"))

    def __init__(
        self,
        sizes: tuple[int, int] = (2, 8),
        *,
        normalize: Normalization = False,
        n_jobs: int | None = None,
        verbose: int | bool = False,
    ) -> None:
        self.sizes = sizes
        self.normalize = normalize
        self.n_jobs = n_jobs
        self.verbose = verbose

    def features(self, X: Any) -> Floats:
        """Compute the explicit feature map: d·ω/n for each size d, or 0 if d exceeds n."""
        features: Floats = self.profile_of(X).features()
        return features

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """A name for each column of `features`."""
        check_is_fitted(self)
        fitted: Any = self.profile_
        sizes = range(fitted.smallest, fitted.largest + 1)
        return np.array([f"size {d}" for d in sizes], dtype=object)

    def _check(self, batch: GraphBatch) -> None:
        whole = len(self.sizes) == 2 and all(is_integer(size) for size in self.sizes)
        if not whole or not 1 <= self.sizes[0] <= self.sizes[1]:
            raise ValueError(
                "The 'sizes' parameter of SVMTheta must be two whole numbers, the smallest size "
                f"(at least 1) and the largest. Got {self.sizes!r} instead."
            )

    def _fit(self, batch: GraphBatch, y: Any, tiling: Tiling) -> ThetaProfile:
        return _profile_of(batch, int(self.sizes[0]), int(self.sizes[1]), tiling)

    def _profile(self, batch: GraphBatch, tiling: Tiling) -> ThetaProfile:
        fitted: Any = self.profile_
        return _profile_of(batch, fitted.smallest, fitted.largest, tiling)

    def _validate_fitted(self) -> None:
        fitted: Any = self.profile_
        sizes = (fitted.smallest, fitted.largest)
        require(sizes == tuple(self.sizes), "sizes was changed after fit; fit the kernel again")

    def __graph_tags__(self) -> GraphTags:
        return GraphTags(features=True, uses=())


def _profile_of(batch: GraphBatch, smallest: int, largest: int, tiling: Tiling) -> ThetaProfile:
    theta = theta_values(batch.node_offsets, batch.indptr, batch.indices, tiling)
    inexact = np.flatnonzero(theta.gaps > _ACCURATE * theta.values)
    if len(inexact):
        worst = int(inexact[np.argmax(theta.gaps[inexact] / theta.values[inexact])])
        warn_caller(
            f"SVMTheta: ω of graph {worst} ({batch.sizes[worst]} nodes) is "
            f"{theta.values[worst]:.6g} and can be too small by up to {theta.gaps[worst]:.2g}; "
            f"{len(inexact)} of {len(batch)} graphs have relative errors above {_ACCURATE:g}.",
        )
    shares = theta.values / np.maximum(batch.sizes, 1)
    return ThetaProfile(shares, np.array(batch.sizes, dtype=np.int64), smallest, largest)
