"""The machines that predict from a kernel: support vectors and ridge, for classes and numbers.

A machine gets the Gram matrix of a training part and the rows of held-out graphs, and predicts
these for every C at once, or for the C it chooses itself. A few machines have a form that gets
features instead. Machines are independent of graphs, folds and scorers.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from gramlet.common.arrays import Array, Floats, Ints
from gramlet.engine.machines.feature_ridge import FeatureRidge, decompose_features
from gramlet.engine.machines.kernel_ridge import CentredSpectrum, centre, centre_rows, decompose
from gramlet.engine.machines.support_vectors import decide_by_cost
from gramlet.engine.machines.tridiagonal_ridge import TridiagonalRidge, reduce
from gramlet.evaluation.protocols.protocol import Protocol
from gramlet.evaluation.protocols.task import Target

__all__ = [
    "CLASSIFIERS",
    "Machine",
    "Outcome",
    "class_outcome",
    "machine_of",
    "weights_of",
]

CLASSIFIERS = {"classification": ("svc", "ridge"), "regression": ("ridge", "svr")}


@dataclass(frozen=True)
class Outcome:
    """Predictions for held-out graphs, one row per entry of a grid.

    Attributes
    ----------
    predictions : array, shape (grid, m)
        Codes of classes, or numbers.
    decisions : array, shape (grid, m) or (grid, m, classes), or None
        Decision values: of the last of two classes, or of each class.
    chosen : tuple of float or None
        The C that a machine chose itself, one per row.
    """

    predictions: Array
    decisions: Floats | None = None
    chosen: tuple[float, ...] | None = None

    def row(self, position: int) -> Outcome:
        """One entry of the grid."""
        at = slice(position, position + 1)
        return Outcome(
            self.predictions[at],
            None if self.decisions is None else self.decisions[at],
            None if self.chosen is None else self.chosen[at],
        )


class Machine(ABC):
    """Predicts held-out graphs from a training part's Gram matrix.

    Attributes
    ----------
    costs : tuple of float
        The C among which the scorer chooses; empty if the machine chooses itself.
    chooses_cost : bool
        Whether C is chosen among ``costs`` by `losses` over inner folds.
    unfinished : list of int
        Machines that reached the limit of steps.
    """

    chooses_cost = False

    def __init__(self, costs: tuple[float, ...]) -> None:
        self.costs = costs
        self.unfinished: list[int] = []  # a list, because several threads may append

    @abstractmethod
    def tried(self, gram: Floats, cross: Floats, target: Array) -> Outcome:
        """Predictions for each C, by the fast solver; one row if the machine chooses itself."""

    @abstractmethod
    def final(self, gram: Floats, cross: Floats, target: Array, position: int) -> Outcome:
        """Predictions with one C."""

    def losses(self, truth: Array, predictions: Array) -> Floats | None:
        """The loss by which the machine chooses C, if not by the scorer; smaller is better."""
        return None

    def on_features(self) -> Machine | None:
        """The same machine with features in place of both matrices; None if there is none."""
        return None


class _VectorMachine(Machine):
    """What support vector machines for classes and for numbers share."""

    def __init__(self, protocol: Protocol) -> None:
        super().__init__(protocol.C)
        self._protocol = protocol

    def _scaled(self, gram: Array) -> Floats:
        """The C to use on this training part."""
        costs = np.array(self._protocol.C)
        if not self._protocol.scale_C:
            return costs
        spread = float(np.trace(gram) / len(gram) - gram.mean())
        return costs / spread if spread > 0 else costs

    def _finish(self, machine: Any) -> None:
        self.unfinished.append(int(np.count_nonzero(machine.fit_status_)))


class _SupportVectors(_VectorMachine):
    """One machine per pair of classes; the class with most votes wins, the first if tied."""

    def __init__(self, protocol: Protocol, n_classes: int, class_weight: Any) -> None:
        super().__init__(protocol)
        self._n_classes = n_classes
        self._class_weight = class_weight

    def tried(self, gram: Floats, cross: Floats, target: Array) -> Outcome:
        present, codes = np.unique(target, return_inverse=True)
        weights = weights_of(self._class_weight, target, self._n_classes)[present]
        rules = self._protocol
        pairs, unfinished = decide_by_cost(
            gram, codes, weights, cross, self._scaled(gram), rules.tol, rules.max_iter
        )
        self.unfinished.append(unfinished)
        return _by_votes(pairs, present, self._n_classes)

    def final(self, gram: Floats, cross: Floats, target: Array, position: int) -> Outcome:
        from sklearn.svm import SVC

        rules = self._protocol
        weights = weights_of(self._class_weight, target, self._n_classes)
        machine = SVC(
            kernel="precomputed",
            C=float(self._scaled(gram)[position]),
            tol=rules.tol,
            max_iter=rules.max_iter,
            class_weight=None
            if self._class_weight is None
            else {int(code): weights[code] for code in np.unique(target)},
            decision_function_shape="ovo",
        ).fit(gram, target)
        self._finish(machine)
        values = machine.decision_function(cross)
        # scikit-learn's value is for the second of two classes, but for the first of a pair.
        pairs = -values[None] if values.ndim == 1 else values.T
        return _by_votes(pairs[:, None], machine.classes_, self._n_classes)


class _VectorRegression(_VectorMachine):
    """scikit-learn's SVR."""

    def _fitted(self, gram: Floats, cross: Floats, target: Array, cost: float) -> Floats:
        from sklearn.svm import SVR

        rules = self._protocol
        machine = SVR(kernel="precomputed", C=cost, tol=rules.tol, max_iter=rules.max_iter)
        predicted: Floats = machine.fit(gram, target).predict(cross)
        self._finish(machine)
        return predicted

    def tried(self, gram: Floats, cross: Floats, target: Array) -> Outcome:
        costs = self._scaled(gram)
        return Outcome(np.stack([self._fitted(gram, cross, target, float(c)) for c in costs]))

    def final(self, gram: Floats, cross: Floats, target: Array, position: int) -> Outcome:
        cost = float(self._scaled(gram)[position])
        return Outcome(self._fitted(gram, cross, target, cost)[None])


class _Ridge(Machine):
    """Kernel ridge regression with a bias; classes as one column each.

    Chooses its penalty by leave-one-out inside the training part; if there are groups, inner folds
    choose it.
    """

    def __init__(self, protocol: Protocol, n_classes: int, by_folds: bool) -> None:
        super().__init__(protocol.C if by_folds else ())
        self.chooses_cost = by_folds
        self._protocol = protocol
        self._all_costs = np.array(protocol.C)
        self._n_classes = n_classes

    def on_features(self) -> Machine | None:
        return _FeatureRidge(self._protocol, self._n_classes, self.chooses_cost)

    def _columns(self, target: Array) -> Floats:
        if not self._n_classes:
            return np.asarray(target, dtype=np.float64)[:, None]
        return np.eye(self._n_classes)[target]

    def _prepared(
        self, gram: Floats, cross: Floats
    ) -> tuple[CentredSpectrum | TridiagonalRidge | FeatureRidge, Floats]:
        """A form of the training part, and what its coefficients are multiplied with."""
        form = reduce(gram)
        if form is not None and form.is_safe(form.penalties(self._all_costs)):
            return form, centre_rows(gram, cross)
        centred, rows = centre(gram, cross)
        return decompose(centred, float(np.abs(gram).max(initial=0.0))), rows

    def tried(self, gram: Floats, cross: Floats, target: Array) -> Outcome:
        form, rows = self._prepared(gram, cross)
        penalties = form.penalties(self._all_costs)
        columns = self._columns(target)
        if self.costs:
            return self._outcome(rows @ form.coefficients(columns, penalties), columns)
        residuals, duals = form.leave_one_out(columns, penalties)
        best = self._least(residuals, columns)
        predicted = rows @ duals[best : best + 1]
        return self._outcome(predicted, columns, (float(self._all_costs[best]),))

    def final(self, gram: Floats, cross: Floats, target: Array, position: int) -> Outcome:
        if not self.costs:
            return self.tried(gram, cross, target)
        form, rows = self._prepared(gram, cross)
        penalties = form.penalties(self._all_costs[position : position + 1])
        columns = self._columns(target)
        return self._outcome(rows @ form.coefficients(columns, penalties), columns)

    def losses(self, truth: Array, predictions: Array) -> Floats | None:
        if not self.costs:
            return None
        if self._n_classes:
            wrong: Floats = np.mean(predictions != truth, axis=1)
            return wrong
        error: Floats = np.mean((predictions - truth) ** 2, axis=1)
        return error

    def _least(self, residuals: Floats, columns: Floats) -> int:
        """The penalty with the smallest error; among equals the largest penalty, the first C."""
        if not self._n_classes:
            return int(np.argmin((residuals**2).sum(axis=(1, 2))))
        told = (columns - residuals).argmax(axis=2)
        return int(np.argmax((told == columns.argmax(axis=1)).sum(axis=1)))

    def _outcome(
        self, centred: Floats, columns: Floats, chosen: tuple[float, ...] | None = None
    ) -> Outcome:
        predicted = centred + columns.mean(axis=0)
        if not self._n_classes:
            return Outcome(predicted[:, :, 0], None, chosen)
        return class_outcome(predicted, chosen)


class _FeatureRidge(_Ridge):
    """Ridge on features: the same predictions from weights of features instead of graphs."""

    def _prepared(
        self, gram: Floats, cross: Floats
    ) -> tuple[CentredSpectrum | TridiagonalRidge | FeatureRidge, Floats]:
        form, mean = decompose_features(gram)
        return form, cross - mean

    def on_features(self) -> Machine | None:
        return self


def class_outcome(values: Floats, chosen: tuple[float, ...] | None = None) -> Outcome:
    """The class with the largest value, the first if tied; values of shape (grid, m, classes)."""
    decisions = values[:, :, 1] - values[:, :, 0] if values.shape[2] == 2 else values
    return Outcome(values.argmax(axis=2), decisions, chosen)


def _by_votes(pairs: Floats, present: Ints, n_classes: int) -> Outcome:
    """Votes of the pairs of classes, and scikit-learn's decision values computed from them.

    Parameters
    ----------
    pairs : array, shape (pairs, grid, m)
        Positive for the first class of a pair.
    present : array of int64
        The classes of the training part; the others get less than all of these.
    """
    if n_classes == 2:
        return Outcome((pairs[0] <= 0).astype(np.int64), -pairs[0])
    shape = (*pairs.shape[1:], len(present))
    votes, confidence = np.zeros(shape), np.zeros(shape)
    pair = 0
    for first in range(len(present)):
        for second in range(first + 1, len(present)):
            votes[..., first] += pairs[pair] > 0
            votes[..., second] += pairs[pair] <= 0
            confidence[..., first] += pairs[pair]
            confidence[..., second] -= pairs[pair]
            pair += 1
    # Less than half a vote, so that confidence only breaks ties.
    values = votes + confidence / (3 * (np.abs(confidence) + 1))
    decisions = np.repeat(values.min(axis=-1)[..., None] - 1.0, n_classes, axis=-1)
    decisions[..., present] = values
    return Outcome(present[votes.argmax(axis=-1)], decisions)


def weights_of(class_weight: Any, target: Ints, n_classes: int) -> Floats:
    """The factor of C for each class, as scikit-learn defines it.

    ``class_weight`` is None, "balanced", or a mapping from codes to numbers; classes that are not
    in the training part get 1.
    """
    if class_weight is None:
        return np.ones(n_classes)
    if isinstance(class_weight, Mapping):
        return np.array([float(class_weight.get(code, 1.0)) for code in range(n_classes)])
    counts = np.bincount(target, minlength=n_classes)
    present = np.count_nonzero(counts)
    return np.where(counts > 0, len(target) / (present * np.maximum(counts, 1)), 1.0)


def machine_of(
    classifier: str | None,
    target: Target,
    protocol: Protocol,
    class_weight: Any = None,
    grouped: bool = False,
) -> Machine:
    """The machine of a name: "svc" or "ridge" for classes, "ridge" or "svr" for numbers."""
    allowed = CLASSIFIERS[target.task]
    name = allowed[0] if classifier is None else classifier
    if name not in allowed:
        raise ValueError(
            f"classifier must be {' or '.join(map(repr, allowed))} for {target.task}; got "
            f"{classifier!r}."
        )
    weights = _checked_weights(class_weight, name, target)
    if name == "ridge":
        return _Ridge(protocol, target.n_classes, grouped)
    if name == "svr":
        return _VectorRegression(protocol)
    return _SupportVectors(protocol, target.n_classes, weights)


def _checked_weights(class_weight: Any, name: str, target: Target) -> Any:
    """The weights by code, or "balanced", or None."""
    if class_weight is None:
        return None
    if name != "svc":
        raise ValueError(
            f"class_weight is for classifier='svc'; {name!r} has no class weights. Leave it out."
        )
    if isinstance(class_weight, str) and class_weight == "balanced":
        return class_weight
    if not isinstance(class_weight, Mapping):
        raise ValueError(
            "class_weight must be None, 'balanced', or a mapping from classes to positive numbers; "
            f"got {class_weight!r}."
        )
    known = {value: code for code, value in enumerate(target.classes.tolist())}
    unknown = [key for key in class_weight if key not in known]
    if unknown or not all(0 < float(value) < np.inf for value in class_weight.values()):
        raise ValueError(
            f"class_weight must give positive numbers to classes of y ("
            f"{', '.join(map(repr, known))}); got {dict(class_weight)!r}."
        )
    return {known[key]: float(value) for key, value in class_weight.items()}
