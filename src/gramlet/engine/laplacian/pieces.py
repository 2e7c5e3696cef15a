"""Pieces (balls and whole graphs), each with the root of its Laplacian.

The root turns the vectors of a piece's nodes into its covariance. It is the Cholesky factor R of
D − A + ηI, and R X = vectors is solved, or, for whole graphs whose Laplacian is inverted without η,
a matrix H with HᵀH = (D − A)⁺, by which vectors are multiplied. Pieces are compared in
`exact_levels`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gramlet.common.arrays import Bools, Floats, Ints, Nodes
from gramlet.common.fields import ArrayOf, Offsets, fields
from gramlet.common.stored_state import require
from gramlet.engine.core.compiled import njit
from gramlet.engine.core.ragged import copy_into, taken
from gramlet.engine.core.tiles import QUIET, Tiling, for_tiles
from gramlet.engine.laplacian.balls import ball_centres, ball_sizes, gather_ball, hop_counts
from gramlet.engine.laplacian.covariances import arc_weights
from gramlet.engine.laplacian.kernelised import dense_laplacian, factor_dense
from gramlet.engine.laplacian.pseudo_inverse import half_inverses
from gramlet.graphs.batch import GraphBatch

__all__ = ["Arrays", "Pieces", "piece_bytes"]

Arrays = tuple[Ints, Ints, Ints, Ints, Ints, Ints, Floats, Floats, Floats, bool]


@dataclass(frozen=True)
class Pieces:
    """Subgraphs of the graphs of a batch: the distinct balls of every level, then whole graphs.

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
        The root of its Laplacian is ``roots[starts[p]:starts[p + 1]]``, row by row.
    roots : array of float64
    features : array of float64, shape (n nodes, d)
        The values that level 0 compares: codes of labels in a single column, or rows of numbers.
    factors : array of float64
        The factors of the vectors of ``nodes`` within their piece.
    multiplied : bool
        Whether vectors of whole graphs are multiplied by their root, instead of solved for.
    """

    stored = fields(
        node_offsets=Offsets("graphs", "nodes"),
        features=ArrayOf("float64", "nodes", None),
        nodes=ArrayOf("int64", "entries", below="nodes"),
        offsets=Offsets("pieces", "entries"),
        of_node=ArrayOf("int64", "levels", "nodes", below="pieces"),
        of_graph=ArrayOf("int64", "levels", "graphs+1", below="pieces+1"),
        roots=ArrayOf("float64", "roots"),
        starts=Offsets("pieces", "roots"),
        factors=ArrayOf("float64", "entries"),
    )

    node_offsets: Ints
    of_node: Ints
    of_graph: Ints
    offsets: Ints
    nodes: Ints
    starts: Ints
    roots: Floats
    features: Floats
    factors: Floats
    multiplied: bool

    @classmethod
    def build(
        cls,
        batch: GraphBatch,
        hops: tuple[int, ...],
        features: Floats,
        eta: float,
        discount: bool = False,
        pseudo_inverse: bool = False,
        tiling: Tiling = QUIET,
    ) -> Pieces:
        """All balls of these radii, then the graphs; their Laplacians are factored once.

        With ``discount``, the vectors of a ball are divided by (hops from the centre + 1). With
        ``pseudo_inverse``, Laplacians of whole graphs are inverted without η.
        """
        of_node, of_graph, sizes, nodes, factors, first = [], [], [], [], [], 0
        for reach in hops:
            centres, places = ball_centres(batch, reach, discount, tiling=tiling)
            of_node.append(first + places)
            of_graph.append(first + np.searchsorted(centres, batch.node_offsets))
            sizes.append(ball_sizes(batch, centres, reach))
            members, distances = _ball_nodes(batch, reach, centres, sizes[-1])
            nodes.append(members)
            factors.append(1.0 / (distances + 1) if discount else np.ones(len(members)))
            first += len(centres)
        sizes.append(batch.sizes)
        nodes.append(np.arange(batch.n_nodes_total))
        factors.append(np.ones(batch.n_nodes_total))
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
            np.concatenate(factors),
            pseudo_inverse,
        )
        pieces._factor(batch, first if pseudo_inverse else len(counts), eta, tiling)
        if pseudo_inverse:
            pieces.roots[pieces.starts[first] :] = half_inverses(batch, tiling=tiling)
        return pieces

    def _factor(self, batch: GraphBatch, n: int, eta: float, tiling: Tiling) -> None:
        """Write the Cholesky factors of the first n pieces."""
        failed = np.zeros(n, dtype=np.bool_)
        adjacency = (batch.indptr, batch.indices, arc_weights(batch))

        def work(begin: int, end: int) -> None:
            _factor_pieces(
                adjacency,
                self.offsets,
                self.nodes,
                self.starts,
                self.roots,
                eta,
                begin,
                end,
                failed,
            )

        for_tiles(work, n, tiling=tiling)
        if failed.any():
            node = self.nodes[self.offsets[failed.argmax()]]
            raise ValueError(
                f"Graph {int(batch.graph_of_node[node])}: D − A + ηI is not positive definite with "
                f"eta={eta}. Either edge weights are negative, or eta is too small compared with "
                "the weights. Use weights of at least 0, smaller weights, or a larger eta."
            )

    def arrays(self) -> Arrays:
        """The columns, as the compiled loops take them."""
        return (
            self.node_offsets,
            self.of_node,
            self.of_graph,
            self.offsets,
            self.nodes,
            self.starts,
            self.roots,
            self.features,
            self.factors,
            self.multiplied,
        )

    def __len__(self) -> int:
        return len(self.node_offsets) - 1

    def validate(self) -> None:
        """Raise ValueError if the pieces of graphs and their roots do not fit together."""
        require((np.diff(self.of_graph) >= 0).all(), "of_graph must not decrease")
        sizes, n_pieces = np.diff(self.offsets), len(self.offsets) - 1
        whole = (np.diff(self.starts) == sizes**2).all()
        require(whole, "a root must have n² entries for n nodes")
        within = np.arange(len(self.nodes)) - np.repeat(self.offsets[:-1], sizes)
        diagonal = np.repeat(self.starts[:-1], sizes) + within * (np.repeat(sizes, sizes) + 1)
        # Roots of whole graphs, the last pieces, need not be triangular.
        solved = np.repeat(np.arange(n_pieces), sizes) < (
            self.of_graph[-1, 0] if self.multiplied else n_pieces
        )
        require((self.roots[diagonal[solved]] > 0).all(), "a factor must have a positive diagonal")
        self._check_owners(self.node_offsets, sizes)

    def _check_owners(self, offsets: Ints, sizes: Ints) -> None:
        """Check that pieces are numbered level by level, each in one graph, with no node twice."""
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
        """The graphs at these positions, with their pieces renumbered."""
        node_offsets, nodes = taken(self.node_offsets, rows)
        of_node, of_graph, kept, first = [], [], [], 0
        for level in range(len(self.of_graph)):
            starts, pieces = taken(self.of_graph[level] - self.of_graph[level, 0], rows)
            pieces = pieces + self.of_graph[level, 0]
            # A piece belongs to one graph, so its number shifts with that of the graph.
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
            self.factors[members],
            self.multiplied,
        )


def piece_bytes(
    batch: GraphBatch, hops: tuple[int, ...], discount: bool, tiling: Tiling = QUIET
) -> int:
    """How many bytes the pieces take, plus the workspace for two graphs of the largest size."""
    total = float((batch.sizes.astype(np.float64) ** 2).sum())
    largest = float(batch.sizes.max(initial=0))
    pieces = 2.0 * largest
    for reach in hops:
        centres, _ = ball_centres(batch, reach, discount, tiling=tiling)
        total += float((ball_sizes(batch, centres, reach).astype(np.float64) ** 2).sum())
    # Packed covariances of all balls of a pair, twice, in at most as many coordinates as nodes.
    total += pieces * (2.0 * largest) ** 2 if hops else 0.0
    return int(8 * total)


def _running(sizes: Ints) -> Ints:
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def _ball_nodes(batch: GraphBatch, hops: int, centres: Ints, sizes: Ints) -> tuple[Ints, Ints]:
    """The nodes of the balls, one after the other, and their hops from the centre."""
    offsets = _running(sizes)
    nodes, distances = np.empty(offsets[-1], np.int64), np.empty(offsets[-1], np.int64)
    _write_balls(batch.indptr, batch.indices, hops, centres, offsets, nodes, distances)
    return nodes, distances


@njit(nogil=True, cache=True)
def _write_balls(
    indptr: Ints,
    indices: Nodes,
    hops: int,
    centres: Ints,
    offsets: Ints,
    nodes: Ints,
    distances: Ints,
) -> None:
    stamp = np.full(len(indptr) - 1, -1, dtype=np.int64)
    queue, away = np.empty_like(stamp), np.empty_like(stamp)
    for p in range(len(centres)):
        count = gather_ball(indptr, indices, centres[p], hops, stamp, p, queue)
        hop_counts(indptr, indices, queue, count, stamp, p, away)
        copy_into(queue[:count], nodes[offsets[p] : offsets[p + 1]])
        for q in range(count):
            distances[offsets[p] + q] = away[queue[q]]


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
        copy_into(root.reshape(-1), roots[starts[p] : starts[p + 1]])
