"""The sources that shortest paths are counted from: all nodes, a random sample, or none.

Each graph has its own random stream, so that its sample depends only on the seed and on the graph,
neither on the batch nor on the graph's position in it.
"""

from __future__ import annotations

import numpy as np

from gramlet.common.arrays import Bools, Floats, Ints, Nodes, UInt64s
from gramlet.engine.core.compiled import njit
from gramlet.engine.core.random_streams import below, graph_stream, wrapping_integers

__all__ = ["EVERY", "NONE", "SOME", "chosen_sources"]

EVERY, SOME, NONE = 0, 1, 2


def chosen_sources(
    node_offsets: Ints, indptr: Ints, indices: Nodes, n_sources: int | None, seed: int
) -> tuple[Bools, Ints, Floats]:
    """Draw sources, without replacement, in graphs of more than ``n_sources`` nodes.

    Returns which nodes are chosen (no entries if all are), whether all or some nodes of each graph
    are sources, and the share of nodes that are.
    """
    sizes = np.diff(node_offsets)
    ways, share = np.full(len(sizes), EVERY, dtype=np.int64), np.ones(len(sizes))
    if n_sources is None or sizes.max(initial=0) <= n_sources:
        return np.zeros(0, dtype=np.bool_), ways, share
    larger = sizes > n_sources
    ways[larger], share[larger] = SOME, n_sources / sizes[larger]
    chosen = np.zeros(int(node_offsets[-1]), dtype=np.bool_)
    with wrapping_integers():
        _choose(np.flatnonzero(larger), node_offsets, indptr, indices, n_sources, seed, chosen)
    return chosen, ways, share


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
