"""Profiles whose kernel is k = exp(−γ d): distances are computed once for any number of γ."""

from __future__ import annotations

from abc import abstractmethod
from typing import Self

import numpy as np

from gramlet.common.arrays import Array, Floats
from gramlet.engine.core.tiles import QUIET, Tiling
from gramlet.kernels.contract.profile import Profile

_ROWS = 16  # that are converted at once; they stay in the cache


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

    def values(self, distances: Array, out: Array | None = None) -> Array:
        """Kernel values, in ``out`` or, because the matrix may be large, instead of distances.

        They are computed in the precision of the distances.
        """
        out = distances if out is None else out
        for begin in range(0, len(out), _ROWS):
            rows = out[begin : begin + _ROWS]
            np.multiply(distances[begin : begin + _ROWS], -self.gamma, out=rows)
            np.exp(rows, out=rows)
        return out

    def compare(self, other: Self, tiling: Tiling = QUIET) -> Floats:
        return self.values(self.distances(other, tiling))

    def compare_self(self, tiling: Tiling = QUIET) -> Floats:
        return self.values(self.distances(None, tiling))

    def norms(self, tiling: Tiling = QUIET) -> Floats:
        return self.values(self.own_distances())
