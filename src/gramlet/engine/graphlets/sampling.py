"""Random k-node subgraphs of every graph of a batch, as codes, or counted.

Each graph draws from its own random stream, so that what is drawn depends on the graph and the seed
alone. Patterns repeat: they are counted where they are drawn, and handed on once each.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from gramlet.common.arrays import Ints
from gramlet.engine.core.random_streams import graph_stream, wrapping_integers
from gramlet.engine.core.tiles import for_tiles
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


# Idle steps after which a walk's next node is drawn from its exact law (see `draws.draw_walk`).
_PATIENCE = 32
_UNIFORM = -1.0
# Multipliers of the hash function.
_ODD_1 = np.uint64(0x9E3779B97F4A7C15)
_ODD_2 = np.uint64(0xD6E8FEB86659FD93)


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

    Cost O(k²) per sample, and the steps of the walk.

    Parameters
    ----------
    batch : GraphBatch
        Graphs with fewer than k nodes are padded with isolated ones.
    k : int
        2 to 8.
    n_samples : int
        Subgraphs a graph.
    seed : int
        0 ≤ seed < 2⁶³.
    flyback : float in [0, 1), optional
        The walk's probability of going back to its start; None: uniform sampling.
    patience : int
        Idle steps before a walk jumps by the exact law of its next node; not a matter of chance.
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
    law = _UNIFORM if flyback is None else float(flyback)

    def fill(begin: int, end: int) -> None:
        with wrapping_integers():
            _codes_of_range(
                *(batch.node_offsets, batch.indptr, batch.indices),
                *(k, seed, law, patience, codes, begin, end),
            )

    for_tiles(fill, len(batch), n_jobs=n_jobs, label="subgraphs")
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
    n_jobs: int | None = None,
    verbose: int | bool = False,
) -> PatternCounts:
    """Random k-node subgraphs, counted: the same draws as :func:`sample_codes`.

    Parameters
    ----------
    batch, k, n_samples, seed, flyback, patience, n_jobs
        As for :func:`sample_codes`.
    labels : array of int64, optional
        A label 0..n_labels−1 for every node of the batch. Patterns then differ by the labels of
        their nodes too; a node that pads a small graph has the label n_labels, so that
        base = n_labels + 1.
    n_labels : int
    verbose : bool
        Show progress.

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
            "Use a smaller k, or labels=False."
        )
    law = _UNIFORM if flyback is None else float(flyback)
    # A copy: for numba, an array that may be written to is another type.
    node_labels = np.array([] if labels is None else labels, dtype=np.int64)
    parts: dict[int, tuple[Ints, Ints, Ints, Ints]] = {}

    def fill(begin: int, end: int) -> None:
        with wrapping_integers():
            parts[begin] = _counts_of_range(
                *(batch.node_offsets, batch.indptr, batch.indices, node_labels),
                *(n_labels, k, n_samples, seed, law, patience, begin, end),
            )

    for_tiles(fill, len(batch), n_jobs=n_jobs, verbose=verbose, label="subgraphs")
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


# Compiled. One graph at a time: all its draws, then the next.


@njit(nogil=True, cache=True)
def _draw_graph(
    g: int,
    node_offsets: Ints,
    indptr: Ints,
    indices: Ints,
    labels: Ints,
    n_labels: int,
    seed: int,
    law: float,
    patience: int,
    nodes: Ints,
    codes: Ints,
    words: Ints,
) -> None:
    """Fill codes and, if there are labels, label words; a negative law is the uniform one."""
    first, last = node_offsets[g], node_offsets[g + 1]
    starts, targets = own_csr(g, len(nodes), node_offsets, indptr, indices)
    bits = adjacency_bits(starts, targets)
    state = np.zeros(4, dtype=np.uint64)
    graph_stream(seed, first, last, indptr, indices, state)
    # One array has two uses: the uniform draw shuffles it, the walk marks in it what it has met.
    memory = np.empty(len(starts) - 1, dtype=np.int64)
    for u in range(len(memory)):
        memory[u] = u if law < 0.0 else -1
    sizes = component_sizes(starts, targets)
    for s in range(len(codes)):
        if law < 0.0:
            draw_uniform(nodes, memory, state)
        else:
            draw_walk(nodes, s, law, patience, starts, targets, sizes, memory, state)
        codes[s] = code_of(nodes, starts, targets, bits)
        if len(labels):
            words[s] = _label_word(nodes, labels[first:last], n_labels)


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
    indices: Ints,
    k: int,
    seed: int,
    law: float,
    patience: int,
    codes: Ints,
    begin: int,
    end: int,
) -> None:
    nodes = np.zeros(k, dtype=np.int64)
    none = np.zeros(0, dtype=np.int64)
    for g in range(begin, end):
        _draw_graph(
            g,
            node_offsets,
            indptr,
            indices,
            none,
            0,
            seed,
            law,
            patience,
            nodes,
            codes[g],
            none,
        )


@njit(nogil=True, cache=True)
def _counts_of_range(
    node_offsets: Ints,
    indptr: Ints,
    indices: Ints,
    labels: Ints,
    n_labels: int,
    k: int,
    n_samples: int,
    seed: int,
    law: float,
    patience: int,
    begin: int,
    end: int,
) -> tuple[Ints, Ints, Ints, Ints]:
    """Entries of every graph, then codes, label words and counts of all entries."""
    nodes = np.zeros(k, dtype=np.int64)
    drawn_codes = np.zeros(n_samples, dtype=np.int64)
    drawn_words = np.zeros(n_samples, dtype=np.int64)
    n_slots = 64
    while n_slots < 2 * n_samples:
        n_slots *= 2
    slots = np.empty(n_slots, dtype=np.int64)
    for slot in range(n_slots):
        slots[slot] = -1
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
            law,
            patience,
            nodes,
            drawn_codes,
            drawn_words,
        )
        codes = _with_room(codes, total, n_samples)
        words = _with_room(words, total, n_samples)
        counts = _with_room(counts, total, n_samples)
        n_entries[g - begin] = _count(
            drawn_codes, drawn_words, slots, codes[total:], words[total:], counts[total:]
        )
        total += n_entries[g - begin]
    return n_entries, codes[:total], words[:total], counts[:total]


@njit(nogil=True, cache=True)
def _with_room(array: Ints, used: int, more: int) -> Ints:
    """The array, or a longer one with the same beginning, with room for so many entries more."""
    if used + more <= len(array):
        return array
    grown = np.empty(2 * (used + more), dtype=np.int64)
    for i in range(used):
        grown[i] = array[i]
    return grown


@njit(nogil=True, cache=True)
def _slot(code: int, word: int, slots: Ints, codes: Ints, words: Ints) -> np.int64:
    """Where the pattern is in the hash table, or the free slot (−1) where it belongs."""
    mixed = (np.uint64(code) + np.uint64(word) * _ODD_1) * _ODD_2
    mask = len(slots) - 1
    slot = np.int64(mixed >> np.uint64(32)) & mask
    while slots[slot] >= 0 and (codes[slots[slot]] != code or words[slots[slot]] != word):
        slot = (slot + 1) & mask
    return slot


@njit(nogil=True, cache=True)
def _count(
    drawn_codes: Ints,
    drawn_words: Ints,
    slots: Ints,
    codes: Ints,
    words: Ints,
    counts: Ints,
) -> int:
    """Distinct patterns in the order of their first appearance; ``slots`` is left as found."""
    n = 0
    for s in range(len(drawn_codes)):
        slot = _slot(drawn_codes[s], drawn_words[s], slots, codes, words)
        if slots[slot] < 0:
            slots[slot] = n
            codes[n], words[n], counts[n] = drawn_codes[s], drawn_words[s], 0
            n += 1
        counts[slots[slot]] += 1
    # Last in, first out: a slot is found along the same way as when it was filled.
    for entry in range(n - 1, -1, -1):
        slots[_slot(codes[entry], words[entry], slots, codes, words)] = -1
    return n
