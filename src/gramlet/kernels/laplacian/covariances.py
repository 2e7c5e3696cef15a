"""Covariance matrices of batches, checked to be regular.

A singular covariance has no kernel value; it is found here, before pairs are compared, and the
error names its graph.
"""

from __future__ import annotations

import numpy as np

from gramlet.common.arrays import Bools, Floats, Ints
from gramlet.engine.core.tiles import QUIET, Tiling
from gramlet.engine.laplacian.bhattacharyya import Covariances, smallest_pivots
from gramlet.engine.laplacian.covariances import (
    ball_covariances,
    graph_covariances,
    label_covariances,
    label_supports,
)
from gramlet.engine.laplacian.distinct_rows import equal_rows
from gramlet.engine.laplacian.pseudo_inverse import pseudo_inverse_covariances
from gramlet.engine.laplacian.sparse_covariances import (
    SupportedCovariances,
    logs_and_pivots,
)
from gramlet.graphs.batch import GraphBatch

__all__ = ["of_balls", "of_graphs", "of_labels", "of_nonzero_features", "widened"]


_EPSILON = float(np.finfo(np.float64).eps)


def of_graphs(
    batch: GraphBatch,
    rows: Floats,
    eta: float,
    gamma: float,
    pseudo_inverse: bool = False,
    tiling: Tiling = QUIET,
) -> Covariances:
    """S of every graph for features in rows; with ``pseudo_inverse``, of D − A without η."""
    if pseudo_inverse:
        packed = pseudo_inverse_covariances(batch, rows, gamma, tiling=tiling)
    else:
        packed = graph_covariances(batch, rows, eta, gamma, tiling=tiling)
    return _checked(packed, rows.shape[1], np.arange(len(batch)), gamma)


def of_balls(
    batch: GraphBatch,
    centres: Ints,
    hops: int,
    rows: Floats,
    eta: float,
    gamma: float,
    discount: bool = False,
    tiling: Tiling = QUIET,
) -> tuple[Covariances, Ints]:
    """The distinct S of the balls around these nodes, and which of them each ball has.

    With ``discount``, features are divided by hops + 1. Many neighbourhoods are alike: of the
    balls of radius 1 in 1,000 molecules, 1 in 200 has another S.
    """
    packed = ball_covariances(batch, centres, hops, rows, eta, gamma, discount, tiling=tiling)
    first, which = equal_rows(packed)
    graphs = batch.graph_of_node[np.asarray(centres)[first]]
    return _checked(packed[first], rows.shape[1], graphs, gamma), which


def of_labels(
    batch: GraphBatch, codes: Ints, eta: float, gamma: float, tiling: Tiling = QUIET
) -> SupportedCovariances:
    """S of every graph for one-hot labels, restricted to the labels that occur in it."""
    offsets, present, places = label_supports(batch, codes)
    starts, values = label_covariances(batch, offsets, places, eta, gamma, tiling=tiling)
    return _checked_supports(gamma, offsets, present, starts, values)


def of_nonzero_features(
    batch: GraphBatch, rows: Floats, eta: float, tiling: Tiling = QUIET
) -> SupportedCovariances:
    """S of every graph with γ = 0, without the columns that are zero for all of its nodes."""
    packed = graph_covariances(batch, rows, eta, 0.0, tiling=tiling)
    there = np.zeros((len(batch), rows.shape[1]), dtype=bool)
    np.logical_or.at(there, batch.graph_of_node, rows != 0)
    left, right = np.tril_indices(rows.shape[1])
    orders = there.sum(axis=1)
    return _checked_supports(
        0.0,
        np.concatenate([[0], np.cumsum(orders)]).astype(np.int64),
        np.nonzero(there)[1].astype(np.int64),
        np.concatenate([[0], np.cumsum(orders * (orders + 1) // 2)]).astype(np.int64),
        packed[there[:, left] & there[:, right]],
    )


def widened(covariances: Covariances, order: int, gamma: float) -> Covariances:
    """The matrices γI of graphs without nodes, in a space of another order."""
    identity = gamma * np.eye(order)[np.tril_indices(order)]
    return Covariances.build(np.tile(identity, (len(covariances), 1)), order)


def _checked(packed: Floats, order: int, graphs: Ints, gamma: float) -> Covariances:
    singular = smallest_pivots(packed, order) <= 4 * order * _EPSILON
    _refuse_singular(graphs, singular, gamma)
    return Covariances.build(packed, order)


def _checked_supports(
    gamma: float, offsets: Ints, codes: Ints, starts: Ints, values: Floats
) -> SupportedCovariances:
    logs, pivots = logs_and_pivots(offsets, codes, starts, values)
    singular = pivots <= 4 * np.diff(offsets) * _EPSILON
    _refuse_singular(np.arange(len(pivots)), singular, gamma)
    return SupportedCovariances(gamma, offsets, codes, starts, values, logs)


def _refuse_singular(graphs: Ints, singular: Bools, gamma: float) -> None:
    if not singular.any():
        return
    graph = int(graphs[singular.argmax()])
    if gamma > 0:
        raise ValueError(
            f"Graph {graph}: U L⁻¹ Uᵀ + γI is numerically singular: gamma={gamma} is too small "
            "compared with the features. Scale the features down, or raise gamma."
        )
    raise ValueError(
        f"Graph {graph}: U L⁻¹ Uᵀ is singular: the features of its nodes span fewer dimensions "
        "than there are features. Use gamma > 0."
    )
