"""Sums over common walks by counts of label sequences, if that is cheaper than pair by pair.

A common walk of two graphs is a walk in each with the same sequence of labels. So 1ᵀA×^j 1 is the
dot product of two vectors, the numbers of walks of j steps per sequence, and a sum over common
walks Σ_j w_j 1ᵀA×^j 1 is one dot product of counts scaled by √w_j: walks are counted once per
graph, not once per pair. A sequence is counted by its halves: walks of ⌊j/2⌋ steps from a node, or
from both ends of an edge, have ids, and a pair of ids identifies a sequence. In an undirected graph
a sequence and its reverse have equal counts and share one entry.

The costs of both ways are estimated first. Long series and many labels in few graphs are left to
`product_walks`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.polynomial import chebyshev
from scipy import sparse
from scipy.special import ive

from gramlet.common.arrays import Floats, Ints
from gramlet.engine.core.compiled import njit
from gramlet.engine.core.hash_table import (
    find_key,
    hash_of_key,
    number_in,
    occupied,
    slots_for,
    slots_of_keys,
)
from gramlet.engine.core.memory import available_bytes
from gramlet.engine.core.ragged import grown
from gramlet.engine.core.tiles import Tiling, for_tiles
from gramlet.engine.counts.comparison import compare
from gramlet.engine.counts.self_comparison import compare_self
from gramlet.engine.walks.product_walks import GEOMETRIC, STEPS, LabelledGraphs

# Measured nanoseconds: per pair of nodes and iteration of a solver; per entry of a half walk; per
# product of two; and per product of a graph in the comparison with another graph (small, as most
# products add to an existing entry or to one that is not shared).
_PAIR, _HALF, _PRODUCT, _COMPARED = 9.0, 25.0, 60.0, 0.1
# Bytes per product of two half walks, and per half walk, at most.
_BYTES_PER_PRODUCT, _BYTES_PER_HALF = 40, 32
# Longer walks are not counted by sequences.
MOST_STEPS = 64
# The largest error of a series on its interval.
_ACCURACY = 1e-15
# For exponential sums, the largest r that a series is made for.
_LONGEST = 4.0


def largest_degrees(graphs: LabelledGraphs) -> Floats:
    """The largest sum of the absolute weights of a node, per graph; it bounds ρ(A)."""
    sums = np.concatenate([[0.0], np.cumsum(np.abs(graphs.weights))])
    degrees = np.append(np.diff(sums[graphs.indptr]), 0.0)
    largest = np.maximum.reduceat(degrees, np.minimum(graphs.node_offsets[:-1], len(degrees) - 1))
    # Differences of cumulative sums may be slightly too small.
    return np.where(np.diff(graphs.node_offsets) > 0, largest * (1.0 + 1e-9), 0.0)


def sequence_sums(
    left: LabelledGraphs, right: LabelledGraphs | None, kind: int, weights: Floats, tiling: Tiling
) -> Floats | None:
    """Σ_j weights[j] 1ᵀA×^j 1 of all pairs; if ``right`` is None, of all pairs of ``left``.

    None if it is cheaper to solve for each pair, or if the counts do not fit into the memory.
    """
    graphs = left if right is None else joined_graphs(left, right)
    others = left if right is None else right
    share = 0.5 if right is None else 1.0
    budget = _PAIR * _iterations(kind, len(weights)) * share * _node_pairs(left, others)
    memory = 0.5 * (available_bytes() or np.inf)
    most = min(budget / _HALF, memory / _BYTES_PER_HALF)
    walks = half_walks(graphs, (len(weights) - 1) // 2, most)
    if walks is None:
        return None
    work = sequence_work(graphs, walks, len(weights) - 1).sum()
    compared = _COMPARED * work / graphs.n_graphs * share * left.n_graphs * others.n_graphs
    if _PRODUCT * work + compared > budget or _BYTES_PER_PRODUCT * work > memory:
        return None
    counts = sequence_counts(graphs, walks, weights, tiling)
    if right is None:
        return compare_self(counts, "dot", tiling=tiling)
    return compare(counts[: left.n_graphs], counts[left.n_graphs :], "dot", tiling=tiling)


def _iterations(kind: int, n_terms: int) -> float:
    """How often a solver applies A× to a vector: half as often as the series has terms."""
    return 0.5 * n_terms + (1.0 if kind != STEPS else 0.0) + (1.0 if kind == GEOMETRIC else 0.0)


def _node_pairs(left: LabelledGraphs, right: LabelledGraphs) -> float:
    """The total number of nodes of all product graphs."""
    labels = np.unique(np.concatenate([left.class_labels, right.class_labels]))
    ours, theirs = (
        np.bincount(
            np.searchsorted(labels, graphs.class_labels),
            weights=graphs.class_ends - graphs.class_begins,
            minlength=len(labels),
        )
        for graphs in (left, right)
    )
    return float(np.dot(ours, theirs))


def series_weights(kind: int, decay: float, reach: float, n_steps: int) -> Floats | None:
    """Weights w_0 … w_J for which Σ_j w_j 1ᵀA×^j 1 is the sum over walks of all pairs.

    1ᵀ f(λA×) 1 with f(x) = 1/(1 − x) or exp(x) is, for an undirected pair, a sum of f over a
    spectrum within [−r, r]; ``reach`` is an r for all pairs. The Chebyshev series of f there is
    truncated where the rest is below `_ACCURACY`. Without negative weights f is at least 1 on
    average (a sum contains the walks of no steps), so the error is relative to the sum. The
    interval is usually short, and a dozen terms are enough. None if too many terms are needed, or
    if some weight is not positive.

    Examples
    --------
    >>> from gramlet.engine.walks.product_walks import GEOMETRIC, STEPS
    >>> series_weights(STEPS, 0.5, 9.0, 2).tolist()
    [1.0, 0.5, 0.25]
    >>> weights = series_weights(GEOMETRIC, 0.1, 0.06, 0)
    >>> len(weights), bool(abs(np.polyval(weights[::-1], 0.5) - 1 / (1 - 0.05)) < 1e-14)
    (11, True)
    """
    if kind == STEPS:
        with np.errstate(over="ignore"):
            powers = decay ** np.arange(min(n_steps, MOST_STEPS) + 1.0)
        return powers if n_steps <= MOST_STEPS and np.isfinite(powers[-1]) else None
    if not 0.0 < reach < (1.0 if kind == GEOMETRIC else _LONGEST):
        return np.ones(1) if reach == 0.0 else None
    orders = np.arange(2 * MOST_STEPS)
    if kind == GEOMETRIC:
        root = np.sqrt(1.0 - reach * reach)
        terms = 2.0 * (reach / (1.0 + root)) ** orders / root
    else:
        # Modified Bessel functions; `ive` leaves out the factor exp(reach).
        terms = 2.0 * ive(orders, reach) * np.exp(reach)
    rest = np.cumsum(terms[::-1])[::-1]
    terms[0] *= 0.5
    enough = np.flatnonzero(rest <= _ACCURACY)
    if len(enough) == 0 or enough[0] - 1 > MOST_STEPS:
        return None
    scales = (decay / reach) ** np.arange(enough[0])
    weights = chebyshev.cheb2poly(terms[: enough[0]]) * scales
    return weights if (weights > 0.0).all() else None


class HalfWalks(NamedTuple):
    """The walks of one length from every node, by their sequences of labels.

    Attributes
    ----------
    offsets : array of int64
        Node u has the entries ``offsets[u]:offsets[u + 1]`` of the other arrays.
    ids : array of int64
        The sequences, numbered over all graphs; an id determines the label of the node itself.
    sums : array of float64
        The number of walks with this sequence, or the sum of their weights.
    n_ids : int
        The number of distinct sequences.
    """

    offsets: Ints
    ids: Ints
    sums: Floats
    n_ids: int


def joined_graphs(left: LabelledGraphs, right: LabelledGraphs) -> LabelledGraphs:
    """The graphs of both sets, one set after the other."""
    ends = (left.node_offsets[-1], left.indptr[-1], left.class_offsets[-1])
    shifted = (right.node_offsets, right.indptr, right.class_offsets)
    nodes, arcs, classes = (
        np.concatenate([own, other[1:] + end])
        for own, other, end in zip(
            (left.node_offsets, left.indptr, left.class_offsets), shifted, ends, strict=True
        )
    )
    return LabelledGraphs(
        nodes,
        arcs,
        np.concatenate([left.heads, right.heads]),
        np.concatenate([left.weights, right.weights]),
        classes,
        np.concatenate([left.class_labels, right.class_labels]),
        np.concatenate([left.class_begins, right.class_begins]),
        np.concatenate([left.class_ends, right.class_ends]),
    )


def half_walks(graphs: LabelledGraphs, n_steps: int, most: float) -> list[HalfWalks] | None:
    """The walks of 0 to ``n_steps`` steps; None if some length has more than ``most`` entries.

    >>> two = np.array([0, 1, 2])
    >>> from gramlet.engine.walks.product_walks import sort_by_label
    >>> edge = sort_by_label(np.array([0, 2]), two, np.array([1, 0]), np.array([7, 3]), None)
    >>> [walks.ids.tolist() for walks in half_walks(edge, 2, 100)]
    [[0, 1], [0, 1], [0, 1]]
    """
    n_nodes = len(graphs.indptr) - 1
    names, codes = np.unique(graphs.class_labels, return_inverse=True)
    labels = np.repeat(codes, graphs.class_ends - graphs.class_begins).astype(np.int64)
    first = HalfWalks(np.arange(n_nodes + 1), labels, np.ones(n_nodes), len(names))
    found = [first]
    for _ in range(n_steps):
        longer = _longer(graphs, labels, found[-1], float(most))
        if longer.n_ids < 0:
            return None
        found.append(longer)
    return found


@njit(nogil=True, cache=True)
def _longer(graphs: LabelledGraphs, labels: Ints, walks: HalfWalks, most: float) -> HalfWalks:
    """Walks with one more step: a node's label, then the sequences of its neighbours.

    ``n_ids`` is −1 if there are more than ``most`` entries.
    """
    n_nodes = len(labels)
    offsets = np.zeros(n_nodes + 1, dtype=np.int64)
    ids, sums = np.empty(2 * len(walks.ids), np.int64), np.empty(2 * len(walks.ids))
    # The key of each id, where its last entry is, and a hash table of the keys.
    keys, places = np.empty(1024, np.int64), np.empty(1024, np.int64)
    slots, n_ids, filled = slots_for(1024), 0, 0
    for graph in range(len(graphs.node_offsets) - 1):
        first = graphs.node_offsets[graph]
        for u in range(first, graphs.node_offsets[graph + 1]):
            # Room for new ids and entries, made here to keep allocations out of the inner loop.
            begin, n_more = filled, _n_continued(graphs, walks, first, u)
            ids, sums = grown(ids, filled + n_more), grown(sums, filled + n_more)
            if n_ids + n_more > len(keys):
                keys, places = grown(keys, n_ids + n_more), grown(places, n_ids + n_more)
                slots = slots_of_keys(keys, n_ids, 2 * len(keys))
            for arc in range(graphs.indptr[u], graphs.indptr[u + 1]):
                head, weight = first + graphs.heads[arc], graphs.weights[arc]
                for p in range(walks.offsets[head], walks.offsets[head + 1]):
                    # The id of the longer sequence; new sequences get the next id.
                    key = labels[u] * walks.n_ids + walks.ids[p]
                    code = hash_of_key(key)
                    at = find_key(slots, 0, keys, code, key)
                    own = number_in(slots[at])
                    if own < 0:
                        own = np.int64(n_ids)
                        slots[at], keys[own], places[own] = occupied(code, own), key, -1
                        n_ids += 1
                    # Add to the entry of this node, or append one.
                    if places[own] >= begin:
                        sums[places[own]] += weight * walks.sums[p]
                    else:
                        ids[filled], sums[filled] = own, weight * walks.sums[p]
                        places[own] = filled
                        filled += 1
            offsets[u + 1] = filled
            if filled > most:
                return HalfWalks(offsets, ids[:0], sums[:0], -1)
    return HalfWalks(offsets, ids[:filled].copy(), sums[:filled].copy(), n_ids)


@njit(nogil=True, cache=True)
def _n_continued(graphs: LabelledGraphs, walks: HalfWalks, first: int, u: int) -> int:
    """How many entries the neighbours of a node have together."""
    total = 0
    for arc in range(graphs.indptr[u], graphs.indptr[u + 1]):
        head = first + graphs.heads[arc]
        total += walks.offsets[head + 1] - walks.offsets[head]
    return total


def sequence_work(graphs: LabelledGraphs, walks: list[HalfWalks], n_steps: int) -> Floats:
    """How many pairs of halves are multiplied for walks of 0 to ``n_steps`` steps.

    One row per length, one column per graph. A graph has at most as many sequences as products.
    """
    work = np.zeros((n_steps + 1, graphs.n_graphs))
    graph_of_node = np.repeat(np.arange(graphs.n_graphs), np.diff(graphs.node_offsets))
    tails = np.repeat(np.arange(len(graphs.indptr) - 1), np.diff(graphs.indptr))
    heads = graphs.heads + graphs.node_offsets[graph_of_node[tails]]
    for j in range(n_steps + 1):
        sizes = np.diff(walks[j // 2].offsets).astype(np.float64)
        if j % 2:
            products, owners = 0.5 * sizes[tails] * sizes[heads], graph_of_node[tails]
        else:
            products, owners = 0.5 * sizes * (sizes + 1.0), graph_of_node
        work[j] = np.bincount(owners, weights=products, minlength=graphs.n_graphs)
    return work


def sequence_counts(
    graphs: LabelledGraphs, walks: list[HalfWalks], weights: Floats, tiling: Tiling
) -> sparse.csr_matrix:
    """One row per graph: the walks of j steps per sequence, times the root of ``weights[j]``.

    The entry of a sequence that differs from its reverse counts for both, by a factor √2.
    """
    n_levels = len(weights)
    parts: dict[int, tuple[Ints, Ints, Floats, int]] = {}

    def count(begin: int, end: int) -> None:
        for at in range(begin, end):
            # The longest first: they take as long as all others together.
            j = n_levels - 1 - at
            parts[j] = _join_halves(graphs, walks[j // 2], bool(j % 2), np.sqrt(weights[j]))

    costs = sequence_work(graphs, walks, n_levels - 1).sum(axis=1)[::-1]
    for_tiles(count, n_levels, costs=costs, n_tiles=n_levels, tiling=tiling)
    n_entries = sum(len(part[1]) for part in parts.values())
    columns, values = np.empty(n_entries, np.int32), np.empty(n_entries)
    indptr = np.sum([part[0] for part in parts.values()], axis=0)
    before, width = np.zeros(len(indptr) - 1, np.int64), 0
    for j in range(n_levels):
        own, found, sums, n_columns = parts.pop(j)
        _lay_beside(indptr[:-1] + before, own, found, sums, width, columns, values)
        before += np.diff(own)
        width += n_columns
    return sparse.csr_matrix((values, columns, indptr), shape=(len(indptr) - 1, width))


@njit(nogil=True, cache=True)
def _lay_beside(
    places: Ints, indptr: Ints, found: Ints, sums: Floats, width: int, columns: Ints, values: Floats
) -> None:
    """Copy the rows of one part to their places, with column numbers from ``width`` on."""
    for row in range(len(places)):
        at = places[row]
        for p in range(indptr[row], indptr[row + 1]):
            columns[at], values[at] = width + found[p], sums[p]
            at += 1


@njit(nogil=True, cache=True)
def _join_halves(
    graphs: LabelledGraphs, walks: HalfWalks, odd: bool, scale: float
) -> tuple[Ints, Ints, Floats, int]:
    """Scaled counts of the sequences whose halves are ``walks``.

    A walk of an even number of steps has a node in the middle, one of an odd number an edge.
    Returns offsets, columns and values of the rows, and the number of columns.
    """
    n_graphs = len(graphs.node_offsets) - 1
    indptr = np.zeros(n_graphs + 1, dtype=np.int64)
    keys, values = np.empty(4 * n_graphs, np.int64), np.empty(4 * n_graphs)
    # One hash table for the keys of one graph after the other, small enough for the cache.
    slots = slots_for(512)
    filled = 0
    for graph in range(n_graphs):
        # A table for all products of this graph, and room for as many keys.
        first, last = graphs.node_offsets[graph], graphs.node_offsets[graph + 1]
        start, n_products = filled, _n_products(graphs, walks, odd, first, last)
        if 2 * n_products > len(slots):
            slots = slots_for(n_products)
        keys, values = grown(keys, filled + n_products), grown(values, filled + n_products)
        for u in range(first, last):
            begin, end = graphs.indptr[u], graphs.indptr[u + 1]
            # With a node in the middle, both halves belong to it.
            for arc in range(begin, end if odd else begin + 1):
                v = first + graphs.heads[arc] if odd else u
                if v < u:
                    continue
                weight = scale * graphs.weights[arc] if odd else scale
                for p in range(walks.offsets[u], walks.offsets[u + 1]):
                    left, factor = walks.ids[p], weight * walks.sums[p]
                    for q in range(p if v == u else walks.offsets[v], walks.offsets[v + 1]):
                        right = walks.ids[q]
                        key = min(left, right) * walks.n_ids + max(left, right)
                        code = hash_of_key(key)
                        at = find_key(slots, start, keys, code, key)
                        own = number_in(slots[at])
                        if own < start:
                            own = np.int64(filled)
                            slots[at], keys[own], values[own] = occupied(code, own), key, 0.0
                            filled += 1
                        # An edge between equal halves is walked both ways.
                        twice = 2.0 if left == right and v != u else 1.0
                        values[own] += twice * factor * walks.sums[q]
        indptr[graph + 1] = filled
    # Number the keys of all graphs.
    n_columns = _number_keys(keys[:filled], walks.n_ids, values)
    return indptr, keys[:filled], values[:filled], n_columns


@njit(nogil=True, cache=True)
def _n_products(graphs: LabelledGraphs, walks: HalfWalks, odd: bool, first: int, last: int) -> int:
    """An upper bound on the number of pairs of halves of one graph."""
    total = 0
    for u in range(first, last):
        size = walks.offsets[u + 1] - walks.offsets[u]
        if not odd:
            total += size * (size + 1) // 2
            continue
        for arc in range(graphs.indptr[u], graphs.indptr[u + 1]):
            v = first + graphs.heads[arc]
            if v >= u:
                total += size * (walks.offsets[v + 1] - walks.offsets[v])
    return total


@njit(nogil=True, cache=True)
def _number_keys(keys: Ints, n_ids: int, values: Floats) -> int:
    """Replace keys by numbers from 0 on, and scale sequences that differ from their reverse.

    Returns how many different keys there are.
    """
    both = np.sqrt(2.0)
    names, slots, n_columns = np.empty(1024, np.int64), slots_for(1024), 0
    for p in range(len(keys)):
        if keys[p] // n_ids != keys[p] % n_ids:
            values[p] *= both
        code = hash_of_key(keys[p])
        at = find_key(slots, 0, names, code, keys[p])
        number = number_in(slots[at])
        if number < 0:
            if n_columns == len(names):
                names = grown(names, n_columns + 1)
                slots = slots_of_keys(names, n_columns, 2 * len(names))
                at = find_key(slots, 0, names, code, keys[p])
            number = np.int64(n_columns)
            slots[at], names[number] = occupied(code, number), keys[p]
            n_columns += 1
        keys[p] = number
    return n_columns
