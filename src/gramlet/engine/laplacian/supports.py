"""Covariance matrices on few coordinates each, such as the labels that occur in a graph.

A matrix is stored on its own coordinates (its support) and is γ times the identity elsewhere, so a
pair is compared on the union of two supports: other coordinates cancel, and those that occur only
in new graphs need no special treatment. Matrices on common coordinates are in `bhattacharyya`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from gramlet.common.arrays import Bools, Floats, Ints
from gramlet.common.fields import ArrayOf, Number, Offsets, fields
from gramlet.common.stored_state import require
from gramlet.engine.core.compiled import njit
from gramlet.engine.core.ragged import taken
from gramlet.engine.core.tiles import QUIET, Tiling, for_tiles, mirror

_LN2 = 0.6931471805599453
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

    gamma: float
    offsets: Ints
    codes: Ints
    starts: Ints
    values: Floats
    logs: Floats

    stored = fields(
        gamma=Number(0.0),
        offsets=Offsets("n", "codes"),
        codes=ArrayOf("int64", "codes", least=0),
        starts=Offsets("n", "entries"),
        values=ArrayOf("float64", "entries"),
        logs=ArrayOf("float64", "n"),
    )

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
        """Raise ValueError if coordinates or matrices are not as `build` takes and leaves them."""
        orders = np.diff(self.offsets)
        whole = np.diff(self.starts) == orders * (orders + 1) // 2
        require(whole.all(), "triangles need n(n + 1)/2 entries for n codes")
        inner = np.ones(len(self.codes), dtype=bool)
        inner[self.offsets[:-1][self.offsets[:-1] < len(inner)]] = False
        require((np.diff(self.codes, prepend=-1)[inner] > 0).all(), "codes must increase")
        logs, pivots = logs_and_pivots(orders, self.starts, self.values)
        require((pivots > 0).all(), "a matrix is singular")
        require(np.allclose(logs, self.logs, 1e-6, 1e-6), "logs do not fit the matrices")

    def arrays(self) -> tuple[Ints, Ints, Ints, Floats, Floats]:
        """The arrays, as the compiled loop takes them."""
        return self.offsets, self.codes, self.starts, self.values, self.logs


def compare_supported(
    rows: SupportedCovariances, columns: SupportedCovariances, tiling: Tiling = QUIET
) -> Floats:
    """The matrix of k between two sets; coordinates with equal codes are the same."""
    out = np.empty((len(rows), len(columns)))

    def work(begin: int, end: int) -> None:
        _fill(rows.gamma, *rows.arrays(), *columns.arrays(), begin, end, False, out)

    n_tiles = min(128, 1 + out.size // _TILE_PAIRS)
    for_tiles(work, len(rows), n_tiles=n_tiles, tiling=tiling)
    return out


def compare_supported_self(covariances: SupportedCovariances, tiling: Tiling = QUIET) -> Floats:
    """The symmetric matrix of k between covariances; its diagonal is 1."""
    n, arrays = len(covariances), covariances.arrays()
    out = np.empty((n, n))

    def work(begin: int, end: int) -> None:
        _fill(covariances.gamma, *arrays, *arrays, begin, end, True, out)

    costs, n_tiles = np.arange(n, 0, -1, dtype=np.float64), min(128, 1 + out.size // _TILE_PAIRS)
    for_tiles(work, n, costs=costs, n_tiles=n_tiles, tiling=tiling)
    mirror(out)
    np.fill_diagonal(out, 1.0)
    return out


@njit(nogil=True, cache=True)
def logs_and_pivots(orders: Ints, starts: Ints, values: Floats) -> tuple[Floats, Floats]:
    """ln|S| of packed matrices, and their smallest pivots relative to the largest diagonal entry.

    The pivot is 1 for a matrix without coordinates. If it is 0, ln|S| is not a number.
    """
    n, largest = len(orders), 0
    for i in range(n):
        largest = max(largest, orders[i])
    matrix = np.empty((largest, largest))
    logs, pivots = np.empty(n), np.ones(n)
    for i in range(n):
        highest, e = 0.0, starts[i]
        for a in range(orders[i]):
            for b in range(a + 1):
                matrix[a, b] = values[e]
                e += 1
            highest = max(highest, matrix[a, a])
        logs[i] = _log_determinant(matrix, orders[i])
        for a in range(orders[i]):
            pivots[i] = 0.0 if np.isnan(logs[i]) else min(pivots[i], matrix[a, a] / highest)
    return logs, pivots


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
    triangle: bool,
    out: Floats,
) -> None:
    """Rows ``begin:end`` of k; with ``triangle`` only from the diagonal on."""
    # Workspace for the largest pair.
    side, side2 = 0, 0
    for i in range(begin, end):
        side = max(side, offsets[i + 1] - offsets[i])
    for j in range(len(logs2)):
        side2 = max(side2, offsets2[j + 1] - offsets2[j])
    mean = np.empty((side + side2, side + side2))
    place, place2 = np.empty(side, np.int64), np.empty(side2, np.int64)
    lone = np.empty(side + side2, np.bool_)
    log_gamma = math.log(gamma) if gamma > 0.0 else 0.0
    for i in range(begin, end):
        mine = codes[offsets[i] : offsets[i + 1]]
        for j in range(i if triangle else 0, len(logs2)):
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
            # Both log-determinants on the union, and k.
            own = logs[i] + absent * log_gamma + (logs2[j] + absent2 * log_gamma)
            log_k = 0.25 * own - 0.5 * _log_determinant(mean, order)
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
