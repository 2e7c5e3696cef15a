"""Tables of the page "Which kernel for which graphs", from the stored results.

All cells in the file are shown. A dot marks a cell that was not computed, or was stopped by a limit
smaller than the last one. A dash with a number marks a cell that cannot be computed or takes too
long; the numbered reasons are below the tables.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from gramlet.kernels import registry

RESULTS = Path(__file__).parent / "results" / "kernel_comparison.json"
DATASETS = ("MUTAG", "PTC_MR", "ENZYMES", "IMDB-BINARY", "IMDB-MULTI", "PROTEINS", "NCI1")
BASELINES = ("majority", "size")
MISSING = "·"

Cells = dict[str, dict[str, dict[str, Any]]]


def comparison_tables(document: dict[str, Any]) -> str:
    """Tables of accuracy, seconds and memory, and the reasons for the dashes."""
    cells = _finished(document)
    notes = _Notes()
    machine = document["machine"]
    parts = [
        f"{document['protocol']}, C from {', '.join(f'{c:g}' for c in document['C'])}; "
        f"{_options(document['options'])}. One thread of {machine['processor']}.",
        "### Accuracy in percent",
        "± gives the standard deviation over the test parts. The best result per data set, and all "
        "results within half a standard deviation of it, are bold.",
        _table(cells, _accuracies(cells, notes), (*BASELINES, *_names())),
        "### Processor seconds of the matrix",
        "Time of one Gram matrix of all graphs with the parameters of the registry; for "
        "embeddings, time of the features. Compilation is not included.",
        _table(cells, lambda d, n: _number(cells, notes, d, n, "matrix_seconds"), _names()),
        "### Memory in megabytes",
        "By how much the process grows while the matrix is computed, including the matrix.",
        _table(cells, lambda d, n: _number(cells, notes, d, n, "peak_bytes"), _names()),
    ]
    return "\n\n".join([*parts, *notes.lines(cells)]) + "\n"


def _finished(document: dict[str, Any]) -> Cells:
    """The cells that will not be computed again with a larger limit."""
    minutes = document.get("minutes", 0.0)
    return {
        dataset: {
            name: cell
            for name, cell in row.items()
            if "accuracy" in cell or cell.get("limit_minutes", minutes) >= minutes
        }
        for dataset, row in document["cells"].items()
    }


def _names() -> tuple[str, ...]:
    return tuple(row.name for row in registry.entries())


def _options(options: dict[str, dict[str, list[Any]]]) -> str:
    names = ", ".join(f"`{name}`" for name in options)
    return f"parameters of {names} are chosen too, other kernels use their defaults"


class _Notes:
    """Reasons for dashes, numbered in order of appearance."""

    def __init__(self) -> None:
        self.reasons: list[str] = []

    def dash(self, reason: str) -> str:
        if reason not in self.reasons:
            self.reasons.append(reason)
        return f"– {self.reasons.index(reason) + 1}"

    def lines(self, cells: Cells) -> list[str]:
        missing = sum(
            name not in cells.get(dataset, {})
            for dataset in DATASETS
            for name in (*BASELINES, *_names())
        )
        remarks = [f"– {i}: {reason}." for i, reason in enumerate(self.reasons, 1)]
        if missing:
            remarks.append(
                f"{MISSING}: not computed yet ({missing} cells); `python -m "
                "benchmarks.compare_kernels` continues where it stopped."
            )
        return ["  \n".join(remarks)] if remarks else []


def _table(cells: Cells, shown: Callable[[str, str], str], names: tuple[str, ...]) -> str:
    lines = ["| | " + " | ".join(DATASETS) + " |", "|---|" + "---:|" * len(DATASETS)]
    for name in names:
        values = " | ".join(
            shown(dataset, name) if name in cells.get(dataset, {}) else MISSING
            for dataset in DATASETS
        )
        lines.append(f"| `{name}` | {values} |")
    return "\n".join(lines)


def _accuracies(cells: Cells, notes: _Notes) -> Callable[[str, str], str]:
    """A function that formats a cell; accuracies close to the best of a data set are bold."""
    least = {}
    for dataset, row in cells.items():
        measured = [cell for cell in row.values() if "accuracy" in cell]
        if measured:
            best = max(measured, key=lambda cell: cell["accuracy"])
            least[dataset] = best["accuracy"] - best["std_folds"] / 2

    def shown(dataset: str, name: str) -> str:
        cell = cells[dataset][name]
        if "accuracy" not in cell:
            return notes.dash(cell["reason"])
        text = f"{100 * cell['accuracy']:.1f} ± {100 * cell['std_folds']:.0f}"
        return f"**{text}**" if cell["accuracy"] >= least[dataset] else text

    return shown


def _number(cells: Cells, notes: _Notes, dataset: str, name: str, key: str) -> str:
    cell = cells[dataset][name]
    if key not in cell:
        return notes.dash(cell["reason"])
    if key == "peak_bytes":
        return f"{max(1, round(cell[key] / 1e6))}"
    return "< 0.01" if cell[key] < 0.01 else f"{cell[key]:.2g}"


def write_comparison(folder: Path) -> None:
    """Write the tables to the folder from which the page includes them."""
    document = json.loads(RESULTS.read_text(encoding="utf-8"))
    (folder / "generated").mkdir(exist_ok=True)
    text = comparison_tables(document)
    (folder / "generated" / "kernel_comparison.md").write_text(text, encoding="utf-8")
