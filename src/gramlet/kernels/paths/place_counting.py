"""Places of nodes on shortest paths: features and tables for GraphHopper.

`PlaceCounter` computes explicit features for the node kernels that have them, `PlaceReader` the
tables that other node kernels compare.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse

from gramlet.common.arrays import Floats, Ints
from gramlet.common.fields import Flag, Instance, Integer, Optional, fields
from gramlet.common.notices import warn_caller
from gramlet.common.stored_state import LARGEST, LARGEST_COUNT, require
from gramlet.engine.core.signature_table import SignaturesOf, SignatureTable, pack_rows
from gramlet.engine.core.tiles import Tiling
from gramlet.engine.paths.path_places import (
    NodeGroups,
    PlaceCounts,
    n_places,
    place_and_length,
    place_counts,
)
from gramlet.engine.paths.place_comparison import AttributedPlaces, attribute_sums
from gramlet.graphs.batch import GraphBatch
from gramlet.kernels.contract.columns import checked_weights, required_attributes
from gramlet.kernels.contract.labels import NodeLabels

__all__ = ["PlaceCounter", "PlaceReader"]

_OWNER = "GraphHopper"


class _Table(NamedTuple):
    """One table per graph: one line per place, one column per label (and attribute)."""

    offsets: Ints
    values: Floats
    n_lines: Ints
    label_offsets: Ints
    labels: Ints


class PlaceReader:
    """Tables of places for groups of nodes that have equal labels and attributes.

    Parameters
    ----------
    use_labels : bool or "auto"
    weighted : bool
    fold : bool
        Whether only the first half of paths that can be reversed is stored.
    """

    stored = fields(
        labels=Instance(NodeLabels), weighted=Flag(), fold=Flag(), n_attributes=Integer()
    )

    def __init__(self, use_labels: bool | str, weighted: bool, fold: bool = True) -> None:
        self.labels = NodeLabels(use_labels)
        self.weighted = weighted
        self.fold = fold

    def fit(self, batch: GraphBatch, tiling: Tiling) -> AttributedPlaces:
        """Learn the labels and the number of attributes; return the tables of these graphs."""
        attributes = required_attributes(batch, _OWNER)
        self.n_attributes = int(attributes.shape[1])
        return self._places(batch, self.labels.fit(batch), attributes, tiling)

    def read(self, batch: GraphBatch, tiling: Tiling) -> AttributedPlaces:
        """The tables of new graphs."""
        attributes = required_attributes(batch, _OWNER, self.n_attributes or None)
        if len(attributes) == 0:
            attributes = np.zeros((0, self.n_attributes))
        return self._places(batch, self.labels.encode(batch), attributes, tiling)

    def _places(
        self, batch: GraphBatch, labels: Ints, attributes: Floats, tiling: Tiling
    ) -> AttributedPlaces:
        bits = np.ascontiguousarray(attributes).view(np.int64)
        groups, kinds = _groups(batch, np.column_stack([labels, bits]))
        counted = _counted(batch, groups, self.weighted, self.fold, tiling)
        return AttributedPlaces(
            counted.longest,
            counted.offsets,
            counted.counts,
            counted.folded,
            groups.offsets,
            np.ascontiguousarray(kinds[:, 0]),
            np.ascontiguousarray(kinds[:, 1:].T).view(np.float64),
        )


class PlaceCounter:
    """Features by label, place and length of path: counts or sums of attributes.

    Parameters
    ----------
    use_labels : bool or "auto"
    weighted : bool
    linear : bool
        Whether features are sums of attributes instead of counts.
    """

    stored = fields(
        weighted=Flag(),
        reader=Optional(Instance(PlaceReader)),
        labels=Instance(NodeLabels),
        types=SignaturesOf(3),
    )

    def __init__(self, use_labels: bool | str, weighted: bool, linear: bool) -> None:
        self.weighted = weighted
        self.reader = PlaceReader(use_labels, weighted, fold=False) if linear else None
        self.labels = NodeLabels(use_labels) if self.reader is None else self.reader.labels

    def fit(self, batch: GraphBatch, tiling: Tiling) -> sparse.csr_matrix:
        """Learn the features of these graphs; one row per graph."""
        if self.reader is None:
            table = self._label_table(batch, self.labels.fit(batch), tiling)
        else:
            table = self._attribute_table(self.reader.fit(batch, tiling), tiling)
        indptr, rows, values = self._entries(table)
        self.types, codes = SignatureTable.fit(*pack_rows(rows))
        return _rows_matrix(indptr, codes, values, len(self.types))

    def count(self, batch: GraphBatch, tiling: Tiling) -> sparse.csr_matrix:
        """The features of new graphs; columns after the fitted ones are unseen features."""
        if self.reader is None:
            table = self._label_table(batch, self.labels.encode(batch), tiling)
        else:
            table = self._attribute_table(self.reader.read(batch, tiling), tiling)
        indptr, rows, values = self._entries(table)
        codes = self.types.lookup(*pack_rows(rows))
        return _rows_matrix(
            indptr, codes, values, max(len(self.types), int(codes.max(initial=-1)) + 1)
        )

    def names(self) -> list[str]:
        """A name per feature: "C:2/3" is label C at the second place of paths of three nodes."""
        rows = self.types.data.reshape(-1, 3)
        labels = self.labels.names()
        places, lengths = place_and_length(rows[:, 1])
        names = []
        for (label, _, column), place, length in zip(rows, places, lengths, strict=True):
            what = labels[label] if self.reader is None else f"attribute {column}"
            if self.reader is not None and self.labels.used:
                what = f"{labels[label]}:{what}"
            names.append(f"{what}:{place + 1}/{length}")
        return names

    def validate(self) -> None:
        """Raise ValueError if the features are not those of these labels and attributes."""
        width = 1
        if self.reader is not None:
            require(not self.reader.fold, "reader must not fold paths")
            width = max(1, self.reader.n_attributes)
        rows = self.types.data.reshape(-1, 3)
        inside = (rows >= 0) & (rows < (len(self.labels), 1 << 50, width))
        require(inside.all(), "a part of features is out of range")

    @property
    def n_features(self) -> int:
        """The number of fitted features."""
        return len(self.types)

    def _label_table(self, batch: GraphBatch, labels: Ints, tiling: Tiling) -> _Table:
        groups, kinds = _groups(batch, labels[:, None])
        counted = _counted(batch, groups, self.weighted, False, tiling)
        lines = n_places(counted.longest, False)
        return _Table(counted.offsets, counted.counts, lines, groups.offsets, kinds[:, 0])

    def _attribute_table(self, places: AttributedPlaces, tiling: Tiling) -> _Table:
        graph_of_group = np.repeat(np.arange(len(places)), np.diff(places.group_offsets))
        table, ids = SignatureTable.fit(
            *pack_rows(np.column_stack([graph_of_group, places.labels]))
        )
        kinds = table.data.reshape(-1, 2)
        label_offsets = np.searchsorted(kinds[:, 0], np.arange(len(places) + 1))
        within = ids - label_offsets[graph_of_group]
        offsets, sums = attribute_sums(places, label_offsets, within, tiling)
        return _Table(offsets, sums, places.lines, label_offsets, kinds[:, 1])

    def _entries(self, table: _Table) -> tuple[Ints, Ints, Floats]:
        """The non-zero entries: offsets of the graphs; label, line and attribute; values."""
        width = 1 if self.reader is None else max(1, self.reader.n_attributes)
        where = np.flatnonzero(table.values)
        graph = np.searchsorted(table.offsets, where, side="right") - 1
        columns = np.diff(table.label_offsets)[graph] * width
        line, column = np.divmod(where - table.offsets[graph], columns)
        label = table.labels[table.label_offsets[graph] + column // width]
        rows = np.column_stack([label, line, column % width])
        return np.searchsorted(where, table.offsets), rows, table.values[where]


def _groups(batch: GraphBatch, rows: Ints) -> tuple[NodeGroups, Ints]:
    """Groups of nodes of a graph with equal rows, in the order of the graphs, and their rows."""
    graph = batch.graph_of_node
    table, ids = SignatureTable.fit(*pack_rows(np.column_stack([graph, rows])))
    kinds = table.data.reshape(-1, rows.shape[1] + 1)
    return NodeGroups(np.searchsorted(kinds[:, 0], np.arange(len(batch) + 1)), ids), kinds[:, 1:]


def _counted(
    batch: GraphBatch, groups: NodeGroups, weighted: bool, fold: bool, tiling: Tiling
) -> PlaceCounts:
    weights = checked_weights(batch, _OWNER, positive=True) if weighted else None
    if weighted and weights is None:
        weights = np.ones(len(batch.indices))
    counted = place_counts(
        batch.node_offsets,
        batch.indptr,
        batch.indices,
        groups,
        weights,
        batch.directed,
        fold,
        tiling,
    )
    _check_counts(counted)
    return counted


def _check_counts(counted: PlaceCounts) -> None:
    """Warn of rounded counts; raise an error if sums of squares of counts would overflow."""
    largest = counted.counts.max(initial=0.0)
    if largest <= LARGEST_COUNT:
        return
    worst = int(np.searchsorted(counted.offsets, np.argmax(counted.counts), side="right") - 1)
    if not largest <= LARGEST:
        raise ValueError(
            f"{_OWNER}: graph {worst} has more than {LARGEST:g} shortest paths through one place, "
            "too many for floating-point numbers. Leave it out."
        )
    warn_caller(
        f"{_OWNER}: graph {worst} has {largest:.3g} shortest paths through one place; counts "
        "beyond 2^53 are rounded.",
    )


def _rows_matrix(indptr: Ints, codes: Ints, values: Floats, n_columns: int) -> sparse.csr_matrix:
    matrix = sparse.csr_matrix((values, codes, indptr), shape=(len(indptr) - 1, n_columns))
    matrix.sort_indices()
    return matrix
