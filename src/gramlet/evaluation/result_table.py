"""Results as tables: for a terminal, for plain text, for Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gramlet.evaluation.hints import BASELINE_WORDS, Hint, users_of
from gramlet.evaluation.result import Result
from gramlet.evaluation.scorers import RARE, percent_or_number, plain_score, score_text
from gramlet.evaluation.significance import compare_results

_OPTIMISTIC = "Optimistic: C and options were chosen on the test parts; not an estimate."


def table(results: Sequence[Result] | Result, style: str = "text", hints: bool = True) -> Any:
    """A table with one row per result: the score with its spread, time, and the options chosen.

    Where the largest class has 80 % of the graphs or more, balanced accuracy and ROC AUC are beside
    accuracy; regressions have R² and the root mean square error. Errors are positive.

    After ± is the standard deviation of the repeats' means (of the folds, if there is only one
    repeat), and that between draws of random numbers if there are several. After each option is the
    share of training parts that chose the value. Results whose options were chosen on the test
    parts are marked "optimistic".

    Parameters
    ----------
    results : Result or sequence of Result
        All with the same scorer.
    style : {"text", "markdown", "rich"}
        Strings, or a ``rich.table.Table`` for a terminal.
    hints : bool
        Whether the results' hints are added, each once.

    Examples
    --------
    >>> from gramlet import Protocol, evaluate, load_dataset
    >>> from gramlet.evaluation import table
    >>> mutag = load_dataset("MUTAG")
    >>> result = evaluate("majority", mutag.graphs, mutag.target, Protocol(folds=4, repeats=2))
    >>> print(table(result, "markdown").splitlines()[0])
    | kernel | accuracy % | seconds | most often chosen |
    """
    rows = [results] if isinstance(results, Result) else list(results)
    styles = {"text": _text, "markdown": _markdown, "rich": _rich}
    if style not in styles:
        raise ValueError(f"style must be one of {', '.join(styles)}; got {style!r}.")
    scorers = sorted({row.scoring for row in rows})
    if len(scorers) > 1:
        raise ValueError(
            f"The results have different scorers ({', '.join(scorers)}); make one table per scorer."
        )
    return styles[style](rows, remarks(rows) if hints else [])


def remarks(rows: Sequence[Result]) -> list[str]:
    """The lines below a table: each hint once, with the kernels it is about."""
    groups: dict[tuple[str, str], list[tuple[str, Hint]]] = {}
    for row in rows:
        for hint in row.hints:
            about = hint.facts.get("baseline") or hint.facts.get("column") or hint.text
            groups.setdefault((hint.kind, about), []).append((row.name, hint))
    n_with_hints = sum(bool(row.hints) for row in rows)
    return [_remark(hints, n_with_hints) for hints in groups.values()]


def _remark(hints: Sequence[tuple[str, Hint]], n_with_hints: int) -> str:
    """One line for equal hints about different rows."""
    names, hint = [name for name, _ in hints], hints[0][1]
    shown = ", ".join(names)
    if len(names) > 1 and hint.kind == "baseline":
        baseline = hint.facts["baseline"]
        return f"Not significantly better than {BASELINE_WORDS.get(baseline, baseline)}: {shown}."
    if len(names) > 1 and hint.kind == "unused-column":
        column = hint.facts["column"].replace("_", " ")
        return (
            f"The graphs have {column}, which {shown} do not use.{users_of(hint.facts['column'])}"
        )
    everyone = len(names) > 1 and len(names) >= n_with_hints
    return hint.text if everyone or names[0] in hint.text else f"{shown}: {hint.text}"


def shown_scorers(rows: Sequence[Result]) -> list[str]:
    """The scorers of the columns: that of the results, and others without which it misleads.

    For numbers R² and the root mean square error; for classes accuracy, balanced accuracy and ROC
    AUC if the largest class has 80 % of the graphs or more.
    """
    if not rows:
        return ["accuracy"]
    first, beside = rows[0], []
    sizes = list(first.data.classes.values())
    if first.task == "regression":
        beside = ["r2", "neg_root_mean_squared_error"]
    elif sizes and max(sizes) >= RARE * sum(sizes):
        beside = ["roc_auc", "accuracy", "balanced_accuracy"]
    return list(dict.fromkeys([first.scoring, *beside]))


def _heading(scoring: str) -> str:
    return "accuracy %" if scoring == "accuracy" else score_text(scoring)


def score_of(result: Result) -> str:
    """The score with its name, e.g. "RMSE 0.630" or "accuracy 87.0 %"."""
    mean = plain_score(result.mean, result.scoring)
    return f"{score_text(result.scoring)} {percent_or_number(mean, result.scoring)}"


def as_good_as_the_best(results: Sequence[Result], level: float = 0.05) -> tuple[Result, list[str]]:
    """The best result, and the names of the others that are not significantly worse.

    By the corrected resampled t-test of `gramlet.compare_results`, each against the best.
    """
    best = max(results, key=lambda result: result.mean)
    others = [result for result in results if result is not best]
    if best.scores.size < 2:
        return best, []
    return best, [other.name for other in others if not _is_better(best, other, level)]


def _is_better(best: Result, other: Result, level: float) -> bool:
    """Whether the test finds a difference, in favour of the first."""
    test = compare_results(best, other)
    return test.statistic > 0 and test.p_value <= level


def _lines(rows: Sequence[Result]) -> list[tuple[str, ...]]:
    """The headings and the cells of all rows."""
    scorers = shown_scorers(rows)
    headings = ("kernel", *map(_heading, scorers), "seconds", "most often chosen")
    return [headings, *(_cells(row, scorers) for row in rows)]


def _cells(result: Result, scorers: Sequence[str]) -> tuple[str, ...]:
    return (
        f"{result.name} (optimistic)" if result.optimistic else result.name,
        _score(result),
        *(_other_score(result, scoring) for scoring in scorers[1:]),
        _seconds(result.seconds),
        " · ".join(_option(key, *value) for key, value in result.most_chosen().items()),
    )


def _score(result: Result) -> str:
    scoring = result.scoring
    mean = _number(plain_score(result.mean, scoring), scoring)
    spread = _number(result.std, scoring) if result.std else ""
    width = 4 if scoring == "accuracy" else 5
    shown = f" ± {spread:>{width}}" if spread else " " * (3 + width)
    if result.n_draws > 1:
        shown += f" (draws ± {_number(result.std_draws, scoring)})"
    return mean + shown


def _other_score(result: Result, scoring: str) -> str:
    try:
        return _number(plain_score(result.score(scoring), scoring), scoring)
    except ValueError:  # there are no decision values, or no predictions
        return "–"


def _number(value: float, scoring: str) -> str:
    return percent_or_number(value, scoring).removesuffix(" %")


def _option(key: str, value: Any, share: float) -> str:
    shown = f"{value:g}" if isinstance(value, float) else str(value)
    return f"{key} {shown} ({100 * share:.0f}%)"


def _seconds(seconds: float) -> str:
    if seconds < 9.95:
        return f"{seconds:.1f}"
    if seconds < 600:
        return f"{seconds:.0f}"
    return f"{seconds / 60:.0f} min"


def _markdown(rows: Sequence[Result], remarks: Sequence[str]) -> str:
    headings, *cells = _lines(rows)
    lines = [headings, ("---", *["---:"] * (len(headings) - 2), "---")]
    lines += [tuple(cell.strip().replace("|", "\\|") for cell in line) for line in cells]
    table = ["| " + " | ".join(line) + " |" for line in lines]
    below = [*_flag(rows), *remarks]
    return "\n".join([*table, *(["", *(f"- {line}" for line in below)] if below else [])])


def _text(rows: Sequence[Result], remarks: Sequence[str]) -> str:
    lines = _lines(rows)
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    shown = []
    for name, *numbers, options in lines:
        cells = [f"{cell:>{width}}" for cell, width in zip(numbers, widths[1:-1], strict=True)]
        shown.append("  ".join([f"{name:<{widths[0]}}", *cells, options]))
    shown.insert(1, "─" * max(len(line) for line in shown))
    below = [*_flag(rows), *remarks]
    return "\n".join([*(line.rstrip() for line in shown), *(["", *below] if below else [])])


def _flag(rows: Sequence[Result]) -> list[str]:
    lines = [_OPTIMISTIC] if any(row.optimistic for row in rows) else []
    names: dict[str, list[str]] = {}
    for row in rows:
        if row.normalize:
            names.setdefault(row.normalize, []).append(row.name)
    if names:
        parts = (f"{how} ({', '.join(kernels)})" for how, kernels in names.items())
        lines.append(f"Normalisation: {'; '.join(parts)}.")
    return lines


def _rich(rows: Sequence[Result], remarks: Sequence[str]) -> Any:
    from rich.table import Table
    from rich.text import Text

    headings, *lines = _lines(rows)
    below = "\n".join([*_flag(rows), *remarks])
    grid = Table(
        box=None,
        pad_edge=False,
        padding=(0, 2, 0, 0),
        header_style="underline",
        caption=Text(below) if below else None,
        caption_justify="left",
    )
    grid.add_column(headings[0], style="cyan", no_wrap=True)
    for heading in headings[1:-1]:
        style = "dim" if heading == "seconds" else ""
        grid.add_column(heading, justify="right", style=style, no_wrap=True)
    grid.add_column(headings[-1], style="dim")
    best = max((row.mean for row in rows), default=0.0)
    for row, (name, score, *others, options) in zip(rows, lines, strict=True):
        style = "bold green" if row.mean == best else ""
        grid.add_row(Text(name), Text(score, style), *others, Text(options))
    return grid
