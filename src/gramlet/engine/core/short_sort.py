"""Sorting in compiled code, mostly of short lists such as neighbourhoods.

numba's own ``np.sort`` takes more than a second to compile; these loops take a tenth of that.
"""

from __future__ import annotations

import numpy as np

from gramlet.common.arrays import Floats, Ints
from gramlet.engine.core.compiled import njit

_RUN = 24  # so many values are sorted by insertion, which is faster up to about thirty


@njit(nogil=True, cache=True)
def sort_short(values: Ints) -> None:
    """Sort in place: by insertion if short, as nearly all neighbourhoods are, else by merging.

    Cost: O(n log n) in the worst case.
    """
    n = len(values)
    for first in range(0, n, _RUN):
        for i in range(first + 1, min(first + _RUN, n)):
            value = values[i]
            j = i - 1
            while j >= first and values[j] > value:
                values[j + 1] = values[j]
                j -= 1
            values[j + 1] = value
    if n > _RUN:
        _merge_runs(values)


@njit(nogil=True, cache=True)
def _merge_runs(values: Ints) -> None:
    """Merge sorted runs of `_RUN` values pairwise until one is left."""
    n = len(values)
    left = np.empty(n, dtype=values.dtype)
    width = _RUN
    while width < n:
        for first in range(0, n - width, 2 * width):
            end = min(first + 2 * width, n)
            # Copy the left run: writing never reaches the unread part of the right run.
            for i in range(width):
                left[i] = values[first + i]
            # Merge both runs into place; what is left of the right run is there already.
            a, b = 0, first + width
            for at in range(first, end):
                if b == end or (a < width and left[a] <= values[b]):
                    values[at] = left[a]
                    a += 1
                else:
                    values[at] = values[b]
                    b += 1
                if a == width:
                    break
        width *= 2


@njit(nogil=True, cache=True)
def stable_order(keys: Floats) -> Ints:
    """The positions of keys in ascending order, ties in their given order; no key may be NaN.

    Cost: O(n log n).
    """
    n = len(keys)
    order, merged = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    for i in range(n):
        order[i] = i
    # Merge runs of 1, 2, 4, … positions, from one array into the other and back.
    width = 1
    while width < n:
        for first in range(0, n, 2 * width):
            middle, end = min(first + width, n), min(first + 2 * width, n)
            # On equal keys the left run comes first, which keeps the order stable.
            a, b = first, middle
            for at in range(first, end):
                if b == end or (a < middle and keys[order[a]] <= keys[order[b]]):
                    merged[at] = order[a]
                    a += 1
                else:
                    merged[at] = order[b]
                    b += 1
        order, merged = merged, order
        width *= 2
    return order
