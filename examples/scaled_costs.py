"""Should C be relative to the spread of the kernel? Accuracies with both kinds of C.

A centred, normalised kernel often has a mean self-similarity far below 1, and suitable values of C
are then larger than those of the usual grid. With ``Protocol(scale_C=True)`` C is divided by that
mean. Each kernel is evaluated with both on the same folds and compared by the corrected resampled
t-test; the tables also give how often the edge of the grid was chosen. Finished kernels are stored
in a folder; new rows are added to those already in the output, so that large data sets can have
fewer repeats.

    python examples/scaled_costs.py --store FOLDER --data-dir FOLDER [--repeats N] [DATASET ...]
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import gramlet
from gramlet.common.safe_writing import writing
from gramlet.evaluation import Result

OUTPUT = Path(__file__).parents[1] / "benchmarks" / "papers" / "results" / "scaled_costs.json"
DATASETS = (
    "MUTAG",
    "PTC_MR",
    "ENZYMES",
    "PROTEINS",
    "IMDB-BINARY",
    "IMDB-MULTI",
    "NCI1",
)
KERNELS: dict[str, dict[str, Any]] = {
    "vertex": {},
    "edge": {},
    "wl": {"n_iter": [1, 2, 3, 4]},
    "wl-oa": {"n_iter": [2, 4]},
    "sp": {},
    "graphlet": {"k": [3, 4]},
    "pyramid-match": {"n_dims": [4, 6]},
}


def at_the_edge(result: Result) -> float:
    """The share of training parts that chose the smallest or the largest C."""
    edges = (min(result.protocol.C), max(result.protocol.C))
    chosen = [options["C"] in edges for row in result.chosen for options in row]
    return sum(chosen) / len(chosen)


def compared(data: Any, name: str, given: argparse.Namespace) -> dict[str, Any]:
    """One kernel on one data set, with plain C and with C relative to the spread."""
    results = {}
    for scaled in (False, True):
        protocol = gramlet.Protocol(
            repeats=given.repeats, inner_folds=given.inner_folds, scale_C=scaled
        )
        results[scaled] = gramlet.evaluate(
            name,
            data,
            protocol=protocol,
            options=KERNELS[name],
            baselines=False,
            store=given.store,
            n_jobs=given.jobs,
        )
    difference = gramlet.compare_results(results[True], results[False])
    return {
        "plain": results[False].mean,
        "scaled": results[True].mean,
        "p_value": difference.p_value,
        "repeats": given.repeats,
        "inner_folds": given.inner_folds,
        "edge_plain": at_the_edge(results[False]),
        "edge_scaled": at_the_edge(results[True]),
        "seconds_plain": results[False].other_seconds,
        "seconds_scaled": results[True].other_seconds,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("datasets", nargs="*", default=list(DATASETS))
    parser.add_argument("--store", type=Path, required=True)
    parser.add_argument("--data-dir", type=Path)
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--inner-folds", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--kernels", nargs="*", default=list(KERNELS), choices=list(KERNELS))
    parser.add_argument("--output", type=Path, default=OUTPUT)
    given = parser.parse_args()
    rows = read_rows(given.output)
    for dataset in given.datasets:
        data = gramlet.load_dataset(dataset, data_home=given.data_dir)
        for name in given.kernels:
            row = compared(data, name, given)
            rows.setdefault(dataset, {})[name] = row
            print(dataset, name, {k: round(v, 3) for k, v in row.items()}, flush=True)
            write_rows(given.output, rows)
    print(f"Written to {given.output}")


def read_rows(path: Path) -> dict[str, dict[str, Any]]:
    """The rows in a file, by data set and kernel; none if the file does not exist."""
    if not path.exists():
        return {}
    rows: dict[str, dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["rows"]
    return rows


def write_rows(path: Path, rows: dict[str, dict[str, Any]]) -> None:
    """Write the rows, data sets in the order of `DATASETS`."""
    known = [name for name in DATASETS if name in rows]
    ordered = {name: rows[name] for name in (*known, *(set(rows) - set(known)))}
    path.parent.mkdir(parents=True, exist_ok=True)
    document = {"gramlet": gramlet.__version__, "folds": 10, "rows": ordered}
    with writing(path) as place:
        place.write_text(json.dumps(document, indent=1) + "\n")


if __name__ == "__main__":
    main()
