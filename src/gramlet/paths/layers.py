"""Sums over all paths of a layered graph, the general form of the kernels of this package."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from gramlet.common.arrays import Floats
from gramlet.paths.inputs import check_finite, float_matrix

__all__ = ["path_sum"]


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
