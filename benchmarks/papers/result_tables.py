"""Tables of the documentation, made from measured results in ``results``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"
_SHOWN = {
    "roc_auc": ("ROC AUC", 1),
    "balanced_accuracy": ("balanced accuracy", 1),
    "accuracy": ("accuracy", 1),
    "r2": ("R²", 1),
    "neg_root_mean_squared_error": ("RMSE", -1),
}


def b3db_tables() -> str:
    """Classification and regression, with random and scaffold splits side by side."""
    document = json.loads((RESULTS / "b3db.json").read_text(encoding="utf-8"))
    return "\n\n".join(
        _b3db_table(title, document["tables"][title]) for title in document["tables"]
    )


def _b3db_table(title: str, table: dict[str, Any]) -> str:
    names = list(next(iter(table["rows"].values()))["random"]["scores"])
    heads = [f"{_SHOWN[name][0]}, {split}" for name in names for split in ("random", "scaffold")]
    lines = [
        f"## {title.capitalize()}: {table['data']}, {table['n_graphs']} molecules",
        "",
        f"Random: {table['protocol_random']}. Scaffold: {table['protocol_scaffold']}. Machine: "
        f"{table['classifier']}, chosen by {_SHOWN[table['scoring']][0]}. ± gives the standard "
        "deviation over the test parts.",
        "",
        "| kernel | " + " | ".join(heads) + " |",
        "|---|" + "---:|" * len(heads),
    ]
    for kernel, cells in table["rows"].items():
        shown = []
        for name in names:
            sign = _SHOWN[name][1]
            for split in ("random", "scaffold"):
                cell = cells[split]
                shown.append(f"{sign * cell['scores'][name]:.3f} ± {cell['std_folds'][name]:.3f}")
        lines.append(f"| `{kernel}` | " + " | ".join(shown) + " |")
    return "\n".join(lines)


def scaled_costs_table() -> str:
    """Plain C compared with C relative to the spread of the kernel."""
    document = json.loads((RESULTS / "scaled_costs.json").read_text(encoding="utf-8"))
    lines = [
        f"{document['folds']} folds; accuracies in percent. Edge: the share of training parts that "
        "chose the smallest or the largest C. Time: seconds for choosing and fitting the machines, "
        "scaled divided by plain. C and options were chosen by three inner folds, or by two for "
        "rows with one repeat.",
        "",
        "| data | repeats | kernel | plain | scaled | p | edge, plain | edge, scaled | time |",
        "|---|---:|---|---:|---:|---:|---:|---:|---:|",
    ]
    for data, kernels in document["rows"].items():
        for kernel, row in kernels.items():
            time = row["seconds_scaled"] / row["seconds_plain"]
            lines.append(
                f"| {data} | {row['repeats']} | `{kernel}` | {100 * row['plain']:.1f} | "
                f"{100 * row['scaled']:.1f} | {row['p_value']:.2f} | "
                f"{100 * row['edge_plain']:.0f} % | {100 * row['edge_scaled']:.0f} % | "
                f"{time:.1f} × |"
            )
    return "\n".join(lines)


def logbb_table() -> str:
    """Kernel ridge on Weisfeiler-Lehman and a Gaussian process on the marginalised kernel."""
    document = json.loads((RESULTS / "logbb.json").read_text(encoding="utf-8"))
    splits = document["splits"]
    lines = [
        f"{document['n_molecules']} molecules, {len(splits)} random splits into three quarters "
        f"and one; the kernel of the process is tuned on {document['n_tuned']} molecules. Errors "
        "are RMSE (lower is better); coverage is the share of test molecules within the 95 % error "
        "bars; processor seconds include all tuning.",
        "",
        "| split | mean of the targets | ridge, `wl` | process, `marginalized` | coverage | "
        "seconds, ridge | seconds, process |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    keys = (
        "mean_rmse",
        "ridge_rmse",
        "process_rmse",
        "coverage",
        "ridge_seconds",
        "process_seconds",
    )
    rows = [[split[key] for key in keys] for split in splits]
    names = [str(split["split"]) for split in splits]
    means = [sum(column) / len(rows) for column in zip(*rows, strict=True)]
    for name, row in zip([*names, "**mean**"], [*rows, means], strict=True):
        errors = " | ".join(f"{value:.3f}" for value in row[:3])
        seconds = " | ".join(f"{value:.0f}" for value in row[4:])
        lines.append(f"| {name} | {errors} | {100 * row[3]:.0f} % | {seconds} |")
    return "\n".join(lines)


def write_result_tables(folder: Path) -> None:
    """Write the tables to the folder from which the pages include them."""
    (folder / "generated").mkdir(exist_ok=True)
    (folder / "generated" / "b3db.md").write_text(b3db_tables() + "\n", encoding="utf-8")
    costs = scaled_costs_table() + "\n"
    (folder / "generated" / "scaled_costs.md").write_text(costs, encoding="utf-8")
    (folder / "generated" / "logbb.md").write_text(logbb_table() + "\n", encoding="utf-8")
