"""Weisfeiler-Lehman colours as features: counted level by level, with readable trees as names.

The WL family shares this code: fitting the refinement, colouring new graphs, numbering columns.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from gramlet.common.arrays import Ints
from gramlet.common.fields import Flag, Instance, Integer, ListOf, Plain, fields
from gramlet.common.stored_state import require
from gramlet.engine.core.signature_table import SignaturesOf, SignatureTable, pack_rows
from gramlet.engine.core.tiles import Tiling
from gramlet.engine.counts.comparison import count_codes
from gramlet.engine.weisfeiler_lehman.colour_refinement import (
    Refinement,
    refine,
    split_signature,
)
from gramlet.graphs.batch import GraphBatch
from gramlet.kernels.contract.count_kernel import count_new
from gramlet.kernels.contract.labels import EdgeLabels, NodeLabels
from gramlet.kernels.histograms.label_histograms import edge_name, edge_types

# The text of a longer pattern is its root, the number of its children and its own number.
_LONGEST_TEXT = 400


class SubtreePattern(NamedTuple):
    """A pattern as a tree: its label, then (edge label, child, count) for each distinct child.

    In directed graphs the edge label begins with ``>`` if the arc leads to the child, and with
    ``<`` if it comes from the child.
    """

    label: str
    children: tuple[tuple[str, SubtreePattern, int], ...]


class Colouring:
    """The refinement of the fitted graphs, which also colours new graphs.

    Parameters
    ----------
    n_iter : int
        Number of rounds of refinement.
    include_initial : bool
        Whether level 0, the labels themselves, is one of the levels.
    use_edge_labels : bool or "auto"
        Whether the refinement uses edge labels.
    """

    stored = fields(
        n_iter=Integer(),
        include_initial=Flag(),
        use_edge_labels=Plain(),
        labels=Instance(NodeLabels, len="n_labels"),
        edge_labels=Instance(EdgeLabels),
        directed=Flag(),
        refinement=Instance(Refinement, n_initial="n_labels"),
    )

    def __init__(self, n_iter: int, include_initial: bool, use_edge_labels: bool | str) -> None:
        self.n_iter = n_iter
        self.include_initial = include_initial
        self.use_edge_labels = use_edge_labels

    def fit(self, batch: GraphBatch) -> Ints:
        """Refine these graphs; return their colours, shape (levels, nodes)."""
        self.labels, self.edge_labels = NodeLabels(), EdgeLabels(self.use_edge_labels)
        self.directed = batch.directed
        colours, edges = self.labels.fit(batch), self.edge_labels.fit(batch)
        arcs = batch.in_arcs if batch.directed else None
        self.refinement: Refinement
        self.refinement, levels = refine(
            batch.indptr, batch.indices, colours, len(self.labels), self.n_iter, edges, arcs
        )
        return levels[self.first_level :]

    def apply(self, batch: GraphBatch) -> Ints:
        """Colours of new graphs; those from `n_colours` of a level on are unseen colours."""
        colours, edges = self.labels.encode(batch), self.edge_labels.encode(batch)
        arcs = batch.in_arcs if batch.directed else None
        levels = self.refinement.apply(batch.indptr, batch.indices, colours, edges, arcs)
        return levels[self.first_level :]

    def validate(self) -> None:
        """Raise ValueError if levels and edge labels do not fit together."""
        require(len(self.refinement.tables) == self.n_iter, "there must be one table per level")
        same = self.refinement.with_edge_labels == self.edge_labels.used
        require(same, "the refinement and the edge labels do not agree")

    @property
    def first_level(self) -> int:
        """0, or 1 if the initial labels are left out."""
        return 0 if self.include_initial else 1

    @property
    def level_numbers(self) -> range:
        """The levels that are used."""
        return range(self.first_level, self.n_iter + 1)

    @property
    def n_colours(self) -> list[int]:
        """The number of fitted colours of each level that is used."""
        return self.refinement.n_colours[self.first_level :]

    def patterns(self) -> list[list[str]]:
        """The fitted colours of each level that is used, as rooted trees: ``C(C,N,O(H))``.

        In directed graphs ``C(>C,>N,<O(<H))``, out-neighbours first.
        """
        names = self.labels.names()
        texts, roots = [names], [names]
        for level, table in enumerate(self.refinement.tables, start=1):
            new_texts, new_roots = [], []
            for colour in range(len(table)):
                own, arms = self._arms(table.signature(colour))
                children = [
                    f"{mark}{bond}:{texts[-1][c]}" if bond else f"{mark}{texts[-1][c]}"
                    for mark, bond, c in arms
                ]
                # Out-neighbours first, then by text.
                children.sort(key=lambda child: (self.directed and child[0] == "<", child))
                text = f"{roots[-1][own]}({','.join(children)})"
                if len(text) > _LONGEST_TEXT:
                    text = f"{roots[-1][own]}(…{len(children)} children, no. {level}.{colour})"
                new_texts.append(text)
                new_roots.append(roots[-1][own])
            texts.append(new_texts)
            roots.append(new_roots)
        return texts[self.first_level :]

    def tree(self, level: int, colour: int) -> SubtreePattern:
        """The rooted tree of a colour of a level (0, 1, ...)."""
        if level == 0:
            return SubtreePattern(self.labels.names()[colour], ())
        own, around = self._arms(self.refinement.tables[level - 1].signature(colour))
        root = self.tree(level - 1, own).label
        arms = [(mark + bond, self.tree(level - 1, c)) for mark, bond, c in around]
        counted = [(edge, child, arms.count((edge, child))) for edge, child in dict.fromkeys(arms)]
        return SubtreePattern(root, tuple(counted))

    def _arms(self, signature: Ints) -> tuple[int, list[tuple[str, str, int]]]:
        """The own colour of a signature, and (direction, edge label, colour) of each child."""
        bonds = self.edge_labels.names()
        own, around, coming_in = split_signature(signature)
        arms = []
        for mark, entries in ((">" if self.directed else "", around), ("<", coming_in)):
            if bonds is None:
                arms += [(mark, "", colour) for colour in entries]
            else:
                pairs = zip(entries[::2], entries[1::2], strict=True)
                arms += [(mark, bonds[edge], colour) for edge, colour in pairs]
        return own, arms


def columns_of_levels(levels: list[Ints], n_known: list[int]) -> list[Ints]:
    """Column numbers for codes given level by level.

    The known codes of all levels come first, level by level, then the unknown ones.

    >>> columns_of_levels([np.array([0, 2]), np.array([1, 1])], [2, 2])
    [array([0, 4]), array([3, 3])]
    """
    columns = []
    start, fresh = 0, sum(n_known)
    for codes, known in zip(levels, n_known, strict=True):
        columns.append(np.where(codes < known, codes + start, codes - known + fresh))
        start += known
        fresh += max(0, int(codes.max(initial=-1)) + 1 - known)
    return columns


class ColourCounter:
    """Counts the colours of each graph at every level."""

    stored = fields(colouring=Instance(Colouring))

    def __init__(self, colouring: Colouring) -> None:
        self.colouring = colouring

    def fit(self, batch: GraphBatch, tiling: Tiling) -> sparse.csr_matrix:
        levels = self.colouring.fit(batch)
        known = self.colouring.n_colours
        columns = np.stack(columns_of_levels(list(levels), known))
        return count_codes(batch.node_offsets, columns, sum(known))

    def count(self, batch: GraphBatch, tiling: Tiling) -> sparse.csr_matrix:
        levels = self.colouring.apply(batch)
        known = self.colouring.n_colours
        columns = np.stack(columns_of_levels(list(levels), known))
        return count_new(batch.node_offsets, columns, sum(known))

    def names(self) -> list[str]:
        return [
            f"h{level}:{text}"
            for level, texts in zip(
                self.colouring.level_numbers, self.colouring.patterns(), strict=True
            )
            for text in texts
        ]

    @property
    def n_features(self) -> int:
        return sum(self.colouring.n_colours)


def colouring_of(kernel: Any) -> Colouring | None:
    """The `Colouring` of a fitted kernel whose features are colours of nodes; otherwise None."""
    counter = vars(kernel).get("counter_")
    return counter.colouring if isinstance(counter, ColourCounter) else None


class ColourEdgeCounter:
    """Counts the edges of each graph by the colours of their ends, at every level."""

    stored = fields(
        colouring=Instance(Colouring),
        edge_labels=Instance(EdgeLabels),
        types=ListOf(SignaturesOf(3)),
    )

    def __init__(self, colouring: Colouring) -> None:
        self.colouring = colouring

    def fit(self, batch: GraphBatch, tiling: Tiling) -> sparse.csr_matrix:
        self.edge_labels = EdgeLabels()
        edges = self.edge_labels.fit(batch)
        self.types: list[SignatureTable] = []
        codes = []
        for colours in self.colouring.fit(batch):
            offsets, rows = edge_types(batch, colours, edges)
            table, level_codes = SignatureTable.fit(*pack_rows(rows))
            self.types.append(table)
            codes.append(level_codes)
        known = [len(table) for table in self.types]
        return count_codes(offsets, np.stack(columns_of_levels(codes, known)), sum(known))

    def count(self, batch: GraphBatch, tiling: Tiling) -> sparse.csr_matrix:
        edges = self.edge_labels.encode(batch)
        codes = []
        for colours, table in zip(self.colouring.apply(batch), self.types, strict=True):
            offsets, rows = edge_types(batch, colours, edges)
            codes.append(table.lookup(*pack_rows(rows)))
        known = [len(table) for table in self.types]
        return count_new(offsets, np.stack(columns_of_levels(codes, known)), sum(known))

    def names(self) -> list[str]:
        edges = self.edge_labels.names()
        names = []
        for level, texts, table in zip(
            self.colouring.level_numbers, self.colouring.patterns(), self.types, strict=True
        ):
            for a, b, e in table.data.reshape(-1, 3).tolist():
                bond = None if edges is None else edges[e]
                edge = edge_name(texts[a], bond, texts[b], self.colouring.directed)
                names.append(f"h{level}:{edge}")
        return names

    def validate(self) -> None:
        n_levels = len(self.colouring.level_numbers)
        require(len(self.types) == n_levels, "there must be one table of edge types per level")

    @property
    def n_features(self) -> int:
        return sum(len(table) for table in self.types)
