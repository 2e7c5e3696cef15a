"""``python -m benchmarks parent``: every kernel compared with an earlier revision of gramlet.

Two processes, one with the source tree of the revision on its path and one with the current tree,
compute the same matrices in turns. The results are compared, and the ratio of processor times is
printed. Edge labels are removed from the graphs: newer revisions use them by default, which changes
numbers intentionally.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.measure import ONE_THREAD
from benchmarks.report import RESULTS, save_result

ROOT = Path(__file__).resolve().parents[2]
REVISION = "005322f"  # before kernels had one contract
SLOWER = 1.05
LONG_ENOUGH = 0.2  # seconds; shorter computations are repeated until this time has passed
# The number of graphs for kernels for which 188 take too long.
GRAPHS = {
    "emd": 60,
    "weighted-wwl": 40,
    "wwl-attr": 60,
    "mlg": 60,
    "rge": 60,
    "rw": 80,
    "rw-exp": 80,
    "rw-steps": 80,
    "geometric-assignment": 60,
    "graphlet": 100,
}
DATA_SETS = ("MUTAG", "NCI1")


def source_of(revision: str) -> Path:
    """The folder ``src`` of a revision, extracted from the repository once and then kept."""
    named = ["git", "-C", str(ROOT), "rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}"]
    found = subprocess.run(named, stdout=subprocess.PIPE, text=True, check=False)
    if found.returncode:
        raise ValueError(f"{revision!r} is no revision of this repository; give a commit or tag.")
    folder = RESULTS / f"source-{found.stdout.strip()[:12]}"
    if not folder.is_dir():
        RESULTS.mkdir(exist_ok=True)
        with tempfile.TemporaryDirectory(dir=RESULTS) as unfinished:
            packed = Path(unfinished) / "source.tar"
            subprocess.run(
                ["git", "-C", str(ROOT), "archive", "-o", str(packed), revision, "src"], check=True
            )
            with tarfile.open(packed) as archive:
                archive.extractall(Path(unfinished) / "tree", filter="data")
            (Path(unfinished) / "tree").rename(folder)
    return folder / "src"


class Side:
    """A process that computes with one source tree and answers one request at a time."""

    def __init__(self, source: Path) -> None:
        path = os.pathsep.join([str(source), str(ROOT)])
        self.process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.costs.parent", "--child", str(source)],
            env={**os.environ, **ONE_THREAD, "PYTHONPATH": path},
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def ask(self, **request: Any) -> Any:
        """The answer to one request; RuntimeError if the process ended."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"The process that computes {request} ended; see above.")
        return json.loads(line)

    def close(self) -> None:
        """End the process."""
        if self.process.stdin is not None:
            self.process.stdin.close()
        self.process.wait()


def compare(
    before: Side, after: Side, kernel: str, data: str, repeats: int, folder: Path, n_graphs: int
) -> dict[str, Any] | None:
    """Least processor seconds of both sides in turns, their ratio, and the largest difference.

    None if one of the sides does not have the kernel.
    """
    import numpy as np

    request = {"kernel": kernel, "data": data, "n_graphs": n_graphs}
    places = {side: str(folder / f"{side}.npy") for side in ("before", "after")}
    sides = {"before": before, "after": after}
    # The first turn includes compiling.
    if None in [sides[side].ask(**request, save=place) for side, place in places.items()]:
        return None
    seconds: dict[str, list[float]] = {side: [] for side in sides}
    for _ in range(repeats):
        for side in sides:
            seconds[side].append(sides[side].ask(**request))
    old, new = (np.load(place) for place in places.values())
    scale = max(float(np.abs(old).max(initial=0.0)), 1e-300)
    same_shape = old.shape == new.shape
    return {
        "seconds": seconds,
        "ratio": min(seconds["after"]) / min(seconds["before"]),
        "difference": float(np.abs(old - new).max(initial=0.0)) / scale if same_shape else None,
        "same_bits": bool(same_shape and np.array_equal(old, new)),
    }


def _answer_requests(source: str) -> None:
    """In the child: one line of JSON in, one out, until the input ends."""
    import time

    import gramlet

    if not Path(gramlet.__file__).is_relative_to(source):
        raise RuntimeError(f"gramlet was imported from {gramlet.__file__}, not from {source}.")
    import numpy as np

    from benchmarks.data import WITH_ATTRIBUTES, sample
    from gramlet.kernels import registry

    loaded: dict[Any, Any] = {}
    for line in sys.stdin:
        request = json.loads(line)
        if request["kernel"] not in {entry.name for entry in registry.entries()}:
            print("null", flush=True)
            continue
        entry = registry.get(request["kernel"])
        key = (request["data"], request["n_graphs"], entry.name in WITH_ATTRIBUTES)
        if key not in loaded:
            loaded[key] = sample(*key)
        graphs, y = loaded[key]
        begin, seconds, runs = time.process_time(), 0.0, 0
        while seconds < LONG_ENOUGH and runs < 100 and not (runs and request.get("save")):
            matrix = entry.make().fit_transform(graphs, y)
            seconds, runs = time.process_time() - begin, runs + 1
        if request.get("save"):
            np.save(request["save"], np.asarray(getattr(matrix, "toarray", lambda m=matrix: m)()))
        print(json.dumps(max(seconds / runs, 1e-9)), flush=True)


def _arguments(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks parent", description=__doc__)
    parser.add_argument("names", nargs="*", help="kernels of the registry; none: all")
    parser.add_argument("--revision", default=REVISION, help=f"to compare with ({REVISION})")
    parser.add_argument("--repeats", type=int, default=5, help="turns of each side")
    parser.add_argument("--quick", action="store_true", help="30 graphs of MUTAG only")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    return parser.parse_args(arguments)


def _data_sets(quick: bool) -> list[str]:
    from benchmarks.data import default_folder

    folder = default_folder()
    here = folder is not None and any(Path(folder).glob("NCI1*"))  # a folder or a zip
    if not quick and not here:
        print("NCI1 is left out: no folder of data sets (GRAMLET_DATA) has it\n")
    return ["MUTAG"] if quick or not here else list(DATA_SETS)


def main(arguments: Sequence[str]) -> int:
    """Print a table and save it; returns 1 if results differ, 2 for an unknown name."""
    parsed = _arguments(arguments)
    if parsed.child:
        _answer_requests(parsed.child)
        return 0
    from gramlet.kernels import registry

    names = parsed.names or [entry.name for entry in registry.entries()]
    try:
        for name in names:
            registry.get(name)
        source = source_of(parsed.revision)
    except ValueError as error:
        print(error)
        return 2
    print(f"{'kernel':<22}{'data':<7}{'before s':>10}{'after s':>10}{'ratio':>7}  difference")
    before, after = Side(source), Side(ROOT / "src")
    found: dict[str, Any] = {}
    try:
        with tempfile.TemporaryDirectory() as folder:
            for data in _data_sets(parsed.quick):
                for name in names:
                    n_graphs = 30 if parsed.quick else GRAPHS.get(name, 188)
                    case = compare(
                        before, after, name, data, parsed.repeats, Path(folder), n_graphs
                    )
                    if case is None:
                        print(f"{name:<22}{data:<7}not in both revisions", flush=True)
                        continue
                    found[f"{name} {data}"] = case
                    print(_line(name, data, case), flush=True)
    finally:
        before.close()
        after.close()
    settings = {"revision": parsed.revision, "quick": parsed.quick}
    print(f"\nsaved in {save_result('parent', {'cases': found}, settings)}")
    return int(any(not _same(case) for case in found.values()))


def _same(case: dict[str, Any]) -> bool:
    return case["difference"] is not None and case["difference"] <= 1e-9


def _line(name: str, data: str, case: dict[str, Any]) -> str:
    seconds = case["seconds"]
    text = (
        f"{name:<22}{data:<7}{min(seconds['before']):>10.4f}{min(seconds['after']):>10.4f}"
        f"{case['ratio']:>7.2f}  "
    )
    if case["same_bits"]:
        text += "none"
    elif case["difference"] is None:
        text += "OTHER SHAPE"
    else:
        text += f"{case['difference']:.1e}" + ("" if _same(case) else " DIFFERENT")
    return text + (" SLOWER" if case["ratio"] > SLOWER else "")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
