"""The record that every converter produces for a graph, and the joining of records to a batch.

Converters are independent of each other; checks that need all graphs at once (columns present in
all or in none, one direction, repeated edges that agree) are made here and when the batch is
built.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gramlet.common.arrays import Floats
from gramlet.graphs.batch import GraphBatch
from gramlet.graphs.columns import pick
from gramlet.graphs.conversion.names import AttributeNames
from gramlet.graphs.gather import edge_array
from gramlet.graphs.joining import mixed_directions

__all__ = [
    "AttributeNames",
    "GraphRecord",
    "attribute_rows",
    "complete_column",
    "join_records",
    "records_of_batch",
]


@dataclass(slots=True)
class GraphRecord:
    """One graph: integer edges, and columns in the order of its nodes and edges.

    ``ones_only`` marks weights that are all 1 in a format that always has weights (an adjacency
    matrix): they are used only if other graphs are weighted. ``directed`` is None if the format
    does not specify it and every arc has its opposite. ``node_names`` and ``edge_names`` are the
    names of all data in a networkx or igraph graph, read or not. ``one_hot`` contains the rows
    that gave edge labels: they are edge attributes if other graphs have rows that are not one-hot.
    ``edges_as_listed`` marks a list of edges, whose pairs are arcs if the batch is directed.
    """

    edges: Any
    n_nodes: int | None = None
    node_labels: Sequence[Any] | None = None
    edge_labels: Sequence[Any] | None = None
    edge_weights: Any = None
    node_attributes: Any = None
    edge_attributes: Any = None
    ones_only: bool = False
    directed: bool | None = False
    node_names: frozenset[Any] | None = None
    edge_names: frozenset[Any] | None = None
    one_hot: Any = None
    edges_as_listed: bool = False


def complete_column(
    position: int, what: str, values: list[Any], owners: Iterable[Any]
) -> list[Any] | None:
    """The values if all are present, None if none is; raise if only some are.

    ``what`` names the owner and the column ("node label"); ``owners`` names the nodes or
    edges.
    """
    missing = [i for i, value in enumerate(values) if value is None]
    if not missing:
        return values or None
    if len(missing) == len(values):
        return None
    kind, _, column = what.partition(" ")
    names = list(owners)
    there = next(i for i, value in enumerate(values) if value is not None)
    raise ValueError(
        f"Graph {position}: {kind} {names[missing[0]]!r} has no {column}, but {kind} "
        f"{names[there]!r} has. Give a {column} to all {kind}s or to none."
    )


def attribute_rows(position: int, noun: str, values: list[Any] | None) -> Floats | None:
    """One row per node or edge, from one number or vector each."""
    if values is None:
        return None
    try:
        rows = np.array([np.asarray(value, dtype=np.float64) for value in values])
    except (TypeError, ValueError, OverflowError):
        raise ValueError(
            f"Graph {position}: {noun} attributes must be numbers or vectors of one length."
        ) from None
    return rows.reshape(len(values), -1)


def join_records(records: Sequence[GraphRecord], directed: bool | None = None) -> GraphBatch:
    """One batch of all the graphs, in order.

    ``directed=None`` leaves the graphs as they are; True turns every undirected edge into two
    arcs (those of edge lists are arcs as they stand), False removes directions.
    """
    if directed is None:
        directed = _common_direction(records)
    if directed:
        records = [_two_arcs_per_edge(i, r) for i, r in enumerate(records)]
    weighted = any(r.edge_weights is not None and not r.ones_only for r in records)
    return GraphBatch.from_edges(
        [r.edges for r in records],
        n_nodes=[r.n_nodes for r in records],  # type: ignore[misc]  # None: derived from the columns
        node_labels=[r.node_labels for r in records],
        edge_labels=[r.edge_labels for r in records],
        edge_weights=[r.edge_weights for r in records] if weighted else None,
        node_attributes=[r.node_attributes for r in records],
        edge_attributes=[r.edge_attributes for r in records],
        directed=directed,
    )


def _common_direction(records: Sequence[GraphRecord]) -> bool:
    """Whether the graphs are directed; ValueError if some are and some are not."""
    directed, undirected = _first(records, True), _first(records, False)
    if directed is not None and undirected is not None:
        raise ValueError(mixed_directions(directed, undirected))
    if directed is None and undirected is None:
        return any(r.directed for r in records) and not any(len(r.edges) for r in records)
    return directed is not None


def _first(records: Sequence[GraphRecord], directed: bool) -> int | None:
    """The first graph with this direction; graphs without edges are skipped."""
    return next((i for i, r in enumerate(records) if r.directed is directed and len(r.edges)), None)


def _two_arcs_per_edge(position: int, record: GraphRecord) -> GraphRecord:
    if record.directed is not False or record.edges_as_listed or not len(record.edges):
        return record
    edges = edge_array(position, record.edges)
    return replace(
        record,
        edges=np.concatenate([edges, edges[:, ::-1]]),
        edge_labels=_twice(record.edge_labels),
        edge_weights=_twice(record.edge_weights),
        edge_attributes=_twice(record.edge_attributes),
    )


def _twice(column: Any) -> Any:
    if column is None:
        return None
    return np.concatenate([column, column]) if isinstance(column, np.ndarray) else [*column] * 2


def records_of_batch(batch: GraphBatch) -> list[GraphRecord]:
    """The graphs of a batch, to be joined with graphs of other kinds."""
    records = []
    for graph in batch:
        tails, heads = graph.arcs()
        kept = np.flatnonzero((tails < heads) | graph.directed)
        labels = pick(graph.edge_labels, kept)
        records.append(
            GraphRecord(
                edges=np.column_stack([tails[kept], heads[kept]]),
                n_nodes=graph.n_nodes_total,
                node_labels=None if graph.node_labels is None else list(graph.node_labels),
                edge_labels=None if labels is None else list(labels),
                edge_weights=pick(graph.edge_weights, kept),
                node_attributes=graph.node_attributes,
                edge_attributes=pick(graph.edge_attributes, kept),
                directed=graph.directed,
            )
        )
    return records
