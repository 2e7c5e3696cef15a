"""Low-rank coordinates of nodes, level by level, for the multiscale Laplacian kernel.

At every level a few landmark nodes span the space in which all nodes get coordinates. The
covariances of the landmarks and the directions computed from them are stored, so that nodes of new
graphs get coordinates in the same space.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gramlet.common.arrays import Array, Floats, Ints
from gramlet.common.fields import ArrayOf, Instance, Number, TupleOf, fields
from gramlet.common.stored_state import require
from gramlet.engine.core.tiles import QUIET, Tiling, one_blas_thread
from gramlet.engine.laplacian.balls import ball_centres
from gramlet.engine.laplacian.bhattacharyya import Covariances, compare_self, multiply, project
from gramlet.graphs.batch import GraphBatch
from gramlet.kernels.laplacian.covariances import of_balls
from gramlet.kernels.laplacian.landmarks import LandmarkDraw

__all__ = ["Level", "LowRankLevels", "leading_directions"]


# Directions whose eigenvalue is below this share of the largest are rounding errors.
TOLERANCE = 1e-12
# Eigenvalues that differ by less than this share are equal: their directions are kept together.
_SAME = 1e-6


def leading_directions(gram: Floats, rank: int) -> Floats:
    """U diag(λ)^{-1/2} for the leading eigenvectors of a Gram matrix: (landmarks, directions).

    At most ``rank`` are kept, and only those with eigenvalues above ``TOLERANCE`` times the
    largest. Equal eigenvalues are not separated, as their eigenvectors are arbitrary; if necessary,
    more than ``rank`` are kept.
    """
    if len(gram) == 0:
        return np.zeros((0, 0))
    with one_blas_thread():
        values, vectors = np.linalg.eigh(gram)
    values, vectors = values[::-1], vectors[:, ::-1]
    n_kept = int(np.count_nonzero(values > TOLERANCE * max(values[0], 0.0)))
    cut = min(rank, n_kept)
    while 0 < cut < n_kept and values[cut - 1] - values[cut] <= _SAME * values[cut - 1]:
        cut += 1
    return np.ascontiguousarray(vectors[:, :cut] / np.sqrt(values[:cut]))


@dataclass(frozen=True)
class Level:
    """One level: balls of ``hops`` around nodes, compared with the landmarks' balls.

    A node with kernel values κ to the landmarks has the coordinates κ @ weights.
    """

    stored = fields(landmarks=Instance(Covariances, len="n"), weights=ArrayOf("float64", "n", None))

    hops: int
    landmarks: Covariances
    weights: Floats


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

    stored = fields(
        eta=Number(1e-140),
        gamma=Number(0.0),
        basis=ArrayOf("float64", None, None),
        levels=TupleOf(Instance(Level)),
    )

    eta: float
    gamma: float
    discount: bool
    basis: Floats
    levels: tuple[Level, ...]

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
    """The covariances of the distinct balls, and the ball of each node."""
    centres, of_node = ball_centres(batch, hops, discount, tiling=tiling)
    found, which = of_balls(batch, centres, hops, coordinates, eta, gamma, discount, tiling=tiling)
    return found, which[of_node]


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
