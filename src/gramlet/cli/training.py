"""Kernels and machines as commands use them: on threads, with a seed, with C chosen, or from files.

`train` and `explain` both get their machine from `choose_and_fit`.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gramlet.cli.errors import Failure, WrongUse
from gramlet.cli.options import Learning
from gramlet.cli.output import note

if TYPE_CHECKING:
    from gramlet.evaluation import Choice, Protocol
    from gramlet.evaluation.protocols.task import Target
    from gramlet.graphs.batch import GraphBatch
    from gramlet.kernels.registry import Entry


@dataclass(frozen=True)
class Training:
    """How a machine is chosen and fitted: the settings that `train` and `explain` share."""

    costs: Sequence[float] | None
    inner_folds: int
    normalize: bool
    seed: int
    jobs: int
    learning: Learning = field(default_factory=Learning)

    def protocol(self) -> Protocol:
        """The cross-validation that chooses C and the options."""
        from gramlet.evaluation import Protocol
        from gramlet.evaluation.protocols.protocol import DEFAULT_C

        costs = tuple(self.costs) if self.costs else DEFAULT_C
        return Protocol(inner_folds=self.inner_folds, random_state=self.seed, C=costs)

    @property
    def classifier(self) -> str | None:
        """The name of the machine; None for the default of the task."""
        return None if self.learning.classifier is None else self.learning.classifier.value


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
        of_classes = self.scoring == "accuracy"
        told = f"{self.scoring} {self.score:.3f} in cross-validation"
        if of_classes:
            told = f"{100 * self.score:.1f} % right in cross-validation"
        if self.no_better and of_classes:
            return (
                f"{told}: no better than always predicting the most frequent class, "
                f"{100 * (self.baseline or 0):.1f} %."
            )
        if self.no_better:
            return f"{told}: no better than always predicting the mean."
        if not self.chosen:
            return f"{told}."
        return f"{told}, which also chose it; 'gramlet evaluate' gives an unbiased score."


def seeded(row: Entry, params: dict[str, Any], seed: int) -> dict[str, Any]:
    """The parameters, plus the seed for kernels that draw random numbers."""
    return {"random_state": seed, **params} if "random_state" in _has(row) else params


def working_estimator(row: Entry, params: dict[str, Any], jobs: int) -> Any:
    """The row's estimator with these parameters and threads, showing its progress."""
    estimator = row.make(**params)
    has = estimator.get_params(deep=False)
    # Some kernels report progress as printed lines, which do not belong in a pipe.
    work = {"n_jobs": jobs, "verbose": sys.stderr.isatty()}
    return estimator.set_params(**{k: v for k, v in work.items() if k in has and k not in params})


def tell_unused(name: str, estimator: Any, graphs: GraphBatch) -> None:
    """Name, on standard error, the columns of the graphs that the kernel does not use."""
    from gramlet.evaluation.results.hints import column_hints

    for hint in column_hints(name, [estimator], graphs):
        if hint.kind == "unused-column":
            note(f"gramlet: warning: {hint.text}")


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
    fixed = seeded(row, dict(params), how.seed)
    if "normalize" in _has(row):
        fixed.setdefault("normalize", how.normalize)
    open_options = {k: v for k, v in row.tunable.items() if k not in params} if tune else {}
    kept = graphs if len(target.kept) == len(graphs) else graphs[target.kept]
    chosen = bool(open_options) or len(protocol.C) > 1
    weights = how.learning.weights(target.classes, target.shown_classes)
    plain = target.task == "classification" and how.classifier in (None, "svc")
    if plain and row.kind == "kernel" and not chosen and not score:
        from sklearn.svm import SVC

        cost = protocol.C[0]
        machine = SVC(kernel="precomputed", C=cost, class_weight=weights)
        model = _fitted(row, fixed, machine, kept, target, how.jobs)
        return Trained(model, fixed, cost, None, "accuracy", None, chosen)
    # Fixed values become lists of one, because a value may itself be a list.
    options = {**{key: [value] for key, value in fixed.items()}, **open_options}
    found = _choice(row, kept, target, protocol, options, weights, how)
    model = _fitted(row, found.options, found.machine, kept, target, how.jobs)
    return Trained(
        model,
        found.options,
        protocol.C[0] if found.C is None else found.C,
        found.score,
        found.scoring,
        _baseline(found.scoring, target, protocol),
        chosen,
    )


def _choice(
    row: Entry,
    graphs: GraphBatch,
    target: Target,
    protocol: Protocol,
    options: dict[str, Any],
    weights: Any,
    how: Training,
) -> Choice:
    from gramlet.evaluation import choose

    protocol.whole(target.values, target.shown_classes)  # `choose` does not know the names
    return choose(
        row.name,
        graphs,
        target.named,
        protocol,
        task=target.task,
        scoring=how.learning.scoring,
        classifier=how.classifier,
        class_weight=weights,
        options=options,
        n_jobs=how.jobs,
        verbose=True,
    )


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
    jobs: int,
) -> Any:
    from sklearn.pipeline import Pipeline

    estimator = working_estimator(row, params, jobs)
    last = "classifier" if target.task == "classification" else "regressor"
    model = Pipeline([("kernel", estimator), (last, machine)])
    model.fit(graphs, target.named)
    # Threads and verbosity of this run are not part of the model.
    quiet = {"n_jobs": None, "verbose": False}
    has = estimator.get_params(deep=False)
    estimator.set_params(**{k: v for k, v in quiet.items() if k in has and k not in params})
    return model


def _has(row: Entry) -> dict[str, Any]:
    params: dict[str, Any] = row.make().get_params()
    return params


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


def load_classifier(path: Path, jobs: int) -> Any:
    """A model that predicts, with its number of threads set."""
    classifier = load_model(path)
    if not hasattr(classifier, "predict"):
        raise WrongUse(
            f"{str(path)!r} contains a {type(classifier).__name__}, which does not predict. "
            "'gramlet train' writes models that do."
        )
    if classifier.get_params().get("kernel__n_jobs", 1) is None:
        classifier.set_params(kernel__n_jobs=jobs)
    return classifier
