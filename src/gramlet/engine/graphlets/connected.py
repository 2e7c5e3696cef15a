"""Connected induced subgraphs of up to k nodes, visited once each and counted by class.

Every graph is searched along the ESU tree. For up to four nodes `closed_forms` is faster; counts of
disconnected patterns are derived from these counts in `disjoint`.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from gramlet.common.arrays import Floats, Int16s, Ints, Nodes, UInt64s
from gramlet.engine.core.compiled import njit
from gramlet.engine.core.random_streams import below, graph_stream, wrapping_integers
from gramlet.engine.graphlets.patterns import patterns

__all__ = ["class_columns", "count_by_visiting", "expected_visits", "largest_graph"]


# About so many random descents estimate the number of connected sets; they take milliseconds.
_N_DESCENTS = 50_000


@cache
def class_columns(k: int) -> tuple[Ints, Int16s, Ints]:
    """Columns for the classes of all sizes 1..k, side by side.

    Returns
    -------
    first_column : array, shape (k + 2,)
        The classes on p nodes have the columns ``first_column[p]:first_column[p + 1]``.
    column_of_code : array of int16
        The column of every code of every size.
    first_code : array, shape (k + 1,)
        Where the codes of p nodes begin in ``column_of_code``.
    """
    first_column = np.zeros(k + 2, dtype=np.int64)
    first_code = np.zeros(k + 1, dtype=np.int64)
    columns: list[Int16s] = []
    n_codes = 0
    for p in range(1, k + 1):
        table = patterns(p).class_of_code
        assert table is not None  # only k = 8 has none, and sets of eight are never visited
        first_column[p + 1] = first_column[p] + len(patterns(p))
        first_code[p] = n_codes
        n_codes += len(table)
        columns.append((table + first_column[p]).astype(np.int16))
    return first_column, np.concatenate(columns), first_code


def count_by_visiting(
    node_offsets: Ints,
    indptr: Ints,
    indices: Nodes,
    k: int,
    counts: Ints,
    begin: int,
    end: int,
) -> None:
    """Count connected sets of 2..k nodes (3 ≤ k ≤ 6) of the graphs begin:end, one by one.

    Adds to row ``graph - begin`` of ``counts``, with the columns of ``class_columns(k)``. Cost:
    about 20 nanoseconds per set.

    References
    ----------
    Wernicke (2006), Efficient detection of network motifs.
    """
    _, column_of_code, first_code = class_columns(k)
    _visit(node_offsets, indptr, indices, k, column_of_code, first_code, counts, begin, end)


def expected_visits(node_offsets: Ints, indptr: Ints, indices: Nodes, k: int) -> Floats:
    """Estimate the number of connected sets of k nodes of every graph, without visiting them.

    Random descents of the ESU tree from every node: the expected product of the numbers of branches
    along a descent is the number of leaves. The estimate is good for orders of magnitude. The
    descents are the same in every call with the same graphs.

    References
    ----------
    Knuth (1975), Estimating the efficiency of backtrack programs.
    """
    with wrapping_integers():
        descents = max(1, _N_DESCENTS // max(1, int(node_offsets[-1])))
        return _probe(node_offsets, indptr, indices, k, descents)


@njit(nogil=True, cache=True)
def largest_graph(node_offsets: Ints, begin: int, end: int) -> int:
    """The number of nodes of the largest of the graphs ``begin:end``."""
    most = 0
    for g in range(begin, end):
        most = max(most, node_offsets[g + 1] - node_offsets[g])
    return most


# The ESU tree. Every connected set is grown from its smallest node; a node may join if it is larger
# and a neighbour of the set. All candidates are in one list: those of a set are the ones after the
# member that joined last, then the neighbours that this member was the first to add.


@njit(nogil=True, cache=True)
def _join(
    node: int,
    bit: int,
    root: int,
    first: int,
    indptr: Ints,
    indices: Nodes,
    touching: Ints,
    candidates: Ints,
    n_candidates: int,
) -> int:
    """Mark the node's neighbours with its bit; append those without any bit to the candidates.

    Returns the number of candidates.
    """
    # Nodes up to the root are marked as well, but never become candidates.
    for a in range(indptr[node], indptr[node + 1]):
        u = indices[a]
        if touching[u - first] == 0 and u > root:
            candidates[n_candidates] = u
            n_candidates += 1
        touching[u - first] |= bit
    return n_candidates


@njit(nogil=True, cache=True)
def _leave(node: int, bit: int, first: int, indptr: Ints, indices: Nodes, touching: Ints) -> None:
    """Remove the node's bit from its neighbours."""
    for a in range(indptr[node], indptr[node + 1]):
        touching[indices[a] - first] &= ~bit


@njit(nogil=True, cache=True)
def _visit_root(
    root: int,
    first: int,
    indptr: Ints,
    indices: Nodes,
    k: int,
    column_of_code: Int16s,
    first_code: Ints,
    touching: Ints,
    candidates: Ints,
    stack: Ints,
    row: Ints,
) -> None:
    """Count all connected sets whose smallest node is the root.

    The bits of ``touching[u]`` are the members that u is adjacent to; the first member is bit
    k − 1. When a node joins p members, the new code is the old one, shifted by p, with p of these
    bits below it: the newest node is node 0 of the pattern.
    """
    members, cursors, ends, codes = stack[0], stack[1], stack[2], stack[3]
    members[1], cursors[1], codes[1] = root, 0, 0
    ends[1] = _join(root, 1 << (k - 1), root, first, indptr, indices, touching, candidates, 0)
    size = 1
    while size > 0:
        # One node is missing: count all candidates without visiting them.
        if size == k - 1:
            shifted = first_code[k] + (codes[size] << size)
            for c in range(cursors[size], ends[size]):
                row[column_of_code[shifted + (touching[candidates[c] - first] >> 1)]] += 1
        # Otherwise the next candidate joins.
        elif cursors[size] < ends[size]:
            node = candidates[cursors[size]]
            cursors[size] += 1
            code = (codes[size] << size) | (touching[node - first] >> (k - size))
            end, cursor = ends[size], cursors[size]
            size += 1
            row[column_of_code[first_code[size] + code]] += 1
            members[size], codes[size], cursors[size] = node, code, cursor
            ends[size] = _join(
                node, 1 << (k - size), root, first, indptr, indices, touching, candidates, end
            )
            continue
        # No candidate is left: the last member leaves.
        _leave(members[size], 1 << (k - size), first, indptr, indices, touching)
        size -= 1


@njit(nogil=True, cache=True)
def _visit(
    node_offsets: Ints,
    indptr: Ints,
    indices: Nodes,
    k: int,
    column_of_code: Int16s,
    first_code: Ints,
    counts: Ints,
    begin: int,
    end: int,
) -> None:
    """Count the connected sets of the graphs ``begin:end``."""
    # Workspace for the largest graph; `_visit_root` leaves it as it was.
    most = largest_graph(node_offsets, begin, end)
    touching = np.zeros(most, dtype=np.int64)
    candidates = np.zeros(most, dtype=np.int64)
    stack = np.zeros((4, k + 1), dtype=np.int64)
    for g in range(begin, end):
        first = node_offsets[g]
        for root in range(first, node_offsets[g + 1]):
            _visit_root(
                root,
                first,
                indptr,
                indices,
                k,
                column_of_code,
                first_code,
                touching,
                candidates,
                stack,
                counts[g - begin],
            )


@njit(nogil=True, cache=True)
def _probe_root(
    root: int,
    first: int,
    indptr: Ints,
    indices: Nodes,
    k: int,
    touching: Ints,
    candidates: Ints,
    members: Ints,
    state: UInt64s,
) -> float:
    """One random descent from a root: the product of the numbers of branches."""
    cursor, end, size, leaves = 0, 0, 0, 1.0
    node = root
    while True:
        # The node joins; the candidates are the branches.
        members[size] = node
        size += 1
        end = _join(node, 1, root, first, indptr, indices, touching, candidates, end)
        leaves *= end - cursor
        if leaves == 0.0 or size == k - 1:
            break
        chosen = cursor + below(end - cursor, state)
        node, cursor = candidates[chosen], chosen + 1
    # Remove all marks.
    for t in range(size):
        _leave(members[t], 1, first, indptr, indices, touching)
    return leaves


@njit(nogil=True, cache=True)
def _probe(node_offsets: Ints, indptr: Ints, indices: Nodes, k: int, descents: int) -> Floats:
    n_graphs = len(node_offsets) - 1
    most = largest_graph(node_offsets, 0, n_graphs)
    touching = np.zeros(most, dtype=np.int64)
    candidates = np.zeros(most, dtype=np.int64)
    members = np.zeros(k, dtype=np.int64)
    state = np.zeros(4, dtype=np.uint64)
    expected = np.zeros(n_graphs)
    for g in range(n_graphs):
        first, last = node_offsets[g], node_offsets[g + 1]
        graph_stream(0, first, last, indptr, indices, state)
        for _ in range(descents):
            for root in range(first, last):
                expected[g] += _probe_root(
                    root, first, indptr, indices, k, touching, candidates, members, state
                )
    return expected / descents
