"""``python -m benchmarks cold``: processor time from an empty cache to the first matrix.

For every kernel, two new processes: one with the source tree of an earlier revision and one with
the current tree, each with an empty folder for compiled code. Both load 30 graphs of MUTAG and
compute one matrix. The time is that of the whole process, including imports and child processes;
the matrices are compared. With ``--turns`` both sides are measured several times in turns, and the
least time of each counts. Edge labels are omitted, as in ``python -m benchmarks parent``.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.costs.cold_child import NOT_THERE
from benchmarks.costs.parent import REVISION, ROOT, source_of
from benchmarks.measure import ONE_THREAD
from benchmarks.report import save_result

HALF = 0.5


def cold_seconds(name: str, source: Path, place: Path) -> float | None:
    """Processor seconds of a new process that writes one matrix; None if it has no such kernel."""
    with tempfile.TemporaryDirectory() as empty:
        process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.costs.cold_child", name, str(place)],
            env={
                **os.environ,
                **ONE_THREAD,
                "PYTHONPATH": os.pathsep.join([str(source), str(ROOT)]),
                "NUMBA_CACHE_DIR": empty,
            },
            cwd=ROOT,
        )
        _, status, usage = os.wait4(process.pid, 0)
    code = os.waitstatus_to_exitcode(status)
    process.returncode = code
    if code == NOT_THERE:
        return None
    if code:
        raise RuntimeError(f"The process that computes {name!r} ended with status {code}.")
    return usage.ru_utime + usage.ru_stime


def _arguments(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks cold", description=__doc__)
    parser.add_argument("names", nargs="*", help="kernels of the registry; none: all")
    parser.add_argument("--revision", default=REVISION, help=f"to compare with ({REVISION})")
    parser.add_argument("--turns", type=int, default=1, help="of each side; the least time counts")
    return parser.parse_args(arguments)


def _measured(name: str, source: Path, folder: Path, turns: int) -> dict[str, Any]:
    import numpy as np

    old, new = folder / "before.npy", folder / "after.npy"
    before = after = None
    for _ in range(turns):
        before = _lesser(before, cold_seconds(name, source, old))
        after = _lesser(after, cold_seconds(name, ROOT / "src", new))
    case: dict[str, Any] = {"before": before, "after": after}
    if before is not None and after is not None:
        case["ratio"] = after / before
        first, second = np.load(old), np.load(new)
        case["same_bits"] = bool(first.shape == second.shape and np.array_equal(first, second))
    return case


def _lesser(one: float | None, other: float | None) -> float | None:
    return other if one is None else one if other is None else min(one, other)


def _line(name: str, case: dict[str, Any]) -> str:
    if "ratio" not in case:
        return f"{name:<22}{'-':>10}{case['after']:>10.2f}      -"
    text = f"{name:<22}{case['before']:>10.2f}{case['after']:>10.2f}{case['ratio']:>7.2f}"
    text += "" if case["same_bits"] else "  other numbers"
    return text + ("  ABOVE HALF" if case["ratio"] > HALF else "")


def main(arguments: Sequence[str]) -> int:
    """Print a table and save it; returns 2 for an unknown name."""
    parsed = _arguments(arguments)
    from gramlet.kernels import registry

    names = parsed.names or [entry.name for entry in registry.entries()]
    try:
        for name in names:
            registry.get(name)
        source = source_of(parsed.revision)
    except ValueError as error:
        print(error)
        return 2
    print(f"{'kernel':<22}{'before s':>10}{'after s':>10}{'ratio':>7}")
    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            found[name] = _measured(name, source, Path(folder), max(1, parsed.turns))
            print(_line(name, found[name]), flush=True)
    print(f"\nsaved in {save_result('cold', {'cases': found}, {'revision': parsed.revision})}")
    return 0
