"""Baselines that need no kernel: the most frequent class, the mean, and the size of the graphs.

A kernel that is not better than these has learned nothing about structure. Histograms, the other
baselines, are kernels of the registry.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import Any

import numpy as np

from gramlet.common.arrays import Array, Floats, Ints
from gramlet.evaluation.machines import Prediction, by_largest, with_absent
from gramlet.evaluation.task import Target
from gramlet.graphs.batch import GraphBatch

BASELINES = {"classification": ("majority", "size"), "regression": ("mean", "size")}
BASELINE_NAMES = ("majority", "mean", "size")


class Baseline(ABC):
    """Predicts held-out graphs from the target of a training part and, if used, sizes."""

    needs_graphs = False

    @abstractmethod
    def predict(
        self, target: Target, sizes: Floats | None, train: Array, held: Array
    ) -> Prediction:
        """Predictions for the held-out graphs, as a grid of one entry."""


class _Constant(Baseline):
    """The most frequent class of the training part, the first if tied; or the mean.

    Decision values do not depend on the training part, because pooled test parts of different folds
    are ranked by them. They are the same for every graph: the number of less frequent classes.
    """

    def predict(
        self, target: Target, sizes: Floats | None, train: Array, held: Array
    ) -> Prediction:
        seen = target.values[train]
        if target.task == "regression":
            return Prediction(np.full((1, len(held)), seen.mean()))
        most_frequent = np.bincount(seen, minlength=target.n_classes).argmax()
        constant = by_largest(np.tile(_ranks(target.members()), (1, len(held), 1)))
        return replace(constant, values=np.full((1, len(held)), most_frequent))


def _ranks(members: Ints) -> Floats:
    """0 for the least frequent class, 1 for the next, and so on; the last first if tied."""
    ranks = np.zeros(len(members))
    ranks[np.argsort(-members, kind="stable")[::-1]] = np.arange(len(members))
    return ranks


class _Size(Baseline):
    """Logistic or ridge regression on n, m, ln(1+n) and ln(1+m), standardised."""

    needs_graphs = True

    def predict(
        self, target: Target, sizes: Floats | None, train: Array, held: Array
    ) -> Prediction:
        from sklearn.linear_model import LogisticRegression, Ridge

        assert sizes is not None, "size needs graphs"
        seen = sizes[train]
        # Values are compared, because the deviation of equal logarithms may not be exactly 0.
        spread = np.where(seen.max(axis=0) > seen.min(axis=0), seen.std(axis=0), 1.0)
        centre = seen.mean(axis=0)
        points, new = (seen - centre) / spread, (sizes[held] - centre) / spread
        if target.task == "regression":
            fitted = Ridge(alpha=1.0).fit(points, target.values[train])
            return Prediction(np.asarray(fitted.predict(new), dtype=np.float64)[None])
        machine = LogisticRegression(C=1.0, max_iter=1000).fit(points, target.values[train])
        return _logistic_prediction(machine, new, target.n_classes)


def _logistic_prediction(machine: Any, points: Floats, n_classes: int) -> Prediction:
    values = np.asarray(machine.decision_function(points), dtype=np.float64)
    predictions = np.asarray(machine.predict(points), dtype=np.int64)[None]
    if n_classes == 2:
        return Prediction(predictions, values[None])
    if values.ndim == 1:  # only two of several classes are in this training part
        values = np.column_stack([-values, values])
    return Prediction(predictions, with_absent(values, machine.classes_, n_classes)[None])


def size_features(graphs: GraphBatch) -> Floats:
    """n, m, ln(1+n), ln(1+m) of each graph; m counts arcs if graphs are directed."""
    nodes = graphs.sizes.astype(np.float64)
    edges = graphs.n_edges.astype(np.float64)
    return np.column_stack([nodes, edges, np.log1p(nodes), np.log1p(edges)])


def baseline_named(name: str, task: str) -> Baseline | None:
    """The baseline of a name, or None if it is not a baseline.

    Raises
    ------
    ValueError
        If the baseline is for the other task.
    """
    if name == "size":
        return _Size()
    if name not in ("majority", "mean"):
        return None
    if name not in BASELINES[task]:
        raise ValueError(
            f"The baseline {name!r} is not for {task}; use {' or '.join(BASELINES[task])}."
        )
    return _Constant()
