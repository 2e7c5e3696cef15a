"""The network simplex method for small dense transport problems, in exact integer arithmetic.

`solve_transport` works on tables that its caller allocates once and fills for each problem:
`distance` solves one problem, `earth_mover` one per pair of point sets.
"""

# How it works
# ------------
# The smaller side of the problem becomes the sinks, the larger the sources. Costs and masses are
# rounded to integers once (to about 2⁻⁵⁰ of the largest cost and 2⁻⁶⁰ of the total mass); after
# that every comparison is exact, so that ties need no tolerance. The low bits of a scaled cost are
# free for the number of the source: the minimum of a row then says where it is.
#
# A basis is a spanning tree of sources and sinks, rooted at a sink. Most sources are leaves, so
# only the potentials of the sinks ("prices") are stored; the sinks below a node are stored as a bit
# mask. A pivot then walks two short paths, and the prices of a subtree change in one masked vector
# operation.
#
# The tree stays strongly feasible: an arc without flow always points to the root (all arcs go from
# source to sink). With Cunningham's choice of the leaving arc no basis occurs twice.

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gramlet.common.arrays import Floats, Ints
from gramlet.engine.core.compiled import njit

MASS_BITS = 60  # all masses of a side add up to 2 ** MASS_BITS
_COST_BITS = 50
_BLOCK = 16  # sinks priced at a time
_MINOR_PIVOTS = 5  # pivots on the candidates of one block before the next block is priced
_MAX_PIVOTS = 1000  # per node; the method always ends, this bounds its time

_HUGE = np.int64(1) << 62
_CLOSED = np.int64(1) << 61  # the cost of a cell that does not exist
_MAGIC = 1.5 * 2.0**52  # adding it leaves the nearest integer in the low bits of a float64
_MAGIC_BITS = np.float64(_MAGIC).view(np.int64)

# Rows of the tables `sink` and `tree`.
_PRICE, _FROM, _INTO = 0, 1, 2
_PARENT, FLOW, _BELOW = 0, 1, 2

# Node numbers are unsigned in the innermost loops: signed indices are tested for wraparound.
_U = np.uint64
_WORD, _LOW = np.uint64(6), np.uint64(63)


class Workspace(NamedTuple):
    """Tables for problems up to a certain size.

    Attributes
    ----------
    cost : array of float64, shape (sinks, sources)
        Filled in by the caller.
    scaled : array of int64
        The same as integers.
    source : array of int64, shape (sources,)
        Scratch numbers for the sources.
    sink : array of int64, shape (3, sinks)
        The price of each sink; candidates for a pivot, as pairs of source and sink.
    tree : array of int64, shape (2 + words, sinks + sources + 2)
        For each node (sinks, then sources): the node above it, the flow on the arc to it, and the
        words of the bit mask of the sinks below it. The caller fills the row ``FLOW`` with demands
        and supplies.
    """

    cost: Floats
    scaled: Ints
    source: Ints
    sink: Ints
    tree: Ints


@njit(nogil=True, cache=True)
def _padded(n: int, step: int) -> int:
    """The smallest multiple of ``step`` that is at least n."""
    return (n + step - 1) // step * step


@njit(nogil=True, cache=True)
def transport_workspace(n_small: int, n_large: int) -> Workspace:
    """Tables for every problem whose smaller and larger sides have at most this many points."""
    height = _padded(max(n_small, 1), 16)
    # An odd number of cache lines per row, so that rows do not evict each other from the cache.
    width = (_padded(max(n_large, 1), 16) // 16 | 1) * 16
    words = (height + 63) // 64
    return Workspace(
        np.zeros((height, width)),
        np.zeros((height, width), np.int64),
        np.zeros(width, np.int64),
        np.zeros((3, height), np.int64),
        np.zeros((_BELOW + words, height + width + 2), np.int64),
    )


@njit(nogil=True, cache=True)
def solve_transport(n_sinks: int, n_sources: int, work: Workspace) -> float:
    """The least cost of moving the masses of the sources to the sinks; -1 on failure.

    The caller has filled in the costs and the masses (all positive, adding up to
    ``2 ** MASS_BITS`` on both sides); there are at most as many sinks as sources. The value is for
    a total mass of 1; the optimal tree remains in the workspace.
    """
    cost, scaled, source, sink, tree = work
    low_bits = 1
    while (1 << low_bits) < n_sources:
        low_bits += 1
    mask = (np.int64(1) << low_bits) - 1
    words = (n_sinks + 63) // 64
    _scale_costs(n_sinks, n_sources, cost, scaled, low_bits)
    if words == 1:  # for a constant, the compiler removes the loops over words
        _start(n_sinks, n_sources, scaled, source, sink, tree, mask, 1)
        optimal = _optimise(n_sinks, n_sources, scaled, source, sink, tree, mask, _U(1))
    else:
        _start(n_sinks, n_sources, scaled, source, sink, tree, mask, words)
        optimal = _optimise(n_sinks, n_sources, scaled, source, sink, tree, mask, _U(words))
    if not optimal:
        return -1.0
    # The total cost of the flows.
    total = 0.0
    for x in range(n_sinks + n_sources):
        a, k, flow = arc_above(x, n_sinks, tree)
        if flow > 0:
            total += flow * cost[_U(a), _U(k)]
    return total * 2.0**-MASS_BITS


@njit(nogil=True, cache=True, forceinline=True)
def arc_above(x: int, n_sinks: int, tree: Ints) -> tuple[int, int, int]:
    """Sink, source and flow of the arc to a node's parent; the flow is 0 at the root."""
    above, flow = tree[_PARENT, x], tree[FLOW, x]
    if x < n_sinks:
        return x, above - n_sinks, flow
    return above, x - n_sinks, flow


@njit(nogil=True, cache=True, error_model="numpy")
def _scale_costs(n_sinks: int, n_sources: int, cost: Floats, scaled: Ints, low_bits: int) -> None:
    """Costs as integers with free low bits; rows are padded with huge ones."""
    # The largest cost. Non-negative floats have the order of their bits; integer maxima, unlike
    # float ones, are vectorised.
    bits = cost.view(np.int64)
    top = np.int64(0)
    for a in range(n_sinks):
        for k in range(n_sources):
            top = bits[a, k] if bits[a, k] > top else top
    scaled[0, 0] = top
    highest = scaled.view(np.float64)[0, 0]
    # The factor leaves room for sums of costs along a path through all sinks.
    spare = low_bits + 1
    while (1 << (spare - low_bits)) < n_sinks:
        spare += 1
    factor = 2.0 ** min(_COST_BITS, 60 - spare) / highest if highest > 0.0 else 0.0
    for a in range(n_sinks):
        for k in range(n_sources):
            whole = np.float64(cost[a, k] * factor + _MAGIC).view(np.int64) - _MAGIC_BITS
            scaled[a, k] = whole << low_bits
        for k in range(n_sources, _padded(n_sources, 16)):
            scaled[a, k] = _CLOSED


@njit(nogil=True, cache=True, forceinline=True)
def _cheapest_source(a: int, width: int, scaled: Ints, source: Ints) -> int:
    """The smallest scaled cost plus shift of a sink; its low bits are the number of the source."""
    cheapest = _HUGE
    for k in range(width):
        x = scaled[a, k] + source[k]
        cheapest = x if x < cheapest else cheapest
    return int(cheapest)


@njit(nogil=True, cache=True, forceinline=True)
def _start(
    n_sinks: int,
    n_sources: int,
    scaled: Ints,
    source: Ints,
    sink: Ints,
    tree: Ints,
    mask: int,
    words: int,
) -> None:
    """The initial tree and its prices: each sink in turn takes from its cheapest open sources.

    Each step closes a source or a sink and makes it a child of the other; its remaining mass is the
    flow between them. If both would be closed, the sink is, which makes the tree strongly feasible.
    Costs count relative to the means of their source and sink: a cell is cheap if it is cheap for
    this very pair. The resulting tree needs half as many pivots as one built from plain costs.
    """
    width = _padded(n_sources, 16)
    # The bit mask below each sink contains the sink itself.
    for w in range(_BELOW, _BELOW + words):
        for x in range(n_sinks + n_sources):
            tree[w, x] = 0
    for a in range(n_sinks):
        tree[_BELOW + a // 64, a] = np.int64(1) << (a % 64)
    # Means of the sources, and of the sinks times the number of sources.
    for k in range(width):
        source[k] = 0
    for a in range(n_sinks):
        sink[_FROM, a] = 0
        for k in range(n_sources):
            source[k] -= scaled[a, k]
            sink[_FROM, a] += scaled[a, k]
    for k in range(n_sources):
        source[k] = (np.int64(source[k] / n_sinks) & ~mask) | k
    # The sinks whose cheapest cell is far below their mean come first.
    for a in range(n_sinks):
        gap = _cheapest_source(a, width, scaled, source) - np.int64(sink[_FROM, a] / n_sources)
        place = a
        while place > 0 and sink[_PRICE, place - 1] > gap:
            sink[_PRICE, place] = sink[_PRICE, place - 1]
            sink[_INTO, place] = sink[_INTO, place - 1]
            place -= 1
        sink[_PRICE, place], sink[_INTO, place] = gap, a
    # All sinks but the last, which is the root and takes what is left.
    for turn in range(n_sinks - 1):
        a = sink[_INTO, turn]
        while True:
            best = _U(_cheapest_source(a, width, scaled, source) & mask)
            node = _U(n_sinks) + best
            if tree[FLOW, a] <= tree[FLOW, node]:  # close the sink
                tree[_PARENT, a] = node
                tree[FLOW, node] -= tree[FLOW, a]
                for w in range(_BELOW, _BELOW + words):
                    tree[w, node] |= tree[w, a]
                break
            # Close the source.
            tree[_PARENT, node] = a
            tree[FLOW, a] -= tree[FLOW, node]
            source[best] += _CLOSED
            for w in range(_BELOW, _BELOW + words):
                tree[w, a] |= tree[w, node]
    root = sink[_INTO, n_sinks - 1]
    for k in range(n_sources):
        if source[k] < _CLOSED // 2:
            tree[_PARENT, n_sinks + k] = root
            for w in range(_BELOW, _BELOW + words):
                tree[w, root] |= tree[w, n_sinks + k]
    # Prices, from the root down: two arcs above a sink is one that was closed later.
    tree[_PARENT, root] = -1
    tree[FLOW, root] = 0
    sink[_PRICE, root] = 0
    for turn in range(n_sinks - 2, -1, -1):
        a = sink[_INTO, turn]
        node = tree[_PARENT, a]
        up, k = tree[_PARENT, node], node - n_sinks
        sink[_PRICE, a] = sink[_PRICE, up] + scaled[a, k] - scaled[up, k]


@njit(nogil=True, cache=True, forceinline=True)
def _walk(
    x: np.uint64, meet: np.uint64, amount: int, tree: Ints, moved: np.uint64, words: np.uint64
) -> None:
    """From node x up to ``meet``: change flows by alternating signs, and toggle the moved sinks."""
    while x != meet:
        tree[FLOW, x] -= amount
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
    tree: Ints,
    moved: np.uint64,
    words: np.uint64,
) -> np.uint64:
    """Make x a child of ``above`` and reverse the path from x up to ``last``.

    Below a node of the reversed path are all moved sinks except those that were below the node
    before it. Returns the old parent of ``last``.
    """
    # Column `carry` holds the sinks that were below the node before.
    carry = moved + _U(1)
    for w in range(words):
        tree[_U(_BELOW) + w, carry] = 0
    carried = change = amount
    while True:
        # New parent and flow; the node's own flow moves on to its old parent.
        up = _U(tree[_PARENT, x])
        turned = tree[FLOW, x] - change
        change = -change
        tree[_PARENT, x] = above
        tree[FLOW, x] = carried
        # New bit mask.
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
    sink: Ints,
    tree: Ints,
    words: np.uint64,
) -> None:
    """Add the arc from a source to a sink, of reduced cost ``gain`` < 0, to the tree."""
    # The leaving arc is the last one of smallest flow around the cycle, from the meeting point
    # through origin and target and back: that keeps the tree strongly feasible.
    holder = _U(tree[_PARENT, origin])
    row, bit = _U(_BELOW) + (holder >> _WORD), np.int64(holder & _LOW)
    amount = _HUGE
    leaving = x = target
    while x != origin and not (tree[row, x] >> bit) & 1:
        flow = tree[FLOW, x]
        tight = (x < n_sinks) & (flow <= amount)
        amount = flow if tight else amount
        leaving = x if tight else leaving
        x = _U(tree[_PARENT, x])
    meet = x
    origin_moves = False
    x = origin
    while x != meet:
        flow = tree[FLOW, x]
        tight = (x >= n_sinks) & (flow < amount)
        amount = flow if tight else amount
        leaving = x if tight else leaving
        origin_moves |= tight
        x = _U(tree[_PARENT, x])
    # The subtree below the leaving arc moves: update flows, parents and bit masks.
    moved = _U(tree.shape[1] - 2)
    for w in range(words):
        tree[_U(_BELOW) + w, moved] = tree[_U(_BELOW) + w, leaving]
    inner, outer = (origin, target) if origin_moves else (target, origin)
    _walk(outer, meet, amount, tree, moved, words)
    x = _reverse(inner, outer, leaving, amount, tree, moved, words)
    _walk(x, meet, -amount, tree, moved, words)
    # The prices of its sinks change by the same amount.
    change = -gain if origin_moves else gain
    for w in range(words):
        mask = tree[_U(_BELOW) + w, moved]
        first = 64 * int(w)
        # After the last sink the mask is 0; the length is padded to whole vectors.
        for b in range(min(_padded(int(n_sinks), 16) - first, 64)):
            sink[_PRICE, first + b] += change & -((mask >> b) & 1)


@njit(nogil=True, cache=True, forceinline=True)
def _candidates(
    n_sinks: int,
    n_sources: int,
    first: int,
    last: int,
    scaled: Ints,
    source: Ints,
    sink: Ints,
    tree: Ints,
    mask: int,
) -> tuple[int, int, int]:
    """For each of the sinks ``first:last``, the source with the lowest negative reduced cost.

    Returns how many there are, and the reduced cost and position of the best one.
    """
    # The shift of a source: the price of its present sink minus its cost there, plus its number.
    width = _padded(n_sources, 16)
    for k in range(n_sources):
        holder = _U(tree[_PARENT, n_sinks + k])
        source[k] = k + sink[_PRICE, holder] - scaled[holder, k]
    # The best source of each sink.
    count, gain, pick = 0, 0, 0
    for a in range(first, last):
        best = _cheapest_source(a, width, scaled, source)
        k = best & mask
        reduced = best - k - sink[_PRICE, a]
        sink[_FROM, count] = k
        sink[_INTO, count] = a
        pick = count if reduced < gain else pick
        gain = reduced if reduced < gain else gain
        count += int(reduced < 0)
    return count, gain, pick


@njit(nogil=True, cache=True, forceinline=True)
def _best_candidate(
    count: int, n_sinks: np.uint64, scaled: Ints, sink: Ints, tree: Ints
) -> tuple[int, int]:
    """The reduced cost and position of the candidate that is the best at the current prices."""
    gain, pick = 0, 0
    for c in range(count):
        k, a = _U(sink[_FROM, c]), _U(sink[_INTO, c])
        holder = _U(tree[_PARENT, n_sinks + k])
        reduced = scaled[a, k] - sink[_PRICE, a] - scaled[holder, k] + sink[_PRICE, holder]
        pick = c if reduced < gain else pick
        gain = reduced if reduced < gain else gain
    return gain, pick


@njit(nogil=True, cache=True, forceinline=True)
def _optimise(
    n_sinks: int,
    n_sources: int,
    scaled: Ints,
    source: Ints,
    sink: Ints,
    tree: Ints,
    mask: int,
    words: np.uint64,
) -> bool:
    """Pivot until no arc has negative reduced cost; False if there were too many pivots."""
    for k in range(n_sources, _padded(n_sources, 16)):
        source[k] = 0
    base = _U(n_sinks)
    left = _MAX_PIVOTS * (n_sinks + n_sources)
    settled = first = 0
    # Block after block of sinks, until none of them has a candidate.
    while settled < n_sinks and left > 0:
        last = min(first + _BLOCK, n_sinks)
        count, gain, pick = _candidates(
            n_sinks, n_sources, first, last, scaled, source, sink, tree, mask
        )
        settled = settled + last - first if count == 0 else 0
        # A few pivots on the candidates of the block.
        more = _MINOR_PIVOTS
        while gain < 0:
            origin, target = base + _U(sink[_FROM, pick]), _U(sink[_INTO, pick])
            _pivot(origin, target, gain, base, sink, tree, words)
            left -= 1
            more -= 1
            gain, pick = _best_candidate(count if more else 0, base, scaled, sink, tree)
        first = last if last < n_sinks else 0
    return left > 0
