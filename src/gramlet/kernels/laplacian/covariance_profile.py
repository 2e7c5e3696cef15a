"""Graphs as covariance matrices, compared by the overlap of their Gaussians.

One profile per representation of the matrices: all of one order, each on its own coordinates, by a
kernel between nodes, or as pieces for the exact multiscale kernel. k(G, G) = 1 in all of them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from gramlet.common.arrays import Array, Floats, Ints
from gramlet.common.fields import Number, fields
from gramlet.engine.core.ragged import taken
from gramlet.engine.core.tiles import QUIET, Tiling
from gramlet.engine.laplacian.bhattacharyya import Covariances, compare, compare_self
from gramlet.engine.laplacian.exact_levels import compare_pieces, compare_pieces_self
from gramlet.engine.laplacian.kernelised import KernelisedGraphs
from gramlet.engine.laplacian.pieces import Pieces
from gramlet.engine.laplacian.sparse_covariances import (
    SupportedCovariances,
    compare_supported,
    compare_supported_self,
)
from gramlet.kernels.contract.profile import Profile
from gramlet.kernels.laplacian.covariances import widened
from gramlet.kernels.laplacian.kernelised import BaseKernel

__all__ = ["CovarianceProfile", "KernelisedProfile", "PieceProfile", "SupportedProfile"]


class UnitProfile(Profile):
    """A profile of graphs with k(G, G) = 1."""

    def norms(self, tiling: Tiling = QUIET) -> Floats:
        return np.ones(len(self))


@dataclass(frozen=True)
class CovarianceProfile(UnitProfile):
    """Covariances of one order.

    Attributes
    ----------
    covariances : Covariances
    gamma : float
        The diagonal of the matrices of graphs without nodes.
    """

    stored = fields(gamma=Number(0.0))

    covariances: Covariances
    gamma: float

    def __len__(self) -> int:
        return len(self.covariances)

    def take(self, rows: Ints) -> CovarianceProfile:
        return replace(self, covariances=self.covariances.take(rows))

    def compare(self, other: CovarianceProfile, tiling: Tiling = QUIET) -> Floats:
        fitted = other.covariances
        if fitted.order != self.covariances.order:
            # Only graphs without nodes were fitted, which have any number of features.
            fitted = widened(fitted, self.covariances.order, self.gamma)
        return compare(self.covariances, fitted, tiling=tiling)

    def compare_self(self, tiling: Tiling = QUIET) -> Floats:
        return compare_self(self.covariances, tiling=tiling)


@dataclass(frozen=True)
class SupportedProfile(UnitProfile):
    """Covariances on few coordinates each."""

    stored = fields()

    covariances: SupportedCovariances

    def __len__(self) -> int:
        return len(self.covariances)

    def take(self, rows: Ints) -> SupportedProfile:
        return SupportedProfile(self.covariances.take(rows))

    def compare(self, other: SupportedProfile, tiling: Tiling = QUIET) -> Floats:
        return compare_supported(self.covariances, other.covariances, tiling=tiling)

    def compare_self(self, tiling: Tiling = QUIET) -> Floats:
        return compare_supported_self(self.covariances, tiling=tiling)


@dataclass(frozen=True)
class KernelisedProfile(UnitProfile):
    """Graphs with a kernel between their nodes that the user gives.

    Attributes
    ----------
    base : BaseKernel
    vertex_features : array
        Codes of labels, or rows of numbers, one per node.
    graphs : KernelisedGraphs
    """

    base: BaseKernel
    vertex_features: Array
    graphs: KernelisedGraphs

    def __len__(self) -> int:
        return len(self.graphs)

    def take(self, rows: Ints) -> KernelisedProfile:
        nodes = taken(self.graphs.offsets, rows)[1]
        return KernelisedProfile(self.base, self.vertex_features[nodes], self.graphs.take(rows))

    def compare(self, other: KernelisedProfile, tiling: Tiling = QUIET) -> Floats:
        return self.base.compare(
            self.vertex_features, self.graphs, other.vertex_features, other.graphs, tiling
        )

    def compare_self(self, tiling: Tiling = QUIET) -> Floats:
        return self.base.compare_self(self.vertex_features, self.graphs, tiling)


@dataclass(frozen=True)
class PieceProfile(UnitProfile):
    """The balls of every level, for the exact multiscale kernel.

    Attributes
    ----------
    pieces : Pieces
    by_label : bool
        Whether level 0 compares codes of labels instead of rows of numbers.
    gamma : float
    """

    stored = fields(gamma=Number(1e-140))

    pieces: Pieces
    by_label: bool
    gamma: float

    def __len__(self) -> int:
        return len(self.pieces)

    def take(self, rows: Ints) -> PieceProfile:
        return replace(self, pieces=self.pieces.take(rows))

    def compare(self, other: PieceProfile, tiling: Tiling = QUIET) -> Floats:
        return compare_pieces(self.pieces, other.pieces, self.by_label, self.gamma, tiling=tiling)

    def compare_self(self, tiling: Tiling = QUIET) -> Floats:
        return compare_pieces_self(self.pieces, self.by_label, self.gamma, tiling=tiling)
