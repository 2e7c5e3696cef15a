"""The tables of B3DB: classification and regression, with random and scaffold splits.

Whether molecules pass the blood-brain barrier (classes, by ROC AUC) and how strongly (logBB, by R²
and RMSE). Every table is evaluated with random folds and with folds that keep molecules with the
same Murcko scaffold together. The latter are harder and more realistic for new compounds. Finished
kernels are stored in a folder, so the script can be stopped and continued.

    python examples/b3db_tables.py --store FOLDER [--repeats N] [--output FILE.json]
"""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gramlet
from gramlet.common.safe_writing import writing
from gramlet.evaluation import Result

OUTPUT = Path(__file__).parents[1] / "benchmarks" / "papers" / "results" / "b3db.json"
SPLITS = {"random": None, "scaffold": "scaffold"}


@dataclass(frozen=True)
class Table:
    """One data set with the rows and scores of its table."""

    data: str
    scoring: str
    scores: tuple[str, ...]
    baselines: tuple[str, ...]
    protocol: dict[str, Any]
    how: dict[str, Any]


TABLES = {
    "classification": Table(
        "B3DB",
        "roc_auc",
        ("roc_auc", "balanced_accuracy", "accuracy"),
        ("majority", "size"),
        {"folds": 5, "inner_folds": 3, "C": (0.1, 1.0, 10.0)},
        {"class_weight": "balanced"},
    ),
    "regression": Table(
        "B3DB-logBB",
        "r2",
        ("r2", "neg_root_mean_squared_error"),
        ("mean", "size"),
        {"folds": 10, "inner_folds": 3, "C": tuple(10.0**k for k in range(-3, 4))},
        {},
    ),
}

# Few options: this script compares splits, not options.
KERNELS: dict[str, dict[str, Any]] = {
    "vertex": {},
    "edge": {},
    "sp": {},
    "wl": {"n_iter": [1, 2, 3, 4]},
    "wl-oa": {"n_iter": [2, 4]},
}


def evaluate(
    table: Table, name: str, groups: str | None, repeats: int, store: Path, jobs: int
) -> Result:
    """One cell: a kernel or baseline under one kind of split."""
    protocol = gramlet.Protocol(repeats=repeats, groups=groups, **table.protocol)
    is_baseline = name in table.baselines
    found: Result = gramlet.evaluate(
        name,
        gramlet.load_dataset(table.data),
        protocol=protocol,
        scoring=table.scoring,
        options=None if is_baseline else KERNELS[name],
        store=store,
        n_jobs=jobs,
        **table.how,
    )
    return found


def row_of(table: Table, result: Result) -> dict[str, Any]:
    """The stored part of a result: means and deviations, options and hints, no predictions."""
    parts = {name: result.part_scores(name) for name in table.scores}
    return {
        "name": result.name,
        "scores": {name: float(values.mean()) for name, values in parts.items()},
        "std_folds": {name: float(values.std(ddof=1)) for name, values in parts.items()},
        "most_chosen": {
            key: [str(value), share] for key, (value, share) in result.most_chosen().items()
        },
        "seconds": result.seconds,
        "hints": [hint.text for hint in result.hints if hint.kind in ("baseline", "duplicates")],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--store", type=Path, required=True)
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--output", type=Path, default=OUTPUT)
    parser.add_argument("--tables", nargs="*", default=list(TABLES), choices=list(TABLES))
    given = parser.parse_args()
    tables = {}
    for title in given.tables:
        table = TABLES[title]
        data = gramlet.load_dataset(table.data)
        tables[title] = {
            "data": table.data,
            "n_graphs": len(data.graphs),
            "scoring": table.scoring,
            "repeats": given.repeats,
            "rows": {},
        }
        for name in (*table.baselines, *KERNELS):
            cells = {}
            for split, groups in SPLITS.items():
                result = evaluate(table, name, groups, given.repeats, given.store, given.jobs)
                cells[split] = row_of(table, result)
                tables[title]["protocol_" + split] = result.describe_protocol()
                print(title, split, result, f"{result.seconds:.0f} s", flush=True)
            tables[title]["rows"][name] = cells
        tables[title]["classifier"] = result.classifier
    given.output.parent.mkdir(parents=True, exist_ok=True)
    with writing(given.output) as place:
        place.write_text(
            json.dumps({"gramlet": gramlet.__version__, "tables": tables}, indent=1) + "\n"
        )
    print(f"Written to {given.output}")


if __name__ == "__main__":
    main()
