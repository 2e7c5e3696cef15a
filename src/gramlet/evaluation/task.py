"""The target: whether it has classes or numbers, its checks, and leaving out small classes.

`splits` makes folds; `scorers` scores predictions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gramlet.common.arrays import Array, Floats, Ints
from gramlet.common.checks import require_count
from gramlet.common.notices import warn_caller
from gramlet.files.target import Task, as_values, infer_task

_LARGEST = 1e150
_SHOWN = 10  # positions listed in a message
_BEYOND = (
    "beyond 64 bits, which would not be told apart. If they are classes, give them as strings; if "
    "they are numbers to predict, as floating-point numbers with task='regression'."
)


@dataclass(frozen=True, eq=False)
class Target:
    """One value per graph, ready for machines.

    Attributes
    ----------
    task : {"classification", "regression"}
    values : array
        Codes of the classes (int64), or the numbers (float64), of the graphs that are used.
    classes : array
        The classes in sorted order; empty for a regression.
    plain : array
        The target of all graphs as it was given.
    kept : array of int64
        Positions of the graphs that are used, ascending.
    names : mapping
        Names of classes that differ from their value.
    """

    task: Task
    values: Array
    classes: Array
    plain: Array
    kept: Ints
    names: Mapping[Any, str] = field(default_factory=dict)

    @property
    def n_classes(self) -> int:
        return len(self.classes)

    @property
    def named(self) -> Array:
        """The target of the graphs that are used, for supervised kernels."""
        return self.classes[self.values] if self.task == "classification" else self.values

    @property
    def shown_classes(self) -> Array:
        """The classes in messages: by their names, if they have some."""
        return _shown(self.classes, self.names)

    def members(self) -> Ints:
        """The number of graphs per class."""
        return np.bincount(self.values, minlength=self.n_classes)


def target_of(
    y: Any,
    n_graphs: int | None,
    task: str = "auto",
    min_class_size: int | None = None,
    names: Mapping[Any, str] | None = None,
    constant: bool = False,
) -> Target:
    """Check a target and find its task.

    Parameters
    ----------
    y : array-like or Target
        One value per graph, matched by position; a target that was checked stays as it is.
    n_graphs : int or None
        None if there are as many graphs as values.
    task : {"auto", "classification", "regression"}
    min_class_size : int, optional
        Classes with fewer graphs are left out, with a warning that counts them.
    names : mapping, optional
        Names of classes, for messages.
    constant : bool
        Whether the same number for all graphs is allowed.

    Raises
    ------
    ValueError
        If a value is missing or not finite (with the positions), if the values do not fit the task,
        if there is one class only, or if all numbers are the same.
    """
    if isinstance(y, Target):
        return y
    if task not in ("auto", "classification", "regression"):
        raise ValueError(f"task must be 'auto', 'classification' or 'regression'; got {task!r}.")
    values = as_values(y)
    expected = len(values) if n_graphs is None and values.ndim else n_graphs
    if values.ndim != 1 or len(values) != expected:
        raise ValueError(
            f"y must have one value per graph: got shape {values.shape} for {expected} graphs."
        )
    _refuse_missing(values)
    values = _plain(values)
    if task == "auto":
        task = infer_task(values, warn=True)
    if task == "regression":
        return _numbers(values, min_class_size, constant)
    return _classes(values, min_class_size, names or {})


def _refuse_missing(values: Array) -> None:
    missing = [i for i, value in enumerate(values.tolist()) if _is_missing(value)]
    if missing:
        shown = ", ".join(map(str, missing[:_SHOWN])) + ", ..." * (len(missing) > _SHOWN)
        raise ValueError(
            f"y has no usable value (missing, NaN or infinite) for {len(missing)} of "
            f"{len(values)} graphs, at position{'s' * (len(missing) > 1)} {shown}. Leave these "
            "graphs out."
        )


def _is_missing(value: Any) -> bool:
    if value is None:
        return True
    try:
        return bool(value != value) or value in (float("inf"), float("-inf"))
    except TypeError:  # pandas.NA has no truth value
        return True


def _plain(values: Array) -> Array:
    """Objects as an array of strings or numbers, if they are all of one kind."""
    if values.dtype != object:
        if values.dtype.kind not in "biufU":
            raise ValueError(
                f"y must contain strings, booleans or numbers; its dtype is {values.dtype}."
            )
        return values
    items = values.tolist()
    kinds = {_kind(value) for value in items}
    plain = np.array(items)
    if len(kinds) > 1 or plain.ndim != 1 or plain.dtype.kind not in "biufU":
        if kinds == {"number"} and plain.ndim == 1:
            raise ValueError(f"y contains whole numbers {_BEYOND}")
        names = sorted({type(value).__name__ for value in items})
        raise ValueError(
            f"y must contain values of one type, strings or numbers; got {', '.join(names)}."
        )
    return plain


def _kind(value: Any) -> str:
    if isinstance(value, bool | np.bool_):
        return "boolean"
    return "number" if isinstance(value, int | float | np.number) else type(value).__name__


def _numbers(values: Array, min_class_size: int | None, constant: bool) -> Target:
    if values.dtype.kind not in "iuf":
        kind = "booleans" if values.dtype.kind == "b" else "strings"
        raise ValueError(
            f"task='regression' needs numbers; y contains {kind}. Use "
            "task='classification', or GraphClassifier."
        )
    if min_class_size is not None:
        raise ValueError("min_class_size is for classes; this is a regression. Leave it out.")
    numbers: Floats = values.astype(np.float64)
    largest = np.abs(numbers).max(initial=0.0)
    if largest > _LARGEST:
        raise ValueError(
            f"y contains a number of size {largest:g}; squares of numbers above {_LARGEST:g} are "
            "not finite. Divide y by a constant."
        )
    if len(numbers) and numbers.min() == numbers.max() and not constant:
        raise ValueError(
            f"y is {numbers[0]:g} for all {len(numbers)} graphs: there is nothing to predict."
        )
    everything = np.arange(len(values), dtype=np.int64)
    return Target("regression", numbers, np.zeros(0), values, everything)


def _shown(classes: Array, names: Mapping[Any, str]) -> Array:
    """Names in place of classes; classes without one stay as they are."""
    if not names:
        return classes
    return np.array([str(names.get(value, value)) for value in classes.tolist()])


def _classes(values: Array, min_class_size: int | None, names: Mapping[Any, str]) -> Target:
    if values.dtype.kind == "f":
        broken = np.flatnonzero(values != np.floor(values))
        if len(broken):
            raise ValueError(
                f"task='classification' needs classes; y contains numbers that are not whole, e.g. "
                f"{values[broken[0]].item()!r} at position {broken[0]}. Use "
                "task='regression', or GraphRegressor."
            )
        if len(values) and np.abs(values).max() >= 2.0**63:
            raise ValueError(f"y contains the number {np.abs(values).max():g}, {_BEYOND}")
    kept = np.arange(len(values), dtype=np.int64)
    if min_class_size is not None:
        kept = _large_enough(values, require_count("min_class_size", min_class_size, 1), names)
    classes, codes = np.unique(values[kept], return_inverse=True)
    if len(classes) < 2:
        number = f"{len(classes)} class{'es' * (len(classes) != 1)}"
        shown = ", ".join(repr(c.item()) for c in _shown(classes, names))
        left = f" left by min_class_size={min_class_size}" if len(kept) < len(values) else ""
        raise ValueError(
            f"y has {number}{left}{f' ({shown})' if shown else ''}; a classifier needs at least "
            "two."
        )
    codes = codes.reshape(-1).astype(np.int64)
    return Target("classification", codes, classes, values, kept, names)


def _large_enough(values: Array, least: int, names: Mapping[Any, str]) -> Ints:
    classes, codes, counts = np.unique(values, return_inverse=True, return_counts=True)
    small = counts < least
    kept = np.flatnonzero(~small[codes.reshape(-1)])
    if small.any():
        warn_caller(
            f"min_class_size={least} leaves out {len(values) - len(kept)} of {len(values)} graphs, "
            "those of the classes "
            f"{', '.join(repr(c.item()) for c in _shown(classes[small], names))}."
        )
    return kept.astype(np.int64)
