"""Covariance matrices on few coordinates each, such as the labels that occur in a graph.

A matrix is stored on its own coordinates (its support) and is γ times the identity elsewhere, so a
pair is compared on the union of two supports: other coordinates cancel, and those that occur only
in new graphs need no special treatment. Matrices on common coordinates are in `bhattacharyya`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from gramlet.common.arrays import Bools, Floats, Ints
from gramlet.common.stored_state import require, require_array, require_offsets, require_real
from gramlet.engine.core.compiled import inner, njit
from gramlet.engine.core.ragged import taken
from gramlet.engine.core.tiles import for_tiles, mirror

__all__ = [
    "SupportedCovariances",
    "compare_supported",
    "compare_supported_self",
    "smallest_supported_pivots",
]


_LN2 = 0.6931471805599453


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

    @classmethod
    def build(
        cls, gamma: float, offsets: Ints, codes: Ints, starts: Ints, values: Floats
    ) -> SupportedCovariances:
        """From matrices that are positive definite on their supports."""
        logs = _own_logs(gamma, offsets, codes, starts, values)
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
        """Raise ValueError if the arrays do not fit together."""
        require_real("gamma", self.gamma, least=0.0)
        n = len(self.logs)
        require_array("logs", self.logs, "float64", (n,))
        offsets = require_offsets("offsets", self.offsets, n, len(self.codes))
        starts = require_offsets("starts", self.starts, n, len(self.values))
        require_array("codes", self.codes, "int64", (None,), least=0)
        require_array("values", self.values, "float64", (None,))
        orders = np.diff(offsets)
        whole = np.diff(starts) == orders * (orders + 1) // 2
        require(whole.all(), "triangles need n(n + 1)/2 entries for n codes")
        inner = np.ones(len(self.codes), dtype=bool)
        inner[offsets[:-1][offsets[:-1] < len(inner)]] = False
        require((np.diff(self.codes, prepend=-1)[inner] > 0).all(), "codes must increase")
        pivots = smallest_supported_pivots(offsets, starts, self.values)
        require((pivots[orders > 0] > 0).all(), "a matrix is singular")
        logs = _own_logs(self.gamma, offsets, self.codes, starts, self.values)
        require(np.allclose(logs, self.logs, 1e-6, 1e-6), "logs do not fit the matrices")

    def columns(self) -> tuple[Ints, Ints, Ints, Floats, Floats]:
        """The arrays, as the compiled loops take them."""
        return self.offsets, self.codes, self.starts, self.values, self.logs


def compare_supported(
    rows: SupportedCovariances, columns: SupportedCovariances, **tiling: Any
) -> Floats:
    """The matrix of k between two sets; coordinates with equal codes are the same."""
    out = np.empty((len(rows), len(columns)))
    right = columns.columns()

    def work(begin: int, end: int) -> None:
        _fill(rows.gamma, rows.columns(), right, begin, end, False, out)

    for_tiles(work, len(rows), **tiling)
    return out


def compare_supported_self(covariances: SupportedCovariances, **tiling: Any) -> Floats:
    """The symmetric matrix of k between covariances; its diagonal is 1."""
    n = len(covariances)
    out = np.empty((n, n))
    arrays = covariances.columns()

    def work(begin: int, end: int) -> None:
        _fill(covariances.gamma, arrays, arrays, begin, end, True, out)

    for_tiles(work, n, costs=np.arange(n, 0, -1, dtype=np.float64), **tiling)
    mirror(out)
    np.fill_diagonal(out, 1.0)
    return out


@njit(nogil=True, cache=True)
def _own_logs(gamma: float, offsets: Ints, codes: Ints, starts: Ints, values: Floats) -> Floats:
    n = len(offsets) - 1
    logs = np.empty(n)
    side = _largest(offsets)
    mean = np.empty((side, side))
    for i in range(n):
        order = offsets[i + 1] - offsets[i]
        e = starts[i]
        for a in range(order):
            for b in range(a + 1):
                mean[a, b] = values[e]
                e += 1
        logs[i] = _log_determinant(mean, order)
    return logs


@inner
def _largest(offsets: Ints) -> int:
    side = 0
    for i in range(len(offsets) - 1):
        side = max(side, offsets[i + 1] - offsets[i])
    return side


@njit(nogil=True, cache=True)
def _fill(
    gamma: float,
    rows: tuple[Ints, Ints, Ints, Floats, Floats],
    columns: tuple[Ints, Ints, Ints, Floats, Floats],
    begin: int,
    end: int,
    triangle: bool,
    out: Floats,
) -> None:
    """Rows ``begin:end`` of k; with ``triangle`` only from the diagonal on."""
    offsets, codes, starts, values, logs = rows
    offsets2, codes2, starts2, values2, logs2 = columns
    side, side2 = _largest(offsets), _largest(offsets2)
    mean = np.empty((side + side2, side + side2))
    place, place2 = np.empty(side, np.int64), np.empty(side2, np.int64)
    lone = np.empty(side + side2, np.bool_)
    log_gamma = np.log(gamma) if gamma > 0.0 else 0.0
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
                mean[a, :a] = 0.0
                mean[a, a] = 0.5 * gamma if lone[a] else 0.0
            _add_half(mean, place, len(mine), values, starts[i])
            _add_half(mean, place2, len(theirs), values2, starts2[j])
            # Both log-determinants on the union, and k.
            own = logs[i] + absent * log_gamma + (logs2[j] + absent2 * log_gamma)
            log_k = 0.25 * own - 0.5 * _log_determinant(mean, order)
            out[i, j] = np.exp(min(log_k, 0.0))


@inner
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


@inner
def _add_half(mean: Floats, place: Ints, order: int, values: Floats, start: int) -> None:
    """Add half of S; the places are ascending, so its lower triangle goes to the lower triangle."""
    e = start
    for a in range(order):
        for b in range(a + 1):
            mean[place[a], place[b]] += 0.5 * values[e]
            e += 1


@inner
def _log_determinant(matrix: Floats, order: int) -> float:
    """ln|S| of the lower triangle by LDLᵀ, which overwrites it."""
    product, exponent = 1.0, 0
    for k in range(order):
        pivot = matrix[k, k]
        product, shift = math.frexp(product * pivot)
        exponent += shift
        for i in range(k + 1, order):
            factor = matrix[i, k] / pivot
            for j in range(k + 1, i + 1):
                matrix[i, j] -= factor * matrix[j, k]
    return exponent * _LN2 + np.log(product)


@njit(nogil=True, cache=True)
def smallest_supported_pivots(offsets: Ints, starts: Ints, values: Floats) -> Floats:
    """The smallest pivot of each matrix on its support, relative to the largest on its diagonal.

    As `bhattacharyya.smallest_pivots`; 1 for a matrix without coordinates.
    """
    smallest = np.ones(len(offsets) - 1)
    side = _largest(offsets)
    matrix = np.empty((side, side))
    for n in range(len(offsets) - 1):
        order = offsets[n + 1] - offsets[n]
        # The lower triangle, and its largest diagonal entry.
        e, largest = starts[n], 0.0
        for a in range(order):
            for b in range(a + 1):
                matrix[a, b] = values[e]
                e += 1
            largest = max(largest, matrix[a, a])
        # LDLᵀ, until a pivot is not positive.
        for k in range(order):
            pivot = matrix[k, k]
            if not pivot > 0.0:
                smallest[n] = 0.0
                break
            smallest[n] = min(smallest[n], pivot / largest)
            for i in range(k + 1, order):
                factor = matrix[i, k] / pivot
                for j in range(k + 1, i + 1):
                    matrix[i, j] -= factor * matrix[j, k]
    return smallest
