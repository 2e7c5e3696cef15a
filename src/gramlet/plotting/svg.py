"""A drawing as SVG text: small, without styles or scripts, with all texts escaped.

Lines and letters without a colour are drawn in ``currentColor``, so that the picture follows the
colours of its page, light or dark.
"""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

import numpy as np

from gramlet.common.arrays import Floats
from gramlet.plotting.drawing import Drawing

_UNIT = 30.0  # of the picture per edge
_LINE = 'fill="none" stroke="currentColor" stroke-linecap="round"'


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
    shapes = drawing.shapes(reach)
    margins = np.array(drawing.margins)
    points = drawing.points if len(drawing.points) else np.zeros((1, 2))
    low, high = points.min(axis=0) - margins, points.max(axis=0) + margins
    width, height = (_UNIT * (high - low)).tolist()

    def at(x: float, y: float) -> tuple[str, str]:
        """A position in the picture, whose second coordinate grows downwards."""
        return _number(_UNIT * (x - low[0])), _number(_UNIT * (high[1] - y))

    def path(lines: Iterable[Iterable[Floats]], close: str = "") -> str:
        """Lines through points, as the data of a path."""
        return "".join(
            "M" + "L".join(" ".join(at(*point)) for point in line) + close for line in lines
        )

    body = [
        f'<circle cx="{x}" cy="{y}" r="{_number(_UNIT * disc.radius)}" fill="{disc.fill}" '
        f'opacity="{disc.opacity:.2f}"/>'
        for disc in shapes.glows
        for x, y in [at(disc.x, disc.y)]
    ]
    if shapes.lines:
        weight = 'stroke-width="1.6"' if drawing.molecule else 'stroke-width="1.3" opacity=".55"'
        body.append(f'<path d="{path(shapes.lines)}" {_LINE} {weight}/>')
    if shapes.dashed:
        body.append(
            f'<path d="{path(shapes.dashed)}" {_LINE} stroke-width="1.3" stroke-dasharray="3 3"/>'
        )
    if shapes.arrows:
        body.append(f'<path d="{path(shapes.arrows, "Z")}" fill="currentColor" opacity=".7"/>')
    # Nodes and letters in groups of one look, each with what they have in common.
    nodes: dict[str, list[str]] = {}
    for node in shapes.nodes:
        x, y = at(node.x, node.y)
        circle = f'<circle cx="{x}" cy="{y}" r="{_number(_UNIT * node.radius)}"/>'
        nodes.setdefault(f'fill="{node.fill}"', []).append(circle)
    for box in shapes.boxes:
        x, y = at(box.x - box.half_width, box.y + 0.27)
        rectangle = (
            f'<rect x="{x}" y="{y}" width="{_number(2 * _UNIT * box.half_width)}" height="16" '
            'rx="5"/>'
        )
        nodes.setdefault(f'fill="{box.fill}"', []).append(rectangle)
    if nodes:
        body.append(f'<g stroke="#444" stroke-width=".7">{_groups(nodes)}</g>')
    texts: dict[str, list[str]] = {}
    for text in shapes.letters:
        x, y = at(text.x, text.y - text.size / 3)
        look = f'fill="{text.colour}" font-size="{_number(_UNIT * text.size)}"'
        look += ' class="atom"' if text.rim else ""
        texts.setdefault(look, []).append(f'<text x="{x}" y="{y}">{escape(text.text)}</text>')
    if texts:
        weight = ' font-weight="600"' if drawing.molecule else ""
        body.append(f'<g text-anchor="middle"{weight}>{_groups(texts)}</g>')
    body += [
        f'<circle cx="{x}" cy="{y}" r="{_number(_UNIT * ring.radius)}" {_LINE} stroke-width="1.5"/>'
        for ring in shapes.rings
        for x, y in [at(ring.x, ring.y)]
    ]
    zoom = max(least_zoom, min(1.0, largest / max(width, height)))
    label = escape(title or "a graph", quote=True)
    return (
        f'<svg class="{css_class}" viewBox="0 0 {width:.0f} {height:.0f}" '
        f'width="{zoom * width:.0f}" height="{zoom * height:.0f}" role="img" '
        f'aria-label="{label}">{"".join(body)}</svg>'
    )


def _groups(parts: dict[str, list[str]]) -> str:
    return "".join(f"<g {look}>{''.join(members)}</g>" for look, members in parts.items())


def _number(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")
