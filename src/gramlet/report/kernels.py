"""What a report shows of a kernel: its matrix, learning curve, map, and leading patterns."""

from __future__ import annotations

import re
from html import escape
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone

from gramlet.common.arrays import Floats
from gramlet.evaluation.scorers import score_text
from gramlet.kernels.contract.tags import graph_tags
from gramlet.plotting.colours import CLASS_MARKERS, class_style
from gramlet.plotting.patterns import pattern_drawing
from gramlet.plotting.svg import drawing_svg
from gramlet.report.charts import Chart, shown_number
from gramlet.report.figures import curve_chart, heatmap, scale_colour, spectrum_chart
from gramlet.report.fitted import Decision, KernelView, learning_curve_of
from gramlet.report.material import Material
from gramlet.report.parts import (
    Figure,
    Markup,
    Table,
    score_limits,
    sentence,
)

_MOST_POINTS = 5000
_DENSE = 1000  # points beyond which markers are small
_AT_ONCE = 250  # points of all classes that are drawn before the next ones
_STEPS = 12  # of the scale of a real target
_MOST_IN_LEGEND = 20

_SHAPES = {
    "o": "M-3.4 0a3.4 3.4 0 1 0 6.8 0a3.4 3.4 0 1 0 -6.8 0Z",
    "s": "M-3 -3h6v6h-6Z",
    "^": "M0 -4L3.8 3H-3.8Z",
    "D": "M0 -4.2L3.6 0L0 4.2L-3.6 0Z",
    "v": "M0 4L3.8 -3H-3.8Z",
    "P": "M-1.4 -4h2.8v2.6h2.6v2.8h-2.6v2.6h-2.8v-2.6h-2.6v-2.8h2.6Z",
    "X": "M-3.6 -2.2L-2.2 -3.6L0 -1.4L2.2 -3.6L3.6 -2.2L1.4 0L3.6 2.2L2.2 3.6L0 1.4L-2.2 3.6"
    "L-3.6 2.2L-1.4 0Z",
}
_PATTERNS = 6
_LEAST_ZOOM = 0.7  # large trees are scrolled rather than made too small to read
_NARROW = 190  # pixels of a picture that fits into one column
_MOST_SHARES = 4  # classes whose share is given
_RUN = re.compile(r"(?<=[(,])([^(),]+)(?:,\1){3,}(?=[,)])")


def gram_section(material: Material, view: KernelView) -> dict[str, Any]:
    """The section about a kernel matrix."""
    return {"facts": _facts(view), "figures": [_heat(material, view), _spectrum(view)]}


def _facts(view: KernelView) -> Table:
    values = view.eigenvalues
    n, whole = len(view.sample), len(view.gram)
    of_part = f" (of {n:,} of {whole:,} graphs)" if n < whole else ""
    smallest = f"smallest eigenvalue {values[0]:.3g}, largest {values[-1]:.3g}{of_part}"
    definite = "yes" if view.positive else "no"
    diagonal = np.diagonal(view.gram)
    rows = [
        ("kernel", _shown(view.estimator)),
        ("positive semi-definite", f"{definite}: {smallest}"),
        ("effective rank", f"{view.effective_rank:.1f} of {n:,}{of_part}"),
        (
            "diagonal dominance",
            f"{view.dominance:.3g} (mean of the diagonal over mean of the "
            "rest; large values mean that every graph is similar only to itself)",
        ),
        ("self-similarities", f"{diagonal.min():.4g} to {diagonal.max():.4g}"),
    ]
    if view.supervised:
        rows.append(
            ("fitted on", "all graphs with their target: the figures here are not estimates")
        )
    return Table.of_facts(
        "The kernel matrix of all graphs, with the options chosen most often", rows
    )


def _shown(estimator: Any) -> str:
    """The estimator with its options; a seed only where numbers are drawn."""
    if "random_state" in estimator.get_params(deep=False) and not graph_tags(estimator).random:
        estimator = clone(estimator).set_params(random_state=None)
    return f"{estimator!r}"


def _heat(material: Material, view: KernelView) -> Figure:
    """Graphs sorted by target, then along the first component."""
    n = len(view.gram)
    try:
        along = view.map[0][:, 0]
    except ValueError:
        along = np.zeros(n)
    first = material.codes if material.target is not None else np.zeros(n)
    order = np.lexsort((along, first))
    matrix = view.gram[np.ix_(order, order)]
    off = matrix[~np.eye(n, dtype=bool)] if n > 1 else matrix.ravel()
    low, high = np.quantile(off, [0.01, 0.99]) if len(off) else (0.0, 1.0)
    what = "value of the target" if material.regression else "class"
    caption = (
        f"Kernel matrix, graphs sorted by {what}, then along the first component; dark: "
        f"{low:.3g} and below, bright: {high:.3g} and above"
    )
    if n > 220:
        caption += "; means over blocks of graphs"
    title = f"{view.result.name}: sorted kernel matrix"
    return Figure(heatmap(matrix, title, float(low), float(high)), caption)


def _spectrum(view: KernelView) -> Figure:
    title = f"{view.result.name}: eigenvalues of the kernel matrix"
    n, whole = len(view.sample), len(view.gram)
    caption = "Eigenvalues, largest first" + (
        f", of {n:,} of {whole:,} graphs" if n < whole else ""
    )
    return Figure(spectrum_chart(view.eigenvalues, title), caption)


def curve_figure(material: Material, view: KernelView) -> Figure:
    """The learning curve, or why there is none."""
    if material.target is None:
        return Figure(None, "Learning curve", "The results contain no target.")
    seed = view.result.protocol.random_state
    try:
        curve = learning_curve_of(view, material.codes, material.regression, seed)
    except ValueError as why:
        return Figure(None, "Learning curve", str(why))
    scoring = "r2" if material.regression else "accuracy"
    score, limits = score_text(scoring), score_limits(scoring)
    machine = "ridge regression" if material.regression else "a support vector machine"
    title = f"{view.result.name}: learning curve"
    caption = (
        f"{sentence(score)} of {machine} on a fifth of the graphs held out, mean and standard "
        "deviation of five folds; C as chosen most often at full size"
    )
    if not material.regression:
        balanced = view.result.class_weight == "balanced"
        caption += ", with balanced class weights" if balanced else ", without class weights"
    if curve.n_graphs < len(view.gram):
        caption += f"; made with {curve.n_graphs:,} of {len(view.gram):,} graphs"
    return Figure(curve_chart(curve, title, score, limits), caption)


def marker_symbols() -> Markup:
    """The shapes of all markers, large and small, once per page."""
    shapes = "".join(
        f'<path id="mark{position}" d="{_SHAPES[marker]}"/>'
        f'<path id="dot{position}" d="{_SHAPES[marker]}" transform="scale(.6)"/>'
        for position, marker in enumerate(CLASS_MARKERS)
    )
    return Markup(
        f'<svg class="marks" width="0" height="0" aria-hidden="true"><defs>{shapes}</defs></svg>'
    )


def map_section(material: Material, view: KernelView) -> dict[str, Any]:
    """The picture of a map, its legend and a caption; or ``why_not``."""
    try:
        scores, shares = view.map
    except (ValueError, np.linalg.LinAlgError) as why:
        return {"why_not": str(why)}
    if not view.positive:
        note = "The matrix has negative eigenvalues; the map leaves them out."
    else:
        note = ""
    shown = np.arange(len(scores))
    if len(shown) > _MOST_POINTS:
        shown = np.unique(np.linspace(0, len(shown) - 1, _MOST_POINTS).astype(np.int64))
        note += f" {_MOST_POINTS:,} of {len(scores):,} graphs are shown."
    low, high = scores.min(axis=0), scores.max(axis=0)
    margin = np.maximum(0.04 * (high - low), 1e-9)
    chart = Chart(
        f"{view.result.name}: map of the graphs",
        (low[0] - margin[0], high[0] + margin[0]),
        (low[1] - margin[1], high[1] + margin[1]),
        x_label=f"component 1 ({shares[0]:.0%} of the variance)",
        y_label=f"component 2 ({shares[1]:.0%})",
        width=540,
        height=400,
        left=64,
    )
    groups, legend = _groups_of_points(material)
    # Parts of the classes in turn, so that no class covers another one.
    mixed = np.random.default_rng(0).permutation(shown)
    for part in np.array_split(mixed, max(1, len(mixed) // _AT_ONCE)):
        for colour, marker, members in groups:
            chosen = np.intersect1d(members, part)
            if len(chosen):
                symbol = f"{'dot' if len(shown) > _DENSE else 'mark'}{marker}"
                chart.raw(_points(chart, scores, material, chosen, colour, symbol))
    chart.raw('<circle class="ring" r="8" cx="-20" cy="-20"/>')
    extra = f' tabindex="0" data-map="{escape(view.result.name, quote=True)}"'
    return {
        "picture": chart.write(extra),
        "legend": legend,
        "note": note.strip(),
        "positions": material.kept[shown].tolist(),
    }


def _points(
    chart: Chart, scores: Floats, material: Material, members: Any, colour: str, symbol: str
) -> str:
    kept = material.kept
    marks = []
    for i in members.tolist():
        x, y = chart.at(float(scores[i, 0]), float(scores[i, 1]))
        marks.append(f'<use href="#{symbol}" x="{x:.1f}" y="{y:.1f}" data-i="{kept[i]}"/>')
    return f'<g fill="{colour}" class="points">{"".join(marks)}</g>'


def _groups_of_points(material: Material) -> tuple[list[tuple[str, int, Any]], Any]:
    """Points by colour and marker, and the legend: names of classes, or a scale of numbers."""
    everyone = np.arange(len(material.kept))
    if material.target is None:
        return [(class_style(0)[0], 0, everyone)], None
    if not material.regression:
        groups = [
            (class_style(c)[0], c % len(CLASS_MARKERS), np.flatnonzero(material.codes == c))
            for c in range(len(material.classes))
        ]
        names = list(enumerate(material.class_names))[:_MOST_IN_LEGEND]
        entries = [(class_style(c)[0], c % len(CLASS_MARKERS), name) for c, name in names]
        left = len(material.class_names) - len(names)
        return groups, {"entries": entries, "left": left}
    numbers = material.codes
    low, high = float(numbers.min()), float(numbers.max())
    steps = np.minimum(((numbers - low) / max(high - low, 1e-300) * _STEPS).astype(int), _STEPS - 1)
    groups = [
        (scale_colour((k + 0.5) / _STEPS), 0, np.flatnonzero(steps == k)) for k in range(_STEPS)
    ]
    name = (None if material.data is None else material.data.target_name) or "target"
    bar = {"low": shown_number(low), "high": shown_number(high), "name": name}
    return groups, {"bar": bar}


def patterns_section(
    material: Material, view: KernelView, decisions: list[Decision]
) -> list[dict[str, Any]]:
    """Per class the patterns that add most to it, with the share of each class that has them."""
    groups, names = material.codes, material.class_names
    if material.regression:
        middle = float(np.median(material.codes))
        groups = (material.codes > middle).astype(int)
        names = [f"those up to {middle:.3g}", f"those above {middle:.3g}"]
    first = decisions[0].explanation
    present = sparse.csc_matrix(first.present(material.used_graphs))
    members = np.maximum(np.bincount(groups, minlength=len(names)), 1)
    texts = first.names
    sides = []
    for decision in decisions:
        values = decision.values()
        patterns = []
        for column in np.argsort(-values, kind="stable")[:_PATTERNS].tolist():
            if values[column] <= 0:
                continue
            having = present[:, [column]].toarray().ravel()
            shares = np.bincount(groups, weights=having, minlength=len(names)) / members
            order = np.argsort(-shares, kind="stable")[:_MOST_SHARES]
            if len(names) > _MOST_SHARES:
                order = order[shares[order] > 0]
            text = _RUN.sub(_counted, str(texts[column]))
            picture = _pattern_picture(material, view, column, text)
            width = re.search(r'width="(\d+)"', picture or "")
            patterns.append(
                {
                    "picture": picture,
                    "wide": width is not None and int(width[1]) > _NARROW,
                    "text": text,
                    "value": f"{values[column]:+.3g}",
                    "found_in": "1 graph" if having.sum() == 1 else f"{having.sum():,} graphs",
                    "shares": [(names[i], f"{shares[i]:.0%}") for i in sorted(order.tolist())],
                }
            )
        sides.append({"name": decision.name, "patterns": patterns})
    return sides


def pattern_words(view: KernelView, decisions: list[Decision]) -> str:
    """The meaning of the numbers beside patterns."""
    if decisions[0].explanation.meaning == "mean contribution":
        words = "What a pattern adds to the decision, as the mean over all fitted graphs"
    else:
        words = "What one occurrence of a pattern adds to the decision"
        if view.estimator.normalize:
            words += ", to be divided by the norm of the graph that contains it"
    return f"{words}. Shares are of the graphs that contain it at least once."


def _counted(run: re.Match[str]) -> str:
    """Equal neighbours in a row as their number: '*,*,*,*' as '4 × *'."""
    return f"{run[0].count(',') + 1} × {run[1]}"


def _pattern_picture(material: Material, view: KernelView, column: int, text: str) -> Markup | None:
    drawing = pattern_drawing(
        view.estimator,
        column,
        node_names=material.node_names,
        edge_names=material.edge_names,
        graphs=material.used_graphs,
        colours=material.colours,
    )
    if drawing is None:
        return None
    return Markup(drawing_svg(drawing, f"Pattern {text}", largest=220, least_zoom=_LEAST_ZOOM))
