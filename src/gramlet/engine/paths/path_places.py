"""Places of nodes on shortest paths: counted for all graphs of a batch, and compared.

M_v[i, l] is the number of shortest paths of l nodes with v at place i. From each source the paths
are counted forwards (ways to reach a node in i steps) and backwards (ways to continue for j steps);
the products are M. Counts are summed over groups of nodes of a graph that have equal labels and
attributes. Two graphs are compared by Σ ⟨M_v, M_w⟩ κ(v, w): the products of their tables,
restricted to the places that both have, times the node kernel κ.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from gramlet.common.arrays import Floats, Ints, Nodes
from gramlet.common.fields import ArrayOf, Offsets, fields
from gramlet.common.stored_state import LARGEST, require
from gramlet.engine.core.compiled import njit
from gramlet.engine.core.memory import available_bytes
from gramlet.engine.core.ragged import offsets_of, taken
from gramlet.engine.core.tiles import Tiling, for_tiles, mirror
from gramlet.engine.paths.single_source import breadth_first, dijkstra

# Two paths tie if the relative difference of their lengths is at most this.
_TIE = 1e-9
# Which entries of a matrix are computed.
ALL, TRIANGLE, DIAGONAL = 0, 1, 2


@dataclass(frozen=True)
class PlaceTables:
    """Groups of nodes with equal labels and attributes, and their places on shortest paths.

    Attributes
    ----------
    longest : array of int64
        The number of nodes of the longest shortest path of each graph.
    offsets : array of int64
        The table of graph g is ``counts[offsets[g]:offsets[g + 1]]``: one line per place (see
        `place_and_length`), one number per group.
    counts : array of float64
    group_offsets : array of int64, shape (graphs + 1,)
        Graph g has the groups ``group_offsets[g]:group_offsets[g + 1]``.
    labels : array of int64, shape (groups,)
    columns : array of float64, shape (attributes, groups)
    """

    longest: Ints
    offsets: Ints
    counts: Floats
    group_offsets: Ints
    labels: Ints
    columns: Floats

    stored = fields(
        longest=ArrayOf("int64", "n", least=0, most=1 << 25),
        offsets=Offsets("n", "entries"),
        counts=ArrayOf("float64", "entries", least=0.0, most=LARGEST),
        group_offsets=Offsets("n", "groups"),
        labels=ArrayOf("int64", "groups"),
        columns=ArrayOf("float64", None, "groups"),
    )

    def __len__(self) -> int:
        return len(self.longest)

    def take(self, rows: Ints) -> PlaceTables:
        """The graphs at these positions."""
        offsets, entries = taken(self.offsets, rows)
        group_offsets, groups = taken(self.group_offsets, rows)
        return replace(
            self,
            longest=self.longest[rows],
            offsets=offsets,
            counts=self.counts[entries],
            group_offsets=group_offsets,
            labels=self.labels[groups],
            columns=np.ascontiguousarray(self.columns[:, groups]),
        )

    @property
    def lines(self) -> Ints:
        """The number of places of each graph: the lines of its table."""
        return self.longest * (self.longest + 1) // 2

    def validate(self) -> None:
        """Raise ValueError if the sizes of the tables do not fit the groups."""
        n_groups = np.diff(self.group_offsets)
        require(np.array_equal(n_groups > 0, self.longest > 0), "a graph with nodes has a path")
        fits = np.array_equal(np.diff(self.offsets), self.lines * n_groups)
        require(fits, "offsets do not fit the places")


class _Graphs(NamedTuple):
    """Columns of a batch; without entries in ``weights``, every arc has length 1."""

    node_offsets: Ints
    indptr: Ints
    indices: Nodes
    weights: Floats


def place_and_length(lines: Ints) -> tuple[Ints, Ints]:
    """The place i and the length l of lines of a table: line l(l−1)/2 + i.

    >>> [part.tolist() for part in place_and_length(np.arange(6))]
    [[0, 0, 1, 0, 1, 2], [1, 2, 2, 3, 3, 3]]
    """
    # The root is exact for all lines that fit into memory.
    lengths = ((np.sqrt(8.0 * lines + 1.0) - 1.0) // 2.0).astype(np.int64) + 1
    return lines - lengths * (lengths - 1) // 2, lengths


def place_tables(
    node_offsets: Ints,
    indptr: Ints,
    indices: Nodes,
    weights: Floats | None,
    group_offsets: Ints,
    group_of_node: Ints,
    labels: Ints,
    columns: Floats,
    tiling: Tiling,
) -> PlaceTables:
    """Count the places of the nodes of each group on shortest paths.

    Parameters
    ----------
    weights : array of float64, optional
        Positive lengths of the arcs; None: every arc has length 1. An arc u→w continues a shortest
        path from s if w is farther and |d(s,u) + w_uw − d(s,w)| ≤ 1e-9·d(s,w).
    group_offsets, group_of_node : arrays of int64
        The groups of each graph, as in `PlaceTables`, and the group of each node.
    labels, columns : arrays
        Those of the groups.
    """
    lengths = np.zeros(0) if weights is None else np.array(weights, dtype=np.float64)
    graphs = _Graphs(node_offsets, indptr, indices, lengths)
    sizes = np.diff(node_offsets)
    costs = sizes.astype(np.float64) * (sizes + np.diff(indptr[node_offsets]))
    longest = np.zeros(len(sizes), dtype=np.int64)
    for_tiles(
        lambda begin, end: _measure(begin, end, graphs, longest),
        len(sizes),
        costs=costs,
        tiling=tiling,
    )
    offsets = offsets_of(longest * (longest + 1) // 2 * np.diff(group_offsets))
    _require_memory(offsets, tiling.label)
    tables = PlaceTables(longest, offsets, np.zeros(offsets[-1]), group_offsets, labels, columns)
    for_tiles(
        lambda begin, end: _fill_tables(
            begin, end, graphs, longest, group_offsets, group_of_node, offsets, tables.counts
        ),
        len(sizes),
        costs=costs * np.maximum(longest, 1),
        tiling=tiling,
    )
    return tables


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
def _search(graphs: _Graphs, first: int, source: int, length: Floats, order: Ints) -> int:
    """Distances from a source, and the nodes that are reached, nearest first; returns how many."""
    if len(graphs.weights):
        return dijkstra(
            first + source, graphs.indptr, graphs.indices, graphs.weights, first, length, order
        )
    return breadth_first(first + source, graphs.indptr, graphs.indices, first, length, order)


@njit(nogil=True, cache=True)
def _continues(graphs: _Graphs, p: int, here: float, there: float) -> bool:
    """Whether arc p continues a shortest path: its end is farther, by the length of the arc.

    Without the first condition, arcs of tiny length would continue paths in both directions.
    """
    step = graphs.weights[p] if len(graphs.weights) else 1.0
    return there > here and abs(here + step - there) <= _TIE * there


@njit(nogil=True, cache=True)
def _measure(begin: int, end: int, graphs: _Graphs, longest: Ints) -> None:
    """The number of nodes of the longest shortest path of graphs ``begin:end``."""
    for graph in range(begin, end):
        first = graphs.node_offsets[graph]
        n = graphs.node_offsets[graph + 1] - first
        length, order = np.empty(n), np.empty(n, dtype=np.int64)
        nodes = np.empty(n, dtype=np.int64)
        for source in range(n):
            n_reached = _search(graphs, first, source, length, order)
            # The largest number of nodes of a path to each node, in the order of distances.
            nodes[:] = 1
            for u in order[:n_reached]:
                for p in range(graphs.indptr[first + u], graphs.indptr[first + u + 1]):
                    w = graphs.indices[p] - first
                    if _continues(graphs, p, length[u], length[w]):
                        nodes[w] = max(nodes[w], nodes[u] + 1)
                longest[graph] = max(longest[graph], nodes[u])


@njit(nogil=True, cache=True)
def _fill_tables(
    begin: int,
    end: int,
    graphs: _Graphs,
    longest: Ints,
    group_offsets: Ints,
    group_of_node: Ints,
    offsets: Ints,
    counts: Floats,
) -> None:
    """Fill in the tables of graphs ``begin:end``."""
    for graph in range(begin, end):
        first = graphs.node_offsets[graph]
        n = graphs.node_offsets[graph + 1] - first
        length, reached = np.empty(n), np.empty(n, dtype=np.int64)
        taken, left = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
        n_groups = group_offsets[graph + 1] - group_offsets[graph]
        forwards, backwards = np.zeros((n, longest[graph])), np.zeros((n, longest[graph]))
        for source in range(n):
            order = reached[: _search(graphs, first, source, length, reached)]
            _count_ways(source, order, graphs, first, length, taken, left, forwards, backwards)
            # i steps to reach a node and j steps to continue make a path of i + j + 1 nodes.
            for v in order:
                column = offsets[graph] + group_of_node[first + v] - group_offsets[graph]
                for i in range(taken[v] + 1):
                    here = forwards[v, i]
                    if here == 0.0:
                        continue
                    for j in range(left[v] + 1):
                        if backwards[v, j] != 0.0:
                            line = i + (i + j + 1) * (i + j) // 2
                            counts[column + line * n_groups] += here * backwards[v, j]


@njit(nogil=True, cache=True)
def _count_ways(
    source: int,
    order: Ints,
    graphs: _Graphs,
    first: int,
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
        for p in range(graphs.indptr[first + u], graphs.indptr[first + u + 1]):
            w = graphs.indices[p] - first
            if _continues(graphs, p, length[u], length[w]):
                taken[w] = max(taken[w], taken[u] + 1)
                for i in range(taken[u] + 1):
                    forwards[w, i + 1] += forwards[u, i]
    # Backwards, in reversed order: a path ends here, or continues to another node.
    backwards[:] = 0.0
    left[:] = 0
    for u in order[::-1]:
        backwards[u, 0] = 1.0
        for p in range(graphs.indptr[first + u], graphs.indptr[first + u + 1]):
            w = graphs.indices[p] - first
            if _continues(graphs, p, length[u], length[w]):
                left[u] = max(left[u], left[w] + 1)
                for j in range(left[w] + 1):
                    backwards[u, j + 1] += backwards[w, j]


# Comparison


def compare_places(
    left: PlaceTables,
    right: PlaceTables,
    bridge: bool,
    scale: float,
    which: int,
    tiling: Tiling,
) -> Floats:
    """GraphHopper of all pairs, of the symmetric matrix of ``left``, or of its diagonal.

    Parameters
    ----------
    bridge : bool
        κ = max(0, 1 − ‖a − a'‖ / scale), otherwise exp(−scale ‖a − a'‖²); 0 if labels differ.
    which : {ALL, TRIANGLE, DIAGONAL}
        With the last two, ``right`` is ``left``; DIAGONAL gives one column.
    """
    if len(left.columns) != len(right.columns) and len(left.labels) and len(right.labels):
        raise ValueError(
            f"Nodes with {len(left.columns)} attributes cannot be compared with nodes with "
            f"{len(right.columns)}."
        )
    out = np.zeros((len(left), 1 if which == DIAGONAL else len(right)))
    partners = {
        ALL: np.full(len(left), float(len(right.counts) + len(right))),
        TRIANGLE: np.cumsum((np.diff(right.offsets) + 1.0)[::-1])[::-1],
        DIAGONAL: np.diff(right.offsets) + 1.0,
    }
    sides = [
        _Side(each.lines, each.offsets, each.counts, each.group_offsets, each.labels, each.columns)
        for each in (left, right)
    ]
    costs = (np.diff(left.group_offsets) + 1.0) * partners[which]
    for_tiles(
        lambda begin, end: _fill_rows(begin, end, sides[0], sides[1], bridge, scale, which, out),
        len(left),
        costs=costs,
        tiling=tiling,
    )
    if which == TRIANGLE:
        mirror(out)
    return out


class _Side(NamedTuple):
    """The columns of `PlaceTables`, with the number of lines of each table."""

    lines: Ints
    offsets: Ints
    counts: Floats
    groups: Ints
    labels: Ints
    columns: Floats


@njit(nogil=True, cache=True)
def _fill_rows(
    begin: int,
    end: int,
    left: _Side,
    right: _Side,
    bridge: bool,
    scale: float,
    which: int,
    out: Floats,
) -> None:
    """Fill rows ``begin:end``: all columns, those from the diagonal on, or only the diagonal."""
    for i in range(begin, end):
        n_left = left.groups[i + 1] - left.groups[i]
        table = left.counts[left.offsets[i] : left.offsets[i + 1]].reshape(left.lines[i], n_left)
        first = 0 if which == ALL else i
        last = i + 1 if which == DIAGONAL else len(right.lines)
        for j in range(first, last):
            lines = min(left.lines[i], right.lines[j])
            if lines == 0:
                continue
            # Restrict both tables to the places that both have.
            n_right = right.groups[j + 1] - right.groups[j]
            other = right.counts[right.offsets[j] : right.offsets[j] + lines * n_right]
            products = np.dot(table[:lines].T, other.reshape(lines, n_right))
            value = _sum_pairs(
                products, left, left.groups[i], right, right.groups[j], bridge, scale
            )
            out[i, 0 if which == DIAGONAL else j] = value


@njit(nogil=True, cache=True)
def _sum_pairs(
    products: Floats,
    left: _Side,
    left_first: int,
    right: _Side,
    right_first: int,
    bridge: bool,
    scale: float,
) -> float:
    """Σ products[v, w] κ(v, w) over the groups of two graphs."""
    n_left, n_right = products.shape
    squares = np.empty(n_right)
    total = 0.0
    for v in range(n_left):
        # Squared distances of one group to all others, from differences: nothing cancels.
        squares[:] = 0.0
        for c in range(len(left.columns)):
            here = left.columns[c, left_first + v]
            for w in range(n_right):
                difference = here - right.columns[c, right_first + w]
                squares[w] += difference * difference
        label = left.labels[left_first + v]
        for w in range(n_right):
            if label != right.labels[right_first + w] or products[v, w] == 0.0:
                continue
            if bridge:
                nearness = 1.0 - np.sqrt(squares[w]) / scale
                if nearness > 0.0:
                    total += products[v, w] * nearness
            elif scale * squares[w] < 746.0:  # otherwise the exponential is 0
                total += products[v, w] * np.exp(-scale * squares[w])
    return total
