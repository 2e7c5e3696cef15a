"""Random k-node subgraphs of every graph of a batch, as codes or as counts.

Nodes are drawn uniformly, or by a random walk with flyback. Each graph has its own random stream:
its draws depend only on the graph and the seed. As patterns repeat, they are counted as they are
drawn and returned once each; `add_weighted_rows` and `pair_moments` sum features of the counts.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gramlet.common.arrays import Floats, Ints, Nodes, UInt64s
from gramlet.engine.core.compiled import njit
from gramlet.engine.core.hash_table import find_row, hash_of, n_slots_for, number_in, occupied
from gramlet.engine.core.ragged import grown, offsets_of
from gramlet.engine.core.random_streams import below, graph_stream, uniform, wrapping_integers
from gramlet.engine.core.tiles import QUIET, Tiling, for_tiles
from gramlet.engine.graphlets.patterns import MAX_NODES
from gramlet.graphs.batch import GraphBatch

_PATIENCE = 32  # steps without a new node after which the next one is drawn directly


class PatternCounts(NamedTuple):
    """Which patterns were drawn from each graph, and how often.

    Graph i has the entries ``indptr[i]:indptr[i + 1]``, in the order of their first appearance.

    Attributes
    ----------
    indptr : array of int64, shape (N + 1,)
    codes : array of int64
        Pattern codes.
    label_words : array of int64
        The labels of the pattern's nodes, Σ_i label_i · base^i (see :func:`sample_counts`); 0
        without labels.
    counts : array of int64
    """

    indptr: Ints
    codes: Ints
    label_words: Ints
    counts: Ints


def sample_codes(
    batch: GraphBatch,
    k: int,
    n_samples: int,
    seed: int,
    *,
    flyback: float | None = None,
    patience: int = _PATIENCE,
    n_jobs: int | None = None,
) -> Ints:
    """Codes of random k-node subgraphs, in the order drawn.

    Cost: O(k²) per sample, plus the steps of the walk.

    Parameters
    ----------
    batch : GraphBatch
        Graphs with fewer than k nodes are padded with isolated ones.
    k : int
        2 to 8.
    n_samples : int
        Subgraphs per graph.
    seed : int
        0 ≤ seed < 2⁶³.
    flyback : float in [0, 1), optional
        The probability that the walk returns to its start; None: uniform sampling.
    patience : int
        Steps without a new node after which the next one is drawn from its exact distribution;
        it does not change any probability.
    n_jobs : int or None
        Threads.

    Returns
    -------
    array of int64, shape (len(batch), n_samples)

    Examples
    --------
    >>> from gramlet import GraphBatch
    >>> triangle = GraphBatch.from_edges([[(0, 1), (1, 2), (0, 2)]])
    >>> sample_codes(triangle, 3, 4, seed=0).tolist()
    [[7, 7, 7, 7]]
    """
    _check(k, n_samples, seed, flyback)
    codes = np.empty((len(batch), n_samples, 1), dtype=np.int64)
    law = None if flyback is None else float(flyback)

    def fill(begin: int, end: int) -> None:
        with wrapping_integers():
            _codes_of_range(
                *(batch.node_offsets, batch.indptr, batch.indices),
                *(k, seed, law, patience, codes, begin, end),
            )

    for_tiles(fill, len(batch), tiling=Tiling(n_jobs, label="subgraphs"))
    return codes[:, :, 0]


def sample_counts(
    batch: GraphBatch,
    k: int,
    n_samples: int,
    seed: int,
    *,
    flyback: float | None = None,
    labels: Ints | None = None,
    n_labels: int = 0,
    patience: int = _PATIENCE,
    tiling: Tiling = QUIET,
) -> PatternCounts:
    """Random k-node subgraphs, counted: the same draws as :func:`sample_codes`.

    Parameters
    ----------
    batch, k, n_samples, seed, flyback, patience
        As for :func:`sample_codes`.
    labels : array of int64, optional
        A label 0..n_labels−1 for every node of the batch. Patterns then differ by the labels of
        their nodes too; a node that pads a small graph has the label n_labels, so that
        base = n_labels + 1.
    n_labels : int

    Examples
    --------
    >>> from gramlet import GraphBatch
    >>> edge = GraphBatch.from_edges([[(0, 1)]], n_nodes=[2])
    >>> drawn = sample_counts(edge, 3, 100, seed=0)
    >>> sorted(drawn.codes.tolist()), int(drawn.counts.sum())
    ([1, 2, 4], 100)
    """
    _check(k, n_samples, seed, flyback)
    if labels is not None and (n_labels + 1) ** k >= 2**63:
        raise ValueError(
            f"{n_labels} node labels on {k} nodes are too many to tell patterns apart in 64 bits. "
            "Use a smaller k, or use_labels=False."
        )
    law = None if flyback is None else float(flyback)
    # A copy: for numba, writable and read-only arrays have different types.
    node_labels = None if labels is None else np.array(labels, dtype=np.int64)
    width = 1 if labels is None else 2  # the key of a pattern: its code and, with labels, a word
    parts: dict[int, tuple[Ints, ...]] = {}

    def fill(begin: int, end: int) -> None:
        drawn = np.empty((n_samples, width), dtype=np.int64)
        slots = np.full(n_slots_for(n_samples), -1)
        with wrapping_integers():
            n_entries, *columns = _counts_of_range(
                *(batch.node_offsets, batch.indptr, batch.indices, node_labels),
                *(n_labels, k, seed, law, patience, begin, end, drawn, slots),
            )
        total = n_entries.sum()
        parts[begin] = (n_entries, *(column[:total].copy() for column in columns))

    # Ten thousand draws take about a tenth of a millisecond: the cost of a call is small.
    n_tiles = min(128, 1 + len(batch) * n_samples // 10_000)
    for_tiles(fill, len(batch), n_tiles=n_tiles, tiling=tiling)
    none = np.zeros(0, dtype=np.int64)
    columns = zip((none,) * 4, *(parts[begin] for begin in sorted(parts)), strict=True)
    n_entries, codes, words, counts = (np.concatenate(column) for column in columns)
    return PatternCounts(offsets_of(n_entries), codes, words, counts)


def _check(k: int, n_samples: int, seed: int, flyback: float | None) -> None:
    if not 2 <= k <= MAX_NODES:
        raise ValueError(f"Sampled subgraphs have 2 to {MAX_NODES} nodes; got k={k}.")
    if n_samples < 1:
        raise ValueError(f"n_samples must be at least 1; got {n_samples}.")
    if not 0 <= seed < 2**63:
        raise ValueError(f"seed must be an integer from 0 to 2**63 - 1; got {seed}.")
    if flyback is not None and not 0.0 <= flyback < 1.0:
        raise ValueError(f"flyback must be a probability in [0, 1); got {flyback}.")


# One draw of one graph, which has its own CSR (starts, targets) with nodes numbered from 0 and, if
# it is small, adjacency bits.


@njit(nogil=True, cache=True)
def _local_csr(
    g: int, k: int, node_offsets: Ints, indptr: Ints, indices: Nodes
) -> tuple[Ints, Ints]:
    """Graph g of a batch as a CSR of its own, padded with isolated nodes to at least k."""
    first, last = node_offsets[g], node_offsets[g + 1]
    starts = np.empty(max(last - first, k) + 1, dtype=np.int64)
    targets = np.empty(indptr[last] - indptr[first], dtype=np.int64)
    for i in range(len(starts)):
        starts[i] = indptr[min(first + i, last)] - indptr[first]
    for i in range(len(targets)):
        targets[i] = indices[indptr[first] + i] - first
    return starts, targets


@njit(nogil=True, cache=True)
def _adjacency_bits(starts: Ints, targets: Ints) -> UInt64s:
    """One row of bits per node, padded to whole words; no rows for a large graph."""
    n = len(starts) - 1
    if n > 2048:  # 2048² bits take 512 KB; in larger graphs, rows of neighbours are searched
        return np.zeros((0, 0), dtype=np.uint64)
    bits = np.zeros((n, (n + 63) // 64), dtype=np.uint64)
    for u in range(n):
        for a in range(starts[u], starts[u + 1]):
            bits[u, targets[a] >> 6] |= np.uint64(1) << np.uint64(targets[a] & 63)
    return bits


@njit(nogil=True, cache=True)
def _component_sizes(starts: Ints, targets: Ints) -> Ints:
    """For every node, the number of nodes of its connected component."""
    n = len(starts) - 1
    sizes = np.zeros(n, dtype=np.int64)
    queue = np.empty(n, dtype=np.int64)
    for root in range(n):
        if sizes[root]:
            continue
        # Breadth-first search; a size of 1 marks visited nodes.
        queue[0], sizes[root] = root, 1
        head, tail = 0, 1
        while head < tail:
            u = queue[head]
            head += 1
            for a in range(starts[u], starts[u + 1]):
                if sizes[targets[a]] == 0:
                    sizes[targets[a]] = 1
                    queue[tail] = targets[a]
                    tail += 1
        for i in range(tail):
            sizes[queue[i]] = tail
    return sizes


@njit(nogil=True, cache=True)
def _contains(row: Ints, w: int) -> bool:
    """Whether w is in a sorted row of neighbours."""
    low, high = 0, len(row)
    while low < high:
        middle = (low + high) >> 1
        if row[middle] < w:
            low = middle + 1
        else:
            high = middle
    return low < len(row) and row[low] == w


@njit(nogil=True, cache=True)
def _code_of(nodes: Ints, starts: Ints, targets: Ints, bits: UInt64s) -> int:
    """The code of the pattern induced by the nodes in their order."""
    code: Any = 0
    k = len(nodes)
    if len(bits) == 0:
        for i in range(k - 2, -1, -1):
            row = targets[starts[nodes[i]] : starts[nodes[i] + 1]]
            for j in range(k - 1, i, -1):
                code = (code << 1) | np.int64(_contains(row, nodes[j]))
        return code
    for i in range(k - 2, -1, -1):
        # Unsigned: signed indices are tested for wraparound.
        u = np.uint64(nodes[i])
        for j in range(k - 1, i, -1):
            w = np.uint64(nodes[j])
            word = bits[u, w >> np.uint64(6)] >> (w & np.uint64(63))
            code = (code << 1) | np.int64(word & np.uint64(1))
    return code


@njit(nogil=True, cache=True)
def _draw_uniform(nodes: Ints, permutation: Ints, state: UInt64s) -> None:
    """Draw distinct nodes uniformly, by the first steps of a shuffle.

    The permutation of all nodes is not reset between draws; the draw is uniform from any
    arrangement.
    """
    for i in range(len(nodes)):
        j = i + below(len(permutation) - i, state)
        permutation[i], permutation[j] = permutation[j], permutation[i]
        nodes[i] = permutation[i]


@njit(nogil=True, cache=True)
def _draw_walk(
    nodes: Ints,
    draw: int,
    flyback: float,
    patience: int,
    starts: Ints,
    targets: Ints,
    sizes: Ints,
    seen: Ints,
    state: UInt64s,
) -> None:
    """Draw nodes by a random walk with flyback, in the order in which it first visits them.

    ``seen`` is the last draw that visited each node, and ``draw`` the number of this draw;
    ``sizes`` are the sizes of the nodes' components. A walk that has visited no new node for
    ``patience`` steps jumps to its next new node, drawn from the exact distribution of that node:
    probabilities do not change, and long walks without new nodes (in a corner of the graph, or with
    a flyback near 1) take no time.
    """
    k, met = len(nodes), 0
    while met < k:
        # Start at a node not visited yet.
        start = below(len(seen), state)
        while seen[start] == draw:
            start = below(len(seen), state)
        seen[start] = draw
        nodes[met] = start
        begin, here, idle = met, start, 0
        met += 1
        # Walk until enough nodes, or all of the component, have been visited.
        while met < k and met - begin < sizes[start]:
            if idle >= patience:
                here = _next_new(
                    nodes, begin, met, here, draw, flyback, starts, targets, seen, state
                )
            elif flyback > 0.0 and here != start and uniform(state) < flyback:
                # At the start a flyback has no effect, so it is not drawn.
                here = start
            else:
                here = _random_neighbour(here, starts, targets, state)
            idle += 1
            if seen[here] != draw:
                seen[here] = draw
                nodes[met] = here
                met += 1
                idle = 0


@njit(nogil=True, cache=True)
def _random_neighbour(node: int, starts: Ints, targets: Ints, state: UInt64s) -> int:
    begin = starts[node]
    return targets[begin + below(starts[node + 1] - begin, state)]


@njit(nogil=True, cache=True)
def _next_new(
    nodes: Ints,
    begin: int,
    end: int,
    here: int,
    draw: int,
    flyback: float,
    starts: Ints,
    targets: Ints,
    seen: Ints,
    state: UInt64s,
) -> int:
    """The next new node of a walk that started at ``nodes[begin]`` and visited those before end.

    The walk among visited nodes is an absorbing Markov chain: draw the node from which it leaves
    them, then one of this node's new neighbours.
    """
    # Eliminate all states except the present one; its row then has the leaving probabilities.
    met = nodes[begin:end]
    moves, leaving = _chain(met, flyback, starts, targets)
    at = 0
    while met[at] != here:
        at += 1
    for gone in range(len(met)):
        if gone != at:
            _eliminate(gone, moves, leaving)
    # The node that the walk leaves from, and a new neighbour of it.
    source = _picked(leaving[at], state)
    node = _random_neighbour(met[source], starts, targets, state)
    while seen[node] == draw:
        node = _random_neighbour(met[source], starts, targets, state)
    return node


@njit(nogil=True, cache=True)
def _chain(met: Ints, flyback: float, starts: Ints, targets: Ints) -> tuple[Floats, Floats]:
    """Probabilities for a walk at i: to step to j, ``moves``; to leave from j, ``leaving``."""
    n = len(met)
    moves = np.zeros((n, n))
    leaving = np.zeros((n, n))
    for i in range(n):
        row = targets[starts[met[i]] : starts[met[i] + 1]]
        share = (1.0 if i == 0 else 1.0 - flyback) / len(row)
        n_new = len(row)
        for j in range(n):
            if _contains(row, met[j]):
                moves[i, j] = share
                n_new -= 1
        leaving[i, i] = n_new * share
        if i > 0:
            moves[i, 0] += flyback
    return moves, leaving


@njit(nogil=True, cache=True)
def _eliminate(gone: int, moves: Floats, leaving: Floats) -> None:
    """Remove a state from the chain: walks pass through it without stopping.

    Nothing is subtracted (Grassmann, Taksar & Heyman 1985), so that no digits are lost with a
    flyback close to 1.
    """
    out = 0.0
    for j in range(len(moves)):
        out += leaving[gone, j]
        if j != gone:
            out += moves[gone, j]
    for i in range(len(moves)):
        through = moves[i, gone] / out
        moves[i, gone] = 0.0
        if i == gone or through == 0.0:
            continue
        for j in range(len(moves)):
            if j != gone:
                moves[i, j] += through * moves[gone, j]
            leaving[i, j] += through * leaving[gone, j]


@njit(nogil=True, cache=True)
def _picked(weights: Floats, state: UInt64s) -> int:
    """An index drawn with probability proportional to its weight; never one of weight 0."""
    total = 0.0
    for weight in weights:
        total += weight
    target = uniform(state) * total
    chosen = 0
    for i in range(len(weights)):
        if weights[i] > 0.0:
            chosen = i
            if target < weights[i]:
                break
            target -= weights[i]
    return chosen


# All draws of one graph, then the next graph. With flyback or labels None, the branches of walks or
# of labels are not compiled.


@njit(nogil=True, cache=True)
def _draw_graph(
    g: int,
    node_offsets: Ints,
    indptr: Ints,
    indices: Nodes,
    labels: Ints | None,
    n_labels: int,
    seed: int,
    flyback: float | None,
    patience: int,
    nodes: Ints,
    keys: Ints,
) -> None:
    """Fill the rows of ``keys`` with codes and, if there are labels, label words.

    A flyback of None stands for uniform draws.
    """
    # The graph with its own CSR, and its random stream.
    first, last = node_offsets[g], node_offsets[g + 1]
    starts, targets = _local_csr(g, len(nodes), node_offsets, indptr, indices)
    bits = _adjacency_bits(starts, targets)
    state = np.zeros(4, dtype=np.uint64)
    graph_stream(seed, first, last, indptr, indices, state)
    # One array for two purposes: uniform draws shuffle it, walks mark visited nodes in it.
    memory = np.empty(len(starts) - 1, dtype=np.int64)
    for u in range(len(memory)):
        memory[u] = u if flyback is None else -1
    sizes = targets if flyback is None else _component_sizes(starts, targets)
    # The draws.
    for s in range(len(keys)):
        if flyback is None:
            _draw_uniform(nodes, memory, state)
        else:
            _draw_walk(nodes, s, flyback, patience, starts, targets, sizes, memory, state)
        keys[s, 0] = _code_of(nodes, starts, targets, bits)
        if labels is not None:
            keys[s, 1] = _label_word(nodes, labels[first:last], n_labels)


@njit(nogil=True, cache=True)
def _label_word(nodes: Ints, labels: Ints, n_labels: int) -> int:
    word = 0
    for i in range(len(nodes) - 1, -1, -1):
        label = labels[nodes[i]] if nodes[i] < len(labels) else n_labels
        word = word * (n_labels + 1) + label
    return word


@njit(nogil=True, cache=True)
def _codes_of_range(
    node_offsets: Ints,
    indptr: Ints,
    indices: Nodes,
    k: int,
    seed: int,
    flyback: float | None,
    patience: int,
    codes: Ints,
    begin: int,
    end: int,
) -> None:
    """Fill ``codes[begin:end]`` with the codes of the graphs' draws."""
    nodes = np.zeros(k, dtype=np.int64)
    for g in range(begin, end):
        _draw_graph(
            g, node_offsets, indptr, indices, None, 0, seed, flyback, patience, nodes, codes[g]
        )


@njit(nogil=True, cache=True)
def _counts_of_range(
    node_offsets: Ints,
    indptr: Ints,
    indices: Nodes,
    labels: Ints | None,
    n_labels: int,
    k: int,
    seed: int,
    flyback: float | None,
    patience: int,
    begin: int,
    end: int,
    drawn: Ints,
    slots: Ints,
) -> tuple[Ints, Ints, Ints, Ints]:
    """The number of entries per graph, then codes, label words and counts, with room behind them.

    ``drawn`` is workspace for the keys of one graph, ``slots`` a hash table for them.
    """
    nodes = np.zeros(k, dtype=np.int64)
    first = np.empty(len(drawn), dtype=np.int64)
    repeats = np.empty(len(drawn), dtype=np.int64)
    n_entries = np.zeros(end - begin, dtype=np.int64)
    codes = np.empty(0, dtype=np.int64)
    words = np.empty(0, dtype=np.int64)
    counts = np.empty(0, dtype=np.int64)
    total = 0
    for g in range(begin, end):
        _draw_graph(
            g,
            node_offsets,
            indptr,
            indices,
            labels,
            n_labels,
            seed,
            flyback,
            patience,
            nodes,
            drawn,
        )
        # Count the distinct patterns, and append them.
        n = _count(drawn.reshape(-1), drawn.shape[1], slots, first, repeats)
        codes, words = grown(codes, total + n), grown(words, total + n)
        counts = grown(counts, total + n)
        for i in range(n):
            s = first[i]
            codes[total], counts[total] = drawn[s, 0], repeats[s]
            words[total] = 0 if labels is None else drawn[s, 1]
            total += 1
        n_entries[g - begin] = n
    return n_entries, codes, words, counts


@njit(nogil=True, cache=True)
def _count(keys: Ints, width: int, slots: Ints, first: Ints, repeats: Ints) -> int:
    """Fill ``first`` with the positions of distinct keys, and ``repeats`` there with their counts.

    Returns the number of distinct keys.
    """
    for at in range(len(slots)):
        slots[at] = -1
    n = 0
    for s in range(len(first)):
        begin = s * width
        code = hash_of(keys, begin, begin + width)
        at = find_row(slots, 0, keys, code, keys, begin, width)
        if slots[at] < 0:
            slots[at] = occupied(code, np.int64(s))
            first[n], repeats[s] = s, 0
            n += 1
        repeats[number_in(slots[at])] += 1
    return n


# Features of counted patterns. Every sum is taken entry by entry in a fixed order, so that the bits
# of a row depend on that row only, not on other rows or on the blocks of a matrix product.


@njit(nogil=True, cache=True)
def add_weighted_rows(
    begins: Ints,
    ends: Ints,
    columns: Ints,
    weights: Floats,
    table: Floats,
    first_row: int,
    result: Floats,
) -> None:
    """result[i] += Σ_e weights[e] · table[columns[e] − first_row], over e in begins[i]:ends[i].

    Cost: the number of entries times the width of the table. The arrays of floats are contiguous.

    >>> result = np.zeros((2, 1))
    >>> begins, ends, columns = np.array([0, 2]), np.array([2, 3]), np.array([0, 1, 1])
    >>> table = np.array([[10.0], [20.0]])
    >>> add_weighted_rows(begins, ends, columns, np.array([1.0, 2.0, 3.0]), table, 0, result)
    >>> result.tolist()
    [[50.0], [60.0]]
    """
    for i in range(len(begins)):
        for e in range(begins[i], ends[i]):
            row = columns[e] - first_row
            for j in range(table.shape[1]):
                result[i, j] += weights[e] * table[row, j]


def pair_moments(indptr: Ints, codes: Ints, counts: Floats, k: int) -> Floats:
    """For every graph and every pair of bits of its codes, how often both bits are set.

    Parameters
    ----------
    indptr, codes, counts : arrays
        Graph i has the code ``codes[e]`` ``counts[e]`` times, for e in indptr[i]:indptr[i + 1].
    k : int
        Nodes of the patterns: codes have k(k−1)/2 bits.

    Returns
    -------
    array, shape (number of graphs, b (b + 1) / 2), b the number of bits
        The bits p ≤ q have column q (q + 1) / 2 + p. The values are integers.

    Examples
    --------
    >>> pair_moments(np.array([0, 2]), np.array([3, 1]), np.array([5.0, 2.0]), 3).tolist()
    [[7.0, 5.0, 5.0, 0.0, 0.0, 0.0]]
    """
    n_bits = k * (k - 1) // 2
    moments = np.zeros((len(indptr) - 1, n_bits * (n_bits + 1) // 2))
    _add_moments(indptr, codes, counts, n_bits, moments)
    return moments


@njit(nogil=True, cache=True)
def _add_moments(indptr: Ints, codes: Ints, counts: Floats, n_bits: int, moments: Floats) -> None:
    """Add the counts of every code to all pairs of its bits."""
    bits = np.empty(n_bits, dtype=np.int64)
    for i in range(len(indptr) - 1):
        for e in range(indptr[i], indptr[i + 1]):
            n_set = 0
            for bit in range(n_bits):
                if (codes[e] >> bit) & 1:
                    bits[n_set] = bit
                    n_set += 1
            for a in range(n_set):
                begin = bits[a] * (bits[a] + 1) // 2
                for b in range(a + 1):
                    moments[i, begin + bits[b]] += counts[e]
