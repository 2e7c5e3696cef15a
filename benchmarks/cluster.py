"""Tiles on two worker processes beside the same tiles in one: seconds, overhead and start.

    python -m benchmarks.cluster                # 16,384 graphs, tiles of 2048²
    python -m benchmarks.cluster --tries 5      # repeat, to meet a quiet moment

Processor seconds hold on a busy machine, wall seconds only on a quiet one; the load is printed with
them. ``message``: processor seconds per tile of the process that keeps the journal, scheduler
included, from many tiles that cost next to nothing. ``start``: processor seconds of a worker until
it has computed its first tile.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from pathlib import Path
from typing import Any

__all__ = ["measure"]


def _graphs(n_graphs: int) -> Any:
    from gramlet import random_labelled_graphs

    return random_labelled_graphs(n_graphs, 22, 24, 8, random_state=0)


def _timed(graphs: Any, place: Path, chunk: int, client: Any = None) -> dict[str, float]:
    """Wall seconds, and processor seconds here and on the workers."""
    from gramlet import gram

    workers = [] if client is None else list(client.run(time.process_time).values())
    wall, own = time.perf_counter(), time.process_time()
    gram(graphs, "wl", n_iter=3, n_jobs=1, output=place, chunk=chunk, client=client)
    found = {"wall": time.perf_counter() - wall, "here": time.process_time() - own}
    after = [] if client is None else list(client.run(time.process_time).values())
    found["workers"] = sum(after) - sum(workers)
    found["busiest"] = max((b - a for a, b in zip(workers, after, strict=True)), default=0.0)
    return found


def _fitting(graphs: Any) -> float:
    """Processor seconds of what is done before the first tile, on either path."""
    from gramlet import WeisfeilerLehman
    from gramlet.scale.tile_work import prepared

    begin = time.process_time()
    prepared(WeisfeilerLehman(3), graphs, None, None)
    return time.process_time() - begin


def measure(n_graphs: int, chunk: int, folder: Path) -> dict[str, Any]:
    """One try."""
    from gramlet.scale.cluster import started, stopped

    graphs, few = _graphs(n_graphs), _graphs(1024)
    _timed(few, folder / "warm.zarr", 256)
    fit = _fitting(graphs)
    client = started(2)
    try:
        begun = max(client.run(time.process_time).values())
        _timed(few, folder / "first.zarr", 256, client)
        start = max(client.run(time.process_time).values())
        small = _timed(few, folder / "small.zarr", 32, client)
        n_small = 32 * 33 // 2
        one = _timed(graphs, folder / "one.zarr", chunk)
        two = _timed(graphs, folder / "two.zarr", chunk, client)
    finally:
        stopped(client)
    side = -(-n_graphs // chunk)
    n_tiles = side * (side + 1) // 2
    tiles = one["here"] - fit
    message = small["here"] / n_small
    return {
        "tiles": n_tiles,
        "one process, s": one,
        "two workers, s": two,
        "processor seconds per tile": tiles / n_tiles,
        "overhead per tile": (two["workers"] + message * n_tiles) / tiles - 1.0,
        "speed-up, wall": one["wall"] / two["wall"],
        "speed-up, from processor seconds": one["here"] / (fit + two["busiest"]),
        "message": message,
        "worker imports": begun,
        "start": start,
        "load": os.getloadavg(),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--graphs", type=int, default=16_384)
    parser.add_argument("--chunk", type=int, default=2048)
    parser.add_argument("--tries", type=int, default=1)
    given = parser.parse_args()
    for _ in range(given.tries):
        with tempfile.TemporaryDirectory() as folder:
            print(json.dumps(measure(given.graphs, given.chunk, Path(folder))), flush=True)


if __name__ == "__main__":
    main()
