"""The one-line door: a Gram matrix by a kernel's name."""

from __future__ import annotations

from typing import Any

import numpy as np

from gramlet.common.arrays import Floats
from gramlet.kernels.contract.tags import is_embedding
from gramlet.kernels.expression import estimator_of

__all__ = ["gram"]


def gram(X: Any, kernel: Any = "wl", Y: Any = None, **params: Any) -> Floats:
    """The kernel matrix of graphs, in one line.

    Parameters
    ----------
    X : graphs, as `gramlet.as_batch` takes them
    kernel : str or estimator
        A name of the registry (``gramlet kernels`` lists them), an expression of names such as
        ``"wl(n_iter=3) * sp + 0.5 * vertex"``, or one of gramlet's estimators. An embedding gives
        the dot products of its features.
    Y : graphs, optional
        If given, the matrix of X (rows) against Y (columns); the kernel is fitted on Y.
    **params
        Parameters of the kernel.

    Returns
    -------
    array, shape (len(X), len(X)) or (len(X), len(Y))

    Examples
    --------
    >>> import gramlet
    >>> graphs = [([(0, 1)], ["C", "O"]), ([(0, 1), (1, 2)], ["O", "C", "O"])]
    >>> gramlet.gram(graphs, "wl-oa", n_iter=1)
    array([[4., 3.],
           [3., 6.]])
    """
    estimator = estimator_of(kernel, **params)
    fitted_on = X if Y is None else Y
    if not is_embedding(estimator):
        if Y is None:
            matrix: Floats = estimator.fit_transform(X)
            return matrix
        return np.asarray(estimator.fit(Y).transform(X))
    features = estimator.fit_transform(fitted_on)
    if Y is None:
        product = features @ features.T
        return (product + product.T) / 2
    return np.asarray(estimator.transform(X) @ features.T)
