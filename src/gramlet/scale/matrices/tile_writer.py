"""Tiles computed in this process, while other threads write earlier ones.

One thread writes tiles, one their mirrors, and one waits until they have reached the disk. A tile's
line is added to the journal when the tile is on disk; several waiting tiles are flushed together.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterable
from types import TracebackType
from typing import Any, Self

from gramlet.common.arrays import Floats
from gramlet.engine.core.tiles import Tiling
from gramlet.scale.journal import Journal
from gramlet.scale.matrices.tile_grid import Tile
from gramlet.scale.matrices.tile_store import TileStore
from gramlet.scale.matrices.tile_work import PairWork, compute_tile

__all__ = ["run_here"]

_WAITING_BYTES = 64 * 1024 * 1024  # of tiles that are computed and not yet written
_MOST_WAITING = 256


def run_here(
    work: PairWork,
    tiles: Iterable[Tile],
    store: TileStore,
    journal: Journal,
    tiling: Tiling,
    advance: Callable[[], None],
) -> None:
    """Compute tiles one after the other, each on the threads of ``tiling``."""
    n_waiting = max(1, min(_MOST_WAITING, _WAITING_BYTES // max(1, store.grid.tile_bytes)))

    def write(items: list[tuple[Tile, Floats]]) -> None:
        for tile, values in items:
            stored = store.filled_up(values)
            mirroring.put((tile, stored, store.write_rows(tile, stored)))

    def mirror(items: list[tuple[Tile, Floats, str]]) -> None:
        for tile, stored, digest in items:
            store.write_mirror(tile, stored)
            flushing.put((tile, digest))

    def flush(entries: list[tuple[Tile, str]]) -> None:
        store.flush(tile for tile, _ in entries)
        append(entries)
        for _ in entries:
            advance()

    with (
        journal.appending() as append,
        _Stage("flush", flush, _MOST_WAITING) as flushing,
        _Stage("mirror", mirror, n_waiting) as mirroring,
        _Stage("write", write, n_waiting) as writing,
    ):
        for tile in tiles:
            writing.put((tile, compute_tile(*work.blocks_of(store.grid, tile), tiling)))


class _Stage:
    """A thread that works on items in the order in which they are put, all waiting ones at once.

    Parameters
    ----------
    name : str
    work : callable
        Takes a list of items. After an error no item is worked on; `put` and the end of the
        ``with`` block raise it.
    n_waiting : int
        The largest number of waiting items; `put` waits for space.
    """

    def __init__(self, name: str, work: Callable[[list[Any]], None], n_waiting: int) -> None:
        self._work = work
        self._queue: queue.Queue[Any] = queue.Queue(n_waiting)
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name=f"gramlet-{name}", daemon=True)

    def put(self, item: Any) -> None:
        self._raise_error()
        self._queue.put(item)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        # Also after an error or Ctrl-C: computed tiles are kept.
        self._queue.put(None)
        self._thread.join()
        if error is None:
            self._raise_error()

    def _raise_error(self) -> None:
        if self._error is not None:
            raise self._error

    def _run(self) -> None:
        last = False
        try:
            while not last:
                items = [self._queue.get(), *self._others()]
                last = items[-1] is None
                if last:
                    items.pop()
                if items:
                    self._work(items)
        except BaseException as error:
            self._error = error
            while not last:  # no thread may wait for space in the queue
                last = self._queue.get() is None

    def _others(self) -> list[Any]:
        """Further items that are already waiting."""
        found = []
        while not self._queue.empty():
            found.append(self._queue.get())
        return found
