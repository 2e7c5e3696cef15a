"""Graphs prepared for marginalised kernels: steps of random walks, labels and attributes."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from gramlet.common.arrays import Floats, Ints
from gramlet.common.stored_state import (
    require,
    require_array,
    require_flag,
    require_integer,
    require_offsets,
    require_real,
)
from gramlet.graphs.build import ranges

__all__ = ["PairKernel", "WalkGraphs", "walk_graphs"]

# The factors of a kernel on nodes or edges.
ONE, LABEL, GAUSSIAN, BOTH = 0, 1, 2, 3
KINDS = {"one": ONE, "label": LABEL, "gaussian": GAUSSIAN, "label*gaussian": BOTH}


@dataclass(frozen=True)
class PairKernel:
    """The parameters of the comparison.

    Attributes
    ----------
    stop : float
    node_kind, edge_kind : int
        Values of `KINDS`.
    node_floor, edge_floor, node_scale, edge_scale : float
    uniform : bool
        Whether a walk starts at each node with probability 1/n; otherwise every start has weight 1.
    """

    stop: float
    node_kind: int
    edge_kind: int
    node_floor: float
    edge_floor: float
    node_scale: float
    edge_scale: float
    uniform: bool

    def numbers(self) -> Floats:
        """The parameters as an array, as compiled code takes them."""
        return np.array([float(getattr(self, field.name)) for field in fields(self)])

    def validate(self) -> None:
        """Raise ValueError for parameters that the kernel would not accept."""
        real = require_real("stop", self.stop, 0.0, 1.0)
        require(0.0 < real < 1.0, "stop must lie between 0 and 1")
        for side in ("node", "edge"):
            require_integer(f"{side}_kind", getattr(self, f"{side}_kind"), ONE, BOTH)
            require_real(f"{side}_floor", getattr(self, f"{side}_floor"), 0.0, 1.0)
            require_real(f"{side}_scale", getattr(self, f"{side}_scale"), 5e-324)
        require_flag("uniform", self.uniform)


@dataclass(frozen=True)
class WalkGraphs:
    """Graphs with the probabilities of the steps of their walks.

    Attributes
    ----------
    offsets : array of int64
        Graph g has the nodes ``offsets[g]:offsets[g + 1]``.
    indptr, indices : arrays of int64
        Arcs by their tail; heads are numbered within the graph.
    steps : array of float64
        The probability of each arc among those of its tail.
    totals : array of float64
        The sum of the weights of a node's arcs.
    labels, edge_labels : arrays of int64
        One code per node, and one per arc.
    attributes, edge_attributes : arrays of float64
        One row per node, and one per arc; no columns if they are not used.
    """

    offsets: Ints
    indptr: Ints
    indices: Ints
    steps: Floats
    totals: Floats
    labels: Ints
    edge_labels: Ints
    attributes: Floats
    edge_attributes: Floats

    @property
    def n_graphs(self) -> int:
        return len(self.offsets) - 1

    def arrays(self) -> tuple[Ints | Floats, ...]:
        """The columns in the order in which compiled code takes them."""
        return tuple(getattr(self, field.name) for field in fields(self))

    def take(self, graphs: Ints) -> WalkGraphs:
        """The graphs at these positions."""
        sizes = np.diff(self.offsets)[graphs]
        nodes = ranges(self.offsets[graphs], sizes)
        degrees = np.diff(self.indptr)[nodes]
        arcs = ranges(self.indptr[nodes], degrees)
        return WalkGraphs(
            np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
            np.concatenate([[0], np.cumsum(degrees)]).astype(np.int64),
            self.indices[arcs],
            self.steps[arcs],
            self.totals[nodes],
            self.labels[nodes],
            self.edge_labels[arcs],
            self.attributes[nodes],
            self.edge_attributes[arcs],
        )

    def work(self) -> Floats:
        """The number of arcs and nodes of each graph, to which the cost is proportional."""
        arcs = np.diff(self.indptr[self.offsets])
        return (arcs + np.diff(self.offsets)).astype(np.float64)

    def validate(self) -> None:
        """Raise ValueError if the arrays do not fit together."""
        offsets = require_offsets("offsets", self.offsets)
        n = int(offsets[-1])
        indptr = require_offsets("indptr", self.indptr, n_parts=n)
        m = int(indptr[-1])
        require_array("indices", self.indices, "int64", (m,), least=0)
        sizes = np.repeat(np.diff(offsets), np.diff(offsets))
        heads_fit = self.indices < np.repeat(sizes, np.diff(indptr))
        require(heads_fit.all(), "an arc ends outside its graph")
        require_array("steps", self.steps, "float64", (m,), least=0.0, most=1.0)
        require_array("totals", self.totals, "float64", (n,), least=0.0)
        tails = np.repeat(np.arange(n), np.diff(indptr))
        sums = np.bincount(tails, self.steps, n)
        walks = np.diff(indptr) > 0
        require(np.allclose(sums, walks, 0.0, 1e-9), "steps must add up to 1 at each node")
        require((self.totals[walks] > 0).all(), "totals must be above 0 where there are arcs")
        require((self.totals[~walks] == 0).all(), "totals must be 0 where there are no arcs")
        require_array("labels", self.labels, "int64", (n,), least=0)
        require_array("edge_labels", self.edge_labels, "int64", (m,), least=0)
        require_array("attributes", self.attributes, "float64", (n, None))
        require_array("edge_attributes", self.edge_attributes, "float64", (m, None))


def walk_graphs(
    offsets: Ints,
    indptr: Ints,
    indices: Ints,
    weights: Floats | None,
    labels: Ints,
    edge_labels: Ints,
    attributes: Floats,
    edge_attributes: Floats,
) -> WalkGraphs:
    """Graphs of a batch; without ``weights``, all arcs of a node are equally likely."""
    degrees = np.diff(indptr)
    tails = np.repeat(np.arange(len(degrees)), degrees)
    if weights is None:
        weights = np.ones(len(indices))
    totals = np.bincount(tails, weights, len(degrees)).astype(np.float64)
    firsts = np.repeat(offsets[:-1], np.diff(offsets))
    return WalkGraphs(
        np.array(offsets),
        np.array(indptr),
        indices - firsts[tails],
        np.asarray(weights / totals[tails], dtype=np.float64),
        totals,
        labels,
        edge_labels,
        np.ascontiguousarray(attributes),
        np.ascontiguousarray(edge_attributes),
    )
