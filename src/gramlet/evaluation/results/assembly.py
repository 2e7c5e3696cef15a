"""Converts the outcome of a race to a result: scored predictions in the order of the graphs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from gramlet.common.arrays import Array, Floats, Ints
from gramlet.evaluation.protocols.protocol import Protocol
from gramlet.evaluation.protocols.splits import Split
from gramlet.evaluation.results.hints import Hint
from gramlet.evaluation.results.result import DataFacts, Result
from gramlet.evaluation.scores.scorers import part_scores
from gramlet.evaluation.selection.selection import Race

__all__ = ["facts_of", "join_draws", "result_of", "scores_of", "with_hints"]


def scores_of(race: Race) -> Floats:
    """The score of each test part, shape (repeats, folds)."""
    target = race.data.target.values
    predictions, decisions, folds = _out_of_fold(race)
    rows = []
    for repeat, row in enumerate(folds):
        parts = [np.flatnonzero(row == fold) for fold in range(row.max() + 1)]
        values = None if decisions is None else decisions[repeat]
        rows.append(part_scores(race.scorer, target, predictions[repeat], values, parts))
    return np.array(rows)


def result_of(
    race: Race, protocol: Protocol, facts: DataFacts, classifier: str, class_weight: Any = None
) -> Result:
    """Everything that one race found."""
    target = race.data.target
    per_repeat = protocol.folds_a_repeat
    predictions, decisions, folds = _out_of_fold(race)
    machineless = race.subject.kind in ("baseline", "predictor")
    return Result(
        name=race.subject.name,
        scores=scores_of(race),
        chosen=[race.chosen[k : k + per_repeat] for k in range(0, len(race.chosen), per_repeat)],
        refitted=race.refitted,
        kernel_seconds=race.kernel_seconds,
        other_seconds=race.other_seconds,
        protocol=protocol,
        data=facts,
        task=target.task,
        scoring=race.scorer.name,
        classifier="" if machineless else classifier,
        class_weight=None if machineless else class_weight,
        classes=target.classes,
        target=target.plain,
        folds=_spread(folds, target.kept, len(target.plain), -1),
        predictions=_named(race, predictions, folds),
        decisions=None
        if decisions is None
        else _spread(decisions, target.kept, len(target.plain), np.nan),
        tried=_tried(race, protocol, machineless),
    )


def _out_of_fold(race: Race) -> tuple[Array, Floats | None, Ints]:
    """Predictions, decision values and test parts by repeat, of the graphs that are used."""
    n, task = len(race.data), race.data.target.task
    repeats = race.splits[-1].repeat + 1
    missing = np.nan if task == "regression" else -1
    predictions = np.full((repeats, n), missing, dtype=float if task == "regression" else np.int64)
    folds = np.full((repeats, n), -1, dtype=np.int64)
    decisions: Floats | None = None
    for split, outcome in zip(race.splits, race.outcomes, strict=True):
        assert outcome is not None, "every split is tested"
        predictions[split.repeat, split.test] = outcome.predictions[0]
        folds[split.repeat, split.test] = split.fold
        if outcome.decisions is not None:
            if decisions is None:
                decisions = np.full((repeats, n, *outcome.decisions.shape[2:]), np.nan)
            decisions[split.repeat, split.test] = outcome.decisions[0]
    return predictions, decisions, folds


def _spread(values: Array, kept: Ints, n: int, missing: Any) -> Array:
    """Columns of the graphs that are used, within those of all graphs."""
    if len(kept) == n:
        return values
    found = np.full((values.shape[0], n, *values.shape[2:]), missing, dtype=values.dtype)
    found[:, kept] = values
    return found


def _named(race: Race, predictions: Array, folds: Ints) -> Array:
    """Predictions as classes; None for graphs without one."""
    target = race.data.target
    if target.task == "regression":
        return _spread(predictions, target.kept, len(target.plain), np.nan)
    named = target.classes[predictions]
    if (folds >= 0).all() and len(target.kept) == len(target.plain):
        return named
    objects = named.astype(object)
    objects[folds < 0] = None
    return _spread(objects, target.kept, len(target.plain), None)


def _tried(race: Race, protocol: Protocol, machineless: bool) -> dict[str, list[Any]]:
    """The values of each option, in the order given, and of C."""
    found: dict[str, list[Any]] = {}
    for options in race.subject.option_sets:
        for key, value in options.items():
            values = found.setdefault(key, [])
            if not any(repr(value) == repr(other) for other in values):
                values.append(value)
    return found if machineless else {**found, "C": list(protocol.C)}


def join_draws(results: Sequence[Result]) -> Result:
    """One result of several draws of random numbers: the mean, and each of them."""
    first = results[0]
    if len(results) == 1:
        return first
    return replace(
        first,
        scores=np.mean([result.scores for result in results], axis=0),
        kernel_seconds=sum(result.kernel_seconds for result in results),
        other_seconds=sum(result.other_seconds for result in results),
        by_draw=tuple(results),
    )


def with_hints(
    result: Result, baselines: Mapping[str, Floats], hints: Sequence[Hint], overlap: float
) -> Result:
    """A result with its baselines and hints."""
    from gramlet.evaluation.results.hints import baseline_hints, edge_of_grid_hints, pooled_hints

    pooled = result.pooled
    chosen = [
        options for draw in (result.by_draw or (result,)) for row in draw.chosen for options in row
    ]
    found = [
        *edge_of_grid_hints(result.tried, chosen, _chosen_on_test_parts(result)),
        *baseline_hints(result.name, result.scores, baselines, pooled, overlap),
        *pooled_hints(pooled, result.task),
        *hints,
    ]
    return replace(result, baselines=dict(baselines), hints=tuple(found))


def _chosen_on_test_parts(result: Result) -> set[str]:
    """The options that were chosen on the test parts; ridge chooses C in the training parts."""
    if not result.optimistic:
        return set()
    return set(result.tried) - ({"C"} if result.classifier == "ridge" else set())


def facts_of(
    values: Array, classes: Array, left_out: int, splits: Sequence[Split], name: str
) -> DataFacts:
    """Facts about the data, with a digest of targets and splits."""
    import hashlib

    digest = hashlib.sha256(values.tobytes())
    for split in splits:
        digest.update(split.test.tobytes())
    members = np.bincount(values, minlength=len(classes)).tolist() if len(classes) else []
    return DataFacts(
        name=name,
        n_graphs=len(values),
        classes={str(c.item()): n for c, n in zip(classes, members, strict=True)},
        splits=digest.hexdigest(),
        left_out=left_out,
    )
