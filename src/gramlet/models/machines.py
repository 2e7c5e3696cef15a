"""Machines fitted on the Gram matrix of all graphs; all are sums over the fitted graphs.

f(G) = b + Σ_i α_i k(G, G_i), for each output: one for numbers and for two classes, one per pair of
classes for support vectors, one per class for ridge. Explanations and files need no more than α and
b. `gramlet.evaluation.machines` chooses C and evaluates the same machines.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gramlet.combine.feature_products import FeatureProducts
from gramlet.common.arrays import Floats
from gramlet.common.fields import ArrayOf, Choice, Number, Optional, fields
from gramlet.engine.core.tiles import Tiling
from gramlet.engine.machines.gaussian_regression import GaussianRegression
from gramlet.engine.machines.kernel_ridge import centre
from gramlet.evaluation.machines import by_votes
from gramlet.graphs.batch import GraphBatch
from gramlet.kernels.contract.profile import FeatureProfile
from gramlet.kernels.contract.tags import GraphTags


class CentredProducts(FeatureProducts):
    """Dot products of an embedding's features, centred and divided by one number.

    As in evaluations: the number is the root mean square length of the fitted rows.
    """

    stored = fields(centre_=ArrayOf("float64", "d"), size_=Number(0.0))

    def _fit(self, batch: GraphBatch, y: Any, tiling: Tiling) -> FeatureProfile:
        rows = super()._fit(batch, y, tiling).rows
        self.centre_ = rows.mean(axis=0)
        size = float(np.sqrt(np.mean(((rows - self.centre_) ** 2).sum(axis=1))))
        self.size_ = size if size > 1e-7 * float(np.abs(rows).max(initial=0.0)) else 1.0
        return FeatureProfile((rows - self.centre_) / self.size_)

    def _profile(self, batch: GraphBatch, tiling: Tiling) -> FeatureProfile:
        rows = super()._profile(batch, tiling).rows
        return FeatureProfile((rows - self.centre_) / self.size_)

    def __graph_tags__(self) -> GraphTags:
        if not hasattr(self.embedding, "__graph_tags__"):
            return GraphTags(random=True, depends_on_fitted=True, directed=True)
        return replace(super().__graph_tags__(), depends_on_fitted=True)


@dataclass(frozen=True)
class FittedMachine:
    """Coefficients of the fitted graphs.

    Attributes
    ----------
    kind : {"svc", "svr", "ridge", "gp"}
    coefficients : array, shape (outputs, n)
        α.
    intercepts : array, shape (outputs,)
        b.
    noise, scale : float or None
        s and a of a Gaussian process.
    """

    kind: str
    coefficients: Floats
    intercepts: Floats
    noise: float | None = None
    scale: float | None = None

    stored = fields(
        kind=Choice("svc", "svr", "ridge", "gp"),
        coefficients=ArrayOf("float64", "o", "n"),
        intercepts=ArrayOf("float64", "o"),
        noise=Optional(Number(0.0)),
        scale=Optional(Number(0.0)),
    )

    @classmethod
    def of_process(cls, process: GaussianRegression) -> FittedMachine:
        """The machine of a Gaussian process."""
        coefficients, mean = process.coefficients[None], np.array([process.mean])
        return cls("gp", coefficients, mean, process.noise, process.scale)

    def __len__(self) -> int:
        return int(self.coefficients.shape[1])

    def outputs(self, rows: Floats) -> Floats:
        """f of new graphs, shape (graphs, outputs), from their kernel values."""
        return rows @ self.coefficients.T + self.intercepts


def fit_machine(
    kind: str,
    gram: Floats,
    target: Any,
    cost: float,
    n_classes: int = 0,
    class_weights: Floats | None = None,
    sample_weight: Floats | None = None,
    tol: float = 1e-3,
) -> FittedMachine:
    """Fit support vectors or ridge with a given C; codes of classes or numbers are the target."""
    if kind == "ridge":
        return _fit_ridge(gram, target, cost, n_classes)
    from sklearn.svm import SVC, SVR

    if kind == "svr":
        vectors = SVR(kernel="precomputed", C=cost, tol=tol).fit(gram, target, sample_weight)
    else:
        weights = None if class_weights is None else dict(enumerate(class_weights))
        vectors = SVC(kernel="precomputed", C=cost, tol=tol, class_weight=weights).fit(
            gram, target, sample_weight
        )
    coefficients = pair_coefficients(vectors, len(gram))
    return FittedMachine(kind, coefficients, np.asarray(vectors.intercept_, dtype=np.float64))


def pair_coefficients(vectors: Any, n: int) -> Floats:
    """The coefficients of all graphs, one row per pair of classes (or one row)."""
    support = vectors.support_
    if not hasattr(vectors, "classes_") or len(vectors.classes_) == 2:
        rows = np.zeros((1, n))
        rows[0, support] = np.asarray(vectors.dual_coef_).reshape(-1)
        return rows
    # libsvm's layout: graphs of class i have a coefficient for each of the other classes.
    ends = np.concatenate([[0], np.cumsum(vectors.n_support_)])
    pairs = []
    for i in range(len(vectors.classes_)):
        for j in range(i + 1, len(vectors.classes_)):
            row = np.zeros(n)
            first, second = slice(ends[i], ends[i + 1]), slice(ends[j], ends[j + 1])
            row[support[first]] = vectors.dual_coef_[j - 1, first]
            row[support[second]] = vectors.dual_coef_[i, second]
            pairs.append(row)
    return np.array(pairs)


def _fit_ridge(gram: Floats, target: Any, cost: float, n_classes: int) -> FittedMachine:
    """Ridge with a bias on the centred matrix; classes as one column each."""
    from scipy.linalg import solve

    columns = np.eye(n_classes)[target] if n_classes else np.asarray(target, dtype=float)[:, None]
    means = columns.mean(axis=0)
    centred, _ = centre(gram, gram[:1])
    spread = float(np.trace(centred)) / len(gram)
    penalty = spread / cost if spread > 0 else 1.0
    dual = solve(centred + penalty * np.eye(len(gram)), columns - means, assume_a="pos")
    # Rows of new graphs are centred too: k(x, i) less its means over x's row and i's column.
    coefficients = (dual - dual.mean(axis=0)).T
    intercepts = means - coefficients @ gram.mean(axis=0)
    return FittedMachine("ridge", coefficients, intercepts)


def decisions_of(machine: FittedMachine, outputs: Floats, n_classes: int) -> Floats:
    """Decision values: of the last of two classes, or of each class."""
    if machine.kind == "svc":
        if n_classes == 2:
            return outputs[:, 0]
        votes = by_votes(outputs.T[:, None], np.arange(n_classes), n_classes).decisions
        assert votes is not None, "votes are decision values"
        return np.asarray(votes[0])
    if n_classes == 2:
        return np.asarray(outputs[:, 1] - outputs[:, 0])
    return outputs
