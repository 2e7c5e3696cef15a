"""The same kernels normalised by cosine and by Tanimoto, and "auto", nested on the same splits.

    python -m benchmarks.normalisations [--data FOLDER] [--repeats 1] [DATASET ...]

Finished cells are kept in ``benchmarks/papers/results/normalisations.json``.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from pathlib import Path
from typing import Any

import gramlet

RESULTS = Path(__file__).parent / "papers" / "results" / "normalisations.json"
SETS = ("MUTAG", "PTC_MR", "ENZYMES", "IMDB-BINARY", "IMDB-MULTI", "PROTEINS", "Synthie")
KERNELS = ("wl", "wl-oa", "sp", "graphlet", "nspdk")


def cell(data: Any, kernel: str, normalize: Any, repeats: int) -> dict[str, Any]:
    """The scores of one kernel: ten folds, options and C chosen inside."""
    protocol = gramlet.Protocol(folds=10, repeats=repeats)
    started = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = gramlet.evaluate(
            kernel, data.graphs, data.target, protocol, normalize=normalize, baselines=False
        )
    return {
        "scores": result.scores.tolist(),
        "seconds": round(time.process_time() - started, 2),
        "repeats": repeats,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    default = Path(__file__).resolve().parents[2] / "shared" / "data"
    parser.add_argument("--data", type=Path, default=default)
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("sets", nargs="*", default=SETS)
    given = parser.parse_args()
    cells: dict[str, Any] = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    rows = [(name, how) for name in KERNELS for how in ("cosine", "tanimoto")]
    for name in given.sets:
        path = given.data / f"{name}.zip"
        data = gramlet.read(path if path.exists() else given.data / "upstream" / f"{name}.zip")
        for kernel, how in [*rows, ("auto", None)]:
            key = f"{name} | {kernel} | {how}"
            if key not in cells:
                cells[key] = cell(data, kernel, how, given.repeats)
                RESULTS.write_text(json.dumps(cells, indent=1) + "\n")
            mean = sum(map(sum, cells[key]["scores"])) / sum(map(len, cells[key]["scores"]))
            print(f"{key:<40} {100 * mean:.1f}  {cells[key]['seconds']:.0f} s", flush=True)


if __name__ == "__main__":
    main()
