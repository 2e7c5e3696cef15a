"""EmbeddingKernel: a kernel from the features of an embedding, or of any transformer of graphs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, clone

from gramlet.common.arrays import Floats, Ints
from gramlet.common.fields import ArrayOf, Choice, Instance, Number, fields
from gramlet.common.parameters import HasMethods, Interval, StrOptions
from gramlet.common.stored_state import require
from gramlet.engine.core.tiles import QUIET, Tiling, one_blas_thread
from gramlet.graphs.batch import GraphBatch
from gramlet.kernels.contract.decay_kernel import DecayKernel, DecayProfile
from gramlet.kernels.contract.kernel import COMMON_CONSTRAINTS
from gramlet.kernels.contract.normalisation import Normalization
from gramlet.kernels.contract.parameter_texts import shared_texts
from gramlet.kernels.contract.profile import FeatureProfile
from gramlet.kernels.contract.tags import GraphTags

# Graphs whose distances give the median, and the share of the largest that counts as 0.
_MEDIAN_GRAPHS, _ZERO = 1000, 1e-12


@dataclass(frozen=True)
class VectorProfile(DecayProfile):
    """Rows of features; k = exp(−γ ‖x − x'‖²)."""

    rows: Floats
    gamma: float

    stored = fields(rows=ArrayOf("float64", "n", "d"), gamma=Number(0.0))

    def __len__(self) -> int:
        return len(self.rows)

    def take(self, rows: Ints) -> VectorProfile:
        return replace(self, rows=self.rows[rows])

    def distances(self, other: VectorProfile | None, tiling: Tiling = QUIET) -> Floats:
        return squared_distances(self.rows, None if other is None else other.rows)

    def own_distances(self) -> Floats:
        return np.zeros(len(self))


def squared_distances(rows: Floats, others: Floats | None = None) -> Floats:
    """‖x − x'‖² between all rows; between the same rows exactly symmetric with zeros.

    >>> squared_distances(np.array([[0.0, 0.0], [3.0, 4.0]])).tolist()
    [[0.0, 25.0], [25.0, 0.0]]
    """
    same = others is None
    others = rows if others is None else others
    with one_blas_thread():
        products = rows @ others.T
    norms, other_norms = (rows**2).sum(axis=1), (others**2).sum(axis=1)
    for row, norm in zip(products, norms, strict=True):
        row *= -2.0
        row += norm + other_norms
    np.maximum(products, 0.0, out=products)
    if same:
        products += products.T.copy()
        products /= 2.0
        np.fill_diagonal(products, 0.0)
    return products


@shared_texts
class EmbeddingKernel(DecayKernel):
    """A kernel from any embedding, or any transformer of graphs.

    The features x are standardised by the fitted graphs (mean 0 and variance 1; a constant column
    is divided by 1), then k = exp(−γ ‖x − x'‖²), or the dot product. Cost: that of the embedding,
    then O(d) per pair for d features.

    Parameters
    ----------
    embedding : estimator
        An embedding such as `NetLSD` or `MolecularDescriptors`, or a transformer, e.g. a Pipeline
        that begins with one.
    metric : {"rbf", "linear"}, default "rbf"
        exp(−γ ‖x − x'‖²), or the dot product.
    gamma : float or "median", default "median"
        Decay of the similarity with the squared distance, for "rbf"; "median": one over the median
        of the squared distances above 0 between fitted graphs (the first 1,000), 1 if there are
        none.
    %(normalize)s
    %(n_jobs)s
    %(verbose)s

    Attributes
    ----------
    embedding_ : estimator
        The fitted embedding.
    mean_, scale_ : arrays, one entry per feature
        Subtracted from the features, then divided by.
    median_gamma_ : float
        The γ of "median".

    Examples
    --------
    >>> from gramlet import EmbeddingKernel, NetLSD
    >>> path, triangle = [(0, 1), (1, 2)], [(0, 1), (1, 2), (0, 2)]
    >>> EmbeddingKernel(NetLSD()).fit_transform([(path, None), (triangle, None)]).round(4)
    array([[1.    , 0.3679],
           [0.3679, 1.    ]])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "embedding": [HasMethods(["fit", "transform"])],
        "metric": [StrOptions({"rbf", "linear"})],
        "gamma": [StrOptions({"median"}), Interval(Real, 0, None, closed="left")],
        **COMMON_CONSTRAINTS,
    }

    stored = fields(
        embedding_=Instance(BaseEstimator),
        mean_=ArrayOf("float64", "d"),
        scale_=ArrayOf("float64", "d", least=0.0),
        metric_=Choice("rbf", "linear"),
        median_gamma_=Number(0.0),
    )

    def __init__(
        self,
        embedding: Any,
        metric: str = "rbf",
        *,
        gamma: float | str = "median",
        normalize: Normalization = False,
        n_jobs: int | None = None,
        verbose: int | bool = False,
    ) -> None:
        self.embedding = embedding
        self.metric = metric
        self.gamma = gamma  # type: ignore[assignment]
        self.normalize = normalize
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _fit(self, batch: GraphBatch, y: Any, tiling: Tiling) -> Any:
        self.embedding_ = clone(self.embedding)
        rows = _finite(self.embedding_.fit_transform(batch, y), self.embedding_)
        self.mean_ = rows.mean(axis=0)
        constant = rows.max(axis=0) == rows.min(axis=0)
        self.mean_[constant] = rows[0, constant]
        self.scale_ = np.where(constant, 1.0, rows.std(axis=0))
        self.scale_[self.scale_ == 0.0] = 1.0  # a variance below the smallest number
        self.metric_ = self.metric
        rows = (rows - self.mean_) / self.scale_
        self.median_gamma_ = _median_gamma(rows) if self.metric == "rbf" else 1.0
        return self._of_rows(rows)

    def _profile(self, batch: GraphBatch, tiling: Tiling) -> Any:
        rows = _finite(self.embedding_.transform(batch), self.embedding_)
        return self._of_rows((rows - self.mean_) / self.scale_)

    def _of_rows(self, rows: Floats) -> VectorProfile | FeatureProfile:
        rows = np.ascontiguousarray(rows)
        return FeatureProfile(rows) if self.metric_ == "linear" else VectorProfile(rows, 1.0)

    def _current(self, profile: Any) -> Any:
        if isinstance(profile, FeatureProfile):
            return profile
        gamma: Any = self.gamma
        return replace(profile, gamma=self.median_gamma_ if gamma == "median" else float(gamma))

    def _validate_fitted(self) -> None:
        require(self.metric_ == self.metric, "metric was changed after fit; fit again")
        kind = FeatureProfile if self.metric_ == "linear" else VectorProfile
        require(type(self.profile_) is kind, f"profile_ must be a {kind.__name__}")
        rows = self.profile_.rows  # type: ignore[attr-defined]
        require(rows.shape[1] == len(self.mean_), "profile_ must have one column per feature")

    def __graph_tags__(self) -> GraphTags:
        tags_of = getattr(self.embedding, "__graph_tags__", GraphTags)
        embedding = tags_of() if not isinstance(self.embedding, type) else GraphTags()
        decays = self.metric == "rbf"
        return GraphTags(
            supervised=embedding.supervised,
            random=embedding.random,
            depends_on_fitted=True,
            directed=True,  # the embedding itself raises an error for directed graphs
            needs=embedding.needs,
            uses=embedding.uses,
            after_fit=("gamma",) if decays else (),
            distances=decays,
            unit=decays,
        )


def _median_gamma(rows: Floats) -> float:
    distances = squared_distances(rows[:_MEDIAN_GRAPHS])
    above = distances[np.triu_indices(len(distances), 1)]
    above = above[above > _ZERO * max(1.0, above.max(initial=0.0))]
    return 1.0 / float(np.median(above)) if len(above) else 1.0


def _finite(features: Any, embedding: Any) -> Floats:
    """Features as a dense array of floats; ValueError if some are not finite."""
    rows = features.toarray() if sparse.issparse(features) else np.asarray(features)
    rows = np.ascontiguousarray(rows, dtype=np.float64)
    if not np.isfinite(rows).all():
        graph, column = (int(i) for i in np.argwhere(~np.isfinite(rows))[0])
        raise ValueError(
            f"Graph {graph}: feature {column} of {type(embedding).__name__} is "
            f"{rows[graph, column]}; EmbeddingKernel needs finite features."
        )
    return rows
