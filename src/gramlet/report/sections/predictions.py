"""Predictions of one result: confusion or scatter, ROC, calibration, options chosen over folds."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from gramlet.common.arrays import Floats
from gramlet.evaluation.results.result import Result
from gramlet.report.figures import (
    RocCurve,
    calibration_chart,
    confusion_chart,
    option_bars,
    roc_chart,
    scatter,
)
from gramlet.report.material import Material
from gramlet.report.words import Cell, Figure, Table

__all__ = ["chosen_figures", "predictions_figures"]

_MOST_CURVES = 8
_PER_BIN = 10  # the least number of predictions per point of a calibration curve
_LARGE = 10  # classes above which a confusion matrix has a line of its own
_NO_PREDICTIONS = "This result has no predictions."


def predictions_figures(material: Material, result: Result) -> list[Any]:
    """Figures and tables of out-of-fold predictions."""
    if result.predictions is None or result.target is None:
        return [Figure(None, "Predictions", _NO_PREDICTIONS)]
    if result.task == "regression":
        return [_scatter(material, result), _calibration(material, result)]
    return [_confusion(material, result), _roc(material, result), _calibration(material, result)]


def _scatter(material: Material, result: Result) -> Figure:
    assert result.predictions is not None
    assert result.target is not None
    truth = np.asarray(result.target, dtype=np.float64)
    predicted = _means(np.asarray(result.predictions, dtype=np.float64))
    names = [material.graph_name(i) for i in range(len(truth))]
    title = f"{result.name}: predictions against the truth"
    errors = np.abs(predicted - truth)[np.isfinite(predicted)]
    caption = (
        f"Out-of-fold predictions, mean over repeats; mean absolute error {errors.mean():.3g}"
        if len(errors)
        else "Out-of-fold predictions"
    )
    return Figure(scatter(truth, predicted, names, title), caption)


def _means(values: Floats) -> Floats:
    """Means over repeats, NaN if there is none."""
    there = np.isfinite(values)
    sums = np.where(there, values, 0).sum(axis=0)
    counts = there.sum(axis=0)
    return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)


def _confusion(material: Material, result: Result) -> Any:
    counts = result.confusion_matrix()
    names = material.class_names
    title = f"{result.name}: confusion matrix"
    picture = confusion_chart(counts, names, title)
    repeats = result.protocol.repeats
    over = f" over {repeats} repeats" if repeats > 1 else ""
    caption = f"Rows are true classes, columns predicted ones; counts{over}"
    if picture is not None:
        return Figure(picture, caption, wide=len(names) > _LARGE)
    return _confused_pairs(counts, names)


def _confused_pairs(counts: Any, names: list[str]) -> Table:
    """For many classes, the pairs that are confused most often."""
    off = counts.copy()
    np.fill_diagonal(off, 0)
    order = np.argsort(-off, axis=None, kind="stable")[:40]
    rows = []
    for i, j in zip(*np.unravel_index(order, off.shape), strict=True):
        if off[i, j]:
            share = off[i, j] / max(1, counts[i].sum())
            rows.append(
                (
                    Cell(names[i]),
                    Cell(names[j]),
                    Cell(str(off[i, j]), off[i, j]),
                    Cell(f"{share:.0%}", share),
                )
            )
    return Table(
        f"The pairs of classes confused most often, of {len(names)} classes",
        ("true", "predicted", "predictions", "share of the class"),
        rows,
        frozenset({2, 3}),
    )


def _roc(material: Material, result: Result) -> Figure:
    title = f"{result.name}: ROC curves"
    if result.decisions is None:
        return Figure(None, "ROC", "This result has no decision values.")
    from sklearn.metrics import auc, roc_curve

    truth = result.codes(np.asarray(result.target))
    names = material.class_names
    shown = [len(names) - 1] if len(names) == 2 else _largest(truth, len(names))
    curves = []
    for code in shown:
        values = result.decisions if result.decisions.ndim == 2 else result.decisions[:, :, code]
        flat = values.ravel()
        there = np.isfinite(flat)
        right = np.tile(truth == code, len(values))[there]
        if right.any() and not right.all():
            false, true, _ = roc_curve(right, flat[there])
            curves.append(RocCurve(code, names[code], false, true, float(auc(false, true))))
    if not curves:
        return Figure(None, "ROC", "No class has both positive and negative graphs: no curve.")
    note = (
        f"; {_MOST_CURVES} of {len(names)} classes, by size" if len(names) > len(shown) > 1 else ""
    )
    return Figure(roc_chart(curves, title), f"ROC of pooled decision values, with areas{note}")


def _largest(truth: Any, n_classes: int) -> list[int]:
    counts = np.bincount(truth[truth >= 0], minlength=n_classes)
    return sorted(np.argsort(-counts, kind="stable")[:_MOST_CURVES].tolist())


def _calibration(material: Material, result: Result) -> Figure:
    title = f"{result.name}: calibration"
    regression = result.task == "regression"
    label = None
    values = result.predictions if regression else result.decisions
    if values is None:
        return Figure(None, "Calibration", "This result has no decision values.")
    single = np.asarray(values, dtype=np.float64).reshape(*values.shape[:2], -1)[:, :, 0]
    n_predictions = int(np.isfinite(single).sum())
    n_bins = min(10, n_predictions // _PER_BIN)
    if n_bins < 2:
        return Figure(
            None, "Calibration", f"{n_predictions} predictions are too few for bins of {_PER_BIN}."
        )
    caption = f"Calibration: mean of the true values by the mean predicted value, in {n_bins} bins"
    if not regression:
        truth = result.codes(np.asarray(result.target))
        code = (
            len(result.classes) - 1
            if len(result.classes) == 2
            else _largest(truth, len(result.classes))[0]
        )
        label = result.classes.tolist()[code]
        caption = (
            f"Calibration: share of {material.class_names[code]} by its decision value, "
            f"in {n_bins} bins"
        )
    bins = result.calibration(n_bins, label)
    if not bins["value"]:
        return Figure(None, "Calibration", _NO_PREDICTIONS)
    return Figure(calibration_chart(bins, title, regression), caption)


def chosen_figures(result: Result) -> list[Figure]:
    """How often each value of each option was chosen over the folds."""
    sets = [options for row in result.chosen for options in row]
    keys = list(sets[0]) if sets else []
    found = []
    for key in keys:
        tried = result.tried.get(key, [])
        counts = Counter(_text(options.get(key)) for options in sets)
        order = [_text(value) for value in tried] or list(counts)
        shown = {value: counts.get(value, 0) for value in dict.fromkeys([*order, *counts])}
        if len(shown) == 1:
            continue
        picture = option_bars(shown, f"{result.name}: how often each {key} was chosen", key)
        found.append(Figure(picture, f"{key}: how often each value was chosen"))
    if not found:
        reason = "Every option had one value; nothing was chosen."
        return [Figure(None, "Options", reason)]
    return found


def _text(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
