"""``gramlet predict``: the classes or numbers of graphs, by a model from a file."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from gramlet.cli.inputs import read_input
from gramlet.cli.models import is_gaussian_process, load_classifier
from gramlet.cli.option_groups import Reading
from gramlet.cli.options import Input, Jobs, Model, output_option
from gramlet.cli.output import check_place, note
from gramlet.common.safe_writing import writing

if TYPE_CHECKING:
    from gramlet.files.dataset import Dataset

__all__ = ["predict"]


def predict(
    model: Model,
    source: Input,
    reading: Reading,
    output: Annotated[
        Path | None, output_option("Write to a .csv file instead, with all the model tells.")
    ] = None,
    jobs: Jobs = -1,
) -> None:
    """Predict the classes or numbers of graphs: one line per graph.

    The file of --output has identifiers, predictions and, where the model has them, decision
    values, probabilities and standard deviations. If the input has classes or numbers of its own,
    how well they are met is told on standard error.
    """
    if output is not None:
        check_place(output, [".csv"])
    predictor = load_classifier(model, jobs)
    data = read_input(source, reading)
    from gramlet.engine.core.compiling import announce_compilation

    announce_compilation()
    predicted = predictor.predict(data.graphs)
    if output is not None:
        columns = _columns(predictor, data, predicted)
        _write(output, columns)
        print(f"{len(predicted)} predictions in {output}")
    if hasattr(predictor, "classes_"):
        _tell_accuracy(predictor, predicted, data)
    else:
        _tell_errors(predicted, data)
    if output is None:
        for value in predicted.tolist():
            print(value)


def _columns(predictor: Any, data: Dataset, predicted: Any) -> dict[str, Sequence[Any]]:
    """The columns of the file by their headings."""
    columns: dict[str, Sequence[Any]] = {"graph": range(len(predicted))}
    if data.ids is not None:
        columns["id"] = data.ids
    columns["prediction"] = predicted.tolist()
    classes = [str(name) for name in getattr(predictor, "classes_", ())]
    for method, heading in (
        ("decision_function", "decision for"),
        ("predict_proba", "probability of"),
    ):
        if not classes or not hasattr(predictor, method) or not len(predicted):
            continue
        values = getattr(predictor, method)(data.graphs)
        values = values[:, None] if values.ndim == 1 else values
        # One column for two classes, or one for each; with others there are no names.
        shown = classes[1:] if values.shape[1] == 1 and len(classes) == 2 else classes
        if values.shape[1] == len(shown):
            columns |= {f"{heading} {c}": values[:, i].tolist() for i, c in enumerate(shown)}
    if is_gaussian_process(predictor) and not classes and len(predicted):
        deviations = predictor.predict(data.graphs, return_std=True)[1]
        columns["standard deviation"] = deviations.tolist()
    return columns


def _write(path: Path, columns: dict[str, Sequence[Any]]) -> None:
    with writing(path) as place, place.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(columns)
        rows.writerows(zip(*columns.values(), strict=True))


def _tell_accuracy(classifier: Any, predicted: Any, data: Dataset) -> None:
    """Only if the input's target is made of the classes that the model knows."""
    if data.target is None or data.target.ndim != 1 or not len(predicted):
        return
    known = {str(name) for name in classifier.classes_}
    truth = [str(value) for value in data.target.tolist()]
    if not known & set(truth):
        return
    right = sum(str(p) == t for p, t in zip(predicted.tolist(), truth, strict=True))
    note(f"accuracy: {100 * right / len(truth):.1f} % ({right} of {len(truth)})")


def _tell_errors(predicted: Any, data: Dataset) -> None:
    """Of predicted numbers, if the input's target is made of numbers too."""
    import numpy as np

    truth = data.target
    if truth is None or truth.dtype.kind not in "iuf" or truth.shape != predicted.shape:
        return
    if not len(truth) or not np.isfinite(truth).all():
        return
    squared = float(np.mean((predicted - truth) ** 2))
    told = f"root mean square error: {squared**0.5:.4g} ({len(truth)} graphs)"
    spread = float(np.var(truth))
    note(f"R²: {1 - squared / spread:.3f}, {told}" if spread > 0 else told)
