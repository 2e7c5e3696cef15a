"""Adjacency matrices, numpy's and scipy's; scipy is not imported here."""

from __future__ import annotations

from typing import Any

import numpy as np

from gramlet.common.arrays import Array
from gramlet.graphs.conversion.names import AttributeNames
from gramlet.graphs.conversion.record import GraphRecord
from gramlet.graphs.conversion.symmetry import is_symmetric

__all__ = ["from_matrix"]


def from_matrix(position: int, matrix: Any, names: AttributeNames) -> GraphRecord:
    """An adjacency matrix, dense or sparse; entries other than 0 and 1 are weights.

    The graph counts as directed if some a_ij differs from a_ji.
    """
    if getattr(matrix, "ndim", 2) != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError(
            f"Graph {position}: an adjacency matrix must be square; got shape {matrix.shape}."
        )
    if matrix.dtype.kind not in "biuf":
        raise ValueError(
            f"Graph {position}: an adjacency matrix must contain real numbers or booleans; got "
            f"type {matrix.dtype}."
        )
    rows, columns, values = _nonzero(matrix)
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        raise ValueError(
            f"Graph {position}: the adjacency matrix has entries that are NaN or infinite; "
            "write 0 where there is no edge."
        )
    if (rows == columns).any():
        node = int(rows[rows == columns][0])
        raise ValueError(
            f"Graph {position} has a self-loop at node {node} (a nonzero entry on the diagonal "
            "of its adjacency matrix). Graphs are simple: set the diagonal to 0."
        )
    arcs = np.array([rows, columns], dtype=np.int64).T
    if isinstance(matrix, np.ndarray):
        symmetric = np.array_equal(matrix, matrix.T)
    else:
        symmetric = is_symmetric(arcs, values)
    return GraphRecord(
        edges=arcs,
        n_nodes=matrix.shape[0],
        edge_weights=values.astype(np.float64),
        ones_only=bool((values == 1).all()),
        directed=None if symmetric else True,
    )


def _nonzero(matrix: Any) -> tuple[Array, Array, Array]:
    if isinstance(matrix, np.ndarray):
        dense = np.asarray(matrix)  # np.matrix would keep its values two-dimensional
        rows, columns = np.nonzero(dense)
        return rows, columns, dense[rows, columns]
    entries = matrix.tocoo(copy=True)  # a copy: summing duplicates works in place
    entries.sum_duplicates()
    there = entries.data != 0
    return entries.row[there], entries.col[there], entries.data[there]
