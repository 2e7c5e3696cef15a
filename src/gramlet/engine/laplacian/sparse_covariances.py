"""Covariance matrices on few coordinates each, such as the labels that occur in a graph.

A matrix is stored on its own coordinates (its support) and is γ times the identity elsewhere, so a
pair is compared on the union of two supports: other coordinates cancel, and those that occur only
in new graphs need no special treatment. Matrices on common coordinates are in `bhattacharyya`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from gramlet.common.arrays import Bools, Floats, Ints
from gramlet.common.fields import ArrayOf, Number, Offsets, fields
from gramlet.common.stored_state import require
from gramlet.engine.core.compiled import njit
from gramlet.engine.core.ragged import taken
from gramlet.engine.core.tiles import QUIET, Tiling, for_tiles, mirror

__all__ = [
    "SupportedCovariances",
    "compare_supported",
    "compare_supported_self",
    "logs_and_pivots",
]


_LN2 = 0.6931471805599453
# Parts of a matrix of k; see `_fill`.
_WHOLE, _TRIANGLE, _OWN = 0, 1, 2
# Starting a tile takes as long as comparing some ten pairs.
_TILE_PAIRS = 1024


@dataclass(frozen=True)
class SupportedCovariances:
    """Positive definite matrices, each stored on its own coordinates and γI on all others.

    Attributes
    ----------
    gamma : float
        γ. With 0, matrices of different supports have k = 0, the limit of γ → 0.
    offsets : array of int64, shape (n + 1,)
        Matrix i has the coordinates ``codes[offsets[i]:offsets[i + 1]]``, in ascending order.
    codes : array of int64
    starts : array of int64, shape (n + 1,)
        Its packed lower triangle, γ on the diagonal included, is ``values[starts[i]:starts[i+1]]``.
    values : array of float64
    logs : array of float64, shape (n,)
        ln|S| on the support.
    """

    stored = fields(
        gamma=Number(0.0),
        logs=ArrayOf("float64", "n"),
        offsets=Offsets("n", "codes"),
        codes=ArrayOf("int64", "codes", least=0),
        starts=Offsets("n", "values"),
        values=ArrayOf("float64", "values"),
    )

    gamma: float
    offsets: Ints
    codes: Ints
    starts: Ints
    values: Floats
    logs: Floats

    @classmethod
    def build(
        cls, gamma: float, offsets: Ints, codes: Ints, starts: Ints, values: Floats
    ) -> SupportedCovariances:
        """From matrices that are positive definite on their supports."""
        logs, _ = logs_and_pivots(offsets, codes, starts, values)
        return cls(gamma, offsets, codes, starts, values, logs)

    def __len__(self) -> int:
        return len(self.logs)

    def take(self, rows: Ints) -> SupportedCovariances:
        """The matrices at these positions."""
        offsets, coordinates = taken(self.offsets, rows)
        starts, entries = taken(self.starts, rows)
        return SupportedCovariances(
            self.gamma,
            offsets,
            self.codes[coordinates],
            starts,
            self.values[entries],
            self.logs[rows],
        )

    def validate(self) -> None:
        """Raise ValueError if the triangles do not fit their codes and ``logs``."""
        orders = np.diff(self.offsets)
        whole = np.diff(self.starts) == orders * (orders + 1) // 2
        require(whole.all(), "triangles need n(n + 1)/2 entries for n codes")
        inner = np.ones(len(self.codes), dtype=bool)
        inner[self.offsets[:-1][orders > 0]] = False
        require((np.diff(self.codes, prepend=-1)[inner] > 0).all(), "codes must increase")
        logs, pivots = logs_and_pivots(self.offsets, self.codes, self.starts, self.values)
        require((pivots[orders > 0] > 0).all(), "a matrix is singular")
        require(np.allclose(logs, self.logs, 1e-6, 1e-6), "logs do not fit the matrices")

    def columns(self) -> tuple[Ints, Ints, Ints, Floats, Floats]:
        """The arrays, as the compiled loops take them."""
        return self.offsets, self.codes, self.starts, self.values, self.logs


def compare_supported(
    rows: SupportedCovariances, columns: SupportedCovariances, tiling: Tiling = QUIET
) -> Floats:
    """The matrix of k between two sets; coordinates with equal codes are the same."""
    out = np.empty((len(rows), len(columns)))
    n_tiles = min(128, 1 + out.size // _TILE_PAIRS)
    for_tiles(_rows_of(rows, columns, _WHOLE, out), len(rows), n_tiles=n_tiles, tiling=tiling)
    return out


def compare_supported_self(covariances: SupportedCovariances, tiling: Tiling = QUIET) -> Floats:
    """The symmetric matrix of k between covariances; its diagonal is 1."""
    n = len(covariances)
    out = np.empty((n, n))
    work = _rows_of(covariances, covariances, _TRIANGLE, out)
    costs, n_tiles = np.arange(n, 0, -1, dtype=np.float64), min(128, 1 + out.size // _TILE_PAIRS)
    for_tiles(work, n, costs=costs, n_tiles=n_tiles, tiling=tiling)
    mirror(out)
    np.fill_diagonal(out, 1.0)
    return out


def logs_and_pivots(
    offsets: Ints, codes: Ints, starts: Ints, values: Floats
) -> tuple[Floats, Floats]:
    """ln|S| of each matrix on its support, and its smallest pivot.

    The pivot is relative to the largest diagonal entry, as in `bhattacharyya.smallest_pivots`, and
    1 for a matrix without coordinates. If it is 0, ln|S| is not a number.
    """
    n, orders = len(offsets) - 1, np.diff(offsets)
    found = np.empty((n, 2))
    # A loop of its own would take longer to compile than to run.
    unknown = SupportedCovariances(0.0, offsets, codes, starts, values, np.empty(n))
    _rows_of(unknown, unknown, _OWN, found)(0, n)
    logs, pivots = found.T.copy()
    # The largest entry of each diagonal.
    there = orders > 0
    places = np.arange(len(codes)) - np.repeat(offsets[:-1], orders)
    diagonals = values[np.repeat(starts[:-1], orders) + places * (places + 3) // 2]
    largest = np.empty(n)
    if len(codes):
        largest[there] = np.maximum.reduceat(diagonals, offsets[:-1][there])
    ratios = np.where(there, 0.0, 1.0)
    return logs, np.divide(pivots, largest, out=ratios, where=there & ~np.isnan(logs))


def _largest(offsets: Ints) -> int:
    """The largest number of coordinates of a matrix."""
    return int(np.diff(offsets).max(initial=0))


def _rows_of(
    rows: SupportedCovariances, columns: SupportedCovariances, part: int, out: Floats
) -> Callable[[int, int], None]:
    """A function that fills a range of rows; see `_fill`."""
    arrays = (rows.gamma, *rows.columns(), *columns.columns())
    side, side2 = _largest(rows.offsets), _largest(columns.offsets)

    def fill(begin: int, end: int) -> None:
        # Arrays are created here: compiling that takes numba longer than compiling the loops.
        mean = np.empty((side + side2, side + side2))
        place, place2 = np.empty(side, np.int64), np.empty(side2, np.int64)
        lone = np.empty(side + side2, np.bool_)
        _fill(*arrays, begin, end, part, mean, place, place2, lone, out)

    return fill


@njit(nogil=True, cache=True)
def _fill(
    gamma: float,
    offsets: Ints,
    codes: Ints,
    starts: Ints,
    values: Floats,
    logs: Floats,
    offsets2: Ints,
    codes2: Ints,
    starts2: Ints,
    values2: Floats,
    logs2: Floats,
    begin: int,
    end: int,
    part: int,
    mean: Floats,
    place: Ints,
    place2: Ints,
    lone: Bools,
    out: Floats,
) -> None:
    """Rows ``begin:end`` of k, of which ``part`` is the whole or the triangle from the diagonal on.

    If the part is ``_OWN``, each matrix is compared with itself only, and the two columns of
    ``out`` are ln|S| and the smallest pivot of S. ``mean``, the places and ``lone`` are overwritten
    for each pair.
    """
    log_gamma = math.log(gamma) if gamma > 0.0 else 0.0
    for i in range(begin, end):
        mine = codes[offsets[i] : offsets[i + 1]]
        for j in range(0 if part == _WHOLE else i, i + 1 if part == _OWN else len(logs2)):
            # The union of both supports; without γ, different supports have k = 0.
            theirs = codes2[offsets2[j] : offsets2[j + 1]]
            order = _merge(mine, theirs, place, place2, lone)
            absent, absent2 = order - len(mine), order - len(theirs)
            if gamma == 0.0 and absent + absent2 > 0:
                out[i, j] = 0.0
                continue
            # The mean of both matrices on the union.
            for a in range(order):
                for b in range(a):
                    mean[a, b] = 0.0
                mean[a, a] = 0.5 * gamma if lone[a] else 0.0
            _add_half(mean, place, len(mine), values, starts[i])
            _add_half(mean, place2, len(theirs), values2, starts2[j])
            log = _log_determinant(mean, order)
            # One matrix: its pivots are on the diagonal.
            if part == _OWN:
                out[i, 0], out[i, 1] = log, np.inf
                for a in range(order):
                    if mean[a, a] < out[i, 1]:
                        out[i, 1] = mean[a, a]
                continue
            # Both log-determinants on the union, and k.
            own = logs[i] + absent * log_gamma + (logs2[j] + absent2 * log_gamma)
            log_k = 0.25 * own - 0.5 * log
            out[i, j] = math.exp(0.0 if log_k > 0.0 else log_k)


@njit(nogil=True, cache=True)
def _merge(mine: Ints, theirs: Ints, place: Ints, place2: Ints, lone: Bools) -> int:
    """Positions of two ascending lists in their union, and which entries only one list has.

    Returns the length of the union.
    """
    i, j, order = 0, 0, 0
    while i < len(mine) or j < len(theirs):
        first = j == len(theirs) or (i < len(mine) and mine[i] <= theirs[j])
        second = i == len(mine) or (j < len(theirs) and theirs[j] <= mine[i])
        if first:
            place[i] = order
            i += 1
        if second:
            place2[j] = order
            j += 1
        lone[order] = first != second
        order += 1
    return order


@njit(nogil=True, cache=True)
def _add_half(mean: Floats, place: Ints, order: int, values: Floats, start: int) -> None:
    """Add half of S; the places are ascending, so its lower triangle goes to the lower triangle."""
    e = start
    for a in range(order):
        for b in range(a + 1):
            mean[place[a], place[b]] += 0.5 * values[e]
            e += 1


@njit(nogil=True, cache=True)
def _log_determinant(matrix: Floats, order: int) -> float:
    """ln|S| of the lower triangle by LDLᵀ, which overwrites it; NaN if a pivot is not positive."""
    product, exponent = 1.0, 0
    for k in range(order):
        pivot = matrix[k, k]
        if not pivot > 0.0:
            return np.nan
        product, shift = math.frexp(product * pivot)
        exponent += shift
        for i in range(k + 1, order):
            factor = matrix[i, k] / pivot
            for j in range(k + 1, i + 1):
                matrix[i, j] -= factor * matrix[j, k]
    return exponent * _LN2 + math.log(product)
