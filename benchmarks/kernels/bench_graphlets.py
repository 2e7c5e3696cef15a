"""Graphlets: sampling, graph sampling and averaging, and exact spectra.

Peers: numpy code that multiplies every sample by the same random matrix, on a few graphs, and
GraKeL's sampling graphlet kernel (which estimates a different quantity: only times are compared).
"""

from __future__ import annotations

import importlib.util
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from benchmarks.cases import Case, Growth, register
from benchmarks.data import Source, to_grakel
from gramlet import (
    GraphBatch,
    GraphletKernel,
    GraphSampling,
    OpticalMap,
    RandomWalkSampler,
    UniformSampler,
)
from gramlet.engine.graphlets.patterns import adjacency_matrices

# NCI1 has 4110 graphs: ten million samples in total.
_A_GRAPH = 2433
_SAMPLERS = {"uniform": UniformSampler, "walk": RandomWalkSampler}


class Graphs(NamedTuple):
    """The same graphs for both sides."""

    ours: GraphBatch
    peer: list[Any]


def needs_grakel() -> str | None:
    """Why GraKeL cannot be run, if so."""
    return None if importlib.util.find_spec("grakel") else "GraKeL is not installed"


def whole(source: Source, name: str = "NCI1") -> GraphBatch:
    return source.load(name)


# Drawing


def drawn(sampler: Any, batch: GraphBatch) -> Any:
    return sampler().sample(batch, k=5, n_samples=_A_GRAPH, random_state=0)


for name, sampler in _SAMPLERS.items():
    register(
        Case(
            f"graphlet-draw-{name}",
            f"ten million subgraphs of 5 nodes from NCI1, {sampler.__name__}",
            whole,
            partial(drawn, sampler),
            target_seconds=5.0,
        )
    )


# Graph sampling and averaging


def embedded(batch: GraphBatch, n_samples: int = 2000) -> Any:
    return GraphSampling(
        k=6, n_samples=n_samples, feature_map=OpticalMap(5000), random_state=0
    ).fit_transform(batch)


class Few(NamedTuple):
    """A batch, and every subgraph that our sampler draws from it with the seed of `embedded`."""

    batch: GraphBatch
    codes: Any
    feature_map: OpticalMap


def few(source: Source) -> Few:
    """Graphs with the peer's samples drawn in advance: drawing them is not part of its time."""
    batch = source.load("NCI1", 8)
    fitted = GraphSampling(k=6, n_samples=2000, feature_map=OpticalMap(5000), random_state=0).fit(
        batch
    )
    codes = UniformSampler().sample(batch, k=6, n_samples=2000, random_state=0)
    return Few(batch, codes, fitted.feature_map_)


def projected_one_by_one(data: Few) -> Any:
    """The mean of |W a + b|² / √m, with one matrix product in numpy per graph."""
    weights, offsets = data.feature_map.weights_, data.feature_map.offsets_
    result = np.empty((len(data.codes), len(offsets)))
    for graph, codes in enumerate(data.codes):
        rows = adjacency_matrices(codes, 6).reshape(len(codes), -1)
        real = rows @ weights.real + offsets.real
        imaginary = rows @ weights.imag + offsets.imag
        result[graph] = (real**2 + imaginary**2).mean(axis=0)
    return result / np.sqrt(len(offsets))


register(
    Case(
        "gsa-optical",
        "GraphSampling(k=6, n_samples=2000, OpticalMap(5000)), 8 graphs of NCI1",
        few,
        lambda data: embedded(data.batch),
        projected_one_by_one,
        "numpy, every sample projected",
        target_ratio=30.0,
    )
)
register(
    Case(
        "gsa-optical-nci1",
        "GraphSampling(k=6, n_samples=2000, OpticalMap(5000)), NCI1",
        whole,
        embedded,
    )
)
register(
    Case(
        "gsa-optical-many",
        "GraphSampling(k=6, n_samples=20000, OpticalMap(5000)), NCI1",
        whole,
        partial(embedded, n_samples=20_000),
    )
)
register(
    Case(
        "gsa-draw-many",
        "the drawing alone: 20000 subgraphs of 6 nodes a graph, counted, NCI1",
        whole,
        lambda batch: GraphSampling(
            k=6, n_samples=20_000, feature_map=OpticalMap(1), random_state=0
        ).fit_transform(batch),
    )
)
register(
    Case(
        "gsa-optical-mutag",
        "GraphSampling(k=6, n_samples=2000, OpticalMap(5000)), MUTAG",
        partial(whole, name="MUTAG"),
        embedded,
        target_seconds=2.0,
    )
)


class Asked(NamedTuple):
    """A batch and the number of subgraphs to draw from each of its graphs."""

    batch: GraphBatch
    n_samples: int


def mutag_and(n_samples: int) -> Asked:
    return Asked(Source().load("MUTAG"), n_samples)


register(
    Growth(
        "gsa-growth",
        "GraphSampling(k=6, OpticalMap(5000)), MUTAG, more and more samples",
        sizes=(2_000, 6_000, 20_000, 60_000),
        data=mutag_and,
        ours=lambda asked: embedded(*asked),
        size_of=lambda asked: asked.n_samples,
        unit="samples a graph",
        target_exponent=0.9,
    )
)


# Exact spectra


def exact(k: int, data: Graphs) -> Any:
    return GraphletKernel(k=k).fit_transform(data.ours)


def for_both(source: Source, name: str) -> Graphs:
    """Graphs of at least 4 nodes: GraKeL's sampler does not support others."""
    batch = source.load(name, 150)
    batch = batch[np.flatnonzero(batch.sizes >= 4)]
    return Graphs(batch, to_grakel(batch))


def grakel_sampled(data: Graphs) -> Any:
    """Samples of 3 and 4 nodes: the values differ from those of exact spectra."""
    from grakel import GraphletSampling

    return GraphletSampling(k=4, sampling={"n_samples": 500}, random_state=0).fit_transform(
        data.peer
    )


for data_set in ("NCI1", "PROTEINS"):
    register(
        Case(
            f"graphlet-{data_set.lower()}",
            f"GraphletKernel(k=4), exact, 150 graphs of {data_set}: times alone are compared",
            partial(for_both, name=data_set),
            partial(exact, 4),
            grakel_sampled,
            "GraKeL, 500 samples",
            check=None,
            needs=needs_grakel,
            target_ratio=50.0,
        )
    )
for size, seconds in ((4, None), (5, 120.0)):
    register(
        Case(
            f"graphlet-k{size}",
            f"GraphletKernel(k={size}), exact, all of NCI1",
            lambda source: Graphs(source.load("NCI1"), []),
            partial(exact, size),
            target_seconds=seconds,
        )
    )
