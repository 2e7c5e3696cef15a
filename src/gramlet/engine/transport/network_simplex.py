"""The network simplex method for small dense transport problems, in exact integer arithmetic.

It takes arrays and scalars only; `distance` and `earth_mover` set up the problems. The tables it
works on are described in `workspace`; the initial tree comes from `initial_tree`.
"""

# How it works
# ------------
# The smaller side of the problem becomes the sinks, the larger the sources. A basis is a spanning
# tree of sources and sinks, rooted at a sink. Most sources are leaves, so only the potentials of
# the sinks ("prices") are stored; the sinks below a node are stored as a bit mask. A pivot then
# walks two short paths, and the prices of a subtree change in one masked vector operation.
#
# The tree stays strongly feasible: an arc without flow always points to the root (all arcs go from
# source to sink). With Cunningham's choice of the leaving arc no basis occurs twice.

from __future__ import annotations

import numpy as np

from gramlet.common.arrays import Array
from gramlet.engine.core.compiled import njit
from gramlet.engine.transport.initial_tree import start_transport
from gramlet.engine.transport.workspace import (
    BELOW,
    FLOW,
    FROM,
    HUGE,
    INTO,
    PARENT,
    SHIFT,
    SINK_PRICE,
    cheapest_source,
    cost_factor,
    index_bits,
    padded,
    scale_costs,
    tree_cost,
)

__all__ = ["finish_transport", "solve_transport"]

_BLOCK = 16  # sinks priced at a time
_MINOR_PIVOTS = 5  # pivots on the candidates of one block before the next block is priced
_MAX_PIVOTS = 1000  # per node; the method always ends, this bounds its time

# Node numbers are unsigned in the innermost loops: signed indices are tested for wraparound.
_U = np.uint64
_WORD = np.uint64(6)
_LOW = np.uint64(63)


@njit(nogil=True, cache=True, forceinline=True)
def _walk(
    x: np.uint64, meet: np.uint64, amount: int, tree: Array, moved: np.uint64, words: np.uint64
) -> None:
    """From node x up to ``meet``: change flows by alternating signs, and toggle the moved sinks."""
    while x != meet:
        tree[FLOW, x] -= amount
        amount = -amount
        for w in range(words):
            tree[_U(BELOW) + w, x] ^= tree[_U(BELOW) + w, moved]
        x = _U(tree[PARENT, x])


@njit(nogil=True, cache=True, forceinline=True)
def _reverse(
    x: np.uint64,
    above: np.uint64,
    last: np.uint64,
    amount: int,
    tree: Array,
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
        tree[_U(BELOW) + w, carry] = 0
    carried = change = amount
    while True:
        # New parent and flow; the node's own flow moves on to its old parent.
        up = _U(tree[PARENT, x])
        turned = tree[FLOW, x] - change
        change = -change
        tree[PARENT, x] = above
        tree[FLOW, x] = carried
        # New bit mask.
        for w in range(words):
            old = tree[_U(BELOW) + w, x]
            tree[_U(BELOW) + w, x] = tree[_U(BELOW) + w, moved] & ~tree[_U(BELOW) + w, carry]
            tree[_U(BELOW) + w, carry] = old
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
    sink: Array,
    tree: Array,
    words: np.uint64,
) -> None:
    """Add the arc from a source to a sink, of reduced cost ``gain`` < 0, to the tree."""
    # The leaving arc is the last one of smallest flow around the cycle, from the meeting point
    # through origin and target and back: that keeps the tree strongly feasible.
    holder = _U(tree[PARENT, origin])
    row, bit = _U(BELOW) + (holder >> _WORD), np.int64(holder & _LOW)
    amount = HUGE
    leaving = x = target
    while x != origin and not (tree[row, x] >> bit) & 1:
        flow = tree[FLOW, x]
        tight = (x < n_sinks) & (flow <= amount)
        amount = flow if tight else amount
        leaving = x if tight else leaving
        x = _U(tree[PARENT, x])
    meet = x
    origin_moves = False
    x = origin
    while x != meet:
        flow = tree[FLOW, x]
        tight = (x >= n_sinks) & (flow < amount)
        amount = flow if tight else amount
        leaving = x if tight else leaving
        origin_moves |= tight
        x = _U(tree[PARENT, x])
    # The subtree below the leaving arc moves: update flows, parents and bit masks.
    moved = _U(tree.shape[1] - 2)
    for w in range(words):
        tree[_U(BELOW) + w, moved] = tree[_U(BELOW) + w, leaving]
    inner, outer = (origin, target) if origin_moves else (target, origin)
    _walk(outer, meet, amount, tree, moved, words)
    x = _reverse(inner, outer, leaving, amount, tree, moved, words)
    _walk(x, meet, -amount, tree, moved, words)
    # The prices of its sinks change by the same amount.
    change = -gain if origin_moves else gain
    for w in range(words):
        mask = tree[_U(BELOW) + w, moved]
        first = 64 * int(w)
        # After the last sink the mask is 0; the length is padded to whole vectors.
        for b in range(min(padded(int(n_sinks), 16) - first, 64)):
            sink[SINK_PRICE, first + b] += change & -((mask >> b) & 1)


@njit(nogil=True, cache=True, forceinline=True)
def _candidates(
    n_sinks: int,
    n_sources: int,
    first: int,
    last: int,
    scaled: Array,
    source: Array,
    sink: Array,
    tree: Array,
    mask: int,
) -> tuple[int, int, int]:
    """For each of the sinks ``first:last``, the source with the lowest negative reduced cost.

    Returns how many there are, and the reduced cost and position of the best one.
    """
    # The shift of a source: the price of its present sink minus its cost there, plus its number.
    width = padded(n_sources, 16)
    for k in range(n_sources):
        holder = _U(tree[PARENT, n_sinks + k])
        source[SHIFT, k] = k + sink[SINK_PRICE, holder] - scaled[holder, k]
    # The best source of each sink.
    count, gain, pick = 0, 0, 0
    for a in range(first, last):
        best = cheapest_source(a, width, scaled, source)
        k = best & mask
        reduced = best - k - sink[SINK_PRICE, a]
        sink[FROM, count] = k
        sink[INTO, count] = a
        pick = count if reduced < gain else pick
        gain = reduced if reduced < gain else gain
        count += int(reduced < 0)
    return count, gain, pick


@njit(nogil=True, cache=True, forceinline=True)
def _best_candidate(
    count: int, n_sinks: np.uint64, scaled: Array, sink: Array, tree: Array
) -> tuple[int, int]:
    """The reduced cost and position of the candidate that is the best at the current prices."""
    gain, pick = 0, 0
    for c in range(count):
        k, a = _U(sink[FROM, c]), _U(sink[INTO, c])
        holder = _U(tree[PARENT, n_sinks + k])
        reduced = scaled[a, k] - sink[SINK_PRICE, a] - scaled[holder, k] + sink[SINK_PRICE, holder]
        pick = c if reduced < gain else pick
        gain = reduced if reduced < gain else gain
    return gain, pick


@njit(nogil=True, cache=True, forceinline=True)
def _optimise(
    n_sinks: int,
    n_sources: int,
    scaled: Array,
    source: Array,
    sink: Array,
    tree: Array,
    mask: int,
    words: np.uint64,
) -> bool:
    """Pivot until no arc has negative reduced cost; False if there were too many pivots."""
    for k in range(n_sources, padded(n_sources, 16)):
        source[SHIFT, k] = 0
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
            origin, target = base + _U(sink[FROM, pick]), _U(sink[INTO, pick])
            _pivot(origin, target, gain, base, sink, tree, words)
            left -= 1
            more -= 1
            gain, pick = _best_candidate(count if more else 0, base, scaled, sink, tree)
        first = last if last < n_sinks else 0
    return left > 0


@njit(nogil=True, cache=True, inline="always")
def finish_transport(
    n_sinks: int,
    n_sources: int,
    scaled: Array,
    source: Array,
    sink: Array,
    tree: Array,
    low_bits: int,
) -> bool:
    """Make the tree in the workspace optimal; False on failure."""
    mask = (np.int64(1) << low_bits) - 1
    if n_sinks <= 64:
        # With a constant number of words the compiler removes the loops over words.
        return _optimise(n_sinks, n_sources, scaled, source, sink, tree, mask, _U(1))
    words = _U((n_sinks + 63) // 64)
    return _optimise(n_sinks, n_sources, scaled, source, sink, tree, mask, words)


@njit(nogil=True, cache=True)
def solve_transport(
    n_sinks: int,
    n_sources: int,
    cost: Array,
    place: int,
    down: int,
    along: int,
    highest: float,
    scaled: Array,
    source: Array,
    sink: Array,
    tree: Array,
) -> float:
    """The least cost of moving the masses of the sources to the sinks; -1 on failure.

    The caller has filled in the masses (all positive, adding up to ``2 ** MASS_BITS`` on both
    sides); there are at most as many sinks as sources. Costs are stored as in `scale_costs`, and
    none is above ``highest``. The value is for a total mass of 1; the optimal tree remains in the
    workspace.
    """
    bits = index_bits(n_sources)
    factor = cost_factor(n_sinks, highest, bits)
    scale_costs(n_sinks, 0, n_sources, cost, place, down, along, scaled, factor, bits)
    start_transport(n_sinks, n_sources, scaled, source, sink, tree, bits)
    if not finish_transport(n_sinks, n_sources, scaled, source, sink, tree, bits):
        return -1.0
    return tree_cost(n_sinks, n_sources, cost, place, down, along, tree)
