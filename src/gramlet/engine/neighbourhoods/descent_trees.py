"""Descent trees: the part below a node in the breadth-first decomposition of a graph.

DD(v) contains the nodes within some hops of v and the arcs that lead one hop farther away. The tree
T_v(u) of all descents from u is never unfolded: it is renamed exactly, from the leaves up, by its
root's label and the sorted ids of its children. Sizes of unfolded trees are floating-point numbers,
which may be infinite.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gramlet.common.arrays import Floats, Ints, Nodes
from gramlet.engine.core.compiled import njit
from gramlet.engine.core.memory import require_bytes
from gramlet.engine.core.ragged import grown, local_adjacency, offsets_of
from gramlet.engine.core.short_sort import sort_short
from gramlet.engine.core.signature_table import SignatureTable, intern_tiles
from gramlet.engine.core.tiles import QUIET, Tiling, for_tiles
from gramlet.engine.laplacian.balls import ball_sizes
from gramlet.graphs.batch import GraphBatch

# A child in a signature: its id in these low bits, the height of its tree above them.
_ID_BITS = 40


@dataclass(frozen=True)
class DescentTrees:
    """The trees T_v(u) of all pairs (v, u), ordered by graph.

    Attributes
    ----------
    tables : list of SignatureTable
        One per height 0, 1, ... of trees, with signatures (label of the root, sorted children).
    offsets : array of int64, shape (graphs + 1,)
        Graph i has the trees ``offsets[i]:offsets[i + 1]``.
    heights, ids : arrays of int64
        The height of each tree, and its id in the table of that height; trees that a given table
        does not contain have ids beyond it.
    sizes : array of float64
        The number of nodes of each unfolded tree; inf if it is too large.
    """

    tables: list[SignatureTable]
    offsets: Ints
    heights: Ints
    ids: Ints
    sizes: Floats


def split_child(code: int) -> tuple[int, int]:
    """The height and the id of a child in a signature.

    >>> split_child((2 << 40) + 5)
    (2, 5)
    """
    return code >> _ID_BITS, code & ((1 << _ID_BITS) - 1)


def descent_trees(
    batch: GraphBatch,
    labels: Ints,
    height: int,
    tables: list[SignatureTable] | None = None,
    tiling: Tiling = QUIET,
) -> DescentTrees:
    """Rename the trees of all pairs (v, u) with u at most ``height`` hops from v, along arcs.

    Parameters
    ----------
    labels : array of int64
        The code of each node's label.
    tables : list of SignatureTable, optional
        The fitted renaming; None: fit it.
    """
    nodes, indptr, indices = batch.node_offsets, batch.indptr, batch.indices
    # No distance exceeds the number of nodes, so larger heights make no difference.
    height = min(height, int(batch.sizes.max(initial=0)))
    starts = offsets_of(ball_sizes(batch, np.arange(batch.n_nodes_total), height))
    n_trees = int(starts[-1])
    _require_room(np.diff(starts[nodes]), _children(batch, starts), batch.sizes, height)
    heights, ids = np.zeros(n_trees, np.int64), np.zeros(n_trees, np.int64)
    sizes = np.ones(n_trees)
    costs = np.diff(starts[nodes]).astype(np.float64)

    def measure(begin: int, end: int) -> None:
        first, last = nodes[begin], nodes[end]
        adjacency = local_adjacency(indptr, indices, first, last)
        _measure(*adjacency, height, starts[first : last + 1], heights, sizes)

    for_tiles(measure, len(batch), costs=costs, tiling=tiling)
    new_tables: list[SignatureTable] = []
    for level in range(int(heights.max(initial=-1)) + 1):

        def make(begin: int, end: int, level: int = level) -> tuple[Ints, Ints]:
            first, last = nodes[begin], nodes[end]
            adjacency = local_adjacency(indptr, indices, first, last)
            return _tree_signatures(
                *adjacency,
                labels[first:last],
                height,
                starts[first : last + 1],
                heights,
                ids,
                level,
            )

        known = _table(tables, level)
        table, ids[heights == level] = intern_tiles(make, costs, known, tiling=tiling)
        new_tables.append(table)
    return DescentTrees(new_tables, starts[nodes], heights, ids, sizes)


def _table(tables: list[SignatureTable] | None, level: int) -> SignatureTable | None:
    """The fitted table of a height; an empty one if no fitted tree has this height."""
    if tables is None:
        return None
    if level < len(tables):
        return tables[level]
    return SignatureTable(np.zeros(1, np.int64), np.zeros(0, np.int64))


def _children(batch: GraphBatch, starts: Ints) -> Ints:
    """At most this many children do the trees of each graph have: its arcs in every ball."""
    arcs = np.diff(batch.indptr[batch.node_offsets])
    trees = np.diff(starts[batch.node_offsets])
    # A ball contains at most all arcs, and its trees have at most the largest degree each.
    degrees = np.diff(batch.indptr)
    most = np.zeros(len(batch), dtype=np.int64)
    np.maximum.at(most, batch.graph_of_node, degrees)
    return np.asarray(np.minimum(arcs * batch.sizes, trees * most), dtype=np.int64)


def _require_room(trees: Ints, children: Ints, sizes: Ints, height: int) -> None:
    """Raise a MemoryError that names the largest graph if the trees do not fit."""
    # 48 bytes per tree while it is renamed, and 16 per child in a signature, which is copied.
    needed = 48 * trees + 16 * children
    if not len(needed):
        return
    largest = int(needed.argmax())
    require_bytes(
        int(needed.sum()),
        f"ODDSTh: these graphs have {int(trees.sum()):,} pairs of nodes within {height} hops, "
        f"{int(trees[largest]):,} of them in graph {largest} ({int(sizes[largest]):,} nodes); "
        "renaming their trees",
        "Use a smaller height or leave out large graphs.",
    )


@njit(nogil=True, cache=True)
def _descend(
    root: int, indptr: Ints, indices: Nodes, height: int, hops: Ints, place: Ints, queue: Ints
) -> int:
    """Write the nodes within ``height`` hops to ``queue``, nearest first; return how many.

    ``hops`` must be −1 everywhere; for these nodes, ``hops`` and ``place`` are set.
    """
    hops[root], place[root], queue[0] = 0, 0, root
    head, tail = 0, 1
    while head < tail:
        u = queue[head]
        head += 1
        if hops[u] == height:
            continue
        for p in range(indptr[u], indptr[u + 1]):
            w = indices[p]
            if hops[w] < 0:
                hops[w], place[w], queue[tail] = hops[u] + 1, tail, w
                tail += 1
    return tail


@njit(nogil=True, cache=True)
def _measure(
    indptr: Ints, indices: Nodes, height: int, starts: Ints, heights: Ints, sizes: Floats
) -> None:
    """Heights and sizes of the trees below every node of every decomposition."""
    n = len(indptr) - 1
    hops, place = np.full(n, -1, dtype=np.int64), np.empty(n, dtype=np.int64)
    queue = np.empty(n, dtype=np.int64)
    for root in range(n):
        k = _descend(root, indptr, indices, height, hops, place, queue)
        begin = starts[root]
        # Farthest first, so that children come before their parents.
        for a in range(k - 1, -1, -1):
            u = queue[a]
            for p in range(indptr[u], indptr[u + 1]):
                w = indices[p]
                if hops[w] == hops[u] + 1:
                    child = begin + place[w]
                    heights[begin + a] = max(heights[begin + a], heights[child] + 1)
                    sizes[begin + a] += sizes[child]
        for a in range(k):
            hops[queue[a]] = -1


@njit(nogil=True, cache=True)
def _tree_signatures(
    indptr: Ints,
    indices: Nodes,
    labels: Ints,
    height: int,
    starts: Ints,
    heights: Ints,
    ids: Ints,
    level: int,
) -> tuple[Ints, Ints]:
    """Signatures (label, sorted children) of the trees of one height; their children have ids."""
    n = len(indptr) - 1
    # The number of such trees.
    count = 0
    for item in range(starts[0], starts[n]):
        count += heights[item] == level
    hops, place = np.full(n, -1, dtype=np.int64), np.empty(n, dtype=np.int64)
    queue = np.empty(n, dtype=np.int64)
    offsets = np.zeros(count + 1, dtype=np.int64)
    data = np.empty(1024, dtype=np.int64)
    filled, tree = 0, 0
    for root in range(n):
        k = _descend(root, indptr, indices, height, hops, place, queue)
        begin = starts[root]
        for a in range(k):
            if heights[begin + a] != level:
                continue
            # The root's label, then its children.
            u = queue[a]
            data = grown(data, filled + 1 + indptr[u + 1] - indptr[u])
            data[filled] = labels[u]
            end = filled + 1
            for p in range(indptr[u], indptr[u + 1]):
                w = indices[p]
                if hops[w] == hops[u] + 1:
                    child = begin + place[w]
                    data[end] = (heights[child] << _ID_BITS) + ids[child]
                    end += 1
            sort_short(data[filled + 1 : end])
            filled = end
            tree += 1
            offsets[tree] = filled
        # Reset the distances.
        for a in range(k):
            hops[queue[a]] = -1
    return offsets, data[:filled].copy()
