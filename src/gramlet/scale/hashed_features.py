"""Features by content hashes: nothing is fitted, so the rows do not depend on other graphs.

Hashed features are defined for graphs of every kind, but a model learned from graphs of one kind
says nothing about those of another: `GraphKind` records the kind in stores, and models check it.
"""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Integral
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import Tags

from gramlet.common.arrays import Array, Ints, UInt64s
from gramlet.common.fields import ArrayOf, Sometimes, fields
from gramlet.common.parameters import Interval, StrOptions
from gramlet.engine.core.hashes import refine_hashes, scramble
from gramlet.engine.counts.comparison import count_codes
from gramlet.engine.paths.shortest_paths import count_paths
from gramlet.graphs.batch import GraphBatch
from gramlet.graphs.conversion.convert import as_batch
from gramlet.graphs.direction import direction_of, require_same_direction
from gramlet.graphs.fingerprint import column_hashes
from gramlet.kernels.contract.labels import LABEL_CHOICE, wrong_kind
from gramlet.kernels.contract.output import framed
from gramlet.kernels.contract.tags import GraphTags, used
from gramlet.kernels.weisfeiler_lehman.subtree import MOST_ROUNDS

_NOTHING = np.zeros(0, dtype=np.int64)
# Distinguishes kinds of features: the same numbers in other roles are other features.
_LEVEL, _EDGE, _PATH = 0xA24BAED4963EE407, np.uint64(3), np.uint64(5)


class HashedFeatures(TransformerMixin, BaseEstimator):
    """Counts of Weisfeiler-Lehman colours, edges or shortest paths in columns given by hashes.

    The column of a pattern depends on the pattern alone: no vocabulary is learned, `fit` does
    nothing, and graphs may be split into blocks of any size, in any process, with the same rows as
    a result. Two patterns share a column with probability 2⁻ⁿ for ``n_bits`` = n. Cost: O(H m) for
    m edges ("sp": O(n m) per graph).

    Parameters
    ----------
    kind : {"wl", "wl-edge", "sp"}
        What is counted: nodes by colour, as in `WeisfeilerLehman`; edges by the colours of their
        ends, as with ``base="edge"``; or shortest paths by length and labels of their ends, as in
        `ShortestPath`. In directed graphs edges and paths are counted along arcs.
    n_iter : int, default 3
        Rounds of refinement, at most 10,000; "sp" uses none.
    n_bits : int or None, default 20
        There are 2^n_bits columns. With None, each 64-bit identity of a pattern has its own
        column: columns belong to one call, and ``column_ids_`` identifies their patterns.
    use_edge_labels : bool or "auto", default "auto"
        Whether refinement distinguishes neighbours by edge labels, if graphs have them.

    Attributes
    ----------
    column_ids_ : array of uint64
        With ``n_bits=None``: the identity of each column of the last `transform`, ascending.

    Examples
    --------
    >>> from gramlet import HashedFeatures, WeisfeilerLehman
    >>> graphs = [([(0, 1)], ["C", "O"]), ([(0, 1), (1, 2)], ["O", "C", "O"])]
    >>> HashedFeatures(n_iter=1, n_bits=10).transform(graphs).shape
    (2, 1024)
    >>> exact = HashedFeatures(n_iter=1, n_bits=None).transform(graphs)
    >>> (exact @ exact.T).toarray()
    array([[ 4.,  5.],
           [ 5., 10.]])
    """

    stored = fields(column_ids_=Sometimes(ArrayOf("uint64", None)))

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "kind": [StrOptions({"wl", "wl-edge", "sp"})],
        "n_iter": [Interval(Integral, 0, MOST_ROUNDS, closed="both")],
        "n_bits": [Interval(Integral, 1, 31, closed="both"), None],
        "use_edge_labels": LABEL_CHOICE,
    }

    def __init__(
        self,
        kind: str = "wl",
        n_iter: int = 3,
        *,
        n_bits: int | None = 20,
        use_edge_labels: bool | str = "auto",
    ) -> None:
        self.kind = kind
        self.n_iter = n_iter
        self.n_bits = n_bits
        self.use_edge_labels = use_edge_labels

    def fit(self, X: Any = None, y: Any = None) -> Self:
        """Check the parameters; nothing is learned."""
        self._validate_params()
        return self

    def transform(self, X: Any) -> Any:
        """Count the patterns of the graphs of X; a CSR matrix with one row per graph."""
        self._validate_params()
        batch = as_batch(X)
        offsets, identities, counts = self._patterns(batch)
        if self.n_bits is None:
            self.column_ids_, codes = np.unique(identities, return_inverse=True)
            matrix = _counted(
                offsets, codes.reshape(identities.shape), counts, len(self.column_ids_)
            )
        else:
            columns = identities >> np.uint64(64 - self.n_bits)
            matrix = _counted(offsets, columns, counts, 2**self.n_bits)
        return framed(self, matrix, X)

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """The same as `transform`."""
        return self.fit(X, y).transform(X)

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """Names of the columns: numbers, or with ``n_bits=None`` identities in hexadecimal."""
        if self.n_bits is None:
            names = [f"{identity:016x}" for identity in self.column_ids_.tolist()]
        else:
            names = [f"{self.kind}_{column}" for column in range(2**self.n_bits)]
        return np.array(names, dtype=object)

    def _patterns(self, batch: GraphBatch) -> tuple[Ints, UInt64s, Array | None]:
        """Offsets of the graphs, identities of their patterns (one per row), and their counts."""
        if self.kind == "sp":
            return _paths(batch)
        levels = _refined(batch, self.n_iter, self.use_edge_labels)
        if self.kind == "wl":
            return batch.node_offsets, levels, None
        return _edges(batch, levels)

    @property
    def reads_edge_labels(self) -> bool:
        """Whether edge labels change the features of graphs that have them."""
        return self.kind == "wl-edge" or (self.kind == "wl" and bool(self.use_edge_labels))

    def __graph_tags__(self) -> GraphTags:
        edge_labels = self.use_edge_labels and self.kind != "sp"
        uses = used(node_labels=True, edge_labels=edge_labels)
        return GraphTags(kind="embedding", directed=True, uses=uses)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.one_d_array = True
        tags.requires_fit = False
        return tags


def _refined(batch: GraphBatch, n_iter: int, use_edge_labels: bool | str) -> UInt64s:
    """The identity of each node's colour at each level, shape (levels, nodes)."""
    hashes = column_hashes(batch.node_labels, batch.n_nodes_total)
    ties = column_hashes(batch.edge_labels if use_edge_labels else None, len(batch.indices))
    in_arcs = batch.in_arcs if batch.directed else (_NOTHING, batch.indices[:0], _NOTHING)
    levels: UInt64s = np.empty((n_iter + 1, batch.n_nodes_total), dtype=np.uint64)
    for level in range(n_iter + 1):
        if level:
            hashes = refine_hashes(hashes, batch.indptr, batch.indices, ties, *in_arcs)
        levels[level] = scramble(hashes[:, 0] + np.uint64(level * _LEVEL % 2**64))
    return levels


def _edges(batch: GraphBatch, levels: UInt64s) -> tuple[Ints, UInt64s, None]:
    """Edges by the unordered (of arcs: ordered) pair of colours, and their label if they have one.

    Edge labels are always used here; ``use_edge_labels`` applies to the refinement only.
    """
    tails, heads = batch.arcs()
    labels = column_hashes(batch.edge_labels, len(batch.indices))[:, 0]
    if not batch.directed:
        once = tails < heads
        tails, heads, labels = tails[once], heads[once], labels[once]
    first, second = levels[:, tails], levels[:, heads]
    if not batch.directed:
        first, second = np.minimum(first, second), np.maximum(first, second)
    offsets = np.concatenate([[0], np.cumsum(batch.n_edges)]).astype(np.int64)
    return offsets, scramble(scramble(scramble(first + _EDGE) + second) ^ labels), None


def _paths(batch: GraphBatch) -> tuple[Ints, UInt64s, Array]:
    """Shortest paths by the labels of their ends and their number of edges."""
    hashes = column_hashes(batch.node_labels, batch.n_nodes_total)[:, 0]
    labels, codes = np.unique(hashes, return_inverse=True)
    offsets, kinds, lengths, counts = count_paths(
        batch.node_offsets,
        batch.indptr,
        batch.indices,
        codes.reshape(1, -1).astype(np.int64),
        ordered=batch.directed,
    )
    # Ends are sorted by code, and so by hash; along arcs the first is the start of the path.
    ends = [labels[kinds[:, column]] for column in (1, 2)]
    return (
        offsets,
        scramble(scramble(scramble(ends[0] + _PATH) + ends[1]) + lengths.astype(np.uint64)),
        counts,
    )


def _counted(offsets: Ints, codes: Array, counts: Array | None, n_columns: int) -> Any:
    codes = codes.astype(np.int64)
    if counts is None:
        return count_codes(offsets, codes, n_columns)
    matrix = sparse.csr_matrix((counts, codes, offsets), shape=(len(offsets) - 1, n_columns))
    matrix.sum_duplicates()
    return matrix


class GraphKind(NamedTuple):
    """Whether graphs have node labels and edge labels, and whether they are directed.

    None: not known, since there are no nodes or no edges, or nothing was recorded.

    Examples
    --------
    >>> GraphKind.of(GraphBatch.from_edges([[(0, 1)]], node_labels=[["C", "O"]]))
    GraphKind(node_labels=True, edge_labels=False, directed=False)
    """

    node_labels: bool | None = None
    edge_labels: bool | None = None
    directed: bool | None = None

    @classmethod
    def of(cls, batch: GraphBatch) -> GraphKind:
        """The kind of the graphs of a batch."""
        return cls(
            batch.node_labels is not None if batch.n_nodes_total else None,
            batch.edge_labels is not None if len(batch.indices) else None,
            direction_of(batch),
        )

    @classmethod
    def joined(cls, kinds: Iterable[GraphKind]) -> GraphKind:
        """The kind of all graphs, from the kinds of some of them; None where they differ."""
        known = [set(values) - {None} for values in zip(*kinds, strict=True)]
        return cls(*(values.pop() if len(values) == 1 else None for values in known))

    @classmethod
    def from_array(cls, codes: Array) -> GraphKind:
        """The kind that `to_array` encodes; ValueError for other arrays."""
        numbers = codes.tolist()
        if codes.shape != (3,) or not set(numbers) <= {-1, 0, 1}:
            raise ValueError(
                f"graph_kind must be three numbers from -1 to 1; found {numbers!r:.80}."
            )
        return cls(*(None if code == -1 else bool(code) for code in numbers))

    def to_array(self) -> Array:
        """One number per field: 1, 0, or -1 for None."""
        return np.array([-1 if value is None else int(value) for value in self], dtype=np.int8)

    def fitting(self, batch: GraphBatch, owner: str, use_edge_labels: bool) -> GraphBatch:
        """New graphs for a model of graphs of this kind; ValueError if they are of another.

        As for kernels: edge labels are ignored if the fitted graphs have none, and graphs without
        edges are of either kind.
        """
        require_same_direction(self.directed, batch, owner)
        if self.edge_labels is False and batch.edge_labels is not None:
            batch = batch.with_columns(edge_labels=None)
        new = GraphKind.of(batch)
        _require_same(self.node_labels, new.node_labels, "node labels", owner)
        if use_edge_labels:
            _require_same(self.edge_labels, new.edge_labels, "edge labels", owner)
        return batch


def _require_same(fitted: bool | None, new: bool | None, what: str, owner: str) -> None:
    if fitted is None or new is None or fitted == new:
        return
    had, has = ("with", "without") if fitted else ("without", "with")
    raise ValueError(wrong_kind(had, has, what, owner))
