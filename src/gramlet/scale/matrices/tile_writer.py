"""Tiles computed in this process and written by a second thread.

While one tile is computed, earlier ones are written. A tile's line is added to the journal when the
tile is on disk; several waiting tiles are flushed together.
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
    with _Writer(store, journal, advance) as writer:
        for tile in tiles:
            writer.put(tile, compute_tile(*work.blocks_of(store.grid, tile), tiling))


class _Writer:
    """A thread that writes tiles in the order in which they are put."""

    def __init__(self, store: TileStore, journal: Journal, advance: Callable[[], None]) -> None:
        self._store, self._journal, self._advance = store, journal, advance
        waiting = max(1, min(_MOST_WAITING, _WAITING_BYTES // max(1, store.grid.tile_bytes)))
        self._queue: queue.Queue[tuple[Tile, Floats] | None] = queue.Queue(waiting)
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="gramlet-tiles", daemon=True)

    def put(self, tile: Tile, values: Floats) -> None:
        self._raise_error()
        self._queue.put((tile, values))

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
        try:
            with self._journal.appending() as append:
                while (item := self._queue.get()) is not None:
                    if not self._write([item, *self._others()], append):
                        return
        except BaseException as error:
            self._error = error
            while self._queue.get() is not None:  # no thread may wait for space in the queue
                pass

    def _others(self) -> list[tuple[Tile, Floats] | None]:
        """Further items that are already waiting."""
        found: list[tuple[Tile, Floats] | None] = []
        while not self._queue.empty():
            found.append(self._queue.get())
        return found

    def _write(self, items: list[tuple[Tile, Floats] | None], append: Any) -> bool:
        """Write tiles, then their lines; False if the last item marks the end."""
        entries = [(item[0], self._store.write(*item)) for item in items if item is not None]
        self._store.flush(tile for tile, _ in entries)
        append(entries)
        for _ in entries:
            self._advance()
        return items[-1] is not None
