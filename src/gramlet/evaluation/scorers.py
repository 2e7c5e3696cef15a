"""Scores of stored predictions: scikit-learn's scorers by name.

A scorer needs predictions or decision values, not an estimator, so that it can be computed later.
This module also pools parts that are too small to be scored.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from gramlet.common.arrays import Array, Bools, Floats, Ints
from gramlet.evaluation.task import Target

Needs = Literal["predictions", "decisions", "deviations"]


@dataclass(frozen=True)
class Scorer:
    """A scorer by its scikit-learn name; larger is better.

    Attributes
    ----------
    name : str
    task : str
    function : str
        The function of ``sklearn.metrics``, or of this module if that is faster (`_OWN`).
    sign : int
        −1 for errors, which scikit-learn negates ("neg_").
    kwargs : dict
    needs : {"predictions", "decisions", "deviations"}
    binary : bool
        Whether it is for two classes only.
    needs_two : bool
        Whether a part of one class (or of one graph, for a regression) cannot be scored.
    above : float
        The number that all predictions must exceed.
    """

    name: str
    task: str
    function: str
    sign: int = 1
    kwargs: dict[str, Any] = field(default_factory=dict)
    needs: Needs = "predictions"
    binary: bool = False
    needs_two: bool = False
    above: float = -math.inf

    def __call__(
        self,
        truth: Array,
        predictions: Array,
        decisions: Floats | None = None,
        deviations: Floats | None = None,
    ) -> float:
        """The score of one part; classes as codes, the last code positive."""
        given = predictions if self.needs == "predictions" else decisions
        if self.needs == "deviations":
            if deviations is None:
                raise ValueError(
                    f"The scorer {self.name!r} needs standard deviations of the predictions: use "
                    "classifier='gp'."
                )
            given = np.stack([predictions, deviations])
        self._check_above(predictions)
        own = _OWN.get(self.name)
        value = self._sklearn(truth, given) if own is None else own(truth, given)
        if not np.isfinite(value):
            raise ValueError(
                f"The scorer {self.name!r} is not defined on a test part: it gave {value}. Choose "
                "another scorer, or fewer folds."
            )
        return float(value)

    def _check_above(self, predictions: Array) -> None:
        """Refuse predictions of which the score is not defined."""
        if math.isinf(self.above) or not (predictions <= self.above).any():
            return
        n_low = int(np.count_nonzero(predictions <= self.above))
        raise ValueError(
            f"The scorer {self.name!r} is not defined for predictions of {self.above:g} or less; "
            f"{n_low} of the {len(predictions)} predictions of a part are, the smallest "
            f"{predictions.min():.4g}. Choose another scorer, such as 'neg_mean_squared_error'."
        )

    def _sklearn(self, truth: Array, given: Any) -> float:
        import sklearn.metrics

        kwargs = dict(self.kwargs)
        if self.name == "top_k_accuracy":
            shape = np.shape(given)
            kwargs["labels"] = np.arange(shape[1] if len(shape) > 1 else 2)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a class without predictions scores 0, as intended
            return float(
                self.sign * getattr(sklearn.metrics, self.function)(truth, given, **kwargs)
            )

    def can_score(self, truth: Array) -> bool:
        """Whether a part with these true values is large enough."""
        if len(truth) < 2:
            return False
        if not self.needs_two or self.task == "regression":
            return True
        return bool((truth != truth[0]).any())


def _accuracy(truth: Ints, predictions: Ints) -> float:
    return float(np.mean(truth == predictions))


def _squared_error(truth: Floats, predictions: Floats) -> float:
    return float(np.mean((truth - predictions) ** 2))


def _r2(truth: Floats, predictions: Floats) -> float:
    """1 − residual / total sum of squares; for a constant target 1 if exact, else 0."""
    residual = float(((truth - predictions) ** 2).sum())
    total = float(((truth - truth.mean()) ** 2).sum())
    if total == 0.0:
        return 1.0 if residual == 0.0 else 0.0
    return 1.0 - residual / total


def _area(positive: Array, values: Floats) -> float:
    """Area under the ROC curve: the share of pairs in the right order, ties counting half."""
    from scipy.stats import rankdata

    n_positive = int(np.count_nonzero(positive))
    n_negative = len(positive) - n_positive
    below = rankdata(values)[positive].sum() - n_positive * (n_positive + 1) / 2
    return float(below / (n_positive * n_negative))


def _log_density(truth: Floats, normals: Floats) -> float:
    """The mean of ln p(y) for normal distributions with these means and standard deviations."""
    means, deviations = normals
    if not (deviations > 0).all():
        raise ValueError(
            "The scorer 'log_predictive_density' is not defined where a standard deviation is 0: "
            "the targets of a training part are all equal. Choose another scorer."
        )
    scaled = (truth - means) / deviations
    return float(np.mean(-0.5 * np.log(2.0 * np.pi) - np.log(deviations) - 0.5 * scaled**2))


def _coverage(truth: Floats, normals: Floats) -> float:
    """The share of targets within 1.96 standard deviations."""
    means, deviations = normals
    return float(np.mean(np.abs(truth - means) <= 1.96 * deviations))


def _roc_auc(truth: Ints, decisions: Floats) -> float:
    """The area for the last class; with more than two classes, the average of one against the rest.

    A class that none or all graphs of the part have is left out of the average.
    """
    if decisions.ndim == 1:
        return _area(truth == 1, decisions)
    present = [
        c for c in range(decisions.shape[1]) if 0 < np.count_nonzero(truth == c) < len(truth)
    ]
    return float(np.mean([_area(truth == c, decisions[:, c]) for c in present]))


def _likelihood_ratio(truth: Ints, predictions: Ints, which: int) -> float:
    """The likelihood ratio of a positive (0) or a negative (1) prediction."""
    from sklearn.metrics import class_likelihood_ratios

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return float(class_likelihood_ratios(truth, predictions)[which])


# Those that choose options most often, without scikit-learn's checks of every call, and those that
# scikit-learn has no function of its own for.
_OWN: dict[str, Callable[[Any, Any], float]] = {
    "accuracy": _accuracy,
    "roc_auc": _roc_auc,
    "positive_likelihood_ratio": lambda y, p: _likelihood_ratio(y, p, 0),
    "neg_negative_likelihood_ratio": lambda y, p: -_likelihood_ratio(y, p, 1),
    "log_predictive_density": _log_density,
    "coverage_95": _coverage,
    "r2": _r2,
    "neg_mean_squared_error": lambda y, p: -_squared_error(y, p),
    "neg_root_mean_squared_error": lambda y, p: -float(np.sqrt(_squared_error(y, p))),
    "neg_mean_absolute_error": lambda y, p: -float(np.mean(np.abs(y - p))),
}


def _rows() -> list[Scorer]:
    classes, numbers = "classification", "regression"
    rows = [
        Scorer("accuracy", classes, "accuracy_score"),
        Scorer("balanced_accuracy", classes, "balanced_accuracy_score"),
        Scorer("matthews_corrcoef", classes, "matthews_corrcoef"),
    ]
    rows += [
        Scorer(name, classes, "", binary=True, needs_two=True)
        for name in ("positive_likelihood_ratio", "neg_negative_likelihood_ratio")
    ]
    for name in ("f1", "precision", "recall", "jaccard"):
        rows.append(Scorer(name, classes, f"{name}_score", binary=True))
        for average in ("macro", "micro", "weighted"):
            kwargs = {"average": average}
            rows.append(Scorer(f"{name}_{average}", classes, f"{name}_score", kwargs=kwargs))
    rows += [
        Scorer(name, classes, f"{name}_score", needs="decisions", needs_two=two)
        for name, two in (("roc_auc", True), ("average_precision", True), ("top_k_accuracy", False))
    ]
    rows += [
        Scorer("r2", numbers, "r2_score", needs_two=True),
        Scorer("explained_variance", numbers, "explained_variance_score", needs_two=True),
        Scorer("d2_absolute_error_score", numbers, "d2_absolute_error_score", needs_two=True),
    ]
    for name in (
        "mean_absolute_error",
        "mean_squared_error",
        "root_mean_squared_error",
        "median_absolute_error",
        "max_error",
        "mean_absolute_percentage_error",
    ):
        rows.append(Scorer(f"neg_{name}", numbers, name, sign=-1))
    for name, above in (
        ("mean_squared_log_error", -1.0),
        ("root_mean_squared_log_error", -1.0),
        ("mean_poisson_deviance", 0.0),
        ("mean_gamma_deviance", 0.0),
    ):
        rows.append(Scorer(f"neg_{name}", numbers, name, sign=-1, above=above))
    for name in ("log_predictive_density", "coverage_95"):
        rows.append(Scorer(name, numbers, "", needs="deviations"))
    return rows


_BY_NAME = {row.name: row for row in _rows()}
_PROBABILITIES = (
    "neg_log_loss",
    "neg_brier_score",
    "roc_auc_ovr",
    "roc_auc_ovo",
    "roc_auc_ovr_weighted",
    "roc_auc_ovo_weighted",
    "d2_log_loss_score",
    "d2_brier_score",
)


def scorer_names(task: str, n_classes: int = 0) -> list[str]:
    """scikit-learn's scorers for a task and a number of classes.

    >>> scorer_names("regression")[:2]
    ['r2', 'explained_variance']
    """
    return [
        row.name
        for row in _BY_NAME.values()
        if row.task == task and row.needs != "deviations" and not (row.binary and n_classes > 2)
    ]


def scorer_of(name: str | None, task: str, n_classes: int = 0) -> Scorer:
    """The scorer of a name; by default "accuracy" for classes and "r2" for numbers.

    Raises
    ------
    ValueError
        If the name is unknown, for the other task, or needs probabilities; lists the allowed names.
    """
    if name is None:
        name = "accuracy" if task == "classification" else "r2"
    row = _BY_NAME.get(name) if isinstance(name, str) else None
    if row is not None and row.task == task and not (row.binary and n_classes > 2):
        return row
    if row is None and name in _PROBABILITIES:
        why = "needs probabilities, but the machines give decision values"
    elif row is None:
        why = "is not a scorer that can be computed from predictions"
    elif row.task != task:
        why = f"is for {row.task}, but this is a {task}"
    else:
        why = f"is for two classes, but there are {n_classes}"
    fitting = ", ".join(scorer_names(task, n_classes))
    raise ValueError(f"scoring: {name!r} {why}. Those that fit: {fitting}.")


_SHORT = {
    "r2": "R²",
    "roc_auc": "ROC AUC",
    "neg_root_mean_squared_error": "RMSE",
    "neg_mean_squared_error": "MSE",
    "neg_mean_absolute_error": "MAE",
}


def score_text(scoring: str) -> str:
    """A scorer's name in tables; errors have their plain name.

    >>> score_text("balanced_accuracy"), score_text("r2"), score_text("neg_max_error")
    ('balanced accuracy', 'R²', 'max error')
    """
    return _SHORT.get(scoring) or scoring.removeprefix("neg_").replace("_", " ")


def plain_score(value: float, scoring: str) -> float:
    """A score under that name: errors, which scikit-learn negates, are positive."""
    return 0.0 - value if scoring.startswith("neg_") else value


def percent_or_number(value: float, scoring: str) -> str:
    """A plain score, or a spread of scores, in tables.

    >>> percent_or_number(0.877, "accuracy"), percent_or_number(0.5, "r2")
    ('87.7 %', '0.500')
    >>> percent_or_number(0.00021, "neg_mean_squared_error")
    '0.00021'
    """
    if scoring == "accuracy":
        return f"{100 * value:.1f} %"
    extreme = scoring.startswith("neg_") and value != 0 and not 0.01 <= abs(value) < 1e5
    return f"{value:.3g}" if extreme else f"{value:.3f}"


RARE = 0.8  # the share of the largest class from which on accuracy says little


def default_scoring(target: Target) -> str | None:
    """ROC AUC if the largest class has 80 % of the graphs or more; None for the usual default."""
    rare = target.n_classes and target.members().max() >= RARE * len(target.values)
    return "roc_auc" if rare else None


def part_scores(
    scorer: Scorer,
    truth: Array,
    parts: Sequence[Ints],
    predictions: Array,
    decisions: Floats | None = None,
    deviations: Floats | None = None,
) -> Floats:
    """The score of each test part of one repeat.

    Parts of fewer than two graphs, or of one class if the scorer needs two, are pooled: each of
    them gets the score of all of them together, or of all parts of the repeat if these are still
    too few.
    """
    if scorer.needs == "decisions" and decisions is None:
        raise ValueError(
            f"The scorer {scorer.name!r} needs decision values, but this classifier has none."
        )

    def score(members: Ints) -> float:
        return scorer(
            truth[members],
            predictions[members],
            None if decisions is None else decisions[members],
            None if deviations is None else deviations[members],
        )

    pooled = pooled_parts(scorer, truth, parts)
    scores = np.zeros(len(parts))
    for k in np.flatnonzero(~pooled).tolist():
        scores[k] = score(parts[k])
    if pooled.any():
        pool = np.concatenate([parts[k] for k in np.flatnonzero(pooled).tolist()])
        if not scorer.can_score(truth[pool]):
            raise ValueError(
                f"The scorer {scorer.name!r} cannot be computed: the test parts of a repeat have "
                f"{len(pool)} graphs of {len(np.unique(truth[pool]))} distinct values together. "
                "Test more graphs, or choose another scorer."
            )
        scores[pooled] = score(pool)
    return scores


def pooled_parts(scorer: Scorer, truth: Array, parts: Sequence[Ints]) -> Bools:
    """Whether each test part of one repeat is scored together with others."""
    small = np.array([not scorer.can_score(truth[members]) for members in parts], dtype=bool)
    if small.any():
        pool = np.concatenate([parts[k] for k in np.flatnonzero(small).tolist()])
        if not scorer.can_score(truth[pool]):
            return np.ones(len(parts), dtype=bool)
    return small
