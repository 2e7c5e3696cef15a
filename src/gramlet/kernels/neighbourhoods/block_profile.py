"""Counts in blocks of columns; each block is normalised before the blocks are summed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from gramlet.common.arrays import Array, Floats, Ints
from gramlet.common.stored_state import require, require_array, require_counts, require_integer
from gramlet.engine.core.tiles import QUIET, Tiling
from gramlet.engine.counts.column_groups import group_columns, squares_by_group
from gramlet.engine.counts.several_counts import compare_several, compare_several_self, quotients
from gramlet.kernels.contract.profile import Profile

__all__ = ["BlockProfile"]


@dataclass(frozen=True)
class BlockProfile(Profile):
    """Counts compared by the sum over blocks of normalised dot products.

    Attributes
    ----------
    counts : csr_matrix of float64, one row per graph
    blocks : array of int64
        The blocks that have columns, ascending.
    place : array of unsigned integers
        For each column, the position of its block in ``blocks``.
    n_known : int
        Columns from here on are features not seen in `fit`: they are part of a graph's own norms
        and match no fitted graph.
    """

    counts: sparse.csr_matrix
    blocks: Ints
    place: Array
    n_known: int

    @classmethod
    def of(cls, counts: sparse.csr_matrix, column_blocks: Ints, n_known: int) -> BlockProfile:
        """A profile from the block of each column."""
        blocks = np.unique(column_blocks)
        place = np.searchsorted(blocks, column_blocks).astype(_place_type(len(blocks)))
        return cls(counts, blocks, place, n_known)

    def __len__(self) -> int:
        return int(self.counts.shape[0])

    def take(self, rows: Ints) -> BlockProfile:
        return BlockProfile(self.counts[rows], self.blocks, self.place, self.n_known)

    def compare(self, other: BlockProfile, tiling: Tiling = QUIET) -> Floats:
        shared = min(self.n_known, other.n_known)
        places, pairs = group_columns(self.place[:shared], self.counts, other.counts)
        theirs = np.searchsorted(other.blocks, self.blocks[places])
        divided = quotients(_lines(self._own(), places), _lines(other._own(), theirs))
        return compare_several(pairs, (len(self), len(other)), "dot", divided, tiling=tiling)

    def compare_self(self, tiling: Tiling = QUIET) -> Floats:
        places, parts = group_columns(self.place, self.counts)
        own = self._own()
        lines, diagonal = _lines(own, places), _n_blocks(own)
        matrices = [part for (part,) in parts]
        divided = quotients(lines, lines)
        return compare_several_self(matrices, diagonal, "dot", divided, tiling=tiling)

    def norms(self, tiling: Tiling = QUIET) -> Floats:
        """The number of blocks in which a graph has a feature: each adds 1."""
        return _n_blocks(self._own())

    def features(self) -> sparse.csr_matrix:
        """The columns of the fitted features, each block divided by the graph's own norm."""
        own = self._own()
        kept = self.counts[:, : self.n_known].tocsr()
        rows = np.repeat(np.arange(len(self)), np.diff(kept.indptr))
        lengths = np.sqrt(own)[rows, self.place[kept.indices]]
        return sparse.csr_matrix((kept.data / lengths, kept.indices, kept.indptr), shape=kept.shape)

    def _own(self) -> Floats:
        """κ(G, G) of every graph and block, with unseen features."""
        return squares_by_group(self.counts, self.place, len(self.blocks))

    def validate(self) -> None:
        require_counts("counts", self.counts)
        require_array("blocks", self.blocks, "int64", (None,), least=0)
        require(bool((np.diff(self.blocks) > 0).all()), "blocks must be ascending")
        n_columns, n_blocks = self.counts.shape[1], len(self.blocks)
        kind = _place_type(n_blocks)
        require_array("place", self.place, kind, (n_columns,), most=n_blocks - 1)
        require_integer("n_known", self.n_known, 0, n_columns)


def _place_type(n_blocks: int) -> str:
    """The smallest type for positions: workers of a cluster get one of each column."""
    return str(np.min_scalar_type(n_blocks))


def _lines(own: Floats, places: Ints) -> Floats:
    """One line of the graphs' own values per block."""
    return np.ascontiguousarray(own[:, places].T)


def _n_blocks(own: Floats) -> Floats:
    return (own > 0).sum(axis=1).astype(np.float64)
