"""Random walks and propagation compared with GraKeL.

GraKeL's labelled random walks also count every pair of nodes with different labels as a walk of
length zero; their number is subtracted before the matrices are compared. For propagation both sides
get the same random draws; GraKeL's ``t_max`` counts the hashings, the first of which is at t = 0.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.cases import Case, register
from benchmarks.data import Source, to_grakel
from benchmarks.kernels.bench_wl import needs_grakel
from gramlet import GraphBatch, Propagation, RandomWalk, VertexHistogram

Floats = NDArray[np.float64]
DECAY = 0.01
STEPS = 3
N_HASHINGS = 6
WIDTH = 1e-3


class Walks(NamedTuple):
    """The same graphs for both sides, and how many pairs of nodes have different labels."""

    ours: GraphBatch
    peer: list[Any]
    strangers: Floats


def molecules(source: Source) -> Walks:
    """MUTAG; a few of its graphs if quick."""
    batch = source.load("MUTAG")
    batch = batch[:6] if source.quick else batch
    sizes = batch.sizes.astype(np.float64)
    alike = VertexHistogram().fit_transform(batch)
    return Walks(batch, to_grakel(batch), np.outer(sizes, sizes) - alike)


def our_walks(data: Walks, **params: Any) -> Floats:
    return RandomWalk(decay=DECAY, **params).fit_transform(data.ours)


def grakel_walks(data: Walks, **params: Any) -> Floats:
    from grakel import RandomWalkLabeled

    kernel = RandomWalkLabeled(lamda=DECAY, method_type="baseline", **params)
    return np.asarray(kernel.fit_transform(data.peer)) - data.strangers


class Replay(np.random.RandomState):
    """Returns the directions and shifts it was created with, instead of drawing them."""

    def __init__(self, directions: Floats, shifts: Floats) -> None:
        super().__init__(0)
        self.directions, self.shifts = directions, shifts

    def standard_cauchy(self, size: Any = None) -> Any:
        assert size == self.directions.shape
        return self.directions

    def uniform(self, low: Any = 0.0, high: Any = 1.0, size: Any = None) -> Any:
        assert (low, high, size) == (0.0, WIDTH, len(self.shifts))
        return self.shifts


class Spreading(NamedTuple):
    """The same graphs and the same draws for both sides."""

    ours: GraphBatch
    peer: list[Any]
    draws: Replay


def spreading(source: Source) -> Spreading:
    """1,000 graphs of NCI1 without isolated nodes, and the draws that GraKeL will make."""
    batch = source.load("NCI1", 1000)
    lonely = batch.graph_of_node[batch.degrees == 0]
    batch = batch[np.setdiff1d(np.arange(len(batch)), lonely)]
    labels = list(batch.node_labels.used())
    places = [list(set(labels)).index(label) for label in labels]
    rng = np.random.RandomState(0)
    directions, shifts = np.zeros((N_HASHINGS, len(labels) + 1)), np.zeros(N_HASHINGS)
    for t in range(N_HASHINGS):
        directions[t, :-1] = (rng.randn(len(labels)) / rng.randn(len(labels)))[places]
        shifts[t] = WIDTH * rng.rand()
    return Spreading(batch, to_grakel(batch), Replay(directions, shifts))


def our_propagation(data: Spreading) -> Floats:
    kernel = Propagation(n_iter=N_HASHINGS - 1, width=WIDTH, random_state=data.draws)
    return kernel.fit_transform(data.ours)


def grakel_propagation(data: Spreading) -> Any:
    from grakel import Propagation as GrakelPropagation

    kernel = GrakelPropagation(t_max=N_HASHINGS, w=WIDTH, M="TV", random_state=0)
    return kernel.fit_transform(data.peer)


for kind, ours, theirs in (
    ("geometric", {}, {}),
    ("steps", {"kind": "steps", "n_steps": STEPS}, {"p": STEPS}),
):
    register(
        Case(
            f"walks-{kind}",
            f"Gram matrix of RandomWalk({kind!r}), labelled, MUTAG",
            molecules,
            partial(our_walks, **ours),
            partial(grakel_walks, **theirs),
            'GraKeL, method_type="baseline"',
            needs=needs_grakel,
            target_ratio=50.0,
        )
    )
register(
    Case(
        "propagation",
        "Gram matrix of Propagation(n_iter=5), 1,000 graphs of NCI1",
        spreading,
        our_propagation,
        grakel_propagation,
        "GraKeL",
        needs=needs_grakel,
        target_ratio=10.0,
    )
)
