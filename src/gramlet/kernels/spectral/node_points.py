"""Nodes as labelled points with masses, for earth mover's distances between graphs.

Coordinates come from the spectral engine, masses from degrees unless they are uniform; the points
are used in `earth_mover` and in the random graph embedding.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np

from gramlet.common.arrays import Floats, Ints
from gramlet.common.fields import Choice, Instance, Integer, fields
from gramlet.common.parameters import Interval, StrOptions
from gramlet.engine.core.tiles import Tiling
from gramlet.engine.spectral.coordinates import laplacian_coordinates
from gramlet.engine.transport.earth_mover import MassPoints, mass_points
from gramlet.graphs.batch import GraphBatch
from gramlet.kernels.contract.labels import LABEL_CHOICE, NodeLabels

__all__ = ["NODE_POINT_CONSTRAINTS", "NodeReader", "PlacedNodes", "label_cost"]


MASSES = ("degree", "uniform")

NODE_POINT_CONSTRAINTS: dict[str, list[Any]] = {
    "n_dims": [Interval(Integral, 1, None, closed="left")],
    "gamma": [Interval(Real, 0, None, closed="neither")],
    "use_labels": LABEL_CHOICE,
    "label_weight": [Interval(Real, 0, None, closed="left")],
    "masses": [StrOptions(set(MASSES))],
}


@dataclass
class PlacedNodes:
    """The nodes of a batch: coordinates (one row per node), label codes and shares of the mass."""

    offsets: Ints
    points: Floats
    labels: Ints
    shares: Ints

    def with_masses(self) -> MassPoints:
        """Points with masses share / Σ share within a graph, or equal ones if all shares are 0."""
        return mass_points(self.offsets, self.points, self.labels, self.shares)


class NodeReader:
    """Computes the points of nodes, with the label codes of the fitted graphs.

    Parameters
    ----------
    n_dims : int
        Number of coordinates per node, from the smallest eigenvalues of the normalised Laplacian.
    use_labels : bool or "auto"
        "auto": if the fitted graphs have labels.
    masses : {"degree", "uniform"}
        "degree": degree / Σ degree, so that isolated nodes have no mass, or 1/n if the graph has no
        edges. "uniform": 1/n.
    """

    stored = fields(n_dims=Integer(1), masses=Choice(*MASSES), labels=Instance(NodeLabels))

    def __init__(self, n_dims: int, use_labels: bool | str, masses: str = "degree") -> None:
        self.n_dims = int(n_dims)
        self.masses = masses
        self.labels = NodeLabels(use_labels)

    def fit(self, batch: GraphBatch, tiling: Tiling) -> PlacedNodes:
        """Learn the labels of these graphs; return their nodes."""
        return self._placed(batch, self.labels.fit(batch), tiling)

    def read(self, batch: GraphBatch, tiling: Tiling) -> PlacedNodes:
        """The nodes of new graphs."""
        return self._placed(batch, self.labels.encode(batch), tiling)

    def _placed(self, batch: GraphBatch, codes: Ints, tiling: Tiling) -> PlacedNodes:
        found = laplacian_coordinates(
            batch.node_offsets, batch.indptr, batch.indices, self.n_dims, tiling.n_jobs
        )
        shares = batch.degrees if self.masses == "degree" else np.ones_like(batch.degrees)
        return PlacedNodes(np.asarray(batch.node_offsets), found.points, codes, shares)


def label_cost(label_weight: float, owner: str) -> float:
    """The amount that different labels add to the squared distance of nodes: 2·label_weight²."""
    cost = 2.0 * float(label_weight) * float(label_weight)
    if not np.isfinite(cost):
        raise ValueError(
            f"The 'label_weight' parameter of {owner} is {label_weight}: its square is not a "
            "finite number. Use a weight below 1e150."
        )
    return cost
