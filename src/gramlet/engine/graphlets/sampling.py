"""Random k-node subgraphs of every graph of a batch, as codes or as counts.

Each graph has its own random stream, so that its draws depend only on the graph and the seed. As
patterns repeat, they are counted as they are drawn and returned once each.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gramlet.common.arrays import Ints, Nodes
from gramlet.engine.core.compiled import njit
from gramlet.engine.core.hash_table import find_row, hash_of, n_slots_for, number_in, occupied
from gramlet.engine.core.ragged import grown
from gramlet.engine.core.random_streams import graph_stream, wrapping_integers
from gramlet.engine.core.tiles import QUIET, Tiling, for_tiles
from gramlet.engine.graphlets.draws import (
    adjacency_bits,
    code_of,
    component_sizes,
    draw_uniform,
    draw_walk,
    own_csr,
)
from gramlet.engine.graphlets.patterns import MAX_NODES
from gramlet.graphs.batch import GraphBatch

__all__ = ["PatternCounts", "sample_codes", "sample_counts"]


# Steps without a new node after which the next one is drawn directly (see `draws.draw_walk`).
_PATIENCE = 32
# Draws in a tile of about a tenth of a millisecond: the cost of a call is small.
_SHORT = 10_000
# Up to so many nodes, a table has room for every code: faster than hashing.
_TABLE_NODES = 6


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
    codes = np.empty((len(batch), n_samples), dtype=np.int64)
    law = None if flyback is None else float(flyback)

    def fill(begin: int, end: int) -> None:
        with wrapping_integers():
            _codes_of_range(
                *(batch.node_offsets, batch.indptr, batch.indices),
                *(k, seed, law, patience, codes, begin, end),
            )

    for_tiles(fill, len(batch), tiling=Tiling(n_jobs, label="subgraphs"))
    return codes


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
    >>> found = sample_counts(edge, 3, 100, seed=0)
    >>> sorted(found.codes.tolist()), int(found.counts.sum())
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
    in_table = labels is None and k <= _TABLE_NODES
    n_places = 1 << (k * (k - 1) // 2) if in_table else n_slots_for(n_samples)
    hashed_width = None if in_table else width
    parts: dict[int, tuple[Ints, Ints, Ints, Ints]] = {}

    def fill(begin: int, end: int) -> None:
        drawn = np.empty((n_samples, width), dtype=np.int64)
        places = np.full(n_places, -1)
        with wrapping_integers():
            n_entries, *columns = _counts_of_range(
                *(batch.node_offsets, batch.indptr, batch.indices, node_labels),
                *(n_labels, k, seed, law, patience, begin, end, drawn, places, hashed_width),
            )
        total = n_entries.sum()
        codes, words, counts = (column[:total].copy() for column in columns)
        parts[begin] = n_entries, codes, words, counts

    n_tiles = min(128, 1 + len(batch) * n_samples // _SHORT)
    for_tiles(fill, len(batch), n_tiles=n_tiles, tiling=tiling)
    return _joined_parts([parts[begin] for begin in sorted(parts)])


def _check(k: int, n_samples: int, seed: int, flyback: float | None) -> None:
    if not 2 <= k <= MAX_NODES:
        raise ValueError(f"Sampled subgraphs have 2 to {MAX_NODES} nodes; got k={k}.")
    if n_samples < 1:
        raise ValueError(f"n_samples must be at least 1; got {n_samples}.")
    if not 0 <= seed < 2**63:
        raise ValueError(f"seed must be an integer from 0 to 2**63 - 1; got {seed}.")
    if flyback is not None and not 0.0 <= flyback < 1.0:
        raise ValueError(f"flyback must be a probability in [0, 1); got {flyback}.")


def _joined_parts(parts: list[tuple[Ints, Ints, Ints, Ints]]) -> PatternCounts:
    none = np.zeros(0, dtype=np.int64)
    columns = zip((none, none, none, none), *parts, strict=True)
    n_entries, codes, words, counts = (np.concatenate(column) for column in columns)
    indptr = np.concatenate([np.zeros(1, np.int64), np.cumsum(n_entries)])
    return PatternCounts(indptr, codes, words, counts)


# Compiled functions: all draws of one graph, then the next graph. Arguments that are None leave out
# branches, which would take seconds to compile: those of walks, of labels or of hashing.


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
    starts, targets = own_csr(g, len(nodes), node_offsets, indptr, indices)
    bits = adjacency_bits(starts, targets)
    state = np.zeros(4, dtype=np.uint64)
    graph_stream(seed, first, last, indptr, indices, state)
    # One array for two purposes: uniform draws shuffle it, walks mark visited nodes in it.
    memory = np.empty(len(starts) - 1, dtype=np.int64)
    for u in range(len(memory)):
        memory[u] = u if flyback is None else -1
    sizes = targets if flyback is None else component_sizes(starts, targets)
    # The draws.
    for s in range(len(keys)):
        if flyback is None:
            draw_uniform(nodes, memory, state)
        else:
            draw_walk(nodes, s, flyback, patience, starts, targets, sizes, memory, state)
        keys[s, 0] = code_of(nodes, starts, targets, bits)
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
    nodes = np.zeros(k, dtype=np.int64)
    drawn = np.empty((codes.shape[1], 1), dtype=np.int64)
    for g in range(begin, end):
        _draw_graph(
            g, node_offsets, indptr, indices, None, 0, seed, flyback, patience, nodes, drawn
        )
        for s in range(len(drawn)):
            codes[g, s] = drawn[s, 0]


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
    places: Ints,
    width: int | None,
) -> tuple[Ints, Ints, Ints, Ints]:
    """The number of entries per graph, then codes, label words and counts, with room behind them.

    ``drawn`` is workspace for the keys of one graph; ``places``, all −1, has room for every code,
    or, with the ``width`` of keys, is a hash table.
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
        if width is None:
            n = _count_in_table(drawn, places, first, repeats)
        else:
            n = _count(drawn.reshape(-1), width, places, first, repeats)
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


@njit(nogil=True, cache=True)
def _count_in_table(drawn: Ints, places: Ints, first: Ints, repeats: Ints) -> int:
    """As `_count`, for keys that are positions in ``places``, which is −1 before and after."""
    n = 0
    for s in range(len(drawn)):
        code = drawn[s, 0]
        if places[code] < 0:
            places[code] = s
            first[n], repeats[s] = s, 0
            n += 1
        repeats[places[code]] += 1
    for i in range(n):
        places[drawn[first[i], 0]] = -1
    return n
