"""Predictions in a report: figures of one result, and the graphs it predicts worst and best."""

from __future__ import annotations

from collections import Counter
from typing import Any, NamedTuple

import numpy as np

from gramlet.common.arrays import Floats
from gramlet.evaluation.result import Result
from gramlet.report.figures import (
    RocCurve,
    bars,
    calibration_chart,
    confusion_chart,
    roc_chart,
    scatter,
)
from gramlet.report.fitted import Decision, KernelView
from gramlet.report.material import Material
from gramlet.report.parts import Cell, Figure, Table

_MOST_CURVES = 8
_PER_BIN = 10  # the least number of predictions per point of a calibration curve
_LARGE = 10  # classes above which a confusion matrix has a line of its own
_NO_PREDICTIONS = "This result has no predictions."
_CASES = 6
_MOST_ROWS = 500


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
    predicted = _means_over_repeats(result.predictions)
    names = [material.graph_name(i) for i in range(len(truth))]
    title = f"{result.name}: predictions against the truth"
    errors = np.abs(predicted - truth)[np.isfinite(predicted)]
    caption = (
        f"Out-of-fold predictions, mean over repeats; mean absolute error {errors.mean():.3g}"
        if len(errors)
        else "Out-of-fold predictions"
    )
    return Figure(scatter(truth, predicted, names, title), caption)


def _means_over_repeats(values: Any) -> Floats:
    """Means over repeats, NaN if there is none."""
    numbers = np.asarray(values, dtype=np.float64)
    finite = np.isfinite(numbers)
    counts = finite.sum(axis=0)
    sums = np.where(finite, numbers, 0.0).sum(axis=0)
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
    figures = []
    for key in sets[0] if sets else ():
        tried = result.tried.get(key, [])
        counts = Counter(_text(options.get(key)) for options in sets)
        order = [_text(value) for value in tried] or list(counts)
        shown = {value: counts.get(value, 0) for value in dict.fromkeys([*order, *counts])}
        if len(shown) == 1:
            continue
        title = f"{result.name}: how often each {key} was chosen"
        picture = bars(list(shown), list(shown.values()), title, f"training parts that chose {key}")
        figures.append(Figure(picture, f"{key}: how often each value was chosen"))
    return figures or [Figure(None, "Options", "Every option had one value; nothing was chosen.")]


def _text(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


class Ranking(NamedTuple):
    """How well a result predicts each graph.

    Attributes
    ----------
    margins : array
        Per graph, large if it is predicted correctly and clearly: the decision for the true class
        minus the best of the others; the negative error for a regression; NaN where not tested.
    predicted : list
        The most frequent prediction, or the mean.
    wrong : array
        The share of repeats that predicted another class; NaN if not tested or for a regression.
    """

    margins: Floats
    predicted: list[Any]
    wrong: Floats


def ranking_of(result: Result) -> Ranking:
    """Order graphs by how well they are predicted.

    Raises
    ------
    ValueError
        If the result has no predictions.
    """
    if result.predictions is None or result.target is None:
        raise ValueError("This result has no predictions.")
    if result.task == "regression":
        means = _means_over_repeats(result.predictions)
        errors = np.abs(means - np.asarray(result.target, dtype=np.float64))
        return Ranking(-errors, means.tolist(), np.full(len(means), np.nan))
    truth = result.codes(result.target)
    predicted = np.stack([result.codes(row) for row in result.predictions])
    tested = (predicted >= 0) & (truth >= 0)
    counts = np.maximum(tested.sum(axis=0), 1)
    wrong = (tested & (predicted != truth)).sum(axis=0) / counts
    wrong = np.where(tested.any(axis=0), wrong, np.nan)
    # The class predicted most often for each graph; None if there is none.
    known = result.classes.tolist()
    votes = np.stack([(predicted == code).sum(axis=0) for code in range(len(known))])
    most = [known[c] if votes[c, i] else None for i, c in enumerate(votes.argmax(axis=0).tolist())]
    margins = 0.5 - wrong
    if result.decisions is not None:
        means = _means_over_repeats(result.decisions)
        if means.ndim == 1:
            margins = np.where(truth == 1, means, -means)
        else:
            rows, columns = np.arange(len(truth)), np.maximum(truth, 0)
            margins = means[rows, columns].copy()
            means[rows, columns] = -np.inf
            margins -= means.max(axis=1)
    return Ranking(np.where(np.isnan(wrong), np.nan, margins), most, wrong)


def cases_section(
    material: Material, view: KernelView | None, decisions: list[Decision], pictures: Any
) -> dict[str, Any]:
    """The worst and the best predicted graphs of a result, drawn with neighbours, and a table."""
    result = material.best if view is None else view.result
    try:
        ranking = ranking_of(result)
    except ValueError as why:
        return {"why_not": str(why), "name": result.name}
    tested = np.flatnonzero(np.isfinite(ranking.margins))
    order = tested[np.argsort(ranking.margins[tested], kind="stable")].tolist()
    worst = [i for i in order[:_CASES] if material.regression or ranking.wrong[i] > 0]
    best = [i for i in order[::-1][:_CASES] if i not in worst]
    # What each node adds for the predicted class, on one scale for all drawings.
    graphs = material.graphs
    by_class = {decision.code: decision for decision in decisions}
    importance = {}
    for i in [*worst, *best]:
        code = 1 if material.regression else material.code_of(ranking.predicted[i])
        if graphs is not None and code in by_class:
            importance[i] = by_class[code].nodes(graphs[i])
    reach = max((float(np.abs(v).max(initial=0.0)) for v in importance.values()), default=0.0)

    def card(i: int) -> dict[str, Any]:
        margin, wrong = ranking.margins[i], ranking.wrong[i]
        several = material.first.protocol.repeats > 1
        neighbours = []
        if view is not None:
            for other, cosine in view.neighbours(int(np.searchsorted(material.kept, i))):
                j = int(material.kept[other])
                neighbours.append(
                    {
                        "name": material.graph_name(j),
                        "picture": pictures.plain(j),
                        "target": material.target_text(j),
                        "similarity": f"{cosine:.2f}",
                    }
                )
        return {
            "name": material.graph_name(i),
            "smiles": material.smiles(i),
            "picture": None
            if graphs is None
            else pictures.valued(i, importance.get(i), reach if i in importance else None),
            "truth": material.target_text(i),
            "predicted": material.value_text(ranking.predicted[i]),
            "margin": f"{abs(margin):.3g}" if material.regression else f"{margin:+.3g}",
            "wrong": f"{wrong:.0%}" if several and wrong > 0 else "",
            "neighbours": neighbours,
        }

    return {
        "name": result.name,
        "worst": [card(i) for i in worst],
        "best": [card(i) for i in best],
        "explanation": _explanation(material, view, decisions),
        "predicted": ranking.predicted,
        "table": _graph_table(material, result, ranking),
    }


def _explanation(material: Material, view: KernelView | None, decisions: list[Decision]) -> str:
    """What the colours of the drawings mean, or why there are none."""
    if material.graphs is None:
        return "The graphs were not given, so they cannot be drawn."
    if view is None:
        return "There is no kernel matrix, so nearest neighbours are missing."
    if not decisions:
        return (
            "Decisions of this kernel cannot be split by node, so the drawings show no importance "
            "of nodes. Weisfeiler-Lehman kernels over nodes (wl) can."
        )
    side = "a higher value" if material.regression else "the predicted class"
    whose = f"of {decisions[0].kernel} fitted on all graphs"
    if decisions[0].kernel != view.result.name:
        whose += f", since decisions of {view.result.name} cannot be split by node"
    if material.regression:
        sum_of = (
            f"A prediction is the sum over the nodes and a constant of {decisions[0].constant:.3g}."
        )
    else:
        constants = "; ".join(f"{d.constant:+.3g} for {d.name}" for d in decisions)
        sum_of = (
            f"A decision is the sum over the nodes and a constant ({constants}), so that most "
            "nodes can count against the class that is predicted."
        )
    return (
        f"Red nodes count for {side}, blue ones against it, on one scale for all drawings: "
        f"decisions {whose}. {sum_of}"
    )


def _graph_table(material: Material, result: Result, ranking: Ranking) -> Table:
    """One row per graph, the worst predicted first; of many graphs the worst and the best."""
    margins = ranking.margins
    order = np.argsort(np.where(np.isnan(margins), np.inf, margins), kind="stable")
    note = ""
    if len(order) > _MOST_ROWS:
        half = _MOST_ROWS // 2
        order = np.concatenate([order[:half], order[-half:]])
        note = f"The {half} worst and the {half} best predicted of {len(margins):,} graphs."
    molecules = bool(len(order)) and bool(material.smiles(0))
    rows = []
    for i in order.tolist():
        margin = abs(float(margins[i])) if material.regression else float(margins[i])
        size = None if material.graphs is None else int(material.graphs.sizes[i])
        row = [
            Cell(material.graph_name(i)),
            Cell("–" if size is None else str(size), size),
            Cell(material.target_text(i)),
            Cell(material.value_text(ranking.predicted[i])),
            Cell("not tested", 1e300) if np.isnan(margin) else Cell(f"{margin:.3g}", margin),
        ]
        rows.append([*row, Cell(material.smiles(i))] if molecules else row)
    headings = ["graph", "nodes", "true", "predicted"]
    headings += ["error" if material.regression else "margin", *(["SMILES"] if molecules else [])]
    caption = f"Graphs by how {result.name} predicts them"
    return Table(caption, headings, rows, frozenset({1, 4}), note)
