"""The evaluation itself: options chosen inside the training parts, one test a split.

Goes through the sets of options one by one, so that one Gram matrix is in memory at a time, and
keeps for every split the best so far. What a split is stands in `protocol`, what is fitted in
`trials`.
"""

from __future__ import annotations

import hashlib
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from gramlet.common.arrays import Ints
from gramlet.engine.core.tiles import for_tiles, progress
from gramlet.evaluation.protocol import Protocol, Split, check_target
from gramlet.evaluation.result import DataFacts, Result
from gramlet.evaluation.subjects import Subject, subject_of
from gramlet.evaluation.trials import Data, Trial, prepare
from gramlet.graphs.convert import as_batch

__all__ = ["Choice", "choose", "evaluate"]


_TILES = 64  # pieces of work for the threads: more would cost more than they even out


def evaluate(
    kernel: Any,
    graphs: Any,
    y: Any,
    protocol: Protocol | None = None,
    *,
    options: Mapping[str, Any] | None = None,
    normalize: bool | None = None,
    name: str | None = None,
    dataset: str = "",
    fit_once: bool = False,
    n_jobs: int | None = None,
    verbose: int | bool = False,
) -> Result:
    """Estimate how well a kernel classifies graphs it has not seen.

    A support vector machine with the kernel is tested by repeated stratified cross-validation. C
    and the kernel's options are chosen by a second cross-validation inside each training part; test
    graphs have no part in it. A kernel between two graphs that depends on these two alone is
    computed once for each set of options and cut into parts; a kernel that learns from the graphs
    or the classes it is fitted on is fitted on each training part anew.

    Cost: one Gram matrix a set of options, and (options × C × inner folds) small support vector
    machines a split.

    Parameters
    ----------
    kernel : str, estimator or pipeline
        A name of the registry (``gramlet kernels`` lists them); "majority", the baseline that
        always says the most frequent class; a kernel (an estimator with ``diagonal``); any other
        transformer, whose output is taken as features, unscaled, for a linear machine; or a
        classifier, such as a pipeline that ends in one, which is fitted as it stands and for which
        C is one of the ``options``.
    graphs : whatever `gramlet.as_batch` takes
    y : array-like
        One class a graph.
    protocol : Protocol, optional
        By default 10 folds, 10 repeats, C from 1e-3 to 1e3.
    options : mapping, optional
        Parameters to choose, each with the values to try, e.g. ``{"n_iter": [1, 2, 3]}``. By
        default those the registry names for a kernel given by name (``{}`` for none of them), and
        none for an estimator.
    normalize : bool, optional
        Whether the kernel is normalised to k(G, G) = 1. By default it is if given by name, and an
        estimator stays as it is. ``options={"normalize": [False, True]}`` leaves the choice to the
        data.
    name : str, optional
        What the result is called; by default the kernel's name.
    dataset : str
        What the data are called in tables.
    fit_once : bool
        Fit a kernel that learns from the graphs, though not from their classes, once on all of them
        (random graphs scaled to all graphs, say), where otherwise it is fitted in each training
        part. Many times faster and common in papers; but the test graphs, without their classes,
        have then been seen.
    n_jobs : int or None
        Threads (-1: all cores). The result does not depend on it.
    verbose : bool
        Show a progress bar, if standard error is a terminal.

    Returns
    -------
    Result

    Notes
    -----
    An estimator whose ``random_state`` is None gets the protocol's, so that the same call gives
    the same result. Options are chosen with a compiled solver; the accuracies come from
    scikit-learn's ``SVC`` with the chosen options.

    Examples
    --------
    >>> from gramlet import Protocol, evaluate, load_dataset
    >>> mutag = load_dataset("MUTAG")
    >>> quick = Protocol(folds=5, repeats=1, inner_folds=3)
    >>> result = evaluate("vertex", mutag.graphs, mutag.target, quick)
    >>> result.accuracies.shape
    (1, 5)
    >>> baseline = evaluate("majority", mutag.graphs, mutag.target, quick)
    >>> round(baseline.mean, 2)
    0.67
    """
    protocol = Protocol() if protocol is None else protocol
    if not isinstance(protocol, Protocol):
        raise TypeError(f"protocol must be a gramlet.Protocol; got {type(protocol).__name__}.")
    data = _data(graphs, y)
    subject = subject_of(kernel, options, normalize, protocol.random_state, name, fit_once)
    splits = protocol.splits(data.codes, data.classes)
    race = _Race(subject, data, protocol, splits)
    race.run(n_jobs, verbose)
    shape = (protocol.repeats, protocol.folds_a_repeat)
    sizes = np.array([len(split.test) for split in splits])
    return Result(
        name=subject.name,
        accuracies=(race.correct / sizes).reshape(shape),
        chosen=race.chosen_by_repeat(),
        refitted=race.refitted,
        kernel_seconds=race.kernel_seconds,
        other_seconds=race.other_seconds,
        protocol=protocol,
        data=_facts(data, splits, dataset),
    )


@dataclass(frozen=True)
class Choice:
    """The options that cross-validation prefers.

    Attributes
    ----------
    options : dict
    C : float or None
        None if there is no C to choose (a classifier).
    accuracy : float
        Of the cross-validation that chose them: too good to be quoted as an estimate.
    estimator : estimator
        Unfitted, with these options.
    """

    options: dict[str, Any]
    C: float | None
    accuracy: float
    estimator: Any


def choose(
    kernel: Any,
    graphs: Any,
    y: Any,
    protocol: Protocol | None = None,
    *,
    options: Mapping[str, Any] | None = None,
    normalize: bool | None = None,
    n_jobs: int | None = None,
    verbose: int | bool = False,
) -> Choice:
    """Choose C and a kernel's options by cross-validation over all the graphs.

    For a model to be used, after `evaluate` has told what to expect of it. The arguments are those
    of `evaluate`; of the protocol only ``inner_folds``, ``C`` and ``random_state`` matter.
    """
    protocol = Protocol() if protocol is None else protocol
    data = _data(graphs, y)
    subject = subject_of(kernel, options, normalize, protocol.random_state)
    split = protocol.whole(data.codes, data.classes)
    race = _Race(subject, data, protocol, [split])
    race.run(n_jobs, verbose, always_score=True)
    chosen = dict(race.chosen[0])
    cost = chosen.pop("C", None) if subject.kind != "classifier" else None
    accuracy = race.best[0] / len(split.train)
    return Choice(chosen, cost, accuracy, subject.with_options(chosen))


class _Race:
    """The sets of options against each other, in every split on its own."""

    def __init__(
        self, subject: Subject, data: Data, protocol: Protocol, splits: Sequence[Split]
    ) -> None:
        self._subject = subject
        self._data = data
        self._protocol = protocol
        self._splits = splits
        self._unfinished = 0
        self.best = np.full(len(splits), -1, dtype=np.int64)
        self._rank = np.zeros(len(splits), dtype=np.int64)  # which option set holds the best
        self.correct = np.zeros(len(splits), dtype=np.int64)
        self.chosen: list[dict[str, Any]] = [{} for _ in splits]
        self.refitted = False
        self.kernel_seconds = 0.0
        self.other_seconds = 0.0

    def run(self, n_jobs: int | None, verbose: int | bool, always_score: bool = False) -> None:
        groups = self._subject.groups()
        total = len(groups) * len(self._splits) * self._protocol.inner_folds
        with _machine_warnings_off(), progress(total, self._subject.name, verbose) as advance:
            for group in groups:
                started = time.perf_counter()
                sets = [self._subject.option_sets[position] for position in group]
                trial = prepare(self._subject, sets, self._data, self._protocol, n_jobs)
                prepared = time.perf_counter()
                choice = always_score or len(groups) * len(trial.grid) > 1
                counts = self._inner_counts(trial, choice, n_jobs, advance)
                ranks = np.repeat(group, len(trial.grid) // len(group))
                self._test(trial, counts, ranks, n_jobs)
                self._account(trial, prepared - started, time.perf_counter() - prepared)
        if self._unfinished:
            self._warn()

    def _inner_counts(
        self, trial: Trial, choice: bool, n_jobs: int | None, advance: Callable[[], None]
    ) -> Ints:
        """Right answers over the inner folds: one row a split, one column an entry of the grid."""
        counts = np.zeros((len(self._splits), len(trial.grid)), dtype=np.int64)
        if not choice:
            return counts
        parts = [(s, *pair) for s, split in enumerate(self._splits) for pair in split.inner]
        found = np.zeros((len(parts), len(trial.grid)), dtype=np.int64)

        def score(begin: int, end: int) -> None:
            for p in range(begin, end):
                _, fitted, held = parts[p]
                with trial.stopwatch():
                    found[p] = trial.counts(fitted, held)
                advance()

        for_tiles(score, len(parts), n_tiles=_TILES, n_jobs=n_jobs)
        np.add.at(counts, [part[0] for part in parts], found)
        return counts

    def _test(self, trial: Trial, counts: Ints, ranks: Ints, n_jobs: int | None) -> None:
        """Test a trial in the splits where it beats all before it.

        ``ranks``: the place of each of the grid's entries among all sets of options.
        """
        positions = counts.argmax(axis=1)  # the first of equals: the smallest C
        scores = counts.max(axis=1)
        earlier = (scores == self.best) & (ranks[positions] < self._rank)
        better = np.flatnonzero((scores > self.best) | earlier)
        self.best[better] = scores[better]
        self._rank[better] = ranks[positions[better]]

        def test(begin: int, end: int) -> None:
            for s in better[begin:end]:
                split, position = self._splits[s], int(positions[s])
                self.chosen[s] = dict(trial.grid[position])
                if len(split.test):
                    with trial.stopwatch():
                        self.correct[s] = trial.correct(split.train, split.test, position)

        for_tiles(test, len(better), n_tiles=_TILES, n_jobs=n_jobs)

    def _account(self, trial: Trial, preparing: float, trying: float) -> None:
        """Share the time that passed between the kernel and the machines."""
        self._unfinished += sum(trial.unfinished)
        self.refitted = self.refitted or trial.refitted
        in_kernel = trying * trial.kernel_share()
        self.kernel_seconds += preparing + in_kernel
        self.other_seconds += trying - in_kernel

    def chosen_by_repeat(self) -> list[list[dict[str, Any]]]:
        folds = self._protocol.folds_a_repeat
        return [self.chosen[k : k + folds] for k in range(0, len(self.chosen), folds)]

    def _warn(self) -> None:
        from sklearn.exceptions import ConvergenceWarning

        warnings.warn(
            f"{self._subject.name}: {self._unfinished} support vector machines stopped after "
            f"max_iter={self._protocol.max_iter} steps, before they reached the tolerance. Raise "
            "Protocol(max_iter=...), or leave the largest C out: these take the most steps.",
            ConvergenceWarning,
            stacklevel=4,
        )


@contextmanager
def _machine_warnings_off() -> Iterator[None]:
    """Of thousands of machines each could complain; they are counted, and one warning is given."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Solver terminated early")
        yield


def _data(graphs: Any, y: Any) -> Data:
    batch = as_batch(graphs)
    return Data(batch, *check_target(y, len(batch)))


def _facts(data: Data, splits: Sequence[Split], name: str) -> DataFacts:
    digest = hashlib.sha256(data.codes.tobytes())
    for split in splits:
        digest.update(split.test.tobytes())
    members = np.bincount(data.codes).tolist()
    return DataFacts(
        name=name,
        n_graphs=len(data.graphs),
        classes={str(c.item()): n for c, n in zip(data.classes, members, strict=True)},
        splits=digest.hexdigest(),
    )
