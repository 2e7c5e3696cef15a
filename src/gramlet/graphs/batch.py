"""GraphBatch: an immutable, columnar set of graphs.

One CSR adjacency holds all the graphs; `node_offsets` says where each begins. This module knows how
graphs are stored, sliced, joined and compared; the doors they come in by are in `convert` and
`tudataset`.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from gramlet.common.arrays import Array, Floats, Ints
from gramlet.graphs.build import check_columns, csr_from_arcs, gather_columns, ranges
from gramlet.graphs.columns import Categorical, float_column, frozen, join_columns, same_column

__all__ = ["GraphBatch"]

_NODE_COLUMNS = ("node_labels", "node_attributes")
_EDGE_COLUMNS = ("edge_labels", "edge_weights")


class GraphBatch(Sequence["GraphBatch"]):
    """An immutable set of N undirected, simple graphs, stored in columns.

    Build one with :meth:`from_edges` or :func:`gramlet.as_batch`. Slicing (an index, a slice, an
    index array, a boolean mask) gives batches again, so that scikit-learn can split it.

    Attributes
    ----------
    node_offsets : array of int64, shape (N + 1,)
        Graph i owns the nodes ``node_offsets[i]:node_offsets[i + 1]``.
    indptr, indices : arrays of int64
        CSR adjacency of all nodes; each edge is stored in both directions; neighbours are sorted.
        ``indices`` counts nodes over the whole batch.
    node_labels : Categorical or None
        One label a node; None if the graphs have no labels (then all nodes are alike).
    edge_labels : Categorical or None
        One label an entry of ``indices``.
    edge_weights : array of float64 or None
        One weight an entry of ``indices``.
    node_attributes : array of float64, shape (n nodes, d), or None

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

    def __init__(
        self,
        node_offsets: Ints,
        indptr: Ints,
        indices: Ints,
        *,
        node_labels: Categorical | None = None,
        edge_labels: Categorical | None = None,
        edge_weights: Floats | None = None,
        node_attributes: Floats | None = None,
    ) -> None:
        self.node_offsets: Ints = frozen(np.asarray(node_offsets, dtype=np.int64))
        self.indptr: Ints = frozen(np.asarray(indptr, dtype=np.int64))
        self.indices: Ints = frozen(np.asarray(indices, dtype=np.int64))
        self.node_labels = node_labels
        self.edge_labels = edge_labels
        self.edge_weights: Floats | None = float_column(edge_weights)
        self.node_attributes: Floats | None = float_column(node_attributes)
        self._sealed = True

    def __setattr__(self, name: str, value: Any) -> None:
        if getattr(self, "_sealed", False):
            raise AttributeError(
                f"A GraphBatch does not change; {name!r} cannot be set. Build a new batch instead."
            )
        super().__setattr__(name, value)

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"A GraphBatch does not change; {name!r} cannot be deleted.")

    @classmethod
    def from_edges(
        cls,
        edges_per_graph: Sequence[Any],
        n_nodes: Sequence[int] | None = None,
        node_labels: Sequence[Any] | None = None,
        edge_labels: Sequence[Any] | None = None,
        edge_weights: Sequence[Any] | None = None,
        node_attributes: Sequence[Any] | None = None,
    ) -> GraphBatch:
        """Build a batch from edge lists.

        Parameters
        ----------
        edges_per_graph : sequence of (m_i, 2) integer arrays
            The edges of each graph, nodes counted from 0. Repeated edges are merged (their labels
            and weights must agree), direction is ignored, self-loops are an error.
        n_nodes : sequence of int, optional
            Nodes of each graph. By default as many as there are labels or attributes, or else as
            the edges mention.
        node_labels : sequence of sequences, optional
            One hashable label a node.
        edge_labels, edge_weights : sequence of sequences, optional
            One value a row of the edge list.
        node_attributes : sequence of (n_i, d) arrays, optional

        Examples
        --------
        >>> from gramlet import GraphBatch
        >>> GraphBatch.from_edges([[(0, 1), (1, 0), (1, 2)], []], n_nodes=[3, 1])
        GraphBatch(2 graphs, 4 nodes, 2 edges)
        """
        columns = gather_columns(
            edges_per_graph, n_nodes, node_labels, edge_labels, edge_weights, node_attributes
        )
        return cls.from_arcs(**columns)

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
    ) -> GraphBatch:
        """Build a batch from concatenated arrays: what files hold and converters make.

        ``src`` and ``dst`` count nodes over the whole batch; an edge may come once, twice or in
        both directions. Labels and weights of repeated edges must agree.
        """
        # Copies: what the caller does to these arrays later must not change the batch.
        node_offsets = np.array(node_offsets, dtype=np.int64)
        weights = None if edge_weights is None else np.asarray(edge_weights, dtype=np.float64)
        rows = None if node_attributes is None else np.array(node_attributes, dtype=np.float64)
        check_columns(node_offsets, src, node_labels, edge_labels, weights, rows)
        indptr, indices, kept = csr_from_arcs(node_offsets, src, dst, edge_labels, weights)
        return cls(
            node_offsets,
            indptr,
            indices,
            node_labels=node_labels,
            edge_labels=None if edge_labels is None else edge_labels.take(kept),
            edge_weights=None if weights is None else weights[kept],
            node_attributes=rows,
        )

    @classmethod
    def concatenate(cls, batches: Sequence[GraphBatch]) -> GraphBatch:
        """Join batches into one, in order.

        A column (labels, weights, attributes) must be there in all of them or in none; batches
        without nodes (for node columns) or edges (for edge columns) fit either way.
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
        nodes = np.concatenate([[0], np.cumsum([b.n_nodes_total for b in batches])]).astype(int)
        arcs = np.concatenate([[0], np.cumsum([len(b.indices) for b in batches])]).astype(int)
        pieces = list(zip(batches, nodes, arcs, strict=False))
        none = np.zeros(1, dtype=np.int64)
        return cls(
            np.concatenate([none, *(b.node_offsets[1:] + shift for b, shift, _ in pieces)]),
            np.concatenate([none, *(b.indptr[1:] + shift for b, _, shift in pieces)]),
            np.concatenate([none[:0], *(b.indices + shift for b, shift, _ in pieces)]),
            **{name: _join_column(batches, name) for name in _NODE_COLUMNS + _EDGE_COLUMNS},
        )

    # What a batch is

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
        """The number of (undirected) edges of each graph."""
        return frozen(np.diff(self.indptr[self.node_offsets]) // 2)

    @cached_property
    def degrees(self) -> Ints:
        """The number of neighbours of each node."""
        return frozen(np.diff(self.indptr))

    @cached_property
    def graph_of_node(self) -> Ints:
        """The position of the graph each node belongs to."""
        return frozen(np.repeat(np.arange(len(self)), self.sizes))

    @property
    def n_nodes_total(self) -> int:
        """The number of nodes of all graphs together."""
        return int(self.node_offsets[-1])

    def adjacency(self, i: int, weighted: bool = False) -> Floats:
        """The dense adjacency matrix of graph i."""
        (i,) = self._positions(operator.index(i))
        first, last = self.node_offsets[i], self.node_offsets[i + 1]
        dense = np.zeros((last - first, last - first))
        begin, end = self.indptr[first], self.indptr[last]
        rows = np.repeat(np.arange(last - first), self.degrees[first:last])
        values = self.edge_weights[begin:end] if weighted and self.edge_weights is not None else 1.0
        dense[rows, self.indices[begin:end] - first] = values
        return dense

    def arcs(self) -> tuple[Ints, Ints]:
        """Both ends of every stored arc (each edge in both directions), over the whole batch."""
        return np.repeat(np.arange(self.n_nodes_total), self.degrees), self.indices

    # The behaviour of a sequence

    def __len__(self) -> int:
        return len(self.node_offsets) - 1

    def __getitem__(self, key: Any) -> GraphBatch:
        if isinstance(key, tuple):
            if len(key) == 2 and key[1] is Ellipsis:
                key = key[0]
            else:
                raise IndexError(
                    "A GraphBatch has one axis: use batch[i], batch[i:j], batch[indices]."
                )
        return self._take(self._positions(key))

    def _positions(self, key: Any) -> Ints:
        if isinstance(key, slice):
            return np.arange(*key.indices(len(self)), dtype=np.int64)
        chosen = np.asarray(key)
        if chosen.dtype == bool:
            if chosen.shape != (len(self),):
                raise IndexError(
                    f"A boolean mask over {len(self)} graphs must have shape ({len(self)},); "
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
        outside = (chosen < -len(self)) | (chosen >= len(self))
        if outside.any():
            raise IndexError(
                f"Graph {int(chosen[outside][0])} is out of range: the batch has "
                f"{len(self)} graphs."
            )
        return np.where(chosen < 0, chosen + len(self), chosen)

    def _take(self, graphs: Ints) -> GraphBatch:
        sizes = self.sizes[graphs]
        nodes = ranges(self.node_offsets[graphs], sizes)
        degrees = self.degrees[nodes]
        arcs = ranges(self.indptr[nodes], degrees)
        offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        # An arc's target moves by as much as its graph does.
        shift = np.repeat(offsets[:-1] - self.node_offsets[graphs], sizes)
        return GraphBatch(
            offsets,
            np.concatenate([[0], np.cumsum(degrees)]).astype(np.int64),
            self.indices[arcs] + np.repeat(shift, degrees),
            node_labels=None if self.node_labels is None else self.node_labels.take(nodes),
            edge_labels=None if self.edge_labels is None else self.edge_labels.take(arcs),
            edge_weights=None if self.edge_weights is None else self.edge_weights[arcs],
            node_attributes=None if self.node_attributes is None else self.node_attributes[nodes],
        )

    def __iter__(self) -> Iterator[GraphBatch]:
        return (self[i] for i in range(len(self)))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        # An object array of one-graph batches: scikit-learn's Gaussian processes make one.
        if dtype is not None and np.dtype(dtype) != object:
            raise TypeError(
                "A GraphBatch is not a numeric array; give it to one of gramlet's kernels first."
            )
        graphs = np.empty(len(self), dtype=object)
        for i in range(len(self)):
            graphs[i] = self[i]
        return graphs

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, GraphBatch):
            return NotImplemented
        return (
            np.array_equal(self.node_offsets, other.node_offsets)
            and np.array_equal(self.indptr, other.indptr)
            and np.array_equal(self.indices, other.indices)
            and all(
                same_column(getattr(self, name), getattr(other, name))
                for name in _NODE_COLUMNS + _EDGE_COLUMNS
            )
        )

    def __hash__(self) -> int:
        return hash((self.node_offsets.tobytes(), self.indptr.tobytes(), self.indices.tobytes()))

    def __reduce__(self) -> tuple[Any, ...]:
        state = {name: getattr(self, name) for name in _NODE_COLUMNS + _EDGE_COLUMNS}
        return (_rebuild, (self.node_offsets, self.indptr, self.indices, state))

    def __repr__(self) -> str:
        def count(n: int, noun: str) -> str:
            return f"{n} {noun}" if n == 1 else f"{n} {noun}s"

        parts = [
            count(len(self), "graph"),
            count(self.n_nodes_total, "node"),
            count(len(self.indices) // 2, "edge"),
        ]
        if self.node_labels is not None:
            parts.append(count(len(self.node_labels.used()), "node label"))
        if self.edge_labels is not None:
            parts.append(count(len(self.edge_labels.used()), "edge label"))
        if self.edge_weights is not None:
            parts.append("edge weights")
        if self.node_attributes is not None:
            parts.append(count(self.node_attributes.shape[1], "node attribute"))
        return f"GraphBatch({', '.join(parts)})"

    def to_networkx(self) -> list[Any]:
        """The graphs as networkx graphs (``label``, ``weight``, ``attr`` attributes)."""
        from gramlet.graphs.convert import to_networkx

        return to_networkx(self)


def _rebuild(
    node_offsets: Ints,
    indptr: Ints,
    indices: Ints,
    columns: dict[str, Any],
) -> GraphBatch:
    return GraphBatch(node_offsets, indptr, indices, **columns)


def _join_column(batches: list[GraphBatch], name: str) -> Any:
    """One column of the joined batch, or None."""
    over_nodes = name in _NODE_COLUMNS
    # Batches with nothing to describe (no nodes, no edges) fit either way.
    described = [
        i for i, b in enumerate(batches) if (b.n_nodes_total if over_nodes else len(b.indices))
    ]

    def position(piece: int) -> int:
        """The first graph of a piece that has something to describe."""
        before, batch = batches[: described[piece]], batches[described[piece]]
        counts = batch.sizes if over_nodes else batch.n_edges
        return sum(map(len, before)) + int(np.flatnonzero(counts)[0])

    return join_columns(name, [getattr(batches[i], name) for i in described], position)
