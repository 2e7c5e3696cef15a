"""A summary of a feature store: one pass over its targets and the lengths of its rows.

The parts of a store are written independently, so that one may contain whole numbers, another
real numbers or strings; here they become one target. `linear_training` learns from it.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gramlet.common.arrays import Array, Floats, Ints
from gramlet.common.notices import warn_caller
from gramlet.scale.features.feature_store import FeatureStore

__all__ = ["StoreSummary", "summarize"]

MOST_CLASSES = 10_000
_MOST_VALUES = 1_000_000  # distinct values that are counted; more are treated as real numbers
_MANY_GRAPHS = 50  # as in `gramlet.files.target`


@dataclass(frozen=True)
class StoreSummary:
    """The target of a store, and the lengths of its rows.

    Attributes
    ----------
    task : {"classification", "regression"}
    classes : array
        Sorted; empty for a regression.
    members : array of int64
        The number of graphs per class.
    mean, deviation : float
        Of the target of a regression.
    n_graphs : int
    mean_square, largest_square : float
        Of the Euclidean lengths of rows.
    """

    task: str
    classes: Array
    members: Ints
    mean: float
    deviation: float
    n_graphs: int
    mean_square: float
    largest_square: float

    def codes(self, target: Array) -> Any:
        """The target of a part for a machine: codes of classes, or standardised numbers."""
        if self.task == "regression":
            return (target.astype(np.float64) - self.mean) / self.deviation
        if self.classes.dtype.kind == "U" and target.dtype.kind == "f":
            target = target.astype(np.int64)  # whole numbers, as `_word` shows them
        values = target.astype(str) if self.classes.dtype.kind == "U" else target
        return np.searchsorted(self.classes, values)


def summarize(store: FeatureStore, task: str = "auto") -> StoreSummary:
    """Read all targets of a store and summarise them.

    Parameters
    ----------
    store : FeatureStore
    task : {"auto", "classification", "regression"}
        "auto" as in `gramlet.evaluate`.

    Raises
    ------
    ValueError
        If there are no targets, if one is missing or not finite (with part and row), if they do
        not fit the task, or if all are the same.
    """
    found = _Values()
    squares = largest = 0.0
    for number in range(store.n_parts):
        _, X, y = store.part(number)
        if not X.shape[0]:
            continue
        if y is None:
            raise ValueError(
                f"{str(store.path)!r} has no targets (part {number}). Write the store from a file "
                "with a target column; target= (--target) names it."
            )
        found.add(number, y)
        lengths = np.asarray(X.multiply(X).sum(axis=1)).reshape(-1)
        squares += float(lengths.sum())
        largest = max(largest, float(lengths.max()))
    n = found.n
    if n == 0:
        raise ValueError(f"{str(store.path)!r} has no graphs.")
    task = found.task(task)
    if task == "regression":
        mean, deviation = found.moments()
        empty = np.zeros(0, dtype=np.int64)
        return StoreSummary(task, np.zeros(0), empty, mean, deviation, n, squares / n, largest)
    classes, members = found.classes()
    return StoreSummary(task, classes, members, 0.0, 1.0, n, squares / n, largest)


@dataclass
class _Values:
    """Accumulated targets of parts."""

    n: int = 0
    counts: Counter[Any] = field(default_factory=Counter)
    kinds: dict[str, int] = field(default_factory=dict)  # kind of array -> the first part of it
    broken: int | None = None  # the first part with numbers that are not whole
    mean: float = 0.0
    squares: float = 0.0  # sum of squared distances from the mean
    many: bool = False

    def add(self, number: int, target: Array) -> None:
        if target.ndim != 1 or target.dtype.kind not in "biufU":
            raise ValueError(
                f"The target of part {number} has the shape {target.shape} and the type "
                f"{target.dtype}; expected one string, boolean or number per graph."
            )
        self.kinds.setdefault("n" if target.dtype.kind in "iuf" else target.dtype.kind, number)
        self.n += len(target)
        if target.dtype.kind == "f":
            self._check(number, target)
        if target.dtype.kind in "iuf":
            self._add_moments(target.astype(np.float64))
        if not self.many:
            values, counts = np.unique(target, return_counts=True)
            self.counts.update(dict(zip(values.tolist(), counts.tolist(), strict=True)))
            self.many = len(self.counts) > _MOST_VALUES

    def _check(self, number: int, target: Floats) -> None:
        endless = np.flatnonzero(~np.isfinite(target))
        if len(endless):
            raise ValueError(
                f"The target is missing or not finite for {len(endless)} graphs of part {number}, "
                f"the first in row {endless[0]}. Write the store without them "
                '(on_error="skip").'
            )
        if self.broken is None and (target != np.floor(target)).any():
            self.broken = number

    def _add_moments(self, values: Floats) -> None:
        """Mean and squares of both sets together, without cancellation."""
        n, before = len(values), self.n - len(values)
        shift = float(values.mean()) - self.mean
        self.squares += float(((values - values.mean()) ** 2).sum())
        self.squares += shift**2 * before * n / self.n
        self.mean += shift * n / self.n

    def task(self, wanted: str) -> str:
        if wanted not in ("auto", "classification", "regression"):
            raise ValueError(
                f"task must be 'auto', 'classification' or 'regression'; got {wanted!r}."
            )
        words = {kind: part for kind, part in self.kinds.items() if kind != "n"}
        if self.broken is not None and words:
            raise ValueError(
                f"The target is real numbers in part {self.broken} and strings or booleans in "
                f"part {min(words.values())}. Correct the file, or leave such rows out."
            )
        if wanted == "auto":
            return self._inferred(bool(words))
        if wanted == "regression" and words:
            raise ValueError(
                f"task='regression' needs numbers; the target of part {min(words.values())} is "
                "strings or booleans. Use task='classification'."
            )
        if wanted == "classification" and self.broken is not None:
            raise ValueError(
                "task='classification' needs classes; the target has numbers that are not whole "
                f"(part {self.broken}). Use task='regression'."
            )
        return wanted

    def _inferred(self, words: bool) -> str:
        if words:
            return "classification"
        if self.broken is not None:
            return "regression"
        if not self.many and (self.n < _MANY_GRAPHS or 5 * len(self.counts) <= self.n):
            return "classification"
        warn_caller(
            f"The target has {len(self.counts)}{' or more' * self.many} distinct whole numbers for "
            f'{self.n} graphs and is treated as real; task="classification" treats them as '
            "classes."
        )
        return "regression"

    def moments(self) -> tuple[float, float]:
        if self.squares == 0.0:
            raise ValueError(
                f"The target is {self.mean:g} for all {self.n} graphs: there is nothing to learn."
            )
        return self.mean, float(np.sqrt(self.squares / self.n))

    def classes(self) -> tuple[Array, Ints]:
        counts = self.counts
        if len(self.kinds) > 1:  # whole numbers and strings: all are strings, as in the file
            counts = Counter()
            for value, count in self.counts.items():
                counts[_word(value)] += count
        if len(counts) > MOST_CLASSES:
            raise ValueError(
                f"The target has more than {MOST_CLASSES:,} classes. Use task='regression' for "
                "numbers; strings that differ for nearly every graph are not classes."
            )
        names = sorted(counts)
        if len(names) < 2:
            raise ValueError(
                f"The target is {names[0]!r} for all {self.n} graphs: a classifier needs at least "
                "two classes."
            )
        return np.array(names), np.array([counts[name] for name in names], dtype=np.int64)


def _word(value: Any) -> str:
    return str(int(value)) if isinstance(value, float) else str(value)
