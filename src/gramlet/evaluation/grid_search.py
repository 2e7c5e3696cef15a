"""The choice of kernel, options and C by cross-validation inside training parts.

`select` is what `evaluate` and the estimators share: for each candidate the kernel
matrices, for each training part `score_grid`, and the best entry of the grid. `predict_tests` fits
the chosen entries and predicts the test parts.
"""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from gramlet.common.arrays import Array, Floats, Ints
from gramlet.common.notices import warn_caller
from gramlet.engine.core.compiling import clock
from gramlet.engine.core.tiles import Tiling, for_tiles
from gramlet.evaluation.baselines import size_features
from gramlet.evaluation.candidates import Candidate, shared_fits
from gramlet.evaluation.machines import Block, Machine, Prediction, by_largest, with_absent
from gramlet.evaluation.matrices import Features, SharedFit, centred_and_scaled, fitted_blocks
from gramlet.evaluation.scorers import Scorer, part_scores
from gramlet.evaluation.splits import Pair, Split
from gramlet.evaluation.store import Records
from gramlet.evaluation.task import Target
from gramlet.graphs.batch import GraphBatch

_TILES = 64  # tasks for the threads: more would cost more than they gain in balance
_MATRIX_BYTES = 1 << 30  # Gram matrices that stay in memory until their candidates are tested


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


class Predictor(ABC):
    """Candidates that share one fit, ready to predict parts of the data from several threads.

    Attributes
    ----------
    positions : sequence of int
        Positions of its candidates.
    grid : list of dict
        What is chosen by each of its entries: the options of one candidate after the other, each
        with all C.
    per_candidate : int
        Entries per candidate.
    kernel_seconds : list of float
        Time spent in the kernel.
    n_bytes : int
        The size of the matrix that it holds.
    """

    n_bytes = 0

    def __init__(
        self, positions: Sequence[int], candidates: Sequence[Candidate], costs: Sequence[float] = ()
    ) -> None:
        self.positions = positions
        self.candidates = candidates
        by_cost: list[dict[str, Any]] = [{"C": cost} for cost in costs] or [{}]
        self.grid = [{**c.chosen, **cost} for c in candidates for cost in by_cost]
        self.per_candidate = len(by_cost)
        self.kernel_seconds: list[float] = []  # a list, because several threads may append

    @abstractmethod
    def predict_grid(self, train: Ints, held: Ints) -> Prediction:
        """Fit on a training part; predictions for held-out graphs, one row per entry."""

    def predict(self, train: Ints, held: Ints, entry: int) -> Prediction:
        """The same for one entry."""
        return self.predict_grid(train, held).rows(entry)

    def log_likelihoods(self, train: Ints) -> Floats:
        """The logarithm of the marginal likelihood of a training part, per candidate."""
        raise NotImplementedError

    def prepare(self) -> None:  # noqa: B027 (nothing to do for some predictors)
        """Compute the matrix of all graphs, if one serves all training parts."""

    def release(self) -> None:  # noqa: B027
        """Free the memory of the matrix, which is computed again when it is needed."""


class _BaselinePredictor(Predictor):
    def __init__(self, position: int, candidate: Candidate, data: Data) -> None:
        super().__init__([position], [candidate])
        self._target = data.target
        self._sizes = size_features(data.batch()) if candidate.estimator.needs_graphs else None

    def predict_grid(self, train: Ints, held: Ints) -> Prediction:
        baseline = self.candidates[0].estimator
        prediction: Prediction = baseline.predict(self._target, self._sizes, train, held)
        return prediction


class _EstimatorPredictor(Predictor):
    """An estimator that predicts itself."""

    def __init__(self, position: int, candidate: Candidate, data: Data) -> None:
        super().__init__([position], [candidate])
        self._data = data

    def predict_grid(self, train: Ints, held: Ints) -> Prediction:
        from sklearn.base import clone

        graphs, target = self._data.batch(), self._data.target
        fitted = clone(self.candidates[0].estimator).fit(graphs[train], target.named[train])
        predicted = np.asarray(fitted.predict(graphs[held]))
        if target.task == "regression":
            return Prediction(predicted.astype(np.float64).reshape(1, -1))
        codes = np.searchsorted(target.classes, predicted)[None]
        values = _class_values(fitted, graphs[held], target)
        return Prediction(codes, None if values is None else by_largest(values[None]).decisions)


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
            return with_absent(values, known, target.n_classes)
    return None


class _KernelPredictor(Predictor):
    """A machine on blocks of Gram matrices, or on features.

    The blocks are slices of one matrix of all graphs; or the kernel is fitted on each training
    part, where ``shared`` is None.
    """

    def __init__(
        self,
        positions: Sequence[int],
        candidates: Sequence[Candidate],
        data: Data,
        machine: Machine,
        shared: SharedFit | None,
    ) -> None:
        super().__init__(positions, candidates, machine.costs)
        self._data = data
        self._machine = machine
        self._shared = shared
        self._matrix: Floats | None = None  # of all graphs: kernel values, or features
        self._of_features = self._takes_rows = False

    def predict_grid(self, train: Ints, held: Ints) -> Prediction:
        target = self._data.target.values[train]
        blocks = self.blocks(train, held, self.candidates)
        return Prediction.join([self._machine.predict_grid(b, target) for b in blocks], 0)

    def predict(self, train: Ints, held: Ints, entry: int) -> Prediction:
        number, cost = divmod(entry, self.per_candidate)
        (block,) = self.blocks(train, held, self.candidates[number : number + 1])
        return self._machine.predict(block, self._data.target.values[train], cost)

    def log_likelihoods(self, train: Ints) -> Floats:
        target = self._data.target.values[train]
        blocks = self.blocks(train, train[:1], self.candidates)
        return np.array([self._machine.log_likelihood(b.gram, target) for b in blocks])

    def blocks(self, train: Ints, held: Ints, candidates: Sequence[Candidate]) -> Iterator[Block]:
        """What the machine gets, per candidate."""
        self.prepare()
        matrix = self._matrix
        if matrix is None:
            yield from self._fitted_blocks(train, held, candidates)
            return
        if self._takes_rows:
            yield Block(matrix[train], matrix[held], features=True)
            return
        gram, cross = matrix[np.ix_(train, train)], matrix[np.ix_(held, train)]
        diagonal = np.diagonal(matrix)[held] if self._machine.needs_diagonal else None
        if self._of_features:
            gram, cross, diagonal = centred_and_scaled(gram, cross, diagonal)
        yield Block(gram, cross, diagonal=diagonal)

    def _fitted_blocks(
        self, train: Ints, held: Ints, candidates: Sequence[Candidate]
    ) -> Iterator[Block]:
        graphs, target = self._data.batch(), self._data.target.named[train]
        machine = self._machine
        started = clock()
        for own, cross, diagonal in fitted_blocks(
            candidates, graphs[train], target, graphs[held], machine.needs_diagonal
        ):
            if not isinstance(own, Features):
                block = Block(own, cross, diagonal=diagonal)
            elif machine.takes_features and own.are_few:
                block = Block(own.rows, cross.rows, features=True)
            else:
                gram, rows, diagonal = centred_and_scaled(own.gram(), cross.against(own), diagonal)
                block = Block(gram, rows, diagonal=diagonal)
            self.kernel_seconds.append(clock() - started)
            yield block
            started = clock()

    def prepare(self) -> None:
        candidate = self.candidates[0]
        if self._matrix is not None or candidate.kind == "refitted":
            return
        if self._shared is None:
            self._matrix = candidate.estimator
            return
        output = self._shared.output(candidate)
        if isinstance(output, Features):
            self._of_features = True
            self._takes_rows = self._machine.takes_features and output.are_few
            output = output.rows if self._takes_rows else output.gram()
        self._matrix, self.n_bytes = output, output.nbytes

    def release(self) -> None:
        self._matrix, self.n_bytes = None, 0


def predictors_of(
    candidates: Sequence[Candidate], data: Data, machine: Machine, n_jobs: int | None
) -> list[Predictor]:
    """Predictors of all candidates, in the order in which their matrices are computed."""
    predictors: list[Predictor] = []
    for positions in shared_fits(candidates):
        group = [candidates[position] for position in positions]
        kind = group[0].kind
        if kind == "refitted":
            predictors.append(_KernelPredictor(positions, group, data, machine, None))
            continue
        shared = None
        if kind in ("sliced", "once"):
            shared = SharedFit(group, data.batch(), n_jobs)
        for position, candidate in zip(positions, group, strict=True):
            if kind == "baseline":
                predictors.append(_BaselinePredictor(position, candidate, data))
            elif kind == "predictor":
                predictors.append(_EstimatorPredictor(position, candidate, data))
            else:
                predictors.append(_KernelPredictor([position], [candidate], data, machine, shared))
    return predictors


@dataclass
class Timer:
    """Wall time in the kernel and in everything else; compilation is not included."""

    kernel: float = 0.0
    other: float = 0.0

    @contextmanager
    def measure(self, *predictors: Predictor, kernel: bool = False) -> Iterator[None]:
        """Measure a step; kernels that are fitted in threads are known by their share of the time.

        ``kernel``: whether all of it is time in the kernel.
        """
        before = sum(sum(p.kernel_seconds) for p in predictors)
        started = clock()
        yield
        seconds = clock() - started
        inside = sum(sum(p.kernel_seconds) for p in predictors) - before
        share = seconds if kernel else min(seconds, inside)
        self.kernel += share
        self.other += seconds - share


@dataclass(frozen=True)
class GridScores:
    """Scores of the entries of a grid over the folds of one training part.

    Attributes
    ----------
    mean, std : array, shape (entries,)
        −inf for entries among which the scorer does not choose.
    prediction : Prediction
        Predictions for the held-out graphs, fold by fold.
    """

    mean: Floats
    std: Floats
    prediction: Prediction


def score_grid(
    predictor: Predictor,
    folds: Sequence[Pair],
    data: Data,
    machine: Machine,
    scorer: Scorer,
    n_jobs: int | None = 1,
    advance: Callable[[], None] = lambda: None,
) -> GridScores:
    """Fit on the training part of each fold, and score all options and C on the held-out parts."""
    held = [part for _, part in folds]
    predictions: list[Any] = [None] * len(folds)

    def work(k: int) -> None:
        predictions[k] = predictor.predict_grid(*folds[k])
        for _ in predictor.candidates:
            advance()

    in_threads(work, range(len(folds)), n_jobs)
    joined = Prediction.join(predictions, 1)
    truth = data.target.values[np.concatenate(held)]
    ends = np.cumsum([len(part) for part in held])
    parts = [np.arange(end - len(part), end) for end, part in zip(ends, held, strict=True)]
    mean, std = np.full((2, len(joined.values)), -np.inf)
    for entry in scored_entries(predictor, machine, truth, joined.values):
        scores = part_scores(scorer, truth, parts, **joined.entry(entry))
        if scorer.name == "accuracy":  # counted over all graphs: folds differ in size
            mean[entry] = np.mean(joined.values[entry] == truth)
        else:
            mean[entry] = scores.mean()
        std[entry] = scores.std()
    return GridScores(mean.round(12), std, joined)  # scores that differ by rounding are equal


def scored_entries(predictor: Predictor, machine: Machine, truth: Array, values: Array) -> Ints:
    """The entries among which the scorer chooses: all; or, if C is chosen by loss, one per set."""
    if not (machine.cost_by_loss and predictor.candidates[0].has_machine):
        return np.arange(len(values))
    losses = np.round(machine.losses(truth, values), 12).reshape(-1, predictor.per_candidate)
    return losses.argmin(axis=1) + predictor.per_candidate * np.arange(len(losses))


@dataclass
class Selection:
    """The choice among candidates in one or several training parts.

    Attributes
    ----------
    candidates : sequence of Candidate
    predictors : list of Predictor
    grid : list of dict
        What each entry says that was chosen, over all candidates.
    means, stds : array, shape (splits, entries)
        Inner scores; −inf where there is none.
    chosen : array of int64, shape (splits,)
        The entry chosen in each training part: the best, the first if tied.
    out_of_fold : list of Prediction or None
        Predictions of the chosen entry for the inner held-out graphs, where they were kept.
    refusals : dict of str to str
        Kernels among several that could not compare these graphs, with some of their options at
        least, and the first reason.
    timer : Timer
    """

    candidates: Sequence[Candidate]
    predictors: list[Predictor]
    means: Floats
    stds: Floats
    timer: Timer
    grid: list[dict[str, Any]] = field(default_factory=list)
    out_of_fold: list[Prediction | None] = field(default_factory=list)
    refusals: dict[str, str] = field(default_factory=dict)

    def candidate_of(self, entry: int) -> Candidate:
        """The candidate that an entry of the grid belongs to."""
        entries, _ = entries_of(self.candidates, self.predictors)
        for predictor, mine in zip(self.predictors, entries, strict=True):
            place = np.flatnonzero(mine == entry)
            if len(place):
                return predictor.candidates[int(place[0]) // predictor.per_candidate]
        raise IndexError(f"There is no entry {entry}.")

    @property
    def chosen(self) -> Ints:
        best: Ints = self.means.argmax(axis=1)
        return best

    def predictor_of(self, entry: int) -> tuple[Predictor, int]:
        """The predictor that an entry of the grid belongs to, and its position there."""
        entries, _ = entries_of(self.candidates, self.predictors)
        for predictor, mine in zip(self.predictors, entries, strict=True):
            if entry in mine:
                return predictor, int(np.flatnonzero(mine == entry)[0])
        raise IndexError(f"There is no entry {entry}.")

    @property
    def best(self) -> Floats:
        """The score of each choice."""
        best: Floats = self.means.max(axis=1)
        return best


def entries_of(
    candidates: Sequence[Candidate], predictors: Sequence[Predictor]
) -> tuple[list[Ints], list[dict[str, Any]]]:
    """The entries of each predictor in the grid of all candidates, and this grid.

    The grid has the candidates in their order, because ties go to the first.
    """
    lengths = np.zeros(len(candidates), dtype=np.int64)
    for predictor in predictors:
        lengths[list(predictor.positions)] = predictor.per_candidate
    starts = np.cumsum(lengths) - lengths
    grid: list[dict[str, Any]] = [{} for _ in range(int(lengths.sum()))]
    entries = []
    for predictor in predictors:
        mine = np.concatenate([starts[p] + np.arange(lengths[p]) for p in predictor.positions])
        for entry, chosen in zip(mine.tolist(), predictor.grid, strict=True):
            grid[entry] = chosen
        entries.append(mine)
    return entries, grid


def select(
    candidates: Sequence[Candidate],
    data: Data,
    splits: Sequence[Split],
    machine: Machine,
    scorer: Scorer,
    *,
    records: Records | None = None,
    n_jobs: int | None = None,
    advance: Callable[[], None] = lambda: None,
    always_score: bool = False,
    keep_predictions: bool = False,
) -> Selection:
    """Choose a candidate and C in each training part, by its inner folds or its likelihood.

    Parameters
    ----------
    candidates : sequence of Candidate
    data : Data
    splits : sequence of Split
        Training parts with inner folds.
    machine : Machine
    scorer : Scorer
    records : Records, optional
        Scores that are known; new ones are added.
    n_jobs : int or None
    advance : callable
        Called after each inner fold of each candidate.
    always_score : bool
        Whether a single entry is scored as well.
    keep_predictions : bool
        Whether `Selection.out_of_fold` is filled in.
    """
    records = Records() if records is None else records
    predictors = predictors_of(candidates, data, machine, n_jobs)
    entries, grid = entries_of(candidates, predictors)
    means = np.full((len(splits), len(grid)), -np.inf)
    stds = np.full((len(splits), len(grid)), np.nan)
    out_of_fold: list[Prediction | None] = [None] * len(splits)
    timer = Timer()
    if len(grid) == 1 and not always_score:
        means[:] = 0.0
        return Selection(candidates, predictors, means, stds, timer, grid)
    refusals: dict[str, str] = {}
    several = len({candidate.kernel for candidate in candidates}) > 1

    def score(number: int, fold_jobs: int | None, s: int) -> None:
        """Score the entries of one predictor in one training part."""
        predictor, mine = predictors[number], entries[number]
        if machine.by_likelihood and predictor.candidates[0].has_machine:
            means[s, mine] = predictor.log_likelihoods(splits[s].train).round(12)
            stds[s, mine] = 0.0
            for _ in range(len(predictor.candidates) * max(1, len(splits[s].inner))):
                advance()
        else:
            folds = splits[s].inner
            scores = score_grid(predictor, folds, data, machine, scorer, fold_jobs, advance)
            means[s, mine], stds[s, mine] = scores.mean, scores.std
            best = int(means[s].argmax())
            if keep_predictions and best in mine:
                out_of_fold[s] = scores.prediction.rows(np.flatnonzero(mine == best))
        plain = [None if value == -np.inf else value for value in means[s, mine].tolist()]
        records.add(f"scores {number} {s}", plain)

    for number, (predictor, mine) in enumerate(zip(predictors, entries, strict=True)):
        # What was scored in an earlier run is not scored again.
        missing = []
        for s, split in enumerate(splits):
            record = records.get(f"scores {number} {s}")
            if record is None or keep_predictions:
                missing.append(s)
                continue
            means[s, mine] = [-np.inf if value is None else value for value in record]
            for _ in range(len(split.inner) * len(predictor.candidates)):
                advance()
        kernel = predictor.candidates[0].kernel
        if not missing:
            continue
        # One training part per task; the folds of a single one are shared between the threads.
        fold_jobs = n_jobs if len(missing) == 1 else 1
        try:
            with timer.measure(kernel=True):
                predictor.prepare()
            with timer.measure(predictor):
                in_threads(partial(score, number, fold_jobs), missing, n_jobs)
        except (ValueError, TypeError) as refusal:
            if not several:
                raise
            refusals.setdefault(kernel, str(refusal))
            means[:, mine] = -np.inf
        _make_room(predictors, entries, means.argmax(axis=1))
    if refusals and (means.max(axis=1) == -np.inf).any():
        reasons = "\n".join(f"{kernel}: {reason}" for kernel, reason in refusals.items())
        raise ValueError(f"None of the kernels can be used.\n{reasons}")
    return Selection(candidates, predictors, means, stds, timer, grid, out_of_fold, refusals)


def _make_room(predictors: list[Predictor], entries: list[Ints], chosen: Ints) -> None:
    """Release the matrices that are not the best of any training part, and those too many."""
    held = 0
    for predictor, mine in zip(predictors, entries, strict=True):
        if not np.isin(chosen, mine).any() or held + predictor.n_bytes > _MATRIX_BYTES:
            predictor.release()
        held += predictor.n_bytes


def predict_tests(
    candidates: Sequence[Candidate],
    predictors: Sequence[Predictor],
    chosen: Ints,
    splits: Sequence[Split],
    timer: Timer,
    records: Records,
    n_jobs: int | None = None,
) -> list[Prediction]:
    """Fit the entry chosen for each split on its training part, and predict its test part."""
    predictions: list[Any] = [None] * len(splits)

    def test(predictor: Predictor, mine: Ints, s: int) -> None:
        entry = int(np.flatnonzero(mine == chosen[s])[0])
        predictions[s] = predictor.predict(splits[s].train, splits[s].test, entry)
        records.add(f"test {chosen[s]} {s}", predictions[s].to_dict())

    for predictor, mine in zip(predictors, entries_of(candidates, predictors)[0], strict=True):
        missing = []
        for s in np.flatnonzero(np.isin(chosen, mine)).tolist():
            record = records.get(f"test {chosen[s]} {s}")
            if record is None:
                missing.append(s)
            else:
                predictions[s] = Prediction.from_dict(record)
        if missing:
            with timer.measure(kernel=True):
                predictor.prepare()
            with timer.measure(predictor):
                in_threads(partial(test, predictor, mine), missing, n_jobs)
        predictor.release()
    return predictions


def in_threads(work: Callable[[int], None], numbers: Sequence[int], n_jobs: int | None) -> None:
    """Do some work for each of several numbers."""

    def tile(begin: int, end: int) -> None:
        for number in numbers[begin:end]:
            work(number)

    for_tiles(tile, len(numbers), n_tiles=_TILES, tiling=Tiling(n_jobs))


@contextmanager
def machine_warnings_off() -> Iterator[None]:
    """Suppress the warnings of single fits, which are counted and reported in one warning."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Solver terminated early")
        warnings.filterwarnings("ignore", message=r"\d+ descriptors of")
        yield


def warn_of_unfinished(machine: Machine, name: str, max_iter: int) -> None:
    """Warn once of all machines that reached the limit of steps."""
    unfinished = sum(machine.unfinished)
    if not unfinished:
        return
    from sklearn.exceptions import ConvergenceWarning

    warn_caller(
        f"{name}: {unfinished} support vector machines stopped after max_iter={max_iter} steps, "
        "before they reached the tolerance. Leave the largest C out, which take the most steps, or "
        "raise max_iter of the Protocol.",
        ConvergenceWarning,
    )
