"""The record that every converter produces for a graph, and the joining of records to a batch.

Converters are independent of each other; checks that need all graphs at once (columns present in
all or in none, one direction, repeated edges that agree, names that are found) are made here and
when the batch is built.
"""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from gramlet.common.arrays import Floats
from gramlet.graphs.batch import GraphBatch
from gramlet.graphs.build import edge_array, mixed_directions
from gramlet.graphs.columns import pick


class _Usual(str):
    """A default name, which may be missing."""

    __slots__ = ()


LABEL, WEIGHT, ATTR = _Usual("label"), _Usual("weight"), _Usual("attr")


class AttributeNames(NamedTuple):
    """The names under which networkx and igraph graphs store columns; None leaves one out."""

    label: str | None = LABEL
    edge_label: str | None = LABEL
    weight: str | None = WEIGHT
    attr: str | None = ATTR
    edge_attr: str | None = ATTR


_OF_NODES = ("label", "attr")
_OF_EDGES = ("edge_label", "weight", "edge_attr")


def require_names(names: AttributeNames) -> None:
    """Raise a TypeError for a value that cannot be a name."""
    for parameter, name in names._asdict().items():
        if not isinstance(name, Hashable):
            raise TypeError(f"{parameter} must be the name of an attribute, or None; got {name!r}.")


def check_names(records: Sequence[Any], names: AttributeNames) -> None:
    """Raise for given names that are found nowhere; warn of data under other names only.

    Records of other types of graphs, which have no names, and graphs without nodes (or edges)
    are skipped.
    """
    on_nodes = {
        i: r.node_names for i, r in enumerate(records) if r.n_nodes and r.node_names is not None
    }
    on_edges = {
        i: r.edge_names for i, r in enumerate(records) if len(r.edges) and r.edge_names is not None
    }
    unread = []
    for noun, found, parameters in (("node", on_nodes, _OF_NODES), ("edge", on_edges, _OF_EDGES)):
        known = {parameter: getattr(names, parameter) for parameter in parameters}
        everything = frozenset().union(*found.values())
        for parameter, name in known.items():
            if found and _given(name) and name not in everything:
                raise ValueError(_not_found(parameter, name, noun, found))
        # No warning if names, or None, were given explicitly.
        chosen = any(map(_was_chosen, known.values()))
        if everything and not chosen and everything.isdisjoint(known.values()):
            unread.append(f"{noun}s have {_listed(everything)}")
    if unread:
        warnings.warn(
            f"Data on nodes or edges is left out: {'; '.join(unread)}. as_batch reads 'label' and "
            "'attr' of nodes and 'label', 'weight' and 'attr' of edges; give other names as "
            "as_batch(x, label=..., attr=..., edge_label=..., weight=..., edge_attr=...).",
            stacklevel=3,
        )


def _was_chosen(name: Any) -> bool:
    return not isinstance(name, _Usual)


def _given(name: Any) -> bool:
    return name is not None and _was_chosen(name)


def _not_found(parameter: str, name: str, noun: str, found: dict[int, frozenset[Any]]) -> str:
    first, last = min(found), max(found)
    graphs = f"graph {first}" if first == last else f"graphs {first} to {last}"
    example = next((i for i, names in found.items() if names), None)
    there = (
        f"the {noun}s have no data"
        if example is None
        else f"the {noun}s of graph {example} have {_listed(found[example])}"
    )
    return f"{parameter}={name!r}: no {noun} of {graphs} has an attribute {name!r}; {there}."


def _listed(names: Iterable[Any]) -> str:
    """The first ten names, sorted."""
    texts = sorted(map(repr, names))
    return ", ".join(texts[:10]) + (f" and {len(texts) - 10} more" if len(texts) > 10 else "")


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
