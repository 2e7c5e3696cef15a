"""What every kernel does the same way: checking, normalising, diagonals, Gram matrices.

A kernel is a scikit-learn estimator. A subclass says how graphs become profiles (whatever its
engine compares) and how profiles are compared; kernels that compare counts of features derive from
`CountKernel` and only say how to count.
"""

from __future__ import annotations

from abc import abstractmethod
from numbers import Integral
from typing import Any, ClassVar, Protocol, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from gramlet.common.arrays import Array, Floats
from gramlet.engine.counts.comparison import CountIndex, Measure, compare, compare_self
from gramlet.graphs.batch import GraphBatch
from gramlet.graphs.convert import as_batch

__all__ = ["CountKernel", "Counter", "ExplicitFeatures", "GraphKernel", "normalized"]


COMMON_CONSTRAINTS: dict[str, list[Any]] = {
    "normalize": ["boolean"],
    "n_jobs": [Integral, None],
    "verbose": ["verbose"],
}


def normalized(matrix: Floats, rows: Floats, columns: Floats) -> Floats:
    """``matrix / sqrt(rows ⊗ columns)``; where a norm is 0 the entry is 0."""
    with np.errstate(divide="ignore"):
        left = np.where(rows > 0, 1.0 / np.sqrt(rows), 0.0)
        right = np.where(columns > 0, 1.0 / np.sqrt(columns), 0.0)
    return matrix * left[:, None] * right[None, :]


class GraphKernel(TransformerMixin, BaseEstimator, auto_wrap_output_keys=None):  # type: ignore[call-arg]
    """Base of all kernels.

    A subclass defines `_fit`, `_profile`, `_gram`, `_cross` and `_self`, lists its parameters'
    constraints in `_parameter_constraints`, and takes ``normalize``, ``n_jobs``, ``verbose``.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {}

    normalize: bool
    n_jobs: int | None
    verbose: int | bool

    def fit(self, X: Any, y: Any = None) -> Self:
        """Take in the graphs to compare with.

        Parameters
        ----------
        X : GraphBatch or whatever `gramlet.as_batch` takes
        y : array-like, optional
            Classes; only supervised kernels use them.

        Returns
        -------
        self
        """
        self._remember(X, y)
        return self

    def transform(self, X: Any) -> Floats:
        """The kernel matrix of X against the fitted graphs, shape (len(X), n fitted)."""
        check_is_fitted(self)
        profile = self._profile(as_batch(X))
        matrix = self._cross(profile, self.profile_)
        if self.normalize:
            matrix = normalized(matrix, self._self(profile), self._self(self.profile_))
        return matrix

    def fit_transform(self, X: Any, y: Any = None) -> Floats:
        """Fit, and give the exactly symmetric Gram matrix of X."""
        self._remember(X, y)
        matrix = self._gram(self.profile_)
        if self.normalize:
            own = np.diagonal(matrix).copy()
            matrix = normalized(matrix, own, own)
            np.fill_diagonal(matrix, np.where(own > 0, 1.0, 0.0))
        return matrix

    def diagonal(self, X: Any) -> Floats:
        """The self-similarities k(G, G) of the graphs of X, as this kernel gives them.

        With ``normalize=True`` they are 1, or 0 where the norm is 0.
        """
        check_is_fitted(self)
        own = self._self(self._profile(as_batch(X)))
        return np.where(own > 0, 1.0, 0.0) if self.normalize else own

    def _remember(self, X: Any, y: Any) -> None:
        self._validate_params()
        batch = as_batch(X)
        if len(batch) == 0:
            raise ValueError(f"{type(self).__name__} needs at least one graph to fit; got none.")
        self._check(batch)
        self.profile_ = self._fit(batch, y)
        self.n_fitted_ = len(batch)

    def _check(self, batch: GraphBatch) -> None:
        """Checks on parameters together, or on parameters and graphs; raises ValueError."""

    @abstractmethod
    def _fit(self, batch: GraphBatch, y: Any) -> Any:
        """Rewrite all fitted state; return the profile of the fitted graphs."""

    @abstractmethod
    def _profile(self, batch: GraphBatch) -> Any:
        """The profile of new graphs; must not change the fitted state."""

    @abstractmethod
    def _gram(self, profile: Any) -> Floats:
        """The symmetric matrix of a profile against itself."""

    @abstractmethod
    def _cross(self, profile: Any, fitted: Any) -> Floats:
        """The matrix of a new profile against the fitted one."""

    @abstractmethod
    def _self(self, profile: Any) -> Floats:
        """The self-similarities of a profile."""

    def _tiling(self) -> dict[str, Any]:
        """How the engines' tiles are to run and what their progress bar says."""
        return {"n_jobs": self.n_jobs, "verbose": self.verbose, "label": type(self).__name__}

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.one_d_array = True
        return tags


class Counter(Protocol):
    """Counts features: what a `CountKernel` needs to know of its family."""

    def fit(self, batch: GraphBatch) -> sparse.csr_matrix:
        """Learn the features of these graphs and count them, one row a graph."""

    def count(self, batch: GraphBatch) -> sparse.csr_matrix:
        """Count in new graphs; columns beyond the fitted ones are features not seen at fit."""

    def names(self) -> list[str]:
        """A readable name a fitted feature."""


class CountKernel(GraphKernel):
    """Base of the kernels that compare counts of features: by dot product or sum of minima.

    A subclass defines `_counter` and ``_measure``. The profile is the count matrix; columns beyond
    the fitted ones count in a graph's own norm and match no fitted graph.
    """

    _measure: ClassVar[Measure] = "dot"

    @abstractmethod
    def _counter(self) -> Counter:
        """A new, unfitted counter with this kernel's parameters."""

    def _fit(self, batch: GraphBatch, y: Any) -> sparse.csr_matrix:
        self.counter_ = self._counter()
        return self.counter_.fit(batch)

    def _profile(self, batch: GraphBatch) -> sparse.csr_matrix:
        return self.counter_.count(batch)

    def _gram(self, profile: sparse.csr_matrix) -> Floats:
        return compare_self(profile, self._measure, **self._tiling())

    def _cross(self, profile: sparse.csr_matrix, fitted: sparse.csr_matrix) -> Floats:
        index = CountIndex.build(fitted, self._measure)
        return compare(profile[:, : fitted.shape[1]], index, self._measure, **self._tiling())

    def _self(self, profile: sparse.csr_matrix) -> Floats:
        own = profile.multiply(profile) if self._measure == "dot" else profile
        return np.asarray(own.sum(axis=1), dtype=np.float64).reshape(-1)


class ExplicitFeatures:
    """Adds the feature map to a `CountKernel` that takes dot products."""

    profile_: Any
    counter_: Counter

    def features(self, X: Any) -> sparse.csr_matrix:
        """The explicit feature map: one row a graph, one column a fitted feature.

        ``features(X) @ features(fitted).T`` is the un-normalised `transform(X)`.
        """
        check_is_fitted(self)
        counts: sparse.csr_matrix = self.counter_.count(as_batch(X))
        return counts[:, : self.profile_.shape[1]]

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """A readable name for each column of `features`."""
        check_is_fitted(self)
        return np.array(self.counter_.names(), dtype=object)
