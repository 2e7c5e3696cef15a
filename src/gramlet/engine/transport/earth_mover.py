"""Earth mover's distances between many pairs of sets of labelled points with masses.

The cost of moving mass between two points is their Euclidean distance; different labels add a
constant to its square. Each pair of sets is one problem of `network_simplex`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from gramlet.common.arrays import Floats, Ints
from gramlet.common.fields import ArrayOf, Offsets, fields
from gramlet.common.stored_state import require
from gramlet.engine.core.compiled import njit
from gramlet.engine.core.ragged import offsets_of, taken
from gramlet.engine.core.tiles import QUIET, Tiling, for_tiles, mirror
from gramlet.engine.transport.network_simplex import (
    FLOW,
    MASS_BITS,
    Workspace,
    solve_transport,
    transport_workspace,
)

# From this many dimensions on, a matrix product is faster than differences.
_MANY_DIMENSIONS = 16
# A squared distance below this share of the squared norms has lost more than four of sixteen
# digits.
_CANCELLED = 1e-4


@dataclass(frozen=True)
class MassPoints:
    """Sets of points with masses, stored one after the other.

    Attributes
    ----------
    offsets : array, shape (sets + 1,)
        Set i has the points ``offsets[i]:offsets[i + 1]``.
    columns : array, shape (dimensions, points)
        Coordinates; one row per dimension, so that loops over points read consecutive memory.
    labels : array, shape (points,)
    masses : array of int, shape (points,)
        Positive; those of a set add up to ``2 ** MASS_BITS``.
    """

    offsets: Ints
    columns: Floats
    labels: Ints
    masses: Ints

    stored = fields(
        offsets=Offsets(None, "n"),
        columns=ArrayOf("float64", None, "n"),
        labels=ArrayOf("int64", "n", least=0),
        masses=ArrayOf("int64", "n", least=1, most=1 << MASS_BITS),
    )

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def take(self, order: Ints) -> MassPoints:
        """The sets at these positions."""
        offsets, points = taken(self.offsets, order)
        columns = np.ascontiguousarray(self.columns[:, points])
        return MassPoints(offsets, columns, self.labels[points], self.masses[points])

    def validate(self) -> None:
        """Raise ValueError if the masses of a set have another total."""
        totals = np.add.reduceat(np.append(self.masses, 0), self.offsets[:-1])
        totals = totals[np.diff(self.offsets) > 0]
        require((totals == 1 << MASS_BITS).all(), "the masses of a set must add up to 2**60")


def mass_points(offsets: Ints, points: Floats, labels: Ints, weights: Ints) -> MassPoints:
    """Sets of points whose masses are proportional to ``weights``; equal masses if all are 0.

    Points of weight 0 in a set with positive weights have no mass and are left out.
    """
    sizes = np.diff(offsets)
    owner = np.repeat(np.arange(len(sizes)), sizes)
    totals = np.bincount(owner, weights, minlength=len(sizes)).astype(np.int64)
    weights = np.where(totals[owner] == 0, 1, weights)
    massive = np.flatnonzero(weights)
    owner, weights = owner[massive], weights[massive]
    totals = np.where(totals == 0, sizes, totals)
    return MassPoints(
        offsets_of(np.bincount(owner, minlength=len(sizes))),
        np.ascontiguousarray(points[massive].T),
        np.ascontiguousarray(labels[massive]),
        _integer_masses(owner, weights, totals),
    )


def _integer_masses(owner: Ints, weights: Ints, totals: Ints) -> Ints:
    """Shares of 2 ** MASS_BITS, as differences of rounded partial sums: totals are exact."""
    before = np.cumsum(weights) - weights
    low = before - offsets_of(totals)[owner]

    def share(part: Ints) -> Ints:
        # part · 2^60 / total in two steps, neither of which overflows.
        whole, rest = np.divmod(np.int64(1) << MASS_BITS, np.maximum(totals, 1))
        return part * whole[owner] + part * rest[owner] // totals[owner]

    return share(low + weights) - share(low)


def earth_mover_distances(
    rows: MassPoints, others: MassPoints | None, label_distance: float, tiling: Tiling = QUIET
) -> Floats:
    """The matrix of distances from ``rows`` to ``others``, or of all pairs of ``rows`` if None.

    Parameters
    ----------
    rows, others : MassPoints
    label_distance : float
        Added to the *squared* distance of two points if their labels differ.
    tiling : Tiling

    Returns
    -------
    array, shape (len(rows), len(others))
        The distance of an empty set and a non-empty one is infinite, that of two empty sets 0.
    """
    symmetric = others is None
    fitted = rows if others is None else others
    out = np.zeros((len(rows), len(fitted)))
    centre = np.zeros(len(fitted.columns))
    if len(fitted.columns) >= _MANY_DIMENSIONS and len(fitted.masses):
        # Differences from a centre near all points lose fewer digits by cancellation.
        centre = fitted.columns.mean(axis=1)
    left, right = _Side.of(rows, centre), _Side.of(fitted, centre)

    def fill(begin: int, end: int) -> None:
        _fill_rows(begin, end, left, right, float(label_distance), symmetric, out)

    costs = np.diff(rows.offsets) + 1.0
    if symmetric:
        costs *= np.arange(len(rows), 0, -1)
    for_tiles(fill, len(rows), costs=costs, tiling=tiling)
    if (out < 0).any():
        raise RuntimeError("A transport problem was not solved after very many steps.")
    if symmetric:
        mirror(out)
    return out


class _Side(NamedTuple):
    """All sets on one side of the matrix, for compiled code.

    In many dimensions ``rows`` has one row per point, the difference from a common centre, and
    ``squares`` their squared norms; in few dimensions both are empty.
    """

    offsets: Ints
    masses: Ints
    labels: Ints
    columns: Floats
    rows: Floats
    squares: Floats

    @classmethod
    def of(cls, sets: MassPoints, centre: Floats) -> _Side:
        rows = np.zeros((0, 0))
        if len(centre) >= _MANY_DIMENSIONS:
            rows = np.ascontiguousarray((sets.columns - centre[:, None]).T)
        squares = np.einsum("ij,ij->i", rows, rows)
        return cls(sets.offsets, sets.masses, sets.labels, sets.columns, rows, squares)


@njit(nogil=True, cache=True)
def _largest(offsets: Ints) -> int:
    largest = 0
    for i in range(len(offsets) - 1):
        largest = max(largest, offsets[i + 1] - offsets[i])
    return largest


@njit(nogil=True, cache=True)
def _fill_rows(
    begin: int,
    end: int,
    left: _Side,
    right: _Side,
    penalty: float,
    symmetric: bool,
    out: Floats,
) -> None:
    """Distances of the sets ``begin:end``; in the symmetric case only to later sets."""
    # Workspace for the largest pair.
    n, m = _largest(left.offsets[begin : end + 1]), _largest(right.offsets)
    work = transport_workspace(min(n, m), max(n, m))
    products = np.empty(n * m if len(left.rows) else 0)
    for i in range(begin, end):
        first, last = left.offsets[i], left.offsets[i + 1]
        for j in range(i + 1 if symmetric else 0, len(right.offsets) - 1):
            start, stop = right.offsets[j], right.offsets[j + 1]
            if first == last or start == stop:
                out[i, j] = 0.0 if last - first == stop - start else np.inf
            elif last - first <= stop - start:  # the smaller set becomes the sinks
                out[i, j] = _pair(left, first, last, right, start, stop, penalty, work, products)
            else:
                out[i, j] = _pair(right, start, stop, left, first, last, penalty, work, products)


@njit(nogil=True, cache=True)
def _pair(
    sinks: _Side,
    first: int,
    last: int,
    sources: _Side,
    start: int,
    stop: int,
    penalty: float,
    work: Workspace,
    products: Floats,
) -> float:
    """The distance of the set ``first:last`` of sinks and the set ``start:stop`` of sources."""
    n, m = last - first, stop - start
    if len(sinks.rows) > 0:
        _costs_by_products(sinks, first, last, sources, start, stop, penalty, work.cost, products)
    else:
        _costs_by_differences(sinks, first, n, sources, start, stop, penalty, work.cost)
    for a in range(n):
        work.tree[FLOW, a] = sinks.masses[first + a]
    for k in range(m):
        work.tree[FLOW, n + k] = sources.masses[start + k]
    return solve_transport(n, m, work)


@njit(nogil=True, cache=True)
def _costs_by_differences(
    sinks: _Side,
    first: int,
    n: int,
    sources: _Side,
    start: int,
    stop: int,
    penalty: float,
    cost: Floats,
) -> None:
    """√(Σ_c (x_c − y_c)²), with the penalty under the root if labels differ."""
    labels = sources.labels[start:stop]
    for a in range(n):
        line, label = cost[a], sinks.labels[first + a]
        for k in range(len(labels)):
            line[k] = penalty if labels[k] != label else 0.0
        for c in range(len(sinks.columns)):
            x, others = sinks.columns[c, first + a], sources.columns[c, start:stop]
            for k in range(len(others)):
                gap = others[k] - x
                line[k] += gap * gap
        for k in range(len(labels)):
            line[k] = np.sqrt(line[k])


@njit(nogil=True, cache=True)
def _costs_by_products(
    sinks: _Side,
    first: int,
    last: int,
    sources: _Side,
    start: int,
    stop: int,
    penalty: float,
    cost: Floats,
    products: Floats,
) -> None:
    """The same by ‖x‖² + ‖y‖² − 2xᵀy; where that loses digits, by differences."""
    n, m = last - first, stop - start
    table = products[: n * m].reshape((n, m))
    np.dot(sinks.rows[first:last], sources.rows[start:stop].T, table)
    labels, squares = sources.labels[start:stop], sources.squares[start:stop]
    for a in range(n):
        label, square = sinks.labels[first + a], sinks.squares[first + a]
        line, row = cost[a], table[a]
        n_cancelled = 0
        # One loop: the square root dominates, so the rest is free.
        for k in range(m):
            both = square + squares[k]
            value = both - 2.0 * row[k]
            n_cancelled += int(value < _CANCELLED * both)
            line[k] = np.sqrt(value + (penalty if labels[k] != label else 0.0))
        for k in range(m if n_cancelled > 0 else 0):
            both = square + squares[k]
            if both - 2.0 * row[k] < _CANCELLED * both:
                total = penalty if labels[k] != label else 0.0
                for c in range(len(sinks.columns)):
                    gap = sinks.columns[c, first + a] - sources.columns[c, start + k]
                    total += gap * gap
                line[k] = np.sqrt(total)
