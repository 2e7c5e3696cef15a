"""Breadth-first search from 64 nodes at a time: a node has one bit per source.

In every step, a node passes the bits of all sources that have just reached it on to its neighbours;
the number of set bits of one colour is a number of paths (Then et al. 2014, The more the merrier).
Leaves of one node that have equal colours have equal paths and are searched as one node that counts
for all of them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gramlet.common.arrays import Bools, Floats, Ints, Nodes, UInt64s
from gramlet.engine.core.compiled import njit
from gramlet.engine.core.hash_table import (
    find_row,
    hash_of,
    number_in,
    occupied,
    slots_for,
    slots_of_rows,
)
from gramlet.engine.core.ragged import grown
from gramlet.engine.paths.single_source import dijkstra

# The number of sources of one search: the bits of a word.
WIDTH = 64
# The key of a kind of path: the colours of both ends; then its level and its number of edges, or
# the bits of its length if edges have weights.
KEY = 2

_ONE, _NONE = np.uint64(1), np.uint64(0)
_PAIRS, _FOURS = np.uint64(0x5555555555555555), np.uint64(0x3333333333333333)
_BYTES, _SUM = np.uint64(0x0F0F0F0F0F0F0F0F), np.uint64(0x0101010101010101)


class PathGraphs(NamedTuple):
    """The graphs whose paths are counted, and from which sources.

    Attributes
    ----------
    node_offsets, indptr, indices : arrays
        As in a `GraphBatch`.
    levels : array of int64, shape (n levels, nodes)
        Colours of the nodes, level by level.
    weights : array of float64
        Lengths of the arcs; without entries, every arc has length 1.
    ordered, directed : bool
        Whether pairs of nodes are ordered, and whether arcs lead one way.
    sampled : array of bool, one per graph
        Whether only some nodes are sources.
    chosen : array of bool, one per node
        These nodes; without entries if no graph is sampled.
    scale : array of float64
        The factor of the counts of each graph.
    """

    node_offsets: Ints
    indptr: Ints
    indices: Nodes
    levels: Ints
    weights: Floats
    ordered: bool
    directed: bool
    sampled: Bools
    chosen: Bools
    scale: Floats


class _Search(NamedTuple):
    """One graph, its nodes renumbered, with leaves that have equal paths merged.

    Attributes
    ----------
    nodes : array of int64
        The nodes in the order of a breadth-first search, so that neighbours are close.
    starts, targets : arrays of int64
        CSR in the new numbering.
    multiplicity : array of float64
        How many nodes each one counts for.
    colours : array of int64, shape (n levels, nodes)
    """

    nodes: Ints
    starts: Ints
    targets: Ints
    multiplicity: Floats
    colours: Ints


class _Groups(NamedTuple):
    """The sources of a search, level by level, in groups of equal colour and multiplicity.

    Attributes
    ----------
    of_source : array of int64, shape (n levels, 64)
        The number of the first source of each source's group, which stands for the group.
    members : array of uint64
        The bits of a group's sources.
    recent, kind : arrays of int64
        The length and colour that were last counted for a group, and the kind of these paths.
    """

    of_source: Ints
    members: UInt64s
    recent: Ints
    kind: Ints


class _Kinds(NamedTuple):
    """Kinds of paths while they are counted: their keys, counts, and a hash table of the keys."""

    keys: Ints
    counts: Floats
    slots: Ints


@njit(nogil=True, cache=True)
def count_range(
    begin: int, end: int, graphs: PathGraphs, most: float, owners: Ints
) -> tuple[Ints, Floats]:
    """Count the paths from sources ``begin:end``: keys of kinds, and counts.

    Nodes are sources in the order in which they are searched, so that ranges which together cover a
    graph count all of its paths. A hash table per graph finds the kinds, whose keys are consecutive
    in one array. The count stops early if there are more than ``most`` kinds. ``owners`` has one
    row per graph, beginning with its number; the second column receives the numbers of kinds.
    """
    kinds = _Kinds(np.empty(1024 * KEY, dtype=np.int64), np.empty(1024), slots_for(512))
    filled = 0
    for row in range(len(owners)):
        graph, start = owners[row, 0], filled
        first, last = graphs.node_offsets[graph], graphs.node_offsets[graph + 1]
        low, high = max(begin, first) - first, min(end, last) - first
        if len(graphs.weights):
            kinds, filled = _count_weighted(low, high, graphs, graph, kinds, start, most)
        else:
            kinds, filled = _count_unweighted(low, high, graphs, graph, kinds, start, most)
        for i in range(start, filled):
            kinds.counts[i] *= graphs.scale[graph]
        owners[row, 1] = filled - start
        if filled > most:
            break
    return kinds.keys[: filled * KEY].copy(), kinds.counts[:filled].copy()


@njit(nogil=True, cache=True)
def _count_weighted(
    low: int, high: int, graphs: PathGraphs, graph: int, kinds: _Kinds, start: int, most: float
) -> tuple[_Kinds, int]:
    """Count the paths from nodes ``low:high`` of a graph, one source at a time."""
    first, sampled = graphs.node_offsets[graph], graphs.sampled[graph]
    n = graphs.node_offsets[graph + 1] - first
    length, order = np.empty(n), np.empty(n, dtype=np.int64)
    bits, colours = length.view(np.int64), graphs.levels[0, first : first + n]
    filled = start
    for source in range(low, high):
        if sampled and not graphs.chosen[first + source]:
            continue
        n_reached = dijkstra(
            first + source, graphs.indptr, graphs.indices, graphs.weights, first, length, order
        )
        if _is_full(kinds, start, filled, n_reached):
            kinds = _with_room(kinds, start, filled, n_reached)
        for i in range(1, n_reached):
            v = order[i]
            # Every unordered pair once, unless only some nodes are sources.
            if graphs.ordered or sampled or v > source:
                a, b = colours[source], colours[v]
                filled = _add(
                    a,
                    b,
                    graphs.ordered,
                    bits[v],
                    1.0,
                    start,
                    filled,
                    kinds.keys,
                    kinds.counts,
                    kinds.slots,
                )[0]
        if filled > most:
            break
    return kinds, filled


@njit(nogil=True, cache=True)
def _count_unweighted(
    low: int, high: int, graphs: PathGraphs, graph: int, kinds: _Kinds, start: int, most: float
) -> tuple[_Kinds, int]:
    """Count the paths from nodes ``low:high`` of a graph, numbered as in `_Search`."""
    search, sampled = _prepared(graphs, graph), graphs.sampled[graph]
    colours = search.colours
    n, n_levels = len(search.starts) - 1, len(colours)
    filled = start
    # Pairs of merged leaves are two steps apart.
    if low == 0:
        for v in range(n):
            size = search.multiplicity[v]
            if size > 1.0:
                if _is_full(kinds, start, filled, n_levels):
                    kinds = _with_room(kinds, start, filled, n_levels)
                pairs = size * (size - 1.0) * (1.0 if graphs.ordered else 0.5)
                for level in range(n_levels):
                    c, last = colours[level, v], (level << 32) | 2
                    filled = _add(
                        c,
                        c,
                        True,
                        last,
                        pairs,
                        start,
                        filled,
                        kinds.keys,
                        kinds.counts,
                        kinds.slots,
                    )[0]
    # Per node: the sources that have reached it before, in the last step, and in this one.
    seen, now = np.zeros(n, dtype=np.uint64), np.zeros(n, dtype=np.uint64)
    ahead = np.zeros(n, dtype=np.uint64)
    front, following = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    sources = np.empty(WIDTH, dtype=np.int64)
    groups = _Groups(
        np.empty((n_levels, WIDTH), dtype=np.int64),
        np.empty((n_levels, WIDTH), dtype=np.uint64),
        np.empty((n_levels, WIDTH), dtype=np.int64),
        np.empty((n_levels, WIDTH), dtype=np.int64),
    )
    at, high = low, min(high, n)
    while at < high and filled <= most:
        # The next sources, one bit each.
        begin, n_front, length = at, 0, 0
        seen[:] = _NONE
        while at < high and n_front < WIDTH:
            if not sampled or graphs.chosen[search.nodes[at]]:
                seen[at] = now[at] = _ONE << np.uint64(n_front)
                sources[n_front] = front[n_front] = at
                n_front += 1
            at += 1
        _fill_groups(groups, sources[:n_front], search)
        while n_front > 0:
            # One step: the nodes that are reached by some source for the first time.
            length += 1
            n_before = n_front
            n_front = _push(
                front[:n_front], following, now, ahead, seen, search.starts, search.targets
            )
            for i in range(n_before):
                now[front[i]] = _NONE
            front, following = following, front
            for i in range(n_front):
                v = front[i]
                now[v], ahead[v] = ahead[v], _NONE
                seen[v] |= now[v]
            # Count them; the work is interrupted when kinds need more room.
            halved = 0 if graphs.ordered or sampled else at
            i = 0
            while i < n_front:
                if _is_full(kinds, start, filled, n_levels * WIDTH):
                    kinds = _with_room(kinds, start, filled, n_levels * WIDTH)
                i, filled = _count_step(
                    front[i:n_front],
                    i,
                    length,
                    now,
                    begin,
                    halved,
                    sources,
                    graphs.ordered,
                    groups.of_source,
                    groups.members,
                    groups.recent,
                    groups.kind,
                    search.colours,
                    search.multiplicity,
                    kinds.keys,
                    kinds.counts,
                    kinds.slots,
                    start,
                    filled,
                )
    return kinds, filled


@njit(nogil=True, cache=True)
def _count_step(
    front: Ints,
    done: int,
    length: int,
    now: UInt64s,
    begin: int,
    halved: int,
    sources: Ints,
    ordered: bool,
    of_source: Ints,
    members: UInt64s,
    recent: Ints,
    recent_kind: Ints,
    colours: Ints,
    multiplicity: Floats,
    keys: Ints,
    counts: Floats,
    slots: Ints,
    start: int,
    filled: int,
) -> tuple[int, int]:
    """Count the paths of one length, from sources to the nodes in ``front``.

    To nodes before ``halved``, only those from sources before them, which are numbered from
    ``begin``. Returns how many nodes are done in all, ``done`` before, and the number of kinds. The
    arrays come one by one, as the compiler would count references to those in tuples.
    """
    room = len(colours) * WIDTH + 1
    most = min(len(counts), start + len(slots) // 2) - room
    for v in front:
        bits = now[v]
        if v < halved:
            bits &= (_ONE << np.uint64(max(v - begin, 0))) - _ONE
        for level in range(len(colours)):
            colour = colours[level, v]
            tag = (np.int64(length) << 32) | colour
            rest = bits
            while rest != _NONE:
                # The group of the lowest bit, and how many of it have reached the node.
                own = of_source[level, _n_bits((rest & (~rest + _ONE)) - _ONE)]
                number = _n_bits(rest & members[level, own]) * multiplicity[v]
                rest &= ~members[level, own]
                source = sources[own]
                number *= multiplicity[source]
                # Many nodes have the colour of the one before them: the same kind as the last.
                if recent[level, own] != tag:
                    a, last = colours[level, source], (level << 32) | length
                    filled, recent_kind[level, own] = _add(
                        a, colour, ordered, last, 0.0, start, filled, keys, counts, slots
                    )
                    recent[level, own] = tag
                counts[recent_kind[level, own]] += number
        done += 1
        if filled > most:
            break
    return done, filled


@njit(nogil=True, cache=True)
def _fill_groups(groups: _Groups, sources: Ints, search: _Search) -> None:
    """Group the sources of one search by colour and multiplicity, at every level."""
    for level in range(len(search.colours)):
        colours = search.colours[level]
        for i in range(len(sources)):
            groups.of_source[level, i], groups.members[level, i] = i, _NONE
            groups.recent[level, i] = -1
            for j in range(i):
                s, t = sources[i], sources[j]
                if (
                    groups.of_source[level, j] == j
                    and colours[s] == colours[t]
                    and search.multiplicity[s] == search.multiplicity[t]
                ):
                    groups.of_source[level, i] = j
                    break
            groups.members[level, groups.of_source[level, i]] |= _ONE << np.uint64(i)


@njit(nogil=True, cache=True)
def _push(
    front: Ints,
    following: Ints,
    now: UInt64s,
    ahead: UInt64s,
    seen: UInt64s,
    starts: Ints,
    targets: Ints,
) -> int:
    """Pass bits on to neighbours that have not seen them; list these and return their number."""
    n_following = 0
    for u in front:
        bits = now[u]
        for p in range(starts[u], starts[u + 1]):
            v = targets[p]
            new = bits & ~seen[v]
            if new != _NONE:
                if ahead[v] == _NONE:
                    following[n_following] = v
                    n_following += 1
                ahead[v] |= new
    return n_following


@njit(nogil=True, cache=True)
def _prepared(graphs: PathGraphs, graph: int) -> _Search:
    """Renumber the nodes of a graph; in undirected graphs merge leaves that have equal paths."""
    first, n = graphs.node_offsets[graph], graphs.node_offsets[graph + 1]
    n -= first
    n_levels = len(graphs.levels)
    # Leaves of one node with equal colours are merged into the first of them. A search from 64
    # nodes covers a small graph as it is.
    size = np.ones(n)
    if n > WIDTH and not (graphs.directed or graphs.sampled[graph]):
        _merge_leaves(graphs, first, first + n, size)
    # Breadth-first search numbers the nodes in the order in which they are reached.
    number = np.full(n, -1, dtype=np.int64)
    nodes = np.empty(n, dtype=np.int64)
    tail, n_arcs = 0, 0
    for root in range(n):
        if size[root] == 0.0 or number[root] >= 0:
            continue
        number[root], nodes[tail] = tail, first + root
        head = tail
        tail += 1
        while head < tail:
            u = nodes[head]
            head += 1
            for p in range(graphs.indptr[u], graphs.indptr[u + 1]):
                v = graphs.indices[p] - first
                if size[v] > 0.0:
                    n_arcs += 1
                    if number[v] < 0:
                        number[v], nodes[tail] = tail, first + v
                        tail += 1
    # Adjacency, multiplicities and colours in the new numbering.
    starts, targets = np.zeros(tail + 1, dtype=np.int64), np.empty(n_arcs, dtype=np.int64)
    multiplicity = np.empty(tail)
    colours = np.empty((n_levels, tail), dtype=np.int64)
    filled = 0
    for i in range(tail):
        u = nodes[i]
        for p in range(graphs.indptr[u], graphs.indptr[u + 1]):
            v = graphs.indices[p] - first
            if size[v] > 0.0:
                targets[filled] = number[v]
                filled += 1
        starts[i + 1] = filled
        multiplicity[i] = size[u - first]
        for level in range(n_levels):
            colours[level, i] = graphs.levels[level, u]
    return _Search(nodes[:tail], starts, targets, multiplicity, colours)


@njit(nogil=True, cache=True)
def _merge_leaves(graphs: PathGraphs, first: int, last: int, size: Floats) -> None:
    """Set ``size`` to the number of leaves that each leaf stands for, and 0 for merged ones."""
    levels, indptr = graphs.levels, graphs.indptr
    # Per colour of the first level: the last node that had a leaf of this colour, and the leaf.
    most = 0
    for v in range(first, last):
        most = max(most, levels[0, v])
    parent, leaf = np.full(most + 1, -1, dtype=np.int64), np.empty(most + 1, dtype=np.int64)
    for u in range(first, last):
        for p in range(indptr[u], indptr[u + 1]):
            v = np.int64(graphs.indices[p])  # type: ignore[assignment]
            if indptr[v + 1] - indptr[v] != 1:
                continue
            colour = levels[0, v]
            if parent[colour] != u:
                parent[colour], leaf[colour] = u, v
                continue
            same = True
            for level in range(len(levels)):
                same = same and levels[level, v] == levels[level, leaf[colour]]
            if same:
                size[v - first] = 0.0
                size[leaf[colour] - first] += 1.0


@njit(nogil=True, cache=True)
def _add(
    a: int,
    b: int,
    ordered: bool,
    last: int,
    number: float,
    start: int,
    filled: int,
    keys: Ints,
    counts: Floats,
    slots: Ints,
) -> tuple[int, int]:
    """Count paths between two colours; return the number of kinds, and which one it is."""
    low, high = (a, b) if ordered or a < b else (b, a)
    # The key is written to the place of the next new kind, and looked up.
    place = filled * KEY
    keys[place], keys[place + 1] = (low << 32) | high, last
    code = hash_of(keys, place, place + KEY)
    at = find_row(slots, start, keys, code, keys, place, KEY)
    kind = number_in(slots[at])
    if kind >= start:
        counts[kind] += number
        return filled, kind
    slots[at] = occupied(code, np.int64(filled))
    counts[filled] = number
    return filled + 1, np.int64(filled)  # type: ignore[return-value]


@njit(nogil=True, cache=True)
def _is_full(kinds: _Kinds, start: int, filled: int, more: int) -> bool:
    """Whether there may be no room for this many new kinds, one of which is only looked up."""
    needed = filled + more + 1
    return needed > len(kinds.counts) or 2 * (needed - start) > len(kinds.slots)


@njit(nogil=True, cache=True)
def _with_room(kinds: _Kinds, start: int, filled: int, more: int) -> _Kinds:
    """The same kinds with room for this many new ones."""
    keys, counts, slots = kinds
    needed = filled + more + 1
    if needed > len(counts):
        counts = grown(counts, needed)
        keys = grown(keys, len(counts) * KEY)
    if 2 * (needed - start) > len(slots):
        slots = slots_of_rows(keys, KEY, start, filled, 2 * (needed - start))
    return _Kinds(keys, counts, slots)


@njit(nogil=True, cache=True)
def _n_bits(word: np.uint64) -> int:
    """The number of set bits; the compiler recognises this form and uses one instruction."""
    word = word - ((word >> _ONE) & _PAIRS)
    word = (word & _FOURS) + ((word >> np.uint64(2)) & _FOURS)
    word = (word + (word >> np.uint64(4))) & _BYTES
    return np.int64((word * _SUM) >> np.uint64(56))  # type: ignore[return-value]
