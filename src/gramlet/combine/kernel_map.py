"""Kernel PCA of graphs: a few coordinates per graph, for maps and for classifiers."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.decomposition import KernelPCA
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from gramlet.common.arrays import Array, Floats
from gramlet.common.fields import ArrayOf, Instance, Sometimes, fields
from gramlet.common.parameters import HasMethods, Interval
from gramlet.common.stored_state import require
from gramlet.graphs.conversion.convert import as_batch
from gramlet.kernels.contract.tags import is_embedding
from gramlet.kernels.expression import normalized_by_name


class KernelMap(TransformerMixin, BaseEstimator):
    """Kernel PCA of graphs, with any kernel or embedding of gramlet.

    With K̃ the centred Gram matrix of the n fitted graphs, the components are its leading
    eigenvectors, K̃ α = λ n α, scaled so that their directions in feature space have length 1; the
    scores of a graph are its projections. Cost: one Gram matrix and its leading eigenvectors.

    Parameters
    ----------
    kernel : str or estimator, default "wl"
        A name in the registry, or an estimator of gramlet.
    n_components : int, default 2

    Attributes
    ----------
    scores_ : array, shape (n graphs, n_components)
        The fitted graphs' scores.
    eigenvalues_ : array
        λ of the equation above: the variances of the components. scikit-learn's ``KernelPCA``
        reports the eigenvalues of K̃ itself, which are n times these.
    explained_share_ : array
        The share of the total variance that each component explains.
    kernel_ : estimator
        The fitted kernel.
    pca_ : sklearn.decomposition.KernelPCA

    References
    ----------
    Schölkopf, Smola, Müller (1998), Nonlinear component analysis as a kernel eigenvalue problem.

    Examples
    --------
    >>> from gramlet import KernelMap, load_dataset
    >>> mutag = load_dataset("MUTAG").graphs
    >>> graph_map = KernelMap("wl-oa", n_components=2).fit(mutag[:150])
    >>> graph_map.transform(mutag[150:]).shape
    (38, 2)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "kernel": [str, HasMethods(["fit", "transform"])],
        "n_components": [Interval(Integral, 1, None, closed="left")],
    }

    stored = fields(
        kernel_=Instance(BaseEstimator),
        pca_=Instance(KernelPCA, n_features_in_="n", n_components="n_components"),
        scores_=ArrayOf("float64", "n", "n_components"),
        eigenvalues_=ArrayOf("float64", "n_components"),
        explained_share_=ArrayOf("float64", "n_components"),
        features_=Sometimes(ArrayOf("float64", "n", None)),  # of an embedding
    )

    def __init__(self, kernel: Any = "wl", n_components: int = 2) -> None:
        self.kernel = kernel
        self.n_components = n_components

    def fit(self, X: Any, y: Any = None) -> Self:
        """Compute the components of the graphs X (y is for supervised kernels)."""
        self._validate_params()
        batch = as_batch(X)
        if len(batch) <= self.n_components:
            raise ValueError(
                f"KernelMap(n_components={self.n_components}) needs more graphs than components; "
                f"got {len(batch)}."
            )
        self.kernel_ = normalized_by_name(self.kernel)
        if is_embedding(self.kernel_):
            self.features_ = np.asarray(self.kernel_.fit(batch, y).transform(batch))
            gram = self.features_ @ self.features_.T
        else:
            gram = self.kernel_.fit_transform(batch, y)
        self._fit_components(gram)
        return self

    def _fit_components(self, gram: Floats) -> None:
        try:
            try:
                self._solve(gram, "auto")
            except (np.linalg.LinAlgError, ValueError) as error:
                if "negative eigenvalues" in str(error):
                    raise
                # Dense solvers for some eigenpairs can fail if many eigenvalues are equal.
                self._solve(gram, "arpack")
        except ValueError as error:
            if "negative eigenvalues" not in str(error):
                raise
            raise ValueError(
                f"The Gram matrix of {self.kernel_!r} has large negative eigenvalues: the kernel "
                "is not positive semi-definite, so it has no map. Choose another kernel, or repair "
                'its spectrum (for EMDKernel: psd="clip").'
            ) from error
        centred = np.trace(gram) - gram.mean() * len(gram)
        leading = self.pca_.eigenvalues_
        self.eigenvalues_ = leading / len(gram)
        self.explained_share_ = leading / centred if centred > 0 else np.zeros_like(leading)

    def _solve(self, gram: Floats, eigen_solver: str) -> None:
        # The seed is only for the start of the iteration on large matrices.
        self.pca_ = KernelPCA(
            self.n_components, kernel="precomputed", eigen_solver=eigen_solver, random_state=0
        )
        self.scores_ = self.pca_.fit_transform(gram)

    def validate(self) -> None:
        """Raise ValueError if the kernel was not fitted on the graphs of the map."""
        if is_embedding(self.kernel_):
            require(hasattr(self, "features_"), "the features of the fitted graphs are missing")
        else:
            require(self.kernel_.n_fitted_ == len(self.scores_), "kernel_ does not fit pca_")

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        """The display in notebooks: the map if fitted, otherwise scikit-learn's diagram."""
        if not hasattr(self, "scores_"):
            bundle: dict[str, str] = super()._repr_mimebundle_(**options)
            return bundle
        from gramlet.report.notebook import map_html

        return {"text/plain": repr(self), "text/html": map_html(self)}

    def _repr_html_inner(self) -> str:
        """The result of `_repr_html_`, for displays without bundles."""
        if not hasattr(self, "scores_"):
            return str(super()._repr_html_inner())
        from gramlet.report.notebook import map_html

        return map_html(self)

    def fit_transform(self, X: Any, y: Any = None) -> Floats:
        """Fit to X and return its scores."""
        return self.fit(X, y).scores_

    def transform(self, X: Any) -> Floats:
        """Compute the scores of graphs on the fitted components."""
        check_is_fitted(self)
        batch = as_batch(X)
        if len(batch) == 0:
            return np.zeros((0, self.n_components))
        rows = self.kernel_.transform(batch)
        if is_embedding(self.kernel_):
            rows = np.asarray(rows) @ self.features_.T
        return np.asarray(self.pca_.transform(rows))

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """A name per component."""
        return np.array([f"component {i + 1}" for i in range(self.n_components)], dtype=object)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.one_d_array = True
        return tags
