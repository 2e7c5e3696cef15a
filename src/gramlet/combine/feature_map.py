"""Explicit features of kernels as a transformer, for linear models."""

from __future__ import annotations

from typing import Any, Self

from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from gramlet.common.arrays import Array
from gramlet.common.fields import Instance, fields
from gramlet.common.stored_state import require
from gramlet.kernels.contract.output import framed
from gramlet.kernels.contract.tags import graph_tags
from gramlet.kernels.expression import estimator_of


class FeatureMap(TransformerMixin, BaseEstimator):
    """The explicit features of a kernel, for linear models.

    `transform` returns the result of the kernel's `features`: dot products of its rows are the
    un-normalised kernel. The cost of a linear model on these features is linear in the number of
    graphs, not quadratic.

    Parameters
    ----------
    kernel : str or estimator
        A kernel with an explicit feature map: a name in the registry, or an estimator such as
        ``WeisfeilerLehman()``.

    Attributes
    ----------
    kernel_ : estimator
        The fitted kernel.

    Examples
    --------
    >>> from gramlet import FeatureMap, WeisfeilerLehman
    >>> graphs = [([(0, 1)], ["C", "O"]), ([(0, 1), (1, 2)], ["O", "C", "O"])]
    >>> FeatureMap(WeisfeilerLehman(n_iter=0)).fit_transform(graphs).toarray()
    array([[1., 1.],
           [1., 2.]])
    """

    stored = fields(kernel_=Instance(BaseEstimator))

    def __init__(self, kernel: Any) -> None:
        self.kernel = kernel

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the features of the graphs X."""
        kernel = estimator_of(self.kernel)
        if not graph_tags(kernel).features_by_graphs:
            self._require_features(kernel)
        kernel.fit(X, y)
        self._require_features(kernel)  # now that it has seen the graphs
        self.kernel_ = kernel
        return self

    @staticmethod
    def _require_features(kernel: Any) -> None:
        if not graph_tags(kernel).features:
            raise TypeError(
                f"{type(kernel).__name__} has no explicit feature map. Use its Gram matrix "
                'with a kernel machine, such as SVC(kernel="precomputed").'
            )

    def transform(self, X: Any) -> Any:
        """Compute the features: one row per graph, one column per fitted feature."""
        check_is_fitted(self)
        return framed(self, self.kernel_.features(X), X)

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Fit to X and return its features, counted only once if the kernel keeps them."""
        self.fit(X, y)
        counted = self.kernel_.profile_.features()
        return self.transform(X) if counted is None else framed(self, counted, X)

    def validate(self) -> None:
        """Raise ValueError if the kernel has no features."""
        require(graph_tags(self.kernel_).features, "kernel_ has no features")

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """A readable name per column."""
        check_is_fitted(self)
        names: Array = self.kernel_.get_feature_names_out()
        return names
