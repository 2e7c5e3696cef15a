"""Graphs as masses on colours, compared by the mass that two graphs have in common."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from gramlet.common.arrays import Floats, Ints
from gramlet.common.stored_state import require_array, require_counts, require_flag, require_real
from gramlet.engine.core.tiles import QUIET, Tiling
from gramlet.engine.counts.comparison import compare
from gramlet.engine.counts.self_comparison import compare_self
from gramlet.kernels.contract.decay_kernel import DecayProfile

__all__ = ["MassProfile"]


@dataclass(frozen=True)
class MassProfile(DecayProfile):
    """Masses on colours; d = offset − Σ_σ min(m(G,σ), m(G',σ)) and k = exp(−γ d).

    Attributes
    ----------
    masses : csr_matrix, one row per graph
        Masses on the fitted colours, times their weights; the last column is a symbol for graphs
        without nodes.
    own : array
        The mass that a graph has in common with itself, including unseen colours.
    gamma, offset : float
    bounded : bool
        Whether d is clipped to [0, 1], so that rounding does not make the distance of equal graphs
        negative and k(G, G) is exactly 1.
    """

    masses: sparse.csr_matrix
    own: Floats
    gamma: float
    offset: float
    bounded: bool

    def __len__(self) -> int:
        return int(self.masses.shape[0])

    def take(self, rows: Ints) -> MassProfile:
        return replace(self, masses=self.masses[rows], own=self.own[rows])

    def distances(self, other: MassProfile | None, tiling: Tiling = QUIET) -> Floats:
        if other is None:
            common = compare_self(self.masses, "min", tiling=tiling)
            np.fill_diagonal(common, self.own)
        else:
            common = compare(self.masses, other.masses, "min", tiling=tiling)
        return self._distances(common)

    def own_distances(self) -> Floats:
        return self._distances(self.own.copy())

    def _distances(self, common: Floats) -> Floats:
        """Convert common masses to distances, in place because the matrix may be large."""
        np.subtract(self.offset, common, out=common)
        return np.clip(common, 0.0, 1.0, out=common) if self.bounded else common

    def validate(self) -> None:
        require_counts("masses", self.masses)
        require_array("own", self.own, "float64", (len(self),), least=0.0)
        require_real("gamma", self.gamma, 0.0)
        require_real("offset", self.offset)
        require_flag("bounded", self.bounded)
