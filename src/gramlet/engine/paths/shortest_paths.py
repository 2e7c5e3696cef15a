"""Shortest paths of all graphs of a batch, counted as they are found.

A path is counted by the colours of its ends and its length, at several levels of colours at once,
so that the paths are found only once and there is no matrix of distances. The searches are in
`many_sources`; here their sources are divided into tiles, so that progress bars, Ctrl-C and threads
work within one large graph, and drawn at random if only some are used. Work that would fill the
memory is refused, and work of more than ten minutes is announced.
"""

from __future__ import annotations

import time

import numpy as np
from joblib import effective_n_jobs

from gramlet.common.arrays import Bools, Floats, Int32s, Ints, Nodes, UInt64s
from gramlet.common.notices import warn_caller
from gramlet.engine.core.compiled import njit
from gramlet.engine.core.memory import available_bytes
from gramlet.engine.core.ragged import offsets_of
from gramlet.engine.core.random_streams import below, graph_stream, wrapping_integers
from gramlet.engine.core.tiles import QUIET, Tiling, for_tiles
from gramlet.engine.paths.many_sources import KEY, WIDTH, PathGraphs, count_range

# Pairs of nodes and arcs in a tile of about a tenth of a millisecond, and in one of a tenth of a
# second, which is not split further.
_SHORT, _UNCUT = 1e4, 1e8
# Pairs of nodes, times levels, from which on the kinds are estimated, from a sample of this share.
_MANY, _SAMPLE = 3e7, 0.03
# Bytes per kind while it is counted, renamed and written to a matrix.
_BYTES_PER_KIND = 160.0
# Seconds from which on there is a warning.
_LONG = 600.0

# Rows of a graph and its number of kinds; keys; counts.
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
    sizes = np.diff(node_offsets).astype(np.float64)
    sampled, chosen = _chosen_sources(node_offsets, indptr, indices, n_sources, seed)
    share = np.where(sampled, (n_sources or 1) / np.maximum(sizes, 1.0), 1.0)
    graphs = PathGraphs(
        node_offsets,
        indptr,
        indices,
        np.ascontiguousarray(levels, dtype=np.int64),
        np.zeros(0) if weights is None else np.ascontiguousarray(weights, dtype=np.float64),
        ordered,
        ordered and not symmetric,
        sampled,
        chosen,
        np.where(sampled & (not ordered), 0.5, 1.0) / share,
    )
    bounds, costs = _source_ranges(node_offsets, indptr, share)
    most = np.inf
    if (sizes * sizes * share).sum() * len(levels) > _MANY:
        # Asking the system takes longer than counting the paths of small graphs.
        most = (available_bytes() or np.inf) / _BYTES_PER_KIND
        _check_sample(graphs, share, most, costs.sum(), tiling)
    parts: dict[int, _Counted] = {}
    n_counted: list[int] = []

    def work(begin: int, end: int) -> None:
        left = most - sum(n_counted)
        part = _count(bounds[begin], bounds[end], graphs, left)
        if len(part[2]) > left:
            raise _too_many_kinds(graphs, most, most, tiling.label)
        parts[begin] = part
        n_counted.append(len(part[2]))

    n_tiles = min(128, 1 + int(costs.sum() * len(levels) / _SHORT))
    for_tiles(work, len(costs), costs=costs, n_tiles=n_tiles, tiling=tiling)
    return _read([parts.pop(begin) for begin in sorted(parts)], len(sizes), weights is not None)


def _source_ranges(node_offsets: Ints, indptr: Ints, share: Floats) -> tuple[Ints, Floats]:
    """Bounds of ranges of sources that are not split further, and the cost of each.

    A small graph is one range; a large graph has many. ``share`` is the share of nodes of each
    graph that are sources.
    """
    sizes = np.diff(node_offsets)
    per_source = (sizes + np.diff(indptr[node_offsets])) * share
    n_searches = np.maximum(-(-sizes // WIDTH), 1)
    pieces = np.clip((sizes * per_source / _UNCUT).astype(np.int64), 1, n_searches)
    graph = np.repeat(np.arange(len(sizes)), pieces)
    number = np.arange(len(graph)) - np.repeat(np.cumsum(pieces) - pieces, pieces)
    starts = node_offsets[graph] + number * n_searches[graph] // pieces[graph] * WIDTH
    bounds = np.append(starts, node_offsets[-1]).astype(np.int64)
    return bounds, np.diff(bounds) * per_source[graph]


def _count(begin: int, end: int, graphs: PathGraphs, most: float) -> _Counted:
    """Count the paths from sources ``begin:end``; stop at more than ``most`` kinds."""
    first = int(np.searchsorted(graphs.node_offsets, begin, side="right")) - 1
    last = int(np.searchsorted(graphs.node_offsets, end, side="left"))
    owners = np.zeros((max(last - first, 0), 2), dtype=np.int64)
    owners[:, 0] = np.arange(first, first + len(owners))
    keys, counts = count_range(begin, end, graphs, most, owners)
    return owners, keys, counts


def _read(
    parts: list[_Counted], n_graphs: int, weighted: bool
) -> tuple[Ints, Int32s, Floats, Floats]:
    """Join the parts; read the levels, the colours of the ends and the lengths from the keys."""
    owners = np.concatenate([np.zeros((0, 2), np.int64), *(part[0] for part in parts)])
    keys = np.concatenate([np.zeros(0, np.int64), *(part[1] for part in parts)])
    counts = np.concatenate([np.zeros(0), *(part[2] for part in parts)])
    ends, last = keys[::KEY], keys[1::KEY]
    kinds = np.empty((len(ends), 3), dtype=np.int32)
    kinds[:, 0] = 0 if weighted else last >> 32
    kinds[:, 1], kinds[:, 2] = ends >> 32, ends & 0xFFFFFFFF
    lengths = last.copy().view(np.float64) if weighted else (last & 0xFFFFFFFF).astype(np.float64)
    per_graph = np.bincount(owners[:, 0], weights=owners[:, 1], minlength=n_graphs)
    return offsets_of(per_graph.astype(np.int64)), kinds, lengths, counts


def _chosen_sources(
    node_offsets: Ints, indptr: Ints, indices: Nodes, n_sources: int | None, seed: int
) -> tuple[Bools, Bools]:
    """Draw sources, without replacement, in graphs of more than ``n_sources`` nodes.

    Returns in which graphs only some nodes are sources, and these nodes (no entries if there are no
    such graphs). Each graph has its own random stream, so that its sample depends neither on the
    batch nor on the graph's position in it.
    """
    sizes = np.diff(node_offsets)
    sampled = np.zeros(len(sizes), dtype=np.bool_)
    if n_sources is None or sizes.max(initial=0) <= n_sources:
        return sampled, np.zeros(0, dtype=np.bool_)
    sampled = sizes > n_sources
    chosen = np.zeros(int(node_offsets[-1]), dtype=np.bool_)
    with wrapping_integers():
        _choose(np.flatnonzero(sampled), node_offsets, indptr, indices, n_sources, seed, chosen)
    return sampled, chosen


@njit(nogil=True, cache=True)
def _choose(
    graphs: Ints,
    node_offsets: Ints,
    indptr: Ints,
    indices: Nodes,
    n_sources: int,
    seed: int,
    chosen: Bools,
) -> None:
    """Mark ``n_sources`` nodes of each of these graphs, by Floyd's algorithm: one draw per node."""
    state: UInt64s = np.zeros(4, dtype=np.uint64)
    for graph in graphs:
        first, last = node_offsets[graph], node_offsets[graph + 1]
        graph_stream(seed, first, last, indptr, indices, state)
        for j in range(last - n_sources, last):
            node = first + below(j - first + 1, state)
            # If the node was drawn before, node j is taken instead.
            chosen[j if chosen[node] else node] = True


# Limits


def _check_sample(
    graphs: PathGraphs, share: Floats, most: float, cost: float, tiling: Tiling
) -> None:
    """Count the paths from a few sources of the largest graph, as a forecast for all.

    Twice as many sources have 2^p times as many kinds: p is near 0 if the same few kinds recur,
    and 1 if every pair of nodes is a kind of its own.
    """
    offsets = graphs.node_offsets
    sizes = np.diff(offsets).astype(np.float64)
    graph = int(np.argmax(sizes * sizes * share))
    first, n = int(offsets[graph]), int(sizes[graph])
    n_sources = max(1, round(n * float(share[graph])))
    few = max(1, min(n_sources // 4, int(_SAMPLE * _MANY / (n * len(graphs.levels)))))
    double = min(2 * few, n_sources)
    unsampled = graphs._replace(sampled=np.zeros_like(graphs.sampled))
    some = len(_count(first, first + few, unsampled, np.inf)[2])
    begun = time.thread_time()
    more = len(_count(first, first + double, unsampled, np.inf)[2])
    seconds = time.thread_time() - begun
    power = min(1.0, np.log2(max(more, 1) / max(some, 1)))
    # The first sources are paired with nearly all nodes, all sources on average with half of them.
    halved = 1.0 if graphs.ordered or share[graph] < 1.0 else 1.0 - 0.5 * power
    expected = more * (n_sources / double) ** power * halved
    expected *= (sizes * sizes * share).sum() / (n * n * share[graph])
    if expected > 2.0 * most:
        raise _too_many_kinds(graphs, expected, most, tiling.label)
    arcs = graphs.indptr[offsets[graph + 1]] - graphs.indptr[first]
    seconds *= cost / (double * (n + arcs))
    _warn_if_long(graphs, seconds / effective_n_jobs(tiling.n_jobs), tiling)


def _warn_if_long(graphs: PathGraphs, seconds: float, tiling: Tiling) -> None:
    """Warn if the paths will take over ten minutes, and name the largest graph."""
    if seconds <= _LONG:
        return
    sizes = np.diff(graphs.node_offsets).astype(np.float64)
    largest = int(np.argmax(sizes))
    base = "" if tiling.label == "ShortestPath" else "base="
    warn_caller(
        f"{tiling.label}: the shortest paths of {0.5 * (sizes * sizes).sum():.2g} pairs of nodes "
        f"will take about {seconds / 60:,.0f} minutes on {effective_n_jobs(tiling.n_jobs)} "
        f"thread(s); graph {largest} alone has {int(sizes[largest]):,} nodes. verbose=True shows "
        f"progress, n_jobs=-1 uses all cores, Ctrl-C stops. {base}ShortestPath(n_sources=100) "
        "estimates the counts from 100 sources per graph. Kernels whose cost grows with the edges: "
        'WeisfeilerLehman, Propagation, GraphletKernel(method="sample").'
    )


def _too_many_kinds(graphs: PathGraphs, expected: float, most: float, owner: str) -> MemoryError:
    """The error for paths of more kinds than fit into memory."""
    many_levels = len(graphs.levels) > 1
    way = "a smaller n_iter" if many_levels else "fewer labels (use_labels=False)"
    sampled = "base=ShortestPath(n_sources=10)" if many_levels else "n_sources=100"
    sizes = np.diff(graphs.node_offsets)
    return MemoryError(
        f"{owner}: the shortest paths of these {len(sizes):,} graphs (the largest has "
        f"{int(sizes.max()):,} nodes) are of about {expected:.2g} kinds, more than fit into the "
        f"memory available ({most * _BYTES_PER_KIND / 1e9:,.1f} GB). A kind is two labels and a "
        f"length: use {way}, the paths from some nodes only ({sampled}), fewer graphs at a time, "
        'or a kernel whose features grow with the nodes, such as "wl".'
    )
