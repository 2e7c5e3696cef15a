"""Decisions as sums: what every pattern, and every node, adds to the decision on a graph.

A kernel machine decides by f(G) = b + Σ_i α_i k(G, G_i). Where k is linear in explicit features,
f has one coefficient per pattern (`LinearExplanation`). Tanimoto kernels and sums of minima are not
linear, but k is still a sum over the patterns that both graphs have, and so is f
(`SumExplanation`).
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import combinations, pairwise
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from gramlet.combine.feature_map import FeatureMap
from gramlet.common.arrays import Array, Floats
from gramlet.engine.core.ragged import taken
from gramlet.graphs.conversion.convert import as_batch, as_single
from gramlet.kernels.composite.members import CompositeProfile, named_members
from gramlet.kernels.composite.sums import WeightedSum
from gramlet.kernels.contract.count_kernel import CountKernel
from gramlet.kernels.contract.kernel import GraphKernel
from gramlet.kernels.contract.nested import has_features
from gramlet.kernels.contract.normalisation import Kind, canonical
from gramlet.kernels.contract.profile import CountProfile
from gramlet.kernels.weisfeiler_lehman.colour_counts import colouring_of
from gramlet.models.machines import FittedMachine, pair_coefficients

HIGHER = "higher values"  # the meaning of positive values of a regression


@dataclass(frozen=True)
class Explanation(ABC):
    """A decision function as a sum over patterns; see `LinearExplanation` and `SumExplanation`."""

    kernel: Any
    intercept: Floats
    outputs: list[str]
    names: Array

    meaning: ClassVar[str]  # of `values`

    @abstractmethod
    def values(self, output: int = 0) -> Floats:
        """The value of each pattern for the model as a whole."""

    @abstractmethod
    def contributions(self, X: Any, output: int = 0) -> sparse.csr_matrix:
        """What each pattern adds to the decision on each graph, shape (graphs, patterns).

        A row and the intercept add up to `decision`.
        """

    @abstractmethod
    def present(self, X: Any) -> sparse.csr_matrix:
        """Which graphs have which patterns, shape (graphs, patterns)."""

    def decision(self, X: Any) -> Floats:
        """The decision function, shape (graphs, outputs): the sum of all contributions."""
        batch = as_batch(X)
        sums = [self.contributions(batch, o).sum(axis=1) for o in range(len(self.outputs))]
        return np.asarray(np.hstack(sums)) + self.intercept

    def top(self, n: int = 10, output: int = 0) -> list[tuple[str, float]]:
        """The ``n`` patterns with the largest `values`, by absolute value."""
        values = self.values(output)
        order = np.lexsort((np.arange(len(values)), -np.abs(values)))
        return [(str(self.names[f]), float(values[f])) for f in order[:n]]

    def shares(self, graph: Any, output: int = 0) -> list[tuple[str, float]]:
        """What each pattern of one graph adds to its decision, largest first."""
        row = self.contributions(as_single(graph), output)
        order = np.argsort(-np.abs(row.data), kind="stable")
        return [(str(self.names[row.indices[p]]), float(row.data[p])) for p in order]

    @property
    def by_node(self) -> bool:
        """Whether `nodes` splits decisions: patterns are colours of nodes, at least of a member."""
        return any(colouring_of(leaf) is not None for _, leaf, _ in _places(self.kernel))

    def nodes(self, graph: Any, output: int = 0) -> Floats:
        """What each node of one graph adds to its decision, level by level.

        Shape (nodes, levels), for Weisfeiler-Lehman kernels over nodes: the contribution of a
        pattern is shared equally among the nodes that have it. All entries and the intercept add up
        to `decision`; patterns not seen at fit add nothing. Of a sum of kernels only the members of
        this kind are split.
        """
        batch = as_single(graph)
        row = self.contributions(batch, output).toarray().ravel()
        shares = []
        for _, leaf, start in _places(self.kernel):
            colouring = colouring_of(leaf)
            if colouring is None:
                continue
            for colours, known in zip(colouring.apply(batch), colouring.n_colours, strict=True):
                seen = colours < known
                counts = np.bincount(colours[seen], minlength=known)
                level = np.zeros(len(colours))
                level[seen] = (row[start : start + known] / np.maximum(counts, 1))[colours[seen]]
                shares.append(level)
                start += known
        if not shares:
            raise TypeError(
                "Only Weisfeiler-Lehman kernels over nodes split a decision by node; this one is "
                f"{self.kernel!r}."
            )
        return np.array(shares).T

    def _repr_html_(self) -> str:
        from gramlet.report.notebook import explanation_html

        meaning = f"{self.meaning} for {self.outputs[0]}"
        return explanation_html(self.kernel, self.names, self.values(), meaning)


@dataclass(frozen=True)
class LinearExplanation(Explanation):
    """A linear decision function over a kernel's features.

    Attributes
    ----------
    kernel : estimator
        The fitted kernel that gives the features.
    intercept : array, shape (outputs,)
    outputs : list of str
        The meaning of each output: for two classes the class it favours, else a pair "a over b" or
        a class; "higher values" for a regression.
    names : array of str
        The features' names.
    coefficients : array, shape (outputs, features)
        What one occurrence of a feature adds to each output; with ``normalize="cosine"`` to be
        divided by the norm of the graph.
    """

    coefficients: Floats

    meaning: ClassVar[str] = "coefficient"

    def values(self, output: int = 0) -> Floats:
        values: Floats = self.coefficients[output]
        return values

    def contributions(self, X: Any, output: int = 0) -> sparse.csr_matrix:
        batch = as_batch(X)
        parts = sparse.csr_matrix(self.kernel.features(batch), dtype=np.float64, copy=True)
        parts.data *= self.coefficients[output, parts.indices]
        if self.kernel.normalize:
            scales = _inverse_roots(self.kernel.profile_of(batch).norms())
            parts.data *= np.repeat(scales, np.diff(parts.indptr))
        return parts

    def present(self, X: Any) -> sparse.csr_matrix:
        return sparse.csr_matrix(self.kernel.features(X)) != 0


@dataclass(frozen=True)
class SumExplanation(Explanation):
    """A decision function over a kernel that is a sum over patterns, but not linear in them.

    f(G) = b + Σ_p Σ_i α_i c_p(G, G_i) / d(G, G_i), with c_p the term of pattern p in the kernel:
    the product of the two counts, or their minimum (`WLOptimalAssignment`). The divisor d is
    a + a_i − k(G, G_i) for Tanimoto, the root of a a_i for cosine, and 1 for a plain kernel. A sum
    of kernels has the patterns of all its members; a member without patterns counts as one pattern,
    which every graph has. `values` are means of the contributions over all fitted graphs, as what a
    pattern adds depends on the other patterns of a graph; they and b add up to the mean decision.

    Cost per graph: its kernel values, and the occurrences of its patterns in the fitted graphs.

    Attributes
    ----------
    kernel : estimator
        The fitted kernel.
    intercept : array, shape (outputs,)
        b.
    outputs : list of str
        As those of `LinearExplanation`.
    names : array of str
        The names of patterns, and of members without patterns.
    dual : array, shape (outputs, fitted graphs)
        α.
    """

    dual: Floats
    _means: dict[int, Floats] = field(default_factory=dict, repr=False, compare=False)

    meaning: ClassVar[str] = "mean contribution"

    def values(self, output: int = 0) -> Floats:
        if output not in self._means:
            parts = self._split(self.kernel._current(self.kernel.profile_), output)
            self._means[output] = np.asarray(parts.mean(axis=0)).ravel()
        return self._means[output]

    def contributions(self, X: Any, output: int = 0) -> sparse.csr_matrix:
        return self._split(self.kernel.profile_of(X), output)

    def present(self, X: Any) -> sparse.csr_matrix:
        leaves = _leaves(self.kernel, self.kernel.profile_of(X))
        blocks = [
            sparse.csr_matrix(part.features() if has_patterns(leaf) else np.ones((len(part), 1)))
            for _, leaf, part in leaves
        ]
        return sparse.csr_matrix(sparse.hstack(blocks, format="csr")) != 0

    def members(self, X: Any, output: int = 0) -> dict[str, Floats]:
        """What the members of a sum that have no patterns add to the decision on each graph."""
        columns = [(name, at) for name, leaf, at in _places(self.kernel) if not has_patterns(leaf)]
        if not columns:
            return {}
        parts = self.contributions(X, output)
        return {name: parts[:, [at]].toarray().ravel() for name, at in columns}

    def _split(self, rows: Any, output: int) -> sparse.csr_matrix:
        """The contributions for the graphs of a profile."""
        kernel, dual = self.kernel, self.dual[output]
        support = np.flatnonzero(dual) if dual.any() else np.zeros(1, dtype=np.int64)
        fitted = kernel._current(kernel.profile_)[support]
        weights = np.tile(dual[support], (len(rows), 1))
        leaves = zip(
            _leaves(kernel, rows),
            _leaves(kernel, fitted),
            _weights(rows, fitted, canonical(kernel.normalize), weights),
            strict=True,
        )
        blocks = [
            _terms(mine, theirs, factors)
            if has_patterns(leaf)
            else (factors * mine.compare(theirs)).sum(axis=1, keepdims=True)
            for (_, leaf, mine), (_, _, theirs), factors in leaves
        ]
        return sparse.csr_matrix(sparse.hstack(blocks, format="csr"))


def has_patterns(kernel: Any) -> bool:
    """Whether a kernel, fitted or not, is a sum over patterns, or a sum with such a member."""
    if isinstance(kernel, WeightedSum):
        members = [member for _, member in named_members(kernel.kernels)]
        return any(has_patterns(member) for member in getattr(kernel, "kernels_", members))
    minima = isinstance(kernel, CountKernel) and kernel._measure == "min"
    return minima or (isinstance(kernel, GraphKernel) and kernel.__graph_tags__().features)


def _leaves(kernel: Any, profile: Any, name: str = "") -> list[tuple[str, Any, Any]]:
    """The members of a sum, with those of its members: their names, kernels and profiles."""
    if not isinstance(kernel, WeightedSum):
        return [(name, kernel, profile)]
    labels = [f"{name}__{label}" if name else label for label, _ in named_members(kernel.kernels)]
    members = zip(kernel.kernels_, profile.parts, labels, strict=True)
    return [leaf for member in members for leaf in _leaves(*member)]


def _places(kernel: Any) -> list[tuple[str, Any, int]]:
    """The members of a sum: their names, kernels and first columns among the patterns."""
    leaves, places, start = _leaves(kernel, kernel.profile_), [], 0
    for name, leaf, part in leaves:
        places.append((name, leaf, start))
        if len(leaves) > 1:
            start += part.features().shape[1] if has_patterns(leaf) else 1
    return places


def _weights(rows: Any, fitted: Any, how: Kind, weights: Floats) -> list[Floats]:
    """The factor of each pair's plain kernel value in the decision, for each of `_leaves`."""
    if how:
        left, right = (np.maximum(side.norms(), 0.0) for side in (rows, fitted))
        if how == "cosine":
            divisors = np.sqrt(left)[:, None] * np.sqrt(right)
        else:
            divisors = left[:, None] + right - rows.compare(fitted)
        zeros = np.zeros_like(divisors)
        weights = np.divide(weights, divisors, out=zeros, where=divisors > 0)
    if not isinstance(rows, CompositeProfile) or rows.operation != "sum":
        return [weights]
    parts = zip(rows.parts, fitted.parts, rows.normalised, fitted.weights, strict=True)
    return [
        leaf
        for mine, theirs, normalised, weight in parts
        for leaf in _weights(mine, theirs, normalised, weights * weight)
    ]


def _terms(rows: Any, fitted: Any, weights: Floats) -> sparse.csr_matrix:
    """Σ_i weights[G, i] c_p(G, G_i) for the patterns p of each graph G."""
    minima = isinstance(rows, CountProfile) and rows.measure == "min"
    sums = sparse.csr_matrix(rows.features(), dtype=np.float64, copy=True)
    columns = sparse.csc_matrix(fitted.features())
    starts = columns.indptr.astype(np.int64)
    for graph, (begin, end) in enumerate(pairwise(sums.indptr)):
        # All occurrences of the graph's patterns in fitted graphs, pattern by pattern.
        offsets, entries = taken(starts, sums.indices[begin:end].astype(np.int64))
        owners = np.repeat(np.arange(end - begin), np.diff(offsets))
        mine, theirs = sums.data[begin:end][owners], columns.data[entries]
        terms = np.minimum(mine, theirs) if minima else mine * theirs
        terms *= weights[graph, columns.indices[entries]]
        sums.data[begin:end] = np.bincount(owners, terms, minlength=end - begin)
    return sums


def _inverse_roots(norms: Floats) -> Floats:
    return np.divide(1.0, np.sqrt(norms), out=np.zeros_like(norms), where=norms > 0)


def _names(kernel: Any) -> Array:
    """The names of a kernel's patterns, those of a sum after the names of its members."""
    names = []
    for prefix, leaf, _ in _leaves(kernel, kernel.profile_):
        if not has_patterns(leaf):
            names.append(prefix)
            continue
        plain = copy.copy(leaf)
        plain.normalize = False  # names of features are those of the plain kernel
        named = getattr(plain, "get_feature_names_out", None) or plain.counter_.names
        names += [f"{prefix}__{text}" if prefix else str(text) for text in named()]
    return np.array(names, dtype=object)


def explain_linear(
    model: Any, *, class_names: Mapping[Any, str] | None = None
) -> LinearExplanation | SumExplanation:
    """Explain a fitted machine pattern by pattern.

    Parameters
    ----------
    model : fitted Pipeline, GraphClassifier or GraphRegressor
        Of a pipeline: a kernel of patterns and a machine on its matrix
        (``SVC(kernel="precomputed")``, ``SVR(kernel="precomputed")``, or a `KernelCenterer` and a
        ridge of the centred target); or a `FeatureMap` and a linear model (anything with
        ``coef_``).
    class_names : mapping, optional
        Names of classes in ``outputs``, e.g. ``{1: "mutagenic"}``.

    Returns
    -------
    LinearExplanation or SumExplanation
        The latter for Tanimoto kernels and minima of counts (`WLOptimalAssignment`), which are not
        linear: patterns have contributions to each graph's decision, but no coefficients.

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
    names = class_names or {}
    if isinstance(getattr(model, "machine_", None), FittedMachine):
        kernel, sums = model.kernel_, _sums_of_estimator(model)
    else:
        steps = [step for _, step in getattr(model, "steps", [])]
        if len(steps) != 2:
            raise TypeError(
                "explain_linear takes a fitted GraphClassifier or GraphRegressor, or a fitted "
                'Pipeline of two steps: a kernel of patterns and SVC(kernel="precomputed"), or a '
                f"FeatureMap and a linear model; got {type(model).__name__}."
            )
        kernel, machine = steps
        if isinstance(kernel, FeatureMap):
            return _from_linear_model(kernel, machine, names)
        if has_patterns(kernel):
            sums = _sums_of_machine(kernel, machine)
    if not has_patterns(kernel) or kernel.__graph_tags__().whole_matrix:
        name = type(getattr(kernel, "embedding", kernel)).__name__
        raise TypeError(
            f"{name} gives no values to patterns: it is not a sum over patterns. Kernels that are: "
            "wl, wl-oa, sp, graphlet, nspdk, odd-sth, vertex, edge."
        )
    dual, intercept, classes = sums
    outputs = _outputs(len(dual), classes, names)
    if not has_features(kernel):
        return SumExplanation(kernel, intercept, outputs, _names(kernel), dual)
    coefficients = np.asarray(dual @ _features_of(kernel))
    return LinearExplanation(kernel, intercept, outputs, _names(kernel), coefficients)


def _features_of(kernel: Any) -> sparse.csr_matrix:
    """The features of the fitted graphs, normalised as the kernel is."""
    profile = kernel.profile_
    if not hasattr(profile, "features"):
        raise TypeError(
            f"{kernel!r} does not store the features of its fitted graphs. Train a linear model on "
            "FeatureMap(kernel) and explain that."
        )
    features = sparse.csr_matrix(profile.features())
    if not kernel.normalize:
        return features
    return sparse.diags(_inverse_roots(profile.norms())).dot(features)


# α, shape (outputs, fitted graphs); b; and the names of classes, None for numbers. If there is one
# output per pair of classes, these are the pairs.
_Sums = tuple[Floats, Floats, list[Any] | None]


def _outputs(n_outputs: int, classes: list[Any] | None, names: Mapping[Any, str]) -> list[str]:
    if classes is None:
        return [HIGHER]
    if isinstance(classes[0], tuple):
        return [" over ".join(str(names.get(c, c)) for c in pair) for pair in classes]
    shown = [str(names.get(c, c)) for c in classes]
    return shown[1:] if n_outputs == 1 and len(shown) == 2 else shown


def _pairs(classes: Iterable[Any]) -> list[Any]:
    """Two classes, or all pairs of more: the outputs of support vector machines."""
    several = np.asarray(classes).tolist()
    return several if len(several) == 2 else list(combinations(several, 2))


def _sums_of_estimator(model: Any) -> _Sums:
    machine: FittedMachine = model.machine_
    dual, intercept = machine.coefficients, machine.intercepts
    if not hasattr(model, "classes_"):
        return dual, intercept, None
    if machine.kind == "svc":
        return dual, intercept, _pairs(model.classes_)
    if len(dual) == 2:  # the decision is the difference of the two classes
        dual, intercept = np.diff(dual, axis=0), np.diff(intercept)
    return dual, intercept, model.classes_.tolist()


def _sums_of_machine(kernel: Any, model: Any) -> _Sums:
    ridges = [_centred_ridge(part) for part in getattr(model, "estimators_", [model])]
    known = [ridge for ridge in ridges if ridge is not None]
    if known and len(known) == len(ridges):
        dual, intercept = np.array([d for d, _ in known]), np.array([b for _, b in known])
        if not hasattr(model, "classes_"):
            return dual, intercept, None
        # Two classes are one ridge on 0 and 1 with the threshold 1/2.
        return dual, intercept - 0.5 * (len(dual) == 1), model.classes_.tolist()
    if getattr(model, "kernel", None) != "precomputed" or not hasattr(model, "support_"):
        raise TypeError(
            'The second step must be a fitted SVC(kernel="precomputed"), SVR(kernel="precomputed") '
            f"or a ridge on a centred matrix; it is {model!r}. GraphClassifier and GraphRegressor "
            "fit these machines."
        )
    dual = pair_coefficients(model, kernel.n_fitted_)
    intercept = np.asarray(model.intercept_, dtype=np.float64)
    return dual, intercept, _pairs(model.classes_) if hasattr(model, "classes_") else None


def _centred_ridge(model: Any) -> tuple[Floats, float] | None:
    """α and b of a ridge on a centred matrix."""
    from sklearn.kernel_ridge import KernelRidge
    from sklearn.preprocessing import KernelCenterer, StandardScaler

    try:
        centrer, outer = (step for _, step in model.steps)
        ridge, scaler = outer.regressor_, outer.transformer_
    except (AttributeError, TypeError, ValueError):
        return None
    if not (isinstance(centrer, KernelCenterer) and isinstance(scaler, StandardScaler)):
        return None
    if not isinstance(ridge, KernelRidge) or ridge.kernel != "precomputed" or scaler.with_std:
        return None
    # Centring the rows of new graphs is the same as centring the dual coefficients.
    dual = np.asarray(ridge.dual_coef_, dtype=np.float64).reshape(-1)
    dual = dual - dual.mean()
    return dual, float(scaler.mean_[0] - dual @ centrer.K_fit_rows_)


def _from_linear_model(
    source: FeatureMap, model: Any, names: Mapping[Any, str]
) -> LinearExplanation:
    if not hasattr(model, "coef_"):
        raise TypeError(f"{model!r} has no coef_: it is not a fitted linear model.")
    coefficients = np.atleast_2d(model.coef_)
    classes = np.asarray(getattr(model, "classes_", range(len(coefficients)))).tolist()
    if not hasattr(model, "classes_") and len(coefficients) == 1:
        classes = None
    intercept = np.atleast_1d(np.asarray(model.intercept_, dtype=np.float64))
    outputs = _outputs(len(coefficients), classes, names)
    return LinearExplanation(
        source.kernel_, intercept, outputs, source.get_feature_names_out(), coefficients
    )
