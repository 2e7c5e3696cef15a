"""Labelled isomorphism types of small induced subgraphs as features."""

from __future__ import annotations

import warnings

import numpy as np

from gramlet.common.arrays import Floats
from gramlet.common.stored_state import (
    LARGEST_COUNT,
    require_array,
    require_flag,
    require_instance,
    require_integer,
)
from gramlet.engine.core.signature_table import SignatureTable
from gramlet.engine.core.tiles import Tiling
from gramlet.engine.neighbourhoods.small_subgraphs import (
    MAX_NODES,
    SubgraphCounts,
    count_subgraphs,
    row_width,
)
from gramlet.graphs.batch import GraphBatch
from gramlet.kernels.contract.labels import EdgeLabels, NodeLabels
from gramlet.kernels.neighbourhoods.matching_profiles import WeightedCountProfile

__all__ = ["TypeCounter"]


class TypeCounter:
    """Counts induced subgraphs by type.

    The weight of a type of s nodes is λ_s times the number of its automorphisms.
    """

    def __init__(self, size_weights: Floats, connected: bool, with_edge_labels: bool) -> None:
        self.size_weights = size_weights
        self.connected = connected
        self.with_edge_labels = with_edge_labels

    def fit(self, batch: GraphBatch, tiling: Tiling) -> WeightedCountProfile:
        """Learn the types of these graphs and count them."""
        self.labels, self.edge_labels = NodeLabels(), EdgeLabels(self.with_edge_labels)
        codes, edges = self.labels.fit(batch), self.edge_labels.fit(batch)
        size = len(self.size_weights)
        found = count_subgraphs(batch, codes, edges, size, self.connected, tiling=tiling)
        self.types = found.table
        return self._weighted(found)

    def count(self, batch: GraphBatch, tiling: Tiling) -> WeightedCountProfile:
        """Count types in new graphs; columns after the fitted ones are unseen types."""
        codes, edges = self.labels.encode(batch), self.edge_labels.encode(batch)
        size = len(self.size_weights)
        found = count_subgraphs(
            batch, codes, edges, size, self.connected, self.types, tiling=tiling
        )
        return self._weighted(found)

    def _weighted(self, found: SubgraphCounts) -> WeightedCountProfile:
        weights = self.size_weights[found.n_nodes - 1] * found.automorphisms
        profile = WeightedCountProfile(found.counts, weights, len(self.types))
        largest = float(found.counts.data.max(initial=0.0)) ** 2 * weights.max(initial=0.0)
        if largest * max(1, found.counts.nnz) <= LARGEST_COUNT:
            return profile
        own = profile.norms()
        if own.max() > LARGEST_COUNT:
            worst = int(np.argmax(own))
            warnings.warn(
                f"SubgraphMatching: k(G, G) of graph {worst} is {own[worst]:.3g}, beyond 2**53: "
                "values are rounded to the 16 digits of a float.",
                stacklevel=2,
            )
        return profile

    def names(self) -> list[str]:
        """Each type by its labels and edges: ``C,C,O[0-1,1-2]``."""
        size = len(self.size_weights)
        nodes, edges = self.labels.names(), self.edge_labels.names()
        rows = self.types.data.reshape(-1, row_width(size)).tolist()
        return [_text(row, size, nodes, edges) for row in rows]

    def validate(self) -> None:
        """Raise ValueError if the fitted state does not fit together."""
        require_array("size_weights", self.size_weights, "float64", (None,), least=0.0)
        size = require_integer("size", len(self.size_weights), 1, MAX_NODES)
        require_flag("connected", self.connected)
        require_instance("labels", self.labels, NodeLabels)
        require_instance("edge_labels", self.edge_labels, EdgeLabels)
        require_instance("types", self.types, SignatureTable)
        self.types.validate(width=row_width(size))

    @property
    def n_features(self) -> int:
        """The number of fitted types."""
        return len(self.types)


def _text(row: list[int], size: int, nodes: list[str], edges: list[str] | None) -> str:
    n = row[0]
    labels = ",".join(nodes[code] for code in row[1 : 1 + n])
    if n == 1:
        return labels
    bonds = []
    for j in range(1, n):
        for i in range(j):
            code = row[1 + size + j * (j - 1) // 2 + i]
            if code:
                bonds.append(f"{i}-{j}" if edges is None else f"{i}-{edges[code - 1]}-{j}")
    return f"{labels}[{','.join(bonds)}]"
