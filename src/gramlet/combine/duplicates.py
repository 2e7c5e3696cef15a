"""Duplicate graphs: hashes of their content, and groups of isomorphic graphs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components

from gramlet.common.arrays import Array, Ints, Nodes, UInt64s
from gramlet.common.checks import require_count
from gramlet.engine.core.hashes import multiset_hashes, refine_hashes
from gramlet.engine.isomorphism.search import same_connected_graph
from gramlet.graphs.batch import GraphBatch
from gramlet.graphs.conversion.convert import as_batch
from gramlet.graphs.fingerprint import column_hashes

# The largest number of rounds of refinement before graphs are compared one by one.
_MOST_ROUNDS = 32
# Odd factors that spread small codes over 64 bits.
_SPREAD = (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0xD6E8FEB86659FD93)


def graph_hashes(X: Any, n_iter: int = 3, use_edge_labels: bool | str = "auto") -> list[str]:
    """One hash per graph that depends only on the graph.

    The hash is the same in every process and batch, and for every order of graphs and numbering of
    nodes. It is equal for graphs that ``n_iter`` rounds of Weisfeiler-Lehman refinement cannot
    distinguish, and different for others, except with a probability below 1e-20 per pair. A
    directed graph with edges never has the hash of an undirected one, not even with ``n_iter=0``,
    where refinement sees only labels. Cost: O(n_iter · m) for m edges.

    Parameters
    ----------
    X : graphs, as `gramlet.as_batch` takes them
        Labels may be None, strings, bytes, numbers and tuples of these. Labels that are equal in
        Python (1, 1.0, True) have the same hash.
    n_iter : int, default 3
        Number of rounds of refinement.
    use_edge_labels : bool or "auto", default "auto"
        Whether to use edge labels; "auto" uses them if the graphs have them.

    Returns
    -------
    list of str
        32 hexadecimal digits per graph.

    Examples
    --------
    >>> import gramlet
    >>> a, b, c = gramlet.graph_hashes([([(0, 1)], "CO"), ([(0, 1)], "OC"), ([(0, 1)], "CC")])
    >>> a == b, a == c, len(a)
    (True, False, 32)
    """
    n_iter = require_count("n_iter", n_iter, 0)
    if use_edge_labels not in (True, False, "auto"):
        raise ValueError(f"use_edge_labels must be True, False or 'auto'; got {use_edge_labels!r}.")
    batch = as_batch(X)
    nodes = column_hashes(batch.node_labels, batch.n_nodes_total)
    column = batch.edge_labels if use_edge_labels else None
    hashes = _refined(batch, nodes, column_hashes(column, len(batch.indices)), n_iter)
    directed = (batch.n_edges > 0) & batch.directed
    return [f"{a:016x}{b:016x}" for a, b in multiset_hashes(batch.node_offsets, hashes, directed)]


def find_duplicates(X: Any) -> list[list[int]]:
    """Groups of isomorphic graphs.

    The groups are exact. Isomorphisms preserve node labels, edge labels and directions; weights and
    attributes are not compared. Cost: linear in the edges if refinement decides; highly symmetric
    graphs take longer.

    Parameters
    ----------
    X : graphs, as `gramlet.as_batch` takes them

    Returns
    -------
    list of lists of int
        Groups of positions of two or more isomorphic graphs, ascending, ordered by their first
        position. All empty graphs are one group.

    Examples
    --------
    >>> import gramlet
    >>> gramlet.find_duplicates([([(0, 1)], "CO"), ([(0, 1)], "CC"), ([(0, 1)], "OC")])
    [[0, 2]]
    """
    batch = as_batch(X)
    classes: dict[Any, list[list[int]]] = defaultdict(list)
    codes = _Codes(batch)
    for position, key in enumerate(codes.keys()):
        # Graphs of one key are mostly isomorphic: compare with the first graph of each group.
        for group in classes[key]:
            if codes.same(group[0], position):
                group.append(position)
                break
        else:
            classes[key].append([position])
    groups = [group for found in classes.values() for group in found if len(group) > 1]
    return sorted(groups)


def _refined(batch: GraphBatch, nodes: UInt64s, edges: UInt64s, n_iter: int) -> UInt64s:
    for _ in range(n_iter):
        nodes = refine_hashes(nodes, batch.indptr, batch.indices, edges, *_in_arcs(batch))
    return nodes


def _in_arcs(batch: GraphBatch) -> tuple[Ints, Nodes, Ints]:
    if batch.directed:
        return batch.in_arcs
    nothing = np.zeros(0, dtype=np.int64)
    return nothing, batch.indices[:0], nothing


class _Graph(NamedTuple):
    """One graph: labels of nodes, and tails, heads and labels of arcs."""

    labels: Ints
    tails: Ints
    heads: Ints
    arc_labels: Ints


class _Codes:
    """The graphs of a batch with codes for labels, for exact comparisons."""

    def __init__(self, batch: GraphBatch) -> None:
        self.batch = batch
        n, m = batch.n_nodes_total, len(batch.indices)
        self.labels = (
            np.zeros(n, np.int64) if batch.node_labels is None else batch.node_labels.codes
        )
        self.arc_labels = (
            np.zeros(m, np.int64) if batch.edge_labels is None else batch.edge_labels.codes
        )

    def keys(self) -> Iterable[tuple[int, ...]]:
        """One key per graph, equal for isomorphic graphs and for few others."""
        batch = self.batch
        nodes, edges = (
            (codes[:, None] + 1).astype(np.uint64) * np.array(factors, dtype=np.uint64)
            for codes, factors in ((self.labels, _SPREAD[:2]), (self.arc_labels, _SPREAD[2:]))
        )
        n_classes, flags = 0, np.zeros(len(batch), dtype=bool)
        for _ in range(_MOST_ROUNDS):
            found = len(np.unique(nodes[:, 0]))
            if found == n_classes:
                break
            n_classes = found
            nodes = _refined(batch, nodes, edges, 1)
        hashes = multiset_hashes(batch.node_offsets, nodes, flags)
        return map(tuple, np.column_stack([batch.sizes, batch.n_edges, hashes]).tolist())

    def same(self, i: int, j: int) -> bool:
        """Whether graphs i and j are isomorphic."""
        return _isomorphic(self._graph(i), self._graph(j), self.batch.directed)

    def _graph(self, i: int) -> _Graph:
        batch = self.batch
        first, last = batch.node_offsets[i], batch.node_offsets[i + 1]
        begin, end = batch.indptr[first], batch.indptr[last]
        tails = np.repeat(np.arange(last - first), batch.degrees[first:last])
        heads = batch.indices[begin:end].astype(np.int64) - first
        return _Graph(self.labels[first:last], tails, heads, self.arc_labels[begin:end])


def _isomorphic(g: _Graph, h: _Graph, directed: bool) -> bool:
    """The exact test, by components, or by components of the complements for dense graphs."""
    if not (_same_counts(g.labels, h.labels) and _same_counts(g.arc_labels, h.arc_labels)):
        return False
    if len(g.labels) == 0:
        return True
    parts, others = _components(g), _components(h)
    if len(parts) == 1 == len(others) and _is_dense(g):
        # Components of the complement can be exchanged as well.
        inverse = _complement(g), _complement(h)
        parts, others = (_components(graph) for graph in inverse)
        if len(parts) == 1:
            return _search(g, h, directed)
    if len(parts) != len(others):
        return False
    if len(parts) == 1:
        return _search(g, h, directed)
    return _matched(parts, others, directed)


def _matched(parts: list[_Graph], others: list[_Graph], directed: bool) -> bool:
    """Whether components can be paired; as isomorphism is transitive, any partner will do."""
    left = list(others)
    for part in parts:
        partner = next((k for k, o in enumerate(left) if _isomorphic(part, o, directed)), None)
        if partner is None:
            return False
        left.pop(partner)
    return True


def _same_counts(codes: Array, others: Array) -> bool:
    return len(codes) == len(others) and bool(np.array_equal(np.sort(codes), np.sort(others)))


def _is_dense(g: _Graph) -> bool:
    n = len(g.labels)
    one_label = bool((g.arc_labels == g.arc_labels[:1]).all())
    return one_label and 2 * len(g.heads) > n * (n - 1)


def _complement(g: _Graph) -> _Graph:
    n = len(g.labels)
    there = np.eye(n, dtype=bool)
    there[g.tails, g.heads] = True
    tails, heads = np.nonzero(~there)
    return _Graph(g.labels, tails, heads, np.zeros(len(tails), dtype=np.int64))


def _components(g: _Graph) -> list[_Graph]:
    n = len(g.labels)
    matrix = csr_matrix((np.ones(len(g.heads), dtype=np.int8), (g.tails, g.heads)), shape=(n, n))
    count, owner = connected_components(matrix, directed=True, connection="weak")
    if count == 1:
        return [g]
    place = np.empty(n, dtype=np.int64)
    found = []
    for k in range(count):
        nodes = np.flatnonzero(owner == k)
        place[nodes] = np.arange(len(nodes))
        arcs = np.flatnonzero(owner[g.tails] == k)
        ends = place[g.tails[arcs]], place[g.heads[arcs]]
        found.append(_Graph(g.labels[nodes], *ends, g.arc_labels[arcs]))
    return found


def _search(g: _Graph, h: _Graph, directed: bool) -> bool:
    """The compiled search on both graphs side by side."""
    n = len(g.labels)
    tails, heads = np.concatenate([g.tails, h.tails + n]), np.concatenate([g.heads, h.heads + n])
    labels = np.concatenate([g.arc_labels, h.arc_labels])
    out = _rows(tails, heads, labels, 2 * n)
    nothing = np.zeros(0, dtype=np.int64)
    none = (np.zeros(2 * n + 1, dtype=np.int64), nothing, nothing)
    coming_in = _rows(heads, tails, labels, 2 * n) if directed else none
    return bool(same_connected_graph(np.concatenate([g.labels, h.labels]), *out, *coming_in))


def _rows(rows: Ints, columns: Ints, labels: Ints, n: int) -> tuple[Ints, Ints, Ints]:
    """Arcs sorted by ``rows``: offsets, the other ends, and labels."""
    order = np.argsort(rows, kind="stable")
    offsets = np.zeros(n + 1, dtype=np.int64)
    np.cumsum(np.bincount(rows, minlength=n), out=offsets[1:])
    return offsets, columns[order], labels[order]
