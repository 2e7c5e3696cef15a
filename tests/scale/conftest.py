"""Graphs and helpers for stores."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gramlet import GraphBatch
from reference.strategies import with_molecules

pytest.importorskip("zarr", reason="the extra [scale] is not installed")


def labelled_graphs(n_graphs: int, seed: int = 0, alphabet: str = "CNO") -> GraphBatch:
    """Random graphs with all columns; the first is empty, the second has one node."""
    rng = np.random.default_rng(seed)
    sizes = [0, 1, *rng.integers(2, 9, n_graphs - 2).tolist()]
    edges = []
    for n in sizes:
        pairs = [(i, j) for i in range(n) for j in range(i)]
        chosen = rng.random(len(pairs)) < 0.4
        edges.append([pair for pair, kept in zip(pairs, chosen, strict=True) if kept])
    batch = GraphBatch.from_edges(
        edges,
        n_nodes=sizes,
        node_labels=[rng.choice(list(alphabet), n).tolist() for n in sizes],
        edge_labels=[rng.integers(0, 2, len(e)).tolist() for e in edges],
        edge_weights=[rng.integers(1, 4, len(e)).astype(float) for e in edges],
        node_attributes=[rng.normal(size=(n, 2)) for n in sizes],
    )
    return with_molecules(batch, {"XYZ": "SPB"}.get(alphabet, alphabet))


def array_bytes(folder: Path) -> dict[str, bytes]:
    """The files of a store's array, by their path in it."""
    files = [path for path in (folder / "c").glob("*/*") if path.name.isdecimal()]
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def finished_tiles(folder: Path) -> set[tuple[int, int]]:
    """Tiles of the upper triangle whose chunks, and those of their mirrors, have a file."""
    chunks = {tuple(map(int, path.split("/")[1:])) for path in array_bytes(folder)}
    return {(i, j) for i, j in chunks if i <= j and (j, i) in chunks}


@pytest.fixture(scope="module")
def graphs() -> GraphBatch:
    return labelled_graphs(23)
