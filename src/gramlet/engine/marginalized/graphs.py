"""Graphs prepared for marginalised kernels: steps of random walks, labels and attributes."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import numpy as np

from gramlet.common.arrays import Floats, Ints
from gramlet.common.fields import ArrayOf, Integer, Number, Offsets, fields
from gramlet.common.stored_state import require
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

    stored = fields(
        stop=Number(5e-324, 1 - 2**-53),
        node_kind=Integer(ONE, BOTH),
        edge_kind=Integer(ONE, BOTH),
        node_floor=Number(0.0, 1.0),
        edge_floor=Number(0.0, 1.0),
        node_scale=Number(5e-324),
        edge_scale=Number(5e-324),
    )

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
        return np.array([float(getattr(self, field.name)) for field in dataclasses.fields(self)])


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

    stored = fields(
        offsets=Offsets("graphs", "nodes"),
        indptr=Offsets("nodes", "arcs"),
        indices=ArrayOf("int64", "arcs", least=0),
        steps=ArrayOf("float64", "arcs", least=0.0, most=1.0),
        totals=ArrayOf("float64", "nodes", least=0.0),
        labels=ArrayOf("int64", "nodes", least=0),
        edge_labels=ArrayOf("int64", "arcs", least=0),
        attributes=ArrayOf("float64", "nodes", None),
        edge_attributes=ArrayOf("float64", "arcs", None),
    )

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
        return tuple(getattr(self, field.name) for field in dataclasses.fields(self))

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
        """Raise ValueError if arcs leave their graph or steps are no probabilities."""
        sizes = np.repeat(np.diff(self.offsets), np.diff(self.offsets))
        degrees = np.diff(self.indptr)
        heads_fit = self.indices < np.repeat(sizes, degrees)
        require(heads_fit.all(), "an arc ends outside its graph")
        walks = degrees > 0
        sums = np.bincount(np.repeat(np.arange(len(walks)), degrees), self.steps, len(walks))
        require(np.allclose(sums, walks, 0.0, 1e-9), "steps must add up to 1 at each node")
        require(((self.totals > 0) == walks).all(), "totals must be above 0 where there are arcs")


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
