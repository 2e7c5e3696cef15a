"""Counts in blocks of columns, each block normalised on its own before the blocks are added.

Dot products of counts are whole numbers, so that entries do not depend on how a matrix is cut into
tiles; they are divided afterwards, block by block in a fixed order.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from gramlet.common.arrays import Floats, Ints
from gramlet.common.stored_state import require_array, require_counts, require_integer
from gramlet.engine.core.tiles import Tiling
from gramlet.engine.counts.comparison import CountIndex, compare, compare_self
from gramlet.kernels.contract.profile import QUIET, Profile

__all__ = ["BlockProfile"]


@dataclass(frozen=True)
class BlockProfile(Profile):
    """Counts compared by the sum over blocks of normalised dot products.

    Attributes
    ----------
    counts : csr_matrix of float64, one row per graph
    blocks : array of int64
        The block of each column.
    n_known : int
        Columns from here on are features not seen at `fit`: they count in a graph's own norms and
        match no fitted graph.
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
        for block in np.unique(self.blocks[:shared]):
            columns = np.flatnonzero(self.blocks[:shared] == block)
            index = CountIndex.build(other.counts[:, columns], "dot")
            values = compare(self.counts[:, columns], index, "dot", **tiling)
            _add_divided(out, values, self._own(block), other._own(block))
        return out

    def compare_self(self, tiling: Tiling = QUIET) -> Floats:
        out = np.zeros((len(self), len(self)))
        for block in np.unique(self.blocks):
            part = self.counts[:, np.flatnonzero(self.blocks == block)]
            own = self._own(block)
            _add_divided(out, compare_self(part, "dot", **tiling), own, own)
        return out

    def norms(self, tiling: Tiling = QUIET) -> Floats:
        """How many blocks of each graph have a feature: each adds 1."""
        out = np.zeros(len(self))
        for block in np.unique(self.blocks):
            out += self._own(block) > 0
        return out

    def features(self) -> sparse.csr_matrix:
        """The columns that were known at `fit`, each block divided by the graph's own norm."""
        kept = self.counts[:, : self.n_known].tocsr()
        data = kept.data.copy()
        rows = np.repeat(np.arange(len(self)), np.diff(kept.indptr))
        of_entry = self.blocks[kept.indices]
        for block in np.unique(of_entry):
            here = of_entry == block
            data[here] /= np.sqrt(self._own(block))[rows[here]]
        return sparse.csr_matrix((data, kept.indices, kept.indptr), shape=kept.shape)

    def _own(self, block: int) -> Floats:
        """κ(G, G) of a block, unseen features included."""
        inside = np.where(self.blocks == block, 1.0, 0.0)
        squares = self.counts.multiply(self.counts).tocsr()
        return np.asarray(squares @ inside, dtype=np.float64)

    def validate(self) -> None:
        require_counts("counts", self.counts)
        require_array("blocks", self.blocks, "int64", (self.counts.shape[1],), least=0)
        require_integer("n_known", self.n_known, 0, self.counts.shape[1])


def _add_divided(out: Floats, values: Floats, rows: Floats, columns: Floats) -> None:
    """Add values / sqrt(rows ⊗ columns) to ``out``, nothing where a norm is 0.

    The root of a product of whole numbers: a graph with itself gives exactly 1.
    """
    right = np.where(columns > 0, columns, np.inf)
    for total, row, own in zip(out, values, rows, strict=True):
        if own > 0:
            total += row / np.sqrt(own * right)
