"""Low-rank coordinates of nodes, level by level, for the multiscale Laplacian kernel.

At every level a few landmark nodes, drawn at random, span the space in which all nodes get
coordinates. The covariances of the landmarks and the directions computed from them are stored, so
that nodes of new graphs get coordinates in the same space.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gramlet.common.arrays import Array, Floats, Ints
from gramlet.common.fields import ArrayOf, Flag, Instance, Integer, Number, TupleOf, fields
from gramlet.common.stored_state import require
from gramlet.engine.core.hashes import node_signatures
from gramlet.engine.core.tiles import QUIET, Tiling, one_blas_thread
from gramlet.engine.laplacian.balls import ball_centres
from gramlet.engine.laplacian.bhattacharyya import Covariances, compare_self, multiply, project
from gramlet.engine.laplacian.covariances import ball_covariances
from gramlet.engine.laplacian.distinct_rows import distinct_rows, equal_rows
from gramlet.graphs.batch import GraphBatch
from gramlet.kernels.laplacian.covariance_profile import checked

# More rounds distinguish hardly any more nodes.
_SIGNATURE_ROUNDS = 8
# Directions whose eigenvalue is below this share of the largest are rounding errors.
NOISE = 1e-12
# Eigenvalues that differ by less than this share are equal: their directions are kept together.
_SAME = 1e-6


class LandmarkDraw:
    """Draws nodes without replacement, or takes all if there are not enough.

    They are drawn from a list sorted by signature, so that the draw depends neither on the
    numbering of nodes nor on the order of graphs.

    Parameters
    ----------
    batch : GraphBatch
    n_landmarks : int
    rng : RandomState
    unique : bool
        Draw new nodes at every level, at most one of those that are equal there; otherwise use the
        same nodes at every level.
    """

    def __init__(
        self, batch: GraphBatch, n_landmarks: int, rng: np.random.RandomState, unique: bool = False
    ) -> None:
        self._n_nodes = batch.n_nodes_total
        self._n_landmarks = n_landmarks
        self._rng = rng
        self.unique = unique
        self._in_order = np.arange(self._n_nodes)
        if unique or self._n_nodes > n_landmarks:
            signatures = node_signatures(batch, _SIGNATURE_ROUNDS)
            self._in_order = np.argsort(signatures, kind="stable")
        self._common = None if unique else self._drawn(self._in_order)

    def by_features(self, features: Array) -> Ints:
        """The landmarks of level 0, where nodes are compared by codes of labels or by rows."""
        if self._common is not None:
            return self._common
        rows = features if features.ndim == 2 else features.astype(np.float64)[:, None]
        return self._drawn(self._one_of_each(rows))

    def by_balls(self, packed: Floats, of_node: Ints) -> Ints:
        """The landmarks of a level of balls, from S of the balls and the ball of each node."""
        if self._common is not None:
            return self._common
        return self._drawn(self._one_of_each(packed, of_node))

    def _one_of_each(self, rows: Floats, of_node: Ints | None = None) -> Ints:
        """Of nodes with equal rows, the first in the order of signatures."""
        in_order = self._in_order
        if of_node is None:
            kinds = distinct_rows(rows)[in_order]
        else:
            kinds = distinct_rows(rows)[of_node[in_order]]
        return in_order[np.sort(np.unique(kinds, return_index=True)[1])]

    def _drawn(self, nodes: Ints) -> Ints:
        if len(nodes) <= self._n_landmarks:
            return nodes
        chosen = np.sort(self._rng.choice(len(nodes), self._n_landmarks, replace=False))
        return np.asarray(nodes[chosen], dtype=np.int64)


def leading_directions(gram: Floats, rank: int) -> Floats:
    """U diag(λ)^{-1/2} for the leading eigenvectors of a Gram matrix: (landmarks, directions).

    At most ``rank`` are kept, and only those with eigenvalues above ``NOISE`` times the
    largest. Equal eigenvalues are not separated, as their eigenvectors are arbitrary; if necessary,
    more than ``rank`` are kept.
    """
    if len(gram) == 0:
        return np.zeros((0, 0))
    with one_blas_thread():
        values, vectors = np.linalg.eigh(gram)
    values, vectors = values[::-1], vectors[:, ::-1]
    n_kept = int(np.count_nonzero(values > NOISE * max(values[0], 0.0)))
    cut = min(rank, n_kept)
    while 0 < cut < n_kept and values[cut - 1] - values[cut] <= _SAME * values[cut - 1]:
        cut += 1
    return np.ascontiguousarray(vectors[:, :cut] / np.sqrt(values[:cut]))


@dataclass(frozen=True)
class Level:
    """One level: balls of ``hops`` around nodes, compared with the landmarks' balls.

    A node with kernel values κ to the landmarks has the coordinates κ @ weights.
    """

    hops: int
    landmarks: Covariances
    weights: Floats

    stored = fields(
        hops=Integer(0),
        landmarks=Instance(Covariances, len="n"),
        weights=ArrayOf("float64", "n", None),
    )


@dataclass(frozen=True)
class LowRankLevels:
    """The levels learned from the fitted graphs.

    Attributes
    ----------
    eta, gamma : float
    discount : bool
        Whether features in a ball are divided by (hops from its centre + 1).
    basis : array, shape (features, directions)
        Maps features of nodes to the coordinates of level 0.
    levels : tuple of Level
    """

    eta: float
    gamma: float
    discount: bool
    basis: Floats
    levels: tuple[Level, ...]

    stored = fields(
        eta=Number(1e-140),
        gamma=Number(0.0),
        discount=Flag(),
        basis=ArrayOf("float64", None, None),
        levels=TupleOf(Instance(Level)),
    )

    @classmethod
    def fit(
        cls,
        batch: GraphBatch,
        features: Array,
        width: int,
        draw: LandmarkDraw,
        hops: tuple[int, ...],
        rank: int,
        eta: float,
        gamma: float,
        discount: bool,
        tiling: Tiling = QUIET,
    ) -> tuple[LowRankLevels, Floats]:
        """Learn the levels; return them and the coordinates of the fitted nodes."""
        basis = _first_basis(features[draw.by_features(features)], width, rank)
        coordinates = _first_coordinates(features, basis)
        levels: list[Level] = []
        for reach in hops:
            balls, of_node = _balls(batch, reach, coordinates, eta, gamma, discount, tiling)
            chosen = balls.take(of_node[draw.by_balls(balls.packed, of_node)])
            weights = leading_directions(compare_self(chosen, tiling=tiling), rank)
            levels.append(Level(reach, chosen, weights))
            coordinates = project(balls, chosen, weights, tiling=tiling)[of_node]
        return cls(eta, gamma, discount, basis, tuple(levels)), coordinates

    @property
    def order(self) -> int:
        """The number of coordinates of a node at the last level."""
        return int((self.levels[-1].weights if self.levels else self.basis).shape[1])

    def validate(self) -> None:
        """Raise ValueError if the levels do not follow each other."""
        order = self.basis.shape[1]
        for level in self.levels:
            require(level.landmarks.order == order, "a level does not fit the previous one")
            order = level.weights.shape[1]

    def coordinates(self, batch: GraphBatch, features: Array, tiling: Tiling = QUIET) -> Floats:
        """The coordinates of nodes at the last level."""
        coordinates = _first_coordinates(features, self.basis)
        for level in self.levels:
            balls, of_node = _balls(
                batch, level.hops, coordinates, self.eta, self.gamma, self.discount, tiling
            )
            coordinates = project(balls, level.landmarks, level.weights, tiling=tiling)[of_node]
        return coordinates


def _balls(
    batch: GraphBatch,
    hops: int,
    coordinates: Floats,
    eta: float,
    gamma: float,
    discount: bool,
    tiling: Tiling,
) -> tuple[Covariances, Ints]:
    """The distinct covariances of balls, and which of them the ball of each node has.

    Many neighbourhoods are alike: of the balls of radius 1 in 1,000 molecules, 1 in 200 has another
    S.
    """
    centres, of_node = ball_centres(batch, hops, discount, tiling=tiling)
    packed = ball_covariances(
        batch, centres, hops, coordinates, eta, gamma, discount, tiling=tiling
    )
    first, which = equal_rows(packed)
    graphs = batch.graph_of_node[centres[first]]
    return checked(packed[first], coordinates.shape[1], graphs, gamma), which[of_node]


def _first_basis(chosen: Array, width: int, rank: int) -> Floats:
    """The leading directions of the landmarks' features."""
    if chosen.ndim == 2:
        return np.ascontiguousarray(chosen.T @ leading_directions(chosen @ chosen.T, rank))
    gram = (chosen[:, None] == chosen[None, :]).astype(np.float64)
    weights = leading_directions(gram, rank)
    basis = np.zeros((width, weights.shape[1]))
    np.add.at(basis, chosen, weights)
    return basis


def _first_coordinates(features: Array, basis: Floats) -> Floats:
    """Coordinates of features in the basis; zero for a label that was not fitted."""
    if features.ndim == 1:
        rows = np.vstack([basis, np.zeros((1, basis.shape[1]))])
        return rows[np.minimum(features, len(basis))]
    if features.shape[1] != len(basis):  # fitted on graphs without nodes
        return np.zeros((len(features), basis.shape[1]))
    return multiply(np.ascontiguousarray(features), basis)
