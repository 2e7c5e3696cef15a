"""``gramlet train`` and ``gramlet predict``: a classifier of graphs, kept in a file."""

from __future__ import annotations

import csv
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gramlet.cli.errors import Failure, WrongUse
from gramlet.cli.inputs import read_input, target_of
from gramlet.cli.matrices import working_estimator
from gramlet.cli.options import (
    DataDir,
    Input,
    Jobs,
    Kernel,
    LabelColumn,
    Params,
    Seed,
    SmilesColumn,
    parse_params,
)
from gramlet.cli.output import check_place, note
from gramlet.common.safe_writing import writing

if TYPE_CHECKING:
    from gramlet.files.dataset import Dataset
    from gramlet.kernels.registry import Entry

Cost = Annotated[
    float | None,
    typer.Option("--C", metavar="NUMBER", help="Penalty of the machine; chosen if not given."),
]


def train(
    source: Input,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="MODEL", help="File of the model.")
    ],
    kernel: Kernel = "wl",
    param: Params = None,
    cost: Cost = None,
    folds: Annotated[
        int, typer.Option(metavar="N", help="Folds that choose C and options.", min=2)
    ] = 5,
    normalize: Annotated[bool, typer.Option(help="Normalise the kernel to k(G, G) = 1.")] = True,
    data_dir: DataDir = None,
    smiles_column: SmilesColumn = None,
    label_column: LabelColumn = None,
    seed: Seed = 0,
    jobs: Jobs = -1,
) -> None:
    """Fit a support vector machine with a kernel and save it.

    C, and those of the kernel's options that --param does not fix, are chosen by cross-validation.
    """
    from gramlet.kernels import registry

    check_place(output)
    params = parse_params(param)
    row = registry.get(kernel)
    data = read_input(source, data_dir, smiles_column, label_column)
    target = target_of(data, source)
    from gramlet.engine.core.compiling import announce_compilation

    announce_compilation()
    started = time.perf_counter()
    row.make(**params)  # a wrong parameter is told before any work is done
    chosen, cost, told = _chosen(row, params, cost, folds, normalize, data, target, seed, jobs)
    model = _fitted(row, chosen, cost, data, target, jobs)
    from gramlet.persistence import save

    save(model, output)
    seconds = time.perf_counter() - started
    shown = " ".join(f"{key}={value}" for key, value in {**chosen, "C": f"{cost:g}"}.items())
    print(f"{kernel} trained on {len(data.graphs)} graphs in {seconds:.1f} s: {shown}")
    if told is not None:
        print(f"Chosen at {100 * told:.1f} % in cross-validation; 'gramlet evaluate' is impartial.")
    print(f"Saved in {output}")


def _chosen(
    row: Entry,
    params: dict[str, Any],
    cost: float | None,
    folds: int,
    normalize: bool,
    data: Dataset,
    target: Any,
    seed: int,
    jobs: int,
) -> tuple[dict[str, Any], float, float | None]:
    """The parameters to train with, C, and the accuracy they were chosen at (None: not chosen)."""
    from gramlet.evaluation import Protocol, choose

    has = row.make().get_params(deep=False)
    fixed = dict(params)
    for key, value in {"normalize": normalize, "random_state": seed}.items():
        if key in has and (key == "normalize" or has[key] is None):
            fixed.setdefault(key, value)
    open_options = {key: values for key, values in row.tunable.items() if key not in params}
    if cost is not None and not open_options:
        return fixed, cost, None
    protocol = Protocol(inner_folds=folds, random_state=seed)
    if cost is not None:
        protocol = Protocol(inner_folds=folds, random_state=seed, C=(cost,))
    # Fixed values go in whole, as a list of one: a value may itself be a list.
    options = {**{key: [value] for key, value in fixed.items()}, **open_options}
    choice = choose(
        row.name, data.graphs, target, protocol, options=options, n_jobs=jobs, verbose=True
    )
    found = protocol.C[0] if choice.C is None else choice.C
    return choice.options, found, choice.accuracy


def _fitted(
    row: Entry, params: dict[str, Any], cost: float, data: Dataset, target: Any, jobs: int
) -> Any:
    from sklearn.pipeline import Pipeline
    from sklearn.svm import SVC

    estimator = working_estimator(row, params, jobs)
    machine = SVC(kernel="precomputed" if row.kind == "kernel" else "linear", C=cost)
    model = Pipeline([("kernel", estimator), ("classifier", machine)])
    model.fit(data.graphs, target)
    # How it was computed here is no part of the model.
    quiet = {"n_jobs": None, "verbose": False}
    has = estimator.get_params(deep=False)
    estimator.set_params(**{k: v for k, v in quiet.items() if k in has and k not in params})
    return model


def predict(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="As 'gramlet train' wrote it.")],
    source: Input,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Write to a .csv file instead."),
    ] = None,
    data_dir: DataDir = None,
    smiles_column: SmilesColumn = None,
    label_column: LabelColumn = None,
    jobs: Jobs = -1,
) -> None:
    """Predict the classes of graphs: one line a graph.

    If the input has classes, the share of right answers is told on standard error.
    """
    if output is not None:
        check_place(output, [".csv"])
    if not model.is_file():
        raise WrongUse(f"there is no file {str(model)!r}.")
    data = read_input(source, data_dir, smiles_column, label_column)
    from gramlet.engine.core.compiling import announce_compilation

    announce_compilation()
    classifier = _load(model)
    _set_jobs(classifier, jobs)
    predicted = classifier.predict(data.graphs)
    if output is None:
        for value in predicted:
            print(value)
    else:
        _write(output, predicted.tolist())
        print(f"{len(predicted)} predictions in {output}")
    _tell_accuracy(classifier, predicted, data)


def _load(path: Path) -> Any:
    from gramlet.persistence import load

    try:
        classifier = load(path)
    except ValueError as why:
        raise Failure(str(why)) from why
    if not hasattr(classifier, "predict"):
        raise WrongUse(
            f"{str(path)!r} holds a {type(classifier).__name__}, which does not predict. "
            "'gramlet train' makes models that do."
        )
    return classifier


def _set_jobs(classifier: Any, jobs: int) -> None:
    has = classifier.get_params()
    if has.get("kernel__n_jobs", 1) is None:
        classifier.set_params(kernel__n_jobs=jobs)


def _write(path: Path, predicted: Sequence[Any]) -> None:
    with writing(path) as place, place.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["graph", "prediction"])
        rows.writerows(enumerate(predicted))


def _tell_accuracy(classifier: Any, predicted: Any, data: Dataset) -> None:
    """Only if the input's target is made of the classes that the model knows."""
    if data.target is None:
        return
    known = {str(name) for name in getattr(classifier, "classes_", ())}
    truth = [str(value) for value in data.target.tolist()]
    if not known & set(truth):
        return
    right = sum(str(p) == t for p, t in zip(predicted.tolist(), truth, strict=True))
    note(f"accuracy: {100 * right / len(truth):.1f} % ({right} of {len(truth)})")
