"""A Zarr 3 array on disk whose tiles are written one by one, in place.

The array is uncompressed and sharded with the index first, so every tile has a fixed position in a
fixed file: a process that dies while it writes damages only its own tile, and workers can
write to one file at the same time. (Zarr's own writing into shards would read and write the whole
shard for each tile.) Any library for Zarr 3 reads the array.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gramlet.common.arrays import Floats
from gramlet.common.safe_writing import flush_folder, writing
from gramlet.scale.matrices.tile_grid import Tile, TileGrid

__all__ = ["TileStore", "checksum", "require_zarr"]

_METADATA = "zarr.json"
_CHUNKS = "c"
_STRIPE = 32  # columns that are transposed at once when a tile is mirrored; they stay in cache
_LINE = 8  # numbers of a cache line
_ROWS = 32  # of a tile that are summed and written at once; they stay in cache


def require_zarr() -> Any:
    """The module zarr; raises an ImportError that explains how to install it."""
    try:
        import google_crc32c  # noqa: F401
        import zarr
    except ImportError as why:
        raise ImportError(
            f"Matrices on disk need zarr 3 and google-crc32c; {why.name} is not installed: "
            "pip install 'gramlet[scale]'."
        ) from why
    if int(zarr.__version__.split(".")[0]) < 3:
        raise ImportError(
            f"Matrices on disk need zarr 3; installed is {zarr.__version__}: "
            "pip install 'gramlet[scale]'."
        )
    return zarr


def checksum(tile: Floats) -> str:
    """The CRC-32C of a stored tile's bytes, Zarr's own checksum, as hexadecimal digits."""
    summed = _Checksum()
    for _ in summed.over(np.ascontiguousarray(tile)):
        pass
    return str(summed)


class _Checksum:
    """A CRC-32C that grows while the rows of a tile are written."""

    def __init__(self) -> None:
        self._value = 0

    def over(self, tile: Floats) -> Iterator[Floats]:
        """The rows of a tile, some at a time, after they were added to the sum."""
        from google_crc32c import extend

        for begin in range(0, tile.shape[0], _ROWS):
            rows = tile[begin : begin + _ROWS]
            self._value = extend(self._value, rows.tobytes())
            yield rows

    def __str__(self) -> str:
        return f"{self._value:08x}"


@dataclass(frozen=True)
class TileStore:
    """The files of an array.

    Attributes
    ----------
    folder : Path
    grid : TileGrid
    """

    folder: Path
    grid: TileGrid

    def create(self) -> set[Tile]:
        """Write missing metadata and files; return the files that were missing.

        A file of the wrong length counts as missing and is created again.
        """
        metadata = self.folder / _METADATA
        text = self.metadata()
        if not metadata.exists() or metadata.read_bytes() != text:
            with writing(metadata) as place:
                place.write_bytes(text)
        missing = set()
        for file in self.grid.files():
            path = self._path(file)
            if not path.is_file() or path.stat().st_size != self.grid.file_bytes:
                missing.add(file)
                self._create_file(path)
        return missing

    def metadata(self) -> bytes:
        """The file zarr.json, as Zarr itself writes it except for the checksum of the index.

        The index is the same in every file; `index_is_intact` compares all of it.
        """
        zarr = require_zarr()
        memory = zarr.storage.MemoryStore()
        grid = self.grid
        zarr.create_array(
            memory,
            shape=(grid.n_rows, grid.n_columns),
            chunks=(grid.strip, grid.tile_shape[1]),
            shards=grid.file_shape,
            dtype="float64",
            compressors=None,
            fill_value=0.0,
        )
        found = json.loads(memory._store_dict[_METADATA].to_bytes())
        sharding = found["codecs"][0]["configuration"]
        sharding["index_location"] = "start"
        sharding["index_codecs"] = [{"name": "bytes", "configuration": {"endian": "little"}}]
        return json.dumps(found, indent=2).encode()

    def index_is_intact(self, file: Tile) -> bool:
        """Whether a file begins with the right index."""
        index = self.grid.index()
        with self._path(file).open("rb") as stream:
            return stream.read(len(index)) == index

    def write_index(self, file: Tile) -> None:
        """Write a file's index again."""
        self._put(self._path(file), 0, [memoryview(self.grid.index())])

    def write(self, tile: Tile, values: Floats) -> str:
        """Write a tile and, in a symmetric matrix, its mirror; return the checksum.

        The data is guaranteed to be on disk after `flush`.
        """
        stored = self.filled_up(values)
        digest = self.write_rows(tile, stored)
        self.write_mirror(tile, stored)
        return digest

    def filled_up(self, values: Floats) -> Floats:
        """A tile as it is stored: padded with zeros to the size of all others."""
        if values.shape == self.grid.tile_shape:
            return np.ascontiguousarray(values, dtype="<f8")
        stored = np.zeros(self.grid.tile_shape, dtype="<f8")
        stored[: values.shape[0], : values.shape[1]] = values
        return stored

    def write_rows(self, tile: Tile, stored: Floats) -> str:
        """Write a tile that is `filled_up`, without its mirror; return the checksum."""
        summed = _Checksum()
        self._write(tile, summed.over(stored))
        return str(summed)

    def write_mirror(self, tile: Tile, stored: Floats) -> None:
        """Write the transposed tile, if the matrix is symmetric and the tile is not diagonal."""
        if self.grid.symmetric and tile[0] != tile[1]:
            self._write((tile[1], tile[0]), _mirrored(stored))

    def flush(self, tiles: Iterable[Tile]) -> None:
        """Wait until tiles and their mirrors are on disk."""
        files = set()
        for i, j in tiles:
            files.add(self.grid.place((i, j))[0])
            if self.grid.symmetric:
                files.add(self.grid.place((j, i))[0])
        for file in sorted(files):
            handle = os.open(self._path(file), os.O_RDWR)
            try:
                os.fsync(handle)
            except OSError as why:
                raise self._error(why, self._path(file)) from why
            finally:
                os.close(handle)

    def read(self, tile: Tile) -> Floats:
        """A tile as it is stored, padded with zeros."""
        file, offset = self.grid.place(tile)
        with self._path(file).open("rb") as stream:
            stream.seek(offset)
            return np.fromfile(stream, dtype="<f8", count=self.grid.tile_bytes // 8).reshape(
                self.grid.tile_shape
            )

    def is_intact(self, tile: Tile, expected: str) -> bool:
        """Whether a tile has this checksum and its mirror agrees with it."""
        stored = self.read(tile)
        if checksum(stored) != expected:
            return False
        if not self.grid.symmetric or tile[0] == tile[1]:
            return True
        return bool(np.array_equal(self.read((tile[1], tile[0])), stored.T))

    def open(self) -> Any:
        """The array, read-only."""
        # Absolute: after a change of the current folder Zarr would find no files, and read zeros.
        return require_zarr().open_array(str(self.folder.absolute()), mode="r")

    def delete(self) -> None:
        """Remove the array's own files and nothing else."""
        import shutil

        shutil.rmtree(self.folder / _CHUNKS, ignore_errors=True)
        (self.folder / _METADATA).unlink(missing_ok=True)

    @staticmethod
    def has_array(folder: Path) -> bool:
        """Whether there is a Zarr array of any kind in a folder."""
        return any((folder / name).exists() for name in (_METADATA, ".zarray", _CHUNKS))

    def place(self, file: Tile) -> str:
        """The path of a file below the folder, for messages."""
        return str(self._path(file).relative_to(self.folder))

    def _path(self, file: Tile) -> Path:
        return self.folder / _CHUNKS / str(file[0]) / str(file[1])

    def _create_file(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with writing(path) as place, place.open("wb") as stream:
                stream.write(self.grid.index())
                stream.truncate(self.grid.file_bytes)
        except OSError as why:
            raise self._error(why, path) from why
        flush_folder(path.parent)

    def _write(self, tile: Tile, stripes: Iterable[Floats]) -> None:
        """Write a tile from its rows, some at a time."""
        file, offset = self.grid.place(tile)
        self._put(self._path(file), offset, (memoryview(rows).cast("B") for rows in stripes))

    def _put(self, path: Path, offset: int, parts: Iterable[memoryview]) -> None:
        """Write parts one after the other, from an offset on."""
        try:
            with path.open("r+b", buffering=0) as stream:
                stream.seek(offset)
                for data in parts:
                    done = 0
                    while done < len(data):
                        done += stream.write(data[done:])
        except OSError as why:
            raise self._error(why, path) from why

    def _error(self, why: OSError, path: Path) -> OSError:
        """The system's error with the path, what is kept and what to do."""
        text = (
            f"{str(path)!r} cannot be written: {why.strerror or why}. Finished tiles are kept in "
            f"{str(self.folder)!r}; make room and call again with the same arguments to compute "
            "the others."
        )
        return type(why)(why.errno, text) if why.errno is not None else OSError(text)


def _mirrored(tile: Floats) -> Iterator[Floats]:
    """The rows of the transposed tile, some at a time; each stripe is overwritten by the next."""
    height, width = tile.shape
    # Rows of a tile lie a power of two apart, where caches keep few of them: a stripe is first
    # copied to where they lie close together. A mirror as a whole would be twice the memory.
    close = np.empty((height, _STRIPE + _LINE), dtype=tile.dtype)
    turned = np.empty((_STRIPE, height), dtype=tile.dtype)
    for begin in range(0, width, _STRIPE):
        columns = tile[:, begin : begin + _STRIPE]
        n_columns = columns.shape[1]
        close[:, :n_columns] = columns
        turned[:n_columns] = close[:, :n_columns].T
        yield turned[:n_columns]
