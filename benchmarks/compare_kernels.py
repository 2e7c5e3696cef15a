"""``python -m benchmarks.compare_kernels``: every kernel and embedding on the seven data sets.

A cell is one name of the registry on one data set: accuracy, processor seconds and peak memory of
the matrix. Each cell is measured in a separate process with a limited number of processor minutes
and written to ``papers/results/kernel_comparison.json`` immediately. Cells in the file are not
computed again, so the script can be stopped and continued. Cheap cells come first: all cells are
tried with a small limit, and those that exceed it again with a larger one. Before its second try a
cell is timed on parts of its data set, and skipped if it would exceed the last limit. The file
keeps the reason for cells that are skipped or that the kernel does not support. The page "Which
kernel for which graphs" is made from the cells in the file.

    python -m benchmarks.compare_kernels --store FOLDER [--minutes 30] [--names wl sp] [DATASET ...]
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TextIO

from benchmarks.data import default_folder
from benchmarks.measure import ONE_THREAD, peak_bytes

os.environ.update(ONE_THREAD)  # before numpy is imported

import numpy as np

from benchmarks.extrapolation import estimate, next_size, part

OUTPUT = Path(__file__).parent / "papers" / "results" / "kernel_comparison.json"
# From small to large, so that cheap cells come first.
DATASETS = ("MUTAG", "PTC_MR", "ENZYMES", "IMDB-BINARY", "IMDB-MULTI", "PROTEINS", "NCI1")
BASELINES = ("majority", "size")
PROTOCOL = {"folds": 10, "repeats": 1, "inner_folds": 3, "C": (0.1, 1.0, 10.0, 100.0, 1000.0)}
_SHORT = 10.0
_FIRST_LIMIT = 0.5  # minutes; the next limits are four times as large
_PROBE_SHARE = 0.1  # of the last limit, for parts of the data set
_ESTIMATED = ("estimated_minutes", "parts")
_DOUBT = 1.5  # a cell is given up if the estimate exceeds the limit by this factor
_ROUNDS = {"n_iter": [1, 3, 5]}

# Options chosen inside the training parts; kernels that are not listed keep their own parameters.
OPTIONS: dict[str, dict[str, list[Any]]] = {
    "wl": _ROUNDS,
    "wl-edge": _ROUNDS,
    "wl-sp": {"n_iter": [1, 3]},
    "wl-oa": _ROUNDS,
    "hadamard": _ROUNDS,
    "neighborhood-hash": _ROUNDS,
    "wwl": {**_ROUNDS, "gamma": [1.0, 10.0]},
    "wwl-attr": {"n_iter": [1, 3]},
    "propagation": _ROUNDS,
    "odd-sth": {"height": [1, 3]},
    "subgraph-matching": {"size": [2, 3, 4]},
    "graphlet": {"k": [3, 4, 5]},
    "rw-exp": {"decay": [1e-3, 1e-1]},
    "rw-steps": {"n_steps": [2, 4]},
    "emd": {"gamma": [1.0, 10.0]},
    "rge": {"gamma": [1.0, 10.0]},
    "gsa-match": {"k": [4, 5]},
    "netlsd": {"kind": ["heat", "wave"]},
}
# If nodes have many neighbours, geometric walks converge for small decays only.
DECAYS: dict[tuple[str, str], dict[str, list[Any]]] = {
    ("rw", "IMDB-BINARY"): {"decay": [1e-5]},
    ("rw", "IMDB-MULTI"): {"decay": [1e-5]},
}


def cells(datasets: Sequence[str], names: Sequence[str] | None) -> Iterator[tuple[str, str]]:
    """The cells in the order of work: one data set after another, baselines first."""
    from gramlet.kernels import registry

    rows = [*BASELINES, *(entry.name for entry in registry.entries())]
    unknown = [name for name in names or () if name not in rows]
    if unknown:
        raise ValueError(f"No kernel is called {unknown[0]!r}; there are {', '.join(rows)}.")
    for dataset in datasets:
        for name in rows:
            if not names or name in names:
                yield dataset, name


def limits(minutes: float) -> list[float]:
    """The limits with which cells are tried, from the smallest to the given one."""
    found = []
    limit = _FIRST_LIMIT
    while limit < minutes / 2:
        found.append(limit)
        limit *= 4
    return [*found, minutes]


def wanted(known: dict[str, Any] | None, minutes: float) -> bool:
    """Whether to compute a cell: missing, or stopped by a smaller limit and not given up."""
    if known is None:
        return True
    if "limit_minutes" not in known or known["limit_minutes"] >= minutes:
        return False
    return bool(known.get("estimated_minutes", 0.0) <= _DOUBT * minutes)


# In the parent


def measured(name: str, data: Any, minutes: float, store: Path) -> dict[str, Any]:
    """One cell, measured in a copy of this process: modules and data are loaded only once."""
    written, code = _in_copy(lambda lines: _measure(name, data, minutes, store, lines))
    return outcome_of(written, code, minutes)


def probed(name: str, data: Any, known: dict[str, Any], minutes: float) -> dict[str, Any]:
    """A cell that was stopped, with an estimate of its time if parts of the data set give one."""
    seconds = 60.0 * _PROBE_SHARE * minutes
    written, code = _in_copy(lambda lines: _probe(name, data, seconds, lines))
    if code > 0:
        raise RuntimeError("A part of a data set failed; see above.")
    begun: list[int] = []
    done: list[tuple[int, float]] = []
    for line in written.splitlines():
        found = json.loads(line)
        begun.append(found["graphs"])
        if "seconds" in found:
            done.append((found["graphs"], found["seconds"]))
    unfinished = begun[-1] if code < 0 and not done and begun else None
    found = estimate(done, unfinished, seconds, len(data.graphs))
    if found is None:
        return {**known, "estimated_minutes": 0.0}
    cell = {**known, "estimated_minutes": found.minutes, "parts": done}
    return {**cell, "reason": found.reason} if found.minutes > _DOUBT * minutes else cell


def _in_copy(work: Callable[[TextIO], None]) -> tuple[str, int]:
    """The output of a copy of this process, and its status; negative if it was stopped."""
    sys.stdout.flush()
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        code = 1
        try:
            with os.fdopen(writing, "w", encoding="utf-8") as lines:
                work(lines)
            code = 0
        except Exception:
            traceback.print_exc()
        finally:
            os._exit(code)
    os.close(writing)
    with os.fdopen(reading, encoding="utf-8") as lines:
        written = lines.read()
    _, status = os.waitpid(child, 0)
    return written, os.waitstatus_to_exitcode(status)


def outcome_of(written: str, code: int, minutes: float) -> dict[str, Any]:
    """The result in the output lines of a child: its measurements, or why it stopped and where."""
    cell: dict[str, Any] = {}
    for line in written.splitlines():
        cell |= json.loads(line)
    if code < 0:
        what = "the evaluation" if "matrix_seconds" in cell else "the matrix"
        cell |= {"reason": f"{what} takes longer than {minutes:g} CPU minutes"}
        cell |= {"limit_minutes": minutes}
    elif code:
        raise RuntimeError("A cell failed; see above.")
    return cell


# In the child


def _measure(name: str, data: Any, minutes: float, store: Path, lines: TextIO) -> None:
    """Write the cost of the matrix, then the accuracy; or why the kernel refuses the graphs."""

    def tell(found: dict[str, Any]) -> None:
        print(json.dumps(found), file=lines, flush=True)

    try:
        if name not in BASELINES:
            tell(_matrix_cost(name, data, minutes))
        tell(_accuracy(name, data, store))
    except ValueError as refused:
        tell({"reason": str(refused).split(". ")[0].rstrip(".")})


def _matrix_cost(name: str, data: Any, minutes: float) -> dict[str, Any]:
    """Seconds and memory of one matrix with the row's own parameters, after compiling."""
    run = _matrix_of(name, data)
    # The smallest graphs compile everything. Both classes are needed by kernels that learn.
    run(_smallest(data))
    _allow(60.0 * minutes)
    everything = np.arange(len(data.graphs))
    begun = time.process_time()
    grown = peak_bytes(run, everything)
    seconds = time.process_time() - begun
    if seconds < _SHORT:  # once more: the first run loads what the small graphs did not need
        begun = time.process_time()
        run(everything)
        seconds = min(seconds, time.process_time() - begun)
    return {"matrix_seconds": seconds, "peak_bytes": grown}


def _smallest(data: Any) -> Any:
    """Positions of the ten smallest graphs of each class."""
    by_size = np.argsort(np.diff(data.graphs.node_offsets), kind="stable")
    classes = np.asarray(data.target)[by_size]
    return np.sort(np.concatenate([by_size[classes == c][:10] for c in np.unique(classes)]))


def _matrix_of(name: str, data: Any) -> Callable[[Any], Any]:
    """The matrix of the graphs at some positions."""
    from gramlet.kernels import registry

    entry = registry.get(name)
    if "node_attributes" in entry.tags.needs and data.graphs.node_attributes is None:
        raise ValueError("needs node attributes")
    first = {key: values[0] for key, values in DECAYS.get((name, data.name), {}).items()}
    params = {"normalize": True, **first} if entry.kind == "kernel" else {}

    def run(positions: Any) -> Any:
        estimator = registry.make(name, **params)
        return estimator.fit_transform(data.graphs[positions], np.asarray(data.target)[positions])

    return run


def _allow(seconds: float) -> None:
    """Let the system stop this process after so many more processor seconds."""
    used = sum(resource.getrusage(resource.RUSAGE_SELF)[:2])
    ceiling = int(used + seconds) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (ceiling, ceiling + 5))


def _probe(name: str, data: Any, seconds: float, lines: TextIO) -> None:
    """Write the cost of growing parts of a data set, matrix and evaluation; a line before each."""
    from gramlet import Dataset

    run = _matrix_of(name, data)
    run(_smallest(data))
    _allow(seconds)
    done: list[tuple[int, float]] = []
    while size := next_size(done, data, seconds):
        print(json.dumps({"graphs": size}), file=lines, flush=True)
        begun = time.process_time()
        positions = part(data, size)
        run(positions)
        chosen = Dataset(data.graphs[positions], np.asarray(data.target)[positions], name=data.name)
        _accuracy(name, chosen, None)
        done.append((size, time.process_time() - begun))
        print(json.dumps({"graphs": size, "seconds": done[-1][1]}), file=lines, flush=True)


def _accuracy(name: str, data: Any, store: Path | None) -> dict[str, Any]:
    import gramlet

    begun = time.process_time()
    options = DECAYS.get((name, data.name), OPTIONS.get(name, {}))
    result = gramlet.evaluate(
        name,
        data,
        protocol=gramlet.Protocol(**PROTOCOL),
        options=None if name in BASELINES else options,
        normalize="cosine",  # as all stored cells
        baselines=False,
        store=store,
        n_jobs=1,
    )
    chosen = {key: [str(v), share] for key, (v, share) in result.most_chosen().items()}
    return {
        "accuracy": float(result.scores.mean()),
        "std_folds": float(result.scores.std(ddof=1)),
        "most_chosen": chosen,
        "evaluation_seconds": time.process_time() - begun,
    }


# The command line


def _arguments(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.compare_kernels")
    parser.add_argument("datasets", nargs="*", help="data sets; none: all seven")
    parser.add_argument("--names", nargs="*", help="kernels; none: all of the registry")
    parser.add_argument("--minutes", type=float, default=30.0, help="CPU minutes per cell")
    parser.add_argument("--store", type=Path, help="folder of unfinished evaluations")
    parser.add_argument("--data-dir", default=default_folder(), help="folder of TU data sets")
    parser.add_argument("--output", type=Path, default=OUTPUT)
    return parser.parse_args(arguments)


def _document(place: Path) -> dict[str, Any]:
    if place.exists():
        found: dict[str, Any] = json.loads(place.read_text(encoding="utf-8"))
        return found
    return {"cells": {}}


def main(arguments: Sequence[str]) -> int:
    """Compute the cells that are missing, one after the other."""
    given = _arguments(arguments)
    if given.store is None:
        print("Give --store FOLDER, in which unfinished evaluations are kept.")
        return 2
    from benchmarks.report import machine
    from gramlet import Protocol, load_dataset
    from gramlet.common.safe_writing import writing

    document = _document(given.output)
    document |= {"protocol": Protocol(**PROTOCOL).describe(), "C": PROTOCOL["C"]}
    # Cells that a smaller limit than the largest so far has stopped are still missing.
    largest = max(given.minutes, document.get("minutes", 0.0))
    document |= {"options": OPTIONS, "machine": machine(), "minutes": largest}
    loaded: dict[str, Any] = {}
    for limit in limits(given.minutes):
        for dataset, name in cells(given.datasets or DATASETS, given.names):
            row = document["cells"].setdefault(dataset, {})
            if not wanted(row.get(name), limit):
                continue
            if dataset not in loaded:
                loaded = {dataset: load_dataset(dataset, data_home=given.data_dir)}
            for cell in _tries(name, loaded[dataset], row.get(name), limit, given):
                row[name] = cell
                print(dataset, name, cell, flush=True)
                with writing(given.output) as place:
                    place.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    return 0


def _tries(
    name: str, data: Any, known: dict[str, Any] | None, limit: float, given: argparse.Namespace
) -> Iterator[dict[str, Any]]:
    """The result of a cell; if it was stopped before, it is estimated first."""
    if known is not None and "estimated_minutes" not in known:
        known = probed(name, data, known, given.minutes)
        if known["estimated_minutes"] > _DOUBT * given.minutes:
            known["limit_minutes"] = given.minutes
        yield known
    if wanted(known, limit):
        kept = {} if known is None else {key: known[key] for key in _ESTIMATED if key in known}
        cell = measured(name, data, limit, given.store)
        if known is not None:
            cell.pop("evaluation_seconds", None)  # folds of earlier tries came from the store
        yield {**kept, **cell} if "limit_minutes" in cell else cell


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
