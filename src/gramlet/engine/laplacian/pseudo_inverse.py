"""Laplacians of whole graphs inverted without regularisation: their pseudo-inverses.

D − A = V diag(λ) Vᵀ always has the eigenvalue 0; eigenvalues that are not above a share of the
largest are dropped, the others are inverted. Graphs of one size are decomposed together.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gramlet.common.arrays import Floats, Ints
from gramlet.engine.core.stacked_matrices import for_eigensystems
from gramlet.engine.core.tiles import QUIET, Tiling
from gramlet.engine.laplacian.covariances import laplacian_stacks
from gramlet.graphs.batch import GraphBatch

__all__ = ["half_inverses", "pseudo_inverse_covariances"]

# Eigenvalues not above this share of the largest count as 0.
_DROPPED = 1e-4
# An eigenvalue that is further below 0 than this share of the largest is not a rounding error.
_NEGATIVE = 1e-9


def half_inverses(batch: GraphBatch, tiling: Tiling = QUIET) -> Floats:
    """H with HᵀH = (D − A)⁺ of every graph, as flat square matrices one after the other."""
    starts = np.concatenate([[0], np.cumsum(batch.sizes.astype(np.int64) ** 2)])
    out = np.empty(starts[-1])

    def write(graphs: Ints, halves: Floats) -> None:
        for graph, half in zip(graphs, halves, strict=True):
            out[starts[graph] : starts[graph + 1]] = half.reshape(-1)

    _decompose(batch, write, tiling)
    return out


def pseudo_inverse_covariances(
    batch: GraphBatch, coordinates: Floats, gamma: float, tiling: Tiling = QUIET
) -> Floats:
    """S = U (D − A)⁺ Uᵀ + γI of every graph, as packed lower triangles.

    S is γI for a graph without edges. The rows of ``coordinates``, one per node, are the columns
    of U.
    """
    order = coordinates.shape[1]
    triangle = np.tril_indices(order)
    packed = np.tile(gamma * np.eye(order)[triangle], (len(batch), 1))

    def write(graphs: Ints, halves: Floats) -> None:
        nodes = batch.node_offsets[graphs][:, None] + np.arange(halves.shape[1])
        moved = halves @ coordinates[nodes]
        squares = moved.transpose(0, 2, 1) @ moved
        packed[graphs] += squares[:, triangle[0], triangle[1]]

    _decompose(batch, write, tiling)
    return packed


def _decompose(batch: GraphBatch, write: Callable[[Ints, Floats], None], tiling: Tiling) -> None:
    """Call ``write`` with graphs of one size and their H, (graphs, size, size)."""
    indefinite = np.zeros(len(batch), dtype=bool)

    def halve(graphs: Ints, solved: tuple[Floats, Floats]) -> None:
        values, vectors = solved
        largest = np.abs(values).max(axis=1, keepdims=True)
        indefinite[graphs] = values[:, 0] < -_NEGATIVE * largest[:, 0]
        kept = values > _DROPPED * largest
        roots = np.where(kept, 1.0 / np.sqrt(np.where(kept, values, 1.0)), 0.0)
        write(graphs, roots[:, :, None] * vectors.transpose(0, 2, 1))

    for_eigensystems(batch.sizes, laplacian_stacks(batch), halve, tiling=tiling)
    if indefinite.any():
        raise ValueError(
            f"Graph {int(indefinite.argmax())}: D − A has negative eigenvalues, because edge "
            "weights are negative. Use weights of at least 0."
        )
