"""``gramlet predict``: predict classes or numbers of graphs with a saved model.

Tables of molecules are read, predicted and written block by block, so that they may be of any size.
"""

from __future__ import annotations

import contextlib
import csv
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from gramlet.cli.inputs import stream_input
from gramlet.cli.options import Input, Jobs, Model, OnError, Reading, output_option
from gramlet.cli.output import check_place, note, note_skipped
from gramlet.cli.training import load_classifier
from gramlet.common.notices import counted

if TYPE_CHECKING:
    from gramlet.files.dataset import Dataset


def predict(
    model: Model,
    source: Input,
    reading: Reading,
    output: Annotated[
        Path | None, output_option("Write to a .csv file instead, with all outputs of the model.")
    ] = None,
    jobs: Jobs = -1,
) -> None:
    """Predict the classes or numbers of graphs: one line per graph, with --id after its identifier.

    The file of --output has identifiers, predictions and, where the model has them, decision
    values, probabilities and standard deviations. If the input has classes or numbers of its own,
    the accuracy or the error is printed on standard error. Tables of molecules may be of any size.
    With --on-error skip, the file also has the line number of each graph, and NAME.skipped.csv
    lists the rows that were left out.
    """
    from gramlet.engine.core.compiling import announce_compilation
    from gramlet.scale.stream_prediction import PredictionWriter, answers_of

    writer = None
    if output is not None:
        skips = reading.on_error is OnError.skip
        writer = PredictionWriter(output, with_lines=skips)
        for place in (writer.path, writer.skipped_path) if skips else (writer.path,):
            check_place(place, [".csv"], inputs={"MODEL": model, "INPUT": source})
    predictor = load_classifier(model, jobs)
    tally = _Accuracy(predictor) if hasattr(predictor, "classes_") else _Errors()
    with contextlib.ExitStack() as stack:
        for number, data in enumerate(stream_input(source, reading)):
            if number == 0:
                announce_compilation()
                if writer is not None:
                    stack.enter_context(writer)
            if writer is not None:
                answers = answers_of(predictor, data.graphs) if len(data.graphs) else {}
                writer.add(data, answers)
                predicted = answers.get("prediction")
            else:
                predicted = _shown(predictor, data, reading.id is not None)
            if predicted is not None and len(predicted):
                tally.add(predicted, data)
    if writer is not None:
        print(f"{writer.n_written} predictions in {output}")
        if writer.n_skipped:
            rows = counted(writer.n_skipped, "row")
            note(f"Left out: {rows}; {writer.skipped_path} lists them.")
    tally.tell()


def _shown(predictor: Any, data: Dataset, with_ids: bool) -> Any:
    """Print predictions, after the ids if the file has them; list the rows that were left out."""
    note_skipped(data, "; --output lists all")
    if not len(data.graphs):
        return None
    predicted = predictor.predict(data.graphs)
    if with_ids and data.ids is not None:
        csv.writer(sys.stdout, lineterminator="\n").writerows(
            zip(data.ids, predicted.tolist(), strict=True)
        )
    else:
        for value in predicted.tolist():
            print(value)
    return predicted


class _Accuracy:
    """How many predictions are right, if the input's target consists of the model's classes."""

    def __init__(self, classifier: Any) -> None:
        self.known = {str(name) for name in classifier.classes_}
        self.right = self.total = 0
        self.met = False

    def add(self, predicted: Any, data: Dataset) -> None:
        if data.target is None or data.target.ndim != 1:
            return
        truth = [str(value) for value in data.target.tolist()]
        self.met = self.met or bool(self.known & set(truth))
        self.right += sum(str(p) == t for p, t in zip(predicted.tolist(), truth, strict=True))
        self.total += len(truth)

    def tell(self) -> None:
        if self.met:
            share = 100 * self.right / self.total
            note(f"accuracy: {share:.1f} % ({self.right} of {self.total})")


class _Errors:
    """Squared errors of predicted numbers, if the input's target consists of numbers too."""

    def __init__(self) -> None:
        self.n = 0
        self.errors = self.mean = self.spread = 0.0
        self.usable = True

    def add(self, predicted: Any, data: Dataset) -> None:
        import numpy as np

        truth = data.target
        if (
            truth is None
            or truth.dtype.kind not in "iuf"
            or truth.shape != predicted.shape
            or not np.isfinite(truth).all()
        ):
            self.usable = False
        if not self.usable:
            return
        self.errors += float(np.sum((predicted - truth) ** 2))
        # The variance of both sets together, from their variances and the distance of their means.
        n, shift = len(truth), float(np.mean(truth)) - self.mean
        self.spread += float(np.sum((truth - np.mean(truth)) ** 2))
        self.spread += shift**2 * self.n * n / (self.n + n)
        self.mean += shift * n / (self.n + n)
        self.n += n

    def tell(self) -> None:
        if not self.n or not self.usable:
            return
        told = f"root mean square error: {(self.errors / self.n) ** 0.5:.4g} ({self.n} graphs)"
        r2 = 1 - self.errors / self.spread if self.spread > 0 else None
        note(told if r2 is None else f"R²: {r2:.3f}, {told}")
