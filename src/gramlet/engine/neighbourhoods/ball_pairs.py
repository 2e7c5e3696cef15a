"""Identities of balls around nodes, and counts of pairs of balls at a distance.

The r-ball of a node is the subgraph induced by the nodes within r hops, rooted at that node. Its
identity is computed in two steps of exact renaming: a name per node of the ball, from its distances
inside the ball; then an identity per ball, from its nodes' names and its edges. Kernels compare the
counts.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from gramlet.common.arrays import Ints, Nodes
from gramlet.engine.core.compiled import njit
from gramlet.engine.core.ragged import grown, local_adjacency, offsets_of
from gramlet.engine.core.short_sort import sort_short
from gramlet.engine.core.signature_table import (
    SignatureTable,
    intern_tiles,
    joined,
    n_tiles_for,
    pack_rows,
)
from gramlet.engine.core.tiles import QUIET, Tiling, for_tiles
from gramlet.engine.counts.comparison import count_codes
from gramlet.engine.laplacian.balls import ball_sizes, gather_ball
from gramlet.graphs.batch import GraphBatch


def ball_identities(
    batch: GraphBatch,
    labels: Ints,
    edge_labels: Ints | None,
    radius: int,
    tables: tuple[SignatureTable, SignatureTable] | None = None,
    tiling: Tiling = QUIET,
) -> tuple[tuple[SignatureTable, SignatureTable], Ints]:
    """The identity of the ball of each node.

    Parameters
    ----------
    tables : pair of SignatureTable, optional
        The fitted names and identities of this radius; None: fit them.

    Returns
    -------
    tables : pair of SignatureTable
    identities : array of int64, one per node
        Balls that are not in the table have identities from ``len(tables[1])`` on.
    """
    sizes = ball_sizes(batch, np.arange(batch.n_nodes_total), radius)
    starts = offsets_of(sizes)
    costs = np.diff(offsets_of(sizes**2)[batch.node_offsets]).astype(np.float64)
    nodes, indptr, indices = batch.node_offsets, batch.indptr, batch.indices

    def make_names(begin: int, end: int) -> tuple[Ints, Ints]:
        first, last = nodes[begin], nodes[end]
        adjacency = local_adjacency(indptr, indices, first, last)
        return _ball_names(*adjacency, labels[first:last], radius, starts[first : last + 1])

    known_names, known_balls = tables if tables is not None else (None, None)
    name_table, names = intern_tiles(make_names, costs, known_names, tiling=tiling)
    edges = np.zeros(len(indices), np.int64) if edge_labels is None else edge_labels
    n_names, n_labels = int(names.max(initial=0)) + 1, int(edges.max(initial=0)) + 1
    if n_names**2 * n_labels > 2**62:  # pairs of names and a label are packed into one number
        raise ValueError(
            f"Balls of radius {radius} have {n_names:,} kinds of nodes and {n_labels:,} edge "
            "labels: too many to be paired. Use a smaller radius or fewer graphs."
        )

    def make_balls(begin: int, end: int) -> tuple[Ints, Ints]:
        first, last = nodes[begin], nodes[end]
        adjacency = local_adjacency(indptr, indices, first, last)
        return _ball_signatures(
            *adjacency,
            edges[indptr[first] : indptr[last]],
            radius,
            starts[first : last + 1],
            names,
            n_names,
            n_labels,
        )

    ball_table, balls = intern_tiles(make_balls, costs, known_balls, tiling=tiling)
    return (name_table, ball_table), balls


def count_ball_pairs(
    batch: GraphBatch,
    identities: Ints,
    distance: int,
    table: SignatureTable | None = None,
    tiling: Tiling = QUIET,
) -> tuple[SignatureTable, tuple[Ints, Ints], sparse.csr_matrix]:
    """Count unordered pairs of nodes by radius, hop distance and the pair of their balls.

    Parameters
    ----------
    identities : array of int64, shape (radii, nodes)
    distance : int
        The largest hop distance.
    table : SignatureTable, optional
        The fitted features; None: fit them.

    Returns
    -------
    table : SignatureTable
        The features, (radius, distance, smaller ball, larger ball).
    new : pair of arrays of int64
        Offsets and data of the features that ``table`` does not contain, in the order of their
        columns; empty if the table is fitted here.
    counts : csr_matrix of float64
        Columns from ``len(table)`` on are features that ``table`` does not contain.
    """
    nodes = batch.node_offsets
    hops = min(distance, int(batch.sizes.max(initial=0)))
    parts: dict[int, tuple[SignatureTable, sparse.csr_matrix]] = {}

    def work(begin: int, end: int) -> None:
        first, last = nodes[begin], nodes[end]
        adjacency = local_adjacency(batch.indptr, batch.indices, first, last)
        balls = np.ascontiguousarray(identities[:, first:last])
        per_graph, data = _pairs(nodes[begin : end + 1] - first, *adjacency, balls, hops)
        part, ids = SignatureTable.fit(*pack_rows(data.reshape(-1, 4)))
        parts[begin] = part, count_codes(offsets_of(per_graph), ids, len(part))

    # Each tile is counted before its features are renamed together with those of the others: there
    # are far more pairs of nodes than entries of counts.
    costs = batch.sizes.astype(np.float64) ** 2
    for_tiles(work, len(batch), costs=costs, n_tiles=n_tiles_for(costs), tiling=tiling)
    ordered = [parts[begin] for begin in sorted(parts)]
    table, names, new = joined([part for part, _ in ordered], table)
    width = len(table) + len(new[0]) - 1
    blocks = [
        sparse.csr_matrix((tile.data, columns[tile.indices], tile.indptr), (tile.shape[0], width))
        for columns, (_, tile) in zip(names, ordered, strict=True)
    ]
    counts = sparse.csr_matrix(sparse.vstack(blocks)) if blocks else sparse.csr_matrix((0, width))
    counts.sort_indices()
    return table, new, counts


@njit(nogil=True, cache=True)
def _distances_inside(
    k: int, queue: Ints, indptr: Ints, indices: Nodes, stamp: Ints, tag: int, place: Ints, D: Ints
) -> None:
    """Hop distances between the nodes ``queue[:k]`` along edges between them."""
    # Breadth-first search from every node, within the stamped nodes.
    line = np.empty(k, dtype=np.int64)
    for a in range(k):
        for b in range(k):
            D[a, b] = -1
        D[a, a] = 0
        line[0] = a
        head, tail = 0, 1
        while head < tail:
            u = line[head]
            head += 1
            node = queue[u]
            for p in range(indptr[node], indptr[node + 1]):
                if stamp[indices[p]] == tag:
                    w = place[indices[p]]
                    if D[a, w] < 0:
                        D[a, w] = D[a, u] + 1
                        line[tail] = w
                        tail += 1


@njit(nogil=True, cache=True)
def _ball_names(
    indptr: Ints, indices: Nodes, labels: Ints, radius: int, starts: Ints
) -> tuple[Ints, Ints]:
    """The name Lⁿ of every node of every ball; the nodes of a ball are in breadth-first order.

    A name is (D(u, root), label of u), then each distinct (label of w, D(u, w), D(w, root)),
    packed into one number, followed by the number of such nodes w.
    """
    n = len(indptr) - 1
    stamp, place = np.full(n, -1, dtype=np.int64), np.empty(n, dtype=np.int64)
    queue = np.empty(n, dtype=np.int64)
    offsets = np.zeros(starts[n] - starts[0] + 1, dtype=np.int64)
    data = np.empty(1024, dtype=np.int64)
    filled, item = 0, 0
    for root in range(n):
        # The ball, and all distances inside it.
        k = gather_ball(indptr, indices, root, radius, stamp, root, queue)
        for a in range(k):
            place[queue[a]] = a
        D = np.empty((k, k), dtype=np.int64)
        _distances_inside(k, queue, indptr, indices, stamp, root, place, D)
        keys = np.empty(k, dtype=np.int64)
        for a in range(k):
            # Keys do not depend on the number of labels, as later graphs may have more.
            for b in range(k):
                near = labels[queue[b]] * (2 * radius + 1) + D[a, b]
                keys[b] = near * (radius + 1) + D[0, b]
            sort_short(keys)
            data = grown(data, filled + 2 + 2 * k)
            data[filled], data[filled + 1] = D[0, a], labels[queue[a]]
            filled = _append_runs(keys, data, filled + 2)
            item += 1
            offsets[item] = filled
    return offsets, data[:filled].copy()


@njit(nogil=True, cache=True)
def _append_runs(keys: Ints, data: Ints, filled: int) -> int:
    """Append each distinct entry of a sorted list and its count to ``data``; the new length."""
    b = 0
    while b < len(keys):
        c = b
        while c < len(keys) and keys[c] == keys[b]:
            c += 1
        data[filled], data[filled + 1] = keys[b], c - b
        filled += 2
        b = c
    return filled


@njit(nogil=True, cache=True)
def _ball_signatures(
    indptr: Ints,
    indices: Nodes,
    edges: Ints,
    radius: int,
    starts: Ints,
    names: Ints,
    n_names: int,
    n_labels: int,
) -> tuple[Ints, Ints]:
    """The signature of each ball: its nodes' names with counts, then its edges with counts.

    It begins with the number of distinct names; an edge is the smaller and the larger name of its
    ends and its label.
    """
    n = len(indptr) - 1
    stamp, place = np.full(n, -1, dtype=np.int64), np.empty(n, dtype=np.int64)
    queue = np.empty(n, dtype=np.int64)
    offsets = np.zeros(n + 1, dtype=np.int64)
    data, keys = np.empty(1024, dtype=np.int64), np.empty(64, dtype=np.int64)
    filled = 0
    for root in range(n):
        k = gather_ball(indptr, indices, root, radius, stamp, root, queue)
        for a in range(k):
            place[queue[a]] = a
        own = names[starts[root] : starts[root] + k]
        # Nodes.
        data = grown(data, filled + 1 + 2 * k)
        many = own.copy()
        sort_short(many)
        head = filled
        filled = _append_runs(many, data, filled + 1)
        data[head] = (filled - head - 1) // 2
        # Edges inside the ball, each once.
        count = 0
        for a in range(k):
            for p in range(indptr[queue[a]], indptr[queue[a] + 1]):
                w = indices[p]
                if stamp[w] != root or place[w] <= a:
                    continue
                low, high = min(own[a], own[place[w]]), max(own[a], own[place[w]])
                keys = grown(keys, count + 1)
                keys[count] = (low * n_names + high) * n_labels + edges[p]
                count += 1
        sort_short(keys[:count])
        data = grown(data, filled + 4 * count)
        b = 0
        while b < count:
            c = b
            while c < count and keys[c] == keys[b]:
                c += 1
            # Unpacked, because the factors depend on the batch; the order does not.
            ends = keys[b] // n_labels
            data[filled], data[filled + 1] = ends // n_names, ends % n_names
            data[filled + 2], data[filled + 3] = keys[b] % n_labels, c - b
            filled += 4
            b = c
        offsets[root + 1] = filled
    return offsets, data[:filled].copy()


@njit(nogil=True, cache=True)
def _pairs(
    nodes: Ints, indptr: Ints, indices: Nodes, identities: Ints, distance: int
) -> tuple[Ints, Ints]:
    """The number of pairs per graph, and (radius, distance, smaller, larger ball) of each pair."""
    n = len(indptr) - 1
    hops, queue = np.full(n, -1, dtype=np.int64), np.empty(n, dtype=np.int64)
    per_graph = np.zeros(len(nodes) - 1, dtype=np.int64)
    data = np.empty(4096, dtype=np.int64)
    filled = 0
    for graph in range(len(nodes) - 1):
        begin = filled
        for source in range(nodes[graph], nodes[graph + 1]):
            # Breadth-first search up to `distance` hops.
            hops[source] = 0
            queue[0] = source
            head, tail = 0, 1
            while head < tail:
                u = queue[head]
                head += 1
                if hops[u] < distance:
                    for p in range(indptr[u], indptr[u + 1]):
                        if hops[indices[p]] < 0:
                            hops[indices[p]] = hops[u] + 1
                            queue[tail] = indices[p]
                            tail += 1
            # One entry per radius for each pair that starts here.
            data = grown(data, filled + 4 * tail * identities.shape[0])
            for q in range(tail):
                v = queue[q]
                if v >= source:
                    for r in range(identities.shape[0]):
                        a, b = identities[r, source], identities[r, v]
                        data[filled], data[filled + 1] = r, hops[v]
                        data[filled + 2], data[filled + 3] = min(a, b), max(a, b)
                        filled += 4
                hops[v] = -1
        per_graph[graph] = (filled - begin) // 4
    return per_graph, data[:filled].copy()
