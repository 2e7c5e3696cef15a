"""The multiscale Laplacian graph kernel: nested balls, compared level by level."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import check_random_state

from gramlet.common.arrays import Array, Floats
from gramlet.common.fields import Instance, Sometimes, fields
from gramlet.common.parameters import Interval, StrOptions
from gramlet.common.stored_state import require, require_instance
from gramlet.engine.core.tiles import Tiling
from gramlet.engine.laplacian.pieces import Pieces, piece_bytes
from gramlet.graphs.batch import GraphBatch
from gramlet.kernels.contract.columns import checked_weights
from gramlet.kernels.contract.kernel import COMMON_CONSTRAINTS, GraphKernel
from gramlet.kernels.contract.parameter_texts import shared_texts
from gramlet.kernels.contract.tags import GraphTags
from gramlet.kernels.laplacian.covariance_profile import CovarianceProfile, PieceProfile
from gramlet.kernels.laplacian.covariances import of_graphs
from gramlet.kernels.laplacian.landmarks import LandmarkDraw
from gramlet.kernels.laplacian.laplacian import LAPLACIAN_CONSTRAINTS
from gramlet.kernels.laplacian.low_rank import LowRankLevels
from gramlet.kernels.laplacian.vertex_features import (
    FEATURES_CONSTRAINTS,
    VertexFeatures,
    columns_of,
)

__all__ = ["EXACT_BYTES", "MultiscaleLaplacian"]


#: The largest memory of the subgraphs for the exact method.
EXACT_BYTES = 4 << 30


@shared_texts
class MultiscaleLaplacian(GraphKernel):
    """Multiscale Laplacian graph kernel (MLG).

    Level 0 compares two nodes by their features. Level l compares them by the feature-space
    Laplacian kernel (see `FeatureLaplacian`) of the balls around them, of radius
    floor(radius · growth^{l−1}) hops, with level l − 1 as the base kernel between the nodes of the
    balls. Finally, whole graphs are compared by the kernel that the last level induces. The kernel
    thus depends on the surroundings of a node and on its position in the graph. Edge weights are
    used. Positive semi-definite; k(G, G) = 1.

    ``method="lowrank"`` gives each node at each level up to ``rank`` coordinates: its projection
    on the leading eigenvectors of the Gram matrix of ``n_landmarks`` fitted nodes. Cost for P =
    ``rank``, N landmarks, V nodes with balls of b nodes and M graphs: O(L V (N P³ + b P² + fill-in
    of the balls' Laplacians) + M² P³). ``method="exact"`` has no landmarks; it takes O(L V² b³) and
    is meant for small data sets and for checks.

    Parameters
    ----------
    n_levels : int, default 2
        Number of levels of balls (L). With 0 the kernel is that of `FeatureLaplacian`.
    radius : float, default 1
        Radius of the balls of the first level, in hops.
    growth : float or "add", default 2
        The factor between the radii of successive levels; at least 1, so that balls are nested.
        "add": balls of radius·l hops at level l, rounded down.
    eta : float, default 0.1
        Regularises the Laplacians (η); above 0.
    gamma : float, default 0.01
        Softens the overlaps (γ). It must be above 0 unless the features of every ball span the
        whole space; otherwise 0 raises a ValueError that names a graph.
    rank : int, default 10
        Number of coordinates of a node (P), for "lowrank". There are fewer if eigenvalues are below
        1e-12 times the largest, and more only to keep equal eigenvalues together.
    n_landmarks : int, default 200
        Number of nodes drawn from the fitted graphs, for "lowrank"; all if there are fewer.
    method : {"lowrank", "exact"}, default "lowrank"
    vertex_features : {"labels", "degree", "attributes", "heat"} or callable, default "labels"
        The features of level 0, computed on whole graphs; as for `FeatureLaplacian`.
    random_state : int, RandomState or None
        Seed of the draw of landmarks, which happens once, in `fit`.
    heat_times : sequence of float, default (0.1, 1, 10)
        The times of ``vertex_features="heat"``.
    discount : bool, default False
        Divide the features of a node in a ball by (its hops from the centre + 1). Whole graphs
        have no centre and are compared without this factor.
    top : {"regularised", "pseudo-inverse"}, default "regularised"
        "pseudo-inverse": invert the Laplacians of whole graphs without η, dropping eigenvalues of
        D − A not above 1e-4 of the largest; a graph without edges then has S = γI.
    unique_landmarks : bool, default False
        Draw new landmarks at every level, among distinct balls; balls are equal if all entries of
        their S agree up to 1e-9 of the largest. At level 0, draw among distinct features.
    %(normalize_unit)s
    %(n_jobs)s
    %(verbose)s

    Notes
    -----
    The landmarks and the levels learned from them are stored: `transform` works on new graphs, and
    for fitted graphs its values equal those of `fit_transform`. "lowrank" drops the part of a new
    graph outside the space of the landmarks (for example, a label that no landmark has). If
    n_landmarks is at least the number of nodes and the rank is large enough, both methods agree on
    the fitted graphs.

    Neither method depends on the numbering of nodes. Landmarks are drawn from the nodes in an
    order that depends on their surroundings. Nodes that eight rounds of colour refinement cannot
    distinguish may change places in this order; if they are in fact different, another numbering
    can give another, equally valid, draw.

    "lowrank" values depend on which graphs were fitted.

    A level can amplify a difference between two balls, including rounding errors, by up to 1/(ηγ).
    Both methods therefore drop directions with less than 1e-12 of the largest eigenvalue. Balls
    that differ by less are treated as equal, which may become visible for small η and γ with three
    or more levels.

    ``discount=True``, ``top="pseudo-inverse"``, ``growth="add"`` and ``unique_landmarks=True`` are
    used by the authors' published code, but are not in the paper.

    References
    ----------
    Kondor, Pan (2016), The multiscale Laplacian graph kernel.

    Examples
    --------
    >>> from gramlet import MultiscaleLaplacian
    >>> ring = [(i, (i + 1) % 6) for i in range(6)]
    >>> triangles = [(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3)]
    >>> graphs = [(ring, ["C"] * 6), (triangles, ["C"] * 6)]
    >>> MultiscaleLaplacian(n_levels=1).fit_transform(graphs).round(3)
    array([[1., 1.],
           [1., 1.]])
    >>> MultiscaleLaplacian(n_levels=2).fit_transform(graphs).round(3)
    array([[1.   , 0.143],
           [0.143, 1.   ]])
    """

    stored = fields(reader_=Instance(VertexFeatures), levels_=Sometimes(Instance(LowRankLevels)))

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_levels": [Interval(Integral, 0, None, closed="left")],
        "radius": [Interval(Real, 0, None, closed="left")],
        "growth": [Interval(Real, 1, None, closed="left"), StrOptions({"add"})],
        **LAPLACIAN_CONSTRAINTS,
        "rank": [Interval(Integral, 1, None, closed="left")],
        "n_landmarks": [Interval(Integral, 1, None, closed="left")],
        "method": [StrOptions({"lowrank", "exact"})],
        **FEATURES_CONSTRAINTS,
        "discount": ["boolean"],
        "top": [StrOptions({"regularised", "pseudo-inverse"})],
        "unique_landmarks": ["boolean"],
        "random_state": ["random_state"],
        **COMMON_CONSTRAINTS,
    }

    def __init__(
        self,
        n_levels: int = 2,
        radius: float = 1,
        growth: float | str = 2,
        eta: float = 0.1,
        gamma: float = 0.01,
        rank: int = 10,
        n_landmarks: int = 200,
        method: str = "lowrank",
        vertex_features: str | Callable[[GraphBatch], Any] = "labels",
        random_state: Any = None,
        *,
        heat_times: Sequence[float] = (0.1, 1, 10),
        discount: bool = False,
        top: str = "regularised",
        unique_landmarks: bool = False,
        normalize: bool = False,
        n_jobs: int | None = None,
        verbose: int | bool = False,
    ) -> None:
        self.n_levels = n_levels
        self.radius = radius
        self.growth = growth
        self.eta = eta
        self.gamma = gamma
        self.rank = rank
        self.n_landmarks = n_landmarks
        self.method = method
        self.vertex_features = vertex_features
        self.random_state = random_state
        self.heat_times = heat_times
        self.discount = discount
        self.top = top
        self.unique_landmarks = unique_landmarks
        self.normalize = normalize
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _check(self, batch: GraphBatch) -> None:
        if self.method == "exact" and self.gamma == 0:
            raise ValueError(
                "The 'gamma' parameter of MultiscaleLaplacian must be above 0 with method=\"exact\""
                ": the nodes of two balls rarely span the same space. Got 0."
            )

    def _hops(self) -> tuple[int, ...]:
        """The radius of the balls of each level."""
        if isinstance(self.growth, str):
            reaches = [self.radius * level for level in range(1, self.n_levels + 1)]
        else:
            reaches = [self.radius * self.growth**level for level in range(self.n_levels)]
        return tuple(math.floor(min(reach, 2**31)) for reach in reaches)

    def _fit(self, batch: GraphBatch, y: Any, tiling: Tiling) -> Any:
        owner = "MultiscaleLaplacian"
        checked_weights(batch, owner, positive=False)
        self.reader_ = VertexFeatures(self.vertex_features, self.heat_times, owner)
        features = self.reader_.fit(batch, tiling=tiling)
        if self.method == "exact":
            return self._pieces(batch, features, tiling)
        rng = check_random_state(self.random_state)
        draw = LandmarkDraw(batch, self.n_landmarks, rng, self.unique_landmarks)
        self.levels_, coordinates = LowRankLevels.fit(
            batch,
            features,
            self.reader_.width or 0,
            draw,
            self._hops(),
            self.rank,
            float(self.eta),
            float(self.gamma),
            bool(self.discount),
            tiling=tiling,
        )
        return self._whole(batch, coordinates, tiling)

    def _profile(self, batch: GraphBatch, tiling: Tiling) -> Any:
        checked_weights(batch, "MultiscaleLaplacian", positive=False)
        features = self.reader_.read(batch, tiling=tiling)
        if self.method == "exact":
            return self._pieces(batch, features, tiling)
        return self._whole(batch, self.levels_.coordinates(batch, features, tiling=tiling), tiling)

    def _whole(self, batch: GraphBatch, coordinates: Floats, tiling: Tiling) -> CovarianceProfile:
        gamma, inverted = float(self.gamma), self.top == "pseudo-inverse"
        found = of_graphs(batch, coordinates, float(self.eta), gamma, inverted, tiling=tiling)
        return CovarianceProfile(found, gamma)

    def _pieces(self, batch: GraphBatch, features: Array, tiling: Tiling) -> PieceProfile:
        hops = self._hops()
        discount, inverted = bool(self.discount), self.top == "pseudo-inverse"
        needed = piece_bytes(batch, hops, discount, tiling=tiling)
        if needed > EXACT_BYTES:
            raise ValueError(
                f'MultiscaleLaplacian(method="exact") would need {needed / 1e9:.1f} GB for the '
                f"balls of these {len(batch)} graphs; the limit is {EXACT_BYTES / 1e9:.1f} GB. Use "
                'method="lowrank", fewer graphs, or smaller balls.'
            )
        rows = features.reshape(len(features), -1) if len(features) else np.zeros((0, 1))
        pieces = Pieces.build(batch, hops, rows, float(self.eta), discount, inverted, tiling=tiling)
        return PieceProfile(pieces, self.vertex_features == "labels", float(self.gamma))

    def _validate_fitted(self) -> None:
        require_instance("reader_", self.reader_, VertexFeatures)
        require(
            self.reader_.features == self.vertex_features, "reader_ does not fit vertex_features"
        )
        profile: Any = self.profile_
        changed = "parameters were changed after fit; fit the kernel again"
        require(getattr(profile, "gamma", None) == self.gamma, changed)
        if self.method == "exact":
            require_instance("profile_", profile, PieceProfile)
            n_levels = len(profile.pieces.of_graph) - 1
            require(self.n_levels == n_levels, "n_levels does not fit the pieces")
            inverted = self.top == "pseudo-inverse"
            require(profile.pieces.multiplied is inverted, changed)
            by_label = self.vertex_features == "labels"
            require(profile.by_label is by_label, "the pieces do not fit the features")
            return
        require_instance("profile_", profile, CovarianceProfile)
        require_instance("levels_", self.levels_, LowRankLevels)
        given = (self.eta, self.gamma, self.discount)
        kept = (self.levels_.eta, self.levels_.gamma, self.levels_.discount)
        require(given == kept, changed)
        width = self.reader_.width or 0
        require(len(self.levels_.basis) == width, "levels_ does not fit the features")
        order = self.levels_.order
        require(profile.covariances.order == order, "the matrices do not fit levels_")

    def __graph_tags__(self) -> GraphTags:
        exact, attributes = self.method == "exact", self.vertex_features == "attributes"
        return GraphTags(
            random=not exact,
            depends_on_fitted=not exact,
            needs=("node_attributes",) if attributes else (),
            uses=columns_of(self.vertex_features),
            unit=True,
        )
