"""FeatureStore: hashed features of any number of graphs, in numbered parts on disk.

`FeatureStore.write` reads a file block by block and writes one part per block, atomically; killed
and called again, it writes the parts that are missing. The manifest describes the features and,
when all parts are written, contains their numbers of rows. A part is an archive of arrays, whose
checksums are compared whenever it is read. A store is read part by part, for `partial_fit`, or
completely as one sparse matrix.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from gramlet._version import __version__
from gramlet.common.arrays import Array
from gramlet.common.checks import require_count
from gramlet.common.notices import counted, warn_caller
from gramlet.common.safe_writing import remove_leftovers, writing
from gramlet.files.dataset import Dataset, Skipped
from gramlet.files.stream import LeftOut, slices_of, stream_blocks
from gramlet.graphs.conversion.convert import as_batch
from gramlet.graphs.fingerprint import described, graphs_digest, values_digest
from gramlet.scale.cluster import require_client, results
from gramlet.scale.hashed_features import GraphKind, HashedFeatures
from gramlet.scale.store_folder import (
    LOCK,
    OldFormatError,
    differences,
    entries,
    open_folder,
    part_progress,
    place_of,
    refuse_older,
)

FORMAT = "gramlet feature store, 3"
MANIFEST = "manifest.json"
_PART = re.compile(r"part-(\d{6,})\.npz")
_NAMED_PARTS = 5  # how many damaged parts a warning names


class OtherContentError(ValueError):
    """The folder contains something else than the store to write."""


class FeatureStore:
    """Hashed features on disk, with ids and targets.

    Parameters
    ----------
    path : path
        A folder that `FeatureStore.write` or ``gramlet embed --hashed`` finished.

    Attributes
    ----------
    features : HashedFeatures
        Defines the columns; its `transform` gives the same columns for other graphs.
    n_parts : int
    shape : tuple of int

    Examples
    --------
    >>> import tempfile
    >>> from gramlet import FeatureStore, HashedFeatures
    >>> graphs = [([(0, 1)], ["C", "O"]), ([(0, 1), (1, 2)], ["O", "C", "O"])]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = FeatureStore.write(f"{folder}/store", graphs, HashedFeatures(n_bits=8), 1)
    ...     print(store)
    ...     print([X.shape for ids, X, y in store], store.to_csr().shape)
    FeatureStore(2 graphs in 2 parts, 256 columns)
    [(1, 256), (1, 256)] (2, 256)
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._folder = self.path.absolute()  # the current folder may change while it is in use
        self._header = _manifest(self._folder)
        parts = self._header.get("parts")
        if parts is None:
            written = len(_part_numbers(self._folder))
            raise ValueError(
                f"{str(self.path)!r} is not finished: it has {counted(written, 'part')}. Call "
                "FeatureStore.write, or gramlet embed, again with the same arguments."
            )
        self._rows = _rows_listed(parts, self._folder)
        self.features = self._described()

    def _described(self) -> HashedFeatures:
        try:
            features = HashedFeatures(**self._header["features"]["params"])
            features.fit()
        except (KeyError, TypeError, ValueError) as why:
            raise ValueError(
                f"{str(self.path)!r} contains features that this version of gramlet "
                f"({__version__}) does not know; it was written by gramlet "
                f"{self._header.get('gramlet')!r}: {why}"
            ) from why
        return features

    @property
    def n_parts(self) -> int:
        """The number of parts."""
        return len(self._rows)

    @property
    def shape(self) -> tuple[int, int]:
        """Graphs and columns."""
        return sum(self._rows), 2 ** int(self.features.n_bits or 0)

    def __len__(self) -> int:
        return self.shape[0]

    def __iter__(self) -> Iterator[tuple[Array | None, sparse.csr_matrix, Array | None]]:
        """Part by part ``(ids, X, y)``; ids and y are None if the file has none."""
        return (self.part(number) for number in range(self.n_parts))

    def part(self, number: int) -> tuple[Array | None, sparse.csr_matrix, Array | None]:
        """One part, checked by its checksums."""
        members = self._members(number)
        return members.get("ids"), members["X"], members.get("target")

    def _members(self, number: int) -> dict[str, Any]:
        return _read_part(self._folder, number, (self._rows[number], self.shape[1]))

    def to_csr(self) -> sparse.csr_matrix:
        """The features of all graphs as one matrix."""
        parts = [X for _, X, _ in self]
        return sparse.vstack(parts, format="csr") if parts else sparse.csr_matrix(self.shape)

    @property
    def ids(self) -> Array | None:
        """The ids of all graphs."""
        return self._joined("ids")

    @property
    def target(self) -> Array | None:
        """The targets of all graphs."""
        return self._joined("target")

    @property
    def lines(self) -> Array | None:
        """The line of each graph in the file; None if the file was not a table."""
        return self._joined("lines")

    @property
    def skipped(self) -> list[Skipped]:
        """The rows left out of the file with ``on_error="skip"``: places with reasons."""
        return [each for path in self._paths() for each in _skipped(path)]

    @property
    def graph_kind(self) -> GraphKind:
        """Whether the graphs have node labels and edge labels, and whether they are directed."""
        kinds = (_some_members(path, "graph_kind")[0] for path in self._paths())
        try:
            return GraphKind.joined(GraphKind.from_array(kind) for kind in kinds)
        except (AttributeError, ValueError) as why:
            raise ValueError(f"{str(self.path)!r} is not a feature store: {why}") from why

    def _paths(self) -> Iterator[Path]:
        return (part_path(self._folder, number) for number in range(self.n_parts))

    def _joined(self, name: str) -> Array | None:
        # A part without rows does not determine whether the others have ids or targets.
        numbers = [number for number, rows in enumerate(self._rows) if rows]
        columns = [self._members(number).get(name) for number in numbers]
        if not columns or any(values is None for values in columns):
            return None
        return np.concatenate(columns)  # type: ignore[arg-type]

    def __repr__(self) -> str:
        rows, columns = self.shape
        return f"FeatureStore({rows} graphs in {self.n_parts} parts, {columns} columns)"

    @classmethod
    def write(
        cls,
        path: str | os.PathLike[str],
        source: Any,
        features: HashedFeatures | None = None,
        batch_size: int = 10_000,
        *,
        resume: bool = True,
        verify: bool = False,
        client: Any = None,
        **reader_options: Any,
    ) -> FeatureStore:
        """Write the features of a file, or of graphs, part by part; continue an unfinished store.

        Parameters
        ----------
        path : path
            The folder of the store.
        source : path, Dataset or graphs
            A path is read as by `gramlet.stream`, in bounded memory.
        features : HashedFeatures, optional
            With a number of bits.
        batch_size : int, default 10,000
            Rows of the file per part.
        resume : bool, default True
            False deletes the parts that gramlet wrote there before.
        verify : bool, default False
            Check finished parts by their checksums and write damaged ones again.
        client : dask.distributed.Client, optional
            Its workers read the parts and write their features, and must have access to the folder.
        **reader_options
            As for `gramlet.read`. With ``on_error="skip"`` the store lists in ``skipped`` what was
            left out, by line, and a warning counts it.

        Returns
        -------
        FeatureStore
        """
        features = HashedFeatures() if features is None else features
        features.fit()
        if client is not None:
            require_client(client)
        if features.n_bits is None:
            raise ValueError(
                "A FeatureStore needs HashedFeatures with n_bits=, so that all parts have the "
                "same columns; got n_bits=None."
            )
        batch_size = require_count("batch_size", batch_size, 1)
        header, blocks = _plan(source, features, batch_size, reader_options)
        folder = place_of(path, "store")
        with open_folder(folder, "Finished parts are kept"):
            known, complete = _begin(folder, header, resume, verify)
            if not complete:
                _write_parts(folder, header, blocks, features, known, client)
        return cls(folder)


def _plan(
    source: Any, features: HashedFeatures, batch_size: int, options: dict[str, Any]
) -> tuple[dict[str, Any], Iterator[Any]]:
    """The manifest's description, and the blocks whose features are written."""
    if isinstance(source, str | os.PathLike):
        fingerprint: Any = _source_fingerprint(Path(source).expanduser())
        blocks: Iterator[Any] = stream_blocks(Path(source), batch_size, **options)
    else:
        if options:
            raise TypeError(f"{next(iter(options))}= is for files; the source is not a path.")
        data = source if isinstance(source, Dataset) else Dataset(as_batch(source))
        fingerprint = {
            "graphs": graphs_digest(data.graphs),
            "target": values_digest(data.target),
            "ids": values_digest(data.ids),
        }
        blocks = slices_of(data, batch_size)
    header = {
        "format": FORMAT,
        "gramlet": __version__,
        "features": described(features),
        "source": fingerprint,
        "options": described({name: options[name] for name in options if name != "n_jobs"}),
        "batch_size": batch_size,
    }
    return json.loads(json.dumps(header)), blocks


def _source_fingerprint(path: Path) -> dict[str, Any]:
    """The size and a digest of a file, or of all files of a folder.

    Reading a file once more takes little time compared with making graphs from it.
    """
    if path.is_dir():
        files = sorted(file for file in path.rglob("*") if file.is_file())
    elif path.is_file():
        files = [path]
    else:
        return {"name": path.name}
    digest = hashlib.blake2b(digest_size=16)
    for file in files:
        if file != path:
            name = f"{file.relative_to(path)}:{file.stat().st_size}:"
            digest.update(name.encode(errors="replace"))
        with file.open("rb") as stream:
            hashlib.file_digest(stream, lambda: digest)
    return {"bytes": sum(file.stat().st_size for file in files), "digest": digest.hexdigest()}


# The manifest


def part_path(folder: Path, number: int) -> Path:
    """The file of a part."""
    return folder / f"part-{number:06d}.npz"


def _part_numbers(folder: Path) -> list[int]:
    """The numbers of the parts in a folder."""
    names = (_PART.fullmatch(entry.name) for entry in entries(folder))
    return sorted(int(name[1]) for name in names if name)


def _manifest(folder: Path) -> dict[str, Any]:
    """The manifest of a store; ValueError if there is none that this version reads."""
    refuse_older(folder)
    path = folder / MANIFEST
    if not path.is_file():
        raise ValueError(f"{str(folder)!r} is not a feature store: it has no {MANIFEST!r}.")
    try:
        manifest = json.loads(path.read_bytes())
        version = manifest["format"]
    except (ValueError, KeyError, TypeError, RecursionError) as why:
        raise ValueError(
            f"{str(path)!r} is damaged, or gramlet did not write it. Name another place, or remove "
            "the folder yourself."
        ) from why
    if version != FORMAT:
        raise OldFormatError(
            f"{str(folder)!r} is not a feature store that this version of gramlet reads: its "
            f"format is {version!r:.60}, expected {FORMAT!r}. Write it again in another place."
        )
    return dict(manifest)


def _rows_listed(rows: Any, folder: Path) -> list[int]:
    """The number of rows of each part, from the manifest."""
    if isinstance(rows, list) and all(type(n) is int and n >= 0 for n in rows):
        return rows
    raise ValueError(f"{str(folder / MANIFEST)!r} is damaged: its list of parts is not valid.")


def _write_manifest(folder: Path, content: dict[str, Any]) -> None:
    with writing(folder / MANIFEST) as place:
        place.write_text(json.dumps(content, indent=1, allow_nan=False), encoding="utf-8")


def _begin(
    folder: Path, header: dict[str, Any], resume: bool, verify: bool
) -> tuple[dict[int, int], bool]:
    """Begin or continue a store; the rows of its finished parts, and whether these are all."""
    refuse_older(folder)
    names = sorted(entry.name for entry in entries(folder) if entry.name != LOCK)
    if (folder / MANIFEST).is_file():
        stored = _manifest(folder)
    elif any(not name.startswith(".manifest.") for name in names):
        raise OtherContentError(
            f"{str(folder)!r} is not empty (it contains {names[0]!r}) and is not a feature "
            "store. Name another place."
        )
    else:
        stored = header
    remove_leftovers(folder)
    numbers = _part_numbers(folder)
    if not resume:
        for number in numbers:
            part_path(folder, number).unlink()
        stored, numbers = header, []
    rows = stored.pop("parts", None)
    # A store without a finished part, as after an error in the first one, has nothing to protect.
    changes = differences(_with_rows_left_out(stored, header), header) if numbers else []
    if changes:
        raise OtherContentError(
            f"{str(folder)!r} contains other features: {'; '.join(changes)}. Name another place, "
            "or start again with resume=False (--fresh), which deletes them."
        )
    if rows is not None:
        numbers = list(range(len(_rows_listed(rows, folder))))
    finished = _finished(folder, numbers, verify)
    complete = rows is not None and len(finished) == len(numbers)
    if not complete:
        _write_manifest(folder, header)
    return finished, complete


def _finished(folder: Path, numbers: list[int], verify: bool) -> dict[int, int]:
    """The rows of the parts that are there and whole; one warning names the others.

    Parts are written atomically, so a part that ends as it should is done; ``verify`` reads each.
    """
    rows, lost = {}, []
    for number in numbers:
        path = part_path(folder, number)
        try:
            with zipfile.ZipFile(path) as archive:
                damaged = archive.testzip() if verify else None
            stored, indptr = _some_members(path, "number", "indptr")
            if damaged is None and int(stored) == number:
                rows[number] = len(indptr) - 1
                continue
        except Exception:  # whatever zipfile and numpy raise for a file that is not a part
            pass
        lost.append(path.name)
    if lost:
        more = ", ..." if len(lost) > _NAMED_PARTS else ""
        was = "is" if len(lost) == 1 else "are"
        warn_caller(
            f"{str(folder)!r}: {counted(len(lost), 'part')} {was} missing or damaged and {was} "
            f"written again: {', '.join(lost[:_NAMED_PARTS])}{more}."
        )
    return rows


def _with_rows_left_out(stored: dict[str, Any], wanted: dict[str, Any]) -> dict[str, Any]:
    """The stored line with ``on_error="skip"``, if that is requested now.

    Parts that were finished without leaving anything out are the same. So a run that was stopped by
    a row that cannot be read can be continued with ``on_error="skip"``.
    """
    options, now = stored.get("options"), wanted["options"].get("on_error")
    if now != "skip" or not isinstance(options, dict) or options.get("on_error") == "skip":
        return stored
    return {**stored, "options": {**options, "on_error": now}}


def _write_parts(
    folder: Path,
    header: dict[str, Any],
    blocks: Iterator[Any],
    features: HashedFeatures,
    rows: dict[int, int],
    client: Any,
) -> None:
    """Write the parts that are missing, here or on the workers of a client; then the manifest."""
    n_parts = 0
    place = folder.absolute()

    def missing() -> Iterator[tuple[str, tuple[Any, ...]]]:
        nonlocal n_parts
        for number, block in enumerate(blocks):
            n_parts = number + 1
            if number not in rows:
                yield f"part {number}", (place, number, block, features)

    with part_progress(None, len(rows), "features", "parts") as advance:
        written: Iterator[tuple[int, int]]
        if client is None:
            written = (write_part(*arguments) for _, arguments in missing())
        else:
            kept = f"Finished parts are kept in {str(folder)!r}."
            written = results(client, write_part, missing(), kept)
        for number, n_rows in written:
            rows[number] = n_rows
            advance()
    left_out = LeftOut(folder)
    for number in range(n_parts):
        left_out.add(rows[number], _skipped(part_path(folder, number)))
    left_out.finish("The property 'skipped' of the store lists them.")
    _write_manifest(folder, {**header, "parts": [rows[number] for number in range(n_parts)]})


# Parts: one file each, with the features, ids, targets and lines of a block


def write_part(folder: Path, number: int, block: Any, features: HashedFeatures) -> tuple[int, int]:
    """Write the features of a block of graphs; its number and number of rows."""
    if not folder.is_dir():
        raise FileNotFoundError(
            f"A worker does not see the folder {str(folder)!r}. Workers write parts themselves: "
            "name a folder that all machines of the cluster share."
        )
    dataset = block()
    X = features.transform(dataset.graphs)
    members: dict[str, Any] = {
        "number": np.int64(number),
        "indptr": X.indptr.astype(np.int32),
        "indices": X.indices.astype(np.int32, copy=False),
        # Counts in the smallest type: most fit into a byte.
        "data": X.data.astype(np.min_scalar_type(int(X.data.max(initial=0)))),
        "graph_kind": GraphKind.of(dataset.graphs).to_array(),
        **_columns(dataset),
    }
    path = part_path(folder, number)
    try:
        with writing(path) as place:
            np.savez(place, allow_pickle=False, **members)
    except OSError as why:
        raise type(why)(
            why.errno,
            f"{str(path)!r} cannot be written: {why.strerror or why}. Finished parts are kept; "
            "make room and call again with the same arguments to write the others.",
        ) from why
    return number, len(dataset.graphs)


def _columns(dataset: Dataset) -> dict[str, Array]:
    """Ids, targets and lines of the rows, and the rows that were left out between them."""
    columns: dict[str, Array] = {}
    if dataset.ids is not None:
        columns["ids"] = np.asarray(dataset.ids, dtype=np.str_)
    if dataset.target is not None:
        target = np.asarray(dataset.target)
        columns["target"] = target.astype(np.str_) if target.dtype == object else target
    if dataset.get("lines") is not None:
        columns["lines"] = np.asarray(dataset.lines, dtype=np.int64)
    if dataset.skipped:
        columns["skipped_places"] = np.array([each.place for each in dataset.skipped])
        columns["skipped_reasons"] = np.array([each.reason for each in dataset.skipped])
    return columns


def _read_part(folder: Path, number: int, shape: tuple[int, int]) -> dict[str, Any]:
    """The members of a part by name, "X" the features; ValueError if it is damaged."""
    path = part_path(folder, number)
    try:
        with np.load(path, allow_pickle=False) as archive:
            members: dict[str, Any] = {name: archive[name] for name in archive.files}
    except Exception as why:  # whatever zipfile and numpy raise for a file that is damaged
        raise ValueError(
            f"{str(path)!r} is missing or damaged ({why}). Write the store again with verify=True "
            "(--verify), which repairs it."
        ) from why
    try:
        return _checked_members(members, number, shape)
    except Exception as why:  # whatever numpy and scipy raise for what gramlet did not write
        raise ValueError(f"{str(path)!r} is not a part of this feature store: {why}") from why


def _checked_members(
    members: dict[str, Any], number: int, shape: tuple[int, int]
) -> dict[str, Any]:
    if int(members.pop("number")) != number:
        raise ValueError("it is another part.")
    counts = members.pop("data").astype(np.float64)
    X = sparse.csr_matrix((counts, members.pop("indices"), members.pop("indptr")), shape=shape)
    X.check_format(full_check=True)  # products would follow columns out of range
    if not np.isfinite(counts).all():
        raise ValueError("its features contain NaN or infinite numbers.")
    for name in ("ids", "target", "lines"):
        if name in members and members[name].shape != shape[:1]:
            raise ValueError(f"{name} has shape {members[name].shape} for {shape[0]} rows.")
    members["X"] = X
    return members


def _some_members(path: Path, *names: str) -> list[Any]:
    """Some members of a part, None for those it does not have; reads nothing else of it."""
    with np.load(path, allow_pickle=False) as archive:
        return [archive[name] if name in archive.files else None for name in names]


def _skipped(path: Path) -> list[Skipped]:
    """The rows left out of a part."""
    places, reasons = _some_members(path, "skipped_places", "skipped_reasons")
    if places is None:
        return []
    return [Skipped(*pair) for pair in zip(places.tolist(), reasons.tolist(), strict=True)]
