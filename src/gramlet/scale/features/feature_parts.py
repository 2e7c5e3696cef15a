"""Parts of a feature store: one file each, with the features, ids, targets and lines of a block.

The store's journal lists the parts and their checksums.
"""

from __future__ import annotations

import hashlib
import io
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from gramlet.common.arrays import Array
from gramlet.common.safe_writing import writing
from gramlet.files.dataset import Dataset, Skipped
from gramlet.scale.features.graph_kind import GraphKind
from gramlet.scale.features.hashed_features import HashedFeatures

__all__ = [
    "graph_kind_in",
    "is_intact",
    "is_whole",
    "part_path",
    "read_part",
    "rows_in",
    "skipped_in",
    "write_part",
]


def part_path(folder: Path, number: int) -> Path:
    """The file of a part."""
    return folder / f"part-{number:06d}.npz"


def write_part(folder: Path, number: int, block: Any, features: HashedFeatures) -> tuple[int, str]:
    """Write the features of a block of graphs; return the number of rows and the checksum."""
    if not folder.is_dir():
        raise FileNotFoundError(
            f"A worker does not see the folder {str(folder)!r}. Workers write parts themselves: "
            "name a folder that all machines of the cluster share."
        )
    dataset = block()
    X = features.transform(dataset.graphs)
    members: dict[str, Any] = {
        "indptr": X.indptr.astype(np.int32),
        "indices": X.indices.astype(np.int32, copy=False),
        # Counts in the smallest type: most fit into a byte.
        "data": X.data.astype(np.min_scalar_type(int(X.data.max(initial=0)))),
        "graph_kind": GraphKind.of(dataset.graphs).to_array(),
        **_columns(dataset),
    }
    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=False, **members)
    path = part_path(folder, number)
    try:
        with writing(path) as place:
            place.write_bytes(buffer.getbuffer())
    except OSError as why:
        raise type(why)(
            why.errno,
            f"{str(path)!r} cannot be written: {why.strerror or why}. Finished parts are kept; "
            "make room and call again with the same arguments to write the others.",
        ) from why
    return len(dataset.graphs), _checksum(buffer.getbuffer())


def _columns(dataset: Dataset) -> dict[str, Array]:
    """Ids, targets and lines of the rows, and the rows that were left out between them."""
    found: dict[str, Array] = {}
    if dataset.ids is not None:
        found["ids"] = np.asarray(dataset.ids, dtype=np.str_)
    if dataset.target is not None:
        target = np.asarray(dataset.target)
        found["target"] = target.astype(np.str_) if target.dtype == object else target
    if dataset.get("lines") is not None:
        found["lines"] = np.asarray(dataset.lines, dtype=np.int64)
    if dataset.skipped:
        found["skipped_places"] = np.array([each.place for each in dataset.skipped])
        found["skipped_reasons"] = np.array([each.reason for each in dataset.skipped])
    return found


def read_part(path: Path, expected: str, shape: tuple[int, int]) -> dict[str, Any]:
    """The members of a part by name, "X" the features; ValueError if the checksum differs."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        data = b""
    if _checksum(data) != expected:
        raise ValueError(
            f"{str(path)!r} is missing or damaged: its checksum differs. Write the store again "
            "with verify=True (--verify), which repairs it."
        )
    try:
        return _members(data, shape)
    except Exception as why:  # whatever numpy and scipy raise for a part with a forged checksum
        raise ValueError(f"{str(path)!r} is not a part of a feature store: {why}") from why


def _members(data: bytes, shape: tuple[int, int]) -> dict[str, Any]:
    with np.load(io.BytesIO(data), allow_pickle=False) as archive:
        members: dict[str, Any] = {name: archive[name] for name in archive.files}
    counts = members.pop("data").astype(np.float64)
    X = sparse.csr_matrix((counts, members.pop("indices"), members.pop("indptr")), shape=shape)
    X.check_format(full_check=True)  # products would follow columns out of range
    for name in ("ids", "target", "lines"):
        if name in members and members[name].shape != shape[:1]:
            raise ValueError(f"{name} has shape {members[name].shape} for {shape[0]} rows.")
    members["X"] = X
    return members


def skipped_in(path: Path) -> list[Skipped]:
    """The rows left out of a part; reads nothing else of it."""
    with np.load(path, allow_pickle=False) as archive:
        if "skipped_places" not in archive.files:
            return []
        places, reasons = archive["skipped_places"], archive["skipped_reasons"]
    return [Skipped(*pair) for pair in zip(places.tolist(), reasons.tolist(), strict=True)]


def graph_kind_in(path: Path) -> GraphKind:
    """The kind of the graphs of a part, unknown if the part has no record of it."""
    with np.load(path, allow_pickle=False) as archive:
        if "graph_kind" not in archive.files:
            return GraphKind()
        codes = archive["graph_kind"]
    try:
        return GraphKind.from_array(codes)
    except ValueError as why:
        raise ValueError(f"{str(path)!r} is not a part of a feature store: {why}") from why


def rows_in(path: Path) -> int:
    """The number of rows of a part; reads nothing else of it."""
    try:
        with np.load(path, allow_pickle=False) as archive:
            return len(archive["indptr"]) - 1
    except Exception:  # whatever numpy raises for a file that is not a part
        return -1


def is_intact(path: Path, expected: str) -> bool:
    """Whether a part exists and has this checksum."""
    return path.is_file() and _checksum(path.read_bytes()) == expected


def is_whole(path: Path) -> bool:
    """Whether a part exists and ends as it should, without reading all of it."""
    return zipfile.is_zipfile(path)


def _checksum(data: Any) -> str:
    return hashlib.sha256(data).hexdigest()[:32]
