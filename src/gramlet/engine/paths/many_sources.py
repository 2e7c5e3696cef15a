"""Breadth-first search from 64 nodes at a time: a node has one bit per source.

In every step, a node passes the bits of all sources that have just reached it on to its neighbours;
the number of set bits is the number of sources (Then et al. 2014, The more the merrier). If trees
have been folded into the nodes (`pendant_trees`), a node is counted for all nodes of its list.
"""

from __future__ import annotations

import numpy as np

from gramlet.common.arrays import Floats, Ints, UInt64s
from gramlet.engine.core.compiled import njit

__all__ = ["WIDTH", "count_from"]

# The number of sources of one search: the bits of a word.
WIDTH = 64

# If the front has more than this share of the nodes, the others pull bits instead (`_pull`).
_MANY = 0.1

_ONE = np.uint64(1)
_NONE = np.uint64(0)
_PAIRS, _FOURS = np.uint64(0x5555555555555555), np.uint64(0x3333333333333333)
_BYTES, _SUM = np.uint64(0x0F0F0F0F0F0F0F0F), np.uint64(0x0101010101010101)


@njit(nogil=True, cache=True)
def count_from(
    sources: Ints,
    kinds: Ints,
    starts: Ints,
    targets: Ints,
    offsets: Ints,
    keys: Ints,
    numbers: Ints,
    n_colours: int,
    n_lengths: int,
    by_neighbours: bool,
) -> Floats:
    """Count the paths from the lists of some core nodes to those of all other core nodes.

    Parameters
    ----------
    sources : array
        Nodes of the core; those of one kind should be consecutive.
    kinds : array of the same length
        Equal for sources whose lists are equal.
    starts, targets : arrays
        CSR of the core.
    offsets, keys, numbers : arrays
        The lists, as returned by `pendant_trees.folded`.

    Returns
    -------
    array of float64, shape (n_colours² · n_lengths,)
        The number of ordered pairs of nodes per colours (source first) and distance.
    """
    n = len(starts) - 1
    counts = np.zeros(n_colours * n_colours * n_lengths)
    seen, now = np.empty(n, dtype=np.uint64), np.zeros(n, dtype=np.uint64)
    ahead = np.zeros(n, dtype=np.uint64)
    front, following = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    members = np.empty(WIDTH, dtype=np.uint64)
    alike = np.empty(WIDTH, dtype=np.int64)
    width = n_colours * n_lengths
    for begin in range(0, len(sources), WIDTH):
        end = min(begin + WIDTH, len(sources))
        for v in range(n):
            seen[v] = _NONE
        # The bits of each kind of source, and one source of that kind.
        n_kinds = 0
        for i in range(begin, end):
            bit = _ONE << np.uint64(i - begin)
            if i == begin or kinds[i] != kinds[i - 1]:
                members[n_kinds], alike[n_kinds] = _NONE, sources[i]
                n_kinds += 1
            members[n_kinds - 1] |= bit
            seen[sources[i]] = bit
            now[sources[i]] = bit
            front[i - begin] = sources[i]
        full = _ONE << np.uint64(end - begin - 1)
        full = full | (full - _ONE)
        reached = np.zeros(n_kinds * width)
        n_front, length = end - begin, 0
        while n_front > 0:
            # One step: the nodes that are reached by some source for the first time.
            length += 1
            n_before = n_front
            if by_neighbours and n_front > _MANY * n:
                n_front = _pull(following, now, ahead, seen, full, starts, targets)
            else:
                n_front = _push(front, n_front, following, now, ahead, seen, starts, targets)
            for i in range(n_before):
                now[front[i]] = _NONE
            front, following = following, front
            # Count them, per kind of source, for all nodes of their lists.
            for i in range(n_front):
                v = front[i]
                now[v] = ahead[v]
                seen[v] |= ahead[v]
                ahead[v] = _NONE
                for kind in range(n_kinds):
                    number = _n_bits(now[v] & members[kind])
                    if number > 0:
                        place = kind * width + length
                        for e in range(offsets[v], offsets[v + 1]):
                            at = place + (keys[e] & 0xFFFFFFFF) * n_lengths + (keys[e] >> 32)
                            reached[at] += number * numbers[e]
        # The counts of a kind hold for every node of its sources' lists.
        for kind in range(n_kinds):
            _spread(alike[kind], reached, kind * width, width, offsets, keys, numbers, counts)
    return counts


@njit(nogil=True, cache=True)
def _push(
    front: Ints,
    n_front: int,
    following: Ints,
    now: UInt64s,
    ahead: UInt64s,
    seen: UInt64s,
    starts: Ints,
    targets: Ints,
) -> int:
    """Pass bits on to neighbours that have not seen them; list these and return their number."""
    # `ahead` collects the new bits of a node.
    n_following = 0
    for i in range(n_front):
        u = front[i]
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
def _pull(
    following: Ints,
    now: UInt64s,
    ahead: UInt64s,
    seen: UInt64s,
    full: np.uint64,
    starts: Ints,
    targets: Ints,
) -> int:
    """As `_push` from the other side: nodes that lack bits look for them at their neighbours."""
    # A node needs no more neighbours once it has all bits.
    n_following = 0
    for v in range(len(seen)):
        lacking = full & ~seen[v]
        if lacking == _NONE:
            continue
        met = _NONE
        for p in range(starts[v], starts[v + 1]):
            met |= now[targets[p]] & lacking
            if met == lacking:
                break
        if met != _NONE:
            ahead[v] = met
            following[n_following] = v
            n_following += 1
    return n_following


@njit(nogil=True, cache=True)
def _spread(
    source: int,
    reached: Floats,
    begin: int,
    width: int,
    offsets: Ints,
    keys: Ints,
    numbers: Ints,
    counts: Floats,
) -> None:
    """Add the counts from a core node for every node of its list, deeper by the node's depth."""
    for e in range(offsets[source], offsets[source + 1]):
        depth, first = keys[e] >> 32, (keys[e] & 0xFFFFFFFF) * width
        for at in range(width - depth):
            counts[first + depth + at] += numbers[e] * reached[begin + at]


@njit(nogil=True, cache=True)
def _n_bits(word: np.uint64) -> int:
    """The number of set bits; the compiler recognises this form and uses one instruction."""
    word = word - ((word >> _ONE) & _PAIRS)
    word = (word & _FOURS) + ((word >> np.uint64(2)) & _FOURS)
    word = (word + (word >> np.uint64(4))) & _BYTES
    return np.int64((word * _SUM) >> np.uint64(56))  # type: ignore[return-value]
