"""Exact k-spectra: the number of induced subgraphs of each class, for every graph.

Connected patterns are counted in `connected`, on several threads. Counts of disconnected patterns
follow from them: the product of the counts of two patterns is the number of pairs of sets, one of
each. The union of such a pair is a smaller pattern (the sets overlap), a pattern with more edges
(there are edges between the sets), or the disjoint union: the only unknown, if patterns are
computed in order of decreasing number of edges.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from math import comb

import numpy as np

from gramlet.common.arrays import Array, Floats, Ints
from gramlet.common.notices import warn_caller
from gramlet.engine.core.tiles import QUIET, Tiling, for_tiles
from gramlet.engine.graphlets.connected import (
    class_columns,
    count_by_formula,
    count_by_visiting,
    expected_visits,
)
from gramlet.engine.graphlets.patterns import (
    adjacency_matrices,
    classes_of_codes,
    n_pairs,
    patterns,
)
from gramlet.graphs.batch import GraphBatch

_LARGEST_FORMULA = 4
_LARGEST_SPECTRUM = 6
# Connected sets visited per second, and the number of seconds from which a warning is given.
_VISITS_PER_SECOND = 4e7
_LONG = 60.0


def graphlet_frequencies(
    batch: GraphBatch, k: int, *, connected_only: bool = False, tiling: Tiling = QUIET
) -> Floats:
    """The k-spectrum of every graph: the shares of each class in the subgraphs induced by k nodes.

    A graph with v < k nodes is padded with isolated nodes to k. Cost: for k ≤ 4, O(Σ deg²) and the
    number of four-cliques; for k = 5, 6, about 20 nanoseconds per connected set of k nodes.

    Parameters
    ----------
    batch : GraphBatch
    k : int
        2 to 6.
    connected_only : bool
        Set disconnected patterns to 0 and divide by the sum of the others; a graph without
        connected patterns gets a row of zeros.

    Returns
    -------
    array of float64, shape (len(batch), N_k)
        Classes in the order of :func:`gramlet.engine.graphlets.patterns.patterns`.

    Examples
    --------
    >>> from gramlet import GraphBatch
    >>> path = GraphBatch.from_edges([[(0, 1), (1, 2), (2, 3)]])
    >>> graphlet_frequencies(path, 3).tolist()
    [[0.0, 0.5, 0.5, 0.0]]
    >>> graphlet_frequencies(path, 3, connected_only=True).tolist()
    [[0.0, 0.0, 1.0, 0.0]]
    """
    if not 2 <= k <= _LARGEST_SPECTRUM:
        raise ValueError(
            f"Exact spectra are for 2 to {_LARGEST_SPECTRUM} nodes; got k={k}. Sample larger ones."
        )
    shares = np.zeros((len(batch), len(patterns(k))))

    def work(begin: int, end: int) -> None:
        counts = _connected_counts(batch, k, begin, end)
        large = counts[:, 0] > largest_in_64_bits(k)
        for chosen, dtype in ((~large, np.int64), (large, object)):
            if chosen.any():
                some = counts[chosen].astype(dtype)
                fill_disconnected(some, k)
                spectra = some[:, class_columns(k).first_column[k] :]
                if connected_only:
                    spectra[:, ~patterns(k).connected] = 0
                totals = np.maximum(spectra.sum(axis=1, keepdims=True), 1)
                # Counts beyond 64 bits are Python integers: divide before converting to floats.
                shares[begin + np.flatnonzero(chosen)] = (spectra / totals).astype(np.float64)

    costs = _expected_costs(batch, k)
    # Few tiles: each makes some numpy calls, and formulas take little time per node and edge.
    n_tiles = 32 if k > _LARGEST_FORMULA else min(32, 1 + int(costs.sum()) // 16384)
    tiling = replace(tiling, label=f"{k}-node subgraphs")
    for_tiles(work, len(batch), costs=costs, n_tiles=n_tiles, tiling=tiling)
    return shares


def _connected_counts(batch: GraphBatch, k: int, begin: int, end: int) -> Ints:
    """Counts of all connected classes on 1..k nodes; graphs are padded to k nodes."""
    counts = np.zeros((end - begin, class_columns(k).first_column[-1]), dtype=np.int64)
    count = count_by_formula if k <= _LARGEST_FORMULA else count_by_visiting
    count(batch.node_offsets, batch.indptr, batch.indices, k, counts, begin, end)
    counts[:, 0] = np.maximum(batch.sizes[begin:end], k)
    return counts


def _expected_costs(batch: GraphBatch, k: int) -> Floats:
    """The relative cost of each graph; warns if the count will take long."""
    if k <= _LARGEST_FORMULA:
        return (batch.sizes + batch.n_edges).astype(np.float64)
    bounds = _most_connected_sets(batch, k)
    if bounds.sum() < _LONG * _VISITS_PER_SECOND:
        return bounds
    expected = expected_visits(batch.node_offsets, batch.indptr, batch.indices, k)
    seconds = expected.sum() / _VISITS_PER_SECOND
    if seconds > _LONG:
        warn_caller(
            f"About {expected.sum():.1e} connected subgraphs on {k} nodes must be visited: "
            f"{seconds / 60:.0f} minutes on one core. A smaller k, or sampling, is faster."
        )
    return expected


def _most_connected_sets(batch: GraphBatch, k: int) -> Floats:
    """An upper bound on the number of connected sets: min(C(v, k), v (e · max degree)^{k−1})."""
    widest = np.zeros(len(batch))
    np.maximum.at(widest, batch.graph_of_node, np.diff(batch.indptr))
    subsets = np.ones(len(batch))
    for i in range(k):
        subsets *= np.maximum(batch.sizes - i, 0) / (i + 1)
    return np.minimum(subsets, batch.sizes * (np.e * widest) ** (k - 1))


# Counts of disconnected patterns


def fill_disconnected(counts: Array, k: int) -> None:
    """Fill in the columns of disconnected patterns of 2..k nodes.

    Parameters
    ----------
    counts : array of int64, or of Python integers, shape (number of graphs, columns)
        One column per class of 1..k nodes, in the order of `class_columns(k)`; the columns of
        connected classes and column 0, the number of nodes, must be filled in.
    k : int

    Examples
    --------
    Two edges that share no node, among four:

    >>> counts = np.zeros((1, class_columns(3).first_column[-1]), dtype=np.int64)
    >>> counts[0, [0, 2]] = 4, 2
    >>> fill_disconnected(counts, 3)
    >>> counts[0, class_columns(3).first_column[3]:].tolist()
    [0, 4, 0, 0]
    """
    for rule in _rules(k):
        pairs = counts[:, rule.left] * counts[:, rule.right]
        others = counts[:, rule.columns] @ rule.coefficients.astype(counts.dtype)
        counts[:, rule.column] = (pairs - others) // rule.multiplicity


@cache
def largest_in_64_bits(k: int) -> int:
    """The largest number of nodes for which every product of two counts fits into 64 bits."""

    def fits(n: int) -> bool:
        return max(comb(n, p) * comb(n, k - p) for p in range(1, k)) < 2**63

    low, high = k, 2**63
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


@dataclass(frozen=True)
class _Rule:
    """multiplicity · column = left · right − Σ coefficients · columns."""

    column: int
    left: int
    right: int
    multiplicity: int
    columns: Ints
    coefficients: Ints


@cache
def _rules(k: int) -> list[_Rule]:
    """A rule per disconnected class of 2..k nodes, by number of nodes, then from many edges."""
    rules = []
    for size in range(2, k + 1):
        known = patterns(size)
        disconnected = np.flatnonzero(~known.connected)
        for cls in disconnected[np.argsort(-known.n_edges[disconnected], kind="stable")]:
            rules.append(_rule(size, int(cls)))
    return rules


def _rule(size: int, cls: int) -> _Rule:
    first_column = class_columns(size).first_column
    column = int(first_column[size]) + cls
    component = _smallest_component(int(patterns(size).smallest[cls]), size)
    parts = _induced_columns(size)[cls]
    left, right = int(parts[component]), int(parts[(1 << size) - 1 - component])
    n_left = component.bit_count()
    weights = np.zeros(first_column[-1], dtype=np.int64)
    for union in range(max(n_left, size - n_left), size + 1):
        begin, end = first_column[union], first_column[union + 1]
        weights[begin:end] = _covering_pairs(union, n_left, size - n_left, left, right)
    multiplicity = int(weights[column])
    weights[column] = 0
    columns = np.flatnonzero(weights)
    return _Rule(column, left, right, multiplicity, columns, weights[columns])


def _smallest_component(code: int, size: int) -> int:
    """The nodes of one smallest component, as bits."""
    near = adjacency_matrices(np.array([code]), size)[0] + np.eye(size)
    reached = np.linalg.matrix_power(near, size) > 0
    components = (reached @ (1 << np.arange(size))).astype(int).tolist()
    return int(min(components, key=lambda nodes: (nodes.bit_count(), nodes)))


@cache
def _induced_columns(size: int) -> Ints:
    """The column of the subgraph induced by every set of nodes (bits) of every class."""
    first_column = class_columns(size).first_column
    matrices = adjacency_matrices(patterns(size).smallest, size).astype(np.int64)
    columns = np.full((len(matrices), 1 << size), -1, dtype=np.int64)
    for subset in range(1, 1 << size):
        nodes = [i for i in range(size) if (subset >> i) & 1]
        rows, others = np.triu_indices(len(nodes), 1)
        bits = matrices[:, np.take(nodes, rows), np.take(nodes, others)]
        codes = bits @ (1 << np.arange(n_pairs(len(nodes)), dtype=np.int64))
        classes = classes_of_codes(codes, len(nodes))
        columns[:, subset] = first_column[len(nodes)] + classes
    return columns


def _covering_pairs(union: int, n_left: int, n_right: int, left: int, right: int) -> Ints:
    """For every class on ``union`` nodes, the number of pairs (left, right) that cover it."""
    induced = _induced_columns(union)
    everything = (1 << union) - 1
    n_covering = np.zeros(len(induced), dtype=np.int64)
    for a in range(1, everything + 1):
        if a.bit_count() != n_left:
            continue
        is_left = induced[:, a] == left
        for b in range(1, everything + 1):
            if b.bit_count() == n_right and a | b == everything:
                n_covering += is_left & (induced[:, b] == right)
    return n_covering
