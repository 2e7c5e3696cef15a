"""Colour refinement (Weisfeiler-Lehman) of a whole batch at once.

A node's next colour is an exact renaming of its colour and the sorted multiset of its neighbours'
colours (with edge labels, of pairs of edge label and colour). In directed graphs there are two
multisets, of out-neighbours and of in-neighbours. Cost: O(m log d) per level, for m edges and
degrees d. The fitted renaming is kept; new graphs are coloured by it without changing it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from gramlet.common.arrays import Ints
from gramlet.common.stored_state import require_flag, require_integer, require_items
from gramlet.engine.core.compiled import inner, njit
from gramlet.engine.core.short_sort import sort_short
from gramlet.engine.core.signature_table import SignatureTable
from gramlet.graphs.direction import InArcs

__all__ = ["Refinement", "refine", "split_signature"]

# Precedes the in-neighbours in a signature; colours and labels are never negative.
_COMING_IN = -1
_NO_LABELS = np.zeros(0, dtype=np.int64)


@dataclass
class Refinement:
    """The renaming of every level, which gives colours their meaning.

    Attributes
    ----------
    n_initial : int
        The number of colours at level 0.
    with_edge_labels : bool
        Whether signatures contain (edge label, colour) pairs.
    tables : list of SignatureTable
        For levels 1, 2, ..., the signature of each colour: the node's previous colour, then the
        sorted colours of its neighbours (see `split_signature`).
    """

    n_initial: int
    with_edge_labels: bool
    tables: list[SignatureTable] = field(default_factory=list)

    @property
    def n_colours(self) -> list[int]:
        """The number of known colours at each level, 0 first."""
        return [self.n_initial, *(len(table) for table in self.tables)]

    def apply(
        self,
        indptr: Ints,
        indices: Ints,
        colours: Ints,
        edge_labels: Ints | None,
        in_arcs: InArcs | None = None,
    ) -> Ints:
        """Colours of new graphs at every level, shape (levels, nodes).

        Colours from ``n_colours[h]`` on at level h do not occur in the fitted graphs.
        """
        edges = edge_labels if self.with_edge_labels else None
        levels = [colours]
        for table in self.tables:
            signatures = _signatures(indptr, indices, levels[-1], edges, in_arcs)
            levels.append(table.lookup(*signatures))
        return np.stack(levels)

    def validate(self) -> None:
        """Raise ValueError if the tables of the levels do not fit together."""
        require_integer("n_initial", self.n_initial, 0)
        require_flag("with_edge_labels", self.with_edge_labels)
        require_items("the tables of a refinement", self.tables, SignatureTable)
        for known, table in zip(self.n_colours, self.tables, strict=False):
            _check_signatures(table, known, self.with_edge_labels)


def refine(
    indptr: Ints,
    indices: Ints,
    colours: Ints,
    n_initial: int,
    n_iter: int,
    edge_labels: Ints | None = None,
    in_arcs: InArcs | None = None,
) -> tuple[Refinement, Ints]:
    """Refine the colours of all graphs ``n_iter`` times.

    Parameters
    ----------
    indptr, indices : arrays of int64
        The CSR adjacency of the batch.
    colours : array of int64
        Initial colours, codes 0 to ``n_initial - 1``.
    edge_labels : array of int64, optional
        One code per entry of ``indices``; None to ignore edge labels.
    in_arcs : InArcs, optional
        For directed graphs, the arcs by the node they end at; None for undirected graphs.

    Returns
    -------
    refinement : Refinement
    levels : array of int64, shape (n_iter + 1, nodes)
    """
    refinement = Refinement(n_initial, edge_labels is not None)
    levels = np.empty((n_iter + 1, len(colours)), dtype=np.int64)
    levels[0] = colours
    for h in range(n_iter):
        signatures = _signatures(indptr, indices, levels[h], edge_labels, in_arcs)
        table, levels[h + 1] = SignatureTable.fit(*signatures)
        refinement.tables.append(table)
    return refinement, levels


def split_signature(signature: Ints) -> tuple[int, list[int], list[int]]:
    """A signature's own colour, the entries of its neighbours, and those of its in-neighbours.

    >>> split_signature(np.array([7, 1, 2, -1, 2]))
    (7, [1, 2], [2])
    """
    own, *around = (int(entry) for entry in signature)
    if _COMING_IN not in around:
        return own, around, []
    cut = around.index(_COMING_IN)
    return own, around[:cut], around[cut + 1 :]


def _check_signatures(table: SignatureTable, n_colours: int, with_edge_labels: bool) -> None:
    """Raise ValueError if a table contains signatures that `refine` does not write."""
    lengths = np.diff(table.offsets)
    places = np.arange(len(table.data)) - np.repeat(table.offsets[:-1], lengths)
    owners = np.repeat(np.arange(len(lengths)), lengths)
    # At most one mark before the in-neighbours, never first, never last.
    marks = table.data == _COMING_IN
    n_marks = np.bincount(owners[marks], minlength=len(lengths))
    misplaced = (places[marks] == 0) | (places[marks] == lengths[owners[marks]] - 1)
    if with_edge_labels:
        misplaced |= places[marks] % 2 == 0
    if (n_marks > 1).any() or misplaced.any():
        raise ValueError("A signature of a refinement mixes outgoing and incoming arcs.")
    lengths = lengths - n_marks
    if (lengths < 1).any() or (with_edge_labels and (lengths % 2 == 0).any()):
        raise ValueError("A signature of a refinement has the wrong length.")
    # Own colour, then colours, or pairs of edge label and colour: every second entry is a colour.
    data = table.data[~marks]
    places = np.arange(len(data)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    used = data[places % 2 == 0] if with_edge_labels else data
    if (data < 0).any() or (len(used) and used.max() >= n_colours):
        raise ValueError("A signature of a refinement contains unknown colours.")


def _signatures(
    indptr: Ints, indices: Ints, colours: Ints, edge_labels: Ints | None, in_arcs: InArcs | None
) -> tuple[Ints, Ints]:
    edges = _NO_LABELS if edge_labels is None else edge_labels
    if in_arcs is None:
        return node_signatures(indptr, indices, colours, edges)
    edges_in = _NO_LABELS if edge_labels is None else edge_labels[in_arcs.arcs]
    return _directed_signatures(
        indptr, indices, in_arcs.indptr, in_arcs.indices, colours, edges, edges_in
    )


def node_signatures(
    indptr: Ints, indices: Ints, colours: Ints, edge_labels: Ints
) -> tuple[Ints, Ints]:
    """Signatures of all nodes: own colour, then the neighbours' colours, sorted.

    With edge labels (a non-empty array) each neighbour gives two entries, the label of its edge and
    its colour, sorted by label, then colour.
    """
    width = 2 if len(edge_labels) > 0 else 1
    offsets = width * (indptr - indptr[0]) + np.arange(len(indptr))
    # Allocated here and not in compiled code, because numpy allocates large pages.
    data = np.empty(int(offsets[-1]), dtype=np.int64)
    _write_signatures(indptr, indices, colours, edge_labels, offsets, data)
    return offsets, data


@njit(nogil=True, cache=True)
def _write_signatures(
    indptr: Ints, indices: Ints, colours: Ints, edge_labels: Ints, offsets: Ints, data: Ints
) -> None:
    """Write the signatures of all nodes to ``data``, at their offsets."""
    n = len(colours)
    with_edges = len(edge_labels) > 0
    # An edge label and a colour are packed as label · radix + colour.
    radix = np.int64(1)
    for v in range(n):
        radix = max(radix, colours[v] + 1)
    for v in range(n):
        # Own colour, then the sorted neighbours.
        begin, degree = indptr[v], indptr[v + 1] - indptr[v]
        data[offsets[v]] = colours[v]
        part = data[offsets[v] + 1 : offsets[v] + 1 + degree]
        for p in range(degree):
            part[p] = colours[indices[begin + p]]
            if with_edges:
                part[p] += edge_labels[begin + p] * radix
        sort_short(part)
        if with_edges:
            # Unpack from the end: entry p moves to 2p and 2p + 1.
            for p in range(degree - 1, -1, -1):
                key = part[p]
                data[offsets[v] + 2 + 2 * p] = key % radix
                data[offsets[v] + 1 + 2 * p] = key // radix


@njit(nogil=True, cache=True)
def _directed_signatures(
    indptr: Ints, indices: Ints, in_indptr: Ints, in_indices: Ints, colours: Ints,
    edge_labels: Ints, in_edge_labels: Ints,
) -> tuple[Ints, Ints]:  # fmt: skip
    """Signatures of all nodes: own colour, the out-neighbours, then −1 and the in-neighbours.

    Each neighbourhood is written as in `node_signatures`. Without in-neighbours the −1 is left out,
    so that a node without arcs has the same signature as in undirected graphs.
    """
    n = len(colours)
    with_edges = len(edge_labels) > 0
    width = 2 if with_edges else 1
    # Where each signature begins.
    offsets = np.empty(n + 1, dtype=np.int64)
    offsets[0] = 0
    radix = np.int64(1)
    for v in range(n):
        n_in = in_indptr[v + 1] - in_indptr[v]
        length = 1 + width * (indptr[v + 1] - indptr[v] + n_in) + (1 if n_in > 0 else 0)
        offsets[v + 1] = offsets[v] + length
        radix = max(radix, colours[v] + 1)
    # The signatures themselves.
    data = np.empty(offsets[n], dtype=np.int64)
    for v in range(n):
        at = offsets[v]
        data[at] = colours[v]
        begin, end = indptr[v], indptr[v + 1]
        _write_around(indices, begin, end, colours, edge_labels, radix, data[at + 1 :])
        at += 1 + width * (end - begin)
        begin, end = in_indptr[v], in_indptr[v + 1]
        if begin < end:
            data[at] = _COMING_IN
            _write_around(in_indices, begin, end, colours, in_edge_labels, radix, data[at + 1 :])
    return offsets, data


@inner
def _write_around(
    indices: Ints, begin: int, end: int, colours: Ints, edge_labels: Ints, radix: int, out: Ints
) -> None:
    """Write the sorted colours (with edge labels, pairs) of the entries ``begin:end``."""
    degree = end - begin
    part = out[:degree]
    for p in range(degree):
        part[p] = colours[indices[begin + p]]
        if len(edge_labels) > 0:
            part[p] += edge_labels[begin + p] * radix
    sort_short(part)
    if len(edge_labels) > 0:
        # Unpack from the end: entry p moves to 2p and 2p + 1.
        for p in range(degree - 1, -1, -1):
            key = part[p]
            out[2 * p + 1] = key % radix
            out[2 * p] = key // radix
