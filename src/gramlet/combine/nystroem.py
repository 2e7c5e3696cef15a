"""Explicit features for every kernel, from comparisons with a few landmark graphs."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted

from gramlet.combine.distance import own_values, squared_distances
from gramlet.combine.feature_products import as_kernel
from gramlet.common.arrays import Array, Floats, Ints
from gramlet.common.fields import ArrayOf, Instance, fields
from gramlet.common.parameters import HasMethods, Interval, StrOptions
from gramlet.engine.core.tiles import one_blas_thread
from gramlet.graphs.batch import GraphBatch
from gramlet.graphs.conversion.convert import as_batch
from gramlet.kernels.contract.kernel import GraphKernel
from gramlet.kernels.contract.normalisation import compared
from gramlet.kernels.contract.tags import GraphTags, graph_tags
from gramlet.kernels.expression import estimator_of


class GraphNystroem(TransformerMixin, BaseEstimator):
    """Features of graphs by the Nyström method, for any kernel.

    With Z the landmark graphs and K_ZZ = UΛUᵀ their Gram matrix, the features are
    Φ(X) = K_XZ U Λ^{−1/2}, one column per eigenvalue above ``tol`` times the largest. Dot products
    of rows approximate the kernel; with all graphs as landmarks, ΦΦᵀ = K for positive semi-definite
    kernels, and K without its negative part for others. Cost: m comparisons per graph for m
    landmarks, and O(m³) once.

    Parameters
    ----------
    kernel : str or estimator
        A name in the registry, or a kernel of gramlet. It is fitted on the landmarks.
    n_components : int, default 100
        Number of landmarks; all graphs if there are fewer.
    sampling : {"uniform", "kmeans++"}
        How landmarks are drawn: uniformly, or the first uniformly and each next one with
        probability proportional to its squared kernel distance to the nearest one already drawn.
    tol : float, default 1e-10
        Eigenvalues up to ``tol`` times the largest are left out.
    random_state : int, RandomState or None
        Seed of the draw of landmarks.

    Attributes
    ----------
    landmarks_ : array of int64
        Positions of the landmarks among the fitted graphs.
    kernel_ : estimator
        The kernel, fitted on the landmarks.
    mapping_ : array, shape (landmarks, columns)
        U Λ^{−1/2}.

    References
    ----------
    Williams, Seeger (2001), Using the Nyström method to speed up kernel machines.

    Examples
    --------
    >>> from gramlet import GraphNystroem, load_dataset
    >>> mutag = load_dataset("MUTAG").graphs
    >>> GraphNystroem("wl-oa", n_components=20, random_state=0).fit_transform(mutag).shape
    (188, 20)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "kernel": [str, HasMethods(["fit", "transform"])],
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "sampling": [StrOptions({"uniform", "kmeans++"})],
        "tol": [Interval(Real, 0, 1, closed="left")],
        "random_state": ["random_state"],
    }

    stored = fields(
        kernel_=Instance(GraphKernel, n_fitted_="landmarks"),
        landmarks_=ArrayOf("int64", "landmarks", least=0),
        mapping_=ArrayOf("float64", "landmarks", None),
    )

    def __init__(
        self,
        kernel: Any,
        n_components: int = 100,
        *,
        sampling: str = "uniform",
        tol: float = 1e-10,
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.n_components = n_components
        self.sampling = sampling
        self.tol = tol
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Draw the landmarks from the graphs X (y is for supervised kernels)."""
        self._validate_params()
        batch = as_batch(X)
        if len(batch) == 0:
            raise ValueError("GraphNystroem needs at least one graph to fit; got none.")
        self.kernel_ = as_kernel(self.kernel)
        self.landmarks_ = self._drawn(batch, y)
        target = None if y is None else np.asarray(y)[self.landmarks_]
        gram = self.kernel_.fit_transform(batch[self.landmarks_], target)
        with one_blas_thread():
            values, vectors = np.linalg.eigh(gram)
        kept = np.flatnonzero(values > max(0.0, self.tol * values[-1]))[::-1]
        if len(kept):
            self.mapping_: Floats = vectors[:, kept] / np.sqrt(values[kept])
        else:
            self.mapping_ = np.zeros((len(gram), 1))
        return self

    def transform(self, X: Any) -> Floats:
        """Compute the features of the graphs X, one row per graph."""
        check_is_fitted(self)
        batch = as_batch(X)
        if len(batch) == 0:
            return np.zeros((0, self.mapping_.shape[1]))
        rows = self.kernel_.transform(batch)
        with one_blas_thread():
            return np.asarray(rows @ self.mapping_)

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """A name per column."""
        check_is_fitted(self)
        n_columns = self.mapping_.shape[1]
        return np.array([f"graphnystroem{i}" for i in range(n_columns)], dtype=object)

    def _drawn(self, batch: GraphBatch, y: Any) -> Ints:
        """The positions of the landmarks, ascending."""
        rng = check_random_state(self.random_state)
        n, wanted = len(batch), min(int(self.n_components), len(batch))
        if wanted == n:
            return np.arange(n, dtype=np.int64)
        if self.sampling == "uniform":
            return np.sort(rng.choice(n, wanted, replace=False)).astype(np.int64)
        self.kernel_.fit(batch, y)
        chosen = [int(rng.randint(n))]
        nearest = self._squares_to(chosen[0])
        while len(chosen) < wanted:
            nearest[chosen] = 0.0
            chances = nearest
            if not nearest.any():
                chances = np.ones(n)
                chances[chosen] = 0.0
            chosen.append(int(rng.choice(n, p=chances / chances.sum())))
            np.minimum(nearest, self._squares_to(chosen[-1]), out=nearest)
        return np.sort(np.array(chosen, dtype=np.int64))

    def _squares_to(self, position: int) -> Floats:
        """Squared kernel distances of all fitted graphs to one of them."""
        kernel = self.kernel_
        profile = kernel._current(kernel.profile_)
        landmark = profile[[position]]
        matrix = compared(profile, landmark, kernel.normalize)
        own = own_values(kernel, profile)
        return np.ascontiguousarray(squared_distances(matrix, own, own[[position]])[:, 0])

    def __graph_tags__(self) -> GraphTags:
        own = graph_tags(estimator_of(self.kernel))
        return GraphTags(
            kind="embedding",
            random=True,
            supervised=own.supervised,
            depends_on_fitted=True,
            directed=own.directed,
            needs=own.needs,
            uses=own.uses,
        )

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.one_d_array = True
        return tags
