"""Neighbourhood subgraph pairwise distance kernel: pairs of balls at a distance."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar

import numpy as np

from gramlet.common.parameters import Interval
from gramlet.common.stored_state import require, require_instance
from gramlet.engine.core.tiles import Tiling
from gramlet.engine.laplacian.balls import ball_sizes
from gramlet.graphs.batch import GraphBatch
from gramlet.kernels.contract.count_kernel import ExplicitFeatures
from gramlet.kernels.contract.kernel import COMMON_CONSTRAINTS, GraphKernel
from gramlet.kernels.contract.labels import LABEL_CHOICE
from gramlet.kernels.contract.parameter_texts import shared_texts
from gramlet.kernels.contract.profile import CountProfile
from gramlet.kernels.contract.tags import GraphTags, used
from gramlet.kernels.neighbourhoods.ball_pair_counter import BallPairCounter
from gramlet.kernels.neighbourhoods.block_profile import BlockProfile

__all__ = ["MAX_RADIUS", "NSPDK"]

# Every radius has its own columns and takes a pass over all balls.
MAX_RADIUS = 100


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
        normalize_levels: bool = True,
        use_edge_labels: bool | str = "auto",
        *,
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
                f"larger balls mostly contain whole graphs. Use a radius up "
                f"to {MAX_RADIUS}."
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
            same = np.array_equal(profile.blocks[profile.place], self.counter_.blocks())
            require(same, "blocks must be those of the features")

    def __graph_tags__(self) -> GraphTags:
        uses = used(node_labels=True, edge_labels=self.use_edge_labels)
        return GraphTags(features=True, uses=uses)
