"""Spectra of normalised Laplacians, and descriptors of whole graphs computed from them.

L = I − D^{-1/2} A D^{-1/2}, with a row of zeros for an isolated node, which therefore has the
eigenvalue 0. Edge weights are ignored. All decompositions are dense, those of graphs of one size
together.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gramlet.common.arrays import Floats, Ints, Nodes
from gramlet.engine.core.compiled import njit
from gramlet.engine.core.memory import require_bytes
from gramlet.engine.core.stacked_matrices import adjacency_stack, for_eigensystems
from gramlet.engine.core.tiles import Tiling, for_tiles

# Eigenvalues below this count as 0 in the pseudo-inverse.
_ZERO = 1e-10
# Terms of sums that are held in memory at a time, or those of one graph if these are more.
_TERMS = 1_000_000
# Values this close to the border of two bins, in bin widths, are counted in the upper one.
_BORDER = 1e-9


def laplacian_eigenvalues(
    node_offsets: Ints, indptr: Ints, indices: Nodes, tiling: Tiling
) -> Floats:
    """The eigenvalues of each graph, ascending, in the places of its nodes.

    >>> edge = np.array([0, 2, 3]), np.array([0, 1, 2, 2]), np.array([1, 0])
    >>> laplacian_eigenvalues(*edge, Tiling()).round(12).tolist()
    [0.0, 2.0, 0.0]
    """
    values = np.zeros(int(node_offsets[-1]))
    sizes = np.diff(node_offsets)
    _require_room(sizes, 1, tiling.label)

    def keep(graphs: Ints, found: Floats) -> None:
        # Rounding can move eigenvalues slightly outside [0, 2].
        places = node_offsets[graphs][:, None] + np.arange(found.shape[1])
        values[places] = np.clip(found, 0.0, 2.0)

    stack_of = _laplacians(node_offsets, indptr, indices)
    for_eigensystems(sizes, stack_of, keep, vectors=False, tiling=tiling)
    return values


def _laplacians(node_offsets: Ints, indptr: Ints, indices: Nodes) -> Callable[[Ints], Floats]:
    """A function that gives the normalised Laplacians of graphs of one size, stacked."""

    def stack_of(graphs: Ints) -> Floats:
        stack = adjacency_stack(graphs, node_offsets, indptr, indices, None)
        degrees = stack.sum(axis=2)
        roots = np.sqrt(np.maximum(degrees, 1.0))
        stack /= -roots[:, :, None] * roots[:, None, :]
        diagonal = np.arange(stack.shape[1])
        stack[:, diagonal, diagonal] = degrees > 0
        return stack

    return stack_of


def spectral_sums(
    values: Floats, node_offsets: Ints, times: Floats, wave: bool, tiling: Tiling
) -> Floats:
    """Σ_i e^{−tλ_i}, or Σ_i cos(tλ_i) with ``wave``: one row per graph, one column per time.

    >>> spectral_sums(np.array([0.0, 2.0]), np.array([0, 2]), np.array([0.0]), True, Tiling())
    array([[2.]])
    """
    out = np.zeros((len(node_offsets) - 1, len(times)))

    def work(begin: int, end: int) -> None:
        first, last = node_offsets[begin], node_offsets[end]
        terms = np.multiply.outer(values[first:last], times if wave else -times)
        terms = np.cos(terms, out=terms) if wave else np.exp(terms, out=terms)
        _add_rows(terms, node_offsets[begin : end + 1] - first, out[begin:end])

    n_tiles = max(128, len(values) * len(times) // _TERMS)
    costs = np.diff(node_offsets) + 1.0
    for_tiles(work, len(out), costs=costs, n_tiles=n_tiles, tiling=tiling)
    return out


@njit(nogil=True, cache=True)
def _add_rows(terms: Floats, offsets: Ints, out: Floats) -> None:
    """Add the rows of each graph; numpy's own function would keep other threads waiting."""
    for graph in range(len(out)):
        total = out[graph]
        for row in range(offsets[graph], offsets[graph + 1]):
            for t in range(terms.shape[1]):
                total[t] += terms[row, t]


def distance_histograms(
    node_offsets: Ints,
    indptr: Ints,
    indices: Nodes,
    low: float,
    high: float,
    n_bins: int,
    tiling: Tiling,
) -> Floats:
    """Histograms of P_ii + P_jj − 2P_ij over all ordered pairs of nodes, i = j included.

    P is the pseudo-inverse of the normalised Laplacian. Values outside [low, high] are left out.

    >>> edge = np.array([0, 2]), np.array([0, 1, 2]), np.array([1, 0])
    >>> distance_histograms(*edge, 0.0, 2.0, 4, Tiling())
    array([[2., 0., 2., 0.]])
    """
    out = np.zeros((len(node_offsets) - 1, n_bins))
    sizes = np.diff(node_offsets)
    _require_room(sizes, 3, tiling.label)

    def count(graphs: Ints, solved: tuple[Floats, Floats]) -> None:
        values, vectors = solved
        inverse = np.divide(1.0, values, out=np.zeros_like(values), where=values >= _ZERO)
        pseudo = (vectors * inverse[:, None, :]) @ vectors.transpose(0, 2, 1)
        _count_distances(graphs, pseudo, low, high, out)

    for_eigensystems(sizes, _laplacians(node_offsets, indptr, indices), count, tiling=tiling)
    return out


@njit(nogil=True, cache=True)
def _count_distances(graphs: Ints, pseudo: Floats, low: float, high: float, out: Floats) -> None:
    """Count the distances of each graph in bins; a value at ``high`` is in the last one."""
    n_bins = out.shape[1]
    for at in range(len(graphs)):
        for i in range(pseudo.shape[1]):
            for j in range(i + 1):
                distance = pseudo[at, i, i] + pseudo[at, j, j] - 2.0 * pseudo[at, i, j]
                place = (distance - low) / (high - low) * n_bins
                if abs(place - n_bins) <= _BORDER:
                    place = n_bins - 1.0
                shelf = np.floor(place + _BORDER)
                if 0.0 <= shelf < n_bins:
                    out[graphs[at], int(shelf)] += 1.0 if i == j else 2.0


def _require_room(sizes: Ints, n_matrices: int, owner: str) -> None:
    """Raise a MemoryError if the dense matrices of the largest graph do not fit."""
    largest = int(sizes.argmax()) if len(sizes) else 0
    size = int(sizes.max(initial=0))
    require_bytes(
        8 * n_matrices * size**2,
        f"{owner}: the decomposition of graph {largest}, which has {size:,} nodes,",
        "Leave out graphs of this size, or use an embedding without a decomposition, such as "
        "LocalDegreeProfile.",
    )
