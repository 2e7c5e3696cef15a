"""Learning from a feature store: a summary of its targets, and linear machines, part by part.

Parts are written independently, so one may contain whole numbers, another real numbers or strings:
`summarize` makes them one target. Several machines learn side by side by stochastic gradient
descent, so that each part is read once per epoch; `linear_model` chooses one of them.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse

from gramlet.common.arrays import Array, Floats, Ints
from gramlet.common.notices import warn_caller
from gramlet.scale.feature_store import FeatureStore

LEARN, CHOICE, TEST = 0, 1, 2  # roles of graphs
_MIXED_PARTS = 8  # parts whose rows are shuffled together: files are often sorted by class
_MOST_HELD_OUT = 20_000  # graphs for the choice, and as many for the test
_SAME_SPLIT = 0x5EED


@dataclass(frozen=True)
class Setting:
    """The setting of a machine: penalty, and whether rows are scaled to length 1."""

    alpha: float
    normalize: bool


@dataclass(frozen=True)
class Scaling:
    """How rows are scaled: each to length 1, or all by one number."""

    normalize: bool
    factor: float

    def __call__(self, X: Any) -> Any:
        if not self.normalize:
            return X * self.factor
        lengths = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).reshape(-1))
        lengths[lengths == 0] = 1.0
        return sparse.csr_matrix(
            (X.data / np.repeat(lengths, np.diff(X.indptr)), X.indices, X.indptr), shape=X.shape
        )


@dataclass(frozen=True)
class Course:
    """The plan of training: store, number of epochs, order of parts, and held-out graphs.

    Attributes
    ----------
    store : FeatureStore
    summary : StoreSummary
    n_epochs : int
    held_out : float
        The share of graphs held out for the choice, and as much for the test.
    class_weight : mapping of code to weight, optional
    seed : int
    advance : callable
        Called after each part.
    """

    store: FeatureStore
    summary: StoreSummary
    n_epochs: int
    held_out: float
    class_weight: Mapping[int, float] | None
    seed: int
    advance: Callable[[], None]

    def scaling(self, normalize: bool) -> Scaling:
        factor = 1.0 / math.sqrt(self.summary.mean_square) if self.summary.mean_square else 1.0
        return Scaling(normalize, 1.0 if normalize else factor)

    def roles(self, number: int, n_rows: int) -> Array:
        """The role of each graph of a part; the same at every call."""
        share = min(self.held_out, _MOST_HELD_OUT / max(1, self.summary.n_graphs))
        drawn = np.random.default_rng([_SAME_SPLIT, self.seed, number]).random(n_rows)
        return np.where(drawn < share, TEST, np.where(drawn < 2 * share, CHOICE, LEARN))

    def train(self, settings: Sequence[Setting], roles: tuple[int, ...]) -> list[Any]:
        """One machine per setting, trained on graphs of these roles; None if the steps diverged."""
        machines = [self._machine(setting) for setting in settings]
        rng = np.random.default_rng(self.seed)
        for _ in range(self.n_epochs):
            order = rng.permutation(self.store.n_parts)
            for begin in range(0, len(order), _MIXED_PARTS):
                X, y = self._rows(order[begin : begin + _MIXED_PARTS], roles)
                if len(y):
                    self._teach(machines, settings, X, y)
        return machines

    def examine(
        self, machines: Sequence[Any], settings: Sequence[Setting], role: int
    ) -> tuple[Array, list[Floats | None]]:
        """The true values of all graphs of a role, and the decision values of each machine."""
        truth: list[Array] = []
        found: list[list[Floats]] = [[] for _ in machines]
        for number in range(self.store.n_parts):
            X, y = self._rows([number], (role,))
            if not len(y):
                continue
            truth.append(y)
            scaled = self._scaled(X, settings)
            for machine, setting, decisions in zip(machines, settings, found, strict=True):
                if machine is not None:
                    coef = np.atleast_2d(machine.coef_)
                    decisions.append(
                        decisions_of(scaled[setting.normalize], coef, machine.intercept_)
                    )
        joined = [np.concatenate(decisions) if decisions else None for decisions in found]
        return np.concatenate(truth) if truth else np.zeros(0), joined

    def _teach(self, machines: list[Any], settings: Sequence[Setting], X: Any, y: Array) -> None:
        scaled = self._scaled(X, settings)
        more = {}
        if self.summary.task == "classification":
            more["classes"] = np.arange(len(self.summary.classes))
        for i, setting in enumerate(settings):
            if machines[i] is None:
                continue
            try:
                machines[i].partial_fit(scaled[setting.normalize], y, **more)
            except ValueError as why:
                if "overflow" not in str(why):
                    raise
                machines[i] = None  # its steps were too large for these rows

    def _scaled(self, X: Any, settings: Sequence[Setting]) -> dict[bool, Any]:
        return {kind: self.scaling(kind)(X) for kind in {each.normalize for each in settings}}

    def _rows(self, numbers: Sequence[int] | Ints, roles: tuple[int, ...]) -> tuple[Any, Array]:
        """The rows of some parts with one of these roles, and their targets."""
        found = list(self._parts(numbers, roles))
        if not found:
            return None, np.zeros(0)
        matrices, targets = zip(*found, strict=True)
        X = matrices[0] if len(matrices) == 1 else sparse.vstack(matrices, format="csr")
        return X, np.concatenate(targets)

    def _parts(
        self, numbers: Sequence[int] | Ints, roles: tuple[int, ...]
    ) -> Iterator[tuple[Any, Array]]:
        for number in numbers:
            _, X, y = self.store.part(int(number))
            self.advance()
            chosen = np.isin(self.roles(int(number), X.shape[0]), roles)
            if y is not None and chosen.any():
                everything = bool(chosen.all())
                target = self.summary.codes(y)
                yield (X, target) if everything else (X[chosen], target[chosen])

    def _machine(self, setting: Setting) -> Any:
        """Averaged stochastic gradient descent; averaging starts after the first epoch."""
        from sklearn.linear_model import SGDClassifier, SGDRegressor

        n = self.summary.n_graphs
        common = {
            "alpha": setting.alpha,
            "average": max(1, n if self.n_epochs > 1 else n // 2),
            "random_state": self.seed,
        }
        if self.summary.task == "classification":
            weights = None if self.class_weight is None else dict(self.class_weight)
            return SGDClassifier(loss="log_loss", class_weight=weights, **common)
        # The largest step at which squared errors cannot grow, decreasing slowly: with averaging
        # this is faster than small steps.
        longest = (
            1.0
            if setting.normalize
            else (self.summary.largest_square * self.scaling(False).factor ** 2)
        )
        return SGDRegressor(eta0=1.0 / max(1.0, longest), power_t=0.1, **common)


def decisions_of(X: Any, coef: Floats, intercept: Floats) -> Floats:
    """X coefᵀ + intercept, row by row: the same numbers for any blocks of rows."""
    columns = [np.asarray(X @ row) + shift for row, shift in zip(coef, intercept, strict=True)]
    return columns[0] if len(columns) == 1 else np.column_stack(columns)


# The targets of a store

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
