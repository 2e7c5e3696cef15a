"""Options chosen and tested: inside each training part, or on the test parts.

Tries the sets of options one by one, the last first, and keeps the best so far for every split.
What can no longer be better than that is not fitted on further folds. Choices are tested after all
options are scored; if their Gram matrices do not fit into memory, some are tested before. `trials`
fits on a part, `scorers` scores predictions; results are passed to a ledger of `store` at once.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from gramlet.common.arrays import Array, Floats, Ints
from gramlet.common.notices import warn_caller
from gramlet.engine.core.compiling import clock
from gramlet.engine.core.tiles import Tiling, for_tiles, progress
from gramlet.evaluation.machines.blocks import SharedDistances
from gramlet.evaluation.machines.machines import Machine, Outcome
from gramlet.evaluation.protocols.splits import Split
from gramlet.evaluation.scores.scorers import Scorer, part_scores
from gramlet.evaluation.selection.kept_outputs import KeptOutputs
from gramlet.evaluation.selection.subjects import Subject
from gramlet.evaluation.selection.trials import Data, Trial, grid_of, kernel_share, prepare
from gramlet.evaluation.store import Ledger

__all__ = ["Race", "machine_warnings_off", "nested", "retrained", "settled_costs"]

_TILES = 64  # tasks for the threads: more would cost more than they gain in balance
_KEPT_BYTES = 1 << 30  # Gram matrices of choices that may stay in memory until they are tested


class Race:
    """The comparison of a subject's sets of options, and its outcome.

    Attributes
    ----------
    best : array
        The best score of each split.
    chosen : list of dict
        The options of each split.
    outcomes : list of Outcome or None
        Predictions for each split's test part.
    places : array of int64, shape (splits, 2)
        The group of options of each split's choice, and its position in that group's grid.
    """

    def __init__(
        self,
        subject: Subject,
        data: Data,
        machine: Machine,
        scorer: Scorer,
        splits: Sequence[Split],
        n_jobs: int | None,
        ledger: Ledger | None = None,
        kept: KeptOutputs | None = None,
    ) -> None:
        self.subject = subject
        self.data = data
        self.machine = machine
        self.scorer = scorer
        self.splits = splits
        self.n_jobs = n_jobs
        self.ledger = Ledger() if ledger is None else ledger
        self.best: Floats = np.full(len(splits), -np.inf)
        self.chosen: list[dict[str, Any]] = [{} for _ in splits]
        self.outcomes: list[Outcome | None] = [None for _ in splits]
        self.places: Ints = np.zeros((len(splits), 2), dtype=np.int64)
        self.refitted = subject.kind in ("refitted", "predictor")
        self._shared = SharedDistances()
        self._kept = kept
        self.kernel_seconds = 0.0
        self.other_seconds = 0.0

    def sets_of(self, group: Sequence[int]) -> list[dict[str, Any]]:
        """The sets of options of one group."""
        return [self.subject.option_sets[position] for position in group]

    def grid(self, group: Sequence[int]) -> list[dict[str, Any]]:
        """The grid of one group."""
        return grid_of(self.subject, self.sets_of(group), self.machine)

    @contextmanager
    def trial(
        self, group: Sequence[int], made: list[Trial] | None = None
    ) -> Iterator[Callable[[], Trial]]:
        """A function that prepares a trial when it is first called, and measures its time.

        ``made`` contains the trial afterwards; an existing one is not prepared again.
        """
        made = [] if made is None else made
        prepared = 0.0

        def get() -> Trial:
            nonlocal prepared
            if not made:
                begin = clock()
                sets = self.sets_of(group)
                made.append(
                    prepare(
                        self.subject,
                        sets,
                        self.data,
                        self.machine,
                        self.n_jobs,
                        self._shared,
                        self._kept,
                    )
                )
                prepared = clock() - begin
                self.kernel_seconds += prepared
            return made[0]

        with self.measured(made, lambda: prepared):
            yield get

    @contextmanager
    def measured(
        self, trials: Sequence[Trial], counted: Callable[[], float] = lambda: 0.0
    ) -> Iterator[None]:
        """Add the time that trials take to that of the kernel and of everything else.

        ``counted`` gives the seconds that were added already.
        """
        started = clock()
        yield
        rest = clock() - started - counted()
        share = kernel_share(trials)
        self.refitted = trials[0].refitted if trials else self.refitted
        self.kernel_seconds += rest * share
        self.other_seconds += rest * (1.0 - share)

    def over(self, n: int, work: Callable[[int], None]) -> None:
        """Run tasks by their numbers, on threads."""

        def tile(begin: int, end: int) -> None:
            for number in range(begin, end):
                work(number)

        for_tiles(tile, n, n_tiles=_TILES, tiling=Tiling(self.n_jobs))

    def score_inner(
        self,
        trial: Trial,
        which: Sequence[int],
        keep: Callable[[int, Floats], None],
        advance: Callable[[], None],
    ) -> None:
        """Score the grid over the inner folds of some splits.

        ``keep`` receives each split's scores as soon as its last fold is done.
        """
        parts = [(s, k) for s in which for k in range(len(self.splits[s].inner))]
        outcomes: dict[int, dict[int, Outcome]] = {s: {} for s in which}
        lock = threading.Lock()

        def work(number: int) -> None:
            s, k = parts[number]
            split = self.splits[s]
            with trial.stopwatch():
                outcome = trial.tried(*split.inner[k])
            with lock:
                outcomes[s][k] = outcome
                done = len(outcomes[s]) == len(split.inner)
            if done:
                folds = outcomes.pop(s)
                keep(s, self.inner_scores(trial, split, [folds[k] for k in range(len(folds))]))
            advance()

        self.over(len(parts), work)

    def inner_scores(self, trial: Trial, split: Split, outcomes: Sequence[Outcome]) -> Floats:
        """The score of each entry of the grid over the inner folds of one split."""
        truth, predictions, decisions, parts = self._joined(split, outcomes)
        allowed = settled_costs(trial, truth, predictions)
        scores = np.full(len(predictions), -np.inf)
        if self.scorer.name == "accuracy":  # counted over all graphs: folds differ in size
            scores[allowed] = np.mean(predictions[allowed] == truth, axis=1)
        else:
            for g in allowed:
                values = None if decisions is None else decisions[g]
                scores[g] = part_scores(self.scorer, truth, predictions[g], values, parts).mean()
        return np.round(scores, 12)  # scores that differ by rounding are equal

    def _joined(
        self, split: Split, outcomes: Sequence[Outcome]
    ) -> tuple[Array, Array, Floats | None, list[Ints]]:
        held = [part for _, part in split.inner]
        ends = np.cumsum([len(part) for part in held])
        parts = [np.arange(end - len(part), end) for end, part in zip(ends, held, strict=True)]
        truth = self.data.target.values[np.concatenate(held)]
        predictions = np.concatenate([outcome.predictions for outcome in outcomes], axis=1)
        decisions = [o.decisions for o in outcomes if o.decisions is not None]
        values = np.concatenate(decisions, axis=1) if len(decisions) == len(held) else None
        return truth, predictions, values, parts

    def warn_of_unfinished(self, max_iter: int) -> None:
        """Warn once of all machines that reached the limit of steps."""
        unfinished = sum(self.machine.unfinished)
        if not unfinished:
            return
        from sklearn.exceptions import ConvergenceWarning

        warn_caller(
            f"{self.subject.name}: {unfinished} support vector machines stopped after "
            f"max_iter={max_iter} steps, before they reached the tolerance. Raise "
            "Protocol(max_iter=...), or leave the largest C out: these take the most steps.",
            ConvergenceWarning,
        )


def settled_costs(trial: Trial, truth: Array, predictions: Array) -> Ints:
    """The entries of the grid among which the scorer chooses.

    All of them; or, if a machine chooses C itself (by the error of the ridge), one per set of
    options, the first if tied.
    """
    losses = trial.losses(truth, predictions)
    if losses is None:
        return np.arange(len(predictions))
    by_set = np.round(losses, 12).reshape(-1, trial.per_set)
    return by_set.argmin(axis=1) + trial.per_set * np.arange(len(by_set))


@contextmanager
def machine_warnings_off() -> Iterator[None]:
    """Suppress the warnings of single machines, which are counted and reported in one warning."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Solver terminated early")
        yield


def nested(race: Race, verbose: int | bool, always_score: bool = False) -> None:
    """Choose in each training part by its inner folds; test the choice on the test part."""
    groups = race.subject.groups()
    n_inner = len(race.splits[0].inner)
    total = len(groups) * len(race.splits) * n_inner
    ranks_of_best = np.zeros(len(race.splits), dtype=np.int64)
    kept: list[list[Trial]] = [[] for _ in groups]
    untested = np.zeros(len(race.splits), dtype=bool)
    with machine_warnings_off(), progress(total, race.subject.name, verbose) as advance:
        for number, group in enumerate(groups):
            grid = race.grid(group)
            choice = always_score or len(groups) * len(grid) > 1
            with race.trial(group, kept[number]) as trial:
                scores = _scores(race, number, len(grid), trial, choice, advance)
            ranks = np.repeat(group, len(grid) // len(group))
            positions = scores.argmax(axis=1)  # the first if tied: the smallest C
            top = scores.max(axis=1)
            earlier = (top == race.best) & (ranks[positions] < ranks_of_best)
            better = np.flatnonzero((top > race.best) | earlier)
            race.best[better] = top[better]
            ranks_of_best[better] = ranks[positions[better]]
            race.places[better] = np.column_stack([np.full(len(better), number), positions[better]])
            untested[better] = True
            _make_room(race, kept, untested)
        _test_groups(race, range(len(groups)), kept, untested)


def _make_room(race: Race, kept: list[list[Trial]], untested: Array) -> None:
    """Drop matrices that no split has chosen; test choices early where there are too many."""
    held = 0
    for number, trials in enumerate(kept):
        if trials and not (race.places[untested, 0] == number).any():
            trials.clear()
        held += sum(trial.n_bytes for trial in trials)
    for number in reversed(range(len(kept))):  # the oldest first
        if held > _KEPT_BYTES and kept[number]:
            held -= kept[number][0].n_bytes
            _test_groups(race, [number], kept, untested)


def retrained(race: Race, chosen: Race) -> None:
    """Fit and test with the options that another race chose, split by split."""
    race.places = chosen.places
    groups = race.subject.groups()
    with machine_warnings_off():
        _test_groups(
            race, range(len(groups)), [[] for _ in groups], np.ones(len(race.splits), dtype=bool)
        )


def _test_groups(
    race: Race, numbers: Iterable[int], kept: list[list[Trial]], untested: Array
) -> None:
    """Test the choices of some groups of options that were not tested, on all threads at once.

    As many groups are tested together as may stay in memory.
    """
    tasks: list[tuple[str, Trial, int]] = []
    trials: list[Trial] = []
    for number in numbers:
        which = np.flatnonzero(untested & (race.places[:, 0] == number))
        missing = _known_tests(race, number, which)
        untested[which] = False
        if missing:
            with race.trial(race.subject.groups()[number], kept[number]) as trial:
                trials.append(trial())
            tasks += [(f"{number}-test", trials[-1], s) for s in missing]
        kept[number].clear()
        if sum(trial.n_bytes for trial in trials) > _KEPT_BYTES:
            _test(race, tasks, trials)
            tasks, trials = [], []
    _test(race, tasks, trials)


def _known_tests(race: Race, number: int, which: Ints) -> list[int]:
    """Take the recorded tests of a group's choices; the splits whose tests are missing."""
    grid = race.grid(race.subject.groups()[number]) if len(which) else []
    known = race.ledger.known(f"{number}-test") if len(which) else {}
    for s in which.tolist():
        race.chosen[s] = dict(grid[race.places[s, 1]])
        race.outcomes[s] = race.ledger.outcome(known[s]) if s in known else None
        _take_cost(race, s)
    return [s for s in which.tolist() if s not in known and len(race.splits[s].test)]


def _scores(
    race: Race,
    number: int,
    n_entries: int,
    trial: Callable[[], Trial],
    choice: bool,
    advance: Callable[[], None],
) -> Floats:
    """One row per split, one column per entry of the grid; recorded scores are not recomputed."""
    scores = np.zeros((len(race.splits), n_entries))
    if not choice:
        return scores
    part = f"{number}-scores"
    known = race.ledger.known(part)
    for s, record in known.items():
        scores[s] = [-np.inf if value is None else value for value in record]
        for _ in race.splits[s].inner:
            advance()
    missing = [s for s in range(len(race.splits)) if s not in known]

    def keep(s: int, found: Floats) -> None:
        scores[s] = found
        race.ledger.add(part, s, [None if value == -np.inf else value for value in found.tolist()])

    if missing:
        race.score_inner(trial(), missing, keep, advance)
    return scores


def _test(race: Race, tasks: Sequence[tuple[str, Trial, int]], trials: Sequence[Trial]) -> None:
    """Predict test parts with the options chosen there: parts of the record, trials, splits."""

    def work(number: int) -> None:
        part, trial, s = tasks[number]
        split = race.splits[s]
        with trial.stopwatch():
            outcome = trial.final(split.train, split.test, int(race.places[s, 1]))
        race.outcomes[s] = outcome
        race.ledger.add_outcome(part, s, outcome)
        _take_cost(race, s)

    with race.measured(trials):
        race.over(len(tasks), work)


def _take_cost(race: Race, s: int) -> None:
    """Record the C that a machine chose itself."""
    found = race.outcomes[s]
    if found is not None and found.chosen is not None:
        race.chosen[s]["C"] = found.chosen[0]
