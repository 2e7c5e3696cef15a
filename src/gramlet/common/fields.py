"""What instances of a class keep in files, declared once and checked by one function.

A class whose instances are part of fitted models has a class attribute ``stored``: one `Field` per
attribute. Extents of arrays are numbers, symbols, or None for any; a symbol stands for one number
within an object, "n+1" for one more. Integers of the object, parameters too, are symbols under
their own names. Ranges may refer to symbols of fields that are declared before.

>>> class Rows:
...     stored = fields(rows=ArrayOf("float64", "n", "d"), best=Integer(0, below="n"))
...     def __init__(self, rows, best):
...         self.rows, self.best = rows, best
>>> check(Rows(np.ones((3, 2)), 2))
>>> check(Rows(np.ones((3, 2)), 3))
Traceback (most recent call last):
...
ValueError: best must be a whole number from 0 to 2; found 3.

Declarations of base classes apply to derived ones, which may replace them. A method ``validate``
checks what fields cannot express; it is called after all fields are checked.
"""

from __future__ import annotations

import copyreg
import dataclasses
import inspect
import types
from collections.abc import Mapping
from functools import cache, cached_property
from typing import Any

import numpy as np

from gramlet.common import arrays
from gramlet.common.checks import is_integer
from gramlet.common.stored_state import LARGEST, LARGEST_COUNT, require, require_instance

Extent = int | str | None
Sizes = dict[str, int]

# More threads or processes than any machine has.
_MOST_JOBS = 4096
# The attribute that scikit-learn's `set_output` adds.
_OUTPUT = "_sklearn_output_config"
_DEEPEST = 40


class Field:
    """What one attribute must be; ``required`` is False if it may be missing."""

    required = True

    def check(self, name: str, value: Any, sizes: Sizes) -> None:
        """Raise ValueError if the value is wrong; give numbers to symbols that have none yet."""
        raise NotImplementedError


class ArrayOf(Field):
    """An array of one type; entries are finite, at least ``least``, at most ``most``.

    With ``below``, a symbol or number, entries are indices from 0 to below it.
    """

    def __init__(
        self,
        dtype: str,
        *shape: Extent,
        least: float | None = None,
        most: float | None = None,
        below: Extent = None,
    ) -> None:
        self.dtype, self.shape = dtype, shape
        self.least, self.most, self.below = least, most, below

    def check(self, name: str, value: Any, sizes: Sizes) -> None:
        kind = np.dtype(self.dtype)
        if type(value) is not np.ndarray or value.dtype != kind or value.ndim != len(self.shape):
            raise ValueError(
                f"{name} must be an array of {kind} with {len(self.shape)} axes; found "
                f"{_short(value)}."
            )
        for axis, extent in enumerate(self.shape):
            bind(f"axis {axis} of {name}", extent, value.shape[axis], sizes)
        least, most = self.least, self.most
        if self.below is not None:
            least, most = 0, _number(self.below, sizes) - 1
        if kind.kind in "fc":
            require(np.isfinite(value).all(), f"{name} contains numbers that are not finite.")
            large = np.abs(value).max(initial=0.0) > LARGEST and (most or 0) <= LARGEST
            require(not large, f"{name} contains numbers beyond {LARGEST:g}.")
        for limit, wrong in ((least, np.less), (most, np.greater)):
            outside = value[wrong(value, limit)] if limit is not None else value[:0]
            if outside.size:
                low, high = ("any" if end is None else end for end in (least, most))
                raise ValueError(
                    f"{name} must lie between {low} and {high}; found {outside.flat[0]}."
                )


class Offsets(Field):
    """Where ``n`` consecutive parts begin and end: int64, from 0, not decreasing, up to ``end``."""

    def __init__(self, n: Extent = None, end: Extent = None) -> None:
        self.n, self.end = n, end

    def check(self, name: str, value: Any, sizes: Sizes) -> None:
        ArrayOf("int64", None, least=0).check(name, value, sizes)
        rising = len(value) > 0 and value[0] == 0 and (value[1:] >= value[:-1]).all()
        require(rising, f"{name} must begin with 0 and not decrease.")
        bind(f"the number of parts of {name}", self.n, len(value) - 1, sizes)
        bind(f"the end of {name}", self.end, int(value[-1]), sizes)


class Counts(Field):
    """A csr_matrix of finite numbers with valid indices, not negative unless ``signed``."""

    def __init__(self, n: Extent = None, d: Extent = None, *, signed: bool = False) -> None:
        self.shape, self.least = (n, d), None if signed else 0.0

    def check(self, name: str, value: Any, sizes: Sizes) -> None:
        from scipy import sparse

        require_instance(name, value, sparse.csr_matrix, sparse.csr_array)
        ArrayOf("float64", None, least=self.least).check(f"{name}.data", value.data, sizes)
        indptr = value.indptr
        if (np.diff(indptr) < 0).any() or indptr[-1] != len(value.indices):
            raise ValueError(f"the offsets of {name} must increase to the number of entries.")
        value.check_format(full_check=True)
        for extent, size, what in zip(self.shape, value.shape, ("rows", "columns"), strict=True):
            bind(f"the number of {what} of {name}", extent, size, sizes)


class Classes(Field):
    """The distinct classes of a target: a list of numbers or text."""

    def __init__(self, n: Extent = None) -> None:
        self.n = n

    def check(self, name: str, value: Any, sizes: Sizes) -> None:
        if type(value) is not np.ndarray or value.ndim != 1 or value.dtype.kind not in "biufUSO":
            raise ValueError(f"{name} must be a list of classes; found {_short(value)}.")
        if value.dtype == object and not all(type(x) in (str, int, float, bool) for x in value):
            raise ValueError(f"{name} contains classes that are neither numbers nor text.")
        if (value != value).any() or len(np.unique(value)) < len(value):
            raise ValueError(f"{name} contains a class twice, or NaN.")
        bind(f"the length of {name}", self.n, len(value), sizes)


class Integer(Field):
    """A whole number in a range; other fields refer to it by its name, or by ``size``."""

    def __init__(
        self,
        least: int = 0,
        most: int | str = LARGEST_COUNT,
        *,
        below: Extent = None,
        size: Extent = None,
    ) -> None:
        self.least, self.most, self.below, self.size = least, most, below, size

    def check(self, name: str, value: Any, sizes: Sizes) -> None:
        most = _number(self.most, sizes)
        if self.below is not None:
            most = _number(self.below, sizes) - 1
        if not is_integer(value) or not self.least <= value <= most:
            raise ValueError(
                f"{name} must be a whole number from {self.least} to {most}; found {_short(value)}."
            )
        if value >= 0:
            bind(name, self.size or name, value, sizes)


class Number(Field):
    """A finite number in a range."""

    def __init__(self, least: float = -LARGEST, most: float = LARGEST) -> None:
        self.least, self.most = least, most

    def check(self, name: str, value: Any, sizes: Sizes) -> None:
        plain = isinstance(value, int | float | np.integer | np.floating)
        if not plain or isinstance(value, bool) or not self.least <= value <= self.most:
            raise ValueError(
                f"{name} must be a number from {self.least:g} to {self.most:g}; found "
                f"{_short(value)}."
            )


class Flag(Field):
    """True or False."""

    def check(self, name: str, value: Any, sizes: Sizes) -> None:
        flag = isinstance(value, bool | np.bool_)
        require(flag, f"{name} must be True or False; found {_short(value)}.")


class Choice(Field):
    """One of some plain values."""

    def __init__(self, *options: Any) -> None:
        self.options = options

    def check(self, name: str, value: Any, sizes: Sizes) -> None:
        if not any(type(value) is type(option) and value == option for option in self.options):
            options = " or ".join(map(repr, self.options))
            raise ValueError(f"{name} must be {options}; found {_short(value)}.")


class Plain(Field):
    """Numbers, text, None, arrays of numbers or text, and collections of these.

    ``Plain(BaseEstimator)`` may also contain instances of this class, which have fields themselves.
    """

    def __init__(self, *kinds: type) -> None:
        self.kinds = kinds

    def check(self, name: str, value: Any, sizes: Sizes) -> None:
        _require_plain(name, value, 0, self.kinds)


class Labels(Field):
    """A tuple of ``n`` distinct labels, each equal to itself."""

    def __init__(self, n: Extent = None) -> None:
        self.n = n

    def check(self, name: str, value: Any, sizes: Sizes) -> None:
        require(type(value) is tuple, f"{name} must be a tuple; found {_short(value)}.")
        _require_plain(name, value, 0)
        if any(label != label for label in value):
            raise ValueError(
                f"{name} contains NaN, which is not a label: it is not equal to itself."
            )
        require(len(set(value)) == len(value), f"{name} must not contain a label twice.")
        bind(f"the length of {name}", self.n, len(value), sizes)


class Instance(Field):
    """An instance of one of these classes; ``len`` and its other attributes are extents.

    Classes that are defined later are given by their names.
    ``Instance(Profile, len="n")`` has as many entries as other fields of extent n;
    ``Instance(Covariances, order="d")`` has an attribute ``order`` of this size.
    """

    def __init__(self, *kinds: type | str, **sizes: Extent) -> None:
        self.kinds, self.sizes = kinds, sizes
        self.names = [kind if isinstance(kind, str) else kind.__name__ for kind in kinds]

    def check(self, name: str, value: Any, sizes: Sizes) -> None:
        if not {*type(value).__mro__, *(base.__name__ for base in type(value).__mro__)} & {
            *self.kinds
        }:
            names = " or ".join(self.names)
            raise ValueError(f"{name} must be a {names}; found {_short(value)}.")
        for attribute, extent in self.sizes.items():
            size = len(value) if attribute == "len" else getattr(value, attribute, None)
            what = "the length" if attribute == "len" else attribute
            bind(f"{what} of {name}", extent, size, sizes)


def Text() -> Field:
    """A text."""
    return Instance(str)


class ListOf(Field):
    """A list of ``n`` values that one field describes."""

    kind: Any = list

    def __init__(self, item: Field, n: Extent = None, *, least: int = 0) -> None:
        self.item, self.n, self.least = item, n, least

    def check(self, name: str, value: Any, sizes: Sizes) -> None:
        if type(value) is not self.kind or len(value) < self.least:
            many = f" of {self.least} entries or more" if self.least else ""
            raise ValueError(f"{name} must be a {self.kind.__name__}{many}; found {_short(value)}.")
        bind(f"the length of {name}", self.n, len(value), sizes)
        for i in range(len(value)):
            self.item.check(f"{name}[{i}]", value[i], sizes)


class TupleOf(ListOf):
    """A tuple of ``n`` values that one field describes."""

    kind = tuple


class Tuple(Field):
    """A tuple of values of different kinds, one field each."""

    def __init__(self, *items: Field) -> None:
        self.items = items

    def check(self, name: str, value: Any, sizes: Sizes) -> None:
        if type(value) is not tuple or len(value) != len(self.items):
            raise ValueError(
                f"{name} must be a tuple of {len(self.items)} entries; found {_short(value)}."
            )
        for i, (field, item) in enumerate(zip(self.items, value, strict=True)):
            field.check(f"{name}[{i}]", item, sizes)


class Optional(Field):
    """None, or what a field describes."""

    def __init__(self, inner: Field) -> None:
        self.inner = inner

    def check(self, name: str, value: Any, sizes: Sizes) -> None:
        if value is not None:
            self.inner.check(name, value, sizes)


class Sometimes(Optional):
    """An attribute that only some instances have."""

    required = False


class Either(Field):
    """What one of some fields describes; the first that accepts the value gives the sizes."""

    def __init__(self, *options: Field) -> None:
        self.options = options

    def check(self, name: str, value: Any, sizes: Sizes) -> None:
        errors: dict[str, None] = {}
        for option in self.options:
            attempt = dict(sizes)
            try:
                option.check(name, value, attempt)
            except ValueError as error:
                errors[str(error)] = None
            else:
                sizes.update(attempt)
                return
        raise ValueError(" Or: ".join(errors))


# Declarations of classes, and checks of instances


def fields(**declared: Field) -> Mapping[str, Field]:
    """The value of a class attribute ``stored``."""
    return types.MappingProxyType(declared)


@cache
def declared_fields(cls: type) -> Mapping[str, Field] | None:
    """The fields of a class and its bases, or None if none of them declares any.

    Of dataclasses and named tuples, fields annotated as bool, int, float, str or a class need no
    declaration.
    """
    bases = [base for base in reversed(cls.__mro__) if "stored" in vars(base)]
    merged: dict[str, Field] = {}
    for base in bases:
        merged.update(vars(base)["stored"])
    if dataclasses.is_dataclass(cls) or hasattr(cls, "_fields"):
        for base in bases:
            for name, annotation in inspect.get_annotations(base).items():
                field = _annotated(annotation)
                if field is not None and name not in merged:
                    merged[name] = field
    return merged if bases else None


def _annotated(annotation: Any) -> Field | None:
    """The field that an annotation describes by itself."""
    text: str = getattr(annotation, "__forward_arg__", annotation)
    kind, _, none = text.partition(" | ")
    simple: dict[str, Field] = {
        "bool": Flag(),
        "int": Integer(),
        "float": Number(),
        "str": Text(),
    }
    if none not in ("", "None") or not kind.isidentifier() or kind in vars(arrays):
        return None
    field = simple.get(kind, Instance(kind))
    return Optional(field) if none else field


def state_of(value: Any) -> dict[str, Any]:
    """The attributes of an instance that are stored: all but cached properties.

    A class of gramlet whose attributes are not what is stored has ``__getstate__`` and
    ``__setstate__`` for a dict of its declared fields.
    """
    cls = type(value)
    if has_own_state(cls):
        return dict(value.__getstate__())
    state = dict(getattr(value, "__dict__", {}))
    slots = (*copyreg._slotnames(cls), *getattr(cls, "_fields", ()))  # type: ignore[attr-defined]
    state.update({name: getattr(value, name) for name in slots if hasattr(value, name)})
    return {
        name: item
        for name, item in state.items()
        if not isinstance(inspect.getattr_static(cls, name, None), cached_property)
    }


def has_own_state(cls: type) -> bool:
    """Whether a class of gramlet defines ``__setstate__``."""
    home = next((base for base in cls.__mro__ if "__setstate__" in vars(base)), object)
    return home.__module__.startswith("gramlet.")


def check(value: Any) -> None:
    """Raise ValueError unless an instance is as its class declares; its parts are not checked."""
    check_state(type(value), state_of(value))
    check_whole(value)


def check_state(
    cls: type, state: Mapping[str, Any], declared: Mapping[str, Field] | None = None
) -> None:
    """Check names and fields of the state of an instance, which need not exist yet.

    ``declared``: the fields of a class that is not gramlet's.
    """
    declared = declared_fields(cls) if declared is None else declared
    if declared is None:
        return
    name = cls.__name__
    is_estimator = hasattr(cls, "_get_param_names")
    parameters: list[str] = getattr(cls, "_get_param_names", list)()
    unknown = sorted(set(state) - {*declared, *parameters, _OUTPUT})
    if unknown:
        raise ValueError(f"{name} has no attributes {unknown}.")
    required = {key for key, field in declared.items() if field.required}
    if is_estimator and not any(key.endswith("_") for key in state):  # not fitted
        required = {key for key in required if "_" not in (key[0], key[-1])}
    missing = sorted({*parameters, *required} - set(state))
    if missing:
        raise ValueError(f"{name} lacks {missing}.")
    sizes: Sizes = {key: int(state[key]) for key in parameters if is_integer(state[key])}
    for key, field in declared.items():
        if key in state:
            field.check(key, state[key], sizes)


def check_whole(value: Any) -> None:
    """Check parameters of an estimator, then what its class checks besides its fields."""
    attributes = getattr(value, "__dict__", {})
    is_estimator = hasattr(value, "_get_param_names")
    if is_estimator:
        # Imported here: graphs need neither scikit-learn nor scipy.
        from gramlet.common.parameters import require_parameters

        require_parameters(value)
        n_jobs = attributes.get("n_jobs")
        Optional(Integer(-_MOST_JOBS, _MOST_JOBS)).check("n_jobs", n_jobs, {})
        require(n_jobs is None or n_jobs != 0, "n_jobs must not be 0.")
        outputs = [{"transform": kind} for kind in ("default", "pandas", "polars")]
        require(attributes.get(_OUTPUT, outputs[0]) in outputs, "set_output has an unknown value.")
    if hasattr(value, "validate") and (
        not is_estimator or any(name.endswith("_") for name in attributes)
    ):
        value.validate()


def bind(name: str, extent: Extent, size: Any, sizes: Sizes) -> None:
    """Require that an extent has this size; a symbol without a number gets it.

    >>> sizes = {}
    >>> bind("offsets", "n+1", 4, sizes)
    >>> sizes
    {'n': 3}
    """
    if extent is None:
        return
    if not is_integer(size) or size < 0:
        raise ValueError(f"{name} must be a whole number; found {_short(size)}.")
    expected: int = extent if isinstance(extent, int) else 0
    if isinstance(extent, str):
        symbol, _, shift = extent.partition("+")
        expected = sizes.setdefault(symbol, int(size) - int(shift or 0)) + int(shift or 0)
    if expected != size or size < 0:
        raise ValueError(f"{name} must be {expected}; found {size}.")


def _number(bound: int | str | None, sizes: Sizes) -> int:
    """The number that a bound stands for."""
    if isinstance(bound, str):
        symbol, _, shift = bound.partition("+")
        return sizes[symbol] + int(shift or 0)
    return 0 if bound is None else bound


def _require_plain(name: str, value: Any, depth: int, kinds: tuple[type, ...] = ()) -> None:
    require(depth <= _DEEPEST, f"{name} is nested too deeply.")
    if value is None or isinstance(value, bool | int | float | complex | str | bytes | np.generic):
        return
    if kinds and isinstance(value, kinds):
        return
    if isinstance(value, dict):
        items = [*value, *value.values()]
    elif isinstance(value, list | tuple | set | frozenset):
        items = list(value)
    elif isinstance(value, np.ndarray):
        items = value.ravel().tolist() if value.dtype == object else []
    else:
        raise ValueError(f"{name} must be numbers or text; found {_short(value)}.")
    for item in items:
        _require_plain(name, item, depth + 1, kinds)


def _short(value: Any) -> str:
    """A short description of a value."""
    if value is None or isinstance(value, bool | int | float | str | np.generic):
        text = repr(value)
        return text if len(text) <= 60 else f"{text[:57]}…"
    if isinstance(value, list | tuple):
        return f"a {type(value).__name__} of {len(value)} entries"
    if isinstance(value, np.ndarray):
        return f"an array of {value.dtype} of shape {value.shape}"
    return f"a {type(value).__name__}"
