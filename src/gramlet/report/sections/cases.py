"""Single graphs in a report: the worst and the best predicted, and a table of all."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gramlet.common.arrays import Floats, Ints
from gramlet.evaluation.results.result import Result
from gramlet.report.decisions import Decision
from gramlet.report.kernel_view import KernelView
from gramlet.report.material import Material
from gramlet.report.pictures import Pictures
from gramlet.report.words import Cell, Table

__all__ = ["Ranking", "cases_section", "graph_table", "ranking_of"]

_CASES = 6
_MOST_ROWS = 500


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
        values = np.asarray(result.predictions, dtype=np.float64)
        there = np.isfinite(values)
        sums = np.where(there, values, 0.0).sum(axis=0)
        means = np.where(there.any(axis=0), sums / np.maximum(there.sum(axis=0), 1), np.nan)
        errors = np.abs(means - np.asarray(result.target, dtype=np.float64))
        return Ranking(-errors, means.tolist(), np.full(len(means), np.nan))
    truth = result.codes(result.target)
    told = np.stack([result.codes(row) for row in result.predictions])
    tested = (told >= 0) & (truth >= 0)
    counts = np.maximum(tested.sum(axis=0), 1)
    wrong = np.where(tested.any(axis=0), (tested & (told != truth)).sum(axis=0) / counts, np.nan)
    return Ranking(_margins(result, truth, wrong), _favourites(result, told), wrong)


def _favourites(result: Result, told: Ints) -> list[Any]:
    """The class predicted most often for each graph; None if there is none."""
    known = result.classes.tolist()
    votes = np.stack([(told == code).sum(axis=0) for code in range(len(known))])
    best = votes.argmax(axis=0)
    return [known[c] if votes[c, i] else None for i, c in enumerate(best.tolist())]


def _margins(result: Result, truth: Ints, wrong: Floats) -> Floats:
    if result.decisions is None:
        return 0.5 - wrong
    values = np.asarray(result.decisions, dtype=np.float64)
    there = np.isfinite(values)
    means = np.where(there, values, 0.0).sum(axis=0) / np.maximum(there.sum(axis=0), 1)
    if values.ndim == 2:
        margins = np.where(truth == 1, means, -means)
    else:
        rows = np.arange(len(truth))
        own = means[rows, np.maximum(truth, 0)]
        others = means.copy()
        others[rows, np.maximum(truth, 0)] = -np.inf
        margins = own - others.max(axis=1)
    return np.where(np.isnan(wrong), np.nan, margins)


def cases_section(
    material: Material, view: KernelView | None, decisions: list[Decision], pictures: Pictures
) -> dict[str, Any]:
    """The worst and the best predicted graphs of a result, drawn with neighbours."""
    result = material.best if view is None else view.result
    try:
        ranking = ranking_of(result)
    except ValueError as why:
        return {"why_not": str(why), "name": result.name}
    tested = np.flatnonzero(np.isfinite(ranking.margins))
    order = tested[np.argsort(ranking.margins[tested], kind="stable")]
    worst = [int(i) for i in order[:_CASES]]
    if not material.regression:
        worst = [i for i in worst if ranking.wrong[i] > 0]
    best = [int(i) for i in order[::-1][:_CASES] if int(i) not in worst]
    values, reach = _importance(material, ranking, decisions, [*worst, *best])
    told = _told(material, view, decisions)

    def card(i: int) -> dict[str, Any]:
        return _case(material, view, ranking, pictures, i, values.get(i), reach)

    return {
        "name": result.name,
        "worst": [card(i) for i in worst],
        "best": [card(i) for i in best],
        "told": told,
        "by_node": bool(values),
        "positions": [*worst, *best],
        "ranking": ranking,
    }


def _told(material: Material, view: KernelView | None, decisions: list[Decision]) -> str:
    if material.graphs is None:
        return "The graphs were not given, so they cannot be drawn."
    if view is None:
        return "There is no kernel matrix, so nearest neighbours are missing."
    if not decisions or not decisions[0].by_node:
        return (
            "Decisions of this kernel cannot be split by node, so the drawings show no importance "
            "of nodes. Weisfeiler-Lehman kernels over nodes (wl) can."
        )
    side = "a higher value" if material.regression else "the predicted class"
    name = view.result.name
    whose = f"of {decisions[0].kernel} fitted on all graphs"
    if decisions[0].kernel != name:
        whose += f", since decisions of {name} cannot be split by node"
    return (
        f"Red nodes count for {side}, blue ones against it, on one scale for all drawings: "
        f"decisions {whose}. {_constants(material, decisions)}"
    )


def _constants(material: Material, decisions: list[Decision]) -> str:
    """What decisions contain beside the nodes."""
    if material.regression:
        return (
            f"A prediction is the sum over the nodes and a constant of {decisions[0].constant:.3g}."
        )
    values = "; ".join(f"{d.constant:+.3g} for {d.name}" for d in decisions)
    return (
        f"A decision is the sum over the nodes and a constant ({values}), so that most nodes can "
        "count against the class that is predicted."
    )


def _importance(
    material: Material, ranking: Ranking, decisions: list[Decision], positions: list[int]
) -> tuple[dict[int, Floats], float]:
    """What each node adds for the predicted class, and the largest of all, for one scale."""
    graphs = material.graphs
    if graphs is None or not decisions or not decisions[0].by_node:
        return {}, 0.0
    by_class = {decision.code: decision for decision in decisions}
    known = {value: code for code, value in enumerate(material.classes.tolist())}
    found = {}
    for i in positions:
        code = 1 if material.regression else known.get(ranking.predicted[i], -1)
        if code in by_class:
            found[i] = by_class[code].nodes(graphs[i])
    reach = max((float(np.abs(v).max(initial=0.0)) for v in found.values()), default=0.0)
    return found, reach


def _case(
    material: Material,
    view: KernelView | None,
    ranking: Ranking,
    pictures: Pictures,
    i: int,
    values: Floats | None,
    reach: float,
) -> dict[str, Any]:
    if material.graphs is None:
        picture = None
    elif values is None:
        picture = pictures.plain(i)
    else:
        picture = pictures.valued(i, values, reach)
    several = material.first.protocol.repeats > 1
    near = []
    if view is not None:
        place = int(np.searchsorted(material.kept, i))
        for other, cosine in view.neighbours(place):
            j = int(material.kept[other])
            near.append(
                {
                    "position": j,
                    "name": material.graph_name(j),
                    "picture": pictures.plain(j),
                    "target": material.target_text(j),
                    "similarity": f"{cosine:.2f}",
                }
            )
    return {
        "position": i,
        "name": material.graph_name(i),
        "picture": picture,
        "truth": material.target_text(i),
        "predicted": material.value_text(ranking.predicted[i]),
        "margin": f"{abs(ranking.margins[i]):.3g}"
        if material.regression
        else f"{ranking.margins[i]:+.3g}",
        "wrong": f"{ranking.wrong[i]:.0%}" if several and ranking.wrong[i] > 0 else "",
        "neighbours": near,
    }


def graph_table(material: Material, result: Result, ranking: Ranking) -> Table:
    """One row per graph, the worst predicted first; of many graphs the worst and the best."""
    margins = ranking.margins
    order = np.argsort(np.where(np.isnan(margins), np.inf, margins), kind="stable")
    note = ""
    if len(order) > _MOST_ROWS:
        half = _MOST_ROWS // 2
        order = np.concatenate([order[:half], order[-half:]])
        note = f"The {half} worst and the {half} best predicted of {len(margins):,} graphs."
    measure = "error" if material.regression else "margin"
    sizes = None if material.graphs is None else material.graphs.sizes
    rows = []
    for i in order.tolist():
        margin = abs(float(margins[i])) if material.regression else float(margins[i])
        rows.append(
            (
                Cell(material.graph_name(i)),
                Cell(
                    "–" if sizes is None else str(sizes[i]),
                    None if sizes is None else int(sizes[i]),
                ),
                Cell(material.target_text(i)),
                Cell(material.value_text(ranking.predicted[i])),
                Cell("not tested", 1e300) if np.isnan(margin) else Cell(f"{margin:.3g}", margin),
            )
        )
    caption = f"Graphs by how {result.name} predicts them"
    return Table(
        caption, ("graph", "nodes", "true", "predicted", measure), rows, frozenset({1, 4}), note
    )
