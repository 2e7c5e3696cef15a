"""Sums over common walks by counts of label sequences, if that is cheaper than pair by pair.

The costs of both ways are estimated first: pairs of nodes with equal labels, times the iterations
of a solver, against the products of half walks and the resulting entries per graph. Long series,
many labels in few graphs and small numbers of pairs are computed in `product_walks`.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from gramlet.common.arrays import Floats, Ints
from gramlet.engine.core.ragged import offsets_of
from gramlet.engine.core.tiles import Tiling
from gramlet.engine.counts.comparison import compare
from gramlet.engine.counts.self_comparison import compare_self
from gramlet.engine.walks.label_sequences import (
    HalfWalks,
    half_walks,
    joined_graphs,
    sequence_counts,
    sequence_work,
)
from gramlet.engine.walks.product_walks import GEOMETRIC, STEPS, LabelledGraphs

__all__ = ["largest_degrees", "sequence_norms", "sequence_sums"]

# Measured nanoseconds: per pair of nodes and iteration of a solver; per entry of a half walk; per
# product of two; and per product of a graph in the comparison with another graph (small, as most
# products add to an existing entry or to one that is not shared).
_PAIR, _HALF, _PRODUCT, _COMPARED = 9.0, 25.0, 60.0, 0.1
# The largest number of products of one block of graphs, at most 40 bytes each.
_MOST_PRODUCTS = 5e7
# The largest number of half walks of one length.
_MOST_ENTRIES = 3e7


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

    None if it is cheaper to solve for each pair.
    """
    graphs = left if right is None else joined_graphs(left, right)
    others = left if right is None else right
    share = 0.5 if right is None else 1.0
    budget = _PAIR * _iterations(kind, len(weights)) * share * _node_pairs(left, others)
    walks = half_walks(graphs, (len(weights) - 1) // 2, min(budget / _HALF, _MOST_ENTRIES))
    if walks is None:
        return None
    work = sequence_work(graphs, walks, len(weights) - 1).sum(axis=0)
    compared = _COMPARED * work.mean() * share * left.n_graphs * others.n_graphs
    if _PRODUCT * work.sum() + compared > budget:
        return None
    if work.sum() <= _MOST_PRODUCTS:
        return _one_block(graphs, walks, weights, left.n_graphs, right is None, tiling)
    return _blocks(left, right, work, weights, tiling)


def sequence_norms(
    graphs: LabelledGraphs, kind: int, weights: Floats, tiling: Tiling
) -> Floats | None:
    """The sum of every graph with itself; None if it is cheaper to solve for each."""
    owners = np.repeat(np.arange(graphs.n_graphs), np.diff(graphs.class_offsets))
    squares = (graphs.class_ends - graphs.class_begins).astype(np.float64) ** 2
    budget = _PAIR * _iterations(kind, len(weights)) * squares.sum()
    walks = half_walks(graphs, (len(weights) - 1) // 2, min(budget / _HALF, _MOST_ENTRIES))
    if walks is None or len(owners) == 0:
        return None
    work = sequence_work(graphs, walks, len(weights) - 1).sum()
    if work > _MOST_PRODUCTS or _PRODUCT * work > budget:
        return None
    counts = sequence_counts(graphs, walks, weights, tiling.n_jobs)
    return np.asarray(counts.multiply(counts).sum(axis=1)).reshape(-1)


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


def _one_block(
    graphs: LabelledGraphs,
    walks: list[HalfWalks],
    weights: Floats,
    n_left: int,
    symmetric: bool,
    tiling: Tiling,
) -> Floats:
    counts = sequence_counts(graphs, walks, weights, tiling.n_jobs)
    if symmetric:
        return compare_self(counts, "dot", tiling=tiling)
    return compare(counts[:n_left], counts[n_left:], "dot", tiling=tiling)


def _blocks(
    left: LabelledGraphs,
    right: LabelledGraphs | None,
    work: Floats,
    weights: Floats,
    tiling: Tiling,
) -> Floats:
    """As `_one_block`, in blocks of graphs on both sides, so that the counts fit into memory."""
    n_half = (len(weights) - 1) // 2
    ours = _cuts(work[: left.n_graphs])
    theirs = ours if right is None else _cuts(work[left.n_graphs :])
    others = left if right is None else right
    out = np.empty((left.n_graphs, others.n_graphs))
    for i, rows in enumerate(ours):
        for columns in theirs[i:] if right is None else theirs:
            alone = right is None and rows is columns
            graphs = left.take(rows)
            both = graphs if alone else joined_graphs(graphs, others.take(columns))
            walks = half_walks(both, n_half, np.inf)
            assert walks is not None
            part = _one_block(both, walks, weights, len(rows), alone, tiling)
            out[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1] = part
            if right is None and not alone:
                out[columns[0] : columns[-1] + 1, rows[0] : rows[-1] + 1] = part.T
    return out


def _cuts(work: Floats) -> list[Ints]:
    """Ranges of consecutive graphs with at most half a block of products, or of one graph."""
    done = np.concatenate([[0.0], np.cumsum(work)])
    block_of = (done[1:] // (0.5 * _MOST_PRODUCTS)).astype(np.int64)
    starts = offsets_of(np.unique(block_of, return_counts=True)[1])
    return [np.arange(a, b) for a, b in pairwise(starts)]
