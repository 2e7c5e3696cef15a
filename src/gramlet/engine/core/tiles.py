"""Tiles over threads: every Gram matrix is filled with `for_tiles`.

The rows are cut into ranges of equal work. The ranges do not depend on the number of threads, so
results do not either. A progress bar is shown on request, Ctrl-C stops between tiles, and BLAS uses
one thread per tile. Callers compute the tiles.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from joblib import effective_n_jobs

from gramlet.common.arrays import Floats

Work = Callable[[int, int], Any]

_SQUARE = 128  # a square of this many rows fits into the cache


@dataclass(frozen=True)
class Tiling:
    """How tiles are run. It does not affect results and is not stored in fitted state or files.

    Attributes
    ----------
    n_jobs : int or None
        Threads, as joblib counts them (None: 1, -1: all cores).
    verbose : bool or int
        Whether a progress bar is shown on a terminal.
    label : str
        Text of the progress bar.
    """

    n_jobs: int | None = None
    verbose: int | bool = False
    label: str = ""


QUIET = Tiling()


def row_ranges(
    n_rows: int, costs: Floats | None = None, n_tiles: int = 128
) -> list[tuple[int, int]]:
    """Consecutive ranges of rows of nearly equal cost.

    >>> row_ranges(4, np.array([1.0, 1.0, 1.0, 3.0]), n_tiles=2)
    [(0, 3), (3, 4)]
    """
    if n_rows == 0:
        return []
    if n_tiles == 1:
        return [(0, n_rows)]
    weights = np.ones(n_rows) if costs is None else np.maximum(costs, 1e-9)
    done = np.cumsum(weights)
    goals = done[-1] * np.arange(1, min(n_tiles, n_rows)) / min(n_tiles, n_rows)
    cuts = np.unique(np.concatenate([[0], np.searchsorted(done, goals) + 1, [n_rows]]))
    return list(zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True))


def for_tiles(
    work: Work,
    n_rows: int,
    *,
    costs: Floats | None = None,
    n_tiles: int = 128,
    tiling: Tiling = QUIET,
) -> None:
    """Call ``work(begin, end)`` for ranges of rows that cover ``0:n_rows``.

    Parameters
    ----------
    work : callable
        Computes rows ``begin:end``; should release the GIL in its hot loop.
    n_rows : int
    costs : array, optional
        The relative cost of each row (for a triangle: its length).
    n_tiles : int
        The largest number of ranges.
    """
    ranges = row_ranges(n_rows, costs, n_tiles)
    threads = min(effective_n_jobs(tiling.n_jobs), len(ranges))
    with one_blas_thread(), progress(len(ranges), tiling.label, tiling.verbose) as advance:
        if threads <= 1:
            for begin, end in ranges:
                work(begin, end)
                advance()
        else:
            _run_threads(work, ranges, threads, advance)


def _run_threads(
    work: Work, ranges: list[tuple[int, int]], threads: int, advance: Callable[[], None]
) -> None:
    """Share the ranges between this thread and helper threads; each takes the next free range.

    There is no thread pool: waiting for one takes longer than computing small tiles.
    """
    remaining = iter(ranges)
    lock = threading.Lock()
    failures: list[BaseException] = []

    def take() -> tuple[int, int] | None:
        with lock:
            return None if failures else next(remaining, None)

    def run() -> None:
        try:
            while (tile := take()) is not None:
                work(*tile)
                with lock:
                    advance()
        except BaseException as error:
            failures.append(error)

    helpers = [threading.Thread(target=run, daemon=True) for _ in range(threads - 1)]
    try:
        for helper in helpers:
            helper.start()
        run()
    except BaseException as error:  # Ctrl-C outside a tile
        failures.append(error)
    finally:
        for helper in helpers:
            if helper.ident is not None:
                helper.join()
    if failures:
        raise failures[0]


@contextmanager
def progress(total: int, label: str, verbose: int | bool) -> Iterator[Callable[[], None]]:
    """A function to call after each of ``total`` steps; on a terminal it advances a bar."""
    if not verbose or not sys.stderr.isatty():
        yield lambda: None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        TaskProgressColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(label or "working", total=total)
        yield lambda: bar.advance(task)


@cache
def _blas() -> Any:
    import scipy.linalg.cython_blas  # noqa: F401  for compiled code; only loaded BLAS is limited
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController().select(user_api="blas")


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """A context in which BLAS and LAPACK use one thread: results do not depend on the machine."""
    controller = _blas()
    if all(library.num_threads == 1 for library in controller.lib_controllers):
        yield  # changing the limit and back takes as long as computing a small matrix
        return
    with controller.limit(limits=1, user_api="blas"):
        yield


def mirror(matrix: Floats) -> None:
    """Copy the upper triangle of a square matrix to the lower one, in squares that fit the cache.

    >>> matrix = np.array([[1.0, 2.0], [0.0, 3.0]])
    >>> mirror(matrix)
    >>> matrix.tolist()
    [[1.0, 2.0], [2.0, 3.0]]
    """
    n = len(matrix)
    for top in range(0, n, _SQUARE):
        rows = slice(top, top + _SQUARE)
        square = matrix[rows, rows]
        np.copyto(square, square.T.copy(), where=np.tri(len(square), k=-1, dtype=bool))
        for left in range(top + _SQUARE, n, _SQUARE):
            columns = slice(left, left + _SQUARE)
            matrix[columns, rows] = matrix[rows, columns].T
