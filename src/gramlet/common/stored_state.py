"""Checks of state that comes from a file, which compiled code, numpy and scipy rely on.

Every class that is part of a fitted model has a method ``validate`` that uses these checks. Arrays
must have exactly the expected type and shape, indices must be in range, and numbers must be finite
and not so large that sums of squares overflow. The first fault raises a ValueError that names it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gramlet.common.arrays import Ints
from gramlet.common.checks import is_integer

__all__ = [
    "LARGEST",
    "LARGEST_COUNT",
    "require",
    "require_array",
    "require_counts",
    "require_flag",
    "require_instance",
    "require_integer",
    "require_items",
    "require_offsets",
    "require_real",
]

# Sums of squares of numbers up to this size are finite.
LARGEST = 1e140
# Integers up to this size are exact in double precision.
LARGEST_COUNT = 1 << 53


def require(holds: Any, message: str) -> None:
    """Raise ValueError with this message unless ``holds`` is true.

    >>> require(1 < 2, "numbers are out of order")
    """
    if not holds:
        raise ValueError(message)


def require_array(
    name: str,
    value: Any,
    dtype: str,
    shape: tuple[int | None, ...],
    *,
    least: float | None = None,
    most: float | None = None,
) -> None:
    """Require an array of one type and shape (None: any extent), with entries in a range.

    >>> require_array("weights", np.ones(3), "float64", (3,), least=0)
    >>> require_array("heads", np.array([0, 7]), "int64", (None,), least=0, most=6)
    Traceback (most recent call last):
    ...
    ValueError: heads must lie between 0 and 6; found 7.
    """
    wanted = np.dtype(dtype)
    if type(value) is not np.ndarray or value.dtype != wanted:
        found = f"an array of {value.dtype}" if isinstance(value, np.ndarray) else _kind(value)
        raise ValueError(f"{name} must be an array of {wanted}; found {found}.")
    if value.ndim != len(shape) or any(
        extent is not None and extent != there
        for extent, there in zip(shape, value.shape, strict=True)
    ):
        text = ", ".join("any" if extent is None else str(extent) for extent in shape)
        raise ValueError(f"{name} must have the shape ({text}); found {value.shape}.")
    if wanted.kind in "fc":
        if not np.isfinite(value).all():
            raise ValueError(f"{name} contains numbers that are not finite.")
        if least is None and most is None:
            if np.abs(value).max(initial=0.0) > LARGEST:
                raise ValueError(f"{name} contains numbers beyond {LARGEST:g}.")
            return
        least, most = -LARGEST if least is None else least, LARGEST if most is None else most
    for limit, wrong in ((least, np.less), (most, np.greater)):
        if limit is not None:
            outside = wrong(value, limit)
            if outside.any():
                low, high = ("any" if end is None else end for end in (least, most))
                raise ValueError(
                    f"{name} must lie between {low} and {high}; found {value[outside][0]}."
                )


def require_offsets(
    name: str, value: Any, n_parts: int | None = None, end: int | None = None
) -> Ints:
    """Require the offsets of consecutive parts: from 0, not decreasing, up to ``end``.

    >>> require_offsets("offsets", np.array([0, 2, 5]), n_parts=2, end=5)
    array([0, 2, 5])
    """
    require_array(name, value, "int64", (None if n_parts is None else n_parts + 1,), least=0)
    offsets: Ints = value
    if len(offsets) == 0 or offsets[0] != 0 or (offsets[1:] < offsets[:-1]).any():
        raise ValueError(f"{name} must begin with 0 and not decrease.")
    if end is not None and offsets[-1] != end:
        raise ValueError(f"{name} must end with {end}; found {offsets[-1]}.")
    return offsets


def require_counts(
    name: str, value: Any, n_rows: int | None = None, n_columns: int | None = None
) -> None:
    """Require a sparse matrix of finite, non-negative counts or shares, with valid indices.

    >>> from scipy import sparse
    >>> require_counts("counts", sparse.csr_matrix([[1.0, 2.0]]), n_rows=1, n_columns=2)
    """
    from scipy import sparse

    if type(value) is not sparse.csr_matrix:
        raise ValueError(f"{name} must be a csr_matrix; found {_kind(value)}.")
    for axis, extent in enumerate((n_rows, n_columns)):
        if extent is not None and value.shape[axis] != extent:
            what = ("rows", "columns")[axis]
            raise ValueError(f"{name} must have {extent} {what}; found {value.shape[axis]}.")
    require_array(f"the entries of {name}", value.data, "float64", (None,), least=0.0)
    if (np.diff(value.indptr) < 0).any() or value.indptr[-1] != len(value.indices):
        raise ValueError(f"the offsets of {name} must increase from 0 to the number of entries.")
    value.check_format(full_check=True)


def require_integer(name: str, value: Any, least: int, most: int = LARGEST_COUNT) -> int:
    """Require an integer in a range.

    >>> require_integer("n_iter", 3, least=0)
    3
    """
    if not is_integer(value) or not least <= value <= most:
        raise ValueError(f"{name} must be a whole number from {least} to {most}; found {value!r}.")
    return int(value)


def require_real(name: str, value: Any, least: float = -LARGEST, most: float = LARGEST) -> float:
    """Require a number in a range; booleans are not numbers.

    >>> require_real("gamma", 0.5, least=0.0)
    0.5
    """
    plain = isinstance(value, int | float | np.integer | np.floating)
    if not plain or isinstance(value, bool) or not least <= value <= most:
        raise ValueError(f"{name} must be a number from {least:g} to {most:g}; found {value!r}.")
    return float(value)


def require_flag(name: str, value: Any) -> bool:
    """Require True or False.

    >>> require_flag("signed", True)
    True
    """
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name} must be True or False; found {value!r}.")
    return bool(value)


def require_instance(name: str, value: Any, *kinds: type) -> None:
    """Require an instance of one of these classes.

    >>> require_instance("owner", "ShortestPath", str)
    """
    if not isinstance(value, kinds):
        names = " or ".join(kind.__name__ for kind in kinds)
        raise ValueError(f"{name} must be a {names}; found {_kind(value)}.")


def require_items(name: str, value: Any, kind: type, length: int | None = None) -> None:
    """Require a list or tuple of instances of one class.

    >>> require_items("names", ["C", "O"], str, 2)
    """
    if not isinstance(value, list | tuple) or (length is not None and len(value) != length):
        many = "" if length is None else f" of {length} entries"
        raise ValueError(f"{name} must be a list{many}; found {_kind(value)}.")
    for i, item in enumerate(value):
        require_instance(f"{name}[{i}]", item, kind)


def _kind(value: Any) -> str:
    """A short description of a value's type."""
    if isinstance(value, list | tuple):
        return f"a {type(value).__name__} of {len(value)} entries"
    return f"a {type(value).__name__}"
