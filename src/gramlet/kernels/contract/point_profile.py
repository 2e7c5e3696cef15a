"""Graphs as sets of points with masses, compared by exact earth mover's distances."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from gramlet.common.arrays import Floats, Ints
from gramlet.common.fields import Instance, Number, fields
from gramlet.engine.core.tiles import QUIET, Tiling
from gramlet.engine.transport.earth_mover import MassPoints, earth_mover_distances
from gramlet.kernels.contract.decay_kernel import DecayProfile


@dataclass(frozen=True)
class PointProfile(DecayProfile):
    """Points with masses; k = exp(−γ EMD).

    k of a graph without nodes is 0 with graphs that have nodes and 1 with graphs that have none.

    Attributes
    ----------
    sets : MassPoints
    gamma : float
    label_distance : float
        Added to the squared distance of two points if their labels differ.
    """

    sets: MassPoints
    gamma: float
    label_distance: float

    stored = fields(
        sets=Instance(MassPoints), gamma=Number(0.0), label_distance=Number(0.0, most=1e300)
    )

    def __len__(self) -> int:
        return len(self.sets)

    def take(self, rows: Ints) -> PointProfile:
        return replace(self, sets=self.sets.take(rows))

    def distances(self, other: PointProfile | None, tiling: Tiling = QUIET) -> Floats:
        sets = None if other is None else self._fitting(other).sets
        return earth_mover_distances(self.sets, sets, self.label_distance, tiling=tiling)

    def own_distances(self) -> Floats:
        return np.zeros(len(self))

    def _fitting(self, other: PointProfile) -> PointProfile:
        """The other graphs with as many dimensions as these, if they have no points."""
        n_dims = len(self.sets.columns)
        if len(other.sets.columns) == n_dims or len(other.sets.masses):
            return other
        return replace(other, sets=replace(other.sets, columns=np.zeros((n_dims, 0))))

    def require_distances(self, which: str) -> None:
        empty = np.flatnonzero(np.diff(self.sets.offsets) == 0)
        if len(empty):
            raise ValueError(
                f"Graph {int(empty[0])} of the {which} graphs is empty: without nodes it has no "
                "distance to others. Leave it out, or use transform, which has a rule for it."
            )
