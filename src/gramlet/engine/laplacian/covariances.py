"""Regularised Laplacians of balls and graphs, and the covariances U L⁻¹ Uᵀ + γI of vertex features.

The Cholesky factor of L = D − A + ηI is computed within its envelope, in reversed breadth-first
order: there is little fill-in for sparse graphs and none for trees. One compiled loop handles all
balls of a batch, or all graphs. Covariances of one order are compared in `bhattacharyya`, those on
coordinates of their own in `supports`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from gramlet.common.arrays import Array, Bools, Floats, Ints
from gramlet.engine.core.compiled import njit
from gramlet.engine.core.ragged import offsets_of
from gramlet.engine.core.stacked_matrices import adjacency_stack, for_eigensystems
from gramlet.engine.core.tiles import QUIET, Tiling, for_tiles
from gramlet.engine.laplacian.balls import gather_ball, gather_graph, hop_counts
from gramlet.graphs.batch import GraphBatch
from gramlet.graphs.columns import frozen

# A pivot below this share of the diagonal is a rounding error.
_LOST = 64 * np.finfo(np.float64).eps
# Eigenvalues not above this share of the largest count as 0.
_DROPPED = 1e-4
# An eigenvalue that is further below 0 than this share of the largest is not a rounding error.
_NEGATIVE = 1e-9
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
    orders = np.full(len(centres), order)
    work = _Pieces(batch, centres, centres, hops, discount, orders, coordinates, eta, gamma)
    for_tiles(work.run, len(centres), tiling=tiling)
    values = work.finish(batch.graph_of_node[centres])
    return values.reshape(len(centres), order * (order + 1) // 2)


def graph_covariances(
    batch: GraphBatch, coordinates: Floats, eta: float, gamma: float, tiling: Tiling = QUIET
) -> Floats:
    """S of every graph, as packed lower triangles; γI for a graph without nodes."""
    order = coordinates.shape[1]
    values = _of_graphs(batch, np.full(len(batch), order), coordinates, eta, gamma, tiling)
    return values.reshape(len(batch), order * (order + 1) // 2)


def label_covariances(
    batch: GraphBatch, codes: Ints, eta: float, gamma: float, tiling: Tiling = QUIET
) -> tuple[Ints, Ints, Ints, Floats]:
    """S of every graph for one-hot labels, restricted to the labels that occur in it.

    Returns
    -------
    offsets, present, starts, values
        Graph i has the codes ``present[offsets[i]:offsets[i + 1]]``, ascending, and the packed
        lower triangle ``values[starts[i]:starts[i + 1]]``.
    """
    n_codes = int(codes.max()) + 1 if len(codes) else 1
    keys, places = np.unique(batch.graph_of_node * n_codes + codes, return_inverse=True)
    orders = np.bincount(keys // n_codes, minlength=len(batch))
    offsets = offsets_of(orders)
    places = places.reshape(-1) - offsets[batch.graph_of_node]
    values = _of_graphs(batch, orders, places, eta, gamma, tiling)
    return offsets, keys % n_codes, offsets_of(orders * (orders + 1) // 2), values


def _of_graphs(
    batch: GraphBatch, orders: Ints, features: Array, eta: float, gamma: float, tiling: Tiling
) -> Floats:
    """S of every graph, packed, one after the other; features as for `_Pieces`."""
    firsts, ends = batch.node_offsets[:-1], batch.node_offsets[1:]
    work = _Pieces(batch, firsts, ends, -1, False, orders, features, eta, gamma)
    n_tiles = min(128, 1 + batch.n_nodes_total // _TILE_NODES)
    for_tiles(
        work.run, len(batch), costs=batch.sizes.astype(np.float64), n_tiles=n_tiles, tiling=tiling
    )
    return work.finish(np.arange(len(batch)))


class _Pieces:
    """Balls or whole graphs, whose covariances are written to one array.

    The compiled loop works in arrays that are created here, one set per thread, and used again for
    the next tile: ``stamp``, ``queue``, ``place``, ``first`` and ``start``, with one entry per
    node, and for one ball or graph ``envelope``, the factor, and ``rows``, the features.

    Parameters
    ----------
    firsts, ends : arrays
        The centre of each ball, or the first node of each graph and the one after its last.
    hops : int
        The radius of the balls; -1 for whole graphs.
    orders : array
        The number of features of each piece.
    features : array
        One row per node, or the column of the only 1 in the row.
    """

    def __init__(
        self,
        batch: GraphBatch,
        firsts: Ints,
        ends: Ints,
        hops: int,
        discount: bool,
        orders: Ints,
        features: Array,
        eta: float,
        gamma: float,
    ) -> None:
        starts = offsets_of(orders * (orders + 1) // 2)
        one_hot = features.ndim == 1
        coordinates = np.zeros((0, 0)) if one_hot else features
        columns = features if one_hot else np.zeros(0, dtype=np.int64)
        self._n_nodes, self._width = batch.n_nodes_total, int(orders.max(initial=0))
        self._eta = eta
        self._values = np.empty(starts[-1])
        self._failed = np.zeros(len(firsts), dtype=np.bool_)
        self._arrays = (
            *(batch.indptr, batch.indices, arc_weights(batch)),
            *(np.ascontiguousarray(firsts), np.ascontiguousarray(ends), hops, discount),
            *(coordinates, columns, orders, starts, eta, gamma),
        )
        self._spare: list[tuple[Any, ...]] = []

    def run(self, begin: int, end: int) -> None:
        """Run the loop; where arrays are too small, it starts again with larger ones."""
        space = self._spare.pop() if self._spare else self._space(_MOST_NODES)
        while True:
            begin = _write_pieces(*self._arrays, begin, end, *space, self._values, self._failed)
            if begin == end:
                break
            space = self._space(2 * len(space[-1]))
        self._spare.append(space)

    def _space(self, most: int) -> tuple[Any, ...]:
        """The arrays to work in, with room for the features of this many nodes."""
        stamp = np.full(self._n_nodes, -1, dtype=np.int64)
        of_nodes = np.empty((4, self._n_nodes), dtype=np.int64)
        # Factors of larger graphs are sparser, or the arrays are enlarged once more.
        return (stamp, *of_nodes, np.empty(_MOST_NODES * most), np.empty((most, self._width)))

    def finish(self, graphs: Ints) -> Floats:
        """The covariances; ``graphs`` are those that the pieces are in."""
        refuse_indefinite(graphs, self._failed, self._eta)
        return self._values


def refuse_indefinite(graphs: Ints, failed: Bools, eta: float) -> None:
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


def half_inverses(batch: GraphBatch, tiling: Tiling = QUIET) -> list[Floats]:
    """H with HᵀH = (D − A)⁺ of every graph.

    D − A = V diag(λ) Vᵀ always has the eigenvalue 0; eigenvalues that are not above a share of the
    largest are dropped, the others are inverted.
    """
    roots = [np.zeros((0, 0))] * len(batch)

    def write(graphs: Ints, halves: Floats) -> None:
        for graph, half in zip(graphs, halves, strict=True):
            roots[graph] = half

    _decompose(batch, write, tiling)
    return roots


def pseudo_inverse_covariances(
    batch: GraphBatch, coordinates: Floats, gamma: float, tiling: Tiling = QUIET
) -> Floats:
    """S = U (D − A)⁺ Uᵀ + γI of every graph, as packed lower triangles.

    S is γI for a graph without edges. The rows of ``coordinates``, one per node, are the columns
    of U.
    """
    order = coordinates.shape[1]
    triangle = np.tril_indices(order)
    packed = np.tile(gamma * np.eye(order)[triangle], (len(batch), 1))

    def write(graphs: Ints, halves: Floats) -> None:
        nodes = batch.node_offsets[graphs][:, None] + np.arange(halves.shape[1])
        moved = halves @ coordinates[nodes]
        squares = moved.transpose(0, 2, 1) @ moved
        packed[graphs] += squares[:, triangle[0], triangle[1]]

    _decompose(batch, write, tiling)
    return packed


def _decompose(batch: GraphBatch, write: Callable[[Ints, Floats], None], tiling: Tiling) -> None:
    """Call ``write`` with graphs of one size and their H, (graphs, size, size)."""
    indefinite = np.zeros(len(batch), dtype=bool)

    def halve(graphs: Ints, solved: tuple[Floats, Floats]) -> None:
        values, vectors = solved
        largest = np.abs(values).max(axis=1, keepdims=True)
        indefinite[graphs] = values[:, 0] < -_NEGATIVE * largest[:, 0]
        kept = values > _DROPPED * largest
        roots = np.where(kept, 1.0 / np.sqrt(np.where(kept, values, 1.0)), 0.0)
        write(graphs, roots[:, :, None] * vectors.transpose(0, 2, 1))

    for_eigensystems(batch.sizes, laplacian_stacks(batch), halve, tiling=tiling)
    if indefinite.any():
        raise ValueError(
            f"Graph {int(indefinite.argmax())}: D − A has negative eigenvalues, because edge "
            "weights are negative. Use weights of at least 0."
        )


# The compiled loops


@njit(nogil=True, cache=True)
def _write_pieces(
    indptr: Ints,
    indices: Ints,
    weights: Floats,
    firsts: Ints,
    ends: Ints,
    hops: int,
    discount: bool,
    coordinates: Floats,
    columns: Ints,
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
    """S of the balls or graphs ``begin:end``, and whether a Laplacian is not positive definite.

    Returns the piece for which the envelope or the rows are too small, or ``end``.
    """
    for i in range(begin, end):
        # The nodes, and the factor of their Laplacian.
        order = orders[i]
        if hops < 0:
            count = gather_graph(indptr, indices, firsts[i], ends[i], stamp, i, queue)
        else:
            count = gather_ball(indptr, indices, firsts[i], hops, stamp, i, queue)
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
        # Their features, in the order of the factor's rows.
        if discount:
            hop_counts(indptr, indices, queue, count, stamp, i, place)  # places are done with
        for q in range(count):
            row, node = rows[count - 1 - q], queue[q]
            share = 1.0 / (place[node] + 1) if discount else 1.0
            if len(columns) > 0:
                for k in range(order):
                    row[k] = 0.0
                row[columns[node]] = 1.0
            else:
                for k in range(order):
                    row[k] = share * coordinates[node, k]
        _write_covariance(rows, count, order, first, start, envelope, gamma, values, starts[i])
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
