"""Linear decisions as sums: the contribution of every pattern, and of every node.

A support vector machine or a ridge regression on a kernel with explicit features is linear in them,
so its decision is exactly a sum over patterns; for Weisfeiler-Lehman colours it is also a sum over
nodes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from scipy import sparse

from gramlet.combine.feature_map import FeatureMap
from gramlet.common.arrays import Array, Floats
from gramlet.graphs.conversion.convert import as_batch, as_single
from gramlet.kernels.contract.nested import has_features
from gramlet.kernels.contract.tags import graph_tags
from gramlet.kernels.weisfeiler_lehman.colour_counts import colouring_of

HIGHER = "higher values"  # the meaning of positive coefficients of a regression


@dataclass(frozen=True)
class LinearExplanation:
    """A linear decision function over a kernel's features.

    Attributes
    ----------
    kernel : estimator
        The fitted kernel that gives the features.
    coefficients : array, shape (outputs, features)
        What one occurrence of a feature adds to each output.
    intercept : array, shape (outputs,)
    outputs : list of str
        The meaning of each output: for two classes the class it favours, else a pair "a over b" or
        a class; "higher values" for a regression.
    names : array of str
        The features' names.
    """

    kernel: Any
    coefficients: Floats
    intercept: Floats
    outputs: list[str]
    names: Array

    def decision(self, X: Any) -> Floats:
        """The decision function, shape (graphs, outputs): the sum of all contributions."""
        batch = as_batch(X)
        shares = np.asarray(self.kernel.features(batch) @ self.coefficients.T)
        return shares * self._scales(batch)[:, None] + self.intercept

    def top(self, n: int = 10, output: int = 0) -> list[tuple[str, float]]:
        """The ``n`` features with the largest coefficients, by absolute value."""
        values = self.coefficients[output]
        order = np.lexsort((np.arange(len(values)), -np.abs(values)))
        return [(str(self.names[f]), float(values[f])) for f in order[:n]]

    def shares(self, graph: Any, output: int = 0) -> list[tuple[str, float]]:
        """What each feature of one graph adds to its decision, largest first.

        They and the intercept add up to `decision`.
        """
        row = self.contributions(as_single(graph), output)
        order = np.argsort(-np.abs(row.data), kind="stable")
        return [(str(self.names[row.indices[p]]), float(row.data[p])) for p in order]

    def contributions(self, X: Any, output: int = 0) -> sparse.csr_matrix:
        """What each feature adds to the decision of each graph, shape (graphs, features).

        A row and the intercept add up to `decision`.
        """
        batch = as_batch(X)
        parts = sparse.csr_matrix(self.kernel.features(batch), dtype=np.float64, copy=True)
        scales = np.repeat(self._scales(batch), np.diff(parts.indptr))
        parts.data *= self.coefficients[output, parts.indices] * scales
        return parts

    def nodes(self, graph: Any, output: int = 0) -> Floats:
        """What each node of one graph adds to its decision, level by level.

        Shape (nodes, levels), for Weisfeiler-Lehman kernels over nodes. All entries and the
        intercept add up to `decision`; patterns not seen at fit add nothing.
        """
        colouring = colouring_of(self.kernel)
        if colouring is None:
            raise TypeError(
                "Only Weisfeiler-Lehman kernels over nodes split a decision by node; this one is "
                f"{self.kernel!r}."
            )
        batch = as_single(graph)
        levels = colouring.apply(batch)
        parts = np.zeros((levels.shape[1], levels.shape[0]))
        start = 0
        for h, known in enumerate(colouring.n_colours):
            seen = levels[h] < known
            parts[seen, h] = self.coefficients[output, start + levels[h][seen]]
            start += known
        return parts * self._scales(batch)[0]

    def _repr_html_(self) -> str:
        from gramlet.report.notebook import explanation_html

        meaning = f"coefficient for {self.outputs[0]}"
        return explanation_html(self.kernel, self.names, self.coefficients[0], meaning)

    def _scales(self, batch: Any) -> Floats:
        if not self.kernel.normalize:
            return np.ones(len(batch))
        return _inverse_roots(self.kernel.profile_of(batch).norms())


def _inverse_roots(norms: Floats) -> Floats:
    return np.divide(1.0, np.sqrt(norms), out=np.zeros_like(norms), where=norms > 0)


def _features_of(kernel: Any, profile: Any) -> sparse.csr_matrix:
    """The features of a profile, normalised as the kernel is."""
    if not hasattr(profile, "features"):
        raise TypeError(
            f"{kernel!r} does not store the features of its fitted graphs. Train a linear model on "
            "FeatureMap(kernel) and explain that."
        )
    features = sparse.csr_matrix(profile.features())
    if not kernel.normalize:
        return features
    return sparse.diags(_inverse_roots(profile.norms())).dot(features)


def explain_linear(
    pipeline: Any, *, class_names: Mapping[Any, str] | None = None
) -> LinearExplanation:
    """The coefficients of a fitted linear pipeline, feature by feature.

    Parameters
    ----------
    pipeline : fitted Pipeline
        Either a kernel with an explicit feature map and a machine on its matrix:
        ``SVC(kernel="precomputed")``, ``SVR(kernel="precomputed")``, or the ridge machine, of
        numbers or classes, that `gramlet.evaluation.choose` gives; or a `FeatureMap` and a linear
        model (anything with ``coef_``).
    class_names : mapping, optional
        Names of classes in ``outputs``, e.g. ``{1: "mutagenic"}``.

    Returns
    -------
    LinearExplanation

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.svm import SVC
    >>> from gramlet import WeisfeilerLehman, explain_linear
    >>> graphs = [([(0, 1)], ["C", "O"]), ([(0, 1)], ["C", "N"])] * 3
    >>> model = make_pipeline(WeisfeilerLehman(n_iter=0), SVC(kernel="precomputed"))
    >>> explanation = explain_linear(model.fit(graphs, ["with O", "with N"] * 3))
    >>> [(name, round(share, 3)) for name, share in explanation.top(2)]
    [('h0:O', 1.0), ('h0:N', -1.0)]
    """
    steps = [step for _, step in getattr(pipeline, "steps", [])]
    if len(steps) != 2:
        raise TypeError(
            "explain_linear takes a fitted Pipeline of two steps: a kernel with explicit features "
            'and SVC(kernel="precomputed"), or a FeatureMap and a linear model.'
        )
    source, model = steps
    if isinstance(source, FeatureMap):
        return _from_linear_model(source, model, class_names or {})
    if not hasattr(source, "__graph_tags__") or not graph_tags(source).features:
        raise TypeError(f"{type(source).__name__} has no explicit features to explain with.")
    if not has_features(source):
        raise TypeError(
            f'{type(source).__name__}(normalize="tanimoto") is not linear in its features: a '
            'pattern has no value of its own. Fit it with normalize="cosine" or normalize=False to '
            "explain it."
        )
    ridges = [_centred_ridge(part) for part in getattr(model, "estimators_", [model])]
    known = [ridge for ridge in ridges if ridge is not None]
    if known and len(known) == len(ridges):
        return _from_ridges(source, known, model, class_names or {})
    if getattr(model, "kernel", None) != "precomputed" or not hasattr(model, "support_"):
        raise TypeError(
            'The second step must be a fitted SVC(kernel="precomputed"), SVR(kernel="precomputed") '
            f"or a ridge machine of gramlet.evaluation.choose; it is {model!r}."
        )
    return _from_support_vectors(source, model, class_names or {})


def _from_linear_model(
    source: FeatureMap, model: Any, names: Mapping[Any, str]
) -> LinearExplanation:
    if not hasattr(model, "coef_"):
        raise TypeError(f"{model!r} has no coef_: it is not a fitted linear model.")
    coefficients = np.atleast_2d(model.coef_)
    if not hasattr(model, "classes_") and len(coefficients) == 1:
        classes = [HIGHER]
    else:
        classes = _named(getattr(model, "classes_", range(len(coefficients))), names)
    outputs = classes[1:] if len(coefficients) == 1 and len(classes) == 2 else classes
    intercept = np.atleast_1d(np.asarray(model.intercept_, dtype=np.float64))
    return LinearExplanation(
        source.kernel_, coefficients, intercept, outputs, source.get_feature_names_out()
    )


def _from_support_vectors(kernel: Any, model: Any, names: Mapping[Any, str]) -> LinearExplanation:
    features = _features_of(kernel, kernel.profile_[model.support_])
    classes = _named(model.classes_, names) if hasattr(model, "classes_") else ["", HIGHER]
    if len(classes) == 2:
        coefficients = np.asarray(model.dual_coef_ @ features)
        outputs = [classes[1]]
    else:
        coefficients, outputs = _one_against_one(model, features, classes)
    return LinearExplanation(
        kernel,
        np.asarray(coefficients),
        np.asarray(model.intercept_, dtype=np.float64),
        outputs,
        kernel.get_feature_names_out(),
    )


def _centred_ridge(model: Any) -> tuple[Floats, float] | None:
    """The dual coefficients and the mean of the target, of a ridge on a centred matrix."""
    from sklearn.compose import TransformedTargetRegressor
    from sklearn.kernel_ridge import KernelRidge
    from sklearn.preprocessing import KernelCenterer, StandardScaler

    steps = [step for _, step in getattr(model, "steps", [])]
    if len(steps) != 2 or not isinstance(steps[0], KernelCenterer):
        return None
    outer = steps[1]
    if not isinstance(outer, TransformedTargetRegressor):
        return None
    ridge, scaler = getattr(outer, "regressor_", None), getattr(outer, "transformer_", None)
    if not isinstance(ridge, KernelRidge) or ridge.kernel != "precomputed":
        return None
    if not isinstance(scaler, StandardScaler) or scaler.scale_ is not None:
        return None
    return np.asarray(ridge.dual_coef_, dtype=np.float64).reshape(-1), float(scaler.mean_[0])


def _from_ridges(
    kernel: Any, ridges: list[tuple[Floats, float]], model: Any, names: Mapping[Any, str]
) -> LinearExplanation:
    """w = Φᵀ(α − mean α); the prediction for a graph with mean features is the mean target.

    One ridge for numbers or for two classes, with the threshold 1/2; else one per class.
    """
    features = _features_of(kernel, kernel.profile_)
    centre = np.asarray(features.mean(axis=0)).reshape(-1)
    rows = [np.asarray((dual - dual.mean()) @ features).reshape(-1) for dual, _ in ridges]
    coefficients = np.vstack(rows)
    intercept = np.array([mean for _, mean in ridges]) - coefficients @ centre
    outputs = _named(model.classes_, names) if hasattr(model, "classes_") else [HIGHER]
    if len(outputs) == 2:
        outputs, intercept = outputs[1:], intercept - 0.5
    return LinearExplanation(
        kernel, coefficients, intercept, outputs, kernel.get_feature_names_out()
    )


def _named(classes: Iterable[Any], names: Mapping[Any, str]) -> list[str]:
    return [str(names.get(c, c)) for c in np.asarray(classes).tolist()]


def _one_against_one(
    model: Any, features: sparse.csr_matrix, classes: list[str]
) -> tuple[Floats, list[str]]:
    """One row per pair of classes, in libsvm's layout of the dual coefficients."""
    ends = np.concatenate([[0], np.cumsum(model.n_support_)])
    rows, outputs = [], []
    for i, j in combinations(range(len(classes)), 2):
        dual = np.zeros(features.shape[0])
        dual[ends[i] : ends[i + 1]] = model.dual_coef_[j - 1, ends[i] : ends[i + 1]]
        dual[ends[j] : ends[j + 1]] = model.dual_coef_[i, ends[j] : ends[j + 1]]
        rows.append(np.asarray(dual @ features).reshape(-1))
        outputs.append(f"{classes[i]} over {classes[j]}")
    return np.vstack(rows), outputs
