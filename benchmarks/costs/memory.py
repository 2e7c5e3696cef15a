"""``python -m benchmarks memory``: peak memory of Gram matrices, relative to the matrices.

Every count kernel of the registry is run in a separate process, normalised and not. The growth of
the process during `fit_transform` is divided by the size of the result. There are many small
graphs, so that the matrix is much larger than everything else.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.measure import ONE_THREAD, peak_bytes
from benchmarks.report import save_result

TARGET = 1.1
N_GRAPHS = 6000


def count_kernels() -> list[str]:
    """The names of the registry's kernels that compare counts."""
    from gramlet.kernels import registry

    return [
        entry.name
        for entry in registry.entries("kernel")
        if any(base.__name__ == "CountKernel" for base in entry.cls().__mro__)
    ]


def relative_peak(name: str, normalize: bool, n_graphs: int = N_GRAPHS) -> float:
    """Peak memory of one `fit_transform` over the bytes of its result, in a new process."""
    request = json.dumps({"name": name, "normalize": normalize, "n_graphs": n_graphs})
    child = subprocess.run(
        [sys.executable, "-m", "benchmarks.costs.memory", "--child", request],
        env={**os.environ, **ONE_THREAD},
        cwd=Path(__file__).resolve().parents[2],
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    if child.returncode:
        raise RuntimeError(f"Measuring the memory of {name!r} failed; see above.")
    return float(child.stdout.splitlines()[-1])


def _measure(name: str, normalize: bool, n_graphs: int) -> float:
    """In the child: compile on a few graphs, then measure."""
    from benchmarks.data import random_batch
    from gramlet.kernels import registry

    def run(graphs: object) -> object:
        return registry.make(name, normalize=normalize).fit_transform(graphs)

    run(random_batch(50, 8, 10))
    grown = peak_bytes(run, random_batch(n_graphs, 8, 10))
    return grown / (8.0 * n_graphs**2)


def _arguments(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks memory", description=__doc__)
    parser.add_argument("names", nargs="*", help="kernels; none: every count kernel")
    parser.add_argument("--graphs", type=int, default=N_GRAPHS, help="how many graphs")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    return parser.parse_args(arguments)


def main(arguments: Sequence[str]) -> int:
    """Print a table and save it; returns 1 if a target is missed, 2 for an unknown name."""
    parsed = _arguments(arguments)
    if parsed.child:
        print(_measure(**json.loads(parsed.child)))
        return 0
    known = count_kernels()
    unknown = [name for name in parsed.names if name not in known]
    if unknown:
        print(f"No count kernel is called {unknown[0]!r}; there are {', '.join(known)}.")
        return 2
    print(f"peak memory of fit_transform over the matrix of {parsed.graphs} graphs")
    print(f"({8 * parsed.graphs**2 / 1e6:.0f} MB); target: at most {TARGET}\n")
    print(f"{'kernel':<16}{'plain':>8}{'normalised':>12}")
    found = {}
    for name in parsed.names or known:
        found[name] = [relative_peak(name, normalize, parsed.graphs) for normalize in (False, True)]
        verdict = "" if max(found[name]) <= TARGET else "  MISSED"
        print(f"{name:<16}{found[name][0]:>8.2f}{found[name][1]:>12.2f}{verdict}", flush=True)
    result = {"relative_peak": found, "target": TARGET}
    print(f"\nsaved in {save_result('memory', result, {'n_graphs': parsed.graphs})}")
    return int(any(max(both) > TARGET for both in found.values()))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
