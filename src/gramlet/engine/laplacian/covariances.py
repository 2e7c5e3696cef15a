"""Regularised Laplacians of balls and graphs, and the covariances U L⁻¹ Uᵀ + γI of vertex features.

The Cholesky factor of L = D − A + ηI is computed within its envelope, in reversed breadth-first
order: there is little fill-in for sparse graphs and none for trees. One compiled loop handles all
balls of a batch. Covariances are compared in `bhattacharyya` and `sparse_covariances`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gramlet.common.arrays import Bools, Floats, Ints
from gramlet.engine.core.compiled import inner, njit
from gramlet.engine.core.stacked_matrices import adjacency_stack, for_eigensystems
from gramlet.engine.core.tiles import for_tiles
from gramlet.engine.laplacian.balls import gather_ball, gather_graph, hop_counts
from gramlet.graphs.batch import GraphBatch
from gramlet.graphs.columns import frozen

__all__ = [
    "arc_weights",
    "ball_covariances",
    "dot",
    "factor_laplacian",
    "graph_covariances",
    "heat_diagonals",
    "label_covariances",
    "label_supports",
    "laplacian_stacks",
]


# A pivot below this share of the diagonal is a rounding error.
_LOST = 64 * np.finfo(np.float64).eps


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
    **tiling: Any,
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
    failed = np.zeros(len(centres), dtype=np.bool_)
    arrays = (batch.indptr, batch.indices, arc_weights(batch))

    def work(begin: int, end: int) -> None:
        _ball_tile(
            arrays, centres, hops, coordinates, eta, gamma, discount, begin, end, packed, failed
        )

    for_tiles(work, len(centres), **tiling)
    _refuse_indefinite(batch.graph_of_node[centres], failed, eta)
    return packed


def graph_covariances(
    batch: GraphBatch, coordinates: Floats, eta: float, gamma: float, **tiling: Any
) -> Floats:
    """S of every graph, as packed lower triangles; γI for a graph without nodes."""
    order = coordinates.shape[1]
    packed = np.empty((len(batch), order * (order + 1) // 2))
    failed = np.zeros(len(batch), dtype=np.bool_)
    arrays = (batch.indptr, batch.indices, arc_weights(batch))

    def work(begin: int, end: int) -> None:
        _graph_tile(arrays, batch.node_offsets, coordinates, eta, gamma, begin, end, packed, failed)

    for_tiles(work, len(batch), costs=batch.sizes.astype(np.float64), **tiling)
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
    batch: GraphBatch, offsets: Ints, places: Ints, eta: float, gamma: float, **tiling: Any
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

    def work(begin: int, end: int) -> None:
        _label_tile(
            arrays, batch.node_offsets, places, orders, starts, eta, gamma, begin, end, values,
            failed,
        )  # fmt: skip

    for_tiles(work, len(batch), costs=batch.sizes.astype(np.float64), **tiling)
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


def heat_diagonals(batch: GraphBatch, times: Floats, **tiling: Any) -> Floats:
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

    for_eigensystems(batch.sizes, laplacian_stacks(batch), write, **tiling)
    return out


# The compiled loops


@njit(nogil=True, cache=True)
def _ball_tile(
    arrays: tuple[Ints, Ints, Floats],
    centres: Ints,
    hops: int,
    coordinates: Floats,
    eta: float,
    gamma: float,
    discount: bool,
    begin: int,
    end: int,
    packed: Floats,
    failed: Bools,
) -> None:
    """S of the balls ``begin:end``, and whether their Laplacians are not positive definite."""
    n, order = coordinates.shape
    stamp, queue = np.full(n, -1, dtype=np.int64), np.empty(n, dtype=np.int64)
    place, first, start = np.empty_like(queue), np.empty_like(queue), np.empty_like(queue)
    distance = np.zeros_like(queue)
    envelope = np.empty(64)
    rows = np.empty((16, order))
    for i in range(begin, end):
        # The ball and the factor of its Laplacian.
        count = gather_ball(arrays[0], arrays[1], centres[i], hops, stamp, i, queue)
        envelope, failed[i] = factor_laplacian(
            arrays, queue, count, stamp, i, place, eta, first, start, envelope
        )
        # The features of its nodes, in the order of the factor's rows.
        if count > len(rows):
            rows = np.empty((2 * count, order))
        if discount:
            hop_counts(arrays[0], arrays[1], queue, count, stamp, i, distance)
        for q in range(count):
            share = 1.0 / (distance[queue[q]] + 1)  # without the discount, distances are 0
            for k in range(order):
                rows[count - 1 - q, k] = share * coordinates[queue[q], k]
        # With X = R⁻¹U, S = XᵀX + γI.
        _whiten(rows, count, first, start, envelope)
        _packed_gram(rows, count, gamma, packed[i])


@njit(nogil=True, cache=True)
def _graph_tile(
    arrays: tuple[Ints, Ints, Floats],
    offsets: Ints,
    coordinates: Floats,
    eta: float,
    gamma: float,
    begin: int,
    end: int,
    packed: Floats,
    failed: Bools,
) -> None:
    """S of the graphs ``begin:end``, as `_ball_tile` does for balls."""
    n, order = coordinates.shape
    stamp, queue = np.full(n, -1, dtype=np.int64), np.empty(n, dtype=np.int64)
    place, first, start = np.empty_like(queue), np.empty_like(queue), np.empty_like(queue)
    envelope = np.empty(64)
    for g in range(begin, end):
        # The factor of the Laplacian, the features in the order of its rows, the covariance.
        count = gather_graph(arrays[0], arrays[1], offsets[g], offsets[g + 1], stamp, g, queue)
        envelope, failed[g] = factor_laplacian(
            arrays, queue, count, stamp, g, place, eta, first, start, envelope
        )
        rows = np.empty((count, order))
        for q in range(count):
            for k in range(order):
                rows[count - 1 - q, k] = coordinates[queue[q], k]
        _whiten(rows, count, first, start, envelope)
        _packed_gram(rows, count, gamma, packed[g])


@njit(nogil=True, cache=True)
def _label_tile(
    arrays: tuple[Ints, Ints, Floats],
    offsets: Ints,
    places: Ints,
    orders: Ints,
    starts: Ints,
    eta: float,
    gamma: float,
    begin: int,
    end: int,
    values: Floats,
    failed: Bools,
) -> None:
    """S of the graphs ``begin:end`` for one-hot labels, as `_ball_tile` does for balls."""
    n = len(places)
    stamp, queue = np.full(n, -1, dtype=np.int64), np.empty(n, dtype=np.int64)
    place, first, start = np.empty_like(queue), np.empty_like(queue), np.empty_like(queue)
    envelope = np.empty(64)
    for g in range(begin, end):
        # The factor of the Laplacian, one-hot rows in the order of its rows, the covariance.
        count = gather_graph(arrays[0], arrays[1], offsets[g], offsets[g + 1], stamp, g, queue)
        envelope, failed[g] = factor_laplacian(
            arrays, queue, count, stamp, g, place, eta, first, start, envelope
        )
        rows = np.zeros((count, orders[g]))
        for q in range(count):
            rows[count - 1 - q, places[queue[q]]] = 1.0
        _whiten(rows, count, first, start, envelope)
        _packed_gram(rows, count, gamma, values[starts[g] : starts[g + 1]])


@inner
def factor_laplacian(
    arrays: tuple[Ints, Ints, Floats],
    queue: Ints,
    count: int,
    stamp: Ints,
    tag: int,
    place: Ints,
    eta: float,
    first: Ints,
    start: Ints,
    envelope: Floats,
) -> tuple[Floats, bool]:
    """Factor L of the subgraph on the nodes ``queue[:count]``, which have the stamp ``tag``.

    Row i belongs to the node ``queue[count - 1 - i]``; entry (i, j) of the factor, for
    ``first[i] <= j <= i``, is ``envelope[start[i] + j]``. Returns the envelope, a larger array if
    needed, and whether the factorisation failed (the numbers are finite even then).
    """
    indptr, indices, weights = arrays
    # The first column of each row, and where the rows are stored.
    for q in range(count):
        place[queue[q]] = count - 1 - q
    total = 0
    for i in range(count):
        node = queue[count - 1 - i]
        first[i] = i
        for arc in range(indptr[node], indptr[node + 1]):
            if stamp[indices[arc]] == tag:
                first[i] = min(first[i], place[indices[arc]])
        start[i] = total - first[i]
        total += i - first[i] + 1
    if total > len(envelope):
        envelope = np.empty(2 * total)
    envelope[:total] = 0.0
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
    return envelope, _factor_envelope(count, first, start, envelope)


@inner
def _factor_envelope(count: int, first: Ints, start: Ints, envelope: Floats) -> bool:
    """Cholesky factorisation in place; whether a pivot was not positive and replaced by 1."""
    failed = False
    for i in range(count):
        for j in range(first[i], i):
            common = max(first[i], first[j])
            value = envelope[start[i] + j] - dot(
                envelope, start[i] + common, start[j] + common, j - common
            )
            envelope[start[i] + j] = value / envelope[start[j] + j]
        row = start[i] + first[i]
        degree = envelope[start[i] + i]
        pivot = degree - dot(envelope, row, row, i - first[i])
        if not pivot > _LOST * abs(degree):
            failed = True
            pivot = 1.0
        envelope[start[i] + i] = np.sqrt(pivot)
    return failed


@inner
def dot(values: Floats, left: int, right: int, length: int) -> float:
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


@inner
def _whiten(rows: Floats, count: int, first: Ints, start: Ints, envelope: Floats) -> None:
    """Solve R X = rows for the factor R, in place."""
    order = rows.shape[1]
    for i in range(count):
        for j in range(first[i], i):
            value = envelope[start[i] + j]
            if value != 0.0:
                for k in range(order):
                    rows[i, k] -= value * rows[j, k]
        inverse = 1.0 / envelope[start[i] + i]
        for k in range(order):
            rows[i, k] *= inverse


@inner
def _packed_gram(rows: Floats, count: int, gamma: float, packed: Floats) -> None:
    """The lower triangle of XᵀX + γI."""
    order = rows.shape[1]
    packed[:] = 0.0
    for i in range(count):
        e = 0
        for a in range(order):
            value = rows[i, a]
            for b in range(a + 1):
                packed[e + b] += value * rows[i, b]
            e += a + 1
    for a in range(order):
        packed[a * (a + 1) // 2 + a] += gamma
