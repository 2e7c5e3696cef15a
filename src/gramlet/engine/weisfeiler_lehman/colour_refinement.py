"""Colour refinement (Weisfeiler-Lehman) of a whole batch at once.

A node's next colour is an exact renaming of its colour and the sorted multiset of its neighbours'
colours (with edge labels, of pairs of edge label and colour). In directed graphs there are two
multisets, of out-neighbours and of in-neighbours. Cost: O(m log d) per level, for m edges and
degrees d. The fitted renaming is kept; new graphs are coloured by it without changing it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from gramlet.common.arrays import Ints, Nodes
from gramlet.common.stored_state import require_flag, require_integer, require_items
from gramlet.engine.core.compiled import njit
from gramlet.engine.core.short_sort import sort_short
from gramlet.engine.core.signature_table import SignatureTable
from gramlet.graphs.direction import InArcs

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
        indices: Nodes,
        colours: Ints,
        edge_labels: Ints | None,
        in_arcs: InArcs | None = None,
    ) -> Ints:
        """Colours of new graphs at every level, shape (levels, nodes).

        Colours from ``n_colours[h]`` on at level h do not occur in the fitted graphs.
        """
        edges = edge_labels if self.with_edge_labels else None
        signatures = _Signatures(indptr, indices, edges, in_arcs)
        levels = [colours]
        for table in self.tables:
            levels.append(table.lookup(*signatures.of(levels[-1])))
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
    indices: Nodes,
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
    signatures = _Signatures(indptr, indices, edge_labels, in_arcs)
    for h in range(n_iter):
        table, _ = SignatureTable.fit(*signatures.of(levels[h]), ids=levels[h + 1])
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


class _Signatures:
    """The signatures of all nodes; their lengths and the memory for them serve all levels.

    A signature is the node's own colour, then the neighbours' colours, sorted. With edge labels
    each neighbour gives two entries, the label of its edge and its colour, sorted by label, then
    colour. In directed graphs −1 and the in-neighbours follow; without in-neighbours the −1 is left
    out, so that a node without arcs has the same signature as in undirected graphs.
    """

    def __init__(
        self, indptr: Ints, indices: Nodes, edge_labels: Ints | None, in_arcs: InArcs | None
    ) -> None:
        width = 1 if edge_labels is None else 2
        # One entry for every node before, and one or two for every arc.
        self._offsets = np.arange(len(indptr), dtype=np.int64)
        for arcs in (indptr,) if in_arcs is None else (indptr, in_arcs.indptr):
            for _ in range(width):
                self._offsets += arcs
        if in_arcs is not None:
            self._offsets[1:] += np.cumsum(np.diff(in_arcs.indptr) > 0)
        self._data = np.empty(int(self._offsets[-1]), dtype=np.int64)
        n_around = 0
        if edge_labels is not None:
            n_around = int(np.diff(self._offsets).max(initial=0))
        self._around = np.empty(n_around, dtype=np.int64)
        self._arcs = indptr, indices
        self._in_arcs = None if in_arcs is None else (in_arcs.indptr, in_arcs.indices)
        self._with_edge_labels = edge_labels is not None
        self._edges = self._in_edges = _NO_LABELS
        if edge_labels is not None:
            self._edges = edge_labels
            self._in_edges = _NO_LABELS if in_arcs is None else edge_labels[in_arcs.arcs]

    def of(self, colours: Ints) -> tuple[Ints, Ints]:
        """Offsets and entries of the signatures; the next call overwrites the entries."""
        radix = int(colours.max(initial=0)) + 1 if self._with_edge_labels else 1
        indptr, indices = self._arcs
        # Undirected graphs have no in-arcs.
        in_indptr, in_indices = self._in_arcs or (indptr[:0], indices[:0])
        _write_signatures(
            *(indptr, indices, in_indptr, in_indices),
            *(colours, self._edges, self._in_edges, radix),
            *(self._offsets, self._around, self._data),
        )
        return self._offsets, self._data


@njit(nogil=True, cache=True)
def _write_signatures(
    indptr: Ints,
    indices: Nodes,
    in_indptr: Ints,
    in_indices: Nodes,
    colours: Ints,
    edge_labels: Ints,
    in_edge_labels: Ints,
    radix: int,
    offsets: Ints,
    around: Ints,
    data: Ints,
) -> None:
    """Write the signatures of all nodes: own colour, the neighbours, −1, the in-neighbours."""
    # Undirected graphs without edge labels: calling a function per node would take 1.5 times as
    # long in all.
    if len(edge_labels) == 0 and len(in_indptr) == 0:
        for v in range(len(colours)):
            begin, degree, at = indptr[v], indptr[v + 1] - indptr[v], offsets[v]
            data[at] = colours[v]
            part = data[at + 1 : at + 1 + degree]
            for p in range(degree):
                part[p] = colours[indices[begin + p]]
            sort_short(part)
        return
    for v in range(len(colours)):
        data[offsets[v]] = colours[v]
        at = _write_around(
            indices,
            indptr[v],
            indptr[v + 1],
            colours,
            edge_labels,
            radix,
            around,
            data,
            offsets[v] + 1,
        )
        if len(in_indptr) > 0 and in_indptr[v] < in_indptr[v + 1]:
            data[at] = _COMING_IN
            _write_around(
                in_indices,
                in_indptr[v],
                in_indptr[v + 1],
                colours,
                in_edge_labels,
                radix,
                around,
                data,
                at + 1,
            )


@njit(nogil=True, cache=True)
def _write_around(
    indices: Nodes,
    begin: int,
    end: int,
    colours: Ints,
    edge_labels: Ints,
    radix: int,
    around: Ints,
    data: Ints,
    at: int,
) -> int:
    """Write the sorted colours (with edge labels, pairs) of the entries ``begin:end`` from ``at``.

    Returns where they end. ``around`` is workspace for pairs, which are sorted as one number each,
    label · radix + colour.
    """
    degree = end - begin
    if len(edge_labels) == 0:
        part = data[at : at + degree]
        for p in range(degree):
            part[p] = colours[indices[begin + p]]
        sort_short(part)
        return at + degree
    pairs = around[:degree]
    for p in range(degree):
        pairs[p] = colours[indices[begin + p]] + edge_labels[begin + p] * radix
    sort_short(pairs)
    for p in range(degree):
        data[at + 2 * p] = pairs[p] // radix
        data[at + 2 * p + 1] = pairs[p] % radix
    return at + 2 * degree
