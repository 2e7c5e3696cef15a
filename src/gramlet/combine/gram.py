"""A Gram matrix from the name of a kernel, in one line."""

from __future__ import annotations

from typing import Any

import numpy as np

from gramlet.common.arrays import Floats
from gramlet.kernels.contract.tags import is_embedding
from gramlet.kernels.expression import estimator_of

__all__ = ["gram"]


def gram(X: Any, kernel: Any = "wl", Y: Any = None, **params: Any) -> Floats:
    """Compute the kernel matrix of graphs.

    Parameters
    ----------
    X : graphs, as `gramlet.as_batch` takes them
    kernel : str or estimator
        A name in the registry (``gramlet kernels`` lists them), an expression such as
        ``"wl(n_iter=3) * sp + 0.5 * vertex"``, or an estimator of gramlet. For an embedding, the
        result is the dot products of its features.
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
        return np.asarray(
            estimator.fit_transform(X) if Y is None else estimator.fit(Y).transform(X)
        )
    features = estimator.fit_transform(fitted_on)
    rows = features if Y is None else estimator.transform(X)
    product = rows @ features.T
    matrix = product.toarray() if hasattr(product, "toarray") else np.asarray(product)
    return (matrix + matrix.T) / 2 if Y is None else matrix
