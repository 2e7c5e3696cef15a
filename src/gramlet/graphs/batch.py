"""GraphBatch: an immutable, columnar set of graphs.

One CSR adjacency contains all graphs; `node_offsets` gives the first node of each. This module
stores, slices, joins and compares graphs; `convert` converts other objects, and `gramlet.files`
reads files.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from gramlet.common.arrays import Array, Floats, Ints, Nodes
from gramlet.common.fields import (
    ArrayOf,
    Either,
    Flag,
    Instance,
    Offsets,
    Optional,
    Text,
    TupleOf,
    fields,
)
from gramlet.common.stored_state import require
from gramlet.graphs.build import (
    EDGE_COLUMNS,
    GRAPH_COLUMNS,
    NODE_COLUMNS,
    check_columns,
    csr_from_arcs,
    gather_columns,
    joined,
    narrow,
    ranges,
)
from gramlet.graphs.columns import (
    Categorical,
    float_column,
    frozen,
    pick,
    same_column,
    text_column,
)
from gramlet.graphs.direction import InArcs, arcs_coming_in

_COMPARED = NODE_COLUMNS + EDGE_COLUMNS
_COLUMNS = _COMPARED + GRAPH_COLUMNS


class GraphBatch(Sequence["GraphBatch"]):
    """An immutable set of N simple graphs, undirected or directed as a whole, stored in columns.

    Build one with :meth:`from_edges` or :func:`gramlet.as_batch`. Slicing (an index, a slice, an
    index array, a boolean mask) returns batches, so that scikit-learn can split it.

    Attributes
    ----------
    node_offsets : array of int64, shape (N + 1,)
        Graph i has the nodes ``node_offsets[i]:node_offsets[i + 1]``.
    indptr, indices : arrays of int64 and of int32
        CSR adjacency of all nodes; neighbours are sorted. ``indices`` counts nodes over the whole
        batch (in 64 bits if it has more than 2^31 nodes). Undirected: each edge is stored in both
        directions. Directed: the row of a node contains its outgoing arcs; `in_arcs` contains the
        incoming ones.
    directed : bool
    node_labels : Categorical or None
        One label per node; None if the graphs have no labels (then all nodes count as equal).
    edge_labels : Categorical or None
        One label per entry of ``indices``.
    edge_weights : array of float64 or None
        One weight per entry of ``indices``.
    node_attributes : array of float64, shape (n nodes, d), or None
    edge_attributes : array of float64, shape (len(indices), d), or None
    molecules : tuple of N str, or None
        One SMILES string per graph, if all graphs are molecules: descriptors, fingerprints and
        drawings use it. Kernels and ``==`` do not compare it.

    Examples
    --------
    >>> from gramlet import GraphBatch
    >>> batch = GraphBatch.from_edges(
    ...     [[(0, 1), (1, 2)], [(0, 1)]], node_labels=[["C", "C", "O"], ["C", "N"]])
    >>> batch
    GraphBatch(2 graphs, 5 nodes, 3 edges, 3 node labels)
    >>> batch[1]
    GraphBatch(1 graph, 2 nodes, 1 edge, 2 node labels)
    """

    stored = fields(
        node_offsets=Offsets("graphs", "nodes"),
        indptr=Offsets("nodes", "arcs"),
        indices=Either(
            ArrayOf("int32", "arcs", below="nodes"), ArrayOf("int64", "arcs", below="nodes")
        ),
        directed=Flag(),
        node_labels=Optional(Instance(Categorical, len="nodes")),
        node_attributes=Optional(ArrayOf("float64", "nodes", None)),
        edge_labels=Optional(Instance(Categorical, len="arcs")),
        edge_weights=Optional(ArrayOf("float64", "arcs")),
        edge_attributes=Optional(ArrayOf("float64", "arcs", None)),
        molecules=Optional(TupleOf(Text(), "graphs")),
    )

    def __init__(
        self,
        node_offsets: Ints,
        indptr: Ints,
        indices: Nodes,
        *,
        node_labels: Categorical | None = None,
        edge_labels: Categorical | None = None,
        edge_weights: Floats | None = None,
        node_attributes: Floats | None = None,
        edge_attributes: Floats | None = None,
        molecules: Sequence[str] | None = None,
        directed: bool = False,
    ) -> None:
        self.node_offsets: Ints = frozen(np.asarray(node_offsets, dtype=np.int64))
        self.indptr: Ints = frozen(np.asarray(indptr, dtype=np.int64))
        self.indices: Nodes = frozen(narrow(indices, int(self.node_offsets[-1])))
        self.directed = _flag(directed)
        self.node_labels = node_labels
        self.edge_labels = edge_labels
        self.edge_weights: Floats | None = float_column(edge_weights)
        self.node_attributes: Floats | None = float_column(node_attributes)
        self.edge_attributes: Floats | None = float_column(edge_attributes)
        self.molecules: tuple[str, ...] | None = text_column(molecules, len(self))
        self._sealed = True

    def __setattr__(self, name: str, value: Any) -> None:
        if getattr(self, "_sealed", False):
            raise AttributeError(
                f"A GraphBatch is immutable; {name!r} cannot be set. Build a new batch instead."
            )
        super().__setattr__(name, value)

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"A GraphBatch is immutable; {name!r} cannot be deleted.")

    @classmethod
    def from_edges(
        cls,
        edges_per_graph: Sequence[Any],
        n_nodes: Sequence[int] | None = None,
        node_labels: Sequence[Any] | None = None,
        edge_labels: Sequence[Any] | None = None,
        edge_weights: Sequence[Any] | None = None,
        node_attributes: Sequence[Any] | None = None,
        edge_attributes: Sequence[Any] | None = None,
        directed: bool = False,
    ) -> GraphBatch:
        """Build a batch from edge lists.

        Parameters
        ----------
        edges_per_graph : sequence of (m_i, 2) integer arrays
            The edges of each graph, nodes counted from 0. Repeated edges are merged (their labels,
            weights and attributes must agree); self-loops are an error.
        n_nodes : sequence of int, optional
            Number of nodes per graph. By default the number of labels or attributes, or else the
            largest node number in the edges plus one.
        node_labels : sequence of sequences, optional
            One hashable label per node.
        edge_labels, edge_weights : sequence of sequences, optional
            One value per row of the edge list.
        node_attributes : sequence of (n_i, d) arrays, optional
        edge_attributes : sequence of (m_i, d) arrays, optional
            One row per row of the edge list.
        directed : bool, default=False
            Whether ``(u, v)`` is an arc from u to v, or an undirected edge.

        Examples
        --------
        >>> from gramlet import GraphBatch
        >>> GraphBatch.from_edges([[(0, 1), (1, 0), (1, 2)], []], n_nodes=[3, 1])
        GraphBatch(2 graphs, 4 nodes, 2 edges)
        >>> GraphBatch.from_edges([[(0, 1), (1, 0), (1, 2)]], directed=True)
        GraphBatch(1 graph, 3 nodes, 3 arcs, directed)
        """
        columns = gather_columns(
            edges_per_graph,
            n_nodes=n_nodes,
            node_labels=node_labels,
            edge_labels=edge_labels,
            edge_weights=edge_weights,
            node_attributes=node_attributes,
            edge_attributes=edge_attributes,
        )
        return cls.from_arcs(**columns, directed=directed)

    @classmethod
    def from_arcs(
        cls,
        node_offsets: Ints,
        src: Ints,
        dst: Ints,
        *,
        node_labels: Categorical | None = None,
        edge_labels: Categorical | None = None,
        edge_weights: Floats | None = None,
        node_attributes: Floats | None = None,
        edge_attributes: Floats | None = None,
        molecules: Sequence[str] | None = None,
        directed: bool = False,
    ) -> GraphBatch:
        """Build a batch from concatenated arrays, as readers and converters produce them.

        ``src`` and ``dst`` count nodes over the whole batch. Undirected: an edge may be listed
        once, twice or in both directions. Directed: every pair is an arc from ``src`` to ``dst``.
        Labels, weights and attributes of repeated edges must agree.
        """
        # Copies: later changes to the caller's arrays must not change the batch.
        node_offsets = np.array(node_offsets, dtype=np.int64)
        on_nodes: dict[str, Any] = {
            "node_labels": node_labels,
            "node_attributes": _floats(node_attributes, copy=True),
        }
        on_edges: dict[str, Any] = {
            "edge_labels": edge_labels,
            "edge_weights": _floats(edge_weights),
            "edge_attributes": _floats(edge_attributes),
        }
        on_edges = {name: column for name, column in on_edges.items() if column is not None}
        check_columns(node_offsets, src, {**on_nodes, **on_edges})
        indptr, indices, kept = csr_from_arcs(node_offsets, src, dst, on_edges, _flag(directed))
        on_edges = {name: pick(column, kept) for name, column in on_edges.items()}
        return cls(
            node_offsets,
            indptr,
            indices,
            directed=directed,
            molecules=molecules,
            **on_nodes,
            **on_edges,
        )

    @classmethod
    def concatenate(cls, batches: Sequence[GraphBatch]) -> GraphBatch:
        """Join batches into one, in order.

        A column (labels, weights, attributes) must be present in all of them or in none; batches
        without nodes (for node columns) or edges (for edge columns) are compatible with both.
        Directed and undirected batches cannot be joined; a batch without edges counts as either.
        The result has `molecules` if all of them do.
        """
        batches = list(batches)
        for position, batch in enumerate(batches):
            if not isinstance(batch, GraphBatch):
                raise TypeError(
                    f"GraphBatch.concatenate joins GraphBatches; item {position} is a "
                    f"{type(batch).__name__}. Use gramlet.as_batch for other graphs."
                )
        if len(batches) == 1:
            return batches[0]
        return cls(**joined(batches))

    # Properties

    @property
    def shape(self) -> tuple[int]:
        """``(N,)``: scikit-learn reads the number of samples here."""
        return (len(self),)

    @cached_property
    def sizes(self) -> Ints:
        """The number of nodes of each graph."""
        return frozen(np.diff(self.node_offsets))

    @cached_property
    def n_edges(self) -> Ints:
        """The number of edges of each graph; of arcs, if directed."""
        n_arcs = np.diff(self.indptr[self.node_offsets])
        return frozen(n_arcs if self.directed else n_arcs // 2)

    @cached_property
    def degrees(self) -> Ints:
        """The number of neighbours of each node; of outgoing arcs, if directed."""
        return frozen(np.diff(self.indptr))

    @cached_property
    def in_degrees(self) -> Ints:
        """The number of incoming arcs of each node; the same as `degrees` if undirected."""
        return frozen(np.diff(self.in_arcs.indptr)) if self.directed else self.degrees

    @cached_property
    def in_arcs(self) -> InArcs:
        """The arcs grouped by the node they end at: ``indptr``, ``indices`` and ``arcs``.

        ``in_arcs.indices[k]`` is the node an arc starts from, ``in_arcs.arcs[k]`` its position in
        ``indices``, ``edge_labels``, ``edge_weights`` and ``edge_attributes``.

        Examples
        --------
        >>> from gramlet import GraphBatch
        >>> batch = GraphBatch.from_edges([[(0, 2), (1, 2), (2, 0)]], directed=True)
        >>> batch.in_arcs.indptr.tolist(), batch.in_arcs.indices.tolist()
        ([0, 1, 1, 3], [2, 0, 1])
        >>> batch.in_arcs.arcs.tolist()
        [2, 0, 1]
        """
        return arcs_coming_in(self)

    @cached_property
    def graph_of_node(self) -> Ints:
        """The position of the graph each node belongs to."""
        return frozen(np.repeat(np.arange(len(self)), self.sizes))

    @property
    def n_nodes_total(self) -> int:
        """The number of nodes of all graphs together."""
        return int(self.node_offsets[-1])

    def adjacency(self, i: int, weighted: bool = False) -> Floats:
        """The dense adjacency matrix of graph i; if directed, arcs go from rows to columns."""
        (i,) = positions(operator.index(i), len(self))
        first, last = self.node_offsets[i], self.node_offsets[i + 1]
        dense = np.zeros((last - first, last - first))
        begin, end = self.indptr[first], self.indptr[last]
        rows = np.repeat(np.arange(last - first), self.degrees[first:last])
        values = self.edge_weights[begin:end] if weighted and self.edge_weights is not None else 1.0
        dense[rows, self.indices[begin:end] - first] = values
        return dense

    def arcs(self) -> tuple[Ints, Ints]:
        """Tail and head of every stored arc, over the whole batch, in the order of ``indices``.

        In undirected batches each edge is listed in both directions. Both are arrays of int64, so
        that pairs can be written as single numbers.
        """
        tails = np.repeat(np.arange(self.n_nodes_total, dtype=np.int64), self.degrees)
        return tails, self.indices.astype(np.int64)

    # Derived batches

    def to_undirected(self) -> GraphBatch:
        """The graphs without directions; an undirected batch is returned unchanged.

        Labels, weights and attributes of opposite arcs must agree, or a ValueError is raised.

        Examples
        --------
        >>> from gramlet import GraphBatch
        >>> GraphBatch.from_edges([[(0, 1), (1, 0), (1, 2)]], directed=True).to_undirected()
        GraphBatch(1 graph, 3 nodes, 2 edges)
        """
        if not self.directed:
            return self
        columns = {name: getattr(self, name) for name in _COLUMNS}
        return GraphBatch.from_arcs(self.node_offsets, *self.arcs(), **columns)

    def with_columns(self, **columns: Any) -> GraphBatch:
        """The same graphs with other columns; None removes a column. Arcs and direction stay.

        Examples
        --------
        >>> from gramlet import GraphBatch
        >>> batch = GraphBatch.from_edges([[(0, 1)]], node_labels=[["C", "O"]])
        >>> batch.with_columns(node_labels=None)
        GraphBatch(1 graph, 2 nodes, 1 edge)
        """
        unknown = sorted(set(columns) - set(_COLUMNS))
        if unknown:
            raise TypeError(f"There is no column {unknown[0]!r}; there are {', '.join(_COLUMNS)}.")
        columns = {name: columns.get(name, getattr(self, name)) for name in _COLUMNS}
        check_columns(self.node_offsets, self.indices, columns)
        return GraphBatch(
            self.node_offsets, self.indptr, self.indices, directed=self.directed, **columns
        )

    def to_networkx(self) -> list[Any]:
        """The graphs as networkx graphs (``label``, ``weight``, ``attr`` attributes)."""
        from gramlet.graphs.conversion.libraries import to_networkx

        return to_networkx(self)

    # Sequence protocol

    def __len__(self) -> int:
        return len(self.node_offsets) - 1

    def __getitem__(self, key: Any) -> GraphBatch:
        return self._take(positions(key, len(self)))

    def _take(self, graphs: Ints) -> GraphBatch:
        sizes = self.sizes[graphs]
        nodes = ranges(self.node_offsets[graphs], sizes)
        degrees = self.degrees[nodes]
        arcs = ranges(self.indptr[nodes], degrees)
        offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        # The target of an arc is shifted by the same amount as its graph.
        shift = np.repeat(offsets[:-1] - self.node_offsets[graphs], sizes)
        return GraphBatch(
            offsets,
            np.concatenate([[0], np.cumsum(degrees)]).astype(np.int64),
            self.indices[arcs] + np.repeat(shift, degrees),
            directed=self.directed,
            **{name: pick(getattr(self, name), nodes) for name in NODE_COLUMNS},
            **{name: pick(getattr(self, name), arcs) for name in EDGE_COLUMNS},
            **{name: pick(getattr(self, name), graphs) for name in GRAPH_COLUMNS},
        )

    def __iter__(self) -> Iterator[GraphBatch]:
        return (self[i] for i in range(len(self)))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        # An object array of one-graph batches, as scikit-learn's Gaussian processes create it.
        if dtype is not None and np.dtype(dtype) != object:
            raise TypeError(
                "A GraphBatch is not a numeric array; pass it to one of gramlet's kernels first."
            )
        graphs = np.empty(len(self), dtype=object)
        for i in range(len(self)):
            graphs[i] = self[i]
        return graphs

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, GraphBatch):
            return NotImplemented
        return (
            # A batch without edges counts as directed and as undirected.
            (self.directed == other.directed or not len(self.indices))
            and np.array_equal(self.node_offsets, other.node_offsets)
            and np.array_equal(self.indptr, other.indptr)
            and np.array_equal(self.indices, other.indices)
            and all(same_column(getattr(self, name), getattr(other, name)) for name in _COMPARED)
        )

    def __hash__(self) -> int:
        arrays = (self.node_offsets, self.indptr, self.indices.astype(np.int64))
        return hash(tuple(array.tobytes() for array in arrays))

    def __getstate__(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.stored}

    def __setstate__(self, state: dict[str, Any]) -> None:
        GraphBatch.__init__(self, **state)

    def validate(self) -> None:
        """Raise ValueError unless these are simple graphs with sorted neighbours, both ways."""
        columns = {name: getattr(self, name) for name in _COLUMNS}
        again = GraphBatch.from_arcs(
            self.node_offsets, *self.arcs(), directed=self.directed, **columns
        )
        require(again == self, "the arcs of graphs must be sorted, and go both ways if undirected")
        width = again.indices.dtype
        require(self.indices.dtype == width, f"the heads of edges must be an array of {width}")

    def _repr_html_(self) -> str:
        from gramlet.report.notebook import batch_html

        return batch_html(self)

    def __repr__(self) -> str:
        def count(n: int, noun: str) -> str:
            return f"{n} {noun}" if n == 1 else f"{n} {noun}s"

        parts = [
            count(len(self), "graph"),
            count(self.n_nodes_total, "node"),
            count(int(self.n_edges.sum()), "arc" if self.directed else "edge"),
        ]
        if self.directed:
            parts.append("directed")
        if self.node_labels is not None:
            parts.append(count(len(self.node_labels.used()), "node label"))
        if self.edge_labels is not None:
            parts.append(count(len(self.edge_labels.used()), "edge label"))
        if self.edge_weights is not None:
            parts.append("edge weights")
        if self.node_attributes is not None:
            parts.append(count(self.node_attributes.shape[1], "node attribute"))
        if self.edge_attributes is not None:
            parts.append(count(self.edge_attributes.shape[1], "edge attribute"))
        return f"GraphBatch({', '.join(parts)})"


def _flag(directed: Any) -> bool:
    if not isinstance(directed, bool | np.bool_):
        raise TypeError(f"directed must be True or False; got {directed!r}.")
    return bool(directed)


def _floats(column: Any, copy: bool = False) -> Floats | None:
    if column is None:
        return None
    return (np.array if copy else np.asarray)(column, dtype=np.float64)


def positions(key: Any, length: int) -> Ints:
    """The positions among ``length`` graphs that a key selects, counted from 0; or IndexError.

    >>> positions(-1, 4).tolist(), positions(slice(2), 4).tolist()
    ([3], [0, 1])
    """
    if isinstance(key, tuple):
        if len(key) != 2 or key[1] is not Ellipsis:
            raise IndexError("A GraphBatch has one axis: use batch[i], batch[i:j], batch[indices].")
        key = key[0]
    if isinstance(key, slice):
        return np.arange(*key.indices(length), dtype=np.int64)
    chosen = np.asarray(key)
    if chosen.dtype == bool:
        if chosen.shape != (length,):
            raise IndexError(
                f"A boolean mask over {length} graphs must have shape ({length},); "
                f"got {chosen.shape}."
            )
        return np.flatnonzero(chosen)
    if chosen.size == 0:
        return np.zeros(0, dtype=np.int64)
    if chosen.dtype.kind not in "iu" or chosen.ndim > 1:
        raise IndexError(
            "A GraphBatch is indexed by an integer, a slice, a 1-d integer array or a boolean "
            f"mask; got {type(key).__name__}."
        )
    chosen = np.atleast_1d(chosen).astype(np.int64)
    outside = (chosen < -length) | (chosen >= length)
    if outside.any():
        raise IndexError(
            f"Graph {int(chosen[outside][0])} is out of range: the batch has {length} graphs."
        )
    return np.where(chosen < 0, chosen + length, chosen)
