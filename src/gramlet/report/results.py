"""Results in a report: scores with intervals and baselines, comparisons, and how to repeat them."""

from __future__ import annotations

import hashlib
import math
import platform
from importlib.metadata import PackageNotFoundError, version
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from gramlet._version import __version__
from gramlet.common.arrays import Bools, Floats
from gramlet.evaluation.machines import CLASSIFIERS
from gramlet.evaluation.result import Result
from gramlet.evaluation.result_table import as_good_as_the_best, remarks, shown_scorers
from gramlet.evaluation.scorers import percent_or_number, plain_score, score_text
from gramlet.evaluation.significance import (
    compare_results,
    independent_runs,
    overlap_of,
    overlap_of_runs,
)
from gramlet.graphs.fingerprint import digest_of
from gramlet.report.figures import intervals
from gramlet.report.material import CONSTANTS, Material, is_registered
from gramlet.report.parts import (
    Cell,
    Figure,
    Table,
    score_limits,
    sentence,
)

_PACKAGES = ("numpy", "scipy", "scikit-learn", "numba", "joblib", "jinja2", "rdkit", "networkx")
_LEVEL = 0.05
_LEAST_P = 1e-6  # smaller values are not told apart
_RARE, _COMMON = 0.1, 0.85  # shares of the rarest and of the largest class


class _Scored(NamedTuple):
    """The scores of a result, or of a baseline that is stored in one and is no result itself."""

    name: str
    mean: float
    interval: tuple[float, float] | None
    pooled: bool
    baseline: bool
    result: Result | None


def interval_of(
    scores: Floats, overlap: float, pooled: Bools | None = None
) -> tuple[float, float] | None:
    """The 95 % interval of the mean by the corrected resampled t.

    None for one test part, and if all parts of a repeat were scored together.
    """
    from scipy.stats import t as student

    pooled = np.zeros(scores.shape, dtype=bool) if pooled is None else pooled
    runs = independent_runs(scores, pooled)
    overlap = overlap_of_runs(overlap, pooled)
    if runs.size < 2 or math.isinf(overlap):
        return None
    half = float(student.ppf(1 - _LEVEL / 2, runs.size - 1)) * math.sqrt(
        (1 / runs.size + overlap) * float(runs.var(ddof=1))
    )
    mean = float(scores.mean())
    return mean - half, mean + half


def scores_section(material: Material) -> dict[str, Any]:
    """The section about the results."""
    rows = sorted(material.results, key=lambda result: -result.mean)
    scored = [_scored(material, r.name, r.scores, r.pooled, r) for r in rows]
    names = {result.name for result in rows}
    for result in rows:
        for name, scores in result.baselines.items():
            if name not in names:
                names.add(name)
                scored.append(_scored(material, name, scores, result.pooled, None))
    return {
        "protocol": material.first.describe_protocol(),
        "optimistic": any(result.optimistic for result in rows),
        "table": _table(material, rows, scored),
        "chart": _chart(material, scored),
        "verdict": _verdict(material, rows),
        "comparisons": _comparisons(rows),
        "remarks": [*_rare_class(material), *remarks(rows)],
    }


def _scored(
    material: Material, name: str, scores: Floats, pooled: Bools, result: Result | None
) -> _Scored:
    """A row; its interval is clipped to possible scores, which few test parts exceed."""
    scoring = material.first.scoring
    if scoring.startswith("neg_"):
        scores = 0.0 - scores
    interval = interval_of(scores, overlap_of(material.first.protocol), pooled)
    if interval is not None:
        lowest, highest = score_limits(scoring)
        interval = max(interval[0], lowest), min(interval[1], highest)
    baseline = result is None or name in material.baselines
    return _Scored(name, float(scores.mean()), interval, bool(pooled.any()), baseline, result)


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


def _table(material: Material, rows: list[Result], scored: list[_Scored]) -> Table:
    scoring = material.first.scoring
    beside = shown_scorers(rows)[1:]
    cells = []
    for row in scored:
        result = row.result
        name = f"{row.name} (baseline)" if row.baseline else row.name
        if row.interval is None:
            interval = Cell("pooled test parts" if row.pooled else "one test part", row.mean)
        else:
            low, high = (percent_or_number(value, scoring) for value in row.interval)
            interval = Cell(f"{low} to {high}", row.interval[0])
        if result is None:
            spread, p_value, seconds, chosen = Cell("–", 0), Cell("–", 2), Cell("–", 0), ""
            others = [Cell("–", 0) for _ in beside]
        else:
            name = f"{name} (optimistic)" if result.optimistic else name
            spread = Cell(percent_or_number(result.std, scoring), result.std)
            p_value = _p_of_best(rows, result)
            others = [_other_score(result, scorer) for scorer in beside]
            seconds = Cell(f"{result.seconds:.1f}", result.seconds)
            chosen = "; ".join(
                f"{key} {f'{value:g}' if isinstance(value, float) else value} ({share:.0%})"
                for key, (value, share) in result.most_chosen().items()
            )
            chosen = chosen or "nothing to choose"
        mean = Cell(percent_or_number(row.mean, scoring), row.mean)
        cells.append((Cell(name), mean, spread, interval, *others, p_value, seconds, Cell(chosen)))
    headings = (
        "kernel",
        score_text(scoring),
        "±",
        "95 % interval",
        *map(score_text, beside),
        "p against the best",
        "seconds",
        "most often chosen",
    )
    note = (
        "±: standard deviation of the repeats' means (of the folds, if there is one repeat). "
        "Intervals and p-values by the corrected resampled t-test; p-values are not corrected for "
        "the number of comparisons."
    )
    if any(row.interval is not None and row.interval[0] == row.interval[1] for row in scored):
        note += (
            " An interval without width: all test parts have the same score, which does not make "
            "the score certain."
        )
    columns = frozenset(range(1, len(headings) - 1))
    return Table("Scores of all results", headings, cells, columns, note)


def _other_score(result: Result, scoring: str) -> Cell:
    try:
        value = plain_score(result.score(scoring), scoring)
    except ValueError:  # there are no decision values, or no predictions
        return Cell("–", 0)
    return Cell(percent_or_number(value, scoring), value)


def _p_of_best(rows: list[Result], result: Result) -> Cell:
    """The p-value against the best result, or why there is none."""
    if result is rows[0]:
        return Cell("the best", 2)
    if result.scores.size < 2:
        return Cell("one test part", 3)
    try:
        return _p_text(compare_results(rows[0], result).p_value)
    except ValueError:
        return Cell("other test parts", 3)


def _p_text(value: float) -> Cell:
    return Cell(f"{value:.3g}" if value >= _LEAST_P else f"< {_LEAST_P:g}", value)


def _chart(material: Material, scored: list[_Scored]) -> Figure:
    score = score_text(material.first.scoring)
    title = sentence(f"{score} with 95 % intervals")
    shown = [(r.name, r.interval[0], r.mean, r.interval[1]) for r in scored if r.interval]
    if not shown:
        why = "There is one test part only"
        if scored[0].pooled:
            why = "All test parts of a repeat were pooled"
        return Figure(None, title, f"{why}: no interval can be given.")
    plain = {row.name for row in scored if row.interval and row.baseline}
    caption = f"{title}; baselines in grey" if plain else title
    return Figure(intervals(shown, title, score, plain), caption)


def _verdict(material: Material, rows: list[Result]) -> str:
    if len(rows) == 1:
        return "There is one result; it can only be compared with the baselines."
    if rows[0].scores.size < 2:
        return "There is one test part only: results cannot be compared by a test."
    try:
        best, near = as_good_as_the_best(rows)
    except ValueError as why:
        return f"The results cannot be compared: {why}"
    named = material.result_name
    beside = (
        f" Not significantly worse at 5 %: {', '.join(map(named, near))}."
        if near
        else (" All others are significantly worse at 5 %.")
    )
    return f"Best: {named(best.name)}.{beside}"


def _signed(value: float, digits: int) -> str:
    """A difference with its sign; one that rounds to 0 has no sign."""
    return f"{value:+.{digits}f}" if round(value, digits) else f"{0:.{digits}f}"


def _comparisons(rows: list[Result]) -> Table | None:
    """Every pair, by the corrected resampled t-test."""
    if rows[0].scores.size < 2:
        return None
    cells = []
    for first, second in combinations(rows, 2):
        try:
            pair = compare_results(first, second)
        except ValueError:
            continue
        cells.append(
            (
                Cell(pair.first),
                Cell(pair.second),
                Cell(_signed(pair.difference, 4), pair.difference),
                Cell(_signed(pair.statistic, 2), pair.statistic),
                _p_text(pair.p_value),
                Cell("yes" if pair.p_value <= _LEVEL else "no"),
            )
        )
    if not cells:
        return None
    headings = ("first", "second", "difference", "t", "p", "different at 5 %")
    return Table("Every pair of results", headings, cells, frozenset({2, 3, 4}))


def provenance_section(material: Material, command: str | None) -> dict[str, Any]:
    """The section about the origin of the numbers."""
    return {
        "command": command,
        "python": _snippet(material),
        "versions": _versions(),
        "sums": _sums(material),
        "protocol": _protocol(material),
    }


def _versions() -> Table:
    rows = [
        ("gramlet", __version__),
        ("Python", platform.python_version()),
        ("platform", platform.platform(terse=True)),
    ]
    for name in _PACKAGES:
        try:
            rows.append((name, version(name)))
        except PackageNotFoundError:
            rows.append((name, "not installed"))
    return Table.of_facts("Versions", rows, ("software", "version"))


def _sums(material: Material) -> Table:
    missing = "not stored in the results"
    target = material.target
    rows = [
        ("targets and folds", material.first.data.splits or missing),
        ("target", missing if target is None else digest_of(target.tolist())),
        (
            "graphs with their labels",
            "the graphs were not given"
            if material.data is None
            else digest_of(material.data.graphs),
        ),
    ]
    for result in material.results:
        text = result.to_json().encode("utf-8", "surrogatepass")
        rows.append((f"result {result.name}", hashlib.sha256(text).hexdigest()))
    return Table.of_facts("Checksums (SHA-256)", rows, ("what", "sum"))


def _protocol(material: Material) -> Table:
    fields = material.first.protocol.to_dict()
    first = material.first
    if fields["groups"] is None and first.data.n_groups:
        fields["groups"] = f"{first.data.n_groups} groups, one value per graph"
    rows = [("seed", str(fields.pop("random_state")))]
    rows += [(name, str(value)) for name, value in fields.items()]
    machines = dict.fromkeys(result.classifier for result in material.results if result.classifier)
    rows += [
        ("task", first.task),
        ("scoring", first.scoring),
        ("machine", ", ".join(machines) or "none"),
    ]
    weights = dict.fromkeys(
        str(result.class_weight) for result in material.results if result.class_weight is not None
    )
    if weights:
        rows.append(("class weights", ", ".join(weights)))
    return Table.of_facts("Protocol", rows, ("setting", "value"))


def _snippet(material: Material) -> str:
    """The evaluation as Python."""
    first = material.first
    fields = first.protocol.to_dict()
    default = type(first.protocol)().to_dict()
    changed = {k: v for k, v in fields.items() if v != default[k]}
    given = ", ".join(f"{key}={value!r}" for key, value in changed.items())
    lines = ["from gramlet import Protocol, evaluate", f"protocol = Protocol({given})"]
    for result in material.results:
        name, common = result.name, f"y, protocol, {_settings(material, result)}"
        if is_registered(name) or name in (*CONSTANTS, "auto"):
            lines.append(f"evaluate({name!r}, graphs, {common})")
        elif name in material.kernels:
            lines.append(f"evaluate(estimator, graphs, {common}, name={name!r})")
        else:
            lines.append(f"evaluate({{{name!r}: matrix}}, None, {common})")
    return "\n".join(lines)


def _settings(material: Material, result: Result) -> str:
    """Arguments of `gramlet.evaluate`, from the result and its kernel."""
    found: dict[str, Any] = {"scoring": result.scoring}
    if result.classifier and result.classifier != CLASSIFIERS[result.task][0]:
        found["classifier"] = result.classifier
    if result.class_weight is not None:
        found["class_weight"] = result.class_weight
    if len(result.by_draw) > 1 and result.protocol.retrainings == 1:
        found["draws"] = len(result.by_draw)
    options = {key: list(values) for key, values in result.tried.items() if key != "C"}
    # By default evaluate tries the options of the registry.
    if result.name != "auto" and (options or is_registered(result.name)):
        found["options"] = options
    kernel = material.kernels.get(result.name) if is_registered(result.name) else None
    params = {} if kernel is None else kernel.get_params()
    if params.get("normalize") is False and "normalize" not in options:
        found["normalize"] = False
    given = [f"{key}={value!r}" for key, value in found.items()]
    if result.protocol.groups is None and result.data.n_groups:
        given.append("groups=groups")
    return ", ".join(given)
