"""Profiles for subgraph matching: counts of types with weights, or graphs to be mapped."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from gramlet.common.arrays import Floats, Ints
from gramlet.common.stored_state import (
    require,
    require_array,
    require_counts,
    require_flag,
    require_instance,
    require_integer,
    require_real,
)
from gramlet.engine.core.tiles import QUIET, Tiling, for_tiles, mirror
from gramlet.engine.counts.column_groups import group_columns, squares_by_group
from gramlet.engine.counts.several_counts import compare_several, compare_several_self, weighted
from gramlet.engine.neighbourhoods.small_subgraphs import MAX_NODES
from gramlet.engine.neighbourhoods.subgraph_maps import MappedGraphs, map_sums
from gramlet.kernels.contract.profile import Profile

__all__ = ["MappingProfile", "WeightedCountProfile"]

# Up to this number of counts, dense matrices are multiplied; products of integers are exact.
_SMALL = 60_000


@dataclass(frozen=True)
class WeightedCountProfile(Profile):
    """Counts compared by the dot product with one weight per column.

    Columns of equal weight are multiplied together as integers, so that entries do not depend on
    the tiles of a matrix.

    Attributes
    ----------
    counts : csr_matrix of float64, one row per graph
    weights : array of float64
        One per column, at least 0.
    n_known : int
        Columns from here on are features not seen in `fit`.
    """

    counts: sparse.csr_matrix
    weights: Floats
    n_known: int

    def __len__(self) -> int:
        return int(self.counts.shape[0])

    def take(self, rows: Ints) -> WeightedCountProfile:
        return WeightedCountProfile(self.counts[rows], self.weights, self.n_known)

    def compare(self, other: WeightedCountProfile, tiling: Tiling = QUIET) -> Floats:
        values, place = self._groups(min(self.n_known, other.n_known))
        groups, pairs = group_columns(place, self.counts, other.counts)
        shape = len(self), len(other)
        return compare_several(pairs, shape, "dot", weighted(values[groups]), tiling=tiling)

    def compare_self(self, tiling: Tiling = QUIET) -> Floats:
        values, place = self._groups(len(self.weights))
        if self.counts.shape[0] * self.counts.shape[1] <= _SMALL:
            dense, out = self.counts.toarray(), np.zeros((len(self), len(self)))
            for group, weight in enumerate(values):
                part = dense[:, place == group]
                out += weight * (part @ part.T)
            return out
        # Products are added in the order of the weights, on the diagonal too.
        diagonal = np.zeros(len(self))
        for weight, own in zip(
            values, squares_by_group(self.counts, place, len(values)).T, strict=True
        ):
            diagonal += weight * own
        groups, parts = group_columns(place, self.counts)
        matrices, adding = [part for (part,) in parts], weighted(values[groups])
        return compare_several_self(matrices, diagonal, "dot", adding, tiling=tiling)

    def _groups(self, n_columns: int) -> tuple[Floats, Ints]:
        """The different weights of the first columns, and the position of each column's weight."""
        values = np.unique(self.weights[:n_columns])
        return values, np.searchsorted(values, self.weights[:n_columns])

    def norms(self, tiling: Tiling = QUIET) -> Floats:
        squares = self.counts.multiply(self.counts).tocsr()
        return np.asarray(squares @ self.weights, dtype=np.float64)

    def features(self) -> sparse.csr_matrix:
        """The columns of the fitted features, times the roots of their weights."""
        kept = self.counts[:, : self.n_known].tocsr()
        data = kept.data * np.sqrt(self.weights)[kept.indices]
        return sparse.csr_matrix((data, kept.indices, kept.indptr), shape=kept.shape)

    def validate(self) -> None:
        require_counts("counts", self.counts)
        require_array("weights", self.weights, "float64", (self.counts.shape[1],), least=0.0)
        require_integer("n_known", self.n_known, 0, self.counts.shape[1])


@dataclass(frozen=True)
class MappingProfile(Profile):
    """Graphs that are compared by mapping subgraphs of one into the other.

    Attributes
    ----------
    graphs : MappedGraphs
    labels, edge_labels : tuples
        The labels that belong to the codes of nodes and arcs.
    node_kernel, edge_kernel : callable or None
        Functions of two labels; None: 1 for equal labels, otherwise 0.
    mu : float
        The rate of the Gaussian on attributes; 0 without attributes.
    size_weights : array of float64
    connected : bool
    """

    graphs: MappedGraphs
    labels: tuple[Hashable, ...]
    edge_labels: tuple[Hashable, ...]
    node_kernel: Callable[[Any, Any], float] | None
    edge_kernel: Callable[[Any, Any], float] | None
    mu: float
    size_weights: Floats
    connected: bool

    def __len__(self) -> int:
        return len(self.graphs.node_offsets) - 1

    def take(self, rows: Ints) -> MappingProfile:
        return replace(self, graphs=self.graphs.take(rows))

    def compare(self, other: MappingProfile, tiling: Tiling = QUIET) -> Floats:
        return self._filled(other, False, tiling)

    def compare_self(self, tiling: Tiling = QUIET) -> Floats:
        out = self._filled(self, True, tiling)
        mirror(out)
        return out

    def norms(self, tiling: Tiling = QUIET) -> Floats:
        own = np.zeros((len(self), 1))
        tables = self._tables(self)

        def work(begin: int, end: int) -> None:
            for i in range(begin, end):
                one = self.graphs.take(np.array([i]))
                row = own[i : i + 1]
                map_sums(
                    0, 1, one, one, tables, self.mu, self.size_weights, self.connected, True, row
                )

        for_tiles(work, len(self), tiling=tiling)
        _require_finite(own)
        return own[:, 0]

    def _filled(self, other: MappingProfile, triangle: bool, tiling: Tiling) -> Floats:
        out = np.zeros((len(self), len(other)))
        tables = self._tables(other)

        def work(begin: int, end: int) -> None:
            map_sums(
                begin,
                end,
                self.graphs,
                other.graphs,
                tables,
                self.mu,
                self.size_weights,
                self.connected,
                triangle,
                out,
            )

        sizes = np.diff(self.graphs.node_offsets) + 1.0
        partners = np.arange(len(self), 0, -1) if triangle else 1.0
        for_tiles(work, len(self), costs=sizes * partners, tiling=tiling)
        _require_finite(out)
        return out

    def _tables(self, other: MappingProfile) -> tuple[Floats, Floats]:
        return (
            _kernel_table("node_kernel", self.node_kernel, self.labels, other.labels),
            _kernel_table("edge_kernel", self.edge_kernel, self.edge_labels, other.edge_labels),
        )

    def validate(self) -> None:
        require_instance("graphs", self.graphs, MappedGraphs)
        self.graphs.validate()
        for name, codes, values in (
            ("labels", self.graphs.labels, self.labels),
            ("edge_labels", self.graphs.edge_labels, self.edge_labels),
        ):
            require_instance(f"the values of {name}", values, tuple)
            require_array(name, codes, "int64", (None,), least=0, most=len(values) - 1)
        for name, kernel in (("node_kernel", self.node_kernel), ("edge_kernel", self.edge_kernel)):
            require(kernel is None or callable(kernel), f"{name} must be a function or None")
        require_real("mu", self.mu, 0.0)
        require_array("size_weights", self.size_weights, "float64", (None,), least=0.0)
        require_integer("size", len(self.size_weights), 1, MAX_NODES)
        require_flag("connected", self.connected)


def _require_finite(values: Floats) -> None:
    """Raise a ValueError if products of the kernels' values overflow."""
    if not np.isfinite(values).all():
        raise ValueError(
            "SubgraphMatching: a sum of products of node_kernel and edge_kernel is beyond the "
            "largest number. Divide the values of these functions by a constant."
        )


def _kernel_table(
    name: str,
    kernel: Callable[[Any, Any], float] | None,
    rows: tuple[Hashable, ...],
    columns: tuple[Hashable, ...],
) -> Floats:
    """The values of a kernel on all pairs of labels."""
    if kernel is None:
        return np.array([[float(a == b) for b in columns] for a in rows]).reshape(
            len(rows), len(columns)
        )
    table = np.empty((len(rows), len(columns)))
    for i, a in enumerate(rows):
        for j, b in enumerate(columns):
            value, mirrored = _number(name, kernel, a, b), _number(name, kernel, b, a)
            if value != mirrored:
                raise ValueError(
                    f"SubgraphMatching: {name} must be symmetric, but {name}({a!r}, {b!r}) is "
                    f"{value} and {name}({b!r}, {a!r}) is {mirrored}."
                )
            table[i, j] = value
    return table


def _number(
    name: str, kernel: Callable[[Any, Any], float], first: Hashable, second: Hashable
) -> float:
    """The value of a kernel on two labels, checked to be a finite number."""
    found = kernel(first, second)
    try:
        value = float(found)
    except (TypeError, ValueError):
        value = np.nan
    if not np.isfinite(value):
        raise ValueError(
            f"SubgraphMatching: {name}({first!r}, {second!r}) is {found!r}; it must be a finite "
            "number."
        )
    return value
