"""Building the arrays of a batch: from lists given graph by graph, from arcs, from other batches.

Checks, merges repeats, makes edges symmetric. Every error names the graph by its position.
"""

from __future__ import annotations

import os
import reprlib
from collections.abc import Mapping, Sequence, Set
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from gramlet.common.arrays import Array, Floats, Ints, Nodes
from gramlet.common.checks import is_integer
from gramlet.graphs.columns import Categorical, both_or_neither, join_columns

if TYPE_CHECKING:
    from gramlet.graphs.batch import GraphBatch

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
        repeated = order[first_of_group][np.cumsum(first_of_group) - 1]
        _refuse_conflicts(node_offsets, (low, high), order, repeated, columns, directed)
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


def _refuse_conflicts(
    node_offsets: Ints,
    ends: tuple[Ints, Ints],
    arcs: Ints,
    repeated: Ints,
    columns: Mapping[str, Any],
    directed: bool,
) -> None:
    """Check that labels, weights and attributes of repeated edges agree before merging them.

    ``repeated`` is for each of the ``arcs`` the first one between the same nodes.
    """
    for name, column in columns.items():
        values = column.codes if isinstance(column, Categorical) else column
        here, first = values[arcs], values[repeated]
        differs = (here != first) & ~((here != here) & (first != first))  # NaN equals NaN
        differing = np.flatnonzero(differs if differs.ndim == 1 else differs.any(axis=1))
        if len(differing) == 0:
            continue
        tail, head = (int(end[arcs[differing[0]]]) for end in ends)
        graph, u = _graph_at(node_offsets, tail)
        noun, hint = "arc", ""
        if not directed:
            noun, hint = "edge", " Directions are kept in directed graphs only."
        raise ValueError(
            f"Graph {graph} lists the {noun} ({u}, {head - node_offsets[graph]}) more than once, "
            f"with different {name.removeprefix('edge_')}. Graphs are simple: make them agree, or "
            f"keep one of them.{hint}"
        )


# Joining batches


def joined(batches: Sequence[GraphBatch]) -> dict[str, Any]:
    """The arrays and columns of the joined batch, by the constructor's parameter names."""
    nodes = np.concatenate([[0], np.cumsum([b.n_nodes_total for b in batches])]).astype(int)
    arcs = np.concatenate([[0], np.cumsum([len(b.indices) for b in batches])]).astype(int)
    pieces = list(zip(batches, nodes, arcs, strict=False))
    none = np.zeros(1, dtype=np.int64)
    parts: dict[str, Any] = {
        "directed": _common_direction(batches),
        "node_offsets": [none, *(b.node_offsets[1:] + shift for b, shift, _ in pieces)],
        "indptr": [none, *(b.indptr[1:] + shift for b, _, shift in pieces)],
        # Added in 64 bits: together the batches may have more nodes than fit into 32.
        "indices": [none[:0], *(np.add(b.indices, s, dtype=np.int64) for b, s, _ in pieces)],
    }
    for name in ("node_offsets", "indptr", "indices"):
        parts[name] = np.concatenate(parts[name])
    parts |= {name: _join_column(batches, name) for name in NODE_COLUMNS + EDGE_COLUMNS}
    full = [b for b in batches if len(b)]
    molecules = [b.molecules for b in full if b.molecules is not None]
    if molecules and len(molecules) == len(full):  # with other graphs, they are no molecules
        parts["molecules"] = [text for texts in molecules for text in texts]
    return parts


def _common_direction(batches: Sequence[GraphBatch]) -> bool:
    """Whether the joined batch is directed; ValueError if some are and some are not."""
    first_graph: dict[bool, int] = {}
    position = 0
    for batch in batches:
        # A batch without edges counts as directed and as undirected.
        if len(batch.indices):
            graph = position + int(np.flatnonzero(batch.n_edges)[0])
            first_graph.setdefault(batch.directed, graph)
        position += len(batch)
    if len(first_graph) == 2:
        raise ValueError(mixed_directions(first_graph[True], first_graph[False]))
    return next(iter(first_graph)) if first_graph else any(batch.directed for batch in batches)


def mixed_directions(directed: int, undirected: int) -> str:
    """The message for directed and undirected graphs in one list."""
    return (
        f"Graph {directed} is directed and graph {undirected} is undirected. "
        "Convert one of them: as_batch(x, directed=True) or batch.to_undirected()."
    )


def _join_column(batches: Sequence[GraphBatch], name: str) -> Any:
    """One column of the joined batch, or None."""
    over_nodes = name in NODE_COLUMNS
    # Batches without nodes (or edges) are compatible with and without the column.
    described = [
        i for i, b in enumerate(batches) if (b.n_nodes_total if over_nodes else len(b.indices))
    ]

    def position(piece: int) -> int:
        """The first graph of a piece that has nodes (or edges)."""
        before, batch = batches[: described[piece]], batches[described[piece]]
        counts = batch.sizes if over_nodes else batch.n_edges
        return sum(map(len, before)) + int(np.flatnonzero(counts)[0])

    return join_columns(name, [getattr(batches[i], name) for i in described], position)
