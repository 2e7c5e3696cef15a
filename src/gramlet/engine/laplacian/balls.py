"""Balls around nodes, and whole graphs, as lists of nodes in breadth-first order.

No subgraph is built: a list of nodes and a stamp on each of them suffice to walk the adjacency.
Balls with the same nodes (all of a component, once the radius is large enough) are found here, so
that whatever is computed for a ball is computed once.
"""

from __future__ import annotations

import numpy as np

from gramlet.common.arrays import Ints, Nodes, UInt64s
from gramlet.engine.core.compiled import njit
from gramlet.engine.core.hashes import scramble
from gramlet.engine.core.tiles import QUIET, Tiling, for_tiles
from gramlet.graphs.batch import GraphBatch


@njit(nogil=True, cache=True)
def gather_ball(
    indptr: Ints, indices: Nodes, centre: int, hops: int, stamp: Ints, tag: int, queue: Ints
) -> int:
    """Write the nodes within ``hops`` of the centre to ``queue``, nearest first; return how many.

    ``stamp`` of these nodes is set to ``tag``; no node may have that stamp before.
    """
    return _spread(indptr, indices, centre, hops, stamp, tag, queue, 0)


@njit(nogil=True, cache=True)
def hop_counts(
    indptr: Ints, indices: Nodes, queue: Ints, count: int, stamp: Ints, tag: int, hops: Ints
) -> None:
    """Write to ``hops[node]`` the distance of each node of a ball from its centre.

    ``queue``, ``count``, ``stamp`` and ``tag`` are those of `gather_ball`.
    """
    for q in range(count):
        hops[queue[q]] = -1
    hops[queue[0]] = 0
    for q in range(count):
        node = queue[q]
        for arc in range(indptr[node], indptr[node + 1]):
            near = indices[arc]
            if stamp[near] == tag and hops[near] < 0:
                hops[near] = hops[node] + 1


@njit(nogil=True, cache=True)
def gather_graph(
    indptr: Ints, indices: Nodes, first: int, last: int, stamp: Ints, tag: int, queue: Ints
) -> int:
    """Write the nodes ``first:last`` to ``queue``, each component in breadth-first order.

    Each component starts at a node far from its centre, so that neighbours are close in the list.
    Returns the number of nodes.
    """
    count = 0
    everywhere = last - first
    for node in range(first, last):
        if stamp[node] == tag:
            continue
        centre, reached = node, count
        for turn in range(2):
            if turn == 1:
                centre = queue[reached - 1]
                for q in range(count, reached):
                    stamp[queue[q]] = -1
            reached = _spread(indptr, indices, centre, everywhere, stamp, tag, queue, count)
        count = reached
    return count


@njit(nogil=True, cache=True)
def _spread(
    indptr: Ints,
    indices: Nodes,
    centre: int,
    hops: int,
    stamp: Ints,
    tag: int,
    queue: Ints,
    at: int,
) -> int:
    stamp[centre] = tag
    queue[at] = centre
    begin, end = at, at + 1
    for _ in range(hops):
        reached = end
        for q in range(begin, end):
            for arc in range(indptr[queue[q]], indptr[queue[q] + 1]):
                node = indices[arc]
                if stamp[node] != tag:
                    stamp[node] = tag
                    queue[reached] = node
                    reached += 1
        if reached == end:
            break
        begin, end = end, reached
    return end


def ball_centres(
    batch: GraphBatch, hops: int, centred: bool, tiling: Tiling = QUIET
) -> tuple[Ints, Ints]:
    """One centre per distinct ball, in ascending order, and the position of each node's ball.

    With ``centred``, balls with the same nodes but different centres are different.
    """
    if centred:
        nodes = np.arange(batch.n_nodes_total)
        return nodes, nodes
    centres, of_node = np.unique(ball_owners(batch, hops, tiling=tiling), return_inverse=True)
    return centres, of_node.reshape(-1)


def ball_owners(batch: GraphBatch, hops: int, tiling: Tiling = QUIET) -> Ints:
    """For each node, the first node whose ball has the same nodes (possibly the node itself).

    Balls are matched by the exclusive or of their nodes' marks and then compared node by node.
    """
    n = batch.n_nodes_total
    marks = scramble(np.arange(n, dtype=np.uint64))
    keys, sizes = np.empty(n, np.uint64), np.empty(n, np.int64)

    def add_up(begin: int, end: int) -> None:
        _ball_keys(batch.indptr, batch.indices, hops, marks, begin, end, keys, sizes)

    for_tiles(add_up, n, tiling=tiling)
    order = np.lexsort((np.arange(n), sizes, keys))
    fresh = np.ones(n, dtype=bool)
    fresh[1:] = (np.diff(keys[order]) != 0) | (np.diff(sizes[order]) != 0)
    runs = np.concatenate([np.flatnonzero(fresh), [n]]).astype(np.int64)
    owners = np.arange(n)

    def confirm(begin: int, end: int) -> None:
        _confirm(batch.indptr, batch.indices, hops, order, runs, begin, end, owners)

    for_tiles(confirm, len(runs) - 1, tiling=tiling)
    return owners


def ball_sizes(batch: GraphBatch, centres: Ints, hops: int) -> Ints:
    """How many nodes the balls around these nodes have."""
    sizes = np.empty(len(centres), np.int64)
    _sizes(batch.indptr, batch.indices, hops, np.asarray(centres, np.int64), sizes)
    return sizes


@njit(nogil=True, cache=True)
def _sizes(indptr: Ints, indices: Nodes, hops: int, centres: Ints, sizes: Ints) -> None:
    stamp = np.full(len(indptr) - 1, -1, dtype=np.int64)
    queue = np.empty(len(indptr) - 1, dtype=np.int64)
    for i in range(len(centres)):
        sizes[i] = gather_ball(indptr, indices, centres[i], hops, stamp, i, queue)


@njit(nogil=True, cache=True)
def _ball_keys(
    indptr: Ints,
    indices: Nodes,
    hops: int,
    marks: UInt64s,
    begin: int,
    end: int,
    keys: UInt64s,
    sizes: Ints,
) -> None:
    stamp = np.full(len(indptr) - 1, -1, dtype=np.int64)
    queue = np.empty(len(indptr) - 1, dtype=np.int64)
    for centre in range(begin, end):
        sizes[centre] = gather_ball(indptr, indices, centre, hops, stamp, centre, queue)
        keys[centre] = 0
        for q in range(sizes[centre]):
            keys[centre] ^= marks[queue[q]]


@njit(nogil=True, cache=True)
def _confirm(
    indptr: Ints,
    indices: Nodes,
    hops: int,
    order: Ints,
    runs: Ints,
    begin: int,
    end: int,
    owners: Ints,
) -> None:
    """Compare the balls of each run of equal keys with the first one of the run, node by node."""
    n = len(indptr) - 1
    mine, theirs = np.full(n, -1, dtype=np.int64), np.full(n, -1, dtype=np.int64)
    queue = np.empty(n, dtype=np.int64)
    for run in range(begin, end):
        if runs[run + 1] - runs[run] == 1:
            continue
        # Stamp the nodes of the first ball of the run.
        owner = order[runs[run]]
        gather_ball(indptr, indices, owner, hops, mine, owner, queue)
        # Compare the others with it.
        for position in range(runs[run] + 1, runs[run + 1]):
            node = order[position]
            count = gather_ball(indptr, indices, node, hops, theirs, node, queue)
            same = True
            for q in range(count):
                same = same and mine[queue[q]] == owner
            if same:  # sizes are equal, so a subset is the same set
                owners[node] = owner
