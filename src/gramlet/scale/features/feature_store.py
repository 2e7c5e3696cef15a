"""FeatureStore: hashed features of any number of graphs, in numbered parts on disk.

`FeatureStore.write` reads a file block by block and writes one part per block; if it is killed and
called again, it continues after the last finished part. A store is read part by part, for
`partial_fit`, or completely as one sparse matrix.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from gramlet._version import __version__
from gramlet.common.arrays import Array
from gramlet.common.checks import require_count
from gramlet.common.notices import counted, warn_caller
from gramlet.common.safe_writing import remove_leftovers
from gramlet.files.dataset import Dataset, Skipped
from gramlet.files.stream import LeftOut, slices_of, stream_blocks
from gramlet.graphs.conversion.convert import as_batch
from gramlet.scale.cluster import Task, bounded_results, require_client
from gramlet.scale.features.feature_parts import (
    graph_kind_in,
    is_intact,
    is_whole,
    part_path,
    read_part,
    rows_in,
    skipped_in,
    write_part,
)
from gramlet.scale.features.graph_kind import GraphKind
from gramlet.scale.features.hashed_features import HashedFeatures
from gramlet.scale.fingerprint import described, graphs_digest, values_digest
from gramlet.scale.journal import JOURNAL, Journal, differences
from gramlet.scale.lock import LOCK
from gramlet.scale.progress import tile_progress
from gramlet.scale.store_folder import open_folder, place_of

__all__ = ["FORMAT", "FeatureStore", "OtherContentError"]

FORMAT = "gramlet feature store, 1"
_END = -1  # the number of the journal's last entry, which marks the store as complete
_NAMED_PARTS = 5  # how many damaged parts a warning names
_PIECE = 1 << 22  # bytes of a file that are read at once


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
        self._journal = Journal(self.path, "part")
        if not self._journal.exists():
            raise ValueError(f"{str(self.path)!r} is not a feature store: it has no {JOURNAL!r}.")
        self._header = _checked_header(self._journal)
        parts = self._journal.finished()
        problem = _problem(parts)
        if problem is not None:
            raise ValueError(
                f"{str(self.path)!r} {problem}. Call FeatureStore.write, or gramlet embed, again "
                "with the same arguments."
            )
        self._parts = sorted((number, rows, digest) for (number, rows), digest in parts.items())[1:]
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
        return len(self._parts)

    @property
    def shape(self) -> tuple[int, int]:
        """Graphs and columns."""
        return sum(rows for _, rows, _ in self._parts), 2 ** int(self.features.n_bits or 0)

    def __len__(self) -> int:
        return self.shape[0]

    def __iter__(self) -> Iterator[tuple[Array | None, sparse.csr_matrix, Array | None]]:
        """Part by part ``(ids, X, y)``; ids and y are None if the file has none."""
        return (self.part(number) for number in range(self.n_parts))

    def part(self, number: int) -> tuple[Array | None, sparse.csr_matrix, Array | None]:
        """One part, checked by its checksum."""
        members = self._members(number)
        return members.get("ids"), members["X"], members.get("target")

    def _members(self, number: int) -> dict[str, Any]:
        number, rows, expected = self._parts[number]
        return read_part(part_path(self._folder, number), expected, (rows, self.shape[1]))

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
        parts = (part_path(self._folder, number) for number, _, _ in self._parts)
        return [each for part in parts for each in skipped_in(part)]

    @property
    def graph_kind(self) -> GraphKind:
        """Whether the graphs have node labels and edge labels, and whether they are directed.

        Each is None if it is not known: stores of earlier versions do not record it.
        """
        parts = (part_path(self._folder, number) for number, _, _ in self._parts)
        return GraphKind.joined(graph_kind_in(part) for part in parts)

    def _all_members(self) -> Iterator[dict[str, Any]]:
        return (self._members(number) for number in range(self.n_parts))

    def _joined(self, name: str) -> Array | None:
        # A part without rows does not determine whether the others have ids or targets.
        found = [part.get(name) for part in self._all_members() if part["X"].shape[0]]
        if not found or any(values is None for values in found):
            return None
        return np.concatenate([values for values in found if values is not None])

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
            finished = _begin(folder, header, resume, verify)
            _write_parts(folder, blocks, features, finished, client)
        return cls(folder)


def _plan(
    source: Any, features: HashedFeatures, batch_size: int, options: dict[str, Any]
) -> tuple[dict[str, Any], Iterator[Any]]:
    """The journal's first line, and the blocks whose features are written."""
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
    digest, size = hashlib.blake2b(digest_size=16), 0
    for file in files:
        if file != path:
            digest.update(
                f"{file.relative_to(path)}:{file.stat().st_size}:".encode(errors="replace")
            )
        with file.open("rb") as stream:
            while piece := stream.read(_PIECE):
                digest.update(piece)
                size += len(piece)
    return {"bytes": size, "digest": digest.hexdigest()}


def _checked_header(journal: Journal) -> dict[str, Any]:
    header = journal.header()
    if header["format"] != FORMAT:
        raise ValueError(
            f"{str(journal.path.parent)!r} is not a feature store that this version of gramlet "
            f"reads: its journal begins with {header['format']!r}, expected {FORMAT!r}."
        )
    return header


def _begin(
    folder: Path, header: dict[str, Any], resume: bool, verify: bool
) -> dict[tuple[int, int], str]:
    """Begin or continue a store; the finished parts."""
    remove_leftovers(folder)
    journal = Journal(folder, "part")
    if not journal.exists():
        foreign = sorted(name for name in os.listdir(folder) if name != LOCK)
        if foreign:
            raise OtherContentError(
                f"{str(folder)!r} is not empty (it contains {foreign[0]!r}) and is not a feature "
                "store. Name another place."
            )
        journal.rewrite(header, {})
        return {}
    stored = _checked_header(journal)
    finished = journal.finished()
    if not resume:
        for number, _ in finished:
            part_path(folder, number).unlink(missing_ok=True)
        finished = {}
    # A store without a finished part, as after an error in the first one, has nothing to protect.
    elif finished and (found := differences(_with_rows_left_out(stored, header), header)):
        raise OtherContentError(
            f"{str(folder)!r} contains other features: {'; '.join(found)}. Name another place, or "
            "start again with resume=False (--fresh), which deletes them."
        )
    finished = _kept(folder, finished, verify)
    if _problem(finished) is not None:
        journal.rewrite(header, finished)  # without incomplete lines and lost parts
    return finished


def _problem(finished: dict[tuple[int, int], str]) -> str | None:
    """What is missing from a journal's parts; None if the store is complete."""
    ends = [rows for number, rows in finished if number == _END]
    parts = sorted(part for part in finished if part[0] != _END)
    if not ends:
        return f"is not finished: it has {counted(len(parts), 'part')}"
    if [number for number, _ in parts] != list(range(len(parts))):
        return "has a damaged journal: its parts are not numbered from 0 without gaps"
    listed = sum(rows for _, rows in parts)
    if ends != [listed]:
        return f"has a damaged journal: it lists {listed:,} of {ends[0]:,} graphs"
    return None


def _kept(
    folder: Path, finished: dict[tuple[int, int], str], verify: bool
) -> dict[tuple[int, int], str]:
    """The parts that are there and, if requested, have the right checksums.

    One warning names the others, and without them the store is not complete. If the journal
    contradicts itself, parts also need the number of rows that it lists.
    """
    parts = {part: digest for part, digest in finished.items() if part[0] != _END}
    problem = _problem(finished)
    damaged = problem is not None and len(parts) < len(finished)

    def is_kept(part: tuple[int, int], digest: str) -> bool:
        path = part_path(folder, part[0])
        return (
            is_whole(path)
            and (not (verify or damaged) or rows_in(path) == part[1])
            and (not verify or is_intact(path, digest))
        )

    kept = {part: digest for part, digest in parts.items() if is_kept(part, digest)}
    if len(kept) == len(parts):
        if not damaged:
            return finished
        warn_caller(f"{str(folder)!r} {problem}. Parts that it does not list are written again.")
        return kept
    lost = [part_path(folder, part[0]).name for part in sorted(parts) if part not in kept]
    more = ", ..." if len(lost) > _NAMED_PARTS else ""
    was = "is" if len(lost) == 1 else "are"
    warn_caller(
        f"{str(folder)!r}: {counted(len(lost), 'part')} {was} missing or damaged and {was} "
        f"written again: {', '.join(lost[:_NAMED_PARTS])}{more}."
    )
    return kept


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
    blocks: Iterator[Any],
    features: HashedFeatures,
    finished: dict[tuple[int, int], str],
    client: Any,
) -> None:
    known = {number for number, _ in finished}
    if _END in known:
        return
    rows: dict[int, int] = dict(finished.keys())
    with (
        Journal(folder, "part").appending() as append,
        tile_progress(None, len(known), "features", "parts") as advance,
    ):
        missing = (pair for pair in enumerate(blocks) if pair[0] not in known)
        for number, (n_rows, digest) in _written(folder, missing, features, client):
            append([((number, n_rows), digest)])
            rows[number] = n_rows
            advance()
        _tell_left_out(folder, rows)
        append([((_END, sum(rows.values())), "end")])


def _tell_left_out(folder: Path, rows: dict[int, int]) -> None:
    """Warn of rows that were left out, in this run or before; raise if none is left."""
    left_out = LeftOut(folder)
    for number in sorted(rows):
        left_out.add(rows[number], skipped_in(part_path(folder, number)))
    left_out.finish("The property 'skipped' of the store lists them.")


def _written(
    folder: Path, blocks: Iterator[tuple[int, Any]], features: HashedFeatures, client: Any
) -> Iterator[tuple[int, tuple[int, str]]]:
    """Parts as they are written, here or by the workers of a client."""
    if client is None:
        for number, block in blocks:
            yield number, write_part(folder, number, block, features)
        return
    place = folder.absolute()
    tasks = (
        Task(number, write_part, (place, number, block, features), f"part {number}")
        for number, block in blocks
    )
    kept = f"Finished parts are kept in {str(folder)!r}."
    for finished in bounded_results(client, lambda _: next(tasks, None), kept):
        yield from finished  # type: ignore[misc]
