"""Node coordinates from eigenvectors, for all graphs of a batch.

Signs of eigenvectors and bases of repeated eigenvalues are arbitrary; the coordinates are not: each
of the r columns of an eigenspace is sqrt(P_ii / r), P the projector on it (|u_i| when r = 1). Small
graphs are solved densely, those of one size together; in large graphs each connected component is
solved by Lanczos iteration and checked for missed eigenvalues.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh

from gramlet.common.arrays import Floats, Ints, Nodes
from gramlet.engine.core.compiled import njit
from gramlet.engine.core.short_sort import stable_order
from gramlet.engine.core.stacked_matrices import adjacency_stack, for_eigensystems
from gramlet.engine.core.tiles import QUIET, Tiling

Order = Literal["algebraic", "magnitude"]

#: Eigenvalues closer than this are one repeated eigenvalue.
GAP = 1e-8
# Graphs up to this size are solved densely; the cost of a dense solution grows with the cube.
_DENSE = 300
# A component up to this size may fall back to a dense solution when an eigenspace is very large.
_DENSE_AT_MOST = 6000


@dataclass(frozen=True)
class Coordinates:
    """Coordinates of all nodes, and the eigenvalues of each graph's columns.

    Attributes
    ----------
    points : array, shape (nodes, n_dims)
        Zero columns where a graph has fewer nodes than dimensions.
    values : array, shape (graphs, n_dims)
        The eigenvalue of each column (0 for zero columns).
    """

    points: Floats
    values: Floats


def laplacian_coordinates(
    node_offsets: Ints, indptr: Ints, indices: Nodes, n_dims: int, tiling: Tiling = QUIET
) -> Coordinates:
    """Coordinates by the smallest eigenvalues of I − D^{-1/2} A D^{-1/2} (0^{-1/2} taken as 0)."""
    degrees = np.diff(indptr).astype(np.float64)
    scale = np.divide(1.0, np.sqrt(degrees), out=np.zeros_like(degrees), where=degrees > 0)
    weights = np.repeat(scale, np.diff(indptr)) * scale[indices]
    # The smallest of I − N are the largest of N, in the same order.
    solved = _coordinates(node_offsets, indptr, indices, weights, n_dims, "algebraic", tiling)
    columns = np.arange(n_dims)[None, :] < np.diff(node_offsets)[:, None]
    return Coordinates(solved.points, np.where(columns, 1.0 - solved.values, 0.0))


def adjacency_coordinates(
    node_offsets: Ints, indptr: Ints, indices: Nodes, n_dims: int, tiling: Tiling = QUIET
) -> Coordinates:
    """Coordinates by the eigenvalues of A of largest magnitude; of equal ones positive first."""
    weights = np.ones(len(indices))
    return _coordinates(node_offsets, indptr, indices, weights, n_dims, "magnitude", tiling)


def _coordinates(
    node_offsets: Ints,
    indptr: Ints,
    indices: Nodes,
    weights: Floats,
    n_dims: int,
    order: Order,
    tiling: Tiling,
) -> Coordinates:
    sizes = np.diff(node_offsets)
    points = np.zeros((int(node_offsets[-1]), n_dims))
    values = np.zeros((len(sizes), n_dims))
    by_magnitude = order == "magnitude"

    def stack_of(graphs: Ints) -> Floats:
        return adjacency_stack(graphs, node_offsets, indptr, indices, weights)

    def place(graphs: Ints, solved: tuple[Floats, Floats]) -> None:
        eigenvalues, vectors = solved
        _place_all(graphs, node_offsets, eigenvalues, vectors**2, by_magnitude, points, values)

    def place_large(graph: int) -> None:
        rows = slice(node_offsets[graph], node_offsets[graph + 1])
        matrix = _sparse_graph(graph, node_offsets, indptr, indices, weights)
        leading, squares = _large_spaces(matrix, n_dims, order, graph)
        _place(leading, squares, by_magnitude, points[rows], values[graph])

    for_eigensystems(sizes, stack_of, place, largest=_DENSE, large=place_large, tiling=tiling)
    return Coordinates(points, values)


@njit(nogil=True, cache=True)
def _place_all(
    graphs: Ints,
    node_offsets: Ints,
    eigenvalues: Floats,
    squares: Floats,
    by_magnitude: bool,
    points: Floats,
    values: Floats,
) -> None:
    for at in range(len(graphs)):
        graph = graphs[at]
        rows = points[node_offsets[graph] : node_offsets[graph + 1]]
        _place(eigenvalues[at], squares[at], by_magnitude, rows, values[graph])


@njit(nogil=True, cache=True)
def _place(
    eigenvalues: Floats, squares: Floats, by_magnitude: bool, points: Floats, values: Floats
) -> None:
    """Fill in coordinates from eigenvalues and squared eigenvectors (columns)."""
    arrangement = _arranged(eigenvalues, by_magnitude)
    n, n_dims = len(eigenvalues), points.shape[1]
    at = 0
    while at < min(n, n_dims):
        # The eigenspace that begins at column `at`: eigenvalues that are equal up to GAP.
        end = at + 1
        total = eigenvalues[arrangement[at]]
        while end < n and (
            abs(eigenvalues[arrangement[end]] - eigenvalues[arrangement[end - 1]]) < GAP
        ):
            total += eigenvalues[arrangement[end]]
            end += 1
        # The diagonal of its projector, spread evenly over its columns.
        size, stop = end - at, min(end, n_dims)
        for row in range(len(points)):
            projector = 0.0
            for j in range(at, end):
                projector += squares[row, arrangement[j]]
            points[row, at:stop] = np.sqrt(projector / size)
        values[at:stop] = total / size
        at = end


@njit(nogil=True, cache=True)
def _arranged(values: Floats, by_magnitude: bool) -> Ints:
    """The order of the columns: descending by value, or by magnitude with positive ties first."""
    if not by_magnitude:
        return stable_order(-values)
    order = stable_order(-np.abs(values))
    at = 0
    while at < len(order):
        end = at + 1
        while end < len(order) and abs(values[order[end - 1]]) - abs(values[order[end]]) < GAP:
            end += 1
        level = order[at:end].copy()
        within = stable_order(-values[level])
        for k in range(len(within)):
            order[at + k] = level[within[k]]
        at = end
    return order


# Large graphs


def _sparse_graph(
    graph: int, node_offsets: Ints, indptr: Ints, indices: Nodes, weights: Floats
) -> sparse.csr_matrix:
    first, last = node_offsets[graph], node_offsets[graph + 1]
    begin, end = indptr[first], indptr[last]
    size = int(last - first)
    return sparse.csr_matrix(
        (weights[begin:end], indices[begin:end] - first, indptr[first : last + 1] - begin),
        shape=(size, size),
    )


def _large_spaces(
    matrix: sparse.csr_matrix, n_dims: int, order: Order, graph: int
) -> tuple[Floats, Floats]:
    """Leading eigenvalues with complete eigenspaces, and squared vectors, from the components."""
    n = matrix.shape[0]
    n_parts, part_of = connected_components(matrix, directed=False)
    by_part = np.argsort(part_of, kind="stable")
    sizes = np.bincount(part_of, minlength=n_parts)
    # Isolated nodes have the eigenvalue 0 and a unit vector each.
    alone = by_part[np.repeat(sizes == 1, sizes)]
    values, rows, columns = [np.zeros(len(alone))], [alone], [np.arange(len(alone))]
    squares, filled = [np.ones(len(alone))], len(alone)
    ends = np.cumsum(sizes)
    for part in np.flatnonzero(sizes > 1):
        members = by_part[ends[part] - sizes[part] : ends[part]]
        block = matrix[members][:, members] if n_parts > 1 else matrix
        eigenvalues, part_squares = _component(block, n_dims, order, graph)
        count = len(eigenvalues)
        values.append(eigenvalues)
        rows.append(np.repeat(members, count))
        columns.append(np.tile(np.arange(filled, filled + count), len(members)))
        squares.append(part_squares.reshape(-1))
        filled += count
    entries = (np.concatenate(squares), (np.concatenate(rows), np.concatenate(columns)))
    table = sparse.csc_matrix(entries, shape=(n, filled))
    return _leading(np.concatenate(values), table, order, n_dims)


def _leading(
    values: Floats, squares: sparse.csc_matrix, order: Order, n_dims: int
) -> tuple[Floats, Floats]:
    """The columns that are needed, as a dense array; each is zero outside its component."""
    keep = _arranged(values, order == "magnitude")
    # Columns after the eigenspace of column n_dims are not needed.
    last = min(n_dims, len(keep)) - 1
    while last + 1 < len(keep) and abs(values[keep[last + 1]] - values[keep[last]]) < GAP:
        last += 1
    keep = keep[: last + 1]
    return values[keep], np.ascontiguousarray(squares[:, keep].toarray())


def _component(
    block: sparse.csr_matrix, n_dims: int, order: Order, graph: int
) -> tuple[Floats, Floats]:
    """Leading eigenvalues of a component with complete eigenspaces, and squared vectors."""
    n = block.shape[0]
    if n <= _DENSE:
        values, vectors = np.linalg.eigh(block.toarray())
        return values, vectors**2
    count = n_dims + 2
    while count < n // 3:
        try:
            values, vectors, complete = _lanczos(block, count, n_dims, order)
        except ArpackError:  # with few distinct eigenvalues the iteration cannot continue
            break
        if complete:
            return values, vectors**2
        count *= 2
    if n > _DENSE_AT_MOST:
        raise ValueError(
            f"Graph {graph} has an eigenvalue repeated so often that its eigenspace cannot be "
            f"found by iteration, and {n} connected nodes are too many for a dense solution "
            f"(at most {_DENSE_AT_MOST}). Lower n_dims."
        )
    values, vectors = np.linalg.eigh(block.toarray())
    return values, vectors**2


def _lanczos(
    block: sparse.csr_matrix, count: int, n_dims: int, order: Order
) -> tuple[Floats, Floats, bool]:
    """At least ``count`` leading eigenpairs, and whether the first ``n_dims`` are known complete.

    Lanczos iteration finds one vector of a repeated eigenvalue at a time. Found vectors are removed
    from the matrix and the rest is searched again, until what is left is clearly after column
    n_dims.
    """
    which = "LA" if order == "algebraic" else "LM"
    n = block.shape[0]
    start = np.random.default_rng(n).normal(size=n)
    values, vectors = eigsh(block, k=count, which=which, v0=start)
    # Found vectors are shifted below the spectrum, or to 0, so that they are not found again.
    below = float(abs(block).sum(axis=1).max()) + 1.0 if order == "algebraic" else 0.0
    while len(values) < 2 * count:
        shift = values + below

        def rest(x: Floats, v: Floats = vectors, s: Floats = shift) -> Floats:
            flat = x.reshape(-1)
            return np.asarray(block @ flat - v @ (s * (v.T @ flat)))

        operator = LinearOperator((n, n), matvec=rest, dtype=np.float64)
        reach = np.sort(np.abs(values) if order == "magnitude" else values)
        # Two at once and to full precision: one alone, or a rough one, may converge to an
        # eigenvalue below a missed one.
        extra, vector = eigsh(operator, 2, which=which, v0=start[::-1].copy())
        left = np.max(np.abs(extra) if order == "magnitude" else extra)
        if left < reach[-n_dims] - GAP:
            return values, vectors, True
        values = np.concatenate([values, extra])
        vectors = np.linalg.qr(np.column_stack([vectors, vector]))[0]
    return values, vectors, False
