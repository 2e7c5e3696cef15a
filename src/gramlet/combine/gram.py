"""gramlet.gram: a Gram matrix by a kernel's name, in memory or in a folder on disk."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from gramlet.common.checks import require_count
from gramlet.kernels.contract.tags import is_embedding
from gramlet.kernels.expression import estimator_of


def gram(
    X: Any,
    kernel: Any = "wl",
    Y: Any = None,
    output: str | os.PathLike[str] | None = None,
    chunk: int = 2048,
    client: Any = None,
    resume: bool = True,
    verify: bool = False,
    **params: Any,
) -> Any:
    """The kernel matrix of graphs, in one line.

    Parameters
    ----------
    X : graphs, as `gramlet.as_batch` accepts them
    kernel : str or estimator
        A name of the registry (``gramlet kernels`` lists them), an expression such as
        ``"wl(n_iter=3) * sp + 0.5 * vertex"``, or one of gramlet's estimators. An embedding gives
        the dot products of its features.
    Y : graphs, optional
        If given, the matrix of X (rows) against Y (columns); the kernel is fitted on Y.
    output : path, optional
        A folder for the matrix, ``K.zarr``: a Zarr 3 array of float64 that is computed tile by
        tile, for matrices that do not fit into memory and for work that may be interrupted.
        Called again with the same arguments, it computes what is missing. Needs the extra
        ``gramlet[scale]``.
    chunk : int, default 2048
        Rows and columns per tile.
    client : dask.distributed.Client, optional
        Its workers compute the tiles and write them to ``output``, so they must have access to the
        same folder.
    resume : bool, default True
        False deletes what gramlet wrote to ``output`` before and starts again.
    verify : bool, default False
        Check finished tiles by their checksums; those that differ are computed again, with a
        warning that counts them.
    **params
        Parameters of the kernel.

    Returns
    -------
    array, shape (len(X), len(X)) or (len(X), len(Y))
        With ``output`` a `zarr.Array`, opened read-only: ``K[rows]`` reads rows as an array.

    Examples
    --------
    >>> import gramlet
    >>> graphs = [([(0, 1)], ["C", "O"]), ([(0, 1), (1, 2)], ["O", "C", "O"])]
    >>> gramlet.gram(graphs, "wl-oa", n_iter=1)
    array([[4., 3.],
           [3., 6.]])
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     stored = gramlet.gram(graphs, "wl-oa", n_iter=1, output=f"{folder}/K.zarr")
    ...     stored[1]
    array([3., 6.])
    """
    estimator = estimator_of(kernel, **params)
    if output is not None:
        from gramlet.scale.gram_store import write_gram

        return write_gram(
            estimator, X, output, Y=Y, chunk=chunk, client=client, resume=resume, verify=verify
        )
    if client is not None or verify:
        given = "client" if client is not None else "verify"
        raise ValueError(
            f"{given}= is for matrices on disk; name their folder with output=, such as "
            'output="K.zarr".'
        )
    require_count("chunk", chunk, 1)
    if not is_embedding(estimator):
        return np.asarray(
            estimator.fit_transform(X) if Y is None else estimator.fit(Y).transform(X)
        )
    features = estimator.fit_transform(X if Y is None else Y)
    rows = features if Y is None else estimator.transform(X)
    product = rows @ features.T
    matrix = product.toarray() if hasattr(product, "toarray") else np.asarray(product)
    return (matrix + matrix.T) / 2 if Y is None else matrix
