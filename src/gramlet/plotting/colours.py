"""Colours: of elements, of labels, of classes with their markers, and of importance.

A label has the same colour wherever it is drawn: an element its own, any other by its position
among all labels of the set of graphs.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping

import numpy as np

# Readable on white and on black paper.
ELEMENT_COLOURS = {
    "N": "#3d6fe0",
    "O": "#d8402f",
    "S": "#a98600",
    "P": "#d07a1f",
    "F": "#3f9a3b",
    "Cl": "#2f9e44",
    "Br": "#a0522d",
    "I": "#8546b8",
    "B": "#c77f7f",
    "Si": "#8f8060",
    "H": "#808080",
    "Na": "#7d5fd3",
    "K": "#7d5fd3",
    "Li": "#7d5fd3",
    "Ca": "#4f8f4f",
}

# Pale, so that dark letters are readable on them; neighbours differ in hue and in lightness.
_LABEL_COLOURS = (
    "#bcd2e8",
    "#f5c396",
    "#bfe3c0",
    "#e8b7c8",
    "#d5c8ea",
    "#eadf9c",
    "#b7dedd",
    "#d9d9d9",
    "#8fb3d9",
    "#e59a5c",
    "#86c58a",
    "#d585a4",
    "#a992d4",
    "#c9b84e",
    "#79bdbb",
    "#ababab",
    "#dfeaf6",
    "#fbe3cd",
    "#e2f3e2",
    "#f6e1e9",
)

# Ten colours and seven markers: the pair differs for up to seventy classes.
CLASS_COLOURS = (
    "#3a76b5",
    "#d1603d",
    "#3f8f5a",
    "#9467bd",
    "#b58a1d",
    "#2aa198",
    "#c2508b",
    "#7a7a7a",
    "#8c6239",
    "#5c6bc0",
)
CLASS_MARKERS = ("o", "s", "^", "D", "v", "P", "X")

# The ends and the middle of the scale of importance.
IMPORTANCE_COLOURS = ("#2166ac", "#f7f7f7", "#b2182b")


def label_colours(labels: Iterable[Hashable]) -> dict[str, str]:
    """One colour per label of a set of graphs, the same for all of its graphs.

    >>> label_colours(["b", "a"]) == label_colours(["a", "b"])
    True
    """
    names = sorted({str(label) for label in labels}, key=lambda name: (len(name), name))
    return {name: _LABEL_COLOURS[i % len(_LABEL_COLOURS)] for i, name in enumerate(names)}


def class_style(position: int) -> tuple[str, str]:
    """The colour and the marker of the class at a position.

    >>> len({class_style(i) for i in range(20)})
    20
    """
    return (
        CLASS_COLOURS[position % len(CLASS_COLOURS)],
        CLASS_MARKERS[position % len(CLASS_MARKERS)],
    )


def importance_colour(value: float, reach: float) -> str:
    """Red above 0, blue below, white at 0; full at plus or minus ``reach``.

    >>> importance_colour(0.0, 1.0), importance_colour(2.0, 1.0)
    ('#f7f7f7', '#b2182b')
    """
    share = float(np.clip(value / reach, -1, 1)) if reach > 0 else 0.0
    blue, white, red = (np.array(_channels(colour)) for colour in IMPORTANCE_COLOURS)
    mixed = (white + abs(share) * ((red if share > 0 else blue) - white)).round().astype(int)
    return "#{:02x}{:02x}{:02x}".format(*mixed)


def _channels(colour: str) -> list[int]:
    """Red, green and blue of a colour, 0 to 255."""
    return [int(colour[i : i + 2], 16) for i in (1, 3, 5)]


def text_on(colour: str) -> str:
    """Black or white, whichever is readable on a colour."""
    red, green, blue = _channels(colour)
    return "#111111" if 0.299 * red + 0.587 * green + 0.114 * blue > 140 else "#ffffff"


def named(names: Mapping[Hashable, str] | None, label: Hashable) -> str:
    """The name of a label."""
    return str((names or {}).get(label, label))
