"""Results in a report: scores with intervals and baselines, and comparisons of all pairs."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gramlet.common.arrays import Floats
from gramlet.evaluation.results.result import Result
from gramlet.evaluation.results.tables import as_good_as_the_best, remarks
from gramlet.evaluation.scores.significance import compare_results, overlap_of
from gramlet.report.figures import intervals
from gramlet.report.material import Material
from gramlet.report.words import (
    Cell,
    Figure,
    Table,
    percent_or_number,
    score_limits,
    score_text,
)

__all__ = ["interval_of", "scores_section"]

_LEVEL = 0.05
_RARE, _COMMON = 0.1, 0.85  # shares of the rarest and of the largest class


def interval_of(scores: Floats, overlap: float) -> tuple[float, float] | None:
    """The 95 % interval of the mean by the corrected resampled t; None for one test part."""
    from scipy.stats import t as student

    runs = scores.size
    if runs < 2:
        return None
    half = float(student.ppf(1 - _LEVEL / 2, runs - 1)) * math.sqrt(
        (1 / runs + overlap) * float(scores.var(ddof=1))
    )
    mean = float(scores.mean())
    return mean - half, mean + half


def scores_section(material: Material) -> dict[str, Any]:
    """The section about the results."""
    rows = sorted(material.results, key=lambda result: -result.mean)
    scoring = material.first.scoring
    extra = _baselines(material)
    return {
        "protocol": material.first.protocol.describe(),
        "optimistic": any(result.optimistic for result in rows),
        "table": _table(rows, extra, scoring),
        "chart": _chart(rows, extra, scoring),
        "verdict": _verdict(rows),
        "comparisons": _comparisons(rows),
        "remarks": [*_rare_class(material), *remarks(rows)],
    }


def _rare_class(material: Material) -> list[str]:
    """That accuracy says little of a class that few graphs have."""
    if material.regression or material.first.scoring != "accuracy" or material.target is None:
        return []
    codes = np.asarray(material.codes)
    shares = np.bincount(codes[codes >= 0], minlength=len(material.class_names)) / len(codes)
    rare, common = int(np.argmin(shares)), int(np.argmax(shares))
    if shares[rare] >= _RARE or shares[common] < _COMMON:
        return []
    return [
        f"{material.class_names[rare]} is {shares[rare]:.1%} of the graphs: predicting "
        f"{material.class_names[common]} for all of them has an accuracy of {shares[common]:.1%}. "
        "Scores that weigh classes equally (balanced_accuracy, roc_auc, average_precision) and "
        'class_weight="balanced" tell more.'
    ]


def _baselines(material: Material) -> dict[str, Floats]:
    """Scores of baselines that are stored in the results and are not results themselves."""
    shown = {result.name for result in material.results}
    found: dict[str, Floats] = {}
    for result in material.results:
        for name, scores in result.baselines.items():
            if name not in shown:
                found.setdefault(name, scores)
    return found


def _table(rows: list[Result], extra: dict[str, Floats], scoring: str) -> Table:
    overlap = overlap_of(rows[0].protocol)
    cells = [_row(result, overlap, _p_of_best(rows, result), scoring) for result in rows]
    for name, scores in extra.items():
        cells.append((
            Cell(f"{name} (baseline)"), _score(float(scores.mean()), scoring),
            Cell("–", 0), _interval(scores, overlap, scoring), Cell("–", 2), Cell("–", 0),
            Cell(""),
        ))  # fmt: skip
    headings = ("kernel", score_text(scoring), "±", "95 % interval", "p against the best",
                "seconds", "most often chosen")  # fmt: skip
    note = (
        "±: standard deviation of the repeats' means (of the folds, if there is one repeat). "
        "Intervals and p-values by the corrected resampled t-test."
    )
    return Table("Scores of all results", headings, cells, frozenset({1, 2, 3, 4, 5}), note)


def _row(result: Result, overlap: float, p_value: float | None, scoring: str) -> Any:
    chosen = "; ".join(
        f"{key} {value:g} ({share:.0%})" if isinstance(value, float)
        else f"{key} {value} ({share:.0%})"
        for key, (value, share) in result.most_chosen().items()
    )  # fmt: skip
    name = f"{result.name} (optimistic)" if result.optimistic else result.name
    return (
        Cell(name),
        _score(result.mean, scoring),
        Cell(percent_or_number(result.std, scoring), result.std),
        _interval(result.scores, overlap, scoring),
        Cell("the best", 2) if p_value is None else Cell(f"{p_value:.3g}", p_value),
        Cell(f"{result.seconds:.1f}", result.seconds),
        Cell(chosen or "nothing to choose"),
    )


def _score(value: float, scoring: str) -> Cell:
    return Cell(percent_or_number(value, scoring), value)


def _interval(scores: Floats, overlap: float, scoring: str) -> Cell:
    found = interval_of(scores, overlap)
    if found is None:
        return Cell("one test part", float(scores.mean()))
    low, high = (percent_or_number(value, scoring) for value in _possible(found, scoring))
    return Cell(f"{low} to {high}", found[0])


def _possible(interval: tuple[float, float], scoring: str) -> tuple[float, float]:
    """The interval, clipped to possible scores: with few test parts it exceeds them."""
    lowest, highest = score_limits(scoring)
    return max(interval[0], lowest), min(interval[1], highest)


def _p_of_best(rows: list[Result], result: Result) -> float | None:
    if result is rows[0] or result.scores.size < 2:
        return None
    try:
        return compare_results(rows[0], result).p_value
    except ValueError:
        return None


def _chart(rows: list[Result], extra: dict[str, Floats], scoring: str) -> Figure:
    overlap = overlap_of(rows[0].protocol)
    shown = []
    every = [(r.name, r.scores) for r in rows] + list(extra.items())
    for name, scores in every:
        found = interval_of(scores, overlap)
        if found is not None:
            low, high = _possible(found, scoring)
            shown.append((name, low, float(scores.mean()), high))
    title = f"{score_text(scoring)} with 95 % intervals"
    if not shown:
        return Figure(None, title, "There is one test part only: no interval can be given.")
    return Figure(intervals(shown, title, score_text(scoring)), title)


def _verdict(rows: list[Result]) -> str:
    if len(rows) == 1:
        return "There is one result; it can only be compared with the baselines."
    if rows[0].scores.size < 2:
        return "There is one test part only: results cannot be compared by a test."
    try:
        best, near = as_good_as_the_best(rows)
    except ValueError as why:
        return f"The results cannot be compared: {why}"
    beside = f" Not significantly worse at 5 %: {', '.join(near)}." if near else (
        " All others are significantly worse at 5 %."
    )  # fmt: skip
    return f"Best: {best.name}.{beside}"


def _signed(value: float, digits: int) -> str:
    """A difference with its sign; one that rounds to 0 has no sign."""
    return f"{value:+.{digits}f}" if round(value, digits) else f"{0:.{digits}f}"


def _comparisons(rows: list[Result]) -> Table | None:
    """Every pair, by the corrected resampled t-test."""
    if len(rows) < 2 or rows[0].scores.size < 2:
        return None
    found = []
    for i, first in enumerate(rows):
        for second in rows[i + 1 :]:
            try:
                pair = compare_results(first, second)
            except ValueError:
                continue
            word = "yes" if pair.p_value <= _LEVEL else "no"
            found.append((
                Cell(pair.first), Cell(pair.second), Cell(_signed(pair.difference, 4),
                pair.difference), Cell(_signed(pair.statistic, 2), pair.statistic),
                Cell(f"{pair.p_value:.3g}", pair.p_value), Cell(word),
            ))  # fmt: skip
    if not found:
        return None
    headings = ("first", "second", "difference", "t", "p", "different at 5 %")
    return Table("Every pair of results", headings, found, frozenset({2, 3, 4}))
