"""Gram matrices in single precision, as compiled support vector machines read them.

These machines wait for memory, so that half the digits are nearly half the time; libsvm rounds its
matrices in the same way. Rows have zeros at the end, to a whole number of lanes, for loops that
compute a lane at a time.
"""

from __future__ import annotations

import numpy as np

from gramlet.common.arrays import Array, Floats, Ints
from gramlet.engine.core.compiled import inner, njit
from gramlet.engine.core.workspace import Workspace

__all__ = [
    "LANES",
    "factor_of",
    "fill_block",
    "single_blocks",
    "single_room",
    "take_part",
]

LANES = 64  # running maxima side by side


@njit(nogil=True, cache=True)
def fill_block(matrix: Floats, rows: Ints, columns: Ints, block: Array) -> None:
    """``block[:, : len(columns)] = matrix[rows][:, columns]``, and zeros beyond these columns.

    It does not hold the interpreter's lock, and the block may be in single precision.
    """
    for i in range(len(rows)):
        line = matrix[rows[i]]
        out = block[i]
        for j in range(len(columns)):
            out[j] = line[columns[j]]
        for j in range(len(columns), len(out)):
            out[j] = 0.0


@inner
def take_part(gram: Array, kept: Ints) -> Array:
    """The rows and columns of some graphs of a matrix in single precision."""
    part = np.empty((len(kept), _padded(len(kept))), dtype=np.float32)
    fill_block(gram, kept, kept, part)
    return part


@inner
def _padded(n: int) -> int:
    return (n + LANES - 1) // LANES * LANES


def factor_of(gram: Floats) -> float:
    """The power of two that brings the largest self-similarity near 1."""
    largest = float(np.abs(np.diagonal(gram)).max(initial=0.0))
    return float(2.0 ** -np.floor(np.log2(largest))) if 0.0 < largest < np.inf else 1.0


def single_room(n_rows: int, n_columns: int, space: Workspace, name: str) -> Array:
    """Memory for rows of a matrix, which a workspace has under a name."""
    width = -(-n_columns // LANES) * LANES
    return space.array(name, n_rows * width, np.float32).reshape(n_rows, width)


def single_blocks(gram: Floats, cross: Floats, space: Workspace) -> tuple[Array, Array, float]:
    """A training part's matrix and the rows of held-out graphs, and the factor of both."""
    n, factor = len(gram), factor_of(gram)
    own = single_room(n, n, space, "own in single precision")
    rows = single_room(len(cross), n, space, "rows in single precision")
    for matrix, out in ((gram, own), (cross, rows)):
        if factor == 1.0:
            out[:, :n] = matrix
        else:
            np.multiply(matrix, factor, out=out[:, :n], casting="same_kind")
        out[:, n:] = 0.0
    return own, rows, factor
