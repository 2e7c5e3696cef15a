"""Graphs prepared for the marginalised kernel, and their comparison with derivatives."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from gramlet.common.arrays import Floats, Ints
from gramlet.common.fields import fields
from gramlet.common.stored_state import require
from gramlet.engine.core.memory import require_bytes
from gramlet.engine.core.tiles import QUIET, Tiling, for_tiles, mirror
from gramlet.engine.marginalized.graphs import PairKernel, WalkGraphs
from gramlet.engine.marginalized.pair_systems import N_PARAMETERS, pair_rows
from gramlet.kernels.contract.profile import Profile

__all__ = ["MarginalizedProfile"]

# Which entries of a matrix the engine fills.
_ALL, _TRIANGLE, _DIAGONAL = 0, 1, 2
# Memory of the linear system of two graphs: per pair of nodes, and per pair of arcs.
_BYTES_OF_NODES, _BYTES_OF_ARCS = 72, 16


@dataclass(frozen=True)
class MarginalizedProfile(Profile):
    """Walks on graphs, compared by one linear system per pair.

    Attributes
    ----------
    graphs : WalkGraphs
    pairs : PairKernel
        The parameters of the comparison.
    directed : bool
        Whether the matrices of walks are not symmetric.
    """

    stored = fields()

    graphs: WalkGraphs
    pairs: PairKernel
    directed: bool

    def __len__(self) -> int:
        return self.graphs.n_graphs

    def take(self, rows: Ints) -> MarginalizedProfile:
        return replace(self, graphs=self.graphs.take(rows))

    def compare(self, other: MarginalizedProfile, tiling: Tiling = QUIET) -> Floats:
        return self._filled(other, _ALL, False, tiling)[0]

    def compare_self(self, tiling: Tiling = QUIET) -> Floats:
        return self._filled(self, _TRIANGLE, False, tiling)[0]

    def norms(self, tiling: Tiling = QUIET) -> Floats:
        return self._filled(self, _DIAGONAL, False, tiling)[0][:, 0]

    def with_slopes(self, tiling: Tiling = QUIET) -> tuple[Floats, Floats]:
        """The matrix of these graphs, and its derivatives with respect to all five parameters."""
        return self._filled(self, _TRIANGLE, True, tiling)

    def _filled(
        self, other: MarginalizedProfile, part: int, slopes: bool, tiling: Tiling
    ) -> tuple[Floats, Floats]:
        self._require_room(other)
        matrix = np.zeros((len(self), 1 if part == _DIAGONAL else len(other)))
        by_parameter = np.zeros((N_PARAMETERS, *matrix.shape) if slopes else (0, 1, 1))
        numbers, directed = self.pairs.numbers(), self.directed or other.directed
        options = (self.graphs, other.graphs, numbers, directed, part, matrix, by_parameter)
        work = other.graphs.work()
        partners = {
            _ALL: work.sum(),
            _TRIANGLE: np.cumsum(work[::-1])[::-1],
            _DIAGONAL: work,
        }
        for_tiles(
            lambda begin, end: pair_rows(begin, end, *options),
            len(self),
            costs=self.graphs.work() * partners[part] + 1.0,
            tiling=tiling,
        )
        if part == _TRIANGLE:
            mirror(matrix)
            for derivative in by_parameter:
                mirror(derivative)
        return matrix, by_parameter

    def _require_room(self, other: MarginalizedProfile) -> None:
        """Raise a MemoryError if the system of the two largest graphs does not fit."""
        if len(self) == 0 or len(other) == 0:
            return
        sides = [profile.graphs for profile in (self, other)]
        nodes = [np.diff(graphs.offsets) for graphs in sides]
        arcs = [np.diff(graphs.indptr[graphs.offsets]) for graphs in sides]
        largest = [int(graphs.work().argmax()) for graphs in sides]
        n_a, n_b = (int(sizes[at]) for sizes, at in zip(nodes, largest, strict=True))
        m_a, m_b = (int(sizes[at]) for sizes, at in zip(arcs, largest, strict=True))
        require_bytes(
            _BYTES_OF_NODES * n_a * n_b + _BYTES_OF_ARCS * m_a * m_b,
            f"MarginalizedKernel: the walks on graph {largest[0]} ({n_a:,} nodes) and graph "
            f"{largest[1]} ({n_b:,} nodes)",
            "Leave out large graphs, or use a kernel that does not compare all pairs of edges, "
            "such as WeisfeilerLehman.",
        )

    def validate(self) -> None:
        if not self.directed:
            self._require_symmetry()

    def _require_symmetry(self) -> None:
        """Check that every arc has its opposite, with the same weight, label and attributes."""
        graphs = self.graphs
        degrees = np.diff(graphs.indptr)
        tails = np.repeat(np.arange(len(degrees)), degrees)
        firsts = np.repeat(graphs.offsets[:-1], np.diff(graphs.offsets))
        heads = graphs.indices + firsts[tails]
        one, other = np.lexsort((heads, tails)), np.lexsort((tails, heads))
        weights = graphs.steps * graphs.totals[tails]
        opposite = np.array_equal(tails[one], heads[other]) and np.array_equal(
            heads[one], tails[other]
        )
        require(opposite, "an arc of undirected graphs has no opposite")
        alike = (
            np.allclose(weights[one], weights[other], 1e-9, 0.0)
            and np.array_equal(graphs.edge_labels[one], graphs.edge_labels[other])
            and np.array_equal(graphs.edge_attributes[one], graphs.edge_attributes[other])
        )
        require(alike, "opposite arcs of undirected graphs differ")
