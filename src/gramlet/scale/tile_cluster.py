"""Tiles on the workers of a Dask cluster.

The profile is split into blocks of graphs, which are stored beside the store during the work; a
worker reads each block once and keeps it. A tile is a task on two blocks: the worker writes the
tile to the store itself and returns a checksum, which this process adds to the journal. If a worker
dies, only the tile it was computing is lost.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from gramlet.common.safe_writing import scratch_folder
from gramlet.scale.cluster import Task, bounded_results, require_client
from gramlet.scale.journal import Journal
from gramlet.scale.stored_blocks import StoredBlock, keep_block, load_block
from gramlet.scale.tile_grid import Tile
from gramlet.scale.tile_store import TileStore
from gramlet.scale.tile_work import PairWork, compute_tile

__all__ = ["run_on_cluster", "write_tile"]


def run_on_cluster(
    work: PairWork,
    tiles: Iterable[Tile],
    store: TileStore,
    journal: Journal,
    client: Any,
    advance: Callable[[], None],
) -> None:
    """Compute tiles on the workers of a client."""
    require_client(client)
    store = replace(store, folder=store.folder.absolute())
    kept = f"Finished tiles are kept in {str(store.folder)!r}."
    with scratch_folder(store.folder) as scratch, journal.appending() as append:
        tasks = _Blocks(work, store, scratch).tasks(tiles)
        for finished in bounded_results(client, tasks, kept):
            append(finished)
            for _ in finished:
                advance()


def write_tile(store: TileStore, tile: Tile, rows: StoredBlock, columns: StoredBlock | None) -> str:
    """Compute and write a tile on a worker; return its checksum when it is on disk."""
    if not store.folder.is_dir():
        raise FileNotFoundError(
            f"A worker does not see the folder {str(store.folder)!r}. Workers write tiles "
            "themselves: name a folder that all machines of the cluster share."
        )
    blocks = load_block(rows), None if columns is None else load_block(columns)
    values = compute_tile(*blocks)
    if not rows.path.is_file():
        # The call that submitted it has ended; another one may be writing there now.
        raise FileNotFoundError(f"{str(rows.path)!r} is gone: this tile is no longer needed.")
    digest = store.write(tile, values)
    store.flush([tile])
    return digest


class _Blocks:
    """The blocks of a profile in files, written when a tile first needs them."""

    def __init__(self, work: PairWork, store: TileStore, scratch: Path) -> None:
        self.work, self.store, self.scratch = work, store, scratch
        self.blocks: dict[tuple[str, int], StoredBlock] = {}

    def tasks(self, tiles: Iterable[Tile]) -> Iterator[Task]:
        """One task per tile."""
        for i, j in tiles:
            diagonal = self.work.columns is None and i == j
            columns = None if diagonal else self._block("columns", j)
            arguments = (self.store, (i, j), self._block("rows", i), columns)
            yield Task((i, j), write_tile, arguments, self.store.grid.named((i, j)))

    def _block(self, side: str, number: int) -> StoredBlock:
        """A block in a file that workers can read."""
        if self.work.columns is None:
            side = "rows"  # both sides are the same graphs
        if (side, number) not in self.blocks:
            grid = self.store.grid
            graphs = grid.rows(number) if side == "rows" else grid.columns(number)
            source = self.work.rows if side == "rows" else self.work.columns
            assert source is not None
            place = self.scratch / f"{side}-{number}"
            self.blocks[side, number] = keep_block(source[graphs], place)
        return self.blocks[side, number]
