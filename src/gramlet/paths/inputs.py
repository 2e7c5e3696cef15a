"""Checks shared by the path kernels: two sets of vectors, whole numbers, finite results."""

from __future__ import annotations

import operator
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from gramlet.common.arrays import Floats


class VectorPair(NamedTuple):
    """Two sets of vectors, both as float64 arrays or both as CSR matrices."""

    X: Any
    Y: Any | None  # None: the same vectors as X
    single: bool  # whether two vectors were given, so that the result is a number


def vector_pair(X: Any, Y: Any | None, function: str) -> VectorPair:
    """Check and convert X and Y of a kernel."""
    if Y is X:
        Y = None
    rows = float_matrix(X, f"X of {function}")
    others = rows if Y is None else float_matrix(Y, f"Y of {function}")
    if rows.ndim != others.ndim:
        raise ValueError(
            f"{function} takes two matrices or two vectors; X has shape {rows.shape} and Y has "
            f"shape {others.shape}. Turn the vector into a matrix of one row: x.reshape(1, -1)."
        )
    if rows.shape[-1] != others.shape[-1]:
        raise ValueError(
            f"X and Y of {function} must have equally many columns; X has shape {rows.shape} and "
            f"Y has shape {others.shape}."
        )
    single = rows.ndim == 1
    if single:
        rows, others = rows.reshape(1, -1), others.reshape(1, -1)
    if sparse.issparse(rows) or sparse.issparse(others):
        rows, others = _sorted_csr(rows), _sorted_csr(others)
    return VectorPair(rows, None if Y is None else others, single)


def float_matrix(values: Any, name: str) -> Any:
    """Values as a float64 array (1-d or 2-d) or a sparse matrix, checked to be finite."""
    if sparse.issparse(values):
        matrix = values.astype(np.float64)
        entries = matrix.tocoo().data
    else:
        matrix = entries = _float_array(values, name)
    if matrix.ndim not in (1, 2):
        raise ValueError(
            f"{name} must be a matrix (or a vector); got an array of shape {matrix.shape}."
        )
    if not np.isfinite(entries).all():
        raise ValueError(
            f"{name} must be finite; it contains NaN or infinity. Impute or drop them."
        )
    return matrix


def _float_array(values: Any, name: str) -> Floats:
    array = np.asarray(values)
    if array.dtype.kind == "c":
        raise ValueError(f"{name} must be real; got complex numbers.")
    try:
        return np.asarray(array, dtype=np.float64, order="C")
    except (TypeError, ValueError) as problem:
        raise ValueError(
            f"{name} must be numbers; {problem}. For strings see subsequence_gram."
        ) from None


def _sorted_csr(matrix: Any) -> Any:
    """A CSR copy with at most one stored entry per cell, sorted by column."""
    csr = sparse.csr_array(matrix, copy=True)
    csr.sum_duplicates()
    return csr


def whole_number(value: Any, name: str, minimum: int) -> int:
    """An int of at least ``minimum``."""
    try:
        if isinstance(value, bool | np.bool_):
            raise TypeError
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be a whole number >= {minimum}; got {value!r}.") from None
    if number < minimum:
        raise ValueError(f"{name} must be a whole number >= {minimum}; got {number}.")
    return number


def check_finite(values: Floats, function: str, way_out: str) -> Floats:
    """Return the values; raise ValueError if one is not finite."""
    # Minimum and maximum show whether all entries are finite, without a matrix of booleans.
    if values.size and not (np.isfinite(values.min()) and np.isfinite(values.max())):
        where = tuple(int(k) for k in np.argwhere(~np.isfinite(values))[0])
        raise ValueError(f"{function} exceeds the largest float64 at entry {where}; {way_out}.")
    return values
