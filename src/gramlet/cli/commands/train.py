"""``gramlet train``: fit a machine on graphs, or a linear model on a feature store, and save it."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from gramlet.cli.errors import Failure, WrongUse
from gramlet.cli.inputs import read_input, refuse_numbers, target_of, with_place
from gramlet.cli.options import (
    Costs,
    InnerFolds,
    Input,
    Jobs,
    Kernel,
    Learning,
    Normalize,
    Params,
    Reading,
    Seed,
    output_option,
    parse_params,
)
from gramlet.cli.output import check_place, note
from gramlet.cli.training import Training, choose_and_fit, tell_unused


@dataclass(frozen=True)
class Linear:
    """How a linear model learns from a feature store."""

    linear: Annotated[
        bool,
        typer.Option(
            "--linear",
            help="INPUT is a folder that 'gramlet embed --hashed' wrote: learn a linear model "
            "from it, part by part.",
        ),
    ] = False
    epochs: Annotated[
        int | None,
        typer.Option(
            "--epochs",
            metavar="N",
            min=1,
            help="With --linear: number of passes over all parts. [default: 5, up to 50 for small "
            "stores]",
        ),
    ] = None
    held_out: Annotated[
        float | None,
        typer.Option(
            "--held-out",
            metavar="SHARE",
            min=0.0,
            max=0.4,
            help="With --linear: share of graphs that choose the penalty, and as many to test "
            "it. [default: 0.1]",
        ),
    ] = None

    def refuse_without(self) -> None:
        """Refuse the other options if --linear is not given."""
        for name, value in (("--epochs", self.epochs), ("--held-out", self.held_out)):
            if value is not None:
                raise WrongUse(f"{name} needs --linear.")


def is_store(source: str) -> bool:
    """Whether INPUT is a folder that `embed --hashed` created."""
    return (Path(source).expanduser() / "manifest.json").is_file()


def train_linear(
    source: str,
    output: Path,
    how: Linear,
    learning: Learning,
    seed: int,
    unused: Mapping[str, bool],
) -> None:
    """Learn from a store and save the model; ``unused``: other options, and whether given."""
    if not is_store(source):
        raise WrongUse(
            f"{source!r} is not a feature store. --linear learns from a folder: 'gramlet embed "
            f"{source} --hashed 20 -o STORE' writes one; --target and other options for reading "
            "are given there."
        )
    given = [option for option, there in unused.items() if there]
    given += ["--classifier"] * (learning.classifier is not None)
    given += ["--min-class-size"] * (learning.min_class_size is not None)
    if given:
        raise WrongUse(f"{given[0]} does not apply to a feature store; leave it out with --linear.")
    started = time.perf_counter()
    from gramlet.scale.feature_store import FeatureStore

    store = FeatureStore(Path(source).expanduser())
    try:
        model = _fitted(store, how, learning, seed)
    except ValueError as why:
        raise Failure(with_place(str(why), source)) from why
    from gramlet.persistence import save

    save(model, output)
    seconds = time.perf_counter() - started
    scaling = "rows of length 1" if model.normalize_ else "rows scaled by one number"
    print(
        f"linear {model.task_} trained on {model.n_graphs_} graphs in {seconds:.1f} s: "
        f"{model.n_epochs_} epochs, alpha={model.alpha_:g}, {scaling}"
    )
    print(_verdict(model))
    print(f"Saved in {output}")


def _fitted(store: Any, how: Linear, learning: Learning, seed: int) -> Any:
    from gramlet.scale.linear_model import HashedLinearModel
    from gramlet.scale.linear_training import summarize

    weights = None
    if learning.class_weight:
        weights = learning.weights(summarize(store, learning.task.value).classes)
    return HashedLinearModel(
        learning.task.value,
        n_epochs="auto" if how.epochs is None else how.epochs,
        held_out=0.1 if how.held_out is None else how.held_out,
        class_weight=weights,
        scoring=learning.scoring,
        random_state=seed,
    ).fit(store)


def _verdict(model: Any) -> str:
    if model.score_ is None:
        note("No graphs were held out for a test, or too few.")
        return "not tested"
    if model.scoring_ == "accuracy":
        told = f"{100 * model.score_:.1f} % right on {model.n_tested_} graphs held out"
        base = f"{100 * (model.baseline_ or 0):.1f} %"
    else:
        told = f"{model.scoring_} {model.score_:.3f} on {model.n_tested_} graphs held out"
        base = "" if model.baseline_ is None else f"{model.baseline_:.3f}"
    always = "the most frequent class" if model.task_ == "classification" else "the mean"
    return f"{told} (always predicting {always}: {base})" if base else told


def train(
    source: Input,
    output: Annotated[Path, output_option("File of the model.", metavar="MODEL")],
    reading: Reading,
    learning: Learning,
    linear: Linear,
    kernel: Kernel = "wl",
    param: Params = None,
    costs: Costs = None,
    inner_folds: InnerFolds = 5,
    normalize: Normalize = True,
    seed: Seed = 0,
    jobs: Jobs = -1,
) -> None:
    """Fit a machine with a kernel and save it: support vectors for classes, ridge for numbers.

    C, and those of the kernel's options that --param does not fix, are chosen by cross-validation.
    With --linear: a linear model of hashed features, from a folder of any size.
    """
    from gramlet.kernels import registry

    check_place(output, inputs={"INPUT": source})
    if linear.linear:
        unused = {
            "--kernel": kernel != "wl",
            "--param": bool(param),
            "--C": bool(costs),
            "--inner-folds": inner_folds != 5,
            "--no-normalize": not normalize,
        }
        train_linear(source, output, linear, learning, seed, {**unused, **reading.given()})
        return
    linear.refuse_without()
    if is_store(source):
        raise WrongUse(f"{source!r} is a folder of hashed features; --linear learns from it.")
    params = parse_params(param)
    row = registry.get(kernel)
    row.make(**params)._validate_params()
    how = Training(costs, inner_folds, normalize, seed, jobs, learning)
    how.protocol()  # a wrong C is refused before any work is done
    data = read_input(source, reading)
    target = target_of(data, source, learning)
    if row.tags.supervised:
        refuse_numbers(target, source, kernel)
    from gramlet.engine.core.compiling import announce_compilation

    announce_compilation()
    started = time.perf_counter()
    trained = choose_and_fit(row, params, how, data.graphs, target)
    from gramlet.persistence import save

    save(trained.model, output)
    seconds = time.perf_counter() - started
    tell_unused(kernel, row.make(**trained.options), data.graphs)
    chosen = {**trained.options, "C": f"{trained.C:g}"}
    shown = " ".join(f"{key}={value}" for key, value in chosen.items())
    print(f"{kernel} trained on {len(target.kept)} graphs in {seconds:.1f} s: {shown}")
    if trained.score is not None and (trained.chosen or trained.no_better):
        print(trained.verdict())
    print(f"Saved in {output}")
