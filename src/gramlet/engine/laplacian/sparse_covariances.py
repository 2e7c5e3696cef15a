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
    "logs_and_pivots",
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
        logs, _ = logs_and_pivots(offsets, starts, values)
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
        logs, pivots = logs_and_pivots(offsets, starts, self.values)
        require((pivots[orders > 0] > 0).all(), "a matrix is singular")
        require(np.allclose(logs, self.logs, 1e-6, 1e-6), "logs do not fit the matrices")

    def columns(self) -> tuple[Ints, Ints, Ints, Floats, Floats]:
        """The arrays, as the compiled loops take them."""
        return self.offsets, self.codes, self.starts, self.values, self.logs


def compare_supported(
    rows: SupportedCovariances, columns: SupportedCovariances, **tiling: Any
) -> Floats:
    """The matrix of k between two sets; coordinates with equal codes are the same."""
    out = np.empty((len(rows), len(columns)))

    def work(begin: int, end: int) -> None:
        _fill_rows(rows, columns, begin, end, False, out)

    for_tiles(work, len(rows), **tiling)
    return out


def compare_supported_self(covariances: SupportedCovariances, **tiling: Any) -> Floats:
    """The symmetric matrix of k between covariances; its diagonal is 1."""
    n = len(covariances)
    out = np.empty((n, n))

    def work(begin: int, end: int) -> None:
        _fill_rows(covariances, covariances, begin, end, True, out)

    for_tiles(work, n, costs=np.arange(n, 0, -1, dtype=np.float64), **tiling)
    mirror(out)
    np.fill_diagonal(out, 1.0)
    return out


def logs_and_pivots(offsets: Ints, starts: Ints, values: Floats) -> tuple[Floats, Floats]:
    """ln|S| of each matrix on its support, and its smallest pivot.

    The pivot is relative to the largest diagonal entry, as in `bhattacharyya.smallest_pivots`, and
    1 for a matrix without coordinates. If it is 0, ln|S| is -inf.
    """
    orders = np.diff(offsets)
    logs, smallest = np.zeros(len(orders)), np.ones(len(orders))
    # Not compiled: pairs take much longer than single matrices.
    for order in np.unique(orders[orders > 0]):
        chosen = np.flatnonzero(orders == order)
        stack = np.zeros((len(chosen), order, order))
        triangle = np.arange(order * (order + 1) // 2)
        stack[:, *np.tril_indices(order)] = values[starts[chosen][:, None] + triangle]
        logs[chosen], smallest[chosen] = _factor_stack(stack)
    return logs, smallest


def _factor_stack(stack: Floats) -> tuple[Floats, Floats]:
    """`logs_and_pivots` of matrices of one order, by LDLᵀ of their lower triangles in place."""
    order = stack.shape[1]
    largest = np.fmax.reduce(np.diagonal(stack, axis1=1, axis2=2), axis=1)
    smallest, product = np.ones(len(stack)), np.ones(len(stack))
    exponent = np.zeros(len(stack), dtype=np.int64)
    for k in range(order):
        pivot = stack[:, k, k].copy()
        lost = ~(pivot > 0.0)
        pivot[lost] = 1.0  # the result of these matrices is known
        smallest[lost] = 0.0
        smallest = np.minimum(smallest, pivot / np.fmax(largest, pivot))
        product, shift = np.frexp(product * pivot)
        exponent += shift
        factor = stack[:, k + 1 :, k] / pivot[:, None]
        stack[:, k + 1 :, k + 1 :] -= factor[:, :, None] * stack[:, None, k + 1 :, k]
    # The logarithm of the C library, as in compiled code.
    logs = exponent * _LN2 + np.array([math.log(x) for x in product])
    return np.where(smallest > 0.0, logs, -np.inf), smallest


def _largest(offsets: Ints) -> int:
    """The largest number of coordinates of a matrix."""
    return int(np.diff(offsets).max(initial=0))


def _fill_rows(
    rows: SupportedCovariances,
    columns: SupportedCovariances,
    begin: int,
    end: int,
    triangle: bool,
    out: Floats,
) -> None:
    """Rows ``begin:end`` of k; with ``triangle`` only from the diagonal on."""
    side, side2 = _largest(rows.offsets), _largest(columns.offsets)
    # Arrays are allocated here: compiling that takes numba longer than compiling the loops.
    mean = np.empty((side + side2, side + side2))
    place, place2 = np.empty(side, np.int64), np.empty(side2, np.int64)
    lone = np.empty(side + side2, np.bool_)
    _fill(
        rows.gamma, *rows.columns(), *columns.columns(), begin, end, triangle, mean, place, place2,
        lone, out,
    )  # fmt: skip


@njit(nogil=True, cache=True)
def _fill(
    gamma: float,
    offsets: Ints, codes: Ints, starts: Ints, values: Floats, logs: Floats,
    offsets2: Ints, codes2: Ints, starts2: Ints, values2: Floats, logs2: Floats,
    begin: int, end: int, triangle: bool,
    mean: Floats, place: Ints, place2: Ints, lone: Bools, out: Floats,
) -> None:  # fmt: skip
    """The loop of `_fill_rows`; ``mean``, the places and ``lone`` are used for each pair anew."""
    log_gamma = math.log(gamma) if gamma > 0.0 else 0.0
    for i in range(begin, end):
        own_order = offsets[i + 1] - offsets[i]
        for j in range(i if triangle else 0, len(logs2)):
            # The union of both supports; without γ, different supports have k = 0.
            order = _merge(
                codes, offsets[i], offsets[i + 1], codes2, offsets2[j], offsets2[j + 1], place,
                place2, lone,
            )  # fmt: skip
            other_order = offsets2[j + 1] - offsets2[j]
            absent, absent2 = order - own_order, order - other_order
            if gamma == 0.0 and absent + absent2 > 0:
                out[i, j] = 0.0
                continue
            # The mean of both matrices on the union.
            for a in range(order):
                for b in range(a):
                    mean[a, b] = 0.0
                mean[a, a] = 0.5 * gamma if lone[a] else 0.0
            _add_half(mean, place, own_order, values, starts[i])
            _add_half(mean, place2, other_order, values2, starts2[j])
            # Both log-determinants on the union, and k.
            own = logs[i] + absent * log_gamma + (logs2[j] + absent2 * log_gamma)
            log_k = 0.25 * own - 0.5 * _log_determinant(mean, order)
            out[i, j] = math.exp(log_k if log_k < 0.0 else 0.0)


@inner
def _merge(
    codes: Ints, i: int, end: int, codes2: Ints, j: int, end2: int,
    place: Ints, place2: Ints, lone: Bools,
) -> int:  # fmt: skip
    """Positions of two ascending lists in their union, and which entries only one list has.

    The lists are ``codes[i:end]`` and ``codes2[j:end2]``. Returns the length of the union.
    """
    first, first2, order = i, j, 0
    while i < end or j < end2:
        mine = j == end2 or (i < end and codes[i] <= codes2[j])
        theirs = i == end or (j < end2 and codes2[j] <= codes[i])
        if mine:
            place[i - first] = order
            i += 1
        if theirs:
            place2[j - first2] = order
            j += 1
        lone[order] = mine != theirs
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
    return exponent * _LN2 + math.log(product)
