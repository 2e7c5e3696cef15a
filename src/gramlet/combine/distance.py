"""Distances that kernels induce, and the similarity of two graphs as one number."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from gramlet.combine.feature_products import as_kernel, normalized_kernel
from gramlet.common.arrays import Floats
from gramlet.common.fields import Instance, fields
from gramlet.common.parameters import HasMethods
from gramlet.engine.core.tiles import Tiling
from gramlet.graphs.batch import GraphBatch
from gramlet.graphs.conversion.convert import as_batch, as_single
from gramlet.kernels.contract.kernel import GraphKernel
from gramlet.kernels.contract.normalisation import unit
from gramlet.kernels.contract.tags import graph_tags

# Squared distances this small compared with the norms are rounding errors.
ROUNDING = 1e-12


def squared_distances(values: Floats, rows: Floats, columns: Floats) -> Floats:
    """k(x,x) + k(y,y) − 2k(x,y), in place; 0 if it is below 1e-12·(k(x,x) + k(y,y)).

    >>> squared_distances(np.array([[1.0, 2.0]]), np.array([4.0]), np.array([1.0, 0.0])).tolist()
    [[3.0, 0.0]]
    """
    for line, own in zip(values, rows, strict=True):
        norms = columns + own
        line *= -2.0
        line += norms
        line[line < ROUNDING * norms] = 0.0
    return np.maximum(values, 0.0, out=values)


class KernelDistance(TransformerMixin, BaseEstimator, auto_wrap_output_keys=None):  # type: ignore[call-arg]
    """The distance of graphs in the feature space of a kernel.

    d(x, y) = sqrt(max(0, k(x, x) + k(y, y) − 2k(x, y))); squares below 1e-12·(k(x, x) + k(y, y))
    are 0. `transform` gives the matrix of distances to the fitted graphs, for estimators with
    ``metric="precomputed"``: nearest neighbours, DBSCAN, t-SNE. Cost: that of the kernel.

    Parameters
    ----------
    kernel : estimator or str
        A kernel or an embedding of gramlet (with the dot product of its features), or a name in the
        registry. For non-negative kernels with ``normalize=True`` the distances lie between 0 and
        √2.

    Attributes
    ----------
    kernel_ : estimator
        The fitted kernel.

    Examples
    --------
    >>> from gramlet import KernelDistance, VertexHistogram
    >>> graphs = [([(0, 1)], ["C", "C"]), ([(0, 1)], ["C", "O"]), ([], ["O"])]
    >>> KernelDistance(VertexHistogram()).fit_transform(graphs).round(3)
    array([[0.   , 1.414, 2.236],
           [1.414, 0.   , 1.   ],
           [2.236, 1.   , 0.   ]])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "kernel": [str, HasMethods(["fit", "transform"])],
    }

    stored = fields(kernel_=Instance(GraphKernel))

    def __init__(self, kernel: Any) -> None:
        self.kernel = kernel

    def fit(self, X: Any, y: Any = None) -> Self:
        """Store the graphs that distances are measured to (y is for supervised kernels)."""
        self._validate_params()
        self.kernel_ = as_kernel(self.kernel).fit(X, y)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Floats:
        """Fit to X and compute the distances between all its graphs.

        The matrix is exactly symmetric, with zeros on the diagonal.
        """
        self._validate_params()
        self.kernel_ = as_kernel(self.kernel)
        matrix = self.kernel_.fit_transform(X, y)
        own = np.diagonal(matrix).copy()
        distances = np.sqrt(squared_distances(matrix, own, own))
        np.fill_diagonal(distances, 0.0)
        return np.asarray(distances)

    def transform(self, X: Any) -> Floats:
        """Compute the distances of X to the fitted graphs, shape (len(X), n fitted)."""
        check_is_fitted(self)
        batch = as_batch(X)
        kernel = self.kernel_
        matrix = np.asarray(kernel.transform(batch))
        columns = own_values(kernel, kernel._current(kernel.profile_))
        squares = squared_distances(matrix, kernel.diagonal(batch), columns)
        return np.sqrt(squares, out=squares)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.one_d_array = True
        return tags


def own_values(kernel: Any, profile: Any, tiling: Tiling | None = None) -> Floats:
    """The self-similarities of a profile's graphs, normalised if the kernel is."""
    own: Floats = profile.norms() if tiling is None else profile.norms(tiling)
    return unit(own) if kernel.normalize else own


def similarity(g: Any, h: Any, kernel: Any = "wl", **params: Any) -> float:
    """The similarity of two graphs as one number.

    The kernel is fitted on both graphs. The similarity is Tanimoto's,
    k(g, h) / (k(g, g) + k(h, h) - k(g, h)), unless ``normalize`` says otherwise: 1 for graphs that
    the kernel cannot distinguish. For embeddings it is the cosine of their features. The similarity
    of an empty graph is always 0, also to another empty graph.

    Parameters
    ----------
    g, h : graphs
        One graph each, of any kind that `gramlet.as_batch` takes.
    kernel : str or estimator, default "wl"
        A name in the registry, an expression such as ``"wl + 0.5 * sp"``, or an estimator.
    **params
        Parameters of the kernel; ``normalize=False`` gives the value of the kernel itself,
        ``normalize="cosine"`` the cosine.

    Returns
    -------
    float

    Examples
    --------
    >>> import gramlet
    >>> ethanol, water = ([(0, 1), (1, 2)], ["C", "C", "O"]), ([], ["O"])
    >>> round(gramlet.similarity(ethanol, water, n_iter=1), 3)
    0.111
    >>> gramlet.similarity(ethanol, water, "vertex", normalize=False)
    1.0
    """
    pair = _pair(g, h)
    normalize = params.pop("normalize", None)
    estimator = normalized_kernel(kernel, **params)
    if normalize is not None:
        estimator.set_params(normalize=normalize)
    if graph_tags(estimator).supervised:
        raise ValueError(
            f"similarity of two graphs has no classes to learn from, which "
            f"{type(estimator).__name__} needs. Fit it on graphs with classes, "
            "kernel.fit(graphs, y), and call kernel.transform; or use a kernel without classes, "
            'such as "wwl".'
        )
    found = float(estimator.fit_transform(pair)[0, 1])
    if (pair.sizes == 0).any():
        return 0.0
    # The roots of both norms are rounded, so that a graph and itself may give 1 ± 2e-16.
    return 1.0 if estimator.normalize and abs(found - 1.0) <= 4 * np.finfo(float).eps else found


def _pair(g: Any, h: Any) -> GraphBatch:
    """Two graphs as a batch; a symmetric matrix beside one that is not is directed, too."""
    singles = [as_single(g, "g"), as_single(h, "h")]
    matrices = all(isinstance(x, np.ndarray) or sparse.issparse(x) for x in (g, h))
    if matrices and singles[0].directed != singles[1].directed:
        return as_batch([g, h])
    return GraphBatch.concatenate(singles)
