"""Wasserstein Weisfeiler-Lehman distances compared with the authors' package.

The package solves transport problems. Distances are compared, not kernels: the package passes the
distance matrix to a kernel that interprets its rows as vectors.
"""

from __future__ import annotations

import importlib.util
from functools import partial
from typing import Any, NamedTuple

from benchmarks.cases import Case, register
from benchmarks.data import Source, to_igraph
from gramlet import GraphBatch, WassersteinWL

N_ITER = 3


class Both(NamedTuple):
    """The same graphs for both sides."""

    ours: GraphBatch
    peer: list[Any]


def both(source: Source, name: str, n_graphs: int | None = None) -> Both:
    """Graphs of a data set for both sides."""
    batch = source.load(name, n_graphs)
    return Both(batch, to_igraph(batch))


def ours(data: Both) -> Any:
    return WassersteinWL(n_iter=N_ITER).fit(data.ours).distance(data.ours)


def package(data: Both) -> Any:
    from wwl import pairwise_wasserstein_distance

    return pairwise_wasserstein_distance(data.peer, num_iterations=N_ITER)


def needs_package() -> str | None:
    """Why the package cannot be run, if so."""
    missing = [name for name in ("wwl", "ot", "igraph") if not importlib.util.find_spec(name)]
    return f"not installed: {', '.join(missing)}" if missing else None


for name, data, n_graphs, about in (
    ("wwl", "MUTAG", None, "MUTAG"),
    ("wwl-proteins", "PROTEINS", 300, "300 graphs of PROTEINS"),
):
    register(
        Case(
            name,
            f"distances of WassersteinWL(n_iter={N_ITER}), {about}",
            partial(both, name=data, n_graphs=n_graphs),
            ours,
            package,
            "wwl (POT)",
            needs=needs_package,
            target_ratio=500.0,
        )
    )
