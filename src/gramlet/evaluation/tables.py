"""Results as tables: for a terminal, for plain text, for Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gramlet.evaluation.result import Result
from gramlet.evaluation.significance import compare_results

__all__ = ["as_good_as_the_best", "table"]

_HEADINGS = ("kernel", "accuracy %", "seconds", "most often chosen")


def table(results: Sequence[Result] | Result, style: str = "text") -> Any:
    """A table with one row a result: accuracy with its spread, time, and the options chosen.

    Behind ± stands the standard deviation of the repeats' means (of the folds, if there is only one
    repeat). Behind each option stands the share of training parts that chose the value.

    Parameters
    ----------
    results : Result or sequence of Result
    style : {"text", "markdown", "rich"}
        Strings, or a ``rich.table.Table`` for a terminal.

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
    return styles[style](rows)


def as_good_as_the_best(results: Sequence[Result], level: float = 0.05) -> tuple[Result, list[str]]:
    """The best result, and the names of the others that are not significantly worse.

    By the corrected resampled t-test of `gramlet.compare_results`, each against the best.
    """
    best = max(results, key=lambda result: result.mean)
    others = [result for result in results if result is not best]
    if best.accuracies.size < 2:
        return best, []
    near = [other.name for other in others if compare_results(best, other).p_value > level]
    return best, near


def _cells(result: Result) -> tuple[str, str, str, str]:
    spread = f" ± {100 * result.std:4.1f}" if result.std else " " * 7
    return (
        result.name,
        f"{100 * result.mean:5.1f}{spread}",
        _seconds(result.seconds),
        " · ".join(_option(key, *found) for key, found in result.most_chosen().items()),
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


def _markdown(rows: Sequence[Result]) -> str:
    lines: list[tuple[str, ...]] = [_HEADINGS, ("---", "---:", "---:", "---")]
    lines += [tuple(cell.strip().replace("|", "\\|") for cell in _cells(row)) for row in rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _text(rows: Sequence[Result]) -> str:
    lines = [_HEADINGS, *(_cells(row) for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(_HEADINGS))]
    shown = []
    for line in lines:
        name, accuracy, seconds, options = line
        shown.append(
            f"{name:<{widths[0]}}  {accuracy:>{widths[1]}}  {seconds:>{widths[2]}}  {options}"
        )
    shown.insert(1, "─" * max(len(line) for line in shown))
    return "\n".join(line.rstrip() for line in shown)


def _rich(rows: Sequence[Result]) -> Any:
    from rich.table import Table
    from rich.text import Text

    grid = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="underline")
    grid.add_column(_HEADINGS[0], style="cyan", no_wrap=True)
    grid.add_column(_HEADINGS[1], justify="right", no_wrap=True)
    grid.add_column(_HEADINGS[2], justify="right", style="dim", no_wrap=True)
    grid.add_column(_HEADINGS[3], style="dim")
    best = max((row.mean for row in rows), default=0.0)
    for row in rows:
        name, accuracy, seconds, options = _cells(row)
        grid.add_row(
            Text(name), Text(accuracy, "bold green" if row.mean == best else ""), seconds,
            Text(options),
        )  # fmt: skip
    return grid
