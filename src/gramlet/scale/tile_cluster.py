"""Tiles on the workers of a Dask cluster.

The profile is split into blocks of graphs, which are stored beside the store during the work; a
worker reads each block once and keeps it. A task is a group of tiles that takes about two seconds:
the worker writes them to the store itself and returns their checksums, which this process adds to
the journal. If a worker dies, only the groups it was computing are lost.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from gramlet.common.safe_writing import scratch_folder
from gramlet.scale.cluster import Task, bounded_results, require_client, waiting_for_disk
from gramlet.scale.journal import Journal
from gramlet.scale.stored_blocks import StoredBlock, keep_block, load_block
from gramlet.scale.tile_grid import Tile
from gramlet.scale.tile_store import TileStore
from gramlet.scale.tile_work import PairWork, compute_tile

__all__ = ["Groups", "TileGroup", "TileTask", "run_on_cluster", "write_tiles"]

_GROUP_SECONDS = 2.0  # of a worker per message: a hundred times what the message costs
_MOST_TILES = 64  # of a group
_GROUPS_TO_COME = 2  # per thread at least, so that all workers end at the same time


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
        groups = Groups(tiles, Blocks(work, store, scratch))
        for finished in bounded_results(client, groups.next_task, kept):
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


class Groups:
    """Tiles in groups: each takes a worker about two seconds, by what tiles took before.

    The last groups are smaller, so that no worker is left with many tiles when others have none;
    for the same reason tiles on the diagonal, which cost half as much as others, come last.
    """

    def __init__(self, tiles: Sequence[Tile], blocks: Blocks) -> None:
        self.blocks = blocks
        self.tiles = sorted(tiles, key=lambda tile: self._cost([tile]) < 1.0)
        self.begin = 0
        self.remaining = self._cost(tiles)
        self.seconds = math.inf  # of a tile off the diagonal, as long as nothing is known

    def learn(self, tiles: Sequence[Tile], seconds: float) -> None:
        """Note what tiles took last."""
        self.seconds = seconds / self._cost(tiles)

    def next_task(self, n_threads: int) -> Task | None:
        """The next group, for a cluster with so many threads; None after the last one."""
        if self.begin == len(self.tiles):
            return None
        tiles = self._next_tiles(n_threads)
        self.begin += len(tiles)
        self.remaining -= self._cost(tiles)
        group = TileGroup(self.blocks.store, tuple(map(self.blocks.task, tiles)))
        shown = self.blocks.store.grid.named(tiles[0])
        if len(tiles) > 1:
            shown += f" and {len(tiles) - 1} more"
        return Task(tiles[0], write_tiles, (group,), shown)

    def _next_tiles(self, n_threads: int) -> list[Tile]:
        """At least one tile, and as many as come closest to the cost of a group."""
        by_time = _GROUP_SECONDS / max(self.seconds, 1e-9)
        by_share = self.remaining / max(1, _GROUPS_TO_COME * n_threads)
        candidates = self.tiles[self.begin : self.begin + _MOST_TILES]
        size, cost = 0, 0.0
        for tile in candidates:
            own = self._cost([tile])
            if size and cost + own / 2 > min(by_time, by_share):
                break
            size, cost = size + 1, cost + own
        return candidates[:size]

    def _cost(self, tiles: Sequence[Tile]) -> float:
        """The work of tiles: 1 each, and half of it on the diagonal of a symmetric matrix."""
        if not self.blocks.store.grid.symmetric:
            return float(len(tiles))
        return sum(0.5 if i == j else 1.0 for i, j in tiles)


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
