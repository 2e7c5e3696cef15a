"""Regularised Laplacians of balls and graphs, and the covariances U L⁻¹ Uᵀ + γI of vertex features.

The Cholesky factor of L = D − A + ηI is computed within its envelope, in reversed breadth-first
order: there is little fill-in for sparse graphs and none for trees. One compiled loop handles all
balls of a batch. Covariances are compared in `bhattacharyya` and `sparse_covariances`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from gramlet.common.arrays import Bools, Floats, Ints
from gramlet.engine.core.compiled import njit
from gramlet.engine.core.stacked_matrices import adjacency_stack, for_eigensystems
from gramlet.engine.core.tiles import QUIET, Tiling, for_tiles
from gramlet.engine.laplacian.balls import gather_ball, gather_graph, hop_counts
from gramlet.graphs.batch import GraphBatch
from gramlet.graphs.columns import frozen

__all__ = [
    "arc_weights",
    "ball_covariances",
    "graph_covariances",
    "heat_diagonals",
    "label_covariances",
    "label_supports",
    "laplacian_stacks",
]


# A pivot below this share of the diagonal is a rounding error.
_LOST = 64 * np.finfo(np.float64).eps
# Balls and graphs of this many nodes need no larger arrays.
_MOST_NODES = 128
# Starting a tile takes as long as the covariances of some ten nodes.
_TILE_NODES = 512


def arc_weights(batch: GraphBatch) -> Floats:
    """The weight of every stored arc; 1 if the graphs have no weights."""
    if batch.edge_weights is None:
        # Read-only like those of a batch: for the compiler that is a type of its own.
        return frozen(np.ones(len(batch.indices)))
    return batch.edge_weights


def ball_covariances(
    batch: GraphBatch,
    centres: Ints,
    hops: int,
    coordinates: Floats,
    eta: float,
    gamma: float,
    discount: bool = False,
    tiling: Tiling = QUIET,
) -> Floats:
    """S of the ball around each of these nodes, as packed lower triangles.

    Parameters
    ----------
    coordinates : array, shape (n nodes, order)
        The features of every node of the batch.
    eta, gamma : float
    discount : bool
        Divide the features of a node by (its hops from the centre + 1).
    """
    centres = np.asarray(centres, np.int64)
    order = coordinates.shape[1]
    packed = np.empty((len(centres), order * (order + 1) // 2))
    flat = packed.reshape(-1)
    failed = np.zeros(len(centres), dtype=np.bool_)
    arrays = (batch.indptr, batch.indices, arc_weights(batch))

    def loop(begin: int, end: int, *space: Any) -> int:
        return _ball_tile(
            *arrays,
            centres,
            hops,
            coordinates,
            eta,
            gamma,
            discount,
            begin,
            end,
            *space,
            flat,
            failed,
        )

    for_tiles(_Spaces(batch.n_nodes_total, order, loop).run, len(centres), tiling=tiling)
    _refuse_indefinite(batch.graph_of_node[centres], failed, eta)
    return packed


def graph_covariances(
    batch: GraphBatch, coordinates: Floats, eta: float, gamma: float, tiling: Tiling = QUIET
) -> Floats:
    """S of every graph, as packed lower triangles; γI for a graph without nodes."""
    order = coordinates.shape[1]
    packed = np.empty((len(batch), order * (order + 1) // 2))
    flat = packed.reshape(-1)
    failed = np.zeros(len(batch), dtype=np.bool_)
    arrays = (batch.indptr, batch.indices, arc_weights(batch))

    def loop(begin: int, end: int, *space: Any) -> int:
        return _graph_tile(
            *arrays, batch.node_offsets, coordinates, eta, gamma, begin, end, *space, flat, failed
        )

    _for_graphs(batch, order, loop, tiling=tiling)
    _refuse_indefinite(np.arange(len(batch)), failed, eta)
    return packed


def label_supports(batch: GraphBatch, codes: Ints) -> tuple[Ints, Ints, Ints]:
    """The codes that occur in each graph, ascending, and each node's position among these.

    Returns
    -------
    offsets, present, places
        Graph i has the codes ``present[offsets[i]:offsets[i + 1]]``.
    """
    n_codes = int(codes.max()) + 1 if len(codes) else 1
    keys, places = np.unique(batch.graph_of_node * n_codes + codes, return_inverse=True)
    offsets = np.zeros(len(batch) + 1, dtype=np.int64)
    np.cumsum(np.bincount(keys // n_codes, minlength=len(batch)), out=offsets[1:])
    places = places.reshape(-1) - offsets[batch.graph_of_node]
    return offsets, keys % n_codes, places


def label_covariances(
    batch: GraphBatch, offsets: Ints, places: Ints, eta: float, gamma: float, tiling: Tiling = QUIET
) -> tuple[Ints, Floats]:
    """S of every graph for one-hot labels, restricted to the labels that occur in it.

    Returns
    -------
    starts, values
        The packed lower triangle of graph i is ``values[starts[i]:starts[i + 1]]``.
    """
    orders = np.diff(offsets)
    starts = np.concatenate([[0], np.cumsum(orders * (orders + 1) // 2)]).astype(np.int64)
    values = np.empty(starts[-1])
    failed = np.zeros(len(batch), dtype=np.bool_)
    arrays = (batch.indptr, batch.indices, arc_weights(batch))

    def loop(begin: int, end: int, *space: Any) -> int:
        return _label_tile(
            *arrays,
            batch.node_offsets,
            places,
            orders,
            starts,
            eta,
            gamma,
            begin,
            end,
            *space,
            values,
            failed,
        )

    _for_graphs(batch, int(orders.max(initial=0)), loop, tiling=tiling)
    _refuse_indefinite(np.arange(len(batch)), failed, eta)
    return starts, values


def _refuse_indefinite(graphs: Ints, failed: Bools, eta: float) -> None:
    if failed.any():
        raise ValueError(
            f"Graph {int(graphs[failed.argmax()])}: D − A + ηI is not positive definite with "
            f"eta={eta}. Either edge weights are negative, or eta is too small compared with the "
            "weights. Use weights of at least 0, smaller weights, or a larger eta."
        )


def laplacian_stacks(batch: GraphBatch) -> Callable[[Ints], Floats]:
    """A function that gives D − A of graphs of one size, stacked, with edge weights."""
    weights = -arc_weights(batch)

    def stack_of(graphs: Ints) -> Floats:
        stack = adjacency_stack(graphs, batch.node_offsets, batch.indptr, batch.indices, weights)
        diagonal = np.arange(stack.shape[1])
        stack[:, diagonal, diagonal] = -stack.sum(axis=2)
        return stack

    return stack_of


def heat_diagonals(batch: GraphBatch, times: Floats, tiling: Tiling = QUIET) -> Floats:
    """[exp(−t(D − A))]_vv for every node v (rows) and time t (columns), with edge weights.

    Graphs of one size are decomposed together. With negative weights entries may be infinite.
    """
    out = np.empty((batch.n_nodes_total, len(times)))

    def write(graphs: Ints, solved: tuple[Floats, Floats]) -> None:
        values, vectors = solved
        with np.errstate(over="ignore"):  # if weights are negative
            heat = vectors**2 @ np.exp(-values[:, :, None] * times)
        nodes = batch.node_offsets[graphs][:, None] + np.arange(values.shape[1])
        out[nodes.reshape(-1)] = heat.reshape(-1, len(times))

    for_eigensystems(batch.sizes, laplacian_stacks(batch), write, tiling=tiling)
    return out


def _for_graphs(
    batch: GraphBatch, width: int, loop: Callable[..., int], tiling: Tiling = QUIET
) -> None:
    """Run a compiled loop over all graphs; a tile has at least some hundred nodes."""
    work = _Spaces(batch.n_nodes_total, width, loop).run
    n_tiles = min(128, 1 + batch.n_nodes_total // _TILE_NODES)
    for_tiles(
        work, len(batch), costs=batch.sizes.astype(np.float64), n_tiles=n_tiles, tiling=tiling
    )


class _Spaces:
    """Arrays that compiled loops work in: one set per thread, used again for the next tile.

    They are created outside of the loops: compiling that takes numba longer than compiling the
    loops. The arrays are ``stamp``, ``queue``, ``place``, ``first`` and ``start``, with one entry
    per node, and for one ball or graph ``envelope``, the factor, and ``rows``, the features.

    Parameters
    ----------
    n_nodes : int
        The number of nodes of the batch.
    width : int
        The largest number of features.
    loop : callable
        ``loop(begin, end, *arrays)`` returns the ball or graph for which the last two arrays are
        too small, or ``end``.
    """

    def __init__(self, n_nodes: int, width: int, loop: Callable[..., int]) -> None:
        self._n_nodes, self._width, self._loop = n_nodes, width, loop
        self._spare: list[tuple[Any, ...]] = []

    def run(self, begin: int, end: int) -> None:
        """Run the loop; where arrays are too small, it starts again with larger ones."""
        arrays = self._spare.pop() if self._spare else self._arrays(_MOST_NODES)
        while (begin := self._loop(begin, end, *arrays)) < end:
            arrays = self._arrays(2 * len(arrays[-1]))
        self._spare.append(arrays)

    def _arrays(self, most: int) -> tuple[Any, ...]:
        """The arrays, with room for the features of this many nodes."""
        stamp = np.full(self._n_nodes, -1, dtype=np.int64)
        of_nodes = np.empty((4, self._n_nodes), dtype=np.int64)
        # Factors of larger graphs are sparser, or the arrays are enlarged once more.
        return (stamp, *of_nodes, np.empty(_MOST_NODES * most), np.empty((most, self._width)))


# The compiled loops. They return where they stopped; see `_Spaces`.


@njit(nogil=True, cache=True)
def _ball_tile(
    indptr: Ints,
    indices: Ints,
    weights: Floats,
    centres: Ints,
    hops: int,
    coordinates: Floats,
    eta: float,
    gamma: float,
    discount: bool,
    begin: int,
    end: int,
    stamp: Ints,
    queue: Ints,
    place: Ints,
    first: Ints,
    start: Ints,
    envelope: Floats,
    rows: Floats,
    packed: Floats,
    failed: Bools,
) -> int:
    """S of the balls ``begin:end``, and whether their Laplacians are not positive definite."""
    order = coordinates.shape[1]
    for i in range(begin, end):
        # The ball and the factor of its Laplacian.
        count = gather_ball(indptr, indices, centres[i], hops, stamp, i, queue)
        if count > len(rows) or not _factor_laplacian(
            indptr,
            indices,
            weights,
            queue,
            count,
            stamp,
            i,
            place,
            eta,
            first,
            start,
            envelope,
            failed,
        ):
            return i
        # The features of its nodes, in the order of the factor's rows.
        if discount:
            hop_counts(indptr, indices, queue, count, stamp, i, place)  # places are done with
        for q in range(count):
            share = 1.0 / (place[queue[q]] + 1) if discount else 1.0
            for k in range(order):
                rows[count - 1 - q, k] = share * coordinates[queue[q], k]
        covariance = i * (order * (order + 1) // 2)
        _write_covariance(rows, count, order, first, start, envelope, gamma, packed, covariance)
    return end


@njit(nogil=True, cache=True)
def _graph_tile(
    indptr: Ints,
    indices: Ints,
    weights: Floats,
    offsets: Ints,
    coordinates: Floats,
    eta: float,
    gamma: float,
    begin: int,
    end: int,
    stamp: Ints,
    queue: Ints,
    place: Ints,
    first: Ints,
    start: Ints,
    envelope: Floats,
    rows: Floats,
    packed: Floats,
    failed: Bools,
) -> int:
    """S of the graphs ``begin:end``, as `_ball_tile` does for balls."""
    order = coordinates.shape[1]
    for g in range(begin, end):
        # The factor of the Laplacian, the features in the order of its rows, the covariance.
        count = gather_graph(indptr, indices, offsets[g], offsets[g + 1], stamp, g, queue)
        if count > len(rows) or not _factor_laplacian(
            indptr,
            indices,
            weights,
            queue,
            count,
            stamp,
            g,
            place,
            eta,
            first,
            start,
            envelope,
            failed,
        ):
            return g
        for q in range(count):
            for k in range(order):
                rows[count - 1 - q, k] = coordinates[queue[q], k]
        covariance = g * (order * (order + 1) // 2)
        _write_covariance(rows, count, order, first, start, envelope, gamma, packed, covariance)
    return end


@njit(nogil=True, cache=True)
def _label_tile(
    indptr: Ints,
    indices: Ints,
    weights: Floats,
    offsets: Ints,
    places: Ints,
    orders: Ints,
    starts: Ints,
    eta: float,
    gamma: float,
    begin: int,
    end: int,
    stamp: Ints,
    queue: Ints,
    place: Ints,
    first: Ints,
    start: Ints,
    envelope: Floats,
    rows: Floats,
    values: Floats,
    failed: Bools,
) -> int:
    """S of the graphs ``begin:end`` for one-hot labels, as `_ball_tile` does for balls."""
    for g in range(begin, end):
        # The factor of the Laplacian, one-hot rows in the order of its rows, the covariance.
        order = orders[g]
        count = gather_graph(indptr, indices, offsets[g], offsets[g + 1], stamp, g, queue)
        if count > len(rows) or not _factor_laplacian(
            indptr,
            indices,
            weights,
            queue,
            count,
            stamp,
            g,
            place,
            eta,
            first,
            start,
            envelope,
            failed,
        ):
            return g
        for q in range(count):
            for k in range(order):
                rows[q, k] = 0.0
        for q in range(count):
            rows[count - 1 - q, places[queue[q]]] = 1.0
        _write_covariance(rows, count, order, first, start, envelope, gamma, values, starts[g])
    return end


@njit(nogil=True, cache=True)
def _factor_laplacian(
    indptr: Ints,
    indices: Ints,
    weights: Floats,
    queue: Ints,
    count: int,
    stamp: Ints,
    tag: int,
    place: Ints,
    eta: float,
    first: Ints,
    start: Ints,
    envelope: Floats,
    failed: Bools,
) -> bool:
    """Factor L of the subgraph on the nodes ``queue[:count]``, which have the stamp ``tag``.

    Row i belongs to the node ``queue[count - 1 - i]``; entry (i, j) of the factor, for
    ``first[i] <= j <= i``, is ``envelope[start[i] + j]``. Sets ``failed[tag]`` if L is not positive
    definite (the numbers are finite even then). Returns whether the envelope is large enough.
    """
    # The first column of each row, and where the rows are stored.
    for q in range(count):
        place[queue[q]] = count - 1 - q
    total = 0
    for i in range(count):
        node = queue[count - 1 - i]
        least = i
        for arc in range(indptr[node], indptr[node + 1]):
            if stamp[indices[arc]] == tag and place[indices[arc]] < least:
                least = place[indices[arc]]
        first[i] = least
        start[i] = total - least
        total += i - least + 1
    if total > len(envelope):
        return False
    for e in range(total):
        envelope[e] = 0.0
    # The lower triangle of L.
    for i in range(count):
        node = queue[count - 1 - i]
        degree = eta
        for arc in range(indptr[node], indptr[node + 1]):
            if stamp[indices[arc]] == tag:
                degree += weights[arc]
                if place[indices[arc]] < i:
                    envelope[start[i] + place[indices[arc]]] = -weights[arc]
        envelope[start[i] + i] = degree
    failed[tag] = _factor_envelope(count, first, start, envelope)
    return True


@njit(nogil=True, cache=True)
def _factor_envelope(count: int, first: Ints, start: Ints, envelope: Floats) -> bool:
    """Cholesky factorisation in place; whether a pivot was not positive and replaced by 1."""
    failed = False
    for i in range(count):
        # The last entry of a row is its pivot.
        for j in range(first[i], i + 1):
            common = first[i] if first[i] > first[j] else first[j]
            old = envelope[start[i] + j]
            value = old - _dot(envelope, start[i] + common, start[j] + common, j - common)
            if j < i:
                envelope[start[i] + j] = value / envelope[start[j] + j]
            else:
                if not value > _LOST * abs(old):
                    failed = True
                    value = 1.0
                envelope[start[i] + i] = math.sqrt(value)
    return failed


@njit(nogil=True, cache=True)
def _dot(values: Floats, left: int, right: int, length: int) -> float:
    """The dot product of two ranges of an array, by four sums that do not wait for each other."""
    a, b, c, d = 0.0, 0.0, 0.0, 0.0
    k = 0
    while k + 4 <= length:
        a += values[left + k] * values[right + k]
        b += values[left + k + 1] * values[right + k + 1]
        c += values[left + k + 2] * values[right + k + 2]
        d += values[left + k + 3] * values[right + k + 3]
        k += 4
    while k < length:
        a += values[left + k] * values[right + k]
        k += 1
    return (a + b) + (c + d)


@njit(nogil=True, cache=True)
def _write_covariance(
    rows: Floats,
    count: int,
    order: int,
    first: Ints,
    start: Ints,
    envelope: Floats,
    gamma: float,
    values: Floats,
    at: int,
) -> None:
    """Write the lower triangle of S to ``values`` from position ``at`` on.

    With X = R⁻¹U for the factor R and the features U in ``rows``, which are overwritten, S is
    XᵀX + γI.
    """
    # X, row by row.
    for i in range(count):
        for j in range(first[i], i):
            value = envelope[start[i] + j]
            if value != 0.0:
                for k in range(order):
                    rows[i, k] -= value * rows[j, k]
        inverse = 1.0 / envelope[start[i] + i]
        for k in range(order):
            rows[i, k] *= inverse
    # XᵀX, and γ on the diagonal. The view starts at 0: otherwise each loop would test whether
    # its indices are negative.
    packed = values[at : at + order * (order + 1) // 2]
    for e in range(len(packed)):
        packed[e] = 0.0
    for i in range(count):
        e = 0
        for a in range(order):
            value = rows[i, a]
            for b in range(a + 1):
                packed[e + b] += value * rows[i, b]
            e += a + 1
    for a in range(order):
        packed[a * (a + 1) // 2 + a] += gamma
