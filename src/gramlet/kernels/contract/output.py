"""Data frames of sparse features, which scikit-learn's own `set_output` does not support."""

from __future__ import annotations

from typing import Any

from scipy import sparse
from sklearn.utils._set_output import _get_output_config


def framed(estimator: Any, matrix: Any, X: Any) -> Any:
    """Convert a sparse matrix to a data frame of sparse columns, if the estimator is set to that.

    Dense arrays are returned unchanged; scikit-learn wraps these itself.
    """
    if not sparse.issparse(matrix):
        return matrix
    wanted = _get_output_config("transform", estimator)["dense"]
    if wanted == "default":
        return matrix
    if wanted != "pandas":
        return matrix.toarray()
    import pandas as pd

    index = X.index if isinstance(X, pd.Series | pd.DataFrame) else None
    names = estimator.get_feature_names_out()
    return pd.DataFrame.sparse.from_spmatrix(matrix, index=index, columns=names)
