"""Reading TU archives compared with numpy reading the same columns of numbers.

The peer does the minimum: it unpacks the files and parses them into int64 tables with numpy
(`numpy.fromstring` on the bytes, ten times as fast as `numpy.loadtxt`). It builds no graphs, checks
nothing, and keeps the whole text in memory. Both sides unpack the archive themselves.
"""

from __future__ import annotations

import warnings
import zipfile
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import gramlet
from benchmarks.cases import Case, register
from benchmarks.data import Source
from gramlet import GraphBatch, read_tu

EMBEDDED = Path(gramlet.__file__).parent / "files" / "data" / "MUTAG.zip"
ROLES = ("A", "graph_indicator", "graph_labels", "node_labels", "edge_labels")


def archive(source: Source, name: str) -> Path:
    """The archive of a data set, or the embedded one."""
    return EMBEDDED if source.quick or source.folder is None else Path(source.folder, f"{name}.zip")


def ours(path: Path) -> GraphBatch:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # COLLAB has self-loops
        return read_tu(path).graphs


def numpy_columns(path: Path) -> dict[str, Any]:
    """Every column of numbers as numpy parses it."""
    columns = {}
    with zipfile.ZipFile(path) as packed:
        for member in packed.namelist():
            role = Path(member).stem.removeprefix(f"{path.stem}_")
            if role in ROLES:
                columns[role] = table(packed.read(member))
    return columns


def table(text: bytes) -> Any:
    n_columns = text[: text.index(b"\n")].count(b",") + 1
    flat = np.fromstring(text.replace(b"\n", b","), dtype=np.int64, sep=",")
    return flat.reshape(-1, n_columns)


def same_arcs(batch: GraphBatch, columns: dict[str, Any]) -> None:
    """Raise an AssertionError unless the batch has the arcs of the columns, in both directions."""
    u, v = columns["A"].T - 1
    n = len(columns["graph_indicator"])
    assert batch.n_nodes_total == n
    assert (np.diff(columns["graph_indicator"][:, 0]) >= 0).all()
    keys = np.concatenate([u * n + v, v * n + u])[np.tile(u != v, 2)]
    tails, heads = batch.arcs()
    assert np.array_equal(np.unique(keys), tails * n + heads)


# The batch of COLLAB takes 200 MB, and numpy needs 1136 MB to read its columns: 0.7 of that is four
# times the batch.
for name, title, target_memory in (
    ("COLLAB", "5,000 graphs, 24.6 million lines of edges, LZMA", 0.7),
    ("NCI1", "4,110 graphs, 266,000 lines of edges", None),
):
    register(
        Case(
            name=f"reading-{name.lower()}",
            title=f"Reading {name} ({title}) as graphs; numpy reads columns only",
            data=partial(archive, name=name),
            ours=ours,
            peer=numpy_columns,
            peer_name="numpy.fromstring",
            check=same_arcs,
            target_ratio=1 / 3,
            target_memory=target_memory,
        )
    )
