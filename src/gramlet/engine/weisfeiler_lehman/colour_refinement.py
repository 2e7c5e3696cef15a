"""Colour refinement (Weisfeiler-Lehman) of a whole batch at once.

A node's next colour is an exact renaming of its colour and the sorted multiset of its neighbours'
colours (with edge labels: of pairs of edge label and colour). Cost O(m log d) a level, for m edges
and degrees d. The fitted renaming is kept; new graphs are coloured by it without changing it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numba import njit

from gramlet.common.arrays import Ints
from gramlet.common.stored_state import require_flag, require_integer, require_items
from gramlet.engine.core.signature_table import SignatureTable

__all__ = ["Refinement", "refine"]


@dataclass
class Refinement:
    """The renaming of every level: what colours mean.

    Attributes
    ----------
    n_initial : int
        The number of colours at level 0.
    with_edge_labels : bool
        Whether signatures hold (edge label, colour) pairs.
    tables : list of SignatureTable
        For levels 1, 2, ...: colour to (own colour before, then the neighbours' sorted).
    """

    n_initial: int
    with_edge_labels: bool
    tables: list[SignatureTable] = field(default_factory=list)

    @property
    def n_colours(self) -> list[int]:
        """The number of known colours at each level, 0 first."""
        return [self.n_initial, *(len(table) for table in self.tables)]

    def apply(self, indptr: Ints, indices: Ints, colours: Ints, edge_labels: Ints | None) -> Ints:
        """Colours of new graphs at every level, shape (levels, nodes).

        A colour of ``n_colours[h]`` or more at level h is one that no fitted node has.
        """
        levels = [colours]
        for table in self.tables:
            signatures = node_signatures(indptr, indices, levels[-1], self._edges(edge_labels))
            levels.append(table.lookup(*signatures))
        return np.stack(levels)

    def validate(self) -> None:
        """Check that the tables of all levels fit each other; ValueError if not."""
        require_integer("n_initial", self.n_initial, 0)
        require_flag("with_edge_labels", self.with_edge_labels)
        require_items("the tables of a refinement", self.tables, SignatureTable)
        for known, table in zip(self.n_colours, self.tables, strict=False):
            lengths = np.diff(table.offsets)
            if (lengths < 1).any() or (self.with_edge_labels and (lengths % 2 == 0).any()):
                raise ValueError("A signature of a refinement has the wrong length.")
            colours = np.ones(len(table.data), dtype=bool)
            if self.with_edge_labels:
                # Own colour, then pairs of edge label and colour: every second entry is a colour.
                places = np.arange(len(table.data)) - np.repeat(table.offsets[:-1], lengths)
                colours = places % 2 == 0
            used = table.data[colours]
            if (table.data < 0).any() or (len(used) and used.max() >= known):
                raise ValueError("A signature of a refinement has colours that are not there.")

    def _edges(self, edge_labels: Ints | None) -> Ints:
        if not self.with_edge_labels or edge_labels is None:
            return np.zeros(0, dtype=np.int64)
        return edge_labels


def refine(
    indptr: Ints,
    indices: Ints,
    colours: Ints,
    n_initial: int,
    n_iter: int,
    edge_labels: Ints | None = None,
) -> tuple[Refinement, Ints]:
    """Refine the colours of all graphs ``n_iter`` times.

    Parameters
    ----------
    indptr, indices : arrays of int64
        The CSR adjacency of the batch.
    colours : array of int64
        Initial colours, codes 0 to ``n_initial - 1``.
    edge_labels : array of int64, optional
        A code an entry of ``indices``; None to leave edge labels out.

    Returns
    -------
    refinement : Refinement
    levels : array of int64, shape (n_iter + 1, nodes)
    """
    refinement = Refinement(n_initial, edge_labels is not None)
    edges = np.zeros(0, dtype=np.int64) if edge_labels is None else edge_labels
    levels = np.empty((n_iter + 1, len(colours)), dtype=np.int64)
    levels[0] = colours
    for h in range(n_iter):
        signatures = node_signatures(indptr, indices, levels[h], edges)
        table, levels[h + 1] = SignatureTable.fit(*signatures)
        refinement.tables.append(table)
    return refinement, levels


@njit(nogil=True, cache=True)
def node_signatures(
    indptr: Ints, indices: Ints, colours: Ints, edge_labels: Ints
) -> tuple[Ints, Ints]:
    """Signatures of all nodes: own colour, then the neighbours' colours, sorted.

    With edge labels (an array that is not empty) each neighbour gives two entries, its edge's
    label and its colour, sorted by label, then colour.
    """
    n = len(colours)
    with_edges = len(edge_labels) > 0
    width = 2 if with_edges else 1
    offsets = np.empty(n + 1, dtype=np.int64)
    offsets[0] = 0
    for v in range(n):
        offsets[v + 1] = offsets[v] + 1 + width * (indptr[v + 1] - indptr[v])
    data = np.empty(offsets[n], dtype=np.int64)
    radix = np.int64(1)
    for v in range(n):
        radix = max(radix, colours[v] + 1)
    for v in range(n):
        begin, degree = indptr[v], indptr[v + 1] - indptr[v]
        data[offsets[v]] = colours[v]
        part = data[offsets[v] + 1 : offsets[v] + 1 + degree]
        for p in range(degree):
            part[p] = colours[indices[begin + p]]
            if with_edges:
                part[p] += edge_labels[begin + p] * radix
        _sort(part)
        if with_edges:
            # Spread from the back: entry p moves to 2p and 2p + 1.
            for p in range(degree - 1, -1, -1):
                key = part[p]
                data[offsets[v] + 2 + 2 * p] = key % radix
                data[offsets[v] + 1 + 2 * p] = key // radix
    return offsets, data


@njit(nogil=True, cache=True)
def _sort(values: Ints) -> None:
    """Sort in place: by insertion where short, as nearly all neighbourhoods are."""
    n = len(values)
    if n > 24:
        values[:] = np.sort(values)
        return
    for i in range(1, n):
        value = values[i]
        j = i - 1
        while j >= 0 and values[j] > value:
            values[j + 1] = values[j]
            j -= 1
        values[j + 1] = value
