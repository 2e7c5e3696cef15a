"""Small induced subgraphs: counted by isomorphism type, or mapped from one graph into another.

Every set of nodes (connected sets only, or all) is visited once, along the ESU tree. To count them
by type, only the distinct forms (labels and edges in the order in which nodes joined) are brought
to a canonical form, by trying all orders, which also counts their automorphisms.

For other kernels of nodes and edges the sum is over all injections of a set into the second graph
that map edges to edges and non-edges to non-edges, weighted by the product of node and edge
kernels. Injections of a set are extended to those of the sets grown from it; those of weight 0 are
dropped. A bijection between two subsets is counted once.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations
from typing import NamedTuple

import numpy as np
from scipy import sparse

from gramlet.common.arrays import Bools, Floats, Ints, Nodes
from gramlet.engine.core.compiled import njit, read_only
from gramlet.engine.core.hash_table import (
    find_row,
    hash_of,
    number_in,
    occupied,
    slots_for,
    slots_of_rows,
)
from gramlet.engine.core.ragged import copy_into, grown, local_adjacency, offsets_of
from gramlet.engine.core.signature_table import SignatureTable, pack_rows
from gramlet.engine.core.tiles import QUIET, Tiling, for_tiles
from gramlet.graphs.batch import GraphBatch

MAX_NODES = 6  # all orders of nodes are tried


@dataclass(frozen=True)
class SubgraphCounts:
    """Counts of isomorphism types.

    Attributes
    ----------
    table : SignatureTable
        The canonical forms: number of nodes, labels (−1 for missing nodes), then for each pair of
        places (0,1), (0,2), (1,2), (0,3), ... 0 or the code of its edge plus 1.
    counts : csr_matrix of float64
        One row per graph; columns from ``len(table)`` on are types that a given table does not
        contain.
    n_nodes, automorphisms : arrays of int64
        One entry per column.
    """

    table: SignatureTable
    counts: sparse.csr_matrix
    n_nodes: Ints
    automorphisms: Ints


def row_width(size: int) -> int:
    """The length of the form of a subgraph of up to ``size`` nodes.

    >>> row_width(3)
    7
    """
    return 1 + size + size * (size - 1) // 2


def count_subgraphs(
    batch: GraphBatch,
    labels: Ints,
    edge_labels: Ints | None,
    size: int,
    connected: bool,
    table: SignatureTable | None = None,
    tiling: Tiling = QUIET,
) -> SubgraphCounts:
    """Count the induced subgraphs of 1..``size`` nodes of each graph.

    Parameters
    ----------
    connected : bool
        Only connected subgraphs, or all.
    table : SignatureTable, optional
        Fitted types; None: fit them.
    """
    nodes, indptr, indices = batch.node_offsets, batch.indptr, batch.indices
    edges = np.zeros(len(indices), np.int64) if edge_labels is None else edge_labels
    parts: dict[int, tuple[Ints, Ints, Floats]] = {}

    def work(begin: int, end: int) -> None:
        first, last = nodes[begin], nodes[end]
        adjacency = local_adjacency(indptr, indices, first, last)
        parts[begin] = _count_sets(
            nodes[begin : end + 1] - first,
            *adjacency,
            labels[first:last],
            edges[indptr[first] : indptr[last]],
            size,
            connected,
        )

    costs = (batch.sizes.astype(np.float64) + np.diff(indptr[nodes])) ** 2 + 1.0
    # Few small graphs are not split into many tiles.
    n_tiles = int(np.clip(costs.sum() / 1e5, 1, 128))
    for_tiles(work, len(batch), costs=costs, n_tiles=n_tiles, tiling=tiling)
    empty = np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0)
    columns = zip(empty, *(parts[begin] for begin in sorted(parts)), strict=True)
    per_graph, rows, values = (np.concatenate(column) for column in columns)
    # Distinct forms, then their types.
    forms, form_of_row = SignatureTable.fit(*pack_rows(rows.reshape(-1, row_width(size))))
    canonical, orders = _canonical(forms.data.reshape(-1, row_width(size)), size)
    if table is None:
        table, column_of_form = SignatureTable.fit(*pack_rows(canonical))
    else:
        column_of_form = table.lookup(*pack_rows(canonical))
    width = max(len(table), int(column_of_form.max(initial=-1)) + 1)
    entries = values, column_of_form[form_of_row], offsets_of(per_graph)
    counts = sparse.csr_matrix(entries, shape=(len(batch), width))
    counts.sum_duplicates()
    n_nodes, automorphisms = np.ones(width, np.int64), np.ones(width, np.int64)
    n_nodes[column_of_form], automorphisms[column_of_form] = canonical[:, 0], orders
    return SubgraphCounts(table, counts, n_nodes, automorphisms)


def _canonical(forms: Ints, size: int) -> tuple[Ints, Ints]:
    """The smallest form over all orders of the nodes, and the number of orders that give it."""
    canonical, orders = forms.copy(), np.ones(len(forms), np.int64)
    for n in range(2, size + 1):
        which = np.flatnonzero(forms[:, 0] == n)
        all_orders = np.array(list(permutations(range(n))), dtype=np.int64)
        _smallest(forms, which, size, all_orders, canonical, orders)
    return canonical, orders


@njit(nogil=True, cache=True)
def _smallest(
    forms: Ints, which: Ints, size: int, orders: Ints, canonical: Ints, attained: Ints
) -> None:
    """Canonical forms of the rows ``which``, which have as many nodes as the orders."""
    n = orders.shape[1]
    row = np.empty(forms.shape[1], dtype=np.int64)
    for f in which:
        form, best = forms[f], canonical[f]
        first = True
        for order in orders:
            # Only orders with non-decreasing labels can give the smallest form.
            falls = False
            for i in range(1, n):
                falls = falls or form[1 + order[i]] < form[order[i - 1] + 1]
            if falls:
                continue
            # The form in this order: labels, then edges.
            copy_into(form, row)
            for i in range(n):
                row[1 + i] = form[1 + order[i]]
            for j in range(1, n):
                for i in range(j):
                    a, b = min(order[i], order[j]), max(order[i], order[j])
                    place = 1 + size + j * (j - 1) // 2 + i
                    row[place] = form[1 + size + b * (b - 1) // 2 + a]
            # Keep the smallest, and count how often it is reached.
            sign = -1 if first else _compared(row, best)
            if sign < 0:
                copy_into(row, best)
                attained[f] = 1
            elif sign == 0:
                attained[f] += 1
            first = False


@njit(nogil=True, cache=True)
def _compared(a: Ints, b: Ints) -> int:
    """−1, 0 or 1 as ``a`` comes before ``b``, equals it or comes after it."""
    for i in range(len(a)):
        if a[i] != b[i]:
            return -1 if a[i] < b[i] else 1
    return 0


@njit(nogil=True, cache=True)
def _edge_code(indptr: Ints, indices: Nodes, edges: Ints, u: int, v: int) -> int:
    """The code of the edge between two nodes plus 1; 0 if there is none."""
    low, high = indptr[u], indptr[u + 1]
    while low < high:
        middle = (low + high) // 2
        if indices[middle] < v:
            low = middle + 1
        else:
            high = middle
    if low < indptr[u + 1] and indices[low] == v:
        return edges[low] + 1
    return 0


@njit(nogil=True, cache=True)
def _join(
    node: int,
    root: int,
    last: int,
    indptr: Ints,
    indices: Nodes,
    connected: bool,
    taken: Bools,
    candidates: Ints,
    count: int,
) -> int:
    """Append the candidates that ``node`` adds when it joins a set; return their new number.

    For connected sets these are the neighbours of ``node`` that are larger than the root and not
    adjacent to an earlier member (not ``taken``). For all sets, the root adds all later nodes.
    """
    if connected:
        # `taken` keeps a node from joining along two members.
        for p in range(indptr[node], indptr[node + 1]):
            u = indices[p]
            if u > root and not taken[u]:
                taken[u] = True
                candidates[count] = u
                count += 1
    elif node == root:
        for u in range(root + 1, last):
            candidates[count] = u
            count += 1
    return count


@njit(nogil=True, cache=True)
def _leave(
    depth: int,
    size: int,
    following: Ints,
    n_candidates: Ints,
    candidates: Ints,
    connected: bool,
    taken: Bools,
) -> int:
    """Leave sets that are full or have tried all candidates; the depth of the one to continue."""
    while depth >= 0 and (depth + 1 == size or following[depth] == n_candidates[depth + 1]):
        if connected:
            for p in range(n_candidates[depth], n_candidates[depth + 1]):
                taken[candidates[p]] = False
        depth -= 1
    return depth


@njit(nogil=True, cache=True)
def _count_sets(
    nodes: Ints, indptr: Ints, indices: Nodes, labels: Ints, edges: Ints, size: int, connected: bool
) -> tuple[Ints, Ints, Floats]:
    """Visit all sets of every graph; the number of distinct forms per graph, forms, and counts.

    A hash table per graph finds the forms, which are consecutive in one array.
    """
    n = len(indptr) - 1
    width = 1 + size + size * (size - 1) // 2
    per_graph = np.zeros(len(nodes) - 1, dtype=np.int64)
    rows, counts = np.empty(256 * width, dtype=np.int64), np.empty(256)
    slots = slots_for(256)
    filled = 0
    taken, candidates = np.zeros(n, dtype=np.bool_), np.empty(n, dtype=np.int64)
    members, following = np.empty(size, dtype=np.int64), np.empty(size, dtype=np.int64)
    n_candidates = np.zeros(size + 1, dtype=np.int64)
    row = np.zeros(width, dtype=np.int64)
    for graph in range(len(nodes) - 1):
        start = filled
        for root in range(nodes[graph], nodes[graph + 1]):
            # The root alone, then depth first: the candidates of a set are those after the member
            # that joined last and the ones that this member added.
            row[:] = 0
            row[1 : 1 + size] = -1
            depth, node, behind = -1, root, 0
            while True:
                # Join.
                depth += 1
                members[depth], following[depth] = node, behind
                before = n_candidates[depth]
                n_candidates[depth + 1] = _join(
                    node,
                    root,
                    nodes[graph + 1],
                    indptr,
                    indices,
                    connected,
                    taken,
                    candidates,
                    before,
                )
                row[0], row[1 + depth] = depth + 1, labels[node]
                for i in range(depth):
                    place = 1 + size + depth * (depth - 1) // 2 + i
                    row[place] = _edge_code(indptr, indices, edges, members[i], node)
                # Count; arrays and table grow if needed.
                if _counted(row, rows, counts, slots, start, filled):
                    filled += 1
                    if filled == len(counts):
                        counts = grown(counts, filled + 1)
                        rows = grown(rows, len(counts) * width)
                    if 2 * (filled - start) > len(slots):
                        slots = slots_of_rows(rows, width, start, filled, len(slots))
                # Leave; the form loses the nodes that left.
                last = depth
                depth = _leave(depth, size, following, n_candidates, candidates, connected, taken)
                for gone in range(depth + 1, last + 1):
                    row[1 + gone] = -1
                    for i in range(gone):
                        row[1 + size + gone * (gone - 1) // 2 + i] = 0
                if depth < 0:
                    break
                node = candidates[following[depth]]
                following[depth] += 1
                behind = following[depth]
        per_graph[graph] = filled - start
    return per_graph, rows[: filled * width].copy(), counts[:filled].copy()


@njit(nogil=True, cache=True)
def _counted(row: Ints, rows: Ints, counts: Floats, slots: Ints, start: int, filled: int) -> bool:
    """Count a form in the hash table of its graph; return whether it is new there."""
    width = len(row)
    code = hash_of(row, 0, width)
    at = find_row(slots, start, rows, code, row, 0, width)
    number = number_in(slots[at])
    if number >= start:
        counts[number] += 1.0
        return False
    slots[at] = occupied(code, np.int64(filled))
    for i in range(width):
        rows[filled * width + i] = row[i]
    counts[filled] = 1.0
    return True


# Maps of the subgraphs of one graph into another


class _GraphArrays(NamedTuple):
    """The arrays of a batch; nodes and arcs without labels have the code 0."""

    nodes: Ints
    indptr: Ints
    indices: Nodes
    labels: Ints
    edges: Ints
    attributes: Floats

    @classmethod
    def of(cls, batch: GraphBatch) -> _GraphArrays:
        nodes, edges, attributes = batch.node_labels, batch.edge_labels, batch.node_attributes
        n_nodes, n_arcs = batch.n_nodes_total, len(batch.indices)
        return cls(
            batch.node_offsets,
            batch.indptr,
            batch.indices,
            read_only(np.zeros(n_nodes, np.int64) if nodes is None else nodes.codes),
            read_only(np.zeros(n_arcs, np.int64) if edges is None else edges.codes),
            read_only(np.zeros((n_nodes, 0)) if attributes is None else attributes),
        )


@dataclass(frozen=True)
class MapKernel:
    """What bijections are weighted by.

    Attributes
    ----------
    node_table, edge_table : arrays of float64
        Kernel values of node labels, and of edge labels.
    mu : float
        Node values are also multiplied by exp(−mu ‖a − a'‖²).
    size_weights : array of float64
        The weight of sets of 1, 2, ... nodes.
    connected : bool
        Only connected sets, or all.
    """

    node_table: Floats
    edge_table: Floats
    mu: float
    size_weights: Floats
    connected: bool


def map_sums(
    begin: int,
    end: int,
    first: GraphBatch,
    second: GraphBatch,
    kernel: MapKernel,
    triangle: bool,
    out: Floats,
) -> None:
    """Fill the rows begin:end of ``out`` with the kernel of pairs of graphs.

    With ``triangle``, only pairs (i, j) with j ≥ i.
    """
    _fill(
        *(begin, end, _GraphArrays.of(first), _GraphArrays.of(second)),
        *(kernel.node_table, kernel.edge_table, kernel.mu, kernel.size_weights),
        *(kernel.connected, triangle, out),
    )


@njit(nogil=True, cache=True)
def _fill(
    begin: int,
    end: int,
    first: _GraphArrays,
    second: _GraphArrays,
    node_table: Floats,
    edge_table: Floats,
    mu: float,
    size_weights: Floats,
    connected: bool,
    triangle: bool,
    out: Floats,
) -> None:
    """The rows of `map_sums`."""
    taken = np.zeros(len(first.indptr) - 1, dtype=np.bool_)
    for i in range(begin, end):
        for j in range(i if triangle else 0, len(second.nodes) - 1):
            values = _node_values(first, i, second, j, node_table, mu)
            out[i, j] = _pair_sum(
                first, i, second, j, values, edge_table, size_weights, connected, taken
            )


@njit(nogil=True, cache=True)
def _node_values(
    first: _GraphArrays, i: int, second: _GraphArrays, j: int, table: Floats, mu: float
) -> Floats:
    """κ_V of all pairs of nodes of two graphs."""
    low, low2 = first.nodes[i], second.nodes[j]
    values = np.empty((first.nodes[i + 1] - low, second.nodes[j + 1] - low2))
    for v in range(values.shape[0]):
        for w in range(values.shape[1]):
            square = 0.0
            for c in range(first.attributes.shape[1]):
                square += (first.attributes[low + v, c] - second.attributes[low2 + w, c]) ** 2
            value = table[first.labels[low + v], second.labels[low2 + w]]
            values[v, w] = value * np.exp(-mu * square)
    return values


@njit(nogil=True, cache=True)
def _pair_sum(
    first: _GraphArrays,
    g: int,
    second: _GraphArrays,
    g2: int,
    values: Floats,
    edge_table: Floats,
    size_weights: Floats,
    connected: bool,
    taken: Bools,
) -> float:
    """The weighted sum over all sets of the first graph and all their injections.

    ``taken`` is False everywhere, before and after.
    """
    size = len(size_weights)
    low, high = first.nodes[g], first.nodes[g + 1]
    candidates = np.empty(high - low, dtype=np.int64)
    members, following = np.empty(size, dtype=np.int64), np.empty(size, dtype=np.int64)
    n_candidates = np.zeros(size + 1, dtype=np.int64)
    # Injections of the first d members of the current set are starts[d]:starts[d + 1].
    starts = np.zeros(size + 2, dtype=np.int64)
    images, weights = np.empty((256, size), dtype=np.int64), np.empty(256)
    total = 0.0
    for root in range(low, high):
        depth, node, behind = -1, root, 0
        while True:
            # Join.
            depth += 1
            members[depth], following[depth] = node, behind
            n_candidates[depth + 1] = _join(
                node,
                root,
                high,
                first.indptr,
                first.indices,
                connected,
                taken,
                candidates,
                n_candidates[depth],
            )
            # Extend the injections.
            n_previous = starts[depth + 1] - starts[depth]
            room = (n_previous + 1) * values.shape[1] + starts[depth + 1]
            if room > len(weights):
                images, weights = _larger(images, weights, room)
            starts[depth + 2] = _extended(
                depth, members, starts, images, weights, first, g, second, g2, values, edge_table
            )
            part = 0.0
            for k in range(starts[depth + 1], starts[depth + 2]):
                part += weights[k]
            total += size_weights[depth] * part
            # Leave sets that are full, have tried all candidates or cannot be mapped.
            if starts[depth + 2] == starts[depth + 1]:
                following[depth] = n_candidates[depth + 1]
            depth = _leave(depth, size, following, n_candidates, candidates, connected, taken)
            if depth < 0:
                break
            node = candidates[following[depth]]
            following[depth] += 1
            behind = following[depth]
    return total


@njit(nogil=True, cache=True)
def _larger(images: Ints, weights: Floats, room: int) -> tuple[Ints, Floats]:
    """Copies with twice the room."""
    more_images = np.empty((2 * room, images.shape[1]), dtype=np.int64)
    more_weights = np.empty(2 * room)
    more_images[: len(images)], more_weights[: len(weights)] = images, weights
    return more_images, more_weights


@njit(nogil=True, cache=True)
def _extended(
    depth: int,
    members: Ints,
    starts: Ints,
    images: Ints,
    weights: Floats,
    first: _GraphArrays,
    g: int,
    second: _GraphArrays,
    g2: int,
    values: Floats,
    edge_table: Floats,
) -> int:
    """Append the injections of depth + 1 members, extending those of depth members; their end."""
    node, low = members[depth], first.nodes[g]
    low2, high2 = second.nodes[g2], second.nodes[g2 + 1]
    end = starts[depth + 1]
    if depth == 0:
        # The root alone; starts[1] is 0.
        for w in range(low2, high2):
            value = values[node - low, w - low2]
            if value != 0.0:
                images[end, 0], weights[end] = w, value
                end += 1
        return end
    # Every injection of the previous members, with every node as the image of the new one.
    for k in range(starts[depth], starts[depth + 1]):
        for w in range(low2, high2):
            value = weights[k] * values[node - low, w - low2]
            # It must be another node, with the same edges to earlier images.
            for i in range(depth):
                if value == 0.0:
                    break
                if images[k, i] == w:
                    value = 0.0
                    break
                a = _edge_code(first.indptr, first.indices, first.edges, members[i], node)
                b = _edge_code(second.indptr, second.indices, second.edges, images[k, i], w)
                if (a > 0) != (b > 0):
                    value = 0.0
                elif a > 0:
                    value *= edge_table[a - 1, b - 1]
            if value != 0.0:
                for i in range(depth):
                    images[end, i] = images[k, i]
                images[end, depth], weights[end] = w, value
                end += 1
    return end
