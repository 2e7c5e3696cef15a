"""A drawing as SVG text: small, without styles or scripts, with all texts escaped.

Lines and letters without a colour are drawn in ``currentColor``, so that the picture follows the
colours of its page, light or dark.
"""

from __future__ import annotations

from html import escape

import numpy as np

from gramlet.common.arrays import Floats
from gramlet.plotting.colours import importance_colour, text_on
from gramlet.plotting.drawing import Drawing, Stroke

__all__ = ["drawing_svg"]

_UNIT = 30.0  # of the picture per edge
_MARGIN = 16.0
_LETTER = 13.0
_GAP = 8.0  # between the end of a bond and the middle of a letter
_STRONG = 0.6  # share of the full colour
_ATOM = ' class="atom"'
_BESIDE = 3.6  # between the lines of a double bond


def drawing_svg(
    drawing: Drawing,
    title: str = "",
    *,
    reach: float | None = None,
    largest: float = 260.0,
    least_zoom: float = 0.0,
    css_class: str = "graph",
) -> str:
    """One drawing as an ``<svg>`` element.

    Parameters
    ----------
    drawing : Drawing
    title : str
        A description for screen readers.
    reach : float, optional
        The importance at which the colour is full, for one scale over several pictures; by default
        the largest of this one.
    largest : float
        The largest width and height, in pixels.
    least_zoom : float
        The smallest scale of letters, as a share of their size; a drawing that would need a
        smaller scale becomes larger than ``largest``.
    css_class : str

    Examples
    --------
    >>> from gramlet.plotting.drawing import drawing_of
    >>> picture = drawing_svg(drawing_of("CO"), "methanol")
    >>> picture.startswith("<svg") and "methanol" in picture and ">O</text>" in picture
    True
    """
    points, (width, height) = _on_paper(drawing)
    body = [
        _highlights(drawing, points, reach) if drawing.molecule else "",
        _lines(drawing, points),
        "" if drawing.molecule else _nodes(drawing, points, reach),
        _letters(drawing, points, reach),
        _marks(drawing, points),
    ]
    zoom = max(least_zoom, min(1.0, largest / max(width, height)))
    label = escape(title or "a graph", quote=True)
    return (
        f'<svg class="{css_class}" viewBox="0 0 {width:.0f} {height:.0f}" '
        f'width="{zoom * width:.0f}" height="{zoom * height:.0f}" role="img" '
        f'aria-label="{label}">{"".join(body)}</svg>'
    )


def _on_paper(drawing: Drawing) -> tuple[Floats, tuple[float, float]]:
    """Positions in the picture, the second coordinate downwards, and the picture's size."""
    points = drawing.points
    if not len(points):
        return points, (2 * _MARGIN, 2 * _MARGIN)
    flipped = points * np.array([_UNIT, -_UNIT])
    half = _MARGIN
    if drawing.boxes:
        half = max(_MARGIN, 2 + max(map(_half_box, drawing.texts)))
    margin = np.array([half, _MARGIN])
    low, high = flipped.min(axis=0), flipped.max(axis=0)
    width, height = (high - low + 2 * margin).tolist()
    return flipped - low + margin, (width, height)


def _half_box(text: str) -> float:
    """Half the width of the box around a text."""
    return 4 + 3.6 * len(text)


def _number(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


def _move(a: Floats, b: Floats) -> str:
    return f"M{_number(a[0])} {_number(a[1])}L{_number(b[0])} {_number(b[1])}"


def _lines(drawing: Drawing, points: Floats) -> str:
    whole: list[str] = []
    broken: list[str] = []
    heads: list[str] = []
    for stroke in drawing.strokes:
        if drawing.molecule:
            for offset, dashed in drawing.rails(stroke):
                line = _bond(drawing, points, stroke, offset)
                (broken if dashed else whole).append(line)
        else:
            whole.append(_move(points[stroke.tail], points[stroke.head]))
            if stroke.arrow:
                heads.append(_arrow(drawing, points, stroke))
    style = 'fill="none" stroke="currentColor" stroke-linecap="round"'
    weight = 'stroke-width="1.6"' if drawing.molecule else 'stroke-width="1.3" opacity=".55"'
    found = f'<path d="{"".join(whole)}" {style} {weight}/>' if whole else ""
    if broken:
        found += f'<path d="{"".join(broken)}" {style} stroke-width="1.3" stroke-dasharray="3 3"/>'
    if heads:
        found += f'<path d="{"".join(heads)}" fill="currentColor" opacity=".7"/>'
    return found + _line_texts(drawing, points)


def _bond(drawing: Drawing, points: Floats, stroke: Stroke, offset: float) -> str:
    """One line of a bond; it ends before letters, and is on the side of its ring."""
    a, b = points[stroke.tail], points[stroke.head]
    along = b - a
    length = max(float(np.hypot(*along)), 1e-9)
    along = along / length
    across = np.array([along[1], -along[0]])  # to the left: the picture is upside down
    cut = [_GAP if drawing.texts[node] else 0.0 for node in (stroke.tail, stroke.head)]
    if offset and stroke.order == 1.5:
        cut = [max(end, 3.5) for end in cut]
    shift = across * offset * _BESIDE
    return _move(
        a + along * min(cut[0], length / 2.2) + shift, b - along * min(cut[1], length / 2.2) + shift
    )


def _arrow(drawing: Drawing, points: Floats, stroke: Stroke) -> str:
    """A small triangle whose tip is at the rim of the node."""
    a, b = points[stroke.tail], points[stroke.head]
    along = (b - a) / max(float(np.hypot(*(b - a))), 1e-9)
    across = np.array([-along[1], along[0]])
    tip = b - along * drawing.radius * _UNIT
    left, right = tip - 6 * along + 3 * across, tip - 6 * along - 3 * across
    return "M" + "L".join(f"{_number(p[0])} {_number(p[1])}" for p in (tip, left, right)) + "Z"


def _line_texts(drawing: Drawing, points: Floats) -> str:
    found = []
    for stroke in drawing.strokes:
        if stroke.text:
            x, y = (points[stroke.tail] + points[stroke.head]) / 2
            found.append(
                f'<text x="{_number(x)}" y="{_number(y - 3)}">{escape(stroke.text)}</text>'
            )
    if not found:
        return ""
    return (
        '<g class="along" fill="currentColor" font-size="9" text-anchor="middle">'
        + "".join(found)
        + "</g>"
    )


def _reach(values: Floats, reach: float | None) -> float:
    return float(np.abs(values).max(initial=0.0)) if reach is None else reach


def _highlights(drawing: Drawing, points: Floats, reach: float | None) -> str:
    """Discs behind the atoms that matter."""
    if drawing.values is None:
        return ""
    full = _reach(drawing.values, reach)
    discs = [
        f'<circle cx="{_number(x)}" cy="{_number(y)}" r="11" '
        f'fill="{importance_colour(np.sign(value), 1.0)}" '
        f'opacity="{0.06 + 0.74 * _share(value, full):.2f}"/>'
        for (x, y), value in zip(points, drawing.values.tolist(), strict=True)
        if _share(value, full) > 0.03
    ]
    return "".join(discs)


def _share(value: float, full: float) -> float:
    return min(1.0, abs(value) / full) if full > 0 else 0.0


def _strong(drawing: Drawing, reach: float | None) -> list[bool]:
    """Atoms on discs that are too dark for coloured letters."""
    if drawing.values is None or not drawing.molecule:
        return [False] * len(drawing.points)
    full = _reach(drawing.values, reach)
    return [_share(value, full) > _STRONG for value in drawing.values.tolist()]


def _fills(drawing: Drawing, reach: float | None) -> list[str]:
    if drawing.values is None or drawing.molecule:
        return drawing.colours
    full = _reach(drawing.values, reach)
    return [importance_colour(value, full) for value in drawing.values.tolist()]


def _nodes(drawing: Drawing, points: Floats, reach: float | None) -> str:
    by_colour: dict[str, list[str]] = {}
    radius = drawing.radius * _UNIT
    for (x, y), text, fill in zip(points, drawing.texts, _fills(drawing, reach), strict=True):
        if drawing.boxes:
            half = _half_box(text)
            shape = (
                f'<rect x="{_number(x - half)}" y="{_number(y - 8)}" width="{_number(2 * half)}" '
                'height="16" rx="5"/>'
            )
        else:
            shape = f'<circle cx="{_number(x)}" cy="{_number(y)}" r="{_number(radius)}"/>'
        by_colour.setdefault(fill, []).append(shape)
    groups = [f'<g fill="{fill}">{"".join(shapes)}</g>' for fill, shapes in by_colour.items()]
    return f'<g stroke="#444" stroke-width=".7">{"".join(groups)}</g>' if groups else ""


def _marks(drawing: Drawing, points: Floats) -> str:
    """Rings around marked nodes."""
    radius = 10.0 if drawing.molecule else drawing.radius * _UNIT + 3
    return "".join(
        f'<circle cx="{_number(x)}" cy="{_number(y)}" r="{_number(radius)}" fill="none" '
        'stroke="currentColor" stroke-width="1.5"/>'
        for x, y in points[sorted(set(drawing.marked))]
    )


def _letters(drawing: Drawing, points: Floats, reach: float | None) -> str:
    fills = _fills(drawing, reach)
    by_colour: dict[tuple[str, bool], list[str]] = {}
    strong = _strong(drawing, reach)
    for (x, y), text, fill, dark in zip(points, drawing.texts, fills, strong, strict=True):
        if text:
            colour = fill if drawing.molecule else text_on(fill)
            colour = "#ffffff" if dark else colour
            letters = f'<text x="{_number(x)}" y="{_number(y + 4)}">{escape(text)}</text>'
            by_colour.setdefault((colour, dark), []).append(letters)
    if not by_colour:
        return ""
    longest = max(len(text) for text in drawing.texts)
    size = _LETTER
    if not drawing.molecule and not drawing.boxes:
        size = min(11.0, 2.6 * drawing.radius * _UNIT / max(1.6, longest))
    elif drawing.boxes:
        size = 11.0
    weight = ' font-weight="600"' if drawing.molecule else ""
    # Pages may draw a rim in the colour of the paper around letters of the class "atom".
    groups = [
        f'<g{_ATOM if drawing.molecule and not dark else ""} fill="{c}">{"".join(texts)}</g>'
        for (c, dark), texts in by_colour.items()
    ]
    return f'<g text-anchor="middle" font-size="{_number(size)}"{weight}>{"".join(groups)}</g>'
