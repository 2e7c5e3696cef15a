"""Exact transport beside a loop over POT: small problems in bulk, and WWL on attributes."""

from __future__ import annotations

import importlib.util
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.cases import Case, register
from benchmarks.data import Source
from gramlet import GraphBatch, WassersteinWL
from gramlet.engine.earth_mover import MassPoints, earth_mover_distances, mass_points
from gramlet.kernels.wasserstein import attribute_points

Floats = NDArray[np.float64]
N_ITER = 2


def needs_pot() -> str | None:
    """Why POT cannot be run, if so."""
    return None if importlib.util.find_spec("ot") else "not installed: POT"


class Problems(NamedTuple):
    """Point sets with masses, for both sides."""

    left: MassPoints
    right: MassPoints
    left_plain: list[tuple[Floats, Floats]]
    right_plain: list[tuple[Floats, Floats]]


def point_sets(
    rng: np.random.Generator, count: int, size: int
) -> tuple[MassPoints, list[tuple[Floats, Floats]]]:
    """Uniform points in six dimensions with masses in proportion to small integers."""
    offsets = np.arange(count + 1, dtype=np.int64) * size
    points = rng.random((count * size, 6))
    weights = rng.integers(1, 5, count * size)
    alike = np.zeros(count * size, dtype=np.int64)
    plain = [
        (points[a : a + size], weights[a : a + size] / weights[a : a + size].sum())
        for a in offsets[:-1]
    ]
    return mass_points(offsets, points, alike, weights), plain


def problems(source: Source, n: int, m: int) -> Problems:
    """A few thousand problems of n × m points."""
    rng = np.random.default_rng(0)
    rows, columns = (10, 10) if source.quick else (100, 50)
    left, left_plain = point_sets(rng, rows, n)
    right, right_plain = point_sets(rng, columns, m)
    return Problems(left, right, left_plain, right_plain)


def ours(data: Problems) -> Floats:
    return earth_mover_distances(data.left, data.right, 0.0)


def pot_loop(left: list[tuple[Floats, Floats]], right: list[tuple[Floats, Floats]]) -> Floats:
    import ot
    from scipy.spatial.distance import cdist

    return np.array(
        [[ot.emd2(a, b, cdist(x, y)) for y, b in right] for x, a in left], dtype=np.float64
    )


def pot(data: Problems) -> Floats:
    return pot_loop(data.left_plain, data.right_plain)


for n, m in ((18, 8), (30, 12), (39, 15)):
    register(
        Case(
            f"transport-{n}x{m}",
            f"5,000 exact transport problems of {n} × {m} points, costs included",
            partial(problems, n=n, m=m),
            ours,
            pot,
            "POT emd2 in a loop",
            target_ratio=20.0,
            needs=needs_pot,
        )
    )


class Attributed(NamedTuple):
    """Graphs with attributes, and their nodes' coordinates for the loop."""

    ours: GraphBatch
    plain: list[tuple[Floats, Floats]]


def attributed(source: Source) -> Attributed:
    """Graphs of ENZYMES; quick: random attributes on MUTAG."""
    batch = source.load("ENZYMES", 60)
    if batch.node_attributes is None:
        rng = np.random.default_rng(0)
        batch = GraphBatch(
            batch.node_offsets,
            batch.indptr,
            batch.indices,
            node_attributes=rng.normal(size=(batch.n_nodes_total, 3)),
        )[:20]
    points = attribute_points(batch, batch.node_attributes, N_ITER, 0)
    parts = np.split(points, batch.node_offsets[1:-1])
    return Attributed(batch, [(x, np.full(len(x), 1.0 / len(x))) for x in parts])


def our_distances(data: Attributed) -> Any:
    kernel = WassersteinWL(n_iter=N_ITER, attributes=True).fit(data.ours)
    return kernel.distance(data.ours)


def loop_distances(data: Attributed) -> Any:
    return pot_loop(data.plain, data.plain)


register(
    Case(
        "wwl-attributes",
        f"distances of WassersteinWL(n_iter={N_ITER}, attributes=True), 60 graphs of ENZYMES",
        attributed,
        our_distances,
        loop_distances,
        "the wwl package's loop over POT emd2",
        target_ratio=20.0,
        needs=needs_pot,
    )
)
