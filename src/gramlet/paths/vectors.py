"""Kernels on vectors: linear, polynomial, all subsets of the coordinates, subsets of one size.

Checks the input and computes the kernels that are matrix products; the recursions are in
`gramlet.engine.sequences.coordinate_sums`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from gramlet.common.arrays import Floats
from gramlet.engine.sequences.coordinate_sums import all_subsets_gram, anova_gram
from gramlet.paths.inputs import (
    VectorPair,
    check_finite,
    float_matrix,
    vector_pair,
    whole_number,
)

_SMALLER = "scale the columns of X and Y down, or use a smaller degree"


def linear(X: Any, Y: Any | None = None) -> Any:
    r"""Linear kernel, the dot product.

    .. math:: k(x, y) = \sum_j x_j y_j

    Costs O(d) per pair, by BLAS.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, d), or vector of shape (d,)
    Y : array-like or sparse matrix of shape (m, d), or vector of shape (d,), default X

    Returns
    -------
    ndarray of shape (n, m), or float for two vectors

    Examples
    --------
    >>> from gramlet.paths import linear
    >>> linear([[1, 2], [3, 4]])
    array([[ 5., 11.],
           [11., 25.]])
    >>> linear([1, 2], [3, 4])
    11.0
    """
    pair = vector_pair(X, Y, "linear")
    return _result(_dot_products(pair), "linear", pair)


def polynomial(X: Any, Y: Any | None = None, degree: int = 2) -> Any:
    r"""Polynomial kernel, all products of up to ``degree`` coordinates, including repetitions.

    .. math:: k(x, y) = (1 + x \cdot y)^p, \quad p = \mathrm{degree}

    Costs O(d) per pair, by BLAS.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, d), or vector of shape (d,)
    Y : array-like or sparse matrix of shape (m, d), or vector of shape (d,), default X
    degree : int, default 2
        At least 0; for degree 0 all values are 1.

    Returns
    -------
    ndarray of shape (n, m), or float for two vectors

    Examples
    --------
    >>> from gramlet.paths import polynomial
    >>> polynomial([[1, 2], [0, 1]], degree=2)
    array([[36.,  9.],
           [ 9.,  4.]])
    """
    degree = whole_number(degree, "degree of polynomial", 0)
    pair = vector_pair(X, Y, "polynomial")
    values = _dot_products(pair)
    with np.errstate(over="ignore"):  # `_result` raises an error for an overflow
        values += 1.0
        np.power(values, degree, out=values)
    return _result(values, "polynomial", pair)


def all_subsets(X: Any, Y: Any | None = None, *, n_jobs: int | None = None) -> Any:
    r"""All-subsets kernel, every product of distinct coordinates.

    .. math:: k(x, y) = \sum_{A \subseteq \{1..d\}} \prod_{j \in A} x_j y_j
        = \prod_{j=1}^{d} (1 + x_j y_j)

    The 2^d features are the paths through a chain of d steps with two edges each, of weights
    x_j y_j and 1. Cost: O(d) per pair (for sparse input, linear in the stored entries).

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, d), or vector of shape (d,)
    Y : array-like or sparse matrix of shape (m, d), or vector of shape (d,), default X
    n_jobs : int or None, default None
        Number of threads, as in joblib; the result does not depend on it.

    Returns
    -------
    ndarray of shape (n, m), or float for two vectors

    References
    ----------
    J. Shawe-Taylor and N. Cristianini, *Kernel Methods for Pattern Analysis*, 2004, section 9.2.

    Examples
    --------
    The subsets of {1, 2} are {}, {1}, {2} and {1, 2}: 1 + 3 + 8 + 24.

    >>> from gramlet.paths import all_subsets
    >>> all_subsets([1, 2], [3, 4])
    36.0
    >>> all_subsets([[1, 2], [0, 1]])
    array([[10.,  3.],
           [ 3.,  2.]])
    """
    pair = vector_pair(X, Y, "all_subsets")
    return _result(all_subsets_gram(pair.X, pair.Y, n_jobs), "all_subsets", pair)


def anova(
    X: Any,
    Y: Any | None = None,
    degree: int = 2,
    *,
    all_degrees: bool = False,
    n_jobs: int | None = None,
) -> Any:
    r"""ANOVA kernel, every product of exactly ``degree`` distinct coordinates.

    .. math:: k_m(x, y) = \sum_{|A| = m} \prod_{j \in A} x_j y_j = T_m^d, \qquad
        T_s^r = x_r y_r T_{s-1}^{r-1} + T_s^{r-1},

    with T_0^r = 1 and T_s^r = 0 for s > r. Cost: O(d·m) per pair (for sparse input, O(m) per stored
    entry); besides the result, memory for one block of columns per thread.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, d), or vector of shape (d,)
    Y : array-like or sparse matrix of shape (m, d), or vector of shape (d,), default X
    degree : int, default 2
        Size of the subsets, at least 0. For degree 0 all values are 1 (the empty subset), for a
        degree above d they are 0 (there is no such subset).
    all_degrees : bool, default False
        Return all degrees from 0 to ``degree`` along a new first axis.
    n_jobs : int or None, default None
        Number of threads, as in joblib; the result does not depend on it.

    Returns
    -------
    ndarray of shape (n, m), or float for two vectors
        With ``all_degrees``, the shape is (degree + 1, n, m), or (degree + 1,).

    References
    ----------
    J. Shawe-Taylor and N. Cristianini, *Kernel Methods for Pattern Analysis*, 2004, section 9.2.

    Examples
    --------
    The products are 1·4, 2·5 and 3·6; pairs of them give 4·10 + 4·18 + 10·18:

    >>> from gramlet.paths import anova
    >>> anova([1, 2, 3], [4, 5, 6], degree=2)
    292.0

    The sum over all degrees is the all-subsets kernel, here 5·11·19:

    >>> anova([1, 2, 3], [4, 5, 6], degree=3, all_degrees=True)
    array([  1.,  32., 292., 720.])

    In scikit-learn, as a function with a fixed degree:

    >>> from functools import partial
    >>> from sklearn.svm import SVC
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 0, 0, 1]
    >>> SVC(kernel=partial(anova, degree=2), C=100).fit(X, y).predict(X)
    array([0, 0, 0, 1])
    """
    degree = whole_number(degree, "degree of anova", 0)
    pair = vector_pair(X, Y, "anova")
    first = 0 if all_degrees else degree
    stacked = anova_gram(pair.X, pair.Y, degree, first, n_jobs)
    check_finite(stacked, "anova", _SMALLER)
    if pair.single:
        return stacked[:, 0, 0] if all_degrees else float(stacked[0, 0, 0])
    return stacked if all_degrees else stacked[0]


def _dot_products(pair: VectorPair) -> Any:
    with np.errstate(over="ignore", invalid="ignore"):
        products = pair.X @ (pair.X if pair.Y is None else pair.Y).T
    return products.toarray() if sparse.issparse(products) else products


def _result(values: Any, function: str, pair: VectorPair) -> Any:
    check_finite(values, function, _SMALLER)
    return float(values[0, 0]) if pair.single else values


# The general form


def path_sum(layers: Sequence[Any]) -> Floats:
    r"""Sum, over all paths through a layered graph, of the products of the weights along them.

    .. math:: P_{ab} = \sum_{a = v_0, v_1, \dots, v_L = b} \prod_{l=1}^{L} (W_l)_{v_{l-1} v_l}
        = (W_1 W_2 \cdots W_L)_{ab}

    Cost: O(min(n_0, n_L)) per edge of the graph, for any number of paths.

    Parameters
    ----------
    layers : sequence of array-like or sparse matrices
        W_1 of shape (n_0, n_1), W_2 of shape (n_1, n_2), and so on; an entry is the weight of the
        edge from a node of one layer to a node of the next, or 0 if there is no edge.

    Returns
    -------
    ndarray of shape (n_0, n_L)
        One row per node of the first layer, one column per node of the last.

    Examples
    --------
    With two edges per coordinate, of weights x_j y_j and 1, it is the all-subsets kernel:

    >>> from gramlet.paths import all_subsets, anova, path_sum
    >>> x, y = [1, 2], [3, 4]
    >>> path_sum([[[1, 3]], [[1], [1]], [[1, 8]], [[1], [1]]])
    array([[36.]])
    >>> all_subsets(x, y)
    36.0

    With one node per number of coordinates used so far, it is the ANOVA kernels of all degrees:

    >>> path_sum([[[1, 3, 0], [0, 1, 3], [0, 0, 1]], [[1, 8, 0], [0, 1, 8], [0, 0, 1]]])[0]
    array([ 1., 11., 24.])
    >>> anova(x, y, degree=2, all_degrees=True)
    array([ 1., 11., 24.])
    """
    weights = _checked(layers)
    if weights[0].shape[0] > weights[-1].shape[1]:
        # Multiply from the last layer back, which keeps the intermediate matrices small.
        return np.ascontiguousarray(path_sum([layer.T for layer in reversed(weights)]).T)
    sums = weights[0].toarray() if sparse.issparse(weights[0]) else weights[0].copy()
    with np.errstate(over="ignore", invalid="ignore"):
        for layer in weights[1:]:
            sums = sums @ layer
    return check_finite(sums, "path_sum", "scale the weights of the layers down")


def _checked(layers: Sequence[Any]) -> list[Any]:
    if len(layers) == 0:
        raise ValueError("layers of path_sum must contain at least one matrix; got none.")
    weights = [float_matrix(layer, f"layers[{k}] of path_sum") for k, layer in enumerate(layers)]
    for k, layer in enumerate(weights):
        if layer.ndim != 2:
            raise ValueError(
                f"layers[{k}] of path_sum must be a matrix; got shape {layer.shape}. A layer with "
                "one node is a matrix with one row or one column."
            )
        if k and weights[k - 1].shape[1] != layer.shape[0]:
            raise ValueError(
                f"layers[{k - 1}] of path_sum has shape {weights[k - 1].shape} and layers[{k}] "
                f"has shape {layer.shape}: the columns of one must match the rows of the next."
            )
    return weights
