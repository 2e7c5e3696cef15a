"""``gramlet predict``: the classes of graphs, by a model from a file."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from gramlet.cli.inputs import read_input
from gramlet.cli.models import load_classifier
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
    output: Annotated[Path | None, output_option("Write to a .csv file instead.")] = None,
    jobs: Jobs = -1,
) -> None:
    """Predict the classes of graphs: one line per graph.

    If the input has classes, the share of right answers is told on standard error.
    """
    if output is not None:
        check_place(output, [".csv"])
    classifier = load_classifier(model, jobs)
    data = read_input(source, reading)
    from gramlet.engine.core.compiling import announce_compilation

    announce_compilation()
    predicted = classifier.predict(data.graphs)
    if output is not None:
        _write(output, predicted.tolist())
        print(f"{len(predicted)} predictions in {output}")
    _tell_accuracy(classifier, predicted, data)
    if output is None:
        for value in predicted:
            print(value)


def _write(path: Path, predicted: Sequence[Any]) -> None:
    with writing(path) as place, place.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["graph", "prediction"])
        rows.writerows(enumerate(predicted))


def _tell_accuracy(classifier: Any, predicted: Any, data: Dataset) -> None:
    """Only if the input's target is made of the classes that the model knows."""
    if data.target is None or not len(predicted):
        return
    known = {str(name) for name in getattr(classifier, "classes_", ())}
    truth = [str(value) for value in data.target.tolist()]
    if not known & set(truth):
        return
    right = sum(str(p) == t for p, t in zip(predicted.tolist(), truth, strict=True))
    note(f"accuracy: {100 * right / len(truth):.1f} % ({right} of {len(truth)})")
