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
    normalisation,
    output_option,
    parse_params,
    warn_of_unused,
)
from gramlet.cli.output import check_place
from gramlet.cli.terminal import Failure, WrongUse, note

if TYPE_CHECKING:
    from gramlet.evaluation.task import Target
    from gramlet.graphs.batch import GraphBatch
    from gramlet.models.estimators import GraphClassifier, GraphRegressor


@dataclass(frozen=True)
class Training(Learning, KernelChoice):
    """How a machine is chosen and fitted: the options that `train` and `explain` share."""

    kernel: Annotated[
        str,
        typer.Option(
            "--kernel",
            "-k",
            metavar="NAME",
            help="A name from 'gramlet kernels', an expression such as 'wl + 0.5 * sp', or 'auto', "
            "which chooses among kernels that suit the data.",
        ),
    ] = "auto"
    costs: Costs = None
    inner_folds: InnerFolds = 5
    normalize: Normalize = None

    def options(self, tune: bool = True) -> dict[str, Any] | None:
        """The values to choose from by parameter; wrong ones are refused before any work is done.

        Those of the registry and, if given, --param and --normalize; without ``tune`` the latter.
        """
        from gramlet.evaluation import Protocol

        Protocol(C=tuple(self.costs or (1.0,)))  # refuses a wrong C
        # Values become lists of one, because a value may itself be a list.
        given = {key: [value] for key, value in parse_params(self.param).items()}
        if self.normalize is not None:
            given.setdefault("normalize", [normalisation(self.normalize)])
        if self.kernel == "auto":
            return given or None
        entry = self.entry
        if "random_state" in self.params(normalisation(self.normalize)):
            given.setdefault("random_state", [self.seed])
        tunable = entry.tunable if tune else {}
        return {**{key: list(v) for key, v in tunable.items() if key not in given}, **given}


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
    """Fit a classifier or a regressor and save it: support vectors, or a Gaussian process.

    The kernel (unless --kernel names one), those of its options that --param does not fix, and C
    are chosen by cross-validation; those of a Gaussian process by its likelihood.
    With --linear: a linear model of hashed features, from a folder of any size.
    """
    check_place(output, inputs={"INPUT": source})
    if linear.linear:
        unused = {
            "--kernel": training.kernel != "auto",
            "--param": bool(training.param),
            "--C": bool(training.costs),
            "--inner-folds": training.inner_folds != 5,
            "--normalize": training.normalize is not None,
            "--classifier": training.classifier is not None,
            "--min-class-size": training.min_class_size is not None,
        }
        train_linear(source, output, linear, training, {**unused, **reading.given()})
        return
    linear.refuse_without()
    if is_store(source):
        raise WrongUse(f"{source!r} is a folder of hashed features; --linear learns from it.")
    options = training.options()
    data = read_input(source, reading)
    target = target_of(data, source, training)
    if training.kernel != "auto" and training.entry.tags.supervised:
        refuse_numbers(target, source, training.kernel)
    started = time.perf_counter()
    model = fit_estimator(training.kernel, options, training, data.graphs, target)
    if data.ids is not None:
        model.ids_ = [str(data.ids[i]) for i in target.kept]
    from gramlet.persistence import save

    save(model, output)
    seconds = time.perf_counter() - started
    for name, reason in model.cv_results_["refused"].items():
        note(f"gramlet: warning: {name} is left out: {reason}")
    warn_of_unused(model.best_params_["kernel"], model.kernel_, data.graphs)
    print(f"{describe(model)}, trained on {len(target.kept)} graphs in {seconds:.1f} s")
    print(f"{verdict(model, target, training.scoring)[0]}.")


def machine_for(how: Learning, target: Target) -> str:
    """The machine for a target; raise for options that do not fit it."""
    from gramlet.evaluation.candidates import MANY_GRAPHS

    regression = target.task == "regression"
    machines = ("gp", "ridge", "svr") if regression else ("svc", "ridge")
    few = len(target.kept) <= MANY_GRAPHS
    machine = how.classifier or ("gp" if regression and few else "ridge" if regression else "svc")
    if machine not in machines:
        raise WrongUse(
            f"--classifier must be one of {', '.join(machines)} for {target.task}; got {machine!r}."
        )
    return machine


def fit_estimator(
    kernel: str,
    options: dict[str, Any] | None,
    how: Training,
    graphs: GraphBatch,
    target: Target,
) -> GraphClassifier | GraphRegressor:
    """The classifier or regressor with these options, fitted on the graphs that are used."""
    from gramlet.engine.core.compiling import announce_compilation
    from gramlet.models.estimators import GraphClassifier, GraphRegressor

    machine = machine_for(how, target)
    for name, value in (("--C", how.costs), ("--scoring", how.scoring)):
        if value and machine == "gp":
            raise WrongUse(
                f"{name} does not apply to a Gaussian process, whose noise and options maximise "
                "the likelihood. Leave it out, or give --classifier ridge."
            )
    if target.n_classes and target.members().min() < 2:
        name = target.shown_classes[int(target.members().argmin())].item()
        raise WrongUse(
            f"Class {name!r} has 1 graph, but cross-validation needs 2 of each class; "
            "--min-class-size 2 leaves it out."
        )
    weights = how.weights(target.classes, target.shown_classes)
    if weights is not None and target.task == "regression":
        raise WrongUse("--class-weight is for classes, but the target consists of numbers.")
    announce_compilation()
    settings: dict[str, Any] = {
        "options": options,
        "C": how.costs,
        "cv": how.inner_folds,
        "scoring": how.scoring,
        "random_state": how.seed,
        "n_jobs": how.jobs,
        "verbose": True,
    }
    model: GraphClassifier | GraphRegressor
    if target.task == "classification":
        model = GraphClassifier(kernel, classifier=machine, class_weight=weights, **settings)
    else:
        model = GraphRegressor(kernel, regressor=how.classifier, **settings)
    used = graphs if len(target.kept) == len(graphs) else graphs[target.kept]
    model.fit(used, target.named)
    # Threads and verbosity of this run are not part of the model.
    model.set_params(n_jobs=None, verbose=False)
    set_threads(model, None)
    return model


def set_threads(model: Any, jobs: int | None) -> None:
    """The number of threads of a classifier or regressor and its fitted kernel."""
    model.set_params(n_jobs=jobs)
    if "n_jobs" in model.kernel_.get_params(deep=False):
        model.kernel_.set_params(n_jobs=jobs)


def describe(model: GraphClassifier | GraphRegressor) -> str:
    """The kernel, its options, the machine, and C or the noise s."""
    chosen = dict(model.best_params_)
    kernel = chosen.pop("kernel")
    numbers = {key: chosen.pop(key) for key in ("C", "s") if key in chosen}
    if getattr(model.kernel_, "normalize", False) and "normalize" not in chosen:
        chosen["normalize"] = model.kernel_.normalize
    if chosen.get("normalize") is False:
        chosen["normalize"] = "none"
    shown = "".join(f" {key}={value}" for key, value in chosen.items())
    machine = {"svc": "support vectors", "svr": "support vectors", "gp": "Gaussian process"}
    kind = model.machine_.kind
    penalty = "".join(f" {key}={value:.4g}" for key, value in numbers.items())
    return f"{kernel}{shown}, {machine.get(kind, kind)} ({kind}){penalty}"


def verdict(
    model: GraphClassifier | GraphRegressor, target: Target, scoring: str | None
) -> tuple[str, bool]:
    """The score of the choice in words, and whether a constant prediction is as good."""
    from gramlet.evaluation.scorers import (
        default_scoring,
        percent_or_number,
        plain_score,
        score_text,
    )

    score = model.best_score_
    if model.machine_.kind == "gp":
        return (
            f"logarithmic marginal likelihood {score:.1f}; 'gramlet evaluate' gives errors",
            False,
        )
    regression = target.task == "regression"
    scoring = scoring or default_scoring(target) or ("r2" if regression else "accuracy")
    shown = f"{score_text(scoring)} {percent_or_number(plain_score(score, scoring), scoring)}"
    baselines = {"roc_auc": 0.5, "r2": 0.0}
    constant = "the mean" if regression else "the most frequent class"
    if scoring == "accuracy":
        baselines[scoring] = float(target.members().max() / len(target.values))
        constant += f", {100 * baselines[scoring]:.1f} %"
    if score <= baselines.get(scoring, -float("inf")) + 1e-12:
        text = f"{shown} in cross-validation: no better than always predicting {constant}"
        return text, True
    also = ", which also chose it; 'gramlet evaluate' gives an unbiased score"
    by_ridge = model.machine_.kind == "ridge" and not model.C
    chosen = by_ridge or len(model.cv_results_["params"]) > 1
    return f"{shown} in cross-validation{also if chosen else ''}", False


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
