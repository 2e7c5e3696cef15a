"""The network simplex method for small dense transport problems, in exact integer arithmetic.

Arrays and scalars only: which problems are solved, and where their costs come from, is left to
`transport`. Costs and masses are rounded to integers once (to about 2⁻⁵⁰ of the largest cost and
2⁻⁶⁰ of the total mass); from there on every comparison is exact, so that ties need no tolerance.
"""

# How it works
# ------------
# The smaller side of the problem plays the sinks, the larger the sources. A basis is a spanning
# tree of sources and sinks, rooted at a sink. Most sources are leaves, so the potentials of the
# sinks alone ("prices") are kept; the sinks below a node are a bit mask. Then a pivot walks two
# short paths, and the prices of a whole subtree change in one masked vector operation.
#
# The tree stays strongly feasible: an arc that carries nothing always points to the root (all
# arcs go from source to sink). With Cunningham's choice of the leaving arc no basis comes twice.
#
# The workspace is five plain tables, so that a call passes few arrays and counts no references:
#   cost    sinks × sources, float64
#   scaled  the same as integers; their low bits are free to carry the index of a sink or source
#   source  one column a source: its supply, the caller's number for it, scratch rows
#   sink    one column a sink: its demand, the caller's number for it, its price, scratch rows
#   tree    one column a node (sinks, then sources): the node above it, the flow on the arc between
#           the two, the words of the bit mask of the sinks below it

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

__all__ = [
    "MASS_BITS",
    "SINK_MASS",
    "SINK_POINT",
    "SINK_PRICE",
    "SOURCE_MASS",
    "SOURCE_POINT",
    "arc_above",
    "cost_factor",
    "finish_transport",
    "hang_source",
    "highest_cost",
    "index_bits",
    "scale_costs",
    "solve_transport",
    "start_transport",
    "transport_workspace",
]

MASS_BITS = 60  # all masses of a side add up to 2 ** MASS_BITS
_COST_BITS = 50
_BLOCK = 32  # sinks priced at a time
_MINOR_PIVOTS = 6  # pivots on the candidates of one block before all prices are looked at again
_MAX_PIVOTS = 1000  # per node; the method is finite, this only bounds the time to say so

_HUGE = np.int64(1) << 62
_CLOSED = np.int64(1) << 61
_MAGIC = 1.5 * 2.0**52  # adding it leaves the nearest integer in the low bits of a float64
_MAGIC_BITS = np.float64(_MAGIC).view(np.int64)

# Rows of the tables.
SOURCE_MASS, _SHIFT, SOURCE_POINT = 0, 1, 2
SINK_MASS, SINK_PRICE, _MEAN, _BEST, _QUEUE, _FROM, _INTO, SINK_POINT = 0, 1, 2, 3, 4, 5, 6, 7
_PARENT, _FLOW, _BELOW = 0, 1, 2

# Node numbers are unsigned in the innermost loops: a signed index is tested for wraparound.
_U = np.uint64
_WORD = np.uint64(6)
_LOW = np.uint64(63)
_NONE = np.int64(-1)


@njit(nogil=True, cache=True)
def _padded(n: int, step: int) -> int:
    return (n + step - 1) // step * step


@njit(nogil=True, cache=True)
def index_bits(n: int) -> int:
    """How many bits the numbers of n things take."""
    bits = 1
    while (1 << bits) < n:
        bits += 1
    return bits


@njit(nogil=True, cache=True)
def transport_workspace(
    n_small: int, n_large: int
) -> tuple[NDArray, NDArray, NDArray, NDArray, NDArray]:
    """Room for every problem whose smaller and larger sides have at most these many points."""
    height = _padded(max(n_small, 1), 4)
    # An odd number of cache lines a row, or rows would push each other out of the cache.
    width = (_padded(max(n_large, 1), 16) // 16 | 1) * 16
    words = (height + 63) // 64
    return (
        np.zeros((height, width)),
        np.zeros((height, width), np.int64),
        np.zeros((3, width), np.int64),
        np.zeros((8, height), np.int64),
        np.zeros((_BELOW + words, height + width + 2), np.int64),
    )


@njit(nogil=True, cache=True)
def highest_cost(n_sinks: int, n_sources: int, cost: NDArray, sink: NDArray) -> float:
    """The largest of the costs; a row of ``sink`` is scratch."""
    # Non-negative floats are ordered like their bits; unlike floats, integers reduce in vectors.
    bits = cost.view(np.int64)
    top = np.int64(0)
    for a in range(n_sinks):
        for k in range(n_sources):
            top = bits[a, k] if bits[a, k] > top else top
    sink[_MEAN, 0] = top
    return float(sink.view(np.float64)[_MEAN, 0])


@njit(nogil=True, cache=True, error_model="numpy")
def cost_factor(n_sinks: int, highest: float, low_bits: int) -> float:
    """What costs up to the highest are multiplied by to become integers."""
    cost_bits = min(_COST_BITS, 60 - low_bits - index_bits(n_sinks))
    return 2.0**cost_bits / highest if highest > 0.0 else 0.0


@njit(nogil=True, cache=True)
def scale_costs(
    n_sinks: int, first: int, last: int, cost: NDArray, scaled: NDArray, factor: float,
    low_bits: int,
) -> None:  # fmt: skip
    """Costs of sources first..last as integers whose low bits are free, padded with huge ones."""
    height, width = _padded(n_sinks, 4), _padded(last, 16)
    as_float = scaled.view(np.float64)
    for a in range(n_sinks):
        for k in range(first, last):
            as_float[a, k] = cost[a, k] * factor + _MAGIC
        for k in range(first, last):
            scaled[a, k] = (scaled[a, k] - _MAGIC_BITS) << low_bits
        for k in range(last, width):
            scaled[a, k] = _CLOSED
    for a in range(n_sinks, height):
        for k in range(first, width):
            scaled[a, k] = _CLOSED


@njit(nogil=True, cache=True, forceinline=True)
def _cheapest_source(a: int, width: int, scaled: NDArray, source: NDArray) -> int:
    """The least scaled cost plus shift of a sink; its low bits are the number of the source."""
    cheapest = _HUGE
    for k in range(width):
        x = scaled[a, k] + source[_SHIFT, k]
        cheapest = x if x < cheapest else cheapest
    return int(cheapest)


@njit(nogil=True, cache=True)
def _queue_up(i: int, last: int, a: int, cheapest: int, sink: NDArray, mask: int) -> None:
    """Put a sink with its cheapest source into the queue, at place i or behind cheaper ones."""
    sink[_BEST, a] = cheapest & mask
    rank = ((cheapest - sink[_MEAN, a]) & ~mask) | a
    while i < last and sink[_QUEUE, i + 1] < rank:
        sink[_QUEUE, i] = sink[_QUEUE, i + 1]
        i += 1
    sink[_QUEUE, i] = rank


@njit(nogil=True, cache=True, error_model="numpy")
def _rank_cells(
    n_sinks: int, n_sources: int, scaled: NDArray, source: NDArray, sink: NDArray, mask: int
) -> None:
    """Each sink's best source by doubly centred cost, and the sinks in the order of that cost.

    Subtracting the means of both sides first makes "cheap" mean cheap for this very pair: the
    tree grown from it needs half the pivots of one grown from plain costs.
    """
    width = _padded(n_sources, 16)
    for k in range(width):
        source[_SHIFT, k] = 0
    for a in range(n_sinks):
        total = np.int64(0)
        for k in range(n_sources):
            total += scaled[a, k]
        for k in range(n_sources):
            source[_SHIFT, k] -= scaled[a, k]
        sink[_MEAN, a] = np.int64(total / n_sources)
    for k in range(n_sources):
        source[_SHIFT, k] = (np.int64(source[_SHIFT, k] / n_sinks) & ~mask) | k
    for a in range(n_sinks - 1, -1, -1):
        cheapest = _cheapest_source(a, width, scaled, source)
        _queue_up(a, n_sinks - 1, a, cheapest, sink, mask)


@njit(nogil=True, cache=True)
def _grow_tree(
    n_sinks: int,
    n_sources: int,
    scaled: NDArray,
    source: NDArray,
    sink: NDArray,
    tree: NDArray,
    mask: int,
) -> None:
    """The first tree: the cheapest open cell again and again, until one sink is left open.

    Each step uses up a source or a sink and hangs it under the other. Where both would be used up
    it is the sink that goes, which makes the tree strongly feasible.
    """
    words = (n_sinks + 63) // 64
    width = _padded(n_sources, 16)
    i = 0
    while i < n_sinks - 1:
        # Queueing up again pays where a sink takes many sources; else a sink keeps its turn.
        last = i if n_sources < 2 * n_sinks else n_sinks - 1
        a = sink[_QUEUE, i] & mask
        k = sink[_BEST, a]
        node = n_sinks + k
        if source[_SHIFT, k] >= _CLOSED // 2:
            cheapest = _cheapest_source(a, width, scaled, source)
            _queue_up(i, last, a, cheapest, sink, mask)
        elif sink[SINK_MASS, a] <= source[SOURCE_MASS, k]:
            tree[_PARENT, a] = node
            tree[_FLOW, a] = sink[SINK_MASS, a]
            source[SOURCE_MASS, k] -= sink[SINK_MASS, a]
            for w in range(_BELOW, _BELOW + words):
                tree[w, node] |= tree[w, a]
            i += 1
        else:
            tree[_PARENT, node] = a
            tree[_FLOW, node] = source[SOURCE_MASS, k]
            sink[SINK_MASS, a] -= source[SOURCE_MASS, k]
            source[_SHIFT, k] += _CLOSED
            for w in range(_BELOW, _BELOW + words):
                tree[w, a] |= tree[w, node]
    root = sink[_QUEUE, n_sinks - 1] & mask
    for k in range(n_sources):
        if source[_SHIFT, k] < _CLOSED // 2:
            node = n_sinks + k
            tree[_PARENT, node] = root
            tree[_FLOW, node] = source[SOURCE_MASS, k]
            for w in range(_BELOW, _BELOW + words):
                tree[w, root] |= tree[w, node]


@njit(nogil=True, cache=True)
def _start(
    n_sinks: int,
    n_sources: int,
    scaled: NDArray,
    source: NDArray,
    sink: NDArray,
    tree: NDArray,
    mask: int,
) -> None:
    """A first basis, with its prices."""
    for w in range(_BELOW, _BELOW + (n_sinks + 63) // 64):
        for x in range(n_sinks + n_sources):
            tree[w, x] = 0
    for a in range(n_sinks):
        tree[_BELOW + a // 64, a] = np.int64(1) << (a % 64)
    _rank_cells(n_sinks, n_sources, scaled, source, sink, mask)
    _grow_tree(n_sinks, n_sources, scaled, source, sink, tree, mask)
    root = sink[_QUEUE, n_sinks - 1] & mask
    tree[_PARENT, root] = _NONE
    tree[_FLOW, root] = 0
    sink[SINK_PRICE, root] = 0
    # Whatever a sink hangs under was closed after it.
    for t in range(n_sinks - 2, -1, -1):
        a = sink[_QUEUE, t] & mask
        node = tree[_PARENT, a]
        up = tree[_PARENT, node]
        k = node - n_sinks
        sink[SINK_PRICE, a] = sink[SINK_PRICE, up] + scaled[a, k] - scaled[up, k]


@njit(nogil=True, cache=True, forceinline=True)
def _walk(
    x: np.uint64, meet: np.uint64, amount: int, tree: NDArray, moved: np.uint64, words: np.uint64
) -> None:
    """From node x up to the meeting point: flows change in turn, what moved joins or leaves."""
    while x != meet:
        tree[_FLOW, x] -= amount
        amount = -amount
        for w in range(words):
            tree[_U(_BELOW) + w, x] ^= tree[_U(_BELOW) + w, moved]
        x = _U(tree[_PARENT, x])


@njit(nogil=True, cache=True, forceinline=True)
def _reverse(
    x: np.uint64,
    above: np.uint64,
    last: np.uint64,
    amount: int,
    tree: NDArray,
    moved: np.uint64,
    words: np.uint64,
) -> np.uint64:
    """Hang x under `above`, and the path from x to `last` upside down below it.

    The old parent of `last` is returned. What is below a node of the reversed path: all that
    moved but what was below the node before it.
    """
    carry = moved + _U(1)
    for w in range(words):
        tree[_U(_BELOW) + w, carry] = 0
    carried = change = amount
    while True:
        up = _U(tree[_PARENT, x])
        turned = tree[_FLOW, x] - change
        change = -change
        tree[_PARENT, x] = above
        tree[_FLOW, x] = carried
        for w in range(words):
            old = tree[_U(_BELOW) + w, x]
            tree[_U(_BELOW) + w, x] = tree[_U(_BELOW) + w, moved] & ~tree[_U(_BELOW) + w, carry]
            tree[_U(_BELOW) + w, carry] = old
        if x == last:
            return up
        carried = turned
        above = x
        x = up


@njit(nogil=True, cache=True, forceinline=True)
def _pivot(
    origin: np.uint64,
    target: np.uint64,
    gain: int,
    n_sinks: np.uint64,
    sink: NDArray,
    tree: NDArray,
    words: np.uint64,
) -> None:
    """Let the arc from a source to a sink into the tree, at reduced cost `gain` < 0."""
    # The arc that leaves is the last of the tightest ones around the cycle, from the meeting
    # point through origin and target and back: that keeps the tree strongly feasible.
    holder = _U(tree[_PARENT, origin])
    row, bit = _U(_BELOW) + (holder >> _WORD), holder & _LOW
    amount = _HUGE
    leaving = x = target
    while x != origin and not (tree[row, x] >> bit) & 1:
        if x < n_sinks and tree[_FLOW, x] <= amount:
            amount = tree[_FLOW, x]
            leaving = x
        x = _U(tree[_PARENT, x])
    meet = x
    origin_moves = False
    x = origin
    while x != meet:
        if x >= n_sinks and tree[_FLOW, x] < amount:
            amount = tree[_FLOW, x]
            leaving = x
            origin_moves = True
        x = _U(tree[_PARENT, x])
    moved = _U(tree.shape[1] - 2)
    for w in range(words):
        tree[_U(_BELOW) + w, moved] = tree[_U(_BELOW) + w, leaving]
    inner, outer = (origin, target) if origin_moves else (target, origin)
    _walk(outer, meet, amount, tree, moved, words)
    x = _reverse(inner, outer, leaving, amount, tree, moved, words)
    _walk(x, meet, -amount, tree, moved, words)
    change = -gain if origin_moves else gain
    for w in range(words):
        mask = tree[_U(_BELOW) + w, moved]
        first = 64 * int(w)
        for b in range(min(int(n_sinks) - first, 64)):
            sink[SINK_PRICE, first + b] += change & -((mask >> b) & 1)


@njit(nogil=True, cache=True, forceinline=True)
def _candidates(
    n_sinks: int,
    n_sources: int,
    first: int,
    last: int,
    scaled: NDArray,
    source: NDArray,
    sink: NDArray,
    tree: NDArray,
    mask: int,
) -> int:
    """For each of the sinks first..last the source that gains most by going there, if any."""
    width = _padded(n_sources, 16)
    for k in range(n_sources):
        holder = _U(tree[_PARENT, n_sinks + k])
        source[_SHIFT, k] = k + sink[SINK_PRICE, holder] - scaled[holder, k]
    count = 0
    for a in range(first, last):
        best = _cheapest_source(a, width, scaled, source)
        k = best & mask
        sink[_FROM, count] = k
        sink[_INTO, count] = a
        count += int(best - k < sink[SINK_PRICE, a])
    return count


@njit(nogil=True, cache=True, forceinline=True)
def _best_candidate(
    count: int, n_sinks: np.uint64, scaled: NDArray, sink: NDArray, tree: NDArray
) -> tuple[int, int]:
    gain, pick = 0, 0
    for c in range(count):
        k, a = _U(sink[_FROM, c]), _U(sink[_INTO, c])
        holder = _U(tree[_PARENT, n_sinks + k])
        reduced = scaled[a, k] - sink[SINK_PRICE, a] - scaled[holder, k] + sink[SINK_PRICE, holder]
        pick = c if reduced < gain else pick
        gain = reduced if reduced < gain else gain
    return gain, pick


@njit(nogil=True, cache=True, forceinline=True)
def _optimise(
    n_sinks: int,
    n_sources: int,
    scaled: NDArray,
    source: NDArray,
    sink: NDArray,
    tree: NDArray,
    mask: int,
    words: np.uint64,
) -> bool:
    """Pivots until no arc is worth letting in; False if there were absurdly many."""
    for k in range(n_sources, _padded(n_sources, 16)):
        source[_SHIFT, k] = 0
    base = _U(n_sinks)
    left = _MAX_PIVOTS * (n_sinks + n_sources)
    settled = first = 0
    while settled < n_sinks and left > 0:
        last = min(first + _BLOCK, n_sinks)
        count = _candidates(n_sinks, n_sources, first, last, scaled, source, sink, tree, mask)
        settled = settled + last - first if count == 0 else 0
        for _ in range(_MINOR_PIVOTS):
            gain, pick = _best_candidate(count, base, scaled, sink, tree)
            if gain == 0:
                break
            origin, target = base + _U(sink[_FROM, pick]), _U(sink[_INTO, pick])
            _pivot(origin, target, gain, base, sink, tree, words)
            left -= 1
        first = last if last < n_sinks else 0
    return left > 0


@njit(nogil=True, cache=True, forceinline=True)
def arc_above(x: int, n_sinks: int, tree: NDArray) -> tuple[int, int, int]:
    """Sink, source and flow of the arc above a node; no flow means nothing at the root."""
    above, flow = tree[_PARENT, x], tree[_FLOW, x]
    if x < n_sinks:
        return x, above - n_sinks, flow
    return above, x - n_sinks, flow


@njit(nogil=True, cache=True)
def hang_source(k: int, a: int, mass: int, n_sinks: int, tree: NDArray) -> None:
    """Let a further source, number k, bring its mass to sink a, whose demand grows by as much."""
    tree[_PARENT, n_sinks + k] = a
    tree[_FLOW, n_sinks + k] = mass
    for w in range(_BELOW, _BELOW + (n_sinks + 63) // 64):
        tree[w, n_sinks + k] = 0


@njit(nogil=True, cache=True)
def start_transport(
    n_sinks: int, n_sources: int, scaled: NDArray, source: NDArray, sink: NDArray, tree: NDArray,
    low_bits: int,
) -> None:  # fmt: skip
    """A first tree for the masses and scaled costs in the workspace."""
    mask = (np.int64(1) << low_bits) - 1
    _start(n_sinks, n_sources, scaled, source, sink, tree, mask)


@njit(nogil=True, cache=True)
def finish_transport(
    n_sinks: int, n_sources: int, cost: NDArray, scaled: NDArray, source: NDArray, sink: NDArray,
    tree: NDArray, low_bits: int,
) -> float:  # fmt: skip
    """The least cost, from a tree in the workspace that becomes the optimal one; -1 on failure."""
    mask = (np.int64(1) << low_bits) - 1
    if n_sinks <= 64:
        # The one word of a mask is a constant here, and the loops over words vanish.
        optimal = _optimise(n_sinks, n_sources, scaled, source, sink, tree, mask, _U(1))
    else:
        words = _U((n_sinks + 63) // 64)
        optimal = _optimise(n_sinks, n_sources, scaled, source, sink, tree, mask, words)
    if not optimal:
        return -1.0
    total = 0.0
    for x in range(n_sinks + n_sources):
        a, k, flow = arc_above(x, n_sinks, tree)
        if flow > 0:
            total += flow * cost[a, k]
    return total * 2.0**-MASS_BITS


@njit(nogil=True, cache=True)
def solve_transport(
    n_sinks: int,
    n_sources: int,
    cost: NDArray,
    scaled: NDArray,
    source: NDArray,
    sink: NDArray,
    tree: NDArray,
) -> float:
    """The least cost of moving the masses of the sources to the sinks; -1 on failure.

    The caller has filled ``cost[:n_sinks, :n_sources]`` and the masses (all positive, adding up
    to ``2 ** MASS_BITS`` on both sides; they are used up); there are at most as many sinks as
    sources. The value is for a total mass of 1; the optimal tree stays in the workspace.
    """
    bits = index_bits(n_sources)
    factor = cost_factor(n_sinks, highest_cost(n_sinks, n_sources, cost, sink), bits)
    scale_costs(n_sinks, 0, n_sources, cost, scaled, factor, bits)
    start_transport(n_sinks, n_sources, scaled, source, sink, tree, bits)
    return finish_transport(n_sinks, n_sources, cost, scaled, source, sink, tree, bits)
