"""Lists given graph by graph, checked and concatenated into the columns of a batch.

Every error names the graph by its position. Checks that need all arcs are in `build`.
"""

from __future__ import annotations

import os
import reprlib
from collections.abc import Mapping, Sequence, Set
from itertools import chain
from typing import Any

import numpy as np

from gramlet.common.arrays import Floats, Ints
from gramlet.common.checks import is_integer
from gramlet.graphs.columns import Categorical, both_or_neither

__all__ = ["edge_array", "gather_columns"]

# Graphs of up to this many nodes are accepted even if few of the nodes have an edge.
_PLAIN_SIZE = 1_000_000
_NODES_PER_EDGE = 100


def gather_columns(
    edges_per_graph: Sequence[Any],
    *,
    n_nodes: Sequence[int] | None = None,
    node_labels: Sequence[Any] | None = None,
    edge_labels: Sequence[Any] | None = None,
    edge_weights: Sequence[Any] | None = None,
    node_attributes: Sequence[Any] | None = None,
    edge_attributes: Sequence[Any] | None = None,
) -> dict[str, Any]:
    """Check lists given graph by graph and concatenate them into columns."""
    edges = [edge_array(i, e) for i, e in enumerate(edges_per_graph)]
    _refuse_wrong_lengths(
        len(edges),
        n_nodes=n_nodes,
        node_labels=node_labels,
        edge_labels=edge_labels,
        edge_weights=edge_weights,
        node_attributes=node_attributes,
        edge_attributes=edge_attributes,
    )
    node_rows = _attribute_arrays("node_attributes", node_attributes)
    edge_rows = _attribute_arrays("edge_attributes", edge_attributes)
    sizes = _sizes(edges, n_nodes, node_labels, node_rows)
    n_edges = [len(e) for e in edges]
    offsets = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)]).astype(np.int64)
    arcs = np.concatenate([np.zeros((0, 2), np.int64), *edges])
    shift = np.repeat(offsets[:-1], n_edges)
    return {
        "node_offsets": offsets,
        "src": arcs[:, 0] + shift,
        "dst": arcs[:, 1] + shift,
        "node_labels": _labels("node_labels", node_labels, sizes, "nodes"),
        "edge_labels": _labels("edge_labels", edge_labels, n_edges, "edges"),
        "edge_weights": _weights("edge_weights", edge_weights, n_edges, "edges"),
        "node_attributes": _joined_attributes("node_attributes", node_rows, sizes, "nodes"),
        "edge_attributes": _joined_attributes("edge_attributes", edge_rows, n_edges, "edges"),
    }


def _refuse_wrong_lengths(n_graphs: int, **columns: Any) -> None:
    for name, column in columns.items():
        if column is None:
            continue
        if not _is_list(column):
            raise TypeError(
                f"{name} must be a list with one entry per graph; got {reprlib.repr(column)}."
            )
        if len(column) != n_graphs:
            raise ValueError(
                f"{name} has {len(column)} entries for {n_graphs} graphs; give one per graph."
            )


def _is_list(value: Any) -> bool:
    """Whether a value is a sequence; arrays without an axis are not."""
    has_length = hasattr(value, "__len__") and getattr(value, "ndim", 1) > 0
    return has_length and not isinstance(value, Mapping | Set)


# Edges and sizes


def edge_array(graph: int, edges: Any) -> Ints:
    """The edges of one graph as an (m, 2) array; an error names the graph."""
    try:
        array = np.asarray(edges if isinstance(edges, np.ndarray) else list(edges))
    except (TypeError, ValueError, OverflowError):
        raise ValueError(
            f"Graph {graph}: edges must be an (m, 2) array of integers; got {reprlib.repr(edges)}."
        ) from None
    if array.size == 0:
        return np.zeros((0, 2), dtype=np.int64)
    if array.dtype.kind in "ufO":
        _refuse_huge_numbers(graph, edges)
    if array.ndim != 2 or array.shape[1] != 2 or array.dtype.kind not in "iu":
        raise ValueError(
            f"Graph {graph}: edges must be an (m, 2) array of integers; got an array of shape "
            f"{array.shape} and type {array.dtype}."
        )
    return array.astype(np.int64)


def _refuse_huge_numbers(graph: int, edges: Any) -> None:
    """Refuse node numbers beyond 64-bit integers, which numpy would convert to other types."""
    rows = edges.tolist() if isinstance(edges, np.ndarray) else edges
    for row in rows if isinstance(rows, list | tuple) else ():
        for value in row if isinstance(row, list | tuple) else ():
            if is_integer(value) and not -(2**63) <= value < 2**63:
                raise ValueError(
                    f"Graph {graph} has an edge to node {value}; nodes are numbered from 0."
                )


def _sizes(edges: list[Ints], n_nodes: Any, node_labels: Any, node_rows: Any) -> list[int]:
    """The number of nodes of each graph."""
    sizes = [
        _size(
            i,
            e,
            None if n_nodes is None else n_nodes[i],
            None if node_labels is None else node_labels[i],
            None if node_rows is None else node_rows[i],
        )
        for i, e in enumerate(edges)
    ]
    total, memory = sum(sizes), _machine_memory()
    if 8 * total > memory:
        largest = max(range(len(sizes)), key=sizes.__getitem__)
        raise ValueError(
            f"The graphs have {total} nodes together (graph {largest} alone {sizes[largest]}): "
            f"their rows need {8 * total / 2**30:.3g} GiB and this machine has "
            f"{memory / 2**30:.3g} GiB. Check n_nodes."
        )
    return sizes


def _machine_memory() -> int:
    """Bytes of memory; if the system does not report it, more than any machine has."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return 2**45


def _size(graph: int, edges: Ints, stated: Any, labels: Any, attributes: Any) -> int:
    mentioned = int(edges.max()) + 1 if len(edges) else 0
    size = None if stated is None else _whole(graph, stated)
    for name, column in (("node_labels", labels), ("node_attributes", attributes)):
        if column is None:
            continue
        if not _is_list(column):
            raise TypeError(
                f"Graph {graph}: {name} must be a list in the order of the nodes; got "
                f"{reprlib.repr(column)}."
            )
        if size is not None and len(column) != size:
            raise ValueError(
                f"Graph {graph} has {size} nodes, but {len(column)} {name}; give one per node."
            )
        size = len(column)
    if size is None:
        size = mentioned
        if size > max(_PLAIN_SIZE, _NODES_PER_EDGE * len(edges)):
            raise ValueError(
                f"Graph {graph} has an edge to node {size - 1}, which would make a graph of {size} "
                f"nodes and {len(edges)} edges. Number the nodes from 0 without gaps, or, if this "
                "is meant, give n_nodes."
            )
    if size < 0:
        raise ValueError(f"Graph {graph}: the number of nodes must not be negative; got {size}.")
    if len(edges) and (edges.min() < 0 or mentioned > size):
        bad = edges[(edges < 0).any(1) | (edges >= size).any(1)][0]
        allowed = f"nodes are numbered 0 to {size - 1}" if size else "the graph has no nodes"
        raise ValueError(f"Graph {graph} has an edge ({bad[0]}, {bad[1]}), but {allowed}.")
    return size


def _whole(graph: int, stated: Any) -> int:
    if not is_integer(stated):
        raise TypeError(f"Graph {graph}: n_nodes must be an integer; got {reprlib.repr(stated)}.")
    return int(stated)


# Labels, weights, attributes


def _parts(name: str, column: Any, lengths: list[int], noun: str) -> list[Any] | None:
    """The entries of a column graph by graph, as many as expected; None if no graph has any."""
    if column is None or all(part is None for part in column):
        return None
    parts: list[Any] = []
    for graph, (part, length) in enumerate(zip(column, lengths, strict=True)):
        if part is None:
            if length:
                other = next(i for i, p in enumerate(column) if p is not None)
                raise ValueError(both_or_neither(name, other, graph))
            parts.append(())
            continue
        if not _is_list(part):
            raise TypeError(
                f"Graph {graph}: {name} must be a list in the order of the {noun}; got a "
                f"{type(part).__name__}."
            )
        if len(part) != length:
            raise ValueError(f"Graph {graph} has {length} {noun}, but {len(part)} {name}.")
        parts.append(part)
    return parts


def _labels(name: str, column: Any, lengths: list[int], noun: str) -> Categorical | None:
    parts = _parts(name, column, lengths, noun)
    if parts is None:
        return None
    try:
        return Categorical.from_values(chain.from_iterable(parts))
    except (TypeError, ValueError):
        for graph, part in enumerate(parts):
            try:
                Categorical.from_values(iter(part))
            except (TypeError, ValueError) as error:
                raise type(error)(f"Graph {graph}, {name}: {error}") from None
        raise


def _weights(name: str, column: Any, lengths: list[int], noun: str) -> Floats | None:
    parts = _parts(name, column, lengths, noun)
    if parts is None:
        return None
    arrays = [np.zeros(0)]
    for graph, part in enumerate(parts):
        try:
            arrays.append(_real(part).reshape(len(part)))
        except (TypeError, ValueError, OverflowError):
            raise ValueError(
                f"Graph {graph}: {name} must be numbers, one per edge; got {reprlib.repr(part)}."
            ) from None
    return np.concatenate(arrays)


def _real(values: Any) -> Floats:
    """Numbers as floats; texts, None and complex numbers, which numpy converts, are refused."""
    array = np.asarray(values)
    if array.size and array.dtype.kind not in "biufO":
        raise TypeError(f"not real numbers: {array.dtype}")
    if array.dtype == object and any(
        value is None or isinstance(value, str | bytes) for value in array.flat
    ):
        raise TypeError("texts and None are not numbers")
    return array.astype(np.float64)


def _attribute_arrays(name: str, column: Sequence[Any] | None) -> list[Any] | None:
    if column is None:
        return None
    noun = "node" if name == "node_attributes" else "edge"
    arrays: list[Any] = []
    for graph, part in enumerate(column):
        if part is None:
            arrays.append(None)
            continue
        try:
            array = _real(part)
        except (TypeError, ValueError, OverflowError):
            raise ValueError(
                f"Graph {graph}: {name} must be numbers, one row per {noun}; got "
                f"{reprlib.repr(part)}."
            ) from None
        if array.ndim == 0:
            raise ValueError(
                f"Graph {graph}: {name} must have one row per {noun}; got the number {array}."
            )
        arrays.append(array[:, None] if array.ndim == 1 and array.size else array)
    return arrays


def _joined_attributes(
    name: str, arrays: list[Any] | None, lengths: list[int], noun: str
) -> Floats | None:
    if arrays is None:
        return None
    for graph, (array, length) in enumerate(zip(arrays, lengths, strict=True)):
        if array is not None and len(array) != length:
            raise ValueError(f"Graph {graph} has {length} {noun}, but {len(array)} {name}.")
    full = [(i, a) for i, a in enumerate(arrays) if lengths[i]]
    given = [(i, a) for i, a in full if a is not None]
    if not given:
        return None
    other, first = given[0]
    for graph, array in full:
        if array is None:
            raise ValueError(both_or_neither(name, other, graph))
        if array.ndim != 2 or array.shape[1] != first.shape[-1]:
            raise ValueError(
                f"Graph {graph} has {name} of shape {array.shape}; graph {other} has "
                f"{first.shape[-1]} attributes per {noun[:-1]}. All graphs need the same number."
            )
    return np.concatenate([array for _, array in full])
