"""The initial tree of the network simplex method: cheap cells first, as far as the masses allow.

`workspace` describes how the tree is stored; `network_simplex` makes it optimal.
"""

from __future__ import annotations

import numpy as np

from gramlet.common.arrays import Array
from gramlet.engine.core.compiled import njit
from gramlet.engine.transport.workspace import (
    BELOW,
    BEST,
    CLOSED,
    FLOW,
    MEAN,
    PARENT,
    QUEUE,
    SHIFT,
    SINK_PRICE,
    cheapest_source,
    padded,
)

__all__ = ["start_transport"]

_NONE = np.int64(-1)
_U = np.uint64  # type of indices: signed indices are tested for wraparound


@njit(nogil=True, cache=True)
def _queue_up(
    i: np.uint64, last: np.uint64, a: np.uint64, cheapest: int, sink: Array, mask: int
) -> None:
    """Put a sink with its cheapest source into the queue, at place i or after cheaper ones."""
    sink[BEST, a] = cheapest & mask
    rank = ((cheapest - sink[MEAN, a]) & ~mask) | np.int64(a)
    while i < last and sink[QUEUE, i + _U(1)] < rank:
        sink[QUEUE, i] = sink[QUEUE, i + _U(1)]
        i += _U(1)
    sink[QUEUE, i] = rank


@njit(nogil=True, cache=True, error_model="numpy")
def _rank_cells(
    n_sinks: int, n_sources: int, scaled: Array, source: Array, sink: Array, mask: int
) -> None:
    """Each sink's best source by doubly centred cost, and the sinks in the order of that cost.

    With the means of both sides subtracted, a cell is cheap if it is cheap for this very pair: the
    resulting tree needs half as many pivots as one built from plain costs.
    """
    # Means of the sinks, and of the sources.
    width = padded(n_sources, 16)
    for k in range(width):
        source[SHIFT, k] = 0
    # The costs of the padding are subtracted from the totals, modulo 2 ** 64.
    padding = (width - n_sources) * CLOSED
    for a in range(n_sinks):
        total = -padding
        for k in range(width):
            total += scaled[a, k]
        for k in range(width):
            source[SHIFT, k] -= scaled[a, k]
        sink[MEAN, a] = np.int64(total / n_sources)
    for k in range(n_sources):
        source[SHIFT, k] = (np.int64(source[SHIFT, k] / n_sinks) & ~mask) | k
    for k in range(n_sources, width):
        source[SHIFT, k] = 0
    # Queue up the sinks.
    for a in range(n_sinks - 1, -1, -1):
        cheapest = cheapest_source(a, width, scaled, source)
        _queue_up(_U(a), _U(n_sinks - 1), _U(a), cheapest, sink, mask)


@njit(nogil=True, cache=True, forceinline=True)
def _grow_tree(
    n_sinks: int,
    n_sources: int,
    scaled: Array,
    source: Array,
    sink: Array,
    tree: Array,
    mask: int,
    words: int,
) -> None:
    """Build the initial tree: repeatedly use the cheapest open cell until one open sink remains.

    Each step closes a source or a sink and makes it a child of the other; its remaining mass is the
    flow between them. If both would be closed, the sink is, which makes the tree strongly feasible.
    """
    width = padded(n_sources, 16)
    i, end = _U(0), _U(n_sinks - 1)
    while i < end:
        # Queueing up again is worth it if a sink takes many sources; else a sink keeps its turn.
        last = i if n_sources < 2 * n_sinks else end
        a = _U(sink[QUEUE, i] & mask)
        k = _U(sink[BEST, a])
        node = _U(n_sinks) + k
        if source[SHIFT, k] < CLOSED // 2:
            # Close the sink.
            if tree[FLOW, a] <= tree[FLOW, node]:
                tree[PARENT, a] = node
                tree[FLOW, node] -= tree[FLOW, a]
                for w in range(BELOW, BELOW + words):
                    tree[w, node] |= tree[w, a]
                i += _U(1)
                continue
            # Close the source.
            tree[PARENT, node] = a
            tree[FLOW, a] -= tree[FLOW, node]
            source[SHIFT, k] += CLOSED
            for w in range(BELOW, BELOW + words):
                tree[w, a] |= tree[w, node]
        _queue_up(i, last, a, cheapest_source(a, width, scaled, source), sink, mask)
    # The last sink is the root and takes all open sources.
    root = sink[QUEUE, end] & mask
    for left in range(n_sources):
        if source[SHIFT, left] < CLOSED // 2:
            tree[PARENT, n_sinks + left] = root
            for w in range(BELOW, BELOW + words):
                tree[w, root] |= tree[w, n_sinks + left]


@njit(nogil=True, cache=True)
def start_transport(
    n_sinks: int,
    n_sources: int,
    scaled: Array,
    source: Array,
    sink: Array,
    tree: Array,
    low_bits: int,
) -> None:
    """The initial tree for the masses and scaled costs in the workspace, with its prices."""
    # The bit mask below each sink contains the sink itself.
    mask = (np.int64(1) << low_bits) - 1
    words = (n_sinks + 63) // 64
    for w in range(BELOW, BELOW + words):
        for x in range(n_sinks + n_sources):
            tree[w, x] = 0
    for a in range(n_sinks):
        tree[BELOW + a // 64, a] = np.int64(1) << (a % 64)
    _rank_cells(n_sinks, n_sources, scaled, source, sink, mask)
    if words == 1:  # for a constant, the compiler removes the loops over words
        _grow_tree(n_sinks, n_sources, scaled, source, sink, tree, mask, 1)
    else:
        _grow_tree(n_sinks, n_sources, scaled, source, sink, tree, mask, words)
    # Prices, from the root down.
    root = sink[QUEUE, n_sinks - 1] & mask
    tree[PARENT, root] = _NONE
    tree[FLOW, root] = 0
    sink[SINK_PRICE, root] = 0
    # The parent of a sink was closed after it.
    for t in range(n_sinks - 2, -1, -1):
        a = sink[QUEUE, t] & mask
        node = tree[PARENT, a]
        up = tree[PARENT, node]
        k = node - n_sinks
        sink[SINK_PRICE, a] = sink[SINK_PRICE, up] + scaled[a, k] - scaled[up, k]
