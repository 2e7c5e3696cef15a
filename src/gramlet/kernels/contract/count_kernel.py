"""Kernels that compare counts of features; a subclass only defines how to count."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar, Protocol

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from gramlet.common.arrays import Array, Ints
from gramlet.common.fields import Instance, fields
from gramlet.common.stored_state import require, require_instance
from gramlet.engine.core.tiles import Tiling
from gramlet.engine.counts.comparison import Measure, count_codes
from gramlet.graphs.batch import GraphBatch
from gramlet.kernels.contract.kernel import GraphKernel
from gramlet.kernels.contract.profile import CountProfile


def count_new(offsets: Ints, codes: Ints, n_fitted: int) -> sparse.csr_matrix:
    """Count codes of new graphs; the matrix has at least the fitted columns."""
    return count_codes(offsets, codes, max(n_fitted, int(codes.max(initial=-1)) + 1))


class Counter(Protocol):
    """Counts the features of a family of kernels, for `CountKernel`."""

    def fit(self, batch: GraphBatch, tiling: Tiling) -> sparse.csr_matrix:
        """Learn the features of these graphs and count them, one row per graph."""

    def count(self, batch: GraphBatch, tiling: Tiling) -> sparse.csr_matrix:
        """Count features of new graphs; columns after the fitted ones are unseen features."""

    def names(self) -> list[str]:
        """A readable name per fitted feature."""

    @property
    def n_features(self) -> int:
        """The number of fitted features."""


class CountKernel(GraphKernel):
    """Base class of kernels that compare counts of features by dot product or sum of minima.

    A subclass defines `_counter` and ``_measure``.
    """

    _measure: ClassVar[Measure] = "dot"

    stored = fields(counter_=Instance(object))

    @abstractmethod
    def _counter(self) -> Counter:
        """A new, unfitted counter with this kernel's parameters."""

    def _fit(self, batch: GraphBatch, y: Any, tiling: Tiling) -> CountProfile:
        self.counter_ = self._counter()
        counts = self.counter_.fit(batch, tiling)
        return CountProfile(counts, self._measure, int(counts.shape[1]))

    def _profile(self, batch: GraphBatch, tiling: Tiling) -> CountProfile:
        fitted: Any = self.profile_
        return CountProfile(self.counter_.count(batch, tiling), self._measure, fitted.n_known)

    def _validate_fitted(self) -> None:
        profile: Any = self.profile_
        counter = self.counter_
        require(type(counter) is type(self._counter()), "counter_ does not fit the parameters")
        require_instance("profile_", profile, CountProfile)
        require(profile.measure == self._measure, f"the measure must be {self._measure!r}")
        known = (profile.n_known, profile.counts.shape[1])
        require(known == (counter.n_features,) * 2, "counter_ has a different number of features")


class ExplicitFeatures:
    """Adds the feature map to a kernel whose profile has `features`."""

    profile_: Any
    counter_: Counter

    def features(self, X: Any) -> Any:
        """Compute the explicit feature map: one row per graph, one column per fitted feature.

        ``features(X) @ features(fitted).T`` is the un-normalised `transform(X)`.
        """
        kernel: Any = self
        return kernel.profile_of(X).features()

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """A readable name for each column of `features`."""
        check_is_fitted(self)
        return np.array(self.counter_.names(), dtype=object)
