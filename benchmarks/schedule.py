"""The schedule of a Gram matrix on many workers, simulated from measured times of tiles.

    python -m benchmarks.schedule                # wl on random graphs, 100 workers
    python -m benchmarks.schedule --kernel wl-oa --workers 10 100 1000

Tiles of a sample of graphs are computed and written one by one, and their processor seconds are
measured. The simulation then distributes the tiles of a larger matrix, whose times are drawn from
the measured ones, as gramlet does: the next free worker gets the next group of tiles, and each
group takes one message in the process that writes the journal. The seconds per message and the
start-up time of a worker are those measured by `benchmarks.cluster`. The disk is assumed to be fast
enough; the required rate is printed.
"""

from __future__ import annotations

import argparse
import heapq
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

__all__ = ["measure_tiles", "simulate"]

MESSAGE_SECONDS = 0.008  # per group, in the process that keeps the journal: a task, lines, a flush
START_SECONDS = 3.0  # per worker: imports, compiled code from the cache, the blocks of the profile


def simulate(
    tile_seconds: Sequence[float],
    n_workers: int,
    message_seconds: float = MESSAGE_SECONDS,
    start_seconds: float = START_SECONDS,
) -> float:
    """Seconds until all tiles are done.

    >>> simulate([1.0] * 8, 4, message_seconds=0.0, start_seconds=0.0)
    2.0
    """
    from gramlet.scale.matrices.tile_groups import Groups

    groups = Groups([(0, number) for number in range(len(tile_seconds))], symmetric=False)
    free = [start_seconds] * n_workers
    heapq.heapify(free)
    journal = end = 0.0
    while tiles := groups.next_tiles(n_workers):
        seconds = sum(tile_seconds[number] for _, number in tiles)
        groups.learn(tiles, seconds)
        journal = max(journal, heapq.heappop(free)) + message_seconds
        done = journal + seconds
        end = max(end, done)
        heapq.heappush(free, done)
    return end


def measure_tiles(kernel: str, n_graphs: int, chunk: int) -> tuple[list[float], list[float]]:
    """Processor seconds of each tile: computing it, and writing it with its mirror."""
    import gramlet
    from gramlet.kernels import registry
    from gramlet.scale.matrices.tile_grid import TileGrid
    from gramlet.scale.matrices.tile_store import TileStore
    from gramlet.scale.matrices.tile_work import compute_tile, prepared

    graphs = gramlet.random_labelled_graphs(n_graphs, 22, 24, 8, random_state=0)
    params = {"n_iter": 3} if kernel.startswith("wl") else {}
    estimator = registry.make(kernel, **params)
    registry.make(kernel, **params).fit_transform(graphs[:50])
    grid = TileGrid(n_graphs, n_graphs, chunk, symmetric=True)
    computing, writing = [], []
    with tempfile.TemporaryDirectory() as folder:
        store = TileStore(Path(folder), grid)
        store.create()
        work = prepared(estimator, graphs, None, None)
        for tile in grid.tiles():
            begin = time.process_time()
            values = compute_tile(*work.blocks_of(grid, tile))
            middle = time.process_time()
            store.write(tile, values)
            store.flush([tile])
            computing.append(middle - begin)
            writing.append(time.process_time() - middle)
    return computing, writing


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kernel", default="wl")
    parser.add_argument("--graphs", type=int, default=6144, help="measured")
    parser.add_argument("--chunk", type=int, default=2048)
    parser.add_argument("--workers", type=int, nargs="+", default=[100])
    parser.add_argument("--sizes", type=int, nargs="+", default=[100_000, 300_000, 1_000_000])
    given = parser.parse_args()
    computing, writing = measure_tiles(given.kernel, given.graphs, given.chunk)
    per_tile = np.add(computing, writing)
    print(
        f"{given.kernel}, tiles of {given.chunk}²: computing {np.mean(computing):.4f} s, writing "
        f"{np.mean(writing):.4f} s per tile ({len(per_tile)} tiles)"
    )
    rng = np.random.default_rng(0)
    for n_graphs in given.sizes:
        side = -(-n_graphs // given.chunk)
        seconds = rng.choice(per_tile, side * (side + 1) // 2)
        for n_workers in given.workers:
            makespan = simulate(seconds.tolist(), n_workers)
            share = seconds.sum() / (makespan * n_workers)
            print(
                f"{n_graphs:>9,} graphs, {len(seconds):>7,} tiles: {seconds.sum() / 3600:8.2f} "
                f"core-hours, {8e-12 * n_graphs**2:6.2f} TB; {n_workers} workers: "
                f"{makespan / 60:8.1f} min, {100 * share:.0f} % busy, "
                f"{8e-9 * n_graphs**2 / makespan:.1f} GB/s to disk"
            )


if __name__ == "__main__":
    main()
