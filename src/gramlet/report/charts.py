"""Small charts as SVG text: axes with round numbers, and points, lines and bars on them.

Texts are escaped; lines and letters without a colour follow the page. `figures` decides what a
chart shows.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from html import escape

from gramlet.report.parts import Markup

_LEFT, _RIGHT, _TOP, _BOTTOM = 52.0, 14.0, 12.0, 40.0
_HALF_LETTER = 3.3  # of a text of 11 pixels
_LETTERS = 14  # of a name beside an axis
_AXIS = 'class="axis" fill="none" stroke="currentColor"'


def round_ticks(low: float, high: float, about: int = 5, whole: bool = False) -> list[float]:
    """About this many round numbers from low to high; whole numbers for counts.

    >>> round_ticks(0.0, 1.0), round_ticks(-3.2, 14.9)
    ([0.0, 0.2, 0.4, 0.6, 0.8, 1.0], [0.0, 5.0, 10.0])
    >>> round_ticks(0.0, 2.1, whole=True)
    [0.0, 1.0, 2.0]
    """
    if not high > low:
        return [low]
    rough = (high - low) / about
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= 0.7 * rough)
    step = max(step, 1.0) if whole else step
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [round(step * k, 12) + 0.0 for k in range(first, last + 1)]


def shown_number(value: float) -> str:
    """A number in readable form: 1,200 and 0.05, not 1200.0 and 5e-2.

    >>> shown_number(1200.0), shown_number(0.05), shown_number(1e-7)
    ('1,200', '0.05', '1e-07')
    """
    if value == int(value) and abs(value) < 1e6:
        return f"{int(value):,}"
    return f"{value:.3g}"


def short_names(names: Sequence[str], most: int) -> list[str]:
    """Names of at most so many letters, cut where the most of them stay different.

    >>> short_names(["yes", "class number 1", "class number 2"], 8)
    ['yes', 'clas…r 1', 'clas…r 2']
    >>> short_names(["anthracene"], 8)
    ['anthrac…']
    """
    rest = most - 1
    cuts = [
        [
            name if len(name) <= most else f"{name[:start]}…{name[len(name) - rest + start :]}"
            for name in names
        ]
        for start in (rest, rest - rest // 2, 0)
    ]
    return max(cuts, key=lambda cut: len(set(cut)))


class Chart:
    """One chart: create it with the ranges of its axes, add marks, and write it.

    Parameters
    ----------
    title : str
        A description for screen readers.
    x, y : (float, float)
        Lowest and highest value of each axis.
    x_label, y_label : str
    width, height : float
        In pixels.
    y_names : sequence of str, optional
        Names at 0, 1, 2, ... in place of numbers.
    log_x, log_y : bool
    whole : str
        The axes of counts, "x", "y" or both: only whole numbers are marked.
    left, bottom : float, optional
        Space for the names beside and below the axes.
    """

    def __init__(
        self,
        title: str,
        x: tuple[float, float],
        y: tuple[float, float],
        *,
        x_label: str = "",
        y_label: str = "",
        width: float = 420.0,
        height: float = 260.0,
        y_names: Sequence[str] | None = None,
        log_x: bool = False,
        log_y: bool = False,
        whole: str = "",
        left: float | None = None,
        bottom: float | None = None,
    ) -> None:
        self.title = title
        self.width, self.height = width, height
        self.left, self.bottom = left or _LEFT, bottom or _BOTTOM
        self._log = (log_x, log_y)
        self.x, self.y = _wide(x, log_x), _wide(y, log_y)
        x_marks = _marks(self.x, None, log_x, "x" in whole)
        y_marks = _marks(self.y, y_names, log_y, "y" in whole)
        self._parts = self._axes(x_label, y_label, x_marks, y_marks)

    def at(self, x: float, y: float) -> tuple[float, float]:
        """The position of a pair of values in the picture."""
        right, low = self.width - _RIGHT, self.height - self.bottom
        return (
            self.left + _share(x, self.x, self._log[0]) * (right - self.left),
            low - _share(y, self.y, self._log[1]) * (low - _TOP),
        )

    def line(
        self,
        points: Iterable[tuple[float, float]],
        colour: str = "currentColor",
        *,
        width: float = 1.8,
        dashed: bool = False,
        title: str = "",
    ) -> None:
        """A line through points."""
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in (self.at(*point) for point in points))
        dash = ' stroke-dasharray="4 4" opacity=".6"' if dashed else ""
        self._parts.append(
            f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="{width}"{dash}>'
            f"{_title(title)}</polyline>"
        )

    def area(
        self, points: Sequence[tuple[float, float, float]], colour: str = "currentColor"
    ) -> None:
        """A band between two lines: (x, low, high)."""
        edge = [self.at(x, high) for x, _, high in points]
        edge += [self.at(x, low) for x, low, _ in reversed(points)]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in edge)
        self._parts.append(f'<polygon points="{path}" fill="{colour}" opacity=".16"/>')

    def dot(
        self,
        x: float,
        y: float,
        colour: str = "currentColor",
        *,
        radius: float = 3.0,
        title: str = "",
        opacity: float = 0.75,
    ) -> None:
        """A point."""
        px, py = self.at(x, y)
        self._parts.append(
            f'<circle cx="{px:.1f}" cy="{py:.1f}" r="{radius:g}" fill="{colour}" '
            f'opacity="{opacity:g}">{_title(title)}</circle>'
        )

    def bar(
        self,
        low: tuple[float, float],
        high: tuple[float, float],
        colour: str = "#3a76b5",
        title: str = "",
    ) -> None:
        """A rectangle between two corners."""
        (x0, y0), (x1, y1) = self.at(*low), self.at(*high)
        self._parts.append(
            f'<rect x="{min(x0, x1):.1f}" y="{min(y0, y1):.1f}" width="{abs(x1 - x0):.1f}" '
            f'height="{abs(y1 - y0):.1f}" fill="{colour}">{_title(title)}</rect>'
        )

    def text(self, x: float, y: float, words: str) -> None:
        """Words to the right of a point."""
        px, py = self.at(x, y)
        self._parts.append(f'<text x="{px + 5:.1f}" y="{py + 4:.1f}">{escape(words)}</text>')

    def key(self, position: int, colour: str, words: str) -> None:
        """An entry of a legend below the chart, two per line; `bottom` reserves space for them."""
        line, column = divmod(position, 2)
        x = self.left + column * (self.width - self.left) / 2
        y = self.height - self.bottom + 56 + 17 * line
        self._parts.append(
            f'<circle cx="{x + 5:.1f}" cy="{y - 4:.1f}" r="4" fill="{colour}"/>'
            f'<text x="{x + 14:.1f}" y="{y:.1f}">{escape(words)}</text>'
        )

    def raw(self, svg: str) -> None:
        """SVG that is already safe."""
        self._parts.append(svg)

    def write(self, extra: str = "") -> Markup:
        """The ``<svg>`` element."""
        return Markup(
            f'<svg class="chart" viewBox="0 0 {self.width:g} {self.height:g}" role="img" '
            f'font-size="11" fill="currentColor" '
            f'aria-label="{escape(self.title, quote=True)}"{extra}>{"".join(self._parts)}</svg>'
        )

    def _axes(
        self,
        x_label: str,
        y_label: str,
        x_marks: list[tuple[float, str]],
        y_marks: list[tuple[float, str]],
    ) -> list[str]:
        right, low = self.width - _RIGHT, self.height - self.bottom
        parts = [f'<path d="M{self.left} {_TOP}V{low}H{right}" {_AXIS}/>']

        def text(look: str, anchor: str, words: str) -> None:
            parts.append(f'<text {look} text-anchor="{anchor}">{escape(words)}</text>')

        for value, words in x_marks:
            x = self.at(value, self.y[0])[0]
            parts.append(f'<path d="M{x:.1f} {low}v4" {_AXIS}/>')
            beyond = x + _HALF_LETTER * len(words) > self.width  # a long number at the end
            x, anchor = (self.width - 1, "end") if beyond else (x, "middle")
            text(f'x="{x:.1f}" y="{low + 16}"', anchor, words)
        for value, words in y_marks:
            y = self.at(self.x[0], value)[1]
            parts.append(f'<path d="M{self.left - 4} {y:.1f}h4" {_AXIS}/>')
            text(f'x="{self.left - 7}" y="{y + 4:.1f}"', "end", words)
        middle = (self.left + right) / 2
        text(f'class="name" x="{middle:.1f}" y="{low + 34:g}"', "middle", x_label)
        if y_label:
            turned = f'transform="translate(12 {(_TOP + low) / 2:.1f}) rotate(-90)"'
            text(f'class="name" {turned}', "middle", y_label)
        return parts


def _title(words: str) -> str:
    return f"<title>{escape(words)}</title>" if words else ""


def _wide(ends: tuple[float, float], log: bool) -> tuple[float, float]:
    """The range, widened if it is a single point."""
    low, high = float(ends[0]), float(ends[1])
    if high > low:
        return low, high
    return (low / 2, low * 2) if log else (low - 0.5, low + 0.5)


def _share(value: float, ends: tuple[float, float], log: bool) -> float:
    low, high = ends
    if log:
        value, low, high = math.log(max(value, low)), math.log(low), math.log(high)
    return (value - low) / (high - low)


def _marks(
    ends: tuple[float, float], names: Sequence[str] | None, log: bool, whole: bool
) -> list[tuple[float, str]]:
    """The positions and texts of the marks of an axis."""
    if names is not None:
        return [(float(i), name) for i, name in enumerate(short_names(names, _LETTERS))]
    if log:
        first, last = math.ceil(math.log10(ends[0])), math.floor(math.log10(ends[1]))
        step = max(1, (last - first) // 5)
        return [
            (10.0**k, f"1e{k}" if k < -2 or k > 3 else shown_number(10.0**k))
            for k in range(first, last + 1, step)
        ]
    values = round_ticks(*ends, whole=whole)
    texts = [shown_number(value) for value in values]
    if len(set(texts)) < len(texts):  # a narrow range: as many digits as its steps have
        digits = math.ceil(-math.log10(values[1] - values[0]) - 1e-9)
        texts = [f"{value:.{digits}f}" for value in values]
    return list(zip(values, texts, strict=True))
