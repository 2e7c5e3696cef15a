"""Exact k-spectra: the number of induced subgraphs of each class, for every graph.

Combines the counts of connected patterns (`closed_forms`, `connected`) and of disconnected ones
(`disjoint`), on several threads; dense graphs are counted by their complements.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cache
from math import comb

import numpy as np

from gramlet.common.arrays import Array, Bools, Floats, Ints, Nodes
from gramlet.engine.core.compiled import njit, read_only
from gramlet.engine.core.tiles import Tiling, for_tiles
from gramlet.engine.graphlets.closed_forms import count_by_formula
from gramlet.engine.graphlets.connected import class_columns, count_by_visiting, expected_visits
from gramlet.engine.graphlets.disjoint import fill_disconnected, largest_in_64_bits
from gramlet.engine.graphlets.patterns import classes_of_codes, n_pairs, patterns
from gramlet.graphs.batch import GraphBatch

__all__ = ["graphlet_counts", "graphlet_frequencies"]


_LARGEST_FORMULA = 4
_LARGEST_SPECTRUM = 6
# Connected sets visited per second, and the number of seconds from which a warning is given.
_VISITS_PER_SECOND = 4e7
_LONG = 60.0
# Few tiles: each makes some numpy calls, whatever its length. Formulas take so little time per node
# and edge that a tile has this many of them.
_N_TILES = 32
_FORMULA_TILE = 16384


def graphlet_counts(
    batch: GraphBatch, k: int, *, n_jobs: int | None = None, verbose: int | bool = False
) -> Ints:
    """The number of induced subgraphs of each class on k nodes, for every graph.

    A graph with v < k nodes is padded with isolated nodes to k. Row sums are C(max(v, k), k).
    Cost: for k ≤ 4, O(Σ deg²) and the number of four-cliques; for k = 5, 6, about 20 nanoseconds
    per connected set of k nodes, in the graph or (if it has more than six tenths of all possible
    edges) in its complement.

    Parameters
    ----------
    batch : GraphBatch
    k : int
        2 to 6.
    n_jobs : int or None
        Threads.
    verbose : bool
        Show progress.

    Returns
    -------
    array of int64, shape (len(batch), N_k)
        Classes in the order of :func:`gramlet.engine.graphlets.patterns.patterns`.

    Examples
    --------
    >>> from gramlet import GraphBatch
    >>> square = GraphBatch.from_edges([[(0, 1), (1, 2), (2, 3), (0, 3)]])
    >>> graphlet_counts(square, 3).tolist()
    [[0, 0, 4, 0]]
    """
    _check_k(k)
    _refuse_overflow(batch, k)
    result = np.zeros((len(batch), len(patterns(k))), dtype=np.int64)

    def store(graphs: Ints, counts: Array) -> None:
        result[graphs] = counts

    _count_all(batch, k, n_jobs, verbose, store)
    return result


def graphlet_frequencies(
    batch: GraphBatch,
    k: int,
    *,
    connected_only: bool = False,
    n_jobs: int | None = None,
    verbose: int | bool = False,
) -> Floats:
    """The k-spectrum of every graph: :func:`graphlet_counts` divided by their sum.

    Parameters
    ----------
    batch, k, n_jobs, verbose
        As for :func:`graphlet_counts`.
    connected_only : bool
        Set disconnected patterns to 0 and divide by the sum of the others; a graph without
        connected patterns gets a row of zeros.

    Returns
    -------
    array of float64, shape (len(batch), N_k)

    Examples
    --------
    >>> from gramlet import GraphBatch
    >>> path = GraphBatch.from_edges([[(0, 1), (1, 2), (2, 3)]])
    >>> graphlet_frequencies(path, 3).tolist()
    [[0.0, 0.5, 0.5, 0.0]]
    >>> graphlet_frequencies(path, 3, connected_only=True).tolist()
    [[0.0, 0.0, 1.0, 0.0]]
    """
    _check_k(k)
    result = np.zeros((len(batch), len(patterns(k))))

    def store(graphs: Ints, counts: Array) -> None:
        if connected_only:
            counts[:, ~patterns(k).connected] = 0
        totals = counts.sum(axis=1, keepdims=True)
        # Counts beyond 64 bits are Python integers: divide before converting to floats.
        result[graphs] = (counts / np.maximum(totals, 1)).astype(np.float64)

    _count_all(batch, k, n_jobs, verbose, store)
    return result


def _check_k(k: int) -> None:
    if not 2 <= k <= _LARGEST_SPECTRUM:
        raise ValueError(
            f"Exact spectra are for 2 to {_LARGEST_SPECTRUM} nodes; got k={k}. Sample larger ones."
        )


def _refuse_overflow(batch: GraphBatch, k: int) -> None:
    if len(batch) == 0:
        return
    graph = int(batch.sizes.argmax())
    if comb(int(batch.sizes[graph]), k) >= 2**63:
        raise OverflowError(
            f"Graph {graph} has {batch.sizes[graph]} nodes and more subgraphs on {k} of them than "
            "64 bits can count. Use graphlet_frequencies, or a smaller k."
        )


def _count_all(
    batch: GraphBatch,
    k: int,
    n_jobs: int | None,
    verbose: int | bool,
    store: Callable[[Ints, Array], None],
) -> None:
    """Call ``store(graphs, counts)`` for ranges of graphs, possibly from several threads."""
    turned = _mostly_edges(batch, k)
    indptr, indices = batch.indptr, batch.indices
    if turned.any():
        new = _complement_some(batch.node_offsets, indptr, indices, turned)
        indptr, indices = map(read_only, new)  # as those of the batch, so as to compile once
    costs = _expected_costs(batch, indptr, indices, k)
    n_tiles = _N_TILES
    if k <= _LARGEST_FORMULA:
        n_tiles = min(_N_TILES, 1 + int(costs.sum()) // _FORMULA_TILE)

    def count_range(begin: int, end: int) -> None:
        counts = _connected_counts(batch.node_offsets, indptr, indices, k, begin, end)
        counts[:, 0] = np.maximum(batch.sizes[begin:end], k)
        large = counts[:, 0] > largest_in_64_bits(k)
        for chosen, dtype in ((~large, np.int64), (large, object)):
            if chosen.any():
                graphs = begin + np.flatnonzero(chosen)
                store(graphs, _spectra(counts[chosen].astype(dtype), k, turned[graphs]))

    for_tiles(
        count_range,
        len(batch),
        costs=costs,
        n_tiles=n_tiles,
        tiling=Tiling(n_jobs, verbose, f"{k}-node subgraphs"),
    )


def _connected_counts(
    node_offsets: Ints, indptr: Ints, indices: Nodes, k: int, begin: int, end: int
) -> Ints:
    counts = np.zeros((end - begin, class_columns(k)[0][-1]), dtype=np.int64)
    count = count_by_formula if k <= _LARGEST_FORMULA else count_by_visiting
    count(node_offsets, indptr, indices, k, counts, begin, end)
    return counts


def _spectra(counts: Array, k: int, turned: Bools) -> Array:
    """Counts of all classes on k nodes, from those of connected classes on 1..k nodes.

    For graphs that were replaced by their complements (``turned``), classes are swapped back.
    """
    fill_disconnected(counts, k)
    spectra = counts[:, class_columns(k)[0][k] :]
    spectra[turned] = spectra[turned][:, _complement_classes(k)]
    return spectra


@cache
def _complement_classes(k: int) -> Ints:
    """For each class, the class of its complement."""
    return classes_of_codes(((1 << n_pairs(k)) - 1) ^ patterns(k).smallest, k)


def _mostly_edges(batch: GraphBatch, k: int) -> Bools:
    """Which graphs have, roughly, fewer connected sets in their complement.

    Graphs with fewer than k nodes are not replaced: padding nodes would be isolated in both.
    """
    many = 10 * batch.n_edges > 3 * batch.sizes * (batch.sizes - 1)
    return np.asarray(many & (batch.sizes >= k) & (k > _LARGEST_FORMULA))


def _expected_costs(batch: GraphBatch, indptr: Ints, indices: Nodes, k: int) -> Floats:
    """The relative cost of each graph; warns if the count will take long."""
    if k <= _LARGEST_FORMULA:
        return (batch.sizes + batch.n_edges).astype(np.float64)
    bounds = _most_connected_sets(batch, np.diff(indptr), k)
    if bounds.sum() < _LONG * _VISITS_PER_SECOND:
        return bounds
    expected = expected_visits(batch.node_offsets, indptr, indices, k)
    seconds = expected.sum() / _VISITS_PER_SECOND
    if seconds > _LONG:
        warnings.warn(
            f"About {expected.sum():.1e} connected subgraphs on {k} nodes must be visited: "
            f"{seconds / 60:.0f} minutes on one core. A smaller k, or sampling, is faster.",
            UserWarning,
            stacklevel=4,
        )
    return expected


def _most_connected_sets(batch: GraphBatch, degrees: Ints, k: int) -> Floats:
    """An upper bound on the number of connected sets: min(C(v, k), v (e · max degree)^{k−1})."""
    widest = np.zeros(len(batch))
    np.maximum.at(widest, batch.graph_of_node, degrees)
    subsets = np.ones(len(batch))
    for i in range(k):
        subsets *= np.maximum(batch.sizes - i, 0) / (i + 1)
    return np.minimum(subsets, batch.sizes * (np.e * widest) ** (k - 1))


@njit(nogil=True, cache=True)
def _complement_some(
    node_offsets: Ints, indptr: Ints, indices: Nodes, turned: Bools
) -> tuple[Ints, Ints]:
    """CSR of the batch with the chosen graphs replaced by their complements."""
    # The number of arcs.
    n_arcs = 0
    for g in range(len(turned)):
        n = node_offsets[g + 1] - node_offsets[g]
        own = indptr[node_offsets[g + 1]] - indptr[node_offsets[g]]
        n_arcs += n * (n - 1) - own if turned[g] else own
    new_indptr = np.zeros(len(indptr), dtype=np.int64)
    new_indices = np.empty(n_arcs, dtype=np.int64)
    filled = 0
    for g in range(len(turned)):
        first, last = node_offsets[g], node_offsets[g + 1]
        for u in range(first, last):
            # All nodes except u and its neighbours, which are sorted.
            if turned[g]:
                a = indptr[u]
                for w in range(first, last):
                    if a < indptr[u + 1] and indices[a] == w:
                        a += 1
                    elif w != u:
                        new_indices[filled] = w
                        filled += 1
            else:
                for a in range(indptr[u], indptr[u + 1]):
                    new_indices[filled] = indices[a]
                    filled += 1
            new_indptr[u + 1] = filled
    return new_indptr, new_indices
