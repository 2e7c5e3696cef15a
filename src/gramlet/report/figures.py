"""The pictures of a report: histograms, bars, curves and scatter as SVG, heat maps as PNG."""

from __future__ import annotations

import base64
import struct
import zlib
from collections.abc import Collection, Mapping, Sequence
from html import escape
from typing import NamedTuple

import numpy as np

from gramlet.common.arrays import Array, Floats, Ints
from gramlet.plotting.colours import CLASS_COLOURS, class_style
from gramlet.report.charts import Chart, short_names, shown_number
from gramlet.report.fitted import LearningCurve
from gramlet.report.parts import Markup

_BLUE, _RED = CLASS_COLOURS[0], CLASS_COLOURS[1]
_GREY = "#7a7a7a"
_MOST_CONFUSED = 30  # classes in a picture
_MOST_POINTS = 2000
_LETTERS = 16  # of the name of a class
_LETTER = 7.0  # pixels of a letter of average width
_WIDE_CELL, _FLAT_LETTERS = 54.0, 7  # cells below which so short names need not be turned

_MOST_CELLS = 220  # of a heat map, per side

# Ten points of a scale from dark blue over green to yellow, of uniform lightness steps.
_SCALE = np.array(
    [
        (68, 1, 84),
        (72, 40, 120),
        (62, 74, 137),
        (49, 104, 142),
        (38, 130, 142),
        (31, 158, 137),
        (53, 183, 121),
        (109, 205, 89),
        (180, 222, 44),
        (253, 231, 37),
    ],
    dtype=np.float64,
)


def histogram(values: Array, title: str, x_label: str, n_bins: int = 24) -> Markup:
    """A histogram with bins of equal width."""
    numbers = np.asarray(values, dtype=np.float64)
    distinct = np.unique(numbers)
    whole = np.array_equal(distinct, distinct.round())
    if len(distinct) <= n_bins and whole:
        edges = np.arange(distinct.min() - 0.5, distinct.max() + 1.0)
        edges = edges if len(edges) <= 2 * n_bins else np.linspace(edges[0], edges[-1], n_bins + 1)
    else:
        edges = np.linspace(numbers.min(), numbers.max(), n_bins + 1)
    counts, edges = np.histogram(numbers, edges)
    chart = Chart(
        title,
        (edges[0], edges[-1]),
        (0, counts.max() * 1.05),
        x_label=x_label,
        y_label="graphs",
        whole="xy" if whole else "y",
    )
    gap = 0.06 * (edges[1] - edges[0])
    for low, high, count in zip(edges, edges[1:], counts.tolist(), strict=False):
        words = f"{shown_number(low)} to {shown_number(high)}: {count}"
        chart.bar((low + gap, 0), (high - gap, count), _BLUE, words)
    return chart.write()


def bars(
    names: Sequence[str],
    counts: Sequence[float],
    title: str,
    x_label: str,
    colours: Sequence[str] | None = None,
    fixed: bool = False,
) -> Markup:
    """Horizontal bars with their names; ``fixed``: colours do not change on dark pages."""
    n = len(names)
    height = 56 + 22.0 * n
    chart = Chart(
        title,
        (0, max(counts) * 1.12 or 1),
        (n - 0.5, -0.5 if n else 0.5)[::-1],
        x_label=x_label,
        y_names=[str(name) for name in reversed(names)],
        height=height,
        left=110,
        whole="x",
    )
    for i, (name, count) in enumerate(zip(names, counts, strict=True)):
        at = n - 1 - i
        colour = _BLUE if colours is None else colours[i]
        chart.bar((0, at - 0.36), (count, at + 0.36), colour, f"{name}: {shown_number(count)}")
        chart.text(count, at, shown_number(count))
    return chart.write(" data-fixed" if fixed else "")


def intervals(
    rows: Sequence[tuple[str, float, float, float]],
    title: str,
    x_label: str,
    plain: Collection[str] = (),
) -> Markup:
    """A point and its interval per row: (name, low, middle, high); names in ``plain`` are grey."""
    low = min(row[1] for row in rows)
    high = max(row[3] for row in rows)
    margin = 0.05 * (high - low) or 0.05
    n = len(rows)
    chart = Chart(
        title,
        (low - margin, high + margin),
        (-0.5, n - 0.5),
        x_label=x_label,
        y_names=[row[0] for row in reversed(rows)],
        height=64 + 24.0 * n,
        left=120,
        width=440,
    )
    for i, (name, begin, middle, end) in enumerate(rows):
        at = n - 1 - i
        colour = _GREY if name in plain else _BLUE
        chart.line([(begin, at), (end, at)], colour, width=2.4)
        chart.dot(
            middle,
            at,
            colour,
            radius=4.5,
            opacity=1,
            title=f"{name}: {middle:.3f}, {begin:.3f} to {end:.3f}",
        )
    return chart.write()


def confusion_chart(counts: Ints, names: Sequence[str], title: str) -> Markup | None:
    """The confusion matrix, true classes in rows; None for too many classes."""
    n = len(names)
    if n > _MOST_CONFUSED:
        return None
    cell = _WIDE_CELL if n <= 4 else 34.0 if n <= 10 else 20.0
    top = 20.0
    cut = short_names(names, _LETTERS)
    left = max(112.0, 16 + _LETTER * max(map(len, cut)))
    flat = cell == _WIDE_CELL and max(map(len, cut)) <= _FLAT_LETTERS
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    parts = []
    for row in range(n):
        y = top + cell * row
        parts.append(
            f'<text x="{left - 6}" y="{y + cell / 2 + 4}" text-anchor="end">'
            f"{escape(cut[row])}</text>"
        )
        for column in range(n):
            share = float(shares[row, column])
            x = left + cell * column
            words = (
                f"{names[row]} predicted as {names[column]}: {counts[row, column]} ({share:.0%})"
            )
            colour = _BLUE if row == column else _RED
            parts.append(
                f'<rect x="{x}" y="{y}" width="{cell - 1}" height="{cell - 1}" fill="{colour}" '
                f'fill-opacity="{0.06 + 0.9 * share:.2f}"><title>{escape(words)}</title></rect>'
            )
            if n <= 10:
                ink = ' class="on-dark"' if share > 0.55 else ""
                parts.append(
                    f'<text x="{x + cell / 2}" y="{y + cell / 2 + 4}" '
                    f'text-anchor="middle"{ink}>{counts[row, column]}</text>'
                )
    foot = top + cell * n + 14
    for column in range(n):
        x = left + cell * (column + 0.5)
        turned = (
            f'x="{x}" y="{foot + 2}" text-anchor="middle"'
            if flat
            else (f'transform="translate({x + 3} {foot - 4}) rotate(-40)" text-anchor="end"')
        )
        parts.append(f"<text {turned}>{escape(cut[column])}</text>")
    width, height = left + cell * n + 10, foot + (10 if flat else 74)
    return Markup(
        f'<svg class="chart" viewBox="0 0 {width:g} {height:g}" style="max-width:{width:g}px" '
        f'role="img" aria-label="{escape(title, quote=True)}">{"".join(parts)}</svg>'
    )


class RocCurve(NamedTuple):
    """The ROC curve of one class: its position among the classes gives the colour."""

    position: int
    name: str
    false: Floats
    true: Floats
    area: float


def roc_chart(curves: Sequence[RocCurve], title: str) -> Markup:
    """False against true positives, with a legend below."""
    room = 44.0 + 17 * -(-len(curves) // 2)
    chart = Chart(
        title,
        (0, 1),
        (0, 1),
        x_label="false positive rate",
        y_label="true positive rate",
        height=260 + room,
        bottom=room,
    )
    chart.line([(0, 0), (1, 1)], dashed=True, width=1)
    names = short_names([curve.name for curve in curves], _LETTERS)
    for place, curve in enumerate(curves):
        n = len(curve.false)
        keep = np.unique(np.linspace(0, n - 1, min(n, 200)).astype(int))
        colour, _ = class_style(curve.position)
        points = zip(curve.false[keep].tolist(), curve.true[keep].tolist(), strict=True)
        chart.line(points, colour, title=f"{curve.name}: area {curve.area:.3f}")
        chart.key(place, colour, f"{names[place]}: {curve.area:.3f}")
    return chart.write()


def calibration_chart(bins: Mapping[str, list[float]], title: str, regression: bool) -> Markup:
    """Observed values of graphs with similar predictions."""
    values, observed = bins["value"], bins["observed"]
    x, y, middle = (min(values), max(values)), (0.0, 1.0), (0.5, 0.5)
    labels = ("decision value (mean of the bin)", "share of the class")
    if regression:
        x = y = middle = (min(values + observed), max(values + observed))
        labels = ("predicted (mean of the bin)", "true (mean)")
    chart = Chart(title, x, y, x_label=labels[0], y_label=labels[1], height=300)
    chart.line(zip(x, middle, strict=True), dashed=True, width=1)
    chart.line(zip(values, observed, strict=True), _BLUE)
    for value, share, count in zip(values, observed, bins["count"], strict=True):
        words = f"{shown_number(value)}: {share:.3g}, of {int(count)} predictions"
        chart.dot(value, share, _BLUE, radius=4, opacity=1, title=words)
    return chart.write()


def scatter(truth: Floats, predicted: Floats, names: Sequence[str], title: str) -> Markup:
    """Predictions against true values."""
    shown = np.flatnonzero(np.isfinite(predicted))
    if len(shown) > _MOST_POINTS:
        shown = shown[np.linspace(0, len(shown) - 1, _MOST_POINTS).astype(int)]
    every = np.concatenate([truth[shown], predicted[shown]])
    low, high = float(every.min()), float(every.max())
    margin = 0.03 * (high - low)  # no point lies on an axis
    low, high = low - margin, high + margin
    chart = Chart(title, (low, high), (low, high), x_label="true", y_label="predicted", height=340)
    chart.line([(low, low), (high, high)], dashed=True, width=1)
    for i in shown.tolist():
        words = f"{names[i]}: true {truth[i]:.4g}, predicted {predicted[i]:.4g}"
        chart.dot(float(truth[i]), float(predicted[i]), _BLUE, radius=2.6, title=words, opacity=0.6)
    return chart.write()


def curve_chart(
    curve: LearningCurve, title: str, score: str, limits: tuple[float, float]
) -> Markup:
    """A score against the number of training graphs, with plus and minus one deviation."""
    lows = np.maximum(curve.means - curve.spreads, limits[0]).tolist()
    highs = np.minimum(curve.means + curve.spreads, limits[1]).tolist()
    sizes, means = curve.sizes.tolist(), curve.means.tolist()
    margin = 0.05 * (max(highs) - min(lows)) or 0.05
    chart = Chart(
        title,
        (0, max(sizes)),
        (min(lows) - margin, max(highs) + margin),
        x_label="training graphs",
        y_label=score,
    )
    chart.area(list(zip(sizes, lows, highs, strict=True)), _BLUE)
    chart.line(zip(sizes, means, strict=True), _BLUE)
    for size, mean in zip(sizes, means, strict=True):
        chart.dot(size, mean, _BLUE, radius=4, opacity=1, title=f"{size} graphs: {mean:.3f}")
    return chart.write()


def spectrum_chart(eigenvalues: Floats, title: str) -> Markup:
    """Eigenvalues, largest first, on a logarithmic scale; negative ones in red."""
    values = np.sort(eigenvalues)[::-1]
    top = float(np.abs(values).max(initial=1e-12)) or 1.0
    low = max(top * 1e-10, 1e-300)
    shown = np.abs(values[np.abs(values) > low])
    floor = float(shown.min()) / 2 if len(shown) else low
    chart = Chart(
        title,
        (1, max(2, len(values))),
        (floor, top * 1.5),
        x_label="rank",
        y_label="eigenvalue",
        log_y=True,
        log_x=len(values) > 30,
    )
    above = [(k + 1, v) for k, v in enumerate(values.tolist()) if v > low]
    keep = sorted(
        {
            *range(min(40, len(above))),
            *np.geomspace(1, max(1, len(above)), 120).astype(int).tolist(),
        }
    )
    chart.line([above[k] for k in keep if k < len(above)], _BLUE)
    for k, v in enumerate(values.tolist()):
        if v < -low:
            chart.dot(k + 1, -v, _RED, radius=2.2, title=f"eigenvalue {v:.3g}")
    return chart.write()


def scale_colour(share: float) -> str:
    """The colour of a share between 0 and 1.

    >>> scale_colour(0.0), scale_colour(1.0)
    ('#440154', '#fde725')
    """
    red, green, blue = _colours(np.array([share]))[0]
    return f"#{red:02x}{green:02x}{blue:02x}"


def _colours(shares: Floats) -> Array:
    places = np.clip(shares, 0, 1) * (len(_SCALE) - 1)
    low = np.minimum(places.astype(np.int64), len(_SCALE) - 2)
    part = (places - low)[..., None]
    mixed = (1 - part) * _SCALE[low] + part * _SCALE[low + 1]
    return mixed.round().astype(np.uint8)


def block_means(matrix: Floats, most: int = _MOST_CELLS) -> Floats:
    """The matrix, or means over blocks of it, with a limited number of rows and columns.

    >>> block_means(np.arange(16.0).reshape(4, 4), 2).tolist()
    [[2.5, 4.5], [10.5, 12.5]]
    """
    n = len(matrix)
    if n <= most:
        return matrix
    begins = np.linspace(0, n, most + 1).astype(np.int64)[:-1]
    sizes = np.diff(np.append(begins, n)).astype(np.float64)
    sums = np.add.reduceat(np.add.reduceat(matrix, begins, axis=0), begins, axis=1)
    means: Floats = sums / np.outer(sizes, sizes)
    return means


def png(pixels: Array) -> bytes:
    """An image of shape (height, width, 3), bytes, as a PNG file."""
    height, width, _ = pixels.shape
    rows = np.zeros((height, 1 + 3 * width), dtype=np.uint8)  # each begins with 0: no filter
    rows[:, 1:] = pixels.reshape(height, -1)

    def chunk(kind: bytes, body: bytes) -> bytes:
        return (
            struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
        )

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", head)
        + chunk(b"IDAT", zlib.compress(rows.tobytes(), 9))
        + chunk(b"IEND", b"")
    )


def heatmap(matrix: Floats, title: str, low: float, high: float) -> Markup:
    """An ``<img>`` of a matrix, dark where it is ``low``, bright where it is ``high``."""
    shares = (block_means(matrix) - low) / (high - low if high > low else 1.0)
    data = base64.b64encode(png(_colours(shares))).decode("ascii")
    side = len(shares)
    return Markup(
        f'<img class="heat" alt="{escape(title, quote=True)}" width="{side}" height="{side}" '
        f'src="data:image/png;base64,{data}">'
    )
