"""The map of a kernel in a report: one point per graph, which the page links to its drawing."""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np

from gramlet.common.arrays import Floats
from gramlet.plotting.colours import CLASS_MARKERS, class_style
from gramlet.report.charts import Chart, shown_number
from gramlet.report.heatmap import scale_colour
from gramlet.report.kernel_view import KernelView
from gramlet.report.markup import Markup
from gramlet.report.material import Material

__all__ = ["marker_symbols", "map_section"]

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
    groups, legend = _groups(material)
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
        "name": view.result.name,
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


def _groups(material: Material) -> tuple[list[tuple[str, int, Any]], Any]:
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
    stops = ", ".join(scale_colour(k / 9) for k in range(10))
    name = (None if material.data is None else material.data.target_name) or "target"
    bar = {"low": shown_number(low), "high": shown_number(high), "stops": stops, "name": name}
    return groups, {"bar": bar}
