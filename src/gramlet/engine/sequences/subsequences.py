"""Gap-weighted subsequence kernel of many strings of integer codes.

Strings of about the same length are computed side by side in lanes, so that one vector register
holds several pairs; pairs whose sums could exceed the range of a float64 are computed one by one,
with a separate exponent. Both recursions compute the sum, over all pairs of equal embeddings, of
decay to the power of their gaps. The factor decay**(2 length) that all embeddings share is left
out: only gaps decay, and the value of a string with itself is at least 1 and cannot underflow. All
terms are positive: nothing cancels.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.special import gammaln

from gramlet.common.arrays import Floats, Ints
from gramlet.engine.core.compiled import njit
from gramlet.engine.core.tiles import Tiling, for_tiles

_MAX_LANES = 32
_LANE_BYTES = 1 << 26  # the largest size of the sums of one group of lanes
_SAFE_BITS = 1000.0  # a float64 overflows at 2**1024
_PADDING = -1
_RADIX_BITS = 512
_RADIX = 2.0**_RADIX_BITS


class Strings(NamedTuple):
    """Strings of integer codes >= 0, end to end: string i is codes[starts[i]:starts[i + 1]]."""

    codes: Ints
    starts: Ints

    def lengths(self) -> Ints:
        """The number of tokens of every string."""
        return np.diff(self.starts)


class _Lanes(NamedTuple):
    """Strings in groups of equal number, shortest first; their tokens are interleaved."""

    tokens: Ints  # a group's tokens by position, then lane
    group_starts: Ints  # where a group begins in tokens
    group_bits: Floats  # bound of the largest sum of a string in the group, as a power of two
    order: Ints  # the string in lane l of group g is order[g * width + l]
    width: int


class _Norms(NamedTuple):
    """Squared norms that kernel values are divided by, as mantissas times powers of two."""

    mantissas: Floats  # in [1/4, 1), or 0
    exponents: Ints  # even, so that the root of the product of two is exact


class _Problem(NamedTuple):
    """Everything that a tile reads; rows are computed in ``row_order``."""

    rows: Strings
    row_order: Ints
    row_bits: Floats
    row_norms: _Norms
    columns: Strings
    column_norms: _Norms
    lanes: _Lanes
    length: int
    decay: float
    symmetric: bool


def subsequence_values(
    rows: Strings,
    columns: Strings | None,
    length: int,
    decay: float,
    normalize: bool,
    n_jobs: int | None = None,
) -> Floats:
    """Kernel matrix of two sets of strings (``columns=None``: of one set); inf where it overflows.

    Cost: O(length · |s| · |t|) per pair; besides the result, memory for one group of lanes per
    thread.
    """
    if columns is not None and len(columns.starts) < min(_MAX_LANES, len(rows.starts)):
        turned = subsequence_values(columns, rows, length, decay, normalize, n_jobs)
        return np.ascontiguousarray(turned.T)  # the larger set fills the lanes better
    symmetric = columns is None
    others = rows if columns is None else columns
    out = np.zeros((len(rows.starts) - 1, len(others.starts) - 1))
    if out.size == 0 or length > min(rows.lengths().max(), others.lengths().max()):
        return out
    norms = _self_norms if normalize else _common_norms
    row_norms = norms(rows, length, decay, n_jobs)
    lanes = _in_lanes(others, length, decay)
    problem = _Problem(
        rows,
        # For a triangle, rows have the lanes' order: a row is compared with its own group and
        # later ones.
        lanes.order if symmetric else np.arange(out.shape[0]),
        _sum_bits(rows.lengths(), length, decay),
        row_norms,
        others,
        row_norms if symmetric else norms(others, length, decay, n_jobs),
        lanes,
        length,
        decay,
        symmetric,
    )
    for_tiles(
        lambda begin, end: _fill_rows(begin, end, problem, out),
        out.shape[0],
        costs=_row_costs(problem),
        tiling=Tiling(n_jobs),
    )
    return out


def subsequence_value(s: Ints, t: Ints, length: int, decay: float) -> float:
    """The kernel of two strings of codes, the same bits as in a matrix; inf where it overflows."""
    value, exponent = wide_total(s, t, length, decay)
    if value == 0.0:
        return 0.0
    divisor, shift = _divisor(length, decay)
    mantissa, exponent = _even(value, exponent)
    try:
        return math.ldexp(mantissa / divisor, int(exponent - shift))
    except OverflowError:
        return math.inf


def _sum_bits(lengths: Ints, length: int, decay: float) -> Floats:
    """Power of two that bounds a string's factor in every sum of the recursion.

    A sum over pairs of embeddings is at most the product of two sums of decay**gaps, one over the
    embeddings in each string. Such a sum is at most the number of index sets, and at most
    |s| / (1 - decay)**length.
    """
    size = np.maximum(lengths, 1).astype(np.float64)
    chosen = np.minimum(length, np.floor(size / 2))
    counts = gammaln(size + 1) - gammaln(chosen + 1) - gammaln(size - chosen + 1)
    if decay == 1.0:
        return counts / math.log(2)
    return np.minimum(counts, np.log(size) - length * math.log1p(-decay)) / math.log(2)


def _in_lanes(strings: Strings, length: int, decay: float) -> _Lanes:
    lengths = strings.lengths()
    order = np.argsort(lengths, kind="stable").astype(np.int64)
    per_lane = 8 * length * (int(lengths.max()) + 1)
    width = max(1, min(_MAX_LANES, len(order), _LANE_BYTES // per_lane))
    firsts = np.arange(0, len(order), width)
    longest = order[np.minimum(firsts + width, len(order)) - 1]
    group_starts = np.concatenate([[0], np.cumsum(lengths[longest] * width)]).astype(np.int64)
    tokens = np.full(group_starts[-1], _PADDING, dtype=np.int64)
    _pack(strings, order, group_starts, width, tokens)
    group_bits = _sum_bits(lengths[longest], length, decay)
    return _Lanes(tokens, group_starts, group_bits, order, width)


def _row_costs(problem: _Problem) -> Floats:
    lanes, order = problem.lanes, problem.row_order
    group_sizes = np.diff(lanes.group_starts).astype(np.float64)
    to_come = np.cumsum(group_sizes[::-1])[::-1]
    first_group = np.arange(len(order)) // lanes.width if problem.symmetric else 0
    return (problem.rows.lengths()[order] + 1.0) * (to_come[first_group] + 1.0)


def _self_norms(strings: Strings, length: int, decay: float, n_jobs: int | None) -> _Norms:
    """The kernel of every string with itself, without the factor that cancels."""
    n_strings = len(strings.starts) - 1
    norms = _Norms(np.empty(n_strings), np.empty(n_strings, dtype=np.int64))
    for_tiles(
        lambda begin, end: _fill_norms(begin, end, strings, length, decay, norms),
        n_strings,
        costs=strings.lengths().astype(np.float64) ** 2,
        tiling=Tiling(n_jobs),
    )
    return norms


def _common_norms(strings: Strings, length: int, decay: float, n_jobs: int | None) -> _Norms:
    """The same for every string: dividing by it multiplies by decay**(2 length)."""
    mantissa, exponent = _divisor(length, decay)
    n_strings = len(strings.starts) - 1
    return _Norms(np.full(n_strings, mantissa), np.full(n_strings, exponent, dtype=np.int64))


def _divisor(length: int, decay: float) -> tuple[float, int]:
    mantissa, exponent = _power(decay, 2 * length)
    return _even(1.0 / mantissa, -exponent)


def _power(base: float, exponent: int) -> tuple[float, int]:
    """base**exponent as a mantissa and a power of two: it may be too small for a float."""
    if exponent == 0:
        return 1.0, 0
    base_mantissa, base_shift = math.frexp(base)
    half, half_shift = _power(base_mantissa, exponent // 2)
    odd = base_mantissa if exponent % 2 else 1.0
    mantissa, shift = math.frexp(half * half * odd)
    return mantissa, 2 * half_shift + shift + exponent * base_shift


@njit(nogil=True, cache=True)
def _pack(strings: Strings, order: Ints, group_starts: Ints, width: int, tokens: Ints) -> None:
    for place in range(order.shape[0]):
        begin = strings.starts[order[place]]
        size = strings.starts[order[place] + 1] - begin
        target = group_starts[place // width] + place % width
        for k in range(size):
            tokens[target + k * width] = strings.codes[begin + k]


@njit(nogil=True, cache=True)
def _fill_rows(row_begin: int, row_end: int, problem: _Problem, out: Floats) -> None:
    """Fill rows ``row_begin:row_end`` of ``row_order``, one group of lanes after the other."""
    width = problem.lanes.width
    starts = problem.lanes.group_starts
    longest = (starts[-1] - starts[-2]) // width
    sums = np.empty((problem.length, longest + 1, width))
    running = np.empty(width)
    totals = np.empty(width)
    exponents = np.empty(width, dtype=np.int64)
    # Groups before a row's own are filled by symmetry.
    for group in range(row_begin // width if problem.symmetric else 0, starts.shape[0] - 1):
        first = group * width
        last = min(row_end, first + width) if problem.symmetric else row_end
        tokens = problem.lanes.tokens[starts[group] : starts[group + 1]]
        packed = tokens.reshape((tokens.shape[0] // width, width))
        columns = problem.lanes.order[first : first + width]
        for place in range(row_begin, last):
            # Side by side if no sum can overflow, else one by one.
            i = problem.row_order[place]
            s = _string(problem.rows, i)
            bits = problem.row_bits[i] + problem.lanes.group_bits[group]
            if width > 1 and bits <= _SAFE_BITS:
                lane_totals(s, packed, problem.decay, sums, running, totals)
                exponents[:] = 0
            else:
                _wide_totals(s, problem, columns, totals, exponents)
            skipped = max(0, place - first) if problem.symmetric else 0
            _write(i, columns[skipped:], totals[skipped:], exponents[skipped:], problem, out)


@njit(nogil=True, cache=True)
def _string(strings: Strings, i: int) -> Ints:
    return strings.codes[strings.starts[i] : strings.starts[i + 1]]


@njit(nogil=True, cache=True)
def _write(
    i: int, columns: Ints, totals: Floats, exponents: Ints, problem: _Problem, out: Floats
) -> None:
    for k in range(columns.shape[0]):
        j = columns[k]
        value = _divided(totals[k], exponents[k], i, j, problem.row_norms, problem.column_norms)
        out[i, j] = value
        if problem.symmetric:
            out[j, i] = value


@njit(nogil=True, cache=True)
def _divided(
    value: float, exponent: int, i: int, j: int, row_norms: _Norms, column_norms: _Norms
) -> float:
    """value / sqrt(norm · norm'): 1 to the bit for a string with itself, 0 for a zero norm."""
    product = row_norms.mantissas[i] * column_norms.mantissas[j]
    if product == 0.0:
        return 0.0
    mantissa, exponent = _even(value, exponent)
    halves = (row_norms.exponents[i] + column_norms.exponents[j]) // 2
    shift = int(min(max(exponent - halves, -5000), 5000))  # ldexp takes a small int
    return math.ldexp(mantissa / math.sqrt(product), shift)


@njit(nogil=True, cache=True)
def _fill_norms(
    begin: int, end: int, strings: Strings, length: int, decay: float, norms: _Norms
) -> None:
    for i in range(begin, end):
        s = _string(strings, i)
        value, exponent = wide_total(s, s, length, decay)
        norms.mantissas[i], norms.exponents[i] = _even(value, exponent)


@njit(nogil=True, cache=True)
def _even(value: float, exponent: int) -> tuple[float, int]:
    """The same number with its mantissa in [1/4, 1) and an even exponent, whose half is whole."""
    mantissa, shift = math.frexp(value)
    total = exponent + shift
    if total % 2 != 0:
        return mantissa * 0.5, total + 1
    return mantissa, total


@njit(nogil=True, cache=True)
def _wide_totals(
    s: Ints, problem: _Problem, columns: Ints, totals: Floats, exponents: Ints
) -> None:
    for lane in range(columns.shape[0]):
        t = _string(problem.columns, columns[lane])
        totals[lane], exponents[lane] = wide_total(s, t, problem.length, problem.decay)


# The recursion, for many pairs at once and for one pair


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
