"""The base class of all kernels: checks, normalisation, diagonals, Gram matrices.

A kernel is a scikit-learn estimator. A subclass defines how graphs become a `Profile`; the profile
defines how graphs are compared. Kernels that compare counts of features derive from `CountKernel`
in `count_kernel` and only define how to count.
"""

from __future__ import annotations

import functools
import inspect
from abc import abstractmethod
from collections.abc import Callable
from numbers import Integral
from typing import Any, ClassVar, Self

from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from gramlet.common.arrays import Floats
from gramlet.common.fields import Flag, Instance, Integer, Optional, fields
from gramlet.engine.core.memory import require_room
from gramlet.engine.core.tiles import Tiling
from gramlet.graphs.batch import GraphBatch
from gramlet.graphs.conversion.convert import as_batch
from gramlet.graphs.direction import direction_of, require_same_direction, require_undirected
from gramlet.kernels.contract.algebra import Algebra
from gramlet.kernels.contract.normalisation import (
    NORMALIZE_CONSTRAINT,
    Normalization,
    normalize_gram,
    normalize_in_place,
    self_similarities,
)
from gramlet.kernels.contract.profile import Profile
from gramlet.kernels.contract.slow_graphs import large_graph, warn_if_slow
from gramlet.kernels.contract.tags import GraphTags
from gramlet.kernels.grakel_names import GRAKEL_PARAMETERS, PAGE

COMMON_CONSTRAINTS: dict[str, list[Any]] = {
    "normalize": NORMALIZE_CONSTRAINT,
    "n_jobs": [Integral, None],
    "verbose": ["verbose"],
}


def _naming_grakel(init: Callable[..., None]) -> Callable[..., None]:
    """A constructor whose error for one of GraKeL's parameters names the page on these."""
    known = [name for name in inspect.signature(init).parameters if name != "self"]

    @functools.wraps(init)
    def constructor(self: Any, *args: Any, **params: Any) -> None:
        foreign = GRAKEL_PARAMETERS & (params.keys() - set(known))
        if foreign:
            raise TypeError(
                f"{type(self).__name__} has no parameter {min(foreign)!r}, which is GraKeL's name; "
                f"{PAGE} has the name used here. It has: {', '.join(known)}."
            )
        init(self, *args, **params)

    return constructor


class GraphKernel(Algebra, TransformerMixin, BaseEstimator, auto_wrap_output_keys=None):  # type: ignore[call-arg]
    """Base class of all kernels.

    A subclass defines `_fit` and `_profile`, lists the constraints of its parameters in
    `_parameter_constraints`, describes itself in `__graph_tags__`, and takes ``normalize``,
    ``n_jobs`` and ``verbose``. Sums and products of kernels are kernels: see `Algebra`.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {}

    normalize: Normalization
    n_jobs: int | None
    verbose: int | bool
    profile_: Profile
    directed_: bool | None  # None: no fitted graph has an edge

    stored = fields(
        n_fitted_=Integer(1),
        profile_=Instance(Profile, len="n_fitted_"),
        directed_=Optional(Flag()),
    )

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "__init__" in vars(cls):
            cls.__init__ = _naming_grakel(cls.__init__)  # type: ignore[method-assign]

    def fit(self, X: Any, y: Any = None) -> Self:
        """Store the graphs that others are compared with.

        Parameters
        ----------
        X : GraphBatch or any input of `gramlet.as_batch`
        y : array-like, optional
            Classes; only supervised kernels use them.

        Returns
        -------
        self
        """
        self._remember(X, y)
        return self

    def transform(self, X: Any) -> Floats:
        """Compute the kernel matrix of X against the fitted graphs, shape (len(X), n fitted)."""
        profile, fitted = self._profiles(X)
        require_room(len(profile), len(fitted), type(self).__name__)
        return self._finished(profile.compare(fitted, self._tiling()), profile, fitted)

    def fit_transform(self, X: Any, y: Any = None) -> Floats:
        """Fit to X and compute its exactly symmetric Gram matrix."""
        batch = as_batch(X)
        require_room(len(batch), len(batch), type(self).__name__)
        self._remember(batch, y)
        return self._finished_gram(self._current(self.profile_).compare_self(self._tiling()))

    def _finished_gram(self, matrix: Floats) -> Floats:
        """The Gram matrix of the fitted graphs from the comparison of their profile."""
        matrix = self._finish_gram(matrix)
        normalize_gram(matrix, self.normalize)
        return matrix

    def _finished(self, matrix: Floats, rows: Any, fitted: Any) -> Floats:
        """Rows of a kernel matrix from the comparison of two profiles."""
        matrix = self._finish_rows(matrix)
        if self.normalize:
            norms = rows.norms(self._tiling()), fitted.norms(self._tiling())
            normalize_in_place(matrix, *norms, self.normalize)
        return matrix

    def diagonal(self, X: Any) -> Floats:
        """Compute the self-similarities k(G, G) of the graphs of X.

        Those of a normalised kernel are 1, or 0 if the norm is 0.
        """
        profile, _ = self._profiles(X)
        return self_similarities(profile, self.normalize, self._tiling())

    def profile_of(self, X: Any) -> Any:
        """The `Profile` of graphs, which can be compared with that of the fitted graphs."""
        check_is_fitted(self)
        batch = as_batch(X)
        require_same_direction(self.directed_, batch, type(self).__name__)
        self._warn_if_slow(batch)
        return self._current(self._profile(batch, self._tiling()))

    def _profiles(self, X: Any) -> tuple[Any, Any]:
        """The profiles of new graphs and of the fitted ones, with the current parameters."""
        return self.profile_of(X), self._current(self.profile_)

    def _remember(self, X: Any, y: Any) -> None:
        self._validate_params()
        batch = as_batch(X)
        if len(batch) == 0:
            raise ValueError(f"{type(self).__name__} needs at least one graph to fit; got none.")
        if not self.__graph_tags__().directed:
            require_undirected(batch, self._undirected_part())
        self._check(batch)
        self._warn_if_slow(batch)
        self.directed_ = direction_of(batch)
        self.profile_ = self._fit(batch, y, self._tiling())
        self.n_fitted_ = len(batch)

    def _undirected_part(self) -> str:
        """The name of what compares undirected graphs only: the kernel, or a part of it."""
        return type(self).__name__

    def _check(self, batch: GraphBatch) -> None:
        """Raise ValueError if parameters contradict each other or do not suit the graphs."""

    def _warn_if_slow(self, batch: GraphBatch) -> None:
        graph = large_graph(batch)
        if graph is not None:
            seconds = self._expected_seconds(batch, graph)
            warn_if_slow(type(self).__name__, batch, graph, seconds)

    def _expected_seconds(self, batch: GraphBatch, graph: int) -> float:
        """The expected time for one large graph, for kernels whose cost is far above linear."""
        return 0.0

    @abstractmethod
    def _fit(self, batch: GraphBatch, y: Any, tiling: Tiling) -> Any:
        """Rewrite all fitted state; return the profile of the fitted graphs."""

    @abstractmethod
    def _profile(self, batch: GraphBatch, tiling: Tiling) -> Any:
        """The profile of new graphs; must not change the fitted state."""

    def _current(self, profile: Any) -> Any:
        """A profile with the current values of the parameters that `fit` does not use."""
        return profile

    def _finish_gram(self, matrix: Floats) -> Floats:
        """The last step for a Gram matrix as a whole; see the tag ``whole_matrix``."""
        return matrix

    def _finish_rows(self, matrix: Floats) -> Floats:
        """The last step for rows against the fitted graphs."""
        return matrix

    def validate(self) -> None:
        """Raise ValueError if parameters and fitted state, which is declared, do not fit."""
        self._validate_fitted()

    def _validate_fitted(self) -> None:
        """Raise ValueError if parameters and fitted state do not fit together."""

    def _tiling(self) -> Tiling:
        """How the engines run their tiles, and the text of the progress bar."""
        return Tiling(self.n_jobs, self.verbose, type(self).__name__)

    def set_output(self, *, transform: str | None = None) -> Self:
        """Raise ValueError for data frames, as the columns of a Gram matrix have no names.

        `FeatureMap` gives the features of kernels that have them, also as a data frame.
        """
        if transform not in (None, "default"):
            raise ValueError(
                f"{type(self).__name__} gives kernel matrices, whose columns are graphs without "
                f"names: set_output(transform={transform!r}) is not supported. FeatureMap gives "
                "the features of kernels that have them, as arrays or data frames."
            )
        return self

    def __graph_tags__(self) -> GraphTags:
        return GraphTags()

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.one_d_array = True
        tags.target_tags.required = self.__graph_tags__().supervised
        return tags
