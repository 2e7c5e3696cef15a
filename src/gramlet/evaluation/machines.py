"""The machines that predict from a kernel: support vectors, ridge, and Gaussian processes.

A machine gets the Gram matrix of a training part and the rows of held-out graphs, and predicts
these for every C at once, or with the penalty it chooses itself. Machines are independent of
graphs, folds and scorers.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from gramlet.common.arrays import Array, Floats, Ints
from gramlet.engine.machines.gaussian_regression import GaussianRegression
from gramlet.engine.machines.kernel_ridge import (
    CentredSpectrum,
    FeatureRidge,
    centre,
    centre_rows,
    decompose,
    decompose_features,
)
from gramlet.engine.machines.support_vectors import decide_by_cost
from gramlet.engine.machines.tridiagonal_ridge import TridiagonalRidge, reduce
from gramlet.evaluation.protocol import Protocol
from gramlet.evaluation.task import Target

CLASSIFIERS = {"classification": ("svc", "ridge"), "regression": ("ridge", "svr", "gp")}


@dataclass(frozen=True)
class Block:
    """What a machine knows of a training part and of the held-out graphs.

    Attributes
    ----------
    gram : array, shape (n, n) or (n, p)
        Kernel values of the training part, or its features.
    cross : array, shape (m, n) or (m, p)
        Kernel values of held-out graphs with the training part, or their features.
    features : bool
        Whether both are features.
    diagonal : array, shape (m,), or None
        Self-similarities of the held-out graphs, for machines that need them.
    """

    gram: Floats
    cross: Floats
    features: bool = False
    diagonal: Floats | None = None


@dataclass(frozen=True)
class Prediction:
    """Predictions for held-out graphs, one row per entry of a grid.

    Attributes
    ----------
    values : array, shape (grid, m)
        Codes of classes, or numbers.
    decisions : array, shape (grid, m) or (grid, m, classes), or None
        Decision values: of the last of two classes, or of each class.
    deviations : array, shape (grid, m), or None
        Standard deviations of predicted numbers.
    chosen : tuple of float or None
        The penalty that a machine chose itself, one per row.
    """

    values: Array
    decisions: Floats | None = None
    deviations: Floats | None = None
    chosen: tuple[float, ...] | None = None

    def rows(self, positions: Any) -> Prediction:
        """Some entries of the grid, by their positions."""
        at = np.atleast_1d(positions)
        return Prediction(
            self.values[at],
            None if self.decisions is None else self.decisions[at],
            None if self.deviations is None else self.deviations[at],
            None if self.chosen is None else tuple(self.chosen[k] for k in at),
        )

    def entry(self, position: int) -> dict[str, Any]:
        """What a scorer needs of one entry of the grid."""
        return {
            "predictions": self.values[position],
            "decisions": None if self.decisions is None else self.decisions[position],
            "deviations": None if self.deviations is None else self.deviations[position],
        }

    @staticmethod
    def join(predictions: list[Prediction], axis: int) -> Prediction:
        """Predictions of several grids (axis 0) or of several held-out parts (axis 1).

        Decision values, deviations and chosen penalties are joined if all of them have some; chosen
        penalties of several parts are left out, because they differ.
        """

        def joined(name: str) -> Any:
            arrays = [getattr(prediction, name) for prediction in predictions]
            if any(array is None for array in arrays):
                return None
            return np.concatenate(arrays, axis=axis)

        chosen = None if axis else joined("chosen")
        return Prediction(
            joined("values"),
            joined("decisions"),
            joined("deviations"),
            None if chosen is None else tuple(chosen.tolist()),
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain lists, for a store."""
        plain = {"values": self.values.tolist()}
        for name in ("decisions", "deviations"):
            values = getattr(self, name)
            plain[name] = None if values is None else values.tolist()
        return {**plain, "chosen": None if self.chosen is None else list(self.chosen)}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Prediction:
        """The prediction that `to_dict` wrote."""

        def numbers(name: str) -> Floats | None:
            return None if plain[name] is None else np.array(plain[name], dtype=np.float64)

        chosen = plain["chosen"]
        return cls(
            np.array(plain["values"]),
            numbers("decisions"),
            numbers("deviations"),
            None if chosen is None else tuple(chosen),
        )


class Machine(ABC):
    """Predicts held-out graphs from a training part's Gram matrix.

    Attributes
    ----------
    costs : tuple of float
        The C among which the scorer chooses; empty if the machine chooses its penalty itself.
    cost_by_loss : bool
        Whether C is chosen among ``costs`` by `losses` over inner folds, not by the scorer.
    by_likelihood : bool
        Whether options are chosen by `log_likelihood` of the training part, without inner folds.
    takes_features : bool
        Whether a block may consist of features.
    needs_diagonal : bool
        Whether it needs the self-similarities of held-out graphs.
    penalty : str
        The name of what it chooses itself.
    unfinished : list of int
        Numbers of machines that reached the limit of steps.
    """

    cost_by_loss = False
    by_likelihood = False
    takes_features = False
    needs_diagonal = False
    penalty = "C"

    def __init__(self, costs: tuple[float, ...]) -> None:
        self.costs = costs
        self.unfinished: list[int] = []  # a list, because several threads may append

    @abstractmethod
    def predict_grid(self, block: Block, target: Array) -> Prediction:
        """Predictions for each C, by the fast solver; one row if the machine chooses itself."""

    def predict(self, block: Block, target: Array, position: int) -> Prediction:
        """Predictions with one C, by its position."""
        return self.predict_grid(block, target).rows(position)

    def losses(self, truth: Array, values: Array) -> Floats:
        """The loss by which a machine chooses C by inner folds; smaller is better."""
        raise NotImplementedError

    def log_likelihood(self, gram: Floats, target: Array) -> float:
        """The logarithm of the marginal likelihood of a training part."""
        raise NotImplementedError


class _VectorMachine(Machine):
    """What support vector machines for classes and for numbers share."""

    def __init__(self, protocol: Protocol) -> None:
        super().__init__(protocol.C)
        self._protocol = protocol

    def _scaled_costs(self, gram: Array) -> Floats:
        """The C to use on this training part."""
        costs = np.array(self._protocol.C)
        if not self._protocol.scale_C:
            return costs
        spread = float(np.trace(gram) / len(gram) - gram.mean())
        return costs / spread if spread > 0 else costs

    def _count_unfinished(self, machine: Any) -> None:
        self.unfinished.append(int(np.count_nonzero(machine.fit_status_)))


class SupportVectorClassifier(_VectorMachine):
    """One machine per pair of classes; the class with most votes wins, the first if tied."""

    def __init__(self, protocol: Protocol, n_classes: int, class_weight: Any) -> None:
        super().__init__(protocol)
        self._n_classes = n_classes
        self.class_weight = class_weight

    def predict_grid(self, block: Block, target: Array) -> Prediction:
        present, codes = np.unique(target, return_inverse=True)
        weights = weights_of(self.class_weight, target, self._n_classes)[present]
        costs, rules = self._scaled_costs(block.gram), self._protocol
        pairs, unfinished = decide_by_cost(
            block.gram, codes, weights, block.cross, costs, rules.tol, rules.max_iter
        )
        self.unfinished.append(unfinished)
        return by_votes(pairs, present, self._n_classes)

    def predict(self, block: Block, target: Array, position: int) -> Prediction:
        from sklearn.svm import SVC

        rules = self._protocol
        weights = weights_of(self.class_weight, target, self._n_classes)
        machine = SVC(
            kernel="precomputed",
            C=float(self._scaled_costs(block.gram)[position]),
            tol=rules.tol,
            max_iter=rules.max_iter,
            class_weight=None
            if self.class_weight is None
            else {int(code): weights[code] for code in np.unique(target)},
            decision_function_shape="ovo",
        ).fit(block.gram, target)
        self._count_unfinished(machine)
        values = machine.decision_function(block.cross)
        # scikit-learn's value is for the second of two classes, but for the first of a pair.
        pairs = -values[None] if values.ndim == 1 else values.T
        return by_votes(pairs[:, None], machine.classes_, self._n_classes)


class SupportVectorRegressor(_VectorMachine):
    """scikit-learn's SVR."""

    def predict_grid(self, block: Block, target: Array) -> Prediction:
        return Prediction.join([self.predict(block, target, k) for k in range(len(self.costs))], 0)

    def predict(self, block: Block, target: Array, position: int) -> Prediction:
        from sklearn.svm import SVR

        rules, cost = self._protocol, float(self._scaled_costs(block.gram)[position])
        machine = SVR(kernel="precomputed", C=cost, tol=rules.tol, max_iter=rules.max_iter)
        values: Floats = machine.fit(block.gram, target).predict(block.cross)
        self._count_unfinished(machine)
        return Prediction(values[None])


class Ridge(Machine):
    """Ridge regression with a bias on a kernel or on features; classes as one column each.

    The penalty is chosen by leave-one-out inside the training part; with groups, by inner folds.
    """

    takes_features = True

    def __init__(self, protocol: Protocol, n_classes: int, by_folds: bool) -> None:
        super().__init__(protocol.C if by_folds else ())
        self.cost_by_loss = by_folds
        self._all_costs = np.array(protocol.C)
        self._n_classes = n_classes

    def _columns(self, target: Array) -> Floats:
        if not self._n_classes:
            return np.asarray(target, dtype=np.float64)[:, None]
        return np.eye(self._n_classes)[target]

    def _decomposed(
        self, block: Block
    ) -> tuple[CentredSpectrum | TridiagonalRidge | FeatureRidge, Floats]:
        """A form of the training part, and what its coefficients are multiplied with."""
        if block.features:
            features, mean = decompose_features(block.gram)
            return features, block.cross - mean
        form = reduce(block.gram)
        if form is not None and form.is_safe(form.penalties(self._all_costs)):
            return form, centre_rows(block.gram, block.cross)
        centred, rows = centre(block.gram, block.cross)
        return decompose(centred, float(np.abs(block.gram).max(initial=0.0))), rows

    def predict_grid(self, block: Block, target: Array) -> Prediction:
        form, rows = self._decomposed(block)
        penalties, columns = form.penalties(self._all_costs), self._columns(target)
        if self.costs:
            return self._predicted(rows @ form.coefficients(columns, penalties), columns)
        residuals, duals = form.leave_one_out(columns, penalties)
        best = self._least(residuals, columns)
        cost = (float(self._all_costs[best]),)
        return self._predicted(rows @ duals[best : best + 1], columns, cost)

    def losses(self, truth: Array, values: Array) -> Floats:
        if self._n_classes:
            wrong: Floats = np.mean(values != truth, axis=1)
            return wrong
        error: Floats = np.mean((values - truth) ** 2, axis=1)
        return error

    def _least(self, residuals: Floats, columns: Floats) -> int:
        """The penalty with the smallest error; among equals the largest penalty, the first C."""
        if not self._n_classes:
            return int(np.argmin((residuals**2).sum(axis=(1, 2))))
        classes = (columns - residuals).argmax(axis=2)
        return int(np.argmax((classes == columns.argmax(axis=1)).sum(axis=1)))

    def _predicted(
        self, centred: Floats, columns: Floats, chosen: tuple[float, ...] | None = None
    ) -> Prediction:
        values = centred + columns.mean(axis=0)
        if not self._n_classes:
            return Prediction(values[:, :, 0], chosen=chosen)
        return by_largest(values, chosen)


class GaussianProcess(Machine):
    """A Gaussian process with a constant mean; its noise maximises the marginal likelihood."""

    by_likelihood = True
    needs_diagonal = True
    penalty = "s"

    def __init__(self) -> None:
        super().__init__(())

    def predict_grid(self, block: Block, target: Array) -> Prediction:
        assert block.diagonal is not None, "this machine needs self-similarities"
        fitted = GaussianRegression.fit(block.gram, target)
        mean, deviation = fitted.predict(block.cross, block.diagonal)
        return Prediction(mean[None], None, deviation[None], (fitted.noise,))

    def log_likelihood(self, gram: Floats, target: Array) -> float:
        return GaussianRegression.fit(gram, target).log_likelihood


def by_largest(values: Floats, chosen: tuple[float, ...] | None = None) -> Prediction:
    """The class with the largest value, the first if tied; values of shape (grid, m, classes)."""
    decisions = values[:, :, 1] - values[:, :, 0] if values.shape[2] == 2 else values
    return Prediction(values.argmax(axis=2), decisions, None, chosen)


def by_votes(pairs: Floats, present: Ints, n_classes: int) -> Prediction:
    """Votes of the pairs of classes, and scikit-learn's decision values computed from them.

    Parameters
    ----------
    pairs : array, shape (pairs, grid, m)
        Positive for the first class of a pair.
    present : array of int64
        The classes of the training part; the others get less than all of these.
    """
    if n_classes == 2:
        return Prediction((pairs[0] <= 0).astype(np.int64), -pairs[0])
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
    return Prediction(present[votes.argmax(axis=-1)], with_absent(values, present, n_classes))


def with_absent(values: Floats, present: Ints, n_classes: int) -> Floats:
    """Values of all classes: those that are not in a training part get less than all others."""
    decisions = np.repeat(values.min(axis=-1)[..., None] - 1.0, n_classes, axis=-1)
    decisions[..., present] = values
    return decisions


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
    """The machine of a name, by default the first that `CLASSIFIERS` lists for the task."""
    allowed = CLASSIFIERS[target.task]
    name = allowed[0] if classifier is None else classifier
    if name not in allowed:
        raise ValueError(
            f"classifier must be {' or '.join(map(repr, allowed))} for {target.task}; got "
            f"{classifier!r}."
        )
    weights = _checked_weights(class_weight, name, target)
    if name == "ridge":
        return Ridge(protocol, target.n_classes, grouped)
    if name == "svr":
        return SupportVectorRegressor(protocol)
    if name == "gp":
        return GaussianProcess()
    return SupportVectorClassifier(protocol, target.n_classes, weights)


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
