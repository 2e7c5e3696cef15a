"""``gramlet train STORE --linear``: a linear model from a feature store, in bounded memory."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from gramlet.cli.arguments.inputs import with_place
from gramlet.cli.arguments.option_groups import Learning
from gramlet.cli.errors import Failure, WrongUse
from gramlet.cli.results.output import note
from gramlet.cli.wording import with_options

__all__ = ["Linear", "is_store", "train_linear"]


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
    return (Path(source).expanduser() / "gramlet.journal").is_file()


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
    model = _fitted(source, how, learning, seed)
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


def _fitted(source: str, how: Linear, learning: Learning, seed: int) -> Any:
    from gramlet.scale.features.feature_store import FeatureStore
    from gramlet.scale.features.linear_model import HashedLinearModel
    from gramlet.scale.features.store_summary import summarize

    store = FeatureStore(Path(source).expanduser())
    try:
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
    except ValueError as why:
        kind = WrongUse if _options_do_not_fit(store, learning) else Failure
        raise kind(with_place(with_options(why), source)) from why


def _options_do_not_fit(store: Any, learning: Learning) -> bool:
    """Whether the targets of the store can be learned, but not with these options."""
    from gramlet.evaluation.scores.scorers import scorer_of
    from gramlet.scale.features.store_summary import summarize

    try:
        summarize(store)
    except ValueError:
        return False
    try:
        summary = summarize(store, learning.task.value)
        scorer_of(learning.scoring, summary.task, len(summary.classes))
    except ValueError:
        return True
    return bool(learning.class_weight) and summary.task == "regression"


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
