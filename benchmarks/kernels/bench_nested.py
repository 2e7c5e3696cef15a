"""Weisfeiler-Lehman over a base kernel compared with the base kernel on every level separately.

The graphs of the levels, with colours as node labels, are prepared in advance. The difference is
the time of refinement and summation, which may be at most a fifth of that of the base kernels.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

from benchmarks.cases import Case, register
from benchmarks.data import Source
from gramlet import GraphBatch, GraphHopper, RandomWalk, ShortestPath, WeisfeilerLehman
from gramlet.graphs.columns import Categorical
from gramlet.kernels.weisfeiler_lehman.colour_counts import Colouring

N_ITER = 3
BASES = {
    "sp": (ShortestPath, "NCI1", 1000),
    "graph-hopper": (partial(GraphHopper, "label"), "NCI1", 1000),
    "rw": (RandomWalk, "MUTAG", None),
}


class Levels(NamedTuple):
    """The graphs, and the same with the colours of each level as labels."""

    graphs: GraphBatch
    coloured: list[GraphBatch]


def levels(source: Source, name: str, n_graphs: int | None) -> Levels:
    """Graphs of a data set before and after refinement."""
    batch = source.load(name, n_graphs)
    colours = Colouring(N_ITER, True, "auto").fit(batch)
    labels = [Categorical(level, tuple(range(int(level.max()) + 1))) for level in colours]
    return Levels(batch, [batch.with_columns(node_labels=column) for column in labels])


def over_base(data: Levels, base: Any) -> Any:
    return WeisfeilerLehman(N_ITER, base=base()).fit_transform(data.graphs)


def level_by_level(data: Levels, base: Any) -> Any:
    return sum(base().fit_transform(graphs) for graphs in data.coloured)


for label, (base, name, n_graphs) in BASES.items():
    register(
        Case(
            f"wl-over-{label}",
            f"WeisfeilerLehman(n_iter={N_ITER}) over {label!r}, "
            f"{f'{n_graphs:,} graphs of ' if n_graphs else ''}{name}",
            partial(levels, name=name, n_graphs=n_graphs),
            partial(over_base, base=base),
            partial(level_by_level, base=base),
            "the base on every level",
            target_ratio=1 / 1.2,
        )
    )
