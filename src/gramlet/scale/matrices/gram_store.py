"""Starts, continues and checks a Gram matrix in a folder; other modules compute the tiles.

The folder contains a Zarr array, a journal whose first line describes what is computed, and, while
a process writes, a lock file.
"""

from __future__ import annotations

import json
import os
import warnings
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from gramlet._version import __version__
from gramlet.common.checks import require_count
from gramlet.common.safe_writing import remove_leftovers
from gramlet.engine.core.tiles import Tiling
from gramlet.graphs.batch import GraphBatch
from gramlet.graphs.conversion.convert import as_batch
from gramlet.kernels.contract.tags import graph_tags
from gramlet.scale.cluster import require_client
from gramlet.scale.fingerprint import (
    class_name,
    described,
    graphs_digest,
    values_digest,
    with_drawn_seeds,
)
from gramlet.scale.journal import Journal, differences
from gramlet.scale.lock import LOCK
from gramlet.scale.matrices.tile_grid import Tile, TileGrid
from gramlet.scale.matrices.tile_store import TileStore, require_zarr
from gramlet.scale.matrices.tile_work import prepared
from gramlet.scale.matrices.tile_writer import run_here
from gramlet.scale.progress import tile_progress
from gramlet.scale.store_folder import open_folder, place_of

__all__ = ["FORMAT", "write_gram"]

FORMAT = "gramlet Gram matrix, 2"
_FILES = (".npy", ".npz", ".csv", ".tsv", ".txt")  # endings of matrices in files
_NAMED_TILES = 5  # how many damaged tiles a warning names


@dataclass(frozen=True)
class _Task:
    """What is to be computed, and where."""

    estimator: Any
    X: GraphBatch
    Y: GraphBatch | None
    y: Any
    store: TileStore
    journal: Journal

    def header(self, drawn: dict[str, int]) -> dict[str, Any]:
        """The first line of the journal."""
        grid = self.store.grid
        content = {
            "format": FORMAT,
            "gramlet": __version__,
            "kernel": class_name(self.estimator),
            "params": described(self.estimator)["params"],
            "drawn": drawn,
            "graphs": graphs_digest(self.X),
            "columns": None if self.Y is None else graphs_digest(self.Y),
            "target": values_digest(self.y),
            "shape": [grid.n_rows, grid.n_columns],
            "chunk": grid.chunk,
            "dtype": "float64",
        }
        found: dict[str, Any] = json.loads(json.dumps(content))  # as it will be read
        return found


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

    require_zarr()
    if client is not None:
        require_client(client)
    estimator = clone(estimator)
    estimator._validate_params()
    _refuse_whole_matrix(estimator)
    X, Y = as_batch(X), None if Y is None else as_batch(Y)
    chunk = require_count("chunk", chunk, 1)
    grid = TileGrid(len(X), len(X if Y is None else Y), chunk, symmetric=Y is None)
    folder = place_of(output, "K.zarr")
    _refuse_names_of_files(folder)
    task = _Task(estimator, X, Y, y, TileStore(folder, grid), Journal(folder))
    with open_folder(folder, "Finished tiles are kept"):
        _run(task, client, resume, verify)
    return task.store.open()


def _refuse_whole_matrix(estimator: Any) -> None:
    if graph_tags(estimator).whole_matrix:
        raise ValueError(
            f"{estimator!r} is only defined for the matrix as a whole, so that it cannot be "
            'computed in tiles. Use psd="none", or leave out output= to compute it in memory.'
        )


def _refuse_names_of_files(folder: Path) -> None:
    """Whoever asks for K.npy expects a file that numpy can load."""
    if folder.suffix.lower() in _FILES and not folder.exists():
        raise ValueError(
            f"output={str(folder)!r}: the matrix is written as a folder in Zarr format. Name it "
            f"{folder.with_suffix('.zarr').name!r}; for a file, leave out output= and save the "
            "array that is returned, for example with numpy.save."
        )


def _run(task: _Task, client: Any, resume: bool, verify: bool) -> None:
    store, journal = task.store, task.journal
    remove_leftovers(store.folder)
    own_folder = not resume and _delete(store, journal)
    if journal.exists():
        stored = _gram_header(journal)
        task, header = _seeded(task, stored.get("drawn"))
        _refuse_other(stored, header, store.folder)
        finished = _kept(store, journal, header, verify)
        work = None
    else:
        if not own_folder:
            _refuse_foreign(store.folder)
        task, header = _seeded(task, None)
        finished = {}
        # Before anything is written, so that an error here leaves no store.
        work = prepared(task.estimator, task.X, task.Y, task.y)
        journal.rewrite(header, {})
        store.create()
    missing = [tile for tile in store.grid.tiles() if tile not in finished]
    if missing:
        work = work or prepared(task.estimator, task.X, task.Y, task.y)
        _compute(task, work, missing, client)


def _compute(task: _Task, work: Any, missing: list[Tile], client: Any) -> None:
    store, journal = task.store, task.journal
    done = len(store.grid.tiles()) - len(missing)
    label = type(task.estimator).__name__
    with tile_progress(done + len(missing), done, label) as advance:
        if client is None:
            params = task.estimator.get_params(deep=False)
            tiling = Tiling(params.get("n_jobs"), params.get("verbose", False), label)
            run_here(work, missing, store, journal, tiling, advance)
        else:
            from gramlet.scale.matrices.tile_cluster import run_on_cluster

            run_on_cluster(work, missing, store, journal, client, advance)


def _seeded(task: _Task, drawn: Any) -> tuple[_Task, dict[str, Any]]:
    """The task with its seeds, drawn now or read from a journal, and its first line."""
    known = drawn if isinstance(drawn, dict) else {}
    estimator, seeds = with_drawn_seeds(task.estimator, known)
    task = replace(task, estimator=estimator)
    return task, task.header(seeds)


def _refuse_other(stored: dict[str, Any], wanted: dict[str, Any], folder: Path) -> None:
    # A seed that was drawn before and is given now counts as the same seed.
    stored, wanted = ({**line, "drawn": None} for line in (stored, wanted))
    if stored.get("kernel") != wanted["kernel"]:  # whose parameters say nothing
        stored, wanted = ({**line, "params": None} for line in (stored, wanted))
    found = differences(stored, wanted)
    if found:
        raise ValueError(
            f"{str(folder)!r} contains another matrix: {'; '.join(found)}. Name another place, or "
            "start again with resume=False (--fresh), which deletes it."
        )


def _refuse_foreign(folder: Path) -> None:
    """Refuse a folder that is not empty and has no journal."""
    found = sorted(name for name in os.listdir(folder) if name != LOCK)
    if TileStore.has_array(folder):
        raise ValueError(
            f"{str(folder)!r} contains an array without a journal of gramlet, so it cannot be "
            "continued. Name another place, or remove the folder yourself."
        )
    if found:
        raise ValueError(
            f"{str(folder)!r} is not empty (it contains {found[0]!r}) and has no matrix of "
            "gramlet's. Name another place."
        )


def _gram_header(journal: Journal) -> dict[str, Any]:
    """The first line of a journal; ValueError if it is not that of a Gram matrix."""
    header = journal.header()
    if not str(header["format"]).startswith("gramlet Gram matrix"):
        raise ValueError(
            f"{str(journal.path.parent)!r} was not written by gramlet.gram: its journal begins "
            f"with {header['format']!r}. Name another place."
        )
    return header


def _delete(store: TileStore, journal: Journal) -> bool:
    """Remove a store that gramlet wrote; False if there is none."""
    if not journal.exists():
        return False
    _gram_header(journal)
    store.delete()
    journal.delete()
    return True


def _kept(
    store: TileStore, journal: Journal, header: dict[str, Any], verify: bool
) -> dict[Tile, str]:
    """The finished tiles, without missing ones and, if requested, without damaged ones."""
    listed = journal.finished()
    valid = set(store.grid.tiles())
    missing_files = store.create()
    kept = {
        tile: digest
        for tile, digest in listed.items()
        if tile in valid and not _files_of(store, tile) & missing_files
    }
    lost = [tile for tile in listed if tile in valid and tile not in kept]
    if verify:
        damaged = [tile for tile, digest in kept.items() if not store.is_intact(tile, digest)]
        lost += damaged
        for tile in damaged:
            del kept[tile]
        _mend_indices(store)
    # An incomplete last line would damage the next one; a lost tile must not stay listed.
    if len(kept) < len(valid):
        journal.rewrite(header, kept)
    if lost:
        _warn(store, lost)
    return kept


def _mend_indices(store: TileStore) -> None:
    damaged = [file for file in store.grid.files() if not store.index_is_intact(file)]
    for file in damaged:
        store.write_index(file)
    if damaged:
        files = "file" if len(damaged) == 1 else "files"
        warnings.warn(
            f"{str(store.folder)!r}: the index of {len(damaged)} {files} was damaged and written "
            f"again (first: {store.place(damaged[0])}); the tiles there were checked.",
            stacklevel=2,
        )


def _files_of(store: TileStore, tile: Tile) -> set[Tile]:
    files = {store.grid.place(tile)[0]}
    if store.grid.symmetric:
        files.add(store.grid.place((tile[1], tile[0]))[0])
    return files


def _warn(store: TileStore, lost: list[Tile]) -> None:
    named = "; ".join(store.grid.named(tile) for tile in sorted(lost)[:_NAMED_TILES])
    more = "; ..." if len(lost) > _NAMED_TILES else ""
    noun = "tile was" if len(lost) == 1 else "tiles were"
    warnings.warn(
        f"{str(store.folder)!r}: {len(lost)} {noun} damaged or missing and computed again "
        f"({named}{more}).",
        stacklevel=2,
    )
