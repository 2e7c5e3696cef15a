"""``gramlet predict``: predict classes or numbers of graphs with a saved model.

Tables of molecules are read, predicted and written block by block, so that they may be of any size.
"""

from __future__ import annotations

import contextlib
import csv
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from gramlet.cli.inputs import stream_input
from gramlet.cli.options import Input, Jobs, Model, Reading, output_option
from gramlet.cli.output import check_place, note_skipped
from gramlet.cli.terminal import Failure, WrongUse, note
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
        skips = reading.on_error == "skip"
        writer = PredictionWriter(output, with_lines=skips)
        for place in (writer.path, writer.skipped_path) if skips else (writer.path,):
            check_place(place, [".csv"], inputs={"MODEL": model, "INPUT": source})
    predictor = load_predictor(model, jobs)
    classes = getattr(predictor, "classes_", None)
    quality = _Quality(None if classes is None else frozenset(map(str, classes.tolist())))
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
                quality.add(predicted, data)
    if writer is not None:
        print(f"{writer.n_written} predictions in {output}")
        if writer.n_skipped:
            rows = counted(writer.n_skipped, "row")
            note(f"Left out: {rows}; {writer.skipped_path} lists them.")
    quality.tell()


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


def load_model(path: Path) -> Any:
    """The object that `gramlet.save` wrote to a file."""
    if path.is_dir():
        raise WrongUse(f"{str(path)!r} is a folder; name the file of a model.")
    if not path.is_file():
        raise WrongUse(f"there is no file {str(path)!r}.")
    from gramlet.persistence import load

    try:
        return load(path)
    except OSError as why:
        raise Failure(f"{str(path)!r} cannot be read: {why.strerror or why}.") from why
    except ValueError as why:
        raise Failure(str(why)) from why


def load_predictor(path: Path, jobs: int) -> Any:
    """A model that predicts, with its number of threads set."""
    predictor = load_model(path)
    if not hasattr(predictor, "predict"):
        raise WrongUse(
            f"{str(path)!r} contains a {type(predictor).__name__}, which does not predict. "
            "'gramlet train' writes models that do."
        )
    if predictor.get_params().get("kernel__n_jobs", 1) is None:
        predictor.set_params(kernel__n_jobs=jobs)
    return predictor


@dataclass
class _Quality:
    """How good predictions are, if the input's target is of the kind that the model predicts."""

    classes: frozenset[str] | None  # None: a regression
    truth: list[Any] = field(default_factory=list)
    predicted: list[Any] = field(default_factory=list)

    def add(self, predicted: Any, data: Dataset) -> None:
        import numpy as np

        truth = data.target
        if truth is None or truth.shape != predicted.shape:
            return
        if self.classes is not None:
            truth, predicted = truth.astype(str), predicted.astype(str)
        elif truth.dtype.kind not in "iuf" or not np.isfinite(truth).all():
            return
        self.truth.append(truth)
        self.predicted.append(predicted)

    def tell(self) -> None:
        import numpy as np
        from sklearn.metrics import r2_score, root_mean_squared_error

        if not self.truth:
            return
        truth, predicted = np.concatenate(self.truth), np.concatenate(self.predicted)
        if self.classes is None:
            error = root_mean_squared_error(truth, predicted)
            explained = f"R²: {r2_score(truth, predicted):.3f}, " if np.ptp(truth) > 0 else ""
            note(f"{explained}root mean square error: {error:.4g} ({len(truth)} graphs)")
        elif self.classes & set(truth.tolist()):
            right = int((truth == predicted).sum())
            share = 100 * right / len(truth)
            note(f"accuracy: {share:.1f} % ({right} of {len(truth)})")
