"""Weisfeiler-Lehman, vertex histograms and graphlets compared with the C++ package graphkernels.

The module `graphkernels` builds the package. Its kernel on all graphlets of four nodes is wrong: it
is run unchanged, for its time only, and repaired, for its values too. Its kernel on connected
graphlets is right.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from benchmarks.cases import Case, register, same_matrices
from benchmarks.data import Source
from benchmarks.graphkernels import PEER, Both, needs_sources
from gramlet import GraphletKernel, VertexHistogram, WeisfeilerLehman


def both(source: Source, n_graphs: int | None = None) -> Both:
    """Graphs of NCI1 for both sides."""
    return Both(source.load("NCI1", n_graphs))


def gram(kernel: Any, data: Both) -> Any:
    """Our Gram matrix, from a fresh kernel."""
    return kernel().fit_transform(data.ours)


register(
    Case(
        "wl-cpp",
        "Gram matrix of WeisfeilerLehman(n_iter=5), NCI1",
        both,
        partial(gram, partial(WeisfeilerLehman, n_iter=5)),
        lambda data: data.peer("weisfeiler_lehman", 5),
        PEER,
        needs=needs_sources,
        target_ratio=3.0,
    )
)
register(
    Case(
        "vertex-cpp",
        "Gram matrix of VertexHistogram, 1,000 graphs of NCI1",
        partial(both, n_graphs=1000),
        partial(gram, VertexHistogram),
        lambda data: data.peer("vertex_histogram"),
        PEER,
        needs=needs_sources,
    )
)


# Graphlets of four nodes


def of_four_nodes(source: Source, name: str, repaired: bool = False) -> Both:
    """Graphs of at least 4 nodes: gramlet pads smaller ones, the package returns zeros for them."""
    batch = source.load(name)
    return Both(batch[np.flatnonzero(batch.sizes >= 4)], repaired)


WAYS = {
    "": ("as it is, its values wrong: times alone are compared", False, False, None),
    "-repaired": ("with its slips repaired", True, False, same_matrices),
    "-connected": ("as it is, connected graphlets alone on both sides", False, True, same_matrices),
}

for data_set in ("NCI1", "PROTEINS"):
    for way, (remark, repaired, connected, check) in WAYS.items():
        theirs = "connected_four_node_graphlets" if connected else "four_node_graphlets"
        register(
            Case(
                f"graphlet-cpp{way}-{data_set.lower()}",
                f"Gram matrix of GraphletKernel(k=4), exact, {data_set}; graphkernels {remark}",
                partial(of_four_nodes, name=data_set, repaired=repaired),
                partial(gram, partial(GraphletKernel, k=4, connected_only=connected)),
                lambda data, theirs=theirs: data.peer(theirs),
                f"{PEER}, repaired" if repaired else PEER,
                check=check,
                needs=needs_sources,
                target_ratio=1.0,
            )
        )
