"""The tables on which small transport problems are solved: their layout, and costs as integers.

Costs and masses are rounded to integers once (to about 2⁻⁵⁰ of the largest cost and 2⁻⁶⁰ of the
total mass); after that every comparison is exact, so that ties need no tolerance. `initial_tree`
and `network_simplex` work on the tables.
"""

# The workspace is five plain tables, so that a call passes few arrays and counts no references:
#   cost    sinks × sources, float64
#   scaled  the same as integers; their low bits are free for the index of a sink or source
#   source  one column per source: the caller's number for it, a scratch row
#   sink    one column per sink: the caller's number for it, its price, scratch rows
#   tree    one column per node (sinks, then sources): the node above it, the flow on the arc to
#           it, the words of the bit mask of the sinks below it; before there is a tree, the
#           demands and supplies are in the row of the flows

from __future__ import annotations

import numpy as np

from gramlet.common.arrays import Array
from gramlet.engine.core.compiled import njit

__all__ = [
    "BELOW",
    "BEST",
    "CLOSED",
    "FLOW",
    "FROM",
    "HUGE",
    "INTO",
    "MASS_BITS",
    "MEAN",
    "PARENT",
    "QUEUE",
    "SHIFT",
    "SINK_POINT",
    "SINK_PRICE",
    "SOURCE_POINT",
    "arc_above",
    "cheapest_source",
    "cost_factor",
    "hang_source",
    "highest_cost",
    "index_bits",
    "padded",
    "scale_costs",
    "transport_workspace",
    "tree_cost",
]

MASS_BITS = 60  # all masses of a side add up to 2 ** MASS_BITS
_COST_BITS = 50

HUGE = np.int64(1) << 62
CLOSED = np.int64(1) << 61  # the cost of a cell that does not exist
_MAGIC = 1.5 * 2.0**52  # adding it leaves the nearest integer in the low bits of a float64
_MAGIC_BITS = np.float64(_MAGIC).view(np.int64)

# Rows of the tables.
SHIFT, SOURCE_POINT = 0, 1
SINK_PRICE, MEAN, BEST, QUEUE, FROM, INTO, SINK_POINT = 0, 1, 2, 3, 4, 5, 6
PARENT, FLOW, BELOW = 0, 1, 2


@njit(nogil=True, cache=True)
def padded(n: int, step: int) -> int:
    """The smallest multiple of ``step`` that is at least n."""
    return (n + step - 1) // step * step


@njit(nogil=True, cache=True)
def index_bits(n: int) -> int:
    """How many bits the numbers 0 to n − 1 take (at least 1)."""
    bits = 1
    while (1 << bits) < n:
        bits += 1
    return bits


@njit(nogil=True, cache=True)
def transport_workspace(n_small: int, n_large: int) -> tuple[Array, Array, Array, Array, Array]:
    """Tables for every problem whose smaller and larger sides have at most this many points."""
    height = padded(max(n_small, 1), 16)
    # An odd number of cache lines per row, so that rows do not evict each other from the cache.
    width = (padded(max(n_large, 1), 16) // 16 | 1) * 16
    words = (height + 63) // 64
    return (
        np.zeros((height, width)),
        np.zeros((height, width), np.int64),
        np.zeros((2, width), np.int64),
        np.zeros((7, height), np.int64),
        np.zeros((BELOW + words, height + width + 2), np.int64),
    )


@njit(nogil=True, cache=True)
def highest_cost(n_sinks: int, n_sources: int, cost: Array, sink: Array) -> float:
    """The largest cost; overwrites an entry of ``sink``."""
    # Non-negative floats have the order of their bits; integer maxima, unlike float ones, are
    # vectorised.
    bits = cost.view(np.int64)
    top = np.int64(0)
    for a in range(n_sinks):
        for k in range(n_sources):
            top = bits[a, k] if bits[a, k] > top else top
    sink[MEAN, 0] = top
    return float(sink.view(np.float64)[MEAN, 0])


@njit(nogil=True, cache=True, error_model="numpy")
def cost_factor(n_sinks: int, highest: float, low_bits: int) -> float:
    """The factor that scales costs up to the highest to integers."""
    cost_bits = min(_COST_BITS, 60 - low_bits - index_bits(n_sinks))
    return 2.0**cost_bits / highest if highest > 0.0 else 0.0


@njit(nogil=True, cache=True)
def scale_costs(
    n_sinks: int,
    first: int,
    last: int,
    cost: Array,
    place: int,
    down: int,
    along: int,
    scaled: Array,
    factor: float,
    low_bits: int,
) -> None:
    """Costs of the sources ``first:last`` as integers with free low bits, padded with huge ones.

    The cost of sink a and source k is ``cost[place + a * down + k * along]``.
    """
    width = padded(last, 16)
    for a in range(n_sinks):
        row = cost[place + a * down :]
        if along == 1:  # this loop is vectorised
            for k in range(first, last):
                bits = np.float64(row[k] * factor + _MAGIC).view(np.int64)
                scaled[a, k] = (bits - _MAGIC_BITS) << low_bits
        else:
            for k in range(first, last):
                bits = np.float64(row[k * along] * factor + _MAGIC).view(np.int64)
                scaled[a, k] = (bits - _MAGIC_BITS) << low_bits
        for k in range(last, width):
            scaled[a, k] = CLOSED


@njit(nogil=True, cache=True, forceinline=True)
def arc_above(x: int, n_sinks: int, tree: Array) -> tuple[int, int, int]:
    """Sink, source and flow of the arc to a node's parent; the flow is 0 at the root."""
    above, flow = tree[PARENT, x], tree[FLOW, x]
    if x < n_sinks:
        return x, above - n_sinks, flow
    return above, x - n_sinks, flow


@njit(nogil=True, cache=True)
def tree_cost(
    n_sinks: int, n_sources: int, cost: Array, place: int, down: int, along: int, tree: Array
) -> float:
    """The total cost of the flows of a tree, with costs as in `scale_costs`, for a mass of 1."""
    total = 0.0
    for x in range(n_sinks + n_sources):
        a, k, flow = arc_above(x, n_sinks, tree)
        if flow > 0:
            total += flow * cost[np.uint64(place + a * down + k * along)]
    return total * 2.0**-MASS_BITS


@njit(nogil=True, cache=True)
def hang_source(k: int, a: int, mass: int, n_sinks: int, tree: Array) -> None:
    """Add source k to the tree below sink a, whose demand grows by the same mass."""
    tree[PARENT, n_sinks + k] = a
    tree[FLOW, n_sinks + k] = mass
    for w in range(BELOW, BELOW + (n_sinks + 63) // 64):
        tree[w, n_sinks + k] = 0


@njit(nogil=True, cache=True, forceinline=True)
def cheapest_source(a: int, width: int, scaled: Array, source: Array) -> int:
    """The smallest scaled cost plus shift of a sink; its low bits are the number of the source."""
    cheapest = HUGE
    for k in range(width):
        x = scaled[a, k] + source[SHIFT, k]
        cheapest = x if x < cheapest else cheapest
    return int(cheapest)
