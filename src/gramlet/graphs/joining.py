"""Joining batches: concatenated arrays, columns with common categories, equal directions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gramlet.graphs.build import EDGE_COLUMNS, NODE_COLUMNS
from gramlet.graphs.columns import join_columns

if TYPE_CHECKING:
    from gramlet.graphs.batch import GraphBatch

__all__ = ["joined", "mixed_directions"]


def joined(batches: Sequence[GraphBatch]) -> dict[str, Any]:
    """The arrays and columns of the joined batch, by the constructor's parameter names."""
    nodes = np.concatenate([[0], np.cumsum([b.n_nodes_total for b in batches])]).astype(int)
    arcs = np.concatenate([[0], np.cumsum([len(b.indices) for b in batches])]).astype(int)
    pieces = list(zip(batches, nodes, arcs, strict=False))
    none = np.zeros(1, dtype=np.int64)
    parts: dict[str, Any] = {
        "directed": _common_direction(batches),
        "node_offsets": [none, *(b.node_offsets[1:] + shift for b, shift, _ in pieces)],
        "indptr": [none, *(b.indptr[1:] + shift for b, _, shift in pieces)],
        # Added in 64 bits: together the batches may have more nodes than fit into 32.
        "indices": [none[:0], *(np.add(b.indices, s, dtype=np.int64) for b, s, _ in pieces)],
    }
    for name in ("node_offsets", "indptr", "indices"):
        parts[name] = np.concatenate(parts[name])
    parts |= {name: _join_column(batches, name) for name in NODE_COLUMNS + EDGE_COLUMNS}
    full = [b for b in batches if len(b)]
    molecules = [b.molecules for b in full if b.molecules is not None]
    if molecules and len(molecules) == len(full):  # with other graphs, they are no molecules
        parts["molecules"] = [text for texts in molecules for text in texts]
    return parts


def _common_direction(batches: Sequence[GraphBatch]) -> bool:
    """Whether the joined batch is directed; ValueError if some are and some are not."""
    first_graph: dict[bool, int] = {}
    position = 0
    for batch in batches:
        # A batch without edges counts as directed and as undirected.
        if len(batch.indices):
            graph = position + int(np.flatnonzero(batch.n_edges)[0])
            first_graph.setdefault(batch.directed, graph)
        position += len(batch)
    if len(first_graph) == 2:
        raise ValueError(mixed_directions(first_graph[True], first_graph[False]))
    return next(iter(first_graph)) if first_graph else any(batch.directed for batch in batches)


def mixed_directions(directed: int, undirected: int) -> str:
    """The message for directed and undirected graphs in one list."""
    return (
        f"Graph {directed} is directed and graph {undirected} is undirected. "
        "Convert one of them: as_batch(x, directed=True) or batch.to_undirected()."
    )


def _join_column(batches: Sequence[GraphBatch], name: str) -> Any:
    """One column of the joined batch, or None."""
    over_nodes = name in NODE_COLUMNS
    # Batches without nodes (or edges) are compatible with and without the column.
    described = [
        i for i, b in enumerate(batches) if (b.n_nodes_total if over_nodes else len(b.indices))
    ]

    def position(piece: int) -> int:
        """The first graph of a piece that has nodes (or edges)."""
        before, batch = batches[: described[piece]], batches[described[piece]]
        counts = batch.sizes if over_nodes else batch.n_edges
        return sum(map(len, before)) + int(np.flatnonzero(counts)[0])

    return join_columns(name, [getattr(batches[i], name) for i in described], position)
