"""Tiles on the workers of a Dask cluster.

The profile is cut into blocks of graphs, which lie beside the store while the work lasts; a worker
reads each block once and keeps it. A tile is a task on two blocks: the worker writes the tile to
the store itself and sends back a checksum, which this process puts into the journal. A bounded
number of tasks is with the scheduler at any time. Nothing but the tile in work is lost with a
worker.
"""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from gramlet.common.safe_writing import scratch_folder
from gramlet.scale.journal import Journal
from gramlet.scale.stored_blocks import StoredBlock, keep_block, load_block
from gramlet.scale.tile_grid import Tile
from gramlet.scale.tile_store import TileStore
from gramlet.scale.tile_work import PairWork, compute_tile

__all__ = ["connected", "require_client", "run_on_cluster", "started"]

_ASK_AGAIN = 2.0  # seconds after which the number of workers is asked for again
_PATIENCE = "20s"  # until a scheduler must have answered
_TASKS_PER_THREAD = 3  # with the scheduler: one that runs and two that wait
_MOST_LOSSES = 20  # how often the same tile may be lost before that is an error


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
    with scratch_folder(store.folder) as scratch, journal.appending() as append:
        run = _Run(work, store, client, scratch)
        for finished in run.results(tiles):
            append(finished)
            for _ in finished:
                advance()


def require_client(client: Any) -> None:
    """Raise TypeError if this is no Dask client that waits for its results."""
    if not all(hasattr(client, name) for name in ("submit", "nthreads", "status")):
        raise TypeError(
            "client must be a dask.distributed.Client, such as Client(address); got "
            f"{type(client).__name__}."
        )
    if getattr(client, "asynchronous", False):
        raise TypeError("client is asynchronous; give one made with asynchronous=False.")


def started(n_workers: int) -> Any:
    """A client with worker processes of its own on this machine; close both when done."""
    distributed = _distributed()
    cluster = distributed.LocalCluster(
        n_workers=n_workers, threads_per_worker=1, processes=True, dashboard_address=None
    )
    return distributed.Client(cluster)


def connected(address: str) -> Any:
    """A client of a scheduler that runs somewhere."""
    distributed = _distributed()
    try:
        return distributed.Client(address, timeout=_PATIENCE)
    except (OSError, ValueError) as why:
        raise ConnectionError(
            f"No Dask scheduler answers at {address!r}. Start one with 'dask scheduler' and give "
            "the address that it prints, such as tcp://192.168.0.1:8786."
        ) from why


def _distributed() -> Any:
    try:
        import distributed
    except ImportError as why:
        raise ImportError(
            "Work on a cluster needs Dask, which is not installed: pip install 'gramlet[scale]'."
        ) from why
    return distributed


def write_tile(store: TileStore, tile: Tile, rows: StoredBlock, columns: StoredBlock | None) -> str:
    """Compute and write a tile on a worker; return its checksum when it is on the disk."""
    if not store.folder.is_dir():
        raise FileNotFoundError(
            f"A worker does not see the folder {str(store.folder)!r}. Workers write tiles "
            "themselves: name a folder that all machines of the cluster share."
        )
    blocks = load_block(rows), None if columns is None else load_block(columns)
    digest = store.write(tile, compute_tile(*blocks))
    store.flush([tile])
    return digest


class _Run:
    """One call's blocks and tasks on a cluster."""

    def __init__(self, work: PairWork, store: TileStore, client: Any, scratch: Path) -> None:
        self.work, self.store, self.client, self.scratch = work, store, client, scratch
        self.blocks: dict[tuple[str, int], StoredBlock] = {}
        self.losses: dict[Tile, int] = {}
        self.n_tasks = 0
        self.n_threads = 0
        self.asked = -math.inf

    def results(self, tiles: Iterable[Tile]) -> Iterator[list[tuple[Tile, str]]]:
        """Finished tiles with their checksums, in the order in which they finish."""
        from distributed import as_completed

        waiting = deque(tiles)
        running: dict[str, Tile] = {}
        completed = as_completed(with_results=True, raise_errors=False)
        while waiting or running:
            self._require_scheduler()
            most = self._most_tasks()
            while waiting and len(running) < most:
                tile = waiting.popleft()
                future = self._submit(tile)
                running[future.key] = tile
                completed.add(future)
            finished = []
            for future, result in completed.next_batch(block=True):
                tile = running.pop(future.key)
                if self._is_finished(future, result, tile):
                    finished.append((tile, result))
                else:
                    waiting.append(tile)
            yield finished

    def _submit(self, tile: Tile) -> Any:
        i, j = tile
        diagonal = self.work.columns is None and i == j
        self.n_tasks += 1
        return self.client.submit(
            write_tile,
            self.store,
            tile,
            self._block("rows", i),
            None if diagonal else self._block("columns", j),
            key=f"gramlet-tile-{self.scratch.name}-{i}-{j}-{self.n_tasks}",
            pure=False,
        )

    def _block(self, side: str, number: int) -> StoredBlock:
        """A block where workers find it."""
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

    def _is_finished(self, future: Any, result: Any, tile: Tile) -> bool:
        """Whether a tile was computed; False if it has to be computed again."""
        if future.status == "finished" and isinstance(result, str):
            return True
        error = future.exception() if future.status == "error" else None
        if error is not None and type(error).__name__ != "KilledWorker":
            raise error
        self.losses[tile] = self.losses.get(tile, 0) + 1
        if error is not None or self.losses[tile] > _MOST_LOSSES:
            raise RuntimeError(
                f"The workers that computed the tile of {self.store.grid.named(tile)} died again "
                "and again; too little memory is the usual reason. Give workers more memory or "
                "start with a smaller chunk. Finished tiles are kept in "
                f"{str(self.store.folder)!r}."
            ) from error
        return False

    def _most_tasks(self) -> int:
        """By the number of workers, which may change; asking takes a message to the scheduler."""
        now = time.monotonic()
        if now >= self.asked + _ASK_AGAIN:
            self.asked = now
            self.n_threads = sum(self.client.nthreads().values())
        return max(1, _TASKS_PER_THREAD * self.n_threads)

    def _require_scheduler(self) -> None:
        try:
            if self.client.status == "running":
                return
        except Exception:  # a client in any other state is of no use either
            pass
        raise ConnectionError(
            f"The connection to the Dask scheduler was lost (client is {self.client.status}). "
            f"Finished tiles are kept in {str(self.store.folder)!r}; connect a new client and "
            "call again with the same arguments to compute the others."
        )
