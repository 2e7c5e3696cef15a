"""The estimated time of a cell of the comparison, from its times on parts of the data set.

A part contains classes and sizes of graphs in the proportions of the data set. The growth between
the last two parts is extrapolated to the whole set; with only one part, growth is taken as linear.
Costs that do not depend on the number of graphs make the estimate too small rather than too large,
so a cell is skipped only if it clearly exceeds the limit.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

_FIRST_SHARE = 16
_LEAST_PER_CLASS = 15  # ten folds, with three inner folds each
# Pairs of graphs are compared with at most quadratic effort, and no cell grows less than linearly.
_EXPONENTS = (1.0, 2.0)


@dataclass(frozen=True)
class Estimate:
    """Estimated processor minutes of a cell, and what they were estimated from.

    Attributes
    ----------
    minutes : float
        A lower bound for the whole data set.
    reason : str
        The sentence shown in the table.
    """

    minutes: float
    reason: str


def part(data: Any, n_graphs: int) -> np.ndarray:
    """Positions of so many graphs, evenly spaced in the data set ordered by class and size."""
    sizes = np.diff(data.graphs.node_offsets)
    order = np.lexsort((sizes, np.asarray(data.target)))
    chosen = (np.arange(n_graphs) + 0.5) * len(order) / n_graphs
    return np.sort(order[chosen.astype(np.int64)])


def next_size(done: Sequence[tuple[int, float]], data: Any, seconds: float) -> int | None:
    """The size of the next part; None if it would take more than the remaining seconds."""
    n_graphs = len(data.graphs)
    if not done:
        _, counts = np.unique(np.asarray(data.target), return_counts=True)
        least = math.ceil(_LEAST_PER_CLASS * n_graphs / counts.min())
        return max(least, n_graphs // _FIRST_SHARE) if 2 * least <= n_graphs else None
    last, cost = done[-1]
    left = seconds - sum(cost for _, cost in done)
    return 2 * last if 4 * last <= n_graphs and 4 * cost <= left else None


def estimate(
    done: Sequence[tuple[int, float]], unfinished: int | None, seconds: float, n_graphs: int
) -> Estimate | None:
    """Minutes of the whole data set; None if no part was measured.

    Parameters
    ----------
    done : sequence of (int, float)
        Numbers of graphs, ascending, and processor seconds of their cells.
    unfinished : int or None
        The number of graphs of a part that was stopped after ``seconds``.
    n_graphs : int
        The size of the whole data set.
    """
    if unfinished is not None:
        minutes = seconds / 60.0 * n_graphs / unfinished
        reason = (
            f"more than {_rounded(minutes)} CPU minutes: {unfinished} of {n_graphs} graphs take "
            f"longer than {_rounded(seconds / 60.0)}"
        )
        return Estimate(minutes, reason)
    if not done:
        return None
    exponent = _EXPONENTS[0]
    last, cost = done[-1]
    if len(done) > 1:
        before, cost_before = done[-2]
        growth = math.log(max(cost, 1e-9) / max(cost_before, 1e-9)) / math.log(last / before)
        exponent = min(max(growth, _EXPONENTS[0]), _EXPONENTS[1])
    minutes = cost / 60.0 * (n_graphs / last) ** exponent
    reason = f"estimated {_rounded(minutes)} CPU minutes from {last} of {n_graphs} graphs"
    return Estimate(minutes, reason)


def _rounded(value: float) -> str:
    """Rounded to two digits; an estimate is no more precise."""
    if value >= 10.0:
        scale = 10 ** (int(math.log10(value)) - 1)
        return f"{round(value / scale) * scale:.0f}"
    return f"{value:.2g}"
