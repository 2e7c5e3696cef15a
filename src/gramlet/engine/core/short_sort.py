"""Sorting the short lists that neighbourhoods are."""

from __future__ import annotations

import numpy as np
from numba import njit

from gramlet.common.arrays import Ints

__all__ = ["sort_short"]


@njit(nogil=True, cache=True)
def sort_short(values: Ints) -> None:
    """Sort in place: by insertion where short, as nearly all neighbourhoods are."""
    n = len(values)
    if n > 24:
        values[:] = np.sort(values)
        return
    for i in range(1, n):
        value = values[i]
        j = i - 1
        while j >= 0 and values[j] > value:
            values[j + 1] = values[j]
            j -= 1
        values[j + 1] = value
