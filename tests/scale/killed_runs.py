"""Runs that are killed at random times: a separate program, started by test_gram_faults.

It compiles everything once and forks, so that twenty kills take seconds. It prints one JSON line.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
from pathlib import Path

import gramlet
from gramlet.scale.gram_store import _Store

N_GRAPHS, CHUNK, KERNEL = 120, 6, "wl"


def graphs():
    return gramlet.random_labelled_graphs(N_GRAPHS, 12, 16, 3, random_state=0)


def run(place: Path, log: Path) -> None:
    """Compute the matrix; every written tile is recorded in ``log``."""
    original = _Store.write

    def write(self, array, tile, values):
        with log.open("a") as file:
            file.write(json.dumps(tile) + "\n")
        return original(self, array, tile, values)

    _Store.write = write
    gramlet.gram(graphs(), KERNEL, output=place, chunk=CHUNK)


def finished(place: Path) -> set[tuple[int, int]]:
    """Tiles with both chunks; Zarr gives a file its name when it is complete."""
    names = {path.relative_to(place / "c").parts for path in place.glob("c/*/*")}
    chunks = {tuple(map(int, name)) for name in names if name[1].isdecimal()}
    return {(i, j) for i, j in chunks if i <= j and (j, i) in chunks}


def killed_run(place: Path, log: Path, moment: float) -> tuple[bool, int]:
    """One run in a separate process: whether it was killed, and how many tiles it repeated."""
    before = finished(place)
    log.unlink(missing_ok=True)
    started = time.monotonic()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            run(place, log)
            code = 0
        finally:
            os._exit(code)
    ended = 0
    while not ended and time.monotonic() < started + moment:
        time.sleep(0.001)
        ended, status = os.waitpid(child, os.WNOHANG)
    if not ended:
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
    if os.WIFEXITED(status) and os.WEXITSTATUS(status):
        raise SystemExit("a run failed")
    written = (
        [tuple(json.loads(line)) for line in log.read_text().splitlines()] if log.exists() else []
    )
    return os.WIFSIGNALED(status), len(before & set(written))


def main(folder: Path, n_kills: int) -> None:
    gramlet.gram(graphs(), KERNEL)  # everything is compiled before the first fork
    rng = random.Random(0)
    kills = repeated = stores = tiles_at_kill = 0
    log = folder / "log"
    while kills < n_kills:
        place = folder / f"K{stores}.zarr"
        stores += 1
        attempt = 0
        was_killed = True
        while was_killed:
            attempt += 1
            # Kills come later each time, so that every store is completed.
            moment = rng.uniform(0.0, 0.1 * attempt) if kills < n_kills else 60.0
            was_killed, again = killed_run(place, log, moment)
            kills += was_killed
            repeated += again
            tiles_at_kill += was_killed and bool(finished(place))
    print(
        json.dumps(
            {"kills": kills, "repeated": repeated, "stores": stores, "with_tiles": tiles_at_kill}
        )
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
