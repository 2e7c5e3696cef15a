"""The base class of all embeddings: checks, and the order of fitting and computing features.

An embedding is a scikit-learn transformer whose output is a feature matrix, one row per graph. A
subclass defines what `fit` learns, how graphs are prepared, and how features are computed from
prepared graphs.
"""

from __future__ import annotations

from abc import abstractmethod
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from gramlet.common.arrays import Array, Floats
from gramlet.common.fields import fields
from gramlet.engine.core.tiles import Tiling
from gramlet.graphs.batch import GraphBatch
from gramlet.graphs.conversion.convert import as_batch
from gramlet.graphs.direction import require_undirected
from gramlet.kernels.contract.output import framed
from gramlet.kernels.contract.tags import GraphTags

# Constraints of embeddings without random numbers.
DETERMINISTIC_CONSTRAINTS: dict[str, list[Any]] = {
    "n_jobs": [Integral, None],
    "verbose": ["verbose"],
}
# Constraints of embeddings with random numbers.
EMBEDDING_CONSTRAINTS: dict[str, list[Any]] = {
    "random_state": ["random_state"],
    **DETERMINISTIC_CONSTRAINTS,
}


class GraphEmbedding(TransformerMixin, BaseEstimator):
    """Base class of all embeddings.

    A subclass defines `_fit`, `_profile` and `_features`, lists the constraints of its parameters
    in `_parameter_constraints`, and takes ``n_jobs`` and ``verbose``. It also takes
    ``random_state``, unless its tag ``random`` is False.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {}

    n_jobs: int | None
    verbose: int | bool

    stored = fields()

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn and draw everything that the features of graphs depend on.

        Parameters
        ----------
        X : GraphBatch or any input of `gramlet.as_batch`
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
        """Fit to X and compute its features."""
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
        """Raise ValueError if parameters contradict each other or do not suit the graphs."""

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

    def _tiling(self) -> Tiling:
        """How the engines run their tiles, and the text of the progress bar."""
        return Tiling(self.n_jobs, self.verbose, type(self).__name__)

    def __graph_tags__(self) -> GraphTags:
        return GraphTags(kind="embedding", random=True)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.one_d_array = True
        return tags
