"""How the state of a class of scikit-learn is described and checked.

A `Schema` lists the attributes that instances of one class of scikit-learn have besides their
parameters. Each is described by a `Field`; extents of arrays are given by name, and a name stands
for one number within an object: ``floats("k", "p")`` for coefficients and ``count("p")`` for
the number of features require that both have the same p.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse

from gramlet.common.checks import is_integer
from gramlet.common.stored_state import LARGEST, require_array, require_integer, require_real

__all__ = [
    "Dims",
    "Field",
    "Schema",
    "arrays",
    "count",
    "csr",
    "either",
    "exactly",
    "flag",
    "floats",
    "instance",
    "ints",
    "labels",
    "list_of",
    "nothing",
    "one_of",
    "optional",
    "plain",
    "real",
    "require_plain",
]

Dims = dict[str, int]
_NESTED = 40


@dataclass(frozen=True)
class Field:
    """The check of one attribute; it may bind names of extents in the `Dims` it is given."""

    check: Callable[[str, Any, Dims], None]
    required: bool = True


@dataclass(frozen=True)
class Schema:
    """The state of instances of a class.

    Attributes
    ----------
    fitted : mapping of str to Field
        Attributes that `fit` adds. An instance has all required ones, or none of them.
    always : mapping of str to Field
        Attributes that every instance has besides its parameters.
    check : callable, optional
        Checks conditions between attributes; called on fitted instances.
    trial : bool
        Whether a fitted instance is tried on one row of zeros.
    left_out : frozenset of str
        Attributes that instances may have but do not need; they are not stored.
    """

    fitted: Mapping[str, Field] = field(default_factory=dict)
    always: Mapping[str, Field] = field(default_factory=dict)
    check: Callable[[Any, Dims], None] | None = None
    trial: bool = True
    left_out: frozenset[str] = frozenset()


def optional(inner: Field) -> Field:
    """A field that may be missing."""
    return Field(inner.check, required=False)


# Single values


def count(name: str | None = None, least: int = 0) -> Field:
    """A whole number; with a name, an extent."""

    def check(place: str, value: Any, dims: Dims) -> None:
        number = require_integer(place, value, least)
        if name is not None:
            _bind(place, name, number, dims)

    return Field(check)


def real(least: float = -LARGEST, most: float = LARGEST) -> Field:
    """A finite number."""

    def check(place: str, value: Any, dims: Dims) -> None:
        require_real(place, value, least, most)

    return Field(check)


def flag() -> Field:
    """True or False."""
    return one_of(True, False)


def nothing() -> Field:
    """None."""
    return exactly(None)


def exactly(wanted: Any) -> Field:
    """One value."""
    return one_of(wanted)


def one_of(*options: Any) -> Field:
    """One of some plain values, of the same type."""

    def check(place: str, value: Any, dims: Dims) -> None:
        if not any(type(value) is type(option) and value == option for option in options):
            raise ValueError(f"{place} must be one of {list(options)}; found {_short(value)}.")

    return Field(check)


def plain() -> Field:
    """Numbers, text, arrays and collections of them, which no code relies on."""
    return Field(lambda place, value, dims: require_plain(place, value))


def require_plain(place: str, value: Any, depth: int = 0) -> None:
    """Require a value made of numbers, text, arrays without objects, and collections of them."""
    if depth > _NESTED:
        raise ValueError(f"{place} is nested too deeply.")
    if value is None or isinstance(value, bool | int | float | str | np.generic):
        return
    if isinstance(value, np.ndarray) and value.dtype != object:
        return
    if isinstance(value, dict):
        items = [*value.keys(), *value.values()]
    elif isinstance(value, list | tuple | set | frozenset):
        items = list(value)
    elif isinstance(value, np.ndarray):
        items = value.ravel().tolist()
    else:
        raise ValueError(f"{place} must be numbers or text; found {_short(value)}.")
    for item in items:
        require_plain(place, item, depth + 1)


# Arrays


def arrays(
    dtype: str, *shape: str | int | None, least: float | None = None, most: float | None = None
) -> Field:
    """An array of one type; extents are numbers, names, or None for any."""

    def check(place: str, value: Any, dims: Dims) -> None:
        require_array(place, value, dtype, (None,) * len(shape), least=least, most=most)
        for extent, there in zip(shape, value.shape, strict=True):
            if isinstance(extent, str):
                _bind(place, extent, there, dims)
            elif extent is not None and extent != there:
                raise ValueError(f"{place} must have the shape {shape}; found {value.shape}.")

    return Field(check)


def floats(
    *shape: str | int | None, least: float | None = None, most: float | None = None
) -> Field:
    """An array of finite double precision numbers."""
    return arrays("float64", *shape, least=least, most=most)


def ints(*shape: str | int | None, least: int = 0, most: int | None = None) -> Field:
    """An array of int64 or int32, none below ``least``."""
    return either(
        arrays("int64", *shape, least=least, most=most),
        arrays("int32", *shape, least=least, most=most),
    )


def labels(size: str | None = None) -> Field:
    """Classes, names or the like: a list of numbers or text."""

    def check(place: str, value: Any, dims: Dims) -> None:
        if type(value) is not np.ndarray or value.ndim != 1 or value.dtype.kind not in "biufUSO":
            raise ValueError(f"{place} must be a list of labels; found {_short(value)}.")
        if value.dtype.kind == "f" and not np.isfinite(value).all():
            raise ValueError(f"{place} contains numbers that are not finite.")
        if value.dtype == object and not all(type(x) in (str, int, float, bool) for x in value):
            raise ValueError(f"{place} contains labels that are neither numbers nor text.")
        if len(np.unique(value)) < len(value):
            raise ValueError(f"{place} contains a label twice.")
        if size is not None:
            _bind(place, size, len(value), dims)

    return Field(check)


def csr(rows: str, columns: str, *indices: str) -> Field:
    """A sparse matrix of finite numbers in rows, with indices of these types (32 bits)."""

    def check(place: str, value: Any, dims: Dims) -> None:
        if type(value) not in (sparse.csr_matrix, sparse.csr_array):
            raise ValueError(f"{place} must be a csr matrix; found {_short(value)}.")
        require_array(place, value.data, "float64", (None,))
        if {str(value.indices.dtype), str(value.indptr.dtype)} - set(indices or ("int32",)):
            raise ValueError(f"{place} has indices of type {value.indices.dtype}.")
        value.check_format(full_check=True)
        for extent, there in zip((rows, columns), value.shape, strict=True):
            _bind(place, extent, there, dims)

    return Field(check)


# Composed


def either(*fields: Field) -> Field:
    """What one of some fields accepts; the first that does binds its names."""

    def check(place: str, value: Any, dims: Dims) -> None:
        errors = []
        for inner in fields:
            attempt = dict(dims)
            try:
                inner.check(place, value, attempt)
            except ValueError as error:
                errors.append(str(error))
            else:
                dims.update(attempt)
                return
        raise ValueError(" Or: ".join(dict.fromkeys(errors)))

    return Field(check)


def list_of(inner: Field, size: str | None = None, kind: type = list) -> Field:
    """A list (or tuple) of values that one field accepts."""

    def check(place: str, value: Any, dims: Dims) -> None:
        if type(value) is not kind or not isinstance(value, list | tuple):
            raise ValueError(f"{place} must be a {kind.__name__}; found {_short(value)}.")
        for i, item in enumerate(value):
            inner.check(f"{place}[{i}]", item, dims)
        if size is not None:
            _bind(place, size, len(value), dims)

    return Field(check)


def instance(*names: str) -> Field:
    """An instance of a class of one of these names, which has been checked by itself."""

    def check(place: str, value: Any, dims: Dims) -> None:
        if not any(kind.__name__ in names for kind in type(value).__mro__):
            raise ValueError(f"{place} must be a {' or '.join(names)}; found {_short(value)}.")

    return Field(check)


def _bind(place: str, name: str, number: int, dims: Dims) -> None:
    """Bind a name to a number, or compare with the number it is bound to."""
    # "k-1" and the like refer to a number that must be bound already.
    match = re.fullmatch(r"([a-z_]+)([+-])([0-9]+)", name)
    if match:
        if match[1] not in dims:
            raise ValueError(f"{place} exists without the attribute that gives its shape.")
        shift = int(match[3]) if match[2] == "+" else -int(match[3])
        known = dims[match[1]] + shift
    else:
        known = dims.setdefault(name, number)
    if known != number:
        raise ValueError(f"{place} must have an extent of {known}; found {number}.")


def _short(value: Any) -> str:
    if is_integer(value) or isinstance(value, str | float | bool) or value is None:
        text = repr(value)
        return text if len(text) <= 60 else f"{text[:57]}…"
    return f"a {type(value).__name__}"
