"""A matrix as a picture: means over blocks, coloured, in a PNG that is part of the page."""

from __future__ import annotations

import base64
import struct
import zlib
from html import escape

import numpy as np

from gramlet.common.arrays import Array, Floats
from gramlet.report.markup import Markup

__all__ = ["block_means", "heatmap", "png", "scale_colour"]

_MOST_CELLS = 220  # per side

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
