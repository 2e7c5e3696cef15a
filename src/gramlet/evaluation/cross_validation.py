"""Nested cross-validation, and the choice of options on the test parts themselves.

`grid_search` chooses inside training parts and predicts; `run` makes results of the outcomes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gramlet.common.arrays import Floats, Ints
from gramlet.engine.core.tiles import progress
from gramlet.evaluation.candidates import Candidate
from gramlet.evaluation.grid_search import (
    Data,
    Predictor,
    Timer,
    entries_of,
    in_threads,
    machine_warnings_off,
    predict_tests,
    predictors_of,
    scored_entries,
    select,
    warn_of_unfinished,
)
from gramlet.evaluation.machines import Machine, Prediction
from gramlet.evaluation.protocol import Protocol
from gramlet.evaluation.scorers import Scorer, part_scores
from gramlet.evaluation.splits import Split
from gramlet.evaluation.store import Records


@dataclass(frozen=True)
class Outcome:
    """What a cross-validation found with one draw of random numbers.

    Attributes
    ----------
    chosen : list of dict
        The options chosen for each split.
    predictions : list of Prediction
        For each split's test part.
    timer : Timer
    """

    chosen: list[dict[str, Any]]
    predictions: list[Prediction]
    timer: Timer

    @classmethod
    def of(
        cls,
        grid: Sequence[dict[str, Any]],
        entries: Ints,
        predictions: list[Prediction],
        timer: Timer,
        machine: Machine,
    ) -> Outcome:
        """The outcome of testing one entry of the grid per split."""
        chosen = [dict(grid[entry]) for entry in entries]
        for options, prediction in zip(chosen, predictions, strict=True):
            if prediction.chosen is not None:  # the machine chose its penalty itself
                options[machine.penalty] = prediction.chosen[0]
        return cls(chosen, predictions, timer)


def cross_validate(
    candidates: Sequence[Candidate],
    data: Data,
    splits: Sequence[Split],
    machine: Machine,
    scorer: Scorer,
    protocol: Protocol,
    *,
    n_draws: int = 1,
    records_of: Callable[[int], Records] = lambda draw: Records(),
    n_jobs: int | None = None,
    verbose: int | bool = False,
) -> list[Outcome]:
    """Choose in each training part, without the test part; then predict the test part.

    Parameters
    ----------
    candidates : sequence of Candidate
    data : Data
    splits : sequence of Split
    machine : Machine
    scorer : Scorer
        By which options are chosen.
    protocol : Protocol
    n_draws : int
        The number of seeds of candidates that draw random numbers.
    records_of : callable
        Gives the records of a draw.
    n_jobs : int or None
    verbose : bool

    Returns
    -------
    list of Outcome
        One per draw, or per final fit of candidates that draw random numbers.
    """
    name = candidates[0].name
    is_random = any(candidate.is_random for candidate in candidates)
    draws = [
        [candidate.draw(number) for candidate in candidates]
        for number in range(n_draws if is_random else 1)
    ]
    records = [records_of(number) for number in range(len(draws))]
    per_candidate = len(draws) * len(splits) * max(1, len(splits[0].inner))
    outcomes = []
    with (
        machine_warnings_off(),
        progress(len(candidates) * per_candidate, name, verbose) as advance,
    ):
        if protocol.optimistic:
            return _best_of_grid(draws, data, splits, machine, scorer, records, n_jobs, advance)
        for drawn, known in zip(draws, records, strict=True):
            selection = select(
                drawn,
                data,
                splits,
                machine,
                scorer,
                records=known,
                n_jobs=n_jobs,
                advance=advance,
            )
            grid, chosen, timer = selection.grid, selection.chosen, selection.timer
            tests = predict_tests(drawn, selection.predictors, chosen, splits, timer, known, n_jobs)
            outcomes.append(Outcome.of(grid, chosen, tests, timer, machine))
        if is_random and n_draws == 1:
            # The options that were chosen, fitted again with other random numbers.
            for number in range(1, protocol.retrainings):
                drawn, known = [c.draw(number) for c in candidates], records_of(number)
                predictors, timer = predictors_of(drawn, data, machine, n_jobs), Timer()
                tests = predict_tests(drawn, predictors, chosen, splits, timer, known, n_jobs)
                outcomes.append(Outcome.of(grid, chosen, tests, timer, machine))
    warn_of_unfinished(machine, name, protocol.max_iter)
    return outcomes


def _best_of_grid(
    draws: Sequence[Sequence[Candidate]],
    data: Data,
    splits: Sequence[Split],
    machine: Machine,
    scorer: Scorer,
    records: Sequence[Records],
    n_jobs: int | None,
    advance: Callable[[], None],
) -> list[Outcome]:
    """One choice for all splits, by the mean over draws, repeats and test parts.

    Not an unbiased estimate: such results are marked "optimistic" wherever they are shown.
    """
    scores, tested, fitted = [], [], []
    for drawn, known in zip(draws, records, strict=True):
        predictors, timer = predictors_of(drawn, data, machine, n_jobs), Timer()
        entries, grid = entries_of(drawn, predictors)
        means = np.full(len(grid), -np.inf)
        entry_of_split = np.zeros((len(splits), len(grid)), dtype=np.int64)
        for number, (predictor, mine) in enumerate(zip(predictors, entries, strict=True)):
            with timer.measure(predictor):
                tests, rows = _predict_grids(
                    number, predictor, data, splits, machine, scorer, known, n_jobs, advance
                )
            # Where a loss chooses C in each training part, there is one column per candidate.
            columns = mine if len(rows[0]) == len(mine) else mine[:: predictor.per_candidate]
            means[columns] = _mean_scores(scorer, data, splits, tests)
            entry_of_split[:, columns] = mine[np.array(rows)]
            predictor.release()
        scores.append(means)
        tested.append(entry_of_split)
        fitted.append((drawn, predictors, grid, timer))
    best = int(np.mean(scores, axis=0).round(12).argmax())  # the first if tied
    outcomes = []
    for entry_of_split, known, (drawn, predictors, grid, timer) in zip(
        tested, records, fitted, strict=True
    ):
        chosen = entry_of_split[:, best]
        final = predict_tests(drawn, predictors, chosen, splits, timer, known, n_jobs)
        outcomes.append(Outcome.of(grid, chosen, final, timer, machine))
    return outcomes


def _predict_grids(
    number: int,
    predictor: Predictor,
    data: Data,
    splits: Sequence[Split],
    machine: Machine,
    scorer: Scorer,
    records: Records,
    n_jobs: int | None,
    advance: Callable[[], None],
) -> tuple[list[Prediction], list[list[int]]]:
    """Predictions for all test parts, and the entries of the grid that their rows belong to."""
    tests: list[Any] = [None] * len(splits)
    rows: list[list[int]] = [[] for _ in splits]

    def work(s: int) -> None:
        record, split = records.get(f"grid {number} {s}"), splits[s]
        if record is not None:
            tests[s], rows[s] = Prediction.from_dict(record["tests"]), record["rows"]
        else:
            prediction = predictor.predict_grid(split.train, split.test)
            entries = np.arange(len(prediction.values))
            if machine.cost_by_loss and predictor.candidates[0].has_machine:
                inner = Prediction.join([predictor.predict_grid(*pair) for pair in split.inner], 1)
                held = np.concatenate([part for _, part in split.inner])
                truth = data.target.values[held]
                entries = scored_entries(predictor, machine, truth, inner.values)
            rows[s], tests[s] = entries.tolist(), prediction.rows(entries)
            if scorer.needs == "predictions":  # decision values of a grid are many numbers
                tests[s] = Prediction(tests[s].values)
            records.add(f"grid {number} {s}", {"tests": tests[s].to_dict(), "rows": rows[s]})
        for _ in predictor.candidates:
            advance()

    in_threads(work, range(len(splits)), n_jobs)
    return tests, rows


def _mean_scores(
    scorer: Scorer, data: Data, splits: Sequence[Split], tests: Sequence[Prediction]
) -> Floats:
    """The mean score over repeats and test parts, of each entry of the grid."""
    by_repeat = []
    for repeat in range(splits[-1].repeat + 1):
        mine = [s for s, split in enumerate(splits) if split.repeat == repeat]
        lengths = [len(splits[s].test) for s in mine]
        ends = np.cumsum(lengths)
        parts = [np.arange(end - n, end) for end, n in zip(ends, lengths, strict=True)]
        truth = data.target.values[np.concatenate([splits[s].test for s in mine])]
        joined = Prediction.join([tests[s] for s in mine], 1)
        by_repeat.append(
            [
                part_scores(scorer, truth, parts, **joined.entry(k)).mean()
                for k in range(len(joined.values))
            ]
        )
    means: Floats = np.mean(by_repeat, axis=0)
    return means
