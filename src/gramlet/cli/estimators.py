"""Kernels and classifiers as commands use them: on threads, with a seed, and with C chosen.

`choose_and_fit` is the one way in which `train` and `explain` come to a machine.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gramlet.evaluation import Protocol
    from gramlet.kernels.registry import Entry

__all__ = ["Training", "choose_and_fit", "seeded", "working_estimator"]


@dataclass(frozen=True)
class Training:
    """How a machine is chosen and fitted: what `train` and `explain` have in common."""

    costs: Sequence[float] | None
    inner_folds: int
    normalize: bool
    seed: int
    jobs: int

    def protocol(self) -> Protocol:
        """The cross-validation that chooses."""
        from gramlet.evaluation import Protocol
        from gramlet.evaluation.protocol import DEFAULT_C

        costs = tuple(self.costs) if self.costs else DEFAULT_C
        return Protocol(inner_folds=self.inner_folds, random_state=self.seed, C=costs)


@dataclass(frozen=True)
class Trained:
    """A fitted classifier and how it came about.

    ``accuracy``: of the cross-validation, None if there was none; ``chosen``: whether it chose C or
    options; ``majority``: the share of the most frequent class.
    """

    model: Any
    options: dict[str, Any]
    C: float
    accuracy: float | None
    majority: float
    chosen: bool

    @property
    def no_better(self) -> bool:
        """Whether always saying the most frequent class is as good."""
        return self.accuracy is not None and self.accuracy <= self.majority

    def verdict(self) -> str:
        """A line on how good it is, as far as cross-validation on the same graphs can say."""
        if self.accuracy is None:
            return ""
        told = f"{100 * self.accuracy:.1f} % right in cross-validation"
        if self.no_better:
            return (
                f"{told}: no better than always saying the most frequent class, "
                f"{100 * self.majority:.1f} %."
            )
        if not self.chosen:
            return f"{told}."
        return f"{told}, which chose it; 'gramlet evaluate' is impartial."


def seeded(row: Entry, params: dict[str, Any], seed: int) -> dict[str, Any]:
    """The parameters, with the seed for kernels that draw random numbers."""
    return {"random_state": seed, **params} if "random_state" in _has(row) else params


def working_estimator(row: Entry, params: dict[str, Any], jobs: int) -> Any:
    """The row's estimator with these parameters, on so many threads, showing its progress."""
    estimator = row.make(**params)
    has = estimator.get_params(deep=False)
    # Some kernels tell their progress in lines, which would be in the way in a pipe.
    work = {"n_jobs": jobs, "verbose": sys.stderr.isatty()}
    return estimator.set_params(**{k: v for k, v in work.items() if k in has and k not in params})


def choose_and_fit(
    row: Entry,
    params: dict[str, Any],
    how: Training,
    graphs: Any,
    target: Any,
    *,
    tune: bool = True,
    score: bool = False,
) -> Trained:
    """Choose C and options by cross-validation, and fit a machine with them on all graphs.

    Parameters
    ----------
    row : Entry
        Of the kernel or embedding.
    params : dict
        Parameters that are given; the others are chosen from what the registry lists.
    how : Training
    graphs, target : the data
    tune : bool
        Whether options are chosen, or C alone.
    score : bool
        Cross-validate also if there is nothing to choose, to know the accuracy.
    """
    import numpy as np

    from gramlet.evaluation import choose

    protocol = how.protocol()
    fixed = seeded(row, dict(params), how.seed)
    if "normalize" in _has(row):
        fixed.setdefault("normalize", how.normalize)
    open_options = {k: v for k, v in row.tunable.items() if k not in params} if tune else {}
    accuracy, cost = None, protocol.C[0]
    chosen = bool(open_options) or len(protocol.C) > 1
    if chosen or score:
        # Fixed values go in whole, as a list of one: a value may itself be a list.
        options = {**{key: [value] for key, value in fixed.items()}, **open_options}
        found = choose(
            row.name, graphs, target, protocol, options=options, n_jobs=how.jobs, verbose=True
        )
        fixed, accuracy = found.options, found.accuracy
        cost = protocol.C[0] if found.C is None else found.C
    counts = np.unique(target, return_counts=True)[1]
    model = _fitted(row, fixed, cost, graphs, target, how.jobs)
    return Trained(model, fixed, cost, accuracy, float(counts.max() / counts.sum()), chosen)


def _fitted(
    row: Entry, params: dict[str, Any], cost: float, graphs: Any, target: Any, jobs: int
) -> Any:
    from sklearn.pipeline import Pipeline
    from sklearn.svm import SVC

    estimator = working_estimator(row, params, jobs)
    machine = SVC(kernel="precomputed" if row.kind == "kernel" else "linear", C=cost)
    model = Pipeline([("kernel", estimator), ("classifier", machine)])
    model.fit(graphs, target)
    # How it was computed here is no part of the model.
    quiet = {"n_jobs": None, "verbose": False}
    has = estimator.get_params(deep=False)
    estimator.set_params(**{k: v for k, v in quiet.items() if k in has and k not in params})
    return model


def _has(row: Entry) -> dict[str, Any]:
    params: dict[str, Any] = row.make().get_params()
    return params
