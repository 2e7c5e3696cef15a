"""Predictions for files of any size: block by block, with ids and lines, in bounded memory.

Works with any model, which sees one block of graphs at a time.
"""

from __future__ import annotations

import contextlib
import csv
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from gramlet.common.arrays import Array
from gramlet.common.safe_writing import writing
from gramlet.files.dataset import Dataset
from gramlet.files.stream import stream


def predict_stream(
    model: Any, path: str | os.PathLike[str], batch_size: int = 10_000, **reader_options: Any
) -> Iterator[tuple[Dataset, Array]]:
    """Predict the graphs of a file, as `gramlet.stream` reads it.

    Parameters
    ----------
    model : estimator with ``predict``
        For example a `HashedLinearModel`, or a pipeline that `gramlet.load` returned.
    path : path
    batch_size : int, default 10,000
        Rows per block.
    **reader_options
        As for `gramlet.read`. With ``on_error="skip"`` each Dataset lists in ``skipped`` what was
        left out of its block; its ``ids`` and ``lines`` are those of the graphs that remain.

    Yields
    ------
    Dataset, array
        A block, and one prediction per graph of it.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import gramlet
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "alcohols.csv")
    ...     _ = file.write_text("id,smiles,y\\na,CO,1\\nb,CCO,1\\nc,CCC,0\\nd,CC,0\\n")
    ...     store = gramlet.FeatureStore.write(f"{folder}/store", file, batch_size=2)
    ...     model = gramlet.HashedLinearModel(held_out=0.0).fit(store)
    ...     for block, predicted in gramlet.predict_stream(model, file, batch_size=3):
    ...         print(block.ids, predicted.tolist())
    ['a', 'b', 'c'] [1, 1, 0]
    ['d'] [0]
    """
    for dataset in stream(Path(path), batch_size, **reader_options):
        if len(dataset.graphs):
            yield dataset, np.asarray(model.predict(dataset.graphs))


def answers_of(model: Any, graphs: Any) -> dict[str, Array]:
    """All outputs of a model for graphs: columns by their headings, "prediction" first.

    Decision values and probabilities of classes, standard deviations of Gaussian processes; of
    `GraphClassifier` and `GraphRegressor` also the most similar fitted graphs.
    """
    if hasattr(model, "_answers"):
        answers: dict[str, Array] = model._answers(graphs)
        return answers
    predicted = np.asarray(model.predict(graphs))
    columns = {"prediction": predicted}
    classes = [str(name) for name in getattr(model, "classes_", ())]
    for method, heading in (
        ("decision_function", "decision for"),
        ("predict_proba", "probability of"),
    ):
        if not classes or not hasattr(model, method) or not len(predicted):
            continue
        values = getattr(model, method)(graphs)
        values = values[:, None] if values.ndim == 1 else values
        # One column for two classes, or one per class; other shapes have no names.
        shown = classes[1:] if values.shape[1] == 1 and len(classes) == 2 else classes
        if values.shape[1] == len(shown):
            columns |= {f"{heading} {name}": values[:, i] for i, name in enumerate(shown)}
    if not classes and _is_gaussian_process(model) and len(predicted):
        columns["standard deviation"] = model.predict(graphs, return_std=True)[1]
    return columns


def _is_gaussian_process(model: Any) -> bool:
    from sklearn.gaussian_process import GaussianProcessRegressor

    last = model.steps[-1][1] if hasattr(model, "steps") else model
    return isinstance(last, GaussianProcessRegressor)


class PredictionWriter:
    """A .csv file of predictions, written block by block; it appears when it is complete.

    Parameters
    ----------
    path : path
    with_lines : bool
        Whether rows may be left out: a column "line" then contains the line of each graph, and a
        second file, ``NAME.skipped.csv``, lists the rows that were left out.

    Examples
    --------
    >>> import tempfile
    >>> from gramlet import Dataset, GraphBatch
    >>> block = Dataset(GraphBatch.from_edges([[(0, 1)]]), ids=["a"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with PredictionWriter(f"{folder}/p.csv") as writer:
    ...         writer.add(block, {"prediction": np.array([1])})
    ...     Path(folder, "p.csv").read_text()
    'graph,id,prediction\\n0,a,1\\n'
    """

    def __init__(self, path: str | os.PathLike[str], with_lines: bool = False) -> None:
        self.path = Path(path)
        self.skipped_path = self.path.with_name(f"{self.path.stem}.skipped.csv")
        self.n_written = self.n_skipped = 0
        self._with_lines = with_lines
        self._headings: list[str] = []
        self._files = contextlib.ExitStack()

    def __enter__(self) -> PredictionWriter:
        with contextlib.ExitStack() as files:
            self._rows = files.enter_context(writing_csv(self.path))
            if self._with_lines:
                self._skipped = files.enter_context(writing_csv(self.skipped_path))
                self._skipped.writerow(["place", "reason"])
            self._files = files.pop_all()
        return self

    def __exit__(self, *error: Any) -> None:
        self._files.__exit__(*error)

    def add(self, dataset: Dataset, answers: dict[str, Any]) -> None:
        """Write the rows of a block; ids and lines stay with their graphs."""
        skipped = dataset.skipped or ()
        self.n_skipped += len(skipped)
        if self._with_lines:
            self._skipped.writerows([each.place, each.reason] for each in skipped)
        n = len(dataset.graphs)
        if not n:
            return
        columns: dict[str, Sequence[Any]] = {"graph": range(self.n_written, self.n_written + n)}
        if self._with_lines and dataset.get("lines") is not None:
            columns["line"] = dataset.lines
        if dataset.ids is not None:
            columns["id"] = dataset.ids
        columns |= {name: np.asarray(values).tolist() for name, values in answers.items()}
        if not self._headings:
            self._headings = list(columns)
            self._rows.writerow(self._headings)
        elif self._headings != list(columns):
            raise ValueError(
                f"A block has the columns {list(columns)}; those before it have {self._headings}."
            )
        self._rows.writerows(zip(*columns.values(), strict=True))
        self.n_written += n


@contextlib.contextmanager
def writing_csv(path: Path) -> Iterator[Any]:
    """A csv writer to a file that appears when it is complete."""
    with writing(path) as place, place.open("w", newline="", encoding="utf-8") as file:
        yield csv.writer(file, lineterminator="\n")
