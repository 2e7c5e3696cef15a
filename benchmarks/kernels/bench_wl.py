"""Weisfeiler-Lehman kernels and label histograms compared with GraKeL; refinement alone."""

from __future__ import annotations

import importlib.util
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from benchmarks.cases import Case, Growth, agree, register
from benchmarks.data import Source, random_batch, to_grakel
from gramlet import (
    EdgeHistogram,
    GraphBatch,
    VertexHistogram,
    WeisfeilerLehman,
    WLOptimalAssignment,
)
from gramlet.engine.core.tiles import Tiling
from gramlet.kernels.weisfeiler_lehman.colour_counts import ColourCounter, Colouring


class Both(NamedTuple):
    """The same graphs for both sides."""

    ours: GraphBatch
    peer: list[Any]


def needs_grakel() -> str | None:
    """Why GraKeL cannot be run, if so."""
    return None if importlib.util.find_spec("grakel") else "GraKeL is not installed"


def both(source: Source, name: str = "NCI1", n_graphs: int | None = None) -> Both:
    """Graphs of a data set for both sides."""
    batch = source.load(name, n_graphs)
    return Both(batch, to_grakel(batch))


def gram(kernel: Any, data: Both) -> Any:
    """Our Gram matrix, from a fresh kernel."""
    return kernel().fit_transform(data.ours)


def grakel_wl(data: Both) -> Any:
    from grakel import VertexHistogram as GrakelVertex
    from grakel import WeisfeilerLehman as GrakelWL

    return GrakelWL(n_iter=5, base_graph_kernel=GrakelVertex).fit_transform(data.peer)


def grakel_wl_oa(data: Both, sparse: bool) -> Any:
    from grakel import WeisfeilerLehmanOptimalAssignment

    return WeisfeilerLehmanOptimalAssignment(n_iter=5, sparse=sparse).fit_transform(data.peer)


def grakel_vertex(data: Both) -> Any:
    from grakel import VertexHistogram as GrakelVertex

    return GrakelVertex().fit_transform(data.peer)


def grakel_edge(data: Both) -> Any:
    from grakel import EdgeHistogram as GrakelEdge

    return GrakelEdge().fit_transform(data.peer)


def edges_for_both(source: Source) -> Both:
    """GraKeL compares edge labels only, so these include the labels of the ends here."""
    batch = source.load("NCI1")
    tails, heads = batch.arcs()
    codes = batch.node_labels.codes
    n_labels = len(batch.node_labels.categories)
    low, high = np.minimum(codes[tails], codes[heads]), np.maximum(codes[tails], codes[heads])
    kinds = low * n_labels + high
    if batch.edge_labels is not None:
        kinds = kinds * len(batch.edge_labels.categories) + batch.edge_labels.codes
    return Both(batch, to_grakel(batch, kinds.tolist()))


register(
    Case(
        "wl",
        "Gram matrix of WeisfeilerLehman(n_iter=5), NCI1",
        both,
        partial(gram, partial(WeisfeilerLehman, n_iter=5)),
        grakel_wl,
        "GraKeL",
        needs=needs_grakel,
        target_ratio=6.0,
        target_memory=0.25,
    )
)
for mode, sparse in (("dense", False), ("sparse", True)):
    register(
        Case(
            f"wl-oa-{mode}",
            "Gram matrix of WLOptimalAssignment(n_iter=5), 500 graphs of NCI1",
            partial(both, n_graphs=500),
            partial(gram, partial(WLOptimalAssignment, n_iter=5)),
            partial(grakel_wl_oa, sparse=sparse),
            f"GraKeL, sparse={sparse}",
            needs=needs_grakel,
            target_ratio=500.0,
        )
    )
register(
    Case(
        "vertex",
        "Gram matrix of VertexHistogram, NCI1",
        both,
        partial(gram, VertexHistogram),
        grakel_vertex,
        "GraKeL",
        needs=needs_grakel,
    )
)
register(
    Case(
        "edge",
        "Gram matrix of EdgeHistogram, NCI1 (GraKeL counts each edge twice: 4 times ours)",
        edges_for_both,
        partial(gram, EdgeHistogram),
        grakel_edge,
        "GraKeL",
        agree(4.0),
        needs=needs_grakel,
    )
)


def count_colours(batch: GraphBatch) -> Any:
    """Refinement and the counts of all levels: everything but the Gram matrix."""
    return ColourCounter(Colouring(5, True, False)).fit(batch, Tiling())


register(
    Case(
        "refinement",
        "colour refinement and counts of 6 levels, NCI1",
        lambda source: source.load("NCI1"),
        count_colours,
        target_seconds=0.5,
    )
)
register(
    Growth(
        "refinement-growth",
        "colour refinement and counts of 6 levels, random graphs of 30 nodes and 60 edges",
        # The whole range, within the cache and beyond: the exponent depends on the range.
        sizes=(250, 500, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 64_000),
        data=lambda size: random_batch(size, 30, 60),
        ours=count_colours,
        size_of=lambda batch: len(batch.indices) // 2,
        target_exponent=1.15,
    )
)
