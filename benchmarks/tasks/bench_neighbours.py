"""Nearest neighbours among 100,000 graphs, compared with sorting rows of the full matrix."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from benchmarks.cases import Case, register
from benchmarks.data import Source
from gramlet import GraphNeighbors, random_labelled_graphs
from gramlet.kernels import registry
from gramlet.kernels.contract.normalisation import normalize_in_place

_NEIGHBOURS = 10


def data(name: str, source: Source) -> Any:
    """A fitted index of random labelled graphs as sparse as molecules, and query graphs."""
    n_graphs = source.n_graphs or (2_000 if source.quick else 100_000)
    sizes = np.random.default_rng(0).integers(8, 30, n_graphs)
    graphs = random_labelled_graphs(n_graphs, sizes.tolist(), (sizes + 2).tolist(), 6, 0)
    index = GraphNeighbors(registry.make(name, n_iter=3), _NEIGHBOURS).fit(graphs)
    queries = graphs[np.linspace(0, n_graphs - 1, 400).astype(int)]
    index.kneighbors(queries[:1])  # builds the inverted index, once
    return index, queries


def nearest(data: Any) -> Any:
    """Positions of the nearest graphs."""
    index, queries = data
    return index.kneighbors(queries, return_distance=False)


def sorted_rows(data: Any) -> Any:
    """The same from whole rows of the matrix."""
    index, queries = data
    kernel = index.kernel_
    profile = kernel.profile_of(queries)
    rows = profile.compare(kernel.profile_)
    normalize_in_place(rows, profile.norms(), kernel.profile_.norms())
    squares = 2 - 2 * rows
    squares[squares < 2e-12] = 0
    return np.argsort(np.round(squares, 12), axis=1, kind="stable")[:, :_NEIGHBOURS]


def same_positions(ours: Any, theirs: Any) -> None:
    assert np.array_equal(ours, theirs), "other neighbours"


for _name in ("wl-oa", "wl"):
    register(
        Case(
            f"neighbours-{_name}",
            f"10 nearest of 100,000 graphs by {_name}, 400 queries",
            data=partial(data, _name),
            ours=nearest,
            peer=sorted_rows,
            peer_name="sorted rows",
            check=same_positions,
            target_ratio=5,
        )
    )
