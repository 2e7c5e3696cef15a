"""Small induced subgraphs with labels, counted by isomorphism type.

Every set of nodes (connected sets only, or all) is visited once, along the ESU tree, and counted by
its labels and edges in the order in which its nodes joined. Only the distinct forms are brought to
a canonical form, by trying all orders, which also counts their automorphisms.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations

import numpy as np
from scipy import sparse

from gramlet.common.arrays import Bools, Floats, Ints, Nodes
from gramlet.engine.core.compiled import njit
from gramlet.engine.core.hash_table import (
    find_row,
    hash_of,
    number_in,
    occupied,
    slots_for,
    slots_of_rows,
)
from gramlet.engine.core.ragged import copy_into, grown, local_adjacency
from gramlet.engine.core.signature_table import SignatureTable, pack_rows
from gramlet.engine.core.tiles import QUIET, Tiling, for_tiles
from gramlet.graphs.batch import GraphBatch

__all__ = ["MAX_NODES", "SubgraphCounts", "count_subgraphs", "row_width"]

# The largest number of nodes, as all orders of nodes are tried.
MAX_NODES = 6
# The smallest cost of a tile, so that few small graphs are not split into many tiles.
_TILE = 1e5


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
    n_tiles = int(np.clip(costs.sum() / _TILE, 1, 128))
    for_tiles(work, len(batch), costs=costs, n_tiles=n_tiles, tiling=tiling)
    ordered = [parts[begin] for begin in sorted(parts)]
    rows = np.concatenate([np.zeros(0, np.int64), *(p[1] for p in ordered)])
    forms, form_of_row = SignatureTable.fit(*pack_rows(rows.reshape(-1, row_width(size))))
    canonical, orders = _canonical(forms.data.reshape(-1, row_width(size)), size)
    if table is None:
        table, column_of_form = SignatureTable.fit(*pack_rows(canonical))
    else:
        column_of_form = table.lookup(*pack_rows(canonical))
    width = max(len(table), int(column_of_form.max(initial=-1)) + 1)
    starts = np.concatenate([[0], *(p[0] for p in ordered)]).cumsum().astype(np.int64)
    values = np.concatenate([np.zeros(0), *(p[2] for p in ordered)])
    counts = sparse.csr_matrix(
        (values, column_of_form[form_of_row], starts), shape=(len(batch), width)
    )
    counts.sum_duplicates()
    n_nodes, automorphisms = np.ones(width, np.int64), np.ones(width, np.int64)
    n_nodes[column_of_form], automorphisms[column_of_form] = canonical[:, 0], orders
    return SubgraphCounts(table, counts, n_nodes, automorphisms)


def _canonical(forms: Ints, size: int) -> tuple[Ints, Ints]:
    """The smallest form over all orders of the nodes, and the number of orders that give it."""
    canonical, orders = forms.copy(), np.ones(len(forms), np.int64)
    for n in range(2, size + 1):
        which = np.flatnonzero(forms[:, 0] == n)
        _smallest(forms, which, size, _orders(n), canonical, orders)
    return canonical, orders


def _orders(n: int) -> Ints:
    return np.array(list(permutations(range(n))), dtype=np.int64)


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
def edge_code(indptr: Ints, indices: Nodes, edges: Ints, u: int, v: int) -> int:
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
def join_candidates(
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
                n_candidates[depth + 1] = join_candidates(
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
                    row[place] = edge_code(indptr, indices, edges, members[i], node)
                # Count; arrays and table grow if needed.
                if _counted(row, rows, counts, slots, start, filled):
                    filled += 1
                    if filled == len(counts):
                        counts = grown(counts, filled + 1)
                        rows = grown(rows, len(counts) * width)
                    if 2 * (filled - start) > len(slots):
                        slots = slots_of_rows(rows, width, start, filled, len(slots))
                # Leave sets that are full or have tried all candidates.
                while depth >= 0 and (
                    depth + 1 == size or following[depth] == n_candidates[depth + 1]
                ):
                    if connected:
                        for p in range(n_candidates[depth], n_candidates[depth + 1]):
                            taken[candidates[p]] = False
                    row[1 + depth] = -1
                    for i in range(depth):
                        row[1 + size + depth * (depth - 1) // 2 + i] = 0
                    depth -= 1
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
