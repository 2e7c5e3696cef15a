"""Profiles made of other profiles, one per level or part, whose kernel values are summed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from gramlet.common.arrays import Floats, Ints
from gramlet.common.fields import Choice, Instance, Integer, Offsets, TupleOf, fields
from gramlet.engine.core.tiles import QUIET, Tiling
from gramlet.kernels.contract.normalisation import (
    KINDS,
    Kind,
    compared,
    compared_self,
    self_similarities,
)
from gramlet.kernels.contract.profile import Profile


def _features(rows: Any, normalize: Kind) -> sparse.csr_matrix:
    """The features of a profile; if normalised to cosines, divided by the norms."""
    found = sparse.csr_matrix(rows.features())
    if not normalize:
        return found
    own = rows.norms()
    scale = np.divide(1.0, np.sqrt(own), out=np.zeros(len(own)), where=own > 0)
    return sparse.csr_matrix(sparse.diags_array(scale) @ found)


@dataclass(frozen=True)
class SumProfile(Profile):
    """The same graphs in several profiles; the kernel is the sum over these.

    Attributes
    ----------
    members : tuple of Profile
        At least one, all of the same graphs.
    normalized : False, "cosine" or "tanimoto"
        How the values of each member are normalised before they are summed.
    """

    members: tuple[Profile, ...]
    normalized: Kind

    stored = fields(members=TupleOf(Instance(Profile, len="n"), least=1), normalized=Choice(*KINDS))

    def __len__(self) -> int:
        return len(self.members[0])

    def take(self, rows: Ints) -> SumProfile:
        return replace(self, members=tuple(member.take(rows) for member in self.members))

    def compare(self, other: SumProfile, tiling: Tiling = QUIET) -> Floats:
        total = np.zeros((len(self), len(other)))
        for mine, theirs in zip(self.members, other.members, strict=True):
            total += compared(mine, theirs, self.normalized, tiling)
        return total

    def compare_self(self, tiling: Tiling = QUIET) -> Floats:
        total = np.zeros((len(self), len(self)))
        for member in self.members:
            total += compared_self(member, self.normalized, tiling)
        return total

    def norms(self, tiling: Tiling = QUIET) -> Floats:
        total = np.zeros(len(self))
        for member in self.members:
            total += self_similarities(member, self.normalized, tiling)
        return total

    def features(self) -> sparse.csr_matrix:
        """The features of the members side by side, if they have features."""
        blocks = [_features(member, self.normalized) for member in self.members]
        return sparse.csr_matrix(sparse.hstack(blocks, format="csr"))


@dataclass(frozen=True)
class PartsProfile(Profile):
    """Graphs with ordered parts, such as cores; the i-th parts of two graphs are compared.

    k(G, G') is the sum over all i for which both graphs have an i-th part.

    Attributes
    ----------
    parts : Profile
        The parts of all graphs, ordered by graph.
    offsets : array of int64
        Graph g has the parts ``offsets[g]:offsets[g + 1]``.
    normalized : False, "cosine" or "tanimoto"
        How the values of parts are normalised before they are summed.
    n_known : int
        The largest number of parts of a fitted graph; further parts have no features.
    """

    parts: Profile
    offsets: Ints
    normalized: Kind
    n_known: int

    stored = fields(
        parts=Instance(Profile, len="parts"),
        offsets=Offsets("n", "parts"),
        normalized=Choice(*KINDS),
        n_known=Integer(),
    )

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def counts(self) -> Ints:
        """The number of parts of each graph."""
        return np.diff(self.offsets)

    def level(self, i: int) -> tuple[Ints, Profile]:
        """The graphs that have an i-th part, and the profile of these parts."""
        graphs = np.flatnonzero(self.counts > i)
        return graphs, self.parts.take(self.offsets[graphs] + i)

    def take(self, rows: Ints) -> PartsProfile:
        counts = self.counts[rows]
        offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        shift = np.repeat(self.offsets[rows] - offsets[:-1], counts)
        parts = self.parts.take(np.arange(offsets[-1]) + shift)
        return replace(self, parts=parts, offsets=offsets)

    def compare(self, other: PartsProfile, tiling: Tiling = QUIET) -> Floats:
        total = np.zeros((len(self), len(other)))
        deepest = min(int(side.counts.max(initial=0)) for side in (self, other))
        for i in range(deepest):
            rows, mine = self.level(i)
            columns, theirs = other.level(i)
            block = compared(mine, theirs, self.normalized, tiling)
            total[np.ix_(rows, columns)] += block
        return total

    def compare_self(self, tiling: Tiling = QUIET) -> Floats:
        total = np.zeros((len(self), len(self)))
        for i in range(int(self.counts.max(initial=0))):
            rows, mine = self.level(i)
            total[np.ix_(rows, rows)] += compared_self(mine, self.normalized, tiling)
        return total

    def norms(self, tiling: Tiling = QUIET) -> Floats:
        total = np.zeros(len(self))
        owners = np.repeat(np.arange(len(self)), self.counts)
        np.add.at(total, owners, self_similarities(self.parts, self.normalized, tiling))
        return total

    def features(self) -> sparse.csr_matrix:
        """The features of the first parts, of the second parts, ... side by side.

        There are as many blocks of columns as the largest number of parts of a fitted graph.
        """
        rows = sparse.coo_array(_features(self.parts, self.normalized))
        graph = np.repeat(np.arange(len(self)), self.counts)
        place = np.arange(len(self.parts)) - self.offsets[graph]
        width = rows.shape[1]
        kept = place[rows.row] < self.n_known
        places = graph[rows.row][kept], (place[rows.row] * width + rows.col)[kept]
        shape = (len(self), self.n_known * width)
        return sparse.csr_matrix((rows.data[kept], places), shape=shape)
