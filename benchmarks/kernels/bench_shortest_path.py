"""Shortest paths compared with GraKeL.

GraKeL counts ordered pairs of nodes: paths between equal labels count four times and others twice.
Its matrix is converted to counts of unordered pairs before the two are compared.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.cases import Case, register
from benchmarks.data import Source, to_grakel
from benchmarks.kernels.bench_wl import needs_grakel
from gramlet import GraphBatch, ShortestPath

Floats = NDArray[np.float64]


class Both(NamedTuple):
    """The same graphs for both sides, and the part of the kernel that GraKeL counts twice."""

    ours: GraphBatch
    peer: list[Any]
    equal_ends: Floats


def both(source: Source, name: str, n_graphs: int) -> Both:
    """Graphs of a data set for both sides."""
    batch = source.load(name, n_graphs)
    kernel = ShortestPath().fit(batch)
    ends = kernel.counter_.types.data.reshape(-1, 3)
    equal = kernel.features(batch)[:, np.flatnonzero(ends[:, 0] == ends[:, 1])]
    return Both(batch, to_grakel(batch), (equal @ equal.T).toarray())


def ours(data: Both) -> Floats:
    return ShortestPath().fit_transform(data.ours)


def grakel(data: Both) -> Floats:
    from grakel import ShortestPath as Peer

    matrix = np.asarray(Peer(with_labels=True).fit_transform(data.peer), dtype=np.float64)
    return (matrix - 2.0 * data.equal_ends) / 2.0


for name, data, n_graphs in (("sp", "NCI1", 1500), ("sp-proteins", "PROTEINS", 500)):
    register(
        Case(
            name,
            f"Gram matrix of ShortestPath, labelled, {n_graphs} graphs of {data}",
            partial(both, name=data, n_graphs=n_graphs),
            ours,
            grakel,
            "GraKeL",
            target_ratio=40.0,
            needs=needs_grakel,
        )
    )
