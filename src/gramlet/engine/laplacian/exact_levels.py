"""The exact multiscale Laplacian kernel of two graphs, on the space spanned by all their nodes.

Each pair of graphs is computed on its own: at every level the eigenvectors of the Gram matrix of
their nodes give each node coordinates, and each ball a covariance in these coordinates. Rounding
errors do not grow from level to level, because directions that consist only of rounding errors are
dropped. The balls and their Laplacians come from `pieces`. The low-rank form, with few directions
for all graphs, is in `gramlet.kernels.laplacian.low_rank`.
"""

from __future__ import annotations

import numpy as np

from gramlet.common.arrays import Floats
from gramlet.engine.core.compiled import njit
from gramlet.engine.core.ragged import copy_into
from gramlet.engine.core.tiles import QUIET, Tiling, for_tiles, mirror
from gramlet.engine.laplacian.bhattacharyya import LANES, fill_lanes, own_logs, smallest_pivots
from gramlet.engine.laplacian.pieces import Arrays, Pieces

__all__ = ["compare_pieces", "compare_pieces_self"]

# Directions whose eigenvalue is below this share of the largest are rounding errors.
_TOLERANCE = 1e-12
_EPSILON = float(np.finfo(np.float64).eps)


def compare_pieces(
    rows: Pieces, columns: Pieces, by_label: bool, gamma: float, tiling: Tiling = QUIET
) -> Floats:
    """The kernel matrix of two sets of graphs.

    With ``by_label``, level 0 compares codes for equality instead of taking dot products of rows.
    """
    out = np.empty((len(rows), len(columns)))

    def work(begin: int, end: int) -> None:
        _fill(rows.arrays(), columns.arrays(), by_label, gamma, begin, end, False, out)

    for_tiles(work, len(rows), tiling=tiling)
    _refuse_singular(out, gamma)
    return out


def compare_pieces_self(
    graphs: Pieces, by_label: bool, gamma: float, tiling: Tiling = QUIET
) -> Floats:
    """The symmetric kernel matrix of a set of graphs; its diagonal is 1."""
    n = len(graphs)
    out = np.empty((n, n))

    def work(begin: int, end: int) -> None:
        _fill(graphs.arrays(), graphs.arrays(), by_label, gamma, begin, end, True, out)

    for_tiles(work, n, costs=np.arange(n, 0, -1, dtype=np.float64), tiling=tiling)
    mirror(out)
    _refuse_singular(out, gamma)
    np.fill_diagonal(out, 1.0)
    return out


def _refuse_singular(matrix: Floats, gamma: float) -> None:
    bad = np.argwhere(np.isnan(matrix))
    if len(bad):
        raise ValueError(
            f"Graph {bad[0, 0]} and fitted graph {bad[0, 1]}: U L⁻¹ Uᵀ + γI is numerically "
            f"singular: gamma={gamma} is too small compared with the features. Scale the features "
            "down or raise gamma."
        )


# The compiled loops


@njit(nogil=True, cache=True)
def _fill(
    rows: Arrays,
    columns: Arrays,
    by_label: bool,
    gamma: float,
    begin: int,
    end: int,
    triangle: bool,
    out: Floats,
) -> None:
    for g in range(begin, end):
        for h in range(g if triangle else 0, len(columns[0]) - 1):
            out[g, h] = _pair(rows, g, columns, h, by_label, gamma)


@njit(nogil=True, cache=True)
def _pair(rows: Arrays, g: int, columns: Arrays, h: int, by_label: bool, gamma: float) -> float:
    """k of two graphs; NaN if a covariance is singular."""
    n_levels = rows[1].shape[0] - 1
    gram = _base_gram(rows, g, columns, h, by_label)
    for level in range(n_levels + 1):
        coordinates = _coordinates(gram)
        values = _piece_kernel(rows, g, columns, h, level, coordinates, gamma)
        singular = len(values) > 0 and np.isnan(values[0, len(values) - 1])
        if singular or level == n_levels:
            break
        gram = _spread(rows, g, columns, h, level, values)
    return values[0, len(values) - 1]


@njit(nogil=True, cache=True)
def _base_gram(rows: Arrays, g: int, columns: Arrays, h: int, by_label: bool) -> Floats:
    first, second = rows[0][g], columns[0][h]
    n, m = rows[0][g + 1] - first, columns[0][h + 1] - second
    width = max(rows[7].shape[1], columns[7].shape[1])
    features = np.zeros((n + m, width))
    for u in range(n):
        copy_into(rows[7][first + u], features[u])
    for v in range(m):
        copy_into(columns[7][second + v], features[n + v])
    gram = np.zeros((n + m, n + m))
    for u in range(n + m):
        for v in range(u + 1):
            if by_label:
                gram[u, v] = 1.0 if features[u, 0] == features[v, 0] else 0.0
            else:
                for k in range(width):
                    gram[u, v] += features[u, k] * features[v, k]
            gram[v, u] = gram[u, v]
    return gram


@njit(nogil=True, cache=True)
def _coordinates(gram: Floats) -> Floats:
    """Coordinates whose dot products are the Gram matrix, from its eigenvectors."""
    n = len(gram)
    if n == 0:
        return np.zeros((0, 0))
    values, vectors = np.linalg.eigh(gram)
    least = _TOLERANCE * max(values[n - 1], 0.0)
    first = n
    while first > 0 and values[first - 1] > least:
        first -= 1
    rows = np.empty((n, n - first))
    for k in range(first, n):
        root = np.sqrt(values[k])
        for u in range(n):
            rows[u, k - first] = vectors[u, k] * root
    return rows


@njit(nogil=True, cache=True)
def _piece_kernel(
    rows: Arrays,
    g: int,
    columns: Arrays,
    h: int,
    level: int,
    coordinates: Floats,
    gamma: float,
) -> Floats:
    """k between all pieces of the two graphs, above the diagonal; NaN if one is singular."""
    # The covariances of the pieces of both graphs.
    p0, p1 = rows[2][level, g], rows[2][level, g + 1]
    q0, q1 = columns[2][level, h], columns[2][level, h + 1]
    n_pieces, order = p1 - p0 + q1 - q0, coordinates.shape[1]
    entries = order * (order + 1) // 2
    packed = np.zeros((n_pieces, entries))
    multiplied = rows[9] and level == rows[1].shape[0] - 1
    for p in range(p0, p1):
        _covariance(rows, p, rows[0][g], coordinates, gamma, multiplied, packed[p - p0])
    shift = columns[0][h] - (rows[0][g + 1] - rows[0][g])
    for q in range(q0, q1):
        _covariance(columns, q, shift, coordinates, gamma, multiplied, packed[p1 - p0 + q - q0])
    # Stop if one is singular.
    values = np.full((n_pieces, n_pieces), np.nan)
    for smallest in smallest_pivots(packed, order):
        if smallest <= 4.0 * order * _EPSILON:
            return values
    # Compare them in lanes.
    n_blocks = (n_pieces + LANES - 1) // LANES
    lanes = np.empty((n_blocks, entries, LANES))
    for i in range(n_blocks * LANES):
        for e in range(entries):
            lanes[i // LANES, e, i % LANES] = packed[i if i < n_pieces else 0, e]
    quarters = 0.25 * own_logs(lanes, n_pieces, order)
    fill_lanes(packed, quarters, lanes, quarters, order, 0, n_pieces, True, values)
    return values


@njit(nogil=True, cache=True)
def _covariance(
    pieces: Arrays,
    p: int,
    shift: int,
    coordinates: Floats,
    gamma: float,
    multiplied: bool,
    packed: Floats,
) -> None:
    """S of one piece: R X = Q for its root R (X = R Q if ``multiplied``), then XᵀX + γI."""
    # The nodes' coordinates, times their factors.
    first, last = pieces[3][p], pieces[3][p + 1]
    nodes, factors = pieces[4][first:last], pieces[8][first:last]
    size, order = len(nodes), coordinates.shape[1]
    root = pieces[6][pieces[5][p] : pieces[5][p + 1]].reshape(size, size)
    vectors = np.empty((size, order))
    for i in range(size):
        for k in range(order):
            vectors[i, k] = factors[i] * coordinates[nodes[i] - shift, k]
    # X.
    if multiplied:
        vectors = root @ vectors
    else:
        _solve(root, vectors)
    # The lower triangle of XᵀX + γI.
    for i in range(size):
        e = 0
        for a in range(order):
            for b in range(a + 1):
                packed[e + b] += vectors[i, a] * vectors[i, b]
            e += a + 1
    for a in range(order):
        packed[a * (a + 1) // 2 + a] += gamma


@njit(nogil=True, cache=True)
def _solve(root: Floats, vectors: Floats) -> None:
    """Solve R X = vectors for the lower triangle R, in place."""
    size, order = vectors.shape
    for i in range(size):
        for j in range(i):
            for k in range(order):
                vectors[i, k] -= root[i, j] * vectors[j, k]
        for k in range(order):
            vectors[i, k] /= root[i, i]


@njit(nogil=True, cache=True)
def _spread(rows: Arrays, g: int, columns: Arrays, h: int, level: int, values: Floats) -> Floats:
    """The kernel between nodes, which is that between their pieces."""
    first, second = rows[0][g], columns[0][h]
    n, m = rows[0][g + 1] - first, columns[0][h + 1] - second
    of_vertex = np.empty(n + m, np.int64)
    for u in range(n):
        of_vertex[u] = rows[1][level, first + u] - rows[2][level, g]
    after = rows[2][level, g + 1] - rows[2][level, g]
    for v in range(m):
        of_vertex[n + v] = after + columns[1][level, second + v] - columns[2][level, h]
    gram = np.ones((n + m, n + m))
    for u in range(n + m):
        for v in range(n + m):
            p, q = of_vertex[u], of_vertex[v]
            if p != q:
                gram[u, v] = values[min(p, q), max(p, q)]
    return gram
