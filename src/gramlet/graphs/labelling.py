"""Replace node labels by degrees, or remove them."""

from __future__ import annotations

from typing import Any

from gramlet.graphs.batch import GraphBatch
from gramlet.graphs.columns import Categorical

__all__ = ["NODE_LABELS", "label_nodes"]

NODE_LABELS = ("degree", "none")


def label_nodes(batch: GraphBatch, node_labels: Any) -> GraphBatch:
    """The graphs with other node labels.

    Parameters
    ----------
    batch : GraphBatch
    node_labels : "degree", "none" or None
        "degree": the number of edges at each node (if directed, of outgoing plus incoming arcs);
        "none": no labels; None: the labels that the graphs have.

    Returns
    -------
    GraphBatch

    Examples
    --------
    >>> from gramlet import GraphBatch
    >>> path = GraphBatch.from_edges([[(0, 1), (1, 2)]])
    >>> list(label_nodes(path, "degree").node_labels)
    [1, 2, 1]
    """
    if node_labels is None:
        return batch
    if not isinstance(node_labels, str) or node_labels not in NODE_LABELS:
        raise ValueError(f"node_labels must be 'degree', 'none' or None; got {node_labels!r}.")
    if node_labels == "none":
        return batch.with_columns(node_labels=None)
    degrees = batch.degrees + batch.in_degrees if batch.directed else batch.degrees
    return batch.with_columns(node_labels=Categorical.from_values(degrees))
