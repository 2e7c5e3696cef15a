"""Results as tables: for a terminal, for plain text, for Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gramlet.evaluation.hints import BASELINE_WORDS, Hint
from gramlet.evaluation.result import Result
from gramlet.evaluation.significance import compare_results

_OPTIMISTIC = "Optimistic: C and options were chosen on the test parts; not an estimate."


def table(results: Sequence[Result] | Result, style: str = "text", hints: bool = True) -> Any:
    """A table with one row per result: the score with its spread, time, and the options chosen.

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
        return f"The graphs have {column}, which {shown} do not use."
    everyone = len(names) > 1 and len(names) >= n_with_hints
    return hint.text if everyone or names[0] in hint.text else f"{shown}: {hint.text}"


def _headings(rows: Sequence[Result]) -> tuple[str, str, str, str]:
    scoring = rows[0].scoring if rows else "accuracy"
    shown = "accuracy %" if scoring == "accuracy" else scoring
    return ("kernel", shown, "seconds", "most often chosen")


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


def _cells(result: Result) -> tuple[str, str, str, str]:
    percent = result.scoring == "accuracy"
    factor, wide, narrow = (100, "5.1f", "4.1f") if percent else (1, "6.3f", "5.3f")
    blank = " " * (3 + int(narrow[0]))
    spread = f" ± {factor * result.std:{narrow}}" if result.std else blank
    if result.n_draws > 1:
        spread += f" (draws ± {factor * result.std_draws:{narrow[1:]}})"
    return (
        f"{result.name} (optimistic)" if result.optimistic else result.name,
        f"{factor * result.mean:{wide}}{spread}",
        _seconds(result.seconds),
        " · ".join(_option(key, *value) for key, value in result.most_chosen().items()),
    )


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
    lines: list[tuple[str, ...]] = [_headings(rows), ("---", "---:", "---:", "---")]
    lines += [tuple(cell.strip().replace("|", "\\|") for cell in _cells(row)) for row in rows]
    table = ["| " + " | ".join(line) + " |" for line in lines]
    below = [*_flag(rows), *remarks]
    return "\n".join([*table, *(["", *(f"- {line}" for line in below)] if below else [])])


def _text(rows: Sequence[Result], remarks: Sequence[str]) -> str:
    lines = [_headings(rows), *(_cells(row) for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(4)]
    shown = []
    for line in lines:
        name, score, seconds, options = line
        shown.append(
            f"{name:<{widths[0]}}  {score:>{widths[1]}}  {seconds:>{widths[2]}}  {options}"
        )
    shown.insert(1, "─" * max(len(line) for line in shown))
    below = [*_flag(rows), *remarks]
    return "\n".join([*(line.rstrip() for line in shown), *(["", *below] if below else [])])


def _flag(rows: Sequence[Result]) -> list[str]:
    return [_OPTIMISTIC] if any(row.optimistic for row in rows) else []


def _rich(rows: Sequence[Result], remarks: Sequence[str]) -> Any:
    from rich.table import Table
    from rich.text import Text

    headings = _headings(rows)
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
    grid.add_column(headings[1], justify="right", no_wrap=True)
    grid.add_column(headings[2], justify="right", style="dim", no_wrap=True)
    grid.add_column(headings[3], style="dim")
    best = max((row.mean for row in rows), default=0.0)
    for row in rows:
        name, score, seconds, options = _cells(row)
        grid.add_row(
            Text(name),
            Text(score, "bold green" if row.mean == best else ""),
            seconds,
            Text(options),
        )
    return grid
