"""Neighbourhood subgraph pairwise distance kernel: pairs of balls at a distance.

The engine finds balls and pairs; here they are columns in blocks by radius and distance.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from gramlet.common.arrays import Array, Floats, Ints
from gramlet.common.parameters import Interval
from gramlet.common.stored_state import (
    require,
    require_array,
    require_counts,
    require_instance,
    require_integer,
)
from gramlet.engine.core.signature_table import SignatureTable
from gramlet.engine.core.tiles import QUIET, Tiling
from gramlet.engine.counts.column_groups import group_columns, squares_by_group
from gramlet.engine.counts.several_counts import compare_several, compare_several_self, quotients
from gramlet.engine.laplacian.balls import ball_sizes
from gramlet.engine.neighbourhoods.ball_pairs import ball_identities, count_ball_pairs
from gramlet.graphs.batch import GraphBatch
from gramlet.kernels.contract.count_kernel import ExplicitFeatures
from gramlet.kernels.contract.kernel import COMMON_CONSTRAINTS, GraphKernel
from gramlet.kernels.contract.labels import LABEL_CHOICE, EdgeLabels, NodeLabels
from gramlet.kernels.contract.parameter_texts import shared_texts
from gramlet.kernels.contract.profile import CountProfile, Profile
from gramlet.kernels.contract.tags import GraphTags, used

# Every radius has its own columns and takes a pass over all balls.
MAX_RADIUS = 100
_LONGEST_TEXT = 120  # the text of a ball is truncated to this length


@shared_texts
class NSPDK(ExplicitFeatures, GraphKernel):
    """Neighbourhood subgraph pairwise distance kernel.

    The r-ball of a node is the subgraph induced by the nodes within r hops, rooted at the node. For
    each radius r and distance d, κ_{r,d} is the dot product of counts of unordered pairs of nodes
    at hop distance exactly d (a node with itself for d = 0), by the unordered pair of their
    r-balls; k = Σ_{r,d} κ_{r,d}(G,G') / √(κ_{r,d}(G,G) κ_{r,d}(G',G')).

    Balls are distinguished by their labels, their edges and all distances inside them, without
    collisions. Cost: O(b m_b) for a ball of b nodes and m_b edges, one ball per node and radius,
    and one feature per pair of nodes within ``distance`` hops; then a sparse product per block. A
    hub with d neighbours takes O(d³), as the 2-ball of each neighbour contains all of them.
    Positive semi-definite.

    Parameters
    ----------
    radius : int, default 2
        The largest radius of balls, up to 100.
    distance : int, default 5
        The largest hop distance of a pair.
    normalize_levels : bool, default True
        Normalise every κ_{r,d}; if a norm is 0, the entry is 0. False: the plain sum.
    %(use_edge_labels)s
    %(normalize)s
    %(n_jobs)s
    %(verbose)s

    References
    ----------
    Costa, De Grave (2010), Fast neighborhood subgraph pairwise distance kernel.

    Examples
    --------
    >>> from gramlet import NSPDK
    >>> graphs = [([(0, 1), (1, 2)], ["C", "O", "C"]), ([(0, 1)], ["C", "O"])]
    >>> kernel = NSPDK(radius=0, distance=1, normalize_levels=False)
    >>> kernel.fit_transform(graphs)
    array([[9., 5.],
           [5., 3.]])
    >>> kernel.get_feature_names_out().tolist()
    ['r0 d0: C', 'r0 d1: C - O', 'r0 d0: O']
    """

    counter_: BallPairCounter
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "radius": [Interval(Integral, 0, None, closed="left")],
        "distance": [Interval(Integral, 0, None, closed="left")],
        "normalize_levels": ["boolean"],
        "use_edge_labels": LABEL_CHOICE,
        **COMMON_CONSTRAINTS,
    }

    def __init__(
        self,
        radius: int = 2,
        distance: int = 5,
        *,
        normalize_levels: bool = True,
        use_edge_labels: bool | str = "auto",
        normalize: bool = False,
        n_jobs: int | None = None,
        verbose: int | bool = False,
    ) -> None:
        self.radius = radius
        self.distance = distance
        self.normalize_levels = normalize_levels
        self.use_edge_labels = use_edge_labels
        self.normalize = normalize
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _check(self, batch: GraphBatch) -> None:
        if self.radius > MAX_RADIUS:
            raise ValueError(
                f"NSPDK: radius is {self.radius}, but every radius adds its own features, and "
                f"larger balls mostly contain whole graphs. Use a radius up to {MAX_RADIUS}."
            )

    def _expected_seconds(self, batch: GraphBatch, graph: int) -> float:
        # All pairs of nodes of every ball.
        nodes = np.arange(*batch.node_offsets[graph : graph + 2])
        return 2e-8 * float((ball_sizes(batch, nodes, int(self.radius)).astype(float) ** 2).sum())

    def _fit(self, batch: GraphBatch, y: Any, tiling: Tiling) -> Any:
        self.counter_ = BallPairCounter(int(self.radius), int(self.distance), self.use_edge_labels)
        counts = self.counter_.fit(batch, tiling)
        if not self.normalize_levels:
            return CountProfile(counts, "dot", int(counts.shape[1]))
        return BlockProfile.of(counts, self.counter_.blocks(), int(counts.shape[1]))

    def _profile(self, batch: GraphBatch, tiling: Tiling) -> Any:
        fitted: Any = self.profile_
        counts, blocks = self.counter_.count_blocks(batch, tiling)
        if isinstance(fitted, CountProfile):
            return CountProfile(counts, "dot", fitted.n_known)
        return BlockProfile.of(counts, blocks, fitted.n_known)

    def _validate_fitted(self) -> None:
        profile: Any = self.profile_
        require_instance("counter_", self.counter_, BallPairCounter)
        kind = BlockProfile if self.normalize_levels else CountProfile
        require_instance("profile_", profile, kind)
        known = (profile.n_known, profile.counts.shape[1])
        n_features = self.counter_.n_features
        require(known == (n_features, n_features), "counter_ has a different number of features")
        if isinstance(profile, BlockProfile):
            same = np.array_equal(profile.blocks[profile.block_of], self.counter_.blocks())
            require(same, "blocks must be those of the features")

    def __graph_tags__(self) -> GraphTags:
        uses = used(node_labels=True, edge_labels=self.use_edge_labels)
        return GraphTags(features=True, uses=uses)


class BallPairCounter:
    """Counts pairs of nodes by radius, distance and the identities of their balls."""

    def __init__(self, radius: int, distance: int, use_edge_labels: bool | str) -> None:
        self.radius = radius
        self.distance = distance
        self.use_edge_labels = use_edge_labels

    def fit(self, batch: GraphBatch, tiling: Tiling) -> sparse.csr_matrix:
        """Learn the features of these graphs and count them, one row per graph."""
        self.labels, self.edge_labels = NodeLabels(), EdgeLabels(self.use_edge_labels)
        codes, edges = self.labels.fit(batch), self.edge_labels.fit(batch)
        self.balls: list[tuple[SignatureTable, SignatureTable]] = []  # of nodes and of balls
        identities = np.empty((self.radius + 1, batch.n_nodes_total), np.int64)
        for r in range(self.radius + 1):
            tables, identities[r] = ball_identities(batch, codes, edges, r, tiling=tiling)
            self.balls.append(tables)
        self.types, _, counts = count_ball_pairs(batch, identities, self.distance, tiling=tiling)
        return counts

    def count(self, batch: GraphBatch, tiling: Tiling) -> sparse.csr_matrix:
        """Count features of new graphs; columns after the fitted ones are unseen features."""
        return self.count_blocks(batch, tiling)[0]

    def count_blocks(self, batch: GraphBatch, tiling: Tiling) -> tuple[sparse.csr_matrix, Ints]:
        """Count features of new graphs; also returns the block of every column, seen or unseen."""
        codes, edges = self.labels.encode(batch), self.edge_labels.encode(batch)
        identities = np.empty((self.radius + 1, batch.n_nodes_total), np.int64)
        for r, tables in enumerate(self.balls):
            _, identities[r] = ball_identities(batch, codes, edges, r, tables, tiling=tiling)
        _, (_, unseen), counts = count_ball_pairs(
            batch, identities, self.distance, self.types, tiling=tiling
        )
        return counts, np.concatenate([self.blocks(), self._blocks_of(unseen)])

    def blocks(self) -> Ints:
        """The block, a number made of radius and distance, of every fitted feature."""
        return self._blocks_of(self.types.data)

    @staticmethod
    def _blocks_of(signatures: Ints) -> Ints:
        rows = signatures.reshape(-1, 4)
        # Distances are below 2³²: they are less than the number of nodes.
        return (rows[:, 0] << 32) + rows[:, 1]

    def names(self) -> list[str]:
        """A readable name per fitted feature: ``r1 d2: C(O)#3 - O(C)#0``."""
        texts = [self._ball_texts(r) for r in range(self.radius + 1)]
        return [
            f"r{r} d{d}: {texts[r][a]}" + (f" - {texts[r][b]}" if d else "")
            for r, d, a, b in self.types.data.reshape(-1, 4).tolist()
        ]

    def _ball_texts(self, radius: int) -> list[str]:
        """A text per ball: the label of its root, the labels hop by hop, and its number."""
        labels = self.labels.names()
        names, balls = self.balls[radius]
        heads = names.data[np.add.outer(names.offsets[:-1], [0, 1])].tolist()
        if radius == 0:
            # The ball is only its root, which its label identifies.
            return [labels[heads[balls.signature(i)[1]][1]] for i in range(len(balls))]
        texts = []
        for ball in range(len(balls)):
            n_names, *entries = balls.signature(ball).tolist()
            shells = [Counter[str]() for _ in range(radius + 1)]
            for name, count in zip(entries[: 2 * n_names : 2], entries[1::2], strict=False):
                hops, label = heads[name]
                shells[hops][labels[label]] += count
            root, *around = (",".join(sorted(shell.elements())) for shell in shells if shell)
            text = f"{root}({';'.join(around)})"
            text = text if len(text) <= _LONGEST_TEXT else f"{text[:_LONGEST_TEXT]}…"
            texts.append(f"{text}#{ball}")
        return texts

    def validate(self) -> None:
        """Raise ValueError if the fitted state does not fit together."""
        require_integer("radius", self.radius, 0)
        require_integer("distance", self.distance, 0)
        require_instance("labels", self.labels, NodeLabels)
        require_instance("edge_labels", self.edge_labels, EdgeLabels)
        require(len(self.balls) == self.radius + 1, "there must be two tables per radius")
        for pair in self.balls:
            require(isinstance(pair, tuple) and len(pair) == 2, "there must be two tables")
            for table in pair:
                require_instance("a table", table, SignatureTable)
        require_instance("types", self.types, SignatureTable)
        self.types.validate(width=4)

    @property
    def n_features(self) -> int:
        """The number of fitted features."""
        return len(self.types)


@dataclass(frozen=True)
class BlockProfile(Profile):
    """Counts compared by the sum over blocks of normalised dot products.

    Attributes
    ----------
    counts : csr_matrix of float64, one row per graph
    blocks : array of int64
        The blocks that have columns, ascending.
    block_of : array of unsigned integers
        For each column, the position of its block in ``blocks``.
    n_known : int
        Columns from here on are features not seen in `fit`: they are part of a graph's own norms
        and match no fitted graph.
    """

    counts: sparse.csr_matrix
    blocks: Ints
    block_of: Array
    n_known: int

    @classmethod
    def of(cls, counts: sparse.csr_matrix, column_blocks: Ints, n_known: int) -> BlockProfile:
        """A profile from the block of each column."""
        blocks = np.unique(column_blocks)
        block_of = np.searchsorted(blocks, column_blocks).astype(_smallest_type(len(blocks)))
        return cls(counts, blocks, block_of, n_known)

    def __len__(self) -> int:
        return int(self.counts.shape[0])

    def take(self, rows: Ints) -> BlockProfile:
        return BlockProfile(self.counts[rows], self.blocks, self.block_of, self.n_known)

    def compare(self, other: BlockProfile, tiling: Tiling = QUIET) -> Floats:
        shared = min(self.n_known, other.n_known)
        groups, pairs = group_columns(self.block_of[:shared], self.counts, other.counts)
        theirs = np.searchsorted(other.blocks, self.blocks[groups])
        divided = quotients(_lines(self._squares(), groups), _lines(other._squares(), theirs))
        return compare_several(pairs, (len(self), len(other)), "dot", divided, tiling=tiling)

    def compare_self(self, tiling: Tiling = QUIET) -> Floats:
        groups, parts = group_columns(self.block_of, self.counts)
        squares = self._squares()
        lines, diagonal = _lines(squares, groups), _n_blocks(squares)
        matrices = [part for (part,) in parts]
        divided = quotients(lines, lines)
        return compare_several_self(matrices, diagonal, "dot", divided, tiling=tiling)

    def norms(self, tiling: Tiling = QUIET) -> Floats:
        """The number of blocks in which a graph has a feature: each adds 1."""
        return _n_blocks(self._squares())

    def features(self) -> sparse.csr_matrix:
        """The columns of the fitted features, each block divided by the graph's own norm."""
        known = self.counts[:, : self.n_known].tocsr()
        rows = np.repeat(np.arange(len(self)), np.diff(known.indptr))
        known.data /= np.sqrt(self._squares())[rows, self.block_of[known.indices]]
        return known

    def _squares(self) -> Floats:
        """κ(G, G) of every graph and block, with unseen features."""
        return squares_by_group(self.counts, self.block_of, len(self.blocks))

    def validate(self) -> None:
        require_counts("counts", self.counts)
        require_array("blocks", self.blocks, "int64", (None,), least=0)
        require(bool((np.diff(self.blocks) > 0).all()), "blocks must be ascending")
        n_columns, n_blocks = self.counts.shape[1], len(self.blocks)
        kind = _smallest_type(n_blocks)
        require_array("block_of", self.block_of, kind, (n_columns,), most=n_blocks - 1)
        require_integer("n_known", self.n_known, 0, n_columns)


def _smallest_type(n_blocks: int) -> str:
    """The smallest type for positions: workers of a cluster get one of each column."""
    return str(np.min_scalar_type(n_blocks))


def _lines(squares: Floats, groups: Ints) -> Floats:
    """One line of the graphs' squares per block."""
    return np.ascontiguousarray(squares[:, groups].T)


def _n_blocks(squares: Floats) -> Floats:
    return (squares > 0).sum(axis=1).astype(np.float64)
