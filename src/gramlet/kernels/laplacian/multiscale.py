"""The multiscale Laplacian graph kernel: nested balls, compared level by level.

The low-rank form, with few directions for all graphs, is in `low_rank`; the exact form, in which
each pair of graphs is computed on its own, is at the end of this file.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy.sparse.csgraph import shortest_path
from sklearn.utils import check_random_state

from gramlet.common.arrays import Array, Floats, Ints
from gramlet.common.fields import (
    ArrayOf,
    Flag,
    Instance,
    Integer,
    Number,
    Sometimes,
    TupleOf,
    fields,
)
from gramlet.common.parameters import Interval, StrOptions
from gramlet.common.stored_state import require, require_instance
from gramlet.engine.core.ragged import taken
from gramlet.engine.core.stacked_matrices import adjacency_stack
from gramlet.engine.core.tiles import QUIET, Tiling, for_tiles, mirror
from gramlet.engine.laplacian.balls import ball_centres, ball_sizes
from gramlet.engine.laplacian.bhattacharyya import Covariances, compare_self, smallest_pivots
from gramlet.engine.laplacian.covariances import (
    half_inverses,
    refuse_indefinite,
)
from gramlet.graphs.batch import GraphBatch
from gramlet.kernels.contract.columns import checked_weights
from gramlet.kernels.contract.kernel import COMMON_CONSTRAINTS, GraphKernel
from gramlet.kernels.contract.normalisation import Normalization
from gramlet.kernels.contract.parameter_texts import shared_texts
from gramlet.kernels.contract.tags import GraphTags
from gramlet.kernels.laplacian.covariance_profile import CovarianceProfile, UnitProfile, of_graphs
from gramlet.kernels.laplacian.laplacian import LAPLACIAN_CONSTRAINTS
from gramlet.kernels.laplacian.low_rank import NOISE, LandmarkDraw, LowRankLevels
from gramlet.kernels.laplacian.vertex_features import (
    FEATURES_CONSTRAINTS,
    VertexFeatures,
    columns_of,
)

#: The largest memory of the balls for the exact method.
EXACT_BYTES = 4 << 30
_EPSILON = float(np.finfo(np.float64).eps)


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

    stored = fields(reader_=Instance(VertexFeatures), levels_=Sometimes(Instance(LowRankLevels)))

    def __init__(
        self,
        n_levels: int = 2,
        radius: float = 1,
        *,
        growth: float | str = 2,
        eta: float = 0.1,
        gamma: float = 0.01,
        rank: int = 10,
        n_landmarks: int = 200,
        method: str = "lowrank",
        vertex_features: str | Callable[[GraphBatch], Any] = "labels",
        random_state: Any = None,
        heat_times: Sequence[float] = (0.1, 1, 10),
        discount: bool = False,
        top: str = "regularised",
        unique_landmarks: bool = False,
        normalize: Normalization = False,
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
            return self._exact(batch, features, tiling)
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
            return self._exact(batch, features, tiling)
        return self._whole(batch, self.levels_.coordinates(batch, features, tiling=tiling), tiling)

    def _whole(self, batch: GraphBatch, coordinates: Floats, tiling: Tiling) -> CovarianceProfile:
        gamma, inverted = float(self.gamma), self.top == "pseudo-inverse"
        found = of_graphs(batch, coordinates, float(self.eta), gamma, inverted, tiling=tiling)
        return CovarianceProfile(found, gamma)

    def _exact(self, batch: GraphBatch, features: Array, tiling: Tiling) -> ExactProfile:
        hops, discount = self._hops(), bool(self.discount)
        needed = _exact_bytes(batch, hops, discount, tiling)
        if needed > EXACT_BYTES:
            raise ValueError(
                f'MultiscaleLaplacian(method="exact") would need {needed / 1e9:.1f} GB for the '
                f"balls of these {len(batch)} graphs; the limit is {EXACT_BYTES / 1e9:.1f} GB. Use "
                'method="lowrank", fewer graphs, or smaller balls.'
            )
        rows = features.reshape(len(features), -1) if len(features) else np.zeros((0, 1))
        profile = ExactProfile(
            GraphBatch(
                batch.node_offsets, batch.indptr, batch.indices, edge_weights=batch.edge_weights
            ),
            rows.astype(np.float64),
            self.vertex_features == "labels",
            hops,
            float(self.eta),
            float(self.gamma),
            discount,
            self.top == "pseudo-inverse",
        )
        _ = profile.levels  # computed here: graphs without them are an error of fit
        return profile

    def _validate_fitted(self) -> None:
        require(
            self.reader_.features == self.vertex_features, "reader_ does not fit vertex_features"
        )
        profile: Any = self.profile_
        changed = "parameters were changed after fit; fit the kernel again"
        require(getattr(profile, "gamma", None) == self.gamma, changed)
        given = (self.eta, self.gamma, self.discount)
        if self.method == "exact":
            require_instance("profile_", profile, ExactProfile)
            require((profile.eta, profile.gamma, profile.discount) == given, changed)
            require(profile.hops == self._hops(), changed)
            require(profile.inverted == (self.top == "pseudo-inverse"), changed)
            require(profile.by_label == (self.vertex_features == "labels"), changed)
            return
        require_instance("profile_", profile, CovarianceProfile)
        require(hasattr(self, "levels_"), "levels_ is missing")
        levels = self.levels_
        require((levels.eta, levels.gamma, levels.discount) == given, changed)
        width = self.reader_.width or 0
        require(len(levels.basis) == width, "levels_ does not fit the features")
        require(profile.covariances.order == levels.order, "the matrices do not fit levels_")

    def __graph_tags__(self) -> GraphTags:
        exact, attributes = self.method == "exact", self.vertex_features == "attributes"
        return GraphTags(
            random=not exact,
            depends_on_fitted=not exact,
            needs=("node_attributes",) if attributes else (),
            uses=columns_of(self.vertex_features),
            unit=True,
        )


# The exact form


class _Pieces(NamedTuple):
    """The distinct balls of one radius in one graph, or the whole graph.

    Attributes
    ----------
    of_node : array, shape (nodes,)
        The ball around each node.
    members : array, shape (balls, largest ball)
        The nodes of each ball; further entries are the number of nodes.
    roots : array, shape (balls, largest ball, largest ball)
        Matrices R that give the covariances: S = XᵀX + γI for X = R U, with the vectors of the
        members as rows of U.
    """

    of_node: Ints
    members: Ints
    roots: Floats

    def covariances(self, vectors: Floats, gamma: float) -> Floats:
        """S of every ball, from the vectors of the graph's nodes."""
        order = vectors.shape[1]
        padded = np.vstack([vectors, np.zeros((1, order))])
        rooted = self.roots @ padded[self.members]
        return np.asarray(rooted.transpose(0, 2, 1) @ rooted + gamma * np.eye(order))


def _root(weights: Floats, eta: float) -> Floats:
    """R with RᵀR = L⁻¹, for the Laplacian L of a dense matrix of weights."""
    laplacian = np.diag(weights.sum(axis=1) + eta) - weights
    return np.asarray(np.linalg.inv(np.linalg.cholesky(laplacian)))


def _balls(weights: Floats, hops: Floats, reach: int, eta: float, discount: bool) -> _Pieces:
    """The balls of this radius, from the graph's weights and the hops between its nodes."""
    within = hops <= reach
    centres = of_node = np.arange(len(hops))
    if len(hops) and not discount:  # balls with the same nodes are the same
        _, centres, of_node = np.unique(within, axis=0, return_index=True, return_inverse=True)
    sizes = within[centres].sum(axis=1)
    largest = int(sizes.max(initial=0))
    members = np.full((len(centres), largest), len(hops))
    roots = np.zeros((len(centres), largest, largest))
    for i, (centre, size) in enumerate(zip(centres, sizes, strict=True)):
        nodes = np.flatnonzero(within[centre])
        root = _root(weights[np.ix_(nodes, nodes)], eta)
        if discount:
            root = root / (hops[centre, nodes] + 1.0)
        members[i, :size] = nodes
        roots[i, :size, :size] = root
    return _Pieces(of_node.reshape(-1), members, roots)


@dataclass(frozen=True)
class ExactProfile(UnitProfile):
    """Graphs and the features of their nodes, for the exact multiscale kernel.

    At every level the eigenvectors of the Gram matrix of the nodes of two graphs give each node
    coordinates, and each ball a covariance in these coordinates. Rounding errors do not grow from
    level to level, because directions that consist only of rounding errors are dropped.

    Attributes
    ----------
    batch : GraphBatch
    vertex_features : array, shape (n nodes, d)
        Codes of labels in a single column, or rows of numbers.
    by_label : bool
        Whether level 0 compares codes of labels instead of rows of numbers.
    hops : tuple of int
        The radius of the balls of each level.
    eta, gamma : float
    discount, inverted : bool
        Whether vectors of a ball are divided by (hops from its centre + 1), and whether Laplacians
        of whole graphs are inverted without η.
    """

    batch: GraphBatch
    vertex_features: Floats
    by_label: bool
    hops: tuple[int, ...]
    eta: float
    gamma: float
    discount: bool
    inverted: bool

    stored = fields(
        batch=Instance(GraphBatch),
        vertex_features=ArrayOf("float64", None, None),
        by_label=Flag(),
        hops=TupleOf(Integer(0)),
        eta=Number(1e-140),
        gamma=Number(1e-140),
        discount=Flag(),
        inverted=Flag(),
    )

    def validate(self) -> None:
        """Raise ValueError if the features do not fit the graphs, or the graphs the kernel."""
        require(
            len(self.vertex_features) == self.batch.n_nodes_total,
            "vertex_features need one row per node",
        )
        require(not self.batch.directed, "the graphs must be undirected")

    def __len__(self) -> int:
        return len(self.batch)

    def take(self, rows: Ints) -> ExactProfile:
        nodes = taken(self.batch.node_offsets, rows)[1]
        return replace(self, batch=self.batch[rows], vertex_features=self.vertex_features[nodes])

    def compare(self, other: ExactProfile, tiling: Tiling = QUIET) -> Floats:
        out = np.empty((len(self), len(other)))

        def work(begin: int, end: int) -> None:
            for g in range(begin, end):
                for h in range(len(other)):
                    out[g, h] = self._pair(g, other, h)

        for_tiles(work, len(self), tiling=tiling)
        return out

    def compare_self(self, tiling: Tiling = QUIET) -> Floats:
        n = len(self)
        out = np.eye(n)

        def work(begin: int, end: int) -> None:
            for g in range(begin, end):
                self._pair(g, self, g)  # an error names the graph itself first
                for h in range(g + 1, n):
                    out[g, h] = self._pair(g, self, h)

        for_tiles(work, n, costs=np.arange(n, 0, -1, dtype=np.float64), tiling=tiling)
        mirror(out)
        return out

    @cached_property
    def levels(self) -> list[list[_Pieces]]:
        """For each graph the balls of every level, then the whole graph."""
        batch = self.batch
        halves = half_inverses(batch) if self.inverted else []
        failed = np.zeros(len(batch), dtype=bool)
        levels: list[list[_Pieces]] = []
        for g, size in enumerate(batch.sizes.tolist()):
            graph = np.array([g]), batch.node_offsets, batch.indptr, batch.indices
            weights = adjacency_stack(*graph, batch.edge_weights)[0]
            hops = shortest_path(adjacency_stack(*graph, None)[0], unweighted=True)
            try:
                pieces = [_balls(weights, hops, r, self.eta, self.discount) for r in self.hops]
                root = halves[g] if self.inverted else _root(weights, self.eta)
            except np.linalg.LinAlgError:
                failed[g] = True
                break
            whole = _Pieces(np.zeros(size, dtype=np.int64), np.arange(size)[None], root[None])
            levels.append([*pieces, whole])
        refuse_indefinite(np.arange(len(batch)), failed, self.eta)
        return levels

    def _pair(self, g: int, other: ExactProfile, h: int) -> float:
        """k of graph g of these and graph h of the others."""
        gram = self._base_gram(g, other, h)
        n = int(self.batch.sizes[g])
        values = np.ones((2, 2))
        for mine, theirs in zip(self.levels[g], other.levels[h], strict=True):
            vectors = _coordinates(gram)
            order = vectors.shape[1]
            stack = np.concatenate(
                [
                    mine.covariances(vectors[:n], self.gamma),
                    theirs.covariances(vectors[n:], self.gamma),
                ]
            )
            rows, columns = np.tril_indices(order)
            packed = np.ascontiguousarray(stack[:, rows, columns])
            if (smallest_pivots(packed, order) <= 4 * order * _EPSILON).any():
                raise ValueError(
                    f"Graph {g} and fitted graph {h}: U L⁻¹ Uᵀ + γI is numerically singular: "
                    f"gamma={self.gamma} is too small compared with the features. Scale the "
                    "features down or raise gamma."
                )
            values = compare_self(Covariances.build(packed, order))
            # The kernel between nodes at the next level is that between their balls.
            balls = np.concatenate([mine.of_node, len(mine.members) + theirs.of_node])
            gram = values[np.ix_(balls, balls)]
        return float(values[0, 1])

    def _base_gram(self, g: int, other: ExactProfile, h: int) -> Floats:
        """The kernel between the nodes of both graphs at level 0."""
        mine, theirs = (
            profile.vertex_features[slice(*profile.batch.node_offsets[i : i + 2])]
            for profile, i in ((self, g), (other, h))
        )
        if 0 in (len(mine), len(theirs)):  # graphs without nodes have any number of features
            both = mine if len(mine) else theirs
        else:
            both = np.concatenate([mine, theirs])
        if self.by_label:
            return np.asarray(both == both.T, dtype=np.float64)
        return np.asarray(both @ both.T)


def _coordinates(gram: Floats) -> Floats:
    """Coordinates whose dot products are the Gram matrix, from its eigenvectors."""
    values, vectors = np.linalg.eigh(gram)
    clear = values > NOISE * max(values[-1], 0.0) if len(values) else values > 0.0
    return np.asarray(vectors[:, clear] * np.sqrt(values[clear]))


def _exact_bytes(batch: GraphBatch, hops: tuple[int, ...], discount: bool, tiling: Tiling) -> int:
    """How many bytes the roots of all balls and graphs take."""
    total = float((batch.sizes.astype(np.float64) ** 2).sum())
    for reach in hops:
        centres, _ = ball_centres(batch, reach, discount, tiling=tiling)
        owners, largest = batch.graph_of_node[centres], np.zeros(len(batch))
        np.maximum.at(largest, owners, ball_sizes(batch, centres, reach))
        total += float((largest[owners] ** 2).sum())
    return int(8 * total)
