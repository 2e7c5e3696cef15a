"""Exact counts of disconnected patterns, derived from those of connected ones.

The product of the counts of two patterns is the number of pairs of sets, one of each. The union of
such a pair is a smaller pattern (the sets overlap), a pattern with more edges (there are edges
between the sets), or the disjoint union: the only unknown, if patterns are computed in order of
decreasing number of edges.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from math import comb

import numpy as np

from gramlet.common.arrays import Array, Ints
from gramlet.engine.graphlets.connected import class_columns
from gramlet.engine.graphlets.patterns import (
    adjacency_matrices,
    classes_of_codes,
    n_pairs,
    patterns,
)

__all__ = ["fill_disconnected", "largest_in_64_bits"]


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

    >>> counts = np.zeros((1, class_columns(3)[0][-1]), dtype=np.int64)
    >>> counts[0, [0, 2]] = 4, 2
    >>> fill_disconnected(counts, 3)
    >>> counts[0, class_columns(3)[0][3]:].tolist()
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
    first_column, _, _ = class_columns(size)
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
    first_column, _, _ = class_columns(size)
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
    found = np.zeros(len(induced), dtype=np.int64)
    for a in range(1, everything + 1):
        if a.bit_count() != n_left:
            continue
        is_left = induced[:, a] == left
        for b in range(1, everything + 1):
            if b.bit_count() == n_right and a | b == everything:
                found += is_left & (induced[:, b] == right)
    return found
