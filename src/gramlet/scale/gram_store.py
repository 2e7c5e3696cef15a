"""A Gram matrix in a folder: a plain Zarr 3 array, computed tile by tile, continued and checked.

A tile is a chunk of the array, and a chunk is a file with a checksum that Zarr writes atomically: a
file of the right size is a finished tile. The array's attributes describe what is computed.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import warnings
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gramlet._version import __version__
from gramlet.common.arrays import Floats
from gramlet.common.checks import require_count
from gramlet.engine.core.tiles import Tiling
from gramlet.graphs.conversion.convert import as_batch
from gramlet.graphs.fingerprint import (
    class_name,
    described,
    graphs_digest,
    values_digest,
    with_drawn_seeds,
)
from gramlet.kernels.contract.tags import graph_tags
from gramlet.scale.cluster import require_client, results
from gramlet.scale.store_folder import (
    LOCK,
    differences,
    entries,
    open_folder,
    part_progress,
    place_of,
    refuse_older,
)
from gramlet.scale.tile_work import PairWork, Tile, TileGrid, prepared

FORMAT = "gramlet Gram matrix, 3"
_METADATA, _CHUNKS = "zarr.json", "c"
_LEFTOVER = re.compile(r"(zarr|\d+)\.[0-9a-f]{32}\.partial")  # of Zarr's interrupted writes
_FILES = (".npy", ".npz", ".csv", ".tsv", ".txt")  # endings of matrices in files
_NAMED_TILES = 5  # how many damaged tiles a warning names
_WRITERS = 2  # threads that write while this one computes
_WAITING = 2  # tiles that are computed and not yet written


def write_gram(
    estimator: Any,
    X: Any,
    output: str | os.PathLike[str],
    *,
    Y: Any = None,
    y: Any = None,
    chunk: int = 2048,
    client: Any = None,
    resume: bool = True,
    verify: bool = False,
) -> Any:
    """Compute a Gram matrix into a folder; return the array, opened read-only.

    Parameters
    ----------
    estimator : kernel or embedding
        Not changed: a clone is fitted.
    X, Y : graphs
    output : path of the folder
    y : array, optional
        The target, for supervised kernels.
    chunk, client, resume, verify
        As for `gramlet.gram`.
    """
    from sklearn.base import clone

    zarr = _zarr()
    if client is not None:
        require_client(client)
    estimator = clone(estimator)
    estimator._validate_params()
    if graph_tags(estimator).whole_matrix:
        raise ValueError(
            f"{estimator!r} is only defined for the matrix as a whole, so that it cannot be "
            'computed in tiles. Use psd="none", or leave out output= to compute it in memory.'
        )
    X, Y = as_batch(X), None if Y is None else as_batch(Y)
    chunk = require_count("chunk", chunk, 1)
    grid = TileGrid(len(X), len(X if Y is None else Y), chunk, symmetric=Y is None)
    folder = place_of(output, "K.zarr")
    if folder.suffix.lower() in _FILES and not folder.exists():
        raise ValueError(
            f"output={str(folder)!r}: the matrix is written as a folder in Zarr format. Name it "
            f"{folder.with_suffix('.zarr').name!r}; for a file, leave out output= and save the "
            "array that is returned, for example with numpy.save."
        )
    with open_folder(folder, "Finished tiles are kept"):
        stored = _attributes(folder)
        deleted = not resume and stored is not None
        if deleted:
            _delete(folder)
            stored = None
        drawn = None if stored is None else stored.get("drawn")
        estimator, seeds = with_drawn_seeds(estimator, drawn if isinstance(drawn, dict) else {})
        attributes = {
            "format": FORMAT,
            "gramlet": __version__,
            "kernel": class_name(estimator),
            "params": described(estimator)["params"],
            "drawn": seeds,
            "graphs": graphs_digest(X),
            "columns": None if Y is None else graphs_digest(Y),
            "target": values_digest(y),
            "shape": [grid.n_rows, grid.n_columns],
            "chunk": grid.chunk,
            "dtype": "float64",
        }
        attributes = json.loads(json.dumps(attributes))  # as they will be read
        store = _Store(folder.absolute(), grid, attributes)
        work = None
        if stored is None:
            if not deleted:
                _refuse_foreign(folder)
            # Before anything is written, so that an error here leaves no store.
            work = prepared(estimator, X, Y, y)
            store.create()
        else:
            _refuse_other(stored, attributes, folder)
        missing = store.missing(verify)
        if missing:
            work = work or prepared(estimator, X, Y, y)
            label = type(estimator).__name__
            done = len(grid.tiles()) - len(missing)
            with part_progress(done + len(missing), done, label, "tiles") as advance:
                if client is not None:
                    _run_on_cluster(store, work, missing, client, advance)
                else:
                    params = estimator.get_params(deep=False)
                    tiling = Tiling(params.get("n_jobs"), params.get("verbose", False), label)
                    _run_here(store, work, missing, tiling, advance)
    # Absolute: after a change of the current folder Zarr would find no chunks, and read NaN.
    return zarr.open_array(str(folder.absolute()), mode="r")


def _zarr() -> Any:
    """The module zarr; raises an ImportError that explains how to install it."""
    try:
        import zarr
    except ImportError as why:
        raise ImportError(
            "Matrices on disk need zarr 3.1.3 or later, which is not installed: "
            "pip install 'gramlet[scale]'."
        ) from why
    version = tuple(int(number) for number in re.findall(r"\d+", zarr.__version__)[:3])
    if version < (3, 1, 3):  # the first whose local writes are atomic
        raise ImportError(
            f"Matrices on disk need zarr 3.1.3 or later; installed is {zarr.__version__}: "
            "pip install 'gramlet[scale]'."
        )
    return zarr


def _attributes(folder: Path) -> dict[str, Any] | None:
    """What gramlet wrote to the attributes of the array in a folder; None without an array."""
    refuse_older(folder)
    path = folder / _METADATA
    if not path.is_file():
        return None
    try:
        attributes = json.loads(path.read_bytes())["attributes"]
        known = attributes["format"].startswith("gramlet Gram matrix")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        known = False
    if not known:
        raise ValueError(
            f"{str(folder)!r} contains an array without the attributes that gramlet writes, so it "
            "cannot be continued. Name another place, or remove the folder yourself."
        )
    found: dict[str, Any] = attributes
    return found


def _refuse_foreign(folder: Path) -> None:
    """Refuse a folder without an array that is not empty."""
    names = sorted(entry.name for entry in entries(folder))
    names = [name for name in names if name != LOCK and not _LEFTOVER.fullmatch(name)]
    if names:
        raise ValueError(
            f"{str(folder)!r} is not empty (it contains {names[0]!r}) and has no matrix of "
            "gramlet's. Name another place."
        )


def _refuse_other(stored: dict[str, Any], wanted: dict[str, Any], folder: Path) -> None:
    # A seed that was drawn before and is given now counts as the same seed. Attributes that others
    # added do not count.
    names = wanted.keys() - {"drawn"}
    if stored.get("kernel") != wanted["kernel"]:  # whose parameters say nothing
        names -= {"params"}
    stored, wanted = ({n: line.get(n) for n in wanted if n in names} for line in (stored, wanted))
    found = differences(stored, wanted)
    if found:
        raise ValueError(
            f"{str(folder)!r} contains another matrix: {'; '.join(found)}. Name another place, or "
            "start again with resume=False (--fresh), which deletes it."
        )


def _delete(folder: Path) -> None:
    """Remove the array's files and nothing else; its attributes last, by which it is ours."""
    for _ in _chunk_files(folder):  # links are refused
        pass
    if (folder / _CHUNKS).is_dir():
        shutil.rmtree(folder / _CHUNKS)
    (folder / _METADATA).unlink()


def _chunk_files(folder: Path) -> Iterator[tuple[str, os.DirEntry[str]]]:
    """The files below the folder of chunks, each with the name of its row."""
    if (folder / _CHUNKS).is_dir():
        for row in entries(folder / _CHUNKS):
            if row.is_dir():
                yield from ((row.name, entry) for entry in entries(Path(row.path)))


@dataclass(frozen=True)
class _Store:
    """The array of a folder, as this process and workers write to it."""

    folder: Path
    grid: TileGrid
    attributes: dict[str, Any]

    def create(self) -> None:
        """Write the array's metadata."""
        self._create(str(self.folder))

    def _create(self, place: Any) -> Any:
        from zarr.codecs import Crc32cCodec

        return _zarr().create_array(
            place,
            shape=(self.grid.n_rows, self.grid.n_columns),
            chunks=self.grid.tile_shape,
            dtype="float64",
            filters=None,
            compressors=[Crc32cCodec()],
            fill_value=np.nan,
            attributes=self.attributes,
        )

    def open(self) -> Any:
        """The array for writing; ValueError if another one was put in its place."""
        zarr = _zarr()
        try:
            array = zarr.open_array(str(self.folder), mode="r+")
        except (ValueError, KeyError, TypeError) as why:
            raise ValueError(
                f"{str(self.folder / _METADATA)!r} was changed, and Zarr does not read it: {why}"
            ) from why
        wanted = self._create({}).metadata.to_dict()
        found = array.metadata.to_dict()
        # Compared as text: NaN is not equal to itself.
        changed = [
            name
            for name in wanted
            if name != "attributes" and repr(found.get(name)) != repr(wanted[name])
        ]
        if any(array.attrs.get(n) != v for n, v in self.attributes.items() if n != "drawn"):
            changed.append("attributes")
        if changed:
            raise ValueError(
                f"{str(self.folder / _METADATA)!r} was changed ({', '.join(changed)}). Name "
                "another place, or start again with resume=False (--fresh), which deletes the "
                "array."
            )
        # Zarr would not write a chunk that contains nothing but the fill value.
        return array.with_config({"write_empty_chunks": True})

    def write(self, array: Any, tile: Tile, values: Floats) -> None:
        """Write a tile and, in a symmetric matrix, its mirror."""
        array.set_block_selection(tile, values)
        if self.grid.symmetric and tile[0] != tile[1]:
            array.set_block_selection(tile[::-1], values.T)

    def missing(self, verify: bool) -> list[Tile]:
        """The tiles to compute; what interrupted writes and damage left is removed."""
        height, width = self.grid.tile_shape
        size = 8 * height * width + 4  # with the checksum
        array = self.open()
        done, damaged = set(), set()
        for chunk, n_bytes in self._chunks().items():
            if n_bytes == size and not (verify and not _reads(array, chunk)):
                done.add(chunk)
            else:
                damaged.add(chunk)
                (self.folder / _CHUNKS / str(chunk[0]) / str(chunk[1])).unlink()
        tiles = self.grid.tiles()
        missing = [tile for tile in tiles if not self.grid.chunks_of(tile) <= done]
        lost = [tile for tile in missing if self.grid.chunks_of(tile) & damaged]
        if lost:
            self._warn(lost)
        return missing

    def _chunks(self) -> dict[Tile, int]:
        """The chunks of the matrix that have a file, with its size."""
        chunks: dict[Tile, int] = {}
        valid = set().union(*map(self.grid.chunks_of, self.grid.tiles()))
        for entry in entries(self.folder):
            self._remove_leftover(entry)
        for row, entry in _chunk_files(self.folder):
            self._remove_leftover(entry)
            if row.isdecimal() and entry.name.isdecimal() and entry.is_file():
                chunk = int(row), int(entry.name)
                if chunk in valid:
                    chunks[chunk] = entry.stat().st_size
        return chunks

    @staticmethod
    def _remove_leftover(entry: os.DirEntry[str]) -> None:
        if _LEFTOVER.fullmatch(entry.name) and entry.is_file():
            os.unlink(entry.path)

    def _warn(self, lost: list[Tile]) -> None:
        named = "; ".join(map(self.grid.named, lost[:_NAMED_TILES]))
        more = "; ..." if len(lost) > _NAMED_TILES else ""
        noun = "tile was" if len(lost) == 1 else "tiles were"
        warnings.warn(
            f"{str(self.folder)!r}: {len(lost)} {noun} damaged and computed again ({named}{more}).",
            stacklevel=2,
        )


def _reads(array: Any, chunk: Tile) -> bool:
    """Whether a chunk has the checksum that was written with it."""
    try:
        array.get_block_selection(chunk)
    except Exception:  # whatever Zarr raises for a file that is no chunk
        return False
    return True


def _run_here(
    store: _Store,
    work: PairWork,
    tiles: list[Tile],
    tiling: Tiling,
    advance: Callable[[], None],
) -> None:
    """Compute tiles one after the other, on the threads of ``tiling``; other threads write."""
    array = store.open()
    waiting: deque[Future[None]] = deque()
    # Also after an error or Ctrl-C the pool writes the tiles that are computed.
    with ThreadPoolExecutor(_WRITERS, "gramlet-write") as pool:
        for tile in tiles:
            values = work.tile(store.grid, tile, tiling)
            while len(waiting) >= _WAITING:
                waiting.popleft().result()
                advance()
            waiting.append(pool.submit(store.write, array, tile, values))
        for written in waiting:
            written.result()
            advance()


def _run_on_cluster(
    store: _Store,
    work: PairWork,
    tiles: list[Tile],
    client: Any,
    advance: Callable[[], None],
) -> None:
    """Compute tiles on the workers of a client, which write them to the store themselves."""
    calls = ((store.grid.named(tile), (store, tile)) for tile in tiles)
    kept = f"Finished tiles are kept in {str(store.folder)!r}."
    for _ in results(client, write_tile, calls, kept, shared=work):
        advance()


def write_tile(work: PairWork, store: _Store, tile: Tile) -> None:
    """Compute and write a tile, on a worker."""
    if not store.folder.is_dir():
        raise FileNotFoundError(
            f"A worker does not see the folder {str(store.folder)!r}. Workers write tiles "
            "themselves: name a folder that all machines of the cluster share."
        )
    values = work.tile(store.grid, tile)
    # Opened only now: if the call that submitted the tile has ended, another matrix may be there.
    store.write(store.open(), tile, values)
