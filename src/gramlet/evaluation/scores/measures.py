"""Confusion matrices and calibration of stored predictions, as data for tables and plots."""

from __future__ import annotations

from typing import Any

import numpy as np

from gramlet.common.arrays import Floats, Ints
from gramlet.common.checks import require_count
from gramlet.evaluation.results.result import Result

__all__ = ["calibration", "confusion_matrix"]


def confusion_matrix(result: Result, repeat: int | None = None) -> Ints:
    """How often each class (rows) was predicted as each class (columns).

    Parameters
    ----------
    result : Result
        The result of a classification.
    repeat : int, optional
        One repeat, in which every graph counts once; by default all of them.
    """
    if result.task != "classification":
        raise ValueError("A confusion matrix needs classes; this is the result of a regression.")
    predictions, target = _stored(result)
    rows = predictions if repeat is None else predictions[repeat : repeat + 1]
    k = len(result.classes)
    counts = np.zeros((k, k), dtype=np.int64)
    truth = result.codes(target)
    for row in rows:
        told = result.codes(row)
        tested = (told >= 0) & (truth >= 0)
        np.add.at(counts, (truth[tested], told[tested]), 1)
    return counts


def calibration(result: Result, n_bins: int = 10, label: Any = None) -> dict[str, list[float]]:
    """Observed values of graphs with similar predictions, in bins of equal numbers of graphs.

    Parameters
    ----------
    result : Result
    n_bins : int
    label : class, optional
        The class of the decision values; required for more than two classes, else the last.

    Returns
    -------
    dict
        ``value``: the mean decision value (or predicted number) of each bin; ``observed``: the
        share of the class there (or the mean true number); ``count``: predictions in the bin.
    """
    require_count("n_bins", n_bins, 1)
    values, truth = _values_and_truth(result, label)
    order = np.argsort(values, kind="stable")
    bins = [part for part in np.array_split(order, n_bins) if len(part)]
    return {
        "value": [float(values[part].mean()) for part in bins],
        "observed": [float(truth[part].mean()) for part in bins],
        "count": [len(part) for part in bins],
    }


def _values_and_truth(result: Result, label: Any) -> tuple[Floats, Floats]:
    """Values and true targets of all predictions of all repeats, concatenated."""
    predictions, target = _stored(result)
    truth = result.codes(target)
    if result.task == "regression":
        values: Floats = predictions
        true = np.tile(truth, len(values))
    else:
        if result.decisions is None:
            raise ValueError(f"The result {result.name!r} has no decision values.")
        code = _code(result, label)
        if result.decisions.ndim == 2:
            values = result.decisions if code == 1 else -result.decisions
        else:
            values = result.decisions[:, :, code]
        true = np.tile(truth == code, len(values)).astype(np.float64)
    flat = values.ravel()
    there = np.isfinite(flat)
    return flat[there], true[there]


def _code(result: Result, label: Any) -> int:
    known = result.classes.tolist()
    if label is None:
        if len(known) > 2:
            raise ValueError(f"label: choose a class, one of {', '.join(map(repr, known))}.")
        return len(known) - 1
    if label not in known:
        raise ValueError(
            f"label must be one of the classes {', '.join(map(repr, known))}; got {label!r}."
        )
    return int(known.index(label))


def _stored(result: Result) -> tuple[Any, Any]:
    if result.predictions is None or result.target is None:
        raise ValueError(f"The result {result.name!r} has no predictions.")
    return result.predictions, result.target
