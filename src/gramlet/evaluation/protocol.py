"""How an evaluation goes: which graphs train, which test, which C are tried.

Splits only; what is fitted on them, and how options are chosen, is in `run`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from gramlet.common.arrays import Array, Ints
from gramlet.common.checks import is_integer

__all__ = ["Protocol", "Split", "check_target"]

Pair = tuple[Ints, Ints]

DEFAULT_C = (1e-3, 1e-2, 1e-1, 1.0, 1e1, 1e2, 1e3)


@dataclass(frozen=True)
class Split:
    """One training part with its test part, and the inner folds of the training part.

    All indices count graphs over the whole set; ``inner`` never mentions a test graph.
    """

    repeat: int
    fold: int
    train: Ints
    test: Ints
    inner: tuple[Pair, ...]


@dataclass(frozen=True)
class Protocol:
    """Repeated stratified cross-validation with options chosen on the training parts only.

    Every outer training part is cut into ``inner_folds`` stratified folds of its own; the options
    and the C with most right answers over these are fitted on the whole training part and tested
    once on the outer test part. Ties go to the options listed first, then to the smaller C.

    Parameters
    ----------
    folds : int, default 10
        Outer folds; of no meaning if ``test_size`` is given.
    repeats : int, default 10
        How often, each time with new random folds.
    inner_folds : int, default 5
        Folds of the inner cross-validation.
    C : sequence of float, default 1e-3, 1e-2, ..., 1e3
        Penalties of the support vector machine to choose from.
    test_size : float, optional
        Instead of folds: hold out this share of the graphs, ``repeats`` times over. See `holdout`.
    random_state : int, default 0
        Seed of all splits. Two evaluations with one protocol see the same splits.
    tol : float, default 1e-3
        Tolerance of the support vector machines.
    max_iter : int, default 1,000,000
        Steps a support vector machine may take; one that stops there is reported by a warning.

    Examples
    --------
    >>> from gramlet import Protocol
    >>> Protocol(folds=5, repeats=3).n_runs
    15
    >>> Protocol.holdout().describe()
    '80/20 split × 10, C and options chosen by inner 10-fold'
    """

    folds: int = 10
    repeats: int = 10
    inner_folds: int = 5
    C: tuple[float, ...] = DEFAULT_C
    test_size: float | None = None
    random_state: int = 0
    tol: float = 1e-3
    max_iter: int = 1_000_000

    def __post_init__(self) -> None:
        if self.test_size is None:
            self._check_integer("folds", 2)
        elif not (isinstance(self.test_size, Real) and 0 < self.test_size < 1):
            raise ValueError(
                f"The 'test_size' parameter of Protocol must be a number between 0 and 1, or None "
                f"for folds. Got {self.test_size!r} instead."
            )
        self._check_integer("repeats", 1)
        self._check_integer("inner_folds", 2)
        self._check_integer("random_state", 0)
        self._check_integer("max_iter", 1)
        if not (isinstance(self.tol, Real) and 0 < self.tol < math.inf):
            raise ValueError(
                f"The 'tol' parameter of Protocol must be a positive number. Got {self.tol!r} "
                "instead."
            )
        object.__setattr__(self, "C", self._checked_costs())

    def _check_integer(self, name: str, least: int) -> None:
        value = getattr(self, name)
        if not is_integer(value) or value < least:
            raise ValueError(
                f"The {name!r} parameter of Protocol must be an integer of at least {least}. "
                f"Got {value!r} instead."
            )
        object.__setattr__(self, name, int(value))

    def _checked_costs(self) -> tuple[float, ...]:
        given = np.atleast_1d(np.asarray(self.C, dtype=object)).ravel().tolist()
        costs = [float(value) for value in given if isinstance(value, Real)]
        if not costs or len(costs) < len(given) or not all(0 < c < math.inf for c in costs):
            raise ValueError(
                f"The 'C' parameter of Protocol must be positive numbers. Got {self.C!r} instead."
            )
        return tuple(sorted(set(costs)))

    @classmethod
    def holdout(
        cls, test_size: float = 0.2, repeats: int = 10, inner_folds: int = 10, **others: Any
    ) -> Protocol:
        """A share of the graphs held out, several times; the rest cross-validated for the options.

        The setting of the multiscale Laplacian kernel's experiments (Kondor and Pan, 2016).
        """
        return cls(test_size=test_size, repeats=repeats, inner_folds=inner_folds, **others)

    @property
    def folds_a_repeat(self) -> int:
        """Test parts a repeat: ``folds``, or 1 with a held-out share."""
        return self.folds if self.test_size is None else 1

    @property
    def n_runs(self) -> int:
        """How many test parts there are in all."""
        return self.repeats * self.folds_a_repeat

    def describe(self) -> str:
        """One line for the head of a table."""
        if self.test_size is None:
            outer = f"{self.folds}-fold cross-validation × {self.repeats}"
        else:
            share = round(100 * self.test_size)
            outer = f"{100 - share}/{share} split × {self.repeats}"
        return f"{outer}, C and options chosen by inner {self.inner_folds}-fold"

    def splits(self, codes: Ints, classes: Array) -> list[Split]:
        """All splits of graphs with these class codes; the same whenever it is asked.

        Parameters
        ----------
        codes : array of int64
            Each graph's class as a position in ``classes``.
        classes : array
            The classes' own names, for messages.
        """
        self._check_members(np.bincount(codes, minlength=len(classes)), classes)
        return [
            Split(repeat, fold, train, test, self._inner(codes, train, repeat, fold))
            for repeat in range(self.repeats)
            for fold, (train, test) in enumerate(self._outer(codes, repeat))
        ]

    def whole(self, codes: Ints, classes: Array) -> Split:
        """All graphs as one training part: for choosing options, not for an estimate."""
        counts = np.bincount(codes, minlength=len(classes))
        smallest = int(np.argmin(counts))
        if counts[smallest] < self.inner_folds:
            raise ValueError(
                f"Class {classes[smallest].item()!r} has {_graphs(int(counts[smallest]))}, fewer "
                f"than the {self.inner_folds} folds that choose C and the options. Use fewer inner "
                "folds, or leave that class out."
            )
        everything = np.arange(len(codes), dtype=np.int64)
        return Split(0, 0, everything, everything[:0], self._inner(codes, everything, 0, 0))

    def _check_members(self, counts: Ints, classes: Array) -> None:
        smallest = int(np.argmin(counts))
        count = int(counts[smallest])
        subject = f"Class {classes[smallest].item()!r} has {_graphs(count)}"
        if self.test_size is None:
            if count < self.folds:
                way_out = f"Use at most {count} folds, or leave" if count > 1 else "Leave"
                raise ValueError(
                    f"{subject}, fewer than the {self.folds} folds. {way_out} that class out."
                )
            left = count - math.ceil(count / self.folds)
        else:
            left = math.floor(count * (1 - self.test_size))
        if left < self.inner_folds:
            raise ValueError(
                f"{subject}; as few as {left} of them are in a training part, fewer than the "
                f"{self.inner_folds} inner folds. Use fewer inner folds, or leave that class out."
            )

    def _outer(self, codes: Ints, repeat: int) -> Iterator[Pair]:
        from sklearn.model_selection import StratifiedKFold, StratifiedShuffleSplit

        nothing = np.zeros(len(codes))
        seed = _seed(self.random_state, repeat)
        if self.test_size is None:
            splitter = StratifiedKFold(self.folds, shuffle=True, random_state=seed)
        else:
            splitter = StratifiedShuffleSplit(1, test_size=self.test_size, random_state=seed)
        for train, test in splitter.split(nothing, codes):
            yield np.sort(train).astype(np.int64), np.sort(test).astype(np.int64)

    def _inner(self, codes: Ints, train: Ints, repeat: int, fold: int) -> tuple[Pair, ...]:
        from sklearn.model_selection import StratifiedKFold

        seed = _seed(self.random_state, repeat, fold)
        splitter = StratifiedKFold(self.inner_folds, shuffle=True, random_state=seed)
        parts = splitter.split(np.zeros(len(train)), codes[train])
        return tuple((train[fitted], train[held]) for fitted, held in parts)


def _graphs(count: int) -> str:
    return f"{count} graph" if count == 1 else f"{count} graphs"


def _seed(*parts: int) -> int:
    """One seed a split, unrelated to its neighbours'."""
    return int(np.random.SeedSequence(parts).generate_state(1)[0])


def check_target(y: Any, n_graphs: int) -> tuple[Ints, Array]:
    """The classes of the graphs as codes, and the classes themselves, sorted.

    Raises
    ------
    ValueError
        If there is not one class a graph, a class is missing (NaN, None), the target is made of
        real numbers rather than classes, or there are fewer than two classes.
    """
    from sklearn.utils.multiclass import type_of_target

    values = np.asarray(y)
    if values.ndim != 1 or len(values) != n_graphs:
        raise ValueError(
            f"y must hold one class a graph: got shape {values.shape} for {n_graphs} graphs."
        )
    missing = [i for i, value in enumerate(values.tolist()) if value is None or value != value]
    if missing:
        raise ValueError(
            f"y has no class (NaN or None) for {len(missing)} graphs, the first at position "
            f"{missing[0]}. Leave these graphs out."
        )
    if values.dtype.kind == "f" and type_of_target(values) == "continuous":
        raise ValueError("y holds real numbers that are not classes; evaluation is of classifiers.")
    if values.dtype == object:
        values = _plain(values)
    classes, codes = np.unique(values, return_inverse=True)
    if len(classes) < 2:
        raise ValueError(
            f"y holds {len(classes)} class{'es' * (len(classes) != 1)} "
            f"({', '.join(repr(c.item()) for c in classes)}); a classifier needs at least two."
        )
    return codes.reshape(-1).astype(np.int64), classes


def _plain(values: Array) -> Array:
    """Objects as an array of strings or numbers, if they are all of one kind."""
    kinds = {type(value).__name__ for value in values.tolist()}
    plain = np.array(values.tolist())
    if len(kinds) > 1 or plain.ndim != 1 or plain.dtype.kind not in "biufU":
        raise ValueError(
            f"y must hold classes of one kind, strings or integers; got {', '.join(sorted(kinds))}."
        )
    return plain
