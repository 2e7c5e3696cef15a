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

import typer

from gramlet.cli.commands.train import set_threads
from gramlet.cli.inputs import stream_input
from gramlet.cli.options import Input, Jobs, Model, Reading, output_option
from gramlet.cli.output import check_place, names_of, note_skipped
from gramlet.cli.terminal import Failure, WrongUse, note
from gramlet.common.notices import counted

if TYPE_CHECKING:
    from gramlet.files.dataset import Dataset


# What is printed; files have all outputs of a model.
_PRINTED = ("prediction", "probability", "standard deviation", "nearest", "similarity", "inside")


def predict(
    model: Model,
    source: Input,
    reading: Reading,
    output: Annotated[
        Path | None, output_option("Write to a .csv file instead, with all outputs of the model.")
    ] = None,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print CSV instead of a table.")] = False,
    jobs: Jobs = -1,
) -> None:
    """Predict the classes or numbers of graphs: a table with one line per graph.

    Its columns are the identifier (of --id, or the position), the prediction, the probability of
    the predicted class or the standard deviation of the number, the nearest graph that the model
    was fitted on, the similarity to it, and whether that is usual among the fitted graphs. The file
    of --output also has decision values and the probabilities of all classes. If the input has
    classes or numbers of its own, the accuracy or the error is printed on standard error. Tables of
    molecules may be of any size. With --on-error skip, the file also has the line number of each
    graph, and NAME.skipped.csv lists the rows that were left out.
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
    printer = _Printer(as_csv)
    with contextlib.ExitStack() as stack:
        for number, data in enumerate(stream_input(source, reading)):
            if number == 0:
                announce_compilation()
                if writer is not None:
                    stack.enter_context(writer)
            answers = answers_of(predictor, data.graphs) if len(data.graphs) else {}
            if writer is not None:
                writer.add(data, answers)
            else:
                note_skipped(data, "; --output lists all")
                printer.add(data, answers)
            if answers:
                quality.add(answers["prediction"], data)
    if writer is not None:
        print(f"{writer.n_written} predictions in {output}")
        if writer.n_skipped:
            rows = counted(writer.n_skipped, "row")
            note(f"Left out: {rows}; {writer.skipped_path} lists them.")
    quality.tell()


class _Printer:
    """Predictions on standard output, block by block, as a table or as CSV."""

    def __init__(self, as_csv: bool) -> None:
        self._as_csv = as_csv
        self._n_printed = 0
        self._widths: list[int] = []  # those of the first block

    def add(self, data: Dataset, answers: dict[str, Any]) -> None:
        """Print the rows of a block, the headings above the first."""
        if not answers:
            return
        columns = {name: answers[name].tolist() for name in _PRINTED if name in answers}
        names = names_of(data)
        begin = self._n_printed
        if isinstance(names, range):
            names = range(begin, begin + len(names))
        self._n_printed += len(names)
        heading = ["id", *columns]
        if self._as_csv:
            rows = csv.writer(sys.stdout, lineterminator="\n")
            if not begin:
                rows.writerow(heading)
            rows.writerows(zip(names, *columns.values(), strict=True))
            return
        cells = [list(map(str, names)), *([_cell(v) for v in c] for c in columns.values())]
        if not begin:
            cells = [[name, *column] for name, column in zip(heading, cells, strict=True)]
            self._widths = [max(map(len, column)) for column in cells]
        # Identifiers are aligned left, as are all texts.
        left = [name == "id" or isinstance(columns[name][0], str) for name in heading]
        for line in zip(*cells, strict=True):
            shown = (
                f"{cell:<{width}}" if is_text else f"{cell:>{width}}"
                for cell, width, is_text in zip(line, self._widths, left, strict=True)
            )
            print("  ".join(shown).rstrip())


def _cell(value: Any) -> str:
    """A value in a table: yes or no, at most four digits of a number."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


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
    if hasattr(predictor, "applicability"):
        set_threads(predictor, jobs)
    elif predictor.get_params().get("kernel__n_jobs", 1) is None:
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
