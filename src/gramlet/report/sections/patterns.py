"""The leading patterns per class in a report, drawn, with the share of each class that has them."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from scipy import sparse

from gramlet.graphs.batch import GraphBatch
from gramlet.plotting.patterns import pattern_drawing
from gramlet.plotting.svg import drawing_svg
from gramlet.report.decisions import Decision
from gramlet.report.kernel_view import KernelView
from gramlet.report.markup import Markup
from gramlet.report.material import Material

__all__ = ["pattern_words", "patterns_section"]

_PATTERNS = 6
_LONGEST = 160  # letters of a pattern's text
_LEAST_ZOOM = 0.7  # large trees are scrolled rather than made too small to read
_NARROW = 190  # pixels of a picture that fits into one column
_MOST_SHARES = 4  # classes whose share is given
_RUN = re.compile(r"(?<=[(,])([^(),]+)(?:,\1){3,}(?=[,)])")


def patterns_section(
    material: Material, view: KernelView, decisions: list[Decision]
) -> list[dict[str, Any]]:
    """Per class the patterns that add most to it."""
    graphs = material.graphs
    assert graphs is not None
    batch = graphs if len(material.kept) == len(graphs) else graphs[material.kept]
    groups, names = _halves_or_classes(material)
    present = sparse.csr_matrix(view.estimator.features(batch)) != 0
    rows = []
    for decision in decisions:
        values = decision.coefficients()
        leading = np.argsort(-values, kind="stable")[:_PATTERNS]
        shown = [
            _pattern(
                view, int(column), float(values[column]), present, groups, names, batch, material
            )
            for column in leading
            if values[column] > 0
        ]
        rows.append({"name": decision.name, "patterns": shown})
    return rows


def pattern_words(view: KernelView) -> str:
    """The meaning of the numbers beside patterns."""
    words = "What one occurrence of a pattern adds to the decision"
    if getattr(view.estimator, "normalize", False):
        words += ", to be divided by the norm of the graph that contains it"
    return f"{words}. Shares are of the graphs that contain it at least once."


def _halves_or_classes(material: Material) -> tuple[Any, list[str]]:
    """The group of each graph and the names of groups: classes, or halves of the target."""
    if not material.regression:
        return material.codes, material.class_names
    middle = float(np.median(material.codes))
    return (material.codes > middle).astype(int), [
        f"those up to {middle:.3g}",
        f"those above {middle:.3g}",
    ]


def _pattern(
    view: KernelView,
    column: int,
    value: float,
    present: Any,
    groups: Any,
    names: list[str],
    batch: GraphBatch,
    material: Material,
) -> dict[str, Any]:
    having = np.asarray(present[:, [column]].todense()).ravel()
    counts = np.bincount(groups, weights=having, minlength=len(names))
    shares = counts / np.maximum(np.bincount(groups, minlength=len(names)), 1)
    order = np.argsort(-shares, kind="stable")[:_MOST_SHARES]
    if len(names) > _MOST_SHARES:
        order = order[shares[order] > 0]
    text = _text(view, column, material)
    picture = _picture(view, column, text, batch, material)
    width = re.search(r'width="(\d+)"', picture or "")
    return {
        "picture": picture,
        "wide": width is not None and int(width[1]) > _NARROW,
        "text": text,
        "value": f"{value:+.3g}",
        "found_in": "1 graph" if having.sum() == 1 else f"{int(having.sum()):,} graphs",
        "shares": [(names[i], f"{shares[i]:.0%}") for i in sorted(order.tolist())],
    }


def _counted(run: re.Match[str]) -> str:
    """Equal neighbours in a row as their number: '*,*,*,*' as '4 × *'."""
    return f"{run[0].count(',') + 1} × {run[1]}"


def _text(view: KernelView, column: int, material: Material) -> str:
    text = _RUN.sub(_counted, str(view.feature_names[column]))
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _picture(
    view: KernelView, column: int, text: str, batch: GraphBatch, material: Material
) -> Markup | None:
    drawing = pattern_drawing(
        view.estimator,
        column,
        node_names=material.node_names,
        edge_names=material.edge_names,
        graphs=batch,
        colours=material.colours,
    )
    if drawing is None:
        return None
    return Markup(drawing_svg(drawing, f"Pattern {text}", largest=220, least_zoom=_LEAST_ZOOM))
