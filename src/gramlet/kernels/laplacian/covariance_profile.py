"""Graphs as covariance matrices, compared by the overlap of their Gaussians.

Two profiles: matrices of one order, and matrices on coordinates of their own, such as the labels
that occur in a graph. A singular covariance has no kernel value; it is found here, before pairs are
compared, and the error names its graph.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from gramlet.common.arrays import Bools, Floats, Ints
from gramlet.common.fields import Instance, Number, fields
from gramlet.engine.core.ragged import offsets_of
from gramlet.engine.core.tiles import QUIET, Tiling
from gramlet.engine.laplacian.bhattacharyya import (
    Covariances,
    compare,
    compare_self,
    smallest_pivots,
)
from gramlet.engine.laplacian.covariances import (
    graph_covariances,
    label_covariances,
    pseudo_inverse_covariances,
)
from gramlet.engine.laplacian.supports import (
    SupportedCovariances,
    compare_supported,
    compare_supported_self,
    logs_and_pivots,
)
from gramlet.graphs.batch import GraphBatch
from gramlet.kernels.contract.profile import Profile

_EPSILON = float(np.finfo(np.float64).eps)


class UnitProfile(Profile):
    """A profile of graphs with k(G, G) = 1."""

    def norms(self, tiling: Tiling = QUIET) -> Floats:
        return np.ones(len(self))


@dataclass(frozen=True)
class CovarianceProfile(UnitProfile):
    """Covariances of one order.

    Attributes
    ----------
    covariances : Covariances
    gamma : float
        The diagonal of the matrices of graphs without nodes.
    """

    covariances: Covariances
    gamma: float

    stored = fields(covariances=Instance(Covariances), gamma=Number(0.0))

    def __len__(self) -> int:
        return len(self.covariances)

    def take(self, rows: Ints) -> CovarianceProfile:
        return replace(self, covariances=self.covariances.take(rows))

    def compare(self, other: CovarianceProfile, tiling: Tiling = QUIET) -> Floats:
        fitted = other.covariances
        if fitted.order != self.covariances.order:
            # Only graphs without nodes were fitted, which have any number of features.
            fitted = widened(fitted, self.covariances.order, self.gamma)
        return compare(self.covariances, fitted, tiling=tiling)

    def compare_self(self, tiling: Tiling = QUIET) -> Floats:
        return compare_self(self.covariances, tiling=tiling)


@dataclass(frozen=True)
class SupportedProfile(UnitProfile):
    """Covariances on few coordinates each."""

    covariances: SupportedCovariances

    stored = fields(covariances=Instance(SupportedCovariances))

    def __len__(self) -> int:
        return len(self.covariances)

    def take(self, rows: Ints) -> SupportedProfile:
        return SupportedProfile(self.covariances.take(rows))

    def compare(self, other: SupportedProfile, tiling: Tiling = QUIET) -> Floats:
        return compare_supported(self.covariances, other.covariances, tiling=tiling)

    def compare_self(self, tiling: Tiling = QUIET) -> Floats:
        return compare_supported_self(self.covariances, tiling=tiling)


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
    return checked(packed, rows.shape[1], np.arange(len(batch)), gamma)


def of_labels(
    batch: GraphBatch, codes: Ints, eta: float, gamma: float, tiling: Tiling = QUIET
) -> SupportedCovariances:
    """S of every graph for one-hot labels, restricted to the labels that occur in it."""
    return _checked_supports(gamma, *label_covariances(batch, codes, eta, gamma, tiling=tiling))


def of_nonzero_features(
    batch: GraphBatch, rows: Floats, eta: float, tiling: Tiling = QUIET
) -> SupportedCovariances:
    """S of every graph with γ = 0, without the columns that are zero for all of its nodes."""
    packed = graph_covariances(batch, rows, eta, 0.0, tiling=tiling)
    nonzero = np.zeros((len(batch), rows.shape[1]), dtype=bool)
    np.logical_or.at(nonzero, batch.graph_of_node, rows != 0)
    left, right = np.tril_indices(rows.shape[1])
    orders = nonzero.sum(axis=1)
    return _checked_supports(
        0.0,
        offsets_of(orders),
        np.nonzero(nonzero)[1].astype(np.int64),
        offsets_of(orders * (orders + 1) // 2),
        packed[nonzero[:, left] & nonzero[:, right]],
    )


def widened(covariances: Covariances, order: int, gamma: float) -> Covariances:
    """The matrices γI of graphs without nodes, in a space of another order."""
    identity = gamma * np.eye(order)[np.tril_indices(order)]
    return Covariances.build(np.tile(identity, (len(covariances), 1)), order)


def checked(packed: Floats, order: int, graphs: Ints, gamma: float) -> Covariances:
    singular = smallest_pivots(packed, order) <= 4 * order * _EPSILON
    _refuse_singular(graphs, singular, gamma)
    return Covariances.build(packed, order)


def _checked_supports(
    gamma: float, offsets: Ints, codes: Ints, starts: Ints, values: Floats
) -> SupportedCovariances:
    orders = np.diff(offsets)
    logs, pivots = logs_and_pivots(orders, starts, values)
    singular = pivots <= 4 * orders * _EPSILON
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
