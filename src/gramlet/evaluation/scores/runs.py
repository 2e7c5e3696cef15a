"""Which scores of test parts are independent: parts that were scored together are one run.

`scorers` pools parts that are too small to be scored; `significance` tests the runs.
"""

from __future__ import annotations

import math

import numpy as np

from gramlet.common.arrays import Bools, Floats

__all__ = ["independent_runs", "overlap_of_runs"]


def independent_runs(values: Floats, pooled: Bools) -> Floats:
    """One value per run: that of each part, and one per repeat for its pooled parts.

    Parameters
    ----------
    values : array, shape (repeats, folds)
        Scores, or differences of scores.
    pooled : array of bool, shape (repeats, folds)

    Examples
    --------
    >>> pooled = np.array([[False, True, True], [False, False, False]])
    >>> independent_runs(np.array([[0.5, 1.0, 1.0], [0.1, 0.2, 0.3]]), pooled).tolist()
    [0.5, 1.0, 0.1, 0.2, 0.3]
    """
    found: list[float] = []
    for row, together in zip(values, pooled, strict=True):
        found += row[~together].tolist()
        if together.any():
            found.append(float(row[together].mean()))
    return np.array(found)


def overlap_of_runs(overlap: float, pooled: Bools) -> float:
    """n_test / n_train of an average run.

    ``overlap`` is that of a test part, and stays if no parts are pooled. Otherwise the runs of a
    repeat test all graphs once, as folds do. Infinite if each repeat is one run: such runs test
    the same graphs.
    """
    if not pooled.any():
        return overlap
    n_runs = independent_runs(np.zeros(pooled.shape), pooled).size
    apart = n_runs - len(pooled)
    return len(pooled) / apart if apart else math.inf
