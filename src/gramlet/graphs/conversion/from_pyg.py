"""PyTorch Geometric's ``Data``. Neither it nor torch is imported here."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gramlet.common.arrays import Array, Floats
from gramlet.graphs.conversion.names import AttributeNames
from gramlet.graphs.conversion.record import GraphRecord
from gramlet.graphs.conversion.symmetry import is_symmetric

__all__ = ["from_pyg", "settle_one_hot"]


def from_pyg(position: int, data: Any, names: AttributeNames) -> GraphRecord:
    """A PyTorch Geometric ``Data`` object.

    ``x`` gives node attributes, or node labels if it is one column of integers; ``edge_weight``
    gives weights; ``edge_attr`` gives edge labels (integers in one column, or one-hot rows),
    weights (floats in one column, if there is no ``edge_weight``) or edge attributes. The graph
    counts as directed if some arc has no opposite, or an opposite with other data.
    """
    if data.edge_index is None and getattr(data, "adj_t", None) is not None:
        raise ValueError(
            f"Graph {position}: this Data object stores its edges in adj_t; "
            "give it an edge_index instead."
        )
    found, edge_attr = _array(data.edge_index), _array(data.edge_attr)
    edges = np.zeros((0, 2), dtype=np.int64) if found is None else found.T
    node_labels, node_attributes = _of_nodes(_array(data.x))
    on = _of_edges(edge_attr, _array(getattr(data, "edge_weight", None)))
    _refuse_wrong_lengths(position, len(edges), on)
    symmetric = edges.ndim != 2 or is_symmetric(edges, *on)
    return GraphRecord(
        edges=edges,
        n_nodes=int(data.num_nodes or 0),
        node_labels=node_labels,
        edge_labels=None if on.labels is None else on.labels.tolist(),
        edge_weights=on.weights,
        node_attributes=node_attributes,
        edge_attributes=on.attributes,
        directed=None if symmetric else True,
        one_hot=edge_attr if edge_attr is not None and _are_labels(edge_attr) else None,
    )


def settle_one_hot(records: list[GraphRecord]) -> None:
    """Turn one-hot rows back into attributes if some graph has rows that are not one-hot.

    Which bonds a molecule has must not decide what its columns mean.
    """
    if not any(record.edge_attributes is not None for record in records):
        return
    for record in records:
        if record.one_hot is not None:
            record.edge_labels = None
            record.edge_attributes = record.one_hot.astype(np.float64)


class _EdgeColumns(NamedTuple):
    labels: Array | None
    weights: Array | None
    attributes: Array | None


def _array(tensor: Any) -> Array | None:
    return None if tensor is None else tensor.detach().cpu().numpy()


def _one_column(array: Array) -> bool:
    return array.ndim == 1 or (array.ndim == 2 and array.shape[1] == 1)


def _of_nodes(x: Array | None) -> tuple[list[Any] | None, Floats | None]:
    """Node labels and node attributes from ``x``."""
    if x is None or (x.ndim == 2 and x.shape[1] == 0):
        return None, None
    if x.dtype.kind in "iu" and _one_column(x):
        return x.reshape(-1).tolist(), None
    return None, x.reshape(len(x), -1).astype(np.float64)


def _of_edges(edge_attr: Array | None, edge_weight: Array | None) -> _EdgeColumns:
    """Edge labels, weights and attributes from ``edge_attr`` and ``edge_weight``."""
    weights = None if edge_weight is None else edge_weight.reshape(len(edge_weight))
    if edge_attr is None or (edge_attr.ndim == 2 and edge_attr.shape[1] == 0):
        return _EdgeColumns(None, weights, None)
    if _one_column(edge_attr) and edge_attr.dtype.kind in "iub":
        return _EdgeColumns(edge_attr.reshape(-1), weights, None)
    if _one_column(edge_attr) and weights is None:
        return _EdgeColumns(None, edge_attr.reshape(-1), None)
    if _are_labels(edge_attr):
        return _EdgeColumns(edge_attr.argmax(axis=1), weights, None)
    rows = edge_attr.reshape(len(edge_attr), -1).astype(np.float64)
    return _EdgeColumns(None, weights, rows)


def _are_labels(rows: Array) -> bool:
    """Whether these are one-hot rows of several columns."""
    if _one_column(rows) or rows.ndim != 2:
        return False
    return bool(((rows == 0) | (rows == 1)).all() and (rows.sum(axis=1) == 1).all())


def _refuse_wrong_lengths(position: int, n_arcs: int, columns: _EdgeColumns) -> None:
    for column in columns:
        if column is not None and len(column) != n_arcs:
            raise ValueError(
                f"Graph {position} has {n_arcs} columns in edge_index, but {len(column)} rows in "
                "edge_attr or edge_weight."
            )
