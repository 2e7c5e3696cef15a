"""Neighbourhood subgraph pairwise distance kernel: pairs of balls at a distance.

The engine finds balls and pairs; here their counts are normalised by radius and distance.
"""

from __future__ import annotations

from collections import Counter
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from gramlet.common.arrays import Ints
from gramlet.common.fields import Choice, Flag, Instance, Integer, ListOf, Tuple, fields
from gramlet.common.parameters import Interval
from gramlet.engine.core.signature_table import SignaturesOf, SignatureTable
from gramlet.engine.core.tiles import Tiling
from gramlet.engine.laplacian.balls import ball_sizes
from gramlet.engine.neighbourhoods.ball_pairs import ball_identities, count_ball_pairs
from gramlet.graphs.batch import GraphBatch
from gramlet.kernels.contract.count_kernel import CountKernel, ExplicitFeatures
from gramlet.kernels.contract.kernel import COMMON_CONSTRAINTS
from gramlet.kernels.contract.labels import LABEL_CHOICE, EdgeLabels, NodeLabels
from gramlet.kernels.contract.normalisation import Normalization
from gramlet.kernels.contract.parameter_texts import shared_texts
from gramlet.kernels.contract.tags import GraphTags, used

# Every radius has its own columns and takes a pass over all balls.
MAX_RADIUS = 100
_LONGEST_TEXT = 120  # the text of a ball is truncated to this length


@shared_texts
class NSPDK(ExplicitFeatures, CountKernel):
    """Neighbourhood subgraph pairwise distance kernel.

    The r-ball of a node is the subgraph induced by the nodes within r hops, rooted at the node. For
    each radius r and distance d, κ_{r,d} is the dot product of counts of unordered pairs of nodes
    at hop distance exactly d (a node with itself for d = 0), by the unordered pair of their
    r-balls; k = Σ_{r,d} κ_{r,d}(G,G') / √(κ_{r,d}(G,G) κ_{r,d}(G',G')).

    Balls are distinguished by their labels, their edges and all distances inside them, without
    collisions. Cost: O(b m_b) for a ball of b nodes and m_b edges, one ball per node and radius,
    and one feature per pair of nodes within ``distance`` hops; then a sparse product. A
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

    stored = fields(counter_=Instance("BallPairCounter"))

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
        normalize: Normalization = False,
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

    def _counter(self) -> BallPairCounter:
        return BallPairCounter(self)

    def __graph_tags__(self) -> GraphTags:
        uses = used(node_labels=True, edge_labels=self.use_edge_labels)
        return GraphTags(features=True, uses=uses)


class BallPairCounter:
    """Counts pairs of nodes by radius, distance and the identities of their balls."""

    stored = fields(
        radius=Integer(),
        distance=Integer(),
        normalize_levels=Flag(),
        use_edge_labels=Choice(True, False, "auto"),
        labels=Instance(NodeLabels),
        edge_labels=Instance(EdgeLabels),
        balls=ListOf(Tuple(Instance(SignatureTable), Instance(SignatureTable)), "radius+1"),
        types=SignaturesOf(4),
    )

    def __init__(self, kernel: NSPDK) -> None:
        self.radius = int(kernel.radius)
        self.distance = int(kernel.distance)
        self.normalize_levels = bool(kernel.normalize_levels)
        self.use_edge_labels = kernel.use_edge_labels

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
        return self._normalized(counts, self.types.data)

    def count(self, batch: GraphBatch, tiling: Tiling) -> sparse.csr_matrix:
        """Count features of new graphs; columns after the fitted ones are unseen features."""
        codes, edges = self.labels.encode(batch), self.edge_labels.encode(batch)
        identities = np.empty((self.radius + 1, batch.n_nodes_total), np.int64)
        for r, tables in enumerate(self.balls):
            _, identities[r] = ball_identities(batch, codes, edges, r, tables, tiling=tiling)
        _, (_, unseen), counts = count_ball_pairs(
            batch, identities, self.distance, self.types, tiling=tiling
        )
        return self._normalized(counts, np.concatenate([self.types.data, unseen]))

    def _normalized(self, counts: sparse.csr_matrix, signatures: Ints) -> sparse.csr_matrix:
        """The counts, those of each graph, radius and distance divided by the root of κ(G, G)."""
        if self.normalize_levels:
            # Distances are below 2³²: they are less than the number of nodes.
            radii, hops = signatures.reshape(-1, 4)[:, :2].T
            levels, level_of = np.unique((radii << 32) + hops, return_inverse=True)
            rows = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
            cells = rows * len(levels) + level_of[counts.indices]
            counts.data /= np.sqrt(np.bincount(cells, counts.data**2))[cells]
        return counts

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

    @property
    def n_features(self) -> int:
        """The number of fitted features."""
        return len(self.types)
