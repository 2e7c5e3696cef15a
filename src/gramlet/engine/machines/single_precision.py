"""Gram matrices in single precision, as compiled support vector machines read them.

These machines wait for memory, so that half the digits take less time; libsvm rounds its matrices
in the same way. The largest self-similarity is in [1, 2), if need be after multiplication with a
power of two, because machines compare curvatures with constants. Rows have zeros at the end, to a
whole number of lanes, because loops over them keep one running maximum per lane.
"""

from __future__ import annotations

import numpy as np

from gramlet.common.arrays import Array, Floats, Ints
from gramlet.engine.core.compiled import njit
from gramlet.engine.core.workspace import Workspace

__all__ = [
    "LANES",
    "fill_block",
    "padded_rows",
    "require_padded",
    "rounded_blocks",
    "scale_to_one",
    "take_part",
]

LANES = 64
_LARGEST = float(np.finfo(np.float32).max)
_STEEPEST = 2.0**1000  # the factor of self-similarities next to the smallest number


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


@njit(nogil=True, cache=True)
def take_part(gram: Array, kept: Ints) -> Array:
    """The rows and columns of some graphs of a matrix in single precision."""
    part = np.empty((len(kept), _padded(len(kept))), dtype=np.float32)
    fill_block(gram, kept, kept, part)
    return part


@njit(nogil=True, cache=True)
def _padded(n: int) -> int:
    return (n + LANES - 1) // LANES * LANES


def scale_to_one(self_similarities: Floats) -> float:
    """The power of two that brings the largest self-similarity into [1, 2)."""
    largest = float(np.abs(self_similarities).max(initial=0.0))
    if not 0.0 < largest < np.inf:
        return 1.0
    return float(min(2.0 ** -np.floor(np.log2(max(largest, 1.0 / _STEEPEST))), _STEEPEST))


def require_padded(gram: Array, cross: Array) -> None:
    """Raise ValueError if rows in single precision are not padded alike: loops would leave them."""
    width = -(-len(gram) // LANES) * LANES
    if gram.shape[1] != width or cross.shape[1] != width:
        raise ValueError(
            f"Matrices in single precision need rows of {width} entries, with zeros at the end; "
            f"got {gram.shape[1]} and {cross.shape[1]}."
        )


def padded_rows(n_rows: int, n_columns: int, space: Workspace, name: str) -> Array:
    """Memory for rows of a matrix, which a workspace has under a name."""
    width = -(-n_columns // LANES) * LANES
    return space.array(name, n_rows * width, np.float32).reshape(n_rows, width)


def rounded_blocks(gram: Floats, cross: Floats, space: Workspace) -> tuple[Array, Array, float]:
    """A training part's matrix and the rows of held-out graphs, and the factor of both."""
    n, factor = len(gram), scale_to_one(np.diagonal(gram))
    own = padded_rows(n, n, space, "own in single precision")
    rows = padded_rows(len(cross), n, space, "rows in single precision")
    for matrix, out in ((gram, own), (cross, rows)):
        if factor == 1.0:
            out[:, :n] = matrix
        else:
            with np.errstate(over="ignore"):
                np.multiply(matrix, factor, out=out[:, :n], casting="same_kind")
            np.clip(out[:, :n], -_LARGEST, _LARGEST, out=out[:, :n])
        out[:, n:] = 0.0
    return own, rows, factor
