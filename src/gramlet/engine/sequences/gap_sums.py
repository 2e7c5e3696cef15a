"""The recursion of the gap-weighted subsequence kernel, for many pairs at once and for one pair.

Both compute the sum, over all pairs of equal embeddings, of decay to the power of their gaps. The
factor decay**(2 length) that all embeddings share is left out: only gaps decay, and the value of
a string with itself is at least 1 and cannot underflow. All terms are positive: nothing cancels.
"""

from __future__ import annotations

import numpy as np

from gramlet.common.arrays import Floats, Ints
from gramlet.engine.core.compiled import njit

__all__ = ["lane_totals", "wide_total"]


_RADIX_BITS = 512
_RADIX = 2.0**_RADIX_BITS


@njit(nogil=True, cache=True)
def lane_totals(
    s: Ints, packed: Ints, decay: float, sums: Floats, running: Floats, totals: Floats
) -> None:
    """Sum over pairs of embeddings of decay**gaps, of one string with the string in every lane.

    sums[p, j + 1] is the sum over embeddings of p tokens, in the part of s read so far and in
    t[:j + 1], of decay to the power of their gaps and of the distance from their last tokens to
    the current ones.
    """
    length = sums.shape[0]
    n_read = s.shape[0]
    used = packed.shape[0] + 1
    totals[:] = 0.0
    sums[0, :used] = 1.0
    sums[1:, :used] = 0.0
    for i in range(n_read):
        if i >= length - 1:
            _close(s[i], packed, sums[length - 1], totals)
        # From the longest embeddings down, so that the shorter sums are still those before s[i] was
        # read; lengths that cannot have begun yet or cannot be completed any more are skipped.
        for p in range(min(length - 1, i + 1), max(0, length - n_read + i), -1):
            _extend(s[i], packed, decay, sums[p - 1], sums[p], running)


@njit(nogil=True, cache=True)
def _extend(
    token: int, packed: Ints, decay: float, below: Floats, here: Floats, running: Floats
) -> None:
    """Add embeddings that end at ``token``: sums of p tokens from those of p − 1 tokens."""
    running[:] = 0.0
    for j in range(packed.shape[0]):
        tokens = packed[j]
        shorter = below[j]
        cell = here[j + 1]
        for lane in range(running.shape[0]):
            matched = shorter[lane] if tokens[lane] == token else 0.0
            ending = matched + decay * running[lane]
            running[lane] = ending
            cell[lane] = ending + decay * cell[lane]


@njit(nogil=True, cache=True)
def _close(token: int, packed: Ints, below: Floats, totals: Floats) -> None:
    """Add embeddings of full length whose last token is ``token`` to the totals."""
    for j in range(packed.shape[0]):
        tokens = packed[j]
        shorter = below[j]
        for lane in range(totals.shape[0]):
            totals[lane] += shorter[lane] if tokens[lane] == token else 0.0


@njit(nogil=True, cache=True)
def wide_total(s: Ints, t: Ints, length: int, decay: float) -> tuple[float, int]:
    """As `lane_totals` for one pair, as a mantissa and a power of two, which cannot overflow.

    The steps and their order are the same, with each number times a power of `_RADIX`: the bits
    are the same where a float64 suffices.
    """
    if min(s.shape[0], t.shape[0]) < length:
        return 0.0, 0
    # Every sum is sums · _RADIX**radix.
    sums = np.zeros((length, t.shape[0] + 1))
    radix = np.zeros((length, t.shape[0] + 1), dtype=np.int64)
    sums[0] = 1.0
    total, total_radix = 0.0, 0
    for i in range(s.shape[0]):
        top = min(length, i + 1)
        for p in range(top, max(0, length - s.shape[0] + i), -1):
            ending, ending_radix = 0.0, 0
            for j in range(t.shape[0]):
                ending, ending_radix = _times(ending, ending_radix, decay)
                if s[i] == t[j]:
                    # Equal tokens: extend shorter embeddings, or complete those of full length.
                    matched, matched_radix = sums[p - 1, j], radix[p - 1, j]
                    if p == length:
                        total, total_radix = _plus(total, total_radix, matched, matched_radix)
                        continue
                    ending, ending_radix = _plus(matched, matched_radix, ending, ending_radix)
                # Earlier embeddings are one more token away from s[i].
                if p < length:
                    old, old_radix = _times(sums[p, j + 1], radix[p, j + 1], decay)
                    sums[p, j + 1], radix[p, j + 1] = _plus(ending, ending_radix, old, old_radix)
    return total, total_radix * _RADIX_BITS


@njit(nogil=True, cache=True)
def _times(value: float, radix: int, factor: float) -> tuple[float, int]:
    """value · _RADIX**radix times a factor in (0, 1], with 1 <= value < _RADIX again, or 0."""
    value *= factor
    while 0.0 < value < 1.0:
        value *= _RADIX
        radix -= 1
    return value, radix


@njit(nogil=True, cache=True)
def _plus(a: float, a_radix: int, b: float, b_radix: int) -> tuple[float, int]:
    """a · _RADIX**a_radix + b · _RADIX**b_radix."""
    if a == 0.0 or (b != 0.0 and b_radix > a_radix):
        a, b = b, a
        a_radix, b_radix = b_radix, a_radix
    if b != 0.0:
        if b_radix == a_radix:
            a += b
        elif b_radix == a_radix - 1:
            a += b / _RADIX
    if a >= _RADIX:
        a /= _RADIX
        a_radix += 1
    return a, a_radix
