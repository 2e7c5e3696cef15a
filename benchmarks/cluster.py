"""A Gram matrix on disk: by one process, and on one and two Dask workers, beside one in memory.

    python -m benchmarks.cluster                # all cases, in the system's temporary folder
    python -m benchmarks.cluster --kernel wl --folder /dev/shm --tries 3

The sides take turns, each including fitting; one process computes with ``n_jobs=1`` while other
threads write. Workers have one thread each and are started in advance. The bytes of the matrices
are compared. Seconds are meaningful only on a quiet machine with two cores.
"""

from __future__ import annotations

import argparse
import hashlib
import shutil
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

# Kernel, its parameters, graphs, chunk: first tiles that cost little more than writing them, last
# those that cost far more.
CASES: dict[str, tuple[dict[str, Any], int, int]] = {
    "wl": ({"n_iter": 3}, 10_240, 2048),
    "pyramid-match": ({}, 10_240, 2048),
    "rw": ({}, 1_536, 192),
    "emd": ({}, 1_024, 128),
}


def measure(kernel: str, tries: int, folder: Path, n_graphs: int | None = None) -> None:
    """Print the seconds of each side, medians of the tries."""
    import gramlet
    from gramlet.scale.cluster import started, stopped

    params, default, chunk = CASES[kernel]
    graphs = gramlet.random_labelled_graphs(n_graphs or default, 22, 24, 8, random_state=0)
    clients = {"one process": None, "one worker": started(1), "two workers": started(2)}
    seconds: dict[str, list[float]] = {"in memory": [], **{side: [] for side in clients}}
    digests = set()
    try:
        for turn in range(tries + 1):  # the first compiles, here and on the workers
            begin = time.perf_counter()
            gramlet.gram(graphs, kernel, n_jobs=1, **params)
            taken = {"in memory": time.perf_counter() - begin}
            for side, client in clients.items():
                place = folder / f"{kernel}.zarr"
                begin = time.perf_counter()
                gramlet.gram(
                    graphs, kernel, output=place, chunk=chunk, client=client, n_jobs=1, **params
                )
                taken[side] = time.perf_counter() - begin
                digests.add(_digest(place))
                shutil.rmtree(place)
            if turn:
                for side, value in taken.items():
                    seconds[side].append(value)
    finally:
        for client in clients.values():
            if client is not None:
                stopped(client)
    medians = {side: statistics.median(values) for side, values in seconds.items()}
    shown = ", ".join(f"{side} {value:.2f} s" for side, value in medians.items())
    print(f"{kernel}, {len(graphs):,} graphs, tiles of {chunk}²: {shown}")
    print(
        f"  to disk at {medians['in memory'] / medians['one process']:.2f} of the rate in memory; "
        f"two workers {medians['one worker'] / medians['two workers']:.2f} times as fast as one; "
        f"{'equal' if len(digests) == 1 else 'DIFFERENT'} bytes"
    )


def _digest(place: Path) -> str:
    digest = hashlib.sha256()
    for path in sorted(place.glob("c/*/*")):
        digest.update(str(path.relative_to(place)).encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cluster", description=__doc__)
    parser.add_argument("--kernel", choices=CASES, action="append", help="default: all")
    parser.add_argument("--graphs", type=int, help="instead of a case's own number")
    parser.add_argument("--tries", type=int, default=2)
    parser.add_argument("--folder", type=Path, help="where matrices are written")
    given = parser.parse_args()
    folder = Path(tempfile.mkdtemp(dir=given.folder))
    try:
        for kernel in given.kernel or CASES:
            measure(kernel, given.tries, folder, given.graphs)
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
