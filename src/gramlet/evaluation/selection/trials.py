"""Trials of options: predicting parts of the data.

A trial is prepared once per set of options (or for several that share one fit) and then used, from
several threads, for many pairs of a training part and a held-out part. It uses the held-out graphs
only to predict them. `blocks` computes blocks of Gram matrices; `selection` chooses among trials.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from gramlet.common.arrays import Array, Floats, Ints
from gramlet.engine.core.compiling import clock
from gramlet.evaluation.machines.baselines import Baseline, size_features
from gramlet.evaluation.machines.blocks import (
    Features,
    SharedDistances,
    centred_and_scaled,
    fitted_blocks,
    whole_outputs,
)
from gramlet.evaluation.machines.machines import Machine, Outcome, class_outcome
from gramlet.evaluation.protocols.task import Target
from gramlet.evaluation.selection.kept_outputs import KeptOutputs
from gramlet.evaluation.selection.subjects import Subject
from gramlet.graphs.batch import GraphBatch

__all__ = ["Data", "Trial", "grid_of", "kernel_share", "prepare"]


@dataclass(frozen=True, eq=False)
class Data:
    """The graphs that are used, with their target; no graphs if matrices were given."""

    graphs: GraphBatch | None
    target: Target
    groups: Ints | None = None

    def __len__(self) -> int:
        return len(self.target.values)

    def batch(self) -> GraphBatch:
        """The graphs, which must exist."""
        assert self.graphs is not None, "this needs graphs"
        return self.graphs


class Trial(ABC):
    """Sets of options, prepared for predictions.

    Attributes
    ----------
    grid : list of dict
        All combinations: the sets of options one after the other, each with all C.
    per_set : int
        The number of entries of the grid per set of options.
    refitted : bool
        Whether the kernel is fitted on each training part.
    chooses_cost : bool
        Whether C is chosen by `losses` over inner folds, not by the scorer.
    n_bytes : int
        The size of matrices that it keeps.
    """

    refitted = False
    chooses_cost = False
    n_bytes = 0

    def __init__(self, grid: list[dict[str, Any]], per_set: int = 1) -> None:
        self.grid = grid
        self.per_set = per_set
        # Lists, because several threads may append to them.
        self._seconds: list[float] = []
        self._kernel_seconds: list[float] = []

    @contextmanager
    def stopwatch(self) -> Iterator[None]:
        """Measure the time spent on this trial in any thread."""
        started = clock()
        yield
        self._seconds.append(clock() - started)

    @abstractmethod
    def tried(self, train: Ints, held: Ints) -> Outcome:
        """Predictions for the held-out graphs, one row per entry of the grid."""

    def final(self, train: Ints, held: Ints, position: int) -> Outcome:
        """The same for one entry of the grid."""
        return self.tried(train, held).row(position)

    def losses(self, truth: Array, predictions: Array) -> Floats | None:
        """The loss by which a machine chooses C, if not by the scorer; one number per entry."""
        return None


def kernel_share(trials: Sequence[Trial]) -> float:
    """The share of the measured time of some trials that was spent in the kernel."""
    seconds = sum(sum(trial._seconds) for trial in trials)
    return sum(sum(trial._kernel_seconds) for trial in trials) / seconds if seconds else 0.0


class _Baseline(Trial):
    """A baseline, without a kernel."""

    def __init__(self, baseline: Baseline, data: Data) -> None:
        super().__init__([{}])
        self._baseline = baseline
        self._target = data.target
        self._sizes = size_features(data.batch()) if baseline.needs_graphs else None

    def tried(self, train: Ints, held: Ints) -> Outcome:
        return self._baseline.outcome(self._target, self._sizes, train, held)


class _Predictor(Trial):
    """An estimator that predicts itself."""

    refitted = True

    def __init__(self, estimator: Any, options: dict[str, Any], data: Data) -> None:
        super().__init__([options])
        self._estimator = estimator
        self._data = data

    def tried(self, train: Ints, held: Ints) -> Outcome:
        from sklearn.base import clone

        graphs, target = self._data.batch(), self._data.target
        fitted = clone(self._estimator).fit(graphs[train], target.named[train])
        predicted = np.asarray(fitted.predict(graphs[held]))
        if target.task == "regression":
            return Outcome(predicted.astype(np.float64).reshape(1, -1))
        codes = np.searchsorted(target.classes, predicted)
        values = _class_values(fitted, graphs[held], target)
        if values is None:
            return Outcome(codes[None])
        return Outcome(codes[None], class_outcome(values[None]).decisions)


def _class_values(fitted: Any, graphs: GraphBatch, target: Target) -> Floats | None:
    """One value per graph and class, larger for the likelier class; None if there is none."""
    for name in ("decision_function", "predict_proba"):
        if not hasattr(fitted, name):
            continue
        values = np.asarray(getattr(fitted, name)(graphs), dtype=np.float64)
        if values.ndim == 1:
            values = np.column_stack([-values / 2, values / 2])
        known = np.searchsorted(target.classes, fitted.classes_)
        if values.shape == (len(graphs), len(known)):
            lowest = np.repeat(values.min(axis=1)[:, None] - 1.0, target.n_classes, axis=1)
            lowest[:, known] = values
            return lowest
    return None


class _KernelMachine(Trial):
    """A machine on blocks of a Gram matrix, or on features."""

    def __init__(self, option_sets: Sequence[dict[str, Any]], data: Data, machine: Machine) -> None:
        super().__init__(_with_costs(option_sets, machine), max(1, len(machine.costs)))
        self._option_sets = option_sets
        self._data = data
        self._machine = machine
        self._on_features = machine.on_features()
        self.chooses_cost = machine.chooses_cost

    @abstractmethod
    def _blocks(
        self, train: Ints, held: Ints, option_sets: Sequence[dict[str, Any]]
    ) -> Iterator[tuple[Machine, Array, Array]]:
        """Per set of options a machine, what it needs of the training part, and the held-out rows.

        The next step of the iterator may overwrite the latter.
        """

    def tried(self, train: Ints, held: Ints) -> Outcome:
        target = self._data.target.values[train]
        blocks = self._blocks(train, held, self._option_sets)
        return _stacked([machine.tried(own, cross, target) for machine, own, cross in blocks])

    def final(self, train: Ints, held: Ints, position: int) -> Outcome:
        which, cost = divmod(position, self.per_set)
        blocks = self._blocks(train, held, self._option_sets[which : which + 1])
        machine, own, cross = next(blocks)  # the iterator's, and others' after its end
        return machine.final(own, cross, self._data.target.values[train], cost)

    def losses(self, truth: Array, predictions: Array) -> Floats | None:
        return self._machine.losses(truth, predictions)


def _with_costs(option_sets: Sequence[dict[str, Any]], machine: Machine) -> list[dict[str, Any]]:
    costs: list[dict[str, Any]] = [{"C": cost} for cost in machine.costs] or [{}]
    return [{**chosen, **cost} for chosen in option_sets for cost in costs]


def grid_of(
    subject: Subject, option_sets: Sequence[dict[str, Any]], machine: Machine
) -> list[dict[str, Any]]:
    """The grid that a trial of these options will have, without preparing it."""
    if subject.kind in ("baseline", "predictor"):
        return [dict(option_set) for option_set in option_sets]
    return _with_costs(option_sets, machine)


def _stacked(outcomes: Sequence[Outcome]) -> Outcome:
    """Outcomes one below the other; decisions and C only if all have them."""
    decisions = [o.decisions for o in outcomes if o.decisions is not None]
    chosen = [o.chosen for o in outcomes if o.chosen is not None]
    return Outcome(
        np.concatenate([o.predictions for o in outcomes]),
        np.concatenate(decisions) if len(decisions) == len(outcomes) else None,
        tuple(c for part in chosen for c in part) if len(chosen) == len(outcomes) else None,
    )


class _Sliced(_KernelMachine):
    """Blocks sliced from the Gram matrices of all graphs, one per set of options."""

    def __init__(
        self,
        grams: Sequence[Floats],
        option_sets: Sequence[dict[str, Any]],
        data: Data,
        machine: Machine,
        of_features: bool = False,
    ) -> None:
        super().__init__(option_sets, data, machine)
        self._grams = grams
        self._of_features = of_features
        self.n_bytes = sum(gram.nbytes for gram in grams)

    def _blocks(
        self, train: Ints, held: Ints, option_sets: Sequence[dict[str, Any]]
    ) -> Iterator[tuple[Machine, Array, Array]]:
        for option_set in option_sets:
            gram = self._grams[self._option_sets.index(option_set)]
            blocks = gram[np.ix_(train, train)], gram[np.ix_(held, train)]
            yield self._machine, *(centred_and_scaled(*blocks) if self._of_features else blocks)


class _SlicedFeatures(_KernelMachine):
    """Rows of the features of all graphs, for a machine on features."""

    def __init__(
        self,
        features: Sequence[Floats],
        option_sets: Sequence[dict[str, Any]],
        data: Data,
        machine: Machine,
    ) -> None:
        super().__init__(option_sets, data, machine)
        self._features = features
        self.n_bytes = sum(rows.nbytes for rows in features)

    def _blocks(
        self, train: Ints, held: Ints, option_sets: Sequence[dict[str, Any]]
    ) -> Iterator[tuple[Machine, Array, Array]]:
        for option_set in option_sets:
            rows = self._features[self._option_sets.index(option_set)]
            yield self._machine, rows[train], rows[held]


class _Refitted(_KernelMachine):
    """Blocks of a kernel that is fitted on the training part only."""

    refitted = True

    def __init__(
        self, estimator: Any, option_sets: Sequence[dict[str, Any]], data: Data, machine: Machine
    ) -> None:
        super().__init__(option_sets, data, machine)
        self._estimator = estimator

    def _blocks(
        self, train: Ints, held: Ints, option_sets: Sequence[dict[str, Any]]
    ) -> Iterator[tuple[Machine, Array, Array]]:
        graphs, target = self._data.batch(), self._data.target.named
        started = clock()
        for own, cross in fitted_blocks(
            self._estimator, option_sets, graphs[train], target[train], graphs[held]
        ):
            if not isinstance(own, Features):
                blocks: tuple[Machine, Array, Array] = self._machine, own, cross
            elif self._on_features is not None and own.are_few:
                blocks = self._on_features, own.rows, cross.rows
            else:
                blocks = self._machine, *centred_and_scaled(own.gram(), cross.against(own))
            self._kernel_seconds.append(clock() - started)
            yield blocks
            started = clock()


def prepare(
    subject: Subject,
    option_sets: Sequence[dict[str, Any]],
    data: Data,
    machine: Machine,
    n_jobs: int | None,
    shared: SharedDistances | None = None,
    kept: KeptOutputs | None = None,
) -> Trial:
    """Prepare a trial of one of the subject's groups of options.

    A kernel that can be sliced, or is fitted once, is computed now, with the distances that its
    other options share, or taken from those that were kept.
    """
    if subject.kind == "baseline":
        return _Baseline(subject.estimator, data)
    if subject.kind == "ready":
        return _Sliced([subject.estimator], option_sets, data, machine)
    estimator = subject.with_options(option_sets[0])
    if subject.kind == "predictor":
        return _Predictor(estimator, option_sets[0], data)
    if subject.kind in ("sliced", "once"):
        outputs: Sequence[Floats | Features]
        if shared is not None and subject.shares_distances(len(data)):
            grams = (shared.gram(estimator, chosen, data.batch(), n_jobs) for chosen in option_sets)
            outputs = list(grams)
        else:
            graphs = data.batch()

            def compute() -> list[Floats | Features]:
                return whole_outputs(estimator, option_sets, graphs, n_jobs)

            outputs = (
                compute() if kept is None else kept.outputs(estimator, option_sets, graphs, compute)
            )
        return _sliced(outputs, option_sets, data, machine)
    return _Refitted(estimator, option_sets, data, machine)


def _sliced(
    outputs: Sequence[Floats | Features],
    option_sets: Sequence[dict[str, Any]],
    data: Data,
    machine: Machine,
) -> Trial:
    """A trial on the Gram matrices or on the features of all graphs."""
    features = [output for output in outputs if isinstance(output, Features)]
    on_features = machine.on_features()
    if features and on_features is not None and all(one.are_few for one in features):
        return _SlicedFeatures([one.rows for one in features], option_sets, data, on_features)
    grams = [one.gram() if isinstance(one, Features) else one for one in outputs]
    return _Sliced(grams, option_sets, data, machine, bool(features))
