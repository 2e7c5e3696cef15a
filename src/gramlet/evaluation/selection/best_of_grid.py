"""Options chosen on the test parts themselves, as some papers did: one choice for all of them.

Separate from `selection.nested`, because the result is not an unbiased estimate; these results are
marked "optimistic" wherever they are shown.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from gramlet.common.arrays import Floats, Ints
from gramlet.engine.core.tiles import progress
from gramlet.evaluation.machines.machines import Outcome
from gramlet.evaluation.protocols.splits import Split
from gramlet.evaluation.scores.scorers import part_scores
from gramlet.evaluation.selection.selection import Race, machine_warnings_off, settled_costs
from gramlet.evaluation.selection.trials import Trial

__all__ = ["best_of_grid"]


def best_of_grid(races: Sequence[Race], verbose: int | bool) -> None:
    """Choose by the mean over draws, repeats and test parts; ties go to the first listed.

    Parameters
    ----------
    races : sequence of Race
        One per draw of random numbers, all with the same options and splits.
    """
    first = races[0]
    groups = first.subject.groups()
    total = len(groups) * len(races) * len(first.splits)
    best, best_rank = -np.inf, 0
    winner: tuple[Sequence[int], int] = (groups[0], 0)
    with machine_warnings_off(), progress(total, first.subject.name, verbose) as advance:
        for number, group in enumerate(groups):
            by_draw = [_outcomes(race, number, group, advance) for race in races]
            means = np.mean(
                [_mean_scores(r, found) for r, found in zip(races, by_draw, strict=True)], axis=0
            ).round(12)
            position = int(means.argmax())
            rank = group[position * len(group) // len(means)]
            if means[position] < best or (means[position] == best and rank > best_rank):
                continue
            best, best_rank = float(means[position]), rank
            for race, found in zip(races, by_draw, strict=True):
                race.best[:] = best
                _settle(race, group, position, found)
            winner = group, position
        for race in races:
            _test_again(race, *winner)


def _outcomes(
    race: Race, number: int, group: Sequence[int], advance: Callable[[], None]
) -> list[Outcome]:
    """Predictions for all test parts with each entry of one group's grid, for one draw."""
    part = f"{number}-grid"
    outcomes = {s: race.ledger.outcome(record) for s, record in race.ledger.known(part).items()}
    missing = [s for s in range(len(race.splits)) if s not in outcomes]
    with race.trial(group) as trial:
        if missing:
            trial()

        def work(k: int) -> None:
            s = missing[k]
            with trial().stopwatch():
                tested = _narrowed(trial(), race, race.splits[s])
            # Many numbers to store, and the chosen entry is tested again.
            drop = race.scorer.needs == "predictions" and _tested_again(race)
            outcomes[s] = replace(tested, decisions=None) if drop else tested
            race.ledger.add_outcome(part, s, outcomes[s])
            advance()

        race.over(len(missing), work)
    return [outcomes[s] for s in range(len(race.splits))]


def _narrowed(trial: Trial, race: Race, split: Split) -> Outcome:
    """Predictions for the test part: of each entry of the grid, or of each set of options.

    The latter if a machine chooses C by inner folds that do not split groups.
    """
    tested = trial.tried(split.train, split.test)
    if not trial.chooses_cost:
        return tested
    inner = [trial.tried(*pair) for pair in split.inner]
    truth = race.data.target.values[np.concatenate([held for _, held in split.inner])]
    predictions = np.concatenate([outcome.predictions for outcome in inner], axis=1)
    kept = settled_costs(trial, truth, predictions)
    return Outcome(
        tested.predictions[kept],
        None if tested.decisions is None else tested.decisions[kept],
        tuple(float(trial.grid[g]["C"]) for g in kept),
    )


def _mean_scores(race: Race, outcomes: Sequence[Outcome]) -> Floats:
    """The mean score over repeats and test parts, of each entry of the grid."""
    target = race.data.target.values
    n_entries = len(outcomes[0].predictions)
    found = np.empty((race.splits[-1].repeat + 1, n_entries))
    for repeat in range(len(found)):
        mine = [s for s, split in enumerate(race.splits) if split.repeat == repeat]
        tests = [race.splits[s].test for s in mine]
        ends = np.cumsum([len(test) for test in tests])
        parts: list[Ints] = [
            np.arange(end - len(test), end) for end, test in zip(ends, tests, strict=True)
        ]
        truth = target[np.concatenate(tests)]
        for g in range(n_entries):
            rows = [outcomes[s].row(g) for s in mine]
            predictions = np.concatenate([row.predictions[0] for row in rows])
            values = [row.decisions[0] for row in rows if row.decisions is not None]
            decisions = np.concatenate(values) if len(values) == len(rows) else None
            scores = part_scores(race.scorer, truth, predictions, decisions, parts)
            found[repeat, g] = scores.mean()
    means: Floats = found.mean(axis=0)
    return means


def _test_again(race: Race, group: Sequence[int], position: int) -> None:
    """Predict with scikit-learn's machine, after a compiled one has scored the grid."""
    if not _tested_again(race):
        return
    which, cost = divmod(position, len(race.machine.costs))
    part = "best"
    known = race.ledger.known(part)
    for s, record in known.items():
        race.outcomes[s] = race.ledger.outcome(record)
    missing = [s for s in range(len(race.splits)) if s not in known]
    with race.trial(group[which : which + 1]) as trial:
        if missing:
            trial()

        def work(k: int) -> None:
            split = race.splits[missing[k]]
            with trial().stopwatch():
                outcome = trial().final(split.train, split.test, cost)
            race.outcomes[missing[k]] = outcome
            race.ledger.add_outcome(part, missing[k], outcome)

        race.over(len(missing), work)


def _tested_again(race: Race) -> bool:
    """Whether a compiled machine scores the grid and another one makes the final predictions."""
    machine = race.machine
    by_kernel = race.subject.kind not in ("baseline", "predictor")
    return by_kernel and bool(machine.costs) and not machine.chooses_cost


def _settle(race: Race, group: Sequence[int], position: int, found: Sequence[Outcome]) -> None:
    """Use the predictions of one entry of the grid as the race's outcome."""
    grid = race.grid(group)
    if len(grid) != len(found[0].predictions):  # one entry per set of options
        grid = race.sets_of(group)
    for s, outcome in enumerate(found):
        row = outcome.row(position)
        race.outcomes[s] = row
        race.chosen[s] = dict(grid[position])
        if row.chosen is not None:
            race.chosen[s]["C"] = row.chosen[0]
