"""Tiles on the workers of a Dask cluster.

The profile is split into blocks of graphs, which are stored beside the store during the work; a
worker reads each block once and keeps it. A task is a group of tiles that takes about two seconds:
the worker writes them to the store itself and returns their checksums, which this process adds to
the journal. If a worker dies, only the groups it was computing are lost.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from gramlet.common.safe_writing import scratch_folder
from gramlet.scale.cluster import Task, bounded_results, require_client, waiting_for_disk
from gramlet.scale.journal import Journal
from gramlet.scale.matrices.stored_blocks import StoredBlock, keep_block, load_block
from gramlet.scale.matrices.tile_grid import Tile
from gramlet.scale.matrices.tile_groups import Groups
from gramlet.scale.matrices.tile_store import TileStore
from gramlet.scale.matrices.tile_work import PairWork, compute_tile

__all__ = ["Blocks", "TileGroup", "TileTask", "next_task", "run_on_cluster", "write_tiles"]


def run_on_cluster(
    work: PairWork,
    tiles: Sequence[Tile],
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
        groups = Groups(tiles, store.grid.symmetric)
        following = partial(next_task, groups, Blocks(work, store, scratch))
        for finished in bounded_results(client, following, kept):
            entries = []
            for _, (written, seconds) in finished:
                entries += written
                groups.learn([tile for tile, _ in written], seconds)
            append(entries)
            for _ in entries:
                advance()


@dataclass(frozen=True)
class TileTask:
    """A tile and the blocks that it compares; without ``columns`` it is on the diagonal."""

    tile: Tile
    rows: StoredBlock
    columns: StoredBlock | None


@dataclass(frozen=True)
class TileGroup:
    """What a worker is sent: the store and the tiles to write there."""

    store: TileStore
    tasks: tuple[TileTask, ...]


def write_tiles(group: TileGroup) -> tuple[list[tuple[Tile, str]], float]:
    """Compute and write tiles on a worker.

    Returns
    -------
    list of (tile, checksum)
        All of them are on the disk.
    float
        Seconds that computing and writing took, without the wait for the disk.
    """
    begin, store = time.perf_counter(), group.store
    if not store.folder.is_dir():
        raise FileNotFoundError(
            f"A worker does not see the folder {str(store.folder)!r}. Workers write tiles "
            "themselves: name a folder that all machines of the cluster share."
        )
    written = [(task.tile, _written(store, task)) for task in group.tasks]
    seconds = time.perf_counter() - begin
    with waiting_for_disk():
        store.flush(tile for tile, _ in written)
    return written, seconds


def _written(store: TileStore, task: TileTask) -> str:
    """Compute a tile and write it; return its checksum."""
    columns = None if task.columns is None else load_block(task.columns)
    values = compute_tile(load_block(task.rows), columns)
    if not task.rows.path.is_file():
        # The call that submitted it has ended; another one may be writing there now.
        raise FileNotFoundError(f"{str(task.rows.path)!r} is gone: this tile is no longer needed.")
    return store.write(task.tile, values)


def next_task(groups: Groups, blocks: Blocks, n_threads: int) -> Task | None:
    """The next group as a task, for a cluster with so many threads; None after the last one."""
    tiles = groups.next_tiles(n_threads)
    if not tiles:
        return None
    group = TileGroup(blocks.store, tuple(map(blocks.task, tiles)))
    shown = blocks.store.grid.named(tiles[0])
    if len(tiles) > 1:
        shown += f" and {len(tiles) - 1} more"
    return Task(tiles[0], write_tiles, (group,), shown)


class Blocks:
    """The blocks of a profile in files, written when a tile first needs them."""

    def __init__(self, work: PairWork, store: TileStore, scratch: Path) -> None:
        self.work, self.store, self.scratch = work, store, scratch
        self.blocks: dict[tuple[str, int], StoredBlock] = {}

    def task(self, tile: Tile) -> TileTask:
        """A tile with the places of its blocks."""
        i, j = tile
        diagonal = self.work.columns is None and i == j
        columns = None if diagonal else self._block("columns", j)
        return TileTask(tile, self._block("rows", i), columns)

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
