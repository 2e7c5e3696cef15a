"""A Gram matrix in a folder: a plain Zarr 3 array, computed tile by tile, continued and checked.

A tile is a chunk of the array, and a chunk is a file with a checksum that Zarr writes atomically: a
file of the right size is a finished tile. The array's attributes describe what is computed. The
same function computes tiles in this process and on the workers of a cluster.
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
from scipy import sparse

from gramlet._version import __version__
from gramlet.common.arrays import Floats, Ints
from gramlet.common.checks import require_count
from gramlet.engine.core.tiles import QUIET, Tiling, one_blas_thread
from gramlet.graphs.batch import GraphBatch
from gramlet.graphs.conversion.convert import as_batch
from gramlet.graphs.fingerprint import (
    class_name,
    described,
    graphs_digest,
    values_digest,
    with_drawn_seeds,
)
from gramlet.kernels.contract.normalisation import Normalization, normalize_in_place, unit
from gramlet.kernels.contract.profile import CountProfile, FeatureProfile, Profile
from gramlet.kernels.contract.tags import graph_tags, is_embedding
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

FORMAT = "gramlet Gram matrix, 3"
_METADATA, _CHUNKS = "zarr.json", "c"
_LEFTOVER = re.compile(r"(zarr|\d+)\.[0-9a-f]{32}\.partial")  # of Zarr's interrupted writes
_FILES = (".npy", ".npz", ".csv", ".tsv", ".txt")  # endings of matrices in files
_NAMED_TILES = 5  # how many damaged tiles a warning names
_WRITERS = 2  # threads that write while this one computes; as many tiles wait for them

Tile = tuple[int, int]


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
        if stored is None:
            _refuse_foreign(folder)
        elif not resume:
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
        store = _Store(folder.absolute(), grid, json.loads(json.dumps(attributes)))
        work = None
        if stored is None:
            # Before anything is written, so that an error here leaves no store.
            work = prepared(estimator, X, Y, y)
            store.create(str(store.folder))
        else:
            _refuse_other(stored, store.attributes, folder)
        missing = store.missing(verify)
        if missing:
            work = work or prepared(estimator, X, Y, y)
            label, total = type(estimator).__name__, len(grid.tiles())
            with part_progress(total, total - len(missing), label, "tiles") as advance:
                if client is None:
                    tiling = _tiling(estimator, getattr(estimator, "verbose", False))
                    _run_here(store, work, missing, tiling, advance)
                else:
                    calls = ((grid.named(tile), (store, tile)) for tile in missing)
                    kept = f"Finished tiles are kept in {str(folder)!r}."
                    for _ in results(client, write_tile, calls, kept, shared=work):
                        advance()
    # Absolute: after a change of the current folder Zarr would find no chunks, and read NaN.
    return zarr.open_array(str(folder.absolute()), mode="r")


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
            while len(waiting) >= _WRITERS:
                waiting.popleft().result()
                advance()
            waiting.append(pool.submit(store.write, array, tile, values))
        for written in waiting:
            written.result()
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


def _zarr() -> Any:
    """The module zarr; raises an ImportError that explains how to install it."""
    try:
        import zarr

        version = zarr.__version__
    except ImportError:
        version = "none"
    # The first version whose local writes are atomic.
    if tuple(int(number) for number in re.findall(r"\d+", version)[:3]) < (3, 1, 3):
        raise ImportError(
            f"Matrices on disk need zarr 3.1.3 or later; installed is {version}: "
            "pip install 'gramlet[scale]'."
        )
    return zarr


# Tiles


@dataclass(frozen=True)
class TileGrid:
    """The tiles of a matrix, which are the chunks of its array.

    Attributes
    ----------
    n_rows, n_columns : int
        Shape of the matrix.
    chunk : int
        Rows and columns per tile; the last ones of a matrix are smaller.
    symmetric : bool
        Whether only tiles on and above the diagonal are computed; the others are their mirrors.

    Examples
    --------
    >>> grid = TileGrid(5, 5, 2, symmetric=True)
    >>> grid.tiles()
    [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)]
    >>> grid.named((0, 2))
    'rows 0:2, columns 4:5'
    """

    n_rows: int
    n_columns: int
    chunk: int
    symmetric: bool

    @property
    def tile_shape(self) -> tuple[int, int]:
        """Rows and columns of a chunk; chunks at the edges are filled up with NaN."""
        return max(1, min(self.chunk, self.n_rows)), max(1, min(self.chunk, self.n_columns))

    def tiles(self) -> list[Tile]:
        """The tiles to compute, row by row."""
        height, width = self.tile_shape
        down, across = -(-self.n_rows // height), -(-self.n_columns // width)
        return [(i, j) for i in range(down) for j in range(i if self.symmetric else 0, across)]

    def chunks_of(self, tile: Tile) -> set[Tile]:
        """The chunks that a tile fills: itself and, in a symmetric matrix, its mirror."""
        return {tile, tile[::-1]} if self.symmetric else {tile}

    def rows(self, i: int) -> slice:
        """The rows of the matrix in the i-th row of tiles."""
        height = self.tile_shape[0]
        return slice(i * height, min((i + 1) * height, self.n_rows))

    def columns(self, j: int) -> slice:
        """The columns of the matrix in the j-th column of tiles."""
        width = self.tile_shape[1]
        return slice(j * width, min((j + 1) * width, self.n_columns))

    def named(self, tile: Tile) -> str:
        """A tile by its rows and columns, for messages."""
        rows, columns = self.rows(tile[0]), self.columns(tile[1])
        return f"rows {rows.start}:{rows.stop}, columns {columns.start}:{columns.stop}"


class SparseRows(FeatureProfile):
    """Sparse rows of real features, compared by dot product."""

    rows: Any

    def __len__(self) -> int:
        return int(self.rows.shape[0])

    def take(self, rows: Ints) -> SparseRows:
        return SparseRows(self.rows[rows])

    def compare(self, other: FeatureProfile, tiling: Tiling = QUIET) -> Floats:
        with one_blas_thread():
            return np.asarray((self.rows @ other.rows.T).toarray(), dtype=np.float64)


@dataclass(frozen=True)
class Block:
    """Some graphs of one side of the matrix: their profile and, to normalise, their norms."""

    profile: Any
    norms: Floats | None

    def __getitem__(self, rows: slice) -> Block:
        return Block(self.profile[rows], None if self.norms is None else self.norms[rows])


@dataclass(frozen=True)
class PairWork:
    """Both sides of the matrix; without ``columns`` it is symmetric."""

    rows: Block
    columns: Block | None
    normalize: Normalization = False

    def tile(self, grid: TileGrid, tile: Tile, tiling: Tiling = QUIET) -> Floats:
        """The values of a tile."""
        i, j = tile
        rows = self.rows[grid.rows(i)]
        on_diagonal = self.columns is None and i == j
        columns = rows
        if not on_diagonal:
            columns = (self.rows if self.columns is None else self.columns)[grid.columns(j)]
        values: Floats = (
            rows.profile.compare_self(tiling)
            if on_diagonal
            else rows.profile.compare(columns.profile, tiling)
        )
        if rows.norms is not None and columns.norms is not None:
            normalize_in_place(values, rows.norms, columns.norms, self.normalize)
            if on_diagonal:
                np.fill_diagonal(values, unit(rows.norms))
        return values


def prepared(estimator: Any, X: GraphBatch, Y: GraphBatch | None, y: Any) -> PairWork:
    """Fit the estimator (on Y if given) and prepare the profiles to compare."""
    tiling = _tiling(estimator)
    fitted_on = X if Y is None else Y
    if is_embedding(estimator):
        features = Block(_feature_rows(estimator.fit_transform(fitted_on, y)), None)
        if Y is None:
            return PairWork(features, None)
        return PairWork(Block(_feature_rows(estimator.transform(X)), None), features)
    estimator.fit(fitted_on, y)
    fitted = estimator._current(estimator.profile_)
    how: Normalization = estimator.normalize
    if Y is None:
        return PairWork(Block(fitted, _diagonal(fitted, tiling) if how else None), None, how)
    sides = [Block(p, p.norms(tiling) if how else None) for p in (estimator.profile_of(X), fitted)]
    return PairWork(sides[0], sides[1], how)


def _feature_rows(features: Any) -> Profile:
    if sparse.issparse(features):
        return SparseRows(sparse.csr_matrix(features))
    return FeatureProfile(np.asarray(features, dtype=np.float64))


def _diagonal(profile: Any, tiling: Tiling) -> Floats:
    """The diagonal of the Gram matrix, with the same bits as in the whole matrix."""
    if isinstance(profile, CountProfile):  # whole numbers, exact in any order
        return profile.norms(tiling)
    size = 64  # the diagonals of small matrices on the diagonal
    blocks = (profile[begin : begin + size] for begin in range(0, len(profile), size))
    return np.concatenate([np.diagonal(block.compare_self(tiling)) for block in blocks])


def _tiling(estimator: Any, verbose: int | bool = False) -> Tiling:
    return Tiling(getattr(estimator, "n_jobs", None), verbose, type(estimator).__name__)


# The folder


def _attributes(folder: Path) -> dict[str, Any] | None:
    """What gramlet wrote to the attributes of the array in a folder; None without an array."""
    refuse_older(folder)
    path = folder / _METADATA
    if not path.is_file():
        return None
    try:
        attributes: dict[str, Any] = json.loads(path.read_bytes())["attributes"]
        known = attributes["format"].startswith("gramlet Gram matrix")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        known = False
    if not known:
        raise ValueError(
            f"{str(folder)!r} contains an array without the attributes that gramlet writes, so it "
            "cannot be continued. Name another place, or remove the folder yourself."
        )
    return attributes


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
    changes = differences(stored, wanted)
    if changes:
        raise ValueError(
            f"{str(folder)!r} contains another matrix: {'; '.join(changes)}. Name another place, "
            "or start again with resume=False (--fresh), which deletes it."
        )


def _delete(folder: Path) -> None:
    """Remove the array's files and nothing else; its attributes last, by which it is ours."""
    list(_chunk_files(folder))  # links are refused
    if (folder / _CHUNKS).is_dir():
        shutil.rmtree(folder / _CHUNKS)
    (folder / _METADATA).unlink()


def _chunk_files(folder: Path) -> Iterator[tuple[str, os.DirEntry[str]]]:
    """The files below the folder of chunks, each with its name there, such as "0/1"."""
    if (folder / _CHUNKS).is_dir():
        for row in entries(folder / _CHUNKS):
            if row.is_dir():
                for entry in entries(Path(row.path)):
                    yield f"{row.name}/{entry.name}", entry


@dataclass(frozen=True)
class _Store:
    """The array of a folder, as this process and workers write to it."""

    folder: Path
    grid: TileGrid
    attributes: dict[str, Any]

    def create(self, place: Any) -> Any:
        """A new array in a folder, or in a dictionary."""
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
        path = str(self.folder / _METADATA)
        try:
            array = _zarr().open_array(str(self.folder), mode="r+")
        except (ValueError, KeyError, TypeError) as why:
            raise ValueError(f"{path!r} was changed, and Zarr does not read it: {why}") from why
        wanted, stored = self.create({}).metadata.to_dict(), array.metadata.to_dict()
        # Compared as text: NaN is not equal to itself.
        changed = [
            name
            for name in wanted
            if name != "attributes" and repr(stored.get(name)) != repr(wanted[name])
        ]
        if any(array.attrs.get(n) != v for n, v in self.attributes.items() if n != "drawn"):
            changed.append("attributes")
        if changed:
            raise ValueError(
                f"{path!r} was changed ({', '.join(changed)}). Name another place, or start again "
                "with resume=False (--fresh), which deletes the array."
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
        for entry in (*entries(self.folder), *(file for _, file in _chunk_files(self.folder))):
            if _LEFTOVER.fullmatch(entry.name) and entry.is_file():
                os.unlink(entry.path)
        height, width = self.grid.tile_shape
        size = 8 * height * width + 4  # with the checksum
        array, tiles = self.open(), self.grid.tiles()
        chunks = {f"{i}/{j}": (i, j) for tile in tiles for i, j in self.grid.chunks_of(tile)}
        done, damaged = set(), set()
        for name, entry in list(_chunk_files(self.folder)):
            if name not in chunks or not entry.is_file():
                continue
            if entry.stat().st_size == size and (not verify or _reads(array, chunks[name])):
                done.add(chunks[name])
            else:
                damaged.add(chunks[name])
                os.unlink(entry.path)
        missing = [tile for tile in tiles if not self.grid.chunks_of(tile) <= done]
        lost = [tile for tile in missing if self.grid.chunks_of(tile) & damaged]
        if lost:
            named = "; ".join(map(self.grid.named, lost[:_NAMED_TILES]))
            more = "; ..." if len(lost) > _NAMED_TILES else ""
            noun = "tile was" if len(lost) == 1 else "tiles were"
            warnings.warn(
                f"{str(self.folder)!r}: {len(lost)} {noun} damaged and computed again "
                f"({named}{more}).",
                stacklevel=2,
            )
        return missing


def _reads(array: Any, chunk: Tile) -> bool:
    """Whether a chunk has the checksum that was written with it."""
    try:
        array.get_block_selection(chunk)
    except Exception:  # whatever Zarr raises for a file that is no chunk
        return False
    return True
