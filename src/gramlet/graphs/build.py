"""Building the arrays of a batch: checks on edge lists, merging, symmetrising, CSR.

Every error names the graph by its position. `batch` calls this; nothing else needs to.
"""

from __future__ import annotations

import operator
import reprlib
from collections.abc import Mapping, Sequence, Set
from itertools import chain
from typing import Any

import numpy as np

from gramlet.common.arrays import Bools, Floats, Ints
from gramlet.graphs.columns import Categorical, both_or_neither

__all__ = ["check_columns", "csr_from_arcs", "gather_columns", "ranges"]


def ranges(starts: Ints, lengths: Ints) -> Ints:
    """The ranges ``starts[i] : starts[i] + lengths[i]``, concatenated.

    >>> ranges(np.array([5, 0]), np.array([2, 3])).tolist()
    [5, 6, 0, 1, 2]
    """
    lengths = np.asarray(lengths, dtype=np.int64)
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if len(ends) else 0
    return np.arange(total, dtype=np.int64) + np.repeat(starts - (ends - lengths), lengths)


def csr_from_arcs(
    node_offsets: Ints,
    src: Ints,
    dst: Ints,
    edge_labels: Categorical | None,
    edge_weights: Floats | None,
) -> tuple[Ints, Ints, Ints]:
    """CSR of the undirected simple graphs with these arcs, and the arc each entry came from."""
    n = int(node_offsets[-1])
    src = np.asarray(src, dtype=np.int64)
    dst = np.asarray(dst, dtype=np.int64)
    _refuse_arcs_outside(node_offsets, src, dst)
    _refuse_self_loops(node_offsets, src, dst)
    low, high = np.minimum(src, dst), np.maximum(src, dst)
    order = np.argsort(low * n + high, kind="stable")
    key = (low * n + high)[order]
    first_of_group = np.concatenate([[True], key[1:] != key[:-1]]) if len(key) else key.astype(bool)
    representative = order[first_of_group]
    if len(representative) < len(order):
        _refuse_conflicts(node_offsets, low, high, order, first_of_group, edge_labels, edge_weights)
    edges_low, edges_high = low[representative], high[representative]
    tails = np.concatenate([edges_low, edges_high])
    heads = np.concatenate([edges_high, edges_low])
    arrange = np.argsort(tails * n + heads, kind="stable")
    indptr = np.zeros(n + 1, dtype=np.int64)
    np.cumsum(np.bincount(tails, minlength=n), out=indptr[1:])
    return indptr, heads[arrange], np.concatenate([representative, representative])[arrange]


def _graph_at(node_offsets: Ints, node: int) -> tuple[int, int]:
    """The graph a node belongs to and the node's number within it."""
    graph = int(np.searchsorted(node_offsets, node, side="right")) - 1
    return graph, int(node - node_offsets[graph])


def check_columns(
    node_offsets: Ints,
    src: Ints,
    node_labels: Categorical | None,
    edge_labels: Categorical | None,
    edge_weights: Floats | None,
    node_attributes: Floats | None,
) -> None:
    """Columns must have one entry a node or an arc.

    Numbers that are NaN or infinite may be stored; the kernels that use them refuse them.
    """
    if len(node_offsets) == 0 or node_offsets[0] != 0 or (np.diff(node_offsets) < 0).any():
        raise ValueError("node_offsets must begin with 0 and never fall.")
    n_nodes, n_arcs = int(node_offsets[-1]), len(src)
    for name, column, length, noun in (
        ("node_labels", node_labels, n_nodes, "nodes"),
        ("node_attributes", node_attributes, n_nodes, "nodes"),
        ("edge_labels", edge_labels, n_arcs, "arcs"),
        ("edge_weights", edge_weights, n_arcs, "arcs"),
    ):
        if column is not None and len(column) != length:
            raise ValueError(f"There are {length} {noun}, but {len(column)} {name}.")
    if node_attributes is not None and node_attributes.ndim != 2:
        raise ValueError(
            "node_attributes must have one row a node and one column an attribute; got an "
            f"array of shape {node_attributes.shape}."
        )


def _refuse_arcs_outside(node_offsets: Ints, src: Ints, dst: Ints) -> None:
    """Arcs must join two nodes that exist, of one graph."""
    if len(src) != len(dst):
        raise ValueError(f"src and dst must be of equal length; got {len(src)} and {len(dst)}.")
    n = int(node_offsets[-1])
    outside = np.flatnonzero((src < 0) | (src >= n) | (dst < 0) | (dst >= n))
    if len(outside):
        arc = outside[0]
        raise ValueError(
            f"There is an arc from node {src[arc]} to node {dst[arc]}, but all graphs together "
            f"have {n} nodes, numbered from 0."
        )
    graph_of_node = np.repeat(np.arange(len(node_offsets) - 1), np.diff(node_offsets))
    astray = np.flatnonzero(graph_of_node[src] != graph_of_node[dst])
    if len(astray):
        (graph, u), (other, v) = (_graph_at(node_offsets, int(e[astray[0]])) for e in (src, dst))
        raise ValueError(
            f"There is an arc from node {u} of graph {graph} to node {v} of graph {other}; "
            "an edge must stay within one graph."
        )


def _refuse_self_loops(node_offsets: Ints, src: Ints, dst: Ints) -> None:
    loops = np.flatnonzero(src == dst)
    if len(loops):
        graph, node = _graph_at(node_offsets, int(src[loops[0]]))
        raise ValueError(
            f"Graph {graph} has a self-loop at node {node} ({len(loops)} self-loops in all). "
            "Graphs are simple: remove self-loops first."
        )


def _refuse_conflicts(
    node_offsets: Ints,
    low: Ints,
    high: Ints,
    order: Ints,
    first_of_group: Bools,
    edge_labels: Categorical | None,
    edge_weights: Floats | None,
) -> None:
    """Repeated edges may be merged only where their labels and weights agree."""
    group_first = order[first_of_group][np.cumsum(first_of_group) - 1]
    for what, values in (
        ("labels", None if edge_labels is None else edge_labels.codes),
        ("weights", None if edge_weights is None else np.asarray(edge_weights)),
    ):
        if values is None:
            continue
        here, there = values[order], values[group_first]
        differs = np.flatnonzero((here != there) & ~((here != here) & (there != there)))
        if len(differs):
            arc = order[differs[0]]
            graph, u = _graph_at(node_offsets, int(low[arc]))
            v = int(high[arc] - node_offsets[graph])
            raise ValueError(
                f"Graph {graph} lists the edge ({u}, {v}) more than once, with different {what}. "
                "Graphs are simple and undirected: keep one of them."
            )


def gather_columns(
    edges_per_graph: Sequence[Any],
    n_nodes: Sequence[int] | None,
    node_labels: Sequence[Any] | None,
    edge_labels: Sequence[Any] | None,
    edge_weights: Sequence[Any] | None,
    node_attributes: Sequence[Any] | None,
) -> dict[str, Any]:
    """Check lists given graph by graph and concatenate them into columns."""
    edges = [_edge_array(i, e) for i, e in enumerate(edges_per_graph)]
    n_graphs = len(edges)
    for name, column in (
        ("n_nodes", n_nodes),
        ("node_labels", node_labels),
        ("edge_labels", edge_labels),
        ("edge_weights", edge_weights),
        ("node_attributes", node_attributes),
    ):
        if column is None:
            continue
        if not hasattr(column, "__len__") or isinstance(column, Mapping | Set):
            raise TypeError(
                f"{name} must be a list with one entry a graph; got {reprlib.repr(column)}."
            )
        if len(column) != n_graphs:
            raise ValueError(
                f"{name} has {len(column)} entries for {n_graphs} graphs; give one a graph."
            )
    attributes = _attribute_arrays(node_attributes)
    sizes = [
        _size(
            i,
            edges[i],
            None if n_nodes is None else n_nodes[i],
            None if node_labels is None else node_labels[i],
            None if attributes is None else attributes[i],
        )
        for i in range(n_graphs)
    ]
    n_edges = [len(e) for e in edges]
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    arcs = np.concatenate([np.zeros((0, 2), np.int64), *edges])
    shift = np.repeat(offsets[:-1], n_edges)
    return {
        "node_offsets": offsets,
        "src": arcs[:, 0] + shift,
        "dst": arcs[:, 1] + shift,
        "node_labels": _labels("node_labels", node_labels, sizes, "nodes"),
        "edge_labels": _labels("edge_labels", edge_labels, n_edges, "edges"),
        "edge_weights": _weights("edge_weights", edge_weights, n_edges, "edges"),
        "node_attributes": _joined_attributes(attributes, sizes),
    }


def _edge_array(graph: int, edges: Any) -> Ints:
    try:
        array = np.asarray(edges if isinstance(edges, np.ndarray) else list(edges))
    except (TypeError, ValueError):
        raise ValueError(
            f"Graph {graph}: edges must be an (m, 2) array of integers; got {reprlib.repr(edges)}."
        ) from None
    if array.size == 0:
        return np.zeros((0, 2), dtype=np.int64)
    if array.ndim != 2 or array.shape[1] != 2 or array.dtype.kind not in "iu":
        raise ValueError(
            f"Graph {graph}: edges must be an (m, 2) array of integers; got an array of shape "
            f"{array.shape} and type {array.dtype}."
        )
    return array.astype(np.int64)


def _size(graph: int, edges: Ints, stated: Any, labels: Any, attributes: Any) -> int:
    mentioned = int(edges.max()) + 1 if len(edges) else 0
    lengths = {
        "node_labels": None if labels is None else len(labels),
        "node_attributes": None if attributes is None else len(attributes),
    }
    size = None if stated is None else _whole(graph, stated)
    for name, length in lengths.items():
        if length is None:
            continue
        if size is not None and length != size:
            raise ValueError(
                f"Graph {graph} has {size} nodes, but {length} {name}; give one a node."
            )
        size = length
    if size is None:
        size = mentioned
    if size < 0:
        raise ValueError(f"Graph {graph}: the number of nodes must not be negative; got {size}.")
    if len(edges) and (edges.min() < 0 or mentioned > size):
        bad = edges[(edges < 0).any(1) | (edges >= size).any(1)][0]
        allowed = f"nodes are numbered 0 to {size - 1}" if size else "the graph has no nodes"
        raise ValueError(f"Graph {graph} has an edge ({bad[0]}, {bad[1]}), but {allowed}.")
    return size


def _whole(graph: int, stated: Any) -> int:
    try:
        return operator.index(stated)
    except TypeError:
        raise TypeError(
            f"Graph {graph}: n_nodes must be an integer; got {reprlib.repr(stated)}."
        ) from None


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
        if isinstance(part, Mapping | Set):
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
            arrays.append(np.asarray(part, dtype=np.float64).reshape(len(part)))
        except (TypeError, ValueError):
            raise ValueError(
                f"Graph {graph}: {name} must be numbers, one an edge; got {reprlib.repr(part)}."
            ) from None
    return np.concatenate(arrays)


def _attribute_arrays(node_attributes: Sequence[Any] | None) -> list[Any] | None:
    if node_attributes is None:
        return None
    arrays: list[Any] = []
    for graph, part in enumerate(node_attributes):
        if part is None:
            arrays.append(None)
            continue
        try:
            array = np.asarray(part, dtype=np.float64)
        except (TypeError, ValueError):
            raise ValueError(
                f"Graph {graph}: node_attributes must be numbers, one row a node."
            ) from None
        arrays.append(array[:, None] if array.ndim == 1 and array.size else array)
    return arrays


def _joined_attributes(arrays: list[Any] | None, sizes: list[int]) -> Floats | None:
    if arrays is None:
        return None
    full = [(i, a) for i, a in enumerate(arrays) if sizes[i]]
    given = [(i, a) for i, a in full if a is not None]
    if not given:
        return None
    other, first = given[0]
    for graph, array in full:
        if array is None:
            raise ValueError(both_or_neither("node_attributes", other, graph))
        if array.ndim != 2 or array.shape[1] != first.shape[1]:
            raise ValueError(
                f"Graph {graph} has node_attributes of shape {array.shape}; graph {other} has "
                f"{first.shape[-1]} attributes a node. All graphs need the same number."
            )
    return np.concatenate([array for _, array in full])
