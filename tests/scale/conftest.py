"""Graphs and helpers for stores."""

from __future__ import annotations

from pathlib import Path

import pytest

from gramlet import GraphBatch
from reference.examples import labelled_graphs

pytest.importorskip("zarr", reason="the extra [scale] is not installed")


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
