"""Multisets of node codes, level by level, compared by the Jaccard index."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gramlet.common.arrays import Floats, Ints
from gramlet.common.stored_state import require, require_array, require_items
from gramlet.engine.core.tiles import Tiling
from gramlet.kernels.contract.profile import QUIET, CountProfile, Profile

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
        out = np.zeros((len(self), len(other)))
        for mine, theirs in zip(self.levels, other.levels, strict=True):
            _add_shares(out, mine.compare(theirs, tiling), self.sizes, other.sizes)
        return out / len(self.levels)

    def compare_self(self, tiling: Tiling = QUIET) -> Floats:
        out = np.zeros((len(self), len(self)))
        for level in self.levels:
            _add_shares(out, level.compare_self(tiling), self.sizes, self.sizes)
        return out / len(self.levels)

    def norms(self, tiling: Tiling = QUIET) -> Floats:
        """A graph shares all codes with itself."""
        return np.where(self.sizes > 0, 1.0, 0.0)

    def validate(self) -> None:
        require_array("sizes", self.sizes, "float64", (None,), least=0.0)
        require_items("levels", self.levels, CountProfile)
        require(len(self.levels) > 0, "there must be at least one level")
        for level in self.levels:
            level.validate()
            require(len(level) == len(self.sizes), "levels must have one row per graph")
            require(level.measure == "min", "the measure of levels must be 'min'")


def _add_shares(out: Floats, shared: Floats, rows: Floats, columns: Floats) -> None:
    """Add c/(n + n' − c), row by row so that no second matrix is needed."""
    for total, row, size in zip(out, shared, rows, strict=True):
        # For two empty graphs 0/1 instead of 0/0.
        total += row / np.maximum(size + columns - row, 1.0)
