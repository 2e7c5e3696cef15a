"""A progress bar for long work: finished parts, rate and remaining time, on a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ["tile_progress"]


@contextmanager
def tile_progress(
    total: int | None, done: int, label: str, unit: str = "tiles"
) -> Iterator[Callable[[], None]]:
    """A function to call after each finished part; it shows a bar if stderr is a terminal.

    ``done`` of ``total`` parts were finished before; they are not part of the rate.
    """
    if not sys.stderr.isatty():
        yield lambda: None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn(unit + " {task.fields[rate]}"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(label, total=total, completed=done, rate="")

        def advance() -> None:
            bar.advance(task)
            speed = bar.tasks[0].speed
            if speed:
                bar.update(task, rate=f"({speed:,.0f}/s)" if speed >= 10 else f"({speed:.2g}/s)")

        yield advance
