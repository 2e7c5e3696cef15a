"""Measurement of a case: seconds with both sides taking turns, peak memory separately.

Everything is measured in child processes that limit every library to one thread: one child for the
seconds, in which gramlet and its peer take turns, and one child per side for the memory. A child
runs this module with a request in JSON; the last line of its output is the answer.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import io
import json
import math
import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

ONE_THREAD = dict.fromkeys(
    (
        "OMP_NUM_THREADS",
        "OPENBLAS_NUM_THREADS",
        "MKL_NUM_THREADS",
        "NUMEXPR_NUM_THREADS",
        "NUMBA_NUM_THREADS",
        "VECLIB_MAXIMUM_THREADS",
    ),
    "1",
)
# A side whose run took this long is not run again, and turns end when this much time has passed.
_LONG_RUN = 20.0
_LONG_ENOUGH = 60.0
_ANSWER = "answer: "


# In the parent


def measure_case(name: str, source: Any, repeats: int, memory: bool) -> dict[str, Any]:
    """Seconds of both sides, whether they agree and, if asked for, their peak memory."""
    request = {"case": name, "source": asdict(source), "repeats": repeats}
    result = _ask({**request, "what": "seconds"})
    if memory:
        result["ours_bytes"] = _ask({**request, "what": "memory", "side": "ours"})
        if "peer_seconds" in result:
            result["peer_bytes"] = _ask({**request, "what": "memory", "side": "peer"})
    return result


def measure_growth(name: str, repeats: int) -> dict[str, Any]:
    """Sizes, the least processor seconds of each, and the slope between their logarithms."""
    answer: dict[str, Any] = _ask({"case": name, "what": "growth", "repeats": repeats})
    return answer


def _ask(request: dict[str, Any]) -> Any:
    child = subprocess.run(
        [sys.executable, "-m", "benchmarks.measure", json.dumps(request)],
        env={**os.environ, **ONE_THREAD},
        cwd=Path(__file__).resolve().parents[1],
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    answers = [line for line in child.stdout.splitlines() if line.startswith(_ANSWER)]
    if child.returncode or not answers:
        raise RuntimeError(f"The benchmark {request['case']!r} failed; see above.")
    return json.loads(answers[-1].removeprefix(_ANSWER))


# In the child


def _answer(request: dict[str, Any]) -> Any:
    from benchmarks.cases import all_cases
    from benchmarks.data import Source

    case = all_cases()[request["case"]]
    if request["what"] == "growth":
        return _grow(case, request["repeats"])
    source = Source(**request["source"])
    warm = case.data(Source(source.folder, quick=True))
    if request["what"] == "seconds":
        return _take_turns(case, warm, case.data(source), request["repeats"])
    run = getattr(case, request["side"])
    run(warm)
    del warm
    return peak_bytes(run, case.data(source))


def _take_turns(case: Any, warm: Any, data: Any, repeats: int) -> dict[str, Any]:
    """Run gramlet and the peer alternately; both have run on small data before."""
    sides = [side for side in ("ours", "peer") if getattr(case, side) is not None]
    for side in sides:
        getattr(case, side)(warm)
    seconds: dict[str, list[float]] = {side: [] for side in sides}
    processor: dict[str, list[float]] = {side: [] for side in sides}
    results = {}
    begin = time.perf_counter()
    for turn in range(repeats):
        if turn and time.perf_counter() - begin > _LONG_ENOUGH:
            break
        for side in sides:
            if turn and seconds[side][-1] > _LONG_RUN:
                continue
            results[side], wall, own = _timed(getattr(case, side), data)
            seconds[side].append(wall)
            processor[side].append(own)
    answer: dict[str, Any] = {f"{side}_seconds": seconds[side] for side in sides}
    answer |= {f"{side}_processor_seconds": processor[side] for side in sides}
    if "peer" in sides and case.check is not None:
        answer["agreement"] = _agreement(case, results)
    return answer


def _timed(run: Callable[[Any], Any], data: Any) -> tuple[Any, float, float]:
    gc.collect()
    wall, own = time.perf_counter(), time.process_time()
    result = run(data)
    # The processor's clock may be coarse; at least one nanosecond is returned.
    return result, time.perf_counter() - wall, max(time.process_time() - own, 1e-9)


def _agreement(case: Any, results: dict[str, Any]) -> str:
    try:
        case.check(results["ours"], results["peer"])
    except AssertionError as error:
        return str(error) or "they differ"
    return "yes"


def peak_bytes(run: Callable[[Any], Any], data: Any) -> int:
    """How much the memory of this process grows while ``run`` runs.

    Freed memory is returned to the system first; otherwise its reuse would not be counted.
    """
    gc.collect()
    with contextlib.suppress(AttributeError, OSError, TypeError):  # another C library
        ctypes.CDLL(None).malloc_trim(0)
    before = _forget_peak()
    result = run(data)
    peak = _peak()
    del result
    return max(0, peak - before)


def _forget_peak() -> int:
    """Reset the system's record of the peak to the memory in use now, and return that."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")
    return _status("VmRSS") or _peak()


def _peak() -> int:
    # Without /proc: the peak since the process began, which may come from loading data.
    unit = 1 if sys.platform == "darwin" else 1024
    return _status("VmHWM") or resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def _status(field: str) -> int | None:
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return None
    values = [line.split()[1] for line in lines if line.startswith(f"{field}:")]
    return int(values[0]) * 1024 if values else None


def _grow(case: Any, repeats: int) -> dict[str, Any]:
    case.ours(case.data(min(case.sizes)))
    sizes, seconds = [], []
    for size in case.sizes:
        data = case.data(size)
        sizes.append(int(case.size_of(data)))
        seconds.append(min(_timed(case.ours, data)[2] for _ in range(repeats)))
    return {"sizes": sizes, "seconds": seconds, "exponent": slope(sizes, seconds)}


def slope(sizes: list[int], seconds: list[float]) -> float:
    """The exponent p of the best fit seconds ~ size^p.

    >>> round(slope([1, 10, 100], [2.0, 20.0, 200.0]), 6)
    1.0
    """
    x = [math.log(size) for size in sizes]
    y = [math.log(second) for second in seconds]
    return statistics.linear_regression(x, y).slope


def _main() -> None:
    request = json.loads(sys.argv[1])
    silence: Any = io.StringIO()
    # The output of peers must not be mistaken for the answer.
    with contextlib.redirect_stdout(silence):
        answer = _answer(request)
    print(_ANSWER + json.dumps(answer))


if __name__ == "__main__":
    _main()
