"""Multisets of node codes, level by level, compared by the Jaccard index."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gramlet.common.arrays import Floats, Ints
from gramlet.common.stored_state import require, require_array, require_items
from gramlet.engine.core.tiles import QUIET, Tiling
from gramlet.engine.counts.several_counts import compare_several, compare_several_self, jaccard
from gramlet.kernels.contract.profile import CountProfile, Profile

__all__ = ["HashProfile"]


@dataclass(frozen=True)
class HashProfile(Profile):
    """The codes of some graphs after each round.

    k is the mean over levels of c/(n + n' − c), with c the number of codes that two graphs share
    and n, n' their numbers of nodes; 0 if both are empty.

    Attributes
    ----------
    levels : tuple of CountProfile
        Counts of codes, compared by sums of minima.
    sizes : array of float64
        The number of nodes of each graph.
    """

    levels: tuple[CountProfile, ...]
    sizes: Floats

    def __len__(self) -> int:
        return len(self.sizes)

    def take(self, rows: Ints) -> HashProfile:
        return HashProfile(tuple(level.take(rows) for level in self.levels), self.sizes[rows])

    def compare(self, other: HashProfile, tiling: Tiling = QUIET) -> Floats:
        pairs = [
            mine.shared_counts(theirs)
            for mine, theirs in zip(self.levels, other.levels, strict=True)
        ]
        shares = jaccard(self.sizes, other.sizes, len(pairs))
        return compare_several(pairs, (len(self), len(other)), "min", shares, tiling=tiling)

    def compare_self(self, tiling: Tiling = QUIET) -> Floats:
        matrices = [level.counts for level in self.levels]
        shares = jaccard(self.sizes, self.sizes, len(matrices))
        return compare_several_self(matrices, self.norms(), "min", shares, tiling=tiling)

    def norms(self, tiling: Tiling = QUIET) -> Floats:
        """A graph shares all codes with itself."""
        return np.where(self.sizes > 0, 1.0, 0.0)

    def validate(self) -> None:
        require_array("sizes", self.sizes, "float64", (None,), least=0.0)
        require_items("levels", self.levels, CountProfile)
        require(len(self.levels) > 0, "there must be at least one level")
        for level in self.levels:
            require(len(level) == len(self.sizes), "levels must have one row per graph")
            require(level.measure == "min", "the measure of levels must be 'min'")
