"""Sums over common walks by counted label sequences, where that is cheaper than pair by pair.

What both ways cost is estimated first: pairs of nodes with equal labels, times the iterations of a
solver, against the products of half walks and the entries they leave per graph. Long series, many
labels in few graphs and a handful of pairs are left to `product_walks`.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from gramlet.common.arrays import Floats, Ints
from gramlet.engine.core.ragged import offsets_of
from gramlet.engine.core.tiles import Tiling
from gramlet.engine.counts.frequent_products import products, products_self
from gramlet.engine.walks.label_sequences import (
    HalfWalks,
    half_walks,
    joined_graphs,
    sequence_counts,
    sequence_work,
)
from gramlet.engine.walks.product_walks import GEOMETRIC, STEPS, LabelledGraphs

__all__ = ["largest_degrees", "sequence_norms", "sequence_sums"]

# Nanoseconds, measured: one pair of nodes in one iteration of a solver; one entry of a half walk,
# one product of two; and one product of a graph in the comparison with another, most of which
# are entries that were there before, or are not shared.
_PAIR, _HALF, _PRODUCT, _COMPARED = 9.0, 25.0, 60.0, 0.1
# Products of one block of graphs, which take 40 bytes each at most.
_MOST_PRODUCTS = 5e7
# Half walks of one length are never more.
_MOST_ENTRIES = 3e7


def largest_degrees(graphs: LabelledGraphs) -> Floats:
    """The largest sum of the magnitudes of a node's weights, per graph; it bounds ρ(A)."""
    sums = np.concatenate([[0.0], np.cumsum(np.abs(graphs.weights))])
    degrees = np.append(np.diff(sums[graphs.indptr]), 0.0)
    largest = np.maximum.reduceat(degrees, np.minimum(graphs.node_offsets[:-1], len(degrees) - 1))
    # Sums that were taken apart again may be a little too small.
    return np.where(np.diff(graphs.node_offsets) > 0, largest * (1.0 + 1e-9), 0.0)


def sequence_sums(
    left: LabelledGraphs, right: LabelledGraphs | None, kind: int, weights: Floats, tiling: Tiling
) -> Floats | None:
    """Σ_j weights[j] 1ᵀA×^j 1 of all pairs; without ``right`` of the pairs of ``left``, symmetric.

    None where it is cheaper to solve for each pair.
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
    """The sums of every graph with itself; None where it is cheaper to solve for each."""
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
    """The nodes of all product graphs together."""
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
    graphs: LabelledGraphs, walks: list[HalfWalks], weights: Floats, n_left: int, symmetric: bool,
    tiling: Tiling,
) -> Floats:  # fmt: skip
    counts = sequence_counts(graphs, walks, weights, tiling.n_jobs)
    if symmetric:
        return products_self(counts, tiling)
    return products(counts[:n_left], counts[n_left:], tiling)


def _blocks(
    left: LabelledGraphs, right: LabelledGraphs | None, work: Floats, weights: Floats,
    tiling: Tiling,
) -> Floats:  # fmt: skip
    """The same, block by block of either side, so that counts stay bounded."""
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
    """Consecutive graphs, as many as half a block has room for; at least one."""
    done = np.concatenate([[0.0], np.cumsum(work)])
    block_of = (done[1:] // (0.5 * _MOST_PRODUCTS)).astype(np.int64)
    starts = offsets_of(np.unique(block_of, return_counts=True)[1])
    return [np.arange(a, b) for a, b in pairwise(starts)]
