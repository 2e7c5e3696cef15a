"""Keys of a batch: integers, slices, index arrays and masks, converted to positions."""

from __future__ import annotations

from typing import Any

import numpy as np

from gramlet.common.arrays import Ints

__all__ = ["positions"]


def positions(key: Any, length: int) -> Ints:
    """The positions among ``length`` graphs that a key selects, counted from 0; or IndexError.

    >>> positions(-1, 4).tolist(), positions(slice(2), 4).tolist()
    ([3], [0, 1])
    """
    if isinstance(key, tuple):
        if len(key) != 2 or key[1] is not Ellipsis:
            raise IndexError("A GraphBatch has one axis: use batch[i], batch[i:j], batch[indices].")
        key = key[0]
    if isinstance(key, slice):
        return np.arange(*key.indices(length), dtype=np.int64)
    chosen = np.asarray(key)
    if chosen.dtype == bool:
        if chosen.shape != (length,):
            raise IndexError(
                f"A boolean mask over {length} graphs must have shape ({length},); "
                f"got {chosen.shape}."
            )
        return np.flatnonzero(chosen)
    if chosen.size == 0:
        return np.zeros(0, dtype=np.int64)
    if chosen.dtype.kind not in "iu" or chosen.ndim > 1:
        raise IndexError(
            "A GraphBatch is indexed by an integer, a slice, a 1-d integer array or a boolean "
            f"mask; got {type(key).__name__}."
        )
    chosen = np.atleast_1d(chosen).astype(np.int64)
    outside = (chosen < -length) | (chosen >= length)
    if outside.any():
        raise IndexError(
            f"Graph {int(chosen[outside][0])} is out of range: the batch has {length} graphs."
        )
    return np.where(chosen < 0, chosen + length, chosen)
