"""``gramlet train``: fit a machine on graphs, or a linear model on a feature store, and save it."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gramlet.cli.inputs import read_input, refuse_numbers, target_of, with_place
from gramlet.cli.options import (
    Costs,
    InnerFolds,
    Input,
    KernelChoice,
    Learning,
    Normalize,
    Reading,
    output_option,
    parse_params,
)
from gramlet.cli.output import check_place
from gramlet.cli.terminal import Failure, WrongUse, note

if TYPE_CHECKING:
    from gramlet.evaluation import Protocol
    from gramlet.evaluation.task import Target
    from gramlet.graphs.batch import GraphBatch
    from gramlet.kernels.registry import Entry


@dataclass(frozen=True)
class Training(Learning, KernelChoice):
    """How a machine is chosen and fitted: the options that `train` and `explain` share."""

    costs: Costs = None
    inner_folds: InnerFolds = 5
    normalize: Normalize = True

    def protocol(self) -> Protocol:
        """The cross-validation that chooses C and the options."""
        from gramlet.evaluation import Protocol
        from gramlet.evaluation.protocol import DEFAULT_C

        costs = tuple(self.costs) if self.costs else DEFAULT_C
        return Protocol(inner_folds=self.inner_folds, random_state=self.seed, C=costs)


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


def train(
    source: Input,
    output: Annotated[Path, output_option("File of the model.", metavar="MODEL")],
    reading: Reading,
    training: Training,
    linear: Linear,
) -> None:
    """Fit a machine with a kernel and save it: support vectors for classes, ridge for numbers.

    C, and those of the kernel's options that --param does not fix, are chosen by cross-validation.
    With --linear: a linear model of hashed features, from a folder of any size.
    """
    check_place(output, inputs={"INPUT": source})
    if linear.linear:
        unused = {
            "--kernel": training.kernel != "wl",
            "--param": bool(training.param),
            "--C": bool(training.costs),
            "--inner-folds": training.inner_folds != 5,
            "--no-normalize": not training.normalize,
            "--classifier": training.classifier is not None,
            "--min-class-size": training.min_class_size is not None,
        }
        train_linear(source, output, linear, training, {**unused, **reading.given()})
        return
    linear.refuse_without()
    if is_store(source):
        raise WrongUse(f"{source!r} is a folder of hashed features; --linear learns from it.")
    training.params()
    training.protocol()  # a wrong C is refused before any work is done
    data = read_input(source, reading)
    target = target_of(data, source, training)
    if training.entry.tags.supervised:
        refuse_numbers(target, source, training.kernel)
    started = time.perf_counter()
    trained = choose_and_fit(
        training.entry, parse_params(training.param), training, data.graphs, target
    )
    from gramlet.persistence import save

    save(trained.model, output)
    seconds = time.perf_counter() - started
    training.warn_of_unused(training.entry.make(**trained.options), data.graphs)
    chosen = {**trained.options, "C": f"{trained.C:g}"}
    shown = " ".join(f"{key}={value}" for key, value in chosen.items())
    print(f"{training.kernel} trained on {len(target.kept)} graphs in {seconds:.1f} s: {shown}")
    if trained.score is not None and (trained.chosen or trained.no_better):
        print(trained.verdict())
    print(f"Saved in {output}")


@dataclass(frozen=True)
class Trained:
    """A fitted model and how it was chosen.

    ``score``: the score in cross-validation, None if there was none; ``chosen``: whether
    cross-validation chose C or options; ``baseline``: the score of predicting the most frequent
    class, or the mean, where it is known.
    """

    model: Any
    options: dict[str, Any]
    C: float
    score: float | None
    scoring: str
    baseline: float | None
    chosen: bool

    @property
    def no_better(self) -> bool:
        """Whether a constant prediction is as good."""
        if self.score is None or self.baseline is None:
            return False
        return self.score <= self.baseline + 1e-12

    def verdict(self) -> str:
        """One line with the score in cross-validation on the same graphs."""
        if self.score is None:
            return ""
        score, constant = f"{self.scoring} {self.score:.3f}", "the mean"
        if self.scoring == "accuracy":
            score = f"{100 * self.score:.1f} % right"
            constant = f"the most frequent class, {100 * (self.baseline or 0):.1f} %"
        if self.no_better:
            return f"{score} in cross-validation: no better than always predicting {constant}."
        also = ", which also chose it; 'gramlet evaluate' gives an unbiased score"
        return f"{score} in cross-validation{also if self.chosen else ''}."


def choose_and_fit(
    row: Entry,
    params: dict[str, Any],
    how: Training,
    graphs: GraphBatch,
    target: Target,
    *,
    tune: bool = True,
    score: bool = False,
) -> Trained:
    """Choose C and options by cross-validation, and fit a machine with them on all graphs.

    Parameters
    ----------
    row : Entry
        The registry's entry of the kernel or embedding.
    params : dict
        Fixed parameters; the others are chosen from the values that the registry lists.
    how : Training
    graphs : GraphBatch
        All graphs; those of classes that are left out are not used.
    target : Target
    tune : bool
        Whether options are chosen, or C alone.
    score : bool
        Cross-validate even if there is nothing to choose, to report the score.
    """
    protocol = how.protocol()
    has = row.make().get_params()
    fixed = {"random_state": how.seed, "normalize": how.normalize}
    fixed = {key: value for key, value in fixed.items() if key in has} | params
    open_options = {k: v for k, v in row.tunable.items() if k not in params} if tune else {}
    used = graphs if len(target.kept) == len(graphs) else graphs[target.kept]
    chosen = bool(open_options) or len(protocol.C) > 1
    weights = how.weights(target.classes, target.shown_classes)
    plain = target.task == "classification" and how.classifier in (None, "svc")
    if plain and row.kind == "kernel" and not chosen and not score:
        from sklearn.svm import SVC

        cost = protocol.C[0]
        machine = SVC(kernel="precomputed", C=cost, class_weight=weights)
        model = _fitted(row, fixed, machine, used, target, how)
        return Trained(model, fixed, cost, None, "accuracy", None, chosen)
    from gramlet.evaluation import choose

    protocol.whole(target.values, target.shown_classes)  # `choose` does not know the names
    choice = choose(
        row.name,
        used,
        target.named,
        protocol,
        task=target.task,
        scoring=how.scoring,
        classifier=how.classifier,
        class_weight=weights,
        # Fixed values become lists of one, because a value may itself be a list.
        options={**{key: [value] for key, value in fixed.items()}, **open_options},
        n_jobs=how.jobs,
        verbose=True,
    )
    model = _fitted(row, choice.options, choice.machine, used, target, how)
    cost = protocol.C[0] if choice.C is None else choice.C
    baseline = _baseline(choice.scoring, target, protocol)
    return Trained(model, choice.options, cost, choice.score, choice.scoring, baseline, chosen)


def _baseline(scoring: str, target: Target, protocol: Protocol) -> float | None:
    """The score of a constant prediction on the folds that chose, where it is known."""
    if scoring == "accuracy":
        import numpy as np

        hits = target.values == np.argmax(target.members())
        folds = protocol.whole(target.values, target.shown_classes).inner
        return max(float(hits.mean()), float(np.mean([hits[test].mean() for _, test in folds])))
    return 0.0 if scoring == "r2" else None


def _fitted(
    row: Entry,
    params: dict[str, Any],
    machine: Any,
    graphs: GraphBatch,
    target: Target,
    how: Training,
) -> Any:
    from sklearn.pipeline import Pipeline

    estimator = how.estimator(params, row)
    last = "classifier" if target.task == "classification" else "regressor"
    model = Pipeline([("kernel", estimator), (last, machine)])
    model.fit(graphs, target.named)
    # Threads and verbosity of this run are not part of the model.
    quiet = {"n_jobs": None, "verbose": False}
    has = estimator.get_params(deep=False)
    estimator.set_params(**{k: v for k, v in quiet.items() if k in has and k not in params})
    return model


def is_store(source: str) -> bool:
    """Whether INPUT is a folder that `embed --hashed` created."""
    return (Path(source).expanduser() / "manifest.json").is_file()


def train_linear(
    source: str,
    output: Path,
    how: Linear,
    training: Training,
    unused: Mapping[str, bool],
) -> None:
    """Learn from a store and save the model; ``unused``: other options, and whether given."""
    if not is_store(source):
        raise WrongUse(
            f"{source!r} is not a feature store. --linear learns from a folder: 'gramlet embed "
            f"{source} --hashed 20 -o STORE' writes one; --target and other options for reading "
            "are given there."
        )
    given = [option for option, is_given in unused.items() if is_given]
    if given:
        raise WrongUse(f"{given[0]} does not apply to a feature store; leave it out with --linear.")
    started = time.perf_counter()
    from gramlet.scale.feature_store import FeatureStore

    store = FeatureStore(Path(source).expanduser())
    try:
        model = _fitted_linear(store, how, training)
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
    print(_linear_verdict(model))
    print(f"Saved in {output}")


def _fitted_linear(store: Any, how: Linear, training: Training) -> Any:
    from gramlet.scale.linear_model import HashedLinearModel
    from gramlet.scale.linear_training import summarize

    weights = None
    if training.class_weight:
        weights = training.weights(summarize(store, training.task).target.classes)
    return HashedLinearModel(
        training.task,
        n_epochs="auto" if how.epochs is None else how.epochs,
        held_out=0.1 if how.held_out is None else how.held_out,
        class_weight=weights,
        scoring=training.scoring,
        random_state=training.seed,
    ).fit(store)


def _linear_verdict(model: Any) -> str:
    if model.score_ is None:
        note("No graphs were held out for a test, or too few.")
        return "not tested"
    percent = model.scoring_ == "accuracy"
    score = (
        f"{100 * model.score_:.1f} % right" if percent else f"{model.scoring_} {model.score_:.3f}"
    )
    score = f"{score} on {model.n_tested_} graphs held out"
    if model.baseline_ is None:
        return score
    constant = "the most frequent class" if model.task_ == "classification" else "the mean"
    baseline = f"{100 * model.baseline_:.1f} %" if percent else f"{model.baseline_:.3f}"
    return f"{score} (always predicting {constant}: {baseline})"
