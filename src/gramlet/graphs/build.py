"""Building the arrays of a batch from arcs: checks, merging of repeats, symmetrising, CSR.

Every error names the graph by its position. Lists given graph by graph are read in `gather`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gramlet.common.arrays import Array, Bools, Ints, Nodes
from gramlet.graphs.columns import Categorical

__all__ = [
    "EDGE_COLUMNS",
    "GRAPH_COLUMNS",
    "NODE_COLUMNS",
    "check_columns",
    "csr_from_arcs",
    "narrow",
    "ranges",
    "width_for",
]

NODE_COLUMNS = ("node_labels", "node_attributes")
EDGE_COLUMNS = ("edge_labels", "edge_weights", "edge_attributes")
GRAPH_COLUMNS = ("molecules",)


# Batches of more nodes have numbers of 64 bits.
_MOST_NARROW = 2**31


def width_for(n_nodes: int) -> str:
    """The type for numbers of nodes below ``n_nodes``: 32 bits, or 64 if they do not fit.

    It depends on the number of nodes alone, so that compiled code meets one type in nearly all
    batches.

    >>> width_for(2**31), width_for(2**31 + 1)
    ('int32', 'int64')
    """
    return "int32" if n_nodes <= _MOST_NARROW else "int64"


def narrow(numbers: Array, n_nodes: int) -> Nodes:
    """Numbers of nodes below ``n_nodes`` in the type of `width_for`."""
    numbers, width = np.asarray(numbers), width_for(n_nodes)
    if numbers.dtype.itemsize > np.dtype(width).itemsize and numbers.size:
        largest = int(numbers.max())
        if largest >= _MOST_NARROW:  # it would become another number
            raise ValueError(f"indices contains node {largest}; there are {n_nodes} nodes.")
    return np.asarray(numbers, dtype=width)


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
    node_offsets: Ints, src: Ints, dst: Ints, columns: Mapping[str, Any], directed: bool
) -> tuple[Ints, Ints, Ints | None]:
    """CSR of the simple graphs with these arcs, and the arc that each entry comes from.

    ``columns`` are the existing edge columns, one entry per arc; if there are none, nothing has to
    be reordered with the arcs and the third result is None.
    """
    n = int(node_offsets[-1])
    src, dst = np.asarray(src), np.asarray(dst)
    _refuse_arcs_outside(node_offsets, src, dst)
    _refuse_self_loops(node_offsets, src, dst)
    if not columns:
        keys = _keys(src, dst, n) if directed else _symmetric_keys(src, dst, n)
        return *_csr_from_keys(keys, n), None
    low, high = (src, dst) if directed else (np.minimum(src, dst), np.maximum(src, dst))
    keys = _pair_keys(low, high, n)
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    first_of_group = np.ones(len(keys), dtype=bool)
    np.not_equal(keys[1:], keys[:-1], out=first_of_group[1:])
    kept, keys = order[first_of_group], keys[first_of_group]
    if len(kept) < len(order):
        repeats = _Repeats(node_offsets, low, high, order, first_of_group, directed)
        _refuse_conflicts(repeats, columns)
    if not directed:
        keys = np.concatenate([keys, _pair_keys(high[kept], low[kept], n)])
        arrange = np.argsort(keys, kind="stable")
        kept, keys = np.concatenate([kept, kept])[arrange], keys[arrange]
    return *_csr_from_keys(keys, n), kept


def _pair_keys(tails: Ints, heads: Ints, n: int) -> Ints:
    """One number per pair of nodes, in the order of rows."""
    keys = np.multiply(tails, n, dtype=np.int64)
    keys += heads
    return keys


def _keys(src: Ints, dst: Ints, n: int) -> Ints:
    """The distinct arcs, sorted."""
    return _sorted_once(_pair_keys(src, dst, n))


def _sorted_once(keys: Ints) -> Ints:
    """The distinct values in ascending order; sorts in place (np.unique is ten times slower)."""
    if (keys[1:] > keys[:-1]).all():
        return keys
    keys.sort()
    new = np.ones(len(keys), dtype=bool)
    np.not_equal(keys[1:], keys[:-1], out=new[1:])
    return keys if new.all() else keys[new]


def _symmetric_keys(src: Ints, dst: Ints, n: int) -> Ints:
    """The distinct arcs and their opposites, sorted."""
    keys, opposite = _keys(src, dst, n), _keys(dst, src, n)
    # Most files list both directions already, so that nothing has to be added.
    if np.array_equal(keys, opposite):
        return keys
    return _sorted_once(np.concatenate([keys, opposite]))


def _csr_from_keys(keys: Ints, n: int) -> tuple[Ints, Ints]:
    tails, heads = np.divmod(keys, max(n, 1))
    indptr = np.zeros(n + 1, dtype=np.int64)
    np.cumsum(np.bincount(tails, minlength=n), out=indptr[1:])
    return indptr, heads


def _graph_at(node_offsets: Ints, node: int) -> tuple[int, int]:
    """The graph a node belongs to and the node's number within it."""
    graph = int(np.searchsorted(node_offsets, node, side="right")) - 1
    return graph, int(node - node_offsets[graph])


def check_columns(node_offsets: Ints, src: Ints, columns: Mapping[str, Any]) -> None:
    """Check that columns have one entry per node or per arc.

    NaN and infinite numbers may be stored; kernels that use the column refuse them.
    """
    if len(node_offsets) == 0 or node_offsets[0] != 0 or (np.diff(node_offsets) < 0).any():
        raise ValueError("node_offsets must begin with 0 and never decrease.")
    n_nodes, n_arcs = int(node_offsets[-1]), len(src)
    for name, column in columns.items():
        if column is None or name in GRAPH_COLUMNS:
            continue
        length, noun = (n_nodes, "nodes") if name in NODE_COLUMNS else (n_arcs, "arcs")
        if len(column) != length:
            raise ValueError(f"There are {length} {noun}, but {len(column)} {name}.")
        axes = 2 if name.endswith("attributes") else 1
        if not isinstance(column, Categorical) and column.ndim != axes:
            wanted = "row per node" if name in NODE_COLUMNS else "row per arc"
            wanted = f"one {wanted} and one column per attribute" if axes == 2 else "one axis"
            raise ValueError(f"{name} must have {wanted}; got an array of shape {column.shape}.")


def _refuse_arcs_outside(node_offsets: Ints, src: Ints, dst: Ints) -> None:
    """Check that each arc joins two existing nodes of the same graph."""
    if len(src) != len(dst):
        raise ValueError(f"src and dst must be of equal length; got {len(src)} and {len(dst)}.")
    if len(src) == 0:
        return
    n = int(node_offsets[-1])
    if min(src.min(), dst.min()) < 0 or max(src.max(), dst.max()) >= n:
        arc = np.flatnonzero((src < 0) | (src >= n) | (dst < 0) | (dst >= n))[0]
        raise ValueError(
            f"There is an arc from node {src[arc]} to node {dst[arc]}, but all graphs together "
            f"have {n} nodes, numbered from 0."
        )
    n_graphs = len(node_offsets) - 1
    graph_of_node = np.repeat(np.arange(n_graphs, dtype=np.int32), np.diff(node_offsets))
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


class _Repeats:
    """Arcs sorted so that repeats are adjacent, and which of them comes first."""

    def __init__(
        self,
        node_offsets: Ints,
        low: Ints,
        high: Ints,
        order: Ints,
        first_of_group: Bools,
        directed: bool,
    ) -> None:
        self.node_offsets, self.low, self.high, self.order = node_offsets, low, high, order
        self.directed = directed
        self.first = order[first_of_group][np.cumsum(first_of_group) - 1]

    def differing(self, values: Array) -> Ints:
        """Positions in the order where a repeat differs from the first; NaN equals NaN."""
        here, there = values[self.order], values[self.first]
        differs = (here != there) & ~((here != here) & (there != there))
        return np.flatnonzero(differs if differs.ndim == 1 else differs.any(axis=1))

    def describe(self, place: int) -> str:
        arc = self.order[place]
        graph, u = _graph_at(self.node_offsets, int(self.low[arc]))
        v = int(self.high[arc] - self.node_offsets[graph])
        return f"Graph {graph} lists the {'arc' if self.directed else 'edge'} ({u}, {v})"


def _refuse_conflicts(repeats: _Repeats, columns: Mapping[str, Any]) -> None:
    """Check that labels, weights and attributes of repeated edges agree before merging them."""
    for name, column in columns.items():
        differing = repeats.differing(column.codes if isinstance(column, Categorical) else column)
        if len(differing) == 0:
            continue
        kept = "" if repeats.directed else " Directions are kept in directed graphs only."
        raise ValueError(
            f"{repeats.describe(int(differing[0]))} more than once, with different "
            f"{name.removeprefix('edge_')}. Graphs are simple: make them agree, or keep one "
            f"of them.{kept}"
        )
