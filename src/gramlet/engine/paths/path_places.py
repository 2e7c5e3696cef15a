"""Places of nodes on shortest paths, counted for all graphs of a batch.

M_v[i, l] is the number of shortest paths of l nodes with v at place i. From each source the paths
are counted forwards (ways to reach a node in i steps) and backwards (ways to continue for j steps);
the products are M. Counts are summed over groups of nodes of a graph, such as the nodes of one
label. `place_comparison` and the kernels compare the counts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gramlet.common.arrays import Floats, Ints, Nodes
from gramlet.engine.core.compiled import njit
from gramlet.engine.core.memory import available_bytes
from gramlet.engine.core.ragged import offsets_of
from gramlet.engine.core.tiles import Tiling, for_tiles
from gramlet.engine.paths.single_source import breadth_first, dijkstra, sift_down, sift_up

__all__ = ["NodeGroups", "PlaceCounts", "n_places", "place_and_length", "place_counts"]

# Two paths tie if the relative difference of their lengths is at most this.
_TIE = 1e-9


@dataclass(frozen=True)
class NodeGroups:
    """Groups of nodes of each graph: graph g has the groups ``offsets[g]:offsets[g + 1]``.

    Attributes
    ----------
    offsets : array of int64, shape (graphs + 1,)
    of_node : array of int64, shape (nodes,)
        The group of each node.
    """

    offsets: Ints
    of_node: Ints


@dataclass(frozen=True)
class PlaceCounts:
    """Counts by place and group, one table per graph.

    Attributes
    ----------
    longest : array of int64
        The number of nodes of the longest shortest path of each graph.
    offsets : array of int64
        The table of graph g is ``counts[offsets[g]:offsets[g + 1]]``: one line per place (see
        `place_and_length`), one number per group.
    counts : array of float64
    folded : bool
        Whether only the places of the first half of each path are stored. Paths that can be
        reversed have the same counts at places i and l − 1 − i.
    """

    longest: Ints
    offsets: Ints
    counts: Floats
    folded: bool


def n_places(longest: Ints, folded: bool) -> Ints:
    """How many pairs (place, length) there are for paths of up to ``longest`` nodes.

    >>> n_places(np.array([0, 1, 3]), False).tolist(), n_places(np.array([0, 1, 3]), True).tolist()
    ([0, 1, 6], [0, 1, 4])
    """
    return (longest + 1) ** 2 // 4 if folded else longest * (longest + 1) // 2


def place_and_length(lines: Ints) -> tuple[Ints, Ints]:
    """The place i and the length l of lines of a table that is not folded: line l(l−1)/2 + i.

    >>> [part.tolist() for part in place_and_length(np.arange(6))]
    [[0, 0, 1, 0, 1, 2], [1, 2, 2, 3, 3, 3]]
    """
    # The root is exact for all lines that fit into memory.
    lengths = ((np.sqrt(8.0 * lines + 1.0) - 1.0) // 2.0).astype(np.int64) + 1
    return lines - lengths * (lengths - 1) // 2, lengths


def place_counts(
    node_offsets: Ints,
    indptr: Ints,
    indices: Nodes,
    groups: NodeGroups,
    weights: Floats | None,
    directed: bool,
    fold: bool,
    tiling: Tiling,
) -> PlaceCounts:
    """Count the places of the nodes of each group on shortest paths.

    Parameters
    ----------
    weights : array of float64, optional
        Positive lengths of the arcs; None: every arc has length 1. An arc u→w continues a shortest
        path from s if w is farther and |d(s,u) + w_uw − d(s,w)| ≤ 1e-9·d(s,w).
    directed : bool
    fold : bool
        Store only the first half of each path, if the other half has the same counts.
    """
    n_graphs = len(node_offsets) - 1
    sizes = np.diff(node_offsets)
    lengths = np.zeros(0) if weights is None else np.array(weights, dtype=np.float64)
    folded = fold and not directed and weights is None
    costs = sizes.astype(np.float64) * (sizes + np.diff(indptr[node_offsets]))
    longest = np.zeros(n_graphs, dtype=np.int64)
    graph = (node_offsets, indptr, indices, lengths)

    def measure(begin: int, end: int) -> None:
        _count(begin, end, *graph, longest, True, groups.offsets, groups.of_node, folded, *nothing)

    nothing = (np.zeros(0, dtype=np.int64), np.zeros(0))
    for_tiles(measure, n_graphs, costs=costs, tiling=tiling)
    offsets = offsets_of(n_places(longest, folded) * np.diff(groups.offsets))
    _require_memory(offsets, tiling.label)
    counts = np.zeros(offsets[-1])

    def fill(begin: int, end: int) -> None:
        _count(
            begin,
            end,
            *graph,
            longest,
            False,
            groups.offsets,
            groups.of_node,
            folded,
            offsets,
            counts,
        )

    for_tiles(fill, n_graphs, costs=costs * np.maximum(longest, 1), tiling=tiling)
    return PlaceCounts(longest, offsets, counts, folded)


def _require_memory(offsets: Ints, owner: str) -> None:
    """Raise a MemoryError for tables that do not fit: those of long paths with many groups."""
    available, needed = available_bytes(), 8 * int(offsets[-1])
    if available is None or needed <= available:
        return
    worst = int(np.argmax(np.diff(offsets)))
    raise MemoryError(
        f"{owner}: the counts of places on shortest paths take {needed / 1e9:,.1f} GB, of graph "
        f"{worst} alone {8 * float(np.diff(offsets)[worst]) / 1e9:,.1f} GB; {available / 1e9:,.1f} "
        'GB of memory are available. Leave out graphs with long paths, or use node_kernel="label", '
        "which needs far less."
    )


@njit(nogil=True, cache=True)
def _count(
    begin: int,
    end: int,
    node_offsets: Ints,
    indptr: Ints,
    indices: Nodes,
    weights: Floats,
    longest: Ints,
    only_measure: bool,
    group_offsets: Ints,
    group_of_node: Ints,
    folded: bool,
    offsets: Ints,
    counts: Floats,
) -> None:
    """Find the longest path of graphs ``begin:end``, or fill in their tables of places."""
    for graph in range(begin, end):
        first = node_offsets[graph]
        n = node_offsets[graph + 1] - first
        length, keys = np.empty(n), np.empty(n)
        heap, reached = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
        taken, left = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
        most = longest[graph]
        n_groups = group_offsets[graph + 1] - group_offsets[graph]
        room = 0 if only_measure else most
        forwards = np.zeros((n, room))
        backwards = np.zeros((n, room))
        for source in range(n):
            # Nodes by distance, so that every continuation leads to a later node.
            if len(weights):
                dijkstra(first + source, indptr, indices, weights, first, length)
            else:
                breadth_first(first + source, indptr, indices, first, length)
            order = reached[: _by_distance(length, keys, heap, reached)]
            if only_measure:
                most = _most_steps(order, first, indptr, indices, weights, length, taken)
                longest[graph] = max(longest[graph], most + 1)
                continue
            _count_ways(
                source,
                order,
                first,
                indptr,
                indices,
                weights,
                length,
                taken,
                left,
                forwards,
                backwards,
            )
            # i steps to reach a node and j steps to continue make a path of i + j + 1 nodes.
            for v in order:
                column = offsets[graph] + group_of_node[first + v] - group_offsets[graph]
                for i in range(taken[v] + 1):
                    here = forwards[v, i]
                    if here == 0.0:
                        continue
                    for j in range(i if folded else 0, left[v] + 1):
                        on = backwards[v, j]
                        if on == 0.0:
                            continue
                        nodes = i + j + 1
                        line = i + (nodes * nodes // 4 if folded else nodes * (nodes - 1) // 2)
                        counts[column + line * n_groups] += here * on


@njit(nogil=True, cache=True)
def _by_distance(length: Floats, keys: Floats, heap: Ints, nodes: Ints) -> int:
    """Write the nodes that can be reached to ``nodes``, nearest first; return how many."""
    size = 0
    for v in range(len(length)):
        if length[v] >= 0.0:
            sift_up(keys, heap, size, length[v], v)
            size += 1
    for at in range(size):
        nodes[at] = heap[0]
        sift_down(keys, heap, size - at - 1)
    return size


@njit(nogil=True, cache=True)
def _continues(d_here: float, step: float, d_there: float) -> bool:
    """Whether an arc continues a shortest path: its end is farther, by its own length.

    Without the first condition, arcs of tiny length would continue paths in both directions.
    """
    return d_there > d_here and abs(d_here + step - d_there) <= _TIE * d_there


@njit(nogil=True, cache=True)
def _most_steps(
    order: Ints,
    first: int,
    indptr: Ints,
    indices: Nodes,
    weights: Floats,
    length: Floats,
    steps: Ints,
) -> int:
    """The largest number of steps of a shortest path along the nodes of ``order``."""
    most = 0
    steps[:] = 0
    for u in order:
        for p in range(indptr[first + u], indptr[first + u + 1]):
            w = indices[p] - first
            step = weights[p] if len(weights) else 1.0
            if _continues(length[u], step, length[w]):
                steps[w] = max(steps[w], steps[u] + 1)
                most = max(most, steps[w])
    return most


@njit(nogil=True, cache=True)
def _count_ways(
    source: int,
    order: Ints,
    first: int,
    indptr: Ints,
    indices: Nodes,
    weights: Floats,
    length: Floats,
    taken: Ints,
    left: Ints,
    forwards: Floats,
    backwards: Floats,
) -> None:
    """Count the ways from the source to each node, and the ways to continue, by number of steps.

    ``taken`` and ``left`` are the largest numbers of steps of both.
    """
    # Forwards, by distance: from each node to those that continue a path.
    forwards[:] = 0.0
    forwards[source, 0] = 1.0
    taken[:] = 0
    for u in order:
        for p in range(indptr[first + u], indptr[first + u + 1]):
            w = indices[p] - first
            step = weights[p] if len(weights) else 1.0
            if _continues(length[u], step, length[w]):
                taken[w] = max(taken[w], taken[u] + 1)
                for i in range(taken[u] + 1):
                    forwards[w, i + 1] += forwards[u, i]
    # Backwards, in reversed order: a path ends here, or continues to another node.
    backwards[:] = 0.0
    left[:] = 0
    for u in order[::-1]:
        backwards[u, 0] = 1.0
        for p in range(indptr[first + u], indptr[first + u + 1]):
            w = indices[p] - first
            step = weights[p] if len(weights) else 1.0
            if _continues(length[u], step, length[w]):
                left[u] = max(left[u], left[w] + 1)
                for j in range(left[w] + 1):
                    backwards[u, j + 1] += backwards[w, j]
