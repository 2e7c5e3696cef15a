"""Shortest paths of all graphs of a batch, counted as they are found.

They are found from one source at a time (`single_source`), without a matrix of distances. A path is
counted by the colours of its ends and its length, at several levels of colours at once, so that the
paths are found only once. The sources of a large graph are split into several tiles, so that
progress bars, Ctrl-C and threads work within one graph. Large graphs with few colours are counted
in `large_graphs`; `sampled_sources` draws the sources if only some are used.
"""

from __future__ import annotations

import numpy as np

from gramlet.common.arrays import Bools, Floats, Int32s, Ints, Nodes
from gramlet.engine.core.compiled import njit
from gramlet.engine.core.hash_table import (
    find_row,
    hash_of,
    number_in,
    occupied,
    slots_for,
    slots_of_rows,
)
from gramlet.engine.core.memory import available_bytes
from gramlet.engine.core.ragged import grown, offsets_of
from gramlet.engine.core.tiles import QUIET, Tiling, for_tiles
from gramlet.engine.paths.large_graphs import LARGE, count_large
from gramlet.engine.paths.path_limits import tell_cost, too_many_kinds
from gramlet.engine.paths.sampled_sources import NONE, SOME, chosen_sources
from gramlet.engine.paths.single_source import breadth_first, dijkstra

__all__ = ["count_paths"]

# The key of a kind of path: the colours of both ends; then its level and its number of edges, or
# the bits of its length if edges have weights.
_WIDTH = 2
# Visits of nodes and arcs in a range of sources that is not split: about a tenth of a second.
_UNCUT = 1e7
# Visits and counts in a tile of about a tenth of a millisecond: the cost of a call is small.
_SHORT = 1e4
# Numbers of pairs of nodes, times levels: up to the first, all kinds fit into any memory; from the
# second on, kinds are estimated from a sample of the third size.
_SMALL, _LARGE, _SAMPLED = 3e6, 1e9, 1e6
# Bytes per kind while it is counted, renamed and written to a matrix.
_BYTES_PER_KIND = 160.0

# Graphs and their numbers of kinds; levels and colours of the kinds; lengths; counts.
_Part = tuple[Ints, Int32s, Floats, Floats]
# Graphs and their numbers of kinds; keys; counts.
_Counted = tuple[Ints, Ints, Floats]


def count_paths(
    node_offsets: Ints,
    indptr: Ints,
    indices: Nodes,
    levels: Ints,
    weights: Floats | None = None,
    *,
    ordered: bool = False,
    symmetric: bool = False,
    n_sources: int | None = None,
    seed: int = 0,
    tiling: Tiling = QUIET,
) -> tuple[Ints, Int32s, Floats, Floats]:
    """Count the shortest paths between distinct nodes of each graph.

    Parameters
    ----------
    levels : array of int64, shape (n levels, nodes)
        Colours of the nodes, level by level.
    weights : array of float64, optional
        Positive lengths of the arcs, only with one level; None: every edge has length 1.
    ordered : bool
        Whether to count ordered pairs of nodes, along the arcs from the first to the second;
        otherwise paths must have the same length in both directions.
    symmetric : bool
        Whether the graphs have every arc in both directions, although pairs are ordered.
    n_sources : int, optional
        In graphs with more nodes, count the paths from this many nodes, drawn at random, and scale
        the counts: their expectation is the number of all paths.
    seed : int
        0 ≤ seed < 2⁶³. The draw from a graph depends only on the seed and on the graph.

    Returns
    -------
    offsets : array, shape (graphs + 1,)
        Graph i has the kinds ``offsets[i]:offsets[i + 1]``.
    kinds : array of int32, shape (kinds, 3)
        Level, smaller and larger colour of the ends; if ordered, first and last colour. A large
        graph may have a kind more than once.
    lengths : array
    counts : array
        The number of pairs of nodes of each kind and length.

    Raises
    ------
    MemoryError
        If the kinds do not fit into the available memory, or will not according to a sample.
    """
    given = None if weights is None else np.ascontiguousarray(weights, dtype=np.float64)
    levels = np.ascontiguousarray(levels, dtype=np.int64)
    sizes = np.diff(node_offsets).astype(np.float64)
    chosen, ways, share = chosen_sources(node_offsets, indptr, indices, n_sources, seed)
    tables: dict[int, tuple[Int32s, Floats, Floats]] = {}
    large = np.flatnonzero(sizes >= LARGE)
    if len(large) and weights is None and len(levels) == 1:
        directed = ordered and not symmetric
        tables = count_large(
            *(large, node_offsets, indptr, indices, levels[0], chosen, ways),
            ordered=ordered,
            directed=directed,
            tiling=tiling,
        )
        done = np.array(sorted(tables), dtype=np.int64)
        ways[done], share[done] = NONE, 0.0

    bounds, costs = _source_ranges(node_offsets, indptr, share)
    n_pairs = (sizes * sizes * share).sum() * len(levels)
    # Asking the system takes longer than counting the paths of small graphs.
    room = available_bytes() if n_pairs > _SMALL else None
    most = np.inf if room is None else room / _BYTES_PER_KIND
    if n_pairs > _LARGE:
        expected = _expected_kinds(node_offsets, indptr, indices, levels, given, ordered, share)
        if expected > 2.0 * most:
            raise too_many_kinds(tiling.label, node_offsets, len(levels), expected, room)
        tell_cost(tiling.label, node_offsets, costs.sum(), 0.5 * n_pairs, expected, tiling.n_jobs)
    parts: dict[int, _Counted] = {}
    n_found: list[int] = []
    scale = np.where(ways == SOME, (1.0 if ordered else 0.5) / np.maximum(share, 1e-300), 1.0)
    graphs = _graphs_of(node_offsets, bounds[:-1], bounds[1:])

    def work(begin: int, end: int) -> None:
        left = most - sum(n_found)
        found = _count_range(
            bounds[begin],
            bounds[end],
            graphs[0][begin],
            graphs[1][end - 1],
            node_offsets,
            indptr,
            indices,
            levels,
            given,
            ordered,
            left,
            chosen,
            ways,
            scale,
        )
        if len(found[2]) > left:
            raise too_many_kinds(tiling.label, node_offsets, len(levels), most, room)
        parts[begin] = found
        n_found.append(len(found[2]))

    if share.any():
        n_tiles = min(128, 1 + int(costs.sum() * len(levels) / _SHORT))
        for_tiles(work, len(costs), costs=costs, n_tiles=n_tiles, tiling=tiling)
    found = [_read([parts.pop(begin) for begin in sorted(parts)], weights is not None)]
    found += [(np.array([[graph, len(table[2])]]), *table) for graph, table in tables.items()]
    return _joined(found, len(sizes), in_order=not tables)


def _joined(
    parts: list[_Part], n_graphs: int, in_order: bool
) -> tuple[Ints, Int32s, Floats, Floats]:
    """Join the parts, graph by graph."""
    owners = np.concatenate([np.zeros((0, 2), np.int64), *(p[0] for p in parts)])
    kinds = np.concatenate([np.zeros((0, 3), np.int32), *(p[1] for p in parts)])
    lengths = np.concatenate([np.zeros(0), *(p[2] for p in parts)])
    counts = np.concatenate([np.zeros(0), *(p[3] for p in parts)])
    graph, number = owners.T
    if not in_order:
        order = np.argsort(np.repeat(graph, number), kind="stable")
        kinds, lengths, counts = kinds[order], lengths[order], counts[order]
    per_graph = np.bincount(graph, weights=number, minlength=n_graphs).astype(np.int64)
    return offsets_of(per_graph), kinds, lengths, counts


def _source_ranges(node_offsets: Ints, indptr: Ints, share: Floats) -> tuple[Ints, Floats]:
    """Bounds of ranges of sources that are not split further, and the cost of each.

    A small graph is one range; a large graph has many. ``share`` is the share of nodes of each
    graph that are sources.
    """
    sizes = np.diff(node_offsets)
    of_source = (sizes + np.diff(indptr[node_offsets])) * share
    pieces = np.clip((sizes * of_source / _UNCUT).astype(np.int64), 1, np.maximum(sizes, 1))
    graph = np.repeat(np.arange(len(sizes)), pieces)
    number = np.arange(len(graph)) - np.repeat(np.cumsum(pieces) - pieces, pieces)
    starts = node_offsets[graph] + number * sizes[graph] // pieces[graph]
    bounds = np.append(starts, node_offsets[-1]).astype(np.int64)
    return bounds, np.diff(bounds) * of_source[graph]


def _expected_kinds(
    node_offsets: Ints,
    indptr: Ints,
    indices: Nodes,
    levels: Ints,
    weights: Floats | None,
    ordered: bool,
    share: Floats,
) -> float:
    """Estimate the number of kinds of all graphs from a few sources of the largest one.

    Twice as many sources have 2^p times as many kinds: p is near 0 if the same few kinds recur,
    and 1 if every pair of nodes is a kind of its own.
    """
    sizes = np.diff(node_offsets).astype(np.float64)
    graph = int(np.argmax(sizes * sizes * share))
    first, n = int(node_offsets[graph]), int(sizes[graph])
    n_sources = max(1, round(n * float(share[graph])))
    few = max(1, min(n_sources // 4, int(_SAMPLED / (n * len(levels)))))
    more_of_them = min(2 * few, n_sources)
    every = chosen_sources(node_offsets, indptr, indices, None, 0)
    some, more = (
        len(
            _count_range(
                first,
                first + k,
                graph,
                graph,
                node_offsets,
                indptr,
                indices,
                levels,
                weights,
                ordered,
                np.inf,
                *every,
            )[2]
        )
        for k in (few, more_of_them)
    )
    power = min(1.0, np.log2(max(more, 1) / max(some, 1)))
    # The first sources are paired with nearly all nodes, all sources on average with half of them.
    halved = 1.0 if ordered or share[graph] < 1.0 else 1.0 - 0.5 * power
    kinds = more * (n_sources / more_of_them) ** power * halved
    return float(kinds * (sizes * sizes * share).sum() / (n * n * share[graph]))


def _graphs_of(node_offsets: Ints, begin: Ints, end: Ints) -> tuple[Ints, Ints]:
    """The first and the last graph with sources in each range; a range may be without sources."""
    first = np.searchsorted(node_offsets, begin, side="right") - 1
    return first, np.searchsorted(node_offsets, end, side="left") - 1


def _count_range(
    begin: int,
    end: int,
    first_graph: int,
    last_graph: int,
    node_offsets: Ints,
    indptr: Ints,
    indices: Nodes,
    levels: Ints,
    weights: Floats | None,
    ordered: bool,
    most: float,
    chosen: Bools,
    ways: Ints,
    scale: Floats,
) -> _Counted:
    """Count the paths from sources ``begin:end``: kinds per graph, their keys and counts."""
    owners = np.zeros((max(last_graph + 1 - first_graph, 0), 2), dtype=np.int64)
    keys, counts, n_kinds = _count_sources(
        begin,
        end,
        first_graph,
        node_offsets,
        indptr,
        indices,
        levels,
        weights,
        ordered,
        most,
        chosen,
        ways,
        scale,
        owners,
    )
    return owners, keys[: n_kinds * _WIDTH].copy(), counts[:n_kinds].copy()


def _read(parts: list[_Counted], weighted: bool) -> _Part:
    """Join the parts; read the levels, the colours of the ends and the lengths from the keys."""
    owners = np.concatenate([np.zeros((0, 2), np.int64), *(part[0] for part in parts)])
    keys = np.concatenate([np.zeros(0, np.int64), *(part[1] for part in parts)])
    counts = np.concatenate([np.zeros(0), *(part[2] for part in parts)])
    ends, last = keys[::_WIDTH], keys[1::_WIDTH]
    kinds = np.empty((len(ends), 3), dtype=np.int32)
    kinds[:, 0] = 0 if weighted else last >> 32
    kinds[:, 1], kinds[:, 2] = ends >> 32, ends & 0xFFFFFFFF
    lengths = last.copy().view(np.float64) if weighted else (last & 0xFFFFFFFF).astype(np.float64)
    return owners, kinds, lengths, counts


@njit(nogil=True, cache=True)
def _count_sources(
    begin: int,
    end: int,
    first_graph: int,
    node_offsets: Ints,
    indptr: Ints,
    indices: Nodes,
    levels: Ints,
    weights: Floats | None,
    ordered: bool,
    most: float,
    chosen: Bools,
    ways: Ints,
    scale: Floats,
    owners: Ints,
) -> tuple[Ints, Floats, int]:
    """Count the paths from sources ``begin:end``: keys of kinds, counts, and how many there are.

    A hash table per graph finds the kinds, whose keys are consecutive in one array. The count stops
    early if there are more than ``most`` kinds. ``ways`` tells which nodes of a graph are sources:
    all, those marked in ``chosen``, or none. ``owners`` gets the graphs and their numbers of kinds.
    Without weights, None, only breadth-first search is compiled.
    """
    keys = np.empty(1024 * _WIDTH, dtype=np.int64)
    counts = np.empty(1024)
    filled = 0
    slots = slots_for(512)
    for graph in range(first_graph, first_graph + len(owners)):
        first, last = node_offsets[graph], node_offsets[graph + 1]
        start = filled
        row = np.empty(last - first)
        if weights is not None:
            bits = row.view(np.int64)
        for source in range(begin if begin > first else first, end if end < last else last):
            if ways[graph] == NONE or (ways[graph] == SOME and not chosen[source]):
                continue
            # The lengths of all paths from this source.
            if weights is not None:
                dijkstra(source, indptr, indices, weights, first, row)
            else:
                breadth_first(source, indptr, indices, first, row)
            for v in range(first if ordered or ways[graph] == SOME else source + 1, last):
                if row[v - first] < 0.0 or v == source:
                    continue
                if weights is not None:
                    length = bits[v - first]
                else:
                    length = np.int64(row[v - first])
                for level in range(levels.shape[0]):
                    a, b = levels[level, source], levels[level, v]
                    low, high = (a, b) if ordered or a < b else (b, a)
                    # The key is written to the place of the next new kind, and looked up.
                    place = filled * _WIDTH
                    keys[place] = (low << 32) | high
                    keys[place + 1] = (level << 32) | length if weights is None else length
                    code = hash_of(keys, place, place + _WIDTH)
                    at = find_row(slots, start, keys, code, keys, place, _WIDTH)
                    number = number_in(slots[at])
                    if number >= start:
                        counts[number] += 1.0
                        continue
                    # A new kind; arrays and table grow if needed.
                    slots[at] = occupied(code, np.int64(filled))
                    counts[filled] = 1.0
                    filled += 1
                    if filled == len(counts):
                        counts = grown(counts, filled + 1)
                        keys = grown(keys, len(counts) * _WIDTH)
                    if 2 * (filled - start) > len(slots):
                        slots = slots_of_rows(keys, _WIDTH, start, filled, len(slots))
            if filled > most:
                break
        # Counts from a sample of sources are scaled.
        for i in range(start, filled):
            counts[i] *= scale[graph]
        owners[graph - first_graph, 0] = graph
        owners[graph - first_graph, 1] = filled - start
    return keys, counts, filled
