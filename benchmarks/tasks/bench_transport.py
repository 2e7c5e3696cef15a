"""Exact transport compared with loops over POT: many small problems, and WWL on attributes.

On attributes the peer is the loop of the authors' package, which, like gramlet, visits each pair of
graphs once; both sides get the coordinates of the nodes.
"""

from __future__ import annotations

import importlib.util
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.cases import Case, register, same_matrices
from benchmarks.data import Source
from gramlet.engine.transport.earth_mover import MassPoints, earth_mover_distances, mass_points
from gramlet.kernels.wasserstein.wasserstein_wl import attribute_points

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
    """The coordinates of the nodes of some graphs, for both sides."""

    offsets: NDArray[np.int64]
    points: Floats
    parts: list[Floats]


def needs_wwl() -> str | None:
    """Why the authors' package cannot be run, if so."""
    missing = [name for name in ("wwl", "ot", "igraph") if not importlib.util.find_spec(name)]
    return f"not installed: {', '.join(missing)}" if missing else None


def attributed(source: Source) -> Attributed:
    """Every third graph of ENZYMES (by default 200 of 600); quick: random attributes on MUTAG."""
    batch = source.load("ENZYMES")
    batch = batch[:: 3 if source.n_graphs is None else 1]
    attributes = batch.node_attributes
    if attributes is None:
        attributes = np.random.default_rng(0).normal(size=(batch.n_nodes_total, 3))
    points = attribute_points(batch, attributes, N_ITER, 0)
    offsets = np.asarray(batch.node_offsets)
    return Attributed(offsets, points, np.split(points, offsets[1:-1]))


def our_distances(data: Attributed) -> Floats:
    alike = np.zeros(len(data.points), dtype=np.int64)
    return earth_mover_distances(mass_points(data.offsets, data.points, alike, alike), None, 0.0)


def package_distances(data: Attributed) -> Floats:
    from wwl.wwl import _compute_wasserstein_distance

    return np.asarray(_compute_wasserstein_distance(data.parts, sinkhorn=False, categorical=False))


register(
    Case(
        "wwl-attributes",
        f"distances of WassersteinWL(n_iter={N_ITER}, use_attributes=True) from coordinates of the "
        "nodes, every third graph of ENZYMES",
        attributed,
        our_distances,
        package_distances,
        "the wwl package's loop over POT emd2",
        target_ratio=20.0,
        # POT computes distances of nodes from ‖x‖² + ‖y‖² − 2x·y, which gives 1e-6 for equal
        # nodes. The tests compare with POT on exact distances, to 1e-9.
        check=partial(same_matrices, tolerance=1e-6),
        needs=needs_wwl,
    )
)
