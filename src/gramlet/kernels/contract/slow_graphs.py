"""A warning before work on one very large graph that takes longer than half a minute."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import shortest_path

from gramlet.common.notices import warn_caller
from gramlet.graphs.batch import GraphBatch

# Smaller graphs take seconds with every kernel.
_LARGE = 1000
# Expected seconds from which on there is a warning.
_LONG = 30.0


def large_graph(batch: GraphBatch) -> int | None:
    """The position of the largest graph, or None if it is not large."""
    if batch.sizes.max(initial=0) < _LARGE:
        return None
    return int(batch.sizes.argmax())


def hops_across(batch: GraphBatch, graph: int) -> int:
    """A lower bound of the longest distance from node 0: that from the node farthest from it.

    >>> hops_across(GraphBatch.from_edges([[(0, 1), (1, 2), (2, 3)]]), 0)
    3
    """
    begin, end = batch.node_offsets[graph : graph + 2]
    arcs = slice(batch.indptr[begin], batch.indptr[end])
    heads, pointers = batch.indices[arcs] - begin, batch.indptr[begin : end + 1]
    n = int(end - begin)
    adjacency = sparse.csr_matrix((np.ones(len(heads)), heads, pointers - pointers[0]), (n, n))
    farthest = 0
    for _ in range(2):
        hops = shortest_path(adjacency, unweighted=True, indices=farthest)
        hops[np.isinf(hops)] = -1.0
        farthest = int(hops.argmax())
    return int(hops[farthest])


def warn_if_slow(owner: str, batch: GraphBatch, graph: int, seconds: float) -> None:
    """Give a warning with the expected time if it is long."""
    if seconds < _LONG:
        return
    time = f"{seconds:.0f} seconds" if seconds < 120 else f"{seconds / 60:.0f} minutes"
    if seconds >= 7200:
        time = f"{seconds / 3600:.0f} hours"
    warn_caller(
        f"{owner}: graph {graph} has {int(batch.sizes[graph]):,} nodes and takes about {time}, "
        "depending on the machine. verbose=True shows a progress bar on a terminal; "
        "WeisfeilerLehman and other kernels with linear cost take seconds."
    )
