"""The profile: everything a kernel knows about a set of graphs, and the unit of comparison.

In memory, on disk, on a cluster and for nearest neighbours, the same calls compare the same
profiles, and kernels need not know which of these is used. Parameters that enter the comparison (a
decay, a bandwidth) are part of the profile; threads and progress bars are not, but are passed to
each call as a `Tiling`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy import sparse

from gramlet.common.arrays import Floats, Ints
from gramlet.common.fields import ArrayOf, Choice, Counts, Integer, fields
from gramlet.engine.core.ragged import row_numbers
from gramlet.engine.core.tiles import QUIET, Tiling, one_blas_thread
from gramlet.engine.counts.comparison import Measure, compare, norms
from gramlet.engine.counts.self_comparison import compare_self


class Profile(ABC):
    """Everything a kernel knows about some graphs.

    A subclass has arrays with one row (or one range) per graph, which it declares in ``stored``.
    """

    @abstractmethod
    def __len__(self) -> int:
        """The number of graphs."""

    @abstractmethod
    def take(self, rows: Ints) -> Self:
        """The profile of the graphs at these positions."""

    def __getitem__(self, rows: Any) -> Self:
        """The profile of some of the graphs, selected by slice, positions or mask."""
        return self.take(row_numbers(rows, len(self)))

    @abstractmethod
    def compare(self, other: Self, tiling: Tiling = QUIET) -> Floats:
        """The kernel matrix of these graphs (rows) against those of ``other`` (columns)."""

    @abstractmethod
    def compare_self(self, tiling: Tiling = QUIET) -> Floats:
        """The exactly symmetric kernel matrix of these graphs."""

    @abstractmethod
    def norms(self, tiling: Tiling = QUIET) -> Floats:
        """The self-similarities k(G, G)."""

    def features(self) -> Any:
        """The explicit features, one row per graph, or None if the profile has none."""
        return None


@dataclass(frozen=True)
class CountProfile(Profile):
    """Counts of features, compared by dot product or by sum of minima.

    Attributes
    ----------
    counts : csr_matrix of float64, one row per graph
    measure : {"dot", "min"}
    n_known : int
        Columns from here on are features not seen in `fit`: they are part of a graph's own norm
        and match no fitted graph.
    """

    counts: sparse.csr_matrix
    measure: Measure
    n_known: int

    stored = fields(
        counts=Counts("n", "d"), measure=Choice("dot", "min"), n_known=Integer(0, most="d")
    )

    def __len__(self) -> int:
        return int(self.counts.shape[0])

    def take(self, rows: Ints) -> CountProfile:
        return CountProfile(self.counts[rows], self.measure, self.n_known)

    def compare(self, other: CountProfile, tiling: Tiling = QUIET) -> Floats:
        mine, theirs = self.shared_counts(other)
        return compare(mine, theirs, self.measure, tiling=tiling)

    def shared_counts(self, other: CountProfile) -> tuple[sparse.csr_matrix, sparse.csr_matrix]:
        """The counts of both, without features that one side has not seen in `fit`."""
        shared = min(self.n_known, other.n_known)
        return self.counts[:, :shared], other.counts[:, :shared]

    def compare_self(self, tiling: Tiling = QUIET) -> Floats:
        return compare_self(self.counts, self.measure, tiling=tiling)

    def norms(self, tiling: Tiling = QUIET) -> Floats:
        return norms(self.counts, self.measure)

    def features(self) -> sparse.csr_matrix:
        """The columns of the fitted features."""
        return self.counts[:, : self.n_known]


@dataclass(frozen=True)
class FeatureProfile(Profile):
    """Rows of real features, compared by dot product."""

    rows: Floats

    stored = fields(rows=ArrayOf("float64", "n", "d"))

    def __len__(self) -> int:
        return len(self.rows)

    def take(self, rows: Ints) -> FeatureProfile:
        return FeatureProfile(self.rows[rows])

    def compare(self, other: FeatureProfile, tiling: Tiling = QUIET) -> Floats:
        with one_blas_thread():
            return np.asarray(self.rows @ other.rows.T)

    def compare_self(self, tiling: Tiling = QUIET) -> Floats:
        product = self.compare(self, tiling)
        return (product + product.T) / 2

    def norms(self, tiling: Tiling = QUIET) -> Floats:
        return np.asarray((self.rows**2).sum(axis=1))

    def features(self) -> Floats:
        """The rows themselves."""
        return self.rows
