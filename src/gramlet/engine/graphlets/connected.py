"""Connected induced subgraphs of up to k nodes, counted by class.

Up to four nodes closed formulas count them: triangles, four-cycles and four-cliques are found over
edges; stars, paths, paws and diamonds follow from degrees and triangles. Larger sets of nodes are
visited once each, along the ESU tree. Counts of disconnected patterns are derived in `spectrum`.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np

from gramlet.common.arrays import Floats, Int16s, Ints, Nodes, UInt64s
from gramlet.engine.core.compiled import njit
from gramlet.engine.core.random_streams import below, graph_stream, wrapping_integers
from gramlet.engine.graphlets.patterns import pattern_code, patterns


class ClassColumns(NamedTuple):
    """Columns for the classes of all sizes 1..k, side by side.

    Attributes
    ----------
    first_column : array, shape (k + 2,)
        The classes on p nodes have the columns ``first_column[p]:first_column[p + 1]``.
    column_of_code : array of int16
        The column of every code of every size.
    first_code : array, shape (k + 1,)
        Where the codes of p nodes begin in ``column_of_code``.
    """

    first_column: Ints
    column_of_code: Int16s
    first_code: Ints


@cache
def class_columns(k: int) -> ClassColumns:
    """The columns for the classes of 1..k nodes."""
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
    return ClassColumns(first_column, np.concatenate(columns), first_code)


def count_by_formula(
    node_offsets: Ints,
    indptr: Ints,
    indices: Nodes,
    k: int,
    counts: Ints,
    begin: int,
    end: int,
) -> None:
    """Count connected sets of 2..k nodes (k ≤ 4) of the graphs begin:end.

    Row ``graph - begin`` of ``counts`` is filled in, with the columns of ``class_columns(k)``.
    Cost: O(Σ deg²) and the number of four-cliques.
    """
    columns = _formula_columns()
    marked, common = np.zeros((2, _largest(node_offsets, begin, end)), dtype=np.int64)
    tallies = np.zeros((end - begin, len(columns)), dtype=np.int64)
    tallies[:, 0] = np.diff(indptr[node_offsets[begin : end + 1]]) // 2
    _tally(node_offsets, indptr, indices, marked, common, tallies, begin, end)
    shown = columns < counts.shape[1]
    counts[:, columns[shown]] = _induced(tallies)[:, shown]


@cache
def _formula_columns() -> Ints:
    """Columns of: edge; path and triangle; star, path, paw, cycle, diamond, clique on four."""
    _, column_of_code, first_code = class_columns(4)
    shapes = [
        (2, [(0, 1)]),
        (3, [(0, 1), (1, 2)]),
        (3, [(0, 1), (1, 2), (0, 2)]),
        (4, [(0, 1), (0, 2), (0, 3)]),
        (4, [(0, 1), (1, 2), (2, 3)]),
        (4, [(0, 1), (1, 2), (0, 2), (2, 3)]),
        (4, [(0, 1), (1, 2), (2, 3), (0, 3)]),
        (4, [(0, 1), (1, 2), (2, 3), (0, 3), (0, 2)]),
        (4, [(0, 1), (1, 2), (2, 3), (0, 3), (0, 2), (1, 3)]),
    ]
    columns = [column_of_code[first_code[p] + pattern_code(edges, p)] for p, edges in shapes]
    return np.array(columns, dtype=np.int64)


def _largest(node_offsets: Ints, begin: int, end: int) -> int:
    """The number of nodes of the largest of the graphs ``begin:end``."""
    return int(np.diff(node_offsets[begin : end + 1]).max(initial=0))


@njit(nogil=True, cache=True)
def _tally(
    node_offsets: Ints,
    indptr: Ints,
    indices: Nodes,
    marked: Ints,
    common: Ints,
    tallies: Ints,
    begin: int,
    end: int,
) -> None:
    """Count subgraphs that need not be induced, with multiplicities, except edges.

    ``marked`` and ``common`` contain a zero for each node of the largest graph.
    """
    for g in range(begin, end):
        first = node_offsets[g]
        tally = tallies[g - begin]
        for u in range(first, node_offsets[g + 1]):
            _tally_node(u, first, indptr, indices, common, tally)
            _tally_edges(u, first, indptr, indices, marked, common, tally)


@njit(nogil=True, cache=True)
def _tally_node(
    u: int, first: int, indptr: Ints, indices: Nodes, common: Ints, tally: Ints
) -> None:
    """Add wedges and stars at u, and the four-cycles with u and a later node on a diagonal.

    A four-cycle is added twice in all, once per diagonal.
    """
    degree = indptr[u + 1] - indptr[u]
    tally[1] += degree * (degree - 1) // 2
    tally[3] += degree * (degree - 1) * (degree - 2) // 6
    for a in range(indptr[u], indptr[u + 1]):
        w = indices[a]
        for b in range(indptr[w + 1] - 1, indptr[w] - 1, -1):
            if indices[b] <= u:
                break
            # The n-th common neighbour closes n − 1 more cycles.
            tally[6] += common[indices[b] - first]
            common[indices[b] - first] += 1
    for a in range(indptr[u], indptr[u + 1]):
        w = indices[a]
        for b in range(indptr[w + 1] - 1, indptr[w] - 1, -1):
            if indices[b] <= u:
                break
            common[indices[b] - first] = 0


@njit(nogil=True, cache=True)
def _tally_edges(
    u: int,
    first: int,
    indptr: Ints,
    indices: Nodes,
    marked: Ints,
    common: Ints,
    tally: Ints,
) -> None:
    """Add triangles, paths, paws, diamonds and four-cliques, over edges u < v.

    A triangle is added three times in all, once per edge.
    """
    degree = indptr[u + 1] - indptr[u]
    for a in range(indptr[u], indptr[u + 1]):
        marked[indices[a] - first] = 1
    for a in range(indptr[u], indptr[u + 1]):
        v = indices[a]
        if v < u:
            continue
        # Paths with this edge in the middle.
        tally[4] += (degree - 1) * (indptr[v + 1] - indptr[v] - 1)
        # Triangles on this edge.
        triangles = 0
        for b in range(indptr[v], indptr[v + 1]):
            w = indices[b]
            if marked[w - first]:
                triangles += 1
                # Each further edge of the third node makes a paw.
                tally[5] += indptr[w + 1] - indptr[w] - 2
                if w > v:
                    common[w - first] = 1
        # Two triangles on one edge are a diamond; cliques are found among the third nodes.
        tally[2] += triangles
        tally[7] += triangles * (triangles - 1) // 2
        if triangles > 1:
            tally[8] += _edges_within(v, first, indptr, indices, common)
        for b in range(indptr[v], indptr[v + 1]):
            common[indices[b] - first] = 0
    for a in range(indptr[u], indptr[u + 1]):
        marked[indices[a] - first] = 0


@njit(nogil=True, cache=True)
def _edges_within(v: int, first: int, indptr: Ints, indices: Nodes, inside: Ints) -> int:
    """The number of edges between neighbours of v that are marked in ``inside``."""
    n_edges = 0
    for b in range(indptr[v], indptr[v + 1]):
        w = indices[b]
        if inside[w - first]:
            for c in range(indptr[w + 1] - 1, indptr[w] - 1, -1):
                if indices[c] <= w:
                    break
                n_edges += inside[indices[c] - first]
    return n_edges


def _induced(tallies: Ints) -> Ints:
    """Counts of induced subgraphs, from those of subgraphs with multiplicities; graphs are rows."""
    edges, wedges, corners, stars, paths, paws, cycles, diamonds, cliques = tallies.T
    triangles = corners // 3
    diamonds = diamonds - 6 * cliques
    cycles = cycles // 2 - diamonds - 3 * cliques
    paws = paws - 4 * diamonds - 12 * cliques
    stars = stars - (paws + 2 * diamonds + 4 * cliques)
    paths = paths - (3 * triangles + 2 * paws + 4 * cycles + 6 * diamonds + 12 * cliques)
    return np.column_stack(
        [edges, wedges - 3 * triangles, triangles, stars, paths, paws, cycles, diamonds, cliques]
    )


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
    workspace = np.zeros((2, _largest(node_offsets, begin, end)), dtype=np.int64)
    _visit(
        node_offsets, indptr, indices, k, column_of_code, first_code, workspace, counts, begin, end
    )


def expected_visits(node_offsets: Ints, indptr: Ints, indices: Nodes, k: int) -> Floats:
    """Estimate the number of connected sets of k nodes of every graph, without visiting them.

    Random descents of the ESU tree from every node: the expected product of the numbers of branches
    along a descent is the number of leaves. The estimate is good for orders of magnitude. The
    descents are the same in every call with the same graphs.

    References
    ----------
    Knuth (1975), Estimating the efficiency of backtrack programs.
    """
    # 50,000 descents in all take milliseconds.
    descents = max(1, 50_000 // max(1, int(node_offsets[-1])))
    workspace = np.zeros((2, _largest(node_offsets, 0, len(node_offsets) - 1)), dtype=np.int64)
    with wrapping_integers():
        return _probe(node_offsets, indptr, indices, k, workspace, descents)


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
    workspace: Ints,
    counts: Ints,
    begin: int,
    end: int,
) -> None:
    """Count the connected sets of the graphs ``begin:end``.

    The two rows of ``workspace`` contain a zero for each node of the largest graph.
    """
    touching, candidates = workspace[0], workspace[1]
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
def _probe(
    node_offsets: Ints, indptr: Ints, indices: Nodes, k: int, workspace: Ints, descents: int
) -> Floats:
    """Expected numbers of leaves of the ESU trees, from so many descents per node."""
    n_graphs = len(node_offsets) - 1
    touching, candidates = workspace[0], workspace[1]
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
