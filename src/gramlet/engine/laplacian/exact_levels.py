"""The multiscale Laplacian kernel of two graphs, exactly: all their vertices span the space.

Two graphs are compared by themselves: at every level the Gram matrix of their vertices gives each
vertex coordinates, by its eigenvectors, and each ball a covariance in these coordinates. Rounding
errors do not grow from level to level, because directions that are nothing else are cut off. The
low-rank form, with few directions for all graphs, is in `gramlet.kernels.laplacian.low_rank`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit

from gramlet.common.arrays import Bools, Floats, Ints
from gramlet.common.stored_state import require, require_array, require_offsets
from gramlet.engine.core.ragged import taken
from gramlet.engine.core.tiles import for_tiles, mirror
from gramlet.engine.laplacian.balls import ball_owners, ball_sizes, gather_ball
from gramlet.engine.laplacian.bhattacharyya import LANES, fill_lanes, own_logs, smallest_pivots
from gramlet.engine.laplacian.covariances import arc_weights
from gramlet.engine.laplacian.kernelised import dense_laplacian, factor_dense
from gramlet.graphs.batch import GraphBatch

__all__ = ["Pieces", "compare_pieces", "compare_pieces_self", "piece_bytes"]

Arrays = tuple[Ints, Ints, Ints, Ints, Ints, Ints, Floats, Floats]

# Directions whose eigenvalue is below this share of the largest are rounding errors.
_TOLERANCE = 1e-12
_EPSILON = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class Pieces:
    """Subgraphs of the graphs of a batch: the distinct balls of every level, then the graphs whole.

    Attributes
    ----------
    node_offsets : array of int64, shape (n graphs + 1,)
    of_node : array of int64, shape (levels + 1, n nodes)
        The piece that belongs to each node at each level.
    of_graph : array of int64, shape (levels + 1, n graphs + 1)
        Graph g has the pieces ``of_graph[l, g]:of_graph[l, g + 1]`` at level l.
    offsets, nodes : arrays of int64
        Piece p has the nodes ``nodes[offsets[p]:offsets[p + 1]]``, numbered over the whole batch.
    starts : array of int64
        The Cholesky factor of its Laplacian is ``roots[starts[p]:starts[p + 1]]``.
    roots : array of float64
    features : array of float64, shape (n nodes, d)
        What level 0 compares: codes of labels in a single column, or rows of numbers.
    """

    node_offsets: Ints
    of_node: Ints
    of_graph: Ints
    offsets: Ints
    nodes: Ints
    starts: Ints
    roots: Floats
    features: Floats

    @classmethod
    def build(
        cls, batch: GraphBatch, hops: tuple[int, ...], features: Floats, eta: float, **tiling: Any
    ) -> Pieces:
        """All balls of these radii; their Laplacians are factored once."""
        of_node, of_graph, sizes, nodes, first = [], [], [], [], 0
        for reach in hops:
            centres, places = _distinct(batch, reach, tiling)
            of_node.append(first + places)
            of_graph.append(first + np.searchsorted(centres, batch.node_offsets))
            sizes.append(ball_sizes(batch, centres, reach))
            nodes.append(_ball_nodes(batch, reach, centres, sizes[-1]))
            first += len(centres)
        sizes.append(batch.sizes)
        nodes.append(np.arange(batch.n_nodes_total))
        of_node.append(first + batch.graph_of_node)
        of_graph.append(first + np.arange(len(batch) + 1))
        counts = np.concatenate(sizes)
        pieces = cls(
            batch.node_offsets,
            np.stack(of_node).astype(np.int64),
            np.stack(of_graph).astype(np.int64),
            _running(counts),
            np.concatenate(nodes).astype(np.int64),
            _running(counts**2),
            np.empty(int((counts**2).sum())),
            np.ascontiguousarray(features, dtype=np.float64),
        )
        pieces._factor(batch, eta, tiling)
        return pieces

    def _factor(self, batch: GraphBatch, eta: float, tiling: dict[str, Any]) -> None:
        failed = np.zeros(len(self.starts) - 1, dtype=np.bool_)
        adjacency = (batch.indptr, batch.indices, arc_weights(batch))

        def work(begin: int, end: int) -> None:
            _factor_pieces(
                adjacency, self.offsets, self.nodes, self.starts, self.roots, eta, begin, end,
                failed,
            )  # fmt: skip

        for_tiles(work, len(failed), **tiling)
        if failed.any():
            node = self.nodes[self.offsets[failed.argmax()]]
            raise ValueError(
                f"Graph {int(batch.graph_of_node[node])}: D − A + ηI is not positive definite with "
                f"eta={eta}. Either edge weights are negative, or eta is lost beside weights as "
                "large as these. Use weights of at least 0, smaller weights, or a larger eta."
            )

    def arrays(self) -> Arrays:
        """The columns, as the compiled loops take them."""
        return (
            self.node_offsets, self.of_node, self.of_graph, self.offsets, self.nodes, self.starts,
            self.roots, self.features,
        )  # fmt: skip

    def __len__(self) -> int:
        return len(self.node_offsets) - 1

    def validate(self) -> None:
        """Raise ValueError if the arrays do not fit together."""
        n_nodes, n_levels = len(self.features), len(self.of_graph)
        require_array("features", self.features, "float64", (None, None))
        offsets = require_offsets("node_offsets", self.node_offsets, end=n_nodes)
        n_pieces = len(self.offsets) - 1
        require_array(
            "of_node", self.of_node, "int64", (n_levels, n_nodes), least=0, most=n_pieces - 1
        )
        require_array(
            "of_graph", self.of_graph, "int64", (n_levels, len(offsets)), least=0, most=n_pieces
        )
        require((np.diff(self.of_graph) >= 0).all(), "of_graph must not fall")
        require_array("nodes", self.nodes, "int64", (None,), least=0, most=n_nodes - 1)
        sizes = np.diff(require_offsets("offsets", self.offsets, end=len(self.nodes)))
        starts = require_offsets("starts", self.starts, n_pieces, len(self.roots))
        require((np.diff(starts) == sizes**2).all(), "a factor is not whole")
        require_array("roots", self.roots, "float64", (None,))
        within = np.arange(len(self.nodes)) - np.repeat(self.offsets[:-1], sizes)
        diagonal = np.repeat(starts[:-1], sizes) + within * (np.repeat(sizes, sizes) + 1)
        require((self.roots[diagonal] > 0).all(), "a factor must have a positive diagonal")
        self._check_owners(offsets, sizes)

    def _check_owners(self, offsets: Ints, sizes: Ints) -> None:
        """Pieces must be counted level after level, each within one graph, no node twice."""
        bounds = self.of_graph[:, [0, -1]].reshape(-1)
        chained = bounds[0] == 0 and (bounds[1:-1:2] == bounds[2::2]).all()
        require(chained and bounds[-1] == len(sizes), "the levels must follow each other")
        graphs = np.arange(len(offsets) - 1)
        of_node = np.repeat(graphs, np.diff(offsets))
        own = (self.of_node >= self.of_graph[:, of_node]) & (
            self.of_node < self.of_graph[:, of_node + 1]
        )
        require(own.all(), "the piece of a node must be one of its graph")
        owners = np.concatenate([np.repeat(graphs, np.diff(level)) for level in self.of_graph])
        pieces = np.repeat(np.arange(len(sizes)), sizes)
        require((of_node[self.nodes] == owners[pieces]).all(), "a piece must lie in one graph")
        ordered = np.lexsort((self.nodes, pieces))
        twice = (np.diff(self.nodes[ordered]) == 0) & (np.diff(pieces[ordered]) == 0)
        require(not twice.any(), "a piece must not have a node twice")

    def take(self, rows: Ints) -> Pieces:
        """The graphs at these positions, with their pieces numbered anew."""
        node_offsets, nodes = taken(self.node_offsets, rows)
        of_node, of_graph, kept, first = [], [], [], 0
        for level in range(len(self.of_graph)):
            starts, pieces = taken(self.of_graph[level] - self.of_graph[level, 0], rows)
            pieces = pieces + self.of_graph[level, 0]
            # A piece is a graph's own: where it now stands follows from where the graph does.
            shift = first + starts[:-1] - self.of_graph[level][:-1][rows]
            of_node.append(self.of_node[level][nodes] + np.repeat(shift, np.diff(node_offsets)))
            of_graph.append(first + starts)
            kept.append(pieces)
            first += len(pieces)
        chosen = np.concatenate(kept) if kept else np.zeros(0, dtype=np.int64)
        offsets, members = taken(self.offsets, chosen)
        factors, entries = taken(self.starts, chosen)
        piece_owner = np.concatenate(
            [np.repeat(np.arange(len(rows)), np.diff(starts)) for starts in of_graph]
        )
        moved = (node_offsets[:-1] - self.node_offsets[:-1][rows])[piece_owner]
        return Pieces(
            node_offsets,
            np.stack(of_node),
            np.stack(of_graph),
            offsets,
            self.nodes[members] + np.repeat(moved, np.diff(offsets)),
            factors,
            self.roots[entries],
            self.features[nodes],
        )


def piece_bytes(batch: GraphBatch, hops: tuple[int, ...], **tiling: Any) -> int:
    """How many bytes the pieces will take, and the work on the two largest graphs."""
    total = float((batch.sizes.astype(np.float64) ** 2).sum())
    largest = float(batch.sizes.max(initial=0))
    pieces = 2.0 * largest
    for reach in hops:
        centres, _ = _distinct(batch, reach, tiling)
        total += float((ball_sizes(batch, centres, reach).astype(np.float64) ** 2).sum())
    # Packed covariances of all balls of a pair, twice, in up to as many coordinates as vertices.
    total += pieces * (2.0 * largest) ** 2 if hops else 0.0
    return int(8 * total)


def _distinct(batch: GraphBatch, hops: int, tiling: dict[str, Any]) -> tuple[Ints, Ints]:
    centres, places = np.unique(ball_owners(batch, hops, **tiling), return_inverse=True)
    return centres, places.reshape(-1)


def _running(sizes: Ints) -> Ints:
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def _ball_nodes(batch: GraphBatch, hops: int, centres: Ints, sizes: Ints) -> Ints:
    offsets = _running(sizes)
    nodes = np.empty(offsets[-1], np.int64)
    _write_balls(batch.indptr, batch.indices, hops, centres, offsets, nodes)
    return nodes


def compare_pieces(
    rows: Pieces, columns: Pieces, by_label: bool, gamma: float, **tiling: Any
) -> Floats:
    """The kernel matrix of two sets of graphs.

    ``by_label``: level 0 is whether two codes are equal, instead of the dot product of rows.
    """
    out = np.empty((len(rows), len(columns)))

    def work(begin: int, end: int) -> None:
        _fill(rows.arrays(), columns.arrays(), by_label, gamma, begin, end, False, out)

    for_tiles(work, len(rows), **tiling)
    _refuse_singular(out, gamma)
    return out


def compare_pieces_self(graphs: Pieces, by_label: bool, gamma: float, **tiling: Any) -> Floats:
    """The symmetric kernel matrix of a set of graphs; its diagonal is 1."""
    n = len(graphs)
    out = np.empty((n, n))

    def work(begin: int, end: int) -> None:
        _fill(graphs.arrays(), graphs.arrays(), by_label, gamma, begin, end, True, out)

    for_tiles(work, n, costs=np.arange(n, 0, -1, dtype=np.float64), **tiling)
    mirror(out)
    _refuse_singular(out, gamma)
    np.fill_diagonal(out, 1.0)
    return out


def _refuse_singular(matrix: Floats, gamma: float) -> None:
    bad = np.argwhere(np.isnan(matrix))
    if len(bad):
        raise ValueError(
            f"Graph {bad[0, 0]} and fitted graph {bad[0, 1]}: U L⁻¹ Uᵀ + γI is singular to the "
            f"precision of numbers: gamma={gamma} is lost beside features as large as these. Scale "
            "the features down or raise gamma."
        )


# The compiled loops


@njit(nogil=True, cache=True)
def _write_balls(
    indptr: Ints, indices: Ints, hops: int, centres: Ints, offsets: Ints, nodes: Ints
) -> None:
    stamp = np.full(len(indptr) - 1, -1, dtype=np.int64)
    queue = np.empty(len(indptr) - 1, dtype=np.int64)
    for p in range(len(centres)):
        count = gather_ball(indptr, indices, centres[p], hops, stamp, p, queue)
        nodes[offsets[p] : offsets[p + 1]] = queue[:count]


@njit(nogil=True, cache=True)
def _factor_pieces(
    adjacency: tuple[Ints, Ints, Floats],
    offsets: Ints,
    nodes: Ints,
    starts: Ints,
    roots: Floats,
    eta: float,
    begin: int,
    end: int,
    failed: Bools,
) -> None:
    local = np.full(len(adjacency[0]) - 1, -1, dtype=np.int64)
    for p in range(begin, end):
        root = dense_laplacian(adjacency, nodes[offsets[p] : offsets[p + 1]], local, eta)
        failed[p] = np.isnan(factor_dense(root))
        roots[starts[p] : starts[p + 1]] = root.reshape(-1)


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
        features[u, : rows[7].shape[1]] = rows[7][first + u]
    for v in range(m):
        features[n + v, : columns[7].shape[1]] = columns[7][second + v]
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
    """Rows whose dot products are the Gram matrix, by its eigenvectors."""
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
    p0, p1 = rows[2][level, g], rows[2][level, g + 1]
    q0, q1 = columns[2][level, h], columns[2][level, h + 1]
    n_pieces, order = p1 - p0 + q1 - q0, coordinates.shape[1]
    entries = order * (order + 1) // 2
    packed = np.zeros((n_pieces, entries))
    for p in range(p0, p1):
        _covariance(rows, p, rows[0][g], coordinates, gamma, packed[p - p0])
    shift = columns[0][h] - (rows[0][g + 1] - rows[0][g])
    for q in range(q0, q1):
        _covariance(columns, q, shift, coordinates, gamma, packed[p1 - p0 + q - q0])
    values = np.full((n_pieces, n_pieces), np.nan)
    for smallest in smallest_pivots(packed, order):
        if smallest <= 4.0 * order * _EPSILON:
            return values
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
    pieces: Arrays, p: int, shift: int, coordinates: Floats, gamma: float, packed: Floats
) -> None:
    """S of one piece: R X = Q for its factor R, then XᵀX + γI."""
    nodes = pieces[4][pieces[3][p] : pieces[3][p + 1]]
    size, order = len(nodes), coordinates.shape[1]
    root = pieces[6][pieces[5][p] : pieces[5][p + 1]].reshape(size, size)
    solved = np.empty((size, order))
    for i in range(size):
        solved[i] = coordinates[nodes[i] - shift]
        for j in range(i):
            for k in range(order):
                solved[i, k] -= root[i, j] * solved[j, k]
        e = 0
        for a in range(order):
            solved[i, a] /= root[i, i]
            for b in range(a + 1):
                packed[e + b] += solved[i, a] * solved[i, b]
            e += a + 1
    for a in range(order):
        packed[a * (a + 1) // 2 + a] += gamma


@njit(nogil=True, cache=True)
def _spread(rows: Arrays, g: int, columns: Arrays, h: int, level: int, values: Floats) -> Floats:
    """The kernel between vertices: that of their pieces."""
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
