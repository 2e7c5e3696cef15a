"""Learning from a feature store: a summary of it, and linear machines, part by part.

Several machines learn side by side by stochastic gradient descent, so that each part is read once
per epoch; `linear_model` chooses one of them. Only the target is in memory as a whole.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from gramlet.common.arrays import Array, Floats, Ints
from gramlet.evaluation.task import Target, target_of
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
        values: list[list[Floats]] = [[] for _ in machines]
        for number in range(self.store.n_parts):
            X, y = self._rows([number], (role,))
            if not len(y):
                continue
            truth.append(y)
            scaled = self._scaled(X, settings)
            for machine, setting, decisions in zip(machines, settings, values, strict=True):
                if machine is not None:
                    coef = np.atleast_2d(machine.coef_)
                    decisions.append(
                        decisions_of(scaled[setting.normalize], coef, machine.intercept_)
                    )
        joined = [np.concatenate(decisions) if decisions else None for decisions in values]
        return np.concatenate(truth) if truth else np.zeros(0), joined

    def _teach(self, machines: list[Any], settings: Sequence[Setting], X: Any, y: Array) -> None:
        scaled = self._scaled(X, settings)
        target = self.summary.target
        more = {} if target.task == "regression" else {"classes": np.arange(target.n_classes)}
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
        parts = list(self._parts(numbers, roles))
        if not parts:
            return None, np.zeros(0)
        matrices, targets = zip(*parts, strict=True)
        X = matrices[0] if len(matrices) == 1 else sparse.vstack(matrices, format="csr")
        return X, np.concatenate(targets)

    def _parts(
        self, numbers: Sequence[int] | Ints, roles: tuple[int, ...]
    ) -> Iterator[tuple[Any, Array]]:
        for number in numbers:
            _, X, _ = self.store.part(int(number))
            self.advance()
            chosen = np.isin(self.roles(int(number), X.shape[0]), roles)
            if chosen.any():
                y = self.summary.part(int(number))
                yield (X, y) if chosen.all() else (X[chosen], y[chosen])

    def _machine(self, setting: Setting) -> Any:
        """Averaged stochastic gradient descent; averaging starts after the first epoch."""
        from sklearn.linear_model import SGDClassifier, SGDRegressor

        n = self.summary.n_graphs
        common = {
            "alpha": setting.alpha,
            "average": max(1, n if self.n_epochs > 1 else n // 2),
            "random_state": self.seed,
        }
        if self.summary.target.task == "classification":
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


# What is known of a store before learning

_MOST_CLASSES = 10_000


@dataclass(frozen=True)
class StoreSummary:
    """The target of a store, and the lengths of its rows.

    Attributes
    ----------
    target : Target
    mean, deviation : float
        Of the target of a regression; 0 and 1 for classes.
    offsets : array of int64
        Where the rows of each part begin.
    mean_square, largest_square : float
        Of the Euclidean lengths of rows.
    """

    target: Target
    mean: float
    deviation: float
    offsets: Ints
    mean_square: float
    largest_square: float

    @property
    def n_graphs(self) -> int:
        """The number of graphs of the store."""
        return len(self.target.values)

    def part(self, number: int) -> Array:
        """The target of a part for a machine: codes of classes, or standardised numbers."""
        values = self.target.values[self.offsets[number] : self.offsets[number + 1]]
        if self.target.task == "classification":
            return values
        return (values - self.mean) / self.deviation


def summarize(store: FeatureStore, task: str = "auto") -> StoreSummary:
    """Read a store once; check its target and summarise it.

    Parameters
    ----------
    store : FeatureStore
    task : {"auto", "classification", "regression"}
        "auto" as in `gramlet.evaluate`.

    Raises
    ------
    ValueError
        If there are no targets, if one is missing or not finite, if they do not fit the task, or if
        all are the same.
    """
    sizes, targets = [0], []
    squares = largest = 0.0
    for number in range(store.n_parts):
        _, X, y = store.part(number)
        sizes.append(X.shape[0])
        if not X.shape[0]:
            continue
        if y is None:
            raise ValueError(
                f"{str(store.path)!r} has no targets (part {number}). Write the store from a file "
                "with a target column; target= (--target) names it."
            )
        targets.append(y)
        lengths = np.asarray(X.multiply(X).sum(axis=1)).reshape(-1)
        squares += float(lengths.sum())
        largest = max(largest, float(lengths.max()))
    n = sum(sizes)
    if n == 0:
        raise ValueError(f"{str(store.path)!r} has no graphs.")
    try:
        target = target_of(np.concatenate(targets), n, task)
    except ValueError as why:
        raise ValueError(f"{str(store.path)!r}: {why}") from why
    if target.n_classes > _MOST_CLASSES:
        raise ValueError(
            f"{str(store.path)!r}: the target has {target.n_classes:,} classes, more than "
            f"{_MOST_CLASSES:,}. Use task='regression' for numbers; strings that differ for nearly "
            "every graph are not classes."
        )
    mean, deviation = 0.0, 1.0
    if target.task == "regression":
        mean, deviation = float(target.values.mean()), float(target.values.std())
    return StoreSummary(target, mean, deviation, np.cumsum(sizes), squares / n, largest)
