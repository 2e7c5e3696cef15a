"""Earth mover's distances between many pairs of sets of labelled points with masses.

The cost of moving mass between two points is their Euclidean distance; different labels add a
constant to its square. Distances of points are computed in `ground_distances`; the solvers are in
`network_simplex` and, for sets of very unequal size, in `few_sinks`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from gramlet.common.arrays import Floats, Ints
from gramlet.common.fields import ArrayOf, Offsets, fields
from gramlet.common.stored_state import require
from gramlet.engine.core.compiled import njit
from gramlet.engine.core.ragged import taken
from gramlet.engine.core.tiles import QUIET, Tiling, for_tiles, mirror
from gramlet.engine.transport.few_sinks import MANY_SOURCES, few_sinks_room, solve_few_sinks
from gramlet.engine.transport.ground_distances import Places, fill_distances, places
from gramlet.engine.transport.network_simplex import solve_transport
from gramlet.engine.transport.workspace import (
    FLOW,
    MASS_BITS,
    transport_workspace,
)

__all__ = ["MassPoints", "earth_mover_distances", "mass_points"]


# Sets are grouped until they have this many points: enough for a matrix product and vectorised
# loops, few enough for the cache.
_ROWS = 128
_COLUMNS = 256
# Computed distances may be too large by this share.
_ROUNDING = 1e-9
_MIXED = np.int64(-(2**63))


@dataclass
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

    stored = fields(
        masses=ArrayOf("int64", "points", least=1, most=1 << MASS_BITS),
        columns=ArrayOf("float64", None, "points"),
        labels=ArrayOf("int64", "points", least=0),
        offsets=Offsets(None, "points"),
    )

    offsets: Ints
    columns: Floats
    labels: Ints
    masses: Ints

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def take(self, order: Ints) -> MassPoints:
        """The sets at these positions."""
        offsets, points = taken(self.offsets, order)
        columns = np.ascontiguousarray(self.columns[:, points])
        return MassPoints(offsets, columns, self.labels[points], self.masses[points])

    def validate(self) -> None:
        """Raise ValueError if the masses of a set do not add up."""
        nonempty = np.diff(self.offsets) > 0
        totals = np.add.reduceat(np.append(self.masses, 0), self.offsets[:-1])[nonempty]
        require((totals == 1 << MASS_BITS).all(), "the masses of a set must add up to 2**60")


def mass_points(offsets: Ints, points: Floats, labels: Ints, weights: Ints) -> MassPoints:
    """Sets of points whose masses are proportional to ``weights``; equal masses if all are 0.

    Points of weight 0 in a set with positive weights have no mass and are left out.
    """
    sizes = np.diff(offsets)
    owner = np.repeat(np.arange(len(sizes)), sizes)
    totals = np.bincount(owner, weights, minlength=len(sizes)).astype(np.int64)
    weights = np.where(totals[owner] == 0, 1, weights)
    kept = np.flatnonzero(weights)
    owner, weights = owner[kept], weights[kept]
    totals = np.where(totals == 0, sizes, totals)
    return MassPoints(
        np.concatenate([[0], np.cumsum(np.bincount(owner, minlength=len(sizes)))]).astype(np.int64),
        np.ascontiguousarray(points[kept].T),
        np.ascontiguousarray(labels[kept]),
        _integer_masses(owner, weights, totals),
    )


def _integer_masses(owner: Ints, weights: Ints, totals: Ints) -> Ints:
    """Shares of 2 ** MASS_BITS, as differences of rounded partial sums: totals are exact."""
    before = np.cumsum(weights) - weights
    first = np.concatenate([[0], np.cumsum(totals)])[:-1]
    low = before - first[owner]

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
    tiling=tiling
        For `for_tiles`.

    Returns
    -------
    array, shape (len(rows), len(others))
        The distance of an empty set and a non-empty one is infinite, that of two empty sets 0.
    """
    out = np.zeros((len(rows), len(rows if others is None else others)))
    order = np.arange(len(rows))
    symmetric = others is None
    if symmetric:
        # Sorted by size, so that the smaller set of a pair comes first and sizes change rarely.
        order = np.argsort(np.diff(rows.offsets), kind="stable")
        rows = rows.take(order)
    fitted = rows if others is None else others
    left_places, right_places = places(rows.columns, rows.labels, fitted.columns, fitted.labels)
    left, right = _side(rows, left_places), _side(fitted, right_places)
    penalty = float(label_distance)

    def fill(begin: int, end: int) -> None:
        _fill_rows(begin, end, left, right, penalty, symmetric, order, out)

    # Not so many tiles that their rows do not fill a block.
    n_tiles = min(128, max(16, len(rows.masses) // _ROWS))
    for_tiles(fill, len(rows), costs=_row_costs(rows, symmetric), n_tiles=n_tiles, tiling=tiling)
    if (out < 0).any():
        raise RuntimeError("A transport problem was not solved after very many steps.")
    if symmetric:
        mirror(out)
    return out


def _row_costs(rows: MassPoints, symmetric: bool) -> Floats:
    sizes = np.diff(rows.offsets).astype(np.float64)
    return (sizes + 1.0) * np.arange(len(rows), 0, -1) if symmetric else sizes + 1.0


class _Side(NamedTuple):
    """All sets on one side of the matrix, for compiled code."""

    offsets: Ints
    masses: Ints
    places: Places
    centres: Floats  # a row per set
    radii: Floats
    common: Ints  # the label of all points of a set, or _MIXED


def _side(sets: MassPoints, where: Places) -> _Side:
    centres, radii = _balls(sets.offsets, sets.columns)
    common = _common_labels(sets.offsets, sets.labels)
    return _Side(sets.offsets, sets.masses, where, centres, radii, common)


@njit(nogil=True, cache=True)
def _balls(offsets: Ints, columns: Floats) -> tuple[Floats, Floats]:
    """The mean of each set, and the distance from it to the farthest point."""
    n_sets, n_dimensions = len(offsets) - 1, len(columns)
    centres, radii = np.zeros((n_sets, n_dimensions)), np.zeros(n_sets)
    for i in range(n_sets):
        squares = np.zeros(offsets[i + 1] - offsets[i])
        for c in range(n_dimensions):
            values = columns[c, offsets[i] : offsets[i + 1]]
            centres[i, c] = values.sum() / max(len(values), 1)
            squares += (values - centres[i, c]) ** 2
        for square in squares:
            radii[i] = max(radii[i], np.sqrt(square))
    return centres, radii


@njit(nogil=True, cache=True)
def _common_labels(offsets: Ints, labels: Ints) -> Ints:
    common = np.full(len(offsets) - 1, _MIXED)
    for i in range(len(common)):
        first, last = offsets[i], offsets[i + 1]
        alike = first < last
        for k in range(first + 1, last):
            alike = alike and labels[k] == labels[first]
        if alike:
            common[i] = labels[first]
    return common


@njit(nogil=True, cache=True, fastmath={"reassoc"})
def _bound(i: int, left: _Side, j: int, right: _Side, penalty: float) -> float:
    """An upper bound on the distances of points of two sets, at most five times the largest."""
    square = 0.0
    for c in range(left.centres.shape[1]):
        gap = left.centres[i, c] - right.centres[j, c]
        square += gap * gap
    # Add the larger first: the last bit must not depend on which set is on the left.
    a, b = left.radii[i], right.radii[j]
    reach = np.sqrt(square) + max(a, b) + min(a, b)
    if left.common[i] != right.common[j] or left.common[i] == _MIXED:  # then some labels differ
        reach = np.sqrt(reach * reach + penalty)
    return reach * (1.0 + _ROUNDING)


@njit(nogil=True, cache=True)
def _largest(offsets: Ints) -> int:
    largest = 0
    for i in range(len(offsets) - 1):
        largest = max(largest, offsets[i + 1] - offsets[i])
    return largest


@njit(nogil=True, cache=True)
def _together(first: int, end: int, offsets: Ints, most: int) -> int:
    """The end of a group of sets from ``first`` on with at most ``most`` points, or of one set."""
    last = first + 1
    while last < end and offsets[last + 1] - offsets[first] <= most:
        last += 1
    return last


@njit(nogil=True, cache=True, inline="always")
def _solve(
    first: int,
    n: int,
    masses: Ints,
    other_first: int,
    m: int,
    other_masses: Ints,
    block: Floats,
    place: int,
    width: int,
    highest: float,
    full: Floats,
    prices: Floats,
    floats: Floats,
    ints: Ints,
    cost: Floats,
    scaled: Ints,
    source: Ints,
    sink: Ints,
    tree: Ints,
) -> float:
    """The distance of two sets; that of points a and k is ``block[place + a * width + k]``."""
    down, along = width, 1
    if n > m:  # the smaller set becomes the sinks
        first, n, masses, other_first, m, other_masses = (
            other_first,
            m,
            other_masses,
            first,
            n,
            masses,
        )
        down, along = along, down
    if m >= MANY_SOURCES:
        for a in range(n):
            for k in range(m):
                full[a, k] = block[place + a * down + k * along]
        return solve_few_sinks(
            n,
            m,
            full,
            masses,
            first,
            other_masses,
            other_first,
            prices,
            floats,
            ints,
            cost,
            scaled,
            source,
            sink,
            tree,
        )
    for a in range(n):
        tree[FLOW, a] = masses[first + a]
    for k in range(m):
        tree[FLOW, n + k] = other_masses[other_first + k]
    return solve_transport(n, m, block, place, down, along, highest, scaled, source, sink, tree)


@njit(nogil=True, cache=True)
def _fill_rows(
    begin: int,
    end: int,
    left: _Side,
    right: _Side,
    penalty: float,
    symmetric: bool,
    order: Ints,
    out: Floats,
) -> None:
    """Distances of the sets ``begin:end``; in the symmetric case only to later sets.

    In the symmetric case, ``order`` gives their positions in the upper triangle of the matrix.
    """
    # Workspace for the largest pair and the largest block.
    offsets, masses = left.offsets, left.masses
    other_offsets, other_masses = right.offsets, right.masses
    largest, other_largest = _largest(offsets[begin : end + 1]), _largest(other_offsets)
    height, width = min(largest, other_largest), max(largest, other_largest)
    cost, scaled, source, sink, tree = transport_workspace(height, width)
    full, prices, floats, ints = few_sinks_room(height, width if width >= MANY_SOURCES else 0)
    block = np.empty(max(_ROWS, largest) * max(_COLUMNS, other_largest))
    n_others = len(other_offsets) - 1
    # Groups of sets on the left against groups of sets on the right.
    bottom = begin
    while bottom < end:
        top, bottom = bottom, _together(bottom, end, offsets, _ROWS)
        behind = top + 1 if symmetric else 0
        while behind < n_others:
            front, behind = behind, _together(behind, n_others, other_offsets, _COLUMNS)
            # The distances of all points of both groups at once.
            start, stop = other_offsets[front], other_offsets[behind]
            fill_distances(
                offsets[top],
                offsets[bottom],
                left.places,
                start,
                stop,
                right.places,
                penalty,
                block,
            )
            # One transport problem per pair of sets.
            for i in range(top, bottom):
                first, n = offsets[i], offsets[i + 1] - offsets[i]
                for j in range(max(front, i + 1) if symmetric else front, behind):
                    other_first, m = other_offsets[j], other_offsets[j + 1] - other_offsets[j]
                    place = (first - offsets[top]) * (stop - start) + other_first - start
                    highest = _bound(i, left, j, right, penalty)
                    if n == 0 or m == 0:
                        value = 0.0 if n == m else np.inf
                    else:
                        value = _solve(
                            first,
                            n,
                            masses,
                            other_first,
                            m,
                            other_masses,
                            block,
                            place,
                            stop - start,
                            highest,
                            full,
                            prices,
                            floats,
                            ints,
                            cost,
                            scaled,
                            source,
                            sink,
                            tree,
                        )
                    if symmetric:
                        out[min(order[i], order[j]), max(order[i], order[j])] = value
                    else:
                        out[i, j] = value
