"""The deep graph kernel: patterns that occur in the same graphs are similar."""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state

from gramlet.common.arrays import Floats, Ints
from gramlet.common.fields import ArrayOf, Counts, Instance, fields
from gramlet.common.parameters import Interval
from gramlet.common.stored_state import require
from gramlet.engine.core.tiles import QUIET, Tiling, one_blas_thread
from gramlet.engine.counts.comparison import compare
from gramlet.engine.counts.pattern_vectors import pattern_vectors
from gramlet.engine.counts.self_comparison import compare_self
from gramlet.graphs.batch import GraphBatch
from gramlet.kernels.contract.kernel import COMMON_CONSTRAINTS, GraphKernel
from gramlet.kernels.contract.nested import (
    BASE_CONSTRAINT,
    base_profile,
    base_tags,
    fit_base,
    has_features,
    new_base,
    undirected_base,
)
from gramlet.kernels.contract.normalisation import Normalization
from gramlet.kernels.contract.parameter_texts import shared_texts
from gramlet.kernels.contract.profile import Profile
from gramlet.kernels.contract.tags import GraphTags, graph_tags
from gramlet.kernels.weisfeiler_lehman.subtree import WeisfeilerLehman


@shared_texts
class DeepGraphKernel(GraphKernel):
    """Deep graph kernel: patterns that occur in the same graphs are similar.

    k(G, G') = Φ(G) M Φ(G')ᵀ with Φ the features of another kernel and M the similarity of its
    patterns, learned from the fitted graphs. C_st is the number of graphs that have both s and t,
    s ≠ t (of the same level if the base is `WeisfeilerLehman`);
    PPMI = max(0, ln(C_st ΣC/(C_s C_t))) is their positive pointwise mutual information; E has the
    rows of U√S of the truncated singular value decomposition of PPMI, each scaled to length 1;
    M = E Eᵀ with ones on the diagonal. This is the closed form of the word model of the paper.
    Cost: that of the base, then one decomposition of a matrix between classes of patterns. Positive
    semi-definite.

    Parameters
    ----------
    base : str or kernel, default "wl"
        A kernel with an explicit feature map, by name or as an estimator; its features are not
        normalised.
    n_components : int, default 64
        The largest number of singular values of PPMI that are kept; those that are not clearly
        above the first one left out are left out, too.
    random_state : int, RandomState or None
        Seed of the solver for large numbers of patterns; the result does not depend on it.
    %(normalize)s
    %(n_jobs)s
    %(verbose)s

    Attributes
    ----------
    base_ : kernel
        The fitted base.
    vectors_ : array, shape (patterns, components)
        E.

    References
    ----------
    Yanardag, Vishwanathan (2015), Deep graph kernels.

    Examples
    --------
    N and O both occur with C. They are similar, and the first two graphs are equal:

    >>> from gramlet import DeepGraphKernel, WeisfeilerLehman
    >>> graphs = [([(0, 1)], ["C", "O"]), ([(0, 1)], ["C", "N"]), ([(0, 1)], ["N", "N"])]
    >>> DeepGraphKernel(WeisfeilerLehman(n_iter=0), n_components=2).fit_transform(graphs).round(4)
    array([[2., 2., 2.],
           [2., 2., 2.],
           [2., 2., 4.]])
    """

    stored = fields(
        base_=Instance(GraphKernel),
        profile_=Instance("DeepProfile", len="n_fitted_"),
        vectors_=ArrayOf("float64", "patterns", None, least=-1.01, most=1.01),
    )

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "base": BASE_CONSTRAINT,
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
        **COMMON_CONSTRAINTS,
    }

    def __init__(
        self,
        base: Any = "wl",
        n_components: int = 64,
        *,
        random_state: Any = None,
        normalize: Normalization = False,
        n_jobs: int | None = None,
        verbose: int | bool = False,
    ) -> None:
        self.base = base
        self.n_components = n_components
        self.random_state = random_state
        self.normalize = normalize
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _check(self, batch: GraphBatch) -> None:
        self._new_base()

    def _new_base(self) -> GraphKernel:
        kernel = new_base(self.base, "DeepGraphKernel")
        if not kernel.__graph_tags__().features_by_graphs:
            _require_features(kernel)
        return kernel.set_params(normalize=False)

    def _fit(self, batch: GraphBatch, y: Any, tiling: Tiling) -> DeepProfile:
        self.base_ = self._new_base()
        fit_base(self.base_, batch, y, tiling)
        _require_features(self.base_)  # now that it has seen the graphs
        counts = self._features(self.base_.profile_, batch)
        levels = np.zeros(counts.shape[1], dtype=np.int64)
        if isinstance(self.base_, WeisfeilerLehman):
            levels = self.base_.feature_levels()
        rng = check_random_state(self.random_state)
        with one_blas_thread():
            self.vectors_ = pattern_vectors(counts, levels, int(self.n_components), rng)
        return self._deep(counts, np.zeros(len(batch)))

    def _profile(self, batch: GraphBatch, tiling: Tiling) -> DeepProfile:
        profile = base_profile(self.base_, batch, tiling)
        counts = self._features(profile, batch)
        norms = profile.norms(tiling)
        seen = np.asarray(counts.multiply(counts).sum(axis=1)).reshape(-1)
        # Smaller shares of a norm are rounding errors, not unseen patterns.
        return self._deep(counts, np.where(norms - seen > 1e-12 * norms, norms - seen, 0.0))

    def _features(self, profile: Any, batch: GraphBatch) -> sparse.csr_matrix:
        base: Any = self.base_
        rows = profile.features()
        if rows is None:
            rows = base.features(batch)
        return sparse.csr_matrix(rows, dtype=np.float64)

    def _deep(self, counts: sparse.csr_matrix, unseen: Floats) -> DeepProfile:
        lone = np.flatnonzero(~self.vectors_.any(axis=1))
        rows = np.asarray(counts @ self.vectors_)
        return DeepProfile(rows, sparse.csr_matrix(counts[:, lone]), unseen)

    def _validate_fitted(self) -> None:
        require(type(self.base_) is type(self._new_base()), "base_ does not fit base")
        require(hasattr(self.base_, "profile_"), "base_ is not fitted")
        require(not self.base_.normalize, "base_ must not normalise")
        require(graph_tags(self.base_).features, "base_ has no features")
        base: Any = self.base_
        profile: Any = self.profile_
        n_patterns = len(base.get_feature_names_out())
        require(len(self.vectors_) == n_patterns, "vectors_ must have one row per pattern")
        n_lone = int((~self.vectors_.any(axis=1)).sum())
        shapes = (profile.rows.shape[1], profile.lone.shape[1])
        require(shapes == (self.vectors_.shape[1], n_lone), "profile_ and vectors_ do not fit")

    def _undirected_part(self) -> str:
        return undirected_base(self.base, type(self).__name__)

    def __graph_tags__(self) -> GraphTags:
        tags = base_tags(self.base)
        return replace(
            tags,
            features=False,
            features_by_graphs=False,
            random=True,
            depends_on_fitted=True,
            psd=True,
            refines=True,
        )


def _require_features(kernel: GraphKernel) -> None:
    if not has_features(kernel):
        raise ValueError(
            f"DeepGraphKernel(base={kernel!r}): this base has no explicit feature map. Give "
            'one that has, such as "wl" or "sp".'
        )


@dataclass(frozen=True)
class DeepProfile(Profile):
    """Counts of patterns times the vectors of the patterns.

    Attributes
    ----------
    rows : array of float64, shape (graphs, components)
        The sum of the patterns' vectors.
    lone : csr_matrix
        Counts of the patterns without a vector, which are similar only to themselves.
    unseen : array of float64
        The part of unseen patterns in a graph's own norm.
    """

    stored = fields(
        rows=ArrayOf("float64", "n", None),
        lone=Counts("n"),
        unseen=ArrayOf("float64", "n", least=0.0),
    )

    rows: Floats
    lone: sparse.csr_matrix
    unseen: Floats

    def __len__(self) -> int:
        return len(self.rows)

    def take(self, rows: Ints) -> DeepProfile:
        return DeepProfile(self.rows[rows], self.lone[rows], self.unseen[rows])

    def compare(self, other: DeepProfile, tiling: Tiling = QUIET) -> Floats:
        matrix = compare(self.lone, other.lone, "dot", tiling=tiling)
        with one_blas_thread():
            matrix += self.rows @ other.rows.T
        return matrix

    def compare_self(self, tiling: Tiling = QUIET) -> Floats:
        matrix = compare_self(self.lone, "dot", tiling=tiling)
        with one_blas_thread():
            product = self.rows @ self.rows.T
        matrix += (product + product.T) / 2
        return matrix

    def norms(self, tiling: Tiling = QUIET) -> Floats:
        lone = np.asarray(self.lone.multiply(self.lone).sum(axis=1)).reshape(-1)
        return np.asarray((self.rows**2).sum(axis=1) + lone + self.unseen)
