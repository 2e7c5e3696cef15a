"""A Gram matrix on two Dask workers compared with one process: seconds and bytes.

    python -m benchmarks.cluster                # all cases, in the system's temporary folder
    python -m benchmarks.cluster --kernel wl --folder /dev/shm
    python -m benchmarks.cluster --kernel wl --graphs 30000 --tries 1

Four sides take turns, each including fitting: one process with ``n_jobs=1`` on one core; the same
on both cores, where a thread writes tiles while the next one is computed; one worker and two
workers with one thread each, with scheduler and journal in a separate process. That process fits
the kernel on as many threads as there are workers, which have nothing to do until then. The
workers are started in advance. ``wall`` is meaningful only on a quiet machine; ``cpu`` is the sum
over all processes of a side.

Without fitting, ``overhead`` is what one worker needs in addition to one process besides computing
and writing tiles: for messages, blocks and the journal. ``difference`` is all that it needs in
addition or less; it contains how fast the memory is that a process happens to have, and varies by a
fifth in both directions. ``sharing`` is the time that two workers need in addition to one: they
share memory bandwidth and the third-level cache, however tiles are distributed.

The bytes of the matrices are compared. All sides keep freed memory for the next tile: the program
starts itself again with the settings that its workers get. Memory is allocated, touched and freed
first: a virtual machine gets memory from its host at first touch, which takes longer than computing
the values to store in it.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import os
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["CASES", "measure", "message"]

# Kernel, its parameters, graphs, chunk: first tiles that cost little more than writing them, last
# those that cost far more. So many graphs that fitting, which one process does, takes a fifth of
# the time at most.
CASES: dict[str, tuple[dict[str, Any], int, int]] = {
    "wl": ({"n_iter": 3}, 30_720, 2048),
    "wl-oa": ({"n_iter": 3}, 16_384, 2048),
    "pyramid-match": ({}, 24_576, 2048),
    "nspdk": ({}, 28_672, 2048),
    "rw": ({}, 1_536, 192),
    "emd": ({}, 2_048, 256),
}
SIDES = ("one core", "one process", "one worker", "two workers")
FITTING_THREADS = dict(zip(SIDES, (1, 1, 1, 2), strict=True))


def _graphs(n_graphs: int) -> Any:
    from gramlet import random_labelled_graphs

    return random_labelled_graphs(n_graphs, 22, 24, 8, random_state=0)


@contextlib.contextmanager
def _one_core(held: bool) -> Iterator[None]:
    """Restrict this thread, and those that it starts, to one core."""
    before = os.sched_getaffinity(0)
    if held:
        os.sched_setaffinity(0, {min(before)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def _run(side: str, graphs: Any, kernel: str, params: dict[str, Any], chunk: int,
         folder: Path, clients: dict[str, Any]) -> dict[str, Any]:  # fmt: skip
    """Wall and processor seconds of one side, those of fitting in it, and its matrix's digest."""
    from gramlet import gram
    from gramlet.scale.matrices import gram_store

    place, fitting, prepared = folder / "K.zarr", [0.0], gram_store.prepared

    def timed(*given: Any) -> Any:
        began = time.process_time()
        work = prepared(*given)
        fitting.append(time.process_time() - began)
        return work

    client = clients.get(side)
    before = _seconds_of(client)
    gram_store.prepared = timed
    try:
        with _one_core(side == "one core"):
            begin, own = time.perf_counter(), time.process_time()
            gram(graphs, kernel, n_jobs=FITTING_THREADS[side], output=place, chunk=chunk,
                 client=client, **params)  # fmt: skip
            wall, here = time.perf_counter() - begin, time.process_time() - own
    finally:
        gram_store.prepared = prepared
    spent = {what: seconds - before[what] for what, seconds in _seconds_of(client).items()}
    workers = 0.0 if client is None else spent["all"]
    digest = "".join(
        hashlib.file_digest(path.open("rb"), "sha256").hexdigest()
        for path in sorted((place / "c").rglob("*"))
        if path.is_file()
    )
    shutil.rmtree(place)
    tiles = here + workers - fitting[-1]
    rest = tiles - spent["computing"] - spent["writing"]
    return {"wall": wall, "here": here, "cpu": here + workers, "tiles": tiles,
            "computing": spent["computing"], "writing": spent["writing"], "rest": rest,
            "fit": fitting[-1], "digest": digest}  # fmt: skip


def _count_seconds() -> None:
    """Have this process add up the processor seconds in which it computes and writes tiles."""
    from gramlet.scale.matrices import tile_cluster, tile_work, tile_writer
    from gramlet.scale.matrices.tile_store import TileStore

    seconds = dict.fromkeys(("computing", "writing"), 0.0)

    def counted(function: Any, what: str) -> Any:
        def call(*given: Any) -> Any:
            began = time.thread_time()
            try:
                return function(*given)
            finally:
                seconds[what] += time.thread_time() - began

        return call

    tile_cluster.compute_tile = tile_writer.compute_tile = counted(
        tile_work.compute_tile, "computing"
    )
    for name in ("filled_up", "write_rows", "write_mirror"):
        setattr(TileStore, name, counted(getattr(TileStore, name), "writing"))
    TileStore.benchmark_seconds = seconds


def _seconds() -> dict[str, float]:
    """Processor seconds of this process until now."""
    from gramlet.scale.matrices.tile_store import TileStore

    return {"all": time.process_time(), **TileStore.benchmark_seconds}


def _seconds_of(client: Any) -> dict[str, float]:
    """The sum over the workers, or this process."""
    found = [_seconds()] if client is None else list(client.run(_seconds).values())
    return {what: sum(one[what] for one in found) for what in found[0]}


def _keep_memory() -> None:
    """Start this program again with the memory settings of the workers."""
    settings = {name: str(2**28) for name in ("MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_")}
    if settings.items() <= os.environ.items():
        return
    command = [sys.executable, "-m", "benchmarks.cluster", *sys.argv[1:]]
    os.execve(sys.executable, command, {**os.environ, **settings})


def _touch(n_bytes: int) -> None:
    memory = np.empty(n_bytes // 8)
    memory[::512] = 1.0


def measure(kernel: str, n_graphs: int, chunk: int, tries: int, folder: Path,
            clients: dict[str, Any]) -> dict[str, Any]:  # fmt: skip
    """Medians of the tries; the sides take turns."""
    params = CASES[kernel][0]
    graphs = _graphs(n_graphs)
    few = graphs[: max(64, min(n_graphs, 2 * chunk))]
    for side in SIDES:  # compiled code and, on workers, imports
        _run(side, few, kernel, params, max(16, len(few) // 8), folder, clients)
    runs = [{side: _run(side, graphs, kernel, params, chunk, folder, clients) for side in SIDES}
            for _ in range(tries)]  # fmt: skip
    digests = {run[side].pop("digest") for run in runs for side in SIDES}
    found: dict[str, Any] = {
        side: {what: statistics.median(run[side][what] for run in runs) for what in runs[0][side]}
        for side in SIDES
    }
    one, free, single, two = (found[side] for side in SIDES)
    side_tiles = -(-n_graphs // chunk)
    n_tiles = side_tiles * (side_tiles + 1) // 2
    return {
        "kernel": kernel, "graphs": n_graphs, "chunk": chunk, "tiles": n_tiles, **found,
        "cpu per tile": one["tiles"] / n_tiles,
        "overhead": (single["rest"] - one["rest"]) / one["tiles"],
        "difference": single["tiles"] / one["tiles"] - 1.0,
        "sharing": two["tiles"] / single["tiles"] - 1.0,
        "speed-up to one core": one["wall"] / two["wall"],
        "speed-up to one process": free["wall"] / two["wall"],
        "speed-up to one worker": single["wall"] / two["wall"],
        "same bytes": len(digests) == 1,
        "load": round(os.getloadavg()[0], 1),
    }  # fmt: skip


def message(folder: Path, clients: dict[str, Any]) -> dict[str, float]:
    """Processor seconds per group of the process that writes the journal, measured with tiles that
    cost almost nothing."""
    from gramlet.scale.matrices import tile_cluster

    sent, next_task = [], tile_cluster.next_task
    tile_cluster.next_task = lambda *given: sent.append(next_task(*given)) or sent[-1]
    try:
        graphs = _graphs(2048)
        run = _run("two workers", graphs, "wl", {"n_iter": 3}, 16, folder, clients)
    finally:
        tile_cluster.next_task = next_task
    n_messages = len(sent) - sent.count(None)
    seconds = run["here"] - run["fit"]
    return {"messages": n_messages, "message, s": seconds / n_messages,
            "message, s per tile": seconds / (128 * 129 // 2)}  # fmt: skip


def _shown(found: dict[str, Any]) -> dict[str, Any]:
    if not isinstance(found, dict):
        return round(found, 4) if isinstance(found, float) else found
    return {name: _shown(value) for name, value in found.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kernel", nargs="+", choices=list(CASES), default=list(CASES))
    parser.add_argument("--graphs", type=int)
    parser.add_argument("--chunk", type=int)
    parser.add_argument("--tries", type=int, default=3)
    parser.add_argument("--folder", help="where the matrices are written")
    given = parser.parse_args()
    _keep_memory()
    from gramlet.scale.cluster import started, stopped

    begin = time.perf_counter()
    clients = {"two workers": started(2)}
    start = time.perf_counter() - begin
    clients["one worker"] = started(1)
    _count_seconds()
    for client in clients.values():
        client.run(_count_seconds)
    try:
        with tempfile.TemporaryDirectory(dir=given.folder) as name:
            folder = Path(name)
            for kernel in given.kernel:
                _, n_graphs, chunk = CASES[kernel]
                n_graphs, chunk = given.graphs or n_graphs, given.chunk or chunk
                _touch(8 * n_graphs**2 + 2**30)
                found = measure(kernel, n_graphs, chunk, given.tries, folder, clients)
                print(json.dumps(_shown(found)), flush=True)
            print(json.dumps(_shown({"start, s": start, **message(folder, clients)})), flush=True)
    finally:
        for client in clients.values():
            stopped(client)


if __name__ == "__main__":
    main()
