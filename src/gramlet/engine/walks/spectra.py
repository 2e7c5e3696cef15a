"""Sums over common walks of graphs without labels, from one eigendecomposition per graph.

Without labels the product graph of two graphs is A ⊗ A', with the products of their eigenvalues:
1ᵀ f(A ⊗ A') 1 = Σ_ij a_i b_j f(λ_i μ_j), where a = (Uᵀ1)² for the eigenvectors U of A, and b is the
same for A'.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gramlet.common.arrays import Floats, Ints, Nodes
from gramlet.common.fields import ArrayOf, Offsets, fields
from gramlet.engine.core.compiled import njit
from gramlet.engine.core.ragged import taken
from gramlet.engine.core.stacked_matrices import adjacency_stack, for_eigensystems
from gramlet.engine.core.tiles import QUIET, Tiling
from gramlet.engine.walks.product_walks import EXPONENTIAL, GEOMETRIC

# Squared sums of n numbers below this times n are rounding errors.
_NOTHING = 1e-28


class WalkSpectra(NamedTuple):
    """Eigenvalues of many graphs, with the squared sums of their eigenvectors.

    Attributes
    ----------
    offsets : array of int64
        Graph i has the entries ``offsets[i]:offsets[i + 1]`` of the other arrays.
    values, masses : arrays of float64
        Eigenvalues and (uᵀ1)²; eigenvectors that sum to 0 contribute nothing and are left out.
    """

    offsets: Ints
    values: Floats
    masses: Floats

    @property
    def n_graphs(self) -> int:
        """The number of graphs."""
        return len(self.offsets) - 1

    def take(self, rows: Ints) -> WalkSpectra:
        """The graphs at these positions."""
        offsets, entries = taken(self.offsets, rows)
        return WalkSpectra(offsets, self.values[entries], self.masses[entries])


# Not in the class: type checkers take it for one of the tuple's fields.
WalkSpectra.stored = fields(  # type: ignore[attr-defined]
    offsets=Offsets(None, "values"),
    values=ArrayOf("float64", "values"),
    masses=ArrayOf("float64", "values", least=0.0),
)


def walk_spectra(
    node_offsets: Ints,
    indptr: Ints,
    indices: Nodes,
    weights: Floats | None,
    tiling: Tiling = QUIET,
) -> tuple[WalkSpectra, Floats]:
    """The spectra of all graphs, and the largest absolute eigenvalue of each.

    >>> edge = walk_spectra(np.array([0, 2]), np.array([0, 1, 2]), np.array([1, 0]), None)
    >>> edge[0].values.round(12), edge[0].masses.round(12), edge[1].round(12)
    (array([1.]), array([2.]), array([1.]))
    """
    sizes = np.diff(node_offsets)
    values, masses = np.zeros(int(node_offsets[-1])), np.zeros(int(node_offsets[-1]))
    radii = np.zeros(len(sizes))

    def stack_of(graphs: Ints) -> Floats:
        return adjacency_stack(graphs, node_offsets, indptr, indices, weights)

    def keep(graphs: Ints, solved: tuple[Floats, Floats]) -> None:
        eigenvalues, vectors = solved
        nodes = node_offsets[graphs][:, None] + np.arange(eigenvalues.shape[1])
        values[nodes] = eigenvalues
        masses[nodes] = vectors.sum(axis=1) ** 2
        radii[graphs] = np.abs(eigenvalues).max(axis=1)

    for_eigensystems(sizes, stack_of, keep, tiling=tiling)
    kept = masses > _NOTHING * np.repeat(sizes, sizes)
    offsets = np.concatenate([[0], np.cumsum(kept)])[node_offsets].astype(np.int64)
    return WalkSpectra(offsets, values[kept], masses[kept]), radii


@njit(nogil=True, cache=True)
def spectral_walk_rows(
    begin: int,
    end: int,
    left: WalkSpectra,
    right: WalkSpectra,
    kind: int,
    decay: float,
    n_steps: int,
    which: int,
    out: Floats,
) -> None:
    """Fill rows ``begin:end`` of the matrix of sums over common walks.

    ``which`` is 0 for all columns, 1 for those from the diagonal on, 2 for the diagonal only,
    which is then written to column 0.
    """
    n_right = len(right.offsets) - 1
    for i in range(begin, end):
        for j in range(i if which > 0 else 0, i + 1 if which == 2 else n_right):
            total = 0.0
            for a in range(left.offsets[i], left.offsets[i + 1]):
                factor = decay * left.values[a]
                part = 0.0
                for b in range(right.offsets[j], right.offsets[j + 1]):
                    part += right.masses[b] * _function(kind, factor * right.values[b], n_steps)
                total += left.masses[a] * part
            out[i, 0 if which == 2 else j] = total


@njit(nogil=True, cache=True)
def _function(kind: int, x: float, n_steps: int) -> float:
    if kind == GEOMETRIC:
        return 1.0 / (1.0 - x)
    if kind == EXPONENTIAL:
        return np.exp(x)
    total = 1.0
    for _ in range(n_steps):
        total = 1.0 + x * total
    return total
