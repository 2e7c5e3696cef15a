"""Checks of columns that some kernels need: attributes must exist and be finite, weights valid.

All messages have the same wording; every error names the graph.
"""

from __future__ import annotations

import numpy as np

from gramlet.common.arrays import Floats
from gramlet.graphs.batch import GraphBatch

LARGEST = 1e140  # sums of squares of larger numbers may overflow


def required_attributes(batch: GraphBatch, name: str, width: int | None = None) -> Floats:
    """The node attributes, checked to be finite, not too large and of the fitted width.

    ``name`` is the kernel's name, for messages.
    """
    if batch.n_nodes_total == 0:
        return np.zeros((0, width or 0))
    if batch.node_attributes is None:
        graph = int(np.flatnonzero(batch.sizes)[0])
        raise ValueError(
            f"{name} needs node attributes, but graph {graph} has none. Give node_attributes to "
            "every graph, or use a kernel on labels."
        )
    values = batch.node_attributes
    finite = np.isfinite(values)
    wrong, why, way_out = ~finite, "not finite", "Replace missing values first."
    if finite.all():
        wrong, why, way_out = np.abs(values) > LARGEST, f"beyond {LARGEST:g}", "Scale them first."
    bad = np.flatnonzero(wrong.any(axis=1))
    if len(bad):
        graph, node = place_of(batch, bad[0])
        raise ValueError(
            f"{name}: the attributes of node {node} of graph {graph} are {why}: "
            f"{values[bad[0]].tolist()}. {way_out}"
        )
    if width is not None and values.shape[1] != width:
        raise ValueError(
            f"{name} was fitted on graphs with {width} attributes per node, but is given graphs "
            f"with {values.shape[1]}."
        )
    return values


def required_edge_attributes(batch: GraphBatch, name: str, width: int | None = None) -> Floats:
    """The edge attributes, one row per arc, checked as in `required_attributes`."""
    if len(batch.indices) == 0:
        return np.zeros((0, width or 0))
    if batch.edge_attributes is None:
        graph = int(np.flatnonzero(batch.n_edges)[0])
        raise ValueError(
            f"{name} needs edge attributes, but graph {graph} has none. Give edge_attributes to "
            "every graph, or use a kernel on edge labels."
        )
    values = batch.edge_attributes
    bad = np.flatnonzero(~(np.abs(values) <= LARGEST).all(axis=1))
    if len(bad):
        tails, heads = batch.arcs()
        graph, tail = place_of(batch, tails[bad[0]])
        head = place_of(batch, heads[bad[0]])[1]
        raise ValueError(
            f"{name}: the attributes of edge ({tail}, {head}) of graph {graph} are not finite or "
            f"beyond {LARGEST:g}: {values[bad[0]].tolist()}. Replace or scale them first."
        )
    if width is not None and values.shape[1] != width:
        raise ValueError(
            f"{name} was fitted on graphs with {width} attributes per edge, but is given graphs "
            f"with {values.shape[1]}."
        )
    return values


def place_of(batch: GraphBatch, node: int) -> tuple[int, int]:
    """The graph of a node of the batch and the node's number there, for messages."""
    graph = int(batch.graph_of_node[node])
    return graph, int(node - batch.node_offsets[graph])


def checked_weights(batch: GraphBatch, name: str, *, positive: bool) -> Floats | None:
    """The edge weights (None if there are none), checked to be finite.

    ``positive``: for lengths of paths, which also need weights above 0 and sums that are finite.
    """
    weights = batch.edge_weights
    if weights is None:
        return None
    bad = ~np.isfinite(weights)
    if positive:
        bad |= ~(weights > 0)
    if bad.any():
        arc = int(np.flatnonzero(bad)[0])
        tail = int(np.searchsorted(batch.indptr, arc, side="right") - 1)
        graph = int(batch.graph_of_node[tail])
        first = batch.node_offsets[graph]
        wanted = "finite and above 0" if positive else "finite"
        raise ValueError(
            f"{name}: the edge ({tail - first}, "
            f"{int(batch.indices[arc]) - first}) of graph {graph} has weight {weights[arc]}; "
            f"weights must be {wanted}."
        )
    if positive:
        _require_finite_sums(batch, weights, name)
    return weights


def require_fitted_weights(batch: GraphBatch, name: str) -> None:
    """Raise a ValueError if new graphs have no weights; those that were fitted have."""
    if batch.edge_weights is None and len(batch.indices):
        graph = int(np.flatnonzero(batch.n_edges)[0])
        raise ValueError(
            f"{name}(weighted=True) was fitted on graphs with edge weights, but graph {graph} has "
            "none. Give edge_weights to every graph, or use weighted=False."
        )


def _require_finite_sums(batch: GraphBatch, weights: Floats, name: str) -> None:
    """Raise a ValueError if the length of a path could be infinite."""
    if len(weights) == 0 or weights.max() < np.finfo(float).max / len(weights):
        return
    owners = np.repeat(batch.graph_of_node, np.diff(batch.indptr))
    infinite = np.flatnonzero(~np.isfinite(np.bincount(owners, weights)))
    if len(infinite):
        graph = int(infinite[0])
        raise ValueError(
            f"{name}: the weights of graph {graph} are up to {weights[owners == graph].max():g}, "
            "and their sum is beyond the largest number. Divide all weights by a constant."
        )
