"""Connected induced subgraphs of up to four nodes, counted by closed formulas.

Triangles, four-cycles and four-cliques are found over edges; stars, paths, paws and diamonds follow
from degrees and triangles. Larger subgraphs are counted in `connected`.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from gramlet.common.arrays import Ints, Nodes
from gramlet.engine.core.compiled import njit
from gramlet.engine.graphlets.connected import class_columns, largest_graph
from gramlet.engine.graphlets.patterns import pattern_code

__all__ = ["count_by_formula"]


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
    Cost: O(Σ deg²) and, for k = 4, the number of four-cliques.
    """
    columns = _formula_columns()
    if k <= 3:
        _count_three(node_offsets, indptr, indices, columns, k, counts, begin, end)
        return
    # Arrays are created, and short sums computed, here: compiling them would take longer.
    most = int(np.diff(node_offsets[begin : end + 1]).max(initial=0))
    place, common = np.zeros((2, most), dtype=np.int64)
    tallies = np.zeros((end - begin, len(columns)), dtype=np.int64)
    tallies[:, 0] = np.diff(indptr[node_offsets[begin : end + 1]]) // 2
    _tally_four(node_offsets, indptr, indices, place, common, tallies, begin, end)
    counts[:, columns] = _induced(tallies)


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
    found = [column_of_code[first_code[p] + pattern_code(edges, p)] for p, edges in shapes]
    return np.array(found, dtype=np.int64)


@njit(nogil=True, cache=True)
def _count_three(
    node_offsets: Ints,
    indptr: Ints,
    indices: Nodes,
    columns: Ints,
    k: int,
    counts: Ints,
    begin: int,
    end: int,
) -> None:
    """Count edges and, for k = 3, paths and triangles."""
    marked = np.zeros(largest_graph(node_offsets, begin, end), dtype=np.int64)
    for g in range(begin, end):
        first, last = node_offsets[g], node_offsets[g + 1]
        # Pairs of neighbours of every node, and triangles, each at its smallest node.
        wedges = triangles = 0
        for u in range(first, last):
            degree = indptr[u + 1] - indptr[u]
            wedges += degree * (degree - 1) // 2
            triangles += _triangles_above(u, first, indptr, indices, marked)
        # A triangle has three wedges, none of which is an induced path.
        row = counts[g - begin]
        row[columns[0]] = (indptr[last] - indptr[first]) // 2
        if k == 3:
            row[columns[1]] = wedges - 3 * triangles
            row[columns[2]] = triangles


@njit(nogil=True, cache=True)
def _triangles_above(u: int, first: int, indptr: Ints, indices: Nodes, marked: Ints) -> int:
    """The number of triangles u < v < w."""
    for a in range(indptr[u], indptr[u + 1]):
        marked[indices[a] - first] = 1
    found = 0
    for a in range(indptr[u], indptr[u + 1]):
        v = indices[a]
        if v > u:
            for b in range(indptr[v + 1] - 1, indptr[v] - 1, -1):
                if indices[b] <= v:
                    break
                found += marked[indices[b] - first]
    for a in range(indptr[u], indptr[u + 1]):
        marked[indices[a] - first] = 0
    return found


@njit(nogil=True, cache=True)
def _tally_four(
    node_offsets: Ints,
    indptr: Ints,
    indices: Nodes,
    place: Ints,
    common: Ints,
    tallies: Ints,
    begin: int,
    end: int,
) -> None:
    """Count subgraphs that need not be induced, with multiplicities, except edges.

    ``place`` and ``common`` contain a zero for each node of the largest graph.
    """
    for g in range(begin, end):
        first = node_offsets[g]
        tally = tallies[g - begin]
        for u in range(first, node_offsets[g + 1]):
            _tally_node(u, first, indptr, indices, common, tally)
            _tally_edges(u, first, indptr, indices, place, common, tally)


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
    found = 0
    for b in range(indptr[v], indptr[v + 1]):
        w = indices[b]
        if inside[w - first]:
            for c in range(indptr[w + 1] - 1, indptr[w] - 1, -1):
                if indices[c] <= w:
                    break
                found += inside[indices[c] - first]
    return found


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
