"""Shortest paths of large graphs with few colours, counted many pairs at a time.

Pendant trees are folded into their roots (`pendant_trees`); the remaining core is searched from 64
nodes at a time (`many_sources`). Paths are counted in a table of colours and lengths. Directed
graphs, and those of which only some nodes are sources, are searched without folding. Graphs whose
table would be too large are not counted here.
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass

import numpy as np

from gramlet.common.arrays import Bools, Floats, Int32s, Ints, Nodes
from gramlet.engine.core.random_streams import wrapping_integers
from gramlet.engine.core.signature_table import SignatureTable
from gramlet.engine.core.tiles import Tiling, for_tiles
from gramlet.engine.paths.many_sources import WIDTH, count_from
from gramlet.engine.paths.path_limits import tell_seconds
from gramlet.engine.paths.pendant_trees import core_of, folded, peeled
from gramlet.engine.paths.sampled_sources import SOME

__all__ = ["LARGE", "LargeGraph", "count_large"]

# For graphs with fewer nodes the preparation takes too long.
LARGE = 128
# The largest number of entries of the table of colours and lengths, and per node and colour.
_TABLE, _PER_NODE = 1 << 22, 2
# From this number of visits on, the searches of one graph are distributed over threads.
_UNCUT = 1e8

Kinds = tuple[Int32s, Floats, Floats]


@dataclass(frozen=True)
class LargeGraph:
    """A graph with folded trees: its core, the lists of core nodes, and the paths within trees.

    Attributes
    ----------
    palette : array
        The colours; the other arrays contain positions in it.
    starts, targets : arrays
        CSR of the core.
    lists : (offsets, keys, numbers)
        The nodes that are folded into each core node.
    sources, kinds : arrays
        The core nodes, grouped by equal lists, and the number of each one's list.
    counts : array, shape (colours, colours, lengths)
        Ordered pairs of nodes of one tree.
    directed : bool
    scale : float
        The weight of an ordered pair.
    """

    palette: Ints
    starts: Ints
    targets: Ints
    lists: tuple[Ints, Ints, Ints]
    sources: Ints
    kinds: Ints
    counts: Floats
    directed: bool
    scale: float

    @property
    def n_visits(self) -> float:
        """Visits of nodes and arcs, if all sources of a search reached a node at one distance."""
        size = len(self.starts) - 1 + len(self.targets)
        return float(-(-len(self.sources) // WIDTH) * size) if len(self.targets) else 0.0

    def count(self, begin: int, end: int) -> Floats:
        """Count ordered pairs of nodes of different trees, from the sources ``begin:end``."""
        n_colours, _, n_lengths = self.counts.shape
        with wrapping_integers():
            found = count_from(
                *(self.sources[begin:end], self.kinds[begin:end], self.starts, self.targets),
                *(*self.lists, n_colours, n_lengths, not self.directed),
            )
        return np.asarray(found).reshape(self.counts.shape)

    def kinds_of(self, counts: Floats, ordered: bool) -> Kinds:
        """The result of `count_paths` for one graph: level and colours, lengths, counts."""
        if not ordered:
            # Pairs of two colours are in two tables; those of one colour are twice in one.
            same = np.arange(len(self.palette))
            both = counts + counts.transpose(1, 0, 2)
            both[same, same] *= 0.5
            counts = np.where(np.tri(len(same), k=-1, dtype=bool)[:, :, None], 0.0, both)
        first, second, lengths = np.nonzero(counts)
        ends = (np.zeros(len(first)), self.palette[first], self.palette[second])
        return (
            np.column_stack(ends).astype(np.int32),
            lengths.astype(np.float64),
            counts[first, second, lengths] * (self.scale if ordered else 0.5 * self.scale),
        )


def prepared(
    first: int,
    last: int,
    indptr: Ints,
    indices: Nodes,
    colours: Ints,
    directed: bool,
    chosen: Bools | None,
) -> LargeGraph | None:
    """Fold the trees of a graph; None if its table of colours and lengths would be too large."""
    n = last - first
    palette, own = np.unique(colours[first:last], return_inverse=True)
    k = len(palette)
    if directed or chosen is not None:
        order, parent, depth = np.zeros(0, np.int64), np.full(n, -1), np.zeros(n, np.int64)
    else:
        order, parent, depth = peeled(first, last, indptr, indices)
    nodes, starts, targets, farthest = core_of(first, last, indptr, indices, parent)
    # A path is at most as long as two depths plus the diameter of the core, and at most n − 1.
    longest = n - 1 if directed else min(2 * int(depth.max()) + 2 * farthest, n - 1)
    if k * k * (longest + 1) > _TABLE or k * (longest + 1) > _PER_NODE * n:
        return None
    counts = np.zeros(k * k * (longest + 1))
    lists = folded(order, parent, depth, own.astype(np.int64), nodes, k, counts)
    within = counts.reshape(k, k, longest + 1)
    within = within + within.transpose(1, 0, 2)
    offsets, keys, numbers = lists
    _, kinds = SignatureTable.fit(2 * offsets, np.column_stack([keys, numbers]).reshape(-1))
    sources = np.argsort(kinds, kind="stable")
    scale = 1.0
    if chosen is not None:
        sources = sources[chosen[first + nodes[sources]]]
        scale = 1.0 / (len(sources) / n)
    kinds = kinds[sources]
    return LargeGraph(palette, starts, targets, lists, sources, kinds, within, directed, scale)


def count_large(
    graphs: Ints,
    node_offsets: Ints,
    indptr: Ints,
    indices: Nodes,
    colours: Ints,
    chosen: Bools,
    ways: Ints,
    *,
    ordered: bool,
    directed: bool,
    tiling: Tiling,
) -> dict[int, Kinds]:
    """Count the paths of those of these graphs whose tables are small.

    Graphs are distributed over threads; for large graphs, their searches are.
    """
    found: dict[int, Kinds] = {}
    long: dict[int, LargeGraph] = {}

    def work(begin: int, end: int) -> None:
        for graph in graphs[begin:end].tolist():
            bounds = (int(node_offsets[graph]), int(node_offsets[graph + 1]))
            some = chosen if ways[graph] == SOME else None
            large = prepared(*bounds, indptr, indices, colours, directed, some)
            if large is None:
                continue
            if large.n_visits > _UNCUT:
                long[graph] = large
                continue
            counts = large.counts
            if large.n_visits:
                counts = counts + large.count(0, len(large.sources))
            found[graph] = large.kinds_of(counts, ordered)

    sizes = np.diff(node_offsets)[graphs].astype(np.float64)
    for_tiles(work, len(graphs), costs=sizes, tiling=tiling)
    if long:
        _tell(long, node_offsets, tiling)
    for graph in sorted(long):
        large = long.pop(graph)
        found[graph] = large.kinds_of(_shared_out(large, tiling), ordered)
    return found


def _shared_out(large: LargeGraph, tiling: Tiling) -> Floats:
    """Count all paths of one graph, with its searches distributed over threads."""
    counts = large.counts.copy()
    lock = threading.Lock()

    def work(begin: int, end: int) -> None:
        some = large.count(begin * WIDTH, min(end * WIDTH, len(large.sources)))
        with lock:  # the order of additions does not matter, as these are integers
            np.add(counts, some, out=counts)

    n_searches = -(-len(large.sources) // WIDTH)
    for_tiles(work, n_searches, n_tiles=max(128, n_searches // 64), tiling=tiling)
    return counts


def _tell(long: dict[int, LargeGraph], node_offsets: Ints, tiling: Tiling) -> None:
    """Time one search of the largest graph, and warn if all will take more than ten minutes."""
    large = max(long.values(), key=lambda each: each.n_visits)
    large.count(0, 1)  # compiles, if that has not been done
    begun = time.thread_time()
    large.count(0, WIDTH)
    one = time.thread_time() - begun
    share = sum(each.n_visits for each in long.values()) / large.n_visits
    searches = -(-len(large.sources) // WIDTH)
    tell_seconds(tiling.label, node_offsets, one * searches * share, tiling.n_jobs)
