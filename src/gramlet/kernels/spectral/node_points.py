"""Nodes as labelled points with masses: what earth mover's distances between graphs compare.

Coordinates come from the engine for spectra, masses from degrees; what happens to the points is
left to `earth_mover` and to the random graph embedding.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np

from gramlet.common.arrays import Floats, Ints
from gramlet.common.parameters import Interval, StrOptions
from gramlet.engine.spectral.coordinates import laplacian_coordinates
from gramlet.engine.transport.earth_mover import MassPoints, mass_points
from gramlet.graphs.batch import GraphBatch
from gramlet.kernels.contract.vocabulary import LabelVocabulary
from gramlet.kernels.spectral.pyramid_match import uses_labels

__all__ = ["NODE_POINT_CONSTRAINTS", "NodeReader", "PlacedNodes"]


NODE_POINT_CONSTRAINTS: dict[str, list[Any]] = {
    "n_dims": [Interval(Integral, 1, None, closed="left")],
    "gamma": [Interval(Real, 0, None, closed="neither")],
    "use_labels": ["boolean", StrOptions({"auto"})],
    "label_weight": [Interval(Real, 0, None, closed="left")],
}


@dataclass
class PlacedNodes:
    """The nodes of a batch: coordinates (one row a node), label codes and degrees."""

    offsets: Ints
    points: Floats
    labels: Ints
    degrees: Ints

    def with_masses(self) -> MassPoints:
        """Masses degree / Σ degree, all alike without an edge; isolated nodes carry none."""
        return mass_points(self.offsets, self.points, self.labels, self.degrees)


class NodeReader:
    """Reads the nodes of graphs with the labels of the fitted ones.

    Parameters
    ----------
    n_dims : int
        Coordinates a node, from the smallest eigenvalues of the normalised Laplacian.
    use_labels : bool or "auto"
        "auto": if the fitted graphs have labels.
    """

    def __init__(self, n_dims: int, use_labels: bool | str) -> None:
        self.n_dims = n_dims
        self.choice = use_labels

    def fit(self, batch: GraphBatch, n_jobs: int | None) -> PlacedNodes:
        self.with_labels = uses_labels(self.choice, batch)
        column = batch.node_labels if self.with_labels else None
        self.labels, codes = LabelVocabulary.fit(column, batch.n_nodes_total, "node labels")
        return self._placed(batch, codes, n_jobs)

    def read(self, batch: GraphBatch, n_jobs: int | None) -> PlacedNodes:
        column = batch.node_labels if self.with_labels else None
        return self._placed(batch, self.labels.encode(column, batch.n_nodes_total), n_jobs)

    def _placed(self, batch: GraphBatch, codes: Ints, n_jobs: int | None) -> PlacedNodes:
        found = laplacian_coordinates(
            batch.node_offsets, batch.indptr, batch.indices, self.n_dims, n_jobs
        )
        return PlacedNodes(np.asarray(batch.node_offsets), found.points, codes, batch.degrees)
