"""The plain record every foreign graph becomes, and the one step that joins records to a batch.

Converters fill records and know nothing of each other; the checks that need all graphs at once
(columns there in all or in none, repeated edges that agree) are made when the batch is built.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from gramlet.graphs.batch import GraphBatch

__all__ = ["AttributeNames", "GraphRecord", "complete_column", "join_records", "records_of_batch"]


class AttributeNames(NamedTuple):
    """Under which names networkx and igraph graphs keep the columns; None leaves one out."""

    label: str | None = "label"
    edge_label: str | None = "label"
    weight: str | None = "weight"
    attr: str | None = "attr"


@dataclass(slots=True)
class GraphRecord:
    """One graph: integer edges, and columns in the order of its nodes and edges.

    ``ones_only`` marks weights that are all 1 in a format that cannot leave weights out (an
    adjacency matrix): they count only if other graphs are weighted.
    """

    edges: Any
    n_nodes: int | None = None
    node_labels: Sequence[Any] | None = None
    edge_labels: Sequence[Any] | None = None
    edge_weights: Any = None
    node_attributes: Any = None
    ones_only: bool = False


def complete_column(
    position: int, what: str, values: list[Any], owners: Iterable[Any]
) -> list[Any] | None:
    """The values if all are there, None if none is; a column half there is an error.

    ``what`` says whose values they are and what ("node label"); ``owners`` names the nodes or
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


def join_records(records: Sequence[GraphRecord]) -> GraphBatch:
    """One batch of all the graphs, in order."""
    weighted = any(r.edge_weights is not None and not r.ones_only for r in records)
    return GraphBatch.from_edges(
        [r.edges for r in records],
        n_nodes=[r.n_nodes for r in records],  # type: ignore[misc]  # None: as many as are named
        node_labels=[r.node_labels for r in records],
        edge_labels=[r.edge_labels for r in records],
        edge_weights=[r.edge_weights for r in records] if weighted else None,
        node_attributes=[r.node_attributes for r in records],
    )


def records_of_batch(batch: GraphBatch) -> list[GraphRecord]:
    """The graphs of a batch, to be joined with graphs of other kinds."""
    records = []
    for graph in batch:
        tails, heads = graph.arcs()
        once = tails < heads
        records.append(
            GraphRecord(
                edges=[*zip(tails[once].tolist(), heads[once].tolist(), strict=True)],
                n_nodes=graph.n_nodes_total,
                node_labels=None if graph.node_labels is None else list(graph.node_labels),
                edge_labels=None if graph.edge_labels is None else list(graph.edge_labels[once]),
                edge_weights=None if graph.edge_weights is None else graph.edge_weights[once],
                node_attributes=graph.node_attributes,
            )
        )
    return records
