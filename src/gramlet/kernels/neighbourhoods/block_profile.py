"""Counts in blocks of columns; each block is normalised before the blocks are summed.

Dot products of counts are integers, so that entries do not depend on the tiles of a matrix; they
are divided afterwards, block by block in a fixed order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy import sparse

from gramlet.common.arrays import Floats, Ints
from gramlet.common.stored_state import require_array, require_counts, require_integer
from gramlet.engine.core.tiles import Tiling
from gramlet.engine.counts.comparison import CountIndex, compare
from gramlet.engine.counts.self_comparison import compare_self
from gramlet.kernels.contract.profile import QUIET, Profile

__all__ = ["BlockProfile"]


class _OwnValues(NamedTuple):
    """κ(G, G) of every graph and block; the sorted blocks, and the position of each column's."""

    blocks: Ints
    place: Ints
    values: Floats

    def of(self, block: int) -> Floats:
        """The values of one block; 0 if it has no column."""
        at = int(np.searchsorted(self.blocks, block))
        if at == len(self.blocks) or self.blocks[at] != block:
            return np.zeros(len(self.values))
        return self.values[:, at]


@dataclass(frozen=True)
class BlockProfile(Profile):
    """Counts compared by the sum over blocks of normalised dot products.

    Attributes
    ----------
    counts : csr_matrix of float64, one row per graph
    blocks : array of int64
        The block of each column.
    n_known : int
        Columns from here on are features not seen in `fit`: they are part of a graph's own norms
        and match no fitted graph.
    """

    counts: sparse.csr_matrix
    blocks: Ints
    n_known: int

    def __len__(self) -> int:
        return int(self.counts.shape[0])

    def take(self, rows: Ints) -> BlockProfile:
        return BlockProfile(self.counts[rows], self.blocks, self.n_known)

    def compare(self, other: BlockProfile, tiling: Tiling = QUIET) -> Floats:
        out = np.zeros((len(self), len(other)))
        shared = min(self.n_known, other.n_known)
        mine, theirs = self._own(), other._own()
        for block in np.unique(self.blocks[:shared]):
            columns = np.flatnonzero(self.blocks[:shared] == block)
            index = CountIndex.build(other.counts[:, columns], "dot")
            values = compare(self.counts[:, columns], index, "dot", **tiling)
            _add_divided(out, values, mine.of(block), theirs.of(block))
        return out

    def compare_self(self, tiling: Tiling = QUIET) -> Floats:
        out = np.zeros((len(self), len(self)))
        own = self._own()
        for block in own.blocks:
            part = self.counts[:, np.flatnonzero(self.blocks == block)]
            values = own.of(block)
            _add_divided(out, compare_self(part, "dot", **tiling), values, values)
        return out

    def norms(self, tiling: Tiling = QUIET) -> Floats:
        """The number of blocks in which a graph has a feature: each adds 1."""
        return (self._own().values > 0).sum(axis=1).astype(np.float64)

    def features(self) -> sparse.csr_matrix:
        """The columns of the fitted features, each block divided by the graph's own norm."""
        own = self._own()
        kept = self.counts[:, : self.n_known].tocsr()
        rows = np.repeat(np.arange(len(self)), np.diff(kept.indptr))
        lengths = np.sqrt(own.values)[rows, own.place[kept.indices]]
        return sparse.csr_matrix((kept.data / lengths, kept.indices, kept.indptr), shape=kept.shape)

    def _own(self) -> _OwnValues:
        """κ(G, G) of every block, with unseen features, in one pass over the counts."""
        blocks = np.unique(self.blocks)
        place = np.searchsorted(blocks, self.blocks)
        rows = np.repeat(np.arange(len(self)), np.diff(self.counts.indptr))
        cells = rows * len(blocks) + place[self.counts.indices]
        values: Floats = np.bincount(
            cells, self.counts.data**2, minlength=len(self) * len(blocks)
        ).astype(np.float64, copy=False)
        return _OwnValues(blocks, place, values.reshape(len(self), len(blocks)))

    def validate(self) -> None:
        require_counts("counts", self.counts)
        require_array("blocks", self.blocks, "int64", (self.counts.shape[1],), least=0)
        require_integer("n_known", self.n_known, 0, self.counts.shape[1])


def _add_divided(out: Floats, values: Floats, rows: Floats, columns: Floats) -> None:
    """Add values / sqrt(rows ⊗ columns) to ``out``, or 0 if a norm is 0.

    The root of a product of integers is taken, so that a graph with itself gives exactly 1.
    """
    right = np.where(columns > 0, columns, np.inf)
    for total, row, own in zip(out, values, rows, strict=True):
        if own > 0:
            total += row / np.sqrt(own * right)
