"""Profiles whose kernel is k = exp(−γ d): distances are computed once for any number of γ."""

from __future__ import annotations

from abc import abstractmethod
from typing import Self

import numpy as np

from gramlet.common.arrays import Floats
from gramlet.engine.core.tiles import Tiling
from gramlet.kernels.contract.profile import QUIET, Profile

__all__ = ["DecayProfile"]


class DecayProfile(Profile):
    """Graphs compared by k = exp(−γ d); a subclass defines d."""

    gamma: float

    @abstractmethod
    def distances(self, other: Self | None, tiling: Tiling = QUIET) -> Floats:
        """The matrix of d to other graphs, or the symmetric one between all of these if None."""

    @abstractmethod
    def own_distances(self) -> Floats:
        """The distance of each graph to itself, which need not be 0."""

    def require_distances(self, which: str) -> None:
        """Raise ValueError for graphs that have no distance to others."""

    def values(self, distances: Floats) -> Floats:
        """Convert distances to kernel values, in place because the matrix may be large."""
        distances *= -self.gamma
        return np.exp(distances, out=distances)

    def compare(self, other: Self, tiling: Tiling = QUIET) -> Floats:
        return self.values(self.distances(other, tiling))

    def compare_self(self, tiling: Tiling = QUIET) -> Floats:
        return self.values(self.distances(None, tiling))

    def norms(self, tiling: Tiling = QUIET) -> Floats:
        return self.values(self.own_distances())
