"""What every embedding does the same way: checking, and the order of fitting and describing.

An embedding is a scikit-learn transformer whose output is a feature matrix, one row per graph. A
subclass says what it learns at `fit`, how graphs are prepared, and how what was prepared becomes
features.
"""

from __future__ import annotations

from abc import abstractmethod
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from gramlet.common.arrays import Array, Floats
from gramlet.common.parameters import CheckedEstimator, require_parameters
from gramlet.engine.core.tiles import Tiling
from gramlet.graphs.batch import GraphBatch
from gramlet.graphs.convert import as_batch
from gramlet.graphs.direction import require_undirected
from gramlet.kernels.contract.output import framed
from gramlet.kernels.contract.tags import GraphTags

__all__ = ["DETERMINISTIC_CONSTRAINTS", "EMBEDDING_CONSTRAINTS", "GraphEmbedding"]

# Of embeddings that draw no random numbers.
DETERMINISTIC_CONSTRAINTS: dict[str, list[Any]] = {
    "n_jobs": [Integral, None],
    "verbose": ["verbose"],
}
# Of those that do.
EMBEDDING_CONSTRAINTS: dict[str, list[Any]] = {
    "random_state": ["random_state"],
    **DETERMINISTIC_CONSTRAINTS,
}


class GraphEmbedding(TransformerMixin, CheckedEstimator):
    """Base of all embeddings.

    A subclass defines `_fit`, `_profile` and `_features`, lists its parameters' constraints in
    `_parameter_constraints`, and takes ``n_jobs`` and ``verbose``. It also takes ``random_state``,
    unless `__graph_tags__` says that it draws no random numbers.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {}

    n_jobs: int | None
    verbose: int | bool

    def fit(self, X: Any, y: Any = None) -> Self:
        """Draw and learn all that describing graphs needs.

        Parameters
        ----------
        X : GraphBatch or whatever `gramlet.as_batch` takes
        y : ignored

        Returns
        -------
        self
        """
        self._remember(X, y)
        return self

    def transform(self, X: Any) -> Any:
        """Compute the features of the graphs of X, one row per graph."""
        check_is_fitted(self)
        tiling = self._tiling()
        batch = as_batch(X)
        require_undirected(batch, type(self).__name__)
        return framed(self, self._features(self._profile(batch, tiling), tiling), X)

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Fit, and compute the features of X."""
        return framed(self, self._features(self._remember(X, y), self._tiling()), X)

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """A name for each column of `transform`."""
        check_is_fitted(self)
        return np.array(self._names(), dtype=object)

    def _remember(self, X: Any, y: Any) -> Any:
        self._validate_params()
        batch = as_batch(X)
        if len(batch) == 0:
            raise ValueError(f"{type(self).__name__} needs at least one graph to fit; got none.")
        require_undirected(batch, type(self).__name__)
        self._check(batch)
        return self._fit(batch, y, self._tiling())

    def _check(self, batch: GraphBatch) -> None:
        """Checks on parameters together, or on parameters and graphs; raises ValueError."""

    @abstractmethod
    def _fit(self, batch: GraphBatch, y: Any, tiling: Tiling) -> Any:
        """Rewrite all fitted state; return the profile of the fitted graphs."""

    @abstractmethod
    def _profile(self, batch: GraphBatch, tiling: Tiling) -> Any:
        """Graphs prepared for `_features`; must not change the fitted state."""

    @abstractmethod
    def _features(self, profile: Any, tiling: Tiling) -> Floats:
        """The feature matrix of a profile."""

    @abstractmethod
    def _names(self) -> list[str]:
        """A readable name per column."""

    def validate(self) -> None:
        """Check parameters and fitted state, which may come from a file; ValueError if wrong."""
        require_parameters(self)
        if any(name.endswith("_") for name in vars(self)):
            self._validate_fitted()

    @abstractmethod
    def _validate_fitted(self) -> None:
        """Check the fitted state; ValueError if it does not fit together."""

    def _tiling(self) -> Tiling:
        """How the engines' tiles are to run and what their progress bar says."""
        return Tiling(self.n_jobs, self.verbose, type(self).__name__)

    def __graph_tags__(self) -> GraphTags:
        return GraphTags(kind="embedding", random=True)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.one_d_array = True
        return tags
